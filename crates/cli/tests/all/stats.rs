//! `docs/stats.md` names what `--stats` holds, and nothing else.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::common::{Place, record};

/// The names of all fields of a value, those of stages under `NAME`.
fn names(value: &Value, path: &str, out: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let name = if path == "stages" { "NAME" } else { name };
                let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
                names(value, &path, out);
                out.insert(path);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| names(value, path, out)),
        _ => {}
    }
}

#[test]
fn every_field_of_stats_is_documented_and_every_documented_field_is_there() {
    let place = Place::new();
    let texts = (0..600).map(|i| {
        let words: String = (0..40).map(|word| format!("w{}x{word} ", i / 6)).collect();
        record(&i.to_string(), &format!("{words} own{i}"))
    });
    place.write("texts.jsonl", texts.collect::<String>());
    let vectors = (0..400u32).map(|i| {
        let number =
            |at: u32| 1.0 + f64::from((i / 4) * 7919 % (97 + at)) + 0.01 * f64::from(i % 4);
        format!("{{\"vector\":{:?}}}\n", (0..8).map(number).collect::<Vec<_>>())
    });
    place.write("vectors.jsonl", vectors.collect::<String>());
    let mut there = BTreeSet::new();
    let tables = "--as vector --within 1 --and-or or(20,and(2,line(4)))";
    for line in [
        "pairs texts.jsonl".to_owned(),
        "pairs texts.jsonl --approximate".to_owned(),
        "top texts.jsonl".to_owned(),
        "dedup texts.jsonl -o kept.jsonl".to_owned(),
        "pairs vectors.jsonl --as vector --within 1".to_owned(),
        "pairs vectors.jsonl --as vector --measure cosine -t 0.99 --recall 0.9".to_owned(),
        format!("pairs vectors.jsonl {tables}"),
        "trim texts.jsonl --unit line -o kept.jsonl".to_owned(),
    ] {
        place.ok(&format!("{line} --stats stats.json"));
        names(&serde_json::from_str(&place.read("stats.json")).unwrap(), "", &mut there);
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/stats.md");
    let page = std::fs::read_to_string(page).unwrap();
    let cells = page.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let fields =
        cells.flat_map(|cell| cell.split(", ").map(|name| name.trim_matches('`').to_owned()));
    let documented: BTreeSet<String> = fields.collect();
    let only = |a: &BTreeSet<String>, b: &BTreeSet<String>| -> Vec<String> {
        a.difference(b).cloned().collect()
    };
    assert_eq!(only(&there, &documented), Vec::<String>::new(), "not documented");
    assert_eq!(only(&documented, &there), Vec::<String>::new(), "not there");
}

/// Lines that end with a summary, and what it says.
#[test]
fn summaries_say_what_a_run_did_not_do() {
    let place = Place::new();
    place.write("none.jsonl", "");
    place.write("bad.jsonl", "{\n");
    place.write("some.jsonl", record("a", "one two three four five six") + &record("b", "else"));
    place.write("pairs.csv", "u1,apple\nu1,pear\nu2,apple\nu2,pear\n");
    for (line, parts) in [
        ("pairs none.jsonl", ["warning: there are no items", "check that it is the right file"]),
        ("dedup none.jsonl -o out.jsonl", ["warning: there are no items", "--format"]),
        ("top none.jsonl", ["warning: there are no items", "the input has no record"]),
        ("pairs bad.jsonl --on-error skip", ["all records were skipped", "--on-error stop"]),
        ("pairs some.jsonl --audit 100", ["nothing to audit", "pass --approximate"]),
        ("dedup some.jsonl -o out.jsonl --audit 100", ["nothing to audit", "was exact"]),
        ("top some.jsonl", ["rows of an item and one of its closest at or above 0.3", "(jaccard)"]),
        ("pairs pairs.csv --group 1 --element 2", ["pairs.csv: columns", "`u1,apple`, is taken"]),
        (
            "dedup pairs.csv -o out.csv --group 1 --element 2",
            ["by number", "pass --no-header, or name the columns"],
        ),
    ] {
        let told = place.ok(line).stderr;
        for part in parts {
            assert!(told.contains(part), "{line}: {part} is not in {told}");
        }
    }
    for line in [
        "pairs some.jsonl",
        "pairs some.jsonl --audit 0",
        "pairs some.jsonl --approximate --audit 100",
        "pairs pairs.csv --group u1 --element apple",
        "pairs pairs.csv --group 1 --element 2 --no-header",
    ] {
        let told = place.ok(line).stderr;
        for part in ["no items", "nothing to audit", "by number"] {
            assert!(!told.contains(part), "{line}: {told}");
        }
    }
}

#[test]
fn numbers_of_another_kind_are_answered_with_those_that_were_meant() {
    let place = Place::new();
    place.write("in.jsonl", record("a", "one two three four five six"));
    for (option, part) in [
        ("--seed -1", "--seed <SEED>': it must be a whole number from 0 to 18446744073709551615"),
        ("--seed x", "it must be a whole number from 0"),
        ("--recall 99", "--recall is 99; it must be above 0 and below 1"),
        ("--recall 99", "pass --recall 0.99"),
        ("--recall 100", "pass --exact"),
        ("--memory 4", "a number alone is bytes: write 4G for GiB"),
        ("--memory 512", "write 512M for MiB"),
    ] {
        let outcome = place.run(&format!("pairs in.jsonl {option}"));
        assert_ne!(outcome.code, Some(0), "{option}");
        assert!(outcome.stderr.contains(part), "{option}: {}", outcome.stderr);
    }
}

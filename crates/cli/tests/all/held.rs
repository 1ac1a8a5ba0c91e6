//! Vectors, bits, strings, answers and tf-idf on the command line: what they find, and what bad ones get.

use crate::common::{Place, record, three};
use serde_json::Value;

fn rows(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .collect()
}

const POINTS: &str = r#"{"id":"p","vector":[2,7]}
{"id":"q","vector":[6,4]}
{"id":"r","vector":[6,4.5]}
{"id":"s","vector":[-60,45]}
"#;

#[test]
fn s1_3_pairs_of_vectors_by_every_norm() {
    let place = Place::new();
    place.write("in.jsonl", POINTS);
    for (measure, distance) in [("l2", 5.0), ("l1", 7.0), ("linf", 4.0)] {
        let line = format!("pairs in.jsonl --as vector --measure {measure} --within {distance}");
        let rows = rows(&place.ok(&line).stdout);
        let of = |a: &str, b: &str| {
            rows.iter()
                .find(|row| row["a"] == a && row["b"] == b)
                .map(|row| row["distance"].clone())
        };
        assert_eq!(of("p", "q"), Some(distance.into()), "{measure}");
        assert_eq!(of("q", "r"), Some(0.5.into()), "{measure}");
        assert_eq!(of("p", "s"), None, "{measure}");
    }
    let third = place.ok("pairs in.jsonl --as vector --measure l3 --within 4.5").stdout;
    let expected = (64f64 + 27.0).cbrt();
    let found = rows(&third)[0]["distance"].as_f64().unwrap();
    assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
}

#[test]
fn s1_4_cosines_and_angles() {
    let place = Place::new();
    place.write("in.txt", "1 2 -1\n2,1,1\n-1 -2 1\n");
    let found = rows(&place.ok("pairs in.txt --as vector --measure cosine -t 0.5").stdout);
    assert_eq!(found.len(), 1);
    assert!((found[0]["similarity"].as_f64().unwrap() - 0.5).abs() < 1e-12);
    let found = rows(&place.ok("pairs in.txt --as vector --measure cosine --within 60.001").stdout);
    assert_eq!((&found[0]["a"], &found[0]["b"]), (&0.into(), &1.into()));
    assert!((found[0]["distance"].as_f64().unwrap() - 60.0).abs() < 1e-9);
}

#[test]
fn s1_6_bits_by_hamming_distance_and_similarity() {
    let place = Place::new();
    place.write("in.csv", "id,bits\na,1011101\nb,1001001\nc,0100110\n");
    let expected = "{\"a\":\"a\",\"b\":\"b\",\"distance\":2.0}\n";
    assert_eq!(place.ok("pairs in.csv --as bits --within 2").stdout, expected);
    let expected = format!("{{\"a\":\"a\",\"b\":\"b\",\"similarity\":{}}}\n", 5.0 / 7.0);
    assert_eq!(place.ok("pairs in.csv --as bits -t 0.7").stdout, expected);
    place.write("hex.txt", "ff00\nfe00\n00ff\n");
    let expected = "{\"a\":0,\"b\":1,\"distance\":1.0}\n";
    assert_eq!(place.ok("pairs hex.txt --as bits --within 3").stdout, expected);
}

#[test]
fn s1_5_strings_by_edits() {
    let place = Place::new();
    place.write("in.txt", "abcde\nacfdeg\nbcduve\naba\nbab\nacbde\n");
    let found = |flags: &str| -> Vec<(i64, i64, f64)> {
        let number = |row: &Value, key: &str| row[key].as_i64().unwrap();
        rows(&place.ok(&format!("pairs in.txt --as string {flags}")).stdout)
            .iter()
            .map(|row| (number(row, "a"), number(row, "b"), row["distance"].as_f64().unwrap()))
            .collect()
    };
    assert_eq!(found(""), [(0, 5, 2.0), (3, 4, 2.0)]);
    let three = found("--within 3");
    assert!(three.contains(&(0, 1, 3.0)) && three.contains(&(0, 2, 3.0)), "{three:?}");
    assert_eq!(found("--measure damerau --within 1"), [(0, 5, 1.0)]);
    assert_eq!(found("--measure hamming --within 2"), [(0, 5, 2.0)]);
}

#[test]
fn s2_10_users_like_dave() {
    let place = Place::new();
    place.write(
        "users.csv",
        "id,1,2,3,4,5,6,7,8,9\n\
         Alice,,Yes,No,Yes,,,,No,\n\
         Bob,,Yes,,,,No,,No,\n\
         Cindy,,,,Yes,No,,,No,\n\
         Dave,No,,,No,Yes,Yes,,,Yes\n\
         Estie,,,,No,Yes,Yes,,Yes,\n\
         Fred,No,,,,,,No,,\n",
    );
    let top = rows(&place.ok("top users.csv --as answers -k 1").stdout);
    let dave = top.iter().find(|row| row["a"] == "Dave").unwrap();
    // Three answers alike, and three that only one of the two gave, which count a half each.
    assert_eq!((&dave["b"], &dave["distance"]), (&"Estie".into(), &1.5.into()));
}

#[test]
fn s2_12_texts_by_the_cosine_of_tf_idf() {
    let place = Place::new();
    let texts = ["a rose is a rose", "the rose is red", "the sea is wide", "the wide sea"];
    let lines: String = texts.iter().zip(0..).map(|(t, i)| record(&format!("t{i}"), t)).collect();
    place.write("in.jsonl", lines);
    let found = rows(&place.ok("pairs in.jsonl --measure cosine -t 0.5").stdout);
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0]["a"], &found[0]["b"]), (&"t2".into(), &"t3".into()));
    // the ln 4/3, sea and wide ln 2, is ln 4/3
    let (rare, common) = (2f64.ln(), (4f64 / 3.0).ln());
    let dot = 2.0 * rare * rare + common * common;
    let expected = dot / ((dot + common * common) * dot).sqrt();
    assert!((found[0]["similarity"].as_f64().unwrap() - expected).abs() < 1e-6);
}

#[test]
fn top_and_against_count_each_collection_for_itself() {
    let place = Place::new();
    place.write("new.jsonl", "{\"id\":1,\"vector\":[0,0]}\n{\"id\":2,\"vector\":[9,9]}\n");
    place.write(
        "old.jsonl",
        "{\"id\":1,\"vector\":[0,3]}\n{\"id\":2,\"vector\":[0,1]}\n{\"id\":3,\"vector\":[9,8]}\n",
    );
    let expected = "{\"a\":1,\"b\":2,\"distance\":1.0}\n{\"a\":2,\"b\":3,\"distance\":1.0}\n";
    assert_eq!(place.ok("top new.jsonl --against old.jsonl --as vector -k 1").stdout, expected);
    assert_eq!(
        place.ok("pairs new.jsonl --against old.jsonl --as vector --within 1").stdout,
        expected
    );
    let within = place.ok("top new.jsonl --against old.jsonl --as vector -k 9 --within 0.5").stdout;
    assert_eq!(within, "");
    place.write("flat.jsonl", "{\"id\":1,\"vector\":[0,3,4]}\n");
    place.fails(
        "pairs new.jsonl --against flat.jsonl --as vector --within 1",
        &["flat.jsonl:1:", "3 components", "2"],
    );
}

#[test]
fn top_of_texts_gives_the_most_similar_first() {
    let place = Place::new();
    place.write("in.jsonl", three());
    let expected = format!(
        "{{\"a\":\"a\",\"b\":\"b\",\"similarity\":{0}}}\n{{\"a\":\"b\",\"b\":\"a\",\"similarity\":{0}}}\n",
        95.0 / 96.0
    );
    assert_eq!(place.ok("top in.jsonl -k 3").stdout, expected);
    assert_eq!(place.ok("top in.jsonl -k 3 --exact").stdout, expected);
    assert_eq!(place.run("top in.jsonl -k 0").code, Some(2));
}

#[test]
fn an_expression_is_run_and_reported() {
    let place = Place::new();
    let lines: String = (0..200).map(|i| format!("{} {} 7\n", i % 50, (i / 50) * 100)).collect();
    place.write("in.txt", lines);
    let line = "pairs in.txt --as vector --within 1 --stats run.json -o out.csv";
    place.ok(&format!("{line} --and-or or(3,and(4,line(4)))"));
    let stats: Value = serde_json::from_str(&place.read("run.json")).unwrap();
    assert_eq!(stats["expression"], "or(3, and(4, line(4)))");
    let promised = stats["recall"]["promised"].as_f64().unwrap();
    assert!(promised > 0.3 && promised < 0.999, "{promised}");
    let tables = place.read("out.csv");
    place.ok(&format!("{line} --exact"));
    let complete = place.read("out.csv");
    let stats: Value = serde_json::from_str(&place.read("run.json")).unwrap();
    assert_eq!((&stats["expression"], &stats["recall"]["promised"]), (&Value::Null, &1.0.into()));
    assert!(tables.lines().all(|row| complete.lines().any(|other| other == row)));
    assert_eq!(complete.lines().count(), 1 + 4 * 49);
    place.fails("pairs in.txt --as vector --within 1 --and-or or(2,minhash)", &["minhash", "line"]);
}

#[test]
fn s5_2_a_cascade_of_minhashes_runs_on_texts_and_sets() {
    let place = Place::new();
    place.write("in.jsonl", three());
    let bands = place.ok("pairs in.jsonl --bands 20 --rows 5").stdout;
    for expression in ["or(20,and(5,minhash))", "and(or(20,and(3,minhash)),or(20,and(2,minhash)))"]
    {
        let outcome = place.ok(&format!("pairs in.jsonl --and-or {expression} --stats run.json"));
        assert_eq!(outcome.stdout, bands, "{expression}");
        let stats: Value = serde_json::from_str(&place.read("run.json")).unwrap();
        assert!(stats["recall"]["promised"].as_f64().unwrap() > 0.99, "{stats}");
    }
    place.write("sets.txt", "a b c d e f g h\nb c d e f g h i\nx y z\n");
    let expected = format!("{{\"a\":0,\"b\":1,\"similarity\":{}}}\n", 7.0 / 9.0);
    let line = "pairs sets.txt --as set -t 0.7 --and-or or(30,and(2,minhash))";
    assert_eq!(place.ok(line).stdout, expected);
    place.fails("pairs sets.txt --as set --and-or or(3,line)", &["line", "minhash"]);
    place.fails("top sets.txt --as set --and-or or(3,minhash)", &["--and-or", "top"]);
    place
        .fails("pairs sets.txt --as set --and-or or(3,minhash) --probes 4", &["probes", "minhash"]);
}

#[test]
fn a_plan_says_which_way_is_taken() {
    let place = Place::new();
    place.write("in.txt", (0..300).map(|i| format!("{i} 0 1\n")).collect::<String>());
    let text = place.ok("plan in.txt --as vector --within 2").stdout;
    assert!(text.contains("300 items, compared by l2; pairs within 2"), "{text}");
    assert!(
        text.lines().any(|line| line.starts_with("complete") && line.contains("taken")),
        "{text}"
    );
    let json: Value =
        serde_json::from_str(&place.ok("plan in.txt --as vector --within 2 --json").stdout)
            .unwrap();
    assert_eq!((&json["taken"], &json["recall"]), (&"complete".into(), &1.0.into()));
    place.fails("plan --as vector --within 2", &["INPUT"]);
}

#[test]
fn bad_items_get_an_error_with_file_and_line() {
    let place = Place::new();
    place.write("nan.txt", "1 2\n3 NaN\n");
    place.fails("pairs nan.txt --as vector --within 1", &["nan.txt:2:", "finite"]);
    place.write("ragged.jsonl", "{\"vector\":[1,2]}\n{\"vector\":[1,2,3]}\n");
    place.fails("pairs ragged.jsonl --as vector --within 1", &["ragged.jsonl:2:", "3 components"]);
    place.write("zero.csv", "id,vector\na,1 2\nb,0 0\n");
    place.fails("pairs zero.csv --as vector --measure cosine", &["zero.csv:3:", "zero"]);
    let skipped = place.ok("pairs zero.csv --as vector --measure cosine --on-error skip").stderr;
    assert!(skipped.contains("skipped: zero.csv:3:"), "{skipped}");
    place.ok("pairs zero.csv --as vector --within 1");
    place.write("bits.txt", "0101\n010\n");
    place.fails("pairs bits.txt --as bits --within 1", &["bits.txt:2:", "3 bits"]);
    place.write("counts.jsonl", "{\"items\":{\"a\":1}}\n{\"items\":{\"a\":-1}}\n");
    place.fails("pairs counts.jsonl --as bag", &["counts.jsonl:2:", "-1"]);
    place.write("types.jsonl", "{\"items\":[\"a\",{\"b\":1}]}\n");
    place.fails("pairs types.jsonl --as set", &["types.jsonl:1:"]);
    place.write("words.jsonl", "{\"vector\":[1,\"two\"]}\n");
    place.fails("pairs words.jsonl --as vector --within 1", &["words.jsonl:1:", "two"]);
}

#[test]
fn whole_numbers_that_single_precision_cannot_hold_are_refused() {
    let place = Place::new();
    place.write("ids.jsonl", "{\"vector\":[16777216,5]}\n{\"vector\":[16777217,5]}\n");
    place.fails("pairs ids.jsonl --as vector --within 9", &["ids.jsonl:2:", "16777217", "32-bit"]);
    place.write("far.txt", "1e200 1\n");
    place.fails("pairs far.txt --as vector --within 9", &["far.txt:1:", "beyond 32-bit"]);
}

#[test]
fn blank_strings_are_similar_to_nothing() {
    let place = Place::new();
    place.write("in.csv", "id,string\na,\nb,\nc,xy\nd,xy\n");
    let expected = "{\"a\":\"c\",\"b\":\"d\",\"distance\":0.0}\n";
    assert_eq!(place.ok("pairs in.csv --as string --within 2").stdout, expected);
    let both = format!("{expected}{{\"a\":\"d\",\"b\":\"c\",\"distance\":0.0}}\n");
    assert_eq!(place.ok("top in.csv --as string --within 3 -k 2").stdout, both);
}

#[test]
fn options_that_do_nothing_are_refused() {
    let place = Place::new();
    place.write("in.jsonl", POINTS);
    place.fails("pairs in.jsonl --as vector --within 1 --shingle chars:3", &["--shingle", "texts"]);
    place.fails("pairs in.jsonl --as string --normal-form nfc", &["--normal-form"]);
    place.fails("compare --in in.jsonl --as vector --shingle chars:3 p q", &["--shingle", "texts"]);
    place.fails("plan in.jsonl --as vector --within 1 --latex", &["--latex"]);
    place.fails("plan --and-or xor(2,minhash)", &["xor", "minhash"]);
    place.fails("pairs in.jsonl --as vector --measure cosine -t 1.5", &["--threshold", "1.5"]);
}

/// Four and a half million pairs take 144 megabytes before they are sorted.
#[test]
fn more_pairs_than_memory_holds_are_found_within_it() {
    let place = Place::new();
    place.write("in.txt", (0..3000).map(|i| format!("{i} 1\n")).collect::<String>());
    let pairs = 3000 * 2999 / 2;
    let line = "in.txt --as vector --within 5000 --memory 32M --threads 2 --stats s.json";
    for (command, output) in [("pairs", "out.csv"), ("dedup", "out.txt")] {
        place.ok(&format!("{command} {line} -o {output}"));
        let stats: Value = serde_json::from_str(&place.read("s.json")).unwrap();
        assert_eq!(stats["similar"], pairs, "{command}");
        let peak = stats["peak_memory"].as_u64().unwrap();
        assert!(peak < 64_000_000, "{command} took {peak} bytes");
    }
}

#[test]
fn measures_and_limits_that_do_not_go_together_are_refused() {
    let place = Place::new();
    place.write("in.jsonl", POINTS);
    place.fails("pairs in.jsonl --as vector", &["--within", "largest distance"]);
    place.fails("pairs in.jsonl --as vector -t 0.8", &["--threshold", "--within"]);
    place.fails("pairs in.jsonl --as vector --measure hamming --within 2", &["hamming", "l2"]);
    place.fails("pairs in.jsonl --as vector --within -1", &["--within", "0"]);
    place.fails("dedup in.jsonl --as vector -o out.jsonl", &["--within", "largest distance"]);
    place.fails(
        "dedup in.jsonl --as vector --within 1 --keep longest -o out.jsonl",
        &["--keep", "longest", "equally long"],
    );
    place.fails("pairs in.jsonl --measure edit", &["--measure", "--as"]);
    assert_eq!(place.run("pairs in.jsonl --measure l0.5").code, Some(2));
    place.write("empty.jsonl", "");
    assert_eq!(place.ok("pairs empty.jsonl --as vector --within 1").stdout, "");
    assert_eq!(place.ok("top empty.jsonl --as bits").stdout, "");
    assert_eq!(place.ok("pairs empty.jsonl --as string").stdout, "");
}

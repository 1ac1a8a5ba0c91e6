//! What the command writes, for every kind of input and output, and that it does not depend on how it
//! is run.

use std::fs;
use std::io::Write;

use crate::common::{Place, record, three};
use serde_json::Value;

fn json_lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .collect()
}

#[test]
fn pairs_are_json_lines_with_ids_and_similarity() {
    let place = Place::new();
    place.write("in.jsonl", three());
    // 96 and 95 shingles of five words, 95 shared.
    let expected = format!("{{\"a\":\"a\",\"b\":\"b\",\"similarity\":{}}}\n", 95.0 / 96.0);
    assert_eq!(place.ok("pairs in.jsonl").stdout, expected);
    // No summary, and the one warning: the third text is one shingle.
    let quiet = place.ok("pairs in.jsonl -q").stderr;
    assert!(quiet.starts_with("warning: 1 of 3 texts") && quiet.lines().count() == 1, "{quiet}");
    place.ok("pairs in.jsonl -o out.csv");
    assert_eq!(place.read("out.csv"), format!("a,b,similarity\na,b,{}\n", 95.0 / 96.0));
}

#[test]
fn within_writes_distances() {
    let place = Place::new();
    place.write("in.jsonl", three());
    let rows = json_lines(&place.ok("pairs in.jsonl --within 0.2").stdout);
    assert_eq!(rows.len(), 1);
    assert!((rows[0]["distance"].as_f64().unwrap() - 1.0 / 96.0).abs() < 1e-12);
    assert!(rows[0].get("similarity").is_none());
}

#[test]
fn a_distance_means_the_decimal_that_was_typed() {
    // Two sets of shingles with 42 of 100 in common; 1 − 0.58 in doubles is a little above 0.42.
    let place = Place::new();
    let words =
        |from: usize, to: usize| (from..to).map(|i| format!("w{i}")).collect::<Vec<_>>().join(" ");
    place.write("in.jsonl", record("a", &words(0, 71)) + &record("b", &words(29, 100)));
    let line = "pairs in.jsonl --shingle words:1 --recall 0.999999 --within 0.58";
    assert_eq!(json_lines(&place.ok(line).stdout).len(), 1);
}

#[test]
fn ids_are_positions_where_there_are_none_and_numbers_stay_numbers() {
    let place = Place::new();
    let text = "the same few words again and again";
    place.write(
        "in.jsonl",
        format!("{{\"text\":\"{text}\"}}\n{{\"text\":\"other\"}}\n{{\"text\":\"{text}\"}}\n"),
    );
    let expected = "{\"a\":0,\"b\":2,\"similarity\":1.0}\n";
    assert_eq!(place.ok("pairs in.jsonl").stdout, expected);
    place.write(
        "n.jsonl",
        format!("{{\"n\":70,\"text\":\"{text}\"}}\n{{\"n\":-5,\"text\":\"{text}\"}}\n"),
    );
    assert_eq!(place.ok("pairs n.jsonl --id n").stdout, "{\"a\":70,\"b\":-5,\"similarity\":1.0}\n");
    // Positions count over all inputs.
    assert_eq!(
        place.ok("pairs in.jsonl in.jsonl").stdout.lines().last(),
        Some("{\"a\":3,\"b\":5,\"similarity\":1.0}")
    );
    // … and in each of the two collections.
    let against = place.ok("pairs in.jsonl --against in.jsonl").stdout;
    assert_eq!(against.lines().next(), Some("{\"a\":0,\"b\":0,\"similarity\":1.0}"));
    assert_eq!(against.lines().count(), 5);
}

#[test]
fn skipped_records_keep_their_position() {
    let place = Place::new();
    let text = "the same few words again and again";
    place
        .write("in.jsonl", format!("{{\"text\":\"{text}\"}}\nbroken\n\n{{\"text\":\"{text}\"}}\n"));
    let outcome = place.ok("pairs in.jsonl --on-error skip");
    assert_eq!(outcome.stdout, "{\"a\":0,\"b\":2,\"similarity\":1.0}\n");
}

#[test]
fn dedup_keeps_records_as_they_came() {
    let place = Place::new();
    let odd = "{ \"z\":1.50, \"text\" : \"caf\\u00e9 au lait, encore une fois s'il vous plaît\",\t\"id\":\"ü\", \"a\":[ ] }";
    place.write("in.jsonl", format!("{odd}\n{}\n{}", odd.replace("\"ü\"", "\"v\""), three()));
    place.ok("dedup in.jsonl -o out.jsonl");
    let kept = place.read("out.jsonl");
    assert_eq!(kept.lines().next(), Some(odd));
    let ids: Vec<Value> = json_lines(&kept).iter().map(|row| row["id"].clone()).collect();
    assert_eq!(ids, ["ü", "a", "c"]);
    assert_eq!(place.ok("dedup in.jsonl -q").stdout, kept, "standard output gets the same");
}

#[test]
fn clusters_tell_the_whole_story() {
    let place = Place::new();
    place.write("in.jsonl", three());
    place.ok("dedup in.jsonl -o out.jsonl --clusters c.csv --keep longest");
    let similarity = 95.0 / 96.0;
    assert_eq!(
        place.read("c.csv"),
        format!("id,cluster,kept,similarity\na,a,true,1.0\nb,a,false,{similarity}\nc,c,true,1.0\n"),
    );
    // Clusters alone, and nothing on standard output.
    assert_eq!(place.ok("dedup in.jsonl --clusters d.csv").stdout, "");
    assert_eq!(place.read("d.csv"), place.read("c.csv"));
}

#[test]
fn keep_goes_by_fields() {
    let place = Place::new();
    let text = "the same few words again and again";
    let rows = [
        ("a", "3", "\"2024-05-01\""),
        ("b", "10", "\"2023-01-01\""),
        ("c", "-2.5", "\"2025-11-30\""),
    ];
    let lines: String = rows
        .iter()
        .map(|(id, n, date)| {
            format!("{{\"id\":\"{id}\",\"n\":{n},\"date\":{date},\"text\":\"{text}\"}}\n")
        })
        .collect();
    place.write("in.jsonl", lines);
    for (keep, id) in
        [("first", "a"), ("max:n", "b"), ("min:n", "c"), ("max:date", "c"), ("min:date", "b")]
    {
        let kept = json_lines(&place.ok(&format!("dedup in.jsonl --keep {keep}")).stdout);
        assert_eq!((kept.len(), &kept[0]["id"]), (1, &Value::from(id)), "{keep}");
    }
    let missing = "dedup in.jsonl --keep max:n|max:size -o out.jsonl";
    place.fails(missing, &["in.jsonl: ", "`size`", "`id`, `n`, `date`, `text`"]);
    let wrong = place.run("dedup in.jsonl --keep prefer:n -o out.jsonl");
    assert!(wrong.code == Some(2) && wrong.stderr.contains("prefer:FIELD=VALUE"), "{wrong:?}");
}

#[test]
fn keep_tries_rules_in_order() {
    let place = Place::new();
    let text = "the same few words again and again";
    let rows = [
        ("a", "web", "9", "1"),
        ("b", "books", "2", "2"),
        ("c", "wiki", "1", "3"),
        ("d", "wiki", "null", "4"),
        ("e", "wiki", "1", "5"),
    ];
    // The last record has no field n.
    let line = |(id, source, quality, n): &(&str, &str, &str, &str)| {
        let n = if *id == "e" { String::new() } else { format!(",\"n\":{n}") };
        format!(
            "{{\"id\":\"{id}\",\"source\":\"{source}\",\"q\":{quality}{n},\"text\":\"{text}\"}}\n"
        )
    };
    place.write("in.jsonl", rows.iter().map(line).collect::<String>());
    let cell = |it: &(&str, &str, &str, &str)| {
        let n = if it.0 == "e" { "" } else { it.3 };
        format!("{},{},{},{n},{text}\n", it.0, it.1, it.2.replace("null", ""))
    };
    let table: String = rows.iter().map(cell).collect();
    place.write("in.csv", format!("id,source,q,n,text\n{table}"));
    for (keep, id) in [
        ("prefer:source=wiki,books|max:q", "c"),
        ("prefer:source=books,wiki|max:q", "b"),
        ("prefer:source=none|min:q", "c"),
        ("prefer:source=wiki|min:n", "c"),
        ("prefer:source=wiki|max:n", "d"),
        ("prefer:q=2,9|first", "b"),
        ("longest|max:n", "d"),
        ("min:q|max:n|prefer:source=web", "c"),
    ] {
        for input in ["in.jsonl", "in.csv"] {
            for chains in ["", " --chains"] {
                place.ok(&format!("dedup {input} --keep {keep} -o out.jsonl{chains}"));
                let kept = json_lines(&place.read("out.jsonl"));
                assert_eq!((kept.len(), &kept[0]["id"]), (1, &Value::from(id)), "{keep} {input}");
            }
        }
    }
    place.write("other.jsonl", "{\"text\":\"one\"}\n{\"text\":\"other\"}\n");
    let both = "dedup in.csv in.jsonl other.jsonl --positions --keep prefer:q=2|longest";
    let kept = json_lines(&place.ok(both).stdout);
    assert_eq!(kept.len(), 3);
}

/// A chain: each text shares most of its shingles with the next, the ends share few.
fn chain() -> String {
    let text =
        |from: usize| (from..from + 100).map(|i| format!("w{i}")).collect::<Vec<_>>().join(" ");
    (0..6).map(|i| record(&format!("c{i}"), &text(i * 8))).collect()
}

#[test]
fn chains_removed_documents_that_nothing_kept_resembles() {
    let place = Place::new();
    place.write("in.jsonl", chain());
    let line = "dedup in.jsonl --recall 0.999999 --clusters c.jsonl --stats s.json";
    let stats = || serde_json::from_str::<Value>(&place.read("s.json")).unwrap();
    let outcome = place.ok(line);
    let rows = json_lines(&place.read("c.jsonl"));
    assert!(rows.iter().all(|row| row["similarity"].as_f64().unwrap() >= 0.8));
    assert!(rows.iter().filter(|row| row["kept"] == true).count() > 1);
    let lowest = rows.iter().map(|row| row["similarity"].as_f64().unwrap()).fold(1.0, f64::min);
    assert_eq!(stats()["least_close"], lowest);
    assert_eq!(stats()["unlike"], 0);
    // 0.84615…: no bound is closer than what was measured.
    let told = "items removed, each with similarity 0.8461 or more to one that is kept";
    assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
    // What older scripts say is what happens anyway.
    place.ok(&format!("{line} --no-chains"));
    assert_eq!(json_lines(&place.read("c.jsonl")), rows);
    let outcome = place.ok(&format!("{line} --chains"));
    let rows = json_lines(&place.read("c.jsonl"));
    assert!(rows.iter().all(|row| row["cluster"] == "c0"), "one chain is one cluster");
    assert!(rows[5]["similarity"].as_f64().unwrap() < 0.8);
    let told =
        "5  items removed, 4 of them not similar to the one that is kept: one has similarity 0.41";
    assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
    assert_eq!(stats()["unlike"], 4);
}

#[test]
fn a_cluster_that_swallows_the_collection_is_warned_of() {
    let place = Place::new();
    let text =
        |from: usize| (from..from + 60).map(|i| format!("w{i}")).collect::<Vec<_>>().join(" ");
    place.write(
        "in.jsonl",
        (0..300).map(|i| record(&i.to_string(), &text(i * 3))).collect::<String>(),
    );
    let outcome = place.ok("dedup in.jsonl --clusters c.csv --chains");
    assert!(outcome.stderr.contains("warning: one group has 300"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("leave out --chains"));
    // Without the summary, it is all that is said.
    let quiet = place.ok("dedup in.jsonl --clusters c.csv --chains -q").stderr;
    assert!(
        quiet.starts_with("warning: one group has 300") && quiet.lines().count() == 1,
        "{quiet}"
    );
    let outcome = place.ok("dedup in.jsonl --clusters c.csv");
    assert!(!outcome.stderr.contains("warning"), "{}", outcome.stderr);
}

#[test]
fn a_preferred_value_that_nobody_has_is_warned_of() {
    let place = Place::new();
    let line = |id: u32, source: &str| {
        format!("{{\"id\":{id},\"text\":\"a b c d e f\",\"source\":{source}}}\n")
    };
    place.write(
        "in.jsonl",
        line(1, "\"web\"") + &line(2, "\"Wiki\"") + &line(3, "7") + &line(4, "null"),
    );
    for (keep, kept, told) in [
        ("prefer:source=wiki,web", 1, "this preferred value: `wiki` in source; check how"),
        (
            "prefer:source=wiki,x",
            1,
            "these preferred values: `wiki` in source, `x` in source; check",
        ),
        (
            "prefer:source=w,web,x,y,z",
            1,
            ": `w` in source, `x` in source, `y` in source and 1 more;",
        ),
        ("prefer:source=7.0,Wiki", 3, ""),
    ] {
        let stderr = place.ok(&format!("dedup in.jsonl --keep {keep} -o out.jsonl")).stderr;
        let rows = place.read("out.jsonl");
        assert!(
            rows.starts_with(&format!("{{\"id\":{kept},")) && rows.lines().count() == 1,
            "{keep}: {rows}"
        );
        assert_eq!(stderr.contains("warning: no item has"), !told.is_empty(), "{keep}: {stderr}");
        assert!(stderr.contains(told), "{keep}: {stderr}");
    }
    // Items in memory are looked at in the same way.
    let quiet = place
        .ok("dedup in.jsonl --as string --within 0 --keep prefer:source=wiki -o out.jsonl -q")
        .stderr;
    assert!(quiet.starts_with("warning: no item has this preferred value: `wiki`"), "{quiet}");
}

/// 400 documents in families, from a fixed stream of numbers.
fn collection() -> Vec<(String, String)> {
    let mut state = 12345u64;
    let mut next = move |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let mut documents = Vec::new();
    for family in 0..100 {
        let words: Vec<u64> = (0..80).map(|_| next(3000)).collect();
        for version in 0..4 {
            let mut words = words.clone();
            for _ in 0..version {
                words[next(80) as usize] = next(3000);
            }
            let text = words.iter().map(|word| format!("word{word}")).collect::<Vec<_>>().join(" ");
            documents.push((format!("f{family}v{version}"), text));
        }
    }
    documents
}

fn as_jsonl(documents: &[(String, String)]) -> String {
    documents.iter().map(|(id, text)| record(id, text)).collect()
}

#[test]
fn threads_and_the_way_the_input_is_split_change_nothing() {
    let place = Place::new();
    let documents = collection();
    place.write("all.jsonl", as_jsonl(&documents));
    for (i, part) in documents.chunks(150).enumerate() {
        place.write(&format!("part{i}.jsonl"), as_jsonl(part));
    }
    let inputs = ["all.jsonl", "part0.jsonl part1.jsonl part2.jsonl"];
    let mut seen: Option<[String; 4]> = None;
    for (input, threads) in [(inputs[0], 1), (inputs[0], 8), (inputs[1], 1), (inputs[1], 8)] {
        place.ok(&format!("pairs {input} --threads {threads} -o pairs.jsonl"));
        place.ok(&format!("dedup {input} --threads {threads} -o kept.jsonl --clusters c.csv"));
        place.ok(&format!(
            "dedup {input} --threads {threads} --chains --keep longest --clusters n.csv"
        ));
        let files = ["pairs.jsonl", "kept.jsonl", "c.csv", "n.csv"].map(|name| place.read(name));
        assert!(files.iter().all(|file| file.lines().count() > 100));
        if let Some(seen) = &seen {
            assert_eq!(&files, seen, "{input} with {threads} threads");
        }
        seen = Some(files);
    }
}

#[test]
fn every_format_gives_the_same_pairs() {
    let place = Place::new();
    let documents = collection();
    place.write("in.jsonl", as_jsonl(&documents));
    place.write("in.ndjson", as_jsonl(&documents));
    let csv: String = documents.iter().map(|(id, text)| format!("{id},\"{text}\"\n")).collect();
    place.write("in.csv", format!("id,text\n{csv}"));
    place.write("in.tsv", format!("id,text\n{csv}").replace(',', "\t"));
    place.ok("dedup in.jsonl -o half.jsonl -t 1 --shingle chars:1000"); // nothing is that similar
    assert_eq!(place.read("half.jsonl"), place.read("in.jsonl"));
    place.ok("dedup in.jsonl -o in.parquet -t 1 --shingle chars:1000");
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(as_jsonl(&documents).as_bytes()).unwrap();
    place.write("in.jsonl.gz", gz.finish().unwrap());
    place.write("in.jsonl.zst", zstd::encode_all(as_jsonl(&documents).as_bytes(), 1).unwrap());
    for (id, text) in &documents {
        place.write(&format!("folder/{id}"), text);
    }
    let expected = place.ok("pairs in.jsonl").stdout;
    assert!(expected.lines().count() > 100);
    for input in ["in.ndjson", "in.csv", "in.tsv", "in.parquet", "in.jsonl.gz", "in.jsonl.zst"] {
        assert_eq!(place.ok(&format!("pairs {input}")).stdout, expected, "{input}");
    }
    // A folder is read in the order of its names.
    let unordered = |text: &str| {
        let mut pairs: Vec<[String; 2]> = json_lines(text)
            .iter()
            .map(|row| {
                let mut pair = [row["a"].to_string(), row["b"].to_string()];
                pair.sort();
                pair
            })
            .collect();
        pairs.sort();
        pairs
    };
    assert_eq!(unordered(&place.ok("pairs folder").stdout), unordered(&expected));
    // Standard input, and lines of text, whose ids are positions.
    let piped = place.run_with("pairs -", as_jsonl(&documents).as_bytes());
    assert_eq!(piped.stdout, expected);
    place
        .write("in.txt", documents.iter().map(|(_, text)| format!("{text}\n")).collect::<String>());
    let by_position = place.ok("pairs in.txt").stdout;
    let named: String = by_position
        .lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            let id = |key: &str| &documents[row[key].as_u64().unwrap() as usize].0;
            let similarity = line.split("similarity").nth(1).unwrap();
            format!("{{\"a\":\"{}\",\"b\":\"{}\",\"similarity{similarity}\n", id("a"), id("b"))
        })
        .collect();
    assert!(named == expected, "{named}");
    // And the outputs: back and forth through every format.
    let kept = place.ok("dedup in.jsonl").stdout;
    for output in ["out.csv", "out.tsv", "out.parquet", "out.jsonl.gz", "out.jsonl.zst"] {
        place.ok(&format!("dedup in.jsonl -o {output}"));
        let back = place.ok(&format!("dedup {output} -t 1 --shingle chars:1000")).stdout;
        assert_eq!(json_lines(&back), json_lines(&kept), "{output}");
    }
    for output in ["p.csv", "p.tsv", "p.parquet"] {
        place.ok(&format!("pairs in.jsonl -o {output}"));
        assert!(fs::metadata(place.path(output)).unwrap().len() > 1000);
    }
}

#[test]
fn stats_say_what_was_done() {
    let place = Place::new();
    let documents = collection();
    place.write(
        "in.jsonl",
        as_jsonl(&documents) + &record("copy", &documents[0].1) + &record("none", ""),
    );
    place.ok("dedup in.jsonl -o out.jsonl --approximate --stats s.json");
    let stats: Value = serde_json::from_str(&place.read("s.json")).unwrap();
    for (name, value) in
        [("items", 402), ("empty", 1), ("identical", 1), ("distinct", 400), ("skipped", 0)]
    {
        assert_eq!(stats[name], value, "{name}");
    }
    let kept = place.read("out.jsonl").lines().count();
    assert_eq!(stats["kept"], kept);
    assert!(stats["clusters"].as_u64().unwrap() > 50);
    assert!(stats["verified"].as_u64().unwrap() > 0 && stats["candidates"].as_u64().unwrap() > 0);
    assert_eq!(stats["recall"]["promised"], 0.99);
    assert!(stats["peak_memory"].as_u64().unwrap() > 1_000_000);
    for stage in ["read", "sketch", "audit", "candidates", "load", "verify", "write"] {
        assert!(stats["stages"][stage]["seconds"].as_f64().unwrap() >= 0.0, "{stage}");
    }
    assert!(stats["stages"]["read"]["bytes"].as_u64().unwrap() > 10_000);
    place.ok("pairs in.jsonl -o p.jsonl --stats p.json");
    let stats: Value = serde_json::from_str(&place.read("p.json")).unwrap();
    assert_eq!(stats["pairs"], place.read("p.jsonl").lines().count());
}

#[test]
fn empty_inputs_and_single_items_work() {
    let place = Place::new();
    for name in ["none.jsonl", "none.csv", "none.txt"] {
        place.write(name, "");
        assert_eq!(place.ok(&format!("pairs {name}")).stdout, "", "{name}");
        place.ok(&format!("dedup {name} -o out.jsonl"));
        assert_eq!(place.read("out.jsonl"), "");
    }
    fs::create_dir(place.path("hollow")).unwrap();
    assert_eq!(place.ok("pairs hollow").stdout, "");
    let one = record("only", "one single item");
    place.write("one.jsonl", &one);
    assert_eq!(place.ok("pairs one.jsonl").stdout, "");
    assert_eq!(place.ok("dedup one.jsonl").stdout, one);
    place.write("head.csv", "id,text\n");
    place.ok("dedup head.csv -o out.csv");
    assert_eq!(place.read("out.csv"), "id,text\n");
}

#[test]
fn one_item_of_50_megabytes_works() {
    let place = Place::new();
    let words: String =
        (0..7_000_000u32).map(|i| format!("{:x} ", i.wrapping_mul(2654435761) >> 8)).collect();
    assert!(words.len() > 45_000_000);
    place.write(
        "in.jsonl",
        record("huge", &words) + &three() + &record("cut", &words[..words.len() - 1000]),
    );
    let rows = json_lines(&place.ok("pairs in.jsonl").stdout);
    assert_eq!(rows.len(), 2);
    assert_eq!((&rows[0]["a"], &rows[0]["b"]), (&"huge".into(), &"cut".into()));
}

#[test]
fn a_hundred_thousand_identical_items_work() {
    let place = Place::new();
    let text = "the very same text in every one of the records of this file";
    place.write("in.jsonl", (0..100_000).map(|i| record(&i.to_string(), text)).collect::<String>());
    place.ok("dedup in.jsonl -o out.jsonl --stats s.json");
    assert_eq!(place.read("out.jsonl"), record("0", text));
    let stats: Value = serde_json::from_str(&place.read("s.json")).unwrap();
    assert_eq!((&stats["identical"], &stats["kept"]), (&99_999.into(), &1.into()));
}

#[test]
fn chinese_and_emoji_are_texts_like_others() {
    let place = Place::new();
    let text = "春眠不覺曉，處處聞啼鳥。夜來風雨聲，花落知多少。🌸🌸";
    place.write(
        "in.jsonl",
        record("一", text) + &record("二", &text.replace('曉', "晓")) + &record("三", "別的文字"),
    );
    let rows =
        json_lines(&place.ok("pairs in.jsonl --shingle chars:2 -t 0.7 --recall 0.9999").stdout);
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0]["a"], &rows[0]["b"]), (&"一".into(), &"二".into()));
}

#[test]
fn the_input_may_be_the_output() {
    let place = Place::new();
    place.write("in.jsonl", three());
    place.ok("dedup in.jsonl -o in.jsonl");
    assert_eq!(json_lines(&place.read("in.jsonl")).len(), 2);
}

#[test]
fn compare_shows_measures_and_changes() {
    let place = Place::new();
    place.write("a.txt", "The quick brown fox jumps over the lazy dog.");
    place.write("b.txt", "The quick red fox jumps over the lazy dog!");
    let text = place.ok("compare a.txt b.txt --shingle words:2").stdout;
    // Nine words each, eight shingles, six shared, ten in all.
    for part in
        ["0.600000  6 of 10 shingles shared", "[-brown-]", "{+red+}", "fox jumps over the lazy"]
    {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    let json: Value =
        serde_json::from_str(&place.ok("compare a.txt b.txt --shingle words:2 --json").stdout)
            .unwrap();
    assert_eq!(json["jaccard"], 0.6);
    assert_eq!(json["containment"], serde_json::json!([0.75, 0.75]));
    // brown → red keeps the r: four letters out, two in; . → ! is one out, one in.
    assert_eq!(json["edit"], 8);
    assert_eq!(json["hamming"], Value::Null, "44 and 42 characters");
    place.write("in.jsonl", three());
    assert!(place.ok("compare --in in.jsonl a b").stdout.contains("95 of 96 shingles shared"));
    place.fails("compare --in in.jsonl a z", &["z"]);
}

#[test]
fn plan_gives_the_fields_of_the_contract() {
    let place = Place::new();
    let plan: Value =
        serde_json::from_str(&place.ok("plan -t 0.8 --recall 0.99 --at 0.5,0.8 --json").stdout)
            .unwrap();
    let (b, r) = (plan["bands"].as_f64().unwrap(), plan["rows"].as_f64().unwrap());
    let curve = |s: f64| 1.0 - (1.0 - s.powf(r)).powf(b);
    assert!(curve(0.8) >= 0.99);
    assert_eq!(plan["expression"], format!("or({b}, and({r}, minhash))"));
    for (i, s) in [0.5, 0.8].into_iter().enumerate() {
        assert_eq!(plan["curve"][i]["s"], s);
        assert!((plan["curve"][i]["p"].as_f64().unwrap() - curve(s)).abs() < 1e-9);
    }
    assert!((curve(plan["half_way"].as_f64().unwrap()) - 0.5).abs() < 1e-9);
    let fixed = plan["fixed_point"].as_f64().unwrap();
    assert!((curve(fixed) - fixed).abs() < 1e-9);
    assert!(plan["steepest"]["at"].is_f64() && plan["steepest"]["slope"].is_f64());
    assert_eq!((&plan["threshold"], &plan["recall"]), (&0.8.into(), &0.99.into()));
    place.write("in.jsonl", as_jsonl(&collection()));
    let text = place.ok("plan in.jsonl").stdout;
    assert!(text.contains("400 records") && text.contains("chars:"), "{text}");
}

#[test]
fn help_man_page_and_completions_are_there() {
    let place = Place::new();
    let help = place.ok("--help").stdout;
    for command in ["pairs", "dedup", "compare", "plan"] {
        assert!(help.contains(command));
        assert!(place.ok(&format!("{command} --help")).stdout.contains("Examples:"), "{command}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(place.ok(&format!("completions {shell}")).stdout.contains("nearkin"));
    }
    assert!(place.ok("man").stdout.contains(".TH nearkin"));
    fs::create_dir(place.path("man")).unwrap();
    place.ok("man man");
    assert!(place.read("man/nearkin-dedup.1").contains("\\-\\-chains"));
}

#[test]
fn a_bad_last_line_does_not_change_what_ids_are() {
    let place = Place::new();
    place.write("in.jsonl", three() + "broken\n");
    place.ok("pairs in.jsonl --on-error skip -o p.parquet");
    place.ok("dedup in.jsonl --on-error skip -o k.parquet --clusters c.parquet");
    assert_eq!(json_lines(&place.ok("dedup c.parquet --text cluster -t 1").stdout).len(), 2);
}

#[test]
fn thirds_are_found_within_a_third() {
    let place = Place::new();
    place.write("in.jsonl", record("x", "a b") + &record("y", "a b c"));
    let line = "pairs in.jsonl --shingle words:1 --recall 0.999999";
    for limit in ["-t 0.6666666666666666", "--within 0.3333333333333333"] {
        assert_eq!(json_lines(&place.ok(&format!("{line} {limit}")).stdout).len(), 1, "{limit}");
    }
    let distance = &json_lines(&place.ok(&format!("{line} --within 0.34")).stdout)[0]["distance"];
    assert_eq!(distance.to_string(), "0.3333333333333333");
}

#[test]
fn large_whole_numbers_are_compared_exactly() {
    let place = Place::new();
    let text = "the same few words again and again";
    let row =
        |id: &str, time: u64| format!("{{\"id\":\"{id}\",\"ns\":{time},\"text\":\"{text}\"}}\n");
    place.write(
        "in.jsonl",
        row("a", 1_700_000_000_000_000_001) + &row("b", 1_700_000_000_000_000_002),
    );
    place.ok(
        "dedup in.jsonl -o in.parquet -t 1 --shingle chars:1000 --keep max:ns --clusters all.csv",
    );
    place.write(
        "in.csv",
        format!("id,ns,text\na,1700000000000000001,{text}\nb,1700000000000000002,{text}\n"),
    );
    for input in ["in.jsonl", "in.csv"] {
        let kept = json_lines(&place.ok(&format!("dedup {input} --keep max:ns")).stdout);
        assert_eq!(kept[0]["id"], "b", "{input}");
    }
}

#[test]
fn numbers_reach_csv_as_they_were_written() {
    let place = Place::new();
    place.write(
        "in.jsonl",
        "{\"text\":\"a, \\\"b\\\"\",\"n\":123456789012345678901234567890,\"x\":1.10,\"l\":[1, 2],\"z\":null}\n",
    );
    place.ok("dedup in.jsonl -o out.csv");
    let expected =
        "text,n,x,l,z\n\"a, \"\"b\"\"\",123456789012345678901234567890,1.10,\"[1, 2]\",\n";
    assert_eq!(place.read("out.csv"), expected);
}

#[test]
fn a_reader_that_has_had_enough_is_no_error_and_other_outputs_are_finished() {
    let place = Place::new();
    let same: String =
        (0..3000).map(|i| record(&i.to_string(), "the very same words over and over")).collect();
    place.write("in.jsonl", same);
    let command =
        format!("{} pairs in.jsonl -q --stats s.json | head -n 1", env!("CARGO_BIN_EXE_nearkin"));
    let output = std::process::Command::new("bash")
        .args(["-c", &format!("set -o pipefail; {command}")])
        .current_dir(place.path(""))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 1);
    let stats: Value = serde_json::from_str(&place.read("s.json")).unwrap();
    assert_eq!((&stats["items"], &stats["pairs"]), (&3000.into(), &Value::Null));
}

#[test]
fn blank_lines_of_text_are_items_and_keep_their_place() {
    let place = Place::new();
    place.write("in.txt", "a b c\n\n  \na b c\r\nlast");
    assert_eq!(place.ok("pairs in.txt").stdout, "{\"a\":0,\"b\":3,\"similarity\":1.0}\n");
    place.ok("dedup in.txt -o out.txt");
    assert_eq!(place.read("out.txt"), "a b c\n\n  \nlast\n");
}

#[test]
fn positions_can_be_asked_for() {
    let place = Place::new();
    let text = "the same few words again and again";
    place.write("one.jsonl", record("1", text) + &record("2", "other"));
    place.write("two.jsonl", record("1", text) + "{\"text\":\"no id\"}\n");
    let rows = place.ok("pairs one.jsonl two.jsonl --positions").stdout;
    assert_eq!(rows, "{\"a\":0,\"b\":2,\"similarity\":1.0}\n");
}

#[test]
fn plan_counts_bags_and_empty_texts_as_a_run_does() {
    let place = Place::new();
    let bags: String =
        (1..100).map(|n| record(&n.to_string(), &"a b c d e f g ".repeat(n))).collect();
    place.write("bags.jsonl", bags);
    let expected = |line: &str| -> f64 {
        let plan: Value = serde_json::from_str(&place.ok(line).stdout).unwrap();
        plan["corpus"]["expected"]["similar"].as_f64().unwrap()
    };
    let found = place.ok("pairs bags.jsonl --measure bag --recall 0.999999").stdout.lines().count();
    assert!((expected("plan bags.jsonl --measure bag --json") - found as f64).abs() < 0.5);
    let empty: String = (0..60).map(|n| record(&format!("e{n}"), "")).collect();
    place.write("half.jsonl", three() + &empty);
    assert!((expected("plan half.jsonl --json") - 1.0).abs() < 1e-9);
    place.write("dots.jsonl", three() + &record("d", "...") + &record("e", "..."));
    assert!((expected("plan dots.jsonl --json") - 2.0).abs() < 1e-9);
    let plan: Value =
        serde_json::from_str(&place.ok("plan --measure bag-sum -t 0.4 --json").stdout).unwrap();
    assert_eq!(plan["threshold"], 0.4);
}

#[test]
fn bands_of_ones_own_state_their_promise() {
    let place = Place::new();
    place.write("in.jsonl", three());
    place.ok("pairs in.jsonl --bands 20 --rows 5 --stats s.json");
    let stats: Value = serde_json::from_str(&place.read("s.json")).unwrap();
    assert_eq!((&stats["bands"], &stats["rows"]), (&20.into(), &5.into()));
    let promised = stats["recall"]["promised"].as_f64().unwrap();
    assert!((promised - (1.0 - (1.0 - 0.8f64.powi(5)).powi(20))).abs() < 1e-8);
    place.fails("pairs in.jsonl --bands 8589934593 --rows 2147483648", &["bands"]);
}

#[test]
fn records_between_other_delimiters_are_written_between_these() {
    let place = Place::new();
    place.write("in.csv", "id;text\n1;a b c d e f\n2;\"a; b\"\n3;a b c d e f\n");
    place.ok("dedup in.csv --delimiter ; -o in.csv");
    assert_eq!(place.read("in.csv"), "id;text\n1;a b c d e f\n2;\"a; b\"\n");
    place.ok("dedup in.csv --delimiter ; -o out.tsv");
    assert_eq!(place.read("out.tsv"), "id\ttext\n1\ta b c d e f\n2\ta; b\n");
}

/// RFC 8878, 3.1.1.1.1: bit 2 of the byte after the magic number says that a checksum follows the content.
#[test]
fn zst_outputs_carry_a_checksum() {
    let place = Place::new();
    place.write("in.jsonl", three());
    place.ok("dedup in.jsonl -o out.jsonl.zst");
    let packed = std::fs::read(place.path("out.jsonl.zst")).unwrap();
    assert_eq!(packed[..4], [0x28, 0xb5, 0x2f, 0xfd]);
    assert_ne!(packed[4] & 0b100, 0);
}

/// Runs `nearkin` by a shell, with these words behind its arguments: the status, and what it said.
fn by_shell(place: &Place, line: &str, behind: &str) -> (Option<i32>, String) {
    let line = format!("{} {line} {behind}", env!("CARGO_BIN_EXE_nearkin"));
    let folder = place.path("");
    let mut shell = std::process::Command::new("sh");
    let ended = shell.args(["-c", &line]).current_dir(folder).output().unwrap();
    (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
}

#[test]
fn a_closed_standard_output_lost_the_output_with_status_0() {
    let place = Place::new();
    place.write("in.jsonl", three());
    let to_stdout = [
        "pairs in.jsonl",
        "top in.jsonl",
        "dedup in.jsonl",
        "compare in.jsonl in.jsonl",
        "plan",
        "limit in.jsonl",
        "completions bash",
        "man",
    ];
    for line in to_stdout {
        let (code, told) = by_shell(&place, line, ">&-");
        let error = "error: <stdout>: is closed, so the output would be lost; leave it open, or send it to a file\n";
        assert_eq!((code, &*told), (Some(1), error), "{line}");
        // Somebody who wants to lose it can: opened for writing as a shell does, or for both as other programs do.
        for nowhere in [">/dev/null", "1<>/dev/null"] {
            assert_eq!(by_shell(&place, line, nowhere).0, Some(0), "{line} {nowhere}");
        }
    }
    for line in ["pairs in.jsonl -o out.jsonl", "dedup in.jsonl -o kept.jsonl"] {
        assert_eq!(by_shell(&place, line, ">&-").0, Some(0), "{line}");
    }
    assert!(place.exists("out.jsonl") && place.exists("kept.jsonl"));
}

#[test]
fn texts_of_csv_were_formulas_to_a_spreadsheet() {
    let place = Place::new();
    place.write(
        "in.csv",
        "id,text,=note\n@a,-1,\"=1+1\"\n+b,a b c d e f,-2.5\n+c,a b c d e f,plain\n",
    );
    let records: String =
        ["=a", "+b"].iter().map(|id| record(id, "one two three four five six")).collect();
    place.write("in.jsonl", records);
    let marked = "id,text,'=note\n'@a,-1,\"'=1+1\"\n'+b,a b c d e f,-2.5\n";
    place.ok("dedup in.csv -o out.csv --clusters clusters.csv --no-formulas");
    assert_eq!(place.read("out.csv"), marked);
    assert!(
        place.read("clusters.csv").contains("\n'+c,'+b,false,1"),
        "{}",
        place.read("clusters.csv")
    );
    place.ok("dedup in.csv -o out.tsv --no-formulas");
    assert_eq!(place.read("out.tsv"), marked.replace(',', "\t").replace('"', ""));
    place.ok("pairs in.jsonl -o pairs.csv --no-formulas");
    assert_eq!(place.read("pairs.csv"), "a,b,similarity\n'=a,'+b,1.0\n");
    place.ok("dedup in.jsonl -o out.csv --no-formulas");
    assert!(place.read("out.csv").contains("\n'=a,one"), "{}", place.read("out.csv"));
    // JSON has no formulas, and CSV stays as it is where nobody asks.
    assert!(place.ok("pairs in.jsonl --no-formulas").stdout.contains("\"a\":\"=a\""));
    place.ok("dedup in.csv -o out.csv");
    assert!(place.read("out.csv").starts_with("id,text,=note\n@a,-1,\"=1+1\"\n"));
}

//! `nearkin trim`: what is repeated goes, all else comes back as it was, and what went can be put back.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;

use nearkin_engine::read::{Input, ReadOptions};
use serde_json::{Value, json};

use crate::common::{Place, record};

/// So many words, from the `from`th on.
fn words(from: usize, count: usize) -> String {
    (from..from + count).map(|i| format!("w{i}")).collect::<Vec<_>>().join(" ")
}

const NOTICE: &str = "All rights reserved. Printed on paper by “The Press” at home!";

/// Documents with lines, paragraphs and sentences that stand more than once, as JSON objects.
fn documents() -> Vec<Value> {
    let text = |n: usize| match n % 4 {
        0 => format!("Title {n}\r\n\r\n{NOTICE}\nBody {} ends. See é “{n}”.\n", words(n, 20)),
        1 => format!("{}\n\n  {NOTICE}  \n\n{}", words(100 * n, 12), words(7, 30)),
        2 => format!("{NOTICE} {NOTICE}\t{}", words(3, 9)),
        _ => format!("日本語 {n}。日本語 {}。\n---\n---\n", n % 2),
    };
    (0..40)
        .map(|n| json!({"id": format!("d{n}"), "n": n, "text": text(n), "x": {"y": [n]}}))
        .collect()
}

fn lines(documents: &[Value]) -> String {
    documents.iter().map(|document| format!("{document}\n")).collect()
}

fn removed(place: &Place, name: &str) -> Vec<Value> {
    place.read(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Ids and texts of a file.
fn texts(path: PathBuf) -> Vec<(String, String)> {
    let input = Input::open(&[path], ReadOptions::default()).unwrap();
    let mut texts = Vec::new();
    for chunk in input.scan() {
        let batch = input.decode(&chunk.unwrap(), &|_| true).unwrap();
        for (index, item) in batch.items.iter().enumerate() {
            let id = item.id.as_ref().map(ToString::to_string).unwrap_or_default();
            texts.push((id, batch.text(index).to_owned()));
        }
    }
    texts
}

/// The texts as they were before, by id.
fn undone(left: Vec<(String, String)>, removed: &[Value]) -> BTreeMap<String, String> {
    let mut left: BTreeMap<String, String> = left.into_iter().collect();
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for row in removed {
        let id = row["id"].as_str().map_or_else(|| row["id"].to_string(), str::to_owned);
        let rest = left.entry(id.clone()).or_default();
        let text = texts.entry(id).or_default();
        let before = row["offset"].as_u64().unwrap() as usize - text.len();
        text.push_str(&rest[..before]);
        text.push_str(row["text"].as_str().unwrap());
        assert_eq!(row["length"], row["text"].as_str().unwrap().len());
        rest.replace_range(..before, "");
    }
    for (id, rest) in left {
        texts.entry(id).or_default().push_str(&rest);
    }
    texts
}

#[test]
fn a_notice_goes_from_all_documents_but_the_first() {
    let place = Place::new();
    let texts = ["One.\nfooter, of all\n", "Two.\nFooter of ALL!\nEnd.", "footer of all"];
    let input: String =
        ["a", "b", "c"].iter().zip(texts).map(|(id, text)| record(id, text)).collect();
    place.write("in.jsonl", &input);
    let outcome =
        place.ok("trim in.jsonl --unit line -o out.jsonl --removed gone.jsonl --stats s.json");
    let expected = [record("a", texts[0]), record("b", "Two.\nEnd."), record("c", "")].concat();
    assert_eq!(place.read("out.jsonl"), expected);
    assert_eq!(
        removed(&place, "gone.jsonl"),
        [
            json!({"id": "b", "file": "in.jsonl", "line": 2, "offset": 5, "length": 15, "reason": "repeated",
                "kept_id": "a", "kept_file": "in.jsonl", "kept_line": 1, "kept_offset": 5, "text": "Footer of ALL!\n"}),
            json!({"id": "c", "file": "in.jsonl", "line": 3, "offset": 0, "length": 13, "reason": "repeated",
                "kept_id": "a", "kept_file": "in.jsonl", "kept_line": 1, "kept_offset": 5, "text": "footer of all"}),
        ]
    );
    for part in ["3  documents read", "2  lines removed that stand earlier too", "6  words removed"]
    {
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
    let warning = "warning: 1 documents are left without a word; pass --min-left 1";
    assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
    let stats: Value = serde_json::from_str(&place.read("s.json")).unwrap();
    assert_eq!((&stats["repeated"], &stats["removed_words"]), (&json!(2), &json!(6)));
    // With a folder of temporary files, and over the input itself.
    place.ok("trim in.jsonl --unit line -o in.jsonl --min-left 1 --temp . -q");
    assert_eq!(place.read("in.jsonl"), [record("a", texts[0]), record("b", "Two.\nEnd.")].concat());
    assert_eq!(place.files(), ["gone.jsonl", "in.jsonl", "out.jsonl", "s.json"]);
}

#[test]
fn what_went_can_be_put_back_for_all_units_and_formats() {
    let place = Place::new();
    let all = documents();
    place.write("in.jsonl", lines(&all));
    let expected: BTreeMap<String, String> = all
        .iter()
        .map(|it| (it["id"].as_str().unwrap().to_owned(), it["text"].as_str().unwrap().to_owned()))
        .collect();
    // The same documents in all formats; nothing of them is removed.
    for name in ["in.csv", "in.parquet", "in.tsv.gz", "in.jsonl.zst"] {
        place.ok(&format!("trim in.jsonl --unit words:500 -o {name} -q"));
        assert_eq!(texts(place.path(name)).into_iter().collect::<BTreeMap<_, _>>(), expected);
    }
    for unit in ["line", "paragraph", "sentence", "words:5", "words:9"] {
        for more in ["", "--min-left 12", "--keep none --at-least 3"] {
            for (from, to) in [
                ("in.jsonl", "out.jsonl"),
                ("in.jsonl", "out.parquet"),
                ("in.csv", "out.csv"),
                ("in.parquet", "out.parquet"),
                ("in.parquet", "out.jsonl.gz"),
                ("in.tsv.gz", "out.tsv.zst"),
                ("in.jsonl.zst", "out.csv"),
            ] {
                let line =
                    format!("trim {from} --unit {unit} {more} -o {to} --removed gone.jsonl -q");
                place.ok(&line);
                let rows = removed(&place, "gone.jsonl");
                assert!(rows.len() > 5, "{line}: {rows:?}");
                assert_eq!(undone(texts(place.path(to)), &rows), expected, "{line}");
            }
        }
    }
}

#[test]
fn similar_paragraphs_go_with_a_threshold() {
    let place = Place::new();
    let paragraph = |own: &str| format!("{} {own}\n\n", words(0, 40));
    let input =
        record("a", &(paragraph("x") + "first")) + &record("b", &(paragraph("y") + "second"));
    place.write("in.jsonl", &input);
    place.ok("trim in.jsonl --unit paragraph -o out.jsonl -q");
    assert_eq!(place.read("out.jsonl"), input);
    let outcome = place.ok("trim in.jsonl --unit paragraph -t 0.8 -o out.jsonl");
    assert!(
        outcome.stderr.contains("similar to an earlier one, 0.8 or more"),
        "{}",
        outcome.stderr
    );
    assert_eq!(
        place.read("out.jsonl"),
        record("a", &(paragraph("x") + "first")) + &record("b", "second")
    );
    place.fails("trim in.jsonl --unit words:50 -t 0.8 -o o.jsonl", &["--threshold", "words:N"]);
}

#[test]
fn fields_come_back_as_they_were() {
    let place = Place::new();
    let notice = r"Caf\u00e9 \ud83d\ude00 \/ one two three four";
    place.write(
        "in.jsonl",
        format!("{{\"text\":\"{notice}\",\"n\":1.50}}\n{{ \"a\":[1 , 2],\"text\" : \"so: {notice} \\\"x\\\"\" ,\"z\":null}}\r\n"),
    );
    place.ok("trim in.jsonl --unit words:5 -o out.jsonl -q");
    let expected = format!(
        "{{\"text\":\"{notice}\",\"n\":1.50}}\n{{ \"a\":[1 , 2],\"text\" : \"so: \\\"x\\\"\" ,\"z\":null}}\r\n"
    );
    assert_eq!(place.read("out.jsonl"), expected);
}

#[test]
fn shards_and_folders_of_documents_come_back() {
    let place = Place::new();
    let line = |id: &str| record(id, &format!("own {id}\n{NOTICE}\n"));
    place.write("in/a.jsonl", line("a"));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(line("b").as_bytes()).unwrap();
    place.write("in/x/b.jsonl.gz", packed.finish().unwrap());
    place.write("in/c.csv", format!("id,text\nc,\"own c\n{}\"\n", NOTICE));
    place.ok("trim in --unit line -o out/ -q");
    assert_eq!(place.read("out/a.jsonl"), line("a"));
    assert_eq!(place.read("out/c.csv"), "id,text\nc,\"own c\n\"\n");
    let mut text = String::new();
    let file = fs::File::open(place.path("out/x/b.jsonl.gz")).unwrap();
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    assert_eq!(text, record("b", "own b\n"));
    // Each file a document, and lines of text.
    place.write("docs/1.txt", format!("first\n{NOTICE}\n"));
    place.write("docs/2.txt", format!("second\n{NOTICE}\n"));
    place.ok("trim docs --unit line -o docs.jsonl -q");
    let expected = record("1.txt", &format!("first\n{NOTICE}\n")) + &record("2.txt", "second\n");
    assert_eq!(place.read("docs.jsonl"), expected);
    place.write("in.txt", format!("a {NOTICE} b\n\nc {NOTICE} d\n"));
    place.ok("trim in.txt --unit words:6 -o out.txt -q");
    assert_eq!(place.read("out.txt"), format!("a {NOTICE} b\n\nc ! d\n"));
}

#[test]
fn the_same_bytes_at_any_number_of_threads_and_memory() {
    let place = Place::new();
    let all: Vec<Value> = (0..60)
        .flat_map(|round| {
            documents().into_iter().map(move |mut it| {
                it["id"] = json!(format!("{round}-{}", it["id"]));
                it
            })
        })
        .collect();
    place.write("a.jsonl", lines(&all[..1000]));
    place.write("b.jsonl.zst", zstd::encode_all(lines(&all[1000..]).as_bytes(), 3).unwrap());
    for unit in ["line", "sentence", "words:6"] {
        let run = |more: &str| {
            place.ok(&format!(
                "trim a.jsonl b.jsonl.zst --unit {unit} -o o.jsonl --removed r.csv -q {more}"
            ));
            (place.read("o.jsonl"), place.read("r.csv"))
        };
        let expected = run("--threads 1");
        for more in
            ["--threads 2", "--threads 8 --memory 16M", "--memory 16M --threads 1", "--temp ."]
        {
            assert!(run(more) == expected, "{unit} {more}");
        }
    }
}

#[test]
fn what_cannot_work_is_told_on_one_line() {
    let place = Place::new();
    place.write("in.jsonl", record("a", "one two") + &record("b", "three"));
    place.write("bad.jsonl", "{\"text\": 5}\n{\"text\": \"x\"}\n");
    place.fails("trim in.jsonl --unit line -o out.npy", &["out.npy"]);
    place.fails("trim missing.jsonl --unit line -o o.jsonl", &["missing.jsonl"]);
    place.fails(
        "trim in.jsonl --unit line --text body -o o.jsonl",
        &["in.jsonl:1", "body", "--text"],
    );
    place.fails("trim bad.jsonl --unit line -o o.jsonl", &["bad.jsonl:1", "--on-error skip"]);
    place.fails("trim in.jsonl --unit line -o o.jsonl --removed o.jsonl", &["given twice"]);
    place.fails("trim in.jsonl --unit line -o o.jsonl --removed in.jsonl", &["given twice"]);
    for (line, part) in [
        ("trim in.jsonl -o o.jsonl", "--unit"),
        ("trim in.jsonl --unit words:4 -o o.jsonl", "words:N"),
        ("trim in.jsonl --unit words -o o.jsonl", "words:50"),
        ("trim in.jsonl --unit line --at-least 1 -o o.jsonl", "--at-least"),
        ("trim in.jsonl --unit line --keep longest -o o.jsonl", "first"),
    ] {
        let outcome = place.run(line);
        assert_eq!(outcome.code, Some(2), "{line}: {outcome:?}");
        assert!(outcome.stderr.contains(part), "{line}: {}", outcome.stderr);
    }
    let outcome = place.ok("trim bad.jsonl --unit line --on-error skip -o o.jsonl");
    assert!(outcome.stderr.contains("skipped: bad.jsonl:1"), "{}", outcome.stderr);
    assert_eq!(place.read("o.jsonl"), "{\"text\": \"x\"}\n");
}

#[test]
fn what_is_not_as_somebody_may_think_is_told() {
    let place = Place::new();
    place.write("in.jsonl", record("a", "one two") + &record("b", "three"));
    place.write("empty.jsonl", "");
    let same: String = ["a", "b", "c"].map(|id| record(id, "one two\nthree\n")).concat();
    place.write("same.jsonl", same);
    let told = |line: &str, part: &str| {
        let outcome = place.ok(line);
        assert!(outcome.stderr.contains(part), "{line}: {}", outcome.stderr);
    };
    told("trim in.jsonl --unit words:50 -o o.jsonl", "2 of 2 documents have fewer than 50 words");
    told("trim in.jsonl --unit line -o o.jsonl", "nothing was removed");
    told("trim in.jsonl --unit line -o o.jsonl", "documents have one of the lines each");
    told("trim empty.jsonl --unit line -o o.jsonl", "there are no documents");
    told("trim same.jsonl --unit line -o o.jsonl", "66 % of all words were removed");
    told("trim same.jsonl --unit line -o o.jsonl", "2 documents are left without a word");
}

#[test]
fn files_may_come_from_a_list_and_each_once() {
    let place = Place::new();
    place.write("a.jsonl", record("a", "one two three\nfour"));
    place.write("docs/b.jsonl", record("b", "one two three\nfive"));
    place.write("list", "a.jsonl\ndocs\n");
    place.ok("trim --files-from list --unit line -o out.jsonl");
    assert_eq!(place.read("out.jsonl"), record("a", "one two three\nfour") + &record("b", "five"));
    place.write("both", "a.jsonl\n./a.jsonl\n");
    std::os::unix::fs::symlink(place.path("docs"), place.path("link")).unwrap();
    for (line, named) in [
        ("trim a.jsonl a.jsonl", "a.jsonl: is given twice"),
        ("trim --files-from both", "./a.jsonl: is given twice, also as a.jsonl"),
        ("trim a.jsonl --files-from list", "a.jsonl: is given twice"),
        ("trim docs docs/b.jsonl", "docs/b.jsonl: is given twice"),
        ("trim docs link", "link/b.jsonl: is given twice, also as docs/b.jsonl"),
    ] {
        place.fails(&format!("{line} --unit line -o out2.jsonl"), &[named, "name it once"]);
    }
    for line in [
        "overlap a.jsonl a.jsonl --against docs",
        "overlap a.jsonl --against docs --against docs/b.jsonl",
    ] {
        place.fails(line, &["is given twice"]);
    }
}

#[test]
fn warnings_are_seen_without_the_summary() {
    let place = Place::new();
    place.write(
        "in.jsonl",
        record("a", "a line\nthe same words") + &record("b", "THE same\twords\nlast"),
    );
    let outcome = place.ok("trim in.jsonl --unit line --at-least 3 -o out.jsonl -q");
    let told: Vec<&str> = outcome.stderr.lines().collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("warning: nothing was removed"), "{told:?}");
    assert_eq!(place.ok("trim in.jsonl --unit line -o out.jsonl -q").stderr, "");
}

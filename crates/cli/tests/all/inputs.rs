//! Files as people have them: arrays of JSON, other encodings and separators, source trees, plain text from a pipe.

use serde_json::{Value, json};

use crate::common::{Place, record};

/// Words that other texts do not have.
fn words(from: usize, count: usize) -> String {
    (from..from + count).map(|i| format!("w{i}")).collect::<Vec<_>>().join(" ")
}

/// Two texts that are similar, and one that is not, as an array over many lines.
fn array() -> String {
    let item = |id: &str, text: String| json!({ "id": id, "text": text, "n": { "a": [1, 2] } });
    let items = [item("a", words(0, 100)), item("b", words(1, 100)), item("c", words(500, 100))];
    serde_json::to_string_pretty(&items).unwrap()
}

fn ids(text: &str) -> Vec<String> {
    let records: Vec<Value> = serde_json::from_str(text).unwrap();
    records.iter().map(|record| record["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_array_comes_back_as_an_array_and_lines_as_lines() {
    let place = Place::new();
    place.write("in.json", array());
    for threads in [1, 2, 8] {
        place.ok(&format!("dedup in.json -o kept.json --threads {threads} --memory 64M"));
        assert_eq!(ids(&place.read("kept.json")), ["a", "c"]);
        let records: Vec<Value> = serde_json::from_str(&place.read("kept.json")).unwrap();
        assert_eq!(records[1]["n"], json!({ "a": [1, 2] }));
    }
    place.ok("dedup in.json -o kept.jsonl");
    assert_eq!(place.read("kept.jsonl").lines().count(), 2);
    place.ok("dedup kept.jsonl -o again.json");
    assert_eq!(ids(&place.read("again.json")), ["a", "c"]);
    // A file that is called so and has lines.
    place.write("lines.json", place.read("kept.jsonl"));
    place.ok("dedup lines.json -o lines-kept.json");
    assert_eq!(place.read("lines-kept.json"), place.read("kept.jsonl"));
    place.ok("pairs in.json -o pairs.json");
    let pairs: Vec<Value> = serde_json::from_str(&place.read("pairs.json")).unwrap();
    assert_eq!((pairs.len(), &pairs[0]["b"]), (1, &json!("b")));
    place.write("none.json", "[]");
    place.ok("dedup none.json -o none-kept.json");
    assert_eq!(place.read("none-kept.json"), "[]\n");
}

#[test]
fn a_folder_of_arrays_comes_back_as_arrays() {
    let place = Place::new();
    place.write("in/a.json", array());
    place.write("in/b.json", record("d", &words(0, 100)) + &record("e", &words(900, 100)));
    place.ok("dedup in -o kept/");
    assert_eq!(ids(&place.read("kept/a.json")), ["a", "c"]);
    assert_eq!(place.read("kept/b.json"), record("e", &words(900, 100)));
    let outcome = place.run_with("pairs -", array().as_bytes());
    assert_eq!(outcome.stdout.lines().count(), 1, "{}", outcome.stderr);
}

#[test]
fn packing_follows_the_name_where_shards_are_written() {
    let place = Place::new();
    // Packed and not called so, and called so and not packed.
    let text = record("a", &words(0, 100));
    place.write("in/a.jsonl", zstd::encode_all(text.as_bytes(), 1).unwrap());
    place.write("in/b.jsonl.zst", record("b", &words(500, 100)));
    place.ok("dedup in -o kept/");
    assert_eq!(place.read("kept/a.jsonl"), text);
    let packed = std::fs::read(place.path("kept/b.jsonl.zst")).unwrap();
    assert_eq!(zstd::decode_all(&packed[..]).unwrap(), record("b", &words(500, 100)).as_bytes());
}

#[test]
fn latin1_comes_back_as_utf_8() {
    let place = Place::new();
    let text = |n: usize| format!("caf\u{e9} {}", words(n, 50));
    let latin = |text: &str| text.chars().map(|c| c as u8).collect::<Vec<u8>>();
    let lines = record("a", &text(0)) + &record("b", &text(500));
    place.write("in.jsonl", latin(&lines));
    place.fails("dedup in.jsonl -o out.jsonl", &["in.jsonl:1: not valid UTF-8", "--encoding"]);
    place.ok("dedup in.jsonl --encoding latin1 -o out.jsonl");
    assert_eq!(place.read("out.jsonl"), lines);
    let usage = place.run("pairs in.jsonl --encoding latin-one");
    assert!(usage.code == Some(2) && usage.stderr.contains("such as latin1"), "{}", usage.stderr);
}

#[test]
fn another_separator_is_found_out_and_told() {
    let place = Place::new();
    let rows = |by: &str| {
        let row = |id: &str, from| format!("{id}{by}{}{by}x\n", words(from, 100));
        format!("id{by}text{by}n\n{}{}{}", row("a", 0), row("b", 1), row("c", 500))
    };
    for (name, by) in [("semi", ";"), ("tab", "\t"), ("bar", "|")] {
        place.write(&format!("{name}.csv"), rows(by));
        let outcome = place.ok(&format!("dedup {name}.csv -o kept.csv"));
        let told = format!(
            "{name}.csv: fields are separated by {:?} and not by commas",
            by.chars().next().unwrap()
        );
        assert!(outcome.stderr.contains(&told), "{}", outcome.stderr);
        assert!(place.read("kept.csv").starts_with(&format!("id{by}text{by}n\na{by}")));
        assert_eq!(place.read("kept.csv").lines().count(), 3);
    }
    place.write("comma.csv", rows(","));
    assert!(!place.ok("dedup comma.csv -o kept.csv").stderr.contains("separated"));
    // What was named counts, and what nobody can find is the error that it was.
    place.fails(
        "pairs semi.csv --delimiter ,",
        &["no column `text`", "name the separator with --delimiter"],
    );
    place.fails("pairs semi.csv --text body", &["no column `body`"]);
}

#[test]
fn plain_text_from_a_pipe_is_told_its_format() {
    let place = Place::new();
    let text = format!("{}\n{}\n", words(0, 50), words(0, 50));
    let outcome = place.run_with("pairs -", text.as_bytes());
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("<stdin>:1: not valid JSON"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("fix it, pass --format txt, or"), "{}", outcome.stderr);
    let outcome = place.run_with("pairs - --format txt", text.as_bytes());
    assert_eq!(outcome.stdout, "{\"a\":0,\"b\":1,\"similarity\":1.0}\n");
    let outcome = place.run_with("pairs -", b"id,text\n1,a\n");
    assert!(outcome.stderr.contains("--format csv or txt"), "{}", outcome.stderr);
}

/// A source tree with a copied function.
fn tree() -> Place {
    let place = Place::new();
    let function =
        (0..30).map(|i| format!("    line{i} = call{i}(a{i}, b{i})\n")).collect::<String>();
    place.write("src/a.py", format!("import a\n\n{function}"));
    place.write("src/deep/b.py", format!("import b, c\n\n\n{function}"));
    place.write("src/c.py", (0..30).map(|i| format!("other{i}\n")).collect::<String>());
    place.write("src/skip/d.py", format!("import d\n{function}"));
    place.write("src/build/e.py", format!("import e\n{function}"));
    place.write("src/.gitignore", "/build\n");
    place.write("src/logo.png", b"\x89PNG\0\x01");
    place.write("src/old.c", b"caf\xe9");
    place
}

#[test]
fn a_source_tree_is_read_as_it_is_and_what_is_passed_over_is_counted() {
    let place = tree();
    let outcome = place.ok("pairs src --exclude skip --stats stats.json -t 0.7");
    assert_eq!(outcome.stdout.lines().count(), 1, "{}", outcome.stdout);
    for line in [
        "1  binary files passed over",
        "1  files passed over that are no text in UTF-8, or in the --encoding",
        "1  files left out that a .gitignore names; --no-ignore reads them",
        "1  files and folders left out by --include and --exclude",
    ] {
        assert!(outcome.stderr.contains(line), "{}", outcome.stderr);
    }
    let stats: Value = serde_json::from_str(&place.read("stats.json")).unwrap();
    let expected =
        json!({ "binary": 1, "undecodable": 1, "ignored": 1, "excluded": 1, "dead_links": 0 });
    assert_eq!(
        (&stats["passed_over"], &stats["items"], &stats["skipped"]),
        (&expected, &3.into(), &0.into())
    );
    let all = place.ok("pairs src --include *.py --no-ignore -t 0.7");
    assert_eq!(all.stdout.lines().count(), 6, "{}", all.stdout);
    place.ok("dedup src -o kept.jsonl -t 0.7");
    assert_eq!(place.read("kept.jsonl").lines().count(), 2);
    let outcome = place.ok("pairs src --include *.rs");
    assert!(
        outcome.stderr.contains("all files of the folder were passed over"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn files_are_named_one_by_one_or_in_a_list() {
    let place = tree();
    let pair = "{\"a\":\"src/a.py\",\"b\":\"src/deep/b.py\",\"similarity\":";
    let files = "src/a.py src/c.py src/deep/b.py";
    assert!(place.ok(&format!("pairs {files} -t 0.7")).stdout.starts_with(pair));
    place.write("list", files.replace(' ', "\n"));
    assert!(place.ok("pairs --files-from list -t 0.7").stdout.starts_with(pair));
    for end in ["\n", "\r\n", "\0"] {
        let list = files.replace(' ', end) + end;
        let outcome = place.run_with("pairs --files-from - -t 0.7", list.as_bytes());
        assert!(outcome.stdout.starts_with(pair), "{}", outcome.stderr);
    }
    place.write("none", "\n");
    place.fails("pairs --files-from none", &["none: names no file"]);
    place.fails("pairs --files-from nowhere", &["nowhere: does not exist"]);
    place.write("list", "src/a.py\nsrc/gone.py\n");
    place.fails("pairs --files-from list", &["src/gone.py: does not exist"]);
    assert_eq!(place.run("pairs").code, Some(2));
}

#[test]
fn copied_code_is_shown_in_groups_with_its_lines() {
    let place = tree();
    let outcome = place.ok("pairs src --show -t 0.7");
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(lines[0], "group 1 of 1: 3 items", "{}", outcome.stdout);
    assert_eq!(lines[1].trim(), "src/a.py".trim_start_matches("src/"));
    assert!(lines.iter().any(|line| line.ends_with("  deep/b.py")), "{}", outcome.stdout);
    // The function begins in the third line of the first file.
    let passage = lines.iter().find(|line| line.contains(" words, lines 3–32 and ")).unwrap();
    assert!(passage.contains("line0 = call0(a0, b0)"), "{passage}");
    place.fails("pairs src --show -o x.csv", &["--show", "--output"]);
    let outcome = place.ok("pairs src --show -t 0.7 --include c.py --include old.c");
    assert_eq!(outcome.stdout, "no two items are similar\n");
}

#[test]
fn files_that_are_no_texts_are_counted_by_commands_on_parts_of_documents() {
    let place = Place::new();
    let shared = "This line stands in two of the documents that are here";
    place.write("docs/a.txt", format!("one of its own\n{shared}\n"));
    place.write("docs/b.bin", b"\x00\x01binary");
    place.write("docs/c.txt", b"caf\xe9\n");
    place.write("docs/d.txt", format!("and one more\n{shared}\n"));
    place.write("test.jsonl", record("q", shared));
    for line in [
        "trim docs --unit line -o trimmed.jsonl",
        "overlap docs --against test.jsonl --words 6 -o clean.jsonl",
        "overlap docs --against test.jsonl --words 6 -o cut.jsonl --cut",
    ] {
        let told = place.ok(line).stderr;
        for part in ["2  ", "1  binary files passed over", "1  files passed over that are no text"]
        {
            assert!(told.contains(part), "{line}: {part} is not in {told}");
        }
        assert!(!told.contains("skipped"), "{line}: {told}");
    }
    let trimmed = format!(
        "{}{}",
        record("a.txt", &format!("one of its own\n{shared}\n")),
        record("d.txt", "and one more\n")
    );
    assert_eq!(place.read("trimmed.jsonl"), trimmed);
    assert_eq!(place.read("clean.jsonl"), "");
    assert_eq!(place.read("cut.jsonl").lines().count(), 2);
}

/// The next run would read such an output, or has lost what was there.
#[test]
fn no_command_writes_into_a_folder_that_it_reads() {
    let place = Place::new();
    place.write("in/a.jsonl", record("a", &words(0, 30)) + &record("b", &words(0, 29)));
    place.write("tests/q.jsonl", record("q", &words(5, 20)));
    place.write("new.jsonl", record("n", &words(0, 30)));
    let input = "which is the input";
    for (line, part) in [
        ("pairs in -o in/a.jsonl", input),
        ("pairs in -o in/pairs.csv", input),
        ("top in --stats in/stats.json", input),
        ("dedup in -o in/kept.jsonl", input),
        ("dedup in -o in/kept/", input),
        ("trim in --unit line -o in/a.jsonl", input),
        ("trim in --unit line -o trimmed.jsonl --removed in/gone.csv", input),
        ("trim in --unit line -o in/trimmed/", input),
        ("overlap in --against tests -o in/clean.jsonl", input),
        ("overlap in --against tests --report-pairs in/a.jsonl", input),
        ("overlap new.jsonl --against tests -o tests/q.jsonl", "--against, which is never written"),
        ("pairs new.jsonl --against tests -o tests/q.jsonl", "--against, which is never written"),
        ("dedup new.jsonl --against in -o in/a.jsonl", "--against, which is never written"),
    ] {
        place.fails(line, &[part]);
    }
    assert_eq!(place.read("tests/q.jsonl"), record("q", &words(5, 20)));
    assert_eq!(place.read("in/a.jsonl").lines().count(), 2);
}

#[test]
fn files_that_a_pattern_puts_behind_against_are_not_taken_for_input() {
    let place = Place::new();
    for name in ["new", "old1", "old2"] {
        place.write(&format!("{name}.jsonl"), record(name, &words(0, 30)));
    }
    for command in ["dedup", "pairs", "top", "overlap"] {
        let outcome = place.run(&format!("{command} new.jsonl --against old1.jsonl old2.jsonl"));
        assert_eq!(outcome.code, Some(2), "{command}");
        assert!(outcome.stderr.contains("`old2.jsonl` behind --against"), "{}", outcome.stderr);
    }
    place.ok("dedup --against old1.jsonl --against old2.jsonl new.jsonl -o kept.jsonl");
    assert_eq!(place.read("kept.jsonl"), "");
}

#[test]
fn removed_pieces_name_the_document_and_skipped_records_their_line() {
    let place = Place::new();
    place.write("docs/a.txt", "one\nthe same line of words\n");
    place.write("docs/b.txt", "two\nthe same line of words\n");
    place.ok("trim docs --unit line -o trimmed.jsonl --removed gone.csv");
    let gone = place.read("gone.csv");
    let row = gone.lines().nth(1).unwrap();
    assert!(row.starts_with("b.txt,docs/b.txt,1,4,23,repeated,a.txt,docs/a.txt,1,4,"), "{row}");
    place.write("test.jsonl", record("q", "the same line of words"));
    place.ok("overlap docs --against test.jsonl --words 5 --removed gone.csv");
    assert!(place.read("gone.csv").contains("\na.txt,docs/a.txt,1,q,"));
    // Behind more than a chunk.
    let line = |i: usize| record(&i.to_string(), &words(10 * i, 9));
    let mut lines: String = (0..60_000).map(line).collect();
    lines += "{broken\n";
    place.write("large.jsonl", lines + &line(60_001));
    for threads in [1, 2] {
        let line = format!(
            "trim large.jsonl --unit line -o out.jsonl --on-error skip --threads {threads} --memory 16M"
        );
        let told = place.ok(&line).stderr;
        assert!(told.contains("skipped: large.jsonl:60001"), "{told}");
    }
}

#[test]
fn a_field_that_no_removed_record_has_is_a_warning() {
    let place = Place::new();
    let lines = record("a", &words(0, 30)) + &record("b", &words(0, 30));
    place.write("in.jsonl", lines + "{\"id\":\"c\",\"text\":\"else\",\"opt\":1}\n");
    let told =
        place.ok("dedup in.jsonl -o kept.jsonl --removed gone.csv --removed-fields opt").stderr;
    assert!(told.contains("warning: no removed record has a field `opt`"), "{told}");
    assert_eq!(place.read("kept.jsonl").lines().count(), 2);
}

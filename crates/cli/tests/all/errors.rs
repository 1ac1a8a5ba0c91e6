//! What bad input gets: one line that names the file and the line and says what to do, exit status 1,
//! and no output.

use std::fs;
use std::io::Write;

use crate::common::{Place, record, three};
use crate::data::skipped;

const RUN: &str = "dedup in.jsonl -o out.jsonl --clusters clusters.csv --stats stats.json";

fn lines_with(bad: &[u8]) -> Vec<u8> {
    let mut content = three().into_bytes();
    content.extend_from_slice(bad);
    content.push(b'\n');
    content.extend_from_slice(record("d", "one more good record at the end").as_bytes());
    content
}

/// Each bad fourth line, and what its message contains.
fn bad_lines() -> Vec<(&'static [u8], Vec<&'static str>)> {
    vec![
        (br#"{"id": "x", "text": "broken"#, vec!["not valid JSON"]),
        (br#"{"id": "x", "text": "a"} trailing"#, vec!["not valid JSON"]),
        (b"nonsense", vec!["not valid JSON"]),
        (br#"["a", "list"]"#, vec!["object"]),
        (br#"{"id": "x", "body": "a"}"#, vec!["no field `text`", "`body`", "--text"]),
        (br#"{"id": "x", "text": 7}"#, vec!["`text` is a whole number"]),
        (br#"{"id": "x", "text": null}"#, vec!["`text` is null"]),
        (br#"{"id": "x", "text": ["a"]}"#, vec!["`text` is a list"]),
        (b"{\"id\": \"x\", \"text\": \"caf\xe9\"}", vec!["not valid UTF-8"]),
        (br#"{"id": "x", "text": "\ud800"}"#, vec!["not valid JSON"]),
        (br#"{"text": "no id"}"#, vec!["`id`"]),
        (br#"{"id": 1.5, "text": "a"}"#, vec!["`id`", "whole number"]),
        (br#"{"id": "a", "text": "again"}"#, vec!["\"a\" was there before"]),
    ]
}

#[test]
fn bad_lines_are_named() {
    for (bad, mut parts) in bad_lines() {
        let place = Place::new();
        place.write("in.jsonl", lines_with(bad));
        parts.extend(["in.jsonl:4: ", "; "]);
        place.fails(RUN, &parts);
    }
}

#[test]
fn bad_lines_are_skipped_and_counted() {
    for (bad, _) in bad_lines() {
        let place = Place::new();
        place.write("in.jsonl", lines_with(bad));
        let outcome = place.ok(&format!("{RUN} --on-error skip"));
        assert!(outcome.stderr.contains("1  records skipped"), "{}", outcome.stderr);
        assert!(
            outcome.stderr.contains("in.jsonl:4: "),
            "the message is shown: {}",
            outcome.stderr
        );
        let kept = place.read("out.jsonl");
        assert_eq!(kept.lines().count(), 3, "{kept}");
        assert!(kept.ends_with(&record("d", "one more good record at the end")));
        let stats: serde_json::Value = serde_json::from_str(&place.read("stats.json")).unwrap();
        assert_eq!((&stats["items"], &stats["skipped"]), (&4.into(), &1.into()));
    }
}

#[test]
fn many_bad_lines_are_counted_not_listed() {
    let place = Place::new();
    place.write("in.jsonl", "nonsense\n".repeat(50_000) + &three());
    let outcome = place.ok("dedup in.jsonl -o out.jsonl --on-error skip");
    assert!(outcome.stderr.contains("50,000  records skipped"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("skipped: and 49,990 more\n"), "{}", outcome.stderr);
    assert!(outcome.stderr.lines().count() < 30);
    assert_eq!(place.read("out.jsonl").lines().count(), 2);
}

#[test]
fn duplicate_ids_across_files_are_named() {
    let place = Place::new();
    place.write("one.jsonl", three());
    place.write("two.jsonl", record("z", "text of z") + &record("b", "text of b"));
    place.fails(
        "pairs one.jsonl two.jsonl",
        &["two.jsonl:2: ", "\"b\" was there before, at one.jsonl:2; pass --positions, "],
    );
    // The two sides of --against have ids of their own.
    place.ok("pairs one.jsonl --against two.jsonl");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn truncated_and_damaged_compression_is_named_and_never_skipped() {
    let text = three().into_bytes();
    // With its checksum: without one, damage to a zstd file may go unseen by any reader.
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(&text).unwrap();
    let (gz, zst) = (gzip(&text), encoder.finish().unwrap());
    for (name, whole) in [("in.jsonl.gz", gz), ("in.jsonl.zst", zst)] {
        for policy in ["stop", "skip"] {
            let line = format!("dedup {name} -o out.jsonl --on-error {policy}");
            let place = Place::new();
            place.write(name, &whole[..whole.len() - 10]);
            let end =
                format!("truncated: the file ends after {} bytes, in the middle", whole.len() - 10);
            place.fails(&line, &[name, &end]);
            let mut damaged = whole.clone();
            let middle = damaged.len() / 2;
            damaged[middle..middle + 8].fill(0xff);
            place.write(name, damaged);
            place.fails(&line, &[name, "; "]);
            place.write(name, &whole);
            place.ok(&line);
        }
    }
}

#[test]
fn what_is_no_compressed_file_is_named() {
    let place = Place::new();
    place.write("in.jsonl.gz", b"\x01\x02\x03");
    place.fails("pairs in.jsonl.gz", &["in.jsonl.gz", "gzip data"]);
    place.write("in.jsonl.zst", b"\x01\x02\x03");
    place.fails("pairs in.jsonl.zst", &["in.jsonl.zst", "zstd data"]);
}

#[test]
fn a_parquet_file_without_the_column_is_named() {
    let place = Place::new();
    place.write("in.jsonl", three());
    place.ok("dedup in.jsonl -o in.parquet");
    place.fails(
        "dedup in.parquet --text body -o out.parquet",
        &["in.parquet", "no column `body`", "`text`"],
    );
    place.fails("dedup in.parquet --id number -o out.parquet", &["in.parquet", "`number`"]);
    let whole = fs::read(place.path("in.parquet")).unwrap();
    place.write("cut.parquet", &whole[..whole.len() / 2]);
    place.fails("dedup cut.parquet -o out.parquet", &["cut.parquet"]);
    place.write("none.parquet", "");
    place.fails("dedup none.parquet -o out.parquet", &["none.parquet"]);
}

#[test]
fn a_csv_row_with_another_number_of_fields_is_named() {
    let place = Place::new();
    place.write("in.csv", "id,text\n1,\"two\nlines\"\n2,fine\n3,too,many\n");
    place.fails("pairs in.csv", &["in.csv:5: "]);
    let outcome = place.ok("dedup in.csv -o out.csv --on-error skip");
    assert!(outcome.stderr.contains("1  records skipped"), "{}", outcome.stderr);
    assert_eq!(place.read("out.csv"), "id,text\n1,\"two\nlines\"\n2,fine\n");
    place.write("other.csv", "id,body\n1,a\n");
    place.fails("pairs other.csv", &["other.csv", "`text`", "`body`"]);
}

#[test]
fn files_that_are_not_there_are_named() {
    let place = Place::new();
    place.write("in.jsonl", three());
    place.fails("pairs nowhere.jsonl", &["nowhere.jsonl"]);
    place.fails("pairs in.jsonl --against nowhere.jsonl", &["nowhere.jsonl"]);
    place.fails("compare in.jsonl nowhere.txt", &["nowhere.txt"]);
    place.write("strange.xyz", three());
    place.fails("pairs strange.xyz", &["strange.xyz", "--format"]);
    place.ok("pairs strange.xyz --format jsonl");
}

#[cfg(unix)]
#[test]
fn an_unreadable_folder_is_named() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = Place::new();
    place.write("docs/good.txt", "a good text");
    // A link that leads to itself is passed over.
    symlink("loop", place.path("docs/loop")).unwrap();
    let outcome = place.ok("pairs docs");
    assert!(
        outcome.stderr.contains("1  links passed over that lead nowhere"),
        "{}",
        outcome.stderr
    );
    place.write("docs/closed/bad.txt", "never seen");
    let closed = place.path("docs/closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(&closed).is_err() {
        place.fails("pairs docs", &["docs/closed"]);
    } else {
        skipped("in part, for this user may read everything");
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_folder_for_the_output_that_does_not_exist_is_named() {
    let place = Place::new();
    place.write("in.jsonl", three());
    for line in [
        "dedup in.jsonl -o nowhere/out.jsonl",
        "dedup in.jsonl -o out.jsonl --clusters nowhere/c.csv",
        "dedup in.jsonl -o out.jsonl --stats nowhere/s.json",
        "pairs in.jsonl -o nowhere/out.csv",
        "pairs in.jsonl -o nowhere/out.parquet",
    ] {
        place.fails(line, &["nowhere", "does not exist"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let place = Place::new();
    place.write("in.jsonl", three());
    for line in [
        "pairs in.jsonl -o /dev/full --format jsonl",
        "dedup in.jsonl -o /dev/full --format jsonl",
        "dedup in.jsonl -o out.jsonl --clusters /dev/full",
    ] {
        place.fails(line, &["/dev/full", "No space left"]);
    }
}

/// A file system of one megabyte, where this user may mount one.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_leaves_no_half_file() {
    let place = Place::new();
    fs::create_dir(place.path("small")).unwrap();
    let small = place.path("small").into_os_string().into_string().unwrap();
    let mount = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs", &small])
        .output();
    if !mount.is_ok_and(|output| output.status.success()) {
        skipped("this user may not mount a small file system");
        return;
    }
    let many: String = (0..5000)
        .map(|i| record(&i.to_string(), &format!("text number {i} ").repeat(30)))
        .collect();
    place.write("in.jsonl", many);
    for output in ["small/out.jsonl", "small/out.parquet", "small/out.csv"] {
        // Without compression, so that it cannot fit.
        let outcome = place.run(&format!("dedup in.jsonl -o {output} -q"));
        if outcome.code == Some(0) && output.ends_with("parquet") {
            fs::remove_file(place.path(output)).unwrap();
            continue; // Parquet compresses
        }
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        assert!(
            outcome.stderr.contains("No space left") && outcome.stderr.contains("small/out"),
            "{outcome:?}"
        );
        assert_eq!(fs::read_dir(&small).unwrap().count(), 0, "nothing is left on the disk");
    }
    let done = std::process::Command::new("umount").arg(&small).status().unwrap();
    assert!(done.success());
}

#[test]
fn wrong_usage_exits_2() {
    let place = Place::new();
    place.write("in.jsonl", three());
    for line in [
        "",
        "pairs",
        "unknown in.jsonl",
        "pairs in.jsonl --no-such-flag",
        "pairs in.jsonl --shingle lines:3",
        "pairs in.jsonl --measure sine",
        "pairs in.jsonl -t 0.8 --within 0.2",
        "pairs in.jsonl --threads 0",
        "pairs in.jsonl -t high",
        "dedup in.jsonl --keep last",
        "pairs in.jsonl --format docx",
    ] {
        let outcome = place.run(line);
        assert_eq!(outcome.code, Some(2), "nearkin {line}: {outcome:?}");
        assert_eq!(outcome.stdout, "");
    }
}

#[test]
fn numbers_out_of_range_say_the_range() {
    let place = Place::new();
    place.write("in.jsonl", three());
    for line in [
        "-t 0",
        "-t 1.5",
        "-t -1",
        "-t nan",
        "--within 1",
        "--within -0.1",
        "--recall 1",
        "--recall 0",
    ] {
        place.fails(&format!("pairs in.jsonl {line}"), &["must be"]);
    }
    place.fails("pairs in.jsonl -t 0.6 --measure bag-sum", &["0.5"]);
    place.fails("plan --at 2", &["--at"]);
}

#[test]
fn no_output_takes_the_place_of_an_input_or_of_another_output() {
    let place = Place::new();
    place.write("in.jsonl", three());
    place.write("other.jsonl", three());
    for line in [
        "pairs in.jsonl -o in.jsonl",
        "pairs in.jsonl -o ./in.jsonl",
        "pairs in.jsonl --against other.jsonl -o other.jsonl",
        "pairs in.jsonl -o x.jsonl --stats x.jsonl",
        "dedup in.jsonl -o x.jsonl --clusters in.jsonl",
        "dedup in.jsonl -o x.jsonl --clusters x.jsonl",
        "dedup in.jsonl -o x.jsonl --stats ./x.jsonl",
        "dedup in.jsonl -o x.jsonl --stats in.jsonl",
    ] {
        place.fails(line, &["given twice"]);
    }
    assert_eq!(place.read("in.jsonl"), three());
}

#[test]
fn names_that_tell_no_format_are_refused() {
    let place = Place::new();
    place.write("in.jsonl", three());
    for line in
        ["pairs in.jsonl -o out.foo", "dedup in.jsonl -o out", "dedup in.jsonl --clusters c.doc"]
    {
        place.fails(line, &["format"]);
    }
    place.fails("pairs in.jsonl -o .", &["folder"]);
}

#[test]
fn standard_input_is_read_once() {
    let place = Place::new();
    place.fails("pairs - --against -", &["standard input is read once"]);
    place.fails("dedup - -", &["once"]);
}

#[test]
fn a_folder_of_data_files_is_not_taken_for_documents() {
    let place = Place::new();
    place.write("shards/a.jsonl", three());
    place.ok("dedup shards -o out.jsonl");
    assert_eq!(place.read("out.jsonl").lines().count(), 2);
    place.ok("dedup shards -o out.jsonl --format folder");
    assert_eq!(place.read("out.jsonl").lines().count(), 1);
}

#[test]
fn options_for_characters_are_refused_for_words() {
    let place = Place::new();
    place.write("in.jsonl", three());
    place.fails("pairs in.jsonl --ignore-case", &["chars:K"]);
    place.fails("pairs in.jsonl --space drop", &["chars:K"]);
    place.ok("pairs in.jsonl --shingle chars:5 --ignore-case --space drop");
}

/// Whoever does not want to read what is told gets the output all the same.
#[test]
#[cfg(target_os = "linux")]
fn a_full_standard_error_is_no_failure() {
    let place = Place::new();
    place.write("in.jsonl", three());
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_nearkin"))
        .args(["dedup", "in.jsonl", "-o", "out.jsonl"])
        .current_dir(place.path(""))
        .stderr(full)
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
    assert!(place.exists("out.jsonl"));
}

#[test]
fn repeated_ids_are_not_answered_with_the_loss_of_records() {
    let place = Place::new();
    // Too many for the run to remember all of them while it reads.
    let records: String =
        (0..30_000).map(|n| record(&n.to_string(), &format!("text {n}"))).collect();
    place.write("many.jsonl", records + &record("29999", "another text"));
    let outcome = place.run("pairs many.jsonl");
    assert_eq!(outcome.code, Some(1));
    let message = "many.jsonl:30001: the id \"29999\" was there before, at many.jsonl:30000; pass --positions, ";
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("skip"), "{}", outcome.stderr);
    place.ok("pairs many.jsonl --positions");
    // Over files, whose ids each start again at 1: different documents.
    place.write("one.jsonl", record("1", "a text of the first file"));
    place.write("two.jsonl", record("1", "another text of the second file"));
    let told = place.run("dedup one.jsonl two.jsonl -o kept.jsonl").stderr;
    assert!(told.contains("at one.jsonl:1; pass --positions, "), "{told}");
    assert!(!told.contains("skip"), "{told}");
    place.ok("dedup one.jsonl two.jsonl -o kept.jsonl --positions");
    assert_eq!(place.read("kept.jsonl").lines().count(), 2);
}

#[test]
fn a_percentage_is_answered_with_the_share_it_means() {
    let place = Place::new();
    place.write("in.jsonl", three());
    place
        .fails("pairs in.jsonl -t 80", &["--threshold is 80; it must be ", "pass --threshold 0.8"]);
    place.write("v.txt", "1 2\n3 4\n");
    place.fails("pairs v.txt --as vector --measure cosine -t 80", &["pass --threshold 0.8"]);
}

#[test]
fn a_decimal_comma_and_a_percent_sign_are_answered_with_the_number_they_mean() {
    let place = Place::new();
    for (line, tip) in [
        ("pairs in.jsonl -t 0,8", "write 0.8\n"),
        ("pairs in.jsonl -t 80%", "write 0.8\n"),
        ("pairs in.jsonl --recall 99,5%", "write 0.995\n"),
        ("pairs in.jsonl --within 0,25", "write 0.25\n"),
        ("pairs in.jsonl -t high", "it must be a number, such as 0.8\n"),
    ] {
        let outcome = place.run(line);
        assert_eq!(outcome.code, Some(2), "{line}");
        assert!(outcome.stderr.contains(tip), "{line}: {}", outcome.stderr);
    }
}

#[test]
fn a_table_on_standard_input_is_answered_with_its_format() {
    let place = Place::new();
    for (table, advice) in [
        ("id,text\n1,a b\n", "pass --format csv"),
        ("id\ttext\n1\ta b\n", "pass --format tsv"),
        ("7,a b\n8,c d\n", "pass --format csv"),
    ] {
        let outcome = place.run_with("pairs -", table.as_bytes());
        assert_eq!(outcome.code, Some(1), "{table}");
        assert!(outcome.stderr.contains(advice), "{table}: {}", outcome.stderr);
    }
    let told = place.run_with("pairs -", b"{\"text\": \"a\", \"id\": 1,}\n").stderr;
    assert!(!told.contains("csv"), "{told}");
}

#[test]
fn the_kinds_of_items_that_a_comparison_refuses_are_not_in_its_help() {
    let place = Place::new();
    let help = place.ok("overlap --help").stdout;
    assert!(!help.contains("--as") && !help.contains("--group"), "{help}");
    // Another one compares them all, but no points in a grid.
    let help = place.ok("compare --help").stdout;
    assert!(help.contains("--as <KIND>") && help.contains("--group"), "{help}");
    assert!(help.contains("--shingle") && !help.contains("--grid"), "{help}");
}

#[test]
fn a_limit_of_an_angle_is_said_to_be_one() {
    let place = Place::new();
    place.write("v.txt", "1 2\n1.1 2\n");
    let outcome = place.ok("pairs v.txt --as vector --measure cosine --within 0.1");
    let message = "pairs within 0.1 degrees, where 1 − cos is up to 0.000001523";
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
}

#[test]
fn unknown_options_are_answered_with_what_helps() {
    let place = Place::new();
    place.write("in.jsonl", three());
    for (line, tip) in [
        ("plan in.jsonl --against in.jsonl", "tip: it belongs to pairs"),
        ("top in.jsonl --removed r.csv", "tip: it belongs to dedup"),
        ("pairs in.jsonl --keep first", "tip: it belongs to dedup"),
        ("pairs in.jsonl --column text", "tip: here it is called '--text'"),
        ("pairs in.jsonl --treshold 1", "tip: a similar argument exists: '--threshold'"),
    ] {
        let outcome = place.run(line);
        assert_eq!(outcome.code, Some(2), "{line}");
        assert!(outcome.stderr.contains(tip), "{line}: {}", outcome.stderr);
    }
    let outcome = place.run("pairs in.jsonl --zebra");
    assert!(!outcome.stderr.contains("tip"), "{}", outcome.stderr);
}

/// The length of the dictionary is damaged, at which the decoder panics.
#[test]
fn a_panic_of_the_parquet_decoder_is_an_error_like_any_other() {
    let mut file = include_bytes!("../../../engine/tests/fixtures/dictionary.parquet").to_vec();
    let place = Place::new();
    place.write("in.parquet", &file);
    place.ok("dedup in.parquet -o out.jsonl");
    file[16] ^= 1;
    place.write("in.parquet", &file);
    let outcome = place.run("dedup in.parquet -o out.jsonl");
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    assert_eq!(lines.len(), 1, "{}", outcome.stderr);
    assert!(lines[0].starts_with("error: in.parquet: not a Parquet file"), "{}", outcome.stderr);
}

#[test]
fn limit_into_a_closed_pipe_ends_quietly() {
    let place = Place::new();
    let input = place.write("in.jsonl", three());
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_nearkin"));
    let outcome = command.arg("limit").arg(input).stdout(writer).output().unwrap();
    assert_eq!(outcome.status.code(), Some(0));
    assert!(!String::from_utf8_lossy(&outcome.stderr).contains("panicked"));
}

#[test]
fn a_number_too_large_for_a_table_was_reported_without_its_line() {
    let place = Place::new();
    let huge = "{\"id\":\"x\",\"text\":\"a text of its own\",\"x\":1e999}\n";
    // With two chunks in one file and a file before it, lines are still those of the file.
    place.write("one.jsonl", three());
    place.write("two.jsonl", "\n".to_owned() + &record("d", "more words") + huge);
    for output in ["out.csv", "out.tsv", "out.parquet"] {
        place.fails(
            &format!("dedup one.jsonl two.jsonl -o {output}"),
            &["two.jsonl:3: ", "number out of range at column 46", "name the output .jsonl"],
        );
    }
    place.ok("dedup one.jsonl two.jsonl -o out.jsonl");
    assert!(place.read("out.jsonl").ends_with(huge));
}

#[test]
fn an_unclosed_quote_says_why_it_is_not_skipped() {
    let place = Place::new();
    place.write("in.csv", "id,text\n1,a b c\n2,\"d e f\n3,g h i\n");
    place.fails(
        "dedup in.csv -o out.csv --on-error skip",
        &[
            "in.csv:3: ",
            "a quote is opened here and never closed",
            "all that follows is one record",
        ],
    );
}

#[test]
fn a_share_of_the_elements_was_taken_for_their_number() {
    let place = Place::new();
    place.write("in.jsonl", three());
    place.fails(
        "pairs in.jsonl --measure overlap -t 0.8",
        &["--threshold is 0.8", "at least 1", "pass --measure containment"],
    );
    place.ok("pairs in.jsonl --measure overlap -t 1");
}

#[test]
fn numbers_that_cannot_be_are_told_what_they_must_be() {
    let place = Place::new();
    place.write("in.jsonl", record("a", "some text"));
    for (line, told) in [
        (
            "pairs in.jsonl --threads -1",
            "invalid value '-1' for '--threads <N>': it must be a whole number from 1 to 65535",
        ),
        ("pairs in.jsonl --bands -2 --rows 3", "'--bands"),
        ("top in.jsonl -k -3", "it must be a whole number, 1 or more"),
        ("top in.jsonl -k x", "it must be a whole number"),
        ("trim in.jsonl --unit line --at-least -2", "it must be a whole number, 2 or more"),
        (
            "trim in.jsonl --unit line --min-left -2",
            "invalid value '-2' for '--min-left <WORDS>': it must be a whole number",
        ),
        (
            "overlap in.jsonl --against in.jsonl --words -3",
            "invalid value '-3' for '--words <N>': it must be a whole number",
        ),
        (
            "overlap in.jsonl --against in.jsonl --words 5.5",
            "invalid value '5.5' for '--words <N>': it must be a whole number",
        ),
        ("pairs in.jsonl --memory -1", "'--memory <SIZE>'"),
    ] {
        let outcome = place.run(line);
        assert_eq!(outcome.code, Some(2), "{line}: {outcome:?}");
        let first = outcome.stderr.lines().next().unwrap_or_default();
        assert!(first.starts_with("error: ") && first.contains(told), "{line}: {first}");
        assert!(!outcome.stderr.contains("tip:"), "{line}: {}", outcome.stderr);
    }
}

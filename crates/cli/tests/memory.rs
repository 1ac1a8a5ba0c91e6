//! `--memory` and `--temp`: the same bytes at every limit, and after every kill.

mod common;

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Place, record};
use serde_json::Value;

/// Some megabytes of texts: families of near copies, and copies.
fn collection(families: usize) -> String {
    let mut lines = String::new();
    let mut number = 1u64;
    let mut next = move || {
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        number
    };
    for family in 0..families {
        let words: Vec<String> = (0..120).map(|_| format!("w{}", next() % 50_000)).collect();
        for version in 0..4 {
            let mut words = words.clone();
            for _ in 0..version {
                let at = (next() % 120) as usize;
                words[at] = format!("changed{}", next());
            }
            lines += &record(&format!("{family}-{version}"), &words.join(" "));
        }
    }
    lines
}

/// The arguments that follow, with what they write: pairs, kept records and clusters.
const JOBS: [(&str, &[&str]); 2] = [
    ("pairs in.jsonl -o pairs.csv", &["pairs.csv"]),
    (
        "dedup in.jsonl -o kept.jsonl --clusters clusters.jsonl --keep longest",
        &["kept.jsonl", "clusters.jsonl"],
    ),
];

#[test]
fn the_limit_of_memory_does_not_change_a_byte() {
    let place = Place::new();
    place.write("in.jsonl", collection(6_000));
    fs::create_dir(place.path("temp")).unwrap();
    for (line, outputs) in JOBS {
        place.ok(line);
        let expected: Vec<String> = outputs.iter().map(|name| place.read(name)).collect();
        assert!(expected.iter().all(|text| text.lines().count() > 5_000));
        for memory in ["16M", "48M --threads 1", "16M --threads 8", "100G"] {
            outputs.iter().for_each(|name| fs::remove_file(place.path(name)).unwrap());
            place.ok(&format!("{line} --memory {memory} --temp temp"));
            let written: Vec<String> = outputs.iter().map(|name| place.read(name)).collect();
            assert!(written == expected, "{line} --memory {memory}");
            assert_eq!(fs::read_dir(place.path("temp")).unwrap().count(), 0, "nothing is left");
        }
    }
}

#[test]
fn a_killed_run_goes_on_and_ends_with_the_same_bytes() {
    let place = Place::new();
    place.write("in.jsonl", collection(3_000));
    fs::create_dir(place.path("temp")).unwrap();
    for (line, outputs) in JOBS {
        let start = Instant::now();
        place.ok(&format!("{line} --memory 16M"));
        let whole = start.elapsed();
        let expected: Vec<String> = outputs.iter().map(|name| place.read(name)).collect();
        let line = format!("{line} --memory 16M --temp temp");
        let files = place.files();
        // Killed later and later, until it was faster than the killer.
        for tenth in 1..10 {
            outputs.iter().for_each(|name| fs::remove_file(place.path(name)).unwrap());
            for _ in 0..2 {
                kill_after(&place, &line, whole * tenth / 10);
            }
            place.ok(&line);
            let written: Vec<String> = outputs.iter().map(|name| place.read(name)).collect();
            assert!(written == expected, "{line} after {tenth} tenths");
            assert_eq!(place.files(), files, "nothing is left beside the output");
            assert_eq!(fs::read_dir(place.path("temp")).unwrap().count(), 0, "nothing is left");
        }
    }
}

/// Starts the command and kills it, as the system does when memory is short, unless it ends before.
fn kill_after(place: &Place, line: &str, time: Duration) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_nearkin"))
        .args(line.split_whitespace())
        .current_dir(place.path(""))
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    std::thread::sleep(time);
    child.kill().expect("a process to kill");
    child.wait().expect("the command ends");
}

#[test]
fn an_input_that_changed_in_between_is_read_anew() {
    let place = Place::new();
    let text = collection(2_000);
    fs::create_dir(place.path("temp")).unwrap();
    place.write("in.jsonl", &text);
    // Stopped by a disk that is full when the result is written: all stages before are finished.
    let line = "dedup in.jsonl -o /dev/full --temp temp --memory 16M";
    assert_eq!(place.run(line).code, Some(1));
    let went_on = place.run(&format!("{line} --stats stats.json"));
    assert_eq!(went_on.code, Some(1), "another command line is another job");
    assert_eq!(fs::read_dir(place.path("temp")).unwrap().count(), 2);
    place.write("in.jsonl", text + &record("new", "an item that was not there before, of nine words"));
    let outcome = place.run(line);
    assert_eq!(outcome.code, Some(1));
    place.ok("dedup in.jsonl -o kept.jsonl");
    assert!(place.read("kept.jsonl").contains("not there before"));
}

#[test]
fn stats_say_where_a_run_went_on() {
    let place = Place::new();
    place.write("in.jsonl", collection(500));
    fs::create_dir(place.path("temp")).unwrap();
    // The first run ends before its statistics can be written, as their folder is taken away.
    fs::create_dir(place.path("out")).unwrap();
    let line = "dedup in.jsonl -o /dev/full --stats out/stats.json --temp temp";
    assert_eq!(place.run(line).code, Some(1));
    assert!(!place.exists("out/stats.json"));
    assert_eq!(fs::read_dir(place.path("temp")).unwrap().count(), 1);
    let line = "pairs in.jsonl -o out/pairs.jsonl --stats out/stats.json --temp temp";
    place.ok(line);
    let stats: Value = serde_json::from_str(&place.read("out/stats.json")).unwrap();
    assert_eq!(stats["resumed_after"], Value::Null);
}

#[test]
fn sizes_that_are_none_are_refused() {
    let place = Place::new();
    place.write("in.jsonl", record("a", "some text"));
    for wrong in ["lots", "-1G", "1M", "4X"] {
        let outcome = place.run(&format!("pairs in.jsonl --memory={wrong}"));
        assert_eq!(outcome.code, Some(2), "{wrong}");
        assert!(outcome.stderr.contains("--memory"), "{}", outcome.stderr);
    }
}

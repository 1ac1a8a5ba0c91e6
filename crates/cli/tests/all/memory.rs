//! `--memory` and `--temp`: the same bytes at every limit, and after every kill.

use std::fs;
use std::process::{Command, Stdio};

use crate::common::{Outcome, Place, record};
use crate::data::skipped;

/// Some megabytes of texts: families of near copies, and copies.
pub fn collection(families: usize) -> String {
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
fn s9_2_the_limit_of_memory_does_not_change_a_byte() {
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
fn the_limit_of_memory_does_not_change_a_byte_of_parquet() {
    let place = Place::new();
    place.write("in.jsonl", collection(6_000));
    let written = |limit: &str, from: &str| {
        place.ok(&format!("dedup {from} -o kept.parquet {limit}"));
        fs::read(place.path("kept.parquet")).unwrap()
    };
    let expected = written("", "in.jsonl");
    for limit in ["--memory 16M --threads 1", "--memory 64M --threads 8"] {
        assert!(written(limit, "in.jsonl") == expected, "{limit}");
    }
    fs::write(place.path("in.parquet"), &expected).unwrap();
    let again = written("", "in.parquet");
    assert!(written("--memory 16M --threads 1", "in.parquet") == again);
}

#[test]
fn a_killed_run_goes_on_and_ends_with_the_same_bytes() {
    let place = Place::new();
    place.write("in.jsonl", collection(3_000));
    fs::create_dir(place.path("temp")).unwrap();
    let mut went_on = 0;
    for (line, outputs) in JOBS {
        place.ok(&format!("{line} --memory 16M --stats stats.json"));
        let expected: Vec<String> = outputs.iter().map(|name| place.read(name)).collect();
        let line = format!("{line} --memory 16M --temp temp --stats stats.json");
        let files = place.files();
        // As soon as a file with this in its name is there, in the folder of the job or beside the output.
        let moments = ["lock", "candidates.part", "candidates", "load", "verify", ".part"];
        for (moment, later) in moments.into_iter().zip(moments.into_iter().skip(1).chain(["none"]))
        {
            outputs.iter().for_each(|name| fs::remove_file(place.path(name)).unwrap());
            kill_when(&place, &line, moment);
            kill_when(&place, &line, later);
            place.ok(&line);
            went_on += usize::from(place.read("stats.json").contains("\"resumed_after\": \""));
            let written: Vec<String> = outputs.iter().map(|name| place.read(name)).collect();
            assert!(written == expected, "{line} killed at {moment}");
            assert_eq!(place.files(), files, "nothing is left beside the output");
            assert_eq!(fs::read_dir(place.path("temp")).unwrap().count(), 0, "nothing is left");
        }
    }
    assert!(went_on > 0, "no run was killed in time, and this test shows nothing");
}

#[test]
fn a_killed_run_of_items_in_memory_goes_on_with_its_matches() {
    let place = Place::new();
    place.write("in.txt", (0..2000).map(|i| format!("{} {}\n", i % 50, i)).collect::<String>());
    fs::create_dir(place.path("temp")).unwrap();
    let mut went_on = 0;
    for line in [
        "pairs in.txt --as vector --within 500 -o out.csv",
        "top in.txt --as vector -k 300 -o out.csv",
        "dedup in.txt --as vector --within 0.5 --clusters out.csv",
        "pairs in.txt --as string --within 3 -o out.csv",
    ] {
        place.ok(line);
        let expected = place.read("out.csv");
        fs::remove_file(place.path("out.csv")).unwrap();
        let line = format!("{line} --temp temp --memory 16M --stats s.json");
        kill_when(&place, &line, "verify");
        let is_left = fs::read_dir(place.path("temp")).unwrap().count() == 1;
        assert!(is_left || place.exists("out.csv"), "it was killed, or it was done before");
        place.ok(&line);
        if is_left {
            assert!(place.read("s.json").contains("\"resumed_after\": \"verify\""), "{line}");
            went_on += 1;
        }
        assert!(place.read("out.csv") == expected, "{line}");
        assert_eq!(fs::read_dir(place.path("temp")).unwrap().count(), 0, "nothing is left");
    }
    assert!(went_on > 0, "no run was killed in time, and this test shows nothing");
}

#[test]
fn vectors_that_changed_in_between_are_compared_anew() {
    let place = Place::new();
    fs::create_dir(place.path("temp")).unwrap();
    let line = "dedup in.jsonl --as vector --within 1 -o /dev/stdout --format jsonl --temp temp \
                --clusters /dev/full";
    let [near, far] =
        ["[1,2]", "[7,70]"].map(|other| format!("{{\"vector\":[1,1]}}\n{{\"vector\":{other}}}\n"));
    for (input, kept) in [(&near, 1), (&near, 1), (&far, 2), (&far, 2)] {
        place.write("in.jsonl", input);
        let outcome = place.run(line);
        assert_eq!((outcome.code, outcome.stdout.lines().count()), (Some(1), kept), "{outcome:?}");
        let job = fs::read_dir(place.path("temp")).unwrap().next().unwrap().unwrap();
        assert!(job.path().join("verify").exists());
    }
}

/// Starts the command and kills it, as the system does when memory is short, when a file of this name is
/// there, unless it ends before.
fn kill_when(place: &Place, line: &str, name: &str) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_nearkin"))
        .args(line.split_whitespace())
        .current_dir(place.path(""))
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    let is_there = || {
        let jobs = fs::read_dir(place.path("temp")).expect("a folder").flatten();
        let of_job = jobs.flat_map(|job| fs::read_dir(job.path()).into_iter().flatten().flatten());
        let names = of_job.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let own = place.files().into_iter().filter(|file| file.starts_with('.'));
        names.chain(own).any(|file| file == name || name == ".part" && file.starts_with('.'))
    };
    while !is_there() && child.try_wait().expect("a process").is_none() {
        std::thread::yield_now();
    }
    child.kill().expect("a process to kill");
    child.wait().expect("the command ends");
}

/// Runs a line whose folder for temporary files is a file system of this size, where this user may mount one.
#[cfg(target_os = "linux")]
fn run_on_small_disk(place: &Place, size: &str, line: &str) -> Option<Outcome> {
    fs::create_dir_all(place.path("small")).unwrap();
    let small = place.path("small").into_os_string().into_string().unwrap();
    let size = format!("size={size}");
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs", &small]).output();
    if !mount.is_ok_and(|output| output.status.success()) {
        skipped("this user may not mount a small file system");
        return None;
    }
    let outcome = place.run(&format!("{line} --temp small"));
    assert!(Command::new("umount").arg(&small).status().unwrap().success());
    Some(outcome)
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_too_small_for_temporary_files_is_told_with_what_is_needed() {
    let place = Place::new();
    place.write("in.jsonl", collection(12_000));
    let line = "dedup in.jsonl -o kept.jsonl --memory 16M";
    let Some(outcome) = run_on_small_disk(&place, "2m", line) else { return };
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    for part in ["small", "free", "MiB are needed", "--temp"] {
        assert!(outcome.stderr.contains(part), "{part} is not in {}", outcome.stderr);
    }
    assert!(!place.exists("kept.jsonl"));
}

/// A text of this many words that it has in common with others of its family, and one of its own.
#[cfg(target_os = "linux")]
fn member(family: u32, own: u32, words: u32) -> String {
    let text: String = (0..words).map(|i| format!("w{family}x{i} ")).collect();
    record(&format!("{family}-{own}"), &format!("{text} own{own}"))
}

/// It was taken for granted that a tenth of the texts are compared: here that would be more than 5 MB.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_compares_few_texts_needs_little_disk() {
    let place = Place::new();
    let unlike: String = (0..40).map(|family| member(family, 0, 100_000)).collect();
    place.write("in.jsonl", unlike + &member(39, 1, 100_000));
    let line = "dedup in.jsonl --clusters clusters.csv --memory 16M --approximate";
    let Some(outcome) = run_on_small_disk(&place, "600k", line) else { return };
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let clusters = place.read("clusters.csv");
    assert!(clusters.lines().any(|line| line.starts_with("39-1,39-0,false,0.9999")), "{clusters}");
}

/// On average texts are short, and those that are compared are long. What they need is known when some are read.
#[cfg(target_os = "linux")]
#[test]
fn texts_that_are_longer_than_others_do_not_fill_the_disk() {
    let place = Place::new();
    let short: String = (1..12_000).map(|family| member(family, 0, 60)).collect();
    let long: String = (0..40).map(|own| member(0, own, 50_000)).collect();
    place.write("in.jsonl", short + &long);
    let line = "dedup in.jsonl --clusters clusters.csv --memory 16M --approximate";
    let Some(outcome) = run_on_small_disk(&place, "8m", line) else { return };
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    for part in ["free, and about ", "MiB are needed", "--temp"] {
        assert!(outcome.stderr.contains(part), "{part} is not in {}", outcome.stderr);
    }
}

#[test]
fn another_list_of_stop_words_is_another_job() {
    let place = Place::new();
    place.write("in.jsonl", collection(50));
    fs::create_dir(place.path("temp")).unwrap();
    let line =
        "dedup in.jsonl --shingle stopwords --stop-words list --temp temp --clusters /dev/full";
    for (list, jobs) in [("w1 w2", 1), ("w3", 2), ("w1 w2", 2)] {
        place.write("list", list);
        assert_eq!(place.run(line).code, Some(1));
        assert_eq!(fs::read_dir(place.path("temp")).unwrap().count(), jobs, "{list}");
    }
}

#[test]
fn an_input_that_changed_in_between_is_read_anew() {
    let place = Place::new();
    let text = collection(500);
    fs::create_dir(place.path("temp")).unwrap();
    place.write("in.jsonl", &text);
    let line = "dedup in.jsonl -o /dev/stdout --format jsonl --temp temp --clusters /dev/full";
    assert_eq!(place.run(line).code, Some(1));
    place.write("in.jsonl", record("new", "an item of its own, not there before") + &text);
    let outcome = place.run(line);
    assert!(outcome.stdout.contains("not there before"), "{}", outcome.stderr);
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

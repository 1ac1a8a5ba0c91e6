//! `--max-item`, what `--memory` has no room for, and what happens when the system has none.

use std::fs::{self, File};
use std::io::Write;
use std::process::Command;

use crate::common::{Place, record};

/// A record in each format that has lines, with a text of this many words.
fn lines(words: usize) -> [(&'static str, String); 4] {
    let text = (0..words).map(|i| format!("word{i}")).collect::<Vec<_>>().join(" ");
    [
        ("jsonl", record("x", &text)),
        ("csv", format!("x,\"{text}\n{text}\"\r\n")),
        ("tsv", format!("x\t{text}\n")),
        ("txt", format!("{text}\n")),
    ]
}

fn start(format: &str) -> &'static str {
    match format {
        "csv" => "id,text\r\n",
        "tsv" => "id\ttext\n",
        _ => "",
    }
}

#[test]
fn a_line_that_is_too_long_is_an_error_or_left_out() {
    let place = Place::new();
    let (short, long) = (lines(60), lines(40_000));
    for ((format, few), (_, many)) in short.iter().zip(&long) {
        let other = few.replacen('x', "y", 1);
        let ids = start(format);
        let (file, without) = (format!("in.{format}"), format!("without.{format}"));
        place.write(&file, format!("{ids}{few}{many}{other}{many}"));
        place.write(&without, format!("{ids}{few}{other}"));
        let at = if ids.is_empty() { 2 } else { 3 } + u32::from(*format == "csv");
        let line = format!("pairs {file} --max-item 100K");
        let place_of_error = format!("{file}:{at}: has ");
        let advice = ["an item may have 102,400", "with --max-item, or pass --on-error skip"];
        place.fails(&line, &[&place_of_error, advice[0], advice[1]]);
        let skipped = place.ok(&format!("{line} --on-error skip"));
        let expected = place.ok(&format!("pairs {without}")).stdout;
        // Lines of text have their positions for ids, and the line that is left out has one.
        assert_eq!(skipped.stdout, expected.replace("\"b\":1", "\"b\":2"), "{format}");
        assert!(skipped.stderr.contains("2  records skipped"), "{format}: {}", skipped.stderr);
        let same = format!("dedup {file} -o kept.{format} --max-item 100K --on-error skip");
        place.ok(&same);
        assert!(!place.read(&format!("kept.{format}")).contains("word39999"), "{format}");
        let kept = place.ok(&format!("dedup {file} --max-item 100K --on-error skip"));
        assert!(!kept.stdout.contains("word39999"), "{format}");
        assert_eq!(kept.stdout.lines().count(), 1, "{format}");
    }
}

#[test]
fn a_small_memory_limit_says_what_a_long_line_needs() {
    let place = Place::new();
    let [(_, line), ..] = lines(400_000);
    place.write("in.jsonl", record("a", "a text of a few words") + &line);
    place.fails("pairs in.jsonl --memory 16M", &["in.jsonl:2: has ", "with --memory", "skip"]);
    place.ok("pairs in.jsonl --memory 16M --on-error skip");
    place.ok("pairs in.jsonl --memory 256M");
}

#[test]
fn a_small_file_that_unpacks_to_a_giant_line_is_refused_without_holding_it() {
    let place = Place::new();
    let mut packed = zstd::Encoder::new(Vec::new(), 1).unwrap();
    let part = vec![b'a'; 1 << 20];
    (0..400).for_each(|_| packed.write_all(&part).unwrap());
    place.write("in.txt.zst", packed.finish().unwrap());
    place.fails("pairs in.txt.zst --memory 16M", &["in.txt.zst:1: has 419,430,400 bytes"]);
    let line = "pairs in.txt.zst --memory 16M --on-error skip --stats stats.json";
    place.ok(line);
    assert!(peak(&place) < (16 << 20) * 5 / 4 + 32_000_000);
}

/// U+FDFA has three bytes, and 33 as the 18 letters that it stands for.
#[test]
fn a_text_that_its_normal_form_makes_too_long_is_refused_without_holding_it() {
    let place = Place::new();
    let words = "\u{fdfa} ".repeat(300_000);
    place.write("in.jsonl", record("a", "a text of a few words") + &record("b", &words));
    let line = "pairs in.jsonl --memory 16M --normal-form";
    let too_long = "in.jsonl:2: has 10,200,000 bytes in its normal form, and an item may have ";
    place.fails(&format!("{line} nfkc"), &[too_long, "with --memory", "skip"]);
    place.ok(&format!("{line} nfc"));
    let skipped = place.ok(&format!("{line} nfkc --on-error skip --stats stats.json"));
    assert!(skipped.stderr.contains("1  records skipped"), "{}", skipped.stderr);
    assert!(peak(&place) < (16 << 20) * 5 / 4 + 32_000_000);
    place.ok("pairs in.jsonl --memory 300M --normal-form nfkc");
    place.fails("pairs in.jsonl --max-item 4M --normal-form nfkc", &[too_long, "--max-item"]);
}

#[test]
fn a_sparse_file_in_a_folder_is_refused_by_its_size() {
    let place = Place::new();
    place.write("in/a.txt", "a text of a few words");
    // It begins as a text does, so it is not passed over as a binary file.
    place.write("in/b.txt", "text ".repeat(2000));
    let sparse = File::options().write(true).open(place.path("in/b.txt")).unwrap();
    sparse.set_len(8_000_000_000_000).unwrap();
    place.fails("pairs in", &["b.txt: has 8,000,000,000,000 bytes", "--on-error skip"]);
    place.ok("pairs in --on-error skip");
    let kept = place.ok("dedup in --on-error skip").stdout;
    assert_eq!(kept.lines().count(), 1);
}

#[test]
fn large_counts_of_a_bag_take_no_memory_or_are_refused_before_they_do() {
    let place = Place::new();
    let counts: Vec<String> = (0..1000).map(|i| format!("\"e{i}\": 1000000")).collect();
    let bag = format!("{{\"items\": {{{}}}}}\n", counts.join(", "));
    place.write("in.jsonl", format!("{{\"items\": {{\"a\": 2}}}}\n{bag}"));
    let parts = ["in.jsonl:2: counts 1,000,000,000 elements", "scale the counts down"];
    let copied = "pairs in.jsonl --as bag --memory 64M --approximate";
    place.fails(copied, &parts);
    place.ok(&format!("{copied} --on-error skip"));
    place.ok("pairs in.jsonl --as bag --memory 64M");
    // As sets they have a thousand elements.
    place.write("table.csv", "g,e,n\nx,a,1000000\nx,b,1000000\nx,c,1000000\n");
    let line = "pairs table.csv --group g --element e --count n --memory 16M --bands 5 --rows 4";
    place.fails(line, &["table.csv:2: counts 3,000,000 elements"]);
}

#[test]
fn a_record_with_many_keys_does_not_fill_memory_as_columns() {
    let place = Place::new();
    let keys: Vec<String> = (0..40_000).map(|i| format!("\"key{i}\": {i}")).collect();
    place.write("in.jsonl", format!("{{\"text\": \"a b c\", {}}}\n", keys.join(", ")));
    let line = "dedup in.jsonl -o out.parquet --memory 64M";
    place.fails(line, &["40,001 fields", ".jsonl", "--memory"]);
    place.ok("dedup in.jsonl -o out.jsonl --memory 64M");
}

#[test]
fn sizes_of_items_are_sizes() {
    let place = Place::new();
    place.write("in.jsonl", record("a", "some text"));
    for wrong in ["lots", "-1", "1000", "4X"] {
        let outcome = place.run(&format!("pairs in.jsonl --max-item={wrong}"));
        assert_eq!(outcome.code, Some(2), "{wrong}");
        assert!(outcome.stderr.contains("--max-item"), "{}", outcome.stderr);
    }
}

/// The most memory that the run held.
fn peak(place: &Place) -> u64 {
    let stats: serde_json::Value = serde_json::from_str(&place.read("stats.json")).unwrap();
    stats["peak_memory"].as_u64().expect("the system tells")
}

/// The inputs of `scripts/memory` that are quickly made, at the smallest limit.
#[cfg(target_os = "linux")]
#[test]
fn runs_stay_within_the_limit_of_memory() {
    let place = Place::new();
    let mut number = 1u64;
    let mut next = move || {
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        number
    };
    let mut text = |words: usize| {
        (0..words).map(|_| format!("w{}", next() % 50_000)).collect::<Vec<_>>().join(" ")
    };
    let ordinary = (0..6000).map(|i| record(&i.to_string(), &text(400)));
    place.write("ordinary.jsonl", ordinary.collect::<String>());
    let long = (0..40).map(|i| record(&i.to_string(), &text(80_000)));
    place.write("long.jsonl", long.collect::<String>());
    let template = text(200);
    let copies = (0..4000).map(|i| record(&i.to_string(), &format!("{template} {i}")));
    place.write("copies.jsonl", copies.collect::<String>());
    for number in 0..16 {
        place.write(&format!("large/{number:02}.txt"), text(105_000));
    }
    let lines = [
        "pairs ordinary.jsonl",
        "pairs long.jsonl",
        "dedup copies.jsonl -o kept.jsonl",
        "dedup ordinary.jsonl -o kept.parquet",
    ];
    let lines =
        lines.map(|line| (line, 16)).into_iter().chain([("pairs large --shingle chars:9", 64)]);
    for (line, memory) in lines {
        for threads in [1, 8] {
            let line = format!("{line} --memory {memory}M --threads {threads} --stats stats.json");
            place.ok(&line);
            let most = (memory << 20) * 5 / 4 + 32_000_000;
            assert!(peak(&place) <= most, "{line}: {} of {most} bytes", peak(&place));
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_that_the_system_refuses_is_an_error_and_leaves_nothing_behind() {
    let place = Place::new();
    let texts = (0..20_000).map(|i| record(&i.to_string(), &format!("{i} {}", i * i)));
    place.write("in.jsonl", texts.collect::<String>());
    let nearkin = env!("CARGO_BIN_EXE_nearkin");
    let mut refused = 0;
    for mib in (40..240).step_by(10) {
        let limited = format!(
            "ulimit -v {}; exec {nearkin} dedup in.jsonl -o kept.jsonl --threads 1 --memory 4G",
            mib << 10
        );
        let output = Command::new("sh")
            .args(["-c", &limited])
            .current_dir(place.path(""))
            .output()
            .expect("a shell");
        let errors = String::from_utf8(output.stderr).expect("text");
        if output.status.success() {
            fs::remove_file(place.path("kept.jsonl")).expect("an output");
            continue;
        }
        assert_eq!(place.files(), ["in.jsonl"], "at {mib} MiB: {errors}");
        // Less than the program itself needs is the loader's to refuse.
        if errors.contains("error while loading") {
            continue;
        }
        refused += 1;
        assert_eq!(output.status.code(), Some(1), "at {mib} MiB: {errors}");
        let lines = errors.lines().filter(|line| line.starts_with("error: "));
        assert_eq!(lines.count(), 1, "at {mib} MiB: {errors}");
        assert!(!errors.contains("panicked"), "at {mib} MiB: {errors}");
    }
    assert!(refused > 0, "no limit was too low, and this test shows nothing");
}

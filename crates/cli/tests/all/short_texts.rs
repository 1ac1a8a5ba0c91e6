//! Texts that have few words, or words without blanks between them.

use crate::common::{Place, record};
use serde_json::Value;

/// Lines of JSON with these texts, numbered.
fn lines(texts: impl Iterator<Item = String>) -> String {
    texts.enumerate().map(|(id, text)| record(&id.to_string(), &text)).collect()
}

fn stats(place: &Place) -> Value {
    serde_json::from_str(&place.read("s.json")).unwrap()
}

#[test]
fn titles_of_five_words_are_not_said_to_be_searched_completely() {
    let place = Place::new();
    place.write("titles.jsonl", lines((0..40).map(|n| format!("late frost halves crop {n}"))));
    let outcome = place.ok("pairs titles.jsonl -o p.csv --stats s.json");
    let warning = "40 of 40 texts have at most 5 words: each is one shingle, so almost only equal texts match; \
                   pass --shingle words:2 or chars:5";
    assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
    assert_eq!(stats(&place)["short"], 40);
    let outcome = place.ok("pairs titles.jsonl -o p.csv -t 0.5 --shingle words:2 --stats s.json");
    assert!(!outcome.stderr.contains("warning"), "{}", outcome.stderr);
    assert_eq!((&stats(&place)["short"], &stats(&place)["pairs"]), (&0.into(), &780.into()));
}

#[test]
fn texts_without_words_are_counted() {
    let place = Place::new();
    let text =
        |n: i32| if n % 2 == 0 { "?!".repeat(n as usize + 1) } else { format!("a b c d e f {n}") };
    place.write("signs.jsonl", lines((0..20).map(text)));
    let outcome = place.ok("pairs signs.jsonl -o p.csv");
    let warning = "10 of 20 texts have no words, so only equal texts match; pass --shingle chars:5";
    assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
}

/// No advice on shingles helps texts without a character.
#[test]
fn empty_texts_are_counted_apart() {
    let place = Place::new();
    let text = |n: i32| if n % 2 == 0 { String::new() } else { format!("a b c d e f {n}") };
    place.write("gaps.jsonl", lines((0..20).map(text)));
    let outcome = place.ok("pairs gaps.jsonl -o p.csv --stats s.json");
    let warning = "10 of 20 texts are empty, and are similar to nothing\n";
    assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
    let stats = stats(&place);
    assert_eq!((&stats["empty"], &stats["unshingled"]), (&10.into(), &0.into()));
}

/// None of their words is an English stop word, so they have no shingle.
#[test]
fn identical_german_texts_are_a_pair_under_stop_words() {
    let place = Place::new();
    let german = "Wer andern eine Grube gräbt, fällt selbst hinein.";
    let texts = [german, "Morgenstund hat Gold im Mund.", german, ""];
    place.write("de.jsonl", lines(texts.iter().map(|text| (*text).to_owned())));
    place.write("de.txt", german);
    let ways = [
        "--exact",
        "--bands 3 --rows 2",
        "--and-or or(8,minhash)",
        "--measure bag",
        "--measure containment",
        "--measure overlap -t 1",
        "--measure cosine",
    ];
    for way in ways {
        let rows = place.ok(&format!("pairs de.jsonl --shingle stopwords --format jsonl {way}"));
        let row = "{\"a\":\"0\",\"b\":\"2\",\"similarity\":1.0}\n";
        assert_eq!(rows.stdout, row, "{way}\n{}", rows.stderr);
    }
    let told = place.ok("dedup de.jsonl --shingle stopwords -o kept.jsonl --stats s.json").stderr;
    assert_eq!(place.read("kept.jsonl").lines().count(), 3);
    let warning = "3 of 4 texts have no stop word, so only equal texts match; \
                   give the stop words of their language with --stop-words, or pass --shingle words:5";
    assert!(told.contains(warning), "{told}");
    let closest = place.ok("top de.jsonl --shingle stopwords -k 3").stdout;
    assert_eq!(closest.lines().count(), 2, "{closest}");
    let compared = place.ok("compare de.txt de.txt --shingle stopwords --json").stdout;
    let compared: Value = serde_json::from_str(&compared).unwrap();
    assert_eq!((&compared["jaccard"], &compared["bag"]), (&1.0.into(), &1.0.into()));
}

#[test]
fn empty_texts_are_similar_to_nothing_in_a_comparison_too() {
    let place = Place::new();
    place.write("empty.txt", "");
    place.write("dots.txt", "...");
    for (a, b, similarity) in
        [("empty", "empty", 0.0), ("dots", "empty", 0.0), ("dots", "dots", 1.0)]
    {
        let told = place.ok(&format!("compare {a}.txt {b}.txt --json")).stdout;
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["jaccard"], similarity, "{a} {b}");
        assert_eq!(told["containment"], serde_json::json!([similarity, similarity]));
    }
}

#[test]
fn prose_with_a_few_short_texts_is_nothing_to_warn_of() {
    let place = Place::new();
    let text =
        |n: i32| if n == 7 { "in short".to_owned() } else { format!("a b c d e f g h i {n}") };
    place.write("prose.jsonl", lines((0..40).map(text)));
    let outcome = place.ok("pairs prose.jsonl -o p.csv --stats s.json");
    assert!(!outcome.stderr.contains("warning"), "{}", outcome.stderr);
    assert_eq!(stats(&place)["short"], 1);
}

/// Copies are counted too, at any number of threads: which of them a thread has just seen is left to chance.
#[test]
fn short_texts_are_counted_the_same_at_any_number_of_threads() {
    let place = Place::new();
    place.write("titles.jsonl", lines((0..5000).map(|n| format!("title number {}", n % 50))));
    for threads in [1, 2, 8] {
        place.ok(&format!("pairs titles.jsonl -o p.csv --threads {threads} --stats s.json"));
        assert_eq!(stats(&place)["short"], 5000, "{threads} threads");
    }
}

/// One character of 80 differs, so that 5 of the 76 shingles of each do.
#[test]
fn nearly_identical_chinese_texts_are_found() {
    let place = Place::new();
    // Each text has ideographs of its own, without a blank.
    let text = |n: u32| -> String {
        let own = |at: u32| char::from_u32(0x4e00 + n / 2 * 80 + at).unwrap();
        (0..80).map(|at| if n % 2 == 1 && at == 40 { '新' } else { own(at) }).collect()
    };
    place.write("zh.jsonl", lines((0..200).map(text)));
    let outcome = place.ok("pairs zh.jsonl -o p.csv --exact --stats s.json");
    assert!(!outcome.stderr.contains("warning"), "{}", outcome.stderr);
    assert_eq!(stats(&place)["pairs"], 100);
    let similarity = 71.0 / 81.0;
    assert!(place.read("p.csv").lines().nth(1).unwrap().ends_with(&format!("{similarity}")));
}

#[test]
fn a_plan_knows_short_texts_and_leaves_other_items_alone() {
    let place = Place::new();
    place.write("titles.jsonl", lines((0..40).map(|n| format!("late frost halves crop {n}"))));
    let told = place.ok("plan titles.jsonl").stdout.replace('\n', " ");
    assert!(told.contains("40 of 40 texts have at most 5 words"), "{told}");
    let corpus: Value = serde_json::from_str(&place.ok("plan titles.jsonl --json").stdout).unwrap();
    assert_eq!((&corpus["corpus"]["short"], &corpus["corpus"]["empty"]), (&40.into(), &0.into()));
    place.write("tags.txt", "a b\nb c\n");
    let told = place.ok("plan tags.txt --as set").stdout;
    assert!(!told.contains("shingle"), "{told}");
}

#[test]
fn short_texts_that_are_skipped_do_not_count() {
    let place = Place::new();
    let again = record("1", "in short").repeat(50);
    place.write("in.jsonl", record("1", "in short") + &record("2", "a b c d e f g h") + &again);
    place.ok("pairs in.jsonl -o p.csv --on-error skip --stats s.json");
    let stats = stats(&place);
    assert_eq!((&stats["items"], &stats["short"]), (&2.into(), &1.into()));
}

//! Runs find the share of pairs that they promise.

use std::fmt::Write as _;

use serde_json::Value;

use crate::common::Place;

const PAIRS: u32 = 3000;
const SEEDS: u32 = 3;

/// Pairs of texts of 57 words, 54 of them in both: a Jaccard similarity of 0.9.
fn pairs_of_57_words() -> String {
    let mut lines = String::new();
    for item in 0..2 * PAIRS {
        let own = 54 + item % 2 * 3..57 + item % 2 * 3;
        let words: Vec<String> =
            (0..54).chain(own).map(|word| format!("w{}", item / 2 * 60 + word)).collect();
        let _ = writeln!(lines, "{}", words.join(" "));
    }
    lines
}

/// The share that a way promises, and the share that it finds.
fn promised_and_found(place: &Place, way: &str) -> (f64, f64) {
    let (mut promised, mut found) = (0.0, 0);
    for seed in 1..=SEEDS {
        let rest = "--shingle words:1 -t 0.899999999 --audit 0 -o p.csv --stats s.json";
        place.ok(&format!("pairs in.txt {way} --seed {seed} {rest}"));
        let stats: Value = serde_json::from_str(&place.read("s.json")).unwrap();
        promised = stats["recall"]["promised"].as_f64().unwrap();
        found += stats["pairs"].as_u64().unwrap();
    }
    (promised, found as f64 / f64::from(PAIRS * SEEDS))
}

/// Fails where fewer are found by more than four standard errors: once in 30,000 choices of seeds for a promise that is kept
/// exactly. Seeds are fixed. With values that are drawn without replacement, a band of 32 rows finds 0.0129 of 0.0343, and a
/// recall of 0.3 is 0.282.
#[test]
fn a_band_of_32_rows_and_a_low_recall_find_what_they_promise() {
    let place = Place::new();
    place.write("in.txt", pairs_of_57_words());
    let ways = [
        ("--bands 1 --rows 32", 0.9f64.powi(32)),
        ("--and-or and(32,minhash)", 0.9f64.powi(32)),
        ("--approximate --recall 0.3", 0.3),
        ("--approximate --recall 0.05", 0.05),
    ];
    for (way, expected) in ways {
        let (promised, found) = promised_and_found(&place, way);
        assert!((promised - expected).abs() < 1e-6, "{way}: {promised} promised");
        let error = (promised * (1.0 - promised) / f64::from(PAIRS * SEEDS)).sqrt();
        assert!(found >= promised - 4.0 * error, "{way}: {found} found, {promised} promised");
    }
}

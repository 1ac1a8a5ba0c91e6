//! What the audit of a run says.
//!
//! How often its interval holds the truth is tested in the engine (`audit/drawn_pairs.rs`) and in `exact.rs`.

use std::collections::BTreeSet;

use crate::common::{Place, record};
use serde_json::Value;

/// Every other of these texts has a similar one.
fn texts() -> String {
    let text = |n: usize| {
        let story: Vec<String> = (0..30).map(|at| format!("w{}", n / 4 * 100 + at)).collect();
        record(&n.to_string(), &format!("{} end{n}", story.join(" ")))
    };
    let alone = |n: usize| record(&format!("a{n}"), &format!("x{n} y{n} z{n} u{n} v{n} s{n} t{n}"));
    (0..400).map(text).chain((0..400).map(alone)).collect()
}

fn audited(place: &Place, more: &str) -> Value {
    place.ok(&format!("pairs in.jsonl -o p.csv --stats s.json {more}"));
    let stats: Value = serde_json::from_str(&place.read("s.json")).unwrap();
    stats["recall"]["audited"].clone()
}

/// Of a weak plan, every seed misses others and draws other pairs.
#[test]
fn the_seed_moves_the_audit() {
    let place = Place::new();
    place.write("in.jsonl", texts());
    let drawn = |seed: u64| audited(&place, &format!("--bands 2 --rows 6 --seed {seed}"));
    let seen: BTreeSet<String> = (1..=5).map(|seed| drawn(seed).to_string()).collect();
    assert!(seen.len() > 1, "{seen:?}");
    assert_eq!(drawn(3), drawn(3));
}

#[test]
fn the_audit_has_one_shape_whether_or_not_it_saw_a_pair() {
    let place = Place::new();
    place.write("in.jsonl", texts());
    let fields =
        |audit: &Value| audit.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let some = audited(&place, "--approximate");
    assert!(some["pairs"].as_u64() > Some(0));
    let none = audited(&place, "--approximate -t 0.999");
    assert_eq!((&none["recall"], &none["pairs"]), (&Value::Null, &0.into()));
    assert_eq!(fields(&none), fields(&some));
}

/// Copies of 99 stories, one word changed in each: clusters of 5, 4 and 2, among 4,000 texts without a partner.
fn few_clusters() -> String {
    let text = |story: usize, copy: usize| {
        let words: Vec<String> = (0..90).map(|at| format!("s{story}w{at}")).collect();
        record(&format!("{story}-{copy}"), &format!("{} end{copy}", words.join(" ")))
    };
    let size = |story: usize| [5, 4, 2][story % 3];
    let clusters = (0..99).flat_map(|story| (0..size(story)).map(move |copy| text(story, copy)));
    let alone = |n: usize| record(&format!("b{n}"), &format!("x{n} y{n} z{n} u{n} v{n} s{n} t{n}"));
    clusters.chain((0..4000).map(alone)).collect()
}

/// The symptom: 526 of 526 pairs found, yet "95 % sure: 0.6362 to 1.0000", for few drawn items had a partner.
#[test]
fn an_audit_without_a_miss_says_how_much_was_found_at_least() {
    let place = Place::new();
    place.write("in.jsonl", few_clusters());
    let out = place.ok("pairs in.jsonl --approximate -o p.csv --stats s.json").stderr;
    let stats: Value = serde_json::from_str(&place.read("s.json")).unwrap();
    let audit = &stats["recall"]["audited"];
    // Ten, six and one for each story.
    assert_eq!((&stats["pairs"], &audit["found"]), (&561.into(), &audit["pairs"]));
    assert!(audit["low"].as_f64() > Some(0.994) && audit["high"] == 1.0, "{audit:#}");
    let expected = "audited: no miss among 561 similar pairs of all 561 pairs that a second look brings together; at least 0.99";
    assert!(out.contains(expected) && out.contains(" found, 95 % sure"), "{out}");
}

#[test]
fn bands_of_few_pairs_have_no_interval() {
    let place = Place::new();
    place.write("in.jsonl", texts() + &few_clusters());
    let audit = audited(&place, "-t 0.6 --bands 3 --rows 4");
    let bands = audit["by_similarity"].as_array().unwrap();
    assert!(bands.iter().any(|band| band["pairs"].as_u64() >= Some(30)), "{audit:#}");
    for band in bands {
        let is_told = band["pairs"].as_u64() >= Some(30);
        assert_eq!(band["low"].is_number() && band["high"].is_number(), is_told, "{band:#}");
        assert!(band["recall"].is_number());
    }
}

#[test]
fn where_nothing_could_be_audited_the_run_says_so() {
    let place = Place::new();
    place.write("in.jsonl", texts());
    let out = place.ok("pairs in.jsonl --approximate -t 0.999 -o p.csv").stderr;
    assert!(out.contains("audited: no similar pair"), "{out}");
}

/// One side has many pairs of its own, and the two have nothing in common: an audit that drew from nothing reported a miss
/// and no number.
#[test]
fn collections_without_anything_in_common_have_no_misses() {
    let place = Place::new();
    let text = |name: &str, other: usize| {
        let words =
            (0..60).map(|i| if i == other { format!("x{name}") } else { format!("{name}{i}") });
        words.collect::<Vec<_>>().join(" ")
    };
    let line = |text: String| format!("{{\"text\":\"{text}\"}}\n");
    let near = |i: usize| format!("{} y{i}", text("b", i % 60));
    place.write("a.jsonl", (0..5).map(|i| line(text("a", i))).collect::<String>());
    place.write("b.jsonl", (0..300).map(|i| line(near(i))).collect::<String>());
    let outcome = place.ok("pairs a.jsonl --against b.jsonl --approximate --stats s.json");
    assert!(outcome.stdout.is_empty());
    let told = "audited: no similar pair of 0 pairs drawn at random and compared, so nothing is known of misses";
    assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
    let stats: Value = serde_json::from_str(&place.read("s.json")).unwrap();
    assert_eq!(stats["recall"]["audited"]["recall"], Value::Null);
    assert_eq!(stats["recall"]["audited"]["pairs"], 0);
}

//! What the audit of a run says.

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
    place.ok(&format!("pairs in.jsonl --approximate -o p.csv --stats s.json {more}"));
    let stats: Value = serde_json::from_str(&place.read("s.json")).unwrap();
    stats["recall"]["audited"].clone()
}

/// Of 20 items of 800, half of which have partners, the number of those that have is one of many. That five seeds draw
/// equally many happens once in some 1,000 choices of seeds. They are fixed.
#[test]
fn the_seed_moves_the_audit() {
    let place = Place::new();
    place.write("in.jsonl", texts());
    let drawn =
        |seed: u64| audited(&place, &format!("--audit 20 --seed {seed}"))["with_partners"].clone();
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
    let some = audited(&place, "");
    assert!(some["pairs"].as_u64() > Some(0));
    let none = audited(&place, "-t 0.999");
    assert_eq!((&none["recall"], &none["pairs"]), (&Value::Null, &0.into()));
    assert_eq!(fields(&none), fields(&some));
}

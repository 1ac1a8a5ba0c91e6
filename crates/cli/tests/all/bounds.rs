//! `--at-most` and `--at-least`: close, but not copies (syllabus S8.9).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::common::Place;

type Rows = Vec<(String, String, f64)>;

fn rows(output: &str) -> Rows {
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("a JSON line");
        let id = |key: &str| row[key].to_string();
        let value = row.get("similarity").or_else(|| row.get("distance"));
        (id("a"), id("b"), value.and_then(Value::as_f64).expect("a number"))
    };
    output.lines().map(row).collect()
}

/// Numbers that look random, the same in every run.
fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}

/// A few hundred items of every kind, copies among them: the file, and how it is read.
fn collections(place: &Place) -> Vec<(&'static str, &'static str)> {
    let mut draw = numbers(7);
    let (mut sets, mut bags, mut texts, mut bits, mut strings, mut vectors, mut answers) =
        Default::default();
    let line = |text: &mut String, line: String| writeln!(text, "{line}").expect("a string");
    for _ in 0..150 {
        let size = 4 + draw(5);
        let elements: Vec<String> = (0..size).map(|_| format!("e{}", draw(14))).collect();
        line(&mut sets, elements.join(" "));
        let bag: Vec<String> = (0..7).map(|_| format!("e{}", draw(5))).collect();
        line(&mut bags, bag.join(" "));
        line(&mut texts, format!("one two three {} five six {}", draw(4), draw(3)));
        line(&mut bits, (0..12).map(|_| if draw(4) == 0 { '1' } else { '0' }).collect());
        line(&mut strings, (0..5).map(|_| if draw(3) == 0 { 'b' } else { 'a' }).collect());
        line(&mut vectors, format!("{} {} {}", 1 + draw(6), 1 + draw(6), draw(6)));
        line(
            &mut answers,
            (0..6).map(|_| ["yes", "no", ""][draw(3) as usize]).collect::<Vec<_>>().join(","),
        );
    }
    place.write("sets.txt", sets);
    place.write("bags.txt", bags);
    place.write("texts.txt", texts);
    place.write("bits.txt", bits);
    place.write("strings.txt", strings);
    place.write("vectors.txt", vectors);
    place.write("answers.csv", format!("q1,q2,q3,q4,q5,q6\n{answers}"));
    vec![
        ("sets.txt --as set -t 0.4", "--at-most 0.7"),
        ("sets.txt --as set -t 0.4 --approximate --recall 0.999", "--at-most 0.7"),
        ("sets.txt --as set --measure overlap -t 3", "--at-most 4"),
        ("sets.txt --as set --within 0.6", "--at-least 0.3"),
        ("sets.txt --as set --measure hamming --within 6", "--at-least 2"),
        ("sets.txt --as set -t 0.4 --and-or or(40,and(2,minhash))", "--at-most 0.7"),
        ("bags.txt --as bag -t 0.4", "--at-most 0.8"),
        ("texts.txt --shingle chars:3 -t 0.5", "--at-most 0.9"),
        ("texts.txt --measure cosine -t 0.2", "--at-most 0.95"),
        ("texts.txt --measure cosine --within 70", "--at-least 20"),
        ("bits.txt --as bits -t 0.8", "--at-most 0.92"),
        ("bits.txt --as bits --within 3", "--at-least 1"),
        ("strings.txt --as string --within 4", "--at-least 2"),
        ("strings.txt --as string --measure damerau --within 2", "--at-least 1"),
        ("vectors.txt --as vector --within 3", "--at-least 1.5"),
        ("vectors.txt --as vector --measure l1 --within 4", "--at-least 2"),
        ("vectors.txt --as vector --measure cosine -t 0.9", "--at-most 0.99"),
        ("vectors.txt --as vector --measure cosine --within 20", "--at-least 5"),
        ("answers.csv --as answers --within 2", "--at-least 1"),
    ]
}

/// Whether a value is kept by the bound.
fn is_kept(bound: &str, value: f64) -> bool {
    let (name, limit) = bound.split_once(' ').expect("a flag and a number");
    let limit: f64 = limit.parse().expect("a number");
    if name == "--at-most" { value <= limit } else { value >= limit }
}

#[test]
fn s8_9_pairs_between_two_limits_of_every_kind() {
    let place = Place::new();
    for (run, bound) in collections(&place) {
        let all = rows(&place.ok(&format!("pairs {run} -q")).stdout);
        let between = rows(&place.ok(&format!("pairs {run} {bound} -q")).stdout);
        let expected: Rows = all.iter().filter(|row| is_kept(bound, row.2)).cloned().collect();
        assert!(!expected.is_empty() && expected.len() < all.len(), "{run} tells nothing");
        assert_eq!(between, expected, "{run} {bound}");
    }
}

#[test]
fn s8_9_the_closest_that_are_no_copies() {
    let place = Place::new();
    for (run, bound) in collections(&place) {
        if run.contains("--and-or") || run.contains("--approximate") {
            continue;
        }
        // The closest of each item follow from all pairs.
        let mut partners: BTreeMap<String, Vec<(f64, u64)>> = BTreeMap::new();
        let is_distance = bound.starts_with("--at-least");
        for (a, b, value) in rows(&place.ok(&format!("pairs {run} -q")).stdout) {
            if is_kept(bound, value) {
                let far = if is_distance { value } else { -value };
                let [a_number, b_number] = [&a, &b].map(|id| id.parse().expect("a position"));
                partners.entry(a).or_default().push((far, b_number));
                partners.entry(b).or_default().push((far, a_number));
            }
        }
        for list in partners.values_mut() {
            list.sort_by(|x, y| x.partial_cmp(y).expect("numbers"));
            list.truncate(2);
        }
        let mut found: BTreeMap<String, Vec<(f64, u64)>> = BTreeMap::new();
        for (a, b, value) in rows(&place.ok(&format!("top {run} {bound} -k 2 -q")).stdout) {
            let far = if is_distance { value } else { -value };
            found.entry(a).or_default().push((far, b.parse().expect("a position")));
        }
        assert_eq!(found, partners, "{run} {bound}");
    }
}

#[test]
fn s8_9_the_summary_says_what_was_left_out() {
    let place = Place::new();
    place.write("sets.txt", "a b c d\na b c d\na b c d e\nx y\n");
    let run = place.ok("pairs sets.txt --as set -t 0.5 --at-most 0.9 --stats stats.json");
    assert_eq!(rows(&run.stdout).len(), 2, "{}", run.stdout);
    assert!(run.stderr.contains("pairs at or above 0.5 and at or below 0.9"), "{}", run.stderr);
    let stats: Value = serde_json::from_str(&place.read("stats.json")).expect("JSON");
    assert_eq!((&stats["at_most"], &stats["pairs"]), (&Value::from(0.9), &Value::from(2)));
    let run = place.ok("pairs sets.txt --as set -t 0.5 --at-most 0.6");
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains("warning: no pair is left"), "{}", run.stderr);
    assert!(run.stderr.contains("--at-most"), "{}", run.stderr);
}

#[test]
fn s8_9_what_makes_no_sense_is_refused() {
    let place = Place::new();
    place.write("sets.txt", "a b c d\na b c e\n");
    place.write("points.txt", "1 2\n1 3\n");
    for (line, parts) in [
        (
            "sets.txt --as set -t 0.5 --at-most 0.4",
            vec!["--at-most is 0.4", "at least the threshold, 0.5"],
        ),
        ("sets.txt --as set -t 0.5 --at-most nan", vec!["--at-most is NaN"]),
        ("sets.txt --as set -t 0.5 --at-least 0.1", vec!["--at-least is 0.1", "--at-most"]),
        ("sets.txt --as set --within 0.5 --at-most 0.9", vec!["--at-most is 0.9", "--at-least"]),
        ("points.txt --as vector --within 2 --at-most 1", vec!["--at-most is 1", "--at-least"]),
        ("points.txt --as vector --within 2 --at-least 3", vec!["at most the largest distance, 2"]),
        ("points.txt --as vector --within 2 --at-least -1", vec!["--at-least is -1", "from 0 on"]),
        ("sets.txt --as set --at-most 0.9 --show", vec!["--at-most", "--show"]),
    ] {
        place.fails(&format!("pairs {line}"), &parts);
    }
    let both = place.run("pairs sets.txt --as set --at-least 0.1 --at-most 0.9");
    assert_eq!(both.code, Some(2), "{}", both.stderr);
    assert_eq!(place.run("dedup sets.txt --as set --at-most 0.9 -o out.txt").code, Some(2));
}

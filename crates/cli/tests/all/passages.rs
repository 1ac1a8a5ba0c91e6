//! `nearkin compare --passages`: what two texts share, side by side and as JSON.

use std::fs;
use std::path::Path;

use crate::common::{Place, record};
use serde_json::{Value, json};

const A: &str = "Swing bridge to close.

The old swing bridge across the inner harbour will close to all traffic from the first
Monday in March, after divers found cracks in two of the stone piers.

A choir that was rehearsing in a church hall carried on by candlelight. 港口大桥将于三月关闭六周。
";

const B: &str = "记者获悉,港口大桥将于三月关闭六周! 😀

A choir which was rehearsing in a small church hall carried on by candlelight.
Somebody said that the OLD swing bridge across the harbour will close to all traffic
from the first Monday in March, “after divers found cracks in two of the stone piers”.
";

/// The last part of the output, after the measures.
fn columns(text: &str) -> &str {
    &text[text.find("shared passages, the longest first").expect("passages")..]
}

#[test]
fn moved_passages_stand_side_by_side() {
    let place = Place::new();
    place.write("a.txt", A);
    place.write("b.txt", B);
    let text = place.ok("compare a.txt b.txt --passages").stdout.replace('|', "│");
    let expected = "\
shared passages, the longest first: [-only in a-] {+only in b+}

1. 28 words; 1 in a and 0 in b differ
  a: lines 3 to 4, words 5 to 33        │ b: lines 4 to 5, words 34 to 61
  The old swing bridge across the       │ the OLD swing bridge across the
  [-inner-] harbour will close to all   │ harbour will close to all
  traffic from the first Monday in      │ traffic from the first Monday in
  March, after divers found cracks in   │ March, “after divers found cracks in
  two of the stone piers                │ two of the stone piers

2. 12 words; 1 in a and 2 in b differ
  a: line 6, words 34 to 46             │ b: line 3, words 17 to 30
  A choir [-that-] was rehearsing in a  │ A choir {+which+} was rehearsing in a
  church hall carried on by             │ {+small+} church hall carried on by
  candlelight                           │ candlelight

3. 12 words
  a: line 6, words 47 to 58             │ b: line 1, words 5 to 16
  港口大桥将于三月关闭六周              │ 港口大桥将于三月关闭六周
";
    assert_eq!(columns(&text), expected);
    // 52 words of 58 and 61.
    assert!(text.contains("share of a's words in shared passages  0.896552"), "{text}");
    assert!(text.contains("share of b's words in shared passages  0.852459"), "{text}");
    let longest = place.ok("compare a.txt b.txt --passages --least-words 13").stdout;
    assert!(longest.contains("1. 28 words") && !longest.contains("2. "), "{longest}");
}

#[test]
fn json_has_every_place() {
    let place = Place::new();
    place.write("in.jsonl", record("a", A) + &record("b", B));
    let json = place.ok("compare --in in.jsonl a b --passages --json").stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    let passages = json["passages"].as_array().unwrap();
    assert_eq!(passages.len(), 3);
    assert_eq!(json["covered"], json!([52.0 / 58.0, 52.0 / 61.0]));
    for passage in passages {
        let parts = passage["differ"].as_array().unwrap();
        for part in parts.iter().chain([passage]) {
            for (side, text) in [("a", A), ("b", B)] {
                let part = &part[side];
                let [start, end] = ["start", "end"].map(|at| part[at].as_u64().unwrap() as usize);
                let slice: String = text.chars().skip(start).take(end - start).collect();
                assert_eq!(part["text"], slice);
            }
        }
    }
    let first = &passages[0];
    assert_eq!((&first["words"], &first["differ"].as_array().unwrap().len()), (&28.into(), &1));
    assert_eq!(first["differ"][0]["a"]["text"], "inner");
    assert_eq!(first["differ"][0]["b"]["text"], "");
    assert_eq!((&first["a"]["line"], &first["a"]["last_line"]), (&3.into(), &4.into()));
    assert_eq!((&passages[1]["b"]["line"], &passages[1]["b"]["last_line"]), (&3.into(), &3.into()));
}

#[test]
fn empty_identical_and_strange_texts() {
    let place = Place::new();
    place.write("empty.txt", "");
    place.write("emoji.txt", "😀👨‍👩‍👧 …");
    place.write("a.txt", A);
    let word = "long".repeat(30);
    place.write("long.txt", format!("one two three four \u{1b}[31m{word} 犬が走っている\tsix"));
    for other in ["empty.txt", "emoji.txt", "a.txt"] {
        let text = place.ok(&format!("compare empty.txt {other} --passages")).stdout;
        assert!(text.ends_with("\nno 5 words in a row are the same in both\n"), "{text}");
    }
    let text = place.ok("compare a.txt a.txt --passages").stdout;
    assert!(text.contains("\n1. 58 words\n") && !text.contains("2. "), "{text}");
    let text = place.ok("compare long.txt long.txt --passages").stdout;
    let shown = columns(&text);
    let letters = shown.matches("long").count();
    assert!(letters >= 50, "most of twice thirty, cut at the edges of columns: {shown}");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn a_passage_has_at_least_one_word() {
    let place = Place::new();
    place.write("a.txt", A);
    for options in ["--least-words 0", "--passages --normal-form nfc"] {
        let outcome = place.run(&format!("compare a.txt a.txt {options}"));
        assert_eq!(outcome.code, Some(2), "{options}");
    }
}

#[test]
fn the_guide_shows_what_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = fs::read_to_string(root.join("docs/plagiarism.md")).unwrap();
    let block = guide.split("```").find(|block| block.contains("$ nearkin compare")).unwrap();
    let (command, shown) = block.split_once("\n…\n").unwrap();
    let words = command.trim().trim_start_matches("$ nearkin ");
    let line = words.replace("examples/", &format!("{}/examples/", root.display()));
    let text = Place::new().ok(&line).stdout.replace('|', "│");
    assert!(text.contains(shown) && shown.lines().count() > 5, "{text}\n{shown}");
}

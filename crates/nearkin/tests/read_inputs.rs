//! What comes out of each kind of input.
#![cfg(feature = "files")]

mod read_files;

use read_files::{Seen, all, files, options, read, read_with};
use nearkin::read::{Format, Id, Input, ReadOptions, Value};
use std::{collections::HashMap, fs, path::Path};

const LINES: &str = "{\"id\":\"a\",\"text\":\"one\\ntwo\",\"n\":[1,{}]}\n\n{\"text\":\"漢字 🙂\",\"id\":7}\r\n   \n{\"id\":-3,\"text\":\"\"}";

fn expected() -> Vec<Seen> {
    vec![
        (0, Some(Id::Text("a".into())), "one\ntwo".into()),
        (1, Some(Id::Int(7)), "漢字 🙂".into()),
        (2, Some(Id::Int(-3)), "".into()),
    ]
}

#[test]
fn jsonl_lines_become_items() {
    let dir = files(&[("x.jsonl", LINES.as_bytes())]);
    assert_eq!(read(&dir, &["x.jsonl"]), expected());
}

//! Files whose characters are not written in UTF-8.
#![cfg(feature = "files")]

use crate::common::files::{failure, files, gz, options, read_with};
use nearkin_engine::read::{OnError, ReadOptions};

fn wide(text: &str, mark: bool, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let units = mark.then_some(0xfeff).into_iter().chain(text.encode_utf16());
    units.flat_map(order).collect()
}

fn of(encoding: Option<&str>) -> ReadOptions {
    ReadOptions { encoding: encoding.map(|name| name.parse().unwrap()), ..options() }
}

fn texts(name: &str, content: &[u8], options: ReadOptions) -> Vec<String> {
    let read = read_with(&files(&[(name, content)]), &[name], options).unwrap();
    read.into_iter().map(|(_, _, text)| text).collect()
}

const LINES: &str = "{\"text\":\"café\"}\n{\"text\":\"naïve 𝄞\"}\n";

#[test]
fn a_byte_order_mark_of_utf_16_is_enough() {
    let wide = [wide(LINES, true, u16::to_le_bytes), wide(LINES, true, u16::to_be_bytes)];
    for content in wide {
        for encoding in [None, Some("utf-8"), Some("utf-16"), Some("utf-16be")] {
            assert_eq!(texts("x.jsonl", &content, of(encoding)), ["café", "naïve 𝄞"]);
            assert_eq!(texts("x.jsonl.gz", &gz(&content), of(encoding)), ["café", "naïve 𝄞"]);
        }
    }
}

#[test]
fn an_encoding_is_for_every_format_of_texts() {
    let small = ReadOptions { chunk_bytes: 5, ..of(Some("latin1")) };
    for options in [small, of(Some("latin1"))] {
        assert_eq!(texts("x.txt", b"caf\xe9\nb\x80\n", options.clone()), ["café", "b€"]);
        assert_eq!(texts("x.csv", b"id,text\n1,caf\xe9\n", options.clone()), ["café"]);
        assert_eq!(texts("x.jsonl", b"{\"text\":\"caf\xe9\"}", options.clone()), ["café"]);
        assert_eq!(texts("x.json", b"[{\"text\":\"caf\xe9\"}]", options), ["café"]);
    }
    let japanese = b"\x93\xfa\x96\x7b\n";
    assert_eq!(texts("x.txt", japanese, of(Some("shift_jis"))), ["日本"]);
    assert_eq!(texts("x.txt", b"\xef\xbb\xbfa\n", of(Some("utf-8"))), ["a"]);
}

#[test]
fn utf_16_that_is_not_marked_is_not_taken_for_lines() {
    let dir = files(&[
        ("little.txt", &wide("ab\n", false, u16::to_le_bytes)),
        ("big.txt", &wide("ab\n", false, u16::to_be_bytes)),
        ("long.txt", b"\xff\xfe\0\0a\0\0\0"),
    ]);
    let what = "looks like UTF-16 without a byte-order mark; set `encoding` to";
    assert_eq!(failure(&dir, &["little.txt"], options()), format!("little.txt: {what} utf-16le"));
    assert_eq!(failure(&dir, &["big.txt"], options()), format!("big.txt: {what} utf-16be"));
    assert_eq!(read_with(&dir, &["big.txt"], of(Some("utf-16be"))).unwrap()[0].2, "ab");
    assert_eq!(
        failure(&dir, &["long.txt"], options()),
        "long.txt: is UTF-32, which is not read; convert it to UTF-8"
    );
}

#[test]
fn what_is_no_character_of_the_encoding_is_named_with_its_line() {
    // Half a pair of UTF-16 in the second line.
    let mut units: Vec<u16> = "a\nb".encode_utf16().collect();
    units.extend([0xd834, u16::from(b'\n'), u16::from(b'c')]);
    let content: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let dir = files(&[("x.txt", &content)]);
    for chunk_bytes in [2, 100] {
        let options = ReadOptions { chunk_bytes, ..of(Some("utf-16le")) };
        assert_eq!(
            failure(&dir, &["x.txt"], options.clone()),
            "x.txt:2: not a character of the encoding at byte 2; name another encoding with `encoding`, or set `on_error` \
             to skip"
        );
        let skip = ReadOptions { on_error: OnError::Skip, ..options };
        let read = read_with(&dir, &["x.txt"], skip).unwrap();
        assert_eq!(read, [(0, None, "a".to_owned()), (2, None, "c".to_owned())]);
    }
}

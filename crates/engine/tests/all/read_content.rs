//! How a file is packed, and whether it is Parquet, its bytes say and not its name.
#![cfg(feature = "files")]

use crate::common::files::{failure, files, gz, options, parquet, read, zst};
use arrow_array::{ArrayRef, StringArray};
use nearkin_engine::read::{Format, ReadOptions};
use std::sync::Arc;

const LINES: &[u8] = b"{\"text\":\"a\"}\n{\"text\":\"b\"}\n";

fn texts(name: &str, content: &[u8]) -> Vec<String> {
    read(&files(&[(name, content)]), &[name]).into_iter().map(|(_, _, text)| text).collect()
}

#[test]
fn names_do_not_say_how_a_file_is_packed() {
    // A skippable frame with four bytes, as pzstd writes it first.
    let framed = [b"\x50\x2a\x4d\x18\x04\0\0\0data", &zst(LINES)[..]].concat();
    let cases: [(&str, Vec<u8>); 8] = [
        ("gzip.jsonl", gz(LINES)),
        ("zstd.jsonl", zst(LINES)),
        ("framed.jsonl", framed),
        ("gzip.jsonl.zst", gz(LINES)),
        ("zstd.jsonl.gz", zst(LINES)),
        ("plain.jsonl.gz", LINES.to_vec()),
        ("plain.jsonl.zst", LINES.to_vec()),
        ("plain.csv.gz", b"text\na\nb\n".to_vec()),
    ];
    for (name, content) in cases {
        assert_eq!(texts(name, &content), ["a", "b"], "{name}");
    }
}

#[test]
fn parquet_is_known_by_its_bytes() {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    let table = parquet(vec![("text", text)], 2);
    for name in ["x.jsonl", "x.csv", "x.pq", "x", "x.parquet.gz"] {
        assert_eq!(texts(name, &table), ["a", "b"], "{name}");
    }
    let options = ReadOptions { format: Some(Format::Jsonl), ..options() };
    assert_eq!(
        failure(&files(&[("x.jsonl", &table)]), &["x.jsonl"], options),
        "x.jsonl: is a Parquet file; leave out `format`, or set `format` to parquet"
    );
    // A text that only begins as such a file does.
    assert_eq!(texts("x.txt", b"PAR1 is a name\n"), ["PAR1 is a name"]);
}

#[test]
fn other_packings_are_named() {
    let cases: [(&[u8], &str, &str); 5] = [
        (b"\xfd7zXZ\0\0\x04", "xz", "xz -d"),
        (b"BZh91AY&SY\0", "bzip2", "bzip2 -d"),
        (b"PK\x03\x04\x14\0", "zip", "unzip"),
        (b"7z\xbc\xaf\x27\x1c\0", "7z", "7z x"),
        (b"\x04\x22\x4d\x18d", "lz4", "lz4 -d"),
    ];
    for (content, kind, unpack) in cases {
        for name in ["x.jsonl", "x.txt", "x.csv.gz"] {
            assert_eq!(
                failure(&files(&[(name, content)]), &[name], options()),
                format!(
                    "{name}: is packed with {kind}, which is not read; unpack it first (`{unpack}`), or pack it with gzip \
                     or zstd"
                )
            );
        }
    }
    // The letters alone are a text.
    assert_eq!(texts("x.txt", b"BZh is short\nPK, too\n"), ["BZh is short", "PK, too"]);
}

#[test]
fn what_is_named_as_packed_and_is_no_text_is_damaged() {
    let mut packed = gz(LINES);
    packed[0] ^= 1;
    let error = failure(&files(&[("x.jsonl.gz", &packed)]), &["x.jsonl.gz"], options());
    assert!(error.starts_with("x.jsonl.gz: corrupt gzip data"), "{error}");
}

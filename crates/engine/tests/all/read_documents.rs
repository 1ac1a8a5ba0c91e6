//! Folders of documents, and files that are one document each: which are read, and which are passed over.
#![cfg(feature = "files")]

use crate::common::files::{failure, files, gz, options, paths, read, read_with};
use nearkin_engine::item::{Id, PassedOver};
use nearkin_engine::read::{FolderFilter, Format, Input, ItemLimit, OnError, ReadOptions};
use std::fs;
use tempfile::TempDir;

/// The ids of what is read, without the folder.
fn ids(dir: &TempDir, names: &[&str], options: ReadOptions) -> Vec<String> {
    let id = |id: Option<Id>| match id {
        Some(Id::Text(text)) => text.replace(&format!("{}/", dir.path().display()), ""),
        other => panic!("{other:?}"),
    };
    read_with(dir, names, options).unwrap().into_iter().map(|(_, it, _)| id(it)).collect()
}

fn filtered(include: &[&str], exclude: &[&str], no_ignore: bool) -> ReadOptions {
    let globs = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect();
    let (include, exclude) = (globs(include), globs(exclude));
    ReadOptions { folders: FolderFilter { include, exclude, no_ignore }, ..options() }
}

fn passed_over(dir: &TempDir, name: &str, options: ReadOptions) -> PassedOver {
    let input = Input::open(&paths(dir, &[name]), options).unwrap();
    let mut sum = PassedOver::default();
    for chunk in input.scan() {
        sum += input.decode(&chunk.unwrap(), &|_| true).unwrap().passed_over;
    }
    sum
}

#[test]
fn what_is_no_text_is_passed_over_and_counted() {
    let far = [&[b'x'; 9000][..], b"\0"].concat();
    let dir = files(&[
        ("d/a", b"one".as_slice()),
        ("d/binary", b"ELF\0\x01"),
        ("d/far", &far), // behind the first 8 KiB, a byte 0 is a character
        ("d/latin", b"caf\xe9"),
        ("d/packed.gz", &gz(b"two")),
        ("d/packed-binary.gz", &gz(b"\0\0")),
        ("d/wide", b"\xff\xfet\0h\0"),
    ]);
    std::os::unix::fs::symlink("nowhere", dir.path().join("d/link")).unwrap();
    std::os::unix::fs::symlink(".", dir.path().join("d/loop")).unwrap();
    std::os::unix::fs::symlink("self", dir.path().join("d/self")).unwrap();
    assert_eq!(ids(&dir, &["d"], options()), ["a", "far", "packed.gz", "wide"]);
    let texts: Vec<String> = read(&dir, &["d"]).into_iter().map(|(_, _, text)| text).collect();
    assert_eq!([&texts[0], &texts[2], &texts[3]], ["one", "two", "th"]);
    let expected = PassedOver { binary: 2, undecodable: 1, dead_links: 2, ..PassedOver::default() };
    assert_eq!(passed_over(&dir, "d", options()), expected);
    assert_eq!(passed_over(&dir, "d", ReadOptions { chunk_bytes: 2, ..options() }), expected);
    // In an encoding in which it is one, it is a text.
    let latin = ReadOptions { encoding: Some("latin1".parse().unwrap()), ..options() };
    assert_eq!(read_with(&dir, &["d"], latin).unwrap()[2].2, "café");
}

#[test]
fn globs_choose_files_in_every_folder() {
    let dir = files(&[
        ("d/a.py", b"a".as_slice()),
        ("d/a.txt", b"a"),
        ("d/src/b.py", b"b"),
        ("d/src/deep/c.py", b"c"),
        ("d/src/deep/c.rs", b"c"),
        ("d/test/d.py", b"d"),
    ]);
    let cases: [(&[&str], &[&str], &[&str]); 6] = [
        (&["*.py"], &[], &["a.py", "src/b.py", "src/deep/c.py", "test/d.py"]),
        (&["*.py"], &["test"], &["a.py", "src/b.py", "src/deep/c.py"]),
        (&["/*.py"], &[], &["a.py"]),
        (&["src/**"], &["deep"], &["src/b.py"]),
        (&["src/**/*.py", "*.txt"], &[], &["a.txt", "src/b.py", "src/deep/c.py"]),
        (&[], &["*.py"], &["a.txt", "src/deep/c.rs"]),
    ];
    for (include, exclude, expected) in cases {
        let options = filtered(include, exclude, false);
        assert_eq!(ids(&dir, &["d"], options), expected, "{include:?} {exclude:?}");
    }
    assert_eq!(passed_over(&dir, "d", filtered(&["*.py"], &["src"], false)).excluded, 2);
    let error = failure(&dir, &["d"], filtered(&["[z-a]"], &[], false));
    assert!(error.contains("include") && error.contains("a glob, such as"), "{error}");
}

#[test]
fn files_that_gitignore_names_are_left_out() {
    let dir = files(&[
        ("r/.git/config", b"".as_slice()),
        ("r/.gitignore", b"*.log\n/build/\n"),
        ("r/d/.gitignore", b"!keep.log\n/own\n"),
        ("r/d/a", b"a"),
        ("r/d/b.log", b"b"),
        ("r/d/keep.log", b"k"),
        ("r/d/own", b"o"),
        ("r/d/deep/own", b"o"),
        ("r/build/x", b"x"),
        ("r/build/deep/y", b"y"),
        ("r/z", b"z"),
    ]);
    assert_eq!(ids(&dir, &["r"], options()), ["d/a", "d/deep/own", "d/keep.log", "z"]);
    assert_eq!(passed_over(&dir, "r", options()).ignored, 4);
    // What is above a folder counts as far as its repository goes.
    assert_eq!(ids(&dir, &["r/d"], options()), ["a", "deep/own", "keep.log"]);
    let all = ids(&dir, &["r"], filtered(&[], &[], true));
    assert_eq!(all.len(), 8);
    // A folder that is named is read, even if it is ignored itself.
    assert_eq!(ids(&dir, &["r/build"], options()), ["deep/y", "x"]);
}

#[test]
fn shards_are_read_whatever_gitignore_says() {
    let dir = files(&[
        ("d/.gitignore", b"*.jsonl\n".as_slice()),
        ("d/a.jsonl", b"{\"text\":\"a\"}\n"),
        ("d/b.jsonl", b"{\"text\":\"b\"}\n"),
    ]);
    assert_eq!(read(&dir, &["d"]).len(), 2);
    std::os::unix::fs::symlink("nowhere", dir.path().join("d/c.jsonl")).unwrap();
    assert_eq!(failure(&dir, &["d"], options()), "d/c.jsonl: does not exist; check the path");
}

#[test]
fn a_few_files_of_records_are_documents_among_many() {
    let contents: Vec<(String, &[u8])> =
        (0..20).map(|n| (format!("d/{n}.py"), b"some text".as_slice())).collect();
    let mut all: Vec<(&str, &[u8])> =
        contents.iter().map(|(name, text)| (&**name, *text)).collect();
    all.extend([("d/t.csv", b"a,b\n".as_slice()), ("d/p.json", b"{\n}\n"), ("d/c.gz", b"text")]);
    let dir = files(&all);
    assert_eq!(ids(&dir, &["d"], options()).len(), 23);
    // Where most bytes are of records, somebody has to say.
    fs::write(dir.path().join("d/t.csv"), "x,y\n".repeat(1000)).unwrap();
    let error = failure(&dir, &["d"], options());
    assert!(error.starts_with("d: has files of records, such as "), "{error}");
}

#[test]
fn several_files_of_no_known_format_are_documents() {
    let dir = files(&[
        ("a.py", b"one\ntwo".as_slice()),
        ("Makefile", b"all:"),
        ("x.jsonl", b"{\"id\":\"r\",\"text\":\"record\"}\n"),
        ("y.txt", b"a\nb\n"),
        ("part-1", b"{\"text\":\"a\"}\n"),
    ]);
    assert_eq!(ids(&dir, &["a.py", "Makefile"], options()), ["a.py", "Makefile"]);
    assert_eq!(ids(&dir, &["a.py", "x.jsonl", "Makefile"], options()), ["a.py", "r", "Makefile"]);
    let folder = ReadOptions { format: Some(Format::Folder), ..options() };
    assert_eq!(ids(&dir, &["y.txt"], folder), ["y.txt"]);
    for names in [&["a.py"][..], &["part-1", "part-1"]] {
        let error = failure(&dir, names, options());
        assert!(error.contains("its name does not tell the format"), "{error}");
    }
}

#[test]
fn a_document_that_is_too_large_is_a_bad_record_however_it_is_packed() {
    let long = "word ".repeat(10_000);
    let dir = files(&[
        ("d/a", b"a".as_slice()),
        ("d/b.gz", &gz(long.as_bytes())),
        ("d/c", long.as_bytes()),
    ]);
    let max_item = ItemLimit::new(10_000, 1 << 30, 1, 1);
    let stop = ReadOptions { max_item, ..options() };
    let error = failure(&dir, &["d"], stop.clone());
    assert!(error.starts_with("d/b.gz: has 10,001 bytes"), "{error}");
    let skip = ReadOptions { on_error: OnError::Skip, ..stop };
    assert_eq!(ids(&dir, &["d"], skip), ["a"]);
    let cut = gz(long.as_bytes());
    let dir = files(&[("d/a", b"a".as_slice()), ("d/b.gz", &cut[..cut.len() / 2])]);
    let error = failure(&dir, &["d"], options());
    assert!(error.starts_with("d/b.gz: truncated: "), "{error}");
}

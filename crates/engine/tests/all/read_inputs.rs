//! What comes out of each kind of input.
#![cfg(feature = "files")]

use crate::common::files::{
    Seen, all, failure, files, gz, options, parquet, paths, read, read_with, zst,
};
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, LargeStringArray, StringArray,
    StringViewArray, UInt64Array, types::Int32Type,
};
use nearkin_engine::item::{ChunkNumber, Id, Source, Value};
use nearkin_engine::read::{Chunk, Format, Input, ItemLimit, OnError, Piece, Pieces, ReadOptions};
use proptest::prelude::*;
use std::{fs, path::PathBuf, sync::Arc};

const LINES: &str = concat!(
    "{\"id\":\"a\",\"text\":\"one\\ntwo\",\"n\":[1,{}]}\n",
    "\n",
    "{\"text\":\"漢字 🙂 \\ud83d\\ude42\",\"id\":7}\r\n",
    "   \n",
    "{\"id\":-3,\"text\":\"\"}"
);

const TABLE: &str = concat!(
    "id,text,score\r\n",
    "007,\"a \"\"quoted\"\"\r\n\r\nnew line, here\",1.5\r\n",
    "\r\n",
    "b,5\" disk,\r\n",
    "c,漢字 🙂,high\r\n",
    "d,\"\",-2"
);

fn text_id(id: &str) -> Option<Id> {
    Some(Id::Text(id.into()))
}

fn line_items() -> Vec<Seen> {
    vec![
        (0, text_id("a"), "one\ntwo".into()),
        (1, Some(Id::Int(7)), "漢字 🙂 🙂".into()),
        (2, Some(Id::Int(-3)), "".into()),
    ]
}

fn table_items() -> Vec<Seen> {
    vec![
        (0, text_id("007"), "a \"quoted\"\r\n\r\nnew line, here".into()),
        (1, text_id("b"), "5\" disk".into()),
        (2, text_id("c"), "漢字 🙂".into()),
        (3, text_id("d"), "".into()),
    ]
}

fn chunks_of(chunk_bytes: usize) -> ReadOptions {
    ReadOptions { chunk_bytes, ..options() }
}

fn texts(seen: Vec<Seen>) -> Vec<String> {
    seen.into_iter().map(|(_, _, text)| text).collect()
}

#[test]
fn jsonl_lines_become_items_at_any_chunk_size() {
    let marked = [b"\xef\xbb\xbf".as_slice(), LINES.as_bytes()].concat();
    let dir = files(&[("x.jsonl", LINES.as_bytes()), ("x.ndjson", &marked)]);
    for bytes in [1, 2, 3, 16, 64, 1 << 20] {
        assert_eq!(read_with(&dir, &["x.jsonl"], chunks_of(bytes)).unwrap(), line_items());
        assert_eq!(read_with(&dir, &["x.ndjson"], chunks_of(bytes)).unwrap(), line_items());
    }
}

#[test]
fn csv_rows_become_items_at_any_chunk_size() {
    let tabs = TABLE.replace("here", "h,e").replace(',', "\t").replace("line\t", "line,");
    let dir = files(&[
        ("x.csv", TABLE.as_bytes()),
        ("x.tsv", tabs.replace("h\te", "here").as_bytes()),
        ("old.csv", TABLE.replace("\r\n", "\r").as_bytes()),
    ]);
    for bytes in [1, 2, 3, 16, 64, 1 << 20] {
        assert_eq!(read_with(&dir, &["x.csv"], chunks_of(bytes)).unwrap(), table_items());
        assert_eq!(read_with(&dir, &["x.tsv"], chunks_of(bytes)).unwrap(), table_items());
        let old = read_with(&dir, &["old.csv"], chunks_of(bytes)).unwrap();
        assert_eq!(old.len(), 4);
        assert_eq!(old[0].2, "a \"quoted\"\r\rnew line, here");
    }
}

#[test]
fn lines_of_text_are_items_without_ids() {
    let dir = files(&[("x.txt", b"one\r\n\n two \nthree".as_slice())]);
    for bytes in [1, 4, 1 << 20] {
        let seen = read_with(&dir, &["x.txt"], chunks_of(bytes)).unwrap();
        let expected = [(0, "one"), (1, ""), (2, " two "), (3, "three")];
        assert_eq!(seen, expected.map(|(at, text)| (at, None, text.to_owned())));
    }
}

#[test]
fn compressed_files_give_the_same_items() {
    let half = LINES.len() / 2;
    let half = (half..).find(|at| LINES.is_char_boundary(*at)).unwrap();
    let (a, b) = LINES.as_bytes().split_at(half);
    let dir = files(&[
        ("one.jsonl.gz", &gz(LINES.as_bytes())),
        ("members.jsonl.gz", &[gz(a), gz(b)].concat()),
        ("frames.jsonl.zst", &[zst(a), zst(b)].concat()),
        ("table.csv.gz", &gz(TABLE.as_bytes())),
        ("table.csv.zst", &zst(TABLE.as_bytes())),
        ("lines.txt.gz", &gz(b"one\ntwo")),
        ("unlabelled.jsonl", &gz(LINES.as_bytes())),
    ]);
    for name in ["one.jsonl.gz", "members.jsonl.gz", "frames.jsonl.zst", "unlabelled.jsonl"] {
        assert_eq!(read_with(&dir, &[name], chunks_of(16)).unwrap(), line_items(), "{name}");
    }
    for name in ["table.csv.gz", "table.csv.zst"] {
        assert_eq!(read_with(&dir, &[name], chunks_of(16)).unwrap(), table_items(), "{name}");
    }
    assert_eq!(texts(read(&dir, &["lines.txt.gz"])), ["one", "two"]);
}

#[test]
fn parquet_rows_become_items_whatever_their_string_type() {
    let texts = ["one", "漢字 🙂", "", "one", "five"];
    let dictionary: DictionaryArray<Int32Type> = texts.into_iter().collect();
    let columns: [ArrayRef; 4] = [
        Arc::new(StringArray::from_iter_values(texts)),
        Arc::new(LargeStringArray::from_iter_values(texts)),
        Arc::new(StringViewArray::from_iter_values(texts)),
        Arc::new(dictionary),
    ];
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(10..15));
    let other: ArrayRef = Arc::new(Float64Array::from_iter_values([0.0; 5]));
    for text in columns {
        let columns = vec![("id", ids.clone()), ("other", other.clone()), ("text", text)];
        let dir = files(&[("x.parquet", &parquet(columns, 2))]);
        for bytes in [1, 1 << 20] {
            let seen = read_with(&dir, &["x.parquet"], chunks_of(bytes)).unwrap();
            let expected = texts
                .iter()
                .zip(0..)
                .map(|(text, at)| (at, Some(Id::Int(at as i64 + 10)), (*text).to_owned()));
            assert_eq!(seen, expected.collect::<Vec<_>>());
        }
    }
}

#[test]
fn parquet_ids_may_be_text_or_unsigned() {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
    let names: ArrayRef = Arc::new(StringViewArray::from(vec!["a", "b"]));
    let numbers: ArrayRef = Arc::new(UInt64Array::from(vec![1, i64::MAX as u64]));
    let columns = vec![("text", text), ("name", names), ("number", numbers)];
    let dir = files(&[("x.parquet", &parquet(columns, 10))]);
    let ids = |field: &str| {
        let options = ReadOptions { id: Some(field.into()), ..options() };
        let seen = read_with(&dir, &["x.parquet"], options).unwrap();
        seen.into_iter().map(|(_, id, _)| id.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(ids("name"), [Id::Text("a".into()), Id::Text("b".into())]);
    assert_eq!(ids("number"), [Id::Int(1), Id::Int(i64::MAX)]);
    assert_eq!(read(&dir, &["x.parquet"])[1], (1, None, "y".into()));
}

#[test]
fn files_of_a_folder_become_documents_in_path_order() {
    let dir = files(&[
        ("f/b.txt", b"bee".as_slice()),
        ("f/a/z.md", b"\xef\xbb\xbfzed"),
        ("f/a-b.txt", b"dash"),
        ("f/.hidden", b"no"),
        ("f/.git/config", b"no"),
        ("f/empty", b""),
        ("g/b.txt", b"gee"),
    ]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(dir.path().join("f/b.txt"), dir.path().join("f/link")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("f"), dir.path().join("f/loop")).unwrap();
    }
    let expected = [("a-b.txt", "dash"), ("a/z.md", "zed"), ("b.txt", "bee"), ("empty", "")];
    for bytes in [1, 1 << 20] {
        let seen = read_with(&dir, &["f"], chunks_of(bytes)).unwrap();
        for ((position, id, text), (at, expected)) in seen.iter().zip(expected.iter().enumerate()) {
            assert_eq!(
                (*position, id, text.as_str()),
                (at as u64, &text_id(expected.0), expected.1)
            );
        }
        assert_eq!(seen.len(), if cfg!(unix) { 5 } else { 4 });
    }
    let both = read(&dir, &["f/", "g"]);
    let folder = dir.path().display();
    assert_eq!(both.first().unwrap().1, text_id(&format!("{folder}/f/a-b.txt")));
    assert_eq!(both.last().unwrap().1, text_id(&format!("{folder}/g/b.txt")));
}

#[test]
fn empty_files_have_no_items() {
    let none: ArrayRef = Arc::new(StringArray::from(Vec::<&str>::new()));
    let dir = files(&[
        ("x.jsonl", b"".as_slice()),
        ("blank.jsonl", b"\n \r\n"),
        ("x.csv", b""),
        ("header.csv", b"id,text\n"),
        ("x.tsv", b"\n\n"),
        ("x.txt", b""),
        ("x.jsonl.gz", &gz(b"")),
        ("x.csv.zst", &zst(b"")),
        ("x.parquet", &parquet(vec![("text", none)], 10)),
    ]);
    fs::create_dir(dir.path().join("folder")).unwrap();
    let names = [
        "x.jsonl",
        "blank.jsonl",
        "x.csv",
        "header.csv",
        "x.tsv",
        "x.txt",
        "x.jsonl.gz",
        "x.csv.zst",
        "x.parquet",
        "folder",
    ];
    for name in names {
        assert_eq!(read(&dir, &[name]), [], "{name}");
    }
}

#[test]
fn positions_run_over_all_files() {
    let dir = files(&[
        ("a.jsonl", b"{\"text\":\"a\"}\n{\"text\":\"b\"}".as_slice()),
        ("b.csv", b"text\nc\n"),
        ("c.txt", b"d\ne\n"),
    ]);
    let seen = read(&dir, &["a.jsonl", "b.csv", "c.txt", "a.jsonl"]);
    assert_eq!(seen.iter().map(|seen| seen.0).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(texts(seen), ["a", "b", "c", "d", "e", "a", "b"]);
}

#[test]
fn the_format_can_be_told() {
    let dir = files(&[("data", LINES.as_bytes()), ("x.jsonl", b"a line")]);
    let told = |format| ReadOptions { format: Some(format), ..options() };
    assert_eq!(read_with(&dir, &["data"], told(Format::Jsonl)).unwrap(), line_items());
    assert_eq!(texts(read_with(&dir, &["x.jsonl"], told(Format::Txt)).unwrap()), ["a line"]);
    assert_eq!("ndjson".parse::<Format>().unwrap().to_string(), "jsonl");
    assert!("xml".parse::<Format>().is_err());
}

#[test]
fn fields_can_be_nested_and_the_literal_key_comes_first() {
    let lines = concat!(
        "{\"meta\":{\"body\":\"deep\",\"no\":{\"body\":1}}}\n",
        "{\"meta.body\":\"flat\",\"meta\":{\"body\":\"deep\"}}\n",
        "{\"meta\":{\"body\":\"deep\"},\"meta.body\":\"flat\"}\n",
        "{\"meta\":{\"body\":\"first\"},\"meta\":{\"body\":\"last\"}}\n",
    );
    let dir = files(&[("x.jsonl", lines.as_bytes())]);
    let options = ReadOptions { text: "meta.body".into(), ..options() };
    let seen = read_with(&dir, &["x.jsonl"], options).unwrap();
    assert_eq!(texts(seen), ["deep", "flat", "flat", "last"]);
}

#[test]
fn one_field_may_be_both_text_and_id() {
    let dir = files(&[("x.jsonl", b"{\"name\":\"n\"}".as_slice())]);
    let options = ReadOptions { text: "name".into(), id: Some("name".into()), ..options() };
    assert_eq!(read_with(&dir, &["x.jsonl"], options).unwrap(), [(0, text_id("n"), "n".into())]);
}

fn values(dir: &tempfile::TempDir, name: &str) -> Vec<Option<Value>> {
    let options = ReadOptions { values: vec!["score".into()], ..options() };
    let input = Input::open(&paths(dir, &[name]), options).unwrap();
    let chunks = input.scan().map(|chunk| input.decode(&chunk.unwrap(), &|_| true));
    chunks.flat_map(|batch| batch.unwrap().items).map(|item| item.values[0].clone()).collect()
}

#[test]
fn values_are_read_from_every_format_that_has_fields() {
    let lines = "{\"text\":\"\",\"score\":2}\n{\"text\":\"\",\"score\":\"x\"}\n\
                 {\"text\":\"\",\"score\":null}\n{\"text\":\"\",\"score\":-0.5}\n";
    let scores: ArrayRef = Arc::new(Float64Array::from(vec![Some(2.0), None]));
    let text: ArrayRef = Arc::new(StringArray::from(vec!["", ""]));
    let dir = files(&[
        ("x.jsonl", lines.as_bytes()),
        ("x.csv", TABLE.as_bytes()),
        ("x.parquet", &parquet(vec![("text", text), ("score", scores)], 10)),
    ]);
    let number = |number| Some(Value::Number(number));
    let word = |word: &str| Some(Value::Text(word.into()));
    assert_eq!(values(&dir, "x.jsonl"), [number(2.0), word("x"), None, number(-0.5)]);
    assert_eq!(values(&dir, "x.csv"), [number(1.5), None, word("high"), number(-2.0)]);
    assert_eq!(values(&dir, "x.parquet"), [number(2.0), None]);
}

#[test]
fn fields_that_are_not_there_are_null() {
    let lines = "{\"text\":\"\",\"a\":1,\"c\":\"x\"}\n{\"d\":{\"e\":7},\"text\":\"\",\"b\":\"\\u0041\",\"a\":null}\n";
    let (a, text): (ArrayRef, ArrayRef) =
        (Arc::new(Int64Array::from(vec![1])), Arc::new(StringArray::from(vec![""])));
    let dir = files(&[
        ("x.jsonl", lines.as_bytes()),
        ("x.csv", b"text,b\n,A\n"),
        ("x.parquet", &parquet(vec![("text", text), ("a", a)], 10)),
    ]);
    let names = ["a", "b", "c", "d.e", "f"].map(str::to_owned).to_vec();
    let options = ReadOptions { values: names, ..options() };
    let input = Input::open(&paths(&dir, &["x.jsonl", "x.csv", "x.parquet"]), options).unwrap();
    let chunks = input.scan().map(|chunk| input.decode(&chunk.unwrap(), &|_| true));
    let values: Vec<_> =
        chunks.flat_map(|batch| batch.unwrap().items).map(|it| it.values).collect();
    let int = |number| Some(Value::Int(number));
    let word = |word: &str| Some(Value::Text(word.into()));
    let expected = [
        vec![int(1), None, word("x"), None, None],
        vec![None, word("A"), None, int(7), None],
        vec![None, word("A"), None, None, None],
        vec![int(1), None, None, None, None],
    ];
    assert_eq!(values, expected);
    let missing = input.check_values(|field| field < 4).unwrap_err().to_string();
    assert!(missing.ends_with(
        "x.jsonl: no record has a field `f` to keep by; it has `text`, `a`, `c`: name one of these"
    ), "{missing}");
    input.check_values(|field| field == 4).unwrap_err();
}

#[test]
fn values_and_ids_have_a_total_order() {
    let mut values = ["b", "a"].map(|text| Value::Text(text.into())).to_vec();
    values.extend([2.0, f64::NEG_INFINITY, 10.0].map(Value::Number));
    values.sort();
    let numbers = [f64::NEG_INFINITY, 2.0, 10.0].map(Value::Number).to_vec();
    assert_eq!(values[..3], numbers);
    assert_eq!(values[3], Value::Text("a".into()));
    assert_eq!(Value::Number(0.0), Value::Number(-0.0));
    assert!(Id::Int(9) < Id::Int(10) && Id::Int(10) < Id::Text("1".into()));
    assert_eq!(format!("{} {}", Id::Int(-1), Id::Text("x y".into())), "-1 x y");
    assert_eq!(serde_json::to_value(Id::Int(3)).unwrap(), serde_json::json!(3));
}

/// Scans twice, the second time without the chunks that `skip` names.
fn scan_again(input: &Input) {
    let all = |_: ChunkNumber| false;
    let first: Vec<_> = Source::scan(input, &all).map(Result::unwrap).collect();
    let items = |chunk| {
        let batch = input.decode(chunk, &|ordinal| ordinal != 1).unwrap();
        let texts = (0..batch.items.len()).map(|i| batch.text(i).to_owned()).collect::<Vec<_>>();
        (batch.records, batch.items.iter().map(|item| item.ordinal).collect::<Vec<_>>(), texts)
    };
    let skip = |number: ChunkNumber| number.chunk % 3 != 1;
    let again: Vec<_> = Source::scan(input, &skip).map(Result::unwrap).collect();
    let of = |chunks: &[Chunk]| chunks.iter().map(|chunk| chunk.number).collect::<Vec<_>>();
    let mut expected = of(&first);
    expected.retain(|&number| !skip(number));
    assert_eq!(of(&again), expected);
    for chunk in &again {
        let same = first.iter().find(|first| first.number == chunk.number).unwrap();
        assert_eq!(items(chunk), items(same));
    }
    assert_eq!(first.iter().map(|chunk| chunk.bytes).sum::<u64>(), input.bytes());
}

#[test]
fn a_second_scan_numbers_chunks_the_same_and_may_skip_some() {
    let many: String = (0..50).map(|n| format!("{{\"id\":{n},\"text\":\"t{n}\"}}\n")).collect();
    let rows: String = (0..50).map(|n| format!("{n},\"t\n{n}\"\n")).collect();
    let rows = format!("id,text\n{rows}");
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..50));
    let text: ArrayRef = Arc::new(StringArray::from_iter_values((0..50).map(|n| format!("t{n}"))));
    let dir = files(&[
        ("a.jsonl", many.as_bytes()),
        ("b.jsonl.gz", &gz(many.as_bytes())),
        ("c.csv", rows.as_bytes()),
        ("d.csv.zst", &zst(rows.as_bytes())),
        ("e.parquet", &parquet(vec![("id", ids), ("text", text)], 20)),
        ("f/1", b"one"),
        ("f/2", b"two"),
    ]);
    let names = ["a.jsonl", "b.jsonl.gz", "c.csv", "d.csv.zst", "e.parquet", "f"];
    let input = Input::open(&paths(&dir, &names), chunks_of(40)).unwrap();
    scan_again(&input);
    scan_again(&input);
}

#[test]
fn unwanted_lines_are_not_parsed() {
    let dir = files(&[("x.jsonl", b"{\"text\":\"a\"}\nrubbish\n{\"text\":\"c\"}".as_slice())]);
    let input = Input::open(&paths(&dir, &["x.jsonl"]), options()).unwrap();
    let chunk = input.scan().next().unwrap().unwrap();
    let batch = input.decode(&chunk, &|ordinal| ordinal == 2).unwrap();
    assert_eq!((batch.records, batch.text(0)), (3, "c"));
}

#[test]
fn bad_records_can_be_skipped_and_keep_their_positions() {
    let dir = files(&[
        ("x.jsonl", b"rubbish\n{\"text\":\"b\"}\n[]\n{\"text\":\"d\"}".as_slice()),
        ("x.csv", b"text,n\na\nb,1\n\xff,2\n"),
        ("f/bad", b"\xff"), // no document, and so no bad record
    ]);
    for (name, positions, bad) in
        [("x.jsonl", vec![1, 3], 2), ("x.csv", vec![1], 2), ("f", vec![], 0)]
    {
        let options = ReadOptions { on_error: OnError::Skip, chunk_bytes: 8, ..options() };
        let input = Input::open(&paths(&dir, &[name]), options).unwrap();
        let seen: Vec<_> = all(&input).unwrap().into_iter().map(|seen| seen.0).collect();
        assert_eq!(seen, positions, "{name}");
        let chunks = input.scan();
        let count = chunks.map(|chunk| input.decode(&chunk.unwrap(), &|_| true).unwrap().bad.len());
        assert_eq!(count.sum::<usize>(), bad, "{name}");
    }
}

#[test]
fn a_line_longer_than_a_chunk_is_whole() {
    let long = "x".repeat(300_000);
    let line = format!("{{\"text\":\"a\"}}\n{{\"text\":\"{long}\"}}\n{{\"text\":\"b\"}}\n");
    let dir = files(&[("x.jsonl", line.as_bytes())]);
    let seen = read_with(&dir, &["x.jsonl"], chunks_of(1000)).unwrap();
    assert_eq!(texts(seen), ["a", &long, "b"]);
}

#[test]
fn records_longer_than_items_may_be_are_passed_over_at_any_chunk_size() {
    // Short ones, and long ones that end with every kind of line end, at the end of the file too.
    let fill = |number: usize, bytes: usize| format!("{number}{}", "x".repeat(bytes));
    let sizes = [10, 2000, 5, 1500, 1300, 20, 9, 40_000];
    let texts: Vec<String> = (0..).zip(sizes).map(|(number, size)| fill(number, size)).collect();
    let json: String = texts.iter().map(|text| format!("{{\"text\":\"{text}\"}}\n")).collect();
    let rows = |end: &str| -> String {
        let quoted = |text: &String| format!("\"{}\n\"\"{}\"{end}", &text[..4], &text[4..]);
        std::iter::once(format!("text{end}")).chain(texts.iter().map(quoted)).collect()
    };
    let dir = files(&[
        ("a.jsonl", json.as_bytes()),
        ("b.jsonl.gz", &gz(json.trim_end().as_bytes())),
        ("c.csv", rows("\n").as_bytes()),
        ("d.csv", rows("\r\n").as_bytes()),
        ("e.csv.zst", &zst(rows("\r").as_bytes())),
        ("f.txt", (texts.join("\r\n") + "\n").as_bytes()),
    ]);
    let limit = ItemLimit::new(1000, usize::MAX, 1, 1);
    for name in ["a.jsonl", "b.jsonl.gz", "c.csv", "d.csv", "e.csv.zst", "f.txt"] {
        let (every, short) = (read(&dir, &[name]), |seen: &&Seen| seen.2.len() < 1000);
        let expected: Vec<Seen> = every.iter().filter(short).cloned().collect();
        assert_eq!((every.len(), expected.len()), (8, 4), "{name}");
        for chunk_bytes in [1, 7, 100, 999, 1000, 1001, 3000, 1 << 20] {
            let options = ReadOptions { max_item: limit, chunk_bytes, ..options() };
            let skip = ReadOptions { on_error: OnError::Skip, ..options.clone() };
            let input = Input::open(&paths(&dir, &[name]), skip).unwrap();
            for _ in 0..2 {
                assert_eq!(all(&input).unwrap(), expected, "{name} {chunk_bytes}");
            }
            let said = failure(&dir, &[name], options);
            // A file whose lines end with a carriage return alone has the lines of its quoted texts only.
            let line = if name.contains("csv") { 4 } else { 2 };
            let place = if name.contains("zst") { name } else { &format!("{name}:{line}: has ") };
            assert!(said.contains(place), "{chunk_bytes}: {said}");
        }
    }
}

/// A part of a file is read as the whole is: the same items, and lines that are too long left out and counted.
#[test]
fn pieces_leave_out_the_long_lines_that_whole_files_leave_out() {
    let sizes = [2000, 10, 5, 1500, 984, 985, 986, 20, 9, 40_000, 3000, 7, 999, 1000, 1001, 2500];
    let text = |(number, size): (usize, &usize)| format!("{number:<size$}", size = *size);
    let texts: Vec<String> = sizes.iter().enumerate().map(text).collect();
    let json: String = texts.iter().map(|text| format!("{{\"text\":\"{text}\"}}\n")).collect();
    let lines = texts.join("\n");
    let dir = files(&[("a.jsonl", json.trim_end().as_bytes()), ("b.txt", lines.as_bytes())]);
    for (name, format) in [("a.jsonl", Format::Jsonl), ("b.txt", Format::Txt)] {
        for most in [1000, 1200, 5000, 1 << 20] {
            for chunk_bytes in [1, 7, 100, 999, 1000, 1001, 3000, 1 << 20] {
                let max_item = ItemLimit::new(most, usize::MAX, 1, 1);
                let format = Some(format);
                let reading = ReadOptions { max_item, chunk_bytes, format, ..options() };
                let skip = ReadOptions { on_error: OnError::Skip, ..reading.clone() };
                let input = Input::open(&paths(&dir, &[name]), skip.clone()).unwrap();
                let expected: Vec<(u64, String)> =
                    all(&input).unwrap().into_iter().map(|seen| (seen.0, seen.2)).collect();
                let path = dir.path().join(name);
                let end = fs::metadata(&path).unwrap().len();
                let pieces = Pieces::new(path.clone(), skip);
                let (mut seen, mut records, mut next) = (Vec::new(), 0, 0);
                let mut offsets = Vec::new();
                pieces
                    .each(0..end, |piece, start| {
                        assert_eq!(start, next);
                        next += match piece {
                            Piece::Lines(lines) => lines.len() as u64,
                            Piece::TooLong(bytes) => bytes,
                        };
                        let batch = pieces.decode(piece, records + 1, &|_| true)?;
                        pieces.offsets(piece, &mut offsets);
                        assert_eq!(offsets.len(), batch.records as usize);
                        for (at, item) in batch.items.iter().enumerate() {
                            let position = records + u64::from(item.ordinal);
                            seen.push((position, batch.text(at).to_owned()));
                        }
                        records += u64::from(batch.records);
                        Ok(())
                    })
                    .unwrap();
                let about = format!("{name} {most} {chunk_bytes}");
                assert_eq!((next, records), (end, 16), "{about}");
                assert!(seen == expected, "{about}");
                let pieces = Pieces::new(path, reading).copied_from(PathBuf::from("given"));
                let decode = |piece: Piece<'_>| pieces.decode(piece, 1, &|_| true).map(drop);
                let stopped = pieces.each(0..end, |piece, _| decode(piece));
                assert_eq!(stopped.is_err(), expected.len() < 16, "{about}");
                if let Err(error) = stopped {
                    let error = error.to_string();
                    assert!(error.starts_with("given:"), "{error}");
                    assert!(error.contains("bytes, and an item may have "), "{error}");
                }
            }
        }
    }
}

#[test]
fn short_records_behind_one_of_the_largest_size_are_read() {
    let limit = ItemLimit::new(1000, usize::MAX, 1, 1);
    for size in 990..1010 {
        for end in ["\r", "\n", "\r\n"] {
            let rows = format!("{}{end}", "x".repeat(100)).repeat(78);
            let file = format!("text{end}{}{end}{rows}", "y".repeat(size));
            let dir = files(&[("a.csv", file.as_bytes())]);
            let options = ReadOptions { max_item: limit, on_error: OnError::Skip, ..options() };
            let input = Input::open(&paths(&dir, &["a.csv"]), options).unwrap();
            let seen = all(&input).unwrap();
            let short = seen.iter().filter(|seen| seen.2.len() == 100).count();
            assert_eq!(short, 78, "{size} {end:?}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_can_be_scanned_twice() {
    use std::{io::Write, os::fd::AsRawFd};
    for (data, format) in [(gz(LINES.as_bytes()), None), (LINES.into(), Some(Format::Jsonl))] {
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(&data).unwrap();
        drop(writer);
        let path = PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
        let input = Input::open(&[path], ReadOptions { format, ..options() }).unwrap();
        assert_eq!(all(&input).unwrap(), line_items());
        assert_eq!(all(&input).unwrap(), line_items());
    }
}

#[test]
fn chunks_can_be_decoded_on_many_threads() {
    let many: String = (0..500).map(|n| format!("{{\"text\":\"t{n}\"}}\n")).collect();
    let dir = files(&[("x.jsonl", many.as_bytes())]);
    let input = Input::open(&paths(&dir, &["x.jsonl"]), chunks_of(64)).unwrap();
    let chunks: Vec<_> = input.scan().map(Result::unwrap).collect();
    let counts = std::thread::scope(|scope| {
        let (input, chunks) = (&input, &chunks);
        let halves = [0, 1].map(|half| {
            scope.spawn(move || {
                let mine = chunks.iter().skip(half).step_by(2);
                mine.map(|chunk| input.decode(chunk, &|_| true).unwrap().items.len()).sum::<usize>()
            })
        });
        halves.map(|half| half.join().unwrap())
    });
    assert_eq!(counts.iter().sum::<usize>(), 500);
}

#[test]
fn inputs_are_shared_and_scans_travel_between_threads() {
    fn shared<T: Sync>() {}
    fn travels<T: Send>() {}
    shared::<Input>();
    travels::<nearkin_engine::item::Lane<nearkin_engine::read::Chunk>>();
    travels::<nearkin_engine::read::Chunk>();
    travels::<nearkin_engine::item::Batch<'static>>();
}

/// Everything that a reader says about a file: items, bad records, or why it stops.
fn said(name: &str, content: &str, chunk_bytes: usize) -> Result<(Vec<Seen>, Vec<String>), String> {
    let dir = files(&[(name, content.as_bytes())]);
    let here = dir.path().display().to_string();
    let plain = |error: nearkin_engine::Error| error.to_string().replace(&here, "");
    let options = ReadOptions { on_error: OnError::Skip, chunk_bytes, ..options() };
    let input = Input::open(&paths(&dir, &[name]), options).map_err(plain)?;
    let seen = all(&input).map_err(plain)?;
    let mut bad = Vec::new();
    for chunk in input.scan() {
        let batch = input.decode(&chunk.map_err(plain)?, &|_| true).map_err(plain)?;
        bad.extend(batch.bad.into_iter().map(plain));
    }
    Ok((seen, bad))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn csv_reads_the_same_however_it_is_cut(body in "[a,\"\r\n é]{0,40}", bytes in 1_usize..24) {
        let content = format!("id,text\r\n{body}");
        prop_assert_eq!(said("x.csv", &content, bytes), said("x.csv", &content, 1 << 20));
    }

    #[test]
    fn csv_reads_what_the_csv_crate_reads(body in "[a,\"\r\n é]{0,40}") {
        let content = format!("id,text\r\n{body}");
        if let Ok((seen, _)) = said("x.csv", &content, 5) {
            let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(content.as_bytes());
            let rows = reader.records().map(Result::unwrap).enumerate();
            let rows = rows.filter(|(_, row)| row.len() == 2);
            let expected: Vec<Seen> =
                rows.map(|(at, row)| (at as u64, text_id(&row[0]), row[1].to_owned())).collect();
            prop_assert_eq!(seen, expected);
        }
    }

    #[test]
    fn lines_read_the_same_however_they_are_cut(body in "[a\r\n é]{0,40}", bytes in 1_usize..24) {
        prop_assert_eq!(said("x.txt", &body, bytes), said("x.txt", &body, 1 << 20));
    }
}

/// Runs this very test again with `data` on its standard input.
fn on_stdin(format: &str, data: &[u8]) {
    use std::{io::Write, process::Command, process::Stdio};
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "read_inputs::standard_input_can_be_scanned_twice"])
        .env("NEARKIN_TEST_STDIN", format)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(data).unwrap();
    assert!(child.wait().unwrap().success(), "{format}");
}

#[test]
fn standard_input_can_be_scanned_twice() {
    if let Ok(format) = std::env::var("NEARKIN_TEST_STDIN") {
        let options = ReadOptions { format: format.parse().ok(), chunk_bytes: 16, ..options() };
        let input = Input::open(&[PathBuf::from("-")], options).unwrap();
        for _ in 0..2 {
            assert_eq!(texts(all(&input).unwrap()), ["a", "b"]);
        }
        return;
    }
    let lines = b"{\"text\":\"a\"}\n{\"text\":\"b\"}\n";
    let column: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    on_stdin("", lines);
    on_stdin("", &gz(lines));
    on_stdin("jsonl", &zst(lines));
    on_stdin("csv", b"text\na\nb\n");
    on_stdin("parquet", &parquet(vec![("text", column)], 1));
    let twice =
        Input::open(&[PathBuf::from("-"), PathBuf::from("-")], options()).unwrap_err().to_string();
    assert_eq!(twice, "<stdin>: is given more than once; give `-` once");
}

#[test]
fn a_cell_lost_its_byte_order_mark_where_a_chunk_began() {
    let table = "\u{feff}text,id\na,1\n\u{feff}b,2\n\r\n\u{feff}\"c\",3\n\u{feff},4\n";
    let dir = files(&[("x.csv", table.as_bytes())]);
    for chunk_bytes in [1, 8, 1 << 20] {
        let seen = read_with(&dir, &["x.csv"], chunks_of(chunk_bytes)).unwrap();
        // A quote that is not the first character of a field is a character like others.
        assert_eq!(texts(seen), ["a", "\u{feff}b", "\u{feff}\"c\"", "\u{feff}"], "{chunk_bytes}");
    }
}

#[test]
fn a_page_was_decompressed_for_each_of_the_chunks_that_shared_it() {
    const PAGE: usize = 1000;
    let texts: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..10 * PAGE).map(|row| format!("{row:0100}"))));
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_data_page_row_count_limit(PAGE)
        .set_write_batch_size(PAGE);
    let batch = arrow_array::RecordBatch::try_from_iter([("text", texts)]).unwrap();
    let mut file = Vec::new();
    let properties = Some(properties.build());
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut file, batch.schema(), properties).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let dir = files(&[("x.parquet", &file)]);
    // Chunks of eight times as many bytes: six tenths of a page, two and a half, more than five.
    for (chunk_bytes, expected) in [(8000, 500), (32_000, 2000), (70_000, 5000)] {
        let options = ReadOptions { chunk_bytes, ..options() };
        let input = Input::open(&paths(&dir, &["x.parquet"]), options).unwrap();
        let mut rows = Vec::new();
        for chunk in input.scan() {
            let batch = input.decode(&chunk.unwrap(), &|_| true).unwrap();
            assert_eq!(batch.text(0), format!("{:0100}", rows.iter().sum::<u32>()));
            rows.push(batch.records);
        }
        assert_eq!(rows.iter().sum::<u32>(), 10 * PAGE as u32);
        assert!(rows.iter().all(|&rows| rows == expected), "{chunk_bytes}: {rows:?}");
    }
}

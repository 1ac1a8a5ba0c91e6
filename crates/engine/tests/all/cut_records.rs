//! Stretches of texts are left out of records, and all their other bytes stay as they came.
#![cfg(feature = "files")]
#![allow(clippy::single_range_in_vec_init, reason = "a record may have one cut")]

use std::collections::HashMap;
use std::fs::{self, File};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int32Array, LargeStringArray, RecordBatch, StringArray,
    StringViewArray, cast::AsArray,
};
use nearkin_engine::Result;
use nearkin_engine::item::ChunkNumber;
use nearkin_engine::read::{Input, ReadOptions, RecordCut};
use nearkin_engine::write::{self, CompleteOutput, Formulas, KeptRecords, Resources, TextCuts};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use tempfile::TempDir;

use crate::common::files::{files, gz, options, parquet, paths};

/// Cuts by the position of a record, of an input of one chunk.
struct Cuts(HashMap<u32, Vec<Range<usize>>>);

impl TextCuts for Cuts {
    fn of_chunk(&self, _: ChunkNumber) -> Result<Vec<RecordCut>> {
        let mut cuts: Vec<RecordCut> = (self.0.iter())
            .map(|(&ordinal, ranges)| RecordCut { ordinal, ranges: ranges.clone() })
            .collect();
        cuts.sort_by_key(|cut| cut.ordinal);
        Ok(cuts)
    }
}

/// Copies all records but the second with these cuts.
fn cut_with(
    dir: &TempDir,
    (from, to): (&str, &str),
    options: ReadOptions,
    cuts: &[(u32, &[Range<usize>])],
) -> std::path::PathBuf {
    let target = dir.path().join(to);
    let input = Input::open(&paths(dir, &[from]), options).unwrap();
    let cuts = Cuts(cuts.iter().map(|(at, ranges)| (*at, ranges.to_vec())).collect());
    let kept = KeptRecords { kept: &|position| position != 1, cuts: Some(&cuts) };
    let resources = Resources { threads: 2, memory: 1 << 30 };
    let written =
        write::records(&input, Some(&target), kept, Formulas::Kept, resources, &mut |_| Ok(()));
    written.and_then(CompleteOutput::appear).unwrap();
    target
}

fn cut(dir: &TempDir, from: &str, to: &str, cuts: &[(u32, &[Range<usize>])]) -> String {
    fs::read_to_string(cut_with(dir, (from, to), options(), cuts)).unwrap()
}

#[test]
fn escapes_around_a_cut_stay_as_they_came() {
    let lines = concat!(
        r#"{ "n":1.50 ,  "text" : "a\u0041\n\ud83d\ude00 \/é\"z", "text2":"a" }"#,
        "\r\n{\"text\":\"dropped\"}\n\n",
        r#"{"text":"first","x":{"text":"inner"},"text":"last wins","y":[1, {"b":null}]}"#,
    );
    let dir = files(&[("x.jsonl", lines.as_bytes()), ("x.jsonl.gz", &gz(lines.as_bytes()))]);
    // The text is: a A line-feed 😀 (4 bytes) blank / é (2 bytes) " z.
    let cuts: &[(u32, &[Range<usize>])] = &[(0, &[1..2, 3..7, 9..11]), (2, &[0..5])];
    let expected = concat!(
        r#"{ "n":1.50 ,  "text" : "a\n \/\"z", "text2":"a" }"#,
        "\r\n",
        r#"{"text":"first","x":{"text":"inner"},"text":"wins","y":[1, {"b":null}]}"#,
        "\n",
    );
    assert_eq!(cut(&dir, "x.jsonl", "y.jsonl", cuts), expected);
    assert_eq!(cut(&dir, "x.jsonl.gz", "y.jsonl", cuts), expected);
}

#[test]
fn a_field_with_dots_is_found_as_it_is_read() {
    let lines = concat!(
        r#"{"meta":{"body":"one two","n":1},"body":"one two"}"#,
        "\n",
        r#"{"meta":{"body":"x"}}"#,
        "\n",
        r#"{"meta":{"body":"one two"},"meta.body":"three four"}"#,
        "\n",
        r#"{"meta":{"body":"no"},"meta":{"body":"one two"}}"#,
    );
    let dir = files(&[("x.jsonl", lines.as_bytes())]);
    let options = || ReadOptions { text: "meta.body".into(), ..options() };
    let target = cut_with(
        &dir,
        ("x.jsonl", "y.jsonl"),
        options(),
        &[(0, &[0..4]), (2, &[5..10]), (3, &[3..7])],
    );
    let expected = concat!(
        r#"{"meta":{"body":"two","n":1},"body":"one two"}"#,
        "\n",
        r#"{"meta":{"body":"one two"},"meta.body":"three"}"#,
        "\n",
        r#"{"meta":{"body":"no"},"meta":{"body":"one"}}"#,
        "\n",
    );
    assert_eq!(fs::read_to_string(target).unwrap(), expected);
}

#[test]
fn a_csv_field_keeps_its_quotes() {
    let table = "id,text,z\r\n1,\"a \"\"b\"\", c\r\nd\",\"q\"\r\n2,x,y\r\n\r\n3,plain 5\" and more,\"z\"\r\n4,see \"that\",\r\n5,\"all\"";
    let dir = files(&[("x.csv", table.as_bytes())]);
    // Of the first: a "b", c CR LF d. A field that would begin with a quote gets quotes.
    let cuts: &[(u32, &[Range<usize>])] = &[(0, &[2..5, 8..10]), (2, &[0..6]), (3, &[0..4])];
    let options = || ReadOptions { on_error: nearkin_engine::read::OnError::Skip, ..options() };
    let input = dir.path().join("x.csv");
    fs::write(&input, table.replace("\r\n5,\"all\"", "\r\n5,\"all\",")).unwrap();
    let target = cut_with(&dir, ("x.csv", "y.csv"), options(), cuts);
    let expected = "id,text,z\r\n1,\"a , cd\",\"q\"\r\n3,\"5\"\" and more\",\"z\"\r\n4,\"\"\"that\"\"\",\r\n5,\"all\",\n";
    assert_eq!(fs::read_to_string(target).unwrap(), expected);
}

#[test]
fn a_row_of_one_field_that_is_empty_stays_a_row() {
    let dir = files(&[("x.csv", b"text\none\ntwo\nthree\n")]);
    assert_eq!(cut(&dir, "x.csv", "y.csv", &[(0, &[0..3])]), "text\n\"\"\nthree\n");
}

#[test]
fn lines_of_text_keep_their_ends() {
    let dir = files(&[("x.txt", "one two\r\n\nthrée four\nfive".as_bytes())]);
    let cuts: &[(u32, &[Range<usize>])] = &[(0, &[0..4]), (2, &[2..7]), (3, &[0..4])];
    assert_eq!(cut(&dir, "x.txt", "y.txt", cuts), "two\r\nthfour\n\n");
    assert_eq!(
        cut(&dir, "x.txt", "y.jsonl", cuts),
        "{\"text\":\"two\"}\n{\"text\":\"thfour\"}\n{\"text\":\"\"}\n"
    );
}

#[test]
fn every_format_becomes_every_other() {
    let dir = files(&[
        ("x.csv", b"id,text\n1,one two\n2,x\n3,\"three, four\"\n"),
        ("x.jsonl", b"{\"id\":1,\"text\":\"one two\"}\n{\"id\":2,\"text\":\"x\"}\n{\"id\":3,\"text\":\"three, four\"}\n"),
    ]);
    let cuts: &[(u32, &[Range<usize>])] = &[(0, &[0..4]), (2, &[5..11])];
    for from in ["x.csv", "x.jsonl"] {
        // What was quoted stays quoted, where the format is the same.
        let csv = cut(&dir, from, "y.csv", cuts).replace('"', "");
        assert_eq!(csv, "id,text\n1,two\n3,three\n");
        assert_eq!(cut(&dir, from, "y.tsv", cuts), "id\ttext\n1\ttwo\n3\tthree\n");
        let json = cut(&dir, from, "y.jsonl", cuts).replace('"', "");
        assert_eq!(json, "{id:1,text:two}\n{id:3,text:three}\n");
        let target = cut_with(&dir, (from, "y.parquet"), options(), cuts);
        let texts = texts(&rows(&target));
        assert_eq!(texts, [Some("two".into()), Some("three".into())]);
    }
}

fn rows(path: &std::path::Path) -> RecordBatch {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let schema = reader.schema().clone();
    let batches: std::result::Result<Vec<_>, _> = reader.build().unwrap().collect();
    arrow_select::concat::concat_batches(&schema, &batches.unwrap()).unwrap()
}

fn texts(rows: &RecordBatch) -> Vec<Option<String>> {
    let column = rows.column_by_name("text").unwrap();
    let text = |row: usize| {
        if let Some(dictionary) = column.as_any_dictionary_opt() {
            let key = dictionary.keys().as_primitive::<Int8Type>().value(row) as usize;
            return dictionary.values().as_string::<i32>().value(key).to_owned();
        }
        match column.data_type() {
            arrow_schema::DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
            arrow_schema::DataType::LargeUtf8 => column.as_string::<i64>().value(row).to_owned(),
            _ => column.as_string_view().value(row).to_owned(),
        }
    };
    (0..rows.num_rows()).map(|row| column.is_valid(row).then(|| text(row))).collect()
}

#[test]
fn columns_keep_their_types() {
    let values = vec!["one two", "dropped", "thrée four", "same", "same"];
    let dictionary: DictionaryArray<Int8Type> = values.iter().copied().collect();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from(values.clone())),
        Arc::new(LargeStringArray::from(values.clone())),
        Arc::new(StringViewArray::from(values.clone())),
        Arc::new(dictionary),
    ];
    for column in columns {
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3, 4, 5]));
        let columns = vec![("text", column), ("n", numbers)];
        let table = RecordBatch::try_from_iter(columns.clone()).unwrap();
        let dir = files(&[("x.parquet", &parquet(columns, 8))]);
        let cuts: &[(u32, &[Range<usize>])] = &[(0, &[0..4]), (2, &[2..7]), (3, &[0..4])];
        let target = cut_with(&dir, ("x.parquet", "y.parquet"), options(), cuts);
        let written = rows(&target);
        assert_eq!(written.schema().fields(), table.schema().fields());
        let expected = ["two", "thfour", "", "same"].map(|text| Some(text.to_owned()));
        assert_eq!(texts(&written), expected);
        assert_eq!(
            written.column(1).as_primitive::<arrow_array::types::Int32Type>().values(),
            &[1, 3, 4, 5]
        );
    }
}

#[test]
fn a_dictionary_needs_no_more_numbers_than_there_are_texts() {
    let category = |row: usize| format!("number {}", row % 100);
    let values: Vec<String> = (0..400).map(category).collect();
    let dictionary: DictionaryArray<Int8Type> = values.iter().map(String::as_str).collect();
    let dir = files(&[("x.parquet", &parquet(vec![("text", Arc::new(dictionary))], 400))]);
    // Of record 7, "7" is left.
    let cuts: &[(u32, &[Range<usize>])] = &[(7, &[0..7])];
    let written = texts(&rows(&cut_with(&dir, ("x.parquet", "y.parquet"), options(), cuts)));
    let left = |row| if row == 7 { "7".to_owned() } else { category(row) };
    // All records but the second are copied.
    let expected: Vec<_> = (0..400).filter(|row| *row != 1).map(|row| Some(left(row))).collect();
    assert_eq!(written, expected);
}

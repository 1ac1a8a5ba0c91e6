//! What bad input gets: one line that says where it is, what is wrong and what to do.
#![cfg(feature = "files")]

use crate::common::files::{
    all, failure, files, gz, options, parquet, parquet_with, paths, read_with, zst,
};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray, UInt64Array};
use nearkin_engine::read::{Format, Input, OnError, ReadOptions, load_answers, load_records};
use parquet::{
    basic::Compression,
    file::properties::{EnabledStatistics, WriterProperties},
};
use std::{fs, path::PathBuf, sync::Arc};

/// The error for a file with this content.
fn of(name: &str, content: impl AsRef<[u8]>) -> String {
    failure(&files(&[(name, content.as_ref())]), &[name], options())
}

fn with_id(name: &str, content: impl AsRef<[u8]>) -> String {
    let options = ReadOptions { id: Some("key".into()), ..options() };
    failure(&files(&[(name, content.as_ref())]), &[name], options)
}

#[test]
fn broken_json() {
    assert_eq!(
        of("x.jsonl", "{\"text\":\"a\"}\n\n{\"text\":\"b\" 1}\n"),
        "x.jsonl:3: not valid JSON: expected `,` or `}` at column 13; every line must be one JSON object: fix it, or set \
         `on_error` to skip"
    );
    for line in [
        "{\"text\":\"a\"",
        "{\"text\":\"a\"} {}",
        "{\"text\":\"a\\x\"}",
        "{\"text\":\"\\ud800\"}",
        "{\"text\":\"a\",\"n\":01}",
        "{\"text\":\"a\",\"n\":\"\t\"}",
        "nonsense",
        "{\"text\":\"a\",}",
    ] {
        let error = of("x.jsonl", line);
        assert!(error.starts_with("x.jsonl:1: not valid JSON: "), "{line} gives {error}");
        assert!(
            error.ends_with(
                "; every line must be one JSON object: fix it, or set `on_error` to skip"
            ),
            "{line} gives {error}"
        );
    }
}

#[test]
fn the_first_of_several_bad_lines_is_named_whatever_is_wrong_with_it() {
    let not_utf8 = |line: &[u8]| [line, b"\n{\"text\":1}\nnonsense\n"].concat();
    for (line, byte) in [
        (&b"{\"text\":\"a\xff\"}"[..], 11),
        (b"{\"text\":\"a\xc3\"}", 11), // a character that goes on in no other text
        (b"{\"n\":\"\xff\",\"text\":\"a\"}", 7),
        (b"{\"\xff\":1,\"text\":\"a\"}", 3),
        (b"{\"n\":[\"\xff\"],\"text\":\"a\"}", 8),
    ] {
        let expected = format!(
            "x.jsonl:1: not valid UTF-8 at byte {byte}; convert the file to UTF-8, name its encoding with `encoding`, or set `on_error` to skip"
        );
        assert_eq!(of("x.jsonl", not_utf8(line)), expected);
    }
}

#[test]
fn half_a_character_is_not_made_whole_by_the_next_text() {
    let lines = b"{\"text\":\"a\xc3\"}\n{\"text\":\"\xa9b\"}\n{\"text\":\"c\"}\n";
    let dir = files(&[("x.jsonl", &lines[..])]);
    let options = ReadOptions { on_error: OnError::Skip, ..options() };
    let input = Input::open(&paths(&dir, &["x.jsonl"]), options).unwrap();
    let chunk = input.scan().next().unwrap().unwrap();
    let batch = input.decode(&chunk, &|_| true).unwrap();
    assert_eq!((batch.items.len(), batch.bad.len(), batch.records), (1, 2, 3));
    assert_eq!(batch.text(0), "c");
}

#[test]
fn not_an_object() {
    assert_eq!(
        of("x.jsonl", "[1]"),
        "x.jsonl:1: a list where a JSON object is needed; write {\"text\": …}, set `format` to json, or set `on_error` to \
         skip"
    );
    for (line, kind) in [("3", "a whole number"), ("\"x\"", "a string"), ("null", "null")] {
        let expected = format!(
            "x.jsonl:1: {kind} where a JSON object is needed; write {{\"text\": …}}, or set \
             `on_error` to skip"
        );
        assert_eq!(of("x.jsonl", line), expected);
    }
}

#[test]
fn missing_text() {
    assert_eq!(
        of("x.jsonl", "{\"id\":1,\"body\":\"x\"}"),
        "x.jsonl:1: no field `text`; it has `id`, `body`: name the text field with `text`"
    );
    assert_eq!(
        of("x.jsonl", "{}"),
        "x.jsonl:1: no field `text`; it has nothing: name the text field with `text`"
    );
    let dotted = ReadOptions { text: "a.b".into(), ..options() };
    let dir = files(&[("x.jsonl", b"{\"a\":{\"c\":1}}".as_slice())]);
    assert_eq!(
        failure(&dir, &["x.jsonl"], dotted),
        "x.jsonl:1: no field `a.b`; it has `a`: name the text field with `text`"
    );
}

#[test]
fn text_that_is_not_a_string() {
    for (value, kind) in [
        ("1", "a whole number"),
        ("1.5", "a number"),
        ("null", "null"),
        ("true", "a boolean"),
        ("[]", "a list"),
        ("{}", "an object"),
    ] {
        assert_eq!(
            of("x.jsonl", format!("{{\"text\":{value}}}")),
            format!(
                "x.jsonl:1: field `text` is {kind}, not a string; name the text field with `text`, \
                     or set `on_error` to skip"
            )
        );
    }
}

#[test]
fn invalid_utf8() {
    let expected = |place: &str, byte| {
        format!(
            "{place}: not valid UTF-8 at byte {byte}; convert the file to UTF-8, name its encoding with `encoding`, or set `on_error` to skip"
        )
    };
    assert_eq!(of("x.jsonl", b"\n{\"text\":\"\xff\"}"), expected("x.jsonl:2", 10));
    assert_eq!(of("x.jsonl", b"{\"text\":\"\",\"n\":\"\xff\"}"), expected("x.jsonl:1", 17));
    assert_eq!(of("x.txt", b"a\nb\nc\xff"), expected("x.txt:3", 2));
    assert_eq!(of("x.csv", b"text\n\"a\nb\"\n\xff\n"), expected("x.csv:4", 1));
}

#[test]
fn ids_that_are_not_ids() {
    for (value, kind) in [
        ("1.5", "a number"),
        ("true", "a boolean"),
        ("null", "null"),
        ("[1]", "a list"),
        ("{}", "an object"),
    ] {
        assert_eq!(
            of("x.jsonl", format!("{{\"text\":\"\",\"id\":{value}}}")),
            format!("x.jsonl:1: id `id` is {kind}; an id must be a string or a whole number")
        );
    }
    assert_eq!(
        of("x.jsonl", "{\"text\":\"\",\"id\":9223372036854775808}"),
        "x.jsonl:1: id `id` is 9223372036854775808; whole-number ids go up to 9223372036854775807: \
         write it as a string"
    );
}

#[test]
fn ids_in_some_records_only() {
    assert_eq!(
        of("x.jsonl", "{\"text\":\"\",\"id\":1}\n{\"text\":\"\"}"),
        "x.jsonl:2: no field `id`; it has `text`: every record needs its id; name it with `id`"
    );
    assert_eq!(
        of("x.jsonl", "{\"text\":\"\"}\n{\"text\":\"\",\"id\":1}"),
        "x.jsonl:2: has a field `id`, but the first record of the collection has none; name the id \
         field with `id`, or remove it"
    );
    assert_eq!(
        with_id("x.jsonl", "{\"text\":\"\",\"id\":1}"),
        "x.jsonl:1: no field `key`; it has `text`, `id`: every record needs its id; name it with `id`"
    );
    assert_eq!(
        with_id("x.csv", "text,id\na,b\n"),
        "x.csv: no column `key`; it has `text`, `id`: name the id column with `id`"
    );
}

#[test]
fn ids_in_some_files_only() {
    let dir = files(&[
        ("a.jsonl", b"{\"text\":\"\",\"id\":1}".as_slice()),
        ("b.txt", b"x"),
        ("f/a", b"x"),
    ]);
    assert_eq!(
        failure(&dir, &["a.jsonl", "b.txt"], options()),
        "b.txt: lines of text have no ids, and this collection has; leave out the one or the other"
    );
    assert_eq!(
        failure(&dir, &["b.txt", "f"], options()),
        "f: its documents have their paths as ids, and what comes before has no ids; leave out the \
         one or the other"
    );
    assert!(
        failure(&dir, &["b.txt", "a.jsonl"], options()).starts_with("a.jsonl:1: has a field `id`")
    );
}

#[test]
fn values_that_have_no_order() {
    let with_value = |name: &str, content: &[u8]| {
        let options = ReadOptions { values: vec!["n".into()], ..options() };
        failure(&files(&[(name, content)]), &[name], options)
    };
    assert_eq!(
        with_value("x.jsonl", b"{\"text\":\"\",\"n\":[]}"),
        "x.jsonl:1: field `n` is a list; it must be a number or a string"
    );
    assert_eq!(
        with_value("x.csv", b"text,n\na,1\nb,nan\n"),
        "x.csv:3: field `n` is NaN, which has no order; write a number or leave it empty"
    );
    assert!(with_value("x.txt", b"a").ends_with("keep first or longest"));
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    let nan: ArrayRef = Arc::new(Float64Array::from(vec![f64::NAN]));
    let error = with_value("x.parquet", &parquet(vec![("text", text.clone()), ("n", nan)], 9));
    assert!(error.starts_with("x.parquet:1: field `n` is NaN"), "{error}");
    let flag: ArrayRef = Arc::new(BooleanArray::from(vec![true]));
    let error = with_value("x.parquet", &parquet(vec![("text", text), ("n", flag)], 9));
    assert_eq!(
        error,
        "x.parquet: column `n` is Boolean, not numbers, times or text; name another column"
    );
}

#[test]
fn csv_of_the_wrong_shape() {
    assert_eq!(
        of("x.csv", "text,n\r\n\"a\r\nb\",1\r\n\r\nc\r\n"),
        "x.csv:5: 1 fields where the header has 2; fix the line, put quotes around a field with a \
         delimiter or a line end in it, name the delimiter with `delimiter`, or set `on_error` to skip"
    );
    assert_eq!(
        of("x.csv", "body,n\na,1\n"),
        "x.csv: no column `text`; it has `body`, `n`: name the text column with `text`"
    );
    assert_eq!(
        of("x.csv", "text,n\na,1\n\"b,2\nc,3\n"),
        "x.csv:3: a quote is opened here and never closed, so all that follows is one record; close it, or double it where it stands \
         for itself"
    );
}

#[test]
fn parquet_of_the_wrong_shape() {
    let text = |texts: Vec<Option<&str>>| Arc::new(StringArray::from(texts)) as ArrayRef;
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    assert_eq!(
        of("x.parquet", parquet(vec![("id", numbers.clone()), ("body", numbers.clone())], 9)),
        "x.parquet: no column `text`; it has `id`, `body`: name the text column with `text`"
    );
    assert_eq!(
        of("x.parquet", parquet(vec![("text", numbers.clone())], 9)),
        "x.parquet: column `text` is Int64, not text; name the text column with `text`"
    );
    assert_eq!(
        of("x.parquet", parquet(vec![("text", text(vec![Some("a"), Some("b"), None]))], 2)),
        "x.parquet:3: column `text` is null; fill it, or set `on_error` to skip"
    );
    let ids: ArrayRef = Arc::new(UInt64Array::from(vec![Some(1), None]));
    let error = of("x.parquet", parquet(vec![("text", text(vec![Some("a"); 2])), ("id", ids)], 9));
    assert_eq!(error, "x.parquet:2: id `id` is null; an id must be a string or a whole number");
    let ids: ArrayRef = Arc::new(UInt64Array::from(vec![1, u64::MAX]));
    let error = of("x.parquet", parquet(vec![("text", text(vec![Some("a"); 2])), ("id", ids)], 9));
    assert!(
        error.starts_with("x.parquet:2: id `id` is 18446744073709551615; whole-number"),
        "{error}"
    );
}

#[test]
fn parquet_that_is_broken() {
    let text: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..500).map(|n| format!("text {n}"))));
    let good = parquet(vec![("text", text)], 200);
    for (what, bytes) in [
        ("empty", &b""[..]),
        ("not parquet", b"{}\n"),
        ("cut", &good[..good.len() - 20]),
        ("tail only", &good[good.len() / 2..]),
    ] {
        let error = of("x.parquet", bytes);
        assert!(
            error.starts_with("x.parquet: not a Parquet file that can be read: "),
            "{what}: {error}"
        );
        assert!(error.ends_with("; get the file again"), "{what}: {error}");
    }
    let packed = of("x.parquet.gz", gz(&good));
    assert_eq!(
        packed,
        "x.parquet.gz: a Parquet file packed with gzip cannot be read in parts; unpack it first"
    );
}

#[test]
fn packed_data_that_is_broken_ends_the_run_even_when_bad_records_are_skipped() {
    let lines: String = (0..2000).map(|n| format!("{{\"text\":\"text number {n}\"}}\n")).collect();
    let (gzip, zstd) = (gz(lines.as_bytes()), zst(lines.as_bytes()));
    let mut flipped = gzip.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    let cases: [(&str, &[u8]); 6] = [
        ("cut.jsonl.gz", &gzip[..gzip.len() - 1]),
        ("half.jsonl.gz", &gzip[..gzip.len() / 2]),
        ("flipped.jsonl.gz", &flipped),
        ("none.jsonl.gz", b""),
        ("cut.jsonl.zst", &zstd[..zstd.len() - 1]),
        ("junk.jsonl.zst", &[&zstd[..], b"junk"].concat()),
    ];
    for (name, bytes) in cases {
        let options = ReadOptions { on_error: OnError::Skip, chunk_bytes: 100, ..options() };
        let error = failure(&files(&[(name, bytes)]), &[name], options);
        let kind = if name.ends_with("gz") { "gzip" } else { "zstd" };
        let length = bytes.len();
        let what = match ["cut", "half", "none"].iter().any(|it| name.starts_with(it)) {
            true => format!(
                "truncated: the file ends after {length} bytes, in the middle of its {kind} data"
            ),
            false => format!("corrupt {kind} data within the first {length} of {length} bytes"),
        };
        assert_eq!(error, format!("{name}: {what}; get the file again"));
    }
}

#[test]
fn a_truncated_file_told_how_much_it_held_unpacked_and_not_where_it_ends() {
    // Much of it comes out before the end is met.
    let packed = gz("{\"text\":\"the same again\"}\n".repeat(100_000).as_bytes());
    let cut = packed.len() - 20;
    let dir = files(&[("cut.jsonl.gz", &packed[..cut])]);
    assert_eq!(
        failure(&dir, &["cut.jsonl.gz"], options()),
        format!(
            "cut.jsonl.gz: truncated: the file ends after {cut} bytes, in the middle of its gzip data; get the file again"
        )
    );
}

#[test]
fn a_header_that_named_a_column_twice_made_json_with_a_key_twice() {
    let dir = files(&[("x.csv", "\r\nid,text,x,x\n1,a b,2,3\n".as_bytes())]);
    assert_eq!(
        failure(&dir, &["x.csv"], options()),
        "x.csv:2: the header names the column \"x\" twice; give each column a name of its own"
    );
    let numbered = ReadOptions { header: false, text: "2".to_owned(), ..options() };
    assert_eq!(read_with(&dir, &["x.csv"], numbered).unwrap().len(), 2);
}

#[test]
fn files_that_cannot_be_read() {
    let dir = files(&[("x.dat", b"".as_slice()), ("f/x.jsonl", b"")]);
    assert_eq!(failure(&dir, &["no.jsonl"], options()), "no.jsonl: does not exist; check the path");
    assert_eq!(
        failure(&dir, &["x.dat"], options()),
        "x.dat: its name does not tell the format; set `format` to jsonl, parquet, csv, tsv or txt"
    );
    let told = |format| ReadOptions { format: Some(format), ..options() };
    assert_eq!(
        failure(&dir, &["f"], told(Format::Csv)),
        "f: is a folder without a .csv file; name the files, or leave out `format`"
    );
}

#[test]
fn files_that_change_between_scans() {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    let dir = files(&[
        ("x.jsonl", b"{\"text\":\"a\"}\n".as_slice()),
        ("x.jsonl.gz", &gz(b"{\"text\":\"a\"}\n")),
        ("x.csv", b"text\na\n"),
        ("x.parquet", &parquet(vec![("text", text)], 9)),
        ("f/x", b"abc"),
    ]);
    for (name, file) in [
        ("x.jsonl", "x.jsonl"),
        ("x.jsonl.gz", "x.jsonl.gz"),
        ("x.csv", "x.csv"),
        ("x.parquet", "x.parquet"),
        ("f", "f/x"),
    ] {
        let input = Input::open(&paths(&dir, &[name]), options()).unwrap();
        all(&input).unwrap();
        let path = dir.path().join(file);
        let longer = [fs::read(&path).unwrap(), b" ".to_vec()].concat();
        fs::write(&path, longer).unwrap();
        let error = all(&input).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("{}: changed while it was being read; run again", path.display())
        );
    }
}

/// Only the checksum of the page can tell: one letter became another one.
#[test]
fn a_changed_letter_in_a_parquet_page_is_told_by_its_checksum() {
    let good = include_bytes!("../fixtures/checksums.parquet");
    assert!(read_with(&files(&[("x.parquet", good)]), &["x.parquet"], options()).is_ok());
    let word = b"there";
    let at = good.windows(word.len()).position(|window| window == word).unwrap();
    let mut bad = good.to_vec();
    bad[at] = b'w';
    let error = of("x.parquet", bad);
    assert!(error.contains("CRC") && error.ends_with("; get the file again"), "{error}");
}

/// A Parquet file of two texts whose row group, and whose column, claim other numbers of rows.
fn claiming(rows: i64, values: i64) -> Vec<u8> {
    use parquet::file::metadata::{
        ParquetMetaDataBuilder, ParquetMetaDataReader, ParquetMetaDataWriter,
    };
    let text: ArrayRef = Arc::new(StringArray::from(vec!["abc", "defg"]));
    let good = parquet(vec![("text", text)], 2);
    let metadata =
        ParquetMetaDataReader::new().parse_and_finish(&bytes::Bytes::from(good.clone())).unwrap();
    let group = metadata.row_group(0).clone();
    let column = group.column(0).clone().into_builder().set_num_values(values).build().unwrap();
    let group = group.into_builder().set_num_rows(rows).set_column_metadata(vec![column]);
    let metadata = ParquetMetaDataBuilder::new(metadata.file_metadata().clone())
        .add_row_group(group.build().unwrap())
        .build();
    let footer = u32::from_le_bytes(good[good.len() - 8..good.len() - 4].try_into().unwrap());
    let mut bad = good[..good.len() - 8 - footer as usize].to_vec();
    ParquetMetaDataWriter::new(&mut bad, &metadata).finish().unwrap();
    bad
}

#[test]
fn a_row_count_that_parquet_columns_do_not_have_took_all_memory() {
    let dir = files(&[("x.parquet", &claiming(2, 2))]);
    assert_eq!(read_with(&dir, &["x.parquet"], options()).unwrap().len(), 2);
    for (rows, values) in [(1 << 40, 2), (1, 2), (-1, 2), (2, 1 << 40), (i64::MAX, i64::MAX)] {
        let error = of("x.parquet", claiming(rows, values));
        let what = "x.parquet: not a Parquet file that can be read: its parts overlap, ";
        assert!(error.starts_with(what), "{rows} {values}: {error}");
    }
}

#[test]
fn rows_that_a_parquet_file_claims_and_does_not_hold_are_an_error() {
    for rows in [3, 1_000_000] {
        let error = of("x.parquet", claiming(rows, rows));
        assert!(error.contains("rows") && error.ends_with("; get the file again"), "{error}");
    }
}

/// Lists in lists of 10^9 strings each, in a field of a page header that nobody knows.
#[test]
fn a_damaged_page_header_was_read_for_hours() {
    let error = of("x.parquet", include_bytes!("../fixtures/endless.parquet"));
    assert!(error.ends_with("; get the file again"), "{error}");
}

/// A field of a type that nobody knows with 2^31 - 1 booleans, by Thrift's compact protocol: field 15 more than the last, of
/// this type (9 a list, 10 a set, 11 a map); then the number, and the type of elements (2).
fn endless(kind: u8) -> Vec<u8> {
    let count = [0xff, 0xff, 0xff, 0xff, 0x07];
    match kind {
        11 => [&[0xfb], &count[..], &[0x22]].concat(),
        _ => [&[0xf0 | kind, 0xf2], &count[..]].concat(),
    }
}

/// The decoder counts to 2^31 without a byte: for a list in one header 25 s.
#[test]
fn booleans_without_bytes_in_a_parquet_header_took_half_a_minute() {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a longer text", "another one"]));
    let good = parquet(vec![("text", text)], 2);
    let end = good.len() - 8;
    let footer = u32::from_le_bytes(good[end..end + 4].try_into().unwrap());
    let claim = "a header has a list of more elements than there can be; get the file again";
    for kind in [9, 10, 11] {
        let endless = endless(kind);
        let mut page = good.clone();
        page[4..4 + endless.len()].copy_from_slice(&endless);
        let mut metadata = good.clone();
        let length = footer + endless.len() as u32;
        metadata.splice(end..end + 4, length.to_le_bytes());
        let start = end - footer as usize;
        metadata.splice(start..start, endless);
        for bad in [page, metadata] {
            let error = of("x.parquet", bad);
            assert!(error.ends_with(claim), "{kind}: {error}");
        }
    }
}

/// A page header may hold whole texts as its smallest and largest: more than is read at once.
#[test]
fn a_parquet_page_header_of_many_bytes_is_read() {
    let texts = ["x".repeat(20_000), "y".repeat(30_000)];
    let column: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
    let properties = WriterProperties::builder()
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_statistics_truncate_length(None)
        .set_write_page_header_statistics(true)
        .set_compression(Compression::SNAPPY);
    let bytes = parquet_with(vec![("text", column)], properties.build());
    // The texts of the page are packed. In its header and in the metadata they stand as they are.
    assert!(bytes.len() > 100_000, "{}", bytes.len());
    let read = read_with(&files(&[("x.parquet", &bytes)]), &["x.parquet"], options()).unwrap();
    assert!(read.iter().map(|item| &item.2).eq(&texts));
}

#[test]
fn an_id_that_nobody_asks_for_may_be_any_json() {
    let lines = concat!(
        r#"{"text":"a","id":1e999}"#,
        "\n",
        r#"{"text":"b","id":"\ude00"}"#,
        "\n",
        r#"{"text":"c","id":{"a":[null]}}"#,
        "\n"
    );
    let dir = files(&[("x.jsonl", lines.as_bytes())]);
    let positions = ReadOptions { positions: true, ..options() };
    assert_eq!(read_with(&dir, &["x.jsonl"], positions).unwrap().len(), 3);
    assert!(of("x.jsonl", lines).contains("number out of range"));
}

#[test]
fn a_file_name_with_a_line_end_leaves_the_message_on_one_line() {
    let error =
        Input::open(&[PathBuf::from("a\nb\r.jsonl")], options()).map(drop).unwrap_err().to_string();
    assert!(error.starts_with("a\\nb\\r.jsonl: does not exist"), "{error}");
}

/// No input may bring the program down: flips every byte of small files of each kind.
#[test]
fn flipped_bytes_never_panic() {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["abc", "defg", "漢字"]));
    let cases: [(&str, Vec<u8>); 5] = [
        ("x.jsonl", b"{\"id\":1,\"text\":\"a\\u00e9\"}\n{\"id\":2,\"text\":\"b\"}\n".to_vec()),
        ("x.csv", b"id,text\r\n1,\"a\"\"b\"\r\n2,c\r\n".to_vec()),
        ("x.jsonl.gz", gz(b"{\"text\":\"a\"}\n")),
        ("x.jsonl.zst", zst(b"{\"text\":\"a\"}\n")),
        ("x.parquet", parquet(vec![("text", text)], 2)),
    ];
    for (name, good) in cases {
        for at in 0..good.len() {
            for flip in [0x01, 0xff] {
                let mut bad = good.clone();
                bad[at] ^= flip;
                let dir = files(&[(name, &bad)]);
                if let Err(error) = read_with(&dir, &[name], options()) {
                    assert!(!error.to_string().contains('\n'), "{error}");
                }
            }
        }
    }
}

#[test]
fn a_short_row_of_a_table_with_the_id_in_its_last_column_was_a_panic() {
    let dir = files(&[("t.csv", b"q1,q2,id\nyes,no,1\nyes\n")]);
    let places = paths(&dir, &["t.csv"]);
    let options = ReadOptions { id: Some("id".to_owned()), ..options() };
    let answers = load_answers(&places, &options, None).map(drop);
    let places: Vec<_> = places.into_iter().map(Into::into).collect();
    let records = load_records(&places, &options, &|| false).map(drop);
    for told in [answers, records] {
        let message = told.unwrap_err().to_string();
        assert!(message.contains("t.csv:3: 1 fields where the header has 3"), "{message}");
    }
}

//! Kept records come out with all their fields as they came, or in another format.
#![cfg(feature = "files")]

use crate::common::files::{files, gz, options, parquet, paths, zst};
use arrow_array::{
    Array, ArrayRef, Date32Array, DurationSecondArray, Int32Array, RecordBatch, StringArray,
    StructArray, Time64MicrosecondArray, TimestampMillisecondArray, new_null_array,
};
use arrow_schema::Field;
use nearkin_engine::write::{self, Formulas, Resources};
use nearkin_engine::{read::Input, read::ReadOptions};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::{fs, fs::File, io::Read, sync::Arc};
use tempfile::TempDir;

fn resources(threads: usize) -> Resources {
    Resources { threads, memory: 1 << 30 }
}

/// Copies all records but the second, at several chunk sizes, and returns where they went.
fn copy(dir: &TempDir, names: &[&str], to: &str) -> Result<std::path::PathBuf, String> {
    let target = dir.path().join(to);
    for (chunk_bytes, threads) in [(1, 3), (16, 1), (16, 2), (1 << 20, 2)] {
        let input = Input::open(&paths(dir, names), ReadOptions { chunk_bytes, ..options() });
        let input = input.map_err(|error| error.to_string())?;
        let mut bytes = 0;
        write::records(
            &input,
            Some(&target),
            &|position| position != 1,
            Formulas::Kept,
            resources(threads),
            &mut |n| {
                bytes += n;
                Ok(())
            },
        )
        .and_then(write::CompleteOutput::appear)
        .map_err(|error| error.to_string().replace(&format!("{}/", dir.path().display()), ""))?;
        assert!(bytes == input.bytes() || bytes == 0, "{bytes} of {}", input.bytes());
    }
    Ok(target)
}

fn text(dir: &TempDir, names: &[&str], to: &str) -> String {
    fs::read_to_string(copy(dir, names, to).unwrap()).unwrap()
}

fn table(dir: &TempDir, names: &[&str], to: &str) -> RecordBatch {
    let file = File::open(copy(dir, names, to).unwrap()).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let schema = reader.schema().clone();
    let batches: Result<Vec<_>, _> = reader.build().unwrap().collect();
    arrow_select::concat::concat_batches(&schema, &batches.unwrap()).unwrap()
}

fn shown(batch: &RecordBatch) -> String {
    let mut out = Vec::new();
    let mut writer = arrow_json::LineDelimitedWriter::new(&mut out);
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    String::from_utf8(out).unwrap()
}

const LINES: &str = "{ \"text\" : \"a\\u0041\", \"n\":1.50 }\r\n\n{\"text\":\"b\"}\n{\"text\":\"漢字\",\"m\":[1,{\"x\":null}]}";

#[test]
fn json_lines_are_copied_byte_for_byte() {
    let expected =
        "{ \"text\" : \"a\\u0041\", \"n\":1.50 }\r\n{\"text\":\"漢字\",\"m\":[1,{\"x\":null}]}\n";
    let dir = files(&[("x.jsonl", LINES.as_bytes()), ("x.jsonl.gz", &gz(LINES.as_bytes()))]);
    assert_eq!(text(&dir, &["x.jsonl"], "y.jsonl"), expected);
    assert_eq!(text(&dir, &["x.jsonl.gz"], "y.ndjson"), expected);
    let packed = copy(&dir, &["x.jsonl"], "y.jsonl.zst").unwrap();
    assert_eq!(zstd::decode_all(File::open(packed).unwrap()).unwrap(), expected.as_bytes());
}

const TABLE: &str =
    "\"id\",text\r\n1,\"a \"\"b\"\"\r\nc\"\r\n2,x\r\n\r\n3, plain 5\" \r\n4,\"quoted, too\"";

#[test]
fn csv_rows_are_copied_byte_for_byte() {
    let dir = files(&[("x.csv", TABLE.as_bytes()), ("x.csv.zst", &zst(TABLE.as_bytes()))]);
    let expected = "\"id\",text\r\n1,\"a \"\"b\"\"\r\nc\"\r\n3, plain 5\" \r\n4,\"quoted, too\"\n";
    assert_eq!(text(&dir, &["x.csv"], "y.csv"), expected);
    assert_eq!(text(&dir, &["x.csv.zst"], "y.csv"), expected);
    assert_eq!(
        text(&dir, &["x.csv"], "y.tsv"),
        "id\ttext\n1\t\"a \"\"b\"\"\r\nc\"\n3\t\" plain 5\"\" \"\n4\tquoted, too\n"
    );
}

#[test]
fn csv_as_json_and_parquet() {
    let dir = files(&[("x.csv", TABLE.as_bytes())]);
    let expected = "{\"id\":\"1\",\"text\":\"a \\\"b\\\"\\r\\nc\"}\n\
                    {\"id\":\"3\",\"text\":\" plain 5\\\" \"}\n\
                    {\"id\":\"4\",\"text\":\"quoted, too\"}\n";
    assert_eq!(text(&dir, &["x.csv"], "y.jsonl"), expected);
    assert_eq!(shown(&table(&dir, &["x.csv"], "y.parquet")), expected);
}

#[test]
fn lines_of_text() {
    let dir = files(&[("x.txt", b"one\r\ntwo\n\nthree".as_slice())]);
    assert_eq!(text(&dir, &["x.txt"], "y.txt"), "one\r\n\nthree\n");
    assert_eq!(
        text(&dir, &["x.txt"], "y.jsonl"),
        "{\"text\":\"one\"}\n{\"text\":\"\"}\n{\"text\":\"three\"}\n"
    );
    assert_eq!(text(&dir, &["x.txt"], "y.csv"), "text\none\n\"\"\nthree\n");
}

#[test]
fn documents_of_a_folder() {
    let dir = files(&[("f/a", b"A\n".as_slice()), ("f/b", b"B"), ("f/c/d", b"D")]);
    let json = "{\"id\":\"a\",\"text\":\"A\\n\"}\n{\"id\":\"c/d\",\"text\":\"D\"}\n";
    assert_eq!(text(&dir, &["f"], "y.jsonl"), json);
    assert_eq!(text(&dir, &["f"], "y.csv"), "id,text\na,\"A\n\"\nc/d,D\n");
    assert_eq!(shown(&table(&dir, &["f"], "y.parquet")), json);
}

#[test]
fn parquet_rows() {
    let ids: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), Some(2), Some(3), None]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c", "d"]));
    let times: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![0, 1, 2, 3]));
    let columns = vec![("key", ids), ("text", texts), ("at", times)];
    let dir = files(&[("x.parquet", &parquet(columns.clone(), 3))]);
    let all = RecordBatch::try_from_iter(columns).unwrap();
    let kept = table(&dir, &["x.parquet"], "y.parquet");
    assert_eq!(kept.schema().fields(), all.schema().fields());
    assert_eq!(kept.slice(0, 1), all.slice(0, 1));
    assert_eq!(kept.slice(1, 2), all.slice(2, 2));
    assert_eq!(
        text(&dir, &["x.parquet"], "y.jsonl"),
        "{\"key\":1,\"text\":\"a\",\"at\":\"1970-01-01T00:00:00\"}\n\
         {\"key\":3,\"text\":\"c\",\"at\":\"1970-01-01T00:00:00.002\"}\n\
         {\"key\":null,\"text\":\"d\",\"at\":\"1970-01-01T00:00:00.003\"}\n"
    );
    let csv = text(&dir, &["x.parquet"], "y.csv");
    assert_eq!(csv.lines().last(), Some(",d,1970-01-01T00:00:00.003"));
}

#[test]
fn json_as_csv_and_parquet() {
    let lines = concat!(
        "{\"text\":\"a\",\"n\":1,\"deep\":{\"z\":1,\"y\":\"q\"},\"mixed\":1}\n",
        "{\"text\":\"dropped\",\"dropped\":true}\n",
        "{\"n\":2.5,\"text\":\"b, c\",\"list\":[1,2],\"mixed\":\"two\",\"none\":null}\n",
    );
    let dir = files(&[("x.jsonl", lines.as_bytes())]);
    assert_eq!(
        text(&dir, &["x.jsonl"], "y.csv"),
        "text,n,deep,mixed,list,none\na,1,\"{\"\"z\"\":1,\"\"y\"\":\"\"q\"\"}\",1,,\n\
         \"b, c\",2.5,,two,\"[1,2]\",\n"
    );
    assert_eq!(
        shown(&table(&dir, &["x.jsonl"], "y.parquet")),
        "{\"text\":\"a\",\"n\":1.0,\"deep\":{\"y\":\"q\",\"z\":1},\"mixed\":\"1\"}\n\
         {\"text\":\"b, c\",\"n\":2.5,\"mixed\":\"two\",\"list\":[1,2]}\n"
    );
}

#[test]
fn several_files() {
    let dir = files(&[
        ("a.csv", b"text,n\na,1\nb,2\n".as_slice()),
        ("b.tsv", b"text\tn\nc\t3\n"),
        ("c.csv", b"text,other\nd,4\n"),
        ("d.jsonl", b"{\"text\":\"e\",\"n\":\"5\"}"),
        ("e.csv", b""),
        ("f.txt", b"f"),
    ]);
    assert_eq!(text(&dir, &["a.csv", "e.csv", "b.tsv"], "y.csv"), "text,n\na,1\nc,3\n");
    assert_eq!(text(&dir, &["a.csv", "d.jsonl"], "y.csv"), "text,n\na,1\ne,5\n");
    assert_eq!(table(&dir, &["a.csv", "d.jsonl"], "y.parquet").num_rows(), 2);
    assert_eq!(
        text(&dir, &["a.csv", "c.csv", "f.txt"], "y.jsonl"),
        "{\"text\":\"a\",\"n\":\"1\"}\n{\"text\":\"d\",\"other\":\"4\"}\n{\"text\":\"f\"}\n"
    );
    for to in ["y.csv", "z.parquet"] {
        let error = copy(&dir, &["b.tsv", "c.csv"], to).unwrap_err();
        assert_eq!(
            error,
            format!(
                "c.csv: has other columns than {}/b.tsv; name the output .jsonl",
                dir.path().display()
            )
            .replace(&format!("{}/", dir.path().display()), "")
        );
    }
    assert!(!dir.path().join("z.parquet").exists());
}

#[test]
fn nothing_to_copy() {
    let dir = files(&[("x.jsonl", b"".as_slice()), ("x.csv", b"text\n"), ("y.txt", b"")]);
    assert_eq!(text(&dir, &["x.jsonl"], "z.jsonl"), "");
    assert_eq!(text(&dir, &["x.jsonl"], "z.csv"), "");
    assert_eq!(text(&dir, &["x.csv"], "z.csv"), "text\n");
    assert_eq!(table(&dir, &["x.csv"], "z.parquet").num_rows(), 0);
    copy(&dir, &["x.jsonl"], "empty.parquet").unwrap();
}

#[test]
fn records_that_cannot_be_converted() {
    let dir = files(&[(
        "x.jsonl",
        b"{\"text\":\"a\",\"m\":{}}\n{}\n{\"text\":\"b\",\"m\":1}\n".as_slice(),
    )]);
    assert_eq!(
        copy(&dir, &["x.jsonl"], "y.txt").unwrap_err(),
        "x.jsonl: only lines of text can be written as .txt; name the output .jsonl"
    );
    let error = copy(&dir, &["x.jsonl"], "y.parquet").unwrap_err();
    assert!(error.starts_with("x.jsonl: its records do not fit one table: "), "{error}");
    assert!(error.ends_with("; name the output .jsonl"), "{error}");
    assert!(!dir.path().join("y.txt").exists() && !dir.path().join("y.parquet").exists());
}

#[test]
fn what_was_read_before_is_copied_alike_at_any_number_of_threads() {
    let lines: Vec<String> = (0..500).map(|i| format!("{{\"text\":\"t{i}\"}}\n")).collect();
    let dir = files(&[("x.jsonl", lines.concat().as_bytes())]);
    // Runs of kept records, single ones, and long stretches of which nothing is kept.
    let kept = |at: u64| at % 7 < 3 && !(100..300).contains(&at) || at == 499;
    let expected: String =
        (0..).zip(&lines).filter(|(at, _)| kept(*at)).map(|(_, l)| &**l).collect();
    for threads in [1, 2, 5] {
        let options = ReadOptions { chunk_bytes: 100, ..options() };
        let input = Input::open(&paths(&dir, &["x.jsonl"]), options).unwrap();
        for chunk in input.scan() {
            input.decode(&chunk.unwrap(), &|_| false).unwrap();
        }
        let target = dir.path().join("y.jsonl");
        let mut chunks = 0;
        let written = write::records(
            &input,
            Some(&target),
            &kept,
            Formulas::Kept,
            resources(threads),
            &mut |_| {
                chunks += 1;
                Ok(())
            },
        );
        written.unwrap().appear().unwrap();
        assert_eq!(fs::read_to_string(target).unwrap(), expected);
        assert!((40..80).contains(&chunks), "{chunks} chunks were read");
    }
}

#[test]
fn an_input_can_be_replaced_by_its_kept_records() {
    let dir = files(&[("x.txt", b"a\nb\nc\n".as_slice())]);
    let path = dir.path().join("x.txt");
    let input = Input::open(std::slice::from_ref(&path), options()).unwrap();
    let ready = write::records(
        &input,
        Some(&path),
        &|position| position != 1,
        Formulas::Kept,
        resources(1),
        &mut |_| Ok(()),
    )
    .unwrap();
    ready.appear().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\nc\n");
}

/// The calendar of the writer ends with the year 262142; a field with `ERROR: Cast error` was the answer to what is
/// beyond.
#[test]
fn times_out_of_range_became_texts_of_errors() {
    let texts = || Arc::new(StringArray::from(vec!["a", "b", "c"])) as ArrayRef;
    let beyond: [(&str, ArrayRef); 5] = [
        ("at", Arc::new(TimestampMillisecondArray::from(vec![0, 1, i64::MAX]))),
        (
            "at",
            Arc::new(TimestampMillisecondArray::from(vec![0, 1, i64::MIN]).with_timezone("+02:00")),
        ),
        ("day", Arc::new(Date32Array::from(vec![0, 1, i32::MAX]))),
        ("time", Arc::new(Time64MicrosecondArray::from(vec![0, 1, 86_400_000_000]))),
        ("spans", {
            let spans = DurationSecondArray::from(vec![i64::MAX]);
            let field = Arc::new(Field::new("span", spans.data_type().clone(), true));
            let structs = StructArray::from(vec![(field, Arc::new(spans) as ArrayRef)]);
            let none = new_null_array(structs.data_type(), 2);
            arrow_select::concat::concat(&[&none, &structs]).unwrap()
        }),
    ];
    for (name, column) in beyond {
        let file = parquet(vec![("text", texts()), (name, Arc::clone(&column))], 2);
        let dir = files(&[("t.parquet", &file)]);
        for target in ["t.jsonl", "t.csv"] {
            let message = copy(&dir, &["t.parquet"], target).unwrap_err();
            let start = format!("t.parquet: cannot be written as JSON: \"{name}\" has the value ");
            assert!(message.starts_with(&start), "{message}");
            assert!(message.ends_with("; name the output .parquet"), "{message}");
            assert!(!dir.path().join(target).exists());
        }
        // As columns, values are numbers, and stay as they are.
        assert_eq!(table(&dir, &["t.parquet"], "u.parquet")[name].len(), 2);
        // What is not kept does no harm.
        let fine = column.slice(0, 2);
        let pair = Arc::new(StringArray::from(vec!["a", "b"])) as ArrayRef;
        let dir = files(&[("t.parquet", &parquet(vec![("text", pair), (name, fine)], 2))]);
        assert!(!text(&dir, &["t.parquet"], "t.jsonl").contains("ERROR"));
    }
}

#[test]
fn characters_escaped_in_pairs_became_others_in_parquet() {
    let lines = r#"{"text":"\ud869\udeb2 \uD83D\uDE00 \\ud869"}
{"text":"not copied"}
{"text":"\\\\\ud840\udc00 \n"}
"#;
    let dir = files(&[("x.jsonl", lines.as_bytes())]);
    let batch = table(&dir, &["x.jsonl"], "y.parquet");
    let texts = batch.column(0).as_any().downcast_ref::<StringArray>().unwrap();
    let texts: Vec<_> = texts.iter().flatten().collect();
    assert_eq!(texts, ["\u{2a6b2} \u{1f600} \\ud869", "\\\\\u{20000} \n"]);
}

/// Lines of JSON with words from a fixed sequence (xorshift), about so many bytes.
fn many_lines(bytes: usize) -> String {
    let (mut state, mut lines) = (1u64, String::new());
    while lines.len() < bytes {
        lines += "{\"text\":\"";
        for _ in 0..60 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            lines += &format!("{:x} ", state >> 40);
        }
        lines += "\"}\n";
    }
    lines
}

#[test]
fn packed_records_have_the_same_bytes_at_any_number_of_threads_and_memory() {
    const BYTES: usize = 24 << 20;
    let lines = many_lines(BYTES);
    let dir = files(&[("x.jsonl", lines.as_bytes())]);
    let written = |name: &str, chunk_bytes: usize, resources: Resources| {
        let target = dir.path().join(name);
        let options = ReadOptions { chunk_bytes, ..options() };
        let input = Input::open(&paths(&dir, &["x.jsonl"]), options).unwrap();
        let nothing = &mut |_| Ok(());
        write::records(&input, Some(&target), &|_| true, Formulas::Kept, resources, nothing)
            .and_then(write::CompleteOutput::appear)
            .unwrap();
        fs::read(target).unwrap()
    };
    for name in ["y.jsonl.gz", "y.jsonl.zst", "y.parquet"] {
        let alone = written(name, 512 << 10, resources(1));
        for (chunk_bytes, threads, memory) in
            [(512 << 10, 2, 8 << 30), (100 << 10, 3, 1 << 30), (512 << 10, 8, 16 << 20)]
        {
            let bytes = written(name, chunk_bytes, Resources { threads, memory });
            assert!(bytes == alone, "{name} with {threads} threads and {memory} bytes");
        }
        // Several parts, so that there is something to do side by side, which other readers put together.
        match name {
            "y.parquet" => {
                let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(alone));
                let reader = reader.unwrap();
                assert!(reader.metadata().num_row_groups() > 1);
                let batches = reader.build().unwrap().map(Result::unwrap);
                let shown: String = batches.map(|batch| shown(&batch)).collect();
                assert!(shown == lines);
            }
            "y.jsonl.gz" => {
                let mut back = String::new();
                flate2::read::MultiGzDecoder::new(&alone[..]).read_to_string(&mut back).unwrap();
                assert!(back == lines);
                let mut first = flate2::bufread::GzDecoder::new(&alone[..]);
                assert!(std::io::copy(&mut first, &mut std::io::sink()).unwrap() < BYTES as u64);
            }
            _ => {
                assert!(zstd::decode_all(&alone[..]).unwrap() == lines.as_bytes());
                let first = zstd::zstd_safe::find_frame_compressed_size(&alone).unwrap();
                assert!(first < alone.len() / 4);
            }
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_threads_that_pack() {
    let lines = many_lines(24 << 20);
    let dir = files(&[("x.jsonl", lines.as_bytes())]);
    for name in ["y.jsonl.gz", "y.jsonl.zst", "y.parquet"] {
        let target = dir.path().join(name);
        std::os::unix::fs::symlink("/dev/full", &target).unwrap();
        for threads in [1, 3] {
            let input = Input::open(&paths(&dir, &["x.jsonl"]), options()).unwrap();
            let (to, nothing) = (Some(&*target), &mut |_| Ok(()));
            let kept = Formulas::Kept;
            let error = write::records(&input, to, &|_| true, kept, resources(threads), nothing);
            let what = format!(
                "{}: cannot write: No space left on device; make room or choose another place",
                target.display()
            );
            assert_eq!(error.unwrap_err().to_string(), what);
        }
    }
}

//! Outputs appear whole or not at all, packed as their names say; tables in each format.
#![cfg(feature = "files")]

use crate::common::files::files;
use arrow_array::{cast::AsArray, types::Float64Type, types::Int64Type};
use nearkin_engine::{
    Error,
    item::Id,
    read::Format,
    write::{Cell, Column, ColumnKind, Output, TableWriter},
};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::{
    fs::{self, File},
    io::{Read, Write},
    path::Path,
};

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn an_output_appears_when_it_is_finished() {
    let dir = files(&[]);
    let path = dir.path().join("x.txt");
    let mut output = Output::create(Some(&path)).unwrap();
    output.write_all(b"hello").unwrap();
    assert!(!path.exists());
    output.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"hello");
    assert_eq!(names_in(dir.path()), ["x.txt"]);
}

#[test]
fn an_output_that_is_dropped_leaves_what_was_there() {
    let dir = files(&[("x.txt", b"old".as_slice())]);
    let path = dir.path().join("x.txt");
    let mut output = Output::create(Some(&path)).unwrap();
    output.write_all(b"new").unwrap();
    drop(output);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names_in(dir.path()), ["x.txt"]);
}

#[test]
fn an_output_replaces_an_existing_file() {
    let dir = files(&[("x.txt", b"old".as_slice())]);
    let path = dir.path().join("x.txt");
    let mut output = Output::create(Some(&path)).unwrap();
    output.write_all(b"new").unwrap();
    output.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
}

#[cfg(unix)]
#[test]
fn an_output_has_the_permissions_of_any_new_file_and_keeps_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = files(&[("plain", b"".as_slice()), ("private.txt", b""), ("real.txt", b"")]);
    let mode = |name: &str| fs::metadata(dir.path().join(name)).unwrap().permissions().mode();
    fs::set_permissions(dir.path().join("private.txt"), PermissionsExt::from_mode(0o600)).unwrap();
    symlink("real.txt", dir.path().join("link.txt")).unwrap();
    for name in ["new.txt", "private.txt", "link.txt"] {
        let mut output = Output::create(Some(&dir.path().join(name))).unwrap();
        output.write_all(b"x").unwrap();
        output.finish().unwrap();
    }
    assert_eq!(mode("new.txt"), mode("plain"));
    assert_eq!(mode("private.txt") & 0o777, 0o600);
    assert!(fs::symlink_metadata(dir.path().join("link.txt")).unwrap().is_symlink());
    assert_eq!(fs::read(dir.path().join("real.txt")).unwrap(), b"x");
}

#[test]
fn names_choose_the_compression() {
    let dir = files(&[]);
    for name in ["x.jsonl.gz", "x.jsonl.zst"] {
        let mut output = Output::create(Some(&dir.path().join(name))).unwrap();
        output.write_all(&b"hello\n".repeat(10_000)).unwrap();
        output.finish().unwrap();
    }
    let mut text = String::new();
    let file = File::open(dir.path().join("x.jsonl.gz")).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    assert_eq!(text, "hello\n".repeat(10_000));
    let bytes = fs::read(dir.path().join("x.jsonl.zst")).unwrap();
    assert_eq!(zstd::decode_all(&bytes[..]).unwrap(), text.as_bytes());
}

#[test]
fn places_that_cannot_be_written() {
    let dir = files(&[("f/x", b"".as_slice())]);
    let error = |name: &str| {
        let error = Output::create(Some(&dir.path().join(name))).err().unwrap().to_string();
        error.replace(&format!("{}/", dir.path().display()), "")
    };
    assert_eq!(error("no/x.csv"), "no/x.csv: the folder no does not exist; create it first");
    assert_eq!(error("f"), "f: is a folder; name a file in it");
    assert!(error("f/x/y").ends_with("; choose another place"), "{}", error("f/x/y"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_devices_stay_devices() {
    for name in ["/dev/full", "/dev/null"] {
        let mut table =
            TableWriter::create(Some(Path::new(name)), Some(Format::Parquet), &PAIRS).unwrap();
        let id = Id::Int(1);
        table.row(&[Cell::from(&id), Cell::from(&id), Cell::Float(1.0)]).unwrap();
        let error = table.finish().err().map(|error| error.to_string());
        let full =
            "/dev/full: cannot write: No space left on device; make room or choose another place";
        assert_eq!(error.as_deref(), (name == "/dev/full").then_some(full));
    }
    let mut output = Output::create(Some(Path::new("/dev/full"))).unwrap();
    output.write_all(b"x").unwrap();
    assert!(matches!(output.finish(), Err(Error::File { .. })));
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[cfg(target_os = "linux")]
#[test]
fn a_reader_that_has_gone_is_its_own_error() {
    use std::os::fd::AsRawFd;
    let (reader, writer) = std::io::pipe().unwrap();
    let path = format!("/dev/fd/{}", writer.as_raw_fd());
    let mut output = Output::create(Some(Path::new(&path))).unwrap();
    drop(reader);
    output.write_all(b"x").unwrap();
    assert!(matches!(output.finish(), Err(Error::Closed)));
}

const PAIRS: [Column; 3] = [
    Column { name: "a", kind: ColumnKind::Id },
    Column { name: "b", kind: ColumnKind::IntId },
    Column { name: "similarity", kind: ColumnKind::Float },
];

/// Writes three pairs to a file of this name.
fn write_pairs(path: &Path) {
    let mut table = TableWriter::create(Some(path), None, &PAIRS).unwrap();
    let ids = ["x", "say \"hi\",\n漢字\t", ""].map(|id| Id::Text(id.into()));
    let rows = ids.iter().zip([12, -1, i64::MAX]).zip([6.0 / 7.0, 1.0, 0.1]);
    for ((a, b), similarity) in rows {
        table.row(&[Cell::from(a), Cell::from(&Id::Int(b)), Cell::Float(similarity)]).unwrap();
    }
    table.finish().unwrap();
}

#[test]
fn tables_as_text() {
    let dir = files(&[]);
    let written = |name: &str| {
        let path = dir.path().join(name);
        write_pairs(&path);
        fs::read_to_string(path).unwrap()
    };
    assert_eq!(
        written("x.jsonl"),
        "{\"a\":\"x\",\"b\":12,\"similarity\":0.8571428571428571}\n\
         {\"a\":\"say \\\"hi\\\",\\n漢字\\t\",\"b\":-1,\"similarity\":1.0}\n\
         {\"a\":\"\",\"b\":9223372036854775807,\"similarity\":0.1}\n"
    );
    assert_eq!(
        written("x.csv"),
        "a,b,similarity\nx,12,0.8571428571428571\n\"say \"\"hi\"\",\n漢字\t\",-1,1.0\n\
         \"\",9223372036854775807,0.1\n"
    );
    assert_eq!(written("x.tsv").lines().next(), Some("a\tb\tsimilarity"));
}

#[test]
fn tables_as_parquet() {
    let dir = files(&[]);
    let path = dir.path().join("x.parquet");
    write_pairs(&path);
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let batch = reader.build().unwrap().next().unwrap().unwrap();
    assert_eq!(batch.column(0).as_string::<i32>().value(1), "say \"hi\",\n漢字\t");
    assert_eq!(batch.column(1).as_primitive::<Int64Type>().values(), &[12, -1, i64::MAX]);
    assert_eq!(batch.column(2).as_primitive::<Float64Type>().value(0), 6.0 / 7.0);
    assert_eq!(batch.schema().field(2).name(), "similarity");
    assert!(!batch.schema().field(2).is_nullable());
}

#[test]
fn tables_longer_than_a_batch() {
    let dir = files(&[]);
    let columns = [
        Column { name: "id", kind: ColumnKind::IntId },
        Column { name: "kept", kind: ColumnKind::Bool },
    ];
    for name in ["x.parquet", "x.csv.zst"] {
        let mut table = TableWriter::create(Some(&dir.path().join(name)), None, &columns).unwrap();
        for n in 0..40_000 {
            table.row(&[Cell::from(&Id::Int(n)), Cell::Bool(n % 2 == 0)]).unwrap();
        }
        table.finish().unwrap();
    }
    let file = File::open(dir.path().join("x.parquet")).unwrap();
    let batches = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let evens = batches.map(|batch| batch.unwrap().column(1).as_boolean().true_count());
    assert_eq!(evens.sum::<usize>(), 20_000);
    let csv = zstd::decode_all(File::open(dir.path().join("x.csv.zst")).unwrap()).unwrap();
    assert!(csv.ends_with(b"39998,true\n39999,false\n"));
}

#[test]
fn an_empty_table_has_its_columns() {
    let dir = files(&[]);
    for name in ["x.csv", "x.parquet", "x.jsonl"] {
        TableWriter::create(Some(&dir.path().join(name)), None, &PAIRS).unwrap().finish().unwrap();
    }
    assert_eq!(fs::read_to_string(dir.path().join("x.csv")).unwrap(), "a,b,similarity\n");
    assert_eq!(fs::read(dir.path().join("x.jsonl")).unwrap(), b"");
    let file = File::open(dir.path().join("x.parquet")).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    assert_eq!(reader.schema().fields().len(), 3);
}

#[test]
fn names_that_are_no_table() {
    let error = |name: &str| {
        TableWriter::create(Some(Path::new(name)), None, &PAIRS).err().unwrap().to_string()
    };
    assert_eq!(
        error("pairs.xml"),
        "pairs.xml: its name does not tell the format; end it with .jsonl, .json, .csv, .tsv or .parquet"
    );
    assert_eq!(
        error("pairs.parquet.gz"),
        "pairs.parquet.gz: Parquet is packed inside; end the name with .parquet"
    );
    assert_eq!(
        error("pairs.txt"),
        "pairs.txt: a table has columns; name it .jsonl, .csv, .tsv or .parquet"
    );
    assert!(!Path::new("pairs.txt").exists());
}

#[test]
fn what_a_killed_run_left_is_removed_and_what_another_writes_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out.jsonl");
    let left = folder.path().join(".out.jsonl.aBcDeF.part");
    let other = folder.path().join(".other.jsonl.aBcDeF.part");
    fs::write(&left, "half").unwrap();
    fs::write(&other, "half").unwrap();
    let first = Output::create(Some(&target)).unwrap();
    assert!(!left.exists() && other.exists());
    let second = Output::create(Some(&target)).unwrap();
    second.finish().unwrap();
    first.finish().unwrap();
    assert!(target.exists());
}

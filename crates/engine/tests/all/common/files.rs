//! Files to read, and everything that comes out of them.

use nearkin_engine::{
    Result,
    item::{Id, Source},
    read::{Chunk, Input, ReadOptions},
};
use parquet::{arrow::ArrowWriter, file::properties::WriterProperties};
use std::{fs, path::PathBuf};
use tempfile::TempDir;

/// Position, id and text of an item.
pub type Seen = (u64, Option<Id>, String);

/// A folder with these files in it.
pub fn files(contents: &[(&str, &[u8])]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in contents {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    dir
}

pub fn paths(dir: &TempDir, names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| dir.path().join(name)).collect()
}

pub fn options() -> ReadOptions {
    ReadOptions::default()
}

/// Every item of an input, read in lanes and one after the other.
pub fn all(input: &Input) -> Result<Vec<Seen>> {
    let numbered =
        items(input, Source::scan(input, &|_| false), &|chunk| input.lines_before(chunk.number));
    let one_by_one = items(input, input.scan(), &|_| Ok(0));
    match (numbered, one_by_one) {
        (Ok(numbered), Ok(one_by_one)) => {
            assert_eq!(numbered, one_by_one);
            Ok(numbered.into_iter().map(|(_, seen)| seen).collect())
        }
        (numbered, one_by_one) => {
            let error = numbered.expect_err("reading in lanes should fail, too");
            assert_eq!(error.to_string(), one_by_one.expect_err("should fail, too").to_string());
            Err(error)
        }
    }
}

/// Every item of these chunks, with its line.
fn items(
    input: &Input,
    chunks: impl Iterator<Item = Result<Chunk>>,
    before: &dyn Fn(&Chunk) -> Result<u64>,
) -> Result<Vec<(u64, Seen)>> {
    let mut seen = Vec::new();
    let mut position = 0;
    let mut last = None;
    for chunk in chunks {
        let chunk = chunk?;
        assert!(last <= Some(chunk.number));
        last = Some(chunk.number);
        let batch = input.decode(&chunk, &|_| true)?;
        for (i, item) in batch.items.iter().enumerate() {
            let text = batch.text(i).to_owned();
            let line = before(&chunk)? + item.line;
            seen.push((line, (position + u64::from(item.ordinal), item.id.clone(), text)));
        }
        position += u64::from(batch.records);
    }
    Ok(seen)
}

pub fn read_with(dir: &TempDir, names: &[&str], options: ReadOptions) -> Result<Vec<Seen>> {
    all(&Input::open(&paths(dir, names), options)?)
}

pub fn read(dir: &TempDir, names: &[&str]) -> Vec<Seen> {
    read_with(dir, names, options()).unwrap()
}

/// The one line that is printed when reading fails, without the folder.
pub fn failure(dir: &TempDir, names: &[&str], options: ReadOptions) -> String {
    let error = read_with(dir, names, options).expect_err("reading should fail").to_string();
    assert!(!error.contains('\n'), "more than a line: {error}");
    error.replace(&format!("{}/", dir.path().display()), "")
}

pub fn gz(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn zst(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// A Parquet file with these columns, in row groups of `group` rows.
pub fn parquet(columns: Vec<(&str, arrow_array::ArrayRef)>, group: usize) -> Vec<u8> {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group));
    parquet_with(columns, properties.build())
}

/// A Parquet file with these columns and properties.
pub fn parquet_with(
    columns: Vec<(&str, arrow_array::ArrayRef)>,
    properties: WriterProperties,
) -> Vec<u8> {
    let batch = arrow_array::RecordBatch::try_from_iter(columns).unwrap();
    let mut out = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut out, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    out
}

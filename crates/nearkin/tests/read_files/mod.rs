//! Files to read, and everything that comes out of them.
#![allow(dead_code, unreachable_pub)] // each test uses its part

use nearkin::{
    Result,
    read::{Id, Input, ReadOptions},
};
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

/// Every item of an input.
pub fn all(input: &Input) -> Result<Vec<Seen>> {
    let mut seen = Vec::new();
    let mut position = 0;
    for (number, chunk) in input.scan(None)?.enumerate() {
        let chunk = chunk?;
        assert_eq!(chunk.number, number);
        let batch = input.decode(&chunk, &|_| true)?;
        for (i, item) in batch.items.iter().enumerate() {
            let text = batch.text(i).to_owned();
            seen.push((position + u64::from(item.ordinal), item.id.clone(), text));
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

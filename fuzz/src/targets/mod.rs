//! The fuzz targets: each takes any bytes, and panics where something is wrong. `fuzz/` runs them under libFuzzer, and
//! the tests of the command run them on their seeds.
//!
//! The first bytes choose among options, the rest is the input. Files are in memory: one that has no name is written
//! again for each input, and read by its path under `/proc`.

mod compare;
mod files;
mod json;
mod options;
mod overlap;
mod search;
mod stored;
mod tables;
mod vectors;

use std::cell::RefCell;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// What a target is called, and what it does.
pub(crate) type Target = (&'static str, fn(&[u8]));

pub(crate) const ALL: &[Target] = &[
    ("arguments", options::arguments),
    ("bits", vectors::bits),
    ("compare", compare::compare),
    ("csv", files::csv),
    ("csv_round_trip", tables::csv_round_trip),
    ("expressions", options::expressions),
    ("groups", tables::groups),
    ("index", stored::index),
    ("json", json::json),
    ("json_array", files::json_array),
    ("jsonl", files::jsonl),
    ("options", options::options),
    ("overlap", overlap::overlap),
    ("packed", files::packed),
    ("parquet", files::parquet),
    ("records", tables::records),
    ("rules", options::rules),
    ("search", search::search),
    ("shapes", json::shapes),
    ("stages", stored::stages),
    ("txt", files::txt),
    ("vector_files", vectors::vector_files),
    ("vectors", vectors::vectors),
];

/// The first bytes, which choose, and the rest.
fn choices<const N: usize>(data: &[u8]) -> ([u8; N], &[u8]) {
    match data.split_first_chunk() {
        Some((choices, rest)) => (*choices, rest),
        None => ([0; N], &[]),
    }
}

/// The path of a file in memory with these bytes, the same file each time; `slot` tells files apart that are needed at
/// once.
fn file(slot: usize, bytes: &[u8]) -> PathBuf {
    thread_local! {
        static FILES: RefCell<[Option<File>; 3]> = const { RefCell::new([None, None, None]) };
    }
    FILES.with_borrow_mut(|files| {
        let file = files[slot].get_or_insert_with(|| {
            let memory = tempfile::tempfile_in("/dev/shm").or_else(|_| tempfile::tempfile());
            memory.expect("a file in memory")
        });
        file.set_len(bytes.len() as u64).expect("room");
        file.write_all_at(bytes, 0).expect("room");
        PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
    })
}

/// An error has to be tellable.
fn check_message(error: &nearkin_engine::Error) {
    assert!(!error.to_string().is_empty());
}

//! The larger data sets, and what a test says that cannot run. The tests of the command use this file too.

use std::fs::OpenOptions;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};

/// The path of a file or folder of the larger data sets, which are in the folder that `NEARKIN_DATA` names.
///
/// If that is not set, the test is reported as skipped, and should return.
pub fn data(name: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("NEARKIN_DATA") else {
        skipped(&format!("NEARKIN_DATA is not set, so {name} cannot be read"));
        return None;
    };
    let path = Path::new(&folder).join(name);
    assert!(path.exists(), "NEARKIN_DATA is {}, which has no {name}", folder.display());
    Some(path)
}

/// Says that the test that calls it did not run, or not all of it, and why.
///
/// `eprintln!` would not do: libtest shows it only if the test fails. The standard error of the process is shown by `cargo test`,
/// but not by nextest, so `scripts/test` names a file in `NEARKIN_SKIPPED` and prints what was written there at the end.
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    let line = format!("skipped: {}: {why}\n", thread.name().unwrap_or("a test"));
    let written = match std::env::var_os("NEARKIN_SKIPPED") {
        Some(file) => {
            let file = OpenOptions::new().create(true).append(true).open(file);
            file.and_then(|mut file| file.write_all(line.as_bytes()))
        }
        None => stderr().write_all(line.as_bytes()),
    };
    written.expect("a place to say that a test was skipped");
}

//! Temporary files: without a name, so that nothing can be left behind; or with one, where a later run may
//! want them.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::Xxh3Default;

use crate::error::{Advice, Error, Result};

/// Where temporary files go.
#[derive(Debug, Clone)]
pub(crate) struct Temp {
    folder: PathBuf,
    /// Whether files that have a name keep it.
    lasting: bool,
    /// What the run needs in all; the message says so when the disk is full.
    needed: Arc<AtomicU64>,
}

impl Temp {
    /// Files that nobody will want again.
    pub(crate) fn passing(folder: PathBuf) -> Self {
        Self { folder, lasting: false, needed: Arc::default() }
    }

    /// A folder of which a later run may want the files that have a name.
    pub(crate) fn lasting(folder: PathBuf) -> Self {
        Self { folder, lasting: true, needed: Arc::default() }
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether files that have a name keep it.
    pub(crate) fn is_lasting(&self) -> bool {
        self.lasting
    }

    /// Remembers what the run is expected to need.
    pub(crate) fn expect(&self, bytes: u64) {
        self.needed.fetch_max(bytes, Ordering::Relaxed);
    }

    /// A new file.
    pub(crate) fn file(&self, name: Option<&str>) -> Result<TempFile> {
        let file = match name.filter(|_| self.lasting) {
            None => tempfile::tempfile_in(&self.folder),
            Some(name) => {
                let mut options = OpenOptions::new();
                options.read(true).write(true).create(true).truncate(true);
                options.open(self.folder.join(name))
            }
        };
        let file = file.map_err(|error| self.failed(&error))?;
        let sum = name.filter(|_| self.lasting).map(|_| Xxh3Default::new());
        Ok(TempFile { temp: self.clone(), file, length: 0, sum })
    }

    /// A file that an earlier run left.
    pub(crate) fn again(&self, name: &str) -> Result<TempFile> {
        let file = OpenOptions::new().read(true).append(true).open(self.folder.join(name));
        let file = file.map_err(|error| self.failed(&error))?;
        let length = file.metadata().map_err(|error| self.failed(&error))?.len();
        let mut again = TempFile { temp: self.clone(), file, length, sum: None };
        let mut sum = Xxh3Default::new();
        let mut bytes = vec![0; 1 << 20];
        let mut at = 0;
        while at < length {
            let piece = (length - at).min(1 << 20) as usize;
            again.read(at, &mut bytes[..piece])?;
            sum.update(&bytes[..piece]);
            at += piece as u64;
        }
        again.sum = Some(sum);
        Ok(again)
    }

    /// The error for a disk on which there is too little room.
    pub(crate) fn too_small(&self, what: String) -> Error {
        Error::file(&self.folder, what)
            .or("make room")
            .or(Advice::with("temp", "name another folder"))
            .or(Advice::with("memory", "allow more"))
    }

    pub(crate) fn failed(&self, error: &io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                let needed = super::size(self.needed.load(Ordering::Relaxed));
                self.too_small(format!(
                    "is full, and at least {needed} are needed for temporary files"
                ))
            }
            _ => Error::file(&self.folder, format!("cannot hold temporary files: {error}"))
                .or(Advice::with("temp", "name another folder")),
        }
    }
}

/// A file that grows at its end and is read anywhere.
pub(crate) struct TempFile {
    temp: Temp,
    file: File,
    length: u64,
    /// The checksum, if a later run may want the file.
    sum: Option<Xxh3Default>,
}

impl TempFile {
    /// The checksum of all that is in it, where it has a name.
    pub(crate) fn sum(&self) -> u64 {
        self.sum.as_ref().map_or(0, Xxh3Default::digest)
    }

    /// Bytes written.
    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    /// Writes at the end.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.temp.expect(self.length + bytes.len() as u64);
        self.file.write_all(bytes).map_err(|error| self.temp.failed(&error))?;
        self.length += bytes.len() as u64;
        if let Some(sum) = &mut self.sum {
            sum.update(bytes);
        }
        Ok(())
    }

    /// Fills `bytes` from a place in the file.
    pub(crate) fn read(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(bytes, at).map_err(|error| self.temp.failed(&error))
    }
}

impl std::fmt::Debug for TempFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TempFile").field("file", &self.file).finish_non_exhaustive()
    }
}

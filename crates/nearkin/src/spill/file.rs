//! Temporary files: without a name, so that nothing can be left behind; or with one, where a later run may
//! want them.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Error, Result};

/// Where temporary files go.
#[derive(Debug, Clone)]
pub(crate) struct Temp {
    folder: PathBuf,
    /// Counts the files with names; files have none where this is not given.
    named: Option<Arc<AtomicU64>>,
    /// What the run needs in all, for the message when the disk is full.
    needed: Arc<AtomicU64>,
}

impl Temp {
    /// Files without a name in this folder.
    pub(crate) fn unnamed(folder: PathBuf) -> Self {
        Self { folder, named: None, needed: Arc::default() }
    }

    /// Files with a name in this folder, to be found again.
    pub(crate) fn named(folder: PathBuf) -> Self {
        Self { folder, named: Some(Arc::default()), needed: Arc::default() }
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Remembers what the run is expected to need.
    pub(crate) fn expect(&self, bytes: u64) {
        self.needed.fetch_max(bytes, Ordering::Relaxed);
    }

    /// A new file.
    pub(crate) fn file(&self) -> Result<TempFile> {
        let made = match &self.named {
            None => tempfile::tempfile_in(&self.folder).map(|file| (file, None)),
            Some(count) => {
                let path =
                    self.folder.join(format!("{}.part", count.fetch_add(1, Ordering::Relaxed)));
                let mut options = OpenOptions::new();
                options.read(true).write(true).create(true).truncate(true);
                options.open(&path).map(|file| (file, Some(path)))
            }
        };
        let (file, path) = made.map_err(|error| self.failed(&error))?;
        Ok(TempFile { temp: self.clone(), file, path, length: 0 })
    }

    /// A file of an earlier run.
    pub(crate) fn again(&self, name: &str, length: u64) -> Result<TempFile> {
        let path = self.folder.join(name);
        let file = OpenOptions::new().read(true).write(true).open(&path);
        let file = file.map_err(|error| self.failed(&error))?;
        Ok(TempFile { temp: self.clone(), file, path: Some(path), length })
    }

    pub(crate) fn failed(&self, error: &io::Error) -> Error {
        let what = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                let needed = self.needed.load(Ordering::Relaxed);
                format!(
                    "is full, and about {} are needed for temporary files; make room, name another \
                     folder with --temp, or allow more with --memory",
                    super::size(needed)
                )
            }
            _ => format!("cannot hold temporary files: {error}; name another folder with --temp"),
        };
        Error::File { path: self.folder.clone(), what }
    }
}

/// A file that grows at its end and is read anywhere.
#[derive(Debug)]
pub(crate) struct TempFile {
    temp: Temp,
    file: File,
    path: Option<PathBuf>,
    length: u64,
}

impl TempFile {
    /// Bytes written.
    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    /// The name under which [`Temp::again`] finds it.
    pub(crate) fn name(&self) -> Option<String> {
        Some(self.path.as_ref()?.file_name()?.to_string_lossy().into_owned())
    }

    /// Writes at the end.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| self.temp.failed(&error))?;
        self.length += bytes.len() as u64;
        self.temp.expect(self.length);
        Ok(())
    }

    /// Reads so many bytes from a place.
    pub(crate) fn read(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(bytes, at).map_err(|error| self.temp.failed(&error))
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // What stays is removed with its folder.
            let _ = std::fs::remove_file(path);
        }
    }
}

//! A file that can be read again and again, from any place, by any thread, and that says so when it
//! changes in between.
//!
//! What cannot be read twice (standard input, a pipe) is copied once to an unnamed temporary file.

use crate::error::{Advice, Error, Problem, Result};
use crate::observe::Traffic;
use std::{
    fs::{File, Metadata},
    io::{self, Read},
    os::unix::fs::{FileExt, MetadataExt},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};
use xxhash_rust::xxh3::Xxh3Default;

/// A file, and how it was when first seen.
#[derive(Clone, Debug)]
pub(super) struct Rereadable {
    /// What to call it in messages.
    pub(super) name: PathBuf,
    spool: Option<Arc<File>>,
    stamp: Stamp,
    traffic: Arc<TrafficCount>,
}

/// How much was read of a file, and unpacked.
#[derive(Debug, Default)]
struct TrafficCount {
    read: AtomicU64,
    unpacked: AtomicU64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self { len: metadata.len(), modified: metadata.modified().ok() }
    }
}

impl Rereadable {
    /// A regular file.
    pub(super) fn new(path: PathBuf, metadata: &Metadata) -> Self {
        Self { name: path, spool: None, stamp: Stamp::of(metadata), traffic: Arc::default() }
    }

    /// Something in memory, which is never opened.
    pub(super) fn in_memory(name: PathBuf, len: u64) -> Self {
        Self { name, spool: None, stamp: Stamp { len, modified: None }, traffic: Arc::default() }
    }

    /// A copy of what `from` gives until its end, in the folder `temp`.
    pub(super) fn spool(name: &str, mut from: impl Read, temp: Option<&Path>) -> Result<Self> {
        let name = PathBuf::from(name);
        let folder = temp.map_or_else(std::env::temp_dir, Path::to_path_buf);
        let keep = || -> io::Result<(File, Stamp)> {
            let mut file = tempfile::tempfile_in(&folder)?;
            io::copy(&mut from, &mut file)?;
            let stamp = Stamp::of(&file.metadata()?);
            Ok((file, stamp))
        };
        let (file, stamp) = { keep }().map_err(|error| {
            let what =
                format!("cannot be copied to the folder for temporary files, {}", folder.display());
            Error::file(&name, format!("{what}: {error}"))
                .or("give it as a file")
                .or(Advice::with("temp", "name another folder"))
        })?;
        Ok(Self { name, spool: Some(Arc::new(file)), stamp, traffic: Arc::default() })
    }

    /// Its name, size, node and ages, to notice changes; `None` if it came from a pipe. What was written and given its old
    /// age has another time of change, which nobody can set.
    pub(super) fn stamp(&self) -> Option<String> {
        if self.spool.is_some() {
            return None;
        }
        let metadata = std::fs::metadata(&self.name).ok()?;
        let age = self.stamp.modified?.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_nanos();
        let node = (metadata.dev(), metadata.ino());
        let changed = (metadata.ctime(), metadata.ctime_nsec());
        Some(format!("{:?} {} {age} {node:?} {changed:?}", self.name, self.stamp.len))
    }

    /// A hash of the first and the last bytes of the file, and of some between.
    pub(super) fn sample(&self) -> Option<u64> {
        const PIECES: u64 = 64;
        const PIECE: u64 = 4096;
        let file = self.open().ok()?;
        let last = self.stamp.len.saturating_sub(PIECE);
        let mut hash = Xxh3Default::new();
        let mut piece = [0; PIECE as usize];
        let pieces = self.stamp.len.div_ceil(PIECE).clamp(1, PIECES);
        for number in 0..=pieces {
            let read = file.read_at(&mut piece, last * number / pieces).ok()?;
            hash.update(&piece[..read]);
        }
        Some(hash.digest())
    }

    /// Whether it is a file that has a path.
    pub(super) fn is_on_disk(&self) -> bool {
        self.spool.is_none() && self.stamp.modified.is_some()
    }

    /// So much more of it was read and unpacked.
    pub(super) fn count(&self, read: u64, unpacked: u64) {
        self.traffic.read.fetch_add(read, Ordering::Relaxed);
        self.traffic.unpacked.fetch_add(unpacked, Ordering::Relaxed);
    }

    /// What was read of it so far.
    pub(super) fn traffic(&self) -> Traffic {
        let TrafficCount { read, unpacked } = &*self.traffic;
        Traffic { read: read.load(Ordering::Relaxed), unpacked: unpacked.load(Ordering::Relaxed) }
    }

    /// Its size on disk.
    pub(super) fn len(&self) -> u64 {
        self.stamp.len
    }

    /// Opens it, if it is still what it was.
    pub(super) fn open(&self) -> Result<Arc<File>> {
        let file = match &self.spool {
            Some(file) => Arc::clone(file),
            None => Arc::new(File::open(&self.name).map_err(|error| self.unreadable(&error))?),
        };
        self.check(&file)?;
        Ok(file)
    }

    /// Fails if the file is no longer what it was when first seen.
    pub(super) fn check(&self, file: &File) -> Result<()> {
        let metadata = file.metadata().map_err(|error| self.unreadable(&error))?;
        if Stamp::of(&metadata) == self.stamp { Ok(()) } else { Err(self.changed()) }
    }

    pub(super) fn changed(&self) -> Error {
        self.error("changed while it was being read; run again".to_owned())
    }

    pub(super) fn unreadable(&self, error: &io::Error) -> Error {
        unreadable(&self.name, error)
    }

    pub(super) fn error(&self, problem: impl Into<Problem>) -> Error {
        Error::file(&self.name, problem)
    }
}

/// The error for a path that cannot be opened or read.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> Error {
    let what = match error.kind() {
        io::ErrorKind::NotFound => "does not exist; check the path".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "cannot be read: permission denied; change its permissions or leave it out".to_owned()
        }
        _ => format!("cannot be read: {error}; check the disk and run again"),
    };
    Error::file(path, what)
}

/// Reads a shared file from a place of its own.
#[derive(Debug)]
pub(super) struct FileCursor {
    pub(super) file: Arc<File>,
    pub(super) offset: u64,
}

impl Read for FileCursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let count = std::os::unix::fs::FileExt::read_at(&*self.file, buffer, self.offset)?;
        #[cfg(windows)]
        let count = std::os::windows::fs::FileExt::seek_read(&*self.file, buffer, self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }
}

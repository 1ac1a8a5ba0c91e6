//! How much memory a run may use, and how it is shared out.

use std::path::PathBuf;

use super::{Temp, size};
use crate::Result;

/// Less than this is gone before the first record is read.
pub const LEAST_MEMORY: usize = 16 << 20;

/// The shares of what a run may use, and where the rest goes.
///
/// At the same time in memory are, at most: keys, fingerprints, hashes of ids, ids, values, kept records and the audit's
/// keys (13 of 16 shares, and the chunks at work beside them); then ids, values, buckets, kept and loaded records and
/// what is first in them (14); then caches and matches in the place of what the chunks took.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    memory: usize,
    pub(crate) temp: Temp,
}

impl Budget {
    pub(crate) fn new(memory: usize, temp: Temp) -> Self {
        Self { memory, temp }
    }

    /// Refuses a run that needs more bytes of temporary files than the disk has.
    pub(crate) fn check_space(&self, needed: u64) -> Result<()> {
        self.temp.expect(needed);
        let folder = self.temp.folder();
        let Ok(disk) = rustix::fs::statvfs(folder) else { return Ok(()) };
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if needed <= free {
            return Ok(());
        }
        let (free, needed) = (size(free), size(needed));
        let what = format!("has {free} free, and about {needed} are needed for temporary files");
        Err(self.temp.too_small(what))
    }

    /// So many sixteenths.
    pub(crate) fn share(&self, sixteenths: usize) -> usize {
        self.memory / 16 * sixteenths
    }
}

/// A fair share of the machine: half of what is free, within what the process may have.
pub fn fair_share() -> usize {
    /// Where nothing can be learned.
    const UNKNOWN: usize = 2 << 30;
    let free = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| available(&text));
    let allowed = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let allowed = allowed.and_then(|text| text.trim().parse::<usize>().ok());
    let share = free.into_iter().chain(allowed).min().map_or(UNKNOWN, |bytes| bytes / 2);
    share.max(LEAST_MEMORY)
}

fn available(meminfo: &str) -> Option<usize> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()? << 10)
}

/// The folder for temporary files: the user's or the system's.
pub(crate) fn folder(temp: Option<&PathBuf>) -> PathBuf {
    temp.cloned().unwrap_or_else(std::env::temp_dir)
}

//! How much memory a run may use, and how it is shared out.

use std::path::PathBuf;

use super::{Temp, size};
use crate::Result;

/// Less than this is gone before the first record is read.
pub const LEAST_MEMORY: usize = 16 << 20;

/// The shares of what a run may use, and where the rest goes.
///
/// At the same time in memory are, at most: keys, fingerprints, hashes of ids, ids, values, kept records and the audit's
/// keys (13 of 16 shares, and the chunks at work beside them); then, when hashes are gone, the audit's buckets and draws; then
/// ids, values, buckets, kept and loaded records, what is first in them, and what the audit's draws share (15); then caches
/// and matches in the place of what the chunks took.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    memory: usize,
    pub(crate) temp: Temp,
}

impl Budget {
    pub(crate) fn new(memory: usize, temp: Temp) -> Self {
        Self { memory, temp }
    }

    /// Watches something grow that is this much when it is complete, of which this share of the memory holds a part.
    pub(crate) fn watch(&self, all: u64, sixteenths: usize) -> SpaceWatch<'_> {
        SpaceWatch {
            budget: self,
            all,
            done: 0,
            next: all / 16,
            room: self.share(sixteenths) as u64,
        }
    }

    /// Refuses a run that needs more bytes of temporary files, beside those it has, than the disk has.
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

/// Looks now and then whether the disk has room for the rest of what is written, by what was written so far.
pub(crate) struct SpaceWatch<'a> {
    budget: &'a Budget,
    all: u64,
    done: u64,
    /// How much is done at the next look.
    next: u64,
    room: u64,
}

impl SpaceWatch<'_> {
    /// Some more is done; `bytes` says how many all of it has come to.
    pub(crate) fn done(&mut self, more: u64, bytes: impl FnOnce() -> u64) -> Result<()> {
        self.done += more;
        if self.done < self.next.max(1) || self.done >= self.all {
            return Ok(());
        }
        self.next = 2 * self.done;
        let left = (self.all - self.done) as f64 / self.done as f64;
        self.budget.check_space(((bytes() as f64 * left) as u64).saturating_sub(self.room))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The system has no more than 2^60 bytes of disk free.
    #[test]
    fn what_is_written_is_checked_again_when_more_is_known() {
        let budget = Budget::new(LEAST_MEMORY, Temp::passing(std::env::temp_dir()));
        // Of 1000 parts, each of which takes 2^52 bytes: 2^62.
        let mut watch = budget.watch(1000, 4);
        let refused = (1..=1000u64).find(|done| watch.done(1, || done << 52).is_err());
        assert_eq!(refused, Some(62));
        // Small at first, and large at the end: four looks.
        let mut watch = budget.watch(1000, 4);
        let bytes = |done: u64| if done < 490 { 0 } else { 1 << 61 };
        let refused = (1..=1000).find(|&done| watch.done(1, || bytes(done)).is_err());
        assert_eq!(refused, Some(496));
        // What fits in memory needs no disk, and what is complete needs no more.
        let mut watch = budget.watch(1000, 4);
        assert!((1..=1000).all(|done| watch.done(1, || done << 12).is_ok()));
        let mut watch = budget.watch(1, 4);
        assert!(watch.done(1, || 1 << 62).is_ok());
    }
}

//! Syncs a file to disk while it is still being written, so that less is left to wait for at the end.

use std::fs::File;
use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Bytes between two calls to the disk.
const STEP: usize = 4 << 20;

/// Syncs one file from a thread of its own.
#[derive(Debug, Default)]
pub(super) struct DiskSync {
    waiting: usize,
    disk: Option<(SyncSender<()>, JoinHandle<io::Result<()>>)>,
}

impl DiskSync {
    /// `count` more bytes were written to `file`.
    pub(super) fn written(&mut self, file: &File, count: usize) {
        self.waiting += count;
        if self.waiting < STEP {
            return;
        }
        self.waiting = 0;
        // Without a thread, or while it is busy, all that is lost is time at the end.
        if self.disk.is_none() {
            self.disk = start(file).ok();
        }
        if let Some((ask, _)) = &self.disk {
            let _ = ask.try_send(());
        }
    }

    /// Waits for the disk, and returns what went wrong: the system reports each failure once.
    pub(super) fn finish(self) -> io::Result<()> {
        let Some((ask, thread)) = self.disk else { return Ok(()) };
        drop(ask);
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread that syncs has died")))
    }
}

fn start(file: &File) -> io::Result<(SyncSender<()>, JoinHandle<io::Result<()>>)> {
    let file = file.try_clone()?;
    let (ask, asked) = sync_channel(1);
    let sync = move || asked.iter().try_for_each(|()| file.sync_data());
    Ok((ask, thread::Builder::new().spawn(sync)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disk_is_called_for_every_step_and_heard_at_the_end() {
        let file = tempfile::tempfile().unwrap();
        let mut early = DiskSync::default();
        early.written(&file, STEP - 1);
        assert!(early.disk.is_none());
        early.written(&file, 1);
        assert!(early.disk.is_some());
        early.finish().unwrap();
    }

    #[test]
    fn what_went_wrong_on_disk_is_told_at_the_end() {
        let (ask, asked) = sync_channel::<()>(1);
        let thread =
            thread::spawn(move || asked.iter().try_for_each(|()| Err(io::Error::other("full"))));
        let mut early = DiskSync { waiting: STEP - 1, disk: Some((ask, thread)) };
        early.written(&tempfile::tempfile().unwrap(), 1);
        assert_eq!(early.finish().unwrap_err().to_string(), "full");
    }
}

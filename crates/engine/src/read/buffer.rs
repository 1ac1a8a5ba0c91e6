//! Reuses the memory of chunks, because fresh memory costs a page fault every 4 KiB, and must be cleared.

use std::io::{self, Read};
use std::ops::Deref;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The free buffers of one scan.
#[derive(Clone, Debug, Default)]
pub(super) struct BufferPool(Arc<Pool>);

#[derive(Debug, Default)]
struct Pool {
    state: Mutex<PoolState>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct PoolState {
    free: Vec<Vec<u8>>,
    /// Whether a buffer is in use that must be the only large one.
    has_large: bool,
}

/// Larger buffers are given back to the system.
const KEPT: usize = 4 << 20;

impl BufferPool {
    /// An empty buffer.
    pub(super) fn take(&self) -> Buffer {
        let memory = self.0.lock().free.pop();
        Buffer {
            memory: memory.unwrap_or_default(),
            start: 0,
            len: 0,
            is_large: false,
            pool: self.clone(),
        }
    }

    /// An empty buffer that is the only large one: waits until no other is in use.
    pub(super) fn take_large(&self) -> Buffer {
        let mut buffer = self.take();
        buffer.be_the_large_one();
        buffer
    }
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes, in memory of a pool.
#[derive(Debug)]
pub(super) struct Buffer {
    /// Bytes from `len` on are left from earlier uses.
    memory: Vec<u8>,
    /// Bytes before `start` are passed.
    start: usize,
    len: usize,
    is_large: bool,
    pool: BufferPool,
}

impl Buffer {
    /// Whether other large ones wait until it is dropped.
    pub(super) fn is_large(&self) -> bool {
        self.is_large
    }

    /// Waits until no other large buffer of the pool is in use. Until it is dropped, it is the only one.
    pub(super) fn be_the_large_one(&mut self) {
        if self.is_large {
            return;
        }
        let pool = &self.pool.0;
        let mut state = pool.lock();
        while state.has_large {
            state = pool.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.has_large = true;
        self.is_large = true;
    }

    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Keeps the first `len` bytes.
    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(self.start + len);
    }

    /// Takes the first `count` bytes off.
    pub(super) fn pass(&mut self, count: usize) {
        self.start = self.len.min(self.start + count);
    }

    /// Appends the next `count` bytes, or those that are left; returns how many.
    pub(super) fn read_from(&mut self, reader: &mut dyn Read, count: usize) -> io::Result<usize> {
        let start = self.len;
        let mut room = self.room(count);
        let mut read = 0;
        while !room.is_empty() {
            match reader.read(room) {
                Ok(0) => break,
                Ok(more) => {
                    read += more;
                    room = &mut room[more..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.len = start + read;
        Ok(read)
    }

    /// Another `count` bytes, to be overwritten.
    fn room(&mut self, count: usize) -> &mut [u8] {
        let end = self.len + count;
        if self.memory.len() < end {
            self.memory.resize(end, 0);
        }
        &mut self.memory[self.len..end]
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.start..self.len]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let memory = std::mem::take(&mut self.memory);
        let pool = &self.pool.0;
        let mut state = pool.lock();
        if memory.len() <= KEPT {
            state.free.push(memory);
        }
        if self.is_large {
            state.has_large = false;
            pool.freed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_and_what_was_in_it_is_not_seen() {
        let pool = BufferPool::default();
        let mut first = pool.take();
        first.append(b"some longer text");
        let place = first.as_ptr();
        drop(first);
        let mut second = pool.take();
        assert_eq!((second.as_ptr(), second.len()), (place, 0));
        assert_eq!(second.read_from(&mut &b"short"[..], 10).unwrap(), 5);
        assert_eq!(&second[..], b"short");
        second.append(b"er");
        second.truncate(6);
        assert_eq!(&second[..], b"shorte");
        assert_ne!(pool.take().as_ptr(), place);
    }
}

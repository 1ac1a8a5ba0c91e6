//! Files of lines, cut at fixed places, so that many threads read and cut one file side by side: plain ones every so many
//! bytes, packed ones where their frames end.
//!
//! A chunk has the records that begin behind the first byte of its range and up to the first byte behind it. Who reads it
//! looks for the first line end in it and the first behind it, so no thread waits for another. Lines are counted in each chunk: the number of a line in its file is known when
//! somebody asks for it, which errors do.

use super::{
    buffer::{Buffer, BufferPool},
    chunker::LongRecord,
    format::Compression,
    frames::Frames,
    item_limit::ItemLimit,
    kept::{ChunkText, KeptPlace, KeptRoom},
    rereadable::{FileCursor, Rereadable},
    text::{Unpacker, broken},
};
use crate::Result;
use memchr::{memchr, memchr_iter, memrchr};
use std::{
    collections::HashMap,
    fs::File,
    io,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// Where the chunks of a file lie.
#[derive(Debug)]
pub(super) struct Ranges {
    /// Where the text begins, after a byte-order mark.
    start: u64,
    cuts: RangeCuts,
    limit: ItemLimit,
    lines: Mutex<LineCounts>,
    kept: KeptTexts,
}

#[derive(Debug)]
enum RangeCuts {
    /// Up to this byte, a chunk of so many.
    Plain { end: u64, step: u64 },
    /// A chunk for each group of frames.
    Frames(Frames),
}

/// Chunks that were unpacked and kept, with the long records behind them.
type KeptTexts = Mutex<HashMap<u32, (KeptPlace, Option<LongRecord>)>>;

/// Line ends of chunks.
#[derive(Debug, Default)]
struct LineCounts {
    of_chunk: Vec<Option<u32>>,
    /// Those before each of the first chunks.
    before: Vec<u64>,
}

/// The records of a chunk.
#[derive(Debug)]
pub(super) struct RangeText {
    /// Whole records.
    pub(super) bytes: ChunkText,
    /// The record behind them, if it is longer than items may be.
    pub(super) long: Option<LongRecord>,
}

impl Ranges {
    /// Cuts a plain file whose text begins at the byte `start`.
    pub(super) fn new(
        stored: &Rereadable,
        start: u64,
        chunk_bytes: usize,
        limit: ItemLimit,
    ) -> Self {
        // A record that is too long is the last of its chunk.
        let step = chunk_bytes.min(limit.bytes).max(2) as u64;
        let start = start.min(stored.len());
        let cuts = RangeCuts::Plain { end: stored.len(), step };
        Self { start, cuts, limit, lines: Mutex::default(), kept: Mutex::default() }
    }

    /// Cuts a packed file whose text begins at the byte `start` of what it becomes.
    pub(super) fn of_frames(frames: Frames, start: u64, limit: ItemLimit) -> Self {
        let cuts = RangeCuts::Frames(frames);
        Self { start, cuts, limit, lines: Mutex::default(), kept: Mutex::default() }
    }

    /// How many chunks there are.
    pub(super) fn count(&self) -> u32 {
        match &self.cuts {
            RangeCuts::Plain { end, step } => (end - self.start).div_ceil(*step) as u32,
            RangeCuts::Frames(frames) => frames.count(),
        }
    }

    /// Bytes of a chunk in the file.
    pub(super) fn bytes(&self, chunk: u32) -> u64 {
        match &self.cuts {
            RangeCuts::Plain { .. } => self.size(chunk) as u64,
            RangeCuts::Frames(frames) => frames.packed(chunk),
        }
    }

    /// Bytes of a chunk's range, unpacked.
    fn size(&self, chunk: u32) -> usize {
        match &self.cuts {
            RangeCuts::Plain { end, step } => {
                (end - self.start - u64::from(chunk) * step).min(*step) as usize
            }
            RangeCuts::Frames(frames) => frames.size(chunk),
        }
    }

    /// Reads the bytes of a chunk's range, and hands back what gives those behind it.
    fn read_range(
        &self,
        chunk: u32,
        stored: &Rereadable,
        file: &Arc<File>,
        bytes: &mut Buffer,
    ) -> Result<Unpacker> {
        let failed = |error: io::Error| broken(stored, self.compression(), 0, &error);
        let size = self.size(chunk);
        match &self.cuts {
            RangeCuts::Plain { step, .. } => {
                let offset = self.start + u64::from(chunk) * step;
                let mut reader = Unpacker::plain(FileCursor { file: Arc::clone(file), offset });
                match self.fill(stored, &mut reader, bytes, size)? == size {
                    true => Ok(reader),
                    false => Err(stored.changed()),
                }
            }
            RangeCuts::Frames(frames) => {
                let mut reader = frames.unpack(file, chunk).map_err(failed)?;
                // Behind the last byte, too, where a checksum may be wrong.
                if self.fill(stored, &mut reader, bytes, size + 1)? != size {
                    let kind = frames.compression().name();
                    let what =
                        format!("corrupt {kind} data: a part of it is not as long as it says");
                    return Err(stored.error(format!("{what}; get the file again")));
                }
                frames.unpack_from(file, chunk + 1).map_err(failed)
            }
        }
    }

    fn fill(
        &self,
        stored: &Rereadable,
        reader: &mut Unpacker,
        bytes: &mut Buffer,
        count: usize,
    ) -> Result<usize> {
        let taken = reader.taken();
        let read = bytes.read_from(reader, count);
        let read =
            read.map_err(|error| broken(stored, self.compression(), reader.taken(), &error))?;
        match self.compression() {
            Compression::Plain => stored.count(read as u64, 0),
            _ => stored.count(reader.taken() - taken, read as u64),
        }
        Ok(read)
    }

    fn compression(&self) -> Compression {
        match &self.cuts {
            RangeCuts::Plain { .. } => Compression::Plain,
            RangeCuts::Frames(frames) => frames.compression(),
        }
    }

    /// Reads a chunk.
    pub(super) fn read(
        &self,
        chunk: u32,
        stored: &Rereadable,
        file: &Arc<File>,
        pool: &BufferPool,
        room: &KeptRoom,
    ) -> Result<RangeText> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_packed = matches!(self.cuts, RangeCuts::Frames(_));
        let place = is_packed.then(|| kept().get(&chunk).copied()).flatten();
        if let Some((place, long)) = place
            && let Some(text) = room.text(place)
        {
            return Ok(RangeText { bytes: ChunkText::Kept(text), long });
        }
        let text = self.read_unchecked(chunk, stored, file, pool)?;
        stored.check(file)?;
        let lines = lines(&text.bytes) + text.long.map_or(0, |long| long.lines);
        self.count_lines(chunk, lines as u32);
        // Others wait until a large one is gone.
        let is_kept = is_packed && place.is_none() && !text.bytes.is_large();
        if let Some(place) = is_kept.then(|| room.keep(&text.bytes)).flatten() {
            kept().insert(chunk, (place, text.long));
        }
        Ok(text)
    }

    fn read_unchecked(
        &self,
        chunk: u32,
        stored: &Rereadable,
        file: &Arc<File>,
        pool: &BufferPool,
    ) -> Result<RangeText> {
        /// Bytes that are read on to find the end of the last record.
        const BEHIND: usize = 4 << 10;
        let mut bytes = pool.take();
        let mut reader = self.read_range(chunk, stored, file, &mut bytes)?;
        let within = bytes.len();
        let is_last = chunk + 1 == self.count();
        let mut fill = |bytes: &mut Buffer, count| self.fill(stored, &mut reader, bytes, count);
        if !is_last {
            fill(&mut bytes, BEHIND)?;
        }
        let first = match (chunk, &self.cuts) {
            (0, RangeCuts::Plain { .. }) => Some(0),
            (0, RangeCuts::Frames(_)) => Some(self.start as usize),
            _ => memchr(b'\n', &bytes[..within]).map(|at| at + 1),
        };
        let Some(first) = first else {
            bytes.truncate(0);
            return Ok(RangeText { bytes: ChunkText::Read(bytes), long: None });
        };
        let mut scanned = within;
        let mut step = BEHIND;
        let mut long = None;
        let end = loop {
            if is_last {
                break bytes.len();
            }
            if let Some(at) = memchr(b'\n', &bytes[scanned..]) {
                break scanned + at + 1;
            }
            scanned = bytes.len();
            let last = memrchr(b'\n', &bytes[first..within]).map_or(first, |at| first + at + 1);
            if bytes.len() - last > self.limit.bytes {
                long = Some(self.pass_over(&mut bytes, last, &mut fill)?);
                break last;
            }
            if bytes.len() - last > self.limit.alone {
                bytes.be_the_large_one();
            }
            step = (2 * step).min(1 << 20);
            if fill(&mut bytes, step)? == 0 {
                break scanned; // the file ends without a line end
            }
        };
        let is_long = |length: usize| length > self.limit.bytes;
        let last = memrchr(b'\n', &bytes[first..end.saturating_sub(1).max(first)])
            .map_or(first, |at| first + at + 1);
        let end = if long.is_none() && is_long(end - last) {
            let lines = lines(&bytes[last..end]);
            long = Some(LongRecord { bytes: (end - last) as u64, lines, before: 0 });
            last
        } else {
            end
        };
        bytes.truncate(end);
        bytes.pass(first);
        Ok(RangeText { bytes: ChunkText::Read(bytes), long })
    }

    /// Finds the end of the record that begins at `start`, without holding it.
    fn pass_over(
        &self,
        bytes: &mut Buffer,
        start: usize,
        fill: &mut impl FnMut(&mut Buffer, usize) -> Result<usize>,
    ) -> Result<LongRecord> {
        const STEP: usize = 512 << 10;
        let mut record = LongRecord { bytes: (bytes.len() - start) as u64, lines: 0, before: 0 };
        let kept = bytes.len();
        loop {
            bytes.truncate(kept);
            if fill(bytes, STEP)? == 0 {
                return Ok(record);
            }
            if let Some(at) = memchr(b'\n', &bytes[kept..]) {
                record.bytes += at as u64 + 1;
                record.lines = 1;
                return Ok(record);
            }
            record.bytes += (bytes.len() - kept) as u64;
        }
    }

    fn count_lines(&self, chunk: u32, lines: u32) {
        let mut counts = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let len = counts.of_chunk.len().max(chunk as usize + 1);
        counts.of_chunk.resize(len, None);
        counts.of_chunk[chunk as usize] = Some(lines);
    }

    /// Line ends of all chunks before this one. Those that were not read yet are read.
    pub(super) fn lines_before(&self, chunk: u32, stored: &Rereadable) -> Result<u64> {
        let pool = BufferPool::default();
        let mut file = None;
        loop {
            let missing = {
                let mut counts = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
                let LineCounts { of_chunk, before } = &mut *counts;
                let mut missing = None;
                while before.len() <= chunk as usize {
                    let at = before.len();
                    let lines = match at.checked_sub(1) {
                        None => 0,
                        Some(last) => match of_chunk.get(last) {
                            Some(&Some(lines)) => before[last] + u64::from(lines),
                            _ => {
                                missing = Some(last as u32);
                                break;
                            }
                        },
                    };
                    before.push(lines);
                }
                match missing {
                    None => return Ok(before[chunk as usize]),
                    Some(missing) => missing,
                }
            };
            let file = match &file {
                Some(file) => file,
                None => file.insert(stored.open()?),
            };
            self.read(missing, stored, file, &pool, &KeptRoom::default())?;
        }
    }
}

/// A chunk that is read when it is needed.
#[derive(Debug)]
pub(super) struct UnreadText {
    file: Arc<File>,
    pool: BufferPool,
    room: KeptRoom,
    text: OnceLock<RangeText>,
}

impl UnreadText {
    pub(super) fn new(file: &Arc<File>, pool: &BufferPool, room: &KeptRoom) -> Self {
        let (file, pool, room) = (Arc::clone(file), pool.clone(), room.clone());
        Self { file, pool, room, text: OnceLock::new() }
    }

    /// The text, read now unless it was before.
    pub(super) fn text(
        &self,
        chunk: u32,
        ranges: &Ranges,
        stored: &Rereadable,
    ) -> Result<&RangeText> {
        if let Some(text) = self.text.get() {
            return Ok(text);
        }
        let text = ranges.read(chunk, stored, &self.file, &self.pool, &self.room)?;
        Ok(self.text.get_or_init(|| text))
    }

    /// The text, read now unless it was before.
    pub(super) fn into_text(
        self,
        chunk: u32,
        ranges: &Ranges,
        stored: &Rereadable,
    ) -> Result<RangeText> {
        match self.text.into_inner() {
            Some(text) => Ok(text),
            None => ranges.read(chunk, stored, &self.file, &self.pool, &self.room),
        }
    }

    /// The text, if it has been read.
    pub(super) fn read_text(&self) -> Option<&RangeText> {
        self.text.get()
    }
}

fn lines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

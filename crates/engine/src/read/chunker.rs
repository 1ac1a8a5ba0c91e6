//! Cuts a stream of bytes into chunks of whole records.
//!
//! A chunk ends with the last record that ends within its first `chunk_bytes`; where none does, it
//! grows until its first record ends. The cuts depend on the bytes alone, so they are the same in every scan.
//!
//! A record that is longer than items may be is passed over: its bytes are counted, and not held.

use super::{
    buffer::{Buffer, BufferPool},
    item_limit::ItemLimit,
    json_array::{ArrayMark, ArrayScanner},
    text::TextReader,
};
use crate::Result;
use memchr::{memchr, memchr_iter, memchr3, memrchr};

/// Where records end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ends {
    /// At every line feed.
    Lines,
    /// At line ends outside quotes; the byte is the delimiter.
    Quoted(u8),
    /// Behind the commas between elements of a JSON array, which must end before the file does.
    Elements,
}

/// Takes whole records off a stream.
pub(super) struct Chunker {
    ends: Ends,
    chunk_bytes: usize,
    limit: ItemLimit,
    pool: BufferPool,
    carry: Buffer,
    done: bool,
    /// Whether the end of the array was seen, if it is one.
    has_ended: bool,
}

/// What [`Chunker::next`] found.
pub(super) enum NextChunk {
    /// Whole records.
    Records(Buffer),
    /// A record that is longer than items may be.
    TooLong(LongRecord),
    /// The file ended inside quotes that were opened in the record starting at this byte of the data.
    OpenQuote(Buffer, usize),
    /// The file ended inside an array, in or before the element starting at this byte of the data.
    OpenArray(Buffer, usize),
    /// Nothing is left.
    End,
}

/// What is known of a record that was passed over.
#[derive(Clone, Copy, Debug)]
pub(super) struct LongRecord {
    /// Its length, with its line end.
    pub(super) bytes: u64,
    /// Its line ends.
    pub(super) lines: u64,
    /// Those before its first byte that is not blank, of the elements of an array.
    pub(super) before: u64,
}

impl LongRecord {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.lines += memchr_iter(b'\n', bytes).count() as u64;
    }
}

impl Chunker {
    pub(super) fn new(ends: Ends, chunk_bytes: usize, limit: ItemLimit, pool: BufferPool) -> Self {
        // A record that is too long must not end within the first bytes of a chunk.
        let chunk_bytes = chunk_bytes.min(limit.bytes).max(2);
        let carry = pool.take();
        Self { ends, chunk_bytes, limit, carry, pool, done: false, has_ended: false }
    }

    pub(super) fn next(&mut self, text: &mut TextReader) -> Result<NextChunk> {
        let mut buffer = std::mem::replace(&mut self.carry, self.pool.take());
        let mut finder = Finder::new(self.ends);
        if buffer.len() >= self.chunk_bytes {
            // What was left is as much as a chunk: that may be records, too.
            finder.feed(&buffer);
            finder.stop_at_first = finder.end == 0;
        }
        while !self.done {
            let missing = self.chunk_bytes.saturating_sub(buffer.len());
            let count = if missing == 0 { self.chunk_bytes } else { missing };
            self.done = text.fill(&mut buffer, count)? < count;
            finder.feed(&buffer);
            if finder.end > 0 && (!self.done || finder.stop_at_first) {
                self.carry_on(&buffer[finder.end..]);
                buffer.truncate(finder.end);
                let long = finder.stop_at_first && buffer.len() > self.limit.bytes;
                return Ok(if long { self.too_long(&buffer) } else { NextChunk::Records(buffer) });
            }
            // From here on it is one record.
            finder.stop_at_first = true;
            if buffer.len() > self.limit.bytes {
                return self.pass_over(text, buffer, finder);
            }
            if buffer.len() > self.limit.alone {
                buffer.be_the_large_one();
            }
        }
        self.has_ended |= finder.array.has_ended();
        let is_open = matches!(self.ends, Ends::Elements) && !self.has_ended;
        Ok(match buffer.is_empty() {
            _ if is_open => NextChunk::OpenArray(buffer, finder.end),
            true => NextChunk::End,
            false if finder.in_quotes() => NextChunk::OpenQuote(buffer, finder.end),
            false => NextChunk::Records(buffer),
        })
    }

    /// What comes after a chunk, at most as much as a chunk has.
    fn carry_on(&mut self, bytes: &[u8]) {
        self.carry.append(bytes);
        self.done &= bytes.is_empty();
    }

    fn too_long(&self, record: &[u8]) -> NextChunk {
        let mut long = LongRecord { bytes: 0, lines: 0, before: self.blank_lines(record) };
        long.add(record);
        NextChunk::TooLong(long)
    }

    /// Line ends before the first byte of an element.
    fn blank_lines(&self, record: &[u8]) -> u64 {
        let blank = record.len() - record.trim_ascii_start().len();
        match self.ends {
            Ends::Elements => memchr_iter(b'\n', &record[..blank]).count() as u64,
            Ends::Lines | Ends::Quoted(_) => 0,
        }
    }

    /// Finds the end of a record without holding it.
    fn pass_over(
        &mut self,
        text: &mut TextReader,
        mut buffer: Buffer,
        mut finder: Finder,
    ) -> Result<NextChunk> {
        let before = self.blank_lines(&buffer);
        let mut record = LongRecord { bytes: 0, lines: 0, before };
        while finder.end == 0 && !self.done {
            // A carriage return may be half a line end, so the last byte stays.
            let last = buffer.len() - 1;
            record.add(&buffer[..last]);
            let kept = buffer[last];
            buffer.truncate(0);
            buffer.append(&[kept]);
            finder.scanned = 1;
            let count = self.chunk_bytes - 1;
            self.done = text.fill(&mut buffer, count)? < count;
            finder.feed(&buffer);
        }
        if finder.end == 0 && finder.in_quotes() {
            buffer.truncate(0);
            return Ok(NextChunk::OpenQuote(buffer, 0));
        }
        self.has_ended |= finder.array.has_ended();
        if finder.end == 0 && matches!(self.ends, Ends::Elements) && !self.has_ended {
            buffer.truncate(0);
            return Ok(NextChunk::OpenArray(buffer, 0));
        }
        let end = if finder.end == 0 { buffer.len() } else { finder.end };
        record.add(&buffer[..end]);
        self.carry_on(&buffer[end..]);
        Ok(NextChunk::TooLong(record))
    }
}

/// The end of the last record that ends in `bytes`; 0 if none does.
pub(super) fn last_end(ends: Ends, bytes: &[u8]) -> usize {
    let mut finder = Finder::new(ends);
    finder.feed(bytes);
    finder.end
}

/// The end of the first record in `bytes` that is not a blank line.
pub(super) fn first_record(ends: Ends, bytes: &[u8]) -> Option<usize> {
    let mut finder = Finder::new(ends);
    let start = bytes.iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
    finder.scanned = start;
    finder.end = start;
    finder.stop_at_first = true;
    finder.feed(bytes);
    (finder.end > start).then_some(finder.end)
}

/// Follows the records of a growing buffer and remembers where the last whole one ended.
///
/// Quotes follow the rules of the `csv` crate: they open only at the start of a field, `""` stands
/// for one quote, and `\r`, `\n` and `\r\n` each end a record.
struct Finder {
    ends: Ends,
    state: State,
    array: ArrayScanner,
    scanned: usize,
    end: usize,
    stop_at_first: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    FieldStart,
    Unquoted,
    Quoted,
    QuoteInQuotes,
    AfterReturn,
}

impl Finder {
    fn new(ends: Ends) -> Self {
        let (state, array) = (State::FieldStart, ArrayScanner::default());
        Self { ends, state, array, scanned: 0, end: 0, stop_at_first: false }
    }

    fn in_quotes(&self) -> bool {
        self.state == State::Quoted
    }

    fn feed(&mut self, buffer: &[u8]) {
        match self.ends {
            Ends::Lines => {
                let rest = &buffer[self.scanned..];
                let end =
                    if self.stop_at_first { memchr(b'\n', rest) } else { memrchr(b'\n', rest) };
                if let Some(at) = end {
                    self.end = self.scanned + at + 1;
                }
            }
            Ends::Quoted(delimiter) => self.follow(delimiter, buffer),
            Ends::Elements => self.follow_array(buffer),
        }
        self.scanned = buffer.len();
    }

    fn follow_array(&mut self, buffer: &[u8]) {
        let mut at = self.scanned;
        while let Some(mark) = self.array.next(buffer, &mut at) {
            if mark == ArrayMark::Comma {
                self.end = at;
                if self.stop_at_first {
                    return;
                }
            }
        }
    }

    fn follow(&mut self, delimiter: u8, buffer: &[u8]) {
        let mut at = self.scanned;
        let start = self.end;
        while at < buffer.len() && !(self.stop_at_first && self.end > start) {
            at += match self.state {
                State::Quoted => memchr(b'"', &buffer[at..]).unwrap_or(buffer.len() - at),
                State::Unquoted => {
                    memchr3(delimiter, b'\n', b'\r', &buffer[at..]).unwrap_or(buffer.len() - at)
                }
                _ => 0,
            };
            if let Some(&byte) = buffer.get(at) {
                self.step(delimiter, byte, at);
                at += 1;
            }
        }
    }

    fn step(&mut self, delimiter: u8, byte: u8, at: usize) {
        if self.state == State::AfterReturn {
            self.end = at; // the lone `\r` before this byte ended a record
            self.state = State::FieldStart;
        }
        self.state = match (self.state, byte) {
            (State::Quoted, b'"') => State::QuoteInQuotes,
            (State::Quoted, _) => State::Quoted,
            (State::FieldStart | State::QuoteInQuotes, b'"') => State::Quoted,
            (_, b'\n') => {
                self.end = at + 1;
                State::FieldStart
            }
            (_, b'\r') => State::AfterReturn,
            (_, byte) if byte == delimiter => State::FieldStart,
            _ => State::Unquoted,
        };
    }
}

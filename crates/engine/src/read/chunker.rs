//! Cuts a stream of bytes into chunks of whole records.
//!
//! A chunk ends with the last record that ends within its first `chunk_bytes`; where none does, it
//! grows until one ends. The cuts depend on the bytes alone, so they are the same in every scan.

use super::{
    buffer::{Buffer, BufferPool},
    text::TextReader,
};
use crate::Result;
use memchr::{memchr, memchr3, memrchr};

/// Where records end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ends {
    /// At every line feed.
    Lines,
    /// At line ends outside quotes; the byte is the delimiter.
    Quoted(u8),
}

/// Takes whole records off a stream.
pub(super) struct Chunker {
    ends: Ends,
    chunk_bytes: usize,
    pool: BufferPool,
    carry: Buffer,
    done: bool,
}

/// What [`Chunker::next`] found.
pub(super) enum NextChunk {
    /// Whole records.
    Records(Buffer),
    /// The file ended inside quotes that were opened in the record starting at this byte of the data.
    OpenQuote(Buffer, usize),
    /// Nothing is left.
    End,
}

impl Chunker {
    pub(super) fn new(ends: Ends, chunk_bytes: usize) -> Self {
        let pool = BufferPool::default();
        Self { ends, chunk_bytes: chunk_bytes.max(1), carry: pool.take(), pool, done: false }
    }

    pub(super) fn next(&mut self, text: &mut TextReader) -> Result<NextChunk> {
        let mut buffer = std::mem::replace(&mut self.carry, self.pool.take());
        let mut finder = Finder::new(self.ends);
        while !self.done {
            let missing = self.chunk_bytes.saturating_sub(buffer.len());
            let count = if missing == 0 { self.chunk_bytes } else { missing };
            self.done = text.fill(&mut buffer, count)? < count;
            finder.feed(&buffer);
            if finder.end > 0 && !self.done {
                self.carry.append(&buffer[finder.end..]);
                buffer.truncate(finder.end);
                return Ok(NextChunk::Records(buffer));
            }
        }
        Ok(match buffer.is_empty() {
            true => NextChunk::End,
            false if finder.in_quotes() => NextChunk::OpenQuote(buffer, finder.end),
            false => NextChunk::Records(buffer),
        })
    }
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
        Self { ends, state: State::FieldStart, scanned: 0, end: 0, stop_at_first: false }
    }

    fn in_quotes(&self) -> bool {
        self.state == State::Quoted
    }

    fn feed(&mut self, buffer: &[u8]) {
        match self.ends {
            Ends::Lines => {
                if let Some(at) = memrchr(b'\n', &buffer[self.scanned..]) {
                    self.end = self.scanned + at + 1;
                }
            }
            Ends::Quoted(delimiter) => self.follow(delimiter, buffer),
        }
        self.scanned = buffer.len();
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

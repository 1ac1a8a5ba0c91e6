//! One pass over the input: its chunks, in order.
//!
//! A chunk is cheap to make: the bytes as they are (decompressed), or a note of which rows or files
//! to read. Taking it apart is the work of [`Input::decode`], on as many threads as there are.

use super::{
    Input, InputFile, ItemLimit, Kind, ReadOptions, Syntax,
    buffer::{Buffer, BufferPool},
    chunker::{Chunker, LongRecord, NextChunk},
    rereadable::Rereadable,
    table::Stretch,
    text::TextReader,
};
use crate::{Error, Result};
use std::{ops::Range, sync::OnceLock};

/// A part of the input that is decoded at once.
#[derive(Debug)]
pub struct Chunk {
    /// Its place among all chunks of the input, from 0; the same in every scan.
    pub number: usize,
    /// Bytes consumed from disk since the chunk before, for progress.
    pub bytes: u64,
    pub(super) source: usize,
    pub(super) data: Data,
}

/// What to decode.
#[derive(Debug)]
pub(super) enum Data {
    /// Whole records, and the number of their first line.
    Text {
        bytes: Buffer,
        line: u64,
    },
    /// One record that is longer than items may be: its length, and the number of its first line.
    TooLong {
        bytes: u64,
        line: u64,
    },
    Rows(Stretch),
    Files(Range<usize>),
}

/// Says which chunks are not needed.
pub type Skip<'a> = &'a (dyn Fn(usize) -> bool + Sync);

/// Where a chunk of text lies, remembered from the first whole scan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    bytes: u64,
    line: u64,
    is_too_long: bool,
}

/// The chunks of an input, one after the other.
pub struct Scan<'a> {
    input: &'a Input,
    skip: Option<Skip<'a>>,
    source: usize,
    number: usize,
    /// Bytes that were passed over since the last chunk handed out.
    passed: u64,
    cursor: Option<Cursor<'a>>,
    failed: bool,
}

impl<'a> Scan<'a> {
    pub(super) fn new(input: &'a Input, skip: Option<Skip<'a>>) -> Self {
        Self { input, skip, source: 0, number: 0, passed: 0, cursor: None, failed: false }
    }

    fn advance(&mut self) -> Result<Option<Chunk>> {
        while let Some(source) = self.input.sources.get(self.source) {
            let mut cursor = match self.cursor.take() {
                Some(cursor) => cursor,
                None => Cursor::open(source, &self.input.options)?,
            };
            let (skip, number) = (self.skip, self.number);
            let skipped = || skip.is_some_and(|skip| skip(number));
            match cursor.next(source, &skipped)? {
                None => self.source += 1,
                Some((bytes, data)) => {
                    self.cursor = Some(cursor);
                    self.number += 1;
                    self.passed += bytes;
                    if let Some(data) = data {
                        let bytes = std::mem::take(&mut self.passed);
                        return Ok(Some(Chunk { number, bytes, source: self.source, data }));
                    }
                }
            }
        }
        Ok(None)
    }
}

impl Iterator for Scan<'_> {
    type Item = Result<Chunk>;

    fn next(&mut self) -> Option<Result<Chunk>> {
        if self.failed {
            return None;
        }
        let next = self.advance();
        self.failed = next.is_err();
        next.transpose()
    }
}

/// A place in one source.
enum Cursor<'a> {
    Replay(Replay<'a>),
    Cut(Box<FirstScan<'a>>),
    Rows(usize),
    Files(usize),
}

/// The bytes a chunk took, and its data unless it is skipped.
type ScanStep = (u64, Option<Data>);

impl<'a> Cursor<'a> {
    fn open(source: &'a InputFile, options: &ReadOptions) -> Result<Self> {
        let Kind::Text { stored, compression, syntax, marks } = &source.kind else {
            return Ok(if matches!(source.kind, Kind::Folder { .. }) {
                Self::Files(0)
            } else {
                Self::Rows(0)
            });
        };
        let mut text = TextReader::open(stored, *compression)?;
        let mut line = 1;
        if let Syntax::Csv(header) = syntax {
            text.skip(header.bytes as u64)?;
            line += header.lines;
        }
        Ok(match marks.get() {
            Some(marks) => Self::Replay(Replay {
                stored,
                text,
                pool: BufferPool::default(),
                marks,
                next: 0,
                taken: 0,
                limit: options.max_item,
            }),
            None => Self::Cut(Box::new(FirstScan {
                stored,
                text,
                cutter: Chunker::new(syntax.ends(), options.chunk_bytes, options.max_item),
                line,
                taken: 0,
                cuts: Vec::new(),
                marks,
            })),
        })
    }

    fn next(&mut self, source: &InputFile, skipped: &dyn Fn() -> bool) -> Result<Option<ScanStep>> {
        match (self, &source.kind) {
            (Self::Cut(cutting), _) => cutting.next(skipped),
            (Self::Replay(replay), _) => replay.next(skipped),
            (Self::Rows(next), Kind::Table { table, .. }) => {
                let stretch = table.stretches.get(*next).copied();
                *next += 1;
                Ok(stretch.map(|rows| (rows.bytes, (!skipped()).then_some(Data::Rows(rows)))))
            }
            (Self::Files(next), Kind::Folder { documents, runs }) => {
                let Some(run) = runs.get(*next).cloned() else { return Ok(None) };
                *next += 1;
                let bytes = documents[run.clone()].iter().map(|one| one.stored.len()).sum();
                Ok(Some((bytes, (!skipped()).then_some(Data::Files(run)))))
            }
            _ => Ok(None),
        }
    }
}

/// A later scan of a text file, which knows the cuts.
struct Replay<'a> {
    stored: &'a Rereadable,
    text: TextReader<'a>,
    pool: BufferPool,
    marks: &'a [Mark],
    next: usize,
    taken: u64,
    limit: ItemLimit,
}

impl Replay<'_> {
    fn next(&mut self, skipped: &dyn Fn() -> bool) -> Result<Option<ScanStep>> {
        let Some(mark) = self.marks.get(self.next).copied() else { return Ok(None) };
        self.next += 1;
        let is_skipped = skipped();
        let data = if is_skipped || mark.is_too_long {
            self.text.skip(mark.bytes)?;
            (!is_skipped).then_some(Data::TooLong { bytes: mark.bytes, line: mark.line })
        } else {
            let count = mark.bytes as usize;
            let mut bytes = self.pool.take();
            if count > self.limit.alone {
                bytes.be_the_large_one();
            }
            if self.text.fill(&mut bytes, count)? != count {
                return Err(self.stored.changed());
            }
            Some(Data::Text { bytes, line: mark.line })
        };
        let mut taken = self.text.taken();
        if self.next == self.marks.len() {
            self.text.check()?;
            taken = self.stored.len(); // what follows the last record, such as a checksum
        }
        let before = std::mem::replace(&mut self.taken, taken);
        Ok(Some((taken - before, data)))
    }
}

/// The first scan of a text file, which finds the cuts that later scans use again.
struct FirstScan<'a> {
    stored: &'a Rereadable,
    text: TextReader<'a>,
    cutter: Chunker,
    line: u64,
    taken: u64,
    cuts: Vec<Mark>,
    marks: &'a OnceLock<Vec<Mark>>,
}

impl FirstScan<'_> {
    fn next(&mut self, skipped: &dyn Fn() -> bool) -> Result<Option<ScanStep>> {
        let line = self.line;
        let (bytes, data) = match self.cutter.next(&mut self.text)? {
            NextChunk::Records(bytes) => {
                self.line += lines(&bytes);
                (bytes.len() as u64, Data::Text { bytes, line })
            }
            NextChunk::TooLong(LongRecord { bytes, lines }) => {
                self.line += lines;
                (bytes, Data::TooLong { bytes, line })
            }
            NextChunk::OpenQuote(bytes, start) => {
                return Err(Error::input(
                    self.stored.name.clone(),
                    self.line + lines(&bytes[..start]),
                    "a quote is opened here and never closed, so all that follows is one record; close it, or \
                     double it where it stands for itself",
                ));
            }
            NextChunk::End => {
                // Two scans at once may both get here, with the same cuts.
                let _ = self.marks.set(std::mem::take(&mut self.cuts));
                return Ok(None);
            }
        };
        self.cuts.push(Mark { bytes, line, is_too_long: matches!(data, Data::TooLong { .. }) });
        let before = std::mem::replace(&mut self.taken, self.text.taken());
        Ok(Some((self.taken - before, (!skipped()).then_some(data))))
    }
}

fn lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

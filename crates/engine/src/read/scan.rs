//! One pass over the input: the chunks of each file, in order.
//!
//! A chunk is the bytes as they are, unpacked, or a note of which bytes, rows or files to read. Taking it apart is the work
//! of [`Input::decode`], on as many threads as there are. Files are lanes: they are read side by side.

use super::{
    Cuts, Input, InputFile, ItemLimit, Kind,
    buffer::{Buffer, BufferPool},
    chunker::{Chunker, LongRecord, NextChunk},
    kept::{ChunkText, KeptPlace, KeptRoom},
    ranges::{RangeText, Ranges, UnreadText},
    rereadable::Rereadable,
    table::Stretch,
    text::TextReader,
};
use crate::error::{Error, Problem, Result};
use crate::item::{ChunkNumber, Lane, Lanes, SkipChunk};
use std::{
    fs::File,
    ops::Range,
    sync::{Arc, OnceLock},
};

/// A part of the input that is decoded at once.
#[derive(Debug)]
pub struct Chunk {
    /// Its file, and its place in that; the same in every scan.
    pub number: ChunkNumber,
    /// Bytes consumed from disk since the chunk before, for progress.
    pub bytes: u64,
    pub(super) data: Data,
}

impl Chunk {
    /// Which of the input's files it is of.
    pub(super) fn source(&self) -> usize {
        self.number.part as usize
    }

    /// Whether another large item waits until this chunk is dropped.
    pub(super) fn holds_large_one(&self) -> bool {
        match &self.data {
            Data::Files(_, large) => large.is_some(),
            _ => self.text().is_some_and(ChunkText::is_large),
        }
    }

    /// The bytes of its records, if it is text and was read.
    pub(super) fn text(&self) -> Option<&ChunkText> {
        match &self.data {
            Data::Text { bytes, .. } => Some(bytes),
            Data::Unread(unread) => unread.read_text().map(|text| &text.bytes),
            _ => None,
        }
    }
}

/// What to decode.
#[derive(Debug)]
pub(super) enum Data {
    /// Whole records, and the number of their first line.
    Text {
        bytes: ChunkText,
        line: u64,
    },
    /// One record that is longer than items may be: its length, and the number of its first line.
    TooLong {
        bytes: u64,
        line: u64,
    },
    /// Whole records that are yet to be read, of a file that is cut at fixed places.
    Unread(UnreadText),
    Rows(Stretch),
    /// Documents of a folder. A large one is alone, and holds an empty buffer so that others wait.
    Files(Range<usize>, Option<Buffer>),
}

/// Where a chunk of text lies, remembered from the first whole scan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    bytes: u64,
    line: u64,
    is_too_long: bool,
    kept: Option<KeptPlace>,
}

impl Input {
    /// The chunks of each file. Those for which `skip` says yes are not handed out, and where possible not read; the others
    /// keep their numbers.
    pub fn lanes<'a>(&'a self, skip: SkipChunk<'a>) -> Lanes<'a, Chunk> {
        let pool = BufferPool::default();
        let lane = move |(part, source): (usize, &'a InputFile)| Lane {
            is_cheap: source.is_cut(),
            chunks: Box::new(FileScan {
                source,
                limit: self.options.max_item,
                chunk_bytes: self.options.chunk_bytes,
                pool: pool.clone(),
                room: &self.kept_room,
                skip,
                number: ChunkNumber { part: part as u32, chunk: 0 },
                passed: 0,
                cursor: None,
                has_ended: false,
            }),
        };
        Box::new(self.sources.iter().enumerate().map(lane))
    }

    /// All chunks, one file after the other, each read when it is handed out.
    pub fn scan<'a>(&'a self) -> impl Iterator<Item = Result<Chunk>> + Send + 'a {
        let mut lines = (0, 1);
        self.lanes(&|_| false).flat_map(|lane| lane.chunks).flat_map(move |chunk| {
            let read = chunk.and_then(|chunk| self.read_now(chunk, &mut lines));
            let (first, long) = match read {
                Ok((first, long)) => (Ok(first), long),
                Err(error) => (Err(error), None),
            };
            std::iter::once(first).chain(long.map(Ok))
        })
    }

    /// A chunk with what was unread in it, and behind it the record that is too long. `at` is the part that was read last,
    /// and the number of its next line.
    fn read_now(&self, chunk: Chunk, at: &mut (u32, u64)) -> Result<(Chunk, Option<Chunk>)> {
        let Chunk { number, bytes, data: Data::Unread(unread) } = chunk else {
            return Ok((chunk, None));
        };
        if at.0 != number.part {
            *at = (number.part, 1);
        }
        let Some((stored, ranges)) = self.sources[number.part as usize].ranges() else {
            return Err(self.asked(&self.sources[number.part as usize]).of_another());
        };
        let RangeText { bytes: text, long } = unread.into_text(number.chunk, ranges, stored)?;
        let line = at.1;
        at.1 += lines(&text);
        let long = long.map(|LongRecord { bytes, lines, .. }| {
            let line = at.1;
            at.1 += lines;
            Chunk { number, bytes: 0, data: Data::TooLong { bytes, line } }
        });
        Ok((Chunk { number, bytes, data: Data::Text { bytes: text, line } }, long))
    }
}

impl InputFile {
    /// Whether it is known where its chunks are before anything is read.
    fn is_cut(&self) -> bool {
        match &self.kind {
            Kind::Text { cuts, .. } => matches!(cuts, Cuts::Ranges(_)),
            Kind::Table { .. } | Kind::Folder { .. } => true,
        }
    }

    /// Where the chunks of a file are that is cut at fixed places.
    pub(super) fn ranges(&self) -> Option<(&Rereadable, &Ranges)> {
        match &self.kind {
            Kind::Text { stored, cuts: Cuts::Ranges(ranges), .. } => Some((stored, ranges)),
            _ => None,
        }
    }
}

/// The chunks of one file, one after the other.
struct FileScan<'a> {
    source: &'a InputFile,
    limit: ItemLimit,
    chunk_bytes: usize,
    pool: BufferPool,
    room: &'a KeptRoom,
    skip: SkipChunk<'a>,
    number: ChunkNumber,
    /// Bytes that were passed over since the last chunk handed out.
    passed: u64,
    cursor: Option<Cursor<'a>>,
    has_ended: bool,
}

impl<'a> FileScan<'a> {
    fn advance(&mut self) -> Result<Option<Chunk>> {
        let mut cursor = match self.cursor.take() {
            Some(cursor) => cursor,
            None => self.open()?,
        };
        loop {
            let number = self.number;
            let Some((bytes, data)) = cursor.next(self.source, number, &|| (self.skip)(number))?
            else {
                return Ok(None);
            };
            self.number.chunk += 1;
            self.passed += bytes;
            if let Some(data) = data {
                self.cursor = Some(cursor);
                return Ok(Some(Chunk { number, bytes: std::mem::take(&mut self.passed), data }));
            }
        }
    }

    fn open(&self) -> Result<Cursor<'a>> {
        let (stored, form, syntax, cuts) = match &self.source.kind {
            Kind::Text { stored, form, syntax, cuts } => (stored, *form, syntax, cuts),
            Kind::Folder { .. } => {
                return Ok(Cursor::Files { pool: self.pool.clone(), alone: self.limit.alone });
            }
            Kind::Table { .. } => return Ok(Cursor::Rows),
        };
        let marks = match cuts {
            Cuts::Ranges(ranges) => {
                return Ok(Cursor::Ranges {
                    ranges,
                    file: stored.open()?,
                    pool: self.pool.clone(),
                    room: self.room,
                });
            }
            Cuts::Marks(marks) => marks,
        };
        let wanted = |&number: &u32| !(self.skip)(ChunkNumber { chunk: number, ..self.number });
        let count = marks.get().map(|marks| match form.is_plain() {
            true => marks.len(),
            // Nothing is unpacked behind the last chunk that is wanted.
            false => (0..marks.len() as u32).rev().find(wanted).map_or(0, |last| last as usize + 1),
        });
        if count == Some(0) {
            return Ok(Cursor::Nothing);
        }
        let mut text = TextReader::open(stored, form)?;
        let (bytes, lines) = syntax.before();
        text.skip(bytes)?;
        let line = 1 + lines;
        let pool = self.pool.clone();
        Ok(match marks.get() {
            Some(marks) => {
                let count = count.unwrap_or(0);
                Cursor::Replay(Replay {
                    stored,
                    text,
                    pool,
                    marks,
                    count,
                    passed: 0,
                    room: self.room,
                    taken: 0,
                    limit: self.limit,
                })
            }
            None => Cursor::Cut(Box::new(FirstScan {
                stored,
                text,
                cutter: Chunker::new(syntax.ends(), self.chunk_bytes, self.limit, pool),
                line,
                taken: 0,
                cuts: Vec::new(),
                marks,
                room: (!form.is_plain()).then_some(self.room),
            })),
        })
    }
}

impl Iterator for FileScan<'_> {
    type Item = Result<Chunk>;

    fn next(&mut self) -> Option<Result<Chunk>> {
        if self.has_ended {
            return None;
        }
        let next = self.advance().transpose();
        self.has_ended = !matches!(next, Some(Ok(_)));
        next
    }
}

/// A place in one source.
enum Cursor<'a> {
    Replay(Replay<'a>),
    Cut(Box<FirstScan<'a>>),
    Ranges {
        ranges: &'a Ranges,
        file: Arc<File>,
        pool: BufferPool,
        room: &'a KeptRoom,
    },
    Rows,
    /// Documents of more than `alone` bytes come one at a time.
    Files {
        pool: BufferPool,
        alone: usize,
    },
    Nothing,
}

/// The bytes a chunk took, and its data unless it is skipped.
type ScanStep = (u64, Option<Data>);

impl Cursor<'_> {
    fn next(
        &mut self,
        source: &InputFile,
        number: ChunkNumber,
        skipped: &dyn Fn() -> bool,
    ) -> Result<Option<ScanStep>> {
        let at = number.chunk as usize;
        match (self, &source.kind) {
            (Self::Cut(cutting), _) => cutting.next(skipped),
            (Self::Replay(replay), _) => replay.next(at, skipped),
            (Self::Ranges { ranges, file, pool, room }, _) => {
                if number.chunk >= ranges.count() {
                    return Ok(None);
                }
                let data = (!skipped()).then(|| Data::Unread(UnreadText::new(file, pool, room)));
                Ok(Some((ranges.bytes(number.chunk), data)))
            }
            (Self::Rows, Kind::Table { table, .. }) => {
                let stretch = table.stretches.get(at).copied();
                Ok(stretch.map(|rows| (rows.bytes, (!skipped()).then_some(Data::Rows(rows)))))
            }
            (Self::Files { pool, alone }, Kind::Folder { documents, runs, .. }) => {
                let Some(run) = runs.get(at).cloned() else { return Ok(None) };
                let bytes = documents[run.clone()].iter().map(|one| one.stored.len()).sum();
                let large = || (bytes > *alone as u64).then(|| pool.take_large());
                Ok(Some((bytes, (!skipped()).then(|| Data::Files(run, large())))))
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
    /// How many of them are gone through.
    count: usize,
    /// Bytes before the next chunk that are not wanted, or were kept.
    passed: u64,
    room: &'a KeptRoom,
    taken: u64,
    limit: ItemLimit,
}

impl Replay<'_> {
    fn next(&mut self, at: usize, skipped: &dyn Fn() -> bool) -> Result<Option<ScanStep>> {
        let Some(Mark { bytes: count, line, is_too_long, kept }) =
            self.marks[..self.count].get(at).copied()
        else {
            return Ok(None);
        };
        let is_skipped = skipped();
        let kept = kept.filter(|_| !is_skipped).and_then(|place| self.room.text(place));
        let (data, passed) = match kept.map(ChunkText::Kept) {
            Some(bytes) => (Some(Data::Text { bytes, line }), count),
            None if is_skipped => (None, count),
            None if is_too_long => (Some(Data::TooLong { bytes: count, line }), count),
            None => (Some(Data::Text { bytes: ChunkText::Read(self.read(count)?), line }), 0),
        };
        self.passed += passed;
        let mut taken = self.text.taken();
        if at + 1 == self.marks.len() {
            self.text.check()?;
            taken = self.stored.len(); // what follows the last record, such as a checksum
        }
        let before = std::mem::replace(&mut self.taken, taken);
        Ok(Some((taken - before, data)))
    }
}

impl Replay<'_> {
    /// The next bytes behind those that are passed over.
    fn read(&mut self, count: u64) -> Result<Buffer> {
        self.text.skip(std::mem::take(&mut self.passed))?;
        let count = count as usize;
        let mut bytes = self.pool.take();
        if count > self.limit.alone {
            bytes.be_the_large_one();
        }
        match self.text.fill(&mut bytes, count)? == count {
            true => Ok(bytes),
            false => Err(self.stored.changed()),
        }
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
    /// None if later scans read the file as it is.
    room: Option<&'a KeptRoom>,
}

impl FirstScan<'_> {
    fn next(&mut self, skipped: &dyn Fn() -> bool) -> Result<Option<ScanStep>> {
        let mut line = self.line;
        let (bytes, data) = match self.cutter.next(&mut self.text)? {
            NextChunk::Records(bytes) => {
                self.line += lines(&bytes);
                (bytes.len() as u64, Data::Text { bytes: ChunkText::Read(bytes), line })
            }
            NextChunk::TooLong(LongRecord { bytes, lines, before }) => {
                self.line += lines;
                line += before;
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
            NextChunk::OpenArray(bytes, start) => {
                let blank = bytes[start..].len() - bytes[start..].trim_ascii_start().len();
                let problem = Problem::new(
                    "the array is not closed: the file ends in or before the element that begins here",
                );
                let line = self.line + lines(&bytes[..start + blank]);
                let error = Error::input(self.stored.name.clone(), line, problem);
                return Err(error.or("get the file again").or("close the array"));
            }
            NextChunk::End => {
                // Two scans at once may both get here, with the same cuts.
                let _ = self.marks.set(std::mem::take(&mut self.cuts));
                return Ok(None);
            }
        };
        let kept = match (&data, self.room) {
            // Others wait until a large one is gone.
            (Data::Text { bytes, .. }, Some(room)) if !bytes.is_large() => room.keep(bytes),
            _ => None,
        };
        let is_too_long = matches!(data, Data::TooLong { .. });
        self.cuts.push(Mark { bytes, line, is_too_long, kept });
        let before = std::mem::replace(&mut self.taken, self.text.taken());
        Ok(Some((self.taken - before, (!skipped()).then_some(data))))
    }
}

fn lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

//! Pieces of files with one record per line. A machine that reads only its part of a file uses them.

use super::{
    Format, IdSource, OnError, ReadOptions, RecordFilter,
    batch_builder::ReadRequest,
    copy::Stretches,
    lines,
    rereadable::{FileCursor, unreadable},
    too_long,
};
use crate::item::Batch;
use crate::{Error, Result};
use memchr::{memchr, memrchr};
use std::{fs::File, io::Read, ops::Range, path::PathBuf, sync::Arc};

/// Reads the records of a file that has one per line, from bytes that the caller brings.
#[derive(Debug)]
pub struct Pieces {
    path: PathBuf,
    /// What the file is called in messages.
    name: PathBuf,
    options: ReadOptions,
    ids: IdSource,
    is_text: bool,
}

/// What [`Pieces::each`] comes to.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    /// Whole lines.
    Lines(&'a [u8]),
    /// A line of so many bytes, which is longer than items may be and was not held.
    TooLong(u64),
}

impl Pieces {
    /// Pieces of the file at `path`: lines of text by [`ReadOptions::format`], else of JSON. Every record has an id in
    /// the field that the options name, or none has one.
    pub fn new(path: PathBuf, options: ReadOptions) -> Self {
        let ids = match &options.id {
            Some(name) => IdSource::Field(name.clone()),
            None => IdSource::Ignored,
        };
        let is_text = options.format == Some(Format::Txt);
        Self { name: path.clone(), path, options, ids, is_text }
    }

    /// The same pieces, of a copy of this file: messages name the file.
    #[must_use]
    pub fn copied_from(self, name: PathBuf) -> Self {
        Self { name, ..self }
    }

    /// Whether records that cannot be used are left out.
    pub fn skips(&self) -> bool {
        self.options.on_error == OnError::Skip
    }

    /// Takes the wanted records of a piece apart. Its first line has this number.
    ///
    /// # Errors
    /// When a record cannot be used or is too large, unless such are skipped.
    pub fn decode(
        &self,
        piece: Piece<'_>,
        first: u64,
        wanted: RecordFilter,
    ) -> Result<Batch<'static>> {
        let asked = ReadRequest { path: &self.name, options: &self.options, ids: &self.ids };
        let batch = match piece {
            Piece::TooLong(bytes) => too_long(bytes, first, asked, wanted),
            Piece::Lines(lines) if self.is_text => lines::decode_txt(lines, first, asked, wanted),
            Piece::Lines(lines) => lines::decode_jsonl(lines, first, asked, wanted),
        };
        asked.within_limit(batch?)
    }

    /// Appends the wanted records as they came, and says how many the piece has. One that is too long is left out.
    pub fn copy(&self, piece: Piece<'_>, wanted: RecordFilter, out: &mut Vec<u8>) -> u32 {
        let Piece::Lines(piece) = piece else { return 1 };
        let mut stretches = Stretches::new(b"\n");
        let records = lines::copy(piece, self.is_text, wanted, &mut stretches);
        stretches.of(piece).for_each(|stretch| out.extend_from_slice(stretch));
        records
    }

    /// Where the records of a piece start.
    pub fn offsets(&self, piece: Piece<'_>, out: &mut Vec<u32>) {
        out.clear();
        match piece {
            Piece::Lines(lines) => lines::offsets(lines, self.is_text, out),
            Piece::TooLong(_) => out.push(0),
        }
    }

    /// The record that starts at this byte of the file, into `line`.
    ///
    /// # Errors
    /// When the file cannot be read there.
    pub fn line_at(&self, file: &Arc<File>, offset: u64, line: &mut Vec<u8>) -> Result<()> {
        /// Most records are shorter.
        const STEP: usize = 8 << 10;
        line.clear();
        let mut at = FileCursor { file: Arc::clone(file), offset };
        loop {
            let filled = line.len();
            line.resize(filled + STEP.max(filled), 0);
            let read =
                at.read(&mut line[filled..]).map_err(|error| unreadable(&self.path, &error))?;
            line.truncate(filled + read);
            match memchr(b'\n', &line[filled..]) {
                Some(end) => line.truncate(filled + end + 1),
                None if read > 0 => continue,
                None => {}
            }
            return Ok(());
        }
    }

    /// Opens the file.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(&self) -> Result<Arc<File>> {
        File::open(&self.path).map(Arc::new).map_err(|error| unreadable(&self.path, &error))
    }

    /// Reads these bytes of the file, which are whole lines. Calls `each` with some lines at a time, few enough for a near
    /// cache, and with the byte at which they start.
    ///
    /// # Errors
    /// When the file cannot be read, or ends before.
    pub fn each(
        &self,
        bytes: Range<u64>,
        mut each: impl FnMut(Piece<'_>, u64) -> Result<()>,
    ) -> Result<()> {
        let mut left = bytes.end.saturating_sub(bytes.start) as usize;
        let mut at = FileCursor { file: self.open()?, offset: bytes.start };
        let limit = self.options.max_item.bytes;
        let mut lines = LineBuffer::new(self.options.chunk_bytes.min(limit).max(2), limit);
        let mut start = bytes.start;
        while left > 0 || !lines.is_empty() {
            let room = lines.room();
            let most = room.len().min(left);
            let read =
                at.read(&mut room[..most]).map_err(|error| unreadable(&self.name, &error))?;
            if read == 0 && most > 0 {
                let what = "changed while it was being read; run again".to_owned();
                return Err(Error::file(self.name.clone(), what));
            }
            left -= read;
            if let Some(piece) = lines.filled(read, left == 0) {
                each(piece, start)?;
                start += lines.go_on();
            }
        }
        Ok(())
    }

    /// Where the parts of a file of this size start. No part is larger than `most`, apart from its last line.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn starts(&self, bytes: u64, most: u64) -> Result<Vec<u64>> {
        const STEP: usize = 64 << 10;
        let failed = |error: &std::io::Error| unreadable(&self.path, error);
        let file = self.open()?;
        let (mut starts, mut buffer) = (vec![0], vec![0; STEP]);
        let mut offset = most;
        while offset < bytes {
            let mut at = FileCursor { file: Arc::clone(&file), offset };
            let read = at.read(&mut buffer).map_err(|error| failed(&error))?;
            match memchr(b'\n', &buffer[..read]) {
                Some(end) if offset + (end as u64) + 1 < bytes => {
                    starts.push(offset + end as u64 + 1);
                    offset += end as u64 + 1 + most;
                }
                None if read > 0 => offset += read as u64,
                _ => break,
            }
        }
        Ok(starts)
    }
}

/// Bytes of lines, as they are read. A line that is longer than items may be is counted, and not held.
struct LineBuffer {
    bytes: Vec<u8>,
    filled: usize,
    /// How many bytes have no line end in them.
    searched: usize,
    /// Whether these are all of one line, which is longer than a piece.
    is_one: bool,
    /// Bytes of this line that were passed over.
    passed: u64,
    /// Where the piece at hand ends.
    end: usize,
    /// Bytes of a piece, and of a line at most.
    most: usize,
    limit: usize,
}

impl LineBuffer {
    fn new(most: usize, limit: usize) -> Self {
        let (is_one, passed) = (false, 0);
        Self { bytes: vec![0; most], filled: 0, searched: 0, is_one, passed, end: 0, most, limit }
    }

    fn is_empty(&self) -> bool {
        self.filled == 0 && self.passed == 0
    }

    /// Room for more bytes; none if there are lines already.
    fn room(&mut self) -> &mut [u8] {
        if self.filled == self.bytes.len() && self.searched == self.filled {
            self.is_one = true;
            if self.filled > self.limit {
                self.passed += self.filled as u64;
                (self.filled, self.searched) = (0, 0);
            } else {
                // What is behind a long line must not have room for another one.
                let room = self.limit.saturating_add(1).min(2 * self.filled);
                self.bytes.resize(room, 0);
            }
        }
        &mut self.bytes[self.filled..]
    }

    /// The lines that are whole now that there are so many more bytes, which may be the last.
    fn filled(&mut self, more: usize, is_last: bool) -> Option<Piece<'_>> {
        self.filled += more;
        let fresh = &self.bytes[self.searched..self.filled];
        let found = if self.is_one { memchr(b'\n', fresh) } else { memrchr(b'\n', fresh) };
        let end = match found {
            Some(at) if self.is_one || !is_last => self.searched + at + 1,
            _ if is_last => self.filled,
            _ => {
                self.searched = self.filled;
                return None;
            }
        };
        self.end = end;
        let bytes = self.passed + end as u64;
        Some(match self.is_one && bytes > self.limit as u64 {
            true => Piece::TooLong(bytes),
            false => Piece::Lines(&self.bytes[..end]),
        })
    }

    /// Makes room for what comes after the piece at hand; how many bytes that had.
    fn go_on(&mut self) -> u64 {
        let bytes = self.passed + self.end as u64;
        self.bytes.copy_within(self.end..self.filled, 0);
        self.filled -= self.end;
        // Behind one line there may be others.
        self.searched = if self.is_one { 0 } else { self.filled };
        (self.is_one, self.passed) = (false, 0);
        self.bytes.truncate(self.most.max(self.filled));
        bytes
    }
}

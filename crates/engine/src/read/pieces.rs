//! Pieces of files with one record per line. A machine that reads only its part of a file uses them.

use super::{
    Format, IdSource, OnError, ReadOptions, RecordFilter,
    batch_builder::ReadRequest,
    copy::Stretches,
    lines,
    rereadable::{FileCursor, unreadable},
};
use crate::item::Batch;
use crate::{Error, Result};
use memchr::{memchr, memrchr};
use std::{fs::File, io::Read, ops::Range, path::PathBuf, sync::Arc};

/// Reads the records of a file that has one per line, from bytes that the caller brings.
#[derive(Debug)]
pub struct Pieces {
    path: PathBuf,
    options: ReadOptions,
    ids: IdSource,
    is_text: bool,
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
        Self { path, options, ids, is_text }
    }

    /// Whether records that cannot be used are left out.
    pub fn skips(&self) -> bool {
        self.options.on_error == OnError::Skip
    }

    /// Takes the wanted records apart. The piece holds whole lines, of which the first has this number.
    ///
    /// # Errors
    /// When a record cannot be used, unless such are skipped.
    pub fn decode(&self, piece: &[u8], first: u64, wanted: RecordFilter) -> Result<Batch<'static>> {
        let asked = ReadRequest { path: &self.path, options: &self.options, ids: &self.ids };
        match self.is_text {
            true => lines::decode_txt(piece, first, asked, wanted),
            false => lines::decode_jsonl(piece, first, asked, wanted),
        }
    }

    /// Appends the wanted records as they came, and says how many the piece has.
    pub fn copy(&self, piece: &[u8], wanted: RecordFilter, out: &mut Vec<u8>) -> u32 {
        let mut stretches = Stretches::new(b"\n");
        let records = lines::copy(piece, self.is_text, wanted, &mut stretches);
        stretches.of(piece).for_each(|stretch| out.extend_from_slice(stretch));
        records
    }

    /// Where the records of a piece start.
    pub fn offsets(&self, piece: &[u8], out: &mut Vec<u32>) {
        out.clear();
        lines::offsets(piece, self.is_text, out);
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
        mut each: impl FnMut(&[u8], u64) -> Result<()>,
    ) -> Result<()> {
        let failed = |error: &std::io::Error| unreadable(&self.path, error);
        let file = self.open()?;
        let mut left = bytes.end.saturating_sub(bytes.start) as usize;
        let mut at = FileCursor { file, offset: bytes.start };
        let (mut buffer, mut filled) = (vec![0; self.options.chunk_bytes], 0);
        let mut start = bytes.start;
        while left > 0 || filled > 0 {
            if filled == buffer.len() {
                buffer.resize(2 * filled, 0);
            }
            let room = (buffer.len() - filled).min(left);
            let read =
                at.read(&mut buffer[filled..filled + room]).map_err(|error| failed(&error))?;
            if read == 0 && left > 0 {
                let what = "changed while it was being read; run again".to_owned();
                return Err(Error::file(self.path.clone(), what));
            }
            left -= read;
            let fresh = filled;
            filled += read;
            let end = match left {
                0 => filled,
                _ => memrchr(b'\n', &buffer[fresh..filled]).map_or(0, |at| fresh + at + 1),
            };
            if end > 0 {
                each(&buffer[..end], start)?;
                start += end as u64;
                buffer.copy_within(end..filled, 0);
                filled -= end;
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

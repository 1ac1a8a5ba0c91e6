//! The bytes of a text file, decompressed, from after its byte-order mark.

use super::{
    buffer::{Buffer, BufferPool},
    encoding::{DecodingReader, ENCODING_BYTES, TextEncoding},
    format::Compression,
    rereadable::{FileCursor, Rereadable},
};
use crate::{Error, Result};
use std::{
    fs::File,
    io::{self, BufReader, Read},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A reader of one text file, from its start to its end.
pub(super) struct TextReader<'a> {
    stored: &'a Rereadable,
    file: Arc<File>,
    form: TextForm,
    bytes: Bytes,
    /// Read to look for a byte-order mark, and not yet handed out.
    ahead: Vec<u8>,
}

/// How a text is packed, and how its characters are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextForm {
    pub(super) compression: Compression,
    /// None if it is UTF-8.
    pub(super) encoding: Option<TextEncoding>,
}

impl TextForm {
    /// Of texts in UTF-8.
    pub(super) fn utf8(compression: Compression) -> Self {
        Self { compression, encoding: None }
    }

    /// Whether the bytes of the file are those of the text.
    pub(super) fn is_plain(self) -> bool {
        self.compression == Compression::Plain && self.encoding.is_none()
    }
}

enum Bytes {
    Plain(FileCursor),
    Packed(Unpacker),
}

/// Unpacks a file from some place on.
pub(super) struct Unpacker {
    reader: Box<dyn Read + Send>,
    /// Where in the file its next bytes are.
    taken: Arc<AtomicU64>,
}

impl Unpacker {
    /// Of the next `limit` bytes of the file.
    pub(super) fn new(at: FileCursor, limit: u64, compression: Compression) -> io::Result<Self> {
        let taken = Arc::new(AtomicU64::new(at.offset));
        let counted = CountingReader { inner: at.take(limit), taken: Arc::clone(&taken) };
        let buffered = || BufReader::with_capacity(PACKED_BUFFER, counted);
        let reader: Box<dyn Read + Send> = match compression {
            Compression::Plain => Box::new(buffered()),
            Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(buffered())),
            Compression::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(buffered())?;
                decoder.window_log_max(31)?; // what `zstd --long=31` writes
                Box::new(decoder)
            }
        };
        Ok(Self { reader, taken })
    }

    /// Gives the text in UTF-8.
    fn decoding(self, encoding: TextEncoding) -> Self {
        let Self { reader, taken } = self;
        Self { reader: Box::new(DecodingReader::new(reader, encoding)), taken }
    }

    /// Gives the bytes as they are.
    pub(super) fn plain(at: FileCursor) -> Self {
        let taken = Arc::new(AtomicU64::new(at.offset));
        Self { reader: Box::new(at), taken }
    }

    /// How far into the file it has taken bytes.
    pub(super) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
}

impl Read for Unpacker {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

impl<'a> TextReader<'a> {
    /// Opens a file that is no text, to be read in small pieces. A byte-order mark is part of it.
    pub(super) fn bytes(stored: &'a Rereadable, compression: Compression) -> Result<Self> {
        let mut bytes = Self::from_start(stored, TextForm::utf8(compression))?;
        if let Bytes::Plain(at) = bytes.bytes {
            let unpacker = Unpacker::new(at, u64::MAX, Compression::Plain);
            bytes.bytes = Bytes::Packed(unpacker.map_err(|error| stored.unreadable(&error))?);
        }
        Ok(bytes)
    }

    fn from_start(stored: &'a Rereadable, form: TextForm) -> Result<Self> {
        let file = stored.open()?;
        let bytes = Bytes::new(&file, form).map_err(|error| stored.unreadable(&error))?;
        Ok(Self { stored, file, form, bytes, ahead: Vec::new() })
    }

    /// How the text of a packed file or a plain one is written.
    pub(super) fn form(
        stored: &'a Rereadable,
        compression: Compression,
        asked: Option<TextEncoding>,
    ) -> Result<TextForm> {
        let mut text = Self::from_start(stored, TextForm::utf8(compression))?;
        let mut start = BufferPool::default().take();
        text.fill(&mut start, ENCODING_BYTES)?;
        let encoding = TextEncoding::tell(&start, asked);
        Ok(TextForm { compression, encoding: encoding.map_err(|problem| stored.error(problem))? })
    }

    pub(super) fn open(stored: &'a Rereadable, form: TextForm) -> Result<Self> {
        let mut text = Self::from_start(stored, form)?;
        let mut start = BufferPool::default().take();
        text.fill(&mut start, BYTE_ORDER_MARK.len())?;
        if *start != *BYTE_ORDER_MARK {
            text.ahead = start.to_vec();
        }
        Ok(text)
    }

    /// Appends up to `count` bytes; fewer only at the end of the file, which must then be unchanged.
    pub(super) fn fill(&mut self, buffer: &mut Buffer, count: usize) -> Result<usize> {
        let ahead = count.min(self.ahead.len());
        buffer.append(&self.ahead[..ahead]);
        self.ahead.drain(..ahead);
        let taken = self.taken();
        let read = buffer.read_from(self.bytes.reader(), count - ahead);
        let read = read.map_err(|error| self.broken(&error))?;
        self.count(taken, read as u64);
        if read < count - ahead {
            self.check()?;
        }
        Ok(ahead + read)
    }

    /// Appends the next `count` bytes, or as many as there are: in steps, so that a wrong count costs no
    /// memory.
    pub(super) fn fill_in_steps(&mut self, buffer: &mut Buffer, count: u64) -> Result<u64> {
        const STEP: u64 = 1 << 20;
        let mut read = 0;
        while read < count {
            let step = STEP.min(count - read);
            let more = self.fill(buffer, step as usize)? as u64;
            read += more;
            if more < step {
                break;
            }
        }
        Ok(read)
    }

    /// Passes over the next `count` bytes.
    pub(super) fn skip(&mut self, count: u64) -> Result<()> {
        let ahead = count.min(self.ahead.len() as u64);
        self.ahead.drain(..ahead as usize);
        let rest = count - ahead;
        let taken = self.taken();
        let skipped = match &mut self.bytes {
            Bytes::Plain(at) => {
                at.offset += rest;
                return Ok(());
            }
            Bytes::Packed(unpacker) => io::copy(&mut unpacker.take(rest), &mut io::sink())
                .map_err(|error| self.broken(&error))?,
        };
        self.count(taken, skipped);
        if skipped < rest { Err(self.stored.changed()) } else { Ok(()) }
    }

    /// Counts what was read since so many bytes were taken.
    fn count(&self, taken: u64, unpacked: u64) {
        let unpacked = if self.form.is_plain() { 0 } else { unpacked };
        self.stored.count(self.taken() - taken, unpacked);
    }

    /// Bytes of the byte-order mark with which a file begins.
    pub(super) fn mark(stored: &'a Rereadable, compression: Compression) -> Result<u64> {
        let mut text = Self::from_start(stored, TextForm::utf8(compression))?;
        let mut start = BufferPool::default().take();
        text.fill(&mut start, BYTE_ORDER_MARK.len())?;
        Ok(if *start == *BYTE_ORDER_MARK { start.len() as u64 } else { 0 })
    }

    /// Fails if the file has changed.
    pub(super) fn check(&self) -> Result<()> {
        self.stored.check(&self.file)
    }

    /// Bytes taken from the disk so far.
    pub(super) fn taken(&self) -> u64 {
        match &self.bytes {
            Bytes::Plain(at) => at.offset,
            Bytes::Packed(unpacker) => unpacker.taken(),
        }
    }

    fn broken(&self, error: &io::Error) -> Error {
        broken(self.stored, self.form.compression, self.taken(), error)
    }
}

/// The error for a file that cannot be read or unpacked, of which the decoder has taken this many bytes.
pub(super) fn broken(
    stored: &Rereadable,
    compression: Compression,
    taken: u64,
    error: &io::Error,
) -> Error {
    // The operating system's errors have a number; the decompressors' do not.
    if compression == Compression::Plain || error.raw_os_error().is_some() {
        return stored.unreadable(error);
    }
    let (kind, length) = (compression.name(), stored.len());
    let what = match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            format!(
                "truncated: the file ends after {length} bytes, in the middle of its {kind} data"
            )
        }
        // The decoder has taken some bytes beyond those that are wrong.
        _ => format!("corrupt {kind} data within the first {taken} of {length} bytes"),
    };
    stored.error(format!("{what}; get the file again"))
}

impl Bytes {
    fn new(file: &Arc<File>, form: TextForm) -> io::Result<Self> {
        let at = FileCursor { file: Arc::clone(file), offset: 0 };
        if form.is_plain() {
            return Ok(Self::Plain(at));
        }
        let unpacker = Unpacker::new(at, u64::MAX, form.compression)?;
        Ok(Self::Packed(match form.encoding {
            Some(encoding) => unpacker.decoding(encoding),
            None => unpacker,
        }))
    }

    fn reader(&mut self) -> &mut dyn Read {
        match self {
            Self::Plain(at) => at,
            Self::Packed(unpacker) => unpacker,
        }
    }
}

const PACKED_BUFFER: usize = 128 << 10;

/// Counts what is read.
struct CountingReader {
    inner: io::Take<FileCursor>,
    taken: Arc<AtomicU64>,
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

//! A collection of texts that can be read more than once, in chunks that many threads decode.

use std::path::{Path, PathBuf};

use crate::observe::Traffic;
use crate::{Error, Result};

use super::{ChunkNumber, Id, KeepValues, Lanes, one_lane};

/// A collection of texts. Chunks, and the records in them, are the same in every scan.
///
/// Chunks are made and decoded on the threads of a rayon pool, and must not wait for other work of that pool: a thread that
/// waits may be given another chunk meanwhile, and would wait for itself.
pub trait Source: Sync {
    /// A piece of the collection, not yet decoded.
    type Chunk: Send;

    /// Bytes that a scan goes through, for progress.
    fn bytes(&self) -> u64;

    /// The chunks of each part in order. A chunk for which `skip` says true by its number is left out where that
    /// saves work, or comes all the same.
    fn lanes<'a>(&'a self, skip: SkipChunk<'a>) -> Lanes<'a, Self::Chunk>;

    /// All chunks, one after the other.
    fn scan<'a>(
        &'a self,
        skip: SkipChunk<'a>,
    ) -> Box<dyn Iterator<Item = Result<Self::Chunk>> + Send + 'a>
    where
        Self::Chunk: 'a,
    {
        Box::new(self.lanes(skip).flat_map(|lane| lane.chunks))
    }

    /// Whether leaving chunks out saves most of the work of reading them.
    fn skips(&self) -> bool {
        true
    }

    /// Whether reading a text again takes less than keeping its elements: not where it has to be unpacked.
    fn is_cheap_to_reread(&self) -> bool {
        true
    }

    /// Keeps up to so many bytes of what the next scans unpack in memory for those after them. Returns false if there is nothing
    /// to unpack.
    fn keep_unpacked(&self, _bytes: usize) -> bool {
        false
    }

    /// A chunk's number, from 0, and the bytes it stands for.
    fn place(&self, chunk: &Self::Chunk) -> (ChunkNumber, u64);

    /// The records of a chunk for which `wanted` says true by their number in the chunk, from 0.
    fn decode<'a>(
        &'a self,
        chunk: &'a Self::Chunk,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Result<Batch<'a>>;

    /// Lines of the chunk's part before the chunk, where the items of a batch do not count them: they are counted when
    /// somebody asks.
    fn lines_before(&self, _chunk: ChunkNumber) -> Result<u64> {
        Ok(0)
    }

    /// What was read so far; nothing of what is in memory.
    fn traffic(&self) -> Traffic {
        Traffic::default()
    }
}

/// Says which chunks are not needed.
pub type SkipChunk<'a> = &'a (dyn Fn(ChunkNumber) -> bool + Sync);

/// Files of folders of documents that are no documents, or are left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PassedOver {
    /// Files with a byte 0 near their start.
    pub binary: u64,
    /// Files that are no text in their encoding.
    pub undecodable: u64,
    /// Files that a `.gitignore` file names.
    pub ignored: u64,
    /// Files and folders that globs leave out.
    pub excluded: u64,
    /// Links to what is not there.
    pub dead_links: u64,
}

impl PassedOver {
    /// Those that have positions among the records.
    pub fn records(self) -> u64 {
        self.binary + self.undecodable
    }

    pub(crate) fn to_numbers(self) -> [u64; 5] {
        let Self { binary, undecodable, ignored, excluded, dead_links } = self;
        [binary, undecodable, ignored, excluded, dead_links]
    }

    pub(crate) fn from_numbers(numbers: [u64; 5]) -> Self {
        let [binary, undecodable, ignored, excluded, dead_links] = numbers;
        Self { binary, undecodable, ignored, excluded, dead_links }
    }
}

impl std::ops::AddAssign for PassedOver {
    fn add_assign(&mut self, other: Self) {
        let (mut sum, other) = (self.to_numbers(), other.to_numbers());
        sum.iter_mut().zip(other).for_each(|(sum, more)| *sum += more);
        *self = Self::from_numbers(sum);
    }
}

/// What a chunk decodes to.
#[derive(Debug, Default)]
pub struct Batch<'a> {
    /// Where the records come from, for messages.
    pub path: PathBuf,
    /// How many records the chunk has, wanted or not, bad ones included, blank lines not.
    pub records: u32,
    /// The wanted ones, in order.
    pub items: Vec<Item>,
    /// What was wrong with the wanted records that are left out, when such are to be skipped.
    pub bad: Vec<Error>,
    /// Files that were passed over without being asked.
    pub passed_over: PassedOver,
    /// The wanted records' texts.
    pub texts: TextColumn<'a>,
    /// The file of each wanted record, where each is a file of its own.
    pub files: Vec<PathBuf>,
}

impl Batch<'_> {
    /// Bytes of all texts.
    pub fn bytes(&self) -> u64 {
        (0..self.items.len()).map(|index| self.text(index).len() as u64).sum()
    }

    /// The file that `items[index]` is in, for messages.
    pub fn file(&self, index: usize) -> &Path {
        self.files.get(index).unwrap_or(&self.path)
    }

    /// The text of `items[index]`.
    pub fn text(&self, index: usize) -> &str {
        let (start, end) = self.items[index].at;
        match &self.texts {
            TextColumn::Borrowed(texts) => texts[start],
            TextColumn::Arena(arena) => &arena[start..end],
            #[cfg(feature = "files")]
            TextColumn::Utf8(column) => column.value(start),
            #[cfg(feature = "files")]
            TextColumn::LargeUtf8(column) => column.value(start),
            #[cfg(feature = "files")]
            TextColumn::View(column) => column.value(start),
        }
    }
}

/// One record: which it is, and what was asked of it. Its text is [`Batch::text`].
#[derive(Debug, Clone)]
pub struct Item {
    /// The record's number within its chunk, from 0, bad records counted, blank lines not.
    pub ordinal: u32,
    /// The record's line (or row) in its file, from 1; [`Source::lines_before`] is still to be added.
    pub line: u64,
    /// Its id, where the collection has ids.
    pub id: Option<Id>,
    /// The values that decide what is kept, of the fields that were asked for; none where all are null.
    pub values: KeepValues,
    /// Where the text lies in the batch: bytes of the arena, or a row of the column.
    pub at: (usize, usize),
}

/// Where the texts of a batch lie: without a `String` for each, and without a copy of a column.
#[derive(Debug)]
pub enum TextColumn<'a> {
    /// Elsewhere.
    Borrowed(Vec<&'a str>),
    /// One behind the other.
    Arena(String),
    /// In an Arrow column.
    #[cfg(feature = "files")]
    Utf8(arrow_array::StringArray),
    /// In an Arrow column with 64-bit offsets.
    #[cfg(feature = "files")]
    LargeUtf8(arrow_array::LargeStringArray),
    /// In an Arrow column of views.
    #[cfg(feature = "files")]
    View(arrow_array::StringViewArray),
}

impl Default for TextColumn<'_> {
    fn default() -> Self {
        Self::Borrowed(Vec::new())
    }
}

/// Texts in memory.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'t, S>(pub &'t [S]);

/// Texts in a chunk of an in-memory collection.
const CHUNK: usize = 256;

impl<S: AsRef<str> + Sync> Source for Texts<'_, S> {
    type Chunk = usize;

    fn bytes(&self) -> u64 {
        self.0.iter().map(|text| text.as_ref().len() as u64).sum()
    }

    fn lanes<'a>(&'a self, skip: SkipChunk<'a>) -> Lanes<'a, usize> {
        let chunks = 0..self.0.len().div_ceil(CHUNK);
        one_lane(chunks.filter(|&chunk| !skip(ChunkNumber::of_one(chunk))).map(Ok))
    }

    fn place(&self, &chunk: &usize) -> (ChunkNumber, u64) {
        let texts = self.0.chunks(CHUNK).nth(chunk).unwrap_or_default();
        let bytes = texts.iter().map(|text| text.as_ref().len() as u64).sum();
        (ChunkNumber::of_one(chunk), bytes)
    }

    fn decode<'a>(&'a self, &number: &usize, wanted: &dyn Fn(u32) -> bool) -> Result<Batch<'a>> {
        let texts = self.0.chunks(CHUNK).nth(number).unwrap_or_default();
        let wanted = (0..texts.len() as u32).filter(|&ordinal| wanted(ordinal));
        let item = |ordinal| Item {
            ordinal,
            line: u64::from(ordinal) + 1,
            id: None,
            values: KeepValues::new(),
            at: (ordinal as usize, 0),
        };
        Ok(Batch {
            records: texts.len() as u32,
            items: wanted.map(item).collect(),
            texts: TextColumn::Borrowed(texts.iter().map(AsRef::as_ref).collect()),
            ..Batch::default()
        })
    }
}

//! A collection of texts that can be read more than once, in chunks that many threads decode.

use std::path::PathBuf;

use crate::{Error, Result};

use super::{Id, Value};

/// A collection of texts. Chunks, and the records in them, are the same in every scan.
pub trait Source: Sync {
    /// A piece of the collection, not yet decoded.
    type Chunk: Send;

    /// Bytes that a scan goes through, for progress.
    fn bytes(&self) -> u64;

    /// All chunks in order. A chunk for which `skip` says true by its number is left out where that
    /// saves work, or comes all the same.
    fn scan<'a>(
        &'a self,
        skip: &'a (dyn Fn(usize) -> bool + Sync),
    ) -> Result<Box<dyn Iterator<Item = Result<Self::Chunk>> + Send + 'a>>;

    /// A chunk's number, from 0, and the bytes it stands for.
    fn place(&self, chunk: &Self::Chunk) -> (usize, u64);

    /// The records of a chunk for which `wanted` says true by their number in the chunk, from 0.
    fn decode<'a>(
        &'a self,
        chunk: &'a Self::Chunk,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Result<Batch<'a>>;
}

/// What a chunk decodes to.
#[derive(Debug, Default)]
pub struct Batch<'a> {
    /// Where the records come from, for messages.
    pub path: PathBuf,
    /// Records in the chunk, wanted or not, good or bad.
    pub records: u32,
    /// The wanted records, in order.
    pub items: Vec<Item>,
    /// Records that could not be used, when such are to be skipped.
    pub bad: Vec<Error>,
    /// The wanted records' texts.
    pub texts: TextColumn<'a>,
}

impl Batch<'_> {
    /// The text of `items[index]`.
    pub fn text(&self, index: usize) -> &str {
        match &self.texts {
            TextColumn::Borrowed(texts) => texts[index],
            TextColumn::Arena { text, ends } => {
                let start = if index == 0 { 0 } else { ends[index - 1] };
                &text[start..ends[index]]
            }
        }
    }
}

/// One record's names; its text is in the batch.
#[derive(Debug)]
pub struct Item {
    /// The record's number in its chunk.
    pub ordinal: u32,
    /// The record's line (or row) in its file, from 1.
    pub line: u64,
    /// The user's id, where there is one.
    pub id: Option<Id>,
    /// The value that decides what is kept, where one was asked for.
    pub value: Option<Value>,
}

/// Texts without a `String` for each.
#[derive(Debug)]
pub enum TextColumn<'a> {
    /// Texts that lie elsewhere.
    Borrowed(Vec<&'a str>),
    /// Texts one behind the other.
    Arena {
        /// All texts.
        text: String,
        /// Where each ends.
        ends: Vec<usize>,
    },
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

    fn scan<'a>(
        &'a self,
        skip: &'a (dyn Fn(usize) -> bool + Sync),
    ) -> Result<Box<dyn Iterator<Item = Result<usize>> + Send + 'a>> {
        let chunks = 0..self.0.len().div_ceil(CHUNK);
        Ok(Box::new(chunks.filter(|&number| !skip(number)).map(Ok)))
    }

    fn place(&self, &number: &usize) -> (usize, u64) {
        let texts = self.0.chunks(CHUNK).nth(number).unwrap_or_default();
        (number, texts.iter().map(|text| text.as_ref().len() as u64).sum())
    }

    fn decode<'a>(&'a self, &number: &usize, wanted: &dyn Fn(u32) -> bool) -> Result<Batch<'a>> {
        let texts = self.0.chunks(CHUNK).nth(number).unwrap_or_default();
        let wanted: Vec<u32> = (0..texts.len() as u32).filter(|&ordinal| wanted(ordinal)).collect();
        let item = |&ordinal: &u32| Item { ordinal, line: 0, id: None, value: None };
        Ok(Batch {
            records: texts.len() as u32,
            items: wanted.iter().map(item).collect(),
            texts: TextColumn::Borrowed(
                wanted.iter().map(|&ordinal| texts[ordinal as usize].as_ref()).collect(),
            ),
            ..Batch::default()
        })
    }
}

//! Which records are written, and what is left out of their texts.

use crate::{
    Result,
    item::{ChunkNumber, ChunkStarts},
    overlap::Overlaps,
    read::{Chunk, CopiedRecords, Input, PositionFilter, RecordCut, RecordFormat},
    trim::Cuts,
};

/// Says what is left out of the texts of a chunk.
pub trait TextCuts: Sync {
    /// The cuts of a chunk's records, by their ordinals.
    ///
    /// # Errors
    /// When temporary files cannot be read.
    fn of_chunk(&self, number: ChunkNumber) -> Result<Vec<RecordCut>>;
}

/// Texts without the stretches that stand in test items.
impl TextCuts for Overlaps {
    fn of_chunk(&self, number: ChunkNumber) -> Result<Vec<RecordCut>> {
        let cuts = self.cuts(number)?.into_iter();
        Ok(cuts.map(|(ordinal, ranges)| RecordCut { ordinal, ranges }).collect())
    }
}

impl TextCuts for Cuts {
    fn of_chunk(&self, number: ChunkNumber) -> Result<Vec<RecordCut>> {
        let cuts = Self::of_chunk(self, number)?.into_iter();
        Ok(cuts.map(|(ordinal, ranges)| RecordCut { ordinal, ranges }).collect())
    }
}

/// The records that are written.
#[derive(Clone, Copy)]
pub struct KeptRecords<'a> {
    /// Which ones, by their position.
    pub kept: PositionFilter<'a>,
    /// What is left out of their texts, if anything.
    pub cuts: Option<&'a dyn TextCuts>,
}

impl<'a, F: Fn(u64) -> bool + Sync> From<&'a F> for KeptRecords<'a> {
    fn from(kept: &'a F) -> Self {
        Self { kept, cuts: None }
    }
}

impl<'a> From<PositionFilter<'a>> for KeptRecords<'a> {
    fn from(kept: PositionFilter<'a>) -> Self {
        Self { kept, cuts: None }
    }
}

impl KeptRecords<'_> {
    /// Those of a chunk, in this format.
    pub(super) fn copy(
        self,
        input: &Input,
        chunk: &Chunk,
        (starts, end): (&ChunkStarts, u64),
        format: &RecordFormat,
    ) -> Result<CopiedRecords> {
        let start = starts.range(chunk.number, end).start;
        let wanted = |ordinal: u32| (self.kept)(start + u64::from(ordinal));
        match self.cuts {
            None => input.copy(chunk, &wanted, format),
            Some(cuts) => input.copy_cut(chunk, &wanted, &cuts.of_chunk(chunk.number)?, format),
        }
    }
}

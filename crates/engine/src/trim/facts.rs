//! What a run learns of its documents in the first pass.

use crate::Result;
use crate::error::{Error, Problem};
use crate::item::{Batch, ChunkNumber, ChunkStarts, Id, PassedOver};
use crate::observe::StageTime;
use crate::spill::{Loader, Saver};

/// Counts of a collection.
#[derive(Debug, Clone, Default)]
pub struct TrimFacts {
    /// Documents that were read.
    pub documents: u64,
    /// Bytes of their texts.
    pub bytes: u64,
    /// Their words.
    pub words: u64,
    /// Their pieces; none where these are runs of words.
    pub pieces: u64,
    /// Pieces without a character that is not white space.
    pub blank: u64,
    /// Documents that are shorter than a run of words.
    pub short: u64,
    /// Positions of the records that could not be used.
    pub skipped: Vec<u32>,
    /// Files of folders that were passed over. Those that have positions are among the skipped ones.
    pub passed_over: PassedOver,
    /// What was wrong with the first of them; not those of a run that was taken up.
    pub problems: Vec<Error>,
    /// Whether all ids are whole numbers.
    pub ids_are_numbers: bool,
    /// How long the passes took.
    pub stages: Vec<StageTime>,
    /// Whether an earlier run found the stretches.
    pub resumed: bool,
}

/// The facts of one chunk.
#[derive(Debug, Default)]
pub(super) struct ChunkFacts {
    pub(super) records: u32,
    pub(super) documents: u64,
    pub(super) bytes: u64,
    pub(super) words: u64,
    pub(super) pieces: u64,
    pub(super) blank: u64,
    pub(super) short: u64,
    skipped: Vec<u32>,
    passed_over: PassedOver,
    problems: Vec<Error>,
    has_other_ids: bool,
}

impl ChunkFacts {
    /// What a batch says by itself.
    ///
    /// # Errors
    /// When a text is too long to be numbered.
    pub(super) fn of(batch: &mut Batch) -> Result<Self> {
        let mut facts = Self {
            records: batch.records,
            documents: batch.items.len() as u64,
            problems: std::mem::take(&mut batch.bad),
            passed_over: batch.passed_over,
            ..Self::default()
        };
        let mut next = 0;
        for (index, item) in batch.items.iter().enumerate() {
            facts.skipped.extend(next..item.ordinal);
            next = item.ordinal + 1;
            facts.has_other_ids |= matches!(item.id, Some(Id::Text(_)));
            let length = batch.text(index).len();
            facts.bytes += length as u64;
            if u32::try_from(length).is_err() {
                let what = Problem::new("the text has more than 4 GiB; split it");
                return Err(Error::input(&batch.path, item.line, what));
            }
        }
        facts.skipped.extend(next..batch.records);
        Ok(facts)
    }
}

/// The facts of all chunks so far, and where these begin.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) facts: TrimFacts,
    pub(super) starts: ChunkStarts,
    pub(super) end: u32,
}

impl Default for Gathered {
    fn default() -> Self {
        let facts = TrimFacts { ids_are_numbers: true, ..TrimFacts::default() };
        Self { facts, starts: ChunkStarts::default(), end: 0 }
    }
}

impl Gathered {
    /// The next chunk. Returns the position of its first record.
    pub(super) fn push(&mut self, number: ChunkNumber, chunk: ChunkFacts) -> Result<u32> {
        /// How many problems are told.
        const TOLD: usize = 10;
        let start = self.end;
        self.starts.push(number, u64::from(start));
        self.end =
            start.checked_add(chunk.records).filter(|&end| end < u32::MAX).ok_or_else(|| {
                let must = "below 4,294,967,295 a run; split the input";
                Error::parameter("the number of records", "more", must)
            })?;
        let facts = &mut self.facts;
        facts.documents += chunk.documents;
        facts.bytes += chunk.bytes;
        facts.words += chunk.words;
        facts.pieces += chunk.pieces;
        facts.blank += chunk.blank;
        facts.short += chunk.short;
        facts.skipped.extend(chunk.skipped.iter().map(|ordinal| start + ordinal));
        facts.passed_over += chunk.passed_over;
        facts.ids_are_numbers &= !chunk.has_other_ids;
        if facts.problems.len() < TOLD && !chunk.problems.is_empty() {
            let room = TOLD - facts.problems.len();
            facts.problems.extend(chunk.problems.into_iter().take(room));
        }
        Ok(start)
    }

    /// In which of so many partitions a document's places are, in input order.
    pub(super) fn partition(&self, document: u32, partitions: usize) -> usize {
        (u64::from(document) * partitions as u64 / u64::from(self.end.max(1))) as usize
    }

    pub(super) fn save(&self, save: &mut Saver) -> Result<()> {
        let facts = &self.facts;
        let (starts, parts) = self.starts.parts();
        for number in [
            facts.documents,
            facts.bytes,
            facts.words,
            facts.pieces,
            facts.blank,
            facts.short,
            u64::from(facts.ids_are_numbers),
            u64::from(self.end),
        ] {
            save.number(number)?;
        }
        save.numbers(&facts.skipped)?;
        save.numbers(&facts.passed_over.to_numbers())?;
        save.numbers(starts)?;
        save.numbers(parts)
    }

    pub(super) fn load(load: &mut Loader) -> Option<Self> {
        let mut number = || load.number();
        let facts = TrimFacts {
            documents: number()?,
            bytes: number()?,
            words: number()?,
            pieces: number()?,
            blank: number()?,
            short: number()?,
            ids_are_numbers: number()? == 1,
            resumed: true,
            ..TrimFacts::default()
        };
        let end = u32::try_from(number()?).ok()?;
        let skipped = load.numbers()?;
        let passed_over = PassedOver::from_numbers(load.numbers()?.try_into().ok()?);
        let facts = TrimFacts { skipped, passed_over, ..facts };
        let starts = ChunkStarts::from_parts(load.numbers()?, load.numbers()?);
        Some(Self { facts, starts, end })
    }
}

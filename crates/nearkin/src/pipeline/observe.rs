//! What a run tells while it goes and after it.

use std::time::Instant;

use crate::amplify::Bands;
use crate::audit::Audit;
use crate::item::{Batch, Source};
use crate::{Error, Result};

use super::choice::Choice;
use super::resume::{Loader, Saver};

/// A part of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Reading all texts, where they are not sketched at once.
    Read,
    /// Giving each its keys, as a rule while it is read.
    Sketch,
    /// Finding what is similar to the items drawn for the audit.
    Audit,
    /// Sorting keys.
    Candidates,
    /// Reading the candidates again.
    Load,
    /// Comparing them.
    Verify,
    /// Comparing all of them.
    Join,
    /// Writing the result.
    Write,
    /// Making one of linked pages that are one.
    Contract,
}

impl Stage {
    /// All of them, in order: saved runs know them by their place.
    pub const ALL: [Self; 9] = [
        Self::Read,
        Self::Sketch,
        Self::Audit,
        Self::Candidates,
        Self::Load,
        Self::Verify,
        Self::Join,
        Self::Write,
        Self::Contract,
    ];

    /// The stage's name for people and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Sketch => "sketch",
            Self::Audit => "audit",
            Self::Candidates => "candidates",
            Self::Load => "load",
            Self::Verify => "verify",
            Self::Join => "join",
            Self::Write => "write",
            Self::Contract => "contract",
        }
    }
}

/// Someone who watches a run and may stop it.
pub trait Observer: Sync {
    /// A stage begins; its total is in bytes where it is known.
    fn stage(&self, _stage: Stage, _total: Option<u64>) {}
    /// So much more of the stage is done.
    fn advance(&self, _amount: u64) {}
    /// Whether the run should end.
    fn stopped(&self) -> bool {
        false
    }
}

/// A collection whose scans end with [`Error::Interrupted`] when the observer stops them.
pub struct Watched<'a, S> {
    /// The collection.
    pub source: &'a S,
    /// Who watches.
    pub observer: &'a dyn Observer,
}

impl<S: Source> Source for Watched<'_, S> {
    type Chunk = S::Chunk;

    fn bytes(&self) -> u64 {
        self.source.bytes()
    }

    fn scan<'a>(
        &'a self,
        skip: &'a (dyn Fn(usize) -> bool + Sync),
    ) -> Result<Box<dyn Iterator<Item = Result<S::Chunk>> + Send + 'a>> {
        let go_on = |chunk| if self.observer.stopped() { Err(Error::Interrupted) } else { chunk };
        Ok(Box::new(self.source.scan(skip)?.map(go_on)))
    }

    fn skips(&self) -> bool {
        self.source.skips()
    }

    fn place(&self, chunk: &S::Chunk) -> (usize, u64) {
        self.source.place(chunk)
    }

    fn decode<'a>(
        &'a self,
        chunk: &'a S::Chunk,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Result<Batch<'a>> {
        self.source.decode(chunk, wanted)
    }
}

/// Nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}

/// What a run took and found.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    /// Usable records.
    pub items: u64,
    /// Records left out because something was wrong with them.
    pub skipped: u64,
    /// Items without any shingle: similar to nothing.
    pub empty: u64,
    /// Items whose text is the same as an earlier one's.
    pub identical: u64,
    /// Distinct texts.
    pub distinct: u64,
    /// Distinct texts that share a key with another; all where they are joined exactly.
    pub in_candidates: u64,
    /// Pairs of distinct texts that share a key, or that the filters of the exact join let through.
    pub candidates: u64,
    /// Pairs of them whose sets were compared, many by their bitmaps alone; none is reported without.
    pub verified: u64,
    /// Pairs of distinct texts found similar.
    pub similar: u64,
    /// Pairs handed out, copies included.
    pub pairs: Option<u64>,
    /// Clusters of two items or more.
    pub clusters: Option<u64>,
    /// Items kept.
    pub kept: Option<u64>,
    /// The bands used; none where pairs were found exactly.
    pub bands: Option<Bands>,
    /// What either way was expected to take, where there was a choice.
    pub choice: Option<Choice>,
    /// What was found of the pairs of a sample, after an approximate run.
    pub audit: Option<Audit>,
    /// Whether the items for it came from the first part of the input, as the rest would have had to be unpacked twice.
    pub audited_start: bool,
    /// The chance, promised before the run, that a pair at the threshold is found.
    pub recall_promised: f64,
    /// Time and input of each stage, in order; of those that an earlier run finished, what they took then.
    pub stages: Vec<StageTime>,
    /// The last stage that an earlier run had finished, when this one went on after it.
    pub resumed: Option<Stage>,
}

impl Stats {
    pub(super) fn save(&self, save: &mut Saver) -> Result<()> {
        let mut counts = vec![
            self.items,
            self.skipped,
            self.empty,
            self.identical,
            self.distinct,
            self.in_candidates,
            self.candidates,
            self.verified,
            self.similar,
        ];
        for time in &self.stages {
            counts.extend([time.stage as u64, time.seconds.to_bits(), time.bytes]);
        }
        save.numbers(&counts)
    }

    /// What was saved after a stage, with what is known anyway as it is here.
    pub(super) fn load(&self, load: &mut Loader, resumed: Stage) -> Option<Self> {
        let counts: Vec<u64> = load.numbers()?;
        let (&counts, stages) = counts.split_first_chunk::<9>()?;
        let [items, skipped, empty, identical, distinct, rest @ ..] = counts;
        let [in_candidates, candidates, verified, similar] = rest;
        let time = |&[stage, seconds, bytes]: &[u64; 3]| {
            let stage = *Stage::ALL.get(stage as usize)?;
            Some(StageTime { stage, seconds: f64::from_bits(seconds), bytes })
        };
        let stages = stages.as_chunks().0.iter().map(time).collect::<Option<Vec<_>>>()?;
        Some(Self {
            items,
            skipped,
            empty,
            identical,
            distinct,
            in_candidates,
            candidates,
            verified,
            similar,
            stages,
            resumed: Some(resumed),
            ..self.clone()
        })
    }
}

/// What a stage took.
#[derive(Debug, Clone, Copy)]
pub struct StageTime {
    /// Which stage.
    pub stage: Stage,
    /// Wall time.
    pub seconds: f64,
    /// Bytes of input gone through.
    pub bytes: u64,
}

/// Times a stage.
#[derive(Debug)]
pub struct Clock {
    stage: Stage,
    start: Instant,
}

impl Clock {
    /// The stage begins now.
    pub fn start(stage: Stage) -> Self {
        Self { stage, start: Instant::now() }
    }

    /// It ends now, having gone through this many bytes.
    pub fn stop(self, bytes: u64) -> StageTime {
        StageTime { stage: self.stage, seconds: self.start.elapsed().as_secs_f64(), bytes }
    }
}

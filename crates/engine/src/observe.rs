//! What a run tells while it goes: its stages, how far each is, and how long it took.

use std::time::Instant;

use crate::item::{Batch, ChunkNumber, Lane, Lanes, SkipChunk, Source};
use crate::{Error, Result};

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
pub struct ObservedSource<'a, S> {
    /// The collection.
    pub source: &'a S,
    /// Who watches.
    pub observer: &'a dyn Observer,
}

impl<S: Source> Source for ObservedSource<'_, S> {
    type Chunk = S::Chunk;

    fn bytes(&self) -> u64 {
        self.source.bytes()
    }

    fn lanes<'a>(&'a self, skip: SkipChunk<'a>) -> Lanes<'a, S::Chunk> {
        let go_on = |chunk| if self.observer.stopped() { Err(Error::Interrupted) } else { chunk };
        Box::new(self.source.lanes(skip).map(move |lane| Lane {
            chunks: Box::new(lane.chunks.map(go_on)),
            is_cheap: lane.is_cheap,
        }))
    }

    fn skips(&self) -> bool {
        self.source.skips()
    }

    fn is_cheap_to_reread(&self) -> bool {
        self.source.is_cheap_to_reread()
    }

    fn keep_unpacked(&self, bytes: usize) -> bool {
        self.source.keep_unpacked(bytes)
    }

    fn place(&self, chunk: &S::Chunk) -> (ChunkNumber, u64) {
        self.source.place(chunk)
    }

    fn decode<'a>(
        &'a self,
        chunk: &'a S::Chunk,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Result<Batch<'a>> {
        self.source.decode(chunk, wanted)
    }

    fn lines_before(&self, chunk: ChunkNumber) -> Result<u64> {
        self.source.lines_before(chunk)
    }

    fn traffic(&self) -> Traffic {
        self.source.traffic()
    }
}

/// Nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}

/// What a stage took.
#[derive(Debug, Clone, Copy)]
pub struct StageTime {
    /// Which stage.
    pub stage: Stage,
    /// Wall time.
    pub seconds: f64,
    /// Bytes of input that were read, and those that were unpacked from them.
    pub traffic: Traffic,
}

/// Bytes of files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Taken from files, as they are there.
    pub read: u64,
    /// What packed files became.
    pub unpacked: u64,
}

impl std::ops::Add for Traffic {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { read: self.read + other.read, unpacked: self.unpacked + other.unpacked }
    }
}

impl std::ops::Sub for Traffic {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { read: self.read - other.read, unpacked: self.unpacked - other.unpacked }
    }
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
        self.stop_with(Traffic { read: bytes, unpacked: 0 })
    }

    /// It ends now, having read this much.
    pub fn stop_with(self, traffic: Traffic) -> StageTime {
        StageTime { stage: self.stage, seconds: self.start.elapsed().as_secs_f64(), traffic }
    }
}

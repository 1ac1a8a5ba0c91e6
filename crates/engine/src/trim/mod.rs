//! Which pieces of documents are repeated, and what is left without them?
//!
//! ```text
//! pieces:  read → fingerprints of pieces → which are repeated ────────────────────────────┐
//! words:N: read → anchors → read → groups of windows → read → windows of mixed groups ────┴→ stretches → cuts → write
//! ```
//!
//! `pieces` are lines, paragraphs or sentences; `windows` are runs of N words. Both find which places are repeated
//! (`rule` says what that means) and leave the stretches that are removed, by document (`stretches`). `cuts` reads the
//! documents again that lose something, and turns the stretches into bytes of their texts.
//!
//! With a threshold, `similar` pieces are removed too. Otherwise, words are compared in lower case, by 128 bits for each.
//! Nothing is quadratic: a piece that stands a million times is one class of a million places, and each place is looked
//! at once.

mod cuts;
mod facts;
mod kept_places;
mod pieces;
mod rule;
mod scattered;
mod similar;
mod stretches;
mod unit;
mod windows;

use std::path::PathBuf;

pub use cuts::{Cuts, KeptPlace, RemovedSink, RemovedStretch};
pub use facts::TrimFacts;
pub use rule::KeepPiece;
pub use scattered::{PieceBlocks, PieceCounts, RepeatedPiece, repeated};
pub use stretches::Stretches;
pub use unit::{LEAST_WINDOW, PieceUnit};

use crate::error::Error;
use crate::item::Source;
use crate::observe::{Clock, Observer, Stage};
use crate::parallel::{LaneRoom, in_pool};
use crate::search::Job;
use crate::shingle::WordKeys;
use crate::spill::{self, Budget, Temp};
use crate::{Result, settings::Settings};
use rule::Rule;

/// What is removed, and with what means.
#[derive(Debug, Clone)]
pub struct TrimSettings {
    /// What a piece is.
    pub unit: PieceUnit,
    /// In how many documents a piece has to stand; else in two places.
    pub at_least: Option<u32>,
    /// Which of its places is kept.
    pub keep: KeepPiece,
    /// A document that lost something and has fewer words left is dropped.
    pub min_left: usize,
    /// The search for pieces that are similar and not the same, if such are removed too.
    pub similar: Option<Settings>,
    /// What the key of all hashes follows from.
    pub seed: u64,
    /// Threads to use.
    pub threads: usize,
    /// Bytes of memory to use.
    pub memory: usize,
    /// The folder for temporary files; none for the system's.
    pub temp: Option<PathBuf>,
}

impl TrimSettings {
    /// With the means of a search.
    pub fn new(unit: PieceUnit, settings: &Settings) -> Self {
        Self {
            unit,
            at_least: None,
            keep: KeepPiece::default(),
            min_left: 0,
            similar: None,
            seed: settings.seed,
            threads: settings.threads,
            memory: settings.memory,
            temp: settings.temp.clone(),
        }
    }
}

/// A run: what it reads, who watches, and the job to which it belongs.
pub struct Trim<'a, S> {
    source: &'a S,
    settings: &'a TrimSettings,
    observer: &'a dyn Observer,
    job: Option<&'a Job>,
    budget: Budget,
    keys: WordKeys,
    rule: Rule,
}

/// The name under which a job saves the stretches.
const SAVED: Stage = Stage::Verify;

impl<'a, S: Source> Trim<'a, S> {
    /// Of this collection.
    pub fn new(
        source: &'a S,
        settings: &'a TrimSettings,
        observer: &'a dyn Observer,
        job: Option<&'a Job>,
    ) -> Self {
        let temp = match job {
            Some(job) => job.temp(),
            None => Temp::passing(spill::folder(settings.temp.as_ref())),
        };
        let rule = Rule {
            at_least: settings.at_least,
            keep: settings.keep,
            apart: settings.unit.words().unwrap_or(1) as u32,
        };
        let budget = Budget::new(settings.memory, temp);
        Self { source, settings, observer, job, budget, keys: WordKeys::new(settings.seed), rule }
    }

    /// Finds the stretches that are removed, or takes up what an earlier run of the job found.
    ///
    /// # Errors
    /// When a record cannot be used, there is no room for temporary files, or the observer stops it.
    pub fn stretches(&self) -> Result<Stretches> {
        let saved = self.job.and_then(|job| {
            job.load(SAVED.name(), |saved| Stretches::load(saved, self.budget.share(2)))
        });
        if let Some(saved) = saved {
            return Ok(saved);
        }
        let found = match (&self.settings.similar, self.settings.unit.words()) {
            (Some(similar), None) => similar::stretches(self, similar),
            (_, words) => in_pool(self.settings.threads, || match words {
                Some(words) => windows::stretches(self, words),
                None => pieces::stretches(self),
            }),
        }?;
        if let Some(job) = self.job {
            job.save(SAVED.name(), |save| found.save(save))?;
        }
        Ok(found)
    }

    /// What the stretches are in the texts of their documents; `removed` gets each, if somebody wants to know.
    ///
    /// # Errors
    /// As [`stretches`](Self::stretches).
    pub fn cuts(&self, found: Stretches, removed: Option<RemovedSink<'_>>) -> Result<Cuts> {
        in_pool(self.settings.threads, || cuts::cuts(self, found, removed))
    }

    /// A pass over the input begins.
    fn begin(&self, stage: Stage) -> Clock {
        self.observer.stage(stage, Some(self.source.bytes()));
        Clock::start(stage)
    }

    /// So many bytes are read; an error if the run is to stop.
    fn advance(&self, bytes: u64) -> Result<()> {
        self.observer.advance(bytes);
        if self.observer.stopped() { Err(Error::Interrupted) } else { Ok(()) }
    }

    fn room(&self) -> LaneRoom {
        LaneRoom::within(&self.budget, self.settings.threads)
    }
}

//! What a search is asked for: one type for every kind of item.

use std::num::NonZero;
use std::path::PathBuf;

use crate::amplify::{Bands, Expression, MAX_FUNCTIONS};
use crate::candidates::bands::Banding;
use crate::candidates::{sort_elements, with_element_buffers};
use crate::join::sets::Filters;
use crate::shingle::{DEFAULT_SEED, Shingling};
use crate::spill::fair_share;
use crate::verify::{Limit, Measure, check};
use crate::{Error, Result};

/// The chance that a pair at just the threshold is found, unless the user says otherwise.
pub(crate) const DEFAULT_RECALL: f64 = 0.99;

/// What counts as similar, and how surely it is to be found.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How a text becomes shingles.
    pub shingling: Shingling,
    /// How sets of shingles or elements are compared. Other items carry their measure with them.
    pub measure: Measure,
    /// Pairs at or above this similarity are similar.
    pub threshold: f64,
    /// A distance instead: pairs within it are similar, and `threshold` does not count.
    pub within: Option<f64>,
    /// Pairs closer than this similarity or distance are left out of what is handed out: near, but no copies.
    pub no_closer: Option<f64>,
    /// The chance that a pair at just the threshold is found; more similar ones are found more surely.
    pub recall: f64,
    /// How pairs are found.
    pub strategy: Strategy,
    /// What the exact join of sets rules pairs out by.
    pub filters: Filters,
    /// Similar pairs to be looked at to measure the recall after an approximate run, or items where these are in memory; 0
    /// for none, by default as many as cost little.
    pub audit: Option<usize>,
    /// What all random choices derive from.
    pub seed: u64,
    /// Threads to use.
    pub threads: usize,
    /// Bytes of memory to use.
    pub memory: usize,
    /// The folder for what does not fit in memory; by default the system's.
    pub temp: Option<PathBuf>,
    /// Whether a record whose id was there before is left out instead of ending the run.
    pub skip_duplicate_ids: bool,
}

/// How pairs are found.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Strategy {
    /// Whichever is expected to take least time and keeps the recall.
    #[default]
    Cheapest,
    /// By an exact search, which misses none.
    Exact,
    /// By hashing, even where an exact search would be faster.
    Approximate,
    /// By these bands of minhashes, whatever their recall is.
    Bands(Bands),
    /// By the tables of this expression, whatever its recall is. With several probes, each item looks into as many
    /// buckets of a table, and the expression must be or(b, and(r, function)).
    Tables {
        /// Who meets whom.
        expression: Expression,
        /// Buckets of each table that an item looks into.
        probes: usize,
    },
}

impl Strategy {
    /// The bands that were asked for.
    pub(crate) fn bands(&self) -> Option<Bands> {
        match self {
            Self::Bands(bands) => Some(*bands),
            _ => None,
        }
    }
}

/// What a search is for. Where only groups are wanted, it need not meet every pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Every similar pair.
    Pairs,
    /// The items closest to each item.
    Closest,
    /// Groups of similar items, one of each kept.
    Groups,
}

/// How a search of sets goes, as far as the settings alone decide it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetStrategy {
    /// Exactly.
    Exact,
    /// By bands.
    Bands,
    /// A look at the collection decides.
    Cheapest,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            shingling: Shingling::default(),
            measure: Measure::default(),
            threshold: 0.8,
            within: None,
            no_closer: None,
            recall: DEFAULT_RECALL,
            strategy: Strategy::default(),
            filters: Filters::default(),
            audit: None,
            seed: DEFAULT_SEED,
            threads: std::thread::available_parallelism().map_or(1, NonZero::get),
            memory: fair_share(),
            temp: None,
            skip_duplicate_ids: false,
        }
    }
}

impl Settings {
    /// How pairs of sets are found, as far as the measure and the other settings decide it.
    pub(crate) fn set_strategy(&self) -> Result<SetStrategy> {
        check(self.measure, self.limit())?;
        let name = self.measure.name();
        match (&self.strategy, self.measure.follows_jaccard()) {
            (Strategy::Exact, _) | (Strategy::Cheapest, false) => Ok(SetStrategy::Exact),
            (Strategy::Bands(bands), false) => {
                let must = format!("left out with {name}, which minhashes do not tell");
                Err(Error::parameter("bands", bands.count, must))
            }
            (Strategy::Approximate, false) => {
                let must = "exact: minhashes do not tell this measure";
                Err(Error::parameter("the strategy", name, must))
            }
            (Strategy::Tables { expression, .. }, _) => {
                let must = "left out here: an expression searches sets in memory";
                Err(Error::parameter("the expression", expression, must))
            }
            (Strategy::Cheapest, true) => Ok(SetStrategy::Cheapest),
            (Strategy::Approximate | Strategy::Bands(_), true) => Ok(SetStrategy::Bands),
        }
    }

    /// Whether no pair may be missed: by the way that was set, or by the measure.
    ///
    /// # Errors
    /// When the settings contradict themselves.
    pub fn is_exact(&self) -> Result<bool> {
        let exact = self.set_strategy()? == SetStrategy::Exact;
        if !exact {
            self.bands()?;
        }
        Ok(exact)
    }

    /// The bands to use: those that were set, or the cheapest that keep the recall.
    pub fn bands(&self) -> Result<Bands> {
        check(self.measure, self.limit())?;
        match self.strategy.bands() {
            Some(bands) => Bands::new(bands.count, bands.rows),
            None => {
                Bands::for_recall(self.jaccard_threshold(), self.recall_of_bands(), MAX_FUNCTIONS)
            }
        }
    }

    /// What makes the keys of these bands.
    pub(crate) fn banding(&self) -> Result<Banding> {
        Banding::at(self.jaccard_threshold(), self.bands()?, self.seed)
    }

    /// What there is to choose from: for each number of rows, from 1 on, the fewest bands that keep the
    /// recall.
    pub fn choices(&self) -> Vec<Bands> {
        let bands = |rows| Bands::fewest(rows, self.jaccard_threshold(), self.recall_of_bands());
        let choices = (1..).map_while(bands);
        choices.take_while(|bands| bands.functions() <= MAX_FUNCTIONS).collect()
    }

    /// The recall that bands must reach: a little more than was asked for. A run [spends](Self::overlooked) this surplus.
    fn recall_of_bands(&self) -> f64 {
        let in_range = self.recall > 0.0 && self.recall < 1.0;
        self.recall + if in_range { self.least_overlooked() } else { 0.0 }
    }

    fn least_overlooked(&self) -> f64 {
        (1.0 - self.recall) / 100.0
    }

    /// The chance that a pair at just the threshold is found.
    pub fn promised(&self) -> Result<f64> {
        Ok(match self.strategy.bands() {
            _ if self.set_strategy()? == SetStrategy::Exact => 1.0,
            Some(_) => {
                let found = self.bands()?.probability(self.jaccard_threshold());
                (found - self.overlooked(self.bands()?)).max(0.0)
            }
            None => self.recall,
        })
    }

    /// The most that a first look at the sketches may cost a pair at just the threshold in chance: the surplus of the
    /// bands over the recall that was asked for. That look spares most other pairs the exact comparison.
    pub(crate) fn overlooked(&self, bands: Bands) -> f64 {
        match self.strategy.bands() {
            Some(_) => 1e-9, // of a promise that is not ours to spend
            None => {
                let spare = bands.probability(self.jaccard_threshold()) - self.recall;
                spare.max(self.least_overlooked())
            }
        }
    }

    /// The threshold as a Jaccard similarity of (numbered) shingles.
    pub fn jaccard_threshold(&self) -> f64 {
        self.measure.to_jaccard(self.limit().similarity())
    }

    /// The elements by which a text is compared, sorted: its shingles, or for a bag its shingles numbered
    /// by occurrence. One that is not empty and has no shingle has one element, which only its copies have.
    pub fn elements(&self, text: &str) -> Vec<u64> {
        with_element_buffers(|buffers| {
            buffers.take(text, &self.shingling, self.measure.counts_repeats());
            let count = sort_elements(&mut buffers.elements);
            buffers.elements[..count].to_vec()
        })
    }

    /// What counts as similar.
    pub fn limit(&self) -> Limit {
        self.within.map_or(Limit::Similarity(self.threshold), Limit::Distance)
    }
}

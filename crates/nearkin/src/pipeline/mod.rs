//! The main job: every similar pair of a collection, or the collection with one of each kept.
//!
//! Two passes over the input. The first gives every text a fingerprint, by which identical ones are folded,
//! and its bucket keys; the second reads again the texts that share a key with another, and those are
//! compared exactly. In memory are a few numbers a record; keys, ids, the elements of candidates and the
//! matches go to temporary files as far as they exceed what the run may use.

mod buckets;
mod choice;
mod closely;
mod collection;
mod column;
mod dedup;
mod exact;
mod holders;
mod kept;
mod loaded;
mod memory;
mod observe;
mod partners;
pub(crate) mod record;
mod resume;
mod rows;
mod run;
mod sample;
mod sketch;
pub mod spread;
mod survey;
mod watch;

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

use rayon::ThreadPool;

pub use choice::{Choice, Expected};
pub use collection::{Collection, Ids};
pub use dedup::{Deduplicated, Swallowed, dedup};
pub use memory::{LEAST_MEMORY, fair_share};
pub use observe::{Clock, NoObserver, Observer, Stage, StageTime, Stats, Watched};
pub use resume::Job;
pub use rows::Rows;
pub use sample::{Sample, sample};
pub use survey::{Estimate, Forecast, Survey, survey};

use crate::amplify::{Bands, MAX_FUNCTIONS};
use crate::audit::Audit;
use crate::item::Source;
use crate::join::sets::Filters;
use crate::parallel::{in_pool, pool};
use crate::shingle::Shingling;
use crate::verify::{Limit, Measure, Overlap, check};
use crate::{Error, Result};
use collection::Members;
use partners::Partners;
use run::Run;
use watch::Truth;

/// What counts as similar, and how surely it is to be found.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How a text becomes shingles.
    pub shingling: Shingling,
    /// How shingles are compared.
    pub measure: Measure,
    /// Pairs at or above this similarity are similar.
    pub threshold: f64,
    /// A distance instead: pairs within it are similar, and `threshold` does not count.
    pub within: Option<f64>,
    /// The chance that a pair at just the threshold is found; more similar ones are found more surely.
    pub recall: f64,
    /// How pairs are found.
    pub way: Way,
    /// What the exact join rules pairs out by.
    pub filters: Filters,
    /// Bands to use instead of the cheapest that keep the recall.
    pub bands: Option<Bands>,
    /// Items drawn to measure the recall after an approximate run, 0 for none; unless said, as many as cost little.
    pub audit: Option<usize>,
    /// What all random choices derive from.
    pub seed: u64,
    /// Threads to use.
    pub threads: usize,
    /// Bytes of memory to use.
    pub memory: usize,
    /// The folder for what does not fit in memory; the system's where none is given.
    pub temp: Option<PathBuf>,
    /// The job this run belongs to: what an earlier run of it finished is not done again. Its folder takes
    /// the place of `temp`.
    pub job: Option<Arc<Job>>,
    /// Whether a record whose id was there before is left out instead of ending the run.
    pub skip_duplicate_ids: bool,
}

/// How pairs are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Way {
    /// Whichever is expected to take less time.
    #[default]
    Cheapest,
    /// By the exact join, which misses none.
    Exact,
    /// By bands of minhashes.
    Bands,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            shingling: Shingling::default(),
            measure: Measure::default(),
            threshold: 0.8,
            within: None,
            recall: 0.99,
            way: Way::default(),
            filters: Filters::default(),
            bands: None,
            audit: None,
            seed: 1,
            threads: std::thread::available_parallelism().map_or(1, NonZero::get),
            memory: fair_share(),
            temp: None,
            job: None,
            skip_duplicate_ids: false,
        }
    }
}

impl Settings {
    /// How pairs are found, as far as the measure and the other settings decide it.
    fn way(&self) -> Result<Way> {
        check(self.measure, self.limit())?;
        match (self.way, self.measure.follows_jaccard(), self.bands) {
            (Way::Exact, ..) => Ok(Way::Exact),
            (_, false, Some(bands)) => {
                let must =
                    format!("left out with {}, which minhashes do not tell", self.measure.name());
                Err(Error::parameter("bands", bands.count, must))
            }
            (Way::Bands, false, None) => {
                let must = "the exact one: minhashes do not tell this measure";
                Err(Error::parameter("the way", self.measure.name(), must))
            }
            (_, false, None) => Ok(Way::Exact),
            (way, true, None) => Ok(way),
            (_, true, Some(_)) => Ok(Way::Bands),
        }
    }

    /// Whether no pair may be missed: by the way that was set, or by the measure.
    ///
    /// # Errors
    /// When the settings contradict themselves.
    pub fn is_exact(&self) -> Result<bool> {
        let exact = self.way()? == Way::Exact;
        if !exact {
            self.bands()?;
        }
        Ok(exact)
    }

    /// The bands to use: those that were set, or the cheapest that keep the recall.
    pub fn bands(&self) -> Result<Bands> {
        check(self.measure, self.limit())?;
        match self.bands {
            Some(bands) => Bands::new(bands.count, bands.rows),
            None => {
                Bands::for_recall(self.jaccard_threshold(), self.recall_of_bands(), MAX_FUNCTIONS)
            }
        }
    }

    /// What there is to choose from: for each number of rows, from 1 on, the fewest bands that keep the
    /// recall.
    pub fn choices(&self) -> Vec<Bands> {
        let bands = |rows| Bands::fewest(rows, self.jaccard_threshold(), self.recall_of_bands());
        let choices = (1..).map_while(bands);
        choices.take_while(|bands| bands.functions() <= MAX_FUNCTIONS).collect()
    }

    /// The recall that bands have to reach: some more than was asked for, which is [spent](Self::overlooked) on other things.
    fn recall_of_bands(&self) -> f64 {
        let in_range = self.recall > 0.0 && self.recall < 1.0;
        self.recall + if in_range { self.least_overlooked() } else { 0.0 }
    }

    fn least_overlooked(&self) -> f64 {
        (1.0 - self.recall) / 100.0
    }

    /// The chance that a pair at just the threshold is found.
    pub fn promised(&self) -> Result<f64> {
        Ok(match self.bands {
            _ if self.way()? == Way::Exact => 1.0,
            Some(_) => {
                let found = self.bands()?.probability(self.jaccard_threshold());
                (found - self.overlooked(self.bands()?)).max(0.0)
            }
            None => self.recall,
        })
    }

    /// The most that the chance of a pair at just the threshold may lose to a first look at the sketches,
    /// which spares most other pairs the exact comparison: as much as the bands find more surely than was asked for.
    pub(crate) fn overlooked(&self, bands: Bands) -> f64 {
        match self.bands {
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
    /// by occurrence.
    pub fn elements(&self, text: &str) -> Vec<u64> {
        sketch::elements(text, self)
    }

    /// How much of what there is to find was found. The members of groups are counted if they are not at hand.
    fn audit(
        &self,
        truth: &Truth,
        collection: &Collection,
        members: Option<&Members>,
        found: impl FnMut(u32, &[u32]) -> Result<Vec<bool>>,
    ) -> Result<Option<Audit>> {
        let identical = self.measure.similarity(Overlap::identical(1));
        truth.audit(self.limit().similarity(), identical, collection, members, found)
    }

    /// What counts as similar.
    pub fn limit(&self) -> Limit {
        self.within.map_or(Limit::Similarity(self.threshold), Limit::Distance)
    }
}

/// Every similar pair of a collection, or of two. It has threads of its own, as many as the settings said, until it is
/// dropped.
pub struct Similar {
    /// The items.
    pub collection: Collection,
    /// What it took.
    pub stats: Stats,
    partners: Partners,
    members: Members,
    measure: Measure,
    limit: Limit,
    /// The threads that found them, which go on with what is done with them: others would have to be started.
    pool: ThreadPool,
}

/// Finds every similar pair of `source`; with `against`, every similar pair of one item of each.
pub fn pairs<S: Source>(
    source: &S,
    against: Option<&S>,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Similar> {
    let sources: Vec<&S> = std::iter::once(source).chain(against).collect();
    let run = Run::new(&sources, settings, observer)?;
    let mut stats = Stats::default();
    let pool = pool(settings.threads)?;
    let (collection, partners, members) = pool.install(|| {
        let mut found = run.candidates(false, &mut stats)?;
        let truth = std::mem::take(&mut found.truth);
        let limit = run.budget.share(2);
        let saved = run.saved(Stage::Verify, |load| {
            Some((stats.load(load, Stage::Verify)?, Partners::load(load, limit)?))
        });
        let (collection, partners, search) = match saved {
            Some((saved, partners)) => {
                stats = saved;
                (found.collection, partners, None)
            }
            None => {
                let (collection, search) = run.load_candidates(found, &mut stats)?;
                let clock = Clock::start(search.stage());
                let partners = search.partners(observer, &mut stats)?;
                stats.stages.push(clock.stop(0));
                run.save(Stage::Verify, |save| {
                    stats.save(save)?;
                    partners.save(save)
                })?;
                (collection, partners, Some(search))
            }
        };
        // It takes a while to give much memory back.
        let ((), (members, audit)) = rayon::join(
            || drop(search),
            || {
                let members = collection.members();
                let audit = partners.audit(&truth, settings, &collection, Some(&members));
                (members, audit)
            },
        );
        stats.audit = audit?;
        stats.audited_start = truth.from_start;
        Ok::<_, Error>((collection, partners, members))
    })?;
    let (measure, limit) = (settings.measure, settings.limit());
    Ok(Similar { collection, stats, partners, members, measure, limit, pool })
}

impl Similar {
    /// The group as a partner of itself, for the copies of one text, if those are similar.
    fn own(&self, group: u32) -> Option<(u32, f64)> {
        let size = self.partners.sizes.as_ref().map_or(1, |sizes| sizes[group as usize]);
        let overlap = Overlap::identical(size);
        let similar = self.limit.reached(self.measure, overlap);
        similar.then(|| (group, self.limit.value(self.measure, overlap)))
    }
}

/// What either way of finding the similar pairs of `source` is expected to take; none where only one is open: the
/// settings ask for it, or there is more than is held in memory before it is decided.
///
/// # Errors
/// When a record cannot be used, as in a run.
pub fn choose<S: Source>(source: &S, settings: &Settings) -> Result<Option<Choice>> {
    in_pool(settings.threads, || Run::new(&[source], settings, &NoObserver)?.choose())
}

/// The same where only groups are asked for, as [`dedup`] with chains does: pairs of one group need not all be met.
///
/// # Errors
/// When a record cannot be used, as in a run.
pub fn choose_for_groups<S: Source>(source: &S, settings: &Settings) -> Result<Option<Choice>> {
    in_pool(settings.threads, || {
        Run { every_pair: false, ..Run::new(&[source], settings, &NoObserver)? }.choose()
    })
}

/// Reads, decodes and shingles every text of `source` and keeps nothing: the time that takes is what a run
/// cannot be faster than. Returns the number of shingles.
pub fn shingle_only<S: Source>(source: &S, settings: &Settings) -> Result<u64> {
    sketch::shingle_only(source, settings)
}

//! The run: from items to the pairs that are similar, or to one item of each group.
//!
//! ```text
//! read → fold copies → plan → candidates → compare exactly → audit → cluster
//! ```
//!
//! There is one search for every kind of item. Two implementations stand behind it: [`SourceItems`] texts, sets and bags are
//! read from their source in passes and may exceed memory (`disk`); vectors, bit strings, strings and sparse vectors
//! are [held in memory](MemoryItems). Both end in a `Comparison`, and from there on everything is the same.

mod disk;
pub(crate) mod job;
mod memory;

pub(crate) use disk::TextBuffers;
pub use job::Job;
pub(crate) use memory::close_pairs;
pub use memory::{ItemNames, Items, MemoryItems};

use crate::audit::AuditSample;
use crate::cluster::{Clustering, Comparison, Deduplication, Keep, Linkage};
use crate::item::{Members, Source};
use crate::matches::{Collection, Matches, SimilarGroups, Stats};
use crate::observe::{Clock, NoObserver, Observer, Stage};
use crate::parallel::{in_pool, pool};
use crate::plan::Plan;
use crate::settings::{Goal, Settings};
use crate::space::Form;
use crate::spill::{Budget, Cache, Loader};
use crate::verify::{Limit, Overlap};
use crate::{Error, Result};
use disk::DiskRun;
use job::StageResult;

/// A search: what is looked for, who watches, and the job it belongs to.
#[derive(Clone, Copy)]
pub struct Search<'a> {
    settings: &'a Settings,
    observer: &'a dyn Observer,
    job: Option<&'a Job>,
}

impl<'a> Search<'a> {
    /// A search by these settings.
    pub fn new(settings: &'a Settings) -> Self {
        Self { settings, observer: &NoObserver, job: None }
    }

    /// Tells someone how far it is, who may also stop it.
    pub fn observed(self, observer: &'a dyn Observer) -> Self {
        Self { observer, ..self }
    }

    /// Goes on with what an earlier run of the same job finished, and saves what this one finishes.
    pub fn resuming(self, job: Option<&'a Job>) -> Self {
        Self { job, ..self }
    }

    /// Every similar pair.
    ///
    /// # Errors
    /// When the settings contradict themselves, a record cannot be used, there is no room for temporary files, or the
    /// observer stops it.
    pub fn pairs(self, items: impl Searchable) -> Result<Matches> {
        self.check_no_closer()?;
        items.pairs(self)
    }

    /// The `k` items closest to each, for [`Matches::closest`]: of texts, sets and bags those that are similar.
    ///
    /// # Errors
    /// As [`pairs`](Self::pairs), and when `k` is 0.
    pub fn closest(self, items: impl Searchable, k: usize) -> Result<Matches> {
        if k == 0 {
            return Err(Error::parameter("k", 0, "at least 1"));
        }
        self.check_no_closer()?;
        items.closest(self, k)
    }

    /// Clusters of similar items, and one item of each to keep.
    ///
    /// # Errors
    /// As [`pairs`](Self::pairs).
    pub fn dedup(
        self,
        items: impl Searchable,
        keep: &Keep,
        linkage: Linkage,
    ) -> Result<Deduplication> {
        items.dedup(self, keep, linkage)
    }

    /// What each way to the pairs, or to the groups, is expected to cost; none where only one is open: the settings ask
    /// for it, or there is more than is looked at before it is decided.
    ///
    /// # Errors
    /// As [`pairs`](Self::pairs).
    pub fn plan(self, items: impl Searchable, goal: Goal) -> Result<Option<Plan>> {
        items.plan(self, goal)
    }

    /// Returns an error if no pair can reach the limit without being too close.
    fn check_no_closer(&self) -> Result<()> {
        let limit = self.settings.limit();
        self.settings.no_closer.map_or(Ok(()), |bound| limit.check_no_closer(bound))
    }

    /// Returns an error if the observer stops the run.
    fn go_on(&self) -> Result<()> {
        if self.observer.stopped() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Does a stage, or takes up what an earlier run of the job saved after it.
    fn resumable<T: StageResult>(
        &self,
        stage: Stage,
        stats: &mut Stats,
        load: impl FnOnce(&mut Loader) -> Option<T>,
        work: impl FnOnce(&mut Stats) -> Result<T>,
    ) -> Result<T> {
        let Some(job) = self.job else { return work(stats) };
        let saved = job.load(stage.name(), |saved| Some((stats.load(saved, stage)?, load(saved)?)));
        if let Some((saved, result)) = saved {
            *stats = saved;
            return Ok(result);
        }
        // What is written from now on must not be taken for what was saved before.
        job.forget(stage.name());
        let mut result = work(stats)?;
        if result.settle()? {
            job.save(stage.name(), |save| {
                stats.save(save)?;
                result.save(save)
            })?;
        }
        if stage == Stage::Verify {
            // What was loaded has served, and need not go to the disk if it is not there yet.
            job.forget(Stage::Load.name());
            job.forget(job::RECORDS);
        }
        Ok(result)
    }
}

/// Items that can be searched.
pub trait Searchable {
    /// See [`Search::pairs`].
    #[doc(hidden)]
    fn pairs(self, search: Search<'_>) -> Result<Matches>;

    /// See [`Search::closest`].
    #[doc(hidden)]
    fn closest(self, search: Search<'_>, k: usize) -> Result<Matches>;

    /// See [`Search::dedup`].
    #[doc(hidden)]
    fn dedup(self, search: Search<'_>, keep: &Keep, linkage: Linkage) -> Result<Deduplication>;

    /// See [`Search::plan`].
    #[doc(hidden)]
    fn plan(self, search: Search<'_>, goal: Goal) -> Result<Option<Plan>>;
}

/// Texts, sets or bags that are read from their source in passes.
pub struct SourceItems<'s, S> {
    sources: Vec<&'s S>,
}

impl<'s, S: Source> SourceItems<'s, S> {
    /// The items of a collection, to be paired among themselves.
    pub fn new(source: &'s S) -> Self {
        Self { sources: vec![source] }
    }

    /// To be paired with the items of another collection instead.
    pub fn against(mut self, other: Option<&'s S>) -> Self {
        self.sources.extend(other);
        self
    }
}

impl<S: Source> Searchable for SourceItems<'_, S> {
    fn pairs(self, search: Search<'_>) -> Result<Matches> {
        let run = DiskRun::new(&self.sources, search, Goal::Pairs)?;
        let pool = pool(search.settings.threads)?;
        let mut stats = Stats::default();
        let (collection, similar, members) = pool.install(|| {
            let candidates = run.candidates(false, &mut stats)?;
            let (collection, drawn) = (candidates.collection, candidates.drawn.into());
            let load = |stats: &mut Stats| run.comparison(&collection, candidates.records, stats);
            let (similar, members) =
                compare(search, run.budget(), load, &collection, &drawn, &mut stats)?;
            Ok::<_, Error>((collection, similar, members))
        })?;
        let form = form_of(search.settings.limit());
        let matches = Matches::new(collection, (similar, members), form, stats, pool);
        Ok(matches.no_closer(search.settings.no_closer))
    }

    fn closest(self, search: Search<'_>, _: usize) -> Result<Matches> {
        self.pairs(search)
    }

    fn dedup(self, search: Search<'_>, keep: &Keep, linkage: Linkage) -> Result<Deduplication> {
        let run = DiskRun::new(&self.sources, search, Goal::Groups)?;
        let mut stats = Stats::default();
        in_pool(search.settings.threads, || {
            let candidates = run.candidates(keep.counts_lengths(), &mut stats)?;
            let (collection, drawn) = (candidates.collection, candidates.drawn.into());
            let load = |stats: &mut Stats| run.comparison(&collection, candidates.records, stats);
            let rule = (keep, linkage);
            let clustering = cluster(search, load, &collection, rule, &drawn, &mut stats)?;
            let limit = search.settings.limit();
            let empty = limit.value(search.settings.measure, Overlap::identical(0));
            Ok(Deduplication::new(collection, clustering, (empty, form_of(limit)), stats))
        })
    }

    fn plan(self, search: Search<'_>, goal: Goal) -> Result<Option<Plan>> {
        in_pool(search.settings.threads, || DiskRun::new(&self.sources, search, goal)?.plan_only())
    }
}

/// Compares all groups, and audits what was found.
fn compare<C: Comparison>(
    search: Search<'_>,
    budget: &Budget,
    load: impl FnOnce(&mut Stats) -> Result<C>,
    collection: &Collection,
    drawn: &AuditSample,
    stats: &mut Stats,
) -> Result<(SimilarGroups, Members)> {
    let mut comparison = None;
    let similar = search.resumable(
        Stage::Verify,
        stats,
        |saved| SimilarGroups::load(saved, budget.share(2)),
        |stats| {
            let comparison = comparison.insert(load(stats)?);
            let clock = Clock::start(comparison.stage());
            let similar = comparison.similar_groups(search.observer, stats)?;
            let mut cache = Cache::one();
            let found = |group: u32, others: &[u32]| similar.found(group, others, &mut cache);
            stats.audit =
                drawn.audit(collection.copies(), |pairs| comparison.overlaps(pairs), found)?;
            stats.stages.push(clock.stop(0));
            Ok(similar)
        },
    )?;
    // It takes a while to give much memory back.
    let ((), members) =
        rayon::join(|| std::mem::drop(comparison), || collection.copies().members());
    Ok((similar, members))
}

/// Clusters all groups, and audits who was found to belong together.
fn cluster<C: Comparison>(
    search: Search<'_>,
    load: impl FnOnce(&mut Stats) -> Result<C>,
    collection: &Collection,
    rule: (&Keep, Linkage),
    drawn: &AuditSample,
    stats: &mut Stats,
) -> Result<Clustering> {
    let clustering = search.resumable(Stage::Verify, stats, Clustering::load, |stats| {
        let comparison = load(stats)?;
        let clock = Clock::start(comparison.stage());
        let clustering = Clustering::new(&comparison, collection, rule, search.observer, stats)?;
        let found = |group: u32, others: &[u32]| Ok(clustering.found(group, others));
        stats.audit =
            drawn.audit(collection.copies(), |pairs| comparison.overlaps(pairs), found)?;
        stats.stages.push(clock.stop(0));
        Ok(clustering)
    })?;
    Ok(clustering)
}

/// Reads, decodes and shingles every text of `source` and keeps nothing: the time that takes is what a run
/// cannot be faster than. Returns the number of shingles.
///
/// # Errors
/// When a record cannot be used.
pub fn shingle_only<S: Source>(source: &S, settings: &Settings) -> Result<u64> {
    disk::shingle_only(source, settings)
}

/// What the values of pairs under a limit are.
fn form_of(limit: Limit) -> Form {
    match limit {
        Limit::Similarity(_) => Form::Similarity,
        Limit::Distance(_) => Form::Distance,
    }
}

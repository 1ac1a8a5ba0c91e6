//! The main job: every similar pair of a collection, or the collection with one of each kept.
//!
//! Two passes over the input. The first gives every text a fingerprint, by which identical ones are folded,
//! and its bucket keys; the second reads again the texts that share a key with another, and those are
//! compared exactly. In memory are a few numbers a record; keys, ids, the elements of candidates and the
//! matches go to temporary files as far as they exceed what the run may use.

mod collection;
mod column;
mod memory;
mod observe;
mod record;
mod resume;
mod sample;
mod search;
mod sketch;

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use nearkin_kernels::equal_bytes_of;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

pub use collection::{Collection, Ids};
pub use memory::{LEAST_MEMORY, fair_share};
pub use observe::{Clock, NoObserver, Observer, Stage, StageTime, Stats};
pub use resume::Job;
pub use sample::{Sample, sample};

use crate::amplify::{Bands, MAX_FUNCTIONS};
use crate::candidates::bands::Banding;
use crate::candidates::{buckets, each_bucket};
use crate::cluster::{self, Candidate, Keep};
use crate::item::{Source, Value};
use crate::shingle::Shingling;
use crate::spill::{Cache, Lists, Partitions, Temp};
use crate::verify::{Limit, Measure, Overlap, Verifier};
use crate::{Error, Result};
use memory::Budget;
use record::Layout;
use resume::{Loader, Saver, start_of_system};
use search::{Partners, Search};
use sketch::{Kept, Loaded, NOWHERE, Wanted};

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
    /// Bands to use instead of the cheapest that keep the recall.
    pub bands: Option<Bands>,
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

impl Default for Settings {
    fn default() -> Self {
        Self {
            shingling: Shingling::default(),
            measure: Measure::default(),
            threshold: 0.8,
            within: None,
            recall: 0.99,
            bands: None,
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
    /// The bands to use: those that were set, or the cheapest that keep the recall.
    pub fn bands(&self) -> Result<Bands> {
        Verifier::new(self.measure, self.limit())?;
        match self.bands {
            Some(bands) => Bands::new(bands.count, bands.rows),
            None => {
                let in_range = self.recall > 0.0 && self.recall < 1.0;
                let recall = self.recall + if in_range { self.overlooked() } else { 0.0 };
                Bands::for_recall(self.jaccard_threshold(), recall, MAX_FUNCTIONS)
            }
        }
    }

    /// The chance that a pair at just the threshold is found.
    pub fn promised(&self) -> Result<f64> {
        Ok(match self.bands {
            Some(_) => {
                let found = self.bands()?.probability(self.jaccard_threshold());
                (found - self.overlooked()).max(0.0)
            }
            None => self.recall,
        })
    }

    /// The most that the chance of a pair at just the threshold may lose to a first look at the sketches,
    /// which spares most other pairs the exact comparison.
    fn overlooked(&self) -> f64 {
        match self.bands {
            Some(_) => 1e-9, // of a promise that is not ours to spend
            None => (1.0 - self.recall) / 100.0,
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

    /// What counts as similar.
    pub fn limit(&self) -> Limit {
        self.within.map_or(Limit::Similarity(self.threshold), Limit::Distance)
    }
}

/// Every similar pair of a collection, or of two.
pub struct Similar {
    /// The items.
    pub collection: Collection,
    /// What it took.
    pub stats: Stats,
    partners: Partners,
    identical: Overlap,
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
    let (collection, partners) = in_pool(settings.threads, || {
        let found = run.candidates(false, &mut stats)?;
        let limit = run.budget.share(2);
        let saved = run.saved(Stage::Verify, |load| {
            Some((stats.load(load, Stage::Verify)?, Partners::load(load, limit)?))
        });
        if let Some((saved, partners)) = saved {
            stats = saved;
            return Ok((found.collection, partners));
        }
        let (collection, search) = run.load_candidates(found, &mut stats)?;
        let clock = Clock::start(Stage::Verify);
        let partners = search.partners(observer, &mut stats)?;
        stats.stages.push(clock.stop(0));
        run.save(Stage::Verify, |save| {
            stats.save(save)?;
            partners.save(save)
        })?;
        Ok((collection, partners))
    })?;
    Ok(Similar { collection, partners, stats, identical: settings.measure.identical() })
}

impl Similar {
    /// Calls `pair` with the positions of every similar pair and what they have in common, sorted by the
    /// first position, then the second; with two collections, positions are counted in each.
    ///
    /// Copies of one text are paired here, as they are needed, so a million of them cost no memory.
    pub fn each(&self, mut pair: impl FnMut(u32, u32, Overlap) -> Result<()>) -> Result<u64> {
        let members = self.collection.members();
        let split = self.collection.split();
        let mut cache = Cache::one();
        let mut row: Vec<(u32, Overlap)> = Vec::new();
        let mut count = 0;
        for a in 0..split.unwrap_or(self.collection.records()) {
            let Some(group) = self.collection.group_of(a) else { continue };
            let from = split.unwrap_or(a + 1);
            row.clear();
            let own = std::iter::once((group, self.identical));
            for (group, overlap) in own.chain(self.partners.of(group, &mut cache)?) {
                let members = members.of(group);
                let later = &members[members.partition_point(|&b| b < from)..];
                row.extend(later.iter().map(|&b| (b, overlap)));
            }
            row.sort_unstable_by_key(|&(b, _)| b);
            for &(b, overlap) in &row {
                pair(a, b - split.unwrap_or(0), overlap)?;
            }
            count += row.len() as u64;
        }
        Ok(count)
    }
}

/// Reads, decodes and shingles every text of `source` and keeps nothing: the time that takes is what a run
/// cannot be faster than. Returns the number of shingles.
pub fn shingle_only<S: Source>(source: &S, settings: &Settings) -> Result<u64> {
    sketch::shingle_only(source, settings)
}

/// A collection with one item of each cluster kept.
pub struct Deduplicated {
    /// The items.
    pub collection: Collection,
    /// The cluster that swallowed an implausible share, if there is one.
    pub swallowed: Option<Swallowed>,
    /// What it took.
    pub stats: Stats,
    groups: Clustered,
    identical: Overlap,
}

/// For every group its cluster.
struct Clustered {
    /// The preferred item.
    best: Vec<u32>,
    /// The group that stands for the cluster.
    centres: Vec<u32>,
    /// What the two have in common.
    overlaps: Vec<Overlap>,
}

impl Clustered {
    /// The largest cluster, if its share of the collection is implausible.
    fn largest(&self, limit: Limit) -> Option<Swallowed> {
        /// Fewer texts than this are no reason to worry, nor is a smaller share of the collection.
        const TEXTS: usize = 100;
        const SHARE: f64 = 0.1;
        let mut texts = vec![0usize; self.centres.len()];
        self.centres.iter().for_each(|&centre| texts[centre as usize] += 1);
        let (centre, &texts) =
            texts.iter().enumerate().max_by_key(|&(at, n)| (*n, usize::MAX - at))?;
        let share = texts as f64 / self.centres.len() as f64;
        let members = self.centres.iter().zip(&self.overlaps).filter(|(c, _)| **c == centre as u32);
        let unlike = members.filter(|(_, overlap)| !limit.reached(**overlap)).count();
        (texts >= TEXTS && share >= SHARE).then(|| Swallowed {
            kept: self.best[centre],
            texts,
            share,
            unlike,
        })
    }

    fn save(&self, save: &mut Saver) -> Result<()> {
        save.numbers(&self.best)?;
        save.numbers(&self.centres)?;
        let overlaps: Vec<u64> = self
            .overlaps
            .iter()
            .map(|overlap| u64::from(overlap.shared) << 32 | u64::from(overlap.union))
            .collect();
        save.numbers(&overlaps)
    }

    fn load(load: &mut Loader) -> Option<Self> {
        let (best, centres) = (load.numbers()?, load.numbers()?);
        let overlaps: Vec<u64> = load.numbers()?;
        let overlap = |both: u64| Overlap { shared: (both >> 32) as u32, union: both as u32 };
        Some(Self { best, centres, overlaps: overlaps.into_iter().map(overlap).collect() })
    }
}

impl Deduplicated {
    /// The position of the item that stands for the record at this one (its own when it is kept), and what
    /// the two have in common; `None` for a record that was skipped.
    pub fn cluster(&self, position: u32) -> Option<(u32, Overlap)> {
        if !self.collection.is_item(position) {
            return None;
        }
        Some(match self.collection.group_of(position) {
            None => (position, self.identical),
            Some(group) => {
                let centre = self.groups.centres[group as usize];
                (self.groups.best[centre as usize], self.groups.overlaps[group as usize])
            }
        })
    }

    /// The same for every record.
    pub fn clusters(&self) -> impl Iterator<Item = Option<(u32, Overlap)>> {
        (0..self.collection.records()).map(|position| self.cluster(position))
    }

    /// Whether the record at this position is kept.
    pub fn is_kept(&self, position: u32) -> bool {
        self.cluster(position).is_some_and(|(kept, _)| kept == position)
    }

    /// Counts the clusters of two items or more, and the items kept.
    fn count(&mut self) {
        let mut larger = vec![false; self.collection.records() as usize];
        let mut kept = 0;
        for (position, cluster) in (0u32..).zip(self.clusters()) {
            match cluster {
                Some((to, _)) if to == position => kept += 1,
                Some((to, _)) => larger[to as usize] = true,
                None => {}
            }
        }
        self.stats.clusters = Some(larger.into_iter().filter(|&larger| larger).count() as u64);
        self.stats.kept = Some(kept);
    }
}

/// A cluster that looks like chaining rather than copying.
#[derive(Debug, Clone, Copy)]
pub struct Swallowed {
    /// The item kept for it.
    pub kept: u32,
    /// Distinct texts in it.
    pub texts: usize,
    /// The share of all distinct texts.
    pub share: f64,
    /// Distinct texts in it that are not similar to the kept one.
    pub unlike: usize,
}

/// Finds clusters of similar items in `source` and chooses one of each to keep. Without `chains`,
/// every member of a cluster is similar to the kept one.
pub fn dedup<S: Source>(
    source: &S,
    settings: &Settings,
    keep: &Keep,
    chains: bool,
    observer: &dyn Observer,
) -> Result<Deduplicated> {
    let sources = [source];
    let run = Run::new(&sources, settings, observer)?;
    let mut stats = Stats::default();
    in_pool(settings.threads, || {
        let found = run.candidates(*keep == Keep::Longest, &mut stats)?;
        let saved = run.saved(Stage::Verify, |load| {
            Some((stats.load(load, Stage::Verify)?, Clustered::load(load)?))
        });
        let done = |collection, groups: Clustered, stats: &mut Stats| {
            let mut result = Deduplicated {
                collection,
                swallowed: groups.largest(settings.limit()),
                stats: std::mem::take(stats),
                groups,
                identical: settings.measure.identical(),
            };
            result.count();
            result
        };
        if let Some((mut saved, groups)) = saved {
            return Ok(done(found.collection, groups, &mut saved));
        }
        let (collection, search) = run.load_candidates(found, &mut stats)?;
        let clock = Clock::start(Stage::Verify);
        let merits = Merits { collection: &collection, keep };
        let best = merits.best_of_groups()?;
        let centres = if chains {
            merits.kept_of_components(&search.components(observer, &mut stats)?, &best)?
        } else {
            let order = merits.order(&best)?;
            let mut cache = Cache::one();
            let partners = search.partners(observer, &mut stats)?;
            cluster::stars(&order, |group, partner| {
                partners.of(group, &mut cache)?.for_each(|(other, _)| partner(other));
                Ok(())
            })?
        };
        let overlaps = search.overlaps(&centres)?;
        let groups = Clustered { best, centres, overlaps };
        stats.stages.push(clock.stop(0));
        run.save(Stage::Verify, |save| {
            stats.save(save)?;
            groups.save(save)
        })?;
        Ok(done(collection, groups, &mut stats))
    })
}

/// Which of several items is kept.
struct Merits<'a> {
    collection: &'a Collection,
    keep: &'a Keep,
}

impl Merits<'_> {
    /// The one of these items that is preferred.
    fn best(&self, positions: &[u32], cache: &mut Cache<u8>) -> Result<u32> {
        let mut best: Option<(u32, u32, Option<Value>)> = None;
        for &position in positions {
            let (length, value) = self.collection.merits(position, cache)?;
            let this = Candidate { position, length, value: value.as_ref() };
            let better = best.as_ref().is_none_or(|(position, length, value)| {
                let best =
                    Candidate { position: *position, length: *length, value: value.as_ref() };
                self.keep.prefer(&this, &best).is_lt()
            });
            if better {
                best = Some((position, length, value));
            }
        }
        Ok(best.expect("one of some items").0)
    }

    /// The preferred item of every group of identical texts.
    fn best_of_groups(&self) -> Result<Vec<u32>> {
        let groups = 0..self.collection.groups();
        if *self.keep == Keep::First {
            return Ok(groups.map(|group| self.collection.first(group)).collect());
        }
        let members = self.collection.members();
        let mut cache = Cache::one();
        groups.map(|group| self.best(members.of(group), &mut cache)).collect()
    }

    /// For every group, the group of its component's preferred item.
    fn kept_of_components(&self, components: &[u32], best: &[u32]) -> Result<Vec<u32>> {
        let mut kept: Vec<u32> = (0..components.len() as u32).collect();
        let mut cache = Cache::one();
        for (group, &component) in (0u32..).zip(components).filter(|(group, c)| group != *c) {
            let current = &mut kept[component as usize];
            let (this, other) = (best[group as usize], best[*current as usize]);
            if self.best(&[other, this], &mut cache)? == this {
                *current = group;
            }
        }
        Ok(components.iter().map(|&component| kept[component as usize]).collect())
    }

    /// All groups, the one with the most preferred item first.
    fn order(&self, best: &[u32]) -> Result<Vec<u32>> {
        let mut order: Vec<u32> = (0..best.len() as u32).collect();
        if *self.keep == Keep::First {
            return Ok(order);
        }
        let mut cache = Cache::one();
        let merits: Vec<(u32, Option<Value>)> = best
            .iter()
            .map(|&position| self.collection.merits(position, &mut cache))
            .collect::<Result<_>>()?;
        order.sort_unstable_by(|&a, &b| {
            let [a, b] = [a, b].map(|group| {
                let (length, value) = &merits[group as usize];
                let position = best[group as usize];
                Candidate { position, length: *length, value: value.as_ref() }
            });
            self.keep.prefer(&a, &b)
        });
        Ok(order)
    }
}

/// The steps that `pairs` and `dedup` share.
struct Run<'a, S> {
    sources: &'a [&'a S],
    settings: &'a Settings,
    observer: &'a dyn Observer,
    banding: Banding,
    budget: Budget,
    layout: Layout,
}

/// Who shares a key with whom, and what is known of them already.
struct Found {
    collection: Collection,
    buckets: Lists<u32>,
    kept: Kept,
    /// Elements of a text, on average.
    elements: usize,
}

impl<'a, S: Source> Run<'a, S> {
    fn new(
        sources: &'a [&'a S],
        settings: &'a Settings,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let banding = Banding::new(settings.bands()?, settings.seed)?;
        let temp = match &settings.job {
            Some(job) => job.temp(),
            None => Temp::passing(memory::folder(settings.temp.as_ref())),
        };
        let budget = Budget::new(settings.memory, temp);
        let layout = Layout::new(banding.bands());
        Ok(Self { sources, settings, observer, banding, budget, layout })
    }

    fn bytes(&self) -> u64 {
        self.sources.iter().map(|source| source.bytes()).sum()
    }

    /// What a run of the same job saved after a stage.
    fn saved<T>(&self, after: Stage, read: impl FnOnce(&mut Loader) -> Option<T>) -> Option<T> {
        self.settings.job.as_ref()?.load(after.name(), read)
    }

    /// Saves the result of a stage for another run of the job.
    fn save(&self, after: Stage, write: impl FnOnce(&mut Saver) -> Result<()>) -> Result<()> {
        let Some(job) = &self.settings.job else { return Ok(()) };
        job.save(after.name(), write)?;
        if after == Stage::Verify {
            // What was loaded has served, and need not go to the disk if it is not there yet.
            self.forget(Stage::Load.name());
            self.forget(sketch::RECORDS);
        }
        Ok(())
    }

    fn forget(&self, name: &str) {
        if let Some(job) = &self.settings.job {
            job.forget(name);
        }
    }

    /// Sketches every text and finds who shares a key.
    fn candidates(&self, lengths: bool, stats: &mut Stats) -> Result<Found> {
        stats.bands = Some(self.banding.bands());
        stats.recall_promised = self.settings.promised()?;
        let saved = self.saved(Stage::Candidates, |load| {
            let saved = stats.load(load, Stage::Candidates)?;
            let found = Found {
                collection: Collection::load(load, self.budget.share(1))?,
                buckets: load.lists(self.budget.share(2))?,
                kept: Kept::default(),
                elements: load.number()? as usize,
            };
            Some((saved, found))
        });
        if let Some((saved, found)) = saved {
            *stats = saved;
            return Ok(found);
        }
        let bytes = self.bytes();
        self.check_space()?;
        self.observer.stage(Stage::Sketch, Some(bytes));
        let clock = Clock::start(Stage::Sketch);
        let (mut collection, sketches) = self.sketch(lengths)?;
        let sketch::Sketches { keys, prints, ids, kept, elements } = sketches;
        stats.stages.push(clock.stop(bytes));

        self.observer.stage(Stage::Candidates, None);
        let clock = Clock::start(Stage::Candidates);
        self.fold(&mut collection, &prints, &ids)?;
        drop((prints, ids));
        collection.count(stats);
        let buckets = self.buckets(&collection, &keys)?;
        drop(keys);
        stats.stages.push(clock.stop(0));
        let elements = (elements.0 / elements.1.max(1)) as usize;
        self.save(Stage::Candidates, |save| {
            stats.save(save)?;
            collection.save(save)?;
            save.lists(&buckets)?;
            save.number(elements as u64)
        })?;
        Ok(Found { collection, buckets, kept, elements })
    }

    /// Loads what is needed to compare the candidates.
    fn load_candidates(&self, found: Found, stats: &mut Stats) -> Result<(Collection, Search)> {
        let Found { collection, buckets, kept, elements } = found;
        let sides = collection.sides();
        let limit = self.budget.share(4);
        let saved = self.saved(Stage::Load, |load| {
            let saved = stats.load(load, Stage::Load)?;
            if load.text()? != start_of_system() {
                return None;
            }
            let records = Lists::new(limit, &self.budget.temp).named(sketch::RECORDS);
            let loaded = Loaded {
                records: records.again(&load.numbers::<u64>()?).ok()?,
                heads: load.lists(self.budget.share(2))?,
                places: load.numbers()?,
            };
            Some((saved, loaded))
        });
        let Loaded { records, heads, places } = match saved {
            Some((saved, loaded)) => {
                *stats = saved;
                loaded
            }
            None => {
                // What is written now must not be taken for what was saved before.
                self.forget(Stage::Load.name());
                let bytes = self.bytes();
                self.observer.stage(Stage::Load, Some(bytes));
                let clock = Clock::start(Stage::Load);
                let kept_places = kept.places(&collection);
                let worth = |bucket: &[u32]| sides.as_ref().is_none_or(|sides| sides.both(bucket));
                let wanted = self.wanted(&buckets, worth, &kept, &kept_places)?;
                let candidates = wanted.iter().filter(|&&wanted| wanted != Wanted::Not).count();
                let words = candidates as u64 * self.layout.words(elements) as u64;
                self.budget.check_space((8 * words).saturating_sub(limit as u64))?;
                let mut loaded = self.load(&collection, wanted, kept, &kept_places)?;
                stats.stages.push(clock.stop(bytes));
                if let Some(on_disk) = loaded.records.settle()? {
                    self.save(Stage::Load, |save| {
                        stats.save(save)?;
                        save.text(&start_of_system())?;
                        save.numbers(&on_disk)?;
                        save.lists(&loaded.heads)?;
                        save.numbers(&loaded.places)
                    })?;
                }
                loaded
            }
        };
        self.observer.stage(Stage::Verify, None);
        let search = Search {
            buckets,
            sides,
            verifier: Verifier::new(self.settings.measure, self.settings.limit())?,
            agreement: self.agreement(),
            layout: self.layout,
            records,
            heads,
            places: places.into(),
            budget: self.budget.clone(),
            threads: self.settings.threads,
        };
        Ok((collection, search))
    }

    /// The buckets of every partition of the keys.
    fn buckets(&self, collection: &Collection, keys: &Partitions<1>) -> Result<Lists<u32>> {
        let mut lists = Lists::new(self.budget.share(2), &self.budget.temp);
        let partitions: Vec<usize> = (0..keys.count()).collect();
        for some in partitions.chunks(4 * self.settings.threads.max(1)) {
            let found: Vec<Vec<u32>> = some
                .par_iter()
                .map(|&partition| {
                    if self.observer.stopped() {
                        return Err(Error::Interrupted);
                    }
                    let entries = keys.partition(partition)?.into_iter().filter_map(|[entry]| {
                        let group = collection.group_of(entry as u32)?;
                        Some(entry >> 32 << 32 | u64::from(group))
                    });
                    Ok(buckets(entries.collect()))
                })
                .collect::<Result<_>>()?;
            found.iter().try_for_each(|buckets| lists.push(&[buckets]))?;
        }
        Ok(lists)
    }

    /// Values of two sketches that must agree for an exact comparison to be worth it.
    fn agreement(&self) -> usize {
        let settings = self.settings;
        self.layout.least_agreement(settings.jaccard_threshold(), settings.overlooked())
    }

    /// For every group, whether it is in a bucket worth comparing, and whether its elements may be looked
    /// at there: so much the sketches that were kept can tell.
    fn wanted(
        &self,
        buckets: &Lists<u32>,
        worth: impl Fn(&[u32]) -> bool + Sync,
        kept: &Kept,
        places: &[(u32, u32)],
    ) -> Result<Vec<Wanted>> {
        /// A bucket with more members is not gone through pair by pair for that.
        const FEW: usize = 64;
        let agreement = self.agreement();
        // Only ever raised, so that it does not matter who comes first.
        let wanted: Vec<AtomicU8> =
            places.iter().map(|_| AtomicU8::new(Wanted::Not as u8)).collect();
        let is_close =
            |group: u32| wanted[group as usize].load(Ordering::Relaxed) == Wanted::Closely as u8;
        let want = |group: u32, how: Wanted| {
            wanted[group as usize].fetch_max(how as u8, Ordering::Relaxed);
        };
        let head = |group: u32| {
            let place = places[group as usize];
            (place.1 != NOWHERE)
                .then(|| self.layout.split_head(self.layout.head_of(kept.get(place))).bytes)
        };
        let look = |cache: &mut Cache<u32>, partition: usize| -> Result<()> {
            let buckets = each_bucket(buckets.get(partition, cache)?);
            for bucket in buckets.filter(|bucket| worth(bucket)) {
                let all = if bucket.len() > FEW { Wanted::Closely } else { Wanted::Loosely };
                bucket.iter().for_each(|&group| want(group, all));
                if all == Wanted::Closely {
                    continue;
                }
                for (i, &a) in bucket.iter().enumerate() {
                    for &b in &bucket[..i] {
                        if is_close(a) && is_close(b) {
                            continue;
                        }
                        let heads = head(a).zip(head(b));
                        if heads.is_none_or(|(a, b)| equal_bytes_of(a, b) >= agreement) {
                            want(a, Wanted::Closely);
                            want(b, Wanted::Closely);
                        }
                    }
                }
            }
            Ok(())
        };
        let partitions = (0..buckets.len()).into_par_iter();
        partitions.map_init(Cache::one, look).collect::<Result<()>>()?;
        Ok(wanted.into_iter().map(|how| Wanted::from(how.into_inner())).collect())
    }

    /// Refuses a run for whose temporary files there is no room, as far as the first records tell.
    fn check_space(&self) -> Result<()> {
        let (bytes, memory) = (self.bytes(), self.settings.memory as u64);
        if bytes < memory / 4 {
            return Ok(());
        }
        let Some(chunk) = self.sources[0].scan(&|_| false)?.next().transpose()? else {
            return Ok(());
        };
        let (_, of) = self.sources[0].place(&chunk);
        let batch = self.sources[0].decode(&chunk, &|_| true)?;
        let records = batch.records as f64 / of.max(1) as f64 * bytes as f64;
        // Two hashes and a key a band for every record; a tenth of them candidates, a shingle every six bytes.
        // How many candidates there really are is checked again when they are known.
        let keys = records * (32.0 + 8.0 * self.banding.bands().count as f64);
        let loaded =
            (records * 8.0 * self.layout.words(0) as f64 + bytes as f64 * 8.0 / 6.0) / 10.0;
        let beyond = |needed: f64, share: usize| {
            (needed as u64).saturating_sub(self.budget.share(share) as u64)
        };
        self.budget.check_space(beyond(keys, 6).max(beyond(loaded, 4)))
    }
}

/// Runs `work` with this many threads for whatever it does in parallel.
fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    let pool = ThreadPoolBuilder::new().num_threads(threads.max(1)).build().map_err(|error| {
        Error::File {
            path: PathBuf::from("threads"),
            what: format!("cannot start {threads}: {error}"),
        }
    })?;
    pool.install(work)
}

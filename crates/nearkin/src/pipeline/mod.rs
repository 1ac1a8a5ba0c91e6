//! The main job: every similar pair of a collection, or the collection with one of each kept.
//!
//! Two passes over the input. The first folds identical texts and gives each distinct one its bucket
//! keys; the second reads again the texts that share a key with another, and those are compared
//! exactly. What is held in memory is the keys of all texts and the shingles of the second pass's.

mod collection;
mod observe;
mod sample;
mod search;
mod sketch;

use std::num::NonZero;
use std::path::PathBuf;

use rayon::ThreadPoolBuilder;

pub use collection::Collection;
pub use observe::{Clock, NoObserver, Observer, Stage, StageTime, Stats};
pub use sample::{Sample, sample};

use crate::amplify::{Bands, MAX_FUNCTIONS};
use crate::candidates::bands::Banding;
use crate::cluster::{self, Candidate, Keep};
use crate::item::Source;
use crate::shingle::Shingling;
use crate::verify::{Limit, Match, Measure, Overlap, Verifier};
use crate::{Error, Result};
use search::Search;

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
    /// Bytes of shingles to keep from the first pass; candidates that are not among them are read again.
    pub keep: usize,
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
            keep: 256 << 20, // of some 200 MB of text
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
            None => Bands::for_recall(self.jaccard_threshold(), self.recall, MAX_FUNCTIONS),
        }
    }

    /// The chance that a pair at just the threshold is found.
    pub fn promised(&self) -> Result<f64> {
        Ok(match self.bands {
            Some(_) => self.bands()?.probability(self.jaccard_threshold()),
            None => self.recall,
        })
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
#[derive(Debug)]
pub struct Similar {
    /// The items.
    pub collection: Collection,
    /// Similar pairs of distinct texts, by their group number.
    pub matches: Vec<Match>,
    /// What it took.
    pub stats: Stats,
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
    let mut stats = Stats::default();
    let (collection, matches) = in_pool(settings.threads, || {
        let found = Run { sources: &sources, settings, observer }.prepare(&mut stats)?;
        let clock = Clock::start(Stage::Verify);
        let matches = found.search.matches(observer, &mut stats)?;
        stats.stages.push(clock.stop(0));
        Ok((found.collection, matches))
    })?;
    Ok(Similar { collection, matches, stats, identical: settings.measure.identical() })
}

impl Similar {
    /// Calls `pair` with the positions of every similar pair and what they have in common, sorted by the
    /// first position, then the second; with two collections, positions are counted in each.
    ///
    /// Copies of one text are paired here, as they are needed, so a million of them cost no memory.
    pub fn each(&self, mut pair: impl FnMut(u32, u32, Overlap) -> Result<()>) -> Result<u64> {
        let mut partners: Vec<(u32, u32, Overlap)> = self
            .matches
            .iter()
            .flat_map(|m| [(m.a, m.b, m.overlap), (m.b, m.a, m.overlap)])
            .collect();
        partners.sort_unstable_by_key(|&(a, b, _)| (a, b));
        let members = self.collection.members();
        let split = self.collection.split();
        let mut row: Vec<(u32, Overlap)> = Vec::new();
        let mut count = 0;
        for a in 0..split.unwrap_or(self.collection.records()) {
            let Some(group) = self.collection.group_of(a) else { continue };
            let from = split.unwrap_or(a + 1);
            row.clear();
            let own = std::iter::once((group, self.identical));
            let first = partners.partition_point(|partner| partner.0 < group);
            let others = partners[first..].iter().take_while(|partner| partner.0 == group);
            for (group, overlap) in own.chain(others.map(|partner| (partner.1, partner.2))) {
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
#[derive(Debug)]
pub struct Deduplicated {
    /// The items.
    pub collection: Collection,
    /// For every record the position of the item that stands for it (its own when it is kept), and
    /// what it has in common with that; `None` for a record that was skipped.
    pub clusters: Vec<Option<(u32, Overlap)>>,
    /// The cluster that swallowed an implausible share, if there is one.
    pub swallowed: Option<Swallowed>,
    /// What it took.
    pub stats: Stats,
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
    let mut stats = Stats::default();
    in_pool(settings.threads, || {
        let Prepared { collection, search } =
            Run { sources: &[source], settings, observer }.prepare(&mut stats)?;
        let clock = Clock::start(Stage::Verify);
        let best = best_of_groups(&collection, keep);
        let centres = if chains {
            kept_of_components(&search.components(observer, &mut stats)?, &collection, keep, &best)
        } else {
            let mut order: Vec<u32> = (0..best.len() as u32).collect();
            order.sort_unstable_by(|&a, &b| {
                let [a, b] = [a, b].map(|group| candidate(&collection, best[group as usize]));
                keep.prefer(&a, &b)
            });
            cluster::stars(&order, &search.matches(observer, &mut stats)?)
        };
        let overlaps: Vec<Overlap> =
            (0u32..).zip(&centres).map(|(group, &centre)| search.overlap(group, centre)).collect();
        let swallowed = largest(&centres, &overlaps, &best, settings.limit());
        let clusters: Vec<Option<(u32, Overlap)>> = (0..collection.records())
            .map(|position| {
                if !collection.is_item(position) {
                    return None;
                }
                let group = collection.group_of(position);
                Some(group.map_or((position, settings.measure.identical()), |group| {
                    (best[centres[group as usize] as usize], overlaps[group as usize])
                }))
            })
            .collect();
        stats.clusters = Some(count_clusters(&clusters));
        stats.kept =
            Some((0u32..).zip(&clusters).filter(|(at, c)| c.is_some_and(|c| c.0 == *at)).count()
                as u64);
        stats.stages.push(clock.stop(0));
        Ok(Deduplicated { collection, clusters, swallowed, stats: std::mem::take(&mut stats) })
    })
}

/// Clusters of two items or more.
fn count_clusters(clusters: &[Option<(u32, Overlap)>]) -> u64 {
    let mut larger = vec![false; clusters.len()];
    for (position, cluster) in clusters.iter().enumerate() {
        if let Some((kept, _)) = cluster
            && *kept as usize != position
        {
            larger[*kept as usize] = true;
        }
    }
    larger.into_iter().filter(|&larger| larger).count() as u64
}

fn candidate(collection: &Collection, position: u32) -> Candidate<'_> {
    let (length, value) = collection.merits(position);
    Candidate { position, length, value }
}

/// The preferred item of every group of identical texts.
fn best_of_groups(collection: &Collection, keep: &Keep) -> Vec<u32> {
    let members = collection.members();
    let best = |group: u32| {
        let items = members.of(group).iter().map(|&position| candidate(collection, position));
        items.min_by(|a, b| keep.prefer(a, b)).expect("a group has members").position
    };
    (0..collection.groups()).map(best).collect()
}

/// For every group, the group of its component's preferred item.
fn kept_of_components(
    components: &[u32],
    collection: &Collection,
    keep: &Keep,
    best: &[u32],
) -> Vec<u32> {
    let mut kept: Vec<u32> = (0..components.len() as u32).collect();
    for (group, &component) in (0u32..).zip(components) {
        let current = &mut kept[component as usize];
        let [a, b] = [group, *current].map(|group| candidate(collection, best[group as usize]));
        if keep.prefer(&a, &b).is_lt() {
            *current = group;
        }
    }
    components.iter().map(|&component| kept[component as usize]).collect()
}

/// The largest cluster, if its share of the collection is implausible.
fn largest(centres: &[u32], overlaps: &[Overlap], best: &[u32], limit: Limit) -> Option<Swallowed> {
    /// Fewer texts than this are no reason to worry, nor is a smaller share of the collection.
    const TEXTS: usize = 100;
    const SHARE: f64 = 0.1;
    let mut texts = vec![0usize; centres.len()];
    centres.iter().for_each(|&centre| texts[centre as usize] += 1);
    let (centre, &texts) = texts.iter().enumerate().max_by_key(|&(at, n)| (*n, usize::MAX - at))?;
    let share = texts as f64 / centres.len() as f64;
    let unlike = centres
        .iter()
        .zip(overlaps)
        .filter(|(c, overlap)| **c == centre as u32 && !limit.reached(**overlap))
        .count();
    (texts >= TEXTS && share >= SHARE).then(|| Swallowed {
        kept: best[centre],
        texts,
        share,
        unlike,
    })
}

/// The steps that `pairs` and `dedup` share.
struct Run<'a, S> {
    sources: &'a [&'a S],
    settings: &'a Settings,
    observer: &'a dyn Observer,
}

struct Prepared {
    collection: Collection,
    search: Search,
}

impl<S: Source> Run<'_, S> {
    /// Sketches every text, finds who shares a key, and loads the shingles of those.
    fn prepare(&self, stats: &mut Stats) -> Result<Prepared> {
        let settings = self.settings;
        let verifier = Verifier::new(settings.measure, settings.limit())?;
        let banding = Banding::new(settings.bands()?, settings.seed)?;
        let bytes = self.sources.iter().map(|source| source.bytes()).sum();

        self.observer.stage(Stage::Sketch, Some(bytes));
        let clock = Clock::start(Stage::Sketch);
        let (collection, keys, kept) =
            sketch::sketch(self.sources, &banding, settings, self.observer)?;
        stats.stages.push(clock.stop(bytes));
        collection.count(stats);
        stats.bands = Some(banding.bands());
        stats.recall_promised = settings.promised()?;

        self.observer.stage(Stage::Candidates, None);
        let clock = Clock::start(Stage::Candidates);
        let mut search = Search::new(keys, collection.sides(), verifier);
        stats.stages.push(clock.stop(0));

        self.observer.stage(Stage::Load, Some(bytes));
        let clock = Clock::start(Stage::Load);
        let loaded = sketch::load(
            self.sources,
            &collection,
            &search.candidates(),
            kept,
            settings,
            self.observer,
        )?;
        search.provide(loaded);
        stats.stages.push(clock.stop(bytes));
        self.observer.stage(Stage::Verify, None);
        Ok(Prepared { collection, search })
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

//! Texts, sets and bags, as many as the disk holds: two passes over the input, and what does not fit in memory in
//! temporary files.
//!
//! ```text
//! first_pass → fold → (plan) → buckets → second_pass → bucket_join
//!                        └─────────────→ second_pass → exact_join
//! ```
//!
//! [`first_pass`] gives every text a fingerprint, by which [`fold`] finds copies, and its bucket keys. Small
//! collections stay in memory ([`record_cache`]) and are sketched when it is decided how pairs are found.
//! [`second_pass`] reads the candidates again that were not kept ([`candidate_store`]); [`bucket_join`] compares those
//! that share a key, [`bucket_components`] only finds what similar pairs connect, [`heavy_buckets`] are left to the exact
//! join, and [`exact_join`] compares all. Which of it is in memory changes nothing in the result.
//!
//! `pairs` takes two passes over the input and `dedup` three: the third copies the kept records as they came. Texts of
//! up to 128 MiB get their keys only after all of them are read and the way is chosen. The second pass reads only the
//! chunks that hold a candidate whose elements were not kept from the first; 256 MiB may be kept, so small collections
//! are read once.
//!
//! A few 32-bit numbers per record always stay in memory: its group, the group's first record, its place among the
//! candidates, its cluster. Everything else that grows (keys, fingerprints, hashes of ids, ids, values, elements of
//! candidates, matches) stays in memory up to its share of the limit and goes to temporary files beyond it.

mod audit_sample;
mod bucket_components;
mod bucket_join;
mod buffers;
mod candidate_store;
mod candidates;
mod exact_batch;
mod exact_join;
mod first_pass;
mod fold;
mod heavy_buckets;
mod record_cache;
mod second_pass;
mod sketch_cached;

pub(crate) use buffers::TextBuffers;

use std::ops::Add;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use nearkin_kernels::equal_bytes_of;
use rayon::prelude::*;

use crate::amplify::Bands;
use crate::candidates::bands::Banding;
use crate::candidates::each_bucket;
use crate::candidates::element_record::RecordLayout;
use crate::cluster::{Closeness, ComparedSets, Comparison, SetCentres, stars};
use crate::item::{Sides, Source};
use crate::matches::{Collection, NOWHERE, SimilarGroups, Stats};
use crate::observe::{Clock, Observer, Stage, Traffic};
use crate::parallel::{LaneRoom, in_lanes};
use crate::plan::Plan;
use crate::settings::{Goal, SetStrategy, Settings};
use crate::spill::{self, Budget, Cache, Lists, Temp};
use crate::verify::{Overlap, Verifier};
use crate::{Error, Result};

use super::Search;
use bucket_join::BucketJoin;
use buffers::with_buffers;
use candidate_store::CandidateStore;
use candidates::{CandidateRecords, Candidates};
use exact_join::ExactJoin;
use record_cache::{Need, RecordCache};

/// Bytes of text up to which a look at the texts decides how pairs are found; more are always found by bands. Bytes of
/// text, not of input: the same texts must be searched the same way from any kind of file, from memory and on a cluster.
const SMALL: u64 = 128 << 20;

/// When texts get their bucket keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sketching {
    /// In the first pass.
    WhileReading,
    /// When all are read, if it turns out that keys are needed: they fit in memory.
    AfterReading,
}

/// What all stages of one run need to know.
pub(super) struct DiskRun<'a, S> {
    sources: &'a [&'a S],
    search: Search<'a>,
    goal: Goal,
    strategy: SetStrategy,
    sketching: Sketching,
    /// None where pairs are found without sketches.
    banding: Option<Banding>,
    budget: Budget,
    layout: RecordLayout,
}

impl<'a, S: Source> DiskRun<'a, S> {
    pub(super) fn new(sources: &'a [&'a S], search: Search<'a>, goal: Goal) -> Result<Self> {
        let settings = search.settings;
        let strategy = settings.set_strategy()?;
        let banding = match strategy {
            SetStrategy::Exact => None,
            _ => Some(settings.banding()?),
        };
        let temp = match search.job {
            Some(job) => job.temp(),
            None => Temp::passing(spill::folder(settings.temp.as_ref())),
        };
        let budget = Budget::new(settings.memory, temp);
        let layout =
            banding.as_ref().map_or(RecordLayout::bare(), |it| RecordLayout::new(it.bands()));
        let bytes: u64 = sources.iter().map(|source| source.bytes()).sum();
        // Compressed texts take about four times as much.
        let packed = sources.iter().any(|source| !source.skips());
        let small = bytes <= if packed { SMALL / 4 } else { SMALL };
        let room = budget.share(4) as u64;
        let fits = bytes <= if packed { room / 12 } else { room / 3 };
        let sketching = match small && fits && banding.is_some() {
            true => Sketching::AfterReading,
            false => Sketching::WhileReading,
        };
        Ok(Self { sources, search, goal, strategy, sketching, banding, budget, layout })
    }

    fn settings(&self) -> &'a Settings {
        self.search.settings
    }

    /// What may wait while files are read side by side.
    fn lane_room(&self) -> LaneRoom {
        LaneRoom::within(&self.budget, self.settings().threads)
    }

    /// What was read of the input so far.
    fn traffic(&self) -> Traffic {
        self.sources.iter().map(|source| source.traffic()).fold(Traffic::default(), Traffic::add)
    }

    /// Bytes of the input.
    fn bytes(&self) -> u64 {
        self.sources.iter().map(|source| source.bytes()).sum()
    }

    fn bands(&self) -> Option<Bands> {
        self.banding.as_ref().map(Banding::bands)
    }

    /// Tables of keys.
    fn tables(&self) -> usize {
        self.bands().map_or(0, |bands| bands.count)
    }

    /// Values of two sketches that must agree for an exact comparison to be worth it.
    fn agreement(&self) -> usize {
        let settings = self.settings();
        let overlooked = self.bands().map_or(0.0, |bands| settings.overlooked(bands));
        self.layout.least_agreement(settings.jaccard_threshold(), overlooked)
    }

    /// How pairs are found, as far as the settings alone decide it.
    fn plan(&self) -> Result<Plan> {
        Ok(match self.bands() {
            Some(bands) => Plan::bands(bands, self.settings().promised()?),
            None => Plan::exact(),
        })
    }

    /// Finds which texts may be similar. Counts lengths if they decide what is kept.
    pub(super) fn candidates(&self, lengths: bool, stats: &mut Stats) -> Result<Candidates> {
        stats.plan = self.plan()?;
        let candidates = self.search.resumable(
            Stage::Candidates,
            stats,
            |load| Candidates::load(load, &self.budget),
            |stats| Candidates::find(self, lengths, stats),
        )?;
        if stats.resumed.is_some() && candidates.records.buckets.is_none() {
            stats.plan = Plan::exact();
        }
        Ok(candidates)
    }

    /// Loads what is needed to compare the candidates.
    pub(super) fn comparison(
        &self,
        collection: &Collection,
        candidates: CandidateRecords,
        stats: &mut Stats,
    ) -> Result<DiskComparison> {
        let CandidateRecords { buckets, cache, places, elements, audited } = candidates;
        let sides = collection.copies().sides();
        let texts = self.search.resumable(
            Stage::Load,
            stats,
            |load| CandidateStore::load(load, self.layout, &self.budget),
            |stats| {
                self.search.observer.stage(Stage::Load, Some(self.bytes()));
                let (clock, before) = (Clock::start(Stage::Load), self.traffic());
                let places = places.unwrap_or_else(|| cache.places(collection));
                let mut needs = match &buckets {
                    Some(buckets) => needs(
                        buckets,
                        sides.as_ref(),
                        self.layout,
                        self.agreement(),
                        &cache,
                        &places,
                    )?,
                    None => vec![Need::Elements; places.len()],
                };
                let compared = needs.iter().filter(|&&need| need != Need::Nothing).count();
                audited.iter().for_each(|&group| needs[group as usize] = Need::Elements);
                // Those that were kept stay in memory.
                let is_read = |(need, place): &(&Need, &(u32, u32))| {
                    **need != Need::Nothing && place.1 == NOWHERE
                };
                let count = needs.iter().zip(&places).filter(is_read).count() as u64;
                let beyond = |words: usize, share: usize| {
                    (8 * count * words as u64).saturating_sub(self.budget.share(share) as u64)
                };
                let records = beyond(self.layout.words(elements), 4);
                self.budget.check_space(records + beyond(self.layout.head_words(), 2))?;
                let mut store = second_pass::load(self, collection, needs, cache, &places)?;
                store.compared = compared;
                stats.stages.push(clock.stop_with(self.traffic() - before));
                Ok(store)
            },
        )?;
        let settings = self.settings();
        let verifier = Verifier::new(settings.measure, settings.limit())?;
        let (budget, threads) = (self.budget.clone(), settings.threads);
        let comparison = match buckets {
            Some(buckets) => {
                let agreement = self.agreement();
                let join =
                    BucketJoin { buckets, sides, verifier, agreement, texts, budget, threads };
                DiskComparison::Buckets(join.into())
            }
            None => {
                let filters = settings.filters;
                let join = ExactJoin { texts, sides, verifier, filters, budget, threads };
                DiskComparison::Exact(join.into())
            }
        };
        self.search.observer.stage(comparison.stage(), None);
        Ok(comparison)
    }

    /// What either way would cost; none where only one is open.
    pub(super) fn plan_only(&self) -> Result<Option<Plan>> {
        candidates::plan_only(self)
    }

    /// Where its temporary files go.
    pub(super) fn budget(&self) -> &Budget {
        &self.budget
    }
}

/// The groups that are compared, and how.
pub(super) enum DiskComparison {
    /// Those that share a key.
    Buckets(Box<BucketJoin>),
    /// All.
    Exact(Box<ExactJoin>),
}

impl Comparison for DiskComparison {
    fn stage(&self) -> Stage {
        match self {
            Self::Buckets(_) => Stage::Verify,
            Self::Exact(_) => Stage::Join,
        }
    }

    fn similar_groups(&self, observer: &dyn Observer, stats: &mut Stats) -> Result<SimilarGroups> {
        match self {
            Self::Buckets(join) => join.similar_groups(observer, stats),
            Self::Exact(join) => join.similar_groups(observer, stats),
        }
    }

    fn components(&self, observer: &dyn Observer, stats: &mut Stats) -> Result<Vec<u32>> {
        match self {
            Self::Buckets(join) => join.components(observer, stats),
            Self::Exact(join) => join.components(observer, stats),
        }
    }

    fn stars(
        &self,
        order: (&[u32], u32),
        observer: &dyn Observer,
        stats: &mut Stats,
    ) -> Result<Vec<u32>> {
        /// Bytes that an index of sets takes for each of their elements, about.
        const ELEMENT: usize = 40;
        let components = self.components(observer, stats)?;
        let (sets, verifier, budget) = self.parts();
        let room = AtomicUsize::new(budget.share(1) / ELEMENT);
        let at_hand = budget.share(1) / rayon::current_num_threads().max(1);
        let compared = ComparedSets { sets, verifier, room: &room, at_hand };
        let go_on = || if observer.stopped() { Err(Error::Interrupted) } else { Ok(()) };
        stars(&components, order, || SetCentres::new(&compared), &go_on)
    }

    fn sizes(&self) -> Result<Option<Vec<u32>>> {
        let (texts, verifier, _) = self.parts();
        verifier.measure().is_one_sided().then(|| texts.sizes()).transpose()
    }

    fn closeness(&self, centres: &[u32]) -> Result<Vec<Closeness>> {
        let (texts, verifier, budget) = self.parts();
        texts.closeness(centres, verifier, budget.share(1))
    }

    fn overlaps(&self, pairs: &[(u32, u32)]) -> Result<Vec<Option<(Overlap, f64)>>> {
        let (texts, verifier, _) = self.parts();
        texts.overlaps(pairs, verifier)
    }
}

impl DiskComparison {
    fn parts(&self) -> (&CandidateStore, &Verifier, &Budget) {
        match self {
            Self::Buckets(join) => (&join.texts, &join.verifier, &join.budget),
            Self::Exact(join) => (&join.texts, &join.verifier, &join.budget),
        }
    }
}

/// For every group, whether it is in a bucket worth comparing, and whether its elements may be looked
/// at there: that much the sketches in the cache can tell.
fn needs(
    buckets: &Lists<u32>,
    sides: Option<&Sides>,
    layout: RecordLayout,
    agreement: usize,
    cache: &RecordCache,
    places: &[(u32, u32)],
) -> Result<Vec<Need>> {
    /// A bucket with more members is not gone through pair by pair for that.
    const FEW: usize = 64;
    let worth = |bucket: &&[u32]| sides.is_none_or(|sides| sides.both(bucket));
    let are_paired = |a: u32, b: u32| sides.is_none_or(|sides| sides.across(a, b));
    // Only ever raised, so that it does not matter who comes first.
    let needs: Vec<AtomicU8> = places.iter().map(|_| AtomicU8::new(Need::Nothing as u8)).collect();
    let is_needed =
        |group: u32| needs[group as usize].load(Ordering::Relaxed) == Need::Elements as u8;
    let raise = |group: u32, need: Need| {
        let own = &needs[group as usize];
        // A look costs less than a change.
        if own.load(Ordering::Relaxed) < need as u8 {
            own.fetch_max(need as u8, Ordering::Relaxed);
        }
    };
    let head = |group: u32| {
        let place = places[group as usize];
        (place.1 != NOWHERE).then(|| layout.bytes_of(layout.head_of(cache.get(place))))
    };
    let look = |lists: &mut Cache<u32>, partition: usize| -> Result<()> {
        for bucket in each_bucket(buckets.get(partition, lists)?).filter(worth) {
            let all = if bucket.len() > FEW { Need::Elements } else { Need::Head };
            bucket.iter().for_each(|&group| raise(group, all));
            if all == Need::Elements {
                continue;
            }
            for (i, &a) in bucket.iter().enumerate() {
                for &b in &bucket[..i] {
                    if is_needed(a) && is_needed(b) || !are_paired(a, b) {
                        continue;
                    }
                    let heads = head(a).zip(head(b));
                    if heads.is_none_or(|(a, b)| equal_bytes_of(a, b) >= agreement) {
                        raise(a, Need::Elements);
                        raise(b, Need::Elements);
                    }
                }
            }
        }
        Ok(())
    };
    let partitions = (0..buckets.len()).into_par_iter();
    partitions.map_init(Cache::one, look).collect::<Result<()>>()?;
    Ok(needs.into_iter().map(|need| Need::from(need.into_inner())).collect())
}

/// Reads, decodes and shingles every text and keeps nothing: what no run can be faster than. The number of
/// shingles.
pub(super) fn shingle_only<S: Source>(source: &S, settings: &Settings) -> Result<u64> {
    let mut count = 0;
    in_lanes(
        settings.threads,
        LaneRoom::of_numbers(settings.threads),
        source.lanes(&|_| false),
        |chunk| {
            let batch = source.decode(&chunk, &|_| true)?;
            let shingles = |buffers: &mut TextBuffers, i: usize| {
                buffers.take(batch.text(i), settings);
                buffers.elements().len() as u64
            };
            Ok(with_buffers(|buffers| {
                (0..batch.items.len()).map(|i| shingles(buffers, i)).sum::<u64>()
            }))
        },
        |_| 0,
        |shingles| {
            count += shingles;
            Ok(())
        },
    )?;
    Ok(count)
}

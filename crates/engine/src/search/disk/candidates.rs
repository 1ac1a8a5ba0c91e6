//! Who may be similar to whom? The stage from the input to buckets, or to the decision that all are compared.

use std::collections::HashSet;

use crate::Result;
use crate::amplify::Bands;
use crate::audit::capture::Capture;
use crate::audit::drawn_pairs::DrawnPairs;
use crate::candidates::buckets;
use crate::item::{Batch, Sides, Source};
use crate::matches::{Collection, NOWHERE, Stats};
use crate::observe::{Clock, Stage};
use crate::plan::Plan;
use crate::plan::elements::{ElementSample, ElementSearch, OF_OTHERS, drawn_groups};
use crate::search::job::StageResult;
use crate::settings::SetStrategy;
use crate::spill::{Budget, Cache, Concatenation, Lists, Loader, Partitions, Saver};

use rayon::prelude::*;

use super::audit_sample;
use super::buffers::with_buffers;
use super::first_pass::{Sketches, first_pass};
use super::fold::fold;
use super::record_cache::{Need, RecordCache};
use super::second_pass::load;
use super::sketch_cached::sketch_cached;
use super::{DiskRun, SMALL, Sketching};

/// The items, the pairs that an audit compares, and what is known of those that may be similar.
pub(in crate::search) struct Candidates {
    pub(in crate::search) collection: Collection,
    pub(in crate::search) drawn: Option<DrawnPairs>,
    pub(in crate::search) records: CandidateRecords,
}

/// Who may be similar to whom, and the records that are in memory.
pub(in crate::search) struct CandidateRecords {
    /// Who shares a key with whom, by partitions of keys; none where all are compared.
    pub(super) buckets: Option<Lists<u32>>,
    pub(super) cache: RecordCache,
    /// Where in the cache each group's record is; none where nothing is in it.
    pub(super) places: Option<Vec<(u32, u32)>>,
    /// Elements of a text, on average.
    pub(super) elements: usize,
    /// Groups that the audit compares, whether or not they share a key.
    pub(super) audited: Vec<u32>,
}

impl StageResult for Candidates {
    fn save(&self, save: &mut Saver) -> Result<()> {
        let CandidateRecords { buckets, elements, .. } = &self.records;
        self.collection.save(save)?;
        save.number(u64::from(buckets.is_some()))?;
        buckets.as_ref().map_or(Ok(()), |buckets| save.lists(buckets))?;
        save.number(*elements as u64)?;
        save.number(u64::from(self.drawn.is_some()))?;
        self.drawn.as_ref().map_or(Ok(()), |drawn| drawn.save(save))
    }
}

impl Candidates {
    pub(super) fn load(load: &mut Loader, budget: &Budget) -> Option<Self> {
        let collection = Collection::load(load, budget.share(1))?;
        let buckets = match load.number()? {
            0 => None,
            _ => Some(load.lists(budget.share(2))?),
        };
        let elements = load.number()? as usize;
        let drawn = match load.number()? {
            0 => None,
            _ => Some(DrawnPairs::load(load)?),
        };
        let audited = drawn.as_ref().map(DrawnPairs::groups).unwrap_or_default();
        let cache = RecordCache::default();
        let records = CandidateRecords { buckets, cache, places: None, elements, audited };
        Some(Self { collection, drawn, records })
    }

    /// Reads every text and finds which may be similar. Counts lengths if they decide what is kept.
    pub(super) fn find<S: Source>(
        run: &DiskRun<'_, S>,
        lengths: bool,
        stats: &mut Stats,
    ) -> Result<Self> {
        let capture = audit_sample::capture(run);
        check_space(run, capture)?;
        let (collection, mut sketches) = read(run, lengths, capture, stats)?;
        let places = sketches.cache.places(&collection);
        if run.strategy == SetStrategy::Cheapest && sketches.bytes <= SMALL {
            stats.plan = plan(run, &mut sketches.cache, &places, &collection)?;
        }
        let elements = (sketches.elements.0 / sketches.elements.1.max(1)) as usize;
        if stats.plan.is_exact() {
            let cache = sketches.cache;
            let (buckets, places, audited) = (None, Some(places), Vec::new());
            let records = CandidateRecords { buckets, cache, places, elements, audited };
            return Ok(Self { collection, drawn: None, records });
        }
        if run.sketching == Sketching::AfterReading {
            sketch_after_reading(run, &mut sketches, &places, &collection, capture, stats)?;
        }
        let drawn = audit_sample::draw(run, &sketches, &collection, capture, stats)?;
        run.search.observer.stage(Stage::Candidates, None);
        let clock = Clock::start(Stage::Candidates);
        let buckets = Some(all_buckets(run, &collection, &sketches.keys, 2)?);
        stats.stages.push(clock.stop(0));
        let (cache, places) = (sketches.cache, Some(places));
        let audited = drawn.as_ref().map(DrawnPairs::groups).unwrap_or_default();
        let records = CandidateRecords { buckets, cache, places, elements, audited };
        Ok(Self { collection, drawn, records })
    }
}

/// The first pass, and copies folded.
fn read<S: Source>(
    run: &DiskRun<'_, S>,
    lengths: bool,
    capture: Option<Capture>,
    stats: &mut Stats,
) -> Result<(Collection, Sketches)> {
    let stage = match (run.sketching, &run.banding) {
        (Sketching::WhileReading, Some(_)) => Stage::Sketch,
        _ => Stage::Read,
    };
    run.search.observer.stage(stage, Some(run.bytes()));
    let (clock, before) = (Clock::start(stage), run.traffic());
    let (mut collection, mut sketches) = first_pass(run, lengths, capture)?;
    fold(run, &mut collection, &sketches.prints, &sketches.ids)?;
    // Hashes are not needed any more.
    let none = || Partitions::new(1, 0, &run.budget.temp);
    (sketches.prints, sketches.ids) = (none(), none());
    collection.count(stats);
    stats.stages.push(clock.stop_with(run.traffic() - before));
    Ok((collection, sketches))
}

/// Sketches the texts in memory.
fn sketch_after_reading<S: Source>(
    run: &DiskRun<'_, S>,
    sketches: &mut Sketches,
    places: &[(u32, u32)],
    collection: &Collection,
    capture: Option<Capture>,
    stats: &mut Stats,
) -> Result<()> {
    let Sketches { cache, keys, captured, .. } = sketches;
    run.search.observer.stage(Stage::Sketch, None);
    let clock = Clock::start(Stage::Sketch);
    sketch_cached(run, cache, places, collection, capture, (keys, captured))?;
    stats.stages.push(clock.stop(0));
    Ok(())
}

/// The buckets of every partition of the keys, with this share of the memory.
pub(super) fn all_buckets<S: Source>(
    run: &DiskRun<'_, S>,
    collection: &Collection,
    keys: &Partitions<1>,
    share: usize,
) -> Result<Lists<u32>> {
    let mut lists = Lists::new(run.budget.share(share), &run.budget.temp);
    let find = |_, entries: Vec<[u64; 1]>, found: &mut Concatenation<u32>| {
        run.search.go_on()?;
        let entries = entries.into_iter().filter_map(|[entry]| {
            let group = collection.group_of(entry as u32)?;
            Some(entry >> 32 << 32 | u64::from(group))
        });
        let start = found.list.len();
        buckets(entries.collect(), &mut found.list);
        found.lengths.push((found.list.len() - start) as u32);
        Ok(())
    };
    keys.each(run.settings().threads, find, |found| lists.push_all(found))?;
    Ok(lists)
}

/// What either way would cost for a source, without a search; none where only one is open.
pub(super) fn plan_only<S: Source>(run: &DiskRun<'_, S>) -> Result<Option<Plan>> {
    if run.strategy != SetStrategy::Cheapest || !is_small(run)? {
        return Ok(None);
    }
    let (mut collection, mut sketches) = first_pass(run, false, None)?;
    fold(run, &mut collection, &sketches.prints, &sketches.ids)?;
    let places = sketches.cache.places(&collection);
    plan(run, &mut sketches.cache, &places, &collection).map(Some)
}

/// Whether the texts are few enough to look at them first.
fn is_small<S: Source>(run: &DiskRun<'_, S>) -> Result<bool> {
    let mut bytes = 0;
    for source in run.sources {
        for chunk in source.scan(&|_| false) {
            bytes += source.decode(&chunk?, &|_| true)?.bytes();
            if bytes > SMALL {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// What either way is expected to cost, by a sample of the texts.
fn plan<S: Source>(
    run: &DiskRun<'_, S>,
    cache: &mut RecordCache,
    places: &[(u32, u32)],
    collection: &Collection,
) -> Result<Plan> {
    let settings = run.settings();
    let bands: Bands = settings.bands()?;
    let (threshold, recall) = (settings.jaccard_threshold(), settings.promised()?);
    let all = collection.groups() as usize;
    let groups = drawn_groups(collection.copies());
    let mut sample = if groups.iter().all(|&group| places[group as usize].1 != NOWHERE) {
        // Most of them are compared later, by either way, and need it anyway.
        let groups = finish_some(run, &groups, places, cache);
        let set = |&group: &u32| run.layout.elements(cache.get(places[group as usize]));
        ElementSample::new(&groups.iter().map(set).collect::<Vec<_>>(), all, threshold)
    } else {
        let texts = read_some(run, &groups, collection)?;
        ElementSample::new(&texts.iter().map(Vec::as_slice).collect::<Vec<_>>(), all, threshold)
    };
    if let Some(sides) = collection.copies().sides() {
        let on = |side: u8| sides.0.iter().filter(|&&sides| sides & side != 0).count();
        sample = sample.across(on(Sides::LEFT), on(Sides::RIGHT));
    }
    let agreement = run.agreement();
    Ok(ElementSearch { bands, threshold, agreement, goal: run.goal, recall }.plan(&sample))
}

/// Finishes the records of the first of these groups, as many as are needed, and returns these groups.
fn finish_some<'g, S: Source>(
    run: &DiskRun<'_, S>,
    groups: &'g [u32],
    places: &[(u32, u32)],
    cache: &mut RecordCache,
) -> &'g [u32] {
    let layout = run.layout;
    // On all threads those that are needed even if no element comes twice.
    let mut elements = 0;
    let surely = groups.iter().take_while(|&&group| {
        let before = elements;
        elements += layout.elements(cache.get(places[group as usize])).len();
        before < OF_OTHERS
    });
    let surely = surely.count();
    let mut records = cache.records_mut(groups[..surely].iter().copied(), places);
    records.par_iter_mut().with_max_len(16).for_each(|(_, record)| {
        layout.finish(record);
    });
    let mut room = OF_OTHERS;
    let is_needed = |&&group: &&u32| {
        // One more than is needed, to know that it is too much.
        let needed = room > 0;
        if needed {
            let record = cache.get_mut(places[group as usize]);
            layout.finish(record);
            room = room.saturating_sub(layout.elements(record).len());
        }
        needed
    };
    &groups[..groups.iter().take_while(is_needed).count()]
}

/// The elements of the texts of the first of these groups, as many as are needed, read again.
fn read_some<S: Source>(
    run: &DiskRun<'_, S>,
    groups: &[u32],
    collection: &Collection,
) -> Result<Vec<Vec<u64>>> {
    let all = collection.groups() as usize;
    let mut needs = vec![Need::Nothing; all];
    groups.iter().for_each(|&group| needs[group as usize] = Need::Elements);
    let nowhere = vec![(0, NOWHERE); all];
    let store = load(run, collection, needs, RecordCache::default(), &nowhere)?;
    let mut cache = Cache::one();
    let (mut texts, mut elements) = (Vec::new(), 0);
    for &group in groups {
        // One more than is needed, to know that it is too much: all of them took more memory than a small limit.
        if elements > OF_OTHERS {
            break;
        }
        texts.push(store.body(group, &mut cache)?.elements.to_vec());
        elements += texts.last().map_or(0, Vec::len);
    }
    Ok(texts)
}

/// Refuses a run for whose temporary files there is surely no room, as far as the first records tell: for keys and hashes,
/// and for all records where all are compared. How many others are compared, and what these need, is checked when it is
/// known.
fn check_space<S: Source>(run: &DiskRun<'_, S>, capture: Option<Capture>) -> Result<()> {
    let (bytes, memory) = (run.bytes(), run.settings().memory as u64);
    if bytes < memory / 4 {
        return Ok(());
    }
    let Some(chunk) = run.sources[0].scan(&|_| false).next().transpose()? else {
        return Ok(());
    };
    let (_, of) = run.sources[0].place(&chunk);
    let batch = run.sources[0].decode(&chunk, &|_| true)?;
    let needs = FirstNeeds::of(run, &batch, capture);
    let beyond = |needed: u64, share: usize| {
        let all = needed as f64 / of.max(1) as f64 * bytes as f64;
        (all as u64).saturating_sub(run.budget.share(share) as u64)
    };
    let keys = beyond(needs.keys, 4) + beyond(needs.captured, 1);
    let hashes = beyond(needs.prints, 1) + beyond(needs.ids, 1);
    run.budget.check_space((keys + hashes).max(beyond(needs.records, 4)))
}

/// Bytes of what is kept of some texts.
#[derive(Default)]
struct FirstNeeds {
    keys: u64,
    captured: u64,
    prints: u64,
    ids: u64,
    /// Their elements, where those of all texts are loaded.
    records: u64,
}

impl FirstNeeds {
    fn of<S: Source>(run: &DiskRun<'_, S>, batch: &Batch<'_>, capture: Option<Capture>) -> Self {
        /// Bytes of a hash and whose it is, and of a key.
        const HASH: u64 = 24;
        const KEY: u64 = 8;
        let mut needs = Self::default();
        // Copies have no keys of their own.
        let mut seen = HashSet::new();
        with_buffers(|buffers| {
            for (at, item) in batch.items.iter().enumerate() {
                needs.prints += HASH;
                needs.ids += if item.id.is_some() { HASH } else { 0 };
                if !seen.insert(batch.text(at)) {
                    continue;
                }
                buffers.take(batch.text(at), run.settings());
                needs.keys += KEY * run.tables() as u64;
                if let Some(capture) = capture {
                    let mut keys = Vec::new();
                    needs.captured += KEY * buffers.captured(capture, &mut keys) as u64;
                }
                if run.banding.is_none() {
                    needs.records += 8 * run.layout.words(buffers.elements().len()) as u64;
                }
            }
        });
        needs
    }
}

//! The steps that `pairs` and `dedup` share: who are candidates, and what is needed to compare them.

use std::sync::atomic::{AtomicU8, Ordering};

use nearkin_kernels::equal_bytes_of;
use rayon::prelude::*;

use crate::amplify::Bands;
use crate::candidates::bands::Banding;
use crate::candidates::{buckets, each_bucket};
use crate::item::Source;
use crate::spill::{Cache, Joined, Lists, Partitions, Temp};
use crate::verify::{Overlap, Verifier};
use crate::{Error, Result};

use super::buckets::Buckets;
use super::choice::Choice;
use super::exact::Exact;
use super::kept::{Kept, NOWHERE, Wanted};
use super::loaded::Loaded;
use super::memory::{self, Budget};
use super::partners::Partners;
use super::record::Layout;
use super::resume::{Loader, Saver, start_of_system};
use super::sketch::{self, Sketches};
use super::watch::Truth;
use super::{Clock, Collection, Observer, Settings, Stage, Stats, Way};

/// One run.
pub(super) struct Run<'a, S> {
    pub(super) sources: &'a [&'a S],
    pub(super) settings: &'a Settings,
    pub(super) observer: &'a dyn Observer,
    /// None where pairs are found without sketches.
    pub(super) banding: Option<Banding>,
    /// Whether texts are all read before they are sketched, which need not be if pairs are found exactly.
    pub(super) held: bool,
    /// Whether every pair is needed, not only who is connected with whom.
    pub(super) every_pair: bool,
    /// Whether it is still to be decided how pairs are found, if the collection turns out to be small.
    pub(super) open: bool,
    pub(super) budget: Budget,
    pub(super) layout: Layout,
}

/// Who may be similar to whom, and what is known of them already.
pub(super) struct Found {
    pub(super) collection: Collection,
    /// Who shares a key with whom; none where everybody may be similar.
    buckets: Option<Lists<u32>>,
    kept: Kept,
    /// Where in that each group's record is, if anything was kept.
    places: Option<Vec<(u32, u32)>>,
    /// Elements of a text, on average.
    elements: usize,
    /// What should be found.
    pub(super) truth: Truth,
}

/// The groups that are compared, and how.
pub(super) enum Search {
    /// Those that share a key.
    Buckets(Box<Buckets>),
    /// All.
    Exact(Box<Exact>),
}

/// Bytes of text up to which a look at the texts decides how pairs are found; more are always found by bands. Bytes of
/// text, not of input: the same texts must be searched the same way from any kind of file, from memory and on a cluster.
pub(super) const SMALL: u64 = 128 << 20;

impl<'a, S: Source> Run<'a, S> {
    pub(super) fn new(
        sources: &'a [&'a S],
        settings: &'a Settings,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let way = settings.way()?;
        let banding = match way {
            Way::Exact => None,
            _ => Some(Banding::new(settings.bands()?, settings.seed)?),
        };
        let temp = match &settings.job {
            Some(job) => job.temp(),
            None => Temp::passing(memory::folder(settings.temp.as_ref())),
        };
        let budget = Budget::new(settings.memory, temp);
        let layout = banding.as_ref().map_or(Layout::bare(), |it| Layout::new(it.bands()));
        let bytes: u64 = sources.iter().map(|source| source.bytes()).sum();
        // Compressed texts take about four times as much.
        let packed = sources.iter().any(|source| !source.skips());
        let small = bytes <= if packed { SMALL / 4 } else { SMALL };
        let open = way == Way::Cheapest;
        let room = budget.share(4) as u64;
        let held = small && way != Way::Exact && bytes <= if packed { room / 12 } else { room / 3 };
        let every_pair = true;
        Ok(Self { sources, settings, observer, banding, held, every_pair, open, budget, layout })
    }

    fn bytes(&self) -> u64 {
        self.sources.iter().map(|source| source.bytes()).sum()
    }

    /// What a run of the same job saved after a stage.
    pub(super) fn saved<T>(
        &self,
        after: Stage,
        read: impl FnOnce(&mut Loader) -> Option<T>,
    ) -> Option<T> {
        self.settings.job.as_ref()?.load(after.name(), read)
    }

    /// Saves the result of a stage for another run of the job.
    pub(super) fn save(
        &self,
        after: Stage,
        write: impl FnOnce(&mut Saver) -> Result<()>,
    ) -> Result<()> {
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

    /// Reads every text and finds who may be similar to whom.
    pub(super) fn candidates(&self, lengths: bool, stats: &mut Stats) -> Result<Found> {
        stats.recall_promised = self.settings.promised()?;
        if let Some((saved, found)) = self.saved_candidates(stats) {
            *stats = saved;
            stats.bands = found.buckets.is_some().then(|| self.bands()).flatten();
            return Ok(found);
        }
        let bytes = self.bytes();
        self.check_space()?;
        let drawn = match self.held || self.banding.is_none() {
            true => None,
            false => self.draw()?,
        };
        let at_once = self.banding.is_some() && !self.held;
        let first = if at_once { Stage::Sketch } else { Stage::Read };
        self.observer.stage(first, Some(bytes));
        let clock = Clock::start(first);
        let (mut collection, mut sketches) = self.sketch(lengths, drawn.as_ref())?;
        self.fold(&mut collection, &sketches.prints, &sketches.ids)?;
        collection.count(stats);
        stats.stages.push(clock.stop(bytes));
        let elements = (sketches.elements.0 / sketches.elements.1.max(1)) as usize;
        let mut truth = drawn.map(|drawn| drawn.truth(&collection, &sketches.seen));
        let places = sketches.kept.places(&collection);
        if self.open && sketches.bytes <= SMALL {
            stats.choice = self.choice(&mut sketches.kept, &places, &collection)?;
        }
        let is_exact = |choice: Choice| choice.way() == Way::Exact;
        if self.banding.is_none() || stats.choice.is_some_and(is_exact) {
            let (kept, truth) = (sketches.kept, Truth::default());
            let places = Some(places);
            let found = Found { collection, buckets: None, kept, places, elements, truth };
            self.save_candidates(&found, stats)?;
            return Ok(found);
        }
        stats.bands = self.bands();
        if self.held {
            let Sketches { kept, keys, overflowed, .. } = &mut sketches;
            self.observer.stage(Stage::Audit, None);
            let clock = Clock::start(Stage::Audit);
            let watching = match *overflowed {
                // Too much for what was meant for it.
                true => {
                    truth = self.truth_by_reading(&collection)?;
                    None
                }
                false => self.watch_kept(kept, &places, &collection)?,
            };
            stats.stages.push(clock.stop(0));
            self.observer.stage(Stage::Sketch, None);
            let clock = Clock::start(Stage::Sketch);
            let found = self.sketch_kept(kept, &places, &collection, watching.as_ref(), keys)?;
            truth = watching.map(|it| it.truth(found, &collection)).or(truth);
            stats.stages.push(clock.stop(0));
        }
        self.observer.stage(Stage::Candidates, None);
        let clock = Clock::start(Stage::Candidates);
        let buckets = self.buckets(&collection, &sketches.keys)?;
        stats.stages.push(clock.stop(0));
        let (buckets, kept) = (Some(buckets), sketches.kept);
        let (places, truth) = (Some(places), truth.unwrap_or_default());
        let found = Found { collection, buckets, kept, places, elements, truth };
        self.save_candidates(&found, stats)?;
        Ok(found)
    }

    /// What either way is expected to take.
    pub(super) fn choose(&self) -> Result<Option<Choice>> {
        if !self.open || !self.is_small()? {
            return Ok(None);
        }
        let (mut collection, mut sketches) = self.sketch(false, None)?;
        self.fold(&mut collection, &sketches.prints, &sketches.ids)?;
        let places = sketches.kept.places(&collection);
        self.choice(&mut sketches.kept, &places, &collection)
    }

    /// Whether the texts are few enough to look at them first.
    fn is_small(&self) -> Result<bool> {
        let mut bytes = 0;
        for source in self.sources {
            for chunk in source.scan(&|_| false)? {
                bytes += source.decode(&chunk?, &|_| true)?.bytes();
                if bytes > SMALL {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn bands(&self) -> Option<Bands> {
        self.banding.as_ref().map(Banding::bands)
    }

    fn saved_candidates(&self, stats: &Stats) -> Option<(Stats, Found)> {
        self.saved(Stage::Candidates, |load| {
            let saved = stats.load(load, Stage::Candidates)?;
            let found = Found {
                collection: Collection::load(load, self.budget.share(1))?,
                buckets: match load.number()? {
                    0 => None,
                    _ => Some(load.lists(self.budget.share(2))?),
                },
                kept: Kept::default(),
                places: None,
                elements: load.number()? as usize,
                truth: Truth::load(load)?,
            };
            Some((saved, found))
        })
    }

    /// Saves who may be similar to whom.
    fn save_candidates(&self, found: &Found, stats: &Stats) -> Result<()> {
        self.save(Stage::Candidates, |save| {
            stats.save(save)?;
            found.collection.save(save)?;
            save.number(u64::from(found.buckets.is_some()))?;
            found.buckets.as_ref().map_or(Ok(()), |buckets| save.lists(buckets))?;
            save.number(found.elements as u64)?;
            found.truth.save(save)
        })
    }

    /// Loads what is needed to compare the candidates.
    pub(super) fn load_candidates(
        &self,
        found: Found,
        stats: &mut Stats,
    ) -> Result<(Collection, Search)> {
        let Found { collection, buckets, kept, places, elements, .. } = found;
        let sides = collection.sides();
        let limit = self.budget.share(4);
        let saved = self.saved(Stage::Load, |load| {
            let saved = stats.load(load, Stage::Load)?;
            if load.text()? != start_of_system() {
                return None;
            }
            let records = Lists::new(limit, &self.budget.temp).named(sketch::RECORDS);
            Some((saved, Loaded::load(load, records, self.layout, self.budget.share(2))?))
        });
        let texts = match saved {
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
                let kept_places = places.unwrap_or_else(|| kept.places(&collection));
                let worth = |bucket: &[u32]| sides.as_ref().is_none_or(|sides| sides.both(bucket));
                let wanted = match &buckets {
                    Some(buckets) => self.wanted(buckets, worth, &kept, &kept_places)?,
                    None => vec![Wanted::Closely; kept_places.len()],
                };
                let candidates = wanted.iter().filter(|&&wanted| wanted != Wanted::Not).count();
                let words = candidates as u64 * self.layout.words(elements) as u64;
                self.budget.check_space((8 * words).saturating_sub(limit as u64))?;
                let mut loaded = self.load(&collection, wanted, kept, &kept_places)?;
                stats.stages.push(clock.stop(bytes));
                if let Some(on_disk) = loaded.records.settle()? {
                    self.save(Stage::Load, |save| {
                        stats.save(save)?;
                        save.text(&start_of_system())?;
                        loaded.save(&on_disk, save)
                    })?;
                }
                loaded
            }
        };
        let verifier = Verifier::new(self.settings.measure, self.settings.limit())?;
        let (budget, threads) = (self.budget.clone(), self.settings.threads);
        let search = match buckets {
            Some(buckets) => {
                let agreement = self.agreement();
                let search =
                    Buckets { buckets, sides, verifier, agreement, texts, budget, threads };
                Search::Buckets(search.into())
            }
            None => {
                let filters = self.settings.filters;
                let search = Exact { texts, sides, verifier, filters, budget, threads };
                Search::Exact(search.into())
            }
        };
        self.observer.stage(search.stage(), None);
        Ok((collection, search))
    }

    /// The buckets of every partition of the keys.
    fn buckets(&self, collection: &Collection, keys: &Partitions<1>) -> Result<Lists<u32>> {
        let mut lists = Lists::new(self.budget.share(2), &self.budget.temp);
        let find = |_, entries: Vec<[u64; 1]>, found: &mut Joined<u32>| {
            if self.observer.stopped() {
                return Err(Error::Interrupted);
            }
            let entries = entries.into_iter().filter_map(|[entry]| {
                let group = collection.group_of(entry as u32)?;
                Some(entry >> 32 << 32 | u64::from(group))
            });
            let start = found.list.len();
            buckets(entries.collect(), &mut found.list);
            found.lengths.push((found.list.len() - start) as u32);
            Ok(())
        };
        keys.each(self.settings.threads, find, |found| lists.push_all(found))?;
        Ok(lists)
    }

    /// Values of two sketches that must agree for an exact comparison to be worth it.
    pub(super) fn agreement(&self) -> usize {
        let settings = self.settings;
        let overlooked = self.bands().map_or(0.0, |bands| settings.overlooked(bands));
        self.layout.least_agreement(settings.jaccard_threshold(), overlooked)
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
            let wanted = &wanted[group as usize];
            // A look costs less than a change.
            if wanted.load(Ordering::Relaxed) < how as u8 {
                wanted.fetch_max(how as u8, Ordering::Relaxed);
            }
        };
        let head = |group: u32| {
            let place = places[group as usize];
            (place.1 != NOWHERE).then(|| self.layout.bytes_of(self.layout.head_of(kept.get(place))))
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
        let keys = records * (32.0 + 8.0 * self.tables() as f64);
        let loaded = records * 8.0 * self.layout.words(0) as f64 + bytes as f64 * 8.0 / 6.0;
        let loaded = if self.banding.is_some() { loaded / 10.0 } else { loaded };
        let beyond = |needed: f64, share: usize| {
            (needed as u64).saturating_sub(self.budget.share(share) as u64)
        };
        self.budget.check_space(beyond(keys, 6).max(beyond(loaded, 4)))
    }
}

impl Search {
    /// What its work is called.
    pub(super) fn stage(&self) -> Stage {
        match self {
            Self::Buckets(_) => Stage::Verify,
            Self::Exact(_) => Stage::Join,
        }
    }

    /// Every similar pair of groups.
    pub(super) fn partners(&self, observer: &dyn Observer, stats: &mut Stats) -> Result<Partners> {
        match self {
            Self::Buckets(search) => search.partners(observer, stats),
            Self::Exact(search) => search.partners(observer, stats),
        }
    }

    /// The connected components of all similar pairs: for every group its component's smallest member.
    pub(super) fn components(
        &self,
        observer: &dyn Observer,
        stats: &mut Stats,
    ) -> Result<Vec<u32>> {
        match self {
            Self::Buckets(search) => search.components(observer, stats),
            Self::Exact(search) => search.components(observer, stats),
        }
    }

    /// What each group has in common with its centre.
    pub(super) fn overlaps(&self, centres: &[u32]) -> Result<Vec<Overlap>> {
        let (texts, verifier, budget) = match self {
            Self::Buckets(search) => (&search.texts, &search.verifier, &search.budget),
            Self::Exact(search) => (&search.texts, &search.verifier, &search.budget),
        };
        texts.overlaps(centres, verifier, budget.share(1))
    }
}

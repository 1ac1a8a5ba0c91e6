//! Bags whose counts are large: their counts are weights, and not copies of their elements.
//!
//! Most bags are searched as sets, in which an element that occurs n times is n elements. Where that makes many more
//! elements than the bags have, they are held in memory with their counts, and searched exactly. What decides it is in the
//! bags alone, so that it is the same with any memory and on any number of threads.
//!
//! Nobody knows before all are read. So a search as sets begins, and is given up as soon as it has come upon counts that might
//! be too large; only then all counts are looked at. Bags with small counts take no time for it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{ItemKind, MeasureName, Options};
use crate::item::{Bags, Batch, ChunkNumber, Lanes, SkipChunk, Source};
use crate::observe::{Clock, ObservedSource, Observer, Stage, StageTime, Traffic};
use crate::parallel::{in_order, in_pool};
use crate::read::load_bags;
use crate::search::{Items, MemoryItems, SourceItems};
use crate::settings::{Settings, Strategy};
use crate::shingle::elements::each_element;
use crate::space::Form;
use crate::verify::Limit;
use crate::{Error, Result};

/// How many elements bags have.
#[derive(Debug, Clone, Copy, Default)]
struct CountSurvey {
    /// Each once in its bag.
    elements: u64,
    /// Each as often as it occurs.
    copies: u64,
    /// The most by which a bag has more copies than elements.
    most: u64,
}

impl CountSurvey {
    fn of(list: &str) -> Self {
        let (mut elements, mut copies) = (0, 0);
        each_element(list, |_, count| {
            elements += 1;
            copies += u64::from(count);
        });
        Self { elements, copies, most: copies.saturating_sub(elements) }
    }

    fn and(self, other: Self) -> Self {
        Self {
            elements: self.elements + other.elements,
            copies: self.copies.saturating_add(other.copies),
            most: self.most.max(other.most),
        }
    }

    /// Whether copies are too much work: many more than there are elements, or so many of one bag that they take much
    /// memory at a time.
    fn is_weighed(self) -> bool {
        let are_many = self.copies / EACH > self.elements && self.copies > ALL;
        are_many || self.most > OF_ONE
    }
}

/// Copies for each element, and of all elements, up to which copies are fine. They take about a second.
const EACH: u64 = 8;
const ALL: u64 = 1 << 24;

/// By how many the copies of a bag may be more than its elements: 2 MB.
const OF_ONE: u64 = 1 << 18;

/// A collection of which reading ends with an error when counts come up that may be too large for copies.
pub struct WatchedBags<'a, S> {
    source: &'a S,
    /// The most by which copies may be more than elements; none where it is not watched.
    most: Option<u64>,
    /// By how many copies are more than elements, in this scan so far.
    surplus: AtomicU64,
    is_over: AtomicBool,
}

impl<'a, S: Source> WatchedBags<'a, S> {
    fn new(source: &'a S, most: Option<u64>) -> Self {
        Self { source, most, surplus: AtomicU64::new(0), is_over: AtomicBool::new(false) }
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Looks at the counts of a batch. Says whether they are fine.
    fn is_fine(&self, batch: &Batch<'_>, limit: u64) -> bool {
        let has_counts = |list: &str| memchr::memchr(b'*', list.as_bytes()).is_some();
        let lists = (0..batch.items.len()).map(|index| batch.text(index));
        let surplus = |list: &str| CountSurvey::of(list).most;
        let most = lists.filter(|list| has_counts(list)).map(surplus);
        let (most, sum) =
            most.fold((0, 0u64), |(most, sum), it| (it.max(most), sum.saturating_add(it)));
        let before = self.surplus.fetch_add(sum.min(u64::from(u32::MAX)), Ordering::Relaxed);
        let is_over = most > OF_ONE || before.saturating_add(sum) > limit;
        self.is_over.fetch_or(is_over, Ordering::Relaxed);
        !is_over
    }
}

impl<S: Source> Source for WatchedBags<'_, S> {
    type Chunk = S::Chunk;

    fn bytes(&self) -> u64 {
        self.source.bytes()
    }

    fn lanes<'a>(&'a self, skip: SkipChunk<'a>) -> Lanes<'a, Self::Chunk> {
        self.surplus.store(0, Ordering::Relaxed);
        self.source.lanes(skip)
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

    fn place(&self, chunk: &Self::Chunk) -> (ChunkNumber, u64) {
        self.source.place(chunk)
    }

    fn decode<'a>(
        &'a self,
        chunk: &'a Self::Chunk,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Result<Batch<'a>> {
        let batch = self.source.decode(chunk, wanted)?;
        let is_fine = self.most.is_none_or(|most| self.is_fine(&batch, most));
        if is_fine { Ok(batch) } else { Err(Error::Interrupted) }
    }

    fn lines_before(&self, chunk: ChunkNumber) -> Result<u64> {
        self.source.lines_before(chunk)
    }

    fn traffic(&self) -> Traffic {
        self.source.traffic()
    }
}

impl Options {
    /// Whether an element takes memory each time that it is counted, in a run with these settings or in one that no
    /// settings are known of.
    pub(super) fn copies_counts(&self, settings: Option<&Settings>) -> bool {
        let counts_repeats =
            self.kind() == ItemKind::Bag && self.measure != Some(MeasureName::Jaccard);
        counts_repeats && !settings.is_some_and(may_be_weighed)
    }

    /// Searches texts, sets or bags: as elements, or bags whose counts are too large for that in memory, with the time it
    /// took to load them.
    ///
    /// # Errors
    /// Those of the searches; when a record cannot be used, the bags take more memory than may be used, or the observer stops
    /// it.
    pub fn search_elements<S: Source, R>(
        &self,
        settings: &Settings,
        (source, other): (&S, Option<&S>),
        observer: &dyn Observer,
        as_elements: impl Fn(SourceItems<'_, WatchedBags<'_, S>>) -> Result<R>,
        with_counts: impl FnOnce(MemoryItems, StageTime) -> Result<R>,
    ) -> Result<R> {
        // If copies are too many, all but one of `EACH` are surplus, and at least half of these on one of two sides.
        let surplus = ALL / EACH * (EACH - 1) / if other.is_some() { 2 } else { 1 };
        let search = |most: Option<u64>| {
            let source = WatchedBags::new(source, most);
            let other = other.map(|other| WatchedBags::new(other, most));
            let found = as_elements(SourceItems::new(&source).against(other.as_ref()));
            (found, source.is_over() || other.is_some_and(|other| other.is_over()))
        };
        let may_be = self.kind() == ItemKind::Bag && may_be_weighed(settings);
        let (found, is_over) = search(may_be.then_some(surplus));
        if !is_over {
            return found;
        }
        let clock = Clock::start(Stage::Load);
        match self.weighed_bags(settings, (source, other), observer)? {
            Some(bags) => with_counts(bags, clock.stop(source.bytes())),
            None => search(None).0,
        }
    }

    /// The bags of one collection or two, held in memory with their counts; nothing if they are better searched as sets.
    fn weighed_bags<S: Source>(
        &self,
        settings: &Settings,
        (source, other): (&S, Option<&S>),
        observer: &dyn Observer,
    ) -> Result<Option<MemoryItems>> {
        let sides = || [Some(source), other].into_iter().flatten();
        in_pool(settings.threads, || {
            observer.stage(Stage::Read, Some(sides().map(Source::bytes).sum()));
            let mut all = CountSurvey::default();
            for source in sides() {
                all = all.and(survey(source, settings, observer)?);
            }
            if !all.is_weighed() {
                return Ok(None);
            }
            self.check_fits(Bags::bytes_of(all.elements))?;
            observer.stage(Stage::Load, Some(sides().map(Source::bytes).sum()));
            let (mut bags, mut names) = (Bags::default(), Vec::new());
            for source in sides() {
                let source = ObservedSource { source, observer };
                let on_error = self.on_error.unwrap_or_default();
                let named = load_bags(&source, &settings.shingling, on_error)?;
                bags = if bags.is_empty() { named.items } else { bags.followed_by(&named.items) };
                names.push(named.names.into_item_names());
            }
            let form = match settings.limit() {
                Limit::Similarity(_) => Form::Similarity,
                Limit::Distance(_) => Form::Distance,
            };
            MemoryItems::named(Items::Bags(bags, settings.measure, form), names).map(Some)
        })
    }
}

/// Whether bags may be searched with their counts under these settings: repeats count, and no bands were asked for.
fn may_be_weighed(settings: &Settings) -> bool {
    settings.measure.counts_repeats()
        && matches!(settings.strategy, Strategy::Cheapest | Strategy::Exact)
}

/// How many elements the bags of a collection have.
fn survey<S: Source>(
    source: &S,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<CountSurvey> {
    let mut all = CountSurvey::default();
    in_order(
        settings.threads,
        source.scan(&|_| false),
        |chunk| {
            let batch = source.decode(&chunk, &|_| true)?;
            let of_bags = (0..batch.items.len()).map(|index| CountSurvey::of(batch.text(index)));
            Ok((source.place(&chunk).1, of_bags.fold(CountSurvey::default(), CountSurvey::and)))
        },
        |(bytes, counts)| {
            if observer.stopped() {
                return Err(Error::Interrupted);
            }
            observer.advance(bytes);
            all = all.and(counts);
            Ok(())
        },
    )?;
    Ok(all)
}

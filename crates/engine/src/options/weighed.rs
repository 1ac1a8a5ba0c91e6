//! Bags whose counts are large: their counts are weights, and not copies of their elements.
//!
//! Most bags are searched as sets, in which an element that occurs n times is n elements. Where that makes many more
//! elements than the bags have, they are held in memory with their counts, and searched exactly. What decides it is in the
//! bags alone, so that it is the same with any memory and on any number of threads.

use super::{ItemKind, MeasureName, Options};
use crate::item::{Bags, Source};
use crate::observe::{ObservedSource, Observer, Stage};
use crate::parallel::{in_order, in_pool};
use crate::read::load_bags;
use crate::search::{Items, MemoryItems};
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
        /// Copies for each element, and copies of all bags, up to which copies are fine: they take about a second.
        const MANY: (u64, u64) = (8, 1 << 24);
        /// Copies of one bag: 2 MB.
        const OF_ONE: u64 = 1 << 18;
        let are_many = self.copies / MANY.0 > self.elements && self.copies > MANY.1;
        are_many || self.most > OF_ONE
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

    /// The bags of one collection or two, held in memory with their counts; nothing if they are better searched as sets.
    ///
    /// # Errors
    /// When a record cannot be used, the bags take more memory than may be used, or the observer stops it.
    pub fn weighed_bags<S: Source>(
        &self,
        settings: &Settings,
        (source, other): (&S, Option<&S>),
        observer: &dyn Observer,
    ) -> Result<Option<MemoryItems>> {
        if self.kind() != ItemKind::Bag || !may_be_weighed(settings) {
            return Ok(None);
        }
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
        source.scan(&|_| false)?,
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

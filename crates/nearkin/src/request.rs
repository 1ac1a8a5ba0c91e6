//! The front door for those who embed the library: ask, and run.

use crate::{Error, Result};
use nearkin_engine::cluster::{Keep, Linkage};
use nearkin_engine::item::Texts;
use nearkin_engine::matches::{Matches, Stats};
use nearkin_engine::observe::Observer;
use nearkin_engine::search::{Items, MemoryItems, Search, SourceItems};
use nearkin_engine::settings::{Settings, Strategy};
use nearkin_engine::shingle::Shingling;
use nearkin_engine::space::Form;
use nearkin_engine::verify::Measure;

/// Items to search: texts, or any [`Items`] with their measure.
#[derive(Debug)]
pub enum ItemList<'a> {
    /// Texts, cut into shingles.
    Texts(Vec<&'a str>),
    /// Vectors, bit strings, strings, sets or sparse vectors.
    Items(Items),
}

impl<'a, T: AsRef<str>> From<&'a [T]> for ItemList<'a> {
    fn from(texts: &'a [T]) -> Self {
        Self::Texts(texts.iter().map(AsRef::as_ref).collect())
    }
}

impl<'a, T: AsRef<str>> From<&'a Vec<T>> for ItemList<'a> {
    fn from(texts: &'a Vec<T>) -> Self {
        texts.as_slice().into()
    }
}

impl<'a, T: AsRef<str>, const N: usize> From<&'a [T; N]> for ItemList<'a> {
    fn from(texts: &'a [T; N]) -> Self {
        texts.as_slice().into()
    }
}

impl From<Items> for ItemList<'_> {
    fn from(items: Items) -> Self {
        Self::Items(items)
    }
}

/// What is asked for: [`pairs`], [`dedup`] or [`closest`], each with the settings of a search. `run` does it.
#[must_use = "a request does nothing until it is run"]
pub struct Request<'a, G> {
    collection: ItemList<'a>,
    settings: Settings,
    observer: Option<&'a dyn Observer>,
    goal: G,
}

/// Every similar pair is asked for.
#[derive(Debug)]
pub struct EveryPair(());

/// The closest of each item are asked for.
#[derive(Debug)]
pub struct ClosestItems {
    k: usize,
}

/// One item of each group is asked for.
#[derive(Debug)]
pub struct OneOfEach {
    keep: Keep,
    linkage: Linkage,
}

/// Every similar pair of a collection, with its exact similarity.
pub fn pairs<'a>(collection: impl Into<ItemList<'a>>) -> Request<'a, EveryPair> {
    Request::new(collection.into(), EveryPair(()))
}

/// For each item the `k` items closest to it: of texts those of a similarity of at least 0.3, unless you say otherwise.
pub fn closest<'a>(collection: impl Into<ItemList<'a>>, k: usize) -> Request<'a, ClosestItems> {
    let mut request = Request::new(collection.into(), ClosestItems { k });
    match &request.collection {
        ItemList::Texts(_) => request.settings.threshold = 0.3,
        ItemList::Items(items) if items.form() == Form::Distance => {
            request.settings.within = Some(f64::INFINITY);
        }
        ItemList::Items(_) => request.settings.threshold = f64::NEG_INFINITY,
    }
    request
}

/// A collection without the items that are similar to one that is kept.
pub fn dedup<'a>(collection: impl Into<ItemList<'a>>) -> Request<'a, OneOfEach> {
    Request::new(collection.into(), OneOfEach { keep: Keep::First, linkage: Linkage::Stars })
}

/// Two items and how close they are: their similarity, or their distance where items are compared by one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The position of the one.
    pub a: usize,
    /// The position of the other.
    pub b: usize,
    /// How close they are.
    pub value: f64,
}

/// Pairs, and what it took to find them.
#[derive(Debug)]
pub struct FoundPairs {
    /// The pairs, sorted by the first position, then the second; the closest of each item from close to far.
    pub pairs: Vec<Pair>,
    /// The account of the run.
    pub stats: Stats,
}

/// The items that are kept, and what stands for the others.
#[derive(Debug)]
pub struct KeptItems {
    /// The positions of the kept items, ascending.
    pub kept: Vec<usize>,
    /// For each item, the position of the item that stands for it (itself if it is kept), and how close the two are.
    pub stands_for: Vec<(usize, f64)>,
    /// The account of the run.
    pub stats: Stats,
}

impl<'a, G> Request<'a, G> {
    fn new(collection: ItemList<'a>, goal: G) -> Self {
        Self { collection, settings: Settings::default(), observer: None, goal }
    }

    /// Pairs at or above this similarity are similar; 0.8 unless you say otherwise.
    pub fn threshold(mut self, similarity: f64) -> Self {
        self.settings.threshold = similarity;
        self.settings.within = None;
        self
    }

    /// Pairs within this distance are similar.
    pub fn within(mut self, distance: f64) -> Self {
        self.settings.within = Some(distance);
        self
    }

    /// Leaves out pairs that are closer than this: above the similarity, or below the distance.
    pub fn no_closer(mut self, value: f64) -> Self {
        self.settings.no_closer = Some(value);
        self
    }

    /// The chance that a pair at just the threshold is found; 0.99 unless you say otherwise.
    pub fn recall(mut self, chance: f64) -> Self {
        self.settings.recall = chance;
        self
    }

    /// Misses no pair.
    pub fn exact(mut self) -> Self {
        self.settings.strategy = Strategy::Exact;
        self
    }

    /// How texts are cut; five words unless you say otherwise.
    pub fn shingling(mut self, shingling: Shingling) -> Self {
        self.settings.shingling = shingling;
        self
    }

    /// How the shingles of texts are compared.
    pub fn measure(mut self, measure: Measure) -> Self {
        self.settings.measure = measure;
        self
    }

    /// All other settings.
    pub fn settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Tells someone how far it is, who may also stop it.
    pub fn observed(mut self, observer: &'a dyn Observer) -> Self {
        self.observer = Some(observer);
        self
    }

    /// The items, once all settings are known.
    fn take_collection(&mut self) -> ItemList<'a> {
        let Settings { shingling, seed, .. } = &mut self.settings;
        *shingling = std::mem::take(shingling).with_seed(*seed);
        std::mem::replace(&mut self.collection, ItemList::Texts(Vec::new()))
    }

    fn search(&self) -> Search<'_> {
        let search = Search::new(&self.settings);
        match self.observer {
            Some(observer) => search.observed(observer),
            None => search,
        }
    }
}

impl Request<'_, EveryPair> {
    /// Finds the pairs.
    ///
    /// # Errors
    /// When the settings contradict themselves or the observer stops it.
    pub fn run(mut self) -> Result<FoundPairs> {
        let collection = self.take_collection();
        let matches = match collection {
            ItemList::Texts(texts) => self.search().pairs(SourceItems::new(&Texts(&texts))),
            ItemList::Items(items) => self.search().pairs(MemoryItems::new(items)),
        }?;
        rows(matches, |matches, row| matches.each(row))
    }
}

impl Request<'_, ClosestItems> {
    /// Finds the closest of each item.
    ///
    /// # Errors
    /// When none are asked for, the settings contradict themselves, or the observer stops it.
    pub fn run(mut self) -> Result<FoundPairs> {
        let k = self.goal.k;
        let collection = self.take_collection();
        let matches = match collection {
            ItemList::Texts(texts) => self.search().closest(SourceItems::new(&Texts(&texts)), k),
            ItemList::Items(items) => self.search().closest(MemoryItems::new(items), k),
        }?;
        rows(matches, |matches, row| matches.closest(k, row))
    }
}

impl Request<'_, OneOfEach> {
    /// Which item of a group is kept: the first unless you say otherwise.
    pub fn keep(mut self, keep: Keep) -> Self {
        self.goal.keep = keep;
        self
    }

    /// Groups items that are similar through others, and keeps one of each group: items are removed that are not
    /// similar to any that is kept.
    pub fn chains(mut self) -> Self {
        self.goal.linkage = Linkage::Chains;
        self
    }

    /// Finds the groups, and what is kept of each.
    ///
    /// # Errors
    /// When the settings contradict themselves or the observer stops it.
    pub fn run(mut self) -> Result<KeptItems> {
        let collection = self.take_collection();
        let OneOfEach { keep, linkage } = &self.goal;
        if let Some(field) = keep.fields().first() {
            let must = "first or longest: items in memory have no fields";
            return Err(Error::parameter("keep", field, must));
        }
        let found = match collection {
            ItemList::Texts(texts) => {
                self.search().dedup(SourceItems::new(&Texts(&texts)), keep, *linkage)
            }
            ItemList::Items(items) => self.search().dedup(MemoryItems::new(items), keep, *linkage),
        }?;
        let stands_for: Vec<(usize, f64)> =
            found.clusters().flatten().map(|(kept, value)| (kept as usize, value)).collect();
        let is_kept = |(at, (kept, _)): (usize, &(usize, f64))| (at == *kept).then_some(at);
        let kept = stands_for.iter().enumerate().filter_map(is_kept).collect();
        Ok(KeptItems { kept, stands_for, stats: found.stats })
    }
}

/// The pairs that `each` goes through.
fn rows(
    matches: Matches,
    each: impl FnOnce(&Matches, &mut dyn FnMut(u32, u32, f64) -> Result<()>) -> Result<u64>,
) -> Result<FoundPairs> {
    let mut pairs = Vec::new();
    let count = each(&matches, &mut |a, b, value| {
        pairs.push(Pair { a: a as usize, b: b as usize, value });
        Ok(())
    })?;
    let stats = Stats { pairs: Some(count), ..matches.stats };
    Ok(FoundPairs { pairs, stats })
}

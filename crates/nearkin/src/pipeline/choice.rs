//! The exact join or bands of minhashes: which takes less time?
//!
//! Some texts are drawn and compared with some others, so far as they have elements in common. That shows how
//! frequent the elements of texts are, which decides what the exact join looks at, and how similar texts are to
//! each other, which decides how many pairs either way compares. What that costs are figures measured once: which
//! way is taken must not depend on a clock.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::Result;
use crate::amplify::Bands;
use crate::candidates::bands::Banding;
use crate::family::hash::{Spread, mix64};
use crate::item::Source;
use crate::spill::Cache;

use super::buckets::Sides;
use super::kept::{Kept, NOWHERE, Wanted};
use super::record::sort_elements;
use super::run::Run;
use super::{Collection, Way};

/// What either way is expected to take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The exact join.
    pub exact: Expected,
    /// Bands of minhashes, the audit included.
    pub bands: Expected,
}

/// What a way is expected to take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// Seconds from texts in memory to pairs, on one thread.
    pub seconds: f64,
    /// Pairs compared element by element.
    pub compared: f64,
}

impl Choice {
    /// The faster one.
    pub fn way(&self) -> Way {
        if self.exact.seconds <= self.bands.seconds { Way::Exact } else { Way::Bands }
    }
}

/// Drawn texts, and those they are compared with, at most.
const DRAWN: usize = 256;
const OTHERS: usize = 1 << 13;
/// Elements of either, at most.
const OF_DRAWN: usize = 1 << 16;
const OF_OTHERS: usize = 1 << 19;
/// What is drawn has a seed of its own.
const SEED: u64 = 0xc0de_c401_ce00_0001;

/// A collection's texts as far as they were looked at.
struct Sampled {
    /// Texts in all, and their elements.
    texts: f64,
    elements: f64,
    /// Pairs of the collection for each pair that was compared.
    weight: f64,
    /// Pairs that have something in common: how similar they are, and how many elements they have.
    pairs: Vec<(f64, f64)>,
    /// Places where an element of the prefix of a text stands in another text, for all texts.
    met: f64,
}

/// For each element of drawn texts, how often it was met, and who has it.
type Index = HashMap<u64, (u32, Vec<u32>), BuildHasherDefault<Spread>>;

impl Sampled {
    /// Compares the first of these texts, which were drawn from `all`, with the others. So many symbols of a text of
    /// some size are in its prefix.
    fn new(texts: &[Vec<u64>], all: usize, prefix: impl Fn(usize) -> usize) -> Self {
        let within = |most: usize, count: usize| {
            let mut elements = 0;
            let room = |set: &&Vec<u64>| {
                elements += set.len();
                elements <= most || elements == set.len()
            };
            texts.iter().take(count).take_while(room).count()
        };
        // Those that were drawn are among the others, for otherwise nobody is left of a small collection.
        let (drawn, others) = (within(OF_DRAWN, DRAWN), within(OF_OTHERS, OTHERS));
        let (drawn, others) = (&texts[..drawn], &texts[..others]);
        let mut index = Index::default();
        for (at, set) in (0u32..).zip(drawn) {
            set.iter().for_each(|&element| index.entry(element).or_default().1.push(at));
        }
        let pairs = pairs(drawn, others, &mut index);
        let scale = all as f64 / others.len().max(1) as f64;
        let met = |set: &Vec<u64>| {
            let mut met: Vec<u32> = set.iter().map(|element| index[element].0).collect();
            met.sort_unstable();
            met.truncate(prefix(met.len()));
            met.iter().map(|&others| scale * f64::from(others.saturating_sub(1))).sum::<f64>()
        };
        let compared = drawn.len() as f64 * (others.len() as f64 - 1.0).max(1.0);
        let all = all as f64;
        Self {
            texts: all,
            elements: scale * others.iter().map(|set| set.len() as f64).sum::<f64>(),
            weight: all * (all - 1.0) / 2.0 / compared.max(1.0),
            pairs,
            met: drawn.iter().map(met).sum::<f64>() * all / drawn.len().max(1) as f64,
        }
    }

    /// Pairs of the collection, each counted with its weight, and the sum of their elements.
    fn count(&self, weigh: impl Fn(f64) -> f64) -> (f64, f64) {
        let mut sums = (0.0, 0.0);
        for &(similarity, elements) in &self.pairs {
            let weight = self.weight * weigh(similarity);
            sums.0 += weight;
            sums.1 += weight * elements;
        }
        sums
    }
}

/// The pairs that have something in common, and how often the elements of drawn texts are met.
fn pairs(drawn: &[Vec<u64>], others: &[Vec<u64>], index: &mut Index) -> Vec<(f64, f64)> {
    let mut shared = vec![0u32; drawn.len()];
    let mut pairs = Vec::new();
    for (other, set) in others.iter().enumerate() {
        for element in set {
            if let Some((met, owners)) = index.get_mut(element) {
                *met += 1;
                owners.iter().for_each(|&owner| shared[owner as usize] += 1);
            }
        }
        for (at, shared) in shared.iter_mut().enumerate().filter(|(_, shared)| **shared > 0) {
            let all = (drawn[at].len() + set.len()) as f64;
            let shared = f64::from(std::mem::take(shared));
            if at != other {
                pairs.push((shared / (all - shared), all));
            }
        }
    }
    pairs
}

/// What things take, in nanoseconds, by measurements on the four collections of `docs/joins.md`.
mod cost {
    /// Sorting an element among those of its text.
    pub(super) const SORT: f64 = 7.5;
    /// Ranking an element, and indexing it.
    pub(super) const RANK: f64 = 36.0;
    /// Looking at an entry of the index.
    pub(super) const MEET: f64 = 1.2;
    /// Comparing two texts by the exact join, and for each of their elements.
    pub(super) const COMPARE: f64 = 100.0;
    pub(super) const ELEMENT: f64 = 0.6;
    /// Comparing two candidates of bands, and for each of their elements.
    pub(super) const CANDIDATES: f64 = 130.0;
    pub(super) const THEIR_ELEMENT: f64 = 0.9;
    /// Throwing an element into a sketch, and making a value that nothing was thrown into.
    pub(super) const THROW: f64 = 1.5;
    pub(super) const FILL: f64 = 12.0;
    /// Making and sorting a key.
    pub(super) const KEY: f64 = 20.0;
    /// Looking at the sketches of a pair.
    pub(super) const LOOK: f64 = 60.0;
    /// Looking an element up for the audit.
    pub(super) const AUDIT: f64 = 7.0;
}

impl<S: Source> Run<'_, S> {
    /// What either way is expected to take. It depends on the texts alone, not on how many of them were kept.
    pub(super) fn choice(&self, kept: &Kept, collection: &Collection) -> Result<Option<Choice>> {
        let Some(bands) = self.banding.as_ref().map(Banding::bands) else { return Ok(None) };
        let texts = self.some_texts(kept, collection)?;
        let threshold = self.settings.jaccard_threshold();
        let prefix = |size: usize| ((1.0 - threshold) * size as f64) as usize + 1;
        let mut sampled = Sampled::new(&texts, collection.groups() as usize, prefix);
        if let Some(sides) = collection.sides() {
            // Of all pairs, those of one text of each side are looked for.
            let on = |side: u8| sides.0.iter().filter(|&&sides| sides & side != 0).count() as f64;
            let across = on(Sides::LEFT) * on(Sides::RIGHT);
            let share = (across / (sampled.texts * (sampled.texts - 1.0) / 2.0).max(1.0)).min(1.0);
            sampled.weight *= share;
            sampled.met *= share;
        }
        let exact = self.by_join(&sampled, threshold);
        Ok(Some(Choice { exact, bands: self.by_bands(&sampled, bands) }))
    }

    /// The elements of texts drawn at random.
    fn some_texts(&self, kept: &Kept, collection: &Collection) -> Result<Vec<Vec<u64>>> {
        let mut order: Vec<(u64, u32)> =
            (0..collection.groups()).map(|group| (mix64(group.into(), SEED), group)).collect();
        order.sort_unstable();
        order.truncate(OTHERS);
        let places = kept.places(collection);
        if order.iter().all(|&(_, group)| places[group as usize].1 != NOWHERE) {
            let mut room = OF_OTHERS;
            let texts = order.iter().map_while(|&(_, group)| {
                let mut set = self.layout.elements(kept.get(places[group as usize])).to_vec();
                let distinct = sort_elements(&mut set);
                set.truncate(distinct);
                // One more than is needed, to know that it is too much.
                let wanted = room > 0;
                room = room.saturating_sub(distinct);
                wanted.then_some(set)
            });
            return Ok(texts.collect());
        }
        let mut wanted = vec![Wanted::Not; places.len()];
        order.iter().for_each(|&(_, group)| wanted[group as usize] = Wanted::Closely);
        let nowhere = vec![(0, NOWHERE); places.len()];
        let read = self.load(collection, wanted, Kept::default(), &nowhere)?;
        let mut cache = Cache::one();
        let set = |&(_, group): &(u64, u32)| {
            let words = read.records.get(read.places[group as usize] as usize, &mut cache)?;
            Ok(self.layout.body(words).elements.to_vec())
        };
        order.iter().map(set).collect()
    }

    fn by_bands(&self, sampled: &Sampled, bands: Bands) -> Expected {
        let functions = bands.functions() as f64;
        let least = self.agreement() as f64;
        // The chance that enough bytes of two sketches agree, by the normal distribution.
        let agree = |similarity: f64| {
            let each = similarity + (1.0 - similarity) / 256.0;
            let spread = (functions * each * (1.0 - each)).sqrt().max(1e-9);
            1.0 / (1.0 + (-1.702 * (functions * each - least) / spread).exp())
        };
        let candidates = self.needed(sampled, sampled.count(|s| bands.probability(s))).0;
        let compared = sampled.count(|s| bands.probability(s) * agree(s));
        let (compared, elements) = self.needed(sampled, compared);
        // Of texts with few elements, most values have to be made.
        let size = sampled.elements / sampled.texts.max(1.0);
        let open = functions * (-size / functions).exp();
        let nanoseconds = sampled.elements * (cost::THROW + cost::AUDIT)
            + sampled.texts * (cost::FILL * open + cost::KEY * bands.count as f64)
            + candidates * cost::LOOK
            + compared * cost::CANDIDATES
            + elements * cost::THEIR_ELEMENT
            + (sampled.elements).min(elements) * cost::SORT;
        Expected { seconds: 1e-9 * nanoseconds, compared }
    }

    fn by_join(&self, sampled: &Sampled, threshold: f64) -> Expected {
        // What bitmaps do not tell from similar.
        const NEARLY: f64 = 0.03;
        let compared = sampled.count(|s| f64::from(s >= threshold - NEARLY));
        let (compared, elements) = self.needed(sampled, compared);
        let nanoseconds = sampled.elements * (cost::SORT + cost::RANK)
            + sampled.met * cost::MEET
            + compared * cost::COMPARE
            + elements * cost::ELEMENT;
        Expected { seconds: 1e-9 * nanoseconds, compared }
    }

    /// Of so many pairs with so many elements, those that are looked at: where only groups are asked for, few of those
    /// that are in one.
    fn needed(&self, sampled: &Sampled, (pairs, elements): (f64, f64)) -> (f64, f64) {
        /// Pairs that are looked at for each text, about.
        const EACH: f64 = 30.0;
        let most = EACH * sampled.texts;
        if self.every_pair || pairs <= most {
            return (pairs, elements);
        }
        (most, elements * most / pairs)
    }
}

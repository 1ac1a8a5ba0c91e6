//! Texts, sets and bags: which takes less time, the exact join or bands of minhashes?
//!
//! Some texts are drawn and compared with some others, so far as they have elements in common. That shows how
//! frequent the elements of texts are, which decides what the exact join looks at, and how similar texts are to
//! each other, which decides how many pairs either way compares. What that costs are figures measured once: which
//! way is taken must not depend on a clock.
//!
//! **How the costs were fitted.** In five rounds, to the times of the four collections of `docs/joins.md`. The choice
//! was right in all cells of that table before the last round; that shows the fit, not how it does elsewhere. (The cost
//! of bits came later, from near-identical texts.)
//!
//! **How it does elsewhere.** Six other collections were tried: character shingles of articles, of records and of
//! addresses, two views of ratings, and random sets with a few very frequent elements. On four of them both ways were
//! timed, at up to six thresholds, before the last change of a constant; the faster way was taken in each case seen. On
//! the other two, only the way that was taken was timed. Estimates for the exact way were up to seven times too low
//! where nearly all elements are frequent (trigrams of records), and two times too low on random sets.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::amplify::Bands;
use crate::family::hash::mix64;
use crate::item::Copies;
use crate::join::ElementIndex;
use crate::settings::Goal;

use super::{Plan, SearchCost, TablesPlan, Way};

/// Drawn texts, and those they are compared with, at most.
const DRAWN: usize = 256;
pub(crate) const OTHERS: usize = 1 << 13;
/// Elements of either, at most.
const OF_DRAWN: usize = 1 << 15;
pub(crate) const OF_OTHERS: usize = 1 << 17;
/// Pairs a text from which on they are surely in buckets where most are compared as bits.
const DENSE: f64 = 100.0;
/// What is drawn has a seed of its own.
const SEED: u64 = 0xc0de_c401_ce00_0001;

/// A collection's texts as far as they were looked at.
pub(crate) struct ElementSample {
    /// Texts in all, and their elements.
    texts: f64,
    elements: f64,
    /// Pairs of the collection for each pair that was compared.
    weight: f64,
    /// Pairs that have something in common, by their similarity: how many, and how many elements they have.
    pairs: Vec<(f64, f64)>,
    /// Places where an element of the prefix of a text stands in another text, for all texts.
    met: f64,
}

/// Similarities from 0 to 1 that are told apart.
const STEPS: usize = 1000;

impl ElementSample {
    /// Compares the first of these texts, which were drawn from `all`, with the others.
    pub(crate) fn new(texts: &[&[u64]], all: usize, threshold: f64) -> Self {
        let prefix = |size: usize| ((1.0 - threshold) * size as f64) as usize + 1;
        let within = |most: usize, count: usize| {
            let mut elements = 0;
            let room = |set: &&&[u64]| {
                elements += set.len();
                elements <= most || elements == set.len()
            };
            texts.iter().take(count).take_while(room).count()
        };
        // Drawn texts are among the others: otherwise none would be left of a small collection.
        let (drawn, others) = (within(OF_DRAWN, DRAWN), within(OF_OTHERS, OTHERS));
        let (drawn, others) = (&texts[..drawn], &texts[..others]);
        let entries = (0u32..).zip(drawn).flat_map(|(at, set)| set.iter().map(move |&x| (x, at)));
        let index = ElementIndex::new(&entries.collect::<Vec<_>>());
        let Meetings { pairs, times } = meetings(drawn, others, &index);
        let scale = all as f64 / others.len().max(1) as f64;
        let met = |set: &&[u64]| {
            let mut met: Vec<u32> =
                set.iter().map(|&element| times[index.range(element).start]).collect();
            let count = prefix(met.len()).min(met.len());
            if count < met.len() {
                met.select_nth_unstable(count);
            }
            let others = met[..count].iter().map(|&times| times.saturating_sub(1));
            scale * others.map(f64::from).sum::<f64>()
        };
        let met: f64 = drawn.par_iter().map(met).collect::<Vec<f64>>().into_iter().sum();
        let compared = drawn.len() as f64 * (others.len() as f64 - 1.0).max(1.0);
        let all = all as f64;
        Self {
            texts: all,
            elements: scale * others.iter().map(|set| set.len() as f64).sum::<f64>(),
            weight: all * (all - 1.0) / 2.0 / compared.max(1.0),
            pairs,
            met: met * all / drawn.len().max(1) as f64,
        }
    }

    /// Of all pairs, only those of one text of each of two collections are looked for.
    pub(crate) fn across(mut self, left: usize, right: usize) -> Self {
        let across = left as f64 * right as f64;
        let share = (across / (self.texts * (self.texts - 1.0) / 2.0).max(1.0)).min(1.0);
        self.weight *= share;
        self.met *= share;
        self
    }

    /// Pairs of the collection, each counted with its weight, and the sum of their elements.
    fn count(&self, weigh: impl Fn(f64) -> f64) -> (f64, f64) {
        let mut sums = (0.0, 0.0);
        for (step, &(pairs, elements)) in self.pairs.iter().enumerate().filter(|(_, it)| it.0 > 0.0)
        {
            let weight = self.weight * weigh((step as f64 + 0.5) / STEPS as f64);
            sums.0 += weight * pairs;
            sums.1 += weight * elements;
        }
        sums
    }
}

/// What drawn texts have in common with others.
struct Meetings {
    /// Pairs by their similarity, and their elements.
    pairs: Vec<(f64, f64)>,
    /// How often each element of drawn texts is met, at the first of its places.
    times: Vec<u32>,
}

/// Compares drawn texts with others, among which they are the first, on all threads. All sums are of whole numbers, so
/// that it does not matter who adds what.
fn meetings(drawn: &[&[u64]], others: &[&[u64]], index: &ElementIndex) -> Meetings {
    /// Others that a thread takes at a time.
    const FEW: usize = 16;
    let next = AtomicUsize::new(0);
    let meet = || {
        let mut all = Meetings { pairs: vec![(0.0, 0.0); STEPS], times: vec![0; index.len()] };
        let mut comparing =
            ComparisonScratch { shared: vec![0; drawn.len()], ..ComparisonScratch::default() };
        loop {
            let from = next.fetch_add(FEW, Ordering::Relaxed).min(others.len());
            let some = &others[from..others.len().min(from + FEW)];
            if some.is_empty() {
                return all;
            }
            for (number, other) in (from..).zip(some) {
                comparing.meet(drawn, (number, other), index, &mut all);
            }
        }
    };
    let both = |mut all: Meetings, some: Meetings| {
        let pairs = all.pairs.iter_mut().zip(some.pairs);
        pairs.for_each(|(all, some)| *all = (all.0 + some.0, all.1 + some.1));
        all.times.iter_mut().zip(some.times).for_each(|(all, some)| *all += some);
        all
    };
    let all = rayon::broadcast(|_| meet()).into_iter().reduce(both);
    all.expect("a pool has a thread")
}

/// What a thread needs to compare texts with drawn ones.
#[derive(Default)]
struct ComparisonScratch {
    /// How many elements each drawn text shares with the other, and those that share any.
    shared: Vec<u32>,
    owners: Vec<usize>,
    room: Vec<u64>,
}

impl ComparisonScratch {
    /// Compares one text with the drawn ones. If it is one of them, `other` is its number there, and it is not compared with
    /// itself.
    fn meet(
        &mut self,
        drawn: &[&[u64]],
        (other, set): (usize, &[u64]),
        index: &ElementIndex,
        all: &mut Meetings,
    ) {
        let Self { shared, owners, room } = self;
        for &element in index.held(set, room) {
            let range = index.range_of_held(element);
            if range.is_empty() {
                continue;
            }
            all.times[range.start] += 1;
            for &owner in index.sets(range) {
                let shared = &mut shared[owner as usize];
                if *shared == 0 {
                    owners.push(owner as usize);
                }
                *shared += 1;
            }
        }
        for at in owners.drain(..) {
            let elements = (drawn[at].len() + set.len()) as f64;
            let shared = f64::from(std::mem::take(&mut shared[at]));
            if at != other {
                let step = (shared / (elements - shared) * STEPS as f64) as usize;
                let pairs = &mut all.pairs[step.min(STEPS - 1)];
                *pairs = (pairs.0 + 1.0, pairs.1 + elements);
            }
        }
    }
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
    pub(super) const CANDIDATES: f64 = 100.0;
    pub(super) const THEIR_ELEMENT: f64 = 0.7;
    /// Or, where many pairs are of few texts, comparing them as bits (by 3,000 near-identical texts).
    pub(super) const BITS: f64 = 120.0;
    /// Throwing an element into a sketch, and making a value that nothing was thrown into.
    pub(super) const THROW: f64 = 1.5;
    pub(super) const FILL: f64 = 6.0;
    /// Making and sorting a key.
    pub(super) const KEY: f64 = 20.0;
    /// Looking at the sketches of a pair that shares a key.
    pub(super) const LOOK: f64 = 9.0;
    /// What the audit takes for an element: to keep some, and to draw and compare pairs.
    pub(super) const AUDIT: f64 = 3.0;
}

/// What is compared, and how surely it is to be found.
pub(crate) struct ElementSearch {
    /// The bands that an approximate search would use.
    pub(crate) bands: Bands,
    /// The Jaccard similarity at which pairs are similar.
    pub(crate) threshold: f64,
    /// Bytes of two sketches that must agree for an exact comparison.
    pub(crate) agreement: usize,
    /// What the search is for.
    pub(crate) goal: Goal,
    /// The chance that a pair at just the threshold is found by bands.
    pub(crate) recall: f64,
}

impl ElementSearch {
    /// The cheaper way. It depends on the texts alone, not on how many of them are in memory.
    pub(crate) fn plan(&self, sample: &ElementSample) -> Plan {
        let (exact, by_bands) = (self.by_join(sample), self.by_bands(sample));
        let is_exact = exact.seconds <= by_bands.seconds;
        Plan {
            way: if is_exact { Way::Exact } else { Way::Tables },
            recall: if is_exact { 1.0 } else { self.recall },
            exact: Some(exact),
            tables: Some(TablesPlan::bands(self.bands, Some(by_bands))),
            sample: Vec::new(),
        }
    }

    fn by_bands(&self, sampled: &ElementSample) -> SearchCost {
        let bands = self.bands;
        let functions = bands.functions() as f64;
        let least = self.agreement as f64;
        // The chance that enough bytes of two sketches agree, by the normal distribution.
        let agree = |similarity: f64| {
            let each = similarity + (1.0 - similarity) / 256.0;
            let spread = (functions * each * (1.0 - each)).sqrt().max(1e-9);
            1.0 / (1.0 + (-1.702 * (functions * each - least) / spread).exp())
        };
        // A pair is met again in every band it shares.
        let met = |s: f64| bands.count as f64 * s.powi(bands.rows as i32);
        let met = self.needed(sampled, sampled.count(met)).0;
        let compared = sampled.count(|s| bands.probability(s) * agree(s));
        let (compared, elements) = self.needed(sampled, compared);
        // Of texts with few elements, most values have to be made.
        let size = sampled.elements / sampled.texts.max(1.0);
        let open = functions * (-size / functions).exp();
        let elements_taken = elements.min(sampled.elements);
        let by_elements = elements * cost::THEIR_ELEMENT;
        let is_dense = compared >= DENSE * sampled.texts;
        let comparing = if is_dense { by_elements.min(compared * cost::BITS) } else { by_elements };
        let nanoseconds = sampled.elements * (cost::THROW + cost::AUDIT)
            + sampled.texts * (cost::FILL * open + cost::KEY * bands.count as f64)
            + met * cost::LOOK
            + compared * cost::CANDIDATES
            + comparing
            + elements_taken * cost::SORT;
        SearchCost { seconds: 1e-9 * nanoseconds, compared: Some(compared) }
    }

    fn by_join(&self, sampled: &ElementSample) -> SearchCost {
        // What bitmaps do not tell from similar.
        const NEARLY: f64 = 0.03;
        let compared = sampled.count(|s| f64::from(s >= self.threshold - NEARLY));
        let (compared, elements) = self.needed(sampled, compared);
        let nanoseconds = sampled.elements * (cost::SORT + cost::RANK)
            + sampled.met * cost::MEET
            + compared * cost::COMPARE
            + elements * cost::ELEMENT;
        SearchCost { seconds: 1e-9 * nanoseconds, compared: Some(compared) }
    }

    /// How many of the pairs, and of their elements, are looked at. If only groups are asked for, an item is looked at until
    /// it has met some that are similar to it; where none are, with all.
    fn needed(&self, sampled: &ElementSample, (pairs, elements): (f64, f64)) -> (f64, f64) {
        /// Similar pairs that are looked at for each text, about.
        const EACH: f64 = 10.0;
        let most = EACH * sampled.texts;
        let similar = sampled.count(|s| f64::from(s >= self.threshold)).0;
        if self.goal != Goal::Groups || similar <= most {
            return (pairs, elements);
        }
        (pairs * most / similar, elements * most / similar)
    }
}

/// Groups drawn at random, for a sample.
pub(crate) fn drawn_groups(copies: &Copies) -> Vec<u32> {
    let mut order: Vec<(u64, u32)> =
        (0..copies.groups()).map(|group| (mix64(group.into(), SEED), group)).collect();
    keep_smallest(&mut order, OTHERS);
    order.sort_unstable();
    order.into_iter().map(|(_, group)| group).collect()
}

/// Leaves the `count` entries that are smallest.
pub(crate) fn keep_smallest<T: Ord>(entries: &mut Vec<T>, count: usize) {
    if entries.len() > count {
        entries.select_nth_unstable(count);
        entries.truncate(count);
    }
}

//! The exact join or bands of minhashes: which takes less time?
//!
//! Some texts are drawn and compared with some others, so far as they have elements in common. That shows how
//! frequent the elements of texts are, which decides what the exact join looks at, and how similar texts are to
//! each other, which decides how many pairs either way compares. What that costs are figures measured once: which
//! way is taken must not depend on a clock.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::Result;
use crate::amplify::Bands;
use crate::candidates::bands::Banding;
use crate::family::hash::mix64;
use crate::item::Source;
use crate::spill::Cache;

use super::buckets::Sides;
use super::holders::Holders;
use super::kept::{Kept, NOWHERE, Wanted};
use super::run::Run;
use super::watch::keep_smallest;
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
const OF_DRAWN: usize = 1 << 15;
const OF_OTHERS: usize = 1 << 17;
/// Pairs a text from which on they are surely in buckets where most are compared as bits.
const DENSE: f64 = 100.0;
/// What is drawn has a seed of its own.
const SEED: u64 = 0xc0de_c401_ce00_0001;

/// A collection's texts as far as they were looked at.
struct Sampled {
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

impl Sampled {
    /// Compares the first of these texts, which were drawn from `all`, with the others. So many symbols of a text of
    /// some size are in its prefix.
    fn new(texts: &[&[u64]], all: usize, prefix: impl Fn(usize) -> usize + Sync) -> Self {
        let within = |most: usize, count: usize| {
            let mut elements = 0;
            let room = |set: &&&[u64]| {
                elements += set.len();
                elements <= most || elements == set.len()
            };
            texts.iter().take(count).take_while(room).count()
        };
        // Those that were drawn are among the others, for otherwise nobody is left of a small collection.
        let (drawn, others) = (within(OF_DRAWN, DRAWN), within(OF_OTHERS, OTHERS));
        let (drawn, others) = (&texts[..drawn], &texts[..others]);
        let entries = (0u32..).zip(drawn).flat_map(|(at, set)| set.iter().map(move |&x| (x, at)));
        let holders = Holders::new(&entries.collect::<Vec<_>>());
        let Meetings { pairs, times } = meetings(drawn, others, &holders);
        let scale = all as f64 / others.len().max(1) as f64;
        let met = |set: &&[u64]| {
            let mut met: Vec<u32> =
                set.iter().map(|&element| times[holders.range(element).start]).collect();
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
fn meetings(drawn: &[&[u64]], others: &[&[u64]], holders: &Holders) -> Meetings {
    /// Others that a thread takes at a time.
    const FEW: usize = 16;
    let next = AtomicUsize::new(0);
    let meet = || {
        let mut all = Meetings { pairs: vec![(0.0, 0.0); STEPS], times: vec![0; holders.len()] };
        let mut comparing = Comparing { shared: vec![0; drawn.len()], ..Comparing::default() };
        loop {
            let from = next.fetch_add(FEW, Ordering::Relaxed).min(others.len());
            let some = &others[from..others.len().min(from + FEW)];
            if some.is_empty() {
                return all;
            }
            for (number, other) in (from..).zip(some) {
                comparing.meet(drawn, (number, other), holders, &mut all);
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
struct Comparing {
    /// How many elements each drawn text shares with the other, and those that share any.
    shared: Vec<u32>,
    owners: Vec<usize>,
    room: Vec<u64>,
}

impl Comparing {
    /// Compares one text, which is one of those that were drawn if its number is that of one.
    fn meet(
        &mut self,
        drawn: &[&[u64]],
        (other, set): (usize, &[u64]),
        holders: &Holders,
        all: &mut Meetings,
    ) {
        let Self { shared, owners, room } = self;
        for &element in holders.held(set, room) {
            let range = holders.range_of_held(element);
            if range.is_empty() {
                continue;
            }
            all.times[range.start] += 1;
            for &owner in holders.sets(range) {
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
    /// Looking an element up for the audit.
    pub(super) const AUDIT: f64 = 3.0;
}

impl<S: Source> Run<'_, S> {
    /// What either way is expected to take. It depends on the texts alone, not on how many of them were kept.
    pub(super) fn choice(
        &self,
        kept: &mut Kept,
        places: &[(u32, u32)],
        collection: &Collection,
    ) -> Result<Option<Choice>> {
        let Some(bands) = self.banding.as_ref().map(Banding::bands) else { return Ok(None) };
        let threshold = self.settings.jaccard_threshold();
        let prefix = |size: usize| ((1.0 - threshold) * size as f64) as usize + 1;
        let all = collection.groups() as usize;
        let groups = some_groups(collection);
        let mut sampled = if groups.iter().all(|&group| places[group as usize].1 != NOWHERE) {
            // Most of them are compared later, by either way, and need it anyway.
            let groups = self.finish_some(&groups, places, kept);
            let set = |&group: &u32| self.layout.elements(kept.get(places[group as usize]));
            Sampled::new(&groups.iter().map(set).collect::<Vec<_>>(), all, prefix)
        } else {
            let texts = self.read_some(&groups, collection)?;
            Sampled::new(&texts.iter().map(Vec::as_slice).collect::<Vec<_>>(), all, prefix)
        };
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

    /// Finishes the records of the first of these groups. Of those, which are as many as are needed.
    fn finish_some<'a>(
        &self,
        groups: &'a [u32],
        places: &[(u32, u32)],
        kept: &mut Kept,
    ) -> &'a [u32] {
        // On all threads those that are needed even if no element comes twice.
        let mut elements = 0;
        let surely = groups.iter().take_while(|&&group| {
            let before = elements;
            elements += self.layout.elements(kept.get(places[group as usize])).len();
            before < OF_OTHERS
        });
        let surely = surely.count();
        let mut records = kept.records_mut(groups[..surely].iter().copied(), places);
        records.par_iter_mut().with_max_len(16).for_each(|(_, record)| {
            self.layout.finish(record);
        });
        let mut room = OF_OTHERS;
        let is_needed = |&&group: &&u32| {
            // One more than is needed, to know that it is too much.
            let needed = room > 0;
            if needed {
                let record = kept.get_mut(places[group as usize]);
                self.layout.finish(record);
                room = room.saturating_sub(self.layout.elements(record).len());
            }
            needed
        };
        &groups[..groups.iter().take_while(is_needed).count()]
    }

    /// The elements of these groups' texts, read again.
    fn read_some(&self, groups: &[u32], collection: &Collection) -> Result<Vec<Vec<u64>>> {
        let all = collection.groups() as usize;
        let mut wanted = vec![Wanted::Not; all];
        groups.iter().for_each(|&group| wanted[group as usize] = Wanted::Closely);
        let nowhere = vec![(0, NOWHERE); all];
        let read = self.load(collection, wanted, Kept::default(), &nowhere)?;
        let mut cache = Cache::one();
        let set = |&group: &u32| Ok(read.body(group, &mut cache)?.elements.to_vec());
        groups.iter().map(set).collect()
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

/// Groups drawn at random.
fn some_groups(collection: &Collection) -> Vec<u32> {
    let mut order: Vec<(u64, u32)> =
        (0..collection.groups()).map(|group| (mix64(group.into(), SEED), group)).collect();
    keep_smallest(&mut order, OTHERS);
    order.sort_unstable();
    order.into_iter().map(|(_, group)| group).collect()
}

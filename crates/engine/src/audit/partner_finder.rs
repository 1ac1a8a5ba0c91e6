//! Finds the true partners of drawn sets: what a run should have found for them.
//!
//! A set that is similar to a drawn one has most of its elements. Some of these are picked, those that come first in
//! a random order of all elements, and whoever has enough of the picked ones is compared exactly. How many are enough
//! is chosen so that a partner has fewer with a chance of one in a million; of a short set so many are picked that
//! nothing is left to chance. Nothing here knows the sketches of the run, its seed or its candidates.
//!
//! A long set need not look up all its elements, only those that come as early in that order as the picked elements of
//! sets of its size: mostly 128 to 256 of them. The number of distinct elements of a text is known only once repeats
//! are removed. The elements that are looked up tell it well enough; where they do not, all elements are looked up. Two
//! kernels find the elements that come early, and those of them that some drawn set picked: they keep or drop eight
//! elements at a time.

use nearkin_kernels::with_small_product;
use rayon::prelude::*;

use crate::candidates::element_record::{RecordLayout, fewest_successes};
use crate::join::{ElementIndex, make_room};
use crate::plan::elements::keep_smallest;
use crate::verify::Verifier;

/// The chance to overlook a partner.
const OVERLOOKED: f64 = 1e-6;

/// Sets that were drawn, and what to look out for.
pub(crate) struct PartnerFinder {
    verifier: Verifier,
    pub(crate) layout: RecordLayout,
    /// The sets from the smallest on, as finished records, and the number under which each was given.
    records: Vec<Vec<u64>>,
    given: Vec<u32>,
    /// For each, the size of the smallest partner.
    least: Vec<usize>,
    /// For each, how many of its picked elements another must have.
    enough: Vec<u32>,
    /// Who picked an element.
    pickers: ElementIndex,
    /// For each level, the largest size of a partner of a set with a picked element that is not on it: elements on
    /// level n are the first 1/2ⁿ of all.
    beyond: Vec<usize>,
}

/// What a thread needs to look.
#[derive(Default)]
pub(crate) struct FinderScratch {
    /// Room for the elements on a level, and those of them that somebody may have picked.
    on_level: Vec<u64>,
    picked: Vec<u64>,
    /// How many picked elements of each drawn set were seen, and of which sets enough.
    hits: Vec<u32>,
    seen: Vec<u32>,
}

/// The picked elements of one set.
struct PickedElements {
    /// The sizes of the smallest partner and of the largest.
    least: usize,
    most: usize,
    /// Picked elements, each with its place in the order, and how many of them a partner must have.
    picked: Vec<(u64, u64)>,
    enough: u32,
}

impl PickedElements {
    fn new(set: &[u64], verifier: &Verifier) -> Self {
        let least = smallest_partner(verifier, set.len());
        let most = largest_partner(verifier, set.len());
        let fewest = verifier.shared_needed(set.len(), least).unwrap_or(set.len());
        let (picked, enough) = picks(set.len(), fewest);
        Self { least, most, picked: first_in_order(set, picked), enough: enough as u32 }
    }
}

/// What an element is multiplied with to get its place in the random order of all.
const ORDER: u64 = 0xd1b5_4a32_d192_ed03;

/// The `count` elements of a set that come first in the order, each with its place.
fn first_in_order(set: &[u64], count: usize) -> Vec<(u64, u64)> {
    // Twice as many as are needed, unless chance will have it otherwise.
    let bound = match set.len() / (2 * count.max(1)) {
        0 | 1 => u64::MAX,
        times => u64::MAX / times as u64,
    };
    let up_to = |bound: u64| -> Vec<(u64, u64)> {
        set.iter()
            .map(|&x| (x.wrapping_mul(ORDER), x))
            .filter(|&(place, _)| place <= bound)
            .collect()
    };
    let mut first = up_to(bound);
    if first.len() < count {
        first = up_to(u64::MAX);
    }
    keep_smallest(&mut first, count);
    first
}

impl PartnerFinder {
    /// Looks out for what is similar to the sets of these records, which are finished.
    pub(crate) fn new(records: Vec<Vec<u64>>, layout: RecordLayout, verifier: Verifier) -> Self {
        let mut given: Vec<(u32, Vec<u64>)> = (0u32..).zip(records).collect();
        given.sort_by_key(|(_, record)| layout.elements(record).len());
        let (given, records): (Vec<u32>, Vec<Vec<u64>>) = given.into_iter().unzip();
        let watched: Vec<PickedElements> = records
            .par_iter()
            .map(|record| PickedElements::new(layout.elements(record), &verifier))
            .collect();
        let mut entries: Vec<(u64, u32)> = Vec::new();
        let mut beyond = vec![0; 64];
        for (watched, number) in watched.iter().zip(0u32..) {
            entries.extend(watched.picked.iter().map(|&(_, element)| (element, number)));
            let last = watched.picked.iter().map(|&(place, _)| place).max().unwrap_or(0);
            let not_on = beyond.iter_mut().skip(1 + last.leading_zeros() as usize);
            not_on.for_each(|beyond: &mut usize| *beyond = watched.most.max(*beyond));
        }
        let least = watched.iter().map(|watched| watched.least).collect();
        let enough = watched.iter().map(|watched| watched.enough).collect();
        let pickers = ElementIndex::new(&entries);
        Self { verifier, layout, records, given, least, enough, pickers, beyond }
    }

    /// Looks out for fewer sets: those that were given with one of these names and are wanted. The names of the sets as they
    /// are given now.
    pub(crate) fn retain(self, names: &[u32], is_wanted: impl Fn(u32) -> bool) -> (Self, Vec<u32>) {
        let named = self.given.iter().map(|&given| names[given as usize]).zip(self.records);
        let (names, records): (Vec<u32>, Vec<_>) =
            named.filter(|(name, _)| is_wanted(*name)).unzip();
        (Self::new(records, self.layout, self.verifier), names)
    }

    /// How many of the drawn sets cost little: where elements are frequent, every look meets many sets.
    pub(crate) fn affordable(&self) -> usize {
        /// Sets that are met for each element that is looked up.
        const MET: f64 = 1.0;
        let some = self.records.par_iter().step_by(self.records.len().div_ceil(64).max(1));
        let met_by = |record: &Vec<u64>| {
            let set = self.layout.elements(record);
            (set.len(), set.iter().map(|&element| self.pickers.range(element).len()).sum())
        };
        let both = |a: (usize, usize), b: (usize, usize)| (a.0 + b.0, a.1 + b.1);
        let (elements, met) = some.map(met_by).reduce(|| (0, 0), both);
        // A drawn set meets itself.
        let each = (met as f64 / elements.max(1) as f64 - 1.0).max(0.0);
        (self.records.len() as f64 * (MET / each).min(1.0)) as usize
    }

    /// Finds the drawn sets that may be similar to the set with these elements, which come in any order and may come
    /// several times. Returns whether there are any.
    pub(crate) fn look(&self, elements: &[u64], scratch: &mut FinderScratch) -> bool {
        let FinderScratch { on_level, picked, hits, seen } = scratch;
        hits.resize(self.records.len(), 0);
        // One more than can be seen: the loop writes the next slot in any case.
        seen.resize(self.records.len() + 1, 0);
        let mut count = 0;
        // Those that come later are too large.
        let end = self.least.partition_point(|&least| least <= elements.len()) as u32;
        for &element in self.pickers.held(self.worth_looking(elements, on_level), picked) {
            for &number in self.pickers.sets(self.pickers.range_of_held(element)) {
                if number >= end {
                    break;
                }
                let hits = &mut hits[number as usize];
                // Written in any case: whether it is the first cannot be guessed.
                seen[count] = number;
                count += usize::from(*hits == 0);
                *hits += 1;
            }
        }
        seen.truncate(count);
        let enough = |&number: &u32| {
            std::mem::take(&mut hits[number as usize]) >= self.enough[number as usize]
        };
        seen.retain(enough);
        !seen.is_empty()
    }

    /// Of these elements, those that a similar set may have picked.
    fn worth_looking<'a>(&self, elements: &'a [u64], on_level: &'a mut Vec<u64>) -> &'a [u64] {
        /// Elements that are left, at least.
        const LEAST: usize = 128;
        /// The share of different elements among those that are left, and with a chance of less than one in a million
        /// to be wrong (by Poisson's distribution), among all.
        const SHARE_LEFT: f64 = 0.75;
        const SHARE_OF_ALL: f64 = 0.4;
        let count = elements.len() as f64;
        let reaches = |&level: &usize| (self.beyond[level] as f64) < SHARE_OF_ALL * count;
        let level = (elements.len() / LEAST).checked_ilog2().unwrap_or(0) as usize;
        let Some(level) = (1..=level).rev().find(reaches) else { return elements };
        make_room(on_level, elements.len());
        let left = with_small_product(elements, ORDER, u64::MAX >> level, on_level);
        // How many different ones there are, at least.
        let mut bits = [0u64; 32];
        for &element in &on_level[..left] {
            bits[element as usize / 64 % 32] |= 1 << (element % 64);
        }
        let different = bits.iter().map(|word| word.count_ones()).sum::<u32>();
        if f64::from(different) * f64::from(1u32 << level) < SHARE_LEFT * count {
            return elements;
        }
        &on_level[..left]
    }

    /// The drawn sets that are similar to the set of this finished record, and how similar. Only the possible ones in
    /// `scratch` are compared.
    pub(crate) fn partners(
        &self,
        scratch: &FinderScratch,
        record: &[u64],
    ) -> impl Iterator<Item = (u32, f64)> {
        let body = self.layout.body(record);
        scratch.seen.iter().filter_map(move |&number| {
            let drawn = self.layout.body(&self.records[number as usize]);
            let overlap = drawn.similar(body, &self.verifier)?;
            let similarity = self.verifier.measure().similarity(overlap);
            Some((self.given[number as usize], similarity))
        })
    }

    /// Makes the record of a set with these elements.
    pub(crate) fn record(&self, elements: &[u64], record: &mut Vec<u64>) {
        record.clear();
        self.layout.append(elements, record);
        self.layout.finish(record);
    }
}

/// How many elements of a set are picked, and how many of those a partner has that shares at least `fewest`.
fn picks(size: usize, fewest: usize) -> (usize, usize) {
    /// Picked elements that a partner has, if the set has that many.
    const LEAST: usize = 3;
    // Whatever a partner lacks, it has the rest of the picked ones.
    let lacking = size - fewest;
    let certain = (lacking + lacking.max(LEAST)).min(size);
    // Fewer let too many through that are no partners, the more the smaller the share is.
    let share = fewest as f64 / size.max(1) as f64;
    let likely = (OVERLOOKED.ln() / (-share).ln_1p()).max(24.0 / (share * share)).ceil();
    if likely >= certain as f64 {
        return (certain, certain - lacking);
    }
    (likely as usize, fewest_successes(likely as usize, share, OVERLOOKED).max(1))
}

/// The size of the smallest set that is similar to one of this size. They share fewer elements than any larger one
/// does with it.
fn smallest_partner(verifier: &Verifier, size: usize) -> usize {
    let (mut low, mut high) = (1, size);
    while low < high {
        let middle = low.midpoint(high);
        match verifier.shared_needed(size, middle) {
            Some(_) => high = middle,
            None => low = middle + 1,
        }
    }
    low
}

/// The size of the largest set that is similar to one of this size.
fn largest_partner(verifier: &Verifier, size: usize) -> usize {
    let fits = |other: usize| verifier.shared_needed(size, other).is_some();
    let (mut low, mut high) = (size, 2 * size.max(1));
    while fits(high) {
        if high > 1 << 40 {
            return usize::MAX;
        }
        (low, high) = (high, 2 * high);
    }
    while high - low > 1 {
        let middle = low.midpoint(high);
        *(if fits(middle) { &mut low } else { &mut high }) = middle;
    }
    low
}

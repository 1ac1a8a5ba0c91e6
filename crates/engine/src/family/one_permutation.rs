//! A whole sketch from one pass and one hash: the elements are thrown into groups, and each group keeps its smallest.
//!
//! The plain form, [`GroupMinima`](crate::textbook::GroupMinima), may leave groups unfilled. [`OnePermutation`] is the
//! form for banding: an unfilled group takes the classic minhash of the whole set, with a hash function of its own.
//!
//! **Why it is unbiased.** For a group g, order all elements: first those that are thrown into g, by their value there,
//! then the others, by their value under g's own function. That is a random order of the elements, and a set's value in g
//! belongs to its first element in it. So A and B agree in g exactly when the first element of A ∪ B lies in both, and
//! P\[agree in g\] = J(A, B) for every g and for sets of every size.
//!
//! **What it costs.** After n throws, about k·exp(−n/k) of the k groups are unfilled. Long sets are
//! thrown once and are done. The second step never takes more than k²/e values, and machines make several of these at a
//! time.
//!
//! **What else was tried.** The fast similarity sketch of Dahlgaard, Knudsen and Thorup (FOCS 2017) throws again and
//! again until every group is filled. It is as good and takes fewer values, but makes them one by one: on licence texts
//! it took 1.8 times as many instructions. Throwing into wider and wider groups of groups made the rows of short texts
//! depend on one another.
//!
//! **What it does to recall.** Groups are not independent, because they draw without replacement. That costs recall where few
//! bands have to agree in many rows, so there [`Banding::at`](crate::candidates::bands::Banding::at) takes the
//! [`ClassicSketch`](super::ClassicSketch). Elsewhere it gains some. The table has the share of pairs at just the threshold that were
//! found, where 0.99 was promised: 40,000 pairs per cell with a standard error of 0.0005, and from 1,000 elements on
//! 10,000 pairs with 0.001.
//!
//! | elements in the union | 10 | 20 | 50 | 200 | 1,000 | 5,000 | independent |
//! |---|---|---|---|---|---|---|---|
//! | threshold 0.5, 72 bands of 4 | .9910 | .9906 | .9911 | .9922 | .9921 | .9911 | .9904 |
//! | threshold 0.8, 16 bands of 6 | .9920 | .9938 | .9949 | .9953 | .9936 | .9927 | .9923 |
//! | threshold 0.9, 11 bands of 10 | .9913 | .9926 | .9946 | .9952 | .9918 | .9924 | .9911 |

use nearkin_kernels::{Throw, fill_open, throw_all};

use super::hash::{SplitMix, mix64};
use crate::{Error, Result};

/// The value of every group of the empty set, and of no group of any other set.
pub const EMPTY: u32 = u32::MAX;

/// The one-permutation sketch: `groups` values of 32 bits, each equal between two sets with a
/// probability of their Jaccard similarity.
///
/// Two different elements get the same value by chance in fewer than 1 of 2³² / m comparisons, where
/// m is the number of elements a group receives, so agreement is overstated by less than one in a
/// million for sets of up to 4000 elements a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnePermutation {
    /// How many values a sketch has: 1 to 2³² − 1.
    pub groups: usize,
    /// Chooses the hash functions; sketches are comparable when seed and groups are the same.
    pub seed: u64,
}

impl OnePermutation {
    /// A sketch of `groups` values.
    ///
    /// # Errors
    /// When `groups` is 0 or does not fit in 32 bits.
    pub fn new(groups: usize, seed: u64) -> Result<Self> {
        if groups == 0 || u32::try_from(groups).is_err() {
            return Err(Error::parameter("groups", groups, "between 1 and 2^32 - 1"));
        }
        Ok(Self { groups, seed })
    }

    /// Writes the sketch of a set. Elements may stand in any order and be repeated; they need not
    /// be hashed already. The empty set gives [`EMPTY`] everywhere.
    ///
    /// # Panics
    /// Unless `out` has the length `groups`.
    pub fn sketch(&self, elements: &[u64], out: &mut [u32]) {
        assert_eq!(out.len(), self.groups, "a sketch has one place for each group");
        out.fill(EMPTY);
        let throw = self.throw();
        throw_all(&throw, elements, out);
        if !elements.is_empty() && out.contains(&EMPTY) {
            fill_open(&throw, elements, out);
        }
    }

    /// Writes what is known of the sketch of a set from some of its elements, for sets that come in pieces.
    ///
    /// A value of the sketch does not tell whether its group was filled, and a value that was thrown goes before one that
    /// was not, however large it is. Here the values of unfilled groups have bit 32 set, so the smaller of two numbers
    /// counts: [`merge`](Self::merge). A group that is unfilled in the union is unfilled in every part, so every part
    /// knows its own minimum there.
    ///
    /// # Panics
    /// Unless `out` has the length `groups`.
    pub fn partial(&self, elements: &[u64], out: &mut [u64]) {
        assert_eq!(out.len(), self.groups, "a sketch has one place for each group");
        let mut values = vec![EMPTY; self.groups];
        let throw = self.throw();
        throw_all(&throw, elements, &mut values);
        for (out, &value) in out.iter_mut().zip(&values) {
            *out = if value == EMPTY { Self::UNFILLED } else { 0 };
        }
        if !elements.is_empty() && values.contains(&EMPTY) {
            fill_open(&throw, elements, &mut values);
        }
        out.iter_mut().zip(&values).for_each(|(out, &value)| *out |= u64::from(value));
    }

    /// What marks the value of a group that stayed unfilled.
    const UNFILLED: u64 = 1 << 32;

    /// Takes in what another part of the set says: the smaller number in each group.
    ///
    /// # Panics
    /// When the two have not the same length.
    pub fn merge(all: &mut [u64], part: &[u64]) {
        assert_eq!(all.len(), part.len(), "parts of different sketches");
        all.iter_mut().zip(part).for_each(|(all, &part)| *all = (*all).min(part));
    }

    /// The sketch of the set whose parts these were: the last 32 bits of each number.
    ///
    /// # Panics
    /// When the two have not the same length.
    pub fn finish(all: &[u64], out: &mut [u32]) {
        assert_eq!(all.len(), out.len(), "a sketch has one place for each group");
        out.iter_mut().zip(all).for_each(|(out, &value)| *out = value as u32);
    }

    /// The hash function of the throw, from which that of the unfilled groups follows.
    pub(super) fn throw(&self) -> Throw {
        let mut seeds = SplitMix::new(mix64(0, self.seed));
        let (key, factors) = (seeds.draw(), seeds.draw());
        let factors = [factors as u32 | 1, (factors >> 32) as u32 | 1];
        Throw { key, factors, groups: self.groups as u32 }
    }

    /// The estimated Jaccard similarity: the share of equal values. The empty set gets 1 with the
    /// empty set and 0 with any other.
    ///
    /// # Panics
    /// When the sketches have not the same length, or length 0.
    pub fn estimate(a: &[u32], b: &[u32]) -> f64 {
        assert!(a.len() == b.len() && !a.is_empty(), "sketches of different sizes");
        let equal = a.iter().zip(b).filter(|(a, b)| a == b).count();
        equal as f64 / a.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Sketches are stored, so their values must not change unnoticed.
    #[test]
    fn values_are_pinned() {
        let mut out = [0; 4];
        OnePermutation { groups: 4, seed: 1 }.sketch(&[1, 2, 3], &mut out);
        assert_eq!(out, [1_897_661_196, 1_799_039_355, 1_629_796_728, 3_856_721_372]);
    }

    /// Regular sets, whose elements differ in a few low or high bits only.
    fn regular_sets(size: u64) -> Vec<Vec<u64>> {
        let mut sets: Vec<Vec<u64>> =
            [0, 8, 20, 32, 48].map(|shift| (0..size).map(|i| i << shift).collect()).to_vec();
        sets.push((0..size).map(|i| i | i << 32).collect());
        sets.push((0..size).map(|i| i * 0x0001_0001_0001_0001).collect());
        sets
    }

    /// 60 seeds make χ² with 60·95 degrees of freedom, σ = 107: 6σ off happens once in 10⁸ tests. A seed
    /// whose groups fill far too evenly or unevenly for chance would show in the sum of squares.
    #[test]
    fn regular_sets_fill_groups_as_random_ones_do() {
        for set in regular_sets(2000) {
            let expected = set.len() as f64 / 96.0;
            let mut total = 0.0;
            for seed in 0..60 {
                let throw = OnePermutation { groups: 96, seed }.throw();
                let mut counts = [0.0; 96];
                set.iter().for_each(|&x| counts[(throw.throw(x) >> 32) as usize] += 1.0);
                let square =
                    counts.iter().map(|n| (n - expected) * (n - expected) / expected).sum::<f64>();
                assert!((20.0..220.0).contains(&square), "seed {seed}: {square}, {:?}", &set[..3]);
                total += square;
            }
            assert!((total - 60.0 * 95.0).abs() < 6.0 * 107.0, "{total}, {:?}", &set[..3]);
        }
    }

    /// 8 elements over 16,000 seeds and rounds: χ² with 7 degrees of freedom is above 50 once in 10⁸ tests.
    #[test]
    fn every_element_of_a_regular_set_is_the_smallest_as_often() {
        for set in regular_sets(8) {
            let mut wins = [0.0; 8];
            for seed in 0..4000 {
                let throw = OnePermutation { groups: 1, seed }.throw();
                for round in 0..4 {
                    let value = |i: &usize| throw.round(round).throw(set[*i]) as u32;
                    wins[(0..8).min_by_key(value).unwrap()] += 1.0;
                }
            }
            let square =
                wins.iter().map(|n: &f64| (n - 2000.0) * (n - 2000.0) / 2000.0).sum::<f64>();
            assert!(square < 50.0, "{square}, {set:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        /// Few elements leave most groups unfilled in the parts and fewer in the whole; many fill all.
        #[test]
        fn s9_3_the_sketch_of_a_set_follows_from_its_parts(
            elements in proptest::collection::vec((any::<u64>(), 0usize..4), 0..300),
            groups in 1usize..200,
            seed in any::<u64>(),
        ) {
            let sketcher = OnePermutation { groups, seed };
            let all: Vec<u64> = elements.iter().map(|(element, _)| *element).collect();
            let (mut whole, mut merged) = (vec![0; groups], vec![0; groups]);
            sketcher.sketch(&all, &mut whole);
            let (mut parts, mut part) = (vec![u64::MAX; groups], vec![0; groups]);
            for number in 0..4 {
                let own = elements.iter().filter(|(_, part)| *part == number);
                sketcher.partial(&own.map(|(element, _)| *element).collect::<Vec<_>>(), &mut part);
                OnePermutation::merge(&mut parts, &part);
            }
            OnePermutation::finish(&parts, &mut merged);
            prop_assert_eq!(merged, whole);
        }
    }
}

//! Sets laid out as bits so that all of them are quickly compared with each other.

use std::iter::zip;

use crate::{common_bits, mark};

/// Sets of numbers, to be compared with each other many times.
///
/// A number gets a bit when it first comes. It is found again in a table by its own first bits, so for sorted sets the table
/// is read from its start to its end. What two sets share are the bits that both have.
#[derive(Debug, Default)]
pub struct BitSets {
    /// A number, or 0 where none is, at the place that its first bits name or behind it; and which bit it has.
    places: Vec<u64>,
    bits: Vec<u32>,
    shift: u32,
    /// Numbers that have a place: the bits from the second on. The first is that of 0, which has none.
    given: usize,
    /// The bits of each set one behind the other, in whole blocks, and where each begins.
    words: Vec<u64>,
    starts: Vec<usize>,
    sizes: Vec<usize>,
}

/// Bits in a block. Bits that follow each other stand in different words, so that setting one does not wait for the one
/// before.
const BLOCK: usize = 512;
const WORDS: usize = BLOCK / 64;

/// Words of a set when `given` numbers have a place.
fn words_for(given: usize) -> usize {
    (given + 1).div_ceil(BLOCK) * WORDS
}

/// Sets a bit of a set.
#[inline(always)]
pub(crate) fn mark_bit(bit: u32, words: &mut [u64]) {
    let bit = bit as usize;
    words[bit / BLOCK * WORDS + bit % WORDS] |= 1 << (bit / WORDS % 64);
}

impl BitSets {
    /// No sets.
    pub fn clear(&mut self) {
        self.places.clear();
        self.bits.clear();
        self.given = 0;
        self.words.clear();
        self.starts.clear();
        self.sizes.clear();
    }

    /// Takes a set without repeats; its number is how many were taken before. Returns false, and takes nothing, if that would
    /// not pay: for numbers whose first bits are all the same, or if there would be too many bits.
    pub fn take(&mut self, set: &[u64]) -> bool {
        /// Bits in all, and words of all sets.
        const MOST: usize = 1 << 16;
        const MOST_WORDS: usize = 1 << 19;
        if self.given + set.len() > MOST || self.words.len() > MOST_WORDS {
            return false;
        }
        self.make_room(self.given + set.len() + 1);
        let start = self.words.len();
        self.words.resize(start + words_for(self.given + set.len()), 0);
        let words = &mut self.words[start..];
        let mut steps_left = 4 * set.len() + 64;
        let mut rest = set;
        loop {
            let marked = mark(rest, &self.places, &self.bits, self.shift, words);
            let Some((&number, behind)) = rest[marked..].split_first() else { break };
            rest = behind;
            let mut place = (number >> self.shift) as usize;
            while self.places[place] != number && self.places[place] != 0 {
                place = (place + 1) & (self.places.len() - 1);
                steps_left -= 1;
                if steps_left == 0 {
                    self.words.truncate(start);
                    return false;
                }
            }
            if self.places[place] != number {
                self.given += 1;
                self.places[place] = number;
                self.bits[place] = self.given as u32;
            }
            mark_bit(self.bits[place], words);
        }
        self.words.truncate(start + words_for(self.given));
        self.starts.push(start);
        self.sizes.push(set.len());
        true
    }

    /// Makes room for `numbers` numbers: two to eight places for each.
    fn make_room(&mut self, numbers: usize) {
        if self.places.len() >= 2 * numbers {
            return;
        }
        let size = (4 * numbers).next_power_of_two();
        let old: Vec<(u64, u32)> =
            zip(&self.places, &self.bits).map(|(&number, &bit)| (number, bit)).collect();
        self.places.clear();
        self.places.resize(size, 0);
        self.bits.clear();
        self.bits.resize(size, 0);
        self.shift = 64 - size.ilog2();
        for (number, bit) in old.into_iter().filter(|entry| entry.0 != 0) {
            let mut place = (number >> self.shift) as usize;
            while self.places[place] != 0 {
                place = (place + 1) & (size - 1);
            }
            self.places[place] = number;
            self.bits[place] = bit;
        }
    }

    /// How many numbers a set has.
    pub fn size(&self, set: usize) -> usize {
        self.sizes[set]
    }

    /// How many numbers two sets share.
    pub fn shared(&self, a: usize, b: usize) -> usize {
        let (a, b) = (self.words(a), self.words(b));
        // A set has no bit that was given away after it came.
        let both = a.len().min(b.len());
        common_bits(&a[..both], &b[..both]) as usize
    }

    fn words(&self, set: usize) -> &[u64] {
        let end = self.starts.get(set + 1).copied().unwrap_or(self.words.len());
        &self.words[self.starts[set]..end]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_any_two_share_is_counted(
            sets in vec(btree_set(prop_oneof![0u64..50, 0u64..3000], 0..700), 1..8),
            factor in prop_oneof![Just(1), any::<u64>().prop_map(|x| x | 1)],
            turn in 0u32..64,
        ) {
            let mut bit_sets = BitSets::default();
            bit_sets.take(&[1, 2, 3]);
            bit_sets.clear();
            let spread = |set: &BTreeSet<u64>| -> BTreeSet<u64> {
                set.iter().map(|x| x.wrapping_mul(factor).rotate_left(turn)).collect()
            };
            let sets: Vec<BTreeSet<u64>> = sets.iter().map(spread).collect();
            let take = |set: &BTreeSet<u64>| bit_sets.take(&set.iter().copied().collect::<Vec<_>>());
            let taken = sets.iter().map(take).take_while(|taken| *taken).count();
            for (a, x) in sets[..taken].iter().enumerate() {
                prop_assert_eq!(bit_sets.size(a), x.len());
                for (b, y) in sets[..taken].iter().enumerate() {
                    prop_assert_eq!(bit_sets.shared(a, b), x.intersection(y).count());
                }
            }
        }
    }

    #[test]
    fn it_is_known_what_makes_no_sense() {
        let random = |from: u64, count: u64| -> Vec<u64> {
            (from..from + count).map(|i| crate::scalar::mix(i, 3)).collect()
        };
        let mut sets = BitSets::default();
        assert!([0, 1, 9, 127, 1000, 30_000].iter().all(|&count| sets.take(&random(0, count))));
        assert!(sets.take(&random(20_000, 30_000)));
        let shared: Vec<usize> = (0..7).map(|set| sets.shared(set, 5)).collect();
        assert_eq!(shared, [0, 1, 9, 127, 1000, 30_000, 10_000]);
        assert!(!sets.take(&random(50_000, 30_000)));
        sets.clear();
        let narrow: Vec<u64> = random(0, 1000).iter().map(|number| number >> 32).collect();
        assert!(!sets.take(&narrow));
    }

    #[test]
    fn zero_is_a_number_like_others() {
        // With others in the first places, and without.
        for others in [&[][..], &[1, 2, 3]] {
            let mut sets = BitSets::default();
            let with_zero: Vec<u64> = others.iter().copied().chain([0]).collect();
            assert!([others, &with_zero, &[0]].into_iter().all(|set| sets.take(set)));
            assert_eq!(sets.shared(0, 1), others.len());
            assert_eq!((sets.shared(1, 2), sets.shared(0, 2), sets.shared(2, 2)), (1, 0, 1));
        }
    }
}

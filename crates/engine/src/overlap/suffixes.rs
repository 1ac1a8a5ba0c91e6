//! The suffixes of one list of words in order, by which any stretch of it is found.
//!
//! Words are numbers, and equal words have equal numbers. Suffixes are sorted by their first 1, 2, 4, … words (Manber and
//! Myers, *Suffix arrays: a new method for on-line string searches*, 1990), so that a list that repeats itself is sorted as
//! quickly as any other.

use std::cmp::Ordering;
use std::ops::Range;

/// Where the suffixes of a list start, in the order of the suffixes.
#[derive(Debug)]
pub(super) struct Suffixes {
    order: Box<[u32]>,
}

impl Suffixes {
    pub(super) fn of(words: &[u32]) -> Self {
        let mut order: Vec<u32> = (0..words.len() as u32).collect();
        let mut rank = words.to_vec();
        let mut sorted = 1;
        loop {
            // The rank of the words behind the first ones; of none, the lowest.
            let behind =
                |at: u32| rank.get(at as usize + sorted).map_or(0, |&rank| u64::from(rank) + 1);
            let start = |at: u32| u64::from(rank[at as usize]);
            order.sort_unstable_by_key(|&at| (start(at), behind(at)));
            let mut next = vec![0; rank.len()];
            let mut ranks = 0;
            for two in order.windows(2) {
                let [a, b] = [two[0], two[1]];
                ranks += u32::from((start(a), behind(a)) != (start(b), behind(b)));
                next[b as usize] = ranks;
            }
            if ranks as usize + 1 >= order.len() {
                return Self { order: order.into() };
            }
            rank = next;
            sorted *= 2;
        }
    }

    /// The suffixes that begin with these words.
    fn beginning_with(&self, words: &[u32], first: &[u32]) -> Range<usize> {
        let compare = |at: &u32| {
            let suffix = &words[*at as usize..];
            suffix[..suffix.len().min(first.len())].cmp(first)
        };
        let start = self.order.partition_point(|at| compare(at) == Ordering::Less);
        let behind = self.order[start..].partition_point(|at| compare(at) == Ordering::Equal);
        start..start + behind
    }

    /// Whether these words stand in the list.
    pub(super) fn contain(&self, words: &[u32], stretch: &[u32]) -> bool {
        !self.beginning_with(words, stretch).is_empty()
    }

    /// Where these words stand first, if they do.
    pub(super) fn first(&self, words: &[u32], stretch: &[u32]) -> Option<usize> {
        let found = self.beginning_with(words, stretch);
        self.order[found].iter().min().map(|&at| at as usize)
    }

    /// How many of these words, from the first on, stand in the list in a row.
    pub(super) fn longest(&self, words: &[u32], wanted: &[u32]) -> usize {
        let place = self.order.partition_point(|&at| words[at as usize..] < *wanted);
        let shared = |at: Option<&u32>| {
            at.map_or(0, |&at| {
                words[at as usize..].iter().zip(wanted).take_while(|(a, b)| a == b).count()
            })
        };
        shared(self.order.get(place))
            .max(shared(place.checked_sub(1).and_then(|it| self.order.get(it))))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn stretches_are_found_as_by_looking_everywhere(
            words in vec(0u32..3, 0..40),
            wanted in vec(0u32..4, 1..12),
        ) {
            let suffixes = Suffixes::of(&words);
            let mut sorted: Vec<u32> = (0..words.len() as u32).collect();
            sorted.sort_by_key(|&at| &words[at as usize..]);
            prop_assert_eq!(&*suffixes.order, &*sorted);
            let first = words.windows(wanted.len()).position(|window| window == wanted);
            prop_assert_eq!(suffixes.first(&words, &wanted), first);
            prop_assert_eq!(suffixes.contain(&words, &wanted), first.is_some());
            let stands = |length: &usize| *length == 0 || words.windows(*length).any(|it| *it == wanted[..*length]);
            let longest = (0..=wanted.len()).rev().find(stands);
            prop_assert_eq!(Some(suffixes.longest(&words, &wanted)), longest);
        }
    }
}

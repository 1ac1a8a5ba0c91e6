//! The stretches of N words of the test items, by their hashes: which test items have this one?
//!
//! A bitmap stands in front of the table. Nearly all stretches of the training texts are in no test item, and one look at the
//! bitmap says so for 15 of 16 of them, several at a time.

use nearkin_kernels::{SPARE, filter_bit, in_filter};
use rayon::prelude::*;

/// Bits of the bitmap for each stretch, at least.
const BITS: usize = 16;

/// Stretches by their hashes, and which test items have them.
#[derive(Debug)]
pub(super) struct Windows {
    filter: Vec<u64>,
    /// Sorted, each once.
    hashes: Vec<u64>,
    /// Where the hashes with these first bits start.
    starts: Vec<u32>,
    shift: u32,
    /// Where the test items of each stretch end.
    ends: Vec<usize>,
    tests: Vec<u32>,
    /// How many test items are named for one stretch.
    most: usize,
}

impl Windows {
    /// Takes the hashes of stretches with the test items that have them, in any order. At most `most` test items of each
    /// stretch are kept: those that come first.
    pub(super) fn new(mut entries: Vec<(u64, u32)>, most: usize) -> Self {
        entries.par_sort_unstable();
        entries.dedup();
        let (mut hashes, mut ends, mut tests) = (Vec::new(), Vec::new(), Vec::new());
        for window in entries.chunk_by(|a, b| a.0 == b.0) {
            hashes.push(window[0].0);
            // One more says that there are others.
            tests.extend(window.iter().take(most.saturating_add(1)).map(|entry| entry.1));
            ends.push(tests.len());
        }
        drop(entries);
        let mut filter = vec![0; (hashes.len() * BITS / 64).max(1).next_power_of_two()];
        for &hash in &hashes {
            let (word, bit) = filter_bit(hash, filter.len());
            filter[word] |= 1 << bit;
        }
        let bits = hashes.len().max(2).ilog2();
        let mut starts = vec![0; (1 << bits) + 1];
        let shift = 64 - bits;
        hashes.iter().for_each(|hash| starts[(hash >> shift) as usize + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        Self { filter, hashes, starts, shift, ends, tests, most }
    }

    /// Number of distinct stretches.
    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Bytes that the table of so many stretches takes while it is made, about.
    pub(super) fn bytes_of(stretches: usize) -> usize {
        const ENTRY: usize = size_of::<(u64, u32)>();
        const TABLE: usize = 8 + 4 + 8 + 4;
        stretches * (ENTRY + TABLE + BITS / 4)
    }

    /// The number of a stretch.
    pub(super) fn find(&self, hash: u64) -> Option<usize> {
        let at = (hash >> self.shift) as usize;
        let [start, end] = [self.starts[at], self.starts[at + 1]].map(|at| at as usize);
        let found = self.hashes[start..end].binary_search(&hash);
        found.ok().map(|at| start + at)
    }

    /// Whether any of these hashes is one of a stretch. `room` is scratch.
    pub(super) fn have_any(&self, hashes: &[u64], room: &mut Vec<u64>) -> bool {
        room.resize(hashes.len() + SPARE, 0);
        let left = in_filter(hashes, &self.filter, room);
        room[..left].iter().any(|&hash| self.find(hash).is_some())
    }

    /// Whether a stretch may be there: a quick look that rules most out.
    pub(super) fn may_have(&self, hash: u64) -> bool {
        let (word, bit) = filter_bit(hash, self.filter.len());
        self.filter[word] >> bit & 1 == 1
    }

    fn all_tests(&self, number: usize) -> &[u32] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.tests[start..self.ends[number]]
    }

    /// The first test items that have a stretch.
    pub(super) fn tests(&self, number: usize) -> &[u32] {
        let all = self.all_tests(number);
        &all[..all.len().min(self.most)]
    }

    /// Whether more test items have a stretch than are named.
    pub(super) fn is_crowded(&self, number: usize) -> bool {
        self.all_tests(number).len() > self.most
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn a_table_has_what_was_put_into_it(
            entries in vec((prop_oneof![0u64..20, any::<u64>()], 0u32..9), 0..200),
            others in vec(any::<u64>(), 0..50),
            most in 1usize..5,
        ) {
            let mut expected: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
            entries.iter().for_each(|&(hash, test)| { expected.entry(hash).or_default().insert(test); });
            let table = Windows::new(entries, most);
            prop_assert_eq!(table.len(), expected.len());
            for hash in others.into_iter().chain(0..20) {
                let found = table.find(hash);
                prop_assert_eq!(found.is_some(), expected.contains_key(&hash));
                prop_assert_eq!(table.have_any(&[hash], &mut Vec::new()), found.is_some());
                let Some(number) = found else { continue };
                prop_assert!(table.may_have(hash));
                let tests: Vec<u32> = expected[&hash].iter().copied().take(most).collect();
                prop_assert_eq!(table.tests(number), &tests);
                prop_assert_eq!(table.is_crowded(number), expected[&hash].len() > most);
            }
        }
    }
}

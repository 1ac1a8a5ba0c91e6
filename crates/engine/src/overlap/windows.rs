//! The stretches of N words of the test items, by their hashes: which test items have this one?
//!
//! A bitmap stands in front of the table. Nearly all stretches of the training texts are in no test item, and one look at the
//! bitmap says so for 15 of 16 of them, several at a time.

use std::ops::Range;

use nearkin_kernels::{SPARE, filter_bit, in_filter};

/// Bits of the bitmap for each stretch, at least.
const BITS: usize = 16;

/// A stretch of a test item: its hash, the item, and the first of its words.
pub(super) type WindowEntry = (u64, u32, u32);

/// In place of the first word where a stretch stands in a test item more than once.
const SEVERAL: u32 = u32::MAX;

/// Stretches by their hashes, and which test items have them where.
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
    /// For each of the test items, the first word of the stretch in it.
    places: Vec<u32>,
    /// How many test items are named for one stretch.
    most: usize,
}

/// Entries of one test item become one, which says whether there were several. `entries` are sorted.
pub(super) fn joined(entries: &mut Vec<WindowEntry>) {
    entries.dedup_by(|next, first| {
        let is_same = (next.0, next.1) == (first.0, first.1);
        if is_same {
            first.2 = SEVERAL;
        }
        is_same
    });
}

impl Windows {
    /// Takes stretches of test items: sorted, and each test item once for a hash ([`joined`]). At most `most` test items of each
    /// stretch are kept: those that come first.
    pub(super) fn new(entries: Vec<WindowEntry>, most: usize) -> Self {
        debug_assert!(entries.is_sorted());
        let (mut hashes, mut ends) = (Vec::new(), Vec::new());
        let (mut tests, mut places) = (Vec::new(), Vec::new());
        for window in entries.chunk_by(|a, b| a.0 == b.0) {
            hashes.push(window[0].0);
            // One more says that there are others.
            let kept = &window[..window.len().min(most.saturating_add(1))];
            tests.extend(kept.iter().map(|entry| entry.1));
            places.extend(kept.iter().map(|entry| entry.2));
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
        Self { filter, hashes, starts, shift, ends, tests, places, most }
    }

    /// Number of distinct stretches.
    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Bytes that the table of so many stretches takes while it is made, about.
    pub(super) fn bytes_of(stretches: usize) -> usize {
        const ENTRY: usize = size_of::<WindowEntry>();
        const TABLE: usize = 8 + 4 + 8 + 4 + 4;
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

    fn range(&self, number: usize) -> Range<usize> {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        start..self.ends[number]
    }

    /// The first test items that have a stretch.
    pub(super) fn tests(&self, number: usize) -> &[u32] {
        let all = &self.tests[self.range(number)];
        &all[..all.len().min(self.most)]
    }

    /// The same, each with the first word of the stretch in it, if it stands there only once.
    pub(super) fn places(&self, number: usize) -> impl Iterator<Item = (usize, Option<usize>)> {
        let places = &self.places[self.range(number)];
        let place = |at: u32| (at != SEVERAL).then_some(at as usize);
        let tests = self.tests(number).iter();
        tests.zip(places).map(move |(&test, &at)| (test as usize, place(at)))
    }

    /// Whether more test items have a stretch than are named.
    pub(super) fn is_crowded(&self, number: usize) -> bool {
        self.range(number).len() > self.most
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn a_table_has_what_was_put_into_it(
            mut entries in vec((prop_oneof![0u64..20, any::<u64>()], 0u32..9, 0u32..3), 0..200),
            others in vec(any::<u64>(), 0..50),
            most in 1usize..5,
        ) {
            entries.sort_unstable();
            let mut expected: BTreeMap<u64, BTreeMap<u32, Vec<u32>>> = BTreeMap::new();
            for &(hash, test, at) in &entries {
                expected.entry(hash).or_default().entry(test).or_default().push(at);
            }
            joined(&mut entries);
            let table = Windows::new(entries, most);
            prop_assert_eq!(table.len(), expected.len());
            for hash in others.into_iter().chain(0..20) {
                let found = table.find(hash);
                prop_assert_eq!(found.is_some(), expected.contains_key(&hash));
                prop_assert_eq!(table.have_any(&[hash], &mut Vec::new()), found.is_some());
                let Some(number) = found else { continue };
                prop_assert!(table.may_have(hash));
                let tests: Vec<u32> = expected[&hash].keys().copied().take(most).collect();
                prop_assert_eq!(table.tests(number), &tests);
                let once = |places: &Vec<u32>| (places.len() == 1).then_some(places[0] as usize);
                let places = expected[&hash].iter().take(most).map(|(test, places)| (*test as usize, once(places)));
                prop_assert!(table.places(number).eq(places));
                prop_assert_eq!(table.is_crowded(number), expected[&hash].len() > most);
            }
        }
    }
}

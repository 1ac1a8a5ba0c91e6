//! Which of a few sets have an element?

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;

use crate::family::hash::Spread;

/// For each element of some sets, the sets that have it.
#[derive(Default)]
pub(super) struct Holders {
    /// A bit for every element that a set has, and by accident for few others.
    filter: Vec<u64>,
    /// Where the sets that have an element stand in `sets`.
    places: HashMap<u64, (u32, u32), BuildHasherDefault<Spread>>,
    sets: Vec<u32>,
}

impl Holders {
    /// Of these elements and the numbers of the sets that have them.
    pub(super) fn new(mut entries: Vec<(u64, u32)>) -> Self {
        entries.sort_unstable();
        let bits = (16 * entries.len()).next_power_of_two().clamp(1 << 10, 1 << 24);
        let mut holders = Self {
            filter: vec![0; bits / 64],
            places: HashMap::with_capacity_and_hasher(entries.len(), BuildHasherDefault::default()),
            sets: entries.iter().map(|entry| entry.1).collect(),
        };
        let mut start = 0;
        for same in entries.chunk_by(|a, b| a.0 == b.0) {
            let end = start + same.len() as u32;
            let (word, bit) = holders.bit(same[0].0);
            holders.filter[word] |= bit;
            holders.places.insert(same[0].0, (start, end));
            start = end;
        }
        holders
    }

    /// Where the sets that have an element stand, an empty range if none has it.
    #[inline]
    pub(super) fn range(&self, element: u64) -> Range<usize> {
        let (word, bit) = self.bit(element);
        if self.filter[word] & bit == 0 {
            return 0..0;
        }
        let (start, end) = self.places.get(&element).copied().unwrap_or_default();
        start as usize..end as usize
    }

    /// The sets at such places.
    #[inline]
    pub(super) fn sets(&self, range: Range<usize>) -> &[u32] {
        &self.sets[range]
    }

    /// How many places there are.
    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }

    /// Where in the filter an element is.
    #[inline]
    fn bit(&self, element: u64) -> (usize, u64) {
        let hash = element.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        ((hash as usize / 64) & (self.filter.len() - 1), 1 << (hash % 64))
    }
}

//! Which of a few sets have an element?

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;

use nearkin_kernels::{SPARE, filter_bit, in_filter};

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
            let (word, bit) = filter_bit(same[0].0, holders.filter.len());
            holders.filter[word] |= 1 << bit;
            holders.places.insert(same[0].0, (start, end));
            start = end;
        }
        holders
    }

    /// Where the sets that have an element stand, an empty range if none has it.
    #[inline]
    pub(super) fn range(&self, element: u64) -> Range<usize> {
        let (word, bit) = filter_bit(element, self.filter.len());
        if self.filter[word] >> bit & 1 == 0 {
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

    /// Of these elements, those that a set may have.
    pub(super) fn held<'a>(&self, elements: &[u64], room: &'a mut Vec<u64>) -> &'a [u64] {
        make_room(room, elements.len());
        let count = in_filter(elements, &self.filter, room);
        &room[..count]
    }
}

/// Room for copies of so many elements.
pub(super) fn make_room(room: &mut Vec<u64>, elements: usize) {
    if room.len() < elements + SPARE {
        room.resize(elements + SPARE, 0);
    }
}

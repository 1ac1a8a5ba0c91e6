//! Which of a few sets have an element?

use std::ops::Range;

use nearkin_kernels::{SPARE, filter_bit, in_filter};

/// For each element of some sets, the sets that have it.
pub(crate) struct ElementIndex {
    /// A bit for every element that a set has, and by accident for few others.
    filter: Vec<u64>,
    /// Each element in the slot that its hash names, or behind that; and where in `sets` those of a slot start. A slot
    /// without sets is free.
    slots: Vec<u64>,
    starts: Vec<u32>,
    sets: Vec<u32>,
    /// All but as many first bits of a product as name a slot.
    shift: u32,
}

impl ElementIndex {
    /// Of these elements and the numbers of the sets that have them, which ascend.
    pub(crate) fn new(entries: &[(u64, u32)]) -> Self {
        let bits = (16 * entries.len()).next_power_of_two().clamp(1 << 10, 1 << 24);
        let size = (2 * entries.len()).next_power_of_two().max(2);
        let mut holders = Self {
            filter: vec![0; bits / 64],
            slots: vec![0; size],
            starts: vec![0; size + 1],
            sets: vec![0; entries.len()],
            shift: 64 - size.ilog2(),
        };
        // First how many sets each slot has, behind it.
        let slot = |&(element, _): &(u64, u32)| {
            let (word, bit) = filter_bit(element, holders.filter.len());
            holders.filter[word] |= 1 << bit;
            let mut slot = holders.first_slot(element);
            while holders.starts[slot + 1] > 0 && holders.slots[slot] != element {
                slot = (slot + 1) & (size - 1);
            }
            holders.slots[slot] = element;
            holders.starts[slot + 1] += 1;
            slot as u32
        };
        let slots: Vec<u32> = entries.iter().map(slot).collect();
        // Then where the next of each goes, which in the end is where the next slot's start.
        let mut start = 0;
        for next in &mut holders.starts[1..] {
            start += std::mem::replace(next, start);
        }
        for (slot, entry) in slots.into_iter().zip(entries) {
            let next = &mut holders.starts[slot as usize + 1];
            holders.sets[*next as usize] = entry.1;
            *next += 1;
        }
        holders
    }

    fn first_slot(&self, element: u64) -> usize {
        // The first bits of a product depend on all bits of an element, which may be no hash.
        (element.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    /// Where the sets that have an element stand, an empty range if none has it.
    #[inline]
    pub(crate) fn range(&self, element: u64) -> Range<usize> {
        let (word, bit) = filter_bit(element, self.filter.len());
        if self.filter[word] >> bit & 1 == 0 { 0..0 } else { self.range_of_held(element) }
    }

    /// The same for an element that [`held`](Self::held) has let through.
    #[inline]
    pub(crate) fn range_of_held(&self, element: u64) -> Range<usize> {
        let mut slot = self.first_slot(element);
        loop {
            let range = self.starts[slot] as usize..self.starts[slot + 1] as usize;
            if range.is_empty() || self.slots[slot] == element {
                return range;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    /// The sets at such places.
    #[inline]
    pub(crate) fn sets(&self, range: Range<usize>) -> &[u32] {
        &self.sets[range]
    }

    /// How many places there are.
    pub(crate) fn len(&self) -> usize {
        self.sets.len()
    }

    /// Of these elements, those that a set may have.
    pub(crate) fn held<'a>(&self, elements: &[u64], room: &'a mut Vec<u64>) -> &'a [u64] {
        make_room(room, elements.len());
        let count = in_filter(elements, &self.filter, room);
        &room[..count]
    }
}

/// Room for copies of so many elements.
pub(crate) fn make_room(room: &mut Vec<u64>, elements: usize) {
    if room.len() < elements + SPARE {
        room.resize(elements + SPARE, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_holders_of_an_element_are_found() {
        for count in [0, 1, 3, 1000] {
            // Set n has the multiples of n + 1 below 50.
            let multiples = |set: u32| (0u64..50).step_by(set as usize + 1);
            let entries: Vec<(u64, u32)> =
                (0..count).flat_map(|set| multiples(set).map(move |x| (x, set))).collect();
            let holders = ElementIndex::new(&entries);
            for element in 0..100 {
                let expected: Vec<u32> = entries
                    .iter()
                    .filter(|entry| entry.0 == element)
                    .map(|entry| entry.1)
                    .collect();
                assert_eq!(holders.sets(holders.range(element)), expected);
            }
            let all: Vec<u64> = (0..100).collect();
            let mut room = Vec::new();
            let held = holders.held(&all, &mut room);
            let is_held = |x: &u64| !holders.range_of_held(*x).is_empty();
            assert!(all.iter().all(|x| held.contains(x) || !is_held(x)));
        }
    }
}

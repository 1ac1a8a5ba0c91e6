//! Edit distances of strings of which one fits into the bits of a word.

use std::hash::{Hash, Hasher};

use super::{SymbolHasher, lcs_step};

/// Symbols of a pattern: one for each bit of a word.
pub(super) const WORD: usize = 64;

/// Where each symbol stands in a pattern of up to [`WORD`] symbols.
///
/// Slots are found by hashing and hold the symbol's first place, so that little is to be cleared for a pair
/// and symbols may be of any kind.
pub(super) struct SymbolPlaces<'a, T> {
    pattern: &'a [T],
    /// One more than the first place of a symbol, or 0.
    slots: [u8; 2 * WORD],
    /// By first place, the bits of all places.
    bits: [u64; WORD],
}

impl<'a, T: Eq + Hash> SymbolPlaces<'a, T> {
    pub(super) fn new(pattern: &'a [T]) -> Self {
        let mut places = Self { pattern, slots: [0; 2 * WORD], bits: [0; WORD] };
        for (place, symbol) in pattern.iter().enumerate() {
            let slot = places.slot(symbol);
            if places.slots[slot] == 0 {
                places.slots[slot] = place as u8 + 1;
            }
            places.bits[places.slots[slot] as usize - 1] |= 1 << place;
        }
        places
    }

    /// The slot that holds a symbol, or the empty one where it would be. At least half the slots are empty.
    #[inline]
    fn slot(&self, symbol: &T) -> usize {
        let mut hasher = SymbolHasher::default();
        symbol.hash(&mut hasher);
        let mut slot = (hasher.finish() >> 57) as usize;
        while self.slots[slot] != 0 && self.pattern[self.slots[slot] as usize - 1] != *symbol {
            slot = (slot + 1) % self.slots.len();
        }
        slot
    }

    /// The places of a symbol.
    #[inline]
    fn of(&self, symbol: &T) -> u64 {
        match self.slots[self.slot(symbol)] {
            0 => 0,
            place => self.bits[place as usize - 1],
        }
    }
}

/// The LCS length of a pattern of up to [`WORD`] symbols and any other string.
pub(super) fn lcs<T: Eq + Hash>(pattern: &[T], other: &[T]) -> usize {
    let places = SymbolPlaces::new(pattern);
    let state =
        other.iter().fold(u64::MAX, |state, symbol| lcs_step(state, places.of(symbol), false).0);
    state.count_zeros() as usize
}

/// The distance by "optimal string alignment" of a pattern of 1 to [`WORD`] symbols and any other string, if
/// it is at most `limit`: Hyyrö, "A Bit-Vector Algorithm for Computing Levenshtein and Damerau Edit
/// Distances" (2003).
///
/// With D(i, j) the distance of the first i symbols of the pattern and the first j of the other, the words
/// say at bit i whether D grows or shrinks by one from (i − 1, j) to (i, j), or from (i, j − 1).
pub(super) fn alignment<T: Eq + Hash>(pattern: &[T], other: &[T], limit: usize) -> Option<usize> {
    let places = SymbolPlaces::new(pattern);
    let last = pattern.len() - 1;
    let (mut grows, mut shrinks) = (u64::MAX, 0u64);
    let (mut level, mut hits_before) = (0u64, 0u64);
    let mut distance = pattern.len();
    for (j, symbol) in other.iter().enumerate() {
        let hits = places.of(symbol);
        let swap = ((!level & hits) << 1) & hits_before;
        level = ((hits & grows).wrapping_add(grows) ^ grows) | hits | shrinks | swap;
        let grows_across = shrinks | !(level | grows);
        let shrinks_across = level & grows;
        distance += (grows_across >> last & 1) as usize;
        distance -= (shrinks_across >> last & 1) as usize;
        // Each symbol to come takes off one at most.
        if distance > limit.saturating_add(other.len() - 1 - j) {
            return None;
        }
        let grows_across = grows_across << 1 | 1;
        grows = shrinks_across << 1 | !(level | grows_across);
        shrinks = grows_across & level;
        hits_before = hits;
    }
    (distance <= limit).then_some(distance)
}

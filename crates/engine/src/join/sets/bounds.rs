//! What sizes and places alone say about two sets.
//!
//! Two sets are similar when they share at least `need(a, b)` elements, where a and b are their sizes. Everything here
//! follows from that number, which is exact, so rounding neither loses nor adds a pair. It holds for every measure whose
//! `need` is the same for (b, a), never falls as b grows, and grows no faster than b.

use std::ops::RangeInclusive;

use crate::verify::Verifier;

/// Bounds for the sets of a collection. Positions count from 1.
#[derive(Debug, Clone)]
pub struct Bounds<'a> {
    verifier: &'a Verifier,
    largest: usize,
}

impl<'a> Bounds<'a> {
    /// Bounds where no set has more than `largest` elements.
    pub fn new(verifier: &'a Verifier, largest: usize) -> Self {
        Self { verifier, largest }
    }

    /// How many elements sets of these sizes must share, if they can be similar at all.
    #[inline]
    pub fn need(&self, a: usize, b: usize) -> Option<usize> {
        self.verifier.shared_needed(a, b)
    }

    /// The length filter: the sizes of sets that one of `length` elements can be similar to; none when the range is
    /// empty.
    pub fn sizes(&self, length: usize) -> RangeInclusive<usize> {
        let possible = |other: usize| self.need(length, other).is_some();
        if length == 0 || !possible(length) {
            #[allow(clippy::reversed_empty_ranges)] // none
            return 1..=0;
        }
        let from = first(1, length, possible);
        let behind = first(length, self.largest.max(length) + 1, |other| !possible(other));
        from..=behind - 1
    }

    /// The length of the prefix: if two sets are similar, their prefixes share a symbol. 0 when nothing is similar to a set
    /// of `length` elements.
    pub fn prefix(&self, length: usize) -> usize {
        self.prefix_for(length, *self.sizes(length).start())
    }

    /// The prefix when the other string is not shorter: that of sets in the index, when sets come by size.
    pub fn prefix_of_smaller(&self, length: usize) -> usize {
        self.prefix_for(length, length)
    }

    /// The prefix when the other string has at least `other` symbols.
    pub fn prefix_for(&self, length: usize, other: usize) -> usize {
        // Sets that need not share anything are not found by what they share.
        self.need(length, other).map_or(0, |need| length - need.max(1) + 1)
    }

    /// The size up to which other sets are similar whatever they contain (0 for most measures).
    pub fn anything(&self, length: usize) -> usize {
        first(1, self.largest + 1, |other| self.need(length, other) != Some(0)) - 1
    }

    /// The position filter: the last position at which the symbol at `position` of a string of `length` may stand in
    /// another, as the first that both share. The other string is best when it goes on as this one does.
    pub fn last_position(&self, length: usize, position: usize) -> usize {
        let mut found = 0;
        self.last_positions(length, position, |at, last| {
            if at == position {
                found = last;
            }
        });
        found
    }

    /// Position and suffix length: whether strings of these lengths can be similar when the symbols at these positions
    /// are the first that they share. What is shared cannot be more than that symbol and the shorter suffix.
    pub fn allow(
        &self,
        length: usize,
        position: usize,
        other: usize,
        other_position: usize,
    ) -> bool {
        let most = 1 + (length - position).min(other - other_position);
        self.need(length, other).is_some_and(|need| need <= most)
    }

    /// The position filter for all positions of a prefix, from the last to the first.
    pub(super) fn last_positions(
        &self,
        length: usize,
        prefix: usize,
        mut is: impl FnMut(usize, usize),
    ) {
        let mut last = 0;
        for position in (1..=prefix).rev() {
            let after = length - position;
            let possible = |other: usize| {
                self.need(length, other + after).is_some_and(|need| need <= after + 1)
            };
            while last < self.largest && possible(last + 1) {
                last += 1;
            }
            is(position, last);
        }
    }
}

/// The first number from `from` for which something holds, `to` when it does for none below; once it holds, it does
/// for all that follow.
fn first(from: usize, to: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (from, to.max(from));
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

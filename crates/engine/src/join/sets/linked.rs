//! Sets that are connected already, which need not be looked at again.
//!
//! The entries of a list that follow each other and are of one component are a run. Where a probe is connected to that
//! component, the whole run is passed over. Runs only grow, so each list is gone through entry by entry about once, whoever
//! does so: near-copies, which all have the same elements, take as long for each one of 100,000 as of 1,000.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use super::postings::{Posting, Postings};
use super::probe::Skip;
use crate::cluster::UnionFind;

/// What connects the sets so far.
pub(super) struct LinkedSets<'a> {
    /// For each set one of its component, by its place in the order of sizes: the root at the last look.
    roots: Vec<u32>,
    /// Whether some were connected before the join.
    pub(super) is_seeded: bool,
    /// Sets there were then.
    fresh: usize,
    postings: &'a Postings,
    /// For each entry one behind it such that all between are of its component. If two threads write one, either is right.
    runs: Vec<AtomicU32>,
}

/// Roots are looked up again when one of this many parts of all sets is new: then the way to a root is short.
const PARTS: usize = 16;

impl<'a> LinkedSets<'a> {
    pub(super) fn new(numbers: &[u32], postings: &'a Postings, known: &UnionFind) -> Self {
        let runs = (1..=postings.len() as u32).map(AtomicU32::new).collect();
        let is_seeded = numbers.iter().any(|&number| known.root(number) != number);
        Self { roots: numbers.to_vec(), is_seeded, fresh: 0, postings, runs }
    }

    /// Before a round of sets.
    pub(super) fn refresh(&mut self, numbers: &[u32], round: Range<usize>, known: &mut UnionFind) {
        let all = self.fresh + self.fresh / PARTS <= round.start;
        let old = if all { 0..round.end } else { round.clone() };
        for (root, &number) in self.roots[old.clone()].iter_mut().zip(&numbers[old]) {
            *root = known.find(number);
        }
        if all {
            self.fresh = round.end;
        }
    }

    /// The component of a set.
    pub(super) fn root(&self, set: usize, known: &UnionFind) -> u32 {
        known.root(self.roots[set])
    }
}

/// Leaves out the components that a probe is connected to.
pub(super) struct SkipConnected<'a> {
    pub(super) linked: &'a LinkedSets<'a>,
    pub(super) known: &'a UnionFind,
    pub(super) connected: &'a RefCell<Vec<u32>>,
    /// Whether it is connected to any set. A set is not before it is looked up, unless something is known beforehand.
    pub(super) is_linked: &'a Cell<bool>,
}

impl Skip for SkipConnected<'_> {
    const RUNS: bool = true;

    fn skips(&mut self, set: usize) -> bool {
        self.is_linked.get() && self.connected.borrow().contains(&self.linked.root(set, self.known))
    }

    fn next(&mut self, entries: &[Posting], place: usize) -> usize {
        if !self.is_linked.get() {
            return place;
        }
        let LinkedSets { postings, runs, .. } = self.linked;
        let root = |place: usize| self.linked.root(entries[place].set as usize, self.known);
        let component = root(place);
        if !self.connected.borrow().contains(&component) {
            return place;
        }
        let first = postings.place(entries);
        let behind = |place: usize| runs[first + place].load(Ordering::Relaxed) as usize - first;
        let mut next = behind(place);
        while next < entries.len() && root(next) == component {
            next = behind(next);
        }
        let mut passed = place;
        while passed < next {
            let then = behind(passed);
            runs[first + passed].fetch_max((first + next) as u32, Ordering::Relaxed);
            passed = then;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::sets::SymbolStrings;

    #[test]
    fn a_run_is_gone_through_once() {
        // The first element is in all sets, so its list has them all, in order.
        let sets: Vec<[u64; 2]> = (0..1000).map(|set| [7, 100 + set / 2]).collect();
        let sets: Vec<&[u64]> = sets.iter().map(|set| &set[..]).collect();
        let strings = SymbolStrings::new(&sets, None).unwrap();
        let postings = Postings::new(&strings, |size| size);
        let entries = (0..501).map(|symbol| postings.of(symbol, 0)).max_by_key(|list| list.len());
        let entries = entries.unwrap();
        assert_eq!(entries.len(), 1000);
        // All before 900 are connected, but for one.
        let mut known = UnionFind::new(1000);
        (1..900).filter(|&set| set != 500).for_each(|set| known.join(0, set));
        let mut linked = LinkedSets::new(&strings.numbers, &postings, &known);
        linked.refresh(&strings.numbers, 0..1000, &mut known);
        let connected = RefCell::new(vec![0]);
        let is_linked = &Cell::new(true);
        let (linked, known, connected) = (&linked, &known, &connected);
        let mut skip = SkipConnected { linked, known, connected, is_linked };
        assert!(skip.skips(899) && !skip.skips(500) && !skip.skips(900));
        for (place, end, next) in [(0, 300, 300), (0, 900, 500), (500, 900, 500), (501, 950, 900)] {
            assert_eq!(skip.next(&entries[..end], place), next, "from {place}");
        }
        let first = postings.place(entries);
        let behind = |place: usize| linked.runs[first + place].load(Ordering::Relaxed) as usize;
        assert_eq!([0, 300, 501].map(|place| behind(place) - first), [500, 500, 900]);
        // From within, too.
        assert_eq!(skip.next(&entries[100..900], 0), 400);
        assert_eq!(skip.next(&entries[100..900], 500), 800);
    }
}

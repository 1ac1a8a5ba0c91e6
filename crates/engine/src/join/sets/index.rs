//! Sets held in memory, and others compared with them one by one.
//!
//! Elements that no held set has are the rarest of all, so they come first in a query's string. As soon as there are more
//! of them than the query may lack, nothing can be similar, and the rest is not looked up. A filter of bits stands before
//! the dictionary, so this costs a nanosecond or two per element.

use super::bounds::Bounds;
use super::postings::Postings;
use super::probe::{Probe, ProbeMemory, Probes, next_number};
use super::rank::spread;
use super::strings::{SymbolString, SymbolStrings, bitmap_words, fill_bitmap};
use super::{Filters, SetJoinCounts};
use crate::Result;
use crate::verify::Verifier;

/// Sets that others are compared with.
#[derive(Debug)]
pub struct SetIndex {
    probes: Probes,
    verifier: Verifier,
    dictionary: Dictionary,
    /// For each size of a query, how many of its elements may be unknown, plus one; 0 where nothing is similar.
    slack: Vec<u32>,
}

/// Buffers for queries, one per thread.
#[derive(Debug, Default)]
pub struct QueryScratch {
    memory: ProbeMemory,
    symbols: Vec<u32>,
    bitmap: Vec<u64>,
}

/// Sizes of queries for which it is known beforehand how many elements may be unknown.
const SLACK: usize = 1 << 12;

impl SetIndex {
    /// Holds sets of distinct elements, in any order.
    pub fn new(sets: &[&[u64]], verifier: &Verifier, filters: Filters) -> Result<Self> {
        let filters = filters.checked()?;
        let strings = SymbolStrings::for_queries(sets)?;
        let bounds = Bounds::new(verifier, strings.largest());
        let postings = if filters.prefix {
            Postings::new(&strings, |size| bounds.prefix(size))
        } else {
            Postings::default()
        };
        let dictionary = Dictionary::new(&strings.hashes);
        let number = next_number();
        let probes = Probes { strings, postings, filters, self_join: false, number };
        let mut index = Self { probes, verifier: verifier.clone(), dictionary, slack: Vec::new() };
        let largest = index.probes.strings.largest();
        let sizes = (2 * largest + 1).min(SLACK);
        index.slack = (0..sizes).map(|size| index.slack_of(size) as u32).collect();
        Ok(index)
    }

    /// Appends every held set that is similar to one of distinct elements, by its number, and how many they share.
    /// In no particular order.
    pub fn query(
        &self,
        elements: &[u64],
        scratch: &mut QueryScratch,
        found: &mut Vec<(u32, u32)>,
    ) -> SetJoinCounts {
        let mut counts = SetJoinCounts::default();
        let size = elements.len();
        let slack = self.slack.get(size).map_or_else(|| self.slack_of(size), |&s| s as usize);
        if slack == 0 {
            return counts;
        }
        let QueryScratch { memory, symbols, bitmap } = scratch;
        let Some(unshared) = self.look_up(elements, slack, symbols) else { return counts };
        symbols.sort_unstable();
        bitmap.clear();
        bitmap.resize(bitmap_words(size), 0);
        fill_bitmap(symbols, bitmap);
        let text = SymbolString { size, unshared, symbols, bitmap };
        let probe = Probe { text, end: self.probes.strings.len(), side: 0 };
        let numbers = &self.probes.strings.numbers;
        let hit = |set: usize, shared: usize| found.push((numbers[set], shared as u32));
        self.probes.probe(&self.verifier, &probe, memory, &mut counts, |_| false, hit);
        counts
    }

    /// The symbols of elements, and how many have none, unless `slack` or more have none.
    fn look_up(&self, elements: &[u64], slack: usize, symbols: &mut Vec<u32>) -> Option<usize> {
        // Nearly all queries end here, and without a guess for each element.
        let mut unknown = 0;
        for some in elements.chunks(16) {
            unknown += some.iter().filter(|&&x| !self.dictionary.may_have(spread(x))).count();
            if unknown >= slack {
                return None;
            }
        }
        symbols.clear();
        symbols.extend(elements.iter().filter_map(|&x| self.dictionary.get(spread(x))));
        Some(elements.len() - symbols.len()).filter(|&unknown| unknown < slack)
    }

    /// How many elements of a query of this size may be unknown, plus one; 0 when nothing is similar.
    fn slack_of(&self, size: usize) -> usize {
        let strings = &self.probes.strings;
        let bounds = Bounds::new(&self.verifier, strings.largest());
        let sizes = bounds.sizes(size);
        let smallest = strings.size_from(*sizes.start()).filter(|smallest| smallest <= sizes.end());
        smallest.and_then(|smallest| bounds.need(size, smallest)).map_or(0, |need| size - need + 1)
    }
}

/// Which symbol is this hash?
#[derive(Debug)]
struct Dictionary {
    /// A bit for each hash, at the place that its first bits say.
    filter: Vec<u64>,
    /// Hashes and symbols plus one, at the first free place from that which the hash says.
    slots: Vec<(u64, u32)>,
}

impl Dictionary {
    fn new(hashes: &[u64]) -> Self {
        // Eight to sixteen bits an element: at most one in eight that are not there seems to be.
        let bits = (8 * hashes.len()).next_power_of_two().max(64);
        let slots = vec![(0, 0); (2 * hashes.len()).next_power_of_two().max(2)];
        let mut dictionary = Self { filter: vec![0; bits / 64], slots };
        for (symbol, &hash) in (1..).zip(hashes) {
            let bit = dictionary.bit(hash);
            dictionary.filter[bit / 64] |= 1 << (bit % 64);
            let mut at = dictionary.home(hash);
            while dictionary.slots[at].1 > 0 {
                at = (at + 1) & (dictionary.slots.len() - 1);
            }
            dictionary.slots[at] = (hash, symbol);
        }
        dictionary
    }

    fn bit(&self, hash: u64) -> usize {
        (hash >> (64 - (64 * self.filter.len()).ilog2())) as usize
    }

    fn home(&self, hash: u64) -> usize {
        (hash >> (64 - self.slots.len().ilog2())) as usize
    }

    /// Whether a hash may be there; if not, it is not.
    #[inline]
    fn may_have(&self, hash: u64) -> bool {
        let bit = self.bit(hash);
        self.filter[bit / 64] >> (bit % 64) & 1 == 1
    }

    #[inline]
    fn get(&self, hash: u64) -> Option<u32> {
        if !self.may_have(hash) {
            return None;
        }
        let mut at = self.home(hash);
        loop {
            match self.slots[at] {
                (_, 0) => return None,
                (key, symbol) if key == hash => return Some(symbol - 1),
                _ => at = (at + 1) & (self.slots.len() - 1),
            }
        }
    }
}

//! Sets as strings of symbols, rarest first (Leskovec, Rajaraman, Ullman, *Mining of Massive Datasets*, 3.9.2).
//!
//! Sets of 64-bit elements in any order come in. One list of 32-bit symbols goes out, sorted within each set, with the sets
//! in order of size. Elements that nothing can share are only counted: they come before all others, and their order among
//! themselves changes nothing.

use std::ops::RangeInclusive;

use rayon::prelude::*;

use super::rank::{Ranking, SymbolRanks};
use crate::{Error, Result};

/// Where a set's symbols are.
#[derive(Debug, Clone, Copy)]
pub(super) struct StringHead {
    /// Elements of the set.
    pub(super) size: u32,
    /// How many of them are not shared, and have no symbol.
    pub(super) unshared: u32,
    start: u32,
    pub(super) bitmap: u32,
}

/// A set as the filters see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct SymbolString<'a> {
    pub(super) size: usize,
    pub(super) unshared: usize,
    pub(super) symbols: &'a [u32],
    pub(super) bitmap: &'a [u64],
}

/// Sets as strings, by size.
#[derive(Debug)]
pub struct SymbolStrings {
    pub(super) heads: Vec<StringHead>,
    /// The caller's number of each set.
    pub(super) numbers: Vec<u32>,
    /// Sizes that occur, and the first set of each.
    sizes: Vec<(u32, u32)>,
    symbols: Vec<u32>,
    pub(super) bitmaps: Vec<u64>,
    pub(super) split: Option<u32>,
    pub(super) distinct: usize,
    pub(super) hashes: Vec<u64>,
}

impl SymbolStrings {
    /// Sets of distinct elements, in any order; of the sets from `split` on only what is shared with one before it
    /// counts, where there is a split. Empty sets are left out.
    pub fn new(sets: &[&[u64]], split: Option<u32>) -> Result<Self> {
        Self::ranked(sets, split, false)
    }

    /// [`new`](Self::new) for sets that queries will be compared with: no element is left out as unshared.
    pub(super) fn for_queries(sets: &[&[u64]]) -> Result<Self> {
        Self::ranked(sets, None, true)
    }

    fn ranked(sets: &[&[u64]], split: Option<u32>, keep_all: bool) -> Result<Self> {
        let total: usize = sets.iter().map(|set| set.len()).sum();
        if total >= u32::MAX as usize || sets.len() >= u32::MAX as usize {
            let must = "below 2^32 for a join in memory; split the collection";
            return Err(Error::parameter("number of elements", total, must));
        }
        let numbers = by_size(sets);
        // Sides one behind the other, each by size.
        let side = |number: u32| split.is_some_and(|split| number >= split);
        let (mut layout, second): (Vec<u32>, Vec<u32>) = numbers.iter().partition(|&&n| !side(n));
        let first_side = layout.len();
        layout.extend(second);
        let laid: Vec<&[u64]> = layout.iter().map(|&number| sets[number as usize]).collect();
        let ranked = Ranking { sets: &laid, first_side, keep_all }.rank();
        Ok(Self::laid_out(&laid, first_side, numbers, split, ranked))
    }

    fn laid_out(
        laid: &[&[u64]],
        first_side: usize,
        numbers: Vec<u32>,
        split: Option<u32>,
        ranked: SymbolRanks,
    ) -> Self {
        let mut start = 0;
        let mut places = laid.iter().zip(&ranked.lengths).map(|(set, &length)| {
            let size = set.len() as u32;
            start += size;
            StringHead { size, unshared: size - length, start: start - size, bitmap: 0 }
        });
        let first: Vec<StringHead> = places.by_ref().take(first_side).collect();
        let (mut first, mut second) = (first.into_iter(), places);
        let side = |number: u32| split.is_some_and(|split| number >= split);
        let head = |&number: &u32| if side(number) { second.next() } else { first.next() };
        let mut heads: Vec<StringHead> = numbers.iter().filter_map(head).collect();
        let mut words = 0;
        for head in &mut heads {
            head.bitmap = words as u32;
            words += bitmap_words(head.size as usize);
        }
        let mut sizes: Vec<(u32, u32)> = Vec::new();
        for (at, head) in (0..).zip(&heads) {
            if sizes.last().is_none_or(|last| last.0 != head.size) {
                sizes.push((head.size, at));
            }
        }
        let mut strings = Self {
            heads,
            numbers,
            sizes,
            symbols: ranked.symbols,
            bitmaps: Vec::new(),
            split,
            distinct: ranked.distinct,
            hashes: ranked.hashes,
        };
        strings.bitmaps = strings.bitmaps(words);
        strings
    }

    /// The bitmaps of all sets.
    fn bitmaps(&self, words: usize) -> Vec<u64> {
        let mut bitmaps = vec![0; words];
        let mut jobs = Vec::new();
        let mut rest = &mut bitmaps[..];
        for set in (0..self.len()).step_by(BITMAPS) {
            let end = (set + BITMAPS).min(self.len());
            let behind = self.heads.get(end).map_or(words, |head| head.bitmap as usize);
            let (bitmaps, others) = rest.split_at_mut(behind - self.heads[set].bitmap as usize);
            rest = others;
            jobs.push((set..end, bitmaps));
        }
        jobs.into_par_iter().for_each(|(sets, mut bitmaps)| {
            for set in sets {
                let words = bitmap_words(self.heads[set].size as usize);
                let (bitmap, rest) = bitmaps.split_at_mut(words);
                fill_bitmap(self.symbols(set), bitmap);
                bitmaps = rest;
            }
        });
        bitmaps
    }

    /// How many sets are not empty.
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// Whether all sets are empty.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// How many elements are in more than one set; of both sides of the split, where there is one.
    pub fn distinct(&self) -> usize {
        self.distinct
    }

    /// The size of the largest set.
    pub fn largest(&self) -> usize {
        self.sizes.last().map_or(0, |&(size, _)| size as usize)
    }

    /// The number of the first set that has at least `size` elements.
    pub(super) fn first_of_size(&self, size: usize) -> usize {
        let at = self.sizes.partition_point(|&(other, _)| (other as usize) < size);
        self.sizes.get(at).map_or(self.len(), |&(_, first)| first as usize)
    }

    /// The smallest size of a set that is at least this.
    pub(super) fn size_from(&self, size: usize) -> Option<usize> {
        let at = self.sizes.partition_point(|&(other, _)| (other as usize) < size);
        self.sizes.get(at).map(|&(size, _)| size as usize)
    }

    /// The sizes that occur within a range, each with the first set that is larger.
    pub(super) fn sizes_within(
        &self,
        range: &RangeInclusive<usize>,
    ) -> impl DoubleEndedIterator<Item = (usize, u32)> {
        let place = |size: usize| self.sizes.partition_point(|&(other, _)| (other as usize) < size);
        (place(*range.start())..place(range.end() + 1)).map(|at| {
            let end = self.sizes.get(at + 1).map_or(self.len() as u32, |&(_, first)| first);
            (self.sizes[at].0 as usize, end)
        })
    }

    /// Which side of the split a set is on.
    pub(super) fn side(&self, set: usize) -> usize {
        usize::from(self.split.is_some_and(|split| self.numbers[set] >= split))
    }

    pub(super) fn symbols(&self, set: usize) -> &[u32] {
        let head = &self.heads[set];
        let start = head.start as usize;
        &self.symbols[start..start + (head.size - head.unshared) as usize]
    }

    pub(super) fn text(&self, set: usize) -> SymbolString<'_> {
        let head = &self.heads[set];
        let bitmap = head.bitmap as usize;
        SymbolString {
            size: head.size as usize,
            unshared: head.unshared as usize,
            symbols: self.symbols(set),
            bitmap: &self.bitmaps[bitmap..bitmap + bitmap_words(head.size as usize)],
        }
    }
}

/// Sets whose bitmaps are made by one thread at a time.
const BITMAPS: usize = 1024;

/// The numbers of the sets that are not empty, by size.
fn by_size(sets: &[&[u64]]) -> Vec<u32> {
    let key = |(number, set): (u64, &&[u64])| (set.len() as u64) << 32 | number;
    let mut keys: Vec<u64> = (0..).zip(sets).filter(|(_, set)| !set.is_empty()).map(key).collect();
    keys.par_sort_unstable();
    keys.into_iter().map(|key| key as u32).collect()
}

/// Words of the bitmap of a set of `size` elements: two to four bits per element, or one word.
pub(super) fn bitmap_words(size: usize) -> usize {
    (size / 32).next_power_of_two()
}

/// Turns a bit for each symbol (the bitmap filter of Sandes, Teodoro and Melo, 2020).
pub(super) fn fill_bitmap(symbols: &[u32], bitmap: &mut [u64]) {
    for &symbol in symbols {
        // A power of two, so that what is above it falls away.
        let bit = symbol as usize & (64 * bitmap.len() - 1);
        bitmap[bit / 64] ^= 1 << (bit % 64);
    }
}

/// A bitmap folded down to so many words, as a smaller set would have it.
pub(super) fn folded(bitmap: &[u64], words: usize) -> Vec<u64> {
    let fold = |at: usize| bitmap.iter().skip(at).step_by(words).fold(0, |all, x| all ^ x);
    (0..words).map(fold).collect()
}

impl SymbolString<'_> {
    /// A lower bound of the number of elements that only one of the two has.
    #[inline]
    pub(super) fn least_difference(&self, other: &SymbolString<'_>) -> usize {
        let (short, long) = match self.bitmap.len() <= other.bitmap.len() {
            true => (self.bitmap, other.bitmap),
            false => (other.bitmap, self.bitmap),
        };
        let bits: usize = if let ([short], [long]) = (short, long) {
            (short ^ long).count_ones() as usize
        } else if short.len() == long.len() {
            nearkin_kernels::hamming(short, long) as usize
        } else {
            // The longer one folds down to the shorter one's length.
            let folded =
                |at: usize| long.iter().skip(at).step_by(short.len()).fold(0, |all, x| all ^ x);
            short
                .iter()
                .enumerate()
                .map(|(at, word)| (word ^ folded(at)).count_ones() as usize)
                .sum()
        };
        self.unshared + other.unshared + bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets of letters as strings, when the k-th letter of `order` occurs k + 2 times beside them.
    fn strings(order: &str, sets: &[&str]) -> Vec<String> {
        let letters = |set: &str| set.bytes().map(u64::from).collect::<Vec<u64>>();
        let mut all: Vec<Vec<u64>> = sets.iter().map(|set| letters(set)).collect();
        for (k, letter) in order.bytes().enumerate() {
            // More than the sets themselves can change.
            all.extend((0..(k + 2) * (sets.len() + 1)).map(|_| vec![u64::from(letter)]));
        }
        let slices: Vec<&[u64]> = all.iter().map(Vec::as_slice).collect();
        let strings = SymbolStrings::new(&slices, None).unwrap();
        let place =
            |number: usize| strings.numbers.iter().position(|&n| n as usize == number).unwrap();
        let letter = |symbol: u32| {
            let single = strings.numbers.iter().map(|&n| n as usize).enumerate();
            let of = |&(at, number): &(usize, usize)| {
                number >= sets.len() && strings.symbols(at) == [symbol]
            };
            single.into_iter().find(of).map(|(_, number)| all[number][0] as u8 as char)
        };
        let string = |number: usize| {
            strings.symbols(place(number)).iter().map(|&s| letter(s).unwrap()).collect()
        };
        (0..sets.len()).map(string).collect()
    }

    #[test]
    fn s7_2_sets_are_strings_in_one_order() {
        // Example 3.25, and exercise 3.9.1: vowels, then consonants from the last.
        assert_eq!(strings("abcdefghijklmnopqrstuvwxyz", &["dab"]), ["abd"]);
        let order = "aeiouzyxwvtsrqpnmlkjhgfdcb";
        assert_eq!(strings(order, &["qwerty", "asdfghjui"]), ["eywtrq", "aiusjhgfd"]);
    }

    #[test]
    fn s7_2_rare_elements_come_first_and_unshared_ones_are_only_counted() {
        let sets: [&[u64]; 5] = [&[9, 1, 7], &[7, 5, 1], &[], &[7, 5, 1, 3], &[7]];
        let strings = SymbolStrings::new(&sets, None).unwrap();
        assert_eq!((strings.len(), strings.largest(), strings.distinct()), (4, 4, 3));
        // By size: the numbers as the caller has them. 5 is in two, 1 in three and 7 in four of them.
        assert_eq!(strings.numbers, [4, 0, 1, 3]);
        let text =
            |at: usize| (strings.text(at).size, strings.text(at).unshared, strings.symbols(at));
        assert_eq!(text(0), (1, 0, &[2][..]));
        assert_eq!(text(1), (3, 1, &[1, 2][..]));
        assert_eq!(text(2), (3, 0, &[0, 1, 2][..]));
        assert_eq!(text(3), (4, 1, &[0, 1, 2][..]));
        // With a split behind the second, only what is on both sides counts: not 3 and 9.
        let strings = SymbolStrings::new(&sets, Some(2)).unwrap();
        assert_eq!(strings.distinct(), 3);
        let strings = SymbolStrings::new(&sets, Some(4)).unwrap();
        assert_eq!((strings.distinct(), strings.heads[3].unshared), (1, 3));
    }

    #[test]
    fn bitmaps_of_all_sizes_differ_no_more_than_the_sets() {
        let sets: Vec<Vec<u64>> = [(0, 100), (50, 150), (0, 900), (100, 1500), (0, 10), (0, 5000)]
            .iter()
            .map(|&(from, to)| (from..to).collect())
            .collect();
        let slices: Vec<&[u64]> = sets.iter().map(Vec::as_slice).collect();
        let strings = SymbolStrings::new(&slices, None).unwrap();
        for a in 0..sets.len() {
            for b in 0..a {
                let [x, y] = [a, b].map(|at| &sets[strings.numbers[at] as usize]);
                let shared = x.iter().filter(|element| y.contains(element)).count();
                let differ = x.len() + y.len() - 2 * shared;
                let least = strings.text(a).least_difference(&strings.text(b));
                assert_eq!(strings.text(b).least_difference(&strings.text(a)), least);
                assert!(least <= differ, "{least} of {differ}");
                // Many elements folded down to few bits say less.
                let rough = x.len().max(y.len()) > 2 * x.len().min(y.len());
                assert!(least > differ / 2 || rough, "{least} of {differ}");
            }
        }
    }
}

//! Strings within a few edits of each other, all of them: Li, Deng, Wang and Feng, "Pass-Join: A
//! Partition-based Method for Similarity Joins" (2011).
//!
//! A string is cut into k + 1 segments. At most k edits leave one of them as it is, so it stands in the other string, at
//! nearly the same place. The segments of every string go into one table by (length, number of the segment, hash). Every
//! string looks its substrings up there, for each length that its partner may have. What is found is compared, so the join
//! is complete and every pair is exact. That is why there is no locality-sensitive family for strings: it would promise
//! less, and is not needed as long as a distance is a few edits.
//!
//! Within 2 edits, swaps and replacements allowed, on two cores that others used as well
//! (`examples/string_join.rs`; brute force is one thread a core, too, on distinct strings, and has the look at
//! odd characters of [`StringSpace::may_be_within`] and the comparison up to a limit):
//!
//! | strings | distinct | compared | close | seconds | brute force |
//! |---|---|---|---|---|---|
//! | 15,000 surnames | 4,121 | 200,494 | 11,297 | 0.04 | 0.09 |
//! | 15,000 streets | 5,492 | 128,590 | 5,219 | 0.04 | 0.12 |
//! | 15,000 names with addresses | 13,214 | 4,486 | 3,471 | 0.015 | 0.55 |
//! | 47,979 web addresses | 47,909 | 3,592,640 | 656,323 | 0.9 | 20 |
//! | 1,000,000 names with addresses, drawn | 999,985 | 341,638 | 2,096 | 9.4 | |
//!
//! **Which places.** Number the segments from 0 and let A(i) be the edits that lie before segment i. Then
//! A(0) ≥ 0, and A(i) − i falls by at most one from a segment to the next: by one only if segment i and the
//! place behind it are left alone. After the last segment it is at most k − (k + 1) = −1. Where it becomes −1
//! for the first time, segment i is as it was, exactly i edits lie before it and at most k − i behind it.
//! Therefore its shift σ, by which the other string has it later, obeys |σ| ≤ i and |Δ − σ| ≤ k − i, with Δ
//! the difference of the lengths. With inserts and deletes only, i edits move by an odd or even number as i
//! is odd or even, which halves the places; and the distance is odd or even as Δ is, so that k can be
//! lowered by one for every second length. (Pass-Join's own selection has these windows without the parity.)
//!
//! **Swaps.** A swap changes two neighbouring characters, which may belong to two segments. So for the form
//! that allows swaps one character is left out between segments. A swap then touches one segment at most.
//! If characters between two swapped ones are edited as well, the swapped ones and those between, c + 1
//! places in a row for c ≥ 2 edits, have a part in at most ⌈(c + 1) / 2⌉ ≤ c segments. Each segment that is
//! not left alone still takes an edit of its own, and the argument above holds.
//!
//! Strings too short for that many segments are compared with all that are at most k longer, as
//! are those of a length that has fewer strings than there would be places to look at.

use std::sync::atomic::{AtomicU64, Ordering};

use nearkin_kernels::{scramble, sort_by_high_half};
use rayon::prelude::*;

use super::equal_items::EqualItems;
use super::go_on;
use crate::item::Characters;
use crate::space::{JoinQuery, PairBuffer, PairSink, Space, StringMeasure, StringSpace};
use crate::{Error, Result};

/// How much a join of strings or sparse vectors looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JoinCounts {
    /// Items that are not copies of an earlier one.
    pub distinct: u64,
    /// Pairs of distinct items that were compared, without those that a glance told apart.
    pub candidates: u64,
    /// Pairs of distinct items that are close.
    pub close: u64,
}

/// Beyond this many edits, looking substrings up takes longer than comparing all pairs, except in the largest collections.
const MOST_EDITS: usize = 255;

/// Hands on all pairs of strings at most `join.limit` apart.
///
/// # Errors
/// When the limit is negative or not a number, the join was stopped, or the sink fails.
pub fn join(space: &StringSpace, join: &JoinQuery, found: &PairSink<'_>) -> Result<JoinCounts> {
    if join.limit.is_nan() || join.limit < 0.0 {
        return Err(Error::parameter("within", join.limit, "a number of edits, 0 or more"));
    }
    let copies = fold(space, join.split);
    let search = SegmentSearch::new(space, &copies, join);
    let close = search.pairs(join, found)?;
    copies.expand_each(|_| Some(0.0), join, found)?;
    let distinct = copies.len() as u64;
    Ok(JoinCounts { distinct, candidates: search.compared.into_inner(), close })
}

/// Groups of identical strings, shorter ones first.
fn fold(space: &StringSpace, split: Option<u32>) -> EqualItems {
    let strings = space.strings();
    let order = |a: u32, b: u32| match strings.characters([a as usize, b as usize]) {
        Characters::Narrow([x, y]) => x.len().cmp(&y.len()).then_with(|| x.cmp(y)),
        Characters::Wide([x, y]) => x.len().cmp(&y.len()).then_with(|| x.cmp(y)),
    };
    let mut items: Vec<u32> = (0..space.len() as u32).collect();
    items.par_sort_unstable_by(|&a, &b| order(a, b).then(a.cmp(&b)));
    EqualItems::new(items, split, |a, b| order(a, b).is_eq())
}

/// Distinct strings by length, and the table of their segments.
struct SegmentSearch<'a> {
    space: &'a StringSpace,
    copies: &'a EqualItems,
    cut: Segmentation,
    /// Lengths that occur, ascending, and the first group of each.
    lengths: Vec<(usize, u32)>,
    /// By group, which characters are odd in number.
    odd: Vec<u64>,
    table: SegmentTable,
    powers: Vec<u64>,
    compared: AtomicU64,
}

/// Buffers that one thread keeps from string to string.
#[derive(Default)]
struct SegmentScratch {
    hashes: Vec<u64>,
    candidates: Vec<u32>,
}

impl<'a> SegmentSearch<'a> {
    fn new(space: &'a StringSpace, copies: &'a EqualItems, join: &JoinQuery) -> Self {
        let groups = 0..copies.len() as u32;
        let length = |group| space.strings().length(copies.first(group) as usize);
        let mut lengths: Vec<(usize, u32)> = groups.map(|group| (length(group), group)).collect();
        lengths.dedup_by_key(|(length, _)| *length);
        let longest = lengths.last().map_or(0, |&(length, _)| length);
        let cut = Segmentation::new(space.measure(), (join.limit as usize).min(2 * longest));
        let powers = std::iter::successors(Some(1u64), |power| Some(power.wrapping_mul(BASE)));
        let mut search = Self {
            space,
            copies,
            cut,
            lengths,
            odd: (0..copies.len() as u32).map(|group| space.odd(copies.first(group))).collect(),
            table: SegmentTable::default(),
            powers: powers.take(longest + 1).collect(),
            compared: AtomicU64::new(0),
        };
        search.table = SegmentTable::new(search.entries(), &search.odd);
        search
    }

    /// The hashes of all segments, each with its group.
    fn entries(&self) -> Vec<u64> {
        let groups = (0..self.copies.len() as u32).into_par_iter();
        let entries = groups.map_init(SegmentScratch::default, |scratch, group| {
            let length = self.hash(group, &mut scratch.hashes);
            let segments = if self.cut.fits(length) { self.cut.segments } else { 0 };
            let entries = (0..segments).map(|i| {
                let (start, end) = self.cut.segment(length, i);
                let key = self.key(length, i, &scratch.hashes, start, end);
                u64::from(key) << 32 | u64::from(group)
            });
            entries.collect::<Vec<u64>>()
        });
        entries.flatten_iter().collect()
    }

    /// Puts the hashes of a string's beginnings into `hashes` and says how long it is.
    fn hash(&self, group: u32, hashes: &mut Vec<u64>) -> usize {
        hashes.clear();
        hashes.push(0);
        let step = |hash: &mut u64, symbol: u32| {
            *hash = hash.wrapping_mul(BASE).wrapping_add(u64::from(symbol) + 1);
            Some(*hash)
        };
        match self.space.strings().characters([self.copies.first(group) as usize]) {
            Characters::Narrow([x]) => {
                hashes.extend(x.iter().scan(0, |hash, &symbol| step(hash, symbol.into())));
            }
            Characters::Wide([x]) => {
                hashes.extend(x.iter().scan(0, |hash, &symbol| step(hash, symbol.into())));
            }
        }
        hashes.len() - 1
    }

    /// The key of a piece that is segment `i` of a string with this length.
    fn key(&self, length: usize, i: usize, hashes: &[u64], start: usize, end: usize) -> u32 {
        let before = hashes[start].wrapping_mul(self.powers[end - start]);
        let place = ((length as u64) << 8 | i as u64).wrapping_mul(BASE);
        (scramble(hashes[end].wrapping_sub(before) ^ place) >> 32) as u32
    }

    /// Hands on the close pairs of items of different groups, and counts those of groups.
    fn pairs(&self, join: &JoinQuery, found: &PairSink<'_>) -> Result<u64> {
        if self.cut.edits == 0 {
            return Ok(0);
        }
        let groups = (0..self.copies.len() as u32).into_par_iter();
        let none = || (SegmentScratch::default(), PairBuffer::new(found), 0);
        let parts = groups.try_fold(none, |(mut scratch, mut pairs, close), group| {
            go_on(join.stopped)?;
            let more = self.pairs_of(group, &mut scratch, &mut pairs);
            Ok((scratch, pairs, close + more))
        });
        let close = parts.map(|part: Result<_>| {
            let (_, pairs, close) = part?;
            pairs.finish().map(|_| close)
        });
        close.try_reduce(|| 0, |a, b| Ok(a + b))
    }

    /// Adds the pairs of a group with those before it that are close. Returns how many are.
    fn pairs_of(
        &self,
        group: u32,
        scratch: &mut SegmentScratch,
        pairs: &mut PairBuffer<'_>,
    ) -> u64 {
        self.candidates(group, scratch);
        self.compared.fetch_add(scratch.candidates.len() as u64, Ordering::Relaxed);
        let item = self.copies.first(group);
        let mut close = 0;
        for &other in &scratch.candidates {
            let edits = self.space.within(self.copies.first(other), item, self.cut.edits);
            if let Some(edits) = edits {
                close += 1;
                self.copies.expand(other, group, edits as f64, pairs);
            }
        }
        close
    }

    /// Collects the groups before this one that may be close to it, each once.
    fn candidates(&self, group: u32, scratch: &mut SegmentScratch) {
        scratch.candidates.clear();
        let length = self.hash(group, &mut scratch.hashes);
        let shortest = match self.space.measure() {
            StringMeasure::Hamming => length,
            _ => length.saturating_sub(self.cut.edits),
        };
        let from = self.lengths.partition_point(|&(other, _)| other < shortest);
        for (at, &(other, first)) in self.lengths.iter().enumerate().skip(from) {
            if other > length {
                break;
            }
            let end = self.lengths.get(at + 1).map_or(group, |&(_, end)| end.min(group));
            if self.cut.fits(other) && end - first > self.cut.lookups[length - other] {
                self.look_up(group, other, length, scratch);
            } else {
                let all = (first..end).filter(|&other| {
                    self.worth((group, self.odd[group as usize]), (other, self.odd[other as usize]))
                });
                scratch.candidates.extend(all);
            }
        }
        scratch.candidates.sort_unstable();
        scratch.candidates.dedup();
    }

    /// Collects the groups with strings of `other` characters that share a segment with a string of `length`.
    fn look_up(&self, group: u32, other: usize, length: usize, scratch: &mut SegmentScratch) {
        let SegmentScratch { hashes, candidates } = scratch;
        let own = (group, self.odd[group as usize]);
        for i in 0..self.cut.segments {
            let (start, end) = self.cut.segment(other, i);
            for shift in self.cut.shifts(length - other, i) {
                let Some(place) = start.checked_add_signed(shift) else { continue };
                if place + (end - start) > length {
                    break;
                }
                let key = self.key(other, i, hashes, place, place + end - start);
                let with = self.table.get(key).take_while(|&(found, _)| found < group);
                let worth = with.filter(|&found| self.worth(own, found));
                candidates.extend(worth.map(|(found, _)| found));
            }
        }
    }

    /// Whether a pair is looked for and may be close, as far as can be told from the odd characters.
    #[inline]
    fn worth(&self, a: (u32, u64), b: (u32, u64)) -> bool {
        self.space.allows(a.1, b.1, self.cut.edits) && self.copies.wanted(a.0, b.0)
    }
}

/// An odd number without a pattern: the base of the polynomial whose value is a piece's hash.
const BASE: u64 = 0x9e6c_63d0_876a_68e5;

/// How strings are cut.
struct Segmentation {
    measure: StringMeasure,
    edits: usize,
    segments: usize,
    /// Characters left out between segments.
    gap: usize,
    /// By the difference of the lengths, how many substrings are looked up.
    lookups: Vec<u32>,
}

impl Segmentation {
    fn new(measure: StringMeasure, edits: usize) -> Self {
        let gap = usize::from(measure == StringMeasure::Mutation);
        let segments = if edits > MOST_EDITS { 0 } else { edits + 1 };
        let mut cut = Self { measure, edits, segments, gap, lookups: Vec::new() };
        if segments > 0 {
            let lookups =
                |longer| (0..segments).map(|i| cut.shifts(longer, i).count() as u32).sum();
            cut.lookups = (0..=edits).map(lookups).collect();
        }
        cut
    }

    /// Whether a string of this length has a character for each segment.
    fn fits(&self, length: usize) -> bool {
        self.segments > 0 && length >= self.segments + self.gap * (self.segments - 1)
    }

    /// Where segment `i` of a string of this length begins and ends; the last ones are longer by one if need
    /// be.
    fn segment(&self, length: usize, i: usize) -> (usize, usize) {
        let filled = length - self.gap * (self.segments - 1);
        let (each, rest) = (filled / self.segments, filled % self.segments);
        let longer = i.saturating_sub(self.segments - rest);
        let start = i * (each + self.gap) + longer;
        (start, start + each + usize::from(i >= self.segments - rest))
    }

    /// By how much later segment `i` may stand in a string that is `longer` characters longer.
    fn shifts(&self, longer: usize, i: usize) -> impl Iterator<Item = isize> + use<> {
        let (longer, i, edits) = (longer as isize, i as isize, self.edits as isize);
        let (left, right, step) = match self.measure {
            StringMeasure::Hamming => (0, 0, 1),
            StringMeasure::Mutation => (i, edits - i, 1),
            StringMeasure::InsertDelete => (i, edits - (edits - longer).rem_euclid(2) - i, 2),
        };
        // |shift| ≤ left and |longer − shift| ≤ right; steps of two start where the parity is i's.
        let low = (-left).max(longer - right);
        let low = low + if step == 2 { (low - i).rem_euclid(2) } else { 0 };
        let high = left.min(longer + right);
        (low..=if right < 0 { low - 1 } else { high }).step_by(step)
    }
}

/// Who has a segment with this key: entries sorted by key, and where to begin for its first bits.
#[derive(Default)]
struct SegmentTable {
    entries: Vec<u64>,
    /// By entry, the odd characters of its group: beside it, so that long runs are gone through in order.
    odd: Vec<u64>,
    starts: Vec<usize>,
    shift: u32,
}

impl SegmentTable {
    /// Entries have a key in their high half and a group in their low half, and come by ascending group.
    fn new(mut entries: Vec<u64>, odd: &[u64]) -> Self {
        sort_by_high_half(&mut entries, &mut Vec::new());
        let odd = entries.iter().map(|&entry| odd[entry as u32 as usize]).collect();
        let bits = entries.len().max(2).ilog2().min(31);
        let mut starts = vec![0; (1 << bits) + 1];
        for entry in &entries {
            starts[(entry >> (64 - bits)) as usize + 1] += 1;
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        Self { entries, odd, starts, shift: 32 - bits }
    }

    /// The groups under a key, ascending, with their odd characters.
    fn get(&self, key: u32) -> impl Iterator<Item = (u32, u64)> {
        let slot = (key >> self.shift) as usize;
        let (start, end) = (self.starts[slot], self.starts[slot + 1]);
        let before = |entry: &&u64| ((**entry >> 32) as u32) < key;
        let start = start + self.entries[start..end].iter().take_while(before).count();
        let run = self.entries[start..end].iter().zip(&self.odd[start..end]);
        run.take_while(move |&(entry, _)| (entry >> 32) as u32 == key)
            .map(|(&entry, &odd)| (entry as u32, odd))
    }
}

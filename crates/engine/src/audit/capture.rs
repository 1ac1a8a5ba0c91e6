//! Sees pairs of sets a second time, by a way that has nothing to do with the run's, with a chance that is known.
//!
//! All elements stand in a random order, which follows the seed but is no function of the run's sketches. Of every set
//! the first few elements are kept. Two sets that keep two common elements are seen: a set has a key for every two
//! elements it keeps, so texts that share a single phrase with many others do not meet. That happens if two common elements come
//! before either set has used up its places. The chance depends only on how many elements the two share and have alone,
//! and is computed without error from the exact overlap ([`Capture::chance`]). So many elements are kept that a pair at
//! the threshold is seen with a chance of 0.93.
//!
//! Below a similarity of 0.45 that would take too many keys. There a key is a single element, and a pair at the
//! threshold is seen with a chance of 0.9995. Sets that are so small that one common element makes them similar have keys
//! of both kinds.

use nearkin_kernels::with_small_product;

use crate::candidates::{KEY_BITS, KEY_PARTS};
use crate::family::hash::mix64;
use crate::join::make_room;
use crate::verify::Overlap;

/// Elements of a set that are kept at most, unless all are.
const MOST_KEPT: usize = 24;

/// The order of all elements, and how many of a set are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Capture {
    /// What an element is multiplied with to get its place in the order.
    order: u64,
    /// The seed of the keys.
    keys: u64,
    kept: usize,
    /// Whether a key is of two elements. Then sets of no more elements than this have keys of single ones, too.
    twos: Option<usize>,
}

/// What a thread needs to keep elements.
#[derive(Default)]
pub(crate) struct CaptureScratch {
    early: Vec<u64>,
    first: Vec<u64>,
}

impl Capture {
    /// For pairs with this Jaccard similarity and more.
    pub(crate) fn new(seed: u64, jaccard: f64) -> Self {
        /// From this similarity on, keys are of two elements.
        const TWOS: f64 = 0.45;
        /// The size of sets by which the number of elements is chosen.
        const SIZE: f64 = 1e5;
        let twos = (jaccard >= TWOS).then(|| (1.0 / jaccard + 1e-9) as usize);
        // With 0.99 there are twice as many keys of two. That took 2 to 3 % of a run longer, and intervals were as wide.
        let seen = if twos.is_some() { 0.93 } else { 0.9995 };
        let shared = 2.0 * jaccard / (1.0 + jaccard) * SIZE;
        let overlap = Overlap { shared: shared as u64, a: SIZE as u64, b: SIZE as u64 };
        let capture = |kept: usize| Self { kept, twos, ..Self::everything(seed) };
        let is_enough = |capture: &Self| capture.chance(overlap) >= seen;
        (3..MOST_KEPT).map(capture).find(is_enough).unwrap_or(capture(MOST_KEPT))
    }

    /// Keeps all elements, so that every pair is seen.
    pub(crate) fn everything(seed: u64) -> Self {
        let order = mix64(seed, 0xa0d1_7ed5_0b5e_7e5d) | 1;
        Self { order, keys: mix64(seed, 0x5ec0_4d1a_5eed_0b1e), kept: usize::MAX, twos: None }
    }

    /// The numbers that it is made of, to be saved.
    pub(crate) fn parts(self) -> [u64; 4] {
        let twos = self.twos.map_or(0, |small| small as u64 + 1);
        [self.order, self.keys, self.kept as u64, twos]
    }

    pub(crate) fn from_parts([order, keys, kept, twos]: [u64; 4]) -> Self {
        Self { order, keys, kept: kept as usize, twos: twos.checked_sub(1).map(|it| it as usize) }
    }

    /// How many partitions its keys have: a power of two. One partition at a time is in a thread's memory, and there are as many
    /// keys in it as in one of a table of the run, which has one key of each set: with 15 keys of each of 10^8 texts in 32
    /// partitions, a thread took more than 1 GB.
    pub(crate) fn partitions(self) -> usize {
        /// Of sets whose elements are all kept, about.
        const ALL: usize = 256;
        let keys = match (self.kept, self.twos) {
            (usize::MAX, _) => ALL,
            (kept, Some(_)) => kept * (kept - 1) / 2,
            (kept, None) => kept,
        };
        KEY_PARTS * keys.next_power_of_two()
    }

    /// The partition of a key: its first bits. With it, the key's last 32 bits say all.
    pub(crate) fn partition_of(self, key: u64) -> usize {
        (key >> (KEY_BITS - self.partitions().ilog2())) as usize
    }

    /// Appends the keys, of [`KEY_BITS`] bits, of a set, whose elements come in any order and may come several times. How
    /// many there are.
    pub(crate) fn keys(
        self,
        elements: &[u64],
        scratch: &mut CaptureScratch,
        keys: &mut Vec<u64>,
    ) -> usize {
        /// Times the kept elements that are looked at, so that hardly any set has to be looked at twice.
        const TIMES: usize = 2;
        let CaptureScratch { early, first } = scratch;
        let mut is_enough = false;
        if let times @ 2.. = elements.len() / self.kept.saturating_mul(TIMES).max(1) {
            make_room(early, elements.len());
            let limit = u64::MAX / times as u64;
            let count = with_small_product(elements, self.order, limit, early);
            is_enough = self.first(&early[..count], first);
        }
        if !is_enough {
            self.first(elements, first);
        }
        let before = keys.len();
        let key = |place: u64| mix64(place, self.keys) >> (64 - KEY_BITS);
        if self.twos.is_none_or(|small| first.len() <= small) {
            keys.extend(first.iter().map(|&place| key(place)));
        }
        if self.twos.is_some() {
            for (i, &later) in first.iter().enumerate() {
                let later = mix64(later, !self.keys);
                keys.extend(first[..i].iter().map(|&earlier| key(earlier ^ later)));
            }
        }
        keys.len() - before
    }

    /// Puts the places of the first of these elements, each once, into `first`. Returns whether there are as many as are
    /// kept.
    fn first(self, elements: &[u64], first: &mut Vec<u64>) -> bool {
        /// More than are kept unless all are.
        const SORTED: usize = 64;
        first.clear();
        let places = elements.iter().map(|element| element.wrapping_mul(self.order));
        if self.kept > SORTED {
            first.extend(places);
            first.sort_unstable();
            first.dedup();
            return false;
        }
        for place in places {
            let is_full = first.len() == self.kept;
            if is_full && place >= first[self.kept - 1] || first.contains(&place) {
                continue;
            }
            if is_full {
                first.pop();
            }
            // The few that are kept are always in order.
            let mut at = first.len();
            first.push(place);
            while at > 0 && first[at - 1] > place {
                first[at] = first[at - 1];
                at -= 1;
            }
            first[at] = place;
        }
        first.len() == self.kept
    }

    /// The chance that two sets with this in common are seen.
    ///
    /// Elements of either come one by one in the random order. The two are seen if the first common ones, one or two, come
    /// while each set has a place left. Before the first come i elements that only one set has and j that only the other
    /// has, with a chance that is the sum over all orders of those; and so before the second.
    pub(crate) fn chance(self, overlap: Overlap) -> f64 {
        let Overlap { shared, a, b } = overlap;
        let larger = a.max(b) as usize;
        let needed = match self.twos {
            Some(small) if larger > small => 2,
            _ => 1,
        };
        if shared < needed || larger <= self.kept {
            return f64::from(u8::from(shared >= needed));
        }
        let (only_a, only_b) = ((a - shared) as f64, (b - shared) as f64);
        let (shared, union) = (shared as f64, overlap.union() as f64);
        // One over what is left of the union when so many have come.
        let one_of: [f64; 2 * MOST_KEPT] = std::array::from_fn(|come| 1.0 / (union - come as f64));
        // `before[c][j]`: c common elements and, of the row at hand, j of the second set alone have come.
        let mut before = [[0.0; MOST_KEPT]; 2];
        before[0][0] = 1.0;
        let mut seen = 0.0;
        for i in 0..self.kept {
            for j in 0..self.kept {
                for common in 0..needed as usize {
                    let now = std::mem::take(&mut before[common][j]);
                    if now == 0.0 || i.max(j) + common >= self.kept {
                        continue;
                    }
                    let each = now * one_of[i + j + common];
                    let next = each * (shared - common as f64);
                    match common + 1 == needed as usize {
                        true => seen += next,
                        false => before[common + 1][j] += next,
                    }
                    if j + 1 < self.kept {
                        before[common][j + 1] += each * (only_b - j as f64).max(0.0);
                    }
                    before[common][j] += each * (only_a - i as f64).max(0.0);
                }
            }
        }
        // What is hardly ever overlooked is not certain, whatever sums round to.
        if only_a.max(only_b) > 0.0 { seen.min(1.0 - f64::EPSILON) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(shared: u64, only_a: u64, only_b: u64, from: u64) -> [Vec<u64>; 2] {
        let set = |own: std::ops::Range<u64>| -> Vec<u64> {
            (0..shared).chain(own).map(|x| mix64(from + x, 77)).collect()
        };
        [set(shared..shared + only_a), set(shared + only_a..shared + only_a + only_b)]
    }

    fn are_seen(capture: Capture, [a, b]: &[Vec<u64>; 2]) -> bool {
        let (mut scratch, mut keys) = (CaptureScratch::default(), Vec::new());
        let count = capture.keys(a, &mut scratch, &mut keys);
        capture.keys(b, &mut scratch, &mut keys);
        let (a, b) = keys.split_at(count);
        a.iter().any(|key| b.contains(key))
    }

    #[test]
    fn partitions_of_keys_are_as_small_as_those_of_a_table() {
        let set: Vec<u64> = (0..200).map(|x| mix64(x, 5)).collect();
        let captures = (2..100).map(|percent| Capture::new(7, f64::from(percent) / 100.0));
        for capture in captures.chain([Capture::everything(7)]) {
            let mut keys = Vec::new();
            capture.keys(&set, &mut CaptureScratch::default(), &mut keys);
            assert!(keys.len() * KEY_PARTS <= capture.partitions(), "{capture:?}");
            // Keys of one partition differ in their last 32 bits.
            for (i, a) in keys.iter().enumerate() {
                for b in keys[..i].iter().filter(|&b| *b as u32 == *a as u32 && b != a) {
                    assert_ne!(capture.partition_of(*a), capture.partition_of(*b));
                }
                assert!(capture.partition_of(*a) < capture.partitions());
            }
        }
        let last = Capture::new(7, 0.5).partition_of((1 << KEY_BITS) - 1);
        assert_eq!(last + 1, Capture::new(7, 0.5).partitions());
    }

    fn keeping(seed: u64, kept: usize, twos: Option<usize>) -> Capture {
        Capture { kept, twos, ..Capture::everything(seed) }
    }

    /// 23 kinds of pairs, 10,000 each, with a seed of its own each time: all within 4.5 standard errors, which fails
    /// for one choice of seeds in 6,000. The seeds are fixed.
    #[test]
    fn a_pair_is_seen_with_the_chance_that_is_computed() {
        const TRIES: u64 = 10_000;
        let kinds = [
            (1, 1, 1, 1),
            (1, 4, 1, 0),
            (2, 3, 5, 4),
            (2, 40, 60, 70),
            (2, 1, 3, 300),
            (3, 10, 40, 40),
            (4, 5, 40, 9),
            (4, 2, 8, 0),
            (5, 30, 0, 200),
            (8, 6, 60, 60),
            (8, 20, 100, 300),
            (20, 4, 90, 90),
        ];
        let all = kinds.iter().flat_map(|&kind| [(kind, None), (kind, Some(1))]);
        // One kept element makes no two.
        for ((kept, shared, only_a, only_b), twos) in all.filter(|it| it.0.0 > 1 || it.1.is_none())
        {
            let overlap = Overlap { shared, a: shared + only_a, b: shared + only_b };
            let seen = (0..TRIES).filter(|&seed| {
                let sets = sets(shared, only_a, only_b, seed << 32);
                are_seen(keeping(seed, kept, twos), &sets)
            });
            let share = seen.count() as f64 / TRIES as f64;
            let chance = keeping(0, kept, twos).chance(overlap);
            let error = (chance * (1.0 - chance) / TRIES as f64).sqrt();
            let what = format!("{kept} {overlap:?} {twos:?}: {share}, {chance}");
            assert!((share - chance).abs() <= 4.5 * error + 1e-9, "{what}");
            assert!(chance < 0.999 && (chance > 0.001 || shared == 1), "{what} tells little");
        }
    }

    #[test]
    fn the_chance_of_a_single_element_is_the_jaccard_similarity() {
        for (shared, a, b) in [(1, 2, 3), (4, 5, 9), (30, 30, 31), (1, 1, 2), (7, 100, 8)] {
            let overlap = Overlap { shared, a, b };
            let jaccard = shared as f64 / overlap.union() as f64;
            assert!((keeping(1, 1, None).chance(overlap) - jaccard).abs() < 1e-12);
        }
    }

    #[test]
    fn a_pair_at_the_threshold_is_hardly_ever_overlooked() {
        for percent in [95, 80, 60, 45, 44, 20] {
            let capture = Capture::new(1, percent as f64 / 100.0);
            let (shared, size) = (2 * percent, 100 + percent);
            let chance = capture.chance(Overlap { shared, a: size, b: size });
            assert!(chance > if percent >= 45 { 0.92 } else { 0.989 }, "{percent}: {chance}");
            assert!(capture.kept <= 24 && capture.twos.is_some() == (percent >= 45));
        }
        let none = Overlap { shared: 0, a: 3, b: 4 };
        assert_eq!(Capture::everything(1).chance(none), 0.0);
        assert_eq!(Capture::everything(1).chance(Overlap { shared: 1, ..none }), 1.0);
    }

    /// Sets of one element and of two can be similar though they share a single one.
    #[test]
    fn the_smallest_sets_are_always_seen() {
        for (percent, shared, a, b) in [
            (80, 1, 1, 1),
            (50, 1, 1, 2),
            (50, 1, 1, 1),
            (66, 2, 2, 3),
            (50, 2, 2, 4),
            (20, 1, 2, 4),
        ] {
            let overlap = Overlap { shared, a, b };
            for seed in 0..50 {
                let capture = Capture::new(seed, f64::from(percent) / 100.0);
                assert_eq!(capture.chance(overlap), 1.0);
                let sets = sets(shared, a - shared, b - shared, seed << 32);
                assert!(are_seen(capture, &sets), "{percent} {overlap:?}");
            }
        }
    }

    /// Repeats and the order of elements change nothing, and long sets keep the same as when all elements are looked at.
    #[test]
    fn the_first_elements_are_kept_however_they_come() {
        let (mut scratch, mut expected) = (CaptureScratch::default(), Vec::new());
        for (size, seed) in [(3, 1), (50, 2), (5000, 3), (100_000, 4)] {
            let capture = keeping(seed, 5, Some(1));
            let mut elements: Vec<u64> = (0..size).map(|x| mix64(x, seed)).collect();
            let mut sorted = elements.clone();
            sorted.sort_unstable_by_key(|element| element.wrapping_mul(capture.order));
            sorted.truncate(5);
            expected.clear();
            capture.keys(&sorted, &mut scratch, &mut expected);
            let count = sorted.len();
            assert_eq!(expected.len(), count * (count - 1) / 2);
            let mut keys = Vec::new();
            capture.keys(&elements, &mut scratch, &mut keys);
            assert_eq!(keys, expected);
            // Mostly repeats of one element.
            elements.extend(vec![elements[0]; 40 * size as usize]);
            elements.reverse();
            keys.clear();
            capture.keys(&elements, &mut scratch, &mut keys);
            assert_eq!(keys, expected);
        }
    }
}

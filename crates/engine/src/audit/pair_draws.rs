//! Draws two groups of a bucket, again and again, with known chances.
//!
//! The buckets of each partition are gone through in order. Draws are spread evenly over all that they count, so the draws
//! of a partition are known without those of others, and partitions are gone through side by side.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rayon::prelude::*;

use crate::Result;
use crate::candidates::each_bucket;
use crate::family::hash::{SplitMix, mix64};
use crate::item::Copies;
use crate::spill::{Cache, Lists};

/// Draws come in fours: three of the first kind and one of the second.
pub(super) const SLOTS: u32 = 4;
const KIND_OF_SLOT: [usize; SLOTS as usize] = [0, 0, 0, 1];

/// How many items each group has, on either side where there are two.
pub(super) struct GroupCounts {
    left: Vec<u32>,
    right: Option<Vec<u32>>,
    /// Pairs of items in one group, from both ends.
    copies: f64,
    /// Whether there is one item in each, and one side.
    is_plain: bool,
}

impl GroupCounts {
    pub(super) fn new(copies: &Copies) -> Self {
        if copies.is_increment() {
            return Self::of_increment(copies);
        }
        let groups = copies.groups() as usize;
        let split = copies.split();
        let mut left = vec![0; groups];
        let mut right = split.map(|_| vec![0; groups]);
        for position in 0..copies.records() {
            let Some(group) = copies.group_of(position) else { continue };
            match &mut right {
                Some(right) if split.is_some_and(|split| position >= split) => {
                    right[group as usize] += 1;
                }
                _ => left[group as usize] += 1,
            }
        }
        let is_plain = right.is_none() && left.iter().all(|&count| count == 1);
        let of_own = left.iter().enumerate().map(|(group, &left): (usize, &u32)| {
            let others = match &right {
                None => left.saturating_sub(1),
                Some(right) => right[group],
            };
            f64::from(left) * f64::from(others)
        });
        let copies = of_own.sum();
        Self { left, right, copies, is_plain }
    }

    /// Of a collection that grows another: new items on both sides, and old ones twice on the left. So every pair counts from
    /// both ends, whether both are new or one is. A new item with an old copy goes for that, and its other pairs do not count.
    fn of_increment(copies: &Copies) -> Self {
        let (members, split) = (copies.members(), copies.split().unwrap_or(0));
        let (mut left, mut right, mut own) = (Vec::new(), Vec::new(), 0.0);
        for group in 0..copies.groups() {
            let all = members.of(group);
            let (old, count) = (all.partition_point(|&item| item < split), all.len());
            let new = (count - old) as f64;
            own += new * (2.0 * old as f64 + (new - 1.0).max(0.0));
            let (twice, once) = if old > 0 { (2 * count, 0) } else { (count, count) };
            left.push(u32::try_from(twice).unwrap_or(u32::MAX));
            right.push(once as u32);
        }
        Self { left, right: Some(right), copies: own, is_plain: false }
    }

    fn left(&self, group: u32) -> u64 {
        self.left[group as usize].into()
    }

    fn right(&self, group: u32) -> u64 {
        self.right.as_ref().unwrap_or(&self.left)[group as usize].into()
    }

    /// Pairs of an item of the one and an item of the other group, from both ends.
    pub(super) fn pairs(&self, a: u32, b: u32) -> f64 {
        self.left(a) as f64 * self.right(b) as f64 + self.left(b) as f64 * self.right(a) as f64
    }

    /// Pairs of items in one group.
    pub(super) fn copies(&self) -> f64 {
        self.copies
    }

    /// Pairs of items of different groups in a bucket.
    fn in_bucket(&self, members: &[u32]) -> f64 {
        if self.is_plain {
            return members.len() as f64 * (members.len() - 1) as f64;
        }
        let (mut left, mut right, mut both) = (0u64, 0u64, 0u128);
        for &group in members {
            left += self.left(group);
            right += self.right(group);
            both += u128::from(self.left(group)) * u128::from(self.right(group));
        }
        (u128::from(left) * u128::from(right) - both) as f64
    }
}

/// Draws two groups of a bucket, each pair as often as it has pairs of items.
struct BucketDraw<'a> {
    members: &'a [u32],
    /// Pairs whose left item is in one of the first groups, and right items in these; empty where all groups have one item.
    pairs: Vec<u128>,
    right: Vec<u64>,
}

impl<'a> BucketDraw<'a> {
    fn new(members: &'a [u32], counts: &GroupCounts) -> Self {
        let (mut pairs, mut right) = (Vec::new(), Vec::new());
        if !counts.is_plain {
            let mut sum = 0;
            for &group in members {
                sum += counts.right(group);
                right.push(sum);
            }
            let mut so_far = 0;
            for &group in members {
                so_far += u128::from(counts.left(group)) * u128::from(sum - counts.right(group));
                pairs.push(so_far);
            }
        }
        Self { members, pairs, right }
    }

    fn draw(&self, random: &mut SplitMix) -> (u32, u32) {
        let (i, j) = match self.pairs.last() {
            None => {
                let count = self.members.len() as u64;
                let (i, j) = (random.below(count), random.below(count - 1));
                (i as usize, (j + u64::from(j >= i)) as usize)
            }
            Some(&pairs) => {
                let at = match u64::try_from(pairs) {
                    Ok(pairs) => random.below(pairs).into(),
                    Err(_) => (u128::from(random.draw()) * (pairs >> 32)) >> 32,
                };
                let i = self.pairs.partition_point(|&end| end <= at);
                let start = if i == 0 { 0 } else { self.right[i - 1] };
                let own = self.right[i] - start;
                let all = self.right[self.right.len() - 1];
                let at = random.below(all - own);
                let at = if at < start { at } else { at + own };
                (i, self.right.partition_point(|&end| end <= at))
            }
        };
        let (a, b) = (self.members[i], self.members[j]);
        (a.min(b), a.max(b))
    }
}

/// Sums over buckets.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BucketSums {
    /// Pairs of groups.
    pub(super) pairs: f64,
    /// What the kinds of draws count.
    pub(super) mass: [f64; 2],
}

/// What a pair in a bucket of this size counts for each kind of draws.
fn of_pair(size: usize) -> [f64; 2] {
    [1.0, 1.0 / size as f64]
}

/// What a bucket counts for each kind of draws.
pub(super) fn masses(members: &[u32], counts: &GroupCounts) -> [f64; 2] {
    let pairs = counts.in_bucket(members);
    of_pair(members.len()).map(|each| pairs * each)
}

/// What a function makes of each partition of buckets, in order.
pub(super) fn each_partition<T: Send>(
    buckets: &Lists<u32>,
    look: impl Fn(usize, &[u32]) -> T + Sync,
) -> Result<Vec<T>> {
    let partitions = (0..buckets.len()).into_par_iter();
    let look = |cache: &mut Cache<u32>, partition: usize| {
        Ok(look(partition, buckets.get(partition, cache)?))
    };
    partitions.map_init(Cache::one, look).collect()
}

/// What it takes to draw pairs.
pub(super) struct Drawing<'a> {
    pub(super) buckets: &'a Lists<u32>,
    pub(super) counts: &'a GroupCounts,
    /// Of each partition.
    pub(super) sums: &'a [BucketSums],
    pub(super) draws: u32,
    pub(super) seed: u64,
}

/// The draws of one slot that fall into a partition.
struct SlotDraws<'a> {
    drawing: &'a Drawing<'a>,
    slot: u32,
    /// What the buckets before the partition count, and all buckets.
    before: f64,
    total: f64,
    /// The next draw, where in the partition it falls, and the first draw of the next partition.
    next: u32,
    falls: f64,
    end: u32,
}

impl SlotDraws<'_> {
    /// Where a draw falls in all that buckets count.
    fn place(&self, draw: u32) -> f64 {
        let Drawing { draws, seed, .. } = self.drawing;
        let random = mix64(draw.into(), mix64(*seed, 1 + u64::from(self.slot)));
        let unit = (random >> 11) as f64 / (1u64 << 53) as f64;
        (f64::from(draw) + unit) / f64::from(draws / SLOTS) * self.total
    }

    /// The first draw that does not fall before a place.
    fn first(&self, place: f64) -> u32 {
        let (mut low, mut high) = (0, self.drawing.draws / SLOTS);
        while low < high {
            let middle = low.midpoint(high);
            if self.place(middle) < place { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The next draw, if it falls before `end`.
    fn take(&mut self, end: Option<f64>) -> Option<u32> {
        let falls = end.is_none_or(|end| self.falls < end);
        (self.next < self.end && falls).then(|| {
            self.next += 1;
            self.falls = self.place(self.next) - self.before;
            self.next - 1
        })
    }
}

impl Drawing<'_> {
    /// What the kinds of draws count over all buckets.
    fn totals(&self) -> [f64; 2] {
        [0, 1].map(|kind| self.sums.iter().map(|sums| sums.mass[kind]).sum())
    }

    /// The draws, by their numbers.
    pub(super) fn draw(&self) -> Result<Vec<(u32, u32)>> {
        let totals = self.totals();
        let drawn = each_partition(self.buckets, |partition, list| {
            let is_last = partition + 1 == self.sums.len();
            let mut slots = [0, 1, 2, 3].map(|slot| {
                let kind = KIND_OF_SLOT[slot];
                let before = self.sums[..partition].iter().map(|sums| sums.mass[kind]).sum();
                let (slot, total) = (slot as u32, totals[kind]);
                let mut draws = SlotDraws {
                    drawing: self,
                    slot,
                    before,
                    total,
                    next: 0,
                    falls: 0.0,
                    end: self.draws / SLOTS,
                };
                draws.next = draws.first(before);
                draws.falls = draws.place(draws.next) - before;
                if !is_last {
                    draws.end = draws.first(before + self.sums[partition].mass[kind]);
                }
                draws
            });
            let mut drawn = Vec::new();
            let mut passed = [0.0; 2];
            let mut last = None;
            for members in each_bucket(list) {
                let own = masses(members, self.counts);
                if own[0] <= 0.0 {
                    continue;
                }
                last = Some(members);
                passed = [passed[0] + own[0], passed[1] + own[1]];
                self.draw_from(members, &mut slots, Some(passed), &mut drawn);
            }
            // What sums round to may leave a draw behind all.
            if let Some(members) = last {
                self.draw_from(members, &mut slots, None, &mut drawn);
            }
            drawn
        })?;
        let mut in_order = vec![(0, 0); self.draws as usize];
        for &(at, a, b) in drawn.iter().flatten() {
            in_order[at as usize] = (a, b);
        }
        debug_assert!(in_order.iter().all(|(a, b)| a < b), "every draw falls into a bucket");
        Ok(in_order)
    }

    /// The draws that fall into a bucket.
    fn draw_from(
        &self,
        members: &[u32],
        slots: &mut [SlotDraws<'_>; SLOTS as usize],
        ends: Option<[f64; 2]>,
        drawn: &mut Vec<(u32, u32, u32)>,
    ) {
        /// A prime that is larger than the number of draws.
        const STEP: u64 = 0x9e37_79b1;
        let mut bucket = None;
        for (draws, kind) in slots.iter_mut().zip(KIND_OF_SLOT) {
            while let Some(draw) = draws.take(ends.map(|ends| ends[kind])) {
                let bucket = bucket.get_or_insert_with(|| BucketDraw::new(members, self.counts));
                // In another order, so that the first ones come from everywhere.
                let shuffled = (u64::from(draw) * STEP % u64::from(self.draws / SLOTS)) as u32;
                let at = SLOTS * shuffled + draws.slot;
                let (a, b) = bucket.draw(&mut SplitMix::new(mix64(at.into(), self.seed)));
                drawn.push((at, a, b));
            }
        }
    }

    /// The buckets of drawn groups, which say what each drawn pair stands for, in `room` bytes. Where they need more, only
    /// the first draws are left.
    pub(super) fn shared(&self, drawn: &mut Vec<(u32, u32)>, room: usize) -> Result<SharedBuckets> {
        loop {
            let groups = DrawnGroups::new(self.counts.left.len(), drawn);
            let counts = BucketCounts::new(self.buckets, &groups)?;
            let fit = counts.first_fitting(drawn, &groups, room);
            if fit == drawn.len() {
                return SharedBuckets::new(self.buckets, &groups, &counts, self.totals());
            }
            drawn.truncate(fit);
        }
    }
}

/// For each number the sum of those before it.
fn sums_before(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut sum = 0;
    let add = |number| {
        sum += number;
        sum - number
    };
    numbers.map(add).collect()
}

/// Groups that were drawn, and their numbers in ascending order: a bit for each group, and how many come before each 64.
struct DrawnGroups {
    bits: Vec<u64>,
    before: Vec<u32>,
    drawn: Vec<u32>,
}

impl DrawnGroups {
    fn new(groups: usize, pairs: &[(u32, u32)]) -> Self {
        let drawn = distinct_groups(pairs.iter().copied());
        let mut bits = vec![0u64; groups.div_ceil(64)];
        drawn.iter().for_each(|&group| bits[group as usize / 64] |= 1 << (group % 64));
        let before = sums_before(bits.iter().map(|word| word.count_ones()));
        Self { bits, before, drawn }
    }

    fn number(&self, group: u32) -> Option<u32> {
        let (word, bit) = (group as usize / 64, 1 << (group % 64));
        let is_drawn = self.bits[word] & bit != 0;
        is_drawn.then(|| self.before[word] + (self.bits[word] & (bit - 1)).count_ones())
    }

    /// Calls `each` with the drawn members of each bucket that has two or more, by their numbers, and with its size.
    /// Returns how many such buckets there are.
    fn in_buckets(&self, list: &[u32], mut each: impl FnMut(&[u32], u32, u32)) -> u32 {
        let (mut found, mut count) = (Vec::new(), 0);
        for members in each_bucket(list) {
            found.clear();
            found.extend(members.iter().filter_map(|&group| self.number(group)));
            if found.len() > 1 {
                each(&found, count, members.len() as u32);
                count += 1;
            }
        }
        count
    }
}

/// How many buckets each drawn group has in common with another one, and how many such buckets each partition has.
struct BucketCounts {
    of_groups: Vec<AtomicU32>,
    of_partitions: Vec<u32>,
}

impl BucketCounts {
    fn new(buckets: &Lists<u32>, groups: &DrawnGroups) -> Result<Self> {
        let of_groups: Vec<AtomicU32> = groups.drawn.iter().map(|_| AtomicU32::new(0)).collect();
        let add = |number: &u32| {
            of_groups[*number as usize].fetch_add(1, Ordering::Relaxed);
        };
        let of_partitions = each_partition(buckets, |_, list| {
            groups.in_buckets(list, |found, _, _| found.iter().for_each(add))
        })?;
        Ok(Self { of_groups, of_partitions })
    }

    fn of(&self, number: u32) -> u32 {
        self.of_groups[number as usize].load(Ordering::Relaxed)
    }

    /// How many of the first draws have no more buckets than there is room for; a few in any case. Their groups have these
    /// in common with groups of later draws too, so they may need less.
    fn first_fitting(&self, drawn: &[(u32, u32)], groups: &DrawnGroups, room: usize) -> usize {
        /// Draws that are made in any case, so that there is something to compare.
        const FEW: usize = 1 << 10;
        let mut is_counted = vec![false; self.of_groups.len()];
        let mut left = room / size_of::<AtomicU64>();
        let mut fits = |&(a, b): &(u32, u32)| {
            let new = [a, b].into_iter().filter_map(|group| groups.number(group)).map(|number| {
                let was_counted = std::mem::replace(&mut is_counted[number as usize], true);
                if was_counted { 0 } else { self.of(number) as usize }
            });
            let rest = left.checked_sub(new.sum());
            left = rest.unwrap_or(left);
            rest.is_some()
        };
        drawn.iter().take_while(|pair| fits(pair)).count().max(FEW.min(drawn.len()))
    }
}

/// The buckets that two drawn groups or more are in.
#[derive(Debug)]
pub(super) struct SharedBuckets {
    /// The drawn groups, ascending.
    groups: Vec<u32>,
    /// Where the buckets of each start, and the last's end.
    starts: Vec<u32>,
    /// The number of a bucket, ascending, and its size.
    buckets: Vec<(u32, u32)>,
    /// What the kinds of draws count over all buckets.
    totals: [f64; 2],
}

impl SharedBuckets {
    fn new(
        buckets: &Lists<u32>,
        groups: &DrawnGroups,
        counts: &BucketCounts,
        totals: [f64; 2],
    ) -> Result<Self> {
        let numbers = 0..groups.drawn.len() as u32;
        let mut starts = sums_before(numbers.map(|number| counts.of(number)));
        let end = starts.last().map_or(0, |start| start + counts.of(starts.len() as u32 - 1));
        starts.push(end);
        let all: Vec<AtomicU64> = (0..end).map(|_| AtomicU64::new(0)).collect();
        let next: Vec<AtomicU32> = starts.iter().map(|&start| AtomicU32::new(start)).collect();
        let firsts = sums_before(counts.of_partitions.iter().copied());
        each_partition(buckets, |partition, list| {
            groups.in_buckets(list, |found, bucket, size| {
                let entry = u64::from(firsts[partition] + bucket) << 32 | u64::from(size);
                for &number in found {
                    let at = next[number as usize].fetch_add(1, Ordering::Relaxed);
                    all[at as usize].store(entry, Ordering::Relaxed);
                }
            })
        })?;
        let mut all: Vec<(u32, u32)> = all
            .into_iter()
            .map(AtomicU64::into_inner)
            .map(|entry| ((entry >> 32) as u32, entry as u32))
            .collect();
        // Partitions came in any order.
        starts.windows(2).for_each(|ends| all[ends[0] as usize..ends[1] as usize].sort_unstable());
        Ok(Self { groups: groups.drawn.clone(), starts, buckets: all, totals })
    }

    /// Bytes of the buckets.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.buckets.len() * size_of::<(u32, u32)>()
    }

    fn of(&self, group: u32) -> &[(u32, u32)] {
        let Ok(number) = self.groups.binary_search(&group) else { return &[] };
        &self.buckets[self.starts[number] as usize..self.starts[number + 1] as usize]
    }

    /// How many pairs a drawn pair stands for, if it is surely seen: one over the chance to draw it from any of the buckets
    /// that the two share.
    pub(super) fn weight(&self, a: u32, b: u32) -> f64 {
        let chance = |size: u32| {
            let [first, second] = of_pair(size as usize);
            0.75 * first / self.totals[0] + 0.25 * second / self.totals[1]
        };
        let (one, other) = (self.of(a), self.of(b));
        let (mut i, mut j, mut sum) = (0, 0, 0.0);
        while i < one.len() && j < other.len() {
            let ((first, size), (second, _)) = (one[i], other[j]);
            if first == second {
                sum += chance(size);
            }
            i += usize::from(first <= second);
            j += usize::from(second <= first);
        }
        1.0 / sum
    }
}

/// The groups of these pairs, each once, ascending.
pub(super) fn distinct_groups(pairs: impl Iterator<Item = (u32, u32)>) -> Vec<u32> {
    let mut groups: Vec<u32> = pairs.flat_map(|(a, b)| [a, b]).collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

//! Draws two groups of a bucket, again and again, with known chances.
//!
//! The buckets of each partition are gone through in order. Draws are spread evenly over all that they count, so the draws
//! of a partition are known without those of others, and partitions are gone through side by side.

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
    /// Whether there is one item in each, and one side.
    is_plain: bool,
}

impl GroupCounts {
    pub(super) fn new(copies: &Copies) -> Self {
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
        Self { left, right, is_plain }
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
        let both = self.left.iter().enumerate().map(|(group, &left)| {
            let others = match &self.right {
                None => left.saturating_sub(1),
                Some(right) => right[group],
            };
            f64::from(left) * f64::from(others)
        });
        both.sum()
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

    /// The buckets of drawn groups, which say what each drawn pair stands for.
    pub(super) fn shared(&self, drawn: &[(u32, u32)]) -> Result<SharedBuckets> {
        SharedBuckets::new(self.buckets, self.counts.left.len(), drawn, self.totals())
    }
}

/// The buckets that two drawn groups or more are in.
#[derive(Debug)]
pub(super) struct SharedBuckets {
    /// The drawn groups, ascending.
    groups: Vec<u32>,
    /// Where the buckets of each start.
    starts: Vec<u32>,
    /// The number of a bucket, ascending, and its size.
    buckets: Vec<(u32, u32)>,
    /// What the kinds of draws count over all buckets.
    totals: [f64; 2],
}

impl SharedBuckets {
    fn new(
        buckets: &Lists<u32>,
        groups: usize,
        drawn: &[(u32, u32)],
        totals: [f64; 2],
    ) -> Result<Self> {
        let drawn = distinct_groups(drawn.iter().copied());
        // By group, its number among those that were drawn, from 1.
        let mut numbers = vec![0u32; groups];
        for (number, &group) in (1..).zip(&drawn) {
            numbers[group as usize] = number;
        }
        let found = each_partition(buckets, |_, list| {
            let (mut found, mut count) = (Vec::new(), 0u32);
            for members in each_bucket(list) {
                let before = found.len();
                let those = members.iter().map(|&group| numbers[group as usize]);
                let size = members.len() as u32;
                found.extend(those.filter(|&it| it > 0).map(|it| (it, count, size)));
                match found.len() - before {
                    0 | 1 => found.truncate(before),
                    _ => count += 1,
                }
            }
            (found, count)
        })?;
        let mut starts = vec![0u32; drawn.len() + 2];
        for &(number, ..) in found.iter().flat_map(|(found, _)| found) {
            starts[number as usize + 1] += 1;
        }
        for number in 1..starts.len() {
            starts[number] += starts[number - 1];
        }
        let mut all = vec![(0, 0); starts[drawn.len() + 1] as usize];
        let mut next = starts.clone();
        let mut first = 0;
        for (found, count) in found {
            for (number, bucket, size) in found {
                all[next[number as usize] as usize] = (first + bucket, size);
                next[number as usize] += 1;
            }
            first += count;
        }
        starts.remove(0);
        Ok(Self { groups: drawn, starts, buckets: all, totals })
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

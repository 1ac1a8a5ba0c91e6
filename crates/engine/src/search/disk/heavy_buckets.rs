//! Buckets of many items that are close and yet not similar: forms that differ in a few words, the same sentences in
//! another order. To compare all pairs of such a bucket takes the square of its members, and the first look rules out
//! few of them.
//!
//! Buckets of that kind that have members in common are one class, whose members are joined exactly instead, once for
//! all tables. A pair of one class counts only if the buckets would have found it too, that is if it shares a key and
//! agrees in enough bytes. So results are the same as if every bucket had been compared, and whether a pair is found
//! depends on its two items alone.
//!
//! Which buckets these are depends on the data alone. 20,000 forms that are just not similar took `pairs` 97 s.

use std::collections::BTreeMap;

use nearkin_kernels::equal_bytes_of;

use crate::Result;
use crate::candidates::{KEY_PARTS, each_bucket};
use crate::cluster::UnionFind;
use crate::family::hash::mix64;
use crate::join::sets::{Filters, SetJoinCounts};
use crate::matches::SimilarGroupsBuilder;
use crate::observe::Observer;
use crate::spill::Cache;

use super::bucket_join::BucketJoin;
use super::exact_join::GroupJoin;

/// Members of a bucket from which on it may be heavy. To compare a pair of 1,000 forms took 30 to 40 ns in `pairs`, so up to
/// here a member takes as long as the rest of the run takes for ten ordinary texts.
const HEAVY: usize = 2048;
/// Members from which on it is if few pairs are similar, even if few are compared: it takes this many looks of 4 ns for each.
/// Sets can be made to share a key and nothing else.
const VERY_HEAVY: usize = 8192;
/// Members that are drawn to see whether it is.
const DRAWN: usize = 64;
/// Of pairs that share a key, one of at most this many is compared in a heavy bucket, and of those that are compared,
/// fewer than one of this many are similar.
const ONE_IN: usize = 4;

/// Classes of groups that have heavy buckets in common.
#[derive(Default)]
pub(super) struct HeavyClasses {
    /// The classes, once there are any.
    sets: Option<UnionFind>,
    /// For each group whether it is in one.
    are_members: Vec<bool>,
}

impl HeavyClasses {
    /// One more bucket is heavy.
    pub(super) fn add(&mut self, bucket: &[u32], groups: usize) {
        let sets = self.sets.get_or_insert_with(|| UnionFind::new(groups));
        self.are_members.resize(groups, false);
        for &group in bucket {
            sets.join(bucket[0], group);
            self.are_members[group as usize] = true;
        }
    }

    /// Whether no bucket is heavy.
    pub(super) fn is_empty(&self) -> bool {
        self.sets.is_none()
    }

    /// Whether two groups are of one class.
    pub(super) fn same(&self, a: u32, b: u32) -> bool {
        self.sets.as_ref().is_some_and(|sets| sets.root(a) == sets.root(b))
    }

    /// Whether all groups of a bucket are of one class.
    pub(super) fn hold(&self, bucket: &[u32]) -> bool {
        self.sets.is_some() && bucket.iter().all(|&group| self.same(bucket[0], group))
    }

    /// The members of each class, ascending.
    fn each(&self) -> Vec<Vec<u32>> {
        let mut classes: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        if let Some(sets) = &self.sets {
            for (group, _) in (0u32..).zip(&self.are_members).filter(|(_, is_member)| **is_member) {
                classes.entry(sets.root(group)).or_default().push(group);
            }
        }
        classes.into_values().collect()
    }
}

impl BucketJoin {
    /// The classes of heavy buckets.
    pub(super) fn heavy_classes(&self) -> Result<HeavyClasses> {
        let mut classes = HeavyClasses::default();
        let mut lists = Cache::one();
        for partition in 0..self.buckets.len() {
            for bucket in each_bucket(self.buckets.get(partition, &mut lists)?) {
                let is_large = bucket.len() >= HEAVY
                    && self.sides.as_ref().is_none_or(|sides| sides.both(bucket));
                if is_large && !classes.hold(bucket) && self.is_heavy(bucket)? {
                    classes.add(bucket, self.texts.places.len());
                }
            }
        }
        Ok(classes)
    }

    /// Whether many pairs of a bucket would be compared and few of them are similar, by the pairs of some members.
    fn is_heavy(&self, bucket: &[u32]) -> Result<bool> {
        let (mut pairs, mut compared, mut similar) = (0, 0, 0);
        let drawn: Vec<u32> = (0..DRAWN as u64)
            .map(|at| bucket[(mix64(at, bucket.len() as u64) % bucket.len() as u64) as usize])
            .collect();
        let (mut one, mut many) = (Cache::one(), Cache::one());
        let (mut one_head, mut many_heads) = (Cache::one(), Cache::one());
        for (i, &a) in drawn.iter().enumerate() {
            let head = self.texts.head(a, &mut one_head)?;
            let own = self.texts.body(a, &mut one)?;
            for &b in drawn[..i].iter().filter(|&&b| b != a) {
                pairs += 1;
                if self.sides.as_ref().is_none_or(|sides| sides.across(a, b))
                    && self.agree(head, self.texts.head(b, &mut many_heads)?)
                {
                    compared += 1;
                    let other = self.texts.body(b, &mut many)?;
                    similar += usize::from(own.similar(other, &self.verifier).is_some());
                }
            }
        }
        let pays = ONE_IN * compared >= pairs && ONE_IN * similar < compared;
        Ok(pays || bucket.len() >= VERY_HEAVY && ONE_IN * similar < pairs)
    }

    fn agree(&self, head: &[u64], other: &[u64]) -> bool {
        let layout = self.texts.layout;
        equal_bytes_of(layout.bytes_of(head), layout.bytes_of(other)) >= self.agreement
    }

    /// Whether the buckets would have found a similar pair.
    fn would_find(&self, a: u32, b: u32) -> Result<bool> {
        let (mut one, mut other) = (Cache::one(), Cache::one());
        let (a, b) = (self.texts.head(a, &mut one)?, self.texts.head(b, &mut other)?);
        let tables = self.buckets.len() / KEY_PARTS;
        Ok(self.agree(a, b) && self.texts.layout.share_key(a, b, tables))
    }

    fn join<'a>(&'a self, class: &'a [u32]) -> GroupJoin<'a> {
        let Self { texts, sides, verifier, budget, .. } = self;
        let filters = Filters::default();
        GroupJoin { texts, sides: sides.as_ref(), verifier, filters, budget, groups: class }
    }

    /// Adds the similar pairs of each class.
    pub(super) fn pairs_of_classes(
        &self,
        classes: &HeavyClasses,
        builder: &SimilarGroupsBuilder<'_>,
        observer: &dyn Observer,
    ) -> Result<SetJoinCounts> {
        let mut counts = SetJoinCounts::default();
        for class in classes.each() {
            let of_class = self.join(&class).each_pair(observer, &|found| {
                let mut pairs = Vec::with_capacity(found.len());
                for &(a, b, overlap) in found {
                    if self.would_find(a, b)? {
                        pairs.push((a, b, self.verifier.value(overlap)));
                    }
                }
                builder.add(pairs)
            })?;
            counts = counts.plus(of_class);
        }
        Ok(counts)
    }

    /// Joins what the similar pairs of each class connect.
    pub(super) fn connect_classes(
        &self,
        classes: &HeavyClasses,
        known: &mut UnionFind,
        observer: &dyn Observer,
    ) -> Result<SetJoinCounts> {
        let mut counts = SetJoinCounts::default();
        for class in classes.each() {
            let wanted = |a: u32, b: u32| self.would_find(a, b);
            counts = counts.plus(self.join(&class).connect(known, Some(&wanted), observer)?);
        }
        Ok(counts)
    }
}

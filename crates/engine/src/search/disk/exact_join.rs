//! Every pair, none missed: the exact join of the texts' elements.
//!
//! What is in memory is joined at once. What is not comes in blocks: each is joined in itself and indexed, and
//! everything after it is looked up there.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::cluster::UnionFind;
use crate::item::Sides;
use crate::join::sets::{self, Filters, QueryScratch, SetIndex, SetJoin, SetJoinCounts, SetPair};
use crate::matches::{CopyValues, PairOwners, SimilarGroups, SimilarGroupsBuilder, Stats};
use crate::observe::Observer;
use crate::spill::{Budget, Cache};
use crate::verify::{Measure, Overlap, Verifier};
use crate::{Error, Result};

use super::candidate_store::CandidateStore;

/// The texts of all groups, and what makes two of them similar.
pub(in crate::search) struct ExactJoin {
    pub(super) texts: CandidateStore,
    pub(super) sides: Option<Sides>,
    pub(super) verifier: Verifier,
    pub(super) filters: Filters,
    pub(super) budget: Budget,
    pub(super) threads: usize,
}

/// The same for some of the groups.
pub(super) struct GroupJoin<'a> {
    pub(super) texts: &'a CandidateStore,
    pub(super) sides: Option<&'a Sides>,
    pub(super) verifier: &'a Verifier,
    pub(super) filters: Filters,
    pub(super) budget: &'a Budget,
    /// The groups, ascending.
    pub(super) groups: &'a [u32],
}

/// Elements of a block, at most: they are counted in 32 bits.
const MOST: usize = 1 << 31;

/// How often two components were joined to make these.
fn joins(components: &[u32]) -> u64 {
    (0u32..).zip(components).filter(|(group, root)| group != *root).count() as u64
}

/// A similar pair of groups.
type GroupPair = (u32, u32, Overlap);

impl ExactJoin {
    /// Every similar pair of groups.
    pub(super) fn similar_groups(
        &self,
        observer: &dyn Observer,
        stats: &mut Stats,
    ) -> Result<SimilarGroups> {
        let builder = SimilarGroupsBuilder::new(
            &self.texts.places,
            self.texts.len(),
            PairOwners::Both,
            &self.budget,
        );
        let groups = self.groups();
        let counts = self.join(&groups).each_pair(observer, &|found| {
            let value = |&(a, b, overlap): &GroupPair| (a, b, self.verifier.value(overlap));
            builder.add(found.iter().map(value))
        })?;
        self.count(stats, counts, builder.pairs());
        builder.check_space()?;
        builder.finish(self.copy_values()?, self.threads)
    }

    /// How close copies are. Under some measures that depends on their size.
    fn copy_values(&self) -> Result<CopyValues> {
        let value = |size: u32| {
            let overlap = Overlap::identical(size.into());
            let is_similar = self.verifier.limit().reached(self.verifier.measure(), overlap);
            is_similar.then(|| self.verifier.value(overlap))
        };
        if self.verifier.measure() != Measure::Overlap {
            return Ok(CopyValues::Same(value(1)));
        }
        let sizes = self.texts.sizes()?.into_iter();
        Ok(CopyValues::Each(sizes.map(|size| value(size).unwrap_or(f64::NAN)).collect()))
    }

    /// The connected components of all similar pairs: for every group its component's smallest member.
    pub(super) fn components(
        &self,
        observer: &dyn Observer,
        stats: &mut Stats,
    ) -> Result<Vec<u32>> {
        let mut known = UnionFind::new(self.texts.len());
        let counts = self.join(&self.groups()).connect(&mut known, None, observer)?;
        let components: Vec<u32> =
            (0..self.texts.len() as u32).map(|group| known.find(group)).collect();
        self.count(stats, counts, joins(&components));
        Ok(components)
    }

    fn groups(&self) -> Vec<u32> {
        (0..self.texts.len() as u32).collect()
    }

    fn join<'a>(&'a self, groups: &'a [u32]) -> GroupJoin<'a> {
        let Self { texts, sides, verifier, filters, budget, .. } = self;
        GroupJoin { texts, sides: sides.as_ref(), verifier, filters: *filters, budget, groups }
    }

    fn count(&self, stats: &mut Stats, counts: SetJoinCounts, similar: u64) {
        stats.in_candidates = self.texts.len() as u64;
        stats.candidates = counts.candidates;
        stats.verified = counts.verified;
        stats.similar = similar;
    }
}

impl<'a> GroupJoin<'a> {
    fn set_join<'s>(&'s self, stopped: &'s (dyn Fn() -> bool + Sync)) -> SetJoin<'s> {
        SetJoin { verifier: self.verifier, filters: self.filters, split: None, stopped }
    }

    /// Joins what similar pairs connect to what is known to be connected; only pairs that are wanted count, where that is
    /// asked. Of pairs that are connected already, few are compared.
    pub(super) fn connect(
        &self,
        known: &mut UnionFind,
        wanted: Option<&(dyn Fn(u32, u32) -> Result<bool> + Sync)>,
        observer: &dyn Observer,
    ) -> Result<SetJoinCounts> {
        let stopped = || observer.stopped();
        if let [all] = &self.blocks()[..] {
            let mut buffer = Vec::new();
            let sets = self.sets(all.clone(), &mut buffer)?;
            // What is on both sides stands on each, and is connected to itself.
            let (numbers, split) = self.in_order_of_sides(sets.len(), all.start);
            let ordered: Vec<&[u64]> = numbers.iter().map(|&at| sets[at as usize]).collect();
            let group = |at: u32| self.groups[numbers[at as usize] as usize];
            let mut first: Vec<Option<u32>> = vec![None; sets.len()];
            let mut before = UnionFind::new(ordered.len());
            for (at, &number) in (0u32..).zip(&numbers) {
                let root =
                    self.groups.binary_search(&known.find(group(at))).unwrap_or(number as usize);
                before.join(*first[root].get_or_insert(at), at);
            }
            let wanted = wanted.map(|wanted| move |a: u32, b: u32| wanted(group(a), group(b)));
            let wanted = wanted.as_ref().map(|wanted| wanted as &sets::Wanted<'_>);
            let join = SetJoin { split, ..self.set_join(&stopped) };
            let counts = sets::connect(&ordered, &join, &mut before, wanted)?;
            for at in 0..ordered.len() as u32 {
                known.join(group(at), group(before.find(at)));
            }
            return Ok(counts);
        }
        let known = Mutex::new(known);
        self.each_pair(observer, &|found| {
            for &(a, b, _) in found {
                if wanted.map_or(Ok(true), |wanted| wanted(a, b))? {
                    known.lock().unwrap_or_else(PoisonError::into_inner).join(a, b);
                }
            }
            Ok(())
        })
    }

    /// Hands over every similar pair, once, in any order.
    pub(super) fn each_pair(
        &self,
        observer: &dyn Observer,
        found: &(dyn Fn(&[GroupPair]) -> Result<()> + Sync),
    ) -> Result<SetJoinCounts> {
        let stopped = || observer.stopped();
        let mut counts = SetJoinCounts::default();
        for block in self.blocks() {
            let mut buffer = Vec::new();
            let sets = self.sets(block.clone(), &mut buffer)?;
            // With two collections, what is in both stands on both sides.
            let (numbers, split) = self.in_order_of_sides(sets.len(), block.start);
            let ordered: Vec<&[u64]> = numbers.iter().map(|&at| sets[at as usize]).collect();
            let pair = |&SetPair { a, b, shared }: &SetPair| {
                let twice = |at: u32| {
                    split.is_some() && self.is_on_both_sides(self.groups[block.start + at as usize])
                };
                let (a, b) = (numbers[a as usize], numbers[b as usize]);
                // Such a pair comes a second time, the other way round.
                if a == b || (a > b && twice(a) && twice(b)) {
                    return None;
                }
                let [first, second] = [a, b].map(|at| sets[at as usize].len());
                let overlap = Measure::overlap(shared as usize, first, second);
                let [a, b] = [a, b].map(|at| self.groups[block.start + at as usize]);
                Some((a, b, overlap))
            };
            let join = SetJoin { split, ..self.set_join(&stopped) };
            let within = sets::pairs(&ordered, &join, &|hits| {
                found(&hits.iter().filter_map(pair).collect::<Vec<GroupPair>>())
            })?;
            let across = self.look_up_rest(&block, &sets, observer, found)?;
            counts = counts.plus(within).plus(across);
        }
        Ok(counts)
    }

    /// The numbers, from 0, of `count` groups from `start` on: those of the first collection and then those of the
    /// second, and where these begin. With one collection, just all.
    fn in_order_of_sides(&self, count: usize, start: usize) -> (Vec<u32>, Option<u32>) {
        let all = 0..count as u32;
        let Some(sides) = self.sides else { return (all.collect(), None) };
        let group = |at: &u32| self.groups[start + *at as usize] as usize;
        let on = |side: u8| move |at: &u32| sides.0[group(at)] & side != 0;
        let mut numbers: Vec<u32> = all.clone().filter(on(Sides::LEFT)).collect();
        let split = numbers.len() as u32;
        numbers.extend(all.filter(on(Sides::RIGHT)));
        (numbers, Some(split))
    }

    fn is_on_both_sides(&self, group: u32) -> bool {
        let sides = self.sides.map_or(0, |sides| sides.0[group as usize]);
        sides == Sides::LEFT | Sides::RIGHT
    }

    /// Looks up every group after a block in it.
    fn look_up_rest(
        &self,
        block: &Range<usize>,
        sets: &[&[u64]],
        observer: &dyn Observer,
        found: &(dyn Fn(&[GroupPair]) -> Result<()> + Sync),
    ) -> Result<SetJoinCounts> {
        /// Groups that a thread looks up at a time.
        const PORTION: usize = 1 << 10;
        let rest = block.end..self.groups.len();
        if rest.is_empty() {
            return Ok(SetJoinCounts::default());
        }
        let index = SetIndex::new(sets, self.verifier, self.filters)?;
        let portions: Vec<Range<usize>> =
            rest.clone().step_by(PORTION).map(|at| at..(at + PORTION).min(rest.end)).collect();
        let counts = portions.into_par_iter().map_init(
            || (Cache::one(), QueryScratch::default(), Vec::new()),
            |(cache, scratch, hits), portion| {
                if observer.stopped() {
                    return Err(Error::Interrupted);
                }
                let (mut pairs, mut counts) = (Vec::new(), SetJoinCounts::default());
                for &group in &self.groups[portion] {
                    let elements = self.texts.body(group, cache)?.elements;
                    hits.clear();
                    counts = counts.plus(index.query(elements, scratch, hits));
                    pairs.extend(hits.iter().filter_map(|&(set, shared)| {
                        let size = sets[set as usize].len();
                        let overlap = Measure::overlap(shared as usize, size, elements.len());
                        let (a, b) = (self.groups[block.start + set as usize], group);
                        let wanted = self.sides.is_none_or(|sides| sides.across(a, b));
                        wanted.then_some((a, b, overlap))
                    }));
                    if pairs.len() >= PORTION {
                        found(&pairs)?;
                        pairs.clear();
                    }
                }
                found(&pairs).map(|()| counts)
            },
        );
        counts.try_reduce(SetJoinCounts::default, |a, b| Ok(a.plus(b)))
    }

    /// Stretches of groups whose elements, and what the join makes of them, fit in memory.
    fn blocks(&self) -> Vec<Range<usize>> {
        // In bytes: eight an element here, and up to four times as many in the join.
        let room = (self.budget.share(1) / 8).min(MOST);
        let (mut blocks, mut start, mut words) = (Vec::new(), 0, 0);
        for (at, &group) in self.groups.iter().enumerate() {
            let length = self.texts.length(group);
            if words + length > room && at > start {
                blocks.push(start..at);
                (start, words) = (at, 0);
            }
            words += length;
        }
        blocks.push(start..self.groups.len());
        blocks
    }

    /// The elements of these of the groups; those that are on disk are read into the buffer.
    fn sets<'b>(&self, at: Range<usize>, buffer: &'b mut Vec<u64>) -> Result<Vec<&'b [u64]>>
    where
        'a: 'b,
    {
        let groups = &self.groups[at];
        let mut cache = Cache::one();
        let mut read = Vec::new();
        for &group in groups {
            if self.texts.in_memory(group).is_none() {
                let start = buffer.len();
                buffer.extend_from_slice(self.texts.body(group, &mut cache)?.elements);
                read.push(start..buffer.len());
            }
        }
        let buffer = &*buffer;
        let mut read = read.into_iter();
        let texts: &'a CandidateStore = self.texts;
        Ok(groups
            .iter()
            .map(|&group| match texts.in_memory(group) {
                Some(body) => body.elements,
                None => &buffer[read.next().unwrap_or_default()],
            })
            .collect())
    }
}

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
        let counts = self.each_pair(observer, &|found| {
            let value = |&(a, b, overlap): &GroupPair| (a, b, self.verifier.value(overlap));
            builder.add(found.iter().map(value))
        })?;
        self.count(stats, counts, builder.pairs());
        builder.finish(self.copy_values()?, self.threads)
    }

    /// How close copies are. Under some measures that depends on their size.
    fn copy_values(&self) -> Result<CopyValues> {
        let value = |size: u32| {
            let overlap = Overlap::identical(size);
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
        let stopped = || observer.stopped();
        if let [all] = &self.blocks()[..] {
            let mut buffer = Vec::new();
            let sets = self.sets(all.clone(), &mut buffer)?;
            let (components, counts) = sets::components(&sets, &self.join(&stopped))?;
            self.count(stats, counts, joins(&components));
            return Ok(components);
        }
        let all = Mutex::new(UnionFind::new(self.texts.len()));
        let counts = self.each_pair(observer, &|found| {
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            found.iter().for_each(|&(a, b, _)| all.join(a, b));
            Ok(())
        })?;
        let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        let components: Vec<u32> =
            (0..self.texts.len() as u32).map(|group| all.find(group)).collect();
        self.count(stats, counts, joins(&components));
        Ok(components)
    }

    fn join<'a>(&'a self, stopped: &'a (dyn Fn() -> bool + Sync)) -> SetJoin<'a> {
        SetJoin { verifier: &self.verifier, filters: self.filters, split: None, stopped }
    }

    fn count(&self, stats: &mut Stats, counts: SetJoinCounts, similar: u64) {
        stats.in_candidates = self.texts.len() as u64;
        stats.candidates = counts.candidates;
        stats.verified = counts.verified;
        stats.similar = similar;
    }

    /// Hands over every similar pair, once, in any order.
    fn each_pair(
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
                let twice =
                    |at: u32| split.is_some() && self.is_on_both_sides(block.start as u32 + at);
                let (a, b) = (numbers[a as usize], numbers[b as usize]);
                // Such a pair comes a second time, the other way round.
                if a == b || (a > b && twice(a) && twice(b)) {
                    return None;
                }
                let [first, second] = [a, b].map(|at| sets[at as usize].len());
                let overlap = Measure::overlap(shared as usize, first, second);
                Some((block.start as u32 + a, block.start as u32 + b, overlap))
            };
            let join = SetJoin { split, ..self.join(&stopped) };
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
        let Some(sides) = &self.sides else { return (all.collect(), None) };
        let on = |side: u8| move |at: &u32| sides.0[start + *at as usize] & side != 0;
        let mut numbers: Vec<u32> = all.clone().filter(on(Sides::LEFT)).collect();
        let split = numbers.len() as u32;
        numbers.extend(all.filter(on(Sides::RIGHT)));
        (numbers, Some(split))
    }

    fn is_on_both_sides(&self, group: u32) -> bool {
        let sides = self.sides.as_ref().map_or(0, |sides| sides.0[group as usize]);
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
        let rest = block.end..self.texts.len();
        if rest.is_empty() {
            return Ok(SetJoinCounts::default());
        }
        let index = SetIndex::new(sets, &self.verifier, self.filters)?;
        let portions: Vec<Range<usize>> =
            rest.clone().step_by(PORTION).map(|at| at..(at + PORTION).min(rest.end)).collect();
        let counts = portions.into_par_iter().map_init(
            || (Cache::one(), QueryScratch::default(), Vec::new()),
            |(cache, scratch, hits), portion| {
                if observer.stopped() {
                    return Err(Error::Interrupted);
                }
                let (mut pairs, mut counts) = (Vec::new(), SetJoinCounts::default());
                for group in portion {
                    let elements = self.texts.body(group as u32, cache)?.elements;
                    hits.clear();
                    counts = counts.plus(index.query(elements, scratch, hits));
                    pairs.extend(hits.iter().filter_map(|&(set, shared)| {
                        let size = sets[set as usize].len();
                        let overlap = Measure::overlap(shared as usize, size, elements.len());
                        let (a, b) = (block.start as u32 + set, group as u32);
                        let wanted = self.sides.as_ref().is_none_or(|sides| sides.across(a, b));
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
        for group in 0..self.texts.len() {
            let length = self.texts.length(group as u32);
            if words + length > room && group > start {
                blocks.push(start..group);
                (start, words) = (group, 0);
            }
            words += length;
        }
        blocks.push(start..self.texts.len());
        blocks
    }

    /// The elements of these groups; those that are on disk are read into the buffer.
    fn sets<'a>(
        &'a self,
        groups: Range<usize>,
        buffer: &'a mut Vec<u64>,
    ) -> Result<Vec<&'a [u64]>> {
        let mut cache = Cache::one();
        let mut read = Vec::new();
        for group in groups.clone() {
            if self.texts.in_memory(group as u32).is_none() {
                let start = buffer.len();
                buffer.extend_from_slice(self.texts.body(group as u32, &mut cache)?.elements);
                read.push(start..buffer.len());
            }
        }
        let buffer = &*buffer;
        let mut read = read.into_iter();
        Ok(groups
            .map(|group| match self.texts.in_memory(group as u32) {
                Some(body) => body.elements,
                None => &buffer[read.next().unwrap_or_default()],
            })
            .collect())
    }
}

//! The closest items of each item, exactly. Of equally close ones, the first in the collection win.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use nearkin_kernels::near_box;
use rayon::prelude::*;

use super::blocks::{BlockCounts, Blocks, bits};
use super::dense::DenseJoin;
use super::go_on;
use crate::space::{ClosePair, Form, PairSink, Space};
use crate::{Error, Result};

/// Asks for the closest items of each item.
#[derive(Clone, Copy)]
pub struct TopQuery<'a> {
    /// How many of the closest of each item, at least 1.
    pub count: usize,
    /// Where the second collection begins, if items of the first one ask for items of the second.
    pub split: Option<u32>,
    /// Items that are closer than this do not count.
    pub no_closer: Option<f64>,
    /// Whether to give up.
    pub stopped: &'a (dyn Fn() -> bool + Sync),
}

impl TopQuery<'_> {
    pub(super) fn check(&self) -> Result<()> {
        if self.count == 0 { Err(Error::parameter("k", 0, "at least 1")) } else { Ok(()) }
    }

    /// The items that ask.
    pub(crate) fn asking(&self, items: usize) -> Range<u32> {
        0..self.split.map_or(items, |split| items.min(split as usize)) as u32
    }

    /// Whether an item can be one of the closest of another.
    pub(super) fn is_asked(&self, item: u32, of: u32) -> bool {
        item != of && self.split.is_none_or(|split| item >= split)
    }
}

/// The closest so far of one item.
pub(super) struct TopList {
    form: Form,
    count: usize,
    no_closer: Option<f64>,
    /// The closest first, and of equals the earliest.
    kept: Vec<(f64, u32)>,
}

impl TopList {
    pub(super) fn new(form: Form, top: &TopQuery<'_>) -> Self {
        Self { form, count: top.count, no_closer: top.no_closer, kept: Vec::new() }
    }

    /// What another must reach to be kept.
    pub(super) fn limit(&self) -> f64 {
        match self.kept.get(self.count - 1) {
            Some(last) => last.0,
            None if self.form == Form::Distance => f64::INFINITY,
            None => f64::NEG_INFINITY,
        }
    }

    /// Compares an item, and takes it in if it is close enough.
    pub(super) fn meet(&mut self, space: &impl Space, of: u32, item: u32) {
        let value = space.reaching(of.min(item), of.max(item), self.limit());
        value.into_iter().for_each(|value| self.insert(value, item));
    }

    /// Takes an item in, if it is close enough.
    fn insert(&mut self, value: f64, item: u32) {
        if self.no_closer.is_some_and(|bound| self.form.closer(value, bound)) {
            return;
        }
        let place = self.kept.partition_point(|&(other, position)| {
            self.form.closer(other, value) || (other == value && position < item)
        });
        if place < self.count {
            self.kept.truncate(self.count - 1);
            self.kept.insert(place, (value, item));
        }
    }

    pub(super) fn found(self, a: u32) -> impl Iterator<Item = ClosePair> {
        self.kept.into_iter().map(move |(value, b)| ClosePair { a, b, value })
    }
}

/// Of the pairs that a join hands on, the closest of each item: by item, from close to far.
///
/// # Errors
/// When none are asked for, and those of the join.
pub(crate) fn of_pairs<C>(
    space: &impl Space,
    top: &TopQuery,
    join: impl FnOnce(&PairSink<'_>) -> Result<C>,
) -> Result<Vec<Vec<ClosePair>>> {
    top.check()?;
    let none = || TopList::new(space.form(), top);
    let lists: Mutex<Vec<TopList>> = Mutex::new((0..space.len()).map(|_| none()).collect());
    join(&|pairs| {
        let mut lists = lists.lock().unwrap_or_else(PoisonError::into_inner);
        for &ClosePair { a, b, value } in pairs {
            lists[a as usize].insert(value, b);
            if top.split.is_none() {
                lists[b as usize].insert(value, a);
            }
        }
        Ok(())
    })?;
    let lists = lists.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((0u32..).zip(lists).map(|(item, list)| list.found(item).collect()).collect())
}

/// The closest of each item of any space, by comparing all: those of the first item from close to far, then
/// those of the second, and so on.
///
/// # Errors
/// When none are asked for, or it was stopped.
pub fn brute_force(space: &impl Space, top: &TopQuery) -> Result<Vec<ClosePair>> {
    let items: Vec<u32> = top.asking(space.len()).collect();
    brute_force_of(space, top, &items)
}

/// [`brute_force`] for some of the items that may ask, in the order given.
///
/// # Errors
/// When none are asked for, or it was stopped.
pub fn brute_force_of(space: &impl Space, top: &TopQuery, items: &[u32]) -> Result<Vec<ClosePair>> {
    top.check()?;
    let found = items.par_iter().map(|&of| {
        go_on(top.stopped)?;
        let mut closest = TopList::new(space.form(), top);
        let others = (0..space.len() as u32).filter(|&item| top.is_asked(item, of));
        others.for_each(|item| closest.meet(space, of, item));
        Ok(closest.found(of).collect::<Vec<_>>())
    });
    Ok(found.collect::<Result<Vec<_>>>()?.concat())
}

impl Blocks<'_> {
    /// The closest of each item: those of the first item from close to far, then those of the second, and so on.
    ///
    /// The items of a block search together, the nearest blocks first. Each looks only for what is nearer than the last of
    /// those it has.
    ///
    /// # Errors
    /// When none are asked for, or it was stopped.
    pub fn closest(&self, top: &TopQuery) -> Result<(Vec<ClosePair>, BlockCounts)> {
        top.check()?;
        let parts = (0..self.count()).into_par_iter().map(|block| {
            go_on(top.stopped)?;
            Ok(self.closest_of(block, top))
        });
        let mut all = Vec::new();
        let mut counts = BlockCounts::default();
        for (part, count) in parts.collect::<Result<Vec<_>>>()? {
            all.extend(part);
            counts = counts.and(count);
        }
        all.par_sort_unstable_by_key(|(of, _)| *of);
        let found: Vec<_> = all.into_iter().flat_map(|(of, closest)| closest.found(of)).collect();
        counts.found = found.len() as u64;
        Ok((found, counts))
    }

    pub(super) fn closest_of(
        &self,
        block: usize,
        top: &TopQuery,
    ) -> (Vec<(u32, TopList)>, BlockCounts) {
        let mut counts = BlockCounts::default();
        let (space, items) = (self.space(), self.items(block));
        let closest = |&item| (item, TopList::new(space.form(), top));
        let mut all: Vec<(u32, TopList)> = items.iter().map(closest).collect();
        let mut radii = vec![f64::INFINITY; items.len()];
        let asking = self.members(block, |item| top.asking(space.len()).contains(&item));
        if asking == 0 {
            return (Vec::new(), counts);
        }
        for other in self.by_distance(block) {
            let widest = bits(asking).map(|at| radii[at]).fold(0.0, f64::max);
            let limit = self.limit(widest, block, other);
            if self.gap(block, other) > limit {
                continue;
            }
            let (centre, half) = self.boxed(other);
            counts.boxes += u64::from(asking.count_ones());
            let answering = self.members(other, |item| top.split.is_none_or(|split| item >= split));
            for at in bits(near_box(self.tile(block), centre, half, limit) & asking) {
                let (of, closest) = &mut all[at];
                let which = answering & !(u64::from(other == block) << at);
                let limit = self.limit(radii[at], block, other);
                let near = self.near(self.place(block, at), other, which, limit, &mut counts);
                for with in bits(near) {
                    closest.meet(space, *of, self.items(other)[with]);
                }
                radii[at] = space.radius(closest.limit());
            }
        }
        all.retain(|(item, _)| top.asking(space.len()).contains(item));
        (all, counts)
    }
}

impl DenseJoin<'_> {
    /// The closest of each item, as [`Blocks::closest`] gives them.
    ///
    /// # Errors
    /// When none are asked for, or it was stopped.
    pub fn closest(&self, top: &TopQuery) -> Result<Vec<ClosePair>> {
        top.check()?;
        let space = self.space();
        let portions = self.portions(top.asking(space.len()));
        let found = portions.into_par_iter().map(|rows| {
            go_on(top.stopped)?;
            let closest = |_| TopList::new(space.form(), top);
            let mut all: Vec<TopList> = rows.clone().map(closest).collect();
            let first = top.split.unwrap_or(0);
            let radius = |closest: &TopList| space.radius(closest.limit());
            self.scan(rows.clone(), first, &mut all, radius, |closest, of, item| {
                if top.is_asked(item, of) {
                    closest.meet(space, of, item);
                }
            });
            Ok(rows.zip(all).flat_map(|(of, closest)| closest.found(of)).collect::<Vec<_>>())
        });
        Ok(found.collect::<Result<Vec<_>>>()?.concat())
    }
}

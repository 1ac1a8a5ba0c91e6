//! Identical items are searched as one, and the pairs of their copies made when they are asked for.
//!
//! A value that a million items share is compared once with each other value, and its 5·10¹¹ pairs are not
//! stored: [`Matches`] keeps which values are close and makes an item's pairs from that.

use std::ops::Range;

use rayon::prelude::*;

use crate::space::{Form, Found, Join};
use crate::{Error, Result};

/// Items in groups of equal ones.
#[derive(Debug, Clone)]
pub(crate) struct Copies {
    /// Items group by group, ascending within each.
    members: Vec<u32>,
    /// Where each group begins in `members`, and their end.
    starts: Vec<u32>,
    /// By item, its group.
    group_of: Vec<u32>,
    /// By group, which collections have a member of it.
    sides: Vec<Sides>,
    split: Option<u32>,
}

/// The two collections that a group may have members of; of a single collection, every group is in both.
#[derive(Debug, Clone, Copy)]
struct Sides {
    first: bool,
    second: bool,
}

impl Copies {
    /// Groups of `order`, which has equal items side by side and ascending.
    pub(crate) fn new(
        order: Vec<u32>,
        split: Option<u32>,
        same: impl Fn(u32, u32) -> bool,
    ) -> Self {
        let mut starts = Vec::new();
        let mut group_of = vec![0; order.len()];
        for (at, &item) in order.iter().enumerate() {
            if at == 0 || !same(order[at - 1], item) {
                starts.push(at as u32);
            }
            group_of[item as usize] = starts.len() as u32 - 1;
        }
        starts.push(order.len() as u32);
        let sides = starts.windows(2).map(|ends| {
            let (first, last) = (order[ends[0] as usize], order[ends[1] as usize - 1]);
            split.map_or(Sides { first: true, second: true }, |split| Sides {
                first: first < split,
                second: last >= split,
            })
        });
        let sides = sides.collect();
        Self { members: order, starts, group_of, sides, split }
    }

    /// Number of groups.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The first item of a group.
    pub(crate) fn first(&self, group: u32) -> u32 {
        self.members[self.starts[group as usize] as usize]
    }

    /// Whether some pair of items of these two groups is looked for.
    pub(crate) fn wanted(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.sides[a as usize], self.sides[b as usize]);
        (a.first && b.second) || (a.second && b.first)
    }

    /// Number of items.
    pub(crate) fn items(&self) -> usize {
        self.members.len()
    }

    /// The group of an item.
    pub(crate) fn group_of(&self, item: u32) -> u32 {
        self.group_of[item as usize]
    }

    /// The items of a group, ascending.
    pub(crate) fn members(&self, group: u32) -> &[u32] {
        &self.members
            [self.starts[group as usize] as usize..self.starts[group as usize + 1] as usize]
    }

    /// The members of a group that item `a` is paired with.
    fn after(&self, a: u32, group: u32) -> &[u32] {
        let members = self.members(group);
        let from = match self.split {
            Some(split) if a < split => split,
            Some(_) => return &[],
            None => a + 1,
        };
        &members[members.partition_point(|&b| b < from)..]
    }
}

/// All pairs that a join has found, those of copies not yet made.
#[derive(Debug, Clone)]
pub struct Matches {
    copies: Copies,
    /// By group, where its neighbours begin, and the end of all.
    starts: Vec<usize>,
    /// The groups that are close to a group, itself where it is close to itself, and the values.
    close: Vec<(u32, f64)>,
}

impl Matches {
    /// Every pair of groups that is close comes once; `own` is the value of two members of a group, if that
    /// is close.
    pub(crate) fn new(
        copies: Copies,
        pairs: &[(u32, u32, f64)],
        own: impl Fn(u32) -> Option<f64>,
    ) -> Self {
        let mut starts = vec![0usize; copies.len() + 1];
        for &(a, b, _) in pairs {
            starts[a as usize] += 1;
            starts[b as usize] += 1;
        }
        let mut end = 0;
        for (group, start) in starts[..copies.len()].iter_mut().enumerate() {
            end += *start + usize::from(own(group as u32).is_some());
            *start = end;
        }
        starts[copies.len()] = end;
        // Each list is filled from its end, so that its end becomes its start.
        let mut close = vec![(0, 0.0); end];
        let mut add = |group: u32, other: u32, value| {
            starts[group as usize] -= 1;
            close[starts[group as usize]] = (other, value);
        };
        for &(a, b, value) in pairs {
            add(a, b, value);
            add(b, a, value);
        }
        for group in 0..copies.len() as u32 {
            if let Some(value) = own(group) {
                add(group, group, value);
            }
        }
        Self { copies, starts, close }
    }

    /// Without the pairs of items that are to be similar to nothing; copies of such an item are such items.
    pub(crate) fn without(mut self, is_nothing: impl Fn(u32) -> bool) -> Self {
        let gone: Vec<bool> = (0..self.copies.len() as u32)
            .map(|group| is_nothing(self.copies.first(group)))
            .collect();
        let mut close = Vec::with_capacity(self.close.len());
        let mut starts = Vec::with_capacity(self.starts.len());
        for group in 0..self.copies.len() {
            starts.push(close.len());
            let neighbours = &self.close[self.starts[group]..self.starts[group + 1]];
            let kept =
                neighbours.iter().filter(|(other, _)| !gone[group] && !gone[*other as usize]);
            close.extend(kept.copied());
        }
        starts.push(close.len());
        self.close = close;
        self.starts = starts;
        self
    }

    /// The pairs of which item `a` is the first, by the second.
    pub fn of(&self, a: u32) -> Vec<Found> {
        let mut found: Vec<Found> = self
            .neighbours(a)
            .flat_map(|(items, value)| items.iter().map(move |&b| Found { a, b, value }))
            .collect();
        found.sort_unstable_by_key(|pair| pair.b);
        found
    }

    /// Up to `count` of the items that `a` is paired with, on whichever side, from close to far and of equally
    /// close ones those that come first.
    pub(crate) fn closest(&self, a: u32, count: usize, form: Form) -> Vec<Found> {
        let from = self.copies.split.unwrap_or(0);
        let group = self.copies.group_of[a as usize] as usize;
        let close = &self.close[self.starts[group]..self.starts[group + 1]];
        let mut found: Vec<Found> = close
            .iter()
            .flat_map(|&(group, value)| {
                let members = self.copies.members(group);
                let others = &members[members.partition_point(|&b| b < from)..];
                let others = others.iter().filter(move |&&b| b != a).take(count);
                others.map(move |&b| Found { a, b, value })
            })
            .collect();
        found.sort_unstable_by(|x, y| form.order(x.value, y.value).then(x.b.cmp(&y.b)));
        found.truncate(count);
        found
    }

    /// All pairs, sorted by the first item, then the second.
    pub fn iter(&self) -> impl Iterator<Item = Found> {
        self.items().flat_map(|a| self.of(a))
    }

    /// How many pairs there are.
    pub fn count(&self) -> u64 {
        let of = |a| self.neighbours(a).map(|(items, _)| items.len() as u64).sum::<u64>();
        self.items().into_par_iter().map(of).sum()
    }

    /// All pairs in memory, sorted by the first item, then the second.
    ///
    /// # Errors
    /// When `join.stopped` says so.
    pub fn into_found(self, join: &Join) -> Result<Vec<Found>> {
        let of = |a| if (join.stopped)() { Vec::new() } else { self.of(a) };
        let found = self.items().into_par_iter().flat_map_iter(of).collect();
        if (join.stopped)() { Err(Error::Interrupted) } else { Ok(found) }
    }

    /// The items that may be first in a pair.
    fn items(&self) -> Range<u32> {
        let items = self.copies.members.len() as u32;
        0..self.copies.split.map_or(items, |split| split.min(items))
    }

    /// Lists of items that `a` comes before and is close to, with their value.
    fn neighbours(&self, a: u32) -> impl Iterator<Item = (&[u32], f64)> {
        let group = self.copies.group_of[a as usize] as usize;
        let close = &self.close[self.starts[group]..self.starts[group + 1]];
        close.iter().map(move |&(group, value)| (self.copies.after(a, group), value))
    }
}

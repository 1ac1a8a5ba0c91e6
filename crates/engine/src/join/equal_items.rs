//! Items of a join in groups of equal ones, in the order that the join needs.
//!
//! A join compares one item of each group, and makes the pairs of items from that.

use rayon::prelude::*;

use super::go_on;
use crate::Result;
use crate::space::{ClosePair, JoinQuery, PairBuffer, PairSink};

/// Items in groups of equal ones.
#[derive(Debug, Clone)]
pub(crate) struct EqualItems {
    /// Items group by group, ascending within each.
    members: Vec<u32>,
    /// Where each group begins in `members`, and their end.
    starts: Vec<u32>,
    /// By group, which collections have a member of it.
    sides: Vec<GroupSides>,
    split: Option<u32>,
}

/// The two collections that a group may have members of; of a single collection, every group is in both.
#[derive(Debug, Clone, Copy)]
struct GroupSides {
    first: bool,
    second: bool,
}

impl EqualItems {
    /// Groups of `order`, which has equal items side by side and ascending.
    pub(crate) fn new(
        order: Vec<u32>,
        split: Option<u32>,
        same: impl Fn(u32, u32) -> bool,
    ) -> Self {
        let mut starts = Vec::new();
        for (at, &item) in order.iter().enumerate() {
            if at == 0 || !same(order[at - 1], item) {
                starts.push(at as u32);
            }
        }
        starts.push(order.len() as u32);
        let sides = starts.windows(2).map(|ends| {
            let (first, last) = (order[ends[0] as usize], order[ends[1] as usize - 1]);
            split.map_or(GroupSides { first: true, second: true }, |split| GroupSides {
                first: first < split,
                second: last >= split,
            })
        });
        let sides = sides.collect();
        Self { members: order, starts, sides, split }
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

    /// The items of a group, ascending.
    fn members(&self, group: u32) -> &[u32] {
        &self.members
            [self.starts[group as usize] as usize..self.starts[group as usize + 1] as usize]
    }

    /// The pairs of items of two groups, or of one with itself.
    fn pairs(&self, a: u32, b: u32, value: f64) -> impl Iterator<Item = ClosePair> {
        let is_wanted = move |x: u32, y: u32| {
            let order = a != b || x < y;
            order && self.split.is_none_or(|split| (x < split) != (y < split))
        };
        let others =
            move |x: u32| self.members(b).iter().copied().filter(move |&y| is_wanted(x, y));
        let pair = move |x: u32, y: u32| ClosePair { a: x.min(y), b: x.max(y), value };
        self.members(a).iter().flat_map(move |&x| others(x).map(move |y| pair(x, y)))
    }

    /// Adds the pairs of items of two groups, or of one with itself.
    pub(crate) fn expand(&self, a: u32, b: u32, value: f64, pairs: &mut PairBuffer<'_>) {
        self.pairs(a, b, value).for_each(|pair| pairs.push(pair));
    }

    /// Hands on the pairs of equal items, given the value of two items of a group, if that is close.
    ///
    /// # Errors
    /// When the join was stopped, or the sink fails.
    pub(crate) fn expand_each(
        &self,
        own: impl Fn(u32) -> Option<f64> + Sync,
        join: &JoinQuery,
        found: &PairSink<'_>,
    ) -> Result<()> {
        go_on(join.stopped)?;
        (0..self.len() as u32).into_par_iter().try_for_each(|group| {
            if self.members(group).len() < 2 {
                return Ok(());
            }
            go_on(join.stopped)?;
            let mut pairs = PairBuffer::new(found);
            if let Some(value) = own(group) {
                self.expand(group, group, value, &mut pairs);
            }
            pairs.finish().map(drop)
        })
    }
}

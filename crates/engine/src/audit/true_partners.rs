//! The items that were drawn for an audit, and everything that is similar to them.
//!
//! An index of elements or a comparison with all others finds the partners. Either way, the question is how many of
//! them the run found.

use crate::Result;
use crate::family::hash::mix64;
use crate::item::{Copies, Members};
use crate::plan::elements::keep_smallest;
use crate::spill::{Loader, Saver};

use super::Audit;

/// Items that are drawn unless somebody asks for more; fewer than the least tell too little. (With 50, of 100,000
/// near-identical texts, five million pairs had to be compared for the audit alone.)
pub(crate) const UNASKED: usize = 400;
pub(crate) const LEAST: usize = 10;

/// A group with drawn items, a similar group, and how similar they are.
pub(crate) type Partner = (u32, u32, f64);

/// Items that were drawn, and everything that is similar to them.
#[derive(Debug, Default)]
pub(crate) struct TruePartners {
    /// The drawn items, ascending.
    positions: Vec<u32>,
    /// Sorted.
    partners: Vec<Partner>,
    /// Whether the items were drawn from the first chunks only.
    pub(crate) from_start: bool,
    scale: AuditScale,
}

/// What the audit tells similarities apart by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AuditScale {
    /// The smallest similarity of a pair.
    pub(crate) threshold: f64,
    /// The similarity of copies.
    pub(crate) identical: f64,
}

impl Default for AuditScale {
    /// All pairs count alike.
    fn default() -> Self {
        Self { threshold: 1.0, identical: 1.0 }
    }
}

impl TruePartners {
    /// Puts together what was found for drawn items. A pair of groups may come several times, the first with drawn
    /// items; those of a group with itself, and those that are not looked for, do not count.
    pub(crate) fn new(
        mut positions: Vec<u32>,
        mut partners: Vec<Partner>,
        copies: &Copies,
        scale: AuditScale,
    ) -> Self {
        let sides = copies.sides();
        partners
            .retain(|&(a, b, _)| a != b && sides.as_ref().is_none_or(|sides| sides.across(a, b)));
        partners.sort_unstable_by_key(|&(a, b, _)| (a, b));
        partners.dedup_by_key(|&mut (a, b, _)| (a, b));
        positions.sort_unstable();
        Self { positions, partners, from_start: false, scale }
    }

    /// The share of these pairs that a run found, copies counted. A function says which other groups were found with a
    /// group.
    pub(crate) fn audit(
        &self,
        copies: &Copies,
        members: Option<&Members>,
        mut found: impl FnMut(u32, &[u32]) -> Result<Vec<bool>>,
    ) -> Result<Option<Audit>> {
        if self.positions.is_empty() {
            return Ok(None);
        }
        let own;
        let members = match members {
            Some(members) => members,
            None => {
                own = copies.members();
                &own
            }
        };
        let AuditScale { threshold, identical } = self.scale;
        let split = copies.split();
        // Of a group, those with which an item is paired.
        let paired = |position: u32, group: u32| {
            let all = members.of(group);
            let first = split.map_or(0, |split| all.partition_point(|&item| item < split));
            match split {
                None => all.len(),
                Some(split) if position < split => all.len() - first,
                Some(_) => first,
            }
        };
        let mut audit = Audit::new(threshold, members.len() as u64);
        for &position in &self.positions {
            let Some(group) = copies.group_of(position) else { continue };
            let start = self.partners.partition_point(|pair| pair.0 < group);
            let own = &self.partners[start..];
            let own = &own[..own.partition_point(|pair| pair.0 == group)];
            let others: Vec<u32> = own.iter().map(|pair| pair.1).collect();
            let is_found = found(group, &others)?;
            let of_own = paired(position, group) - usize::from(split.is_none());
            let partners = own.iter().zip(is_found).map(|(&(_, other, similarity), found)| {
                (similarity, found, paired(position, other) as u64)
            });
            let of_own = (of_own > 0).then_some((identical, true, of_own as u64));
            audit.item_with_copies(of_own.into_iter().chain(partners));
        }
        Ok(Some(audit))
    }

    pub(crate) fn save(&self, save: &mut Saver) -> Result<()> {
        save.number(u64::from(self.from_start))?;
        save.number(self.scale.threshold.to_bits())?;
        save.number(self.scale.identical.to_bits())?;
        save.numbers(&self.positions)?;
        let partners = self.partners.iter().flat_map(|&(a, b, similarity)| {
            [u64::from(a) << 32 | u64::from(b), similarity.to_bits()]
        });
        save.numbers(&partners.collect::<Vec<u64>>())
    }

    pub(crate) fn load(load: &mut Loader) -> Option<Self> {
        let from_start = load.number()? == 1;
        let [threshold, identical] = [load.number()?, load.number()?].map(f64::from_bits);
        let scale = AuditScale { threshold, identical };
        let positions = load.numbers()?;
        let partners: Vec<u64> = load.numbers()?;
        let pair = |&[pair, similarity]: &[u64; 2]| {
            ((pair >> 32) as u32, pair as u32, f64::from_bits(similarity))
        };
        let partners = partners.as_chunks().0.iter().map(pair).collect();
        Some(Self { positions, partners, from_start, scale })
    }
}

/// The order in which records are drawn. It depends on the seed of the run, and on nothing else of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DrawOrder(u64);

impl DrawOrder {
    pub(crate) fn new(seed: u64) -> Self {
        Self(mix64(seed, 0xa0d1_7ed5_0b5e_7e5d))
    }

    /// A number for a record, by its position: those with the smallest are drawn.
    pub(crate) fn of(self, position: u32) -> u64 {
        mix64(position.into(), self.0)
    }

    /// A number for a chunk of an input.
    pub(crate) fn of_chunk(self, input: u32, chunk: usize) -> u64 {
        mix64(chunk as u64, self.of(input))
    }
}

/// How many of `records` are drawn by default.
pub(crate) fn unasked(records: u32) -> usize {
    /// A larger share of all takes too long.
    const SHARE: usize = 20;
    UNASKED.min((10 * LEAST).max(records as usize / SHARE))
}

/// How many items are drawn unless somebody says, where finding the partners of one takes `each` seconds and the search
/// `seconds`: as many as take a small share of that.
pub(crate) fn unasked_by_cost(seconds: f64, each: f64) -> usize {
    const SHARE: f64 = 0.05;
    ((SHARE * seconds / each.max(1e-12)) as usize).clamp(LEAST, UNASKED)
}

/// The positions of those of `count` records, each drawn with the same chance, that are items with a group, and their
/// groups, ascending. Fewer are a part of more.
pub(crate) fn draw(copies: &Copies, count: usize, order: DrawOrder) -> (Vec<u32>, Vec<u32>) {
    let mut drawn: Vec<(u64, u32)> = (0..copies.records()).map(|at| (order.of(at), at)).collect();
    keep_smallest(&mut drawn, count);
    let positions = drawn.into_iter().map(|draw| draw.1);
    let positions: Vec<u32> = positions.filter(|&at| copies.group_of(at).is_some()).collect();
    let mut groups: Vec<u32> =
        positions.iter().filter_map(|&position| copies.group_of(position)).collect();
    groups.sort_unstable();
    groups.dedup();
    (positions, groups)
}

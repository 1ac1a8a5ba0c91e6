//! The items that were drawn for an audit, and everything that is similar to them.
//!
//! A complete search finds the partners, or a comparison with all others where that is cheaper. Either way, the question
//! is how many of them the run found.

use crate::Result;
use crate::family::hash::mix64;
use crate::item::Copies;
use crate::plan::elements::keep_smallest;

use super::Audit;

/// Items that are drawn at most, unless somebody asks for more; fewer than the least tell too little.
pub(crate) const MOST: usize = 20_000;
const LEAST: usize = 10;

/// A group with drawn items, a similar group, and how similar they are.
pub(crate) type Partner = (u32, u32, f64);

/// Items that were drawn, and everything that is similar to them.
#[derive(Debug, Default)]
pub(crate) struct TruePartners {
    /// The drawn items, ascending.
    positions: Vec<u32>,
    /// Sorted.
    partners: Vec<Partner>,
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
        Self { positions, partners, scale }
    }

    /// The share of these pairs that a run found, copies counted. A function says which other groups were found with a
    /// group.
    pub(crate) fn audit(
        &self,
        copies: &Copies,
        mut found: impl FnMut(u32, &[u32]) -> Result<Vec<bool>>,
    ) -> Result<Option<Audit>> {
        if self.positions.is_empty() {
            return Ok(None);
        }
        let members = copies.members();
        let AuditScale { threshold, identical } = self.scale;
        let split = copies.split();
        let is_increment = copies.is_increment();
        // Of a group, those with which an item is paired.
        let paired = |position: u32, group: u32| {
            let all = members.of(group);
            let first = split.map_or(0, |split| all.partition_point(|&item| item < split));
            match split {
                None => all.len(),
                Some(split) if position < split => all.len() - first,
                Some(_) if is_increment => all.len(),
                Some(_) => first,
            }
        };
        let is_paired_with_itself =
            |position: u32| split.is_none_or(|split| is_increment && position >= split);
        let mut audit = Audit::new(threshold, members.len() as u64);
        for &position in &self.positions {
            let Some(group) = copies.group_of(position) else { continue };
            let start = self.partners.partition_point(|pair| pair.0 < group);
            let own = &self.partners[start..];
            let own = &own[..own.partition_point(|pair| pair.0 == group)];
            let others: Vec<u32> = own.iter().map(|pair| pair.1).collect();
            let is_found = found(group, &others)?;
            let of_own = paired(position, group) - usize::from(is_paired_with_itself(position));
            let partners = own.iter().zip(is_found).map(|(&(_, other, similarity), found)| {
                (similarity, found, paired(position, other) as u64)
            });
            let of_own = (of_own > 0).then_some((identical, true, of_own as u64));
            audit.item_with_copies(of_own.into_iter().chain(partners));
        }
        Ok(Some(audit))
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
}

/// What the search takes, and to compare one item with all others, in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AuditCost {
    pub(crate) seconds: f64,
    pub(crate) each: f64,
}

impl AuditCost {
    /// What the audit may take of the time of the search.
    const SHARE: f64 = 0.07;

    /// How many items are drawn and compared with all others, unless somebody says.
    pub(crate) fn items(self) -> usize {
        ((Self::SHARE * self.seconds / self.each.max(1e-12)) as usize).clamp(LEAST, MOST)
    }

    /// Whether it may be worth it to prepare a complete search, which tells how long it takes.
    pub(crate) fn may_be_complete(self, asked: Option<usize>) -> bool {
        /// To prepare takes about as long as to compare so many items with all others (4,500 SIFT vectors, 8,000 images).
        const PREPARED: f64 = 250.0;
        /// What it may take of the time of the search, as it leaves no doubt.
        const SHARE: f64 = 0.2;
        let affordable = asked.map_or(SHARE * self.seconds / self.each, |asked| asked as f64);
        affordable >= PREPARED
    }

    /// Whether a complete search, which takes so long, is the better way.
    pub(crate) fn is_worth(self, complete: f64, asked: Option<usize>) -> bool {
        match asked {
            Some(asked) => complete < asked as f64 * self.each,
            None => complete <= Self::SHARE * self.seconds,
        }
    }
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

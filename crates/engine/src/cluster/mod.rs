//! Which items belong together, and which of them is kept?
//!
//! What compares groups of identical items comes in, and for every item goes out which item stands for it. Two ways to
//! link: stars, where every member is similar to the kept one; and connected components, where a chain of similar
//! neighbours ends up in one cluster. Neither asks what kind of items these are.

mod clustering;
mod keep;
mod kept_sets;
mod stars;
mod union_find;

pub(crate) use clustering::{Closeness, Clustering, Comparison};
pub use clustering::{Deduplication, GiantCluster, Reason};
pub use keep::Keep;
pub(crate) use keep::{Merits, Ranking};
pub(crate) use kept_sets::{ComparedSets, KeptScratch, KeptSets, SetBodies, SetCentres};
pub(crate) use stars::{Centres, stars};
pub use union_find::UnionFind;

/// What holds a group together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Linkage {
    /// Every item is similar to the kept one. Under a measure by which one item may contain another, the larger one is
    /// kept, and which of two equally large ones is a matter of preference.
    #[default]
    Stars,
    /// Every two neighbours of a chain of items are similar, whatever its ends are.
    Chains,
}

#[cfg(test)]
mod tests {
    use super::*;
    /// For every item its component's smallest member.
    fn components(items: usize, pairs: &[(u32, u32)]) -> Vec<u32> {
        let mut sets = UnionFind::new(items);
        pairs.iter().for_each(|&(a, b)| sets.join(a, b));
        (0..items as u32).map(|item| sets.find(item)).collect()
    }

    #[test]
    fn components_do_not_depend_on_the_order_of_matches() {
        let mut found = [(0, 9), (3, 7), (7, 9), (2, 5), (1, 2)];
        let forwards = components(10, &found);
        found.reverse();
        assert_eq!(components(10, &found), forwards);
    }
}

//! Which items are similar to which? The one result of every search.
//!
//! [`Matches`] holds the items ([`Collection`]), which groups of identical items are similar to which with the exact
//! value of each pair, and what the run took ([`Stats`]). Pairs of items are made from that when they are asked for,
//! so a million copies cost no memory. What grows with the collection is in memory up to a limit and in temporary
//! files beyond.

mod collection;
mod column;
mod places;
mod rows;
pub(crate) mod similar_groups;
mod stats;

use rayon::ThreadPool;

pub use collection::{Collection, Ids};
pub(crate) use collection::{ItemFacts, TextShape};
pub use rows::Rows;
pub(crate) use similar_groups::{
    CopyValues, NOWHERE, PairOwners, SimilarGroups, SimilarGroupsBuilder,
};
pub use stats::Stats;

use crate::item::Members;
use crate::space::Form;

/// Every similar pair of a collection, or of two; or for every item those closest to it.
pub struct Matches {
    /// The items.
    pub collection: Collection,
    /// What it took.
    pub stats: Stats,
    similar: SimilarGroups,
    members: Members,
    /// Whether values are similarities or distances.
    form: Form,
    /// The threads that found them, which go on with what is done with them: others would have to be started.
    pool: ThreadPool,
}

impl Matches {
    pub(crate) fn new(
        collection: Collection,
        (similar, members): (SimilarGroups, Members),
        form: Form,
        stats: Stats,
        pool: ThreadPool,
    ) -> Self {
        Self { collection, stats, similar, members, form, pool }
    }

    /// Whether the values of pairs are similarities or distances.
    pub fn form(&self) -> Form {
        self.form
    }

    /// The group as one that is similar to itself, for the copies of one item.
    fn own(&self, group: u32) -> Option<(u32, f64)> {
        Some((group, self.similar.copies.of(group)?))
    }
}

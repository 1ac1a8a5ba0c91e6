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

use crate::Result;
use crate::item::Members;
use crate::space::Form;
use crate::spill::Cache;

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
    /// Pairs closer than this are not handed out.
    no_closer: Option<f64>,
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
        Self { collection, stats, similar, members, form, no_closer: None, pool }
    }

    /// Hands out no pair that is closer than this.
    pub(crate) fn no_closer(self, bound: Option<f64>) -> Self {
        Self { no_closer: bound, ..self }
    }

    /// Whether the values of pairs are similarities or distances.
    pub fn form(&self) -> Form {
        self.form
    }

    /// The groups whose items are partners of a group's: itself first, where copies are similar, and then the others.
    fn partners<'a>(
        &'a self,
        group: u32,
        cache: &'a mut Cache<u32>,
    ) -> Result<impl Iterator<Item = (u32, f64)>> {
        let own = self.similar.copies.of(group).map(|value| (group, value));
        let all = own.into_iter().chain(self.similar.of(group, cache)?);
        let too_close =
            |value: f64| self.no_closer.is_some_and(|bound| self.form.closer(value, bound));
        Ok(all.filter(move |&(_, value)| !too_close(value)))
    }
}

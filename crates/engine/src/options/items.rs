//! What an item is: a text, a set, a vector …, from a field of its own or from the rows of a long table.

use super::{MeasureName, Options};
#[cfg(feature = "files")]
use crate::{
    Error, Result,
    options::Keyword,
    read::{Grouping, Ratings, Weight},
};

/// Kinds of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// A text, cut into shingles.
    Text,
    /// Elements, each counted once.
    Set,
    /// Elements, each counted as often as it occurs.
    Bag,
    /// A list of numbers.
    Vector,
    /// A string of bits.
    Bits,
    /// A text, compared character by character.
    String,
    /// Yes, no or nothing in each of several columns.
    Answers,
}

impl ItemKind {
    /// Whether items of this kind are held in memory and searched there.
    pub fn is_in_memory(self) -> bool {
        matches!(self, Self::Vector | Self::Bits | Self::String | Self::Answers)
    }
}

/// Which ends of an edge become items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edges {
    /// An edge makes each end an element of the other.
    Both,
    /// An edge makes its second end an element of the first.
    Directed,
}

impl Options {
    /// What an item is.
    pub fn kind(&self) -> ItemKind {
        match self.kind {
            Some(kind) => kind,
            None if self.count.is_some() || self.has_stars() => ItemKind::Bag,
            None if self.group.is_some() || self.edges.is_some() || self.grid.is_some() => {
                ItemKind::Set
            }
            None => ItemKind::Text,
        }
    }

    /// Whether the items are held in memory and searched there: those that are no texts, sets or bags, tf-idf vectors,
    /// and whatever is searched by an expression or by signatures.
    pub fn is_in_memory(&self) -> bool {
        self.compares_in_memory() || self.and_or.is_some() || self.estimate.is_some()
    }

    /// Whether the kind of items or the measure is one that is compared in memory.
    pub fn compares_in_memory(&self) -> bool {
        let kind = self.kind();
        let tf_idf = kind == ItemKind::Text && self.measure == Some(MeasureName::Cosine);
        kind.is_in_memory() || tf_idf || self.grid.is_some()
    }

    #[cfg(feature = "files")]
    pub(super) fn has_ratings(&self) -> bool {
        self.ratings.is_some()
    }

    #[cfg(not(feature = "files"))]
    pub(super) fn has_ratings(&self) -> bool {
        false
    }

    #[cfg(feature = "files")]
    fn has_stars(&self) -> bool {
        self.ratings == Some(Ratings::Stars)
    }

    #[cfg(not(feature = "files"))]
    fn has_stars(&self) -> bool {
        false
    }

    /// How the rows of a table make items, where they do.
    ///
    /// # Errors
    /// When such items are not of the kind that was asked for.
    #[cfg(feature = "files")]
    pub fn grouping(&self) -> Result<Option<Grouping>> {
        if self.group.is_none() && self.edges.is_none() {
            return Ok(None);
        }
        let weight = match (&self.count, self.rating.clone().zip(self.ratings), self.edges) {
            (Some(count), _, _) => Weight::Count(count.clone()),
            (_, Some((rating, how)), _) => Weight::Rating(rating, how),
            (_, _, Some(edges)) => Weight::Edge { directed: edges == Edges::Directed },
            _ => Weight::Once,
        };
        let must = match self.kind() {
            ItemKind::Set if weight.repeats() => Some("bag, for elements with counts or stars"),
            ItemKind::Set | ItemKind::Bag => None,
            _ => Some("set or bag, for the groups of a table"),
        };
        if let Some(must) = must {
            return Err(Error::parameter("as", self.kind().word(), must));
        }
        let column =
            |name: &Option<String>, number: &str| name.clone().unwrap_or_else(|| number.to_owned());
        let (group, element) = (column(&self.group, "1"), column(&self.element, "2"));
        let element_groups = self.element_groups.clone();
        Ok(Some(Grouping { group, element, weight, element_groups }))
    }
}

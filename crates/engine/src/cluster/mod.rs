//! Which items belong together, and which of them is kept?
//!
//! What compares groups of identical items comes in, and for every item goes out which item stands for it. Two ways to
//! link: stars, where every member is similar to the kept one; and connected components, where a chain of similar
//! neighbours ends up in one cluster. Neither asks what kind of items these are.

mod clustering;
mod kept_sets;
mod stars;
mod union_find;

pub(crate) use clustering::{Closeness, Clustering, Comparison};
pub use clustering::{Deduplication, GiantCluster};
pub(crate) use kept_sets::{ComparedSets, KeptScratch, KeptSets, SetBodies, SetCentres};
pub(crate) use stars::{Centres, stars};
pub use union_find::UnionFind;

use std::cmp::{Ordering, Reverse};
use std::fmt;
use std::str::FromStr;

use crate::item::Value;
use crate::{Error, Result};

/// Which item of a cluster is kept. Ties go to the one that comes first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Keep {
    /// The first in input order.
    #[default]
    First,
    /// The one with the longest text, in characters.
    Longest,
    /// The one with the largest value of a field.
    Max(String),
    /// The one with the smallest value of a field.
    Min(String),
}

impl Keep {
    /// The field whose values decide, if any.
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::First | Self::Longest => None,
            Self::Max(field) | Self::Min(field) => Some(field),
        }
    }

    /// Orders two items by preference. Items without a value come last.
    pub fn prefer(&self, a: &Merits<'_>, b: &Merits<'_>) -> Ordering {
        let by_value = |a: Option<&Value>, b: Option<&Value>, reverse: bool| match (a, b) {
            (Some(a), Some(b)) if reverse => b.cmp(a),
            (Some(a), Some(b)) => a.cmp(b),
            (a, b) => a.is_none().cmp(&b.is_none()),
        };
        let preferred = match self {
            Self::First => Ordering::Equal,
            Self::Longest => Reverse(a.length).cmp(&Reverse(b.length)),
            Self::Max(_) => by_value(a.value, b.value, true),
            Self::Min(_) => by_value(a.value, b.value, false),
        };
        preferred.then(a.position.cmp(&b.position))
    }
}

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

/// What decides whether an item is kept.
#[derive(Debug, Clone, Copy)]
pub struct Merits<'a> {
    /// The item's position in the input.
    pub position: u32,
    /// Its text's length in characters.
    pub length: u32,
    /// Its value in the field that decides.
    pub value: Option<&'a Value>,
}

impl FromStr for Keep {
    type Err = Error;

    /// Reads `first`, `longest`, `max:FIELD` or `min:FIELD`.
    fn from_str(text: &str) -> Result<Self> {
        match text.split_once(':') {
            None if text == "first" => Ok(Self::First),
            None if text == "longest" => Ok(Self::Longest),
            Some(("max", field)) if !field.is_empty() => Ok(Self::Max(field.into())),
            Some(("min", field)) if !field.is_empty() => Ok(Self::Min(field.into())),
            _ => Err(Error::parameter("keep", text, "first, longest, max:FIELD or min:FIELD")),
        }
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First => f.write_str("first"),
            Self::Longest => f.write_str("longest"),
            Self::Max(field) => write!(f, "max:{field}"),
            Self::Min(field) => write!(f, "min:{field}"),
        }
    }
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

    #[test]
    fn keep_prefers_what_it_says() {
        let [low, high] = [Value::Number(1.0), Value::Number(2.0)];
        let text = Value::Text("2026-01-01".into());
        let candidates = [
            Merits { position: 0, length: 5, value: Some(&low) },
            Merits { position: 1, length: 9, value: None },
            Merits { position: 2, length: 9, value: Some(&high) },
            Merits { position: 3, length: 1, value: Some(&text) },
        ];
        let best = |keep: &str| {
            let keep: Keep = keep.parse().unwrap();
            candidates.iter().min_by(|a, b| keep.prefer(a, b)).unwrap().position
        };
        assert_eq!(best("first"), 0);
        assert_eq!(best("longest"), 1);
        assert_eq!(best("max:when"), 3);
        assert_eq!(best("min:when"), 0);
        for wrong in ["", "last", "max", "max:", "first:x"] {
            assert!(wrong.parse::<Keep>().is_err(), "{wrong}");
        }
    }
}

//! These items under this measure: how far apart are these two?
//!
//! A [`Space`] is a collection in memory together with one measure and, where one is set, a limit. It is
//! what pairs are checked against: whatever found a pair, the number that is reported comes from here.
//! Items of two collections that are to be joined stand in one space, the second after the first.

use std::cmp::Ordering;

mod bags;
mod bits;
mod pairs;
mod sets;
mod signatures;
mod sparse;
mod strings;
mod vectors;

pub use bags::BagSpace;
pub use bits::BitSpace;
pub(crate) use pairs::PairBuffer;
pub use pairs::{ClosePair, JoinQuery, PairSink, sorted_pairs};
pub use sets::SetSpace;
pub use signatures::SignatureSpace;
pub use sparse::{SparseMeasure, SparseSpace};
pub use strings::{StringMeasure, StringSpace};
pub(crate) use vectors::{QUANTUM, ROUNDING};
pub use vectors::{VectorMeasure, VectorSpace};

/// Whether a value says how alike two items are or how far apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Larger is closer.
    Similarity,
    /// Smaller is closer.
    Distance,
}

impl Form {
    /// Whether `a` is closer than `b`.
    pub fn closer(self, a: f64, b: f64) -> bool {
        match self {
            Self::Similarity => a > b,
            Self::Distance => a < b,
        }
    }
}

impl Form {
    /// Closer values first.
    pub fn order(self, a: f64, b: f64) -> Ordering {
        match self {
            Self::Similarity => b.total_cmp(&a),
            Self::Distance => a.total_cmp(&b),
        }
    }
}

/// Items in memory under one measure.
pub trait Space: Sync {
    /// Number of items.
    fn len(&self) -> usize;

    /// Whether there is no item.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What [`value`](Self::value) says.
    fn form(&self) -> Form;

    /// The exact similarity or distance of two items.
    fn value(&self, a: u32, b: u32) -> f64;

    /// The [`value`](Self::value) if it reaches `limit`, which has the same form. May stop as soon as it cannot.
    fn reaching(&self, a: u32, b: u32, limit: f64) -> Option<f64> {
        let value = self.value(a, b);
        (!self.form().closer(limit, value)).then_some(value)
    }
}

//! Functions under which similar items tend to get equal values.
//!
//! [`one_permutation`] makes a short sketch of a set of `u64` elements. At each position two sets agree with the
//! probability of their Jaccard similarity. [`ClassicSketch`] takes longer, and its positions are independent of one
//! another. [`weighted`] turns bags into sets. Slower ways to sign a set, which no run
//! uses, are in [`textbook`](crate::textbook).
//!
//! A [`Family`] is bound to a collection and gives its items values under numbered functions:
//!
//! | family | of | distance | chance of agreement |
//! |---|---|---|---|
//! | [`MinHashes`] | sets | 1 − Jaccard | 1 − distance |
//! | [`BitSampling`] | bits | Hamming | 1 − distance/d |
//! | [`Hyperplanes`] | vectors | angle | 1 − degrees/180 |
//! | [`Lines`] | vectors | L2, L1 | see [`curve`] |
//! | [`Squares`] | sets of grid squares | 1 − Jaccard | for sets of mean size |
//! | [`Equality`] | keys | 0 or 1 | 1 or 0 |
//!
//! [`hash`] and [`draw`] make the random numbers. [`probe`] says which further buckets are worth a look.

pub mod bit_sampling;
mod classic;
pub mod curve;
mod directions;
pub mod draw;
pub mod equality;
pub mod hash;
pub mod hyperplane;
pub mod line;
pub mod min_hashes;
pub mod one_permutation;
pub mod probe;
pub mod sparse_hyperplanes;
pub mod squares;
pub mod weighted;

use std::ops::Range;

pub use bit_sampling::BitSampling;
pub use classic::ClassicSketch;
pub use equality::Equality;
pub use hyperplane::{Hyperplanes, Normals};
pub use line::{LineDirection, Lines};
pub use min_hashes::MinHashes;
pub use one_permutation::OnePermutation;
pub use probe::ProbeFamily;
pub use sparse_hyperplanes::SparseHyperplanes;
pub use squares::Squares;

/// Stands for "no value": an item that a function has nothing to say about, or a position of a signature in which no
/// element of the set was seen.
pub const INFINITY: u64 = u64::MAX;

/// Functions of the items of one collection under which close items tend to get equal values.
///
/// Functions are numbered from 0 without end. Each number is a function of its own; the same seed gives the same
/// functions.
pub trait Family: Send + Sync {
    /// Writes the values of an item under the functions `from..from + values.len()`. [`INFINITY`] says that the item
    /// has none, as the empty set has no minhash. It agrees with nothing, not even with another [`INFINITY`].
    fn hash(&self, item: u32, from: usize, values: &mut [u64]);

    /// Writes the values of consecutive items under the functions `from..from + functions`, item after item. They are
    /// those of [`hash`](Self::hash); families that can work on several items at once are faster here.
    ///
    /// # Panics
    /// Unless there is a value for each item and function.
    fn hash_many(&self, items: Range<u32>, from: usize, functions: usize, values: &mut [u64]) {
        each_block(items, 1, functions, values, |items, values| {
            self.hash(items.start, from, values)
        });
    }

    /// The chance that a function agrees on two items that are `distance` apart, in the distance of the
    /// family's measure.
    fn agreement(&self, distance: f64) -> f64;

    /// This family as one that can probe further buckets, if it can.
    fn probing(&self) -> Option<&dyn ProbeFamily> {
        None
    }
}

/// Hands over up to `size` items at a time, and their values.
fn each_block(
    items: Range<u32>,
    size: usize,
    functions: usize,
    values: &mut [u64],
    mut hash: impl FnMut(Range<u32>, &mut [u64]),
) {
    assert_eq!(values.len(), items.len() * functions, "a value for each item and function");
    if functions == 0 {
        return;
    }
    let starts = items.clone().step_by(size);
    for (start, values) in starts.zip(values.chunks_mut(size * functions)) {
        hash(start..items.end.min(start + size as u32), values);
    }
}

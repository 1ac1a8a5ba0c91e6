//! Functions under which similar sets tend to get equal values.
//!
//! A set of `u64` elements comes in, a short signature goes out, and for every position of the
//! signature the probability that two sets agree there is their Jaccard similarity. The way of
//! making one is chosen by what it costs:
//!
//! | file | one value costs | fit for banding |
//! |---|---|---|
//! | [`permutation`] | a scan of an explicit order | small universes, teaching and tests |
//! | [`minhash`] | a hash of every element | yes |
//! | [`one_permutation`] | a share of one hash of every element | yes, with [`OnePermutation`] |
//!
//! [`hash`] holds the hash functions they draw on, [`min_wise`] says how good those are, and
//! [`weighted`] turns bags into sets.

pub mod hash;
pub mod min_wise;
pub mod minhash;
pub mod one_permutation;
pub mod permutation;
pub mod signature;
pub mod sparse_hyperplanes;
pub mod weighted;

pub use hash::{HashFamily, Mixed, Universal};
pub use minhash::MinHash;
pub use one_permutation::{Grouped, OnePermutation};
pub use permutation::Permutation;
pub use signature::{Agreement, INFINITY, Signature};
pub use sparse_hyperplanes::SparseHyperplanes;

/// Functions of the items of one collection under which close items tend to get equal values.
///
/// Functions are numbered from 0 without end; each number is a function drawn anew, the same one for the
/// same seed.
pub trait Family: Sync {
    /// The values of an item under the functions `from..from + values.len()`.
    fn hash(&self, item: u32, from: usize, values: &mut [u64]);

    /// The chance that a function agrees on two items that are `distance` apart, in the distance of the
    /// family's measure.
    fn agreement(&self, distance: f64) -> f64;
}

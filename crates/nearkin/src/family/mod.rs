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
pub mod weighted;

pub use hash::{HashFamily, Mixed, Universal};
pub use minhash::MinHash;
pub use one_permutation::{Grouped, OnePermutation};
pub use permutation::Permutation;
pub use signature::{Agreement, INFINITY, Signature};

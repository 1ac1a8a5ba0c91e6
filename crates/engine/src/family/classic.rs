//! The classic sketch: one hash function for each value, so that values are independent of one another.

use super::one_permutation::{EMPTY, OnePermutation};

/// Minhashes under `functions` functions of their own: values of 32 bits, each equal between two sets with a probability
/// of their Jaccard similarity, and all of them equal with the product of these probabilities.
///
/// [`OnePermutation`] makes a sketch of n elements and k values in about n steps, this one in n · k. There the values are
/// drawn without replacement, so that fewer pairs agree in many of them at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassicSketch {
    /// How many values a sketch has: 1 to 2³² − 1.
    pub functions: usize,
    /// Chooses the hash functions.
    pub seed: u64,
}

impl ClassicSketch {
    /// Writes the sketch of a set. Elements may stand in any order and be repeated; they need not be hashed already. The
    /// empty set gives [`EMPTY`] everywhere.
    ///
    /// # Panics
    /// Unless `out` has the length `functions`.
    pub fn sketch(&self, elements: &[u64], out: &mut [u32]) {
        out.fill(EMPTY);
        self.fill(elements, out);
    }

    /// Writes the values of a set where `out` is [`EMPTY`], and leaves the others as they are.
    ///
    /// # Panics
    /// Unless `out` has the length `functions`.
    pub(super) fn fill(&self, elements: &[u64], out: &mut [u32]) {
        assert_eq!(out.len(), self.functions, "a sketch has one place for each function");
        if !elements.is_empty() {
            let throw = OnePermutation { groups: self.functions, seed: self.seed }.throw();
            nearkin_kernels::fill_open(&throw, elements, out);
        }
    }
}

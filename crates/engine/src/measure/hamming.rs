//! Hamming distance: in how many components two vectors differ.
//!
//! Two vectors of the same length come in, with components of any type that can be compared; bits
//! packed 64 to a word have their own function, which sketches are compared by. It is a distance by
//! all four axioms. From Hamming, "Error Detecting and Error Correcting Codes" (1950).

use super::same_length;
use crate::Result;

/// The number of positions at which `a` and `b` differ.
pub fn distance<T: Eq>(a: &[T], b: &[T]) -> Result<usize> {
    same_length(a, b)?;
    Ok(a.iter().zip(b).filter(|(x, y)| x != y).count())
}

/// The number of bits in which `a` and `b` differ. Vectors whose bits do not fill the last word
/// must fill it up alike, best with zeros.
pub fn bits(a: &[u64], b: &[u64]) -> Result<u64> {
    same_length(a, b)?;
    Ok(a.iter().zip(b).map(|(x, y)| u64::from((x ^ y).count_ones())).sum())
}

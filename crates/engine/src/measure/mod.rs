//! How alike two items are, and how far apart.
//!
//! Two items come in and one number goes out, exact up to rounding: these functions are what every
//! sketch and index of this library estimates, and what a reported pair is checked against. Each
//! file holds one measure and says which of its forms obey the four axioms of a distance: never
//! negative, zero only for equals, symmetric, and no detour shorter than the direct way.
//!
//! | items | module | similarity | distance |
//! |---|---|---|---|
//! | sets | [`jaccard`] | shared part of the union | 1 − similarity |
//! | bags | [`bag`] | the same, counting repeats | 1 − similarity, for [`bag::Union::Max`] |
//! | points | [`norm`] | | L1, L2, any Lr, L∞ |
//! | directions | [`cosine`] | cosine of the angle | the angle, 0 to 180 degrees |
//! | strings | [`edit`] | longest common subsequence | fewest edits |
//! | equally long vectors | [`hamming`] | | components that differ |

pub mod bag;
pub mod cosine;
pub mod edit;
pub mod hamming;
pub mod jaccard;
pub mod norm;

use crate::{Error, Result};

/// An error unless both vectors have the same number of components.
fn same_length<T>(a: &[T], b: &[T]) -> Result<()> {
    if a.len() == b.len() { Ok(()) } else { Err(Error::Mismatch { left: a.len(), right: b.len() }) }
}

/// An error naming the first component of `vector` that is NaN or infinite.
fn all_finite<T: Copy + Into<f64>>(name: &'static str, vector: &[T]) -> Result<()> {
    match vector.iter().position(|&x| !x.into().is_finite()) {
        None => Ok(()),
        Some(i) => {
            let value = format!("{} at position {i}", vector[i].into());
            Err(Error::parameter(name, value, "finite: mend or drop the item"))
        }
    }
}

/// Σ term(aᵢ, bᵢ), in eight running sums: the compiler keeps them in vector registers, and they
/// round less than a single one would. The order is fixed, so equal input gives equal bits.
fn sum_terms<T: Copy + Into<f64>>(a: &[T], b: &[T], term: impl Fn(f64, f64) -> f64) -> f64 {
    const LANES: usize = 8;
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (block_a, block_b) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..LANES {
            sums[lane] += term(block_a[lane].into(), block_b[lane].into());
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(&x, &y)| term(x.into(), y.into())).sum();
    sums.iter().sum::<f64>() + rest
}

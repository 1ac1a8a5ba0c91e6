//! Random hyperplanes for sparse vectors, which may have any number of dimensions. A normal's component in a dimension is
//! drawn when a vector has a weight there, from the numbers of the dimension and the function.
//!
//! Two vectors at an angle of θ degrees lie on the same side of a hyperplane with probability 1 − θ/180
//! (Charikar, "Similarity Estimation Techniques from Rounding Algorithms", 2002) if the components are
//! normally distributed. Components of +1 and −1 come near that for vectors with many weights of like size,
//! and not for others: with them, a vector of one weight and one of two agree as often at 10 degrees as at 40.

use super::Family;
use crate::item::Sparse;

/// Draws the component of a normal from a dimension, a function's number and a seed.
pub type Component = fn(u64, u64, u64) -> f32;

/// On which side of random hyperplanes the vectors of a collection lie. The distance is the angle in degrees.
///
/// A vector without weights lies in all hyperplanes and counts as on the positive side.
#[derive(Debug, Clone, Copy)]
pub struct SparseHyperplanes<'a> {
    vectors: &'a Sparse,
    component: Component,
    seed: u64,
}

impl<'a> SparseHyperplanes<'a> {
    /// Hyperplanes for these vectors; [`agreement`](Family::agreement) is exact for components that are
    /// normally distributed.
    pub fn new(vectors: &'a Sparse, component: Component, seed: u64) -> Self {
        Self { vectors, component, seed }
    }
}

impl Family for SparseHyperplanes<'_> {
    fn hash(&self, item: u32, from: usize, values: &mut [u64]) {
        let (dimensions, weights) = self.vectors.get(item as usize);
        for (function, value) in (from as u64..).zip(values) {
            let terms = dimensions.iter().zip(weights).map(|(&dimension, &weight)| {
                let component = (self.component)(dimension.into(), function, self.seed);
                f64::from(component) * f64::from(weight)
            });
            *value = u64::from(terms.sum::<f64>() >= 0.0);
        }
    }

    fn agreement(&self, distance: f64) -> f64 {
        1.0 - distance.clamp(0.0, 180.0) / 180.0
    }
}

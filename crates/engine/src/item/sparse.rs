//! Many vectors that are zero in most dimensions, in one piece of memory.

use crate::{Error, Result};

/// A list of vectors, each kept as the dimensions in which it is not zero, ascending, and its weights there.
#[derive(Debug, Clone)]
pub struct Sparse {
    dimensions: Vec<u32>,
    weights: Vec<f32>,
    ends: Vec<usize>,
    /// By vector, the sum of the squares of its weights.
    squares: Vec<f64>,
}

impl Default for Sparse {
    fn default() -> Self {
        Self { dimensions: Vec::new(), weights: Vec::new(), ends: vec![0], squares: Vec::new() }
    }
}

impl Sparse {
    /// Appends a vector. Zeros may be given and are not kept.
    ///
    /// # Errors
    /// When the dimensions do not ascend, or a weight is not finite.
    pub fn push(&mut self, vector: &[(u32, f32)]) -> Result<()> {
        if let Some(pair) = vector.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            let value = format!("{} before {}", pair[0].0, pair[1].0);
            return Err(Error::parameter("a dimension", value, "ascending, each dimension once"));
        }
        if let Some((dimension, weight)) = vector.iter().find(|(_, weight)| !weight.is_finite()) {
            let value = format!("{weight} at dimension {dimension}");
            return Err(Error::parameter("a weight", value, "finite: mend or drop the vector"));
        }
        let kept = vector.iter().filter(|(_, weight)| *weight != 0.0);
        self.dimensions.extend(kept.clone().map(|(dimension, _)| dimension));
        self.weights.extend(kept.clone().map(|(_, weight)| weight));
        self.squares.push(kept.map(|&(_, weight)| f64::from(weight) * f64::from(weight)).sum());
        self.ends.push(self.dimensions.len());
        Ok(())
    }

    /// Bytes of memory that the entries take.
    pub fn bytes(&self) -> usize {
        8 * self.dimensions.len()
    }

    /// These vectors of them, in this order.
    pub fn select(&self, items: impl Iterator<Item = usize>) -> Self {
        let mut selected = Self::default();
        for item in items {
            let (dimensions, weights) = self.get(item);
            selected.dimensions.extend_from_slice(dimensions);
            selected.weights.extend_from_slice(weights);
            selected.squares.push(self.squares[item]);
            selected.ends.push(selected.dimensions.len());
        }
        selected
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.squares.len()
    }

    /// Whether there is no vector.
    pub fn is_empty(&self) -> bool {
        self.squares.is_empty()
    }

    /// The dimensions in which the vector at `index` is not zero, ascending, and its weights there.
    pub fn get(&self, index: usize) -> (&[u32], &[f32]) {
        let range = self.ends[index]..self.ends[index + 1];
        (&self.dimensions[range.clone()], &self.weights[range])
    }

    /// The square of the length of the vector at `index`.
    pub fn squares(&self, index: usize) -> f64 {
        self.squares[index]
    }
}

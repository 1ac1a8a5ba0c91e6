//! Many vectors of one dimension in one piece of memory.

use crate::{Error, Result};

/// A list of vectors, each of `dimension` finite components.
#[derive(Debug, Clone, Default)]
pub struct Vectors {
    dimension: usize,
    values: Vec<f32>,
}

impl Vectors {
    /// Vectors that stand one behind the other in `values`.
    ///
    /// # Errors
    /// When the values do not make up whole vectors, or one of them is not finite.
    pub fn new(dimension: usize, values: Vec<f32>) -> Result<Self> {
        if dimension == 0 || !values.len().is_multiple_of(dimension) {
            let must = format!("a divisor of the {} values, above 0", values.len());
            return Err(Error::parameter("dimension", dimension, must));
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let value = format!(
                "{} at vector {}, component {}",
                values[at],
                at / dimension,
                at % dimension
            );
            return Err(Error::parameter("a component", value, "finite: mend or drop the vector"));
        }
        Ok(Self { dimension, values })
    }

    /// Components of each vector.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.values.len() / self.dimension.max(1)
    }

    /// Whether there is no vector.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The vector at `index`.
    pub fn get(&self, index: usize) -> &[f32] {
        &self.values[index * self.dimension..][..self.dimension]
    }

    /// The vectors at these places.
    pub fn select(&self, items: impl Iterator<Item = usize>) -> Self {
        let values = items.flat_map(|item| self.get(item)).copied().collect();
        Self { dimension: self.dimension, values }
    }

    /// These vectors and then others.
    ///
    /// # Errors
    /// When those have another number of components.
    pub fn followed_by(mut self, others: &Self) -> Result<Self> {
        if self.dimension != others.dimension {
            return Err(Error::Mismatch { left: self.dimension, right: others.dimension });
        }
        self.values.extend_from_slice(&others.values);
        Ok(self)
    }

    /// All components, vector by vector.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

//! Vectors under a norm or by their angle.
//!
//! The values are those of [`norm`] and [`cosine`], to the last bit. Most pairs are not
//! close, and a sum in single precision is enough to see that: [`reaching`](Space::reaching) asks for the
//! exact value only where the quick one, with all that rounding may have done to it, leaves the matter open.

use nearkin_kernels::{absolute_distance, dot, squared_distance};

use super::{Form, Space};
use crate::item::Vectors;
use crate::measure::{cosine, norm};
use crate::{Error, Result};

/// How two vectors are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum VectorMeasure {
    /// Manhattan distance.
    L1,
    /// Euclidean distance.
    L2,
    /// The r-th root of the sum of r-th powers, r ≥ 1.
    Lr(f64),
    /// The largest difference of a component.
    LInf,
    /// The cosine of the angle, a similarity from −1 to 1.
    Cosine,
    /// The angle in degrees, a distance from 0 to 180.
    Angle,
}

impl VectorMeasure {
    /// Whether only the direction of a vector counts.
    pub fn is_angular(self) -> bool {
        matches!(self, Self::Cosine | Self::Angle)
    }

    /// The measure under its one name: L1, L2 and L∞ are also Lr.
    fn plain(self) -> Self {
        match self {
            Self::Lr(1.0) => Self::L1,
            Self::Lr(2.0) => Self::L2,
            Self::Lr(f64::INFINITY) => Self::LInf,
            other => other,
        }
    }
}

/// Half the distance of 1 to the next `f32`: how much one rounding can change a number, in relation to it.
pub(crate) const ROUNDING: f64 = f32::EPSILON as f64 / 2.0;

/// The smallest `f32` above zero: what a product may be off by, however small it is.
pub(crate) const QUANTUM: f64 = f32::from_bits(1) as f64;

/// Vectors under a measure.
#[derive(Debug)]
pub struct VectorSpace<'a> {
    vectors: &'a Vectors,
    measure: VectorMeasure,
    /// The lengths of the vectors, where only directions count.
    lengths: Vec<f64>,
    /// What roundings can do to a sum over the components in single precision, in relation to the sum of the
    /// terms' sizes. A pair is summed in 32 lanes, so a term passes one addition in 32, and a handful more.
    rounding: f64,
}

impl<'a> VectorSpace<'a> {
    /// These vectors under this measure.
    ///
    /// # Errors
    /// When r is below 1, or a vector has no direction and one is needed.
    pub fn new(vectors: &'a Vectors, measure: VectorMeasure) -> Result<Self> {
        let measure = measure.plain();
        if let VectorMeasure::Lr(r) = measure
            && (r.is_nan() || r < 1.0)
        {
            return Err(Error::parameter("r", r, "at least 1, or the triangle inequality fails"));
        }
        let mut lengths = Vec::new();
        if measure.is_angular() {
            lengths = (0..vectors.len()).map(|item| length(vectors.get(item))).collect();
            if let Some(zero) = lengths.iter().position(|&length| length == 0.0) {
                let must =
                    "non-zero, for without a length it has no direction: leave such items out";
                return Err(Error::parameter(
                    "a vector",
                    format!("all zeros (vector {zero})"),
                    must,
                ));
            }
        }
        let rounding = (vectors.dimension() as f64 / 32.0 + 16.0) * ROUNDING;
        Ok(Self { vectors, measure, lengths, rounding })
    }

    /// The vectors.
    pub fn vectors(&self) -> &'a Vectors {
        self.vectors
    }

    /// The measure.
    pub fn measure(&self) -> VectorMeasure {
        self.measure
    }

    /// What a vector is multiplied by for [`radius`](Self::radius) to hold: 1, or 1 / its length where only
    /// directions count.
    pub(crate) fn factor(&self, item: usize) -> f64 {
        self.lengths.get(item).map_or(1.0, |length| 1.0 / length)
    }

    /// The largest Euclidean distance of two vectors that reach `limit`; for angles, of their directions.
    ///
    /// (Σ|x|ʳ)^(1/r) falls with r, so the Euclidean length is at most the r-norm for r ≤ 2, and at most
    /// d^(1/2 − 1/r) times it above. Directions at an angle θ are 2·sin(θ/2) = √(2 − 2·cos θ) apart.
    pub fn radius(&self, limit: f64) -> f64 {
        let dimension = self.vectors.dimension() as f64;
        let exact = match self.measure {
            VectorMeasure::L1 | VectorMeasure::L2 => limit,
            VectorMeasure::Lr(r) => limit * dimension.powf((0.5 - 1.0 / r).max(0.0)),
            VectorMeasure::LInf => limit * dimension.sqrt(),
            // The exact value has an error of its own, some 1e-15 a hundred components.
            VectorMeasure::Cosine => {
                (2.0 - 2.0 * limit + 1e-14 * (10.0 + dimension)).clamp(0.0, 4.0).sqrt()
            }
            VectorMeasure::Angle => {
                2.0 * (limit.clamp(0.0, 180.0).to_radians() / 2.0).sin()
                    + 1e-14 * (10.0 + dimension)
            }
        };
        exact * (1.0 + 1e-14 * (10.0 + dimension))
    }

    /// Whether the quick sum rules the limit out.
    fn is_beyond(&self, a: u32, b: u32, limit: f64) -> bool {
        let (x, y) = (self.vectors.get(a as usize), self.vectors.get(b as usize));
        // A sum of terms that are not negative is at most 1 + rounding times too large, and a quantum for each
        // term that is next to zero.
        let vanished = self.vectors.dimension() as f64 * QUANTUM;
        let beyond = |sum: f32, limit: f64| {
            sum.is_finite() && f64::from(sum) > limit * (1.0 + 2.0 * self.rounding) + vanished
        };
        match self.measure {
            VectorMeasure::L1 => beyond(absolute_distance(x, y), limit),
            VectorMeasure::L2 => beyond(squared_distance(x, y), limit * limit),
            // No norm is below the largest component.
            VectorMeasure::LInf | VectorMeasure::Lr(_) => largest_exceeds(x, y, limit),
            VectorMeasure::Cosine => self.is_wider(a, b, limit),
            VectorMeasure::Angle => self.is_wider(a, b, limit.clamp(0.0, 180.0).to_radians().cos()),
        }
    }

    /// Whether the quick dot product shows a cosine below `limit`.
    fn is_wider(&self, a: u32, b: u32, limit: f64) -> bool {
        let (x, y) = (self.vectors.get(a as usize), self.vectors.get(b as usize));
        let lengths = self.lengths[a as usize] * self.lengths[b as usize];
        // Terms may vanish next to zero, 1.2e-38 each at most, or overflow to what is not finite.
        if !(1e-24..1e30).contains(&lengths) {
            return false;
        }
        let slack = self.rounding + 1e-14 * self.vectors.dimension() as f64 + 1e-12;
        let product = f64::from(dot(x, y));
        product.is_finite() && product + 2.0 * slack * lengths < limit * lengths
    }
}

/// Whether a component differs by more than `limit`, for sure: a difference of two `f32` is rounded once.
fn largest_exceeds(x: &[f32], y: &[f32], limit: f64) -> bool {
    let limit = (limit * (1.0 + 2.0 * ROUNDING) + QUANTUM) as f32;
    let exceeds = |x: &[f32], y: &[f32]| {
        x.iter().zip(y).fold(false, |any, (x, y)| any | ((x - y).abs() > limit))
    };
    x.chunks(64).zip(y.chunks(64)).any(|(x, y)| exceeds(x, y))
}

/// A vector's Euclidean length.
fn length(vector: &[f32]) -> f64 {
    vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt()
}

impl Space for VectorSpace<'_> {
    fn len(&self) -> usize {
        self.vectors.len()
    }

    fn form(&self) -> Form {
        match self.measure {
            VectorMeasure::Cosine => Form::Similarity,
            _ => Form::Distance,
        }
    }

    fn value(&self, a: u32, b: u32) -> f64 {
        let (x, y) = (self.vectors.get(a as usize), self.vectors.get(b as usize));
        let value = match self.measure {
            VectorMeasure::L1 => norm::l1(x, y),
            VectorMeasure::L2 => norm::l2(x, y),
            VectorMeasure::Lr(r) => norm::lr(x, y, r),
            VectorMeasure::LInf => norm::l_inf(x, y),
            VectorMeasure::Cosine => cosine::similarity(x, y),
            VectorMeasure::Angle => cosine::angle_degrees(x, y),
        };
        value.expect("vectors that were looked at when the space was made")
    }

    fn reaching(&self, a: u32, b: u32, limit: f64) -> Option<f64> {
        if self.is_beyond(a, b, limit) {
            return None;
        }
        let value = self.value(a, b);
        (!self.form().closer(limit, value)).then_some(value)
    }
}

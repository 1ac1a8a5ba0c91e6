//! Sparse vectors under the angle between them or its cosine.
//!
//! A vector without weights has no direction: it counts as at right angles to every vector, itself included,
//! so that it is similar to nothing.

use std::cmp::Ordering;

use crate::item::Sparse;

use super::{Form, Space};

/// How two sparse vectors are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SparseMeasure {
    /// The cosine of their angle, from −1 to 1, a similarity.
    #[default]
    Cosine,
    /// Their angle in degrees, from 0 to 180, a distance.
    Angle,
}

/// Sparse vectors in memory, and how they are compared.
#[derive(Debug, Clone)]
pub struct SparseSpace {
    vectors: Sparse,
    measure: SparseMeasure,
}

/// A vector whose entries are this many times fewer than the other's looks them up there.
const FEWER: usize = 16;

impl SparseSpace {
    /// These vectors under this measure.
    pub fn new(vectors: Sparse, measure: SparseMeasure) -> Self {
        Self { vectors, measure }
    }

    /// The vectors.
    pub fn vectors(&self) -> &Sparse {
        &self.vectors
    }

    /// How they are compared.
    pub fn measure(&self) -> SparseMeasure {
        self.measure
    }

    /// The cosine of two vectors; exactly 1 for equal ones.
    fn cosine(&self, a: usize, b: usize) -> f64 {
        let squares = self.vectors.squares(a) * self.vectors.squares(b);
        if squares == 0.0 {
            return 0.0;
        }
        let dot = dot(self.vectors.get(a), self.vectors.get(b));
        (dot / squares.sqrt()).clamp(-1.0, 1.0)
    }

    /// The angle of two vectors in degrees; exactly 0 for equal ones.
    ///
    /// The arc cosine loses half of all digits of small angles, so Kahan's formula is used, as for other
    /// vectors: with u = a/|a| and v = b/|b|, angle = 2·atan2(|u − v|, |u + v|)
    fn angle(&self, a: usize, b: usize) -> f64 {
        let lengths = [a, b].map(|index| self.vectors.squares(index).sqrt());
        if lengths.contains(&0.0) {
            return 90.0;
        }
        let (mut minus, mut plus) = (0.0, 0.0);
        merge(self.vectors.get(a), self.vectors.get(b), |x, y| {
            let (u, v) = (x / lengths[0], y / lengths[1]);
            minus += (u - v) * (u - v);
            plus += (u + v) * (u + v);
        });
        (2.0 * minus.sqrt().atan2(plus.sqrt())).to_degrees()
    }
}

impl Space for SparseSpace {
    fn len(&self) -> usize {
        self.vectors.len()
    }

    fn form(&self) -> Form {
        match self.measure {
            SparseMeasure::Cosine => Form::Similarity,
            SparseMeasure::Angle => Form::Distance,
        }
    }

    fn value(&self, a: u32, b: u32) -> f64 {
        match self.measure {
            SparseMeasure::Cosine => self.cosine(a as usize, b as usize),
            SparseMeasure::Angle => self.angle(a as usize, b as usize),
        }
    }
}

type Entries<'a> = (&'a [u32], &'a [f32]);

/// The sum of the products of the weights in common dimensions, by ascending dimension.
fn dot(a: Entries, b: Entries) -> f64 {
    let (short, long) = if a.0.len() <= b.0.len() { (a, b) } else { (b, a) };
    let mut sum = 0.0;
    if short.0.len() * FEWER < long.0.len() {
        let mut from = 0;
        for (dimension, &weight) in short.0.iter().zip(short.1) {
            from += long.0[from..].partition_point(|other| other < dimension);
            if long.0.get(from) == Some(dimension) {
                sum += f64::from(weight) * f64::from(long.1[from]);
            }
        }
        return sum;
    }
    let (mut i, mut j) = (0, 0);
    while i < short.0.len() && j < long.0.len() {
        let (left, right) = (short.0[i], long.0[j]);
        if left == right {
            sum += f64::from(short.1[i]) * f64::from(long.1[j]);
        }
        i += usize::from(left <= right);
        j += usize::from(right <= left);
    }
    sum
}

/// Calls `with` for every dimension in which one of the vectors is not zero, with both weights.
fn merge(a: Entries, b: Entries, mut with: impl FnMut(f64, f64)) {
    let (mut i, mut j) = (0, 0);
    while i < a.0.len() || j < b.0.len() {
        let order = match (a.0.get(i), b.0.get(j)) {
            (Some(left), Some(right)) => left.cmp(right),
            (Some(_), None) => Ordering::Less,
            _ => Ordering::Greater,
        };
        let x = if order.is_le() { f64::from(a.1[i]) } else { 0.0 };
        let y = if order.is_ge() { f64::from(b.1[j]) } else { 0.0 };
        i += usize::from(order.is_le());
        j += usize::from(order.is_ge());
        with(x, y);
    }
}

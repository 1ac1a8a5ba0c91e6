//! Random hyperplanes: on which side of each does a vector lie?
//!
//! Vectors come in, signs go out. A hyperplane through the origin with a random normal parts two vectors at angle θ
//! with probability θ/180 (Goemans and Williamson 1995; Charikar 2002; *Mining of Massive Datasets*, 3.7.2–3), so
//! the family is (d₁, d₂, 1 − d₁/180, 1 − d₂/180)-sensitive for angles in degrees. With normal components that is
//! exact for every pair. With components of +1 and −1 it is approximate: good for vectors of many components none of
//! which outweighs the rest, off by several degrees for vectors of four.
//!
//! A vector in the hyperplane itself counts as on the positive side. That is rare with normal components and common with
//! ±1 and vectors of whole numbers. Any rule would do, as long as it is always the same.

use std::ops::Range;

use nearkin_kernels::dot;
use rayon::prelude::*;

use super::curve::{hyperplane, normal_at, normal_below};
use super::directions::{Components, Directions, ROWS};
use super::probe::{Doubt, ProbeFamily, average};
use super::{Family, each_block};
use crate::item::{Bits, Vectors};
use crate::{Error, Result};

/// Which normals the hyperplanes have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normals {
    /// Normal components: the chances are exact.
    Gaussian,
    /// Components +1 and −1: the chances are approximate.
    Signs,
}

/// Hyperplanes through the origin, for the vectors of a collection. The distance is the angle in degrees.
///
/// A vector of zeros has no angle; it lies on the positive side of all.
#[derive(Debug)]
pub struct Hyperplanes<'a> {
    vectors: &'a Vectors,
    directions: Directions,
}

impl<'a> Hyperplanes<'a> {
    /// Hyperplanes for these vectors. The component of a normal in a coordinate is that of
    /// [`draw::gaussian`](super::draw::gaussian) or [`draw::sign`](super::draw::sign), with the same seed.
    pub fn new(vectors: &'a Vectors, normals: Normals, seed: u64) -> Self {
        let components = match normals {
            Normals::Gaussian => Components::Gaussian,
            Normals::Signs => Components::Signs,
        };
        Self { vectors, directions: Directions::new(vectors.dimension(), components, seed) }
    }

    /// The signs of all vectors under the first `length` hyperplanes, one bit per sign: 1 is the positive side.
    ///
    /// # Errors
    /// When `length` is 0.
    pub fn sketches(&self, length: usize) -> Result<Bits> {
        let mut sketches = Bits::new(length)?;
        let (each, count) = (sketches.words_each(), self.vectors.len() as u32);
        let starts: Vec<u32> = (0..count).step_by(ROWS).collect();
        let blocks = starts.par_iter().map(|&start| {
            let items = start..count.min(start + ROWS as u32);
            let mut words = vec![0u64; items.len() * each];
            self.directions.project(rows(self.vectors, items), 0, length, |row, at, products| {
                let words = &mut words[row * each..];
                for (place, product) in (at..).zip(products) {
                    words[place / 64] |= u64::from(*product >= 0.0) << (place % 64);
                }
            });
            words
        });
        for words in blocks.collect::<Vec<_>>() {
            words.chunks_exact(each).try_for_each(|sketch| sketches.push(sketch))?;
        }
        Ok(sketches)
    }
}

impl Family for Hyperplanes<'_> {
    fn hash(&self, item: u32, from: usize, values: &mut [u64]) {
        let row = self.vectors.get(item as usize);
        self.directions.project(row, from, values.len(), |_, at, products| {
            put_sides(products, &mut values[at..]);
        });
    }

    fn hash_many(&self, items: Range<u32>, from: usize, functions: usize, values: &mut [u64]) {
        each_block(items, ROWS, functions, values, |items, values| {
            let rows = rows(self.vectors, items);
            self.directions.project(rows, from, functions, |row, at, products| {
                put_sides(products, &mut values[row * functions + at..]);
            });
        });
    }

    fn agreement(&self, distance: f64) -> f64 {
        hyperplane(distance)
    }

    fn probing(&self) -> Option<&dyn ProbeFamily> {
        Some(self)
    }
}

impl ProbeFamily for Hyperplanes<'_> {
    /// The sides a vector is next to are the likeliest to change.
    fn doubt(&self) -> Doubt {
        Doubt::Side
    }

    fn hash_margins(
        &self,
        items: Range<u32>,
        from: usize,
        functions: usize,
        values: &mut [u64],
        margins: &mut [f32],
    ) {
        let first = items.start;
        each_block(items, ROWS, functions, values, |items, values| {
            let start = (items.start - first) as usize * functions;
            let margins = &mut margins[start..];
            let rows = rows(self.vectors, items);
            self.directions.project(rows, from, functions, |row, at, products| {
                let at = row * functions + at;
                put_sides(products, &mut values[at..]);
                margins[at..].iter_mut().zip(products).for_each(|(to, x)| *to = x.abs());
            });
        });
    }

    /// Given its distance m from a hyperplane, in standard deviations, the other vector is on the other side with
    /// probability Φ(−m·cot θ); this is averaged over m. Exact for normal components, up to the average.
    fn probed_agreements(
        &self,
        distance: f64,
        rows: usize,
        most: usize,
        samples: usize,
    ) -> Vec<f64> {
        let (sine, cosine) = distance.clamp(0.0, 180.0).to_radians().sin_cos();
        if sine <= 1e-12 {
            return vec![f64::from(u8::from(cosine > 0.0)); most];
        }
        average(Doubt::Side, rows, most, samples, |u| {
            let m = normal_at(0.5 + 0.5 * u.min(1.0 - 1e-9));
            let crossed = normal_below(-m * cosine / sine);
            [1.0 - crossed, 0.0, crossed]
        })
    }
}

/// On which sides of hyperplanes with these normals a vector lies: true for the positive one.
///
/// # Errors
/// When the vector has not the normals' dimension.
pub fn sides(vector: &[f32], normals: &Vectors) -> Result<Vec<bool>> {
    if vector.len() != normals.dimension() {
        return Err(Error::Mismatch { left: vector.len(), right: normals.dimension() });
    }
    Ok((0..normals.len()).map(|i| dot(vector, normals.get(i)) >= 0.0).collect())
}

/// The angle, in degrees, that the share of sides in which two vectors differ estimates.
pub fn estimated_degrees(different: usize, hyperplanes: usize) -> f64 {
    180.0 * different as f64 / hyperplanes as f64
}

/// A value for each product: 1 for the positive side.
fn put_sides(products: &[f32], values: &mut [u64]) {
    products.iter().zip(values).for_each(|(x, value)| *value = u64::from(*x >= 0.0));
}

fn rows(vectors: &Vectors, items: Range<u32>) -> &[f32] {
    let dimension = vectors.dimension();
    &vectors.values()[items.start as usize * dimension..items.end as usize * dimension]
}

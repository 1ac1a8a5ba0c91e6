//! The L1 distance as a Hamming distance.
//!
//! In unary, a whole number x from 0 to m is x ones and m − x zeros. So the codes of two numbers differ in as many bits as
//! the numbers are apart, and the codes of two vectors in as many bits as their L1 distance (Indyk and Motwani 1998).
//! [`code`] writes the codes out, for everything that takes bit strings. [`UnaryLevels`] samples bits of codes that are
//! never written: bit l of coordinate i says whether vᵢ ≥ l. That does not need whole numbers, so it takes any numbers, and
//! each coordinate has its own range: levels are spread evenly over the ranges of all coordinates laid end to end.

use crate::family::Family;
use crate::family::draw::{place, unit};
use crate::family::hash::mix64;
use crate::item::{Bits, Vectors};
use crate::{Error, Result};

/// The unary codes of vectors of whole numbers from 0 to `maximum`: `maximum` bits per component.
///
/// # Errors
/// When `maximum` is 0, or a component is no whole number from 0 to `maximum`.
pub fn code(vectors: &Vectors, maximum: u32) -> Result<Bits> {
    let each = check(vectors, maximum)?;
    let mut codes = Bits::new(each)?;
    let mut words = vec![0u64; codes.words_each()];
    for item in 0..vectors.len() {
        words.fill(0);
        for (start, &x) in (0..).step_by(maximum as usize).zip(vectors.get(item)) {
            (start..start + x as usize).for_each(|bit| words[bit / 64] |= 1 << (bit % 64));
        }
        codes.push(&words)?;
    }
    Ok(codes)
}

/// Bits of each code.
fn check(vectors: &Vectors, maximum: u32) -> Result<usize> {
    if maximum == 0 {
        return Err(Error::parameter("maximum", maximum, "at least 1"));
    }
    let fits = |&x: &f32| x >= 0.0 && f64::from(x) <= f64::from(maximum) && x.fract() == 0.0;
    if let Some(at) = vectors.values().iter().position(|x| !fits(x)) {
        let (vector, component) = (at / vectors.dimension(), at % vectors.dimension());
        let value = format!("{} at vector {vector}, component {component}", vectors.values()[at]);
        let must = format!("a whole number from 0 to {maximum} to be coded in unary");
        return Err(Error::parameter("a component", value, must));
    }
    vectors.dimension().checked_mul(maximum as usize).ok_or_else(|| {
        Error::parameter("maximum", maximum, "smaller: the codes would not fit into memory")
    })
}

/// Whether a random coordinate reaches a random level, for the vectors of a collection. The distance is L1.
#[derive(Debug, Clone)]
pub struct UnaryLevels<'a> {
    vectors: &'a Vectors,
    seed: u64,
    ranges: Ranges,
}

#[derive(Debug, Clone)]
enum Ranges {
    /// Levels 1 to this in every coordinate.
    Whole(u32),
    /// The least value of each coordinate, and where its range ends when all are laid end to end.
    Observed { least: Vec<f32>, ends: Vec<f64> },
}

impl<'a> UnaryLevels<'a> {
    /// For whole numbers from 0 to `maximum`: [`BitSampling`](crate::family::BitSampling) of their [`code`] with the same
    /// seed, value for value.
    ///
    /// # Errors
    /// As for [`code`].
    pub fn whole(vectors: &'a Vectors, maximum: u32, seed: u64) -> Result<Self> {
        check(vectors, maximum)?;
        Ok(Self { vectors, seed, ranges: Ranges::Whole(maximum) })
    }

    /// For any numbers: levels between the least and the greatest value of each coordinate.
    ///
    /// # Errors
    /// When all vectors are equal, so that there are no levels between them.
    pub fn observed(vectors: &'a Vectors, seed: u64) -> Result<Self> {
        let mut least = vec![f32::INFINITY; vectors.dimension()];
        let mut greatest = vec![f32::NEG_INFINITY; vectors.dimension()];
        for vector in vectors.values().chunks_exact(vectors.dimension().max(1)) {
            for ((low, high), &x) in least.iter_mut().zip(&mut greatest).zip(vector) {
                (*low, *high) = (low.min(x), high.max(x));
            }
        }
        let mut end = 0.0;
        let widths =
            least.iter().zip(&greatest).map(|(&low, &high)| f64::from(high) - f64::from(low));
        let ends: Vec<f64> = widths
            .map(|width| {
                end += width.max(0.0);
                end
            })
            .collect();
        if end <= 0.0 {
            return Err(Error::parameter("vectors", "all equal", "different from one another"));
        }
        Ok(Self { vectors, seed, ranges: Ranges::Observed { least, ends } })
    }

    /// A function: whether this coordinate of a vector is at least this.
    pub fn level(&self, function: usize) -> (usize, f64) {
        match &self.ranges {
            Ranges::Whole(maximum) => {
                let all = self.vectors.dimension() as u64 * u64::from(*maximum);
                let bit = place(function as u64, self.seed, all);
                let level = bit % u64::from(*maximum) + 1;
                ((bit / u64::from(*maximum)) as usize, level as f64)
            }
            Ranges::Observed { least, ends } => {
                let length = ends.last().copied().unwrap_or_default();
                let at = unit(mix64(function as u64, self.seed)) * length;
                let coordinate = ends.partition_point(|&end| end <= at).min(ends.len() - 1);
                let start = if coordinate == 0 { 0.0 } else { ends[coordinate - 1] };
                (coordinate, f64::from(least[coordinate]) + (at - start))
            }
        }
    }
}

impl Family for UnaryLevels<'_> {
    fn hash(&self, item: u32, from: usize, values: &mut [u64]) {
        let vector = self.vectors.get(item as usize);
        for (function, value) in (from..).zip(values) {
            let (coordinate, level) = self.level(function);
            *value = u64::from(f64::from(vector[coordinate]) >= level);
        }
    }

    /// 1 − c/b, with b the length of all ranges together, which is the number of bits of a [`code`].
    fn agreement(&self, distance: f64) -> f64 {
        let bits = match &self.ranges {
            Ranges::Whole(maximum) => self.vectors.dimension() as f64 * f64::from(*maximum),
            Ranges::Observed { ends, .. } => ends.last().copied().unwrap_or_default(),
        };
        (1.0 - distance / bits).clamp(0.0, 1.0)
    }
}

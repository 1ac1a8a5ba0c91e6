//! Vectors as a few components and the length of what these leave out.
//!
//! For an orthonormal projection P and what it leaves of a vector, r(x) = x − Pᵀ(Px), lengths add up as squares:
//! |x − y|² = |Px − Py|² + |r(x) − r(y)|² ≥ |Px − Py|² + (|r(x)| − |r(y)|)².
//! So the point (Px, |r(x)|) is never farther from (Py, |r(y)|) than x is from y, and the same holds for the first few
//! components of Px and the length of what these leave. Single precision adds an error that is known for each vector:
//! its [`slack`](FrameCoordinates::slack).
//!
//! # Why the slack is enough
//!
//! Let u = 2⁻²⁴, and x' the vector as it is projected: around the mean, scaled by a power of two so that no
//! vector is longer than 1, rounded to `f32`. Rounding moved it by at most u·|x'|, and by what vanishes next to
//! zero, √d·2⁻¹⁴⁹.
//!
//! The rows of the projection are orthonormal to within ε, the Frobenius norm of QQᵀ − I, which is measured in
//! double precision. All singular values of Q are then within ε of 1, and there is an exactly orthonormal P with
//! |Qx' − Px'| ≤ ε|x'|. A dot product is summed over pieces of [`PIECE`] components, and the pieces after each
//! other, so a term passes at most `PIECE` + d/`PIECE` roundings and is off by γ = 1.01·u times as many, in
//! relation to its size; by Cauchy and Schwarz a component is off by γ·(1 + ε)·|x'|, and all m of them together
//! by √m times that. With e for the sum of these, the computed z is within e of Px'.
//!
//! The computed |r|² = |x'|² − |z|² is then off by δ = e·(2|z| + e), next to which the errors of double
//! precision vanish (1e-12 is added for them). Its root is off by δ/|r|, since |a − b| = |a² − b²|/(a + b), and
//! by √δ at the most, since |a − b|² ≤ |a² − b²|. Where that is much of |r| itself, the lengths are left out.
//!
//! By the triangle inequality computed points are at most slack(x) + slack(y) farther apart than the vectors.

use nearkin_kernels::{dot_block, panels_of};
use rayon::prelude::*;

use super::basis::{principal, single};
use crate::family::hash::SplitMix;
use crate::space::{ROUNDING, Space, VectorSpace};

/// Components that are summed before the sum is added to the others.
const PIECE: usize = 64;
/// Vectors that are projected in one go.
const PORTION: usize = 48;
/// Vectors that the projection is learned from.
const SAMPLE: usize = 2048;
const SEED: u64 = 0x6e65_6172;

/// Vectors of a space around their mean, small enough that nothing overflows.
pub(crate) struct Centre<'a> {
    space: &'a VectorSpace<'a>,
    /// The mean of a sample; any point would do.
    mean: Vec<f64>,
    /// A power of two.
    scale: f64,
}

impl<'a> Centre<'a> {
    pub(crate) fn new(space: &'a VectorSpace<'a>) -> Self {
        let vectors = space.vectors();
        let mut mean = vec![0.0; vectors.dimension()];
        let sample = sample(vectors.len());
        for &item in &sample {
            let factor = space.factor(item) / sample.len() as f64;
            let vector = vectors.get(item).iter();
            mean.iter_mut().zip(vector).for_each(|(mean, &x)| *mean += f64::from(x) * factor);
        }
        Self { space, mean, scale: scale(space) }
    }

    pub(crate) fn space(&self) -> &'a VectorSpace<'a> {
        self.space
    }

    pub(crate) fn dimension(&self) -> usize {
        self.mean.len()
    }

    /// What coordinates are multiplied by.
    pub(crate) fn scale(&self) -> f64 {
        self.scale
    }

    /// The components of a vector.
    fn vector(&self, item: usize) -> impl Iterator<Item = f32> {
        let factor = self.space.factor(item);
        let vector = self.space.vectors().get(item).iter().zip(&self.mean);
        vector.map(move |(&x, mean)| ((f64::from(x) * factor - mean) * self.scale) as f32)
    }

    /// Appends the components times `times`, a power of two; the square of the vector's length.
    pub(crate) fn push(&self, item: usize, times: f32, to: &mut Vec<f32>) -> f64 {
        let from = to.len();
        to.extend(self.vector(item));
        let square = to[from..].iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        to[from..].iter_mut().for_each(|x| *x *= times);
        square
    }
}

/// A projection for one collection.
pub(crate) struct Frame<'a> {
    centre: Centre<'a>,
    /// The rows, piece by piece of their components, in panels.
    pieces: Vec<Vec<f32>>,
    components: usize,
    /// How far a projected vector may be off, in relation to its length.
    error: f64,
}

/// Projected vectors.
pub(crate) struct FrameCoordinates {
    /// Components of each, a multiple of 16.
    pub(crate) width: usize,
    /// The components, vector by vector.
    pub(crate) components: Vec<f32>,
    /// The lengths of what the first components leave out: for each number of components asked for, of each
    /// vector.
    pub(crate) rests: Vec<Vec<f32>>,
    /// How much farther from others each may seem than it is.
    pub(crate) slack: Vec<f32>,
}

impl<'a> Frame<'a> {
    /// A projection to at most `most` components, fit for the vectors of a space.
    pub(crate) fn learn(space: &'a VectorSpace<'a>, most: usize) -> Self {
        let centre = Centre::new(space);
        let dimension = centre.dimension();
        let components = most.min(dimension);
        let sample = sample(space.len());
        let mut rows = Vec::with_capacity(sample.len() * dimension);
        sample.iter().for_each(|&item| rows.extend(centre.vector(item)));
        let mut frame = Self { centre, pieces: Vec::new(), components, error: 0.0 };
        frame.set_rows(&single(&principal(&rows, dimension, components, SEED)));
        frame
    }

    fn set_rows(&mut self, rows: &[f32]) {
        let dimension = self.centre.dimension();
        let piece = |from: usize| -> Vec<f32> {
            let to = (from + PIECE).min(dimension);
            let rows = rows.chunks_exact(dimension).flat_map(|row| &row[from..to]);
            panels_of(&rows.copied().collect::<Vec<_>>(), to - from)
        };
        self.pieces = (0..dimension).step_by(PIECE).map(piece).collect();
        let roundings = (PIECE + dimension.div_ceil(PIECE) + 2) as f64;
        let defect = defect(rows, dimension);
        let gamma = 1.01 * ROUNDING * roundings * (1.0 + defect);
        self.error = (self.components as f64).sqrt() * gamma + defect + 2.0 * ROUNDING;
    }

    /// What coordinates were multiplied by.
    pub(crate) fn scale(&self) -> f64 {
        self.centre.scale
    }

    /// Projects all vectors; `ends` are the numbers of components after which the rest is measured.
    pub(crate) fn project(&self, ends: &[usize]) -> FrameCoordinates {
        let items = self.centre.space.len();
        let width = self.components.next_multiple_of(nearkin_kernels::PANEL);
        let mut components = vec![0.0; items * width];
        let mut lengths = vec![0.0; items];
        let portions = components.par_chunks_mut(PORTION * width);
        portions.zip(lengths.par_chunks_mut(PORTION)).enumerate().for_each(
            |(number, (components, lengths))| self.portion(number * PORTION, components, lengths),
        );
        let vanishing = (self.centre.dimension() as f64).sqrt() * 2f64.powi(-140);
        let errors = lengths.iter().map(|square| self.error * square.sqrt() + vanishing);
        let mut slack: Vec<f32> = errors.map(rounded_up).collect();
        let plain = slack.clone();
        let rests = ends.iter().map(|&end| {
            let of = |item: usize| {
                let covered = &components[item * width..][..end.min(width)];
                rest(lengths[item], covered, f64::from(plain[item]))
            };
            let both: Vec<(f32, f32)> = (0..items).into_par_iter().map(of).collect();
            let [all, off] = both.iter().fold([0.0; 2], |[all, off], &(rest, slack)| {
                [all + f64::from(rest), off + f64::from(slack)]
            });
            if end >= self.centre.dimension() || off > 0.05 * all {
                return vec![0.0; items];
            }
            for ((slack, &plain), &(_, more)) in slack.iter_mut().zip(&plain).zip(&both) {
                *slack = slack.max(rounded_up(f64::from(plain) + f64::from(more)));
            }
            both.into_iter().map(|(rest, _)| rest).collect()
        });
        let rests = rests.collect();
        FrameCoordinates { width, components, rests, slack }
    }

    /// Projects the vectors from `first` on, and squares their lengths.
    fn portion(&self, first: usize, components: &mut [f32], lengths: &mut [f64]) {
        let (dimension, items) = (self.centre.dimension(), lengths.len());
        let mut rows = vec![0.0; items * dimension];
        for (number, length) in lengths.iter_mut().enumerate() {
            for (at, x) in self.centre.vector(first + number).enumerate() {
                *length += f64::from(x) * f64::from(x);
                // Piece by piece, in each the vectors one behind the other.
                let piece = at / PIECE;
                let width = (dimension - piece * PIECE).min(PIECE);
                rows[items * piece * PIECE + number * width + at % PIECE] = x;
            }
        }
        let mut sums = vec![0.0; components.len()];
        for (number, piece) in self.pieces.iter().enumerate() {
            let width = (dimension - number * PIECE).min(PIECE);
            let rows = &rows[items * number * PIECE..][..items * width];
            dot_block(rows, width, piece, &mut sums);
            components.iter_mut().zip(&sums).for_each(|(component, sum)| *component += sum);
        }
    }
}

/// The length of what some components leave of a vector, and how far that may be off.
fn rest(square: f64, covered: &[f32], error: f64) -> (f32, f32) {
    let covered: f64 = covered.iter().map(|&z| f64::from(z) * f64::from(z)).sum();
    let rest = (square - covered).max(0.0).sqrt();
    let delta = error * (2.0 * covered.sqrt() + error) + 1e-12 * square;
    let slack = (delta / rest.max(1e-300)).min(delta.sqrt()) + rest * ROUNDING;
    (rest as f32, rounded_up(slack))
}

fn rounded_up(x: f64) -> f32 {
    (x as f32).next_up()
}

/// Some of the items, the same ones each time.
fn sample(items: usize) -> Vec<usize> {
    if items <= SAMPLE {
        return (0..items).collect();
    }
    let mut chance = SplitMix::new(SEED);
    (0..SAMPLE).map(|_| chance.below(items as u64) as usize).collect()
}

/// A power of two that makes every difference of vectors at most 1 long.
fn scale(space: &VectorSpace) -> f64 {
    let longest = if space.measure().is_angular() {
        1.0
    } else {
        let values = space.vectors().values().par_iter();
        let most = values.map(|x| x.abs()).reduce(|| 0.0, f32::max);
        f64::from(most) * (space.vectors().dimension() as f64).sqrt()
    };
    if longest == 0.0 { 1.0 } else { (-(2.0 * longest).log2().ceil() - 1.0).exp2() }
}

/// The Frobenius norm of QQᵀ − I.
fn defect(rows: &[f32], dimension: usize) -> f64 {
    let rows: Vec<&[f32]> = rows.chunks_exact(dimension).collect();
    let squares = rows.par_iter().enumerate().map(|(i, a)| {
        let row = rows.iter().enumerate().map(|(j, b)| {
            let product: f64 = a.iter().zip(*b).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum();
            (product - f64::from(u8::from(i == j))).powi(2)
        });
        row.sum::<f64>()
    });
    // Summed in order, so that it is the same at any number of threads.
    squares.collect::<Vec<_>>().iter().sum::<f64>().sqrt()
}

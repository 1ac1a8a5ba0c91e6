//! Every close pair of vectors, by all their components, many pairs at a time.
//!
//! This is for vectors that no few components tell apart: |x − y|² = |x|² + |y|² − 2·x·y for all pairs, as one large
//! product of matrices. It is the good brute force that anything quicker has to beat.

use std::ops::Range;

use nearkin_kernels::{PANEL, dot_block, panels_of, places_at_most};
use rayon::prelude::*;

use super::frame::Centre;
use super::go_on;
use crate::space::{
    ClosePair, JoinQuery, PairBuffer, PairSink, QUANTUM, ROUNDING, Space, VectorSpace,
};
use crate::{Error, Result};

/// Rows that are multiplied in one go.
const ROWS: u32 = 48;
/// Vectors that they are multiplied with in one go.
const COLUMNS: usize = 8 * PANEL;

/// Vectors laid out for multiplication.
pub struct DenseJoin<'a> {
    centre: Centre<'a>,
    /// Each vector around the mean, then 1, then the square of its length.
    panels: Vec<f32>,
    /// The length of the longest vector of each portion.
    longest: Vec<f64>,
}

impl<'a> DenseJoin<'a> {
    /// Lays out the vectors of a space.
    pub fn new(space: &'a VectorSpace<'a>) -> Self {
        let centre = Centre::new(space);
        let width = centre.dimension() + 2;
        let chunks: Vec<usize> = (0..space.len()).step_by(COLUMNS).collect();
        let chunks: Vec<(Vec<f32>, f64)> = chunks
            .into_par_iter()
            .map(|from| {
                let mut rows = Vec::new();
                let mut longest: f64 = 0.0;
                for item in from..(from + COLUMNS).min(space.len()) {
                    let square = centre.push(item, 1.0, &mut rows);
                    longest = longest.max(square.sqrt());
                    rows.extend([1.0, square as f32]);
                }
                (panels_of(&rows, width), longest)
            })
            .collect();
        let (panels, longest): (Vec<_>, Vec<_>) = chunks.into_iter().unzip();
        Self { centre, panels: panels.concat(), longest }
    }

    /// The space.
    pub fn space(&self) -> &'a VectorSpace<'a> {
        self.centre.space()
    }

    /// Hands on every pair that reaches the limit.
    ///
    /// # Errors
    /// When it was stopped, the limit is not a number, or the sink fails.
    pub fn within(&self, join: &JoinQuery, found: &PairSink<'_>) -> Result<()> {
        if join.limit.is_nan() {
            return Err(Error::parameter("limit", join.limit, "a number"));
        }
        let space = self.space();
        let radius = space.radius(join.limit);
        let asking =
            0..join.split.map_or(space.len() as u32, |split| split.min(space.len() as u32));
        self.portions(asking).into_par_iter().try_for_each(|rows| {
            go_on(join.stopped)?;
            let mut pairs = PairBuffer::new(found);
            let first = join.split.unwrap_or(rows.start);
            let mut states = vec![(); rows.len()];
            self.scan(
                rows,
                first,
                &mut states,
                |()| radius,
                |(), a, b| {
                    if b > a
                        && b >= first
                        && let Some(value) = space.reaching(a, b, join.limit)
                    {
                        pairs.push(ClosePair { a, b, value });
                    }
                },
            );
            pairs.finish().map(drop)
        })
    }

    /// Rows that are multiplied in one go.
    pub(super) fn portions(&self, rows: Range<u32>) -> Vec<Range<u32>> {
        let portion = |from: u32| from..(from + ROWS).min(rows.end);
        rows.clone().step_by(ROWS as usize).map(portion).collect()
    }

    /// Calls `meet` with all items from `first` on (or a little before) that may be within `radius` of a row.
    pub(super) fn scan<T>(
        &self,
        rows: Range<u32>,
        first: u32,
        states: &mut [T],
        radius: impl Fn(&T) -> f64,
        mut meet: impl FnMut(&mut T, u32, u32),
    ) {
        let width = self.centre.dimension() + 2;
        let (mut left, mut lengths) = (Vec::new(), Vec::new());
        for item in rows.clone() {
            let square = self.centre.push(item as usize, -2.0, &mut left);
            left.extend([square as f32, 1.0]);
            lengths.push(square.sqrt());
        }
        let (mut out, mut places) = (vec![0.0; rows.len() * COLUMNS], Vec::new());
        let chunks = self.panels.chunks(COLUMNS * width).zip(&self.longest).enumerate();
        for (number, (panels, &longest)) in chunks.skip(first as usize / COLUMNS) {
            let columns = panels.len() / width;
            let out = &mut out[..rows.len() * columns];
            dot_block(&left, width, panels, out);
            for (at, row) in rows.clone().enumerate() {
                let limit = self.limit(radius(&states[at]), lengths[at], longest);
                places.clear();
                places_at_most(&out[at * columns..][..columns], limit, &mut places);
                for &place in &places {
                    let item = (number * COLUMNS) as u32 + place;
                    // The last panel is filled up.
                    if (item as usize) < self.space().len() {
                        meet(&mut states[at], row, item);
                    }
                }
            }
        }
    }

    /// The largest computed square of the distance of two vectors of these lengths that are `radius` apart.
    ///
    /// Rounding has moved each by at most 2⁻²⁴ of its length. A term of the sum is off by as many roundings as
    /// there are components, in relation to its size, and the terms' sizes add up to |x|² + |y|² + 2·|x|·|y| by
    /// Cauchy and Schwarz; the squares of lengths were rounded once before. A product next to zero may be off by
    /// a whole quantum, 2⁻¹⁴⁹, however small it is.
    fn limit(&self, radius: f64, x: f64, y: f64) -> f32 {
        let terms = self.centre.dimension() as f64 + 8.0;
        let moved = radius * self.centre.scale() + 2.0 * ROUNDING * (x + y);
        let rounded = 1.01 * terms * ROUNDING * (x + y) * (x + y);
        let vanished = 2.0 * terms * QUANTUM;
        ((moved * moved + rounded + vanished) as f32).next_up()
    }
}

//! Random lines cut into stretches: into which does a point's projection fall?
//!
//! Points come in, numbers of stretches go out: ⌊(a·v + b) / w⌋ for a random direction a, a random place b of the
//! first cut and a width w. What is drawn for a decides which distance it is for (see [`curve`](super::curve), which
//! has the chances and the papers). Sums are of 32-bit floats: with 784 components they were off by 4·10⁻⁷ of the
//! vector's length. For points 10,000 widths from the origin that is some thousandths of a width, which costs that much
//! recall and nothing else. Subtract the mean from such data first.

use std::ops::Range;

use super::curve::{cauchy_line, gaussian_line, normal_below, unit_below, unit_line};
use super::directions::{Components, Directions, ROWS};
use super::draw::fraction;
use super::probe::{Doubt, ProbeFamily, average};
use super::{Family, INFINITY, each_block};
use crate::item::Vectors;
use crate::{Error, Result};

/// What is drawn for a line, and with it the distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineDirection {
    /// Normal components, for the Euclidean distance: projections are √d times as long as on the line itself.
    Gaussian,
    /// A uniformly random direction of length 1, for the Euclidean distance.
    Unit,
    /// Cauchy components, for the L1 distance.
    Cauchy,
}

impl LineDirection {
    /// The chance that two points of `dimension` components at this distance fall into the same stretch.
    pub fn agreement(self, distance: f64, width: f64, dimension: usize) -> f64 {
        match self {
            Self::Gaussian => gaussian_line(distance, width),
            Self::Unit => unit_line(distance, width, dimension),
            Self::Cauchy => cauchy_line(distance, width),
        }
    }

    /// The width for which an index of `items` points that finds those within `distance`, and has points at
    /// `contrast` times that to keep apart, evaluates the fewest functions.
    ///
    /// Let p₁ and p₂ be the chances at the two distances. It takes k = ln n / ln(1/p₂) functions per table to keep far
    /// points apart, and n^ρ tables, ρ = ln p₁ / ln p₂, to find near ones. Wide stretches make ρ small, so there are
    /// fewer tables, and p₂ large, so keys are longer. The product k·n^ρ has a flat minimum between. For normal
    /// components and 60,000 items it is at 2.0, 2.6 and 3.2 distances for contrasts of 1.5, 2 and 3 (ρ = 0.65, 0.47 and
    /// 0.31), for Cauchy components at 1.2, 2.0 and 3.0 (ρ = 0.78, 0.63 and 0.47).
    pub fn width_for(self, distance: f64, contrast: f64, items: usize, dimension: usize) -> f64 {
        let scale = if self == Self::Unit { (dimension.max(1) as f64).sqrt() } else { 1.0 };
        let n = items.max(2) as f64;
        let cost = |width: f64| {
            let p1 = self.agreement(distance, width, dimension).ln();
            let p2 = self.agreement(contrast * distance, width, dimension).ln();
            // Logarithms may be −∞ where stretches are far too narrow, or 0 where they are far too wide.
            let cost = p1 / p2 * n.ln() - (-p2).ln();
            if cost.is_nan() { f64::INFINITY } else { cost }
        };
        // Steps of a twentieth: the minimum is flat, and nothing is won by being nearer to it.
        let widths = (0..110).map(|step| 0.25 * 1.05f64.powi(step) * distance / scale);
        widths.min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(distance)
    }
}

/// Random lines, for the points of a collection.
#[derive(Debug)]
pub struct Lines<'a> {
    vectors: &'a Vectors,
    directions: Directions,
    line: LineDirection,
    width: f64,
    seed: u64,
}

impl<'a> Lines<'a> {
    /// Lines cut into stretches of `width`; [`LineDirection::width_for`] chooses one.
    ///
    /// # Errors
    /// When `width` is not above 0, or not finite.
    pub fn new(vectors: &'a Vectors, line: LineDirection, width: f64, seed: u64) -> Result<Self> {
        if !(width > 0.0 && width.is_finite()) {
            return Err(Error::parameter("width", width, "above 0"));
        }
        let components = match line {
            LineDirection::Gaussian => Components::Gaussian,
            LineDirection::Unit => Components::Unit,
            LineDirection::Cauchy => Components::Cauchy,
        };
        let directions = Directions::new(vectors.dimension(), components, seed);
        Ok(Self { vectors, directions, line, width, seed })
    }

    /// The width of the stretches.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Projects rows. Hands over the row, the function (counted from `from`) and the place of the projection, in widths
    /// from the first cut.
    fn project(
        &self,
        rows: &[f32],
        from: usize,
        count: usize,
        mut take: impl FnMut(usize, usize, f64),
    ) {
        let starts: Vec<f64> =
            (from..from + count).map(|function| fraction(function as u64, self.seed)).collect();
        let scale = 1.0 / self.width;
        self.directions.project(rows, from, count, |row, at, products| {
            for (function, (start, &x)) in (at..).zip(starts[at..].iter().zip(products)) {
                take(row, function, f64::from(x) * scale + start);
            }
        });
    }

    /// The chance that the other point's projection is less than `t` further along the line, in widths.
    fn shifted_below(&self, distance: f64) -> impl Fn(f64) -> f64 {
        let (line, width, dimension) = (self.line, self.width, self.vectors.dimension());
        let ratio = width / distance.max(f64::MIN_POSITIVE);
        // The integral takes a microsecond, and the average asks for thousands.
        let table: Vec<f64> = if line == LineDirection::Unit {
            (0..=STEPS).map(|i| unit_below(i as f64 / STEPS as f64, dimension)).collect()
        } else {
            Vec::new()
        };
        move |t: f64| match line {
            LineDirection::Gaussian => normal_below(t * ratio),
            LineDirection::Cauchy => 0.5 + (t * ratio).atan() / std::f64::consts::PI,
            LineDirection::Unit => {
                let x = t * ratio;
                let place = x.abs().min(1.0) * STEPS as f64;
                let below = (place as usize).min(STEPS - 1);
                let share = place - below as f64;
                let half = table[below] * (1.0 - share) + table[below + 1] * share;
                if x < 0.0 { 1.0 - half } else { half }
            }
        }
    }
}

/// Steps of a table of chances.
const STEPS: usize = 8192;

/// A stretch's number as a value: neighbours stay neighbours, and none is [`INFINITY`].
fn value(position: f64) -> u64 {
    (below(position) as u64 ^ 1 << 63).min(INFINITY - 1)
}

/// The whole number at or below. `floor` is a call where the compiler may not assume an instruction for it; that call took
/// a tenth of the time of 12 functions of 16 components.
fn below(position: f64) -> i64 {
    let whole = position as i64;
    whole.saturating_sub(i64::from(whole as f64 > position))
}

impl Family for Lines<'_> {
    fn hash(&self, item: u32, from: usize, values: &mut [u64]) {
        self.project(self.vectors.get(item as usize), from, values.len(), |_, at, position| {
            values[at] = value(position);
        });
    }

    fn hash_many(&self, items: Range<u32>, from: usize, functions: usize, values: &mut [u64]) {
        each_block(items, ROWS, functions, values, |items, values| {
            let dimension = self.vectors.dimension();
            let range = items.start as usize * dimension..items.end as usize * dimension;
            let rows = &self.vectors.values()[range];
            self.project(rows, from, functions, |row, at, position| {
                values[row * functions + at] = value(position);
            });
        });
    }

    fn agreement(&self, distance: f64) -> f64 {
        self.line.agreement(distance, self.width, self.vectors.dimension())
    }

    fn probing(&self) -> Option<&dyn ProbeFamily> {
        Some(self)
    }
}

impl ProbeFamily for Lines<'_> {
    fn doubt(&self) -> Doubt {
        Doubt::Stretch
    }

    fn hash_margins(
        &self,
        items: Range<u32>,
        from: usize,
        functions: usize,
        values: &mut [u64],
        margins: &mut [f32],
    ) {
        let (dimension, first) = (self.vectors.dimension(), items.start);
        each_block(items, ROWS, functions, values, |items, values| {
            let range = items.start as usize * dimension..items.end as usize * dimension;
            let start = (items.start - first) as usize * functions;
            let margins = &mut margins[start..];
            self.project(&self.vectors.values()[range], from, functions, |row, at, position| {
                values[row * functions + at] = value(position);
                margins[row * functions + at] = (position - below(position) as f64) as f32;
            });
        });
    }

    /// Averaged over where in their stretches the projections stand.
    fn probed_agreements(
        &self,
        distance: f64,
        rows: usize,
        most: usize,
        samples: usize,
    ) -> Vec<f64> {
        if distance <= 0.0 {
            return vec![1.0; most];
        }
        let below = self.shifted_below(distance);
        average(Doubt::Stretch, rows, most, samples, |inside| {
            let at = [-1.0 - inside, -inside, 1.0 - inside, 2.0 - inside].map(&below);
            [at[2] - at[1], at[1] - at[0], at[3] - at[2]]
        })
    }
}

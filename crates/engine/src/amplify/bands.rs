//! The S-curve of b bands of r rows.
//!
//! The similarity of a pair comes in, the probability that it becomes a candidate goes out:
//! P(s) = 1 − (1 − s^r)^b (*Mining of Massive Datasets*, 3.4.2). Around it stand the numbers by which
//! one judges such a curve: where it passes one half, where it is steepest, which similarity it
//! leaves as it is, and the areas of missed and wasted pairs on both sides of a threshold.

use super::chance::{Chance, Jet, Logic, fixed_point};
use super::expression::{Expression, MOST_FUNCTIONS};
use crate::{Error, Result};

/// `count` bands of `rows` rows each; a pair is a candidate when it agrees in all rows of one band.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bands {
    /// b, the number of bands: at least 1.
    pub count: usize,
    /// r, the rows of each band: at least 1.
    pub rows: usize,
}

impl Bands {
    /// `count` bands of `rows` rows.
    ///
    /// # Errors
    /// When either is 0, or both together are more than 65,536 functions.
    pub fn new(count: usize, rows: usize) -> Result<Self> {
        for (name, value) in [("bands", count), ("rows", rows)] {
            if value == 0 {
                return Err(Error::parameter(name, value, "at least 1"));
            }
        }
        if count.checked_mul(rows).is_none_or(|functions| functions > MOST_FUNCTIONS) {
            let must = format!("at most {} with {rows} rows", MOST_FUNCTIONS / rows);
            return Err(Error::parameter("bands", count, must));
        }
        Ok(Self { count, rows })
    }

    /// How many functions a signature needs: b·r.
    pub fn functions(&self) -> usize {
        self.count * self.rows
    }

    /// The probability that a pair of similarity `s` becomes a candidate. `s` is taken into 0..=1.
    pub fn probability(&self, s: f64) -> f64 {
        self.chance(s).yes
    }

    /// The probability that a pair of similarity `s` is missed, accurate where it is tiny.
    pub fn missed(&self, s: f64) -> f64 {
        self.chance(s).no
    }

    // Without the detour of an expression: tuning asks for millions of these.
    pub(super) fn chance(&self, s: f64) -> Chance {
        Chance::new(s).all(self.rows).any(self.count)
    }

    /// The similarity with probability exactly ½: (1 − 2^(−1/b))^(1/r).
    pub fn half_way(&self) -> f64 {
        let one_band = -(-std::f64::consts::LN_2 / self.count as f64).exp_m1();
        one_band.powf(1.0 / self.rows as f64)
    }

    /// The customary estimate of the threshold: (1/b)^(1/r). There the probability is about
    /// 1 − 1/e = 0.63 for many bands, so it lies above [`half_way`](Self::half_way).
    pub fn estimate(&self) -> f64 {
        (1.0 / self.count as f64).powf(1.0 / self.rows as f64)
    }

    /// The similarity p between 0 and 1 with P(p) = p: pairs above it are amplified, pairs below it
    /// damped. None with one band or one row, where the curve only damps or only amplifies.
    pub fn fixed_point(&self) -> Option<f64> {
        if self.count < 2 || self.rows < 2 {
            return None;
        }
        Some(fixed_point(|s| self.chance(s)))
    }

    /// P′(s) = b·r·s^(r−1)·(1 − s^r)^(b−1)
    pub fn slope(&self, s: f64) -> f64 {
        Jet::new(s).all(self.rows).any(self.count).slope
    }

    /// Where the curve is steepest, and how steep: s^r = (r − 1)/(b·r − 1), from P″(s) = 0. One row
    /// rises steepest at 0, one band at 1; with one of each the curve is straight, and 0 is given.
    pub fn steepest(&self) -> (f64, f64) {
        let (b, r) = (self.count as f64, self.rows as f64);
        let at = if self.rows == 1 { 0.0 } else { ((r - 1.0) / (b * r - 1.0)).powf(1.0 / r) };
        (at, self.slope(at))
    }

    /// The area of missed pairs, ∫ (1 − P(s)) ds from `threshold` to 1: the expected share of all
    /// pairs that are similar and missed, if similarities were spread evenly over 0..1.
    pub fn false_negative_area(&self, threshold: f64) -> f64 {
        integral(threshold.clamp(0.0, 1.0), 1.0, EXACT, |s| self.missed(s))
    }

    /// The area of wasted candidates, ∫ P(s) ds from 0 to `threshold`.
    pub fn false_positive_area(&self, threshold: f64) -> f64 {
        self.false_positive_area_within(threshold, EXACT)
    }

    /// [`false_positive_area`](Self::false_positive_area), each of its parts off by no more than about `error`.
    pub(super) fn false_positive_area_within(&self, threshold: f64, error: f64) -> f64 {
        integral(0.0, threshold.clamp(0.0, 1.0), error, |s| self.probability(s))
    }

    /// The bands as an expression of functions, such as `or(20, and(5, minhash))`.
    pub fn expression(&self) -> String {
        Expression::from(*self).to_string()
    }
}

/// An area that is handed out is exact enough when halving a part changes it by less than this.
const EXACT: f64 = 1e-11;

/// ∫ f from `from` to `to`, by Simpson's rule on 16 parts, each halved until halving changes it by less than `error`. The
/// curves are monotone, so nothing hides between the points. Where a curve turns within a thousandth of the range, only
/// that part gets many points.
fn integral(from: f64, to: f64, error: f64, f: impl Fn(f64) -> f64) -> f64 {
    const PARTS: usize = 16;
    let at = |i: usize| from + (to - from) * i as f64 / PARTS as f64;
    (0..PARTS).map(|i| Panel::new(at(i), at(i + 1), &f).refined(&f, error, 24)).sum()
}

/// One part of an integral: its ends and middle with the values there, and Simpson's sum.
struct Panel {
    points: [(f64, f64); 3],
    sum: f64,
}

impl Panel {
    fn new(from: f64, to: f64, f: &impl Fn(f64) -> f64) -> Self {
        Self::between((from, f(from)), (to, f(to)), f)
    }

    fn between(left: (f64, f64), right: (f64, f64), f: &impl Fn(f64) -> f64) -> Self {
        let middle = 0.5 * (left.0 + right.0);
        let value = f(middle);
        let sum = (right.0 - left.0) / 6.0 * (left.1 + 4.0 * value + right.1);
        Self { points: [left, (middle, value), right], sum }
    }

    fn refined(&self, f: &impl Fn(f64) -> f64, error: f64, depth: u32) -> f64 {
        let [left, middle, right] = self.points;
        let (first, second) = (Self::between(left, middle, f), Self::between(middle, right, f));
        let change = first.sum + second.sum - self.sum;
        if depth == 0 || change.abs() < error {
            return first.sum + second.sum + change / 15.0;
        }
        first.refined(f, error, depth - 1) + second.refined(f, error, depth - 1)
    }
}

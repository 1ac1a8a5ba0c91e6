//! Families of functions by what they promise at two distances (*Mining of Massive Datasets*, 3.6.1).

use super::expression::Expression;
use crate::family::Family;
use crate::{Error, Result};

/// A (d1, d2, p1, p2)-sensitive family: pairs at most `d1` apart agree with a probability of at least `p1`,
/// pairs at least `d2` apart with one of at most `p2`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sensitivity {
    /// The distance of close pairs.
    pub d1: f64,
    /// The distance of distant pairs, above d1.
    pub d2: f64,
    /// The least chance that a function agrees on a close pair.
    pub p1: f64,
    /// The greatest chance that a function agrees on a distant pair.
    pub p2: f64,
}

impl Sensitivity {
    /// What a family with this chance of agreeing at a distance promises at `d1` and `d2`.
    ///
    /// # Errors
    /// When `d1` is below 0 or not below `d2`, or the chance is not between 0 and 1 or rises with the
    /// distance.
    pub fn new(d1: f64, d2: f64, agreement: impl Fn(f64) -> f64) -> Result<Self> {
        if !(d1 >= 0.0 && d1 < d2) {
            return Err(Error::parameter("d1", d1, format!("from 0 on and below d2, {d2}")));
        }
        let (p1, p2) = (agreement(d1), agreement(d2));
        if !(p2 >= 0.0 && p2 <= p1 && p1 <= 1.0) {
            let value = format!("{p1} at {d1} and {p2} at {d2}");
            return Err(Error::parameter("agreement", value, "falling, between 1 and 0"));
        }
        Ok(Self { d1, d2, p1, p2 })
    }

    /// What minhash functions promise in the Jaccard distance: the chance that one agrees is the
    /// similarity.
    ///
    /// # Errors
    /// When not 0 ≤ `d1` < `d2` ≤ 1.
    pub fn minhash(d1: f64, d2: f64) -> Result<Self> {
        Self::new(d1, d2, |distance| 1.0 - distance)
    }

    /// What the functions of a family promise.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn of(family: &dyn Family, d1: f64, d2: f64) -> Result<Self> {
        Self::new(d1, d2, |distance| family.agreement(distance))
    }

    /// What an expression of functions of this family promises.
    pub fn amplified(&self, expression: &Expression) -> Self {
        let [p1, p2] = [self.p1, self.p2].map(|p| expression.probability(p));
        Self { p1, p2, ..*self }
    }
}

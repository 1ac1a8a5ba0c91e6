//! Bags with counts under the Jaccard similarity of bags, with the union by maximum or by sum.
//!
//! Counts are weights here: nothing is done once for each time that an element occurs. Items are shared min(m, n) times.
//! Sums of counts are exact, and quotients are those of sums below 2⁵³ correctly rounded.

use crate::item::Bags;
use crate::verify::{Limit, Measure, Overlap};

use super::{Form, Space};

/// Bags in memory, and how they are compared. Empty ones are similar to nothing.
#[derive(Debug, Clone)]
pub struct BagSpace<'a> {
    bags: &'a Bags,
    measure: Measure,
    form: Form,
}

/// A limit as a share of both totals is taken this much too low, so that no rounding loses a pair.
const SLACK: f64 = 1e-9;

impl<'a> BagSpace<'a> {
    /// These bags under one of the two measures of bags, as a similarity or as a distance.
    pub fn new(bags: &'a Bags, measure: Measure, form: Form) -> Self {
        Self { bags, measure, form }
    }

    /// The bags.
    pub fn bags(&self) -> &'a Bags {
        self.bags
    }

    /// How they are compared.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// A value of this space as what counts as similar.
    pub(crate) fn limit(&self, value: f64) -> Limit {
        match self.form {
            Form::Similarity => Limit::Similarity(value),
            Form::Distance => Limit::Distance(value),
        }
    }

    /// The share of both totals that two bags must have in common to reach a limit, or a little less: with the similarity
    /// J by maximum, s / (A + B − s) ≥ J exactly where s ≥ J / (1 + J) · (A + B).
    pub(crate) fn share(&self, limit: f64) -> f64 {
        let jaccard = self.measure.to_jaccard(self.limit(limit).similarity());
        (jaccard / (1.0 + jaccard) * (1.0 - SLACK)).max(0.0)
    }

    /// What two bags have in common, if it can be as much as `need`.
    fn shared(&self, a: usize, b: usize, need: f64) -> Option<u64> {
        let (mut left, mut right) = (self.bags.get(a), self.bags.get(b));
        let mut rest = [self.bags.total(a), self.bags.total(b)];
        let mut shared = 0;
        while let (Some(&x), Some(&y)) = (left.first(), right.first()) {
            if ((shared + rest[0].min(rest[1])) as f64) < need {
                return None;
            }
            if x.0 <= y.0 {
                left = &left[1..];
                rest[0] -= x.1;
            }
            if y.0 <= x.0 {
                right = &right[1..];
                rest[1] -= y.1;
            }
            if x.0 == y.0 {
                shared += x.1.min(y.1);
            }
        }
        Some(shared)
    }

    fn value_of(&self, shared: u64, a: usize, b: usize) -> f64 {
        let overlap = Overlap { shared, a: self.bags.total(a), b: self.bags.total(b) };
        match self.form {
            Form::Similarity if overlap.a == 0 || overlap.b == 0 => 0.0,
            Form::Similarity => self.measure.similarity(overlap),
            Form::Distance if overlap.a == 0 || overlap.b == 0 => 1.0,
            Form::Distance => self.measure.distance(overlap),
        }
    }
}

impl Space for BagSpace<'_> {
    fn len(&self) -> usize {
        self.bags.len()
    }

    fn form(&self) -> Form {
        self.form
    }

    fn value(&self, a: u32, b: u32) -> f64 {
        let (a, b) = (a as usize, b as usize);
        let shared = self.shared(a, b, 0.0).unwrap_or(0);
        self.value_of(shared, a, b)
    }

    fn reaching(&self, a: u32, b: u32, limit: f64) -> Option<f64> {
        let (a, b) = (a as usize, b as usize);
        let all = self.bags.total(a) as f64 + self.bags.total(b) as f64;
        let shared = self.shared(a, b, self.share(limit) * all)?;
        let value = self.value_of(shared, a, b);
        (!self.form.closer(limit, value)).then_some(value)
    }
}

//! How many points have two records?

use super::Records;
use super::fields::Field;
use super::rules::{FieldRule, Rules};
use crate::Result;

/// The fields of all records, and what each is worth.
#[derive(Debug)]
pub struct Scorer {
    /// The values of each field.
    pub fields: Vec<Field>,
    rules: Vec<FieldRule>,
    /// The fields in the order in which they are compared.
    order: Vec<usize>,
    /// By place in that order, the most that the fields from there on can score.
    rest: Vec<f64>,
}

impl Scorer {
    /// The values that these rules compare.
    ///
    /// # Errors
    /// When a table has not a column that they name.
    pub fn new(records: &Records<'_>, rules: &Rules) -> Result<Self> {
        let field = |rule: &FieldRule| {
            let (distance, lost_at) = (&rule.distance, rule.lost_at);
            Field::new(records, &rule.columns, distance, lost_at, &rule.tables, &rules.missing)
        };
        let fields = rules.fields.iter().map(field).collect::<Result<_>>()?;
        Ok(Self::of(fields, rules.fields.clone()))
    }

    pub(super) fn of(fields: Vec<Field>, rules: Vec<FieldRule>) -> Self {
        // Fields that can cost most come first: after them it is mostly clear that a pair is no match.
        let mut order: Vec<usize> = (0..rules.len()).collect();
        order.retain(|&at| rules[at].is_scored());
        order.sort_by(|&a, &b| rules[b].range().total_cmp(&rules[a].range()));
        let mut rest = vec![0.0; order.len() + 1];
        for place in (0..order.len()).rev() {
            rest[place] = rest[place + 1] + rules[order[place]].most();
        }
        Self { fields, rules, order, rest }
    }

    /// What a field adds to the score of two records; none where a value is missing.
    pub fn part(&self, field: usize, a: u32, b: u32) -> Option<f64> {
        let share = self.fields[field].share(a, b)?;
        Some(rounded(self.rules[field].part(share)))
    }

    /// The points of two records.
    pub fn score(&self, a: u32, b: u32) -> f64 {
        self.reaching(a, b, f64::NEG_INFINITY).unwrap_or(f64::NEG_INFINITY)
    }

    /// The points of two records, if they reach `least`.
    pub fn reaching(&self, a: u32, b: u32, least: f64) -> Option<f64> {
        let mut score = 0.0;
        for (&field, rest) in self.order.iter().zip(&self.rest) {
            if score + rest < least - SLACK {
                return None;
            }
            score += self.part(field, a, b).unwrap_or(self.rules[field].missing);
        }
        let score = rounded(score);
        (score >= least).then_some(score)
    }
}

/// Hundredths of a point are kept, so that the parts add up to the score.
fn rounded(points: f64) -> f64 {
    (points * 100.0).round() / 100.0
}

/// What rounding may add to a score.
const SLACK: f64 = 0.5;

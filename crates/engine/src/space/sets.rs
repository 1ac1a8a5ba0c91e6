//! Sets, or bags with their elements numbered, under a measure.

use nearkin_kernels::shared;

use crate::item::Sets;
use crate::verify::Measure;

use super::{Form, Space};

/// Sets in memory, and how they are compared. Empty ones are similar to nothing.
#[derive(Debug, Clone)]
pub struct SetSpace<'a> {
    sets: &'a Sets,
    measure: Measure,
    form: Form,
}

impl<'a> SetSpace<'a> {
    /// These sets under this measure, as a similarity or as a distance.
    pub fn new(sets: &'a Sets, measure: Measure, form: Form) -> Self {
        Self { sets, measure, form }
    }

    /// The sets.
    pub fn sets(&self) -> &'a Sets {
        self.sets
    }

    /// How they are compared.
    pub fn measure(&self) -> Measure {
        self.measure
    }
}

impl Space for SetSpace<'_> {
    fn len(&self) -> usize {
        self.sets.len()
    }

    fn form(&self) -> Form {
        self.form
    }

    fn value(&self, a: u32, b: u32) -> f64 {
        let (a, b) = (self.sets.get(a as usize), self.sets.get(b as usize));
        let overlap = Measure::overlap(shared(a, b), a.len(), b.len());
        match self.form {
            Form::Similarity if a.is_empty() || b.is_empty() => 0.0,
            Form::Similarity => self.measure.similarity(overlap),
            Form::Distance if a.is_empty() || b.is_empty() => 1.0,
            Form::Distance => self.measure.distance(overlap),
        }
    }
}

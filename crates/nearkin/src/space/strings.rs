//! Strings under edit distance.

use crate::item::{Characters, Strings};
use crate::measure::edit;

use super::{Form, Space};

/// What counts as a change from one string to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StringMeasure {
    /// Inserting or deleting a character: [`edit::distance`].
    #[default]
    InsertDelete,
    /// Also replacing a character and swapping two neighbours: [`edit::mutation_distance`].
    Mutation,
    /// Replacing a character, nothing else. Strings of unequal length are infinitely far apart.
    Hamming,
}

/// Strings in memory, and what counts as a change.
#[derive(Debug, Clone)]
pub struct StringSpace {
    strings: Strings,
    measure: StringMeasure,
}

impl StringSpace {
    /// These strings under this measure.
    pub fn new(strings: Strings, measure: StringMeasure) -> Self {
        Self { strings, measure }
    }

    /// The strings.
    pub fn strings(&self) -> &Strings {
        &self.strings
    }

    /// What counts as a change.
    pub fn measure(&self) -> StringMeasure {
        self.measure
    }

    /// The distance of two strings if it is at most `limit`.
    pub fn within(&self, a: u32, b: u32, limit: usize) -> Option<usize> {
        match self.strings.characters([a as usize, b as usize]) {
            Characters::Narrow([x, y]) => self.measure.within(x, y, limit),
            Characters::Wide([x, y]) => self.measure.within(x, y, limit),
        }
    }
}

impl StringMeasure {
    /// The distance of two strings if it is at most `limit`.
    pub(crate) fn within<T: Eq + std::hash::Hash>(
        self,
        x: &[T],
        y: &[T],
        limit: usize,
    ) -> Option<usize> {
        match self {
            Self::InsertDelete => edit::within(x, y, limit),
            Self::Mutation => edit::mutation_within(x, y, limit),
            Self::Hamming if x.len() != y.len() => None,
            Self::Hamming => {
                let differ = x.iter().zip(y).filter(|(p, q)| p != q);
                let count = differ.take(limit.saturating_add(1)).count();
                (count <= limit).then_some(count)
            }
        }
    }
}

impl Space for StringSpace {
    fn len(&self) -> usize {
        self.strings.len()
    }

    fn form(&self) -> Form {
        Form::Distance
    }

    fn value(&self, a: u32, b: u32) -> f64 {
        self.within(a, b, usize::MAX).map_or(f64::INFINITY, |edits| edits as f64)
    }

    fn reaching(&self, a: u32, b: u32, limit: f64) -> Option<f64> {
        if limit == f64::INFINITY {
            return Some(self.value(a, b));
        }
        // Distances are whole, so the limit may be rounded down.
        let whole = (limit >= 0.0).then_some(limit as usize)?;
        self.within(a, b, whole).map(|edits| edits as f64)
    }
}

//! Two items, one number.

use nearkin_engine::measure::{bag, cosine, edit, jaccard, norm};
use nearkin_engine::verify::{Measure, Overlap};
use nearkin_engine::{Error, Result, measure as measures};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::columns::{Column, doubles, words};
use super::measure_named;
use crate::error::{Raise, raised};

/// Gives each different object a number, the same for equal ones.
struct Numbering<'py>(Bound<'py, PyDict>);

impl<'py> Numbering<'py> {
    fn numbers(&self, items: &Bound<'py, PyAny>) -> PyResult<Vec<u64>> {
        let mut numbers = Vec::new();
        for item in items.try_iter()? {
            let item = item?;
            let number = match self.0.get_item(&item)? {
                Some(number) => number.extract()?,
                None => {
                    let number = self.0.len() as u64;
                    self.0.set_item(&item, number)?;
                    number
                }
            };
            numbers.push(number);
        }
        Ok(numbers)
    }
}

/// Both as numbers: columns of numbers as they are, others by which of their items are equal.
fn both(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<[Vec<u64>; 2]> {
    let is_column = |item: &Bound<'_, PyAny>| item.hasattr("__arrow_c_array__");
    if is_column(a)? && is_column(b)? {
        let [a, b] =
            [a.extract::<Column>()?, b.extract::<Column>()?].map(|item| words(a.py(), item));
        return Ok([a?.values().to_vec(), b?.values().to_vec()]);
    }
    let numbering = Numbering(PyDict::new(a.py()));
    Ok([numbering.numbers(a)?, numbering.numbers(b)?])
}

/// How similar two sets or bags are, or how far apart for hamming.
#[pyfunction]
pub(crate) fn sets_compared(
    py: Python<'_>,
    measure: &str,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
) -> PyResult<f64> {
    let measure = measure_named(measure).raise(py)?;
    let [mut a, mut b] = both(a, b)?;
    Ok(py.detach(|| {
        for set in [&mut a, &mut b] {
            set.sort_unstable();
            if !measure.counts_repeats() {
                set.dedup();
            }
        }
        let shared =
            if measure.counts_repeats() { bag::shared(&a, &b) } else { jaccard::shared(&a, &b) };
        let [shared, a, b] = [shared, a.len(), b.len()].map(|count| count as u64);
        let overlap = Overlap { shared, a, b };
        match measure {
            Measure::Hamming => measure.distance(overlap),
            _ => measure.similarity(overlap),
        }
    }))
}

/// In how many places two sequences differ.
#[pyfunction]
pub(crate) fn hamming(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
) -> PyResult<usize> {
    let [a, b] = both(a, b)?;
    measures::hamming::distance(&a, &b).raise(py)
}

/// The edits between two strings or sequences, if they are within the limit; with swaps and replacements or without.
#[pyfunction]
pub(crate) fn edits(
    py: Python<'_>,
    swaps: bool,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    limit: Option<usize>,
) -> PyResult<Option<usize>> {
    // A string's characters need no table of Python objects.
    if let (Ok(a), Ok(b)) = (a.extract::<&str>(), b.extract::<&str>()) {
        let characters = |text: &str| text.chars().map(u64::from).collect::<Vec<_>>();
        let (a, b) = (characters(a), characters(b));
        return Ok(py.detach(|| edits_of(swaps, &a, &b, limit)));
    }
    let [a, b] = both(a, b)?;
    Ok(py.detach(|| edits_of(swaps, &a, &b, limit)))
}

fn edits_of(swaps: bool, a: &[u64], b: &[u64], limit: Option<usize>) -> Option<usize> {
    match (swaps, limit) {
        (false, None) => Some(edit::distance(a, b)),
        (false, Some(limit)) => edit::within(a, b, limit),
        (true, None) => Some(edit::mutation_distance(a, b)),
        (true, Some(limit)) => edit::mutation_within(a, b, limit),
    }
}

/// A norm's distance (with `r`), the cosine or the angle of two vectors.
#[pyfunction]
pub(crate) fn vectors_compared(
    py: Python<'_>,
    kind: &str,
    a: Column,
    b: Column,
    r: f64,
) -> PyResult<f64> {
    let (a, b) = (doubles(py, a)?, doubles(py, b)?);
    let compare = || -> Result<f64> {
        let (a, b) = (a.values(), b.values());
        match kind {
            "norm" => norm::lr(a, b, r),
            "cosine" => cosine::similarity(a, b),
            "angle" => cosine::angle_degrees(a, b),
            _ => Err(Error::parameter("kind", kind, "norm, cosine or angle")),
        }
    };
    py.detach(compare).map_err(|error| raised(py, &error))
}

//! The elements of a text, and lists as texts.

use arrow_array::{LargeStringArray, UInt64Array};
use nearkin_engine::shingle::elements::{checked_count, each_element, push_element, start_list};
use nearkin_engine::shingle::{Grid, Shingling, StopWords, Unit, hash_bytes};
use nearkin_engine::{Error, fair_share};
use pyo3::prelude::*;

use super::columns::{Column, Texts, handed_out, offsets};
use crate::error::{Raise, exception};

fn handed<'py>(
    py: Python<'py>,
    shingling: &Shingling,
    text: &str,
    bag: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if bag && matches!(shingling.unit, Unit::Elements) {
        check_counts(text).raise(py)?;
    }
    let elements = py.detach(|| if bag { shingling.bag(text) } else { shingling.set(text) });
    handed_out(py, &UInt64Array::from(elements))
}

/// Refuses a bag whose elements, as often as they occur, take more memory than there is.
fn check_counts(text: &str) -> Result<(), Error> {
    let mut all = 0u64;
    each_element(text, |_, count| all += u64::from(count));
    // Twice, because they are handed over.
    if all.saturating_mul(16) <= fair_share() as u64 {
        return Ok(());
    }
    let bag = format!(
        "{all} elements with its repeats, which take {} GB",
        all.saturating_mul(8).div_ceil(1_000_000_000)
    );
    let must = "smaller: scale the counts down, or search with nk.pairs(…, as_=\"bag\"), which takes large counts as weights";
    Err(Error::parameter("the bag", bag, must))
}

/// The sorted hashes of a text's shingles, each once or as often as it occurs.
#[pyfunction]
pub(crate) fn shingles<'py>(
    py: Python<'py>,
    text: &str,
    shingle: &str,
    bag: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let shingling = shingle.parse::<Shingling>().raise(py)?;
    handed(py, &shingling, text, bag)
}

/// The shingles of a text that start with one of these words.
#[pyfunction]
pub(crate) fn stop_word_shingles<'py>(
    py: Python<'py>,
    text: &str,
    words: Option<Vec<String>>,
    bag: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let list = match &words {
        Some(words) => StopWords::new(words.iter().map(String::as_str)),
        None => StopWords::english(),
    };
    handed(py, &Shingling::stop_words(list), text, bag)
}

/// The hash of a string of bytes.
#[pyfunction]
pub(crate) fn hash_of(bytes: &[u8]) -> u64 {
    hash_bytes(bytes)
}

/// The text that stands for a list of elements with their counts.
#[pyfunction]
pub(crate) fn list_text(py: Python<'_>, elements: Vec<(String, f64)>) -> PyResult<String> {
    let mut text = String::new();
    start_list(&mut text);
    for (element, number) in &elements {
        let count = checked_count(*number).map_err(|why| {
            let message = format!("element `{element}` occurs {number} times; {why}");
            exception(py, "ParameterError", message)
        })?;
        push_element(&mut text, element, count);
    }
    Ok(text)
}

/// The texts that stand for the lists of a column, whose values lie one behind the other.
#[pyfunction]
pub(crate) fn list_texts<'py>(
    py: Python<'py>,
    values: Column,
    ends: Column,
) -> PyResult<Bound<'py, PyAny>> {
    let (values, ends) = (Texts::new(py, values)?, offsets(py, ends)?);
    let texts = py.detach(|| {
        let mut text = String::new();
        LargeStringArray::from_iter_values(ends.values().windows(2).map(|ends| {
            text.clear();
            start_list(&mut text);
            let rows = ends[0].max(0) as usize..(ends[1].max(0) as usize).min(values.len());
            rows.for_each(|row| push_element(&mut text, values.get(row), 1));
            text.clone()
        }))
    });
    handed_out(py, &texts)
}

/// The squares of a grid that these points are in, ascending.
#[pyfunction]
pub(crate) fn grid_squares(
    py: Python<'_>,
    points: Vec<(f64, f64)>,
    shape: (u32, u32),
    lengths: (f64, f64),
) -> PyResult<Vec<u64>> {
    let ((columns, rows), (side, margin)) = (shape, lengths);
    let squares = || Grid::new(columns, rows, side)?.with_margin(margin)?.set(points);
    squares().raise(py)
}

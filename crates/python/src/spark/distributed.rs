//! Which texts have to be brought together: keys of a partition's texts, and what gathered keys say.

use std::collections::HashMap;

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_pyarrow::PyArrowType;
use nearkin_engine::Result;
use nearkin_engine::distributed::{self, Meeting};
use nearkin_engine::read::ItemLimit;
use nearkin_engine::settings::Settings;
use nearkin_engine::shingle::Unit;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::columns::{batch, check_sizes, longs, numbers, texts};
use super::lines::pieces;
use super::pieces::{block_rows, gathered};
use super::settings::{row_limit, settings};
use crate::error::Raise;

/// The keys of a partition's texts, in blocks for those who gather them.
#[pyclass(module = "nearkin._nearkin")]
pub(crate) struct Keys {
    /// How many gather.
    #[pyo3(get)]
    gatherers: usize,
    keys: distributed::Keys,
    of_elements: bool,
    limit: ItemLimit,
}

/// Whether these options, or the measure they name, ask for the exact way.
///
/// # Errors
/// When they contradict themselves.
#[pyfunction]
pub(crate) fn misses_none(py: Python<'_>, options: &str) -> PyResult<bool> {
    settings(py, options)?.is_exact().raise(py)
}

/// Whether texts are lists of elements.
pub(super) fn of_elements(settings: &Settings) -> bool {
    matches!(settings.shingling.unit, Unit::Elements)
}

#[pymethods]
impl Keys {
    #[new]
    #[pyo3(signature = (options, gatherers, frequent = None))]
    fn new(
        py: Python<'_>,
        options: &str,
        gatherers: usize,
        frequent: Option<PyArrowType<RecordBatch>>,
    ) -> PyResult<Self> {
        let limit = row_limit(py, options)?;
        let settings = settings(py, options)?;
        let counts = frequent.map_or_else(HashMap::new, |table| {
            let counts = |name: &str| table.0.column_by_name(name).cloned();
            let columns = counts("element").zip(counts("count"));
            columns.map_or_else(HashMap::new, |(elements, counts)| {
                let numbers = |column: &ArrayRef| -> Vec<u64> {
                    column
                        .as_any()
                        .downcast_ref::<UInt64Array>()
                        .map_or(Vec::new(), |column| column.values().to_vec())
                };
                numbers(&elements)
                    .into_iter()
                    .zip(numbers(&counts).into_iter().map(|n| n as u32))
                    .collect()
            })
        });
        let of_elements = of_elements(&settings);
        let keys = distributed::Keys::new(&settings, gatherers, counts).raise(py)?;
        Ok(Self { gatherers, keys, of_elements, limit })
    }

    /// Takes up a batch of `position` and `text`.
    fn add(&mut self, py: Python<'_>, batch: PyArrowType<RecordBatch>) -> PyResult<()> {
        let work = || -> Result<()> {
            let texts = texts(&batch.0, self.of_elements)?;
            check_sizes(&texts, self.limit)?;
            for (position, text) in longs(&batch.0, "position")?.values().iter().zip(&texts) {
                self.keys.add(*position as u64, text);
            }
            Ok(())
        };
        py.detach(work).raise(py)
    }

    /// Takes up the records in these bytes of a file with one a line. Their positions are `position` and the byte at which
    /// they start, after the first of these. How many there are.
    fn add_lines(
        &mut self,
        py: Python<'_>,
        reading: &Bound<'_, PyDict>,
        bytes: (u64, u64),
        position: u64,
    ) -> PyResult<u32> {
        let pieces = pieces(reading)?;
        let work = || -> Result<u32> {
            let (mut records, mut offsets) = (0, Vec::new());
            pieces.each(bytes.0..bytes.1, |piece, start| {
                let batch = pieces.decode(piece, u64::from(records) + 1, &|_| true)?;
                pieces.offsets(piece, &mut offsets);
                let first = position + (start - bytes.0);
                for (at, item) in batch.items.iter().enumerate() {
                    let offset = offsets[item.ordinal as usize];
                    self.keys.add(first + u64::from(offset), batch.text(at));
                }
                records += batch.records;
                Ok(())
            })?;
            Ok(records)
        };
        py.detach(work).raise(py)
    }

    /// The blocks that are full, or all that are left: `gatherer`, `block`.
    #[pyo3(signature = (finish = false))]
    fn blocks(&mut self, finish: bool) -> PyArrowType<RecordBatch> {
        let blocks = if finish { self.keys.finish() } else { self.keys.full() };
        PyArrowType(block_rows(&blocks))
    }

    /// Texts, those without any element, and bytes of all.
    fn seen(&self) -> (u64, u64, u64) {
        let seen = self.keys.seen;
        (seen.texts, seen.empty, seen.bytes)
    }
}

/// Reads gathered blocks: copies (`position`, `first`), who travels (`position`, `place`), and the number of keys that
/// several texts share.
#[pyfunction]
pub(crate) fn meet(
    py: Python<'_>,
    blocks: Vec<PyArrowType<RecordBatch>>,
    places: u32,
    heavy: usize,
) -> PyResult<(PyArrowType<RecordBatch>, PyArrowType<RecordBatch>, u64)> {
    let work = || -> Result<Meeting> {
        let columns = gathered(&blocks)?;
        distributed::meet(columns.iter().flat_map(|column| column.iter().flatten()), places, heavy)
    };
    let Meeting { copies, wanted, buckets } = py.detach(work).raise(py)?;
    let copies = batch(vec![
        ("position", numbers(copies.iter().map(|copy| copy.0))),
        ("first", numbers(copies.iter().map(|copy| copy.1))),
    ]);
    let wanted = batch(vec![
        ("position", numbers(wanted.iter().map(|text| text.0))),
        ("place", numbers(wanted.iter().map(|text| text.1.into()))),
    ]);
    Ok((PyArrowType(copies), PyArrowType(wanted), buckets))
}

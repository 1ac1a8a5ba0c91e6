//! `overlap`: which training documents contain stretches of test items?

use std::path::PathBuf;

use arrow_pyarrow::{PyArrowType, Table as ArrowTable, ToPyArrow};
use nearkin_cli::engine::{self, Account, OverlapResult};
use pyo3::prelude::*;

use crate::error::{Raise, warnings};
use crate::run::{InputArgument, parse_options, places, table};
use crate::watch::watched;

/// Training documents with what they share with test items.
#[pyclass(frozen, module = "nearkin._nearkin")]
pub(crate) struct Overlaps {
    /// Boxed, because Python aligns its objects to 16 bytes only.
    found: Box<OverlapResult>,
    account: Account,
}

/// Finds the overlaps, and writes the other documents to a file or a folder, if one is named.
#[pyfunction]
#[pyo3(signature = (options, inputs, against, progress, output=None, *, cut=false))]
pub(crate) fn overlap(
    py: Python<'_>,
    options: &str,
    inputs: Vec<InputArgument>,
    against: Vec<InputArgument>,
    progress: Option<Py<PyAny>>,
    output: Option<PathBuf>,
    cut: bool,
) -> PyResult<Overlaps> {
    let options = parse_options(py, options)?;
    let (inputs, against) = (places(py, inputs)?, places(py, against)?);
    let output = output.as_deref();
    let found = watched(py, progress, |observer| {
        engine::overlap(&options, &inputs, &against, output, cut, observer)
    })?;
    let (found, account) = found.raise(py)?;
    Ok(Overlaps { found: found.into(), account })
}

#[pymethods]
impl Overlaps {
    /// What the command's `--stats` has, as JSON.
    #[getter]
    fn stats(&self) -> &str {
        &self.account.stats
    }

    /// What the user should look at.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        warnings(&self.account)
    }

    /// For each of the first `records` documents whether it is kept.
    fn kept<'py>(&self, py: Python<'py>, records: u64) -> PyResult<Bound<'py, PyAny>> {
        let kept = py.detach(|| self.found.kept(records));
        arrow_array::Array::to_data(&kept).to_pyarrow(py)
    }

    /// The documents that do not overlap, read from their files again.
    fn records(&self, py: Python<'_>) -> PyResult<PyArrowType<ArrowTable>> {
        let records = watched(py, None, |observer| self.found.records(observer))?.raise(py)?;
        table(py, records)
    }

    /// One row per stretch.
    fn pairs(&self, py: Python<'_>) -> PyResult<PyArrowType<ArrowTable>> {
        let pairs = watched(py, None, |observer| self.found.pairs(observer))?.raise(py)?;
        table(py, pairs)
    }

    /// One row per document that overlaps.
    fn removed(&self, py: Python<'_>) -> PyResult<PyArrowType<ArrowTable>> {
        let removed = watched(py, None, |observer| self.found.removed(observer))?.raise(py)?;
        table(py, removed)
    }
}

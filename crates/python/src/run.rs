//! `pairs`, `top`, `dedup`, `plan`, `compare`: the command's jobs on Python's tables and paths.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_pyarrow::{PyArrowType, Table as ArrowTable, ToPyArrow};
use nearkin::read::{MemoryTable, Place};
use nearkin_cli::engine::{self, Failure};
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::error::{Raise, failed, warnings};
use crate::watch::watched;

/// Where items come from: a path, or the name of a table and anything with the Arrow stream interface.
#[derive(FromPyObject)]
pub(crate) enum Given {
    Path(PathBuf),
    Table(String, PyArrowType<RecordBatchStreamReader>),
}

/// The inputs as the engine takes them.
pub(crate) fn places(py: Python<'_>, given: Vec<Given>) -> PyResult<Vec<Place>> {
    let place = |given| match given {
        Given::Path(path) => Ok(Place::Path(path)),
        Given::Table(name, PyArrowType(reader)) => {
            let schema = reader.schema();
            let batches = py.detach(|| reader.collect::<Result<Vec<_>, _>>());
            let batches = batches.map_err(|error| {
                failed(py, &Failure::Other(format!("{name}: cannot be read: {error}")))
            })?;
            Ok(MemoryTable { name: PathBuf::from(name), schema, batches }.into())
        }
    };
    given.into_iter().map(place).collect()
}

/// A table for Python.
pub(crate) fn table(
    py: Python<'_>,
    (schema, batches): engine::Table,
) -> PyResult<PyArrowType<ArrowTable>> {
    let table = ArrowTable::try_new(batches, schema);
    let table = table.map_err(|error| failed(py, &Failure::Other(error.to_string())))?;
    Ok(PyArrowType(table))
}

/// A table, what `--stats` has as JSON, and warnings.
type Searched = (PyArrowType<ArrowTable>, String, Vec<String>);

/// The rows of `pairs` or `top`.
#[pyfunction]
pub(crate) fn search(
    py: Python<'_>,
    job: &str,
    flags: Vec<String>,
    inputs: Vec<Given>,
    against: Vec<Given>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Searched> {
    let (inputs, against) = (places(py, inputs)?, places(py, against)?);
    let (rows, account) =
        watched(py, progress, |observer| engine::search(job, &flags, inputs, against, observer))?
            .raise(py)?;
    let warnings = warnings(&account);
    Ok((table(py, rows)?, account.stats, warnings))
}

/// A collection with one item of each group kept.
#[pyclass(frozen, module = "nearkin._nearkin")]
pub(crate) struct Deduplicated(Arc<engine::Deduplicated>);

/// Finds the groups of a collection.
#[pyfunction]
pub(crate) fn dedup(
    py: Python<'_>,
    flags: Vec<String>,
    inputs: Vec<Given>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Deduplicated, String, Vec<String>)> {
    let inputs = places(py, inputs)?;
    let found = watched(py, progress, |observer| engine::dedup(&flags, inputs, observer))?;
    let (found, account) = found.raise(py)?;
    let warnings = warnings(&account);
    Ok((Deduplicated(Arc::new(found)), account.stats, warnings))
}

#[pymethods]
impl Deduplicated {
    /// For each of the first `records` records whether it is kept.
    fn kept<'py>(&self, py: Python<'py>, records: u64) -> PyResult<Bound<'py, PyAny>> {
        let kept = py.detach(|| self.0.kept(records));
        arrow_array::Array::to_data(&kept).to_pyarrow(py)
    }

    /// The kept records, read from their files again.
    fn records(&self, py: Python<'_>) -> PyResult<PyArrowType<ArrowTable>> {
        let records = watched(py, None, |observer| self.0.records(observer))?.raise(py)?;
        table(py, records)
    }

    /// A row an item.
    fn clusters(&self, py: Python<'_>) -> PyResult<PyArrowType<ArrowTable>> {
        let clusters = watched(py, None, |observer| self.0.clusters(observer))?.raise(py)?;
        table(py, clusters)
    }
}

/// Whether a run with these flags finds pairs of these items by an exact search.
#[pyfunction]
pub(crate) fn is_exact(
    py: Python<'_>,
    job: &str,
    flags: Vec<String>,
    inputs: Vec<Given>,
) -> PyResult<bool> {
    let inputs = places(py, inputs)?;
    watched(py, None, |observer| engine::is_exact(job, &flags, inputs, observer))?.raise(py)
}

/// The plan as JSON.
#[pyfunction]
pub(crate) fn plan(py: Python<'_>, flags: Vec<String>, inputs: Vec<Given>) -> PyResult<String> {
    let inputs = places(py, inputs)?;
    watched(py, None, |observer| engine::plan(&flags, inputs, observer))?.raise(py)
}

/// Two texts compared, as text or as JSON.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    flags: Vec<String>,
    names: [String; 2],
    texts: [String; 2],
) -> PyResult<String> {
    let [a, b] = &names;
    let [x, y] = &texts;
    watched(py, None, |_| engine::compare(&flags, [a, b], [x, y]))?.raise(py)
}

/// A job, and each option by its long name, with its values (true where it has none).
type Parsed<'py> = (String, Vec<(String, Bound<'py, PyAny>)>);

/// A command line taken apart.
#[pyfunction]
pub(crate) fn take_apart(py: Python<'_>, words: Vec<String>) -> PyResult<Parsed<'_>> {
    let parsed = engine::take_apart(&words).raise(py)?;
    let option = |(name, values): (String, Vec<std::ffi::OsString>)| {
        let value = match values.is_empty() {
            true => PyBool::new(py, true).to_owned().into_any(),
            false => values.into_pyobject(py)?,
        };
        Ok((name, value))
    };
    Ok((parsed.job, parsed.options.into_iter().map(option).collect::<PyResult<_>>()?))
}

/// Runs the command, and says with which status it ended.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, words: Vec<String>) -> u8 {
    py.detach(|| nearkin_cli::main(words))
}

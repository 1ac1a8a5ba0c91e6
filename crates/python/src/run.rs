//! `pairs`, `top`, `dedup`, `trim`, `plan`, `compare`: the command's jobs on Python's tables and paths.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_pyarrow::{PyArrowType, Table as ArrowTable, ToPyArrow};
use arrow_schema::{ArrowError, Schema};
use nearkin_cli::engine::{
    self, Account, ComparisonView, DedupTargets, Failure, ShowItems, ShownForms,
};
use nearkin_engine::Error;
use nearkin_engine::cluster::Keep;
use nearkin_engine::options::{Goal, Options, TrimOptions};
use nearkin_engine::read::{MemoryTable, Place};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Raise, failed, warnings};
use crate::watch::watched;

/// Where items come from: a path, or the name of a table and anything with the Arrow stream interface.
#[derive(FromPyObject)]
pub(crate) enum InputArgument {
    Path(PathBuf),
    Table(String, PyArrowType<RecordBatchStreamReader>),
}

/// The inputs as the engine takes them.
pub(crate) fn places(py: Python<'_>, given: Vec<InputArgument>) -> PyResult<Vec<Place>> {
    let place = |given| match given {
        InputArgument::Path(path) => Ok(Place::Path(path)),
        InputArgument::Table(name, PyArrowType(reader)) => {
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

/// Options as Python gives them: a JSON object.
pub(crate) fn parse_options(py: Python<'_>, json: &str) -> PyResult<Options> {
    Options::from_json(json).raise(py)
}

/// What a job looks for.
fn goal(job: &str) -> PyResult<Goal> {
    match job {
        "pairs" => Ok(Goal::Pairs),
        "top" => Ok(Goal::Closest),
        "dedup" => Ok(Goal::Groups),
        _ => Err(PyValueError::new_err(format!("there is no job {job}"))),
    }
}

/// Where the account of a run stands in the metadata of its table.
const ACCOUNT: &str = "nearkin";

/// The rows of `pairs` or `top`, with what `--stats` has in the table's metadata, and warnings.
#[pyfunction]
pub(crate) fn search(
    py: Python<'_>,
    job: &str,
    options: &str,
    inputs: Vec<InputArgument>,
    against: Vec<InputArgument>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(PyArrowType<ArrowTable>, Vec<String>)> {
    let options = parse_options(py, options)?;
    let (goal, inputs, against) = (goal(job)?, places(py, inputs)?, places(py, against)?);
    let ((schema, rows), account) = watched(py, progress, |observer| {
        engine::search(goal, &options, &inputs, &against, observer)
    })?
    .raise(py)?;
    let warnings = warnings(&account);
    let metadata = HashMap::from([(ACCOUNT.to_owned(), account.stats)]);
    let schema = Arc::new(Schema::clone(&schema).with_metadata(metadata));
    let with_schema = |batch: RecordBatch| batch.with_schema(Arc::clone(&schema));
    let rows: Result<_, ArrowError> = rows.into_iter().map(with_schema).collect();
    let rows = rows.map_err(|error| failed(py, &Failure::Other(error.to_string())))?;
    Ok((table(py, (schema, rows))?, warnings))
}

/// A collection with one item of each group kept.
#[pyclass(frozen, module = "nearkin._nearkin")]
pub(crate) struct Deduplicated {
    /// Boxed, because Python aligns its objects to 16 bytes only.
    found: Box<engine::DedupResult>,
    account: Account,
    removed_fields: Vec<String>,
}

/// Finds the groups of a collection, which may grow another one, and writes what is kept and what was removed where that is
/// asked for.
#[pyfunction]
pub(crate) fn dedup(
    py: Python<'_>,
    options: &str,
    inputs: Vec<InputArgument>,
    against: Vec<InputArgument>,
    progress: Option<Py<PyAny>>,
    outputs: (Option<PathBuf>, Option<PathBuf>),
    removed_fields: Vec<String>,
) -> PyResult<Deduplicated> {
    let options = parse_options(py, options)?;
    let (inputs, against) = (places(py, inputs)?, places(py, against)?);
    let targets = DedupTargets {
        output: outputs.0.as_deref(),
        removed: outputs.1.as_deref(),
        removed_fields: &removed_fields,
    };
    let found = watched(py, progress, |observer| {
        engine::dedup(&options, &inputs, &against, targets, observer)
    })?;
    let (found, account) = found.raise(py)?;
    Ok(Deduplicated { found: found.into(), account, removed_fields })
}

/// The rules of `keep`, each with its name, its field and the values that it prefers.
#[pyfunction]
pub(crate) fn keep_rules(
    py: Python<'_>,
    keep: &str,
) -> PyResult<Vec<(&'static str, String, Vec<String>)>> {
    let keep = keep.parse::<Keep>().raise(py)?;
    let rule = |rule: &Keep| match rule {
        Keep::Longest => ("longest", String::new(), Vec::new()),
        Keep::Max(field) => ("max", field.clone(), Vec::new()),
        Keep::Min(field) => ("min", field.clone(), Vec::new()),
        Keep::Prefer(field, values) => ("prefer", field.clone(), values.clone()),
        Keep::First | Keep::InTurn(_) => ("first", String::new(), Vec::new()),
    };
    Ok(keep.rules().iter().map(rule).collect())
}

#[pymethods]
impl Deduplicated {
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

    /// How many records the collection has, skipped ones included.
    #[getter]
    fn count(&self) -> u64 {
        self.found.count()
    }

    /// One row per removed item.
    fn removed(&self, py: Python<'_>) -> PyResult<PyArrowType<ArrowTable>> {
        let fields = &self.removed_fields;
        let removed = watched(py, None, |observer| self.found.removed(fields, observer))?;
        table(py, removed.raise(py)?)
    }

    /// For each of the first `records` records whether it is kept.
    fn kept<'py>(&self, py: Python<'py>, records: u64) -> PyResult<Bound<'py, PyAny>> {
        let kept = py.detach(|| self.found.kept(records));
        arrow_array::Array::to_data(&kept).to_pyarrow(py)
    }

    /// The kept records, read from their files again.
    fn records(&self, py: Python<'_>) -> PyResult<PyArrowType<ArrowTable>> {
        let records = watched(py, None, |observer| self.found.records(observer))?.raise(py)?;
        table(py, records)
    }

    /// One row per item.
    fn clusters(&self, py: Python<'_>) -> PyResult<PyArrowType<ArrowTable>> {
        let clusters = watched(py, None, |observer| self.found.clusters(observer))?.raise(py)?;
        table(py, clusters)
    }
}

/// A collection without the pieces that are repeated.
#[pyclass(frozen, module = "nearkin._nearkin")]
pub(crate) struct Trimmed {
    found: Box<engine::TrimResult>,
    account: Account,
}

/// Finds what is repeated in a collection, and writes what is left and what is removed to files, if they are named.
#[pyfunction]
#[pyo3(signature = (options, pieces, inputs, progress, output=None, removed=None))]
pub(crate) fn trim(
    py: Python<'_>,
    options: &str,
    pieces: &str,
    inputs: Vec<InputArgument>,
    progress: Option<Py<PyAny>>,
    output: Option<PathBuf>,
    removed: Option<PathBuf>,
) -> PyResult<Trimmed> {
    let (options, inputs) = (parse_options(py, options)?, places(py, inputs)?);
    let pieces = TrimOptions::from_json(pieces).raise(py)?;
    let files = (output.as_deref(), removed.as_deref());
    let found = watched(py, progress, |observer| {
        engine::trim(&options, &pieces, &inputs, files, observer)
    })?;
    let (found, account) = found.raise(py)?;
    Ok(Trimmed { found: found.into(), account })
}

#[pymethods]
impl Trimmed {
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

    /// For each of the first `records` records whether it is kept.
    fn kept<'py>(&self, py: Python<'py>, records: u64) -> PyResult<Bound<'py, PyAny>> {
        let kept = py.detach(|| self.found.kept(records));
        arrow_array::Array::to_data(&kept).to_pyarrow(py)
    }

    /// The documents that are left, read from their files again.
    fn records(&self, py: Python<'_>) -> PyResult<PyArrowType<ArrowTable>> {
        let records = watched(py, None, |observer| self.found.records(observer))?.raise(py)?;
        table(py, records)
    }

    /// One row per stretch that was removed; none where these were written to a file.
    fn removed(&self, py: Python<'_>) -> PyResult<Option<PyArrowType<ArrowTable>>> {
        self.found.removed().map(|rows| table(py, rows)).transpose()
    }
}

/// Whether a run with these options finds pairs of these items by an exact search.
#[pyfunction]
pub(crate) fn is_exact(
    py: Python<'_>,
    job: &str,
    options: &str,
    inputs: Vec<InputArgument>,
) -> PyResult<bool> {
    let (goal, options) = (goal(job)?, parse_options(py, options)?);
    let inputs = places(py, inputs)?;
    watched(py, None, |observer| engine::is_exact(goal, &options, &inputs, observer))?.raise(py)
}

/// The plan as JSON.
#[pyfunction]
pub(crate) fn plan(py: Python<'_>, options: &str, inputs: Vec<InputArgument>) -> PyResult<String> {
    let (options, inputs) = (parse_options(py, options)?, places(py, inputs)?);
    watched(py, None, |observer| engine::plan(options, inputs, observer))?.raise(py)
}

/// Two texts compared, as text or as JSON.
#[pyfunction]
#[pyo3(signature = (options, names, texts, *, json, passages = false, least_words = None, expected = None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn compare(
    py: Python<'_>,
    options: &str,
    names: [String; 2],
    texts: [String; 2],
    json: bool,
    passages: bool,
    least_words: Option<i64>,
    expected: Option<u64>,
) -> PyResult<String> {
    let least_words = least_words.map(|least| {
        let wrong = |_| Error::parameter("least_words", least, "at least 1");
        u32::try_from(least).map_err(wrong)
    });
    let least_words = least_words.transpose().raise(py)?;
    let options = parse_options(py, options)?;
    let view = ComparisonView { json, passages, least_words, expected, fields: None };
    let ([a, b], [x, y]) = (&names, &texts);
    watched(py, None, |_| engine::compare(&options, view, [a, b], [x, y]))?.raise(py)
}

/// What a few items become in a step of `show`: as JSON, text, LaTeX and HTML.
#[pyfunction]
#[pyo3(signature = (step, options, own, typed, inputs, ids, first, most))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn show(
    py: Python<'_>,
    step: &str,
    options: &str,
    own: &str,
    typed: String,
    inputs: Vec<InputArgument>,
    ids: Vec<String>,
    first: usize,
    most: usize,
) -> PyResult<(String, String, String, String)> {
    let options = parse_options(py, options)?;
    let items = ShowItems { typed, collection: places(py, inputs)?, ids, first };
    let shown = watched(py, None, |_| engine::show(step, &options, own, &items, most))?;
    let ShownForms { json, text, latex, html } = shown.raise(py)?;
    Ok((json, text, latex, html))
}

/// Two items of a collection compared, as text or as JSON.
#[pyfunction]
#[pyo3(signature = (options, names, ids, inputs, *, json, expected = None, fields = None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn compare_items(
    py: Python<'_>,
    options: &str,
    names: [String; 2],
    ids: [String; 2],
    inputs: Vec<InputArgument>,
    json: bool,
    expected: Option<u64>,
    fields: Option<Vec<String>>,
) -> PyResult<String> {
    let (options, inputs) = (parse_options(py, options)?, places(py, inputs)?);
    let view = ComparisonView { json, expected, fields, ..ComparisonView::default() };
    let ([a, b], [x, y]) = (&names, &ids);
    watched(py, None, |_| engine::compare_items(&options, view, [a, b], [x, y], &inputs))?.raise(py)
}

/// A command line of `pairs` or `dedup` taken apart: the job, its options as JSON, and the files that it names.
#[pyfunction]
pub(crate) fn take_apart<'py>(
    py: Python<'py>,
    words: Vec<String>,
) -> PyResult<(&'static str, String, Bound<'py, PyDict>)> {
    let line = engine::command_line(&words).raise(py)?;
    let job = if line.goal == Goal::Groups { "dedup" } else { "pairs" };
    // As texts: a path would make one slash of the two that addresses have.
    let names = |places: &[Place]| -> Vec<OsString> {
        places.iter().map(|place| place.name().into()).collect()
    };
    let name = |path: Option<PathBuf>| path.map(PathBuf::into_os_string);
    let files = PyDict::new(py);
    files.set_item("inputs", names(&line.inputs))?;
    files.set_item("against", names(&line.against))?;
    files.set_item("output", name(line.output))?;
    files.set_item("clusters", name(line.clusters))?;
    files.set_item("stats", name(line.stats))?;
    Ok((job, line.options.to_json(), files))
}

/// Runs the command, and says with which status it ended.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, words: Vec<String>) -> u8 {
    py.detach(|| nearkin_cli::main(words))
}

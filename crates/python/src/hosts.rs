//! `hosts`: which hosts are the same site?

use arrow_pyarrow::{PyArrowType, Table as ArrowTable};
use nearkin_cli::engine::Account;
use nearkin_cli::hosts::{HostsInput, MirrorReport};
use nearkin_engine::options::Options;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Raise, exception, warnings};
use crate::run::{InputArgument, parse_options, places, table};
use crate::watch::watched;

/// The value of a keyword argument, where it was given.
fn keyword<'py, T>(arguments: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<T>>
where
    T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
{
    let Some(value) = arguments.get_item(name)? else { return Ok(None) };
    let wrong = |error: PyErr| {
        let shown = value.repr().map_or_else(|_| String::new(), |text| text.to_string());
        let message = format!("{name} is {shown}: {error}; give another value");
        exception(value.py(), "ParameterError", message)
    };
    value.extract().map(Some).map_err(|error| wrong(Into::into(error)))
}

/// What is searched, but for where it lies.
fn input(py: Python<'_>, arguments: &Bound<'_, PyDict>, options: Options) -> PyResult<HostsInput> {
    let usual = HostsInput::default();
    let shingle: Option<String> = keyword(arguments, "shingle")?;
    Ok(HostsInput {
        url: keyword(arguments, "url")?.unwrap_or(usual.url),
        text: keyword(arguments, "text")?.unwrap_or(usual.text),
        link_fields: keyword(arguments, "link_fields")?,
        threshold: keyword(arguments, "threshold")?.unwrap_or(usual.threshold),
        least_urls: keyword(arguments, "least_urls")?.unwrap_or(usual.least_urls),
        least_shingles: keyword(arguments, "least_shingles")?.unwrap_or(usual.least_shingles),
        shingle: shingle.map_or(Ok(usual.shingle), |name| name.parse()).raise(py)?,
        alike: keyword(arguments, "alike")?.unwrap_or(usual.alike),
        most_pages: keyword(arguments, "most_pages")?.unwrap_or(usual.most_pages),
        least_links: keyword(arguments, "least_links")?.unwrap_or(usual.least_links),
        options,
        ..HostsInput::default()
    })
}

/// Pairs of hosts that look alike.
#[pyclass(frozen, module = "nearkin._nearkin")]
pub(crate) struct Mirrors {
    /// Boxed, because Python aligns its objects to 16 bytes only.
    report: Box<MirrorReport>,
    account: Account,
}

/// Finds hosts that mirror one another.
#[pyfunction]
pub(crate) fn hosts(
    py: Python<'_>,
    urls: Vec<InputArgument>,
    pages: Vec<InputArgument>,
    links: Vec<InputArgument>,
    arguments: &Bound<'_, PyDict>,
    options: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Mirrors> {
    let (urls, pages, links) = (places(py, urls)?, places(py, pages)?, places(py, links)?);
    let input =
        HostsInput { urls, pages, links, ..input(py, arguments, parse_options(py, options)?)? };
    let report = watched(py, progress, |observer| input.find(observer))?.raise(py)?;
    let account = report.account();
    Ok(Mirrors { report: report.into(), account })
}

#[pymethods]
impl Mirrors {
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

    /// One row per pair of hosts.
    fn pairs(&self, py: Python<'_>) -> PyResult<PyArrowType<ArrowTable>> {
        let work = watched(py, None, |observer| self.report.pairs(observer))?;
        table(py, work.raise(py)?)
    }

    /// The links that are left, where there are links.
    fn links(&self, py: Python<'_>) -> PyResult<Option<PyArrowType<ArrowTable>>> {
        let work = watched(py, None, |observer| self.report.links(observer))?;
        work.raise(py)?.map(|rows| table(py, rows)).transpose()
    }

    /// Hosts that folded into others, where there are links.
    fn folds(&self, py: Python<'_>) -> PyResult<Option<PyArrowType<ArrowTable>>> {
        self.report.folds().raise(py)?.map(|rows| table(py, rows)).transpose()
    }
}

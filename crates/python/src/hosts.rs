//! `hosts`: which hosts are the same site?

use arrow_pyarrow::{PyArrowType, Table as ArrowTable};
use nearkin_cli::engine::Account;
use nearkin_cli::hosts::{HostsInput, MirrorReport};
use pyo3::prelude::*;

use crate::error::Raise;
use crate::reading::Keywords;
use crate::run::{Given, places, table};
use crate::watch::watched;

/// What is searched, but for where it lies.
fn input<'py>(py: Python<'py>, options: &Keywords<'py>) -> PyResult<HostsInput> {
    let usual = HostsInput::default();
    let read = options.reading(py)?;
    let shingle: Option<String> = options.get("shingle")?;
    Ok(HostsInput {
        url: options.get("url")?.unwrap_or(usual.url),
        text: options.get("text")?.unwrap_or(usual.text),
        link_fields: options.get("link_fields")?,
        format: read.format,
        delimiter: read.delimiter,
        temp: read.temp,
        on_error: read.on_error,
        threshold: options.get("threshold")?.unwrap_or(usual.threshold),
        least_urls: options.get("least_urls")?.unwrap_or(usual.least_urls),
        least_shingles: options.get("least_shingles")?.unwrap_or(usual.least_shingles),
        shingle: shingle.map_or(Ok(usual.shingle), |name| name.parse()).raise(py)?,
        alike: options.get("alike")?.unwrap_or(usual.alike),
        most_pages: options.get("most_pages")?.unwrap_or(usual.most_pages),
        least_links: options.get("least_links")?.unwrap_or(usual.least_links),
        threads: options.threads(py)?,
        memory: options.memory(py)?,
        ..HostsInput::default()
    })
}

/// Pairs of hosts that look alike.
#[pyclass(frozen, module = "nearkin._nearkin")]
pub(crate) struct Mirrors {
    report: MirrorReport,
    account: Account,
}

/// Finds hosts that mirror one another.
#[pyfunction]
pub(crate) fn hosts<'py>(
    py: Python<'py>,
    urls: Vec<Given>,
    pages: Vec<Given>,
    links: Vec<Given>,
    options: Keywords<'py>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Mirrors> {
    let (urls, pages, links) = (places(py, urls)?, places(py, pages)?, places(py, links)?);
    let input = HostsInput { urls, pages, links, ..input(py, &options)? };
    let report = watched(py, progress, |observer| input.find(observer))?.raise(py)?;
    let account = report.account();
    Ok(Mirrors { report, account })
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
        self.account.warnings.clone()
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

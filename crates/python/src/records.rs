//! `match` and `suggest_rules`: which records are the same thing?

use std::path::{Path, PathBuf};

use arrow_pyarrow::{PyArrowType, Table as ArrowTable};
use nearkin_cli::engine::Account;
use nearkin_cli::matching::{self, MatchInput};
use nearkin_engine::Error;
use nearkin_engine::records::Rules;
use pyo3::prelude::*;

use crate::error::{Raise, exception, warnings, wording};
use crate::run::{InputArgument, parse_options, places, table};
use crate::watch::watched;

/// Rules: a file, or a text and the keys that its lines stand for.
#[derive(FromPyObject)]
pub(crate) enum RulesArgument {
    File(PathBuf),
    Text(String, Vec<String>),
}

impl RulesArgument {
    fn read(&self, py: Python<'_>, two_tables: bool) -> PyResult<Rules> {
        let (text, keys) = match self {
            Self::File(path) => return Rules::read(path, two_tables).raise(py),
            Self::Text(text, keys) => (text, keys),
        };
        match Rules::from_toml(text, Path::new("<rules>"), two_tables) {
            // A dict has keys and no lines.
            Err(Error::Input { line, problem, .. }) if !keys.is_empty() => {
                let key = keys.get(line as usize - 1).filter(|key| !key.is_empty());
                let key = key.map_or_else(String::new, |key| format!("{key}: "));
                let message = format!("rules: {key}{}", problem.worded(wording()));
                Err(exception(py, "ParameterError", message))
            }
            rules => rules.raise(py),
        }
    }
}

fn input(
    py: Python<'_>,
    a: Vec<InputArgument>,
    b: Option<Vec<InputArgument>>,
    options: &str,
) -> PyResult<MatchInput> {
    let (a, b) = (places(py, a)?, b.map(|given| places(py, given)).transpose()?);
    Ok(MatchInput { a, b, options: parse_options(py, options)? })
}

/// Which records of one table or of two are the same.
#[pyclass(frozen, module = "nearkin._nearkin")]
pub(crate) struct Resolution {
    /// Boxed, because Python aligns its objects to 16 bytes only.
    resolution: Box<matching::Resolution>,
    account: Account,
}

/// Finds the records that are the same.
#[pyfunction]
pub(crate) fn resolve(
    py: Python<'_>,
    a: Vec<InputArgument>,
    b: Option<Vec<InputArgument>>,
    rules: RulesArgument,
    options: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Resolution> {
    let rules = rules.read(py, b.is_some())?;
    let input = input(py, a, b, options)?;
    let found = watched(py, progress, |observer| input.resolve(rules, observer))?;
    let resolution = found.raise(py)?;
    let account = resolution.account();
    Ok(Resolution { resolution: resolution.into(), account })
}

#[pymethods]
impl Resolution {
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

    /// One row per pair that is the same.
    fn matches(&self, py: Python<'_>, values: bool) -> PyResult<PyArrowType<ArrowTable>> {
        let work = watched(py, None, |observer| self.resolution.matches(values, observer))?;
        table(py, work.raise(py)?)
    }

    /// One row per record, where the rules make clusters.
    fn clusters(&self, py: Python<'_>) -> PyResult<Option<PyArrowType<ArrowTable>>> {
        let work = watched(py, None, |observer| self.resolution.clusters(observer))?;
        work.raise(py)?.map(|rows| table(py, rows)).transpose()
    }

    /// The share of true matches at each score, where the rules have a check.
    fn shares(&self, py: Python<'_>) -> PyResult<Option<PyArrowType<ArrowTable>>> {
        self.resolution.shares().raise(py)?.map(|rows| table(py, rows)).transpose()
    }
}

/// Rules for these tables as TOML, and warnings.
#[pyfunction]
pub(crate) fn suggest_rules(
    py: Python<'_>,
    a: Vec<InputArgument>,
    b: Option<Vec<InputArgument>>,
    options: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Vec<String>)> {
    let input = input(py, a, b, options)?;
    let found = watched(py, progress, |observer| input.suggest(observer))?.raise(py)?;
    let warnings = warnings(&found.account());
    Ok((found.rules, warnings))
}

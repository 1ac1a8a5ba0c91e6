//! Options as the settings of an executor.

use nearkin_engine::options::{Goal, Keyword, Options};
use nearkin_engine::read::ItemLimit;
use nearkin_engine::settings::Settings;
use nearkin_engine::{Error, Result};
use pyo3::prelude::*;

use crate::error::Raise;
use crate::run::parse_options;

/// The settings that these options stand for, with one thread: an executor has as many tasks as cores.
pub(super) fn settings(py: Python<'_>, options: &str) -> PyResult<Settings> {
    let options = parse_options(py, options)?;
    check_kind(&options).raise(py)?;
    let settings = options.settings(Goal::Groups).raise(py)?;
    Ok(Settings { audit: Some(0), threads: 1, ..settings })
}

/// How large the text of a row may be. Spark leaves larger ones out by their bytes, so a normal form is not asked about.
pub(super) fn row_limit(py: Python<'_>, options: &str) -> PyResult<ItemLimit> {
    Ok(parse_options(py, options)?.limit_of_task().of(None))
}

/// How many bytes the text of a row may have.
#[pyfunction]
pub(crate) fn item_bytes(py: Python<'_>, options: &str) -> PyResult<usize> {
    Ok(row_limit(py, options)?.bytes())
}

/// An error for items that are compared in the memory of one machine.
fn check_kind(options: &Options) -> Result<()> {
    let kind = options.kind();
    match options.is_in_memory() {
        true if kind.is_in_memory() => {
            Err(Error::parameter("as", kind.word(), "text, set or bag on Spark"))
        }
        true if options.grid.is_some() => {
            Err(Error::parameter("grid", "given", "left out on Spark"))
        }
        true if options.estimate.is_some() => {
            Err(Error::parameter("estimate", "given", "left out on Spark"))
        }
        true => Err(Error::parameter("measure", "cosine", "another one for texts on Spark")),
        false => Ok(()),
    }
}

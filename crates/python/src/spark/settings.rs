//! The command's flags as the library's settings.

use nearkin::pipeline::Settings;
use nearkin_cli::engine;
use pyo3::prelude::*;

use crate::error::Raise;

/// The settings that these flags stand for, with one thread: an executor has as many tasks as cores.
pub(super) fn settings(py: Python<'_>, flags: &[String]) -> PyResult<Settings> {
    let (settings, ..) = engine::settings("dedup", flags).raise(py)?;
    Ok(Settings { audit: Some(0), threads: 1, job: None, ..settings })
}

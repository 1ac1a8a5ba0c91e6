//! Options as the settings of an executor.

use nearkin::options::Goal;
use nearkin::settings::Settings;
use pyo3::prelude::*;

use crate::error::Raise;
use crate::run::OptionsArgument;

/// The settings that these options stand for, with one thread: an executor has as many tasks as cores.
pub(super) fn settings(py: Python<'_>, options: &OptionsArgument) -> PyResult<Settings> {
    let settings = options.0.settings(Goal::Groups).raise(py)?;
    Ok(Settings { audit: Some(0), threads: 1, ..settings })
}

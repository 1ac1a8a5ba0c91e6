//! Keyword arguments of a call: how tables are read, and what a run may take.

use std::path::PathBuf;

use nearkin::read::{Format, OnError, ReadOptions};
use nearkin::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Raise, exception};
use crate::parts::threads_of;

/// Keyword arguments, any of which may be left out.
#[derive(FromPyObject)]
#[pyo3(transparent)]
pub(crate) struct Keywords<'py>(Bound<'py, PyDict>);

/// A number of bytes, or a text such as `4G`.
#[derive(FromPyObject)]
enum Size {
    Bytes(u64),
    Text(String),
}

impl<'py> Keywords<'py> {
    /// The value of an argument, where it was given.
    pub(crate) fn get<T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>>(
        &self,
        name: &str,
    ) -> PyResult<Option<T>> {
        let Some(value) = self.0.get_item(name)? else { return Ok(None) };
        let wrong = |error: PyErr| {
            let shown = value.repr().map_or_else(|_| String::new(), |text| text.to_string());
            let message = format!("{name} is {shown}: {error}; give another value");
            exception(value.py(), "ParameterError", message)
        };
        value.extract().map(Some).map_err(|error| wrong(Into::into(error)))
    }

    /// How tables are read.
    pub(crate) fn reading(&self, py: Python<'py>) -> PyResult<ReadOptions> {
        let format: Option<String> = self.get("format")?;
        let on_error: Option<String> = self.get("on_error")?;
        Ok(ReadOptions {
            id: self.get("id")?,
            positions: self.get("positions")?.unwrap_or_default(),
            temp: self.get::<PathBuf>("temp")?,
            format: format.map(|name| name.parse::<Format>()).transpose().raise(py)?,
            delimiter: self.get("delimiter")?,
            header: !self.get("no_header")?.unwrap_or(false),
            on_error: policy(on_error.as_deref()).raise(py)?,
            ..ReadOptions::default()
        })
    }

    /// Threads to use, where that was given.
    pub(crate) fn threads(&self, py: Python<'py>) -> PyResult<Option<usize>> {
        threads_of(self.get("threads")?).raise(py)
    }

    /// Bytes of memory to use, where that was given.
    pub(crate) fn memory(&self, py: Python<'py>) -> PyResult<Option<usize>> {
        let text = match self.get("memory")? {
            None => return Ok(None),
            Some(Size::Bytes(bytes)) => bytes.to_string(),
            Some(Size::Text(text)) => text,
        };
        let wrong =
            |how: String| exception(py, "ParameterError", format!("memory is {text:?}; {how}"));
        nearkin_cli::memory_size(&text).map(Some).map_err(wrong)
    }
}

/// What to do with a record that cannot be used.
fn policy(word: Option<&str>) -> Result<OnError> {
    match word {
        None | Some("stop") => Ok(OnError::Stop),
        Some("skip") => Ok(OnError::Skip),
        Some(other) => Err(Error::parameter("on_error", other, "stop or skip")),
    }
}

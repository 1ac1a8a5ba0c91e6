//! The library's errors as Python exceptions.

use nearkin::Error;
use nearkin_cli::engine::{self, Failure};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The exception of this class, which the Python side defines.
pub(crate) fn exception(py: Python<'_>, class: &str, message: String) -> PyErr {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("nearkin._errors").map(Bound::unbind));
    match module.and_then(|module| module.bind(py).getattr(class)?.call1((message,))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(failed) => failed,
    }
}

/// The exception for an error of the library.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error {
        Error::Parameter { .. } | Error::Mismatch { .. } => "ParameterError",
        Error::Input { .. } => "InputError",
        Error::File { .. } => "FileError",
        Error::Interrupted | Error::Closed => {
            return PyKeyboardInterrupt::new_err(error.to_string());
        }
        _ => "NearkinError",
    };
    exception(py, class, error.to_string())
}

/// The exception for a job that failed.
pub(crate) fn failed(py: Python<'_>, failure: &Failure) -> PyErr {
    match failure {
        Failure::Usage(message) => exception(py, "ParameterError", message.clone()),
        Failure::Library(error) => raised(py, error),
        Failure::Other(message) => exception(py, "NearkinError", message.clone()),
    }
}

/// A result whose error becomes an exception.
pub(crate) trait Raise<T> {
    /// The value, or the exception for the error.
    fn raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> Raise<T> for nearkin::Result<T> {
    fn raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raised(py, &error))
    }
}

impl<T> Raise<T> for engine::Result<T> {
    fn raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|failure| failed(py, &failure))
    }
}

//! The library's errors as Python exceptions.

use nearkin::Error;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The class `name` of the exceptions that the Python side defines.
fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module =
        MODULE.get_or_try_init(py, || py.import("nearkin._errors").map(Bound::unbind))?.bind(py);
    module.getattr(name)
}

/// The exception for an error.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let name = match error {
        Error::Parameter { .. } | Error::Mismatch { .. } => "ParameterError",
        Error::Input { .. } => "InputError",
        Error::File { .. } => "FileError",
        Error::Interrupted | Error::Closed => {
            return PyKeyboardInterrupt::new_err(error.to_string());
        }
        _ => "NearkinError",
    };
    match class(py, name).and_then(|class| class.call1((error.to_string(),))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(failed) => failed,
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

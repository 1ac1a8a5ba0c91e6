//! The library's errors as Python exceptions, in the words of someone who calls from Python: `on_error="skip"`.

use std::sync::atomic::{AtomicBool, Ordering};

use nearkin_cli::CommandWording;
use nearkin_cli::engine::{self, Account, Failure};
use nearkin_engine::Error;
use nearkin_engine::error::{Wording, any_of};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Speaks of options as keyword arguments.
struct PythonWording;

impl Wording for PythonWording {
    fn option(&self, key: &str) -> String {
        if key == "as" { "as_".to_owned() } else { key.to_owned() }
    }

    fn with(&self, key: &str) -> String {
        match key {
            "suggest" => "nearkin.suggest_rules".to_owned(), // a call of its own
            _ => format!("{}=", self.option(key)),
        }
    }

    fn set(&self, key: &str, values: &[&str]) -> String {
        let literal = |value: &&str| match value.parse::<f64>() {
            Ok(_) => (*value).to_owned(),
            Err(_) => format!("\"{value}\""),
        };
        let values: Vec<String> = values.iter().map(literal).collect();
        format!("pass {}={}", self.option(key), any_of(&values))
    }

    fn turn_on(&self, key: &str) -> String {
        format!("pass {}=True", self.option(key))
    }
}

/// Whether the reader of the messages gave flags: a job of Spark is started by a command line.
static FLAGS: AtomicBool = AtomicBool::new(false);

/// The words for the reader of the messages of this process.
pub(crate) fn wording() -> &'static dyn Wording {
    if FLAGS.load(Ordering::Relaxed) { &CommandWording } else { &PythonWording }
}

/// Words messages for a command line from now on, or for Python.
#[pyfunction]
pub(crate) fn speak_of_flags(flags: bool) {
    FLAGS.store(flags, Ordering::Relaxed);
}

/// Whether messages are worded for a command line.
#[pyfunction]
pub(crate) fn speaks_of_flags() -> bool {
    FLAGS.load(Ordering::Relaxed)
}

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
    let message = error.worded(wording());
    let class = match error {
        Error::Input { .. } => "InputError",
        Error::File { .. } => "FileError",
        Error::Interrupted | Error::Closed => return PyKeyboardInterrupt::new_err(message),
        Error::Nothing(_) => "NearkinError",
        _ => "ParameterError",
    };
    exception(py, class, message)
}

/// The exception for a job that failed.
pub(crate) fn failed(py: Python<'_>, failure: &Failure) -> PyErr {
    match failure {
        Failure::Usage(message) => exception(py, "ParameterError", message.clone()),
        Failure::Library(error) => raised(py, error),
        Failure::Other(message) => exception(py, "NearkinError", message.clone()),
    }
}

/// What the user should look at after a run, each to become a warning.
pub(crate) fn warnings(account: &Account) -> Vec<String> {
    let skipped = account.skipped.iter();
    let skipped = skipped.map(|error| format!("skipped: {}", error.worded(wording())));
    skipped.chain(account.warnings.iter().map(|warning| warning.worded(wording()))).collect()
}

/// A result whose error becomes an exception.
pub(crate) trait Raise<T> {
    /// The value, or the exception for the error.
    fn raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> Raise<T> for nearkin_engine::Result<T> {
    fn raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raised(py, &error))
    }
}

impl<T> Raise<T> for engine::Result<T> {
    fn raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|failure| failed(py, &failure))
    }
}

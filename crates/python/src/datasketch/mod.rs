//! What `nearkin.datasketch` calls: signatures, tables of bands and the choice of bands of the Python package
//! datasketch, with the same values.
//!
//! The Python side has the classes that users see, with their arguments and errors; here is what is done for every
//! element, insertion and query.

mod bands;
mod buckets;
mod permutations;
mod signature;

pub(crate) use bands::best_bands;
pub(crate) use buckets::Buckets;
pub(crate) use permutations::Permutations;
pub(crate) use signature::Signature;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The exception for an argument that cannot be used.
fn refused(py: Python<'_>, message: impl Into<String>) -> PyErr {
    let made = || py.import("nearkin._errors")?.getattr("ParameterError")?.call1((message.into(),));
    made().map_or_else(|failed| failed, PyErr::from_value)
}

/// A function of a Python module, looked up once.
fn function<'py>(
    py: Python<'py>,
    place: &'py PyOnceLock<Py<PyAny>>,
    module: &str,
    name: &str,
) -> PyResult<&'py Bound<'py, PyAny>> {
    let found =
        place.get_or_try_init(py, || py.import(module)?.getattr(name).map(Bound::unbind))?;
    Ok(found.bind(py))
}

//! The Python module `nearkin._nearkin`: what the package `nearkin` calls in Rust.

mod error;

use pyo3::prelude::*;

#[pymodule]
mod _nearkin {
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

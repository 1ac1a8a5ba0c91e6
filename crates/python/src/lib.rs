//! The Python module `nearkin._nearkin`: what the package `nearkin` calls in Rust.

mod datasketch;
mod error;

use pyo3::prelude::*;

#[pymodule]
mod _nearkin {
    use super::*;

    #[pymodule_export]
    use crate::datasketch::{Buckets, Permutations, Signature, best_bands};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

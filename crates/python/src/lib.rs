//! The Python module `nearkin._nearkin`: what the package `nearkin` calls in Rust.

mod error;
mod spark;

use pyo3::prelude::*;

#[pymodule]
mod _nearkin {
    use super::*;

    /// What `nearkin.spark` runs on executors.
    #[pymodule]
    mod spark {
        #[pymodule_export]
        use crate::spark::{
            Keys, Likeness, choose, clusters, components, copy_lines, frequent, is_exact, meet,
            pairs, read_lines, stars,
        };
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

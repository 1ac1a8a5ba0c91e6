//! The Python module `nearkin._nearkin`: what the package `nearkin` calls in Rust.

mod error;
mod run;
mod spark;
mod watch;

use pyo3::prelude::*;

#[pymodule]
mod _nearkin {
    use super::*;

    /// What `nearkin.spark` runs on executors.
    #[pymodule]
    mod spark {
        #[pymodule_export]
        use crate::spark::{
            Keys, Likeness, clusters, components, copy_lines, frequent, meet, misses_none, pairs,
            read_lines, sketches, stars, starts,
        };
    }

    #[pymodule_export]
    use crate::run::{Deduplicated, compare, dedup, is_exact, main, plan, search, take_apart};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

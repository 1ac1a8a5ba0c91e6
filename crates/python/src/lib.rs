//! The Python module `nearkin._nearkin`: what the package `nearkin` calls in Rust.

mod datasketch;
mod error;
mod hosts;
mod overlap;
mod parts;
mod records;
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
            Groups, Keys, Likeness, Pieces, Stars, clusters, components, copy_lines, frequent,
            item_bytes, meet, misses_none, pairs, read_lines, repeated, sketches, starts,
        };
    }

    #[pymodule_export]
    use crate::datasketch::{Buckets, Permutations, Signature, best_bands};
    #[pymodule_export]
    use crate::error::{speak_of_flags, speaks_of_flags};
    #[pymodule_export]
    use crate::hosts::{Mirrors, hosts};
    #[pymodule_export]
    use crate::overlap::{Overlaps, overlap};
    #[pymodule_export]
    use crate::parts::{
        Expression, Index, Sketcher, best_or, edits, functions_needed, grid_squares, hamming,
        hash_of, keys_of_sketches, list_text, list_texts, planned, sensitivity, sets_compared,
        shingles, stop_word_shingles, vectors_compared,
    };
    #[pymodule_export]
    use crate::records::{Resolution, resolve, suggest_rules};
    #[pymodule_export]
    use crate::run::{
        Deduplicated, Trimmed, compare, compare_items, dedup, is_exact, keep_rules, main, plan,
        search, show, take_apart, trim,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

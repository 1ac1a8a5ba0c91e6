//! Everything that can go wrong, one variant a cause, each message saying what to do about it.

use std::path::PathBuf;

/// The library's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong. The message is one line and ends with what the user can do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter outside its range.
    #[error("{name} is {value}; it must be {must}")]
    Parameter {
        /// The parameter's name as the user knows it.
        name: &'static str,
        /// What was given.
        value: String,
        /// What is allowed.
        must: String,
    },

    /// Two vectors that can only be compared when they are equally long.
    #[error("vectors have {left} and {right} components; give both the same length")]
    Mismatch {
        /// Components of the first.
        left: usize,
        /// Components of the second.
        right: usize,
    },

    /// Bad input at a line or row of a file.
    #[error("{}:{line}: {what}", path.display())]
    Input {
        /// The file as the user named it.
        path: PathBuf,
        /// Line number (or row number, for files without lines), from 1.
        line: u64,
        /// What is wrong, and after a semicolon what to do.
        what: String,
    },

    /// A file as a whole cannot be used.
    #[error("{}: {what}", path.display())]
    File {
        /// The file as the user named it.
        path: PathBuf,
        /// What is wrong, and after a semicolon what to do.
        what: String,
    },

    /// Nothing came of it.
    #[error("{0}")]
    Nothing(
        /// Why, and what to do.
        String,
    ),

    /// The program that read the output has ended, as `head` does: nothing to report.
    #[error("the reader of the output has gone; the rest was not written")]
    Closed,

    /// The user asked to stop.
    #[error("interrupted; no output was written")]
    Interrupted,
}

impl Error {
    /// An error about a parameter.
    pub fn parameter(name: &'static str, value: impl ToString, must: impl Into<String>) -> Self {
        Self::Parameter { name, value: value.to_string(), must: must.into() }
    }
}

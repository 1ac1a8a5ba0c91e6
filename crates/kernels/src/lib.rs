//! The inner loops of nearkin: the only place where unsafe code may stand, behind safe functions.
//!
//! `scalar` is the reference that any faster version has to equal.

mod scalar;

pub use scalar::{shared, shared_at_least};

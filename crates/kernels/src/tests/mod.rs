//! Every version of every kernel against the reference.

mod bits;
mod definition;
mod hash;
mod lists;
mod text;
mod throw;
mod vectors;

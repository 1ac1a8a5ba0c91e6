//! Plain Rust versions of every kernel: the reference.
//!
//! Some are written so that the compiler turns them into several steps at a time. Other versions compile these for their
//! machine.

pub(crate) mod aes;
mod bits;
mod lists;
mod text;
mod throw;
mod vectors;

pub use crate::affine::{affine_minima_32, affine_minima_64, mersenne_minima};
pub use crate::json::{string_special, unescape};
pub use crate::sha1::sha1_prefixes;
pub use aes::Block;
pub use bits::*;
pub use lists::*;
pub use text::*;
pub use throw::*;
pub use vectors::*;

//! What can be compared, and collections of it.

mod bits;
mod id;
#[cfg(feature = "files")]
mod interned;
mod records;
mod sets;
mod source;
mod sparse;
mod strings;
mod vectors;

pub use bits::Bits;
pub use id::{Id, Value};
#[cfg(feature = "files")]
pub(crate) use interned::Interned;
pub use records::{Column, ColumnBuilder, MISSING, Table, Values};
pub use sets::Sets;
pub use source::{Batch, Item, Source, TextColumn, Texts};
pub use sparse::Sparse;
pub(crate) use strings::Characters;
pub use strings::Strings;
pub use vectors::Vectors;

//! What can be compared, and collections of it.

mod id;
mod sets;
mod source;

pub use id::{Id, Value};
pub use sets::Sets;
pub use source::{Batch, Item, Source, TextColumn, Texts};

//! What can be compared, and collections of it.

mod bags;
mod bits;
mod chunks;
mod copies;
mod field_keys;
mod id;
mod interned;
mod places;
mod records;
mod sets;
mod signatures;
mod source;
mod sparse;
mod strings;
mod vectors;

pub use bags::{Bags, Counted};
pub use bits::Bits;
pub use chunks::{ChunkNumber, Lane, Lanes};
pub(crate) use chunks::{ChunkStarts, one_lane};
pub use copies::Copies;
pub(crate) use copies::{Members, Sides, first_copies};
pub use field_keys::FieldKeys;
pub use id::{Id, IdRef, KeepValues, Value};
pub use interned::{Interner, Values};
pub use places::RecordPlaces;
pub use records::{ColumnBuilder, MISSING, RecordColumn, RecordTable};
pub use sets::Sets;
pub use signatures::Signatures;
pub use source::{Batch, Item, PassedOver, SkipChunk, Source, TextColumn, Texts};
pub use sparse::Sparse;
pub(crate) use strings::Characters;
pub use strings::Strings;
pub use vectors::Vectors;

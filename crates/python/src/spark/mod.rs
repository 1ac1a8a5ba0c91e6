//! What `nearkin.spark` runs on executors: Arrow batches in, Arrow batches out.

mod columns;
mod distributed;
mod groups;
mod lines;
mod pieces;
mod search;
mod settings;

pub(crate) use distributed::{Keys, meet, misses_none};
pub(crate) use groups::{Groups, components};
pub(crate) use lines::{copy_lines, read_lines, starts};
pub(crate) use pieces::{Pieces, repeated};
pub(crate) use search::{Likeness, Stars, clusters, frequent, pairs, sketches};
pub(crate) use settings::item_bytes;

//! What `nearkin.spark` runs on executors: Arrow batches in, Arrow batches out.

mod columns;
mod groups;
mod lines;
mod search;
mod settings;
mod spread;

pub(crate) use groups::{Groups, components, stars};
pub(crate) use lines::{copy_lines, read_lines, starts};
pub(crate) use search::{Likeness, clusters, frequent, pairs, sketches};
pub(crate) use spread::{Keys, meet, misses_none};

//! What `nearkin.spark` runs on executors: Arrow batches in, Arrow batches out.

mod columns;
mod lines;
mod search;
mod settings;
mod spread;

pub(crate) use lines::{copy_lines, read_lines};
pub(crate) use search::{Likeness, choose, clusters, components, frequent, pairs, stars};
pub(crate) use spread::{Keys, is_exact, meet};

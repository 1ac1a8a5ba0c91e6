//! To files: tables of results, and the records that are kept.
//!
//! Files appear whole or not at all: see [`Output`].

mod blocks;
mod disk_sync;
mod even_shards;
mod formulas;
mod json_array;
mod kept_records;
mod output;
mod packers;
mod parquet;
mod records;
mod shard_folder;
mod shards;
mod table;
mod vectors;

pub use even_shards::even_shards;
pub use formulas::Formulas;
pub use kept_records::{KeptRecords, TextCuts};
pub use output::{
    CompleteOutput, Output, check, check_stdout, check_table, is_partly_written,
    remove_temporary_files,
};
pub use packers::{Resources, Turn, Turns};
pub use records::{batches, json_lines, records};
pub use shard_folder::check_folder;
pub use shards::shards;
pub use table::{Cell, Column, ColumnKind, RowFormat, TableWriter};
pub use vectors::{check_vectors, vector_batches, vectors};

//! Where items come from: a file, a folder, standard input, or a table in memory.

use arrow_array::{Array, ArrayRef, RecordBatch, cast::AsArray};
use arrow_schema::{DataType, SchemaRef};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Where items come from.
#[derive(Clone, Debug)]
pub enum Place {
    /// A file or a folder; `-` is standard input.
    Path(PathBuf),
    /// Columns in memory.
    Table(Arc<MemoryTable>),
}

/// A table in memory. Its columns are looked at where they lie.
#[derive(Debug)]
pub struct MemoryTable {
    /// What to call it in messages.
    pub name: PathBuf,
    /// Its columns.
    pub schema: SchemaRef,
    /// Its rows.
    pub batches: Vec<RecordBatch>,
}

impl Place {
    /// The path, or what a table is called.
    pub fn name(&self) -> &Path {
        match self {
            Self::Path(path) => path,
            Self::Table(table) => &table.name,
        }
    }

    /// The path, if it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Table(_) => None,
        }
    }

    /// Whether it is standard input.
    pub fn is_stdin(&self) -> bool {
        self.path().is_some_and(|path| path.as_os_str() == "-")
    }
}

impl From<PathBuf> for Place {
    fn from(path: PathBuf) -> Self {
        Self::Path(path)
    }
}

impl From<MemoryTable> for Place {
    fn from(table: MemoryTable) -> Self {
        Self::Table(Arc::new(table))
    }
}

/// About how many bytes the values of a column take, of an array that may be part of a larger one.
pub(super) fn bytes(column: &ArrayRef) -> u64 {
    match column.data_type() {
        DataType::Utf8View => column.as_string_view().lengths().map(u64::from).sum(),
        _ => column.to_data().get_slice_memory_size().map_or(0, |bytes| bytes as u64),
    }
}

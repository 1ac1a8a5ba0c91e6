//! Where a table of results goes: into a file, or into memory for a caller that is no command.

use std::path::Path;

use nearkin_engine::Result;
use nearkin_engine::write::{Column, Formulas, TableWriter};

/// Makes a table in this file, or on standard output.
pub(crate) fn to_file(
    path: Option<&Path>,
    formulas: Formulas,
) -> impl FnOnce(&[Column<'_>]) -> Result<TableWriter> {
    move |columns| Ok(TableWriter::create(path, None, columns)?.formulas(formulas))
}

/// Makes a table that is handed to the caller.
pub(crate) fn in_memory(columns: &[Column<'_>]) -> Result<TableWriter> {
    Ok(TableWriter::in_memory(columns))
}

//! A Parquet file whose bytes depend on its rows alone, not on the batches in which they come.
//!
//! Rows are written in pieces that end where the bytes of their values say so, and a row group ends when it has taken
//! [`GROUP`] bytes: the writer holds a whole row group in memory, and a million rows of documents are gigabytes.

use std::io;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use arrow_select::concat::concat_batches;
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::output::{CompleteOutput, Output, cannot_write};
use crate::Result;

/// Bytes of a row group, packed, from which on it ends. Groups of a million rows took 30 MB more for 70 MB of texts.
const GROUP: usize = 8 << 20;
/// Bytes of values, and rows, after which a piece ends.
const PIECE: usize = 1 << 20;
const ROWS: usize = 1 << 13;

/// A writer of Parquet files, packed with zstd.
pub(super) struct ParquetWriter {
    name: PathBuf,
    schema: SchemaRef,
    writer: ArrowWriter<Output>,
    /// Rows of the piece that has not ended, and what is in them.
    open: Vec<RecordBatch>,
    rows: usize,
    bytes: usize,
}

impl ParquetWriter {
    pub(super) fn new(output: Output, schema: SchemaRef) -> Result<Self> {
        let name = output.name().to_path_buf();
        let properties = WriterProperties::builder()
            .set_compression(parquet::basic::Compression::ZSTD(Default::default()))
            .build();
        let writer = ArrowWriter::try_new(output, schema.clone(), Some(properties))
            .map_err(|error| failed(&name, error))?;
        Ok(Self { name, schema, writer, open: Vec::new(), rows: 0, bytes: 0 })
    }

    /// Writes these rows, or keeps them until a piece is full.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut start = 0;
        for row in 0..batch.num_rows() {
            self.rows += 1;
            self.bytes +=
                batch.columns().iter().map(|it| bytes_of(it, row, row + 1)).sum::<usize>();
            if self.rows >= ROWS || self.bytes >= PIECE {
                self.open.push(batch.slice(start, row + 1 - start));
                self.write_piece()?;
                start = row + 1;
            }
        }
        if start < batch.num_rows() {
            self.open.push(batch.slice(start, batch.num_rows() - start));
        }
        Ok(())
    }

    fn write_piece(&mut self) -> Result<()> {
        let Self { name, schema, writer, open, .. } = self;
        let mut write = || -> Result<(), ParquetError> {
            let piece = concat_batches(schema, &*open).map_err(arrow)?;
            writer.write(&piece)?;
            if writer.in_progress_size() >= GROUP { writer.flush() } else { Ok(()) }
        };
        write().map_err(|error| failed(name, error))?;
        self.open.clear();
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }

    /// Writes what is left and the footer.
    pub(super) fn ready(mut self) -> Result<CompleteOutput> {
        self.write_piece()?;
        let Self { name, writer, .. } = self;
        writer.into_inner().map_err(|error| failed(&name, error))?.ready()
    }
}

fn arrow(error: ArrowError) -> ParquetError {
    ParquetError::ArrowError(error.to_string())
}

/// About how many bytes the values of these rows have: the same whatever batch they are in.
fn bytes_of(column: &ArrayRef, start: usize, end: usize) -> usize {
    /// Bytes of a value whose length is not looked up.
    const VALUE: usize = 8;
    let range = |offsets: (usize, usize)| offsets.1 - offsets.0;
    match column.data_type() {
        DataType::Utf8 => range(ends(column.as_string::<i32>().value_offsets(), start, end)),
        DataType::LargeUtf8 => range(ends(column.as_string::<i64>().value_offsets(), start, end)),
        DataType::Binary => range(ends(column.as_binary::<i32>().value_offsets(), start, end)),
        DataType::LargeBinary => range(ends(column.as_binary::<i64>().value_offsets(), start, end)),
        DataType::Utf8View => {
            column.as_string_view().lengths().skip(start).take(end - start).sum::<u32>() as usize
        }
        DataType::BinaryView => {
            column.as_binary_view().lengths().skip(start).take(end - start).sum::<u32>() as usize
        }
        DataType::List(_) => {
            let lists = column.as_list::<i32>();
            let (start, end) = ends(lists.value_offsets(), start, end);
            bytes_of(lists.values(), start, end)
        }
        DataType::LargeList(_) => {
            let lists = column.as_list::<i64>();
            let (start, end) = ends(lists.value_offsets(), start, end);
            bytes_of(lists.values(), start, end)
        }
        DataType::FixedSizeList(_, size) => {
            let size = usize::try_from(*size).unwrap_or(0);
            bytes_of(column.as_fixed_size_list().values(), start * size, end * size)
        }
        DataType::Struct(_) => {
            column.as_struct().columns().iter().map(|it| bytes_of(it, start, end)).sum()
        }
        _ => VALUE * (end - start),
    }
}

/// Where the values of these rows start and end.
fn ends<O: Copy + TryInto<usize>>(offsets: &[O], start: usize, end: usize) -> (usize, usize) {
    let at = |row: usize| offsets[row].try_into().unwrap_or(0);
    (at(start), at(end))
}

/// The error for a Parquet file that cannot be written.
pub(super) fn failed(name: &Path, error: ParquetError) -> crate::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(inner) => cannot_write(name, &inner),
            Err(other) => cannot_write(name, &io::Error::other(other)),
        },
        other => cannot_write(name, &io::Error::other(other)),
    }
}

//! A Parquet file whose bytes depend on its rows alone, not on the batches in which they come.
//!
//! Rows are written in pieces, and pieces in row groups. Both end where the bytes of their values say so. If there is memory
//! for several row groups, threads encode them side by side; each is in memory as a whole, and a million rows of documents
//! are gigabytes.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use arrow_select::concat::concat_batches;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

use super::output::{CompleteOutput, Output, cannot_write};
use super::packers::{Packers, Resources, Turns};
use crate::Result;

/// Bytes of values after which a row group ends: about 6 MB of texts when packed.
const GROUP: usize = 16 << 20;
/// Bytes of values, and rows, after which a piece ends.
const PIECE: usize = 1 << 20;
const ROWS: usize = 1 << 13;

/// A writer of Parquet files, packed with zstd.
pub(super) struct ParquetWriter {
    name: PathBuf,
    file: SerializedFileWriter<Output>,
    encoder: Arc<Encoder>,
    encoders: Packers<Vec<Piece>, Result<Vec<ArrowColumnChunk>, ParquetError>>,
    group: OpenGroup,
    piece: Piece,
}

/// The row group that has not ended.
#[derive(Default)]
struct OpenGroup {
    /// Its pieces, if another thread is to encode them.
    pieces: Vec<Piece>,
    /// Its columns with what is encoded, otherwise: that takes less memory.
    columns: Vec<ArrowColumnWriter>,
    bytes: usize,
}

/// Rows that are encoded at once, and what is in them.
#[derive(Default)]
struct Piece {
    batches: Vec<RecordBatch>,
    rows: usize,
    bytes: usize,
}

/// What is known of the columns.
struct Encoder {
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
}

impl ParquetWriter {
    pub(super) fn new(output: Output, schema: SchemaRef) -> Result<Self> {
        let name = output.name().to_path_buf();
        let properties = WriterProperties::builder()
            .set_compression(parquet::basic::Compression::ZSTD(Default::default()))
            .build();
        let (file, factory) = ArrowWriter::try_new(output, Arc::clone(&schema), Some(properties))
            .and_then(ArrowWriter::into_serialized_writer)
            .map_err(|error| failed(&name, error))?;
        let encoder = Arc::new(Encoder { factory, schema });
        let others = Arc::clone(&encoder);
        let encoders = Packers::new(move |pieces| others.group(pieces));
        let (group, piece) = (OpenGroup::default(), Piece::default());
        Ok(Self { name, file, encoder, encoders, group, piece })
    }

    /// Encodes on several threads. To be said before the first row.
    pub(super) fn share(&mut self, resources: Resources) {
        // The values, and what they become.
        self.encoders.share(resources, GROUP + GROUP / 2);
    }

    /// If threads encode: the turns of whoever makes what is written.
    pub(super) fn turns(&self) -> Option<Turns> {
        self.encoders.turns()
    }

    /// Writes these rows, or keeps them until a row group is full.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut start = 0;
        for row in 0..batch.num_rows() {
            self.piece.rows += 1;
            self.piece.bytes +=
                batch.columns().iter().map(|it| bytes_of(it, row, row + 1)).sum::<usize>();
            if self.piece.rows >= ROWS || self.piece.bytes >= PIECE {
                self.piece.batches.push(batch.slice(start, row + 1 - start));
                start = row + 1;
                self.end_piece().map_err(|error| failed(&self.name, error))?;
            }
        }
        if start < batch.num_rows() {
            self.piece.batches.push(batch.slice(start, batch.num_rows() - start));
        }
        Ok(())
    }

    fn end_piece(&mut self) -> Result<(), ParquetError> {
        let piece = std::mem::take(&mut self.piece);
        self.group.bytes += piece.bytes;
        if self.turns().is_some() {
            self.group.pieces.push(piece);
        } else {
            self.encoder.piece(&piece, &mut self.group.columns)?;
        }
        if self.group.bytes >= GROUP { self.end_group() } else { Ok(()) }
    }

    fn end_group(&mut self) -> Result<(), ParquetError> {
        let OpenGroup { pieces, columns, .. } = std::mem::take(&mut self.group);
        if !columns.is_empty() {
            append(&mut self.file, chunks(columns)?)?;
        }
        if !pieces.is_empty() {
            self.encoders.give(pieces);
        }
        while let Some(columns) = self.encoders.take() {
            append(&mut self.file, columns?)?;
        }
        Ok(())
    }

    /// Writes what is left and the footer.
    pub(super) fn ready(mut self) -> Result<CompleteOutput> {
        let mut write = || -> Result<(), ParquetError> {
            if self.piece.rows > 0 {
                self.end_piece()?;
            }
            self.end_group()?;
            while let Some(columns) = self.encoders.take_last() {
                append(&mut self.file, columns?)?;
            }
            Ok(())
        };
        let written = write();
        let Self { name, file, .. } = self;
        written.and_then(|()| file.into_inner()).map_err(|error| failed(&name, error))?.ready()
    }
}

impl Encoder {
    /// Encodes a whole row group.
    fn group(&self, pieces: Vec<Piece>) -> Result<Vec<ArrowColumnChunk>, ParquetError> {
        let mut columns = Vec::new();
        // Each piece goes when it is encoded.
        pieces.into_iter().try_for_each(|piece| self.piece(&piece, &mut columns))?;
        chunks(columns)
    }

    /// Adds a piece to the columns of a row group, of which there are none before the first.
    fn piece(
        &self,
        piece: &Piece,
        columns: &mut Vec<ArrowColumnWriter>,
    ) -> Result<(), ParquetError> {
        if columns.is_empty() {
            *columns = self.factory.create_column_writers(0)?;
        }
        let rows = concat_batches(&self.schema, &piece.batches).map_err(arrow)?;
        let mut columns = columns.iter_mut();
        for (field, values) in self.schema.fields().iter().zip(rows.columns()) {
            for leaf in compute_leaves(field, values)? {
                columns.next().ok_or_else(other_columns)?.write(&leaf)?;
            }
        }
        Ok(())
    }
}

fn other_columns() -> ParquetError {
    ParquetError::General("rows have other columns than the file; please report this".to_owned())
}

fn chunks(columns: Vec<ArrowColumnWriter>) -> Result<Vec<ArrowColumnChunk>, ParquetError> {
    columns.into_iter().map(ArrowColumnWriter::close).collect()
}

/// Writes a row group.
fn append(
    file: &mut SerializedFileWriter<Output>,
    columns: Vec<ArrowColumnChunk>,
) -> Result<(), ParquetError> {
    let mut group = file.next_row_group()?;
    columns.into_iter().try_for_each(|column| column.append_to_row_group(&mut group))?;
    group.close().map(drop)
}

fn arrow(error: ArrowError) -> ParquetError {
    ParquetError::ArrowError(error.to_string())
}

/// How many of the first rows have up to `most` bytes, and how many bytes they have; the first in any case if `one` is
/// asked for.
pub(super) fn rows_within(rows: &RecordBatch, most: usize, one: bool) -> (usize, usize) {
    let mut bytes = 0;
    for row in 0..rows.num_rows() {
        let of_row: usize = rows.columns().iter().map(|it| bytes_of(it, row, row + 1)).sum();
        if bytes + of_row > most && !(one && row == 0) {
            return (row, bytes);
        }
        bytes += of_row;
    }
    (rows.num_rows(), bytes)
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

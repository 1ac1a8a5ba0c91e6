//! Parquet files: the needed columns of some rows of one row group at a time.
//!
//! Threads decode stretches of rows on their own; pages before a stretch are passed over, not decompressed.

use super::RecordFilter;
use super::rereadable::{FileCursor, Rereadable};
use super::table::Stretch;
use crate::{Error, Result};
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{
            ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection,
            RowSelector,
        },
    },
    errors::ParquetError,
    file::reader::{ChunkReader, Length},
};
use std::{cell::Cell, fs::File, io::BufReader, io::Read, sync::Arc, sync::Once};

/// What is known of a file before its rows are read.
#[derive(Debug)]
pub(super) struct Parquet {
    metadata: ArrowReaderMetadata,
}

impl Parquet {
    pub(super) fn open(stored: &Rereadable) -> Result<Self> {
        let reader = SharedFile::open(stored)?;
        let metadata = guarded(|| ArrowReaderMetadata::load(&reader, ArrowReaderOptions::new()))
            .map_err(|error| corrupt(stored, &error))?;
        if !is_sound(&metadata, stored.len()) {
            let error = ParquetError::General("its parts overlap or lie outside it".to_owned());
            return Err(corrupt(stored, &error));
        }
        Ok(Self { metadata })
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    fn mask(&self, columns: Option<&[usize]>) -> ProjectionMask {
        match columns {
            Some(roots) => {
                ProjectionMask::roots(self.metadata.parquet_schema(), roots.iter().copied())
            }
            None => ProjectionMask::all(),
        }
    }

    /// The rows of each row group, and the bytes of some columns in it.
    pub(super) fn groups(&self, columns: &[usize]) -> Vec<(usize, u64)> {
        let mask = self.mask(Some(columns));
        let groups = self.metadata.metadata().row_groups().iter();
        let group = groups.map(|group| {
            let leaves = group.columns().iter().enumerate();
            let bytes = leaves
                .filter(|(leaf, _)| mask.leaf_included(*leaf))
                .map(|(_, column)| column.uncompressed_size().max(0) as u64)
                .sum();
            (group.num_rows().max(0) as usize, bytes)
        });
        group.collect()
    }

    /// The wanted rows of a stretch with some columns, or all; none where none is wanted.
    pub(super) fn read(
        &self,
        stored: &Rereadable,
        stretch: &Stretch,
        columns: Option<&[usize]>,
        wanted: RecordFilter,
    ) -> Result<Option<RecordBatch>> {
        let mut selectors = vec![RowSelector::skip(stretch.start)];
        selectors.extend((0..stretch.rows as u32).map(|row| match wanted(row) {
            true => RowSelector::select(1),
            false => RowSelector::skip(1),
        }));
        let selection: RowSelection = selectors.into_iter().collect();
        if !selection.selects_any() {
            return Ok(None);
        }
        let read = || -> Result<RecordBatch, ParquetError> {
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(
                SharedFile::open(stored)
                    .map_err(|error| ParquetError::External(Box::new(error)))?,
                self.metadata.clone(),
            )
            .with_row_groups(vec![stretch.group])
            .with_projection(self.mask(columns))
            .with_row_selection(selection)
            .with_batch_size(stretch.rows)
            .build()?;
            let schema = arrow_array::RecordBatchReader::schema(&reader);
            let batches = reader.collect::<Result<Vec<_>, ArrowError>>()?;
            Ok(arrow_select::concat::concat_batches(&schema, &batches)?)
        };
        guarded(read).map(Some).map_err(|error| corrupt(stored, &error))
    }
}

/// Whether every column lies where it can; the decoder takes that for granted.
fn is_sound(metadata: &ArrowReaderMetadata, len: u64) -> bool {
    let within = |start: i64, bytes: i64| {
        start >= 0 && bytes >= 0 && start.checked_add(bytes).is_some_and(|end| end as u64 <= len)
    };
    let groups = metadata.metadata().row_groups().iter().filter(|group| group.num_rows() > 0);
    let mut columns = groups.flat_map(|group| group.columns());
    columns.all(|column| {
        let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        within(start, column.compressed_size()) && column.data_page_offset() >= start
    })
}

/// Flipping bytes made parquet 60 panic in its page index, which is not read here for that reason.
/// If another place panics on a broken file, that becomes an error like any other.
fn guarded<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    let outer = IS_DECODING.replace(true);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
    IS_DECODING.set(outer);
    result.unwrap_or_else(|_| {
        Err(ParquetError::General("its data makes no sense to the decoder".to_owned()))
    })
}

thread_local! {
    /// Whether this thread decodes a file whose panics become errors.
    static IS_DECODING: Cell<bool> = const { Cell::new(false) };
}

/// From now on, panics that become errors are not printed. For programs, as the library leaves the hook for panics alone.
pub fn hide_caught_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IS_DECODING.get() {
                usual(panic);
            }
        }));
    });
}

pub(super) fn corrupt(stored: &Rereadable, error: &(dyn std::error::Error + 'static)) -> Error {
    let mut error = error;
    if let Some(ParquetError::External(inner)) = error.downcast_ref() {
        error = inner.as_ref();
    }
    if let Some(file @ Error::File { .. }) = error.downcast_ref() {
        return file.clone();
    }
    let message = error.to_string();
    let message = message.lines().next().unwrap_or_default();
    let message = message.strip_prefix("Parquet error: ").unwrap_or(message);
    stored.error(format!("not a Parquet file that can be read: {message}; get the file again"))
}

/// A file that several readers use at once, each at its own place.
struct SharedFile {
    file: Arc<File>,
    len: u64,
}

impl SharedFile {
    fn open(stored: &Rereadable) -> Result<Self> {
        Ok(Self { file: stored.open()?, len: stored.len() })
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<FileCursor>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(BufReader::new(FileCursor { file: Arc::clone(&self.file), offset: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<bytes::Bytes, ParquetError> {
        // A broken length must not become an allocation of that size.
        if start.checked_add(length as u64).is_none_or(|end| end > self.len) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} are missing")));
        }
        let mut buffer = Vec::with_capacity(length);
        let mut at = FileCursor { file: Arc::clone(&self.file), offset: start }.take(length as u64);
        match at.read_to_end(&mut buffer)? {
            read if read == length => Ok(buffer.into()),
            read => Err(ParquetError::EOF(format!("{read} bytes where {length} were expected"))),
        }
    }
}

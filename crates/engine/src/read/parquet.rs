//! Parquet files: the needed columns of some rows of one row group at a time.
//!
//! Threads decode stretches of rows on their own; pages before a stretch are passed over, not decompressed. A page that two
//! stretches share is decompressed twice, so stretches end where pages of the largest column do.

use super::RecordFilter;
use super::rereadable::{FileCursor, Rereadable};
use super::table::Stretch;
use super::thrift;
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
    column::page::PageReader,
    errors::ParquetError,
    file::{
        reader::{ChunkReader, Length},
        serialized_reader::SerializedPageReader,
    },
};
use std::{
    cell::Cell,
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom},
    sync::{Arc, Once},
};

/// What is known of a file before its rows are read.
#[derive(Debug)]
pub(super) struct Parquet {
    metadata: ArrowReaderMetadata,
}

impl Parquet {
    pub(super) fn open(stored: &Rereadable) -> Result<Self> {
        let reader = Footer(SharedFile::open(stored)?);
        let metadata = guarded(|| ArrowReaderMetadata::load(&reader, ArrowReaderOptions::new()))
            .map_err(|error| corrupt(stored, &error))?;
        if !is_sound(&metadata, stored.len()) {
            let error = ParquetError::General(
                "its parts overlap, lie outside it or have other rows than it says".to_owned(),
            );
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
                .map(|(_, column)| {
                    let most = (column.compressed_size().max(0) as u64).saturating_mul(MOST_PACKED);
                    (column.uncompressed_size().max(0) as u64).min(most)
                })
                .sum();
            (group.num_rows().max(0) as usize, bytes)
        });
        group.collect()
    }

    /// The rows of each page of the largest of some columns in a row group, in order. Nothing where the headers of
    /// pages do not tell: of lists, or in a damaged file, whose reader says what is wrong.
    ///
    /// pyarrow writes at least 1024 rows to a page, which are 5 MB of documents: cut without regard to pages, two and a half
    /// times as much was decompressed as needed.
    pub(super) fn pages(
        &self,
        stored: &Rereadable,
        group: usize,
        columns: &[usize],
    ) -> Option<Vec<usize>> {
        let mask = self.mask(Some(columns));
        let group = self.metadata.metadata().row_group(group);
        let leaves = group.columns().iter().enumerate();
        let read = leaves.filter(|(leaf, _)| mask.leaf_included(*leaf)).map(|(_, column)| column);
        let column = read.max_by_key(|column| column.uncompressed_size())?;
        if column.column_descr().max_rep_level() > 0 {
            return None;
        }
        let rows = usize::try_from(group.num_rows()).ok()?;
        let headers = || -> Result<Vec<usize>, ParquetError> {
            let file = SharedFile::open(stored)
                .map_err(|error| ParquetError::External(Box::new(error)))?;
            let mut reader = SerializedPageReader::new(Arc::new(file), column, rows, None)?;
            let mut pages = Vec::new();
            while let Some(page) = reader.peek_next_page()? {
                reader.skip_next_page()?;
                if !page.is_dict {
                    pages.extend(page.num_rows.or(page.num_levels));
                }
            }
            Ok(pages)
        };
        let pages = guarded(headers).ok()?;
        let sum = pages.iter().try_fold(0usize, |sum, &page| sum.checked_add(page));
        (sum == Some(rows)).then_some(pages)
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
        let expected = selection.row_count();
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
            let rows = arrow_select::concat::concat_batches(&schema, &batches)?;
            match rows.num_rows() == expected {
                true => Ok(rows),
                false => Err(ParquetError::General("it holds fewer rows than it says".to_owned())),
            }
        };
        guarded(read).map(Some).map_err(|error| corrupt(stored, &error))
    }
}

/// How much smaller a column can be packed than it says: sizes beyond that are damaged, and would cut a file into
/// stretches of one row. A chunk of what is packed better is larger than others.
const MOST_PACKED: u64 = 4096;

/// A page has at most this many values, and its header at least this many bytes.
const PAGE_VALUES: u64 = i32::MAX as u64;
const PAGE_BYTES: u64 = 8;

/// Whether every column lies where it can and can hold what it says; the decoder takes that for granted. In a damaged
/// file, the rows of a group are not those of its columns: 300 bytes claimed 10^12 rows, whose list took all memory.
fn is_sound(metadata: &ArrowReaderMetadata, len: u64) -> bool {
    let within = |start: i64, bytes: i64| {
        start >= 0 && bytes >= 0 && start.checked_add(bytes).is_some_and(|end| end as u64 <= len)
    };
    let mut groups = metadata.metadata().row_groups().iter().filter(|group| group.num_rows() != 0);
    groups.all(|group| {
        group.columns().iter().all(|column| {
            let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
            let bytes = column.compressed_size();
            let (rows, values) = (group.num_rows(), column.num_values());
            let is_flat = column.column_descr().max_rep_level() == 0;
            within(start, bytes)
                && column.data_page_offset() >= start
                && rows > 0
                && if is_flat { values == rows } else { values >= rows }
                && values as u64 <= (bytes as u64 / PAGE_BYTES).saturating_mul(PAGE_VALUES)
        })
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

impl SharedFile {
    fn from(&self, start: u64) -> BeforeEnd {
        BeforeEnd(FileCursor { file: Arc::clone(&self.file), offset: start })
    }
}

impl ChunkReader for SharedFile {
    type T = PageHeader;

    /// The decoder reads nothing this way but the headers of pages.
    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(PageHeader { bytes: BufReader::new(self.from(start)), is_checked: false })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<bytes::Bytes, ParquetError> {
        // A broken length must not become an allocation of that size.
        if start.checked_add(length as u64).is_none_or(|end| end > self.len) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} are missing")));
        }
        let mut buffer = Vec::with_capacity(length);
        match self.from(start).take(length as u64).read_to_end(&mut buffer)? {
            read if read == length => Ok(buffer.into()),
            read => Err(ParquetError::EOF(format!("{read} bytes where {length} were expected"))),
        }
    }
}

/// The end of a file: its length, and then the metadata.
struct Footer(SharedFile);

impl Length for Footer {
    fn len(&self) -> u64 {
        self.0.len
    }
}

impl ChunkReader for Footer {
    type T = BeforeEnd;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(self.0.from(start))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<bytes::Bytes, ParquetError> {
        let metadata = self.0.get_bytes(start, length)?;
        thrift::footer(&metadata)?;
        Ok(metadata)
    }
}

/// A page header, which is looked over before the decoder sees it.
struct PageHeader {
    bytes: BufReader<BeforeEnd>,
    is_checked: bool,
}

impl Read for PageHeader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.is_checked {
            let length = thrift::page_header(&mut self.bytes)?;
            self.bytes.seek_relative(-length)?;
            self.is_checked = true;
        }
        self.bytes.read(buffer)
    }
}

/// Reads what must be there. The parquet crate passes over unknown fields of a page header and does not see that the file
/// is over: lists in lists of 10^9 strings each never ended.
struct BeforeEnd(FileCursor);

impl Read for BeforeEnd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }
}

impl Seek for BeforeEnd {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let SeekFrom::Current(step) = to else { return Err(io::ErrorKind::Unsupported.into()) };
        let offset = self.0.offset.checked_add_signed(step);
        self.0.offset = offset.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(self.0.offset)
    }
}

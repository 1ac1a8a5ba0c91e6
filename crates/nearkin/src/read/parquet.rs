//! Parquet files: the needed columns of some rows of one row group at a time.
//!
//! A chunk is a stretch of rows that holds about `chunk_bytes` of the columns asked for. Threads
//! decode chunks on their own; pages before a chunk are passed over, not decompressed.

use super::{
    Ids, ReadOptions, Wanted,
    arrow_lists::{ElementRows, holds_elements, is_element},
    csv::{columns, no_column, not_a_number},
    gather::{Asked, Gather},
    item,
    shape::Shape,
    stored::{At, Stored},
};
use crate::item::{Batch, Id, TextColumn, Value};
use crate::{Error, Result};
use arrow_array::{
    Array, ArrayRef, RecordBatch,
    cast::AsArray,
    types::{Float64Type, Int64Type, UInt64Type},
};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, SchemaRef};
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
use std::{fs::File, io::BufReader, io::Read, sync::Arc};

/// What is known of a file before its rows are read.
#[derive(Debug)]
pub(super) struct Table {
    metadata: ArrowReaderMetadata,
    text: usize,
    id: Option<usize>,
    value: Option<usize>,
    /// The columns that are read instead of a text.
    columns: Vec<usize>,
    /// The stretches of rows to read, in order.
    pub(super) stretches: Vec<Stretch>,
}

/// Some rows of one row group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    group: usize,
    /// The first row within its group.
    start: usize,
    rows: usize,
    /// The first row within the file.
    first: u64,
    /// Its share of the file's size.
    pub(super) bytes: u64,
}

/// How much larger a chunk is here than of text: pages have about 1 MiB, and two chunks that share one both
/// decompress it.
const WIDER: usize = 8;

impl Table {
    pub(super) fn open(stored: &Stored) -> Result<Self> {
        let reader = Shared::open(stored)?;
        let metadata = guarded(|| ArrowReaderMetadata::load(&reader, ArrowReaderOptions::new()))
            .map_err(|error| corrupt(stored, &error))?;
        if !is_sound(&metadata, stored.len()) {
            let error = ParquetError::General("its parts overlap or lie outside it".to_owned());
            return Err(corrupt(stored, &error));
        }
        let (columns, stretches) = (Vec::new(), Vec::new());
        Ok(Self { metadata, text: 0, id: None, value: None, columns, stretches })
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.schema().column_with_name(name).is_some()
    }

    /// Finds the columns that are asked for, and cuts the rows into stretches.
    pub(super) fn bind(&mut self, stored: &Stored, options: &ReadOptions, ids: &Ids) -> Result<()> {
        if !options.columns.is_empty() {
            self.bind_cells(stored, &options.columns, ids)?;
            self.stretches = self.cut(stored.len(), WIDER * options.chunk_bytes);
            return Ok(());
        }
        let schema = Arc::clone(self.schema());
        let column = |name: &str, allowed: fn(&DataType) -> bool, must: &str, advice: &str| {
            let names = schema.fields().iter().map(|field| field.name().as_str());
            let (at, field) = schema
                .column_with_name(name)
                .ok_or_else(|| no_column(&stored.name, name, names, advice))?;
            if allowed(value_type(field.data_type())) {
                return Ok(at);
            }
            let kind = field.data_type();
            Err(stored.error(format!("column `{name}` is {kind}, not {must}; {advice}")))
        };
        let advice = match options.shape {
            Shape::Text => "name the text column with --text",
            _ => "name the right column with --text",
        };
        let (allowed, must): (fn(&DataType) -> bool, _) = match options.shape {
            Shape::Text => (is_text, "text"),
            Shape::Elements => (|kind| is_text(kind) || holds_elements(kind), "lists or text"),
            Shape::Value => (is_any_value, "lists of numbers, bytes or text"),
        };
        self.text = column(&options.text, allowed, must, advice)?;
        if let Ids::Field(name) = ids {
            let advice = "name the id column with --id";
            self.id = Some(column(name, is_id, "text or whole numbers", advice)?);
        }
        if let Some(name) = &options.value {
            let advice = "name another column";
            self.value = Some(column(name, is_value, "numbers, times or text", advice)?);
        }
        self.stretches = self.cut(stored.len(), WIDER * options.chunk_bytes);
        Ok(())
    }

    fn mask(&self) -> ProjectionMask {
        let text = Some(self.text).filter(|_| self.columns.is_empty());
        let named = [text, self.id, self.value].into_iter().flatten();
        let roots = named.chain(self.columns.iter().copied());
        ProjectionMask::roots(self.metadata.parquet_schema(), roots)
    }

    fn cut(&self, file_bytes: u64, chunk_bytes: usize) -> Vec<Stretch> {
        let mask = self.mask();
        let groups = self.metadata.metadata().row_groups();
        let total: u64 = groups.iter().map(|group| group.num_rows().max(0) as u64).sum();
        let share =
            |row: u64| (u128::from(file_bytes) * u128::from(row) / u128::from(total)) as u64;
        let mut stretches = Vec::new();
        let mut first = 0;
        for (at, group) in groups.iter().enumerate() {
            let rows = group.num_rows().max(0) as usize;
            let columns = group.columns().iter().enumerate();
            let bytes: i64 = columns
                .filter(|(leaf, _)| mask.leaf_included(*leaf))
                .map(|(_, column)| column.uncompressed_size().max(0))
                .sum();
            let a_row = (bytes as usize / rows.max(1)).max(1);
            let step = (chunk_bytes / a_row).clamp(1, MOST_ROWS);
            for start in (0..rows).step_by(step) {
                let rows = step.min(rows - start);
                let bytes = share(first + rows as u64) - share(first);
                stretches.push(Stretch { group: at, start, rows, first, bytes });
                first += rows as u64;
            }
        }
        stretches
    }

    fn read(
        &self,
        stored: &Stored,
        stretch: &Stretch,
        mask: ProjectionMask,
        wanted: Wanted,
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
                Shared::open(stored).map_err(|error| ParquetError::External(Box::new(error)))?,
                self.metadata.clone(),
            )
            .with_row_groups(vec![stretch.group])
            .with_projection(mask)
            .with_row_selection(selection)
            .with_batch_size(stretch.rows)
            .build()?;
            let schema = arrow_array::RecordBatchReader::schema(&reader);
            let batches = reader.collect::<Result<Vec<_>, ArrowError>>()?;
            Ok(arrow_select::concat::concat_batches(&schema, &batches)?)
        };
        guarded(read).map(Some).map_err(|error| corrupt(stored, &error))
    }

    pub(super) fn decode(
        &self,
        stored: &Stored,
        stretch: &Stretch,
        asked: Asked,
        wanted: Wanted,
    ) -> Result<Batch<'static>> {
        let mut gather = Gather::new(asked, 0);
        let Some(rows) = self.read(stored, stretch, self.mask(), wanted)? else {
            return Ok(gather.finish(stretch.rows as u32));
        };
        let column = |at: Option<usize>| -> Option<ArrayRef> {
            rows.column_by_name(self.schema().field(at?).name()).cloned()
        };
        let failed = |error: ArrowError| corrupt(stored, &error);
        let text = column(Some(self.text)).map(|column| plain(&column)).transpose();
        let Some(text) = text.map_err(failed)? else { return Err(stored.changed()) };
        let ids = column(self.id).map(|column| id_column(&column)).transpose().map_err(failed)?;
        let values = column(self.value).map(|column| value_column(&column)).transpose();
        let values = values.map_err(failed)?;
        let shape = asked.options.shape;
        let lists = ElementRows::new(&text).map_err(failed)?;
        let plain = (shape != Shape::Text && lists.is_none())
            .then(|| cast(&text, &DataType::LargeUtf8))
            .transpose()
            .map_err(failed)?;
        let ordinals = (0..stretch.rows as u32).filter(|row| wanted(*row));
        for (row, ordinal) in ordinals.enumerate().take(text.len()) {
            let line = stretch.first + u64::from(ordinal) + 1;
            let start = gather.arena.len();
            let parts = parts(asked, row, &text, ids.as_ref(), values.as_ref()).and_then(|parts| {
                match (&lists, &plain) {
                    (Some(lists), _) => lists.push(row, &mut gather.arena)?,
                    (_, Some(plain)) => {
                        let text = plain.as_string::<i64>().value(row);
                        shape.push_text(text, true, &mut gather.arena)?;
                    }
                    _ => return Ok(((row, row), parts)),
                }
                Ok(((start, gather.arena.len()), parts))
            });
            match parts {
                Ok((at, (id, value))) => gather.item(at, ordinal, line, id, value),
                Err(what) => gather.bad(line, what)?,
            }
        }
        match shape {
            Shape::Text => Ok(gather.finish_with(stretch.rows as u32, texts(&text))),
            _ => Ok(gather.finish(stretch.rows as u32)),
        }
    }

    /// The values and the ids of the rows of a stretch, for those who read other things than texts.
    pub(super) fn values(
        &self,
        stored: &Stored,
        stretch: &Stretch,
        asked: Asked,
    ) -> Result<Values> {
        let Some(rows) = self.read(stored, stretch, self.mask(), &|_| true)? else {
            return Err(stored.changed());
        };
        let column = |at: Option<usize>| -> Option<ArrayRef> {
            rows.column_by_name(self.schema().field(at?).name()).cloned()
        };
        let failed = |error: ArrowError| corrupt(stored, &error);
        let Some(values) = column(Some(self.text)) else { return Err(stored.changed()) };
        let values = plain(&values).map_err(failed)?;
        let ids = column(self.id).map(|column| id_column(&column)).transpose().map_err(failed)?;
        let name = asked.ids.field_or_id();
        let ids = ids.map(|ids| (0..ids.len()).map(|row| id(name, &ids, row)).collect());
        Ok(Values { values, ids, first: stretch.first + 1 })
    }

    /// The columns of a table that are asked for as texts, null where a cell is; the ids, where there are
    /// some; and the number of the first row, from 1.
    pub(super) fn cells(
        &self,
        stored: &Stored,
        stretch: &Stretch,
    ) -> Result<(Vec<Cells>, RowIds, u64)> {
        let Some(rows) = self.read(stored, stretch, self.mask(), &|_| true)? else {
            return Err(stored.changed());
        };
        let failed = |error: ArrowError| corrupt(stored, &error);
        let column = |at: usize| {
            let name = self.schema().field(at).name();
            let column = rows.column_by_name(name).ok_or_else(|| stored.changed())?;
            Ok((name, column))
        };
        let cells = self.columns.iter().map(|&at| {
            let (name, column) = column(at)?;
            let whole = value_type(column.data_type()).is_integer();
            let texts = super::arrow_lists::texts(&plain(column).map_err(failed)?);
            Ok(Cells { name: name.clone(), texts: texts.map_err(failed)?, whole })
        });
        let cells = cells.collect::<Result<_>>()?;
        let ids = match self.id {
            Some(at) => {
                let (name, column) = column(at)?;
                let ids = id_column(column).map_err(failed)?;
                Some((0..ids.len()).map(|row| id(name, &ids, row)).collect())
            }
            None => None,
        };
        Ok((cells, ids, stretch.first + 1))
    }

    /// The wanted rows with all their columns.
    pub(super) fn copy(
        &self,
        stored: &Stored,
        stretch: &Stretch,
        wanted: Wanted,
    ) -> Result<(u32, Option<RecordBatch>)> {
        let batch = self.read(stored, stretch, ProjectionMask::all(), wanted)?;
        Ok((stretch.rows as u32, batch))
    }

    /// Finds the columns of a table that are asked for, which must hold what can be written as a text.
    fn bind_cells(&mut self, stored: &Stored, names: &[String], ids: &Ids) -> Result<()> {
        let schema = Arc::clone(self.schema());
        let fields: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        if let Ids::Field(name) = ids {
            let at = fields.iter().position(|known| known == name);
            let advice = "name the id column with --id";
            let missing = || no_column(&stored.name, name, fields.iter().copied(), advice);
            self.id = Some(at.ok_or_else(missing)?);
        }
        self.columns = columns(&stored.name, names, &fields, self.id)?;
        for &at in &self.columns {
            let field = schema.field(at);
            let (name, kind) = (field.name(), field.data_type());
            if !is_element(value_type(kind)) {
                return Err(stored.error(format!(
                    "column `{name}` is {kind}, not text, numbers or booleans; name another column"
                )));
            }
        }
        Ok(())
    }
}

/// Each row's id, or why it has none; nothing where the collection has no ids.
type RowIds = Option<Vec<Result<Id, String>>>;

/// A column of values with the ids beside them.
pub(super) struct Values {
    pub(super) values: ArrayRef,
    pub(super) ids: RowIds,
    /// The number of the first row.
    pub(super) first: u64,
}

/// A column as texts.
pub(super) struct Cells {
    pub(super) name: String,
    pub(super) texts: ArrayRef,
    /// Whether they are whole numbers.
    pub(super) whole: bool,
}

/// No more rows than this in a chunk, however short they are.
const MOST_ROWS: usize = 1 << 16;

fn parts(
    asked: Asked,
    row: usize,
    text: &ArrayRef,
    ids: Option<&ArrayRef>,
    values: Option<&ArrayRef>,
) -> Result<(Option<Id>, Option<Value>), String> {
    if text.is_null(row) {
        let name = &asked.options.text;
        return Err(format!("column `{name}` is null; fill it, or pass --on-error skip"));
    }
    let id = ids.map(|column| id(asked.ids.field_or_id(), column, row)).transpose()?;
    let name = asked.options.value.as_deref().unwrap_or_default();
    let value = values.map(|column| value(name, column, row)).transpose()?.flatten();
    Ok((id, value))
}

fn id(name: &str, column: &ArrayRef, row: usize) -> Result<Id, String> {
    if column.is_null(row) {
        return Err(format!("id `{name}` is null; an id must be a string or a whole number"));
    }
    match column.data_type() {
        DataType::UInt64 => {
            let number = column.as_primitive::<UInt64Type>().value(row);
            i64::try_from(number).map(Id::Int).map_err(|_| item::too_big(name, number))
        }
        DataType::Int64 => Ok(Id::Int(column.as_primitive::<Int64Type>().value(row))),
        _ => Ok(Id::Text(column.as_string::<i64>().value(row).into())),
    }
}

fn value(name: &str, column: &ArrayRef, row: usize) -> Result<Option<Value>, String> {
    if column.is_null(row) {
        return Ok(None);
    }
    Ok(Some(match column.data_type() {
        DataType::Int64 => Value::Int(column.as_primitive::<Int64Type>().value(row).into()),
        DataType::UInt64 => Value::Int(column.as_primitive::<UInt64Type>().value(row).into()),
        DataType::Float64 => match column.as_primitive::<Float64Type>().value(row) {
            number if number.is_nan() => return Err(not_a_number(name)),
            number => Value::Number(number),
        },
        _ => Value::Text(column.as_string::<i64>().value(row).into()),
    }))
}

/// The type of the values, also where they stand in a dictionary.
fn value_type(kind: &DataType) -> &DataType {
    match kind {
        DataType::Dictionary(_, value) => value,
        other => other,
    }
}

fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn is_any_value(kind: &DataType) -> bool {
    let in_list = super::arrow_lists::value_type(kind).is_some_and(|kind| {
        kind.is_integer() || kind.is_floating() || matches!(kind, DataType::Boolean)
    });
    in_list
        || is_text(kind)
        || matches!(
            kind,
            DataType::Binary
                | DataType::LargeBinary
                | DataType::BinaryView
                | DataType::FixedSizeBinary(_)
        )
}

fn is_id(kind: &DataType) -> bool {
    is_text(kind) || kind.is_integer()
}

fn is_value(kind: &DataType) -> bool {
    is_text(kind)
        || kind.is_numeric()
        || matches!(kind, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..))
}

/// Without a dictionary.
fn plain(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    cast(column, value_type(column.data_type()))
}

/// As `Int64`, `UInt64` or `LargeUtf8`.
fn id_column(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match value_type(column.data_type()) {
        DataType::UInt64 => plain(column),
        kind if kind.is_integer() => cast(column, &DataType::Int64),
        _ => cast(column, &DataType::LargeUtf8),
    }
}

/// As `Float64` or `LargeUtf8`.
fn value_column(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match value_type(column.data_type()) {
        kind if is_text(kind) => cast(column, &DataType::LargeUtf8),
        DataType::UInt64 => cast(column, &DataType::UInt64),
        DataType::Date32 => cast(&cast(column, &DataType::Int32)?, &DataType::Int64),
        kind if kind.is_integer() || kind.is_temporal() => cast(column, &DataType::Int64),
        _ => cast(column, &DataType::Float64),
    }
}

fn texts(column: &ArrayRef) -> TextColumn<'static> {
    match column.data_type() {
        DataType::LargeUtf8 => TextColumn::LargeUtf8(column.as_string::<i64>().clone()),
        DataType::Utf8View => TextColumn::View(column.as_string_view().clone()),
        _ => TextColumn::Utf8(column.as_string::<i32>().clone()),
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
/// Should another place panic on a broken file, that is an error like any other.
fn guarded<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)).unwrap_or_else(|_| {
        Err(ParquetError::General("its data makes no sense to the decoder".to_owned()))
    })
}

fn corrupt(stored: &Stored, error: &(dyn std::error::Error + 'static)) -> Error {
    let mut error = error;
    if let Some(ParquetError::External(inner)) = error.downcast_ref() {
        error = inner.as_ref();
    }
    if let Some(Error::File { path, what }) = error.downcast_ref() {
        return Error::File { path: path.clone(), what: what.clone() };
    }
    let message = error.to_string();
    let message = message.lines().next().unwrap_or_default();
    let message = message.strip_prefix("Parquet error: ").unwrap_or(message);
    stored.error(format!("not a Parquet file that can be read: {message}; get the file again"))
}

/// A file that several readers use at once, each at its own place.
struct Shared {
    file: Arc<File>,
    len: u64,
}

impl Shared {
    fn open(stored: &Stored) -> Result<Self> {
        Ok(Self { file: stored.open()?, len: stored.len() })
    }
}

impl Length for Shared {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Shared {
    type T = BufReader<At>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(BufReader::new(At { file: Arc::clone(&self.file), offset: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<bytes::Bytes, ParquetError> {
        // A broken length must not become an allocation of that size.
        if start.checked_add(length as u64).is_none_or(|end| end > self.len) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} are missing")));
        }
        let mut buffer = Vec::with_capacity(length);
        let mut at = At { file: Arc::clone(&self.file), offset: start }.take(length as u64);
        match at.read_to_end(&mut buffer)? {
            read if read == length => Ok(buffer.into()),
            read => Err(ParquetError::EOF(format!("{read} bytes where {length} were expected"))),
        }
    }
}

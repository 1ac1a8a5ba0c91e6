//! Tables: the needed columns of some rows at a time, from a Parquet file or from memory.
//!
//! A chunk is a stretch of rows with about `chunk_bytes` in the requested columns. Rows of a table in memory are only
//! copied when they are read a second time.

use super::{
    IdSource, ReadOptions, RecordFilter,
    arrow_lists::{ElementRows, holds_elements, is_element},
    batch_builder::{BatchBuilder, ReadRequest},
    convert::{self, without_dictionary},
    csv::{columns, no_column, not_a_number},
    item,
    pages::{MOST_ROWS, lengths},
    parquet::{Parquet, corrupt},
    place::{self, MemoryTable},
    rereadable::Rereadable,
    rows::null,
    shape::Shape,
};
use crate::error::{Advice, Error, Problem, Result};
use crate::item::{Batch, Id, KeepValues, TextColumn, Value};
use arrow_array::{
    Array, ArrayRef, BooleanArray, RecordBatch,
    cast::AsArray,
    types::{Float64Type, Int64Type, UInt64Type},
};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use arrow_select::filter::filter_record_batch;
use std::sync::Arc;

/// A table, and which of its columns are asked for.
#[derive(Debug)]
pub(super) struct ArrowTable {
    rows: TableRows,
    text: usize,
    id: Option<usize>,
    /// The columns of the values that decide what is kept, where there are such.
    values: Vec<Option<usize>>,
    /// The columns that are read instead of a text.
    columns: Vec<usize>,
    /// The stretches of rows to read, in order.
    pub(super) stretches: Vec<Stretch>,
}

/// Where the rows are.
#[derive(Debug)]
enum TableRows {
    File(Parquet),
    Memory(Arc<MemoryTable>),
}

/// Some rows of one row group, or of one batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) group: usize,
    /// The first row within its group.
    pub(super) start: usize,
    pub(super) rows: usize,
    /// The first row within the file.
    first: u64,
    /// Its share of the file's size.
    pub(super) bytes: u64,
}

/// How much larger a chunk of a file is here than of text: pages have about 1 MiB, and two chunks that share one both
/// decompress it.
const WIDER: usize = 8;
/// Longer pages than so many chunks are cut. With little memory, which makes chunks small, longer ones than a chunk.
const LONG: usize = 4;

impl ArrowTable {
    pub(super) fn open(stored: &Rereadable) -> Result<Self> {
        Parquet::open(stored).map(|file| Self::new(TableRows::File(file)))
    }

    pub(super) fn in_memory(table: Arc<MemoryTable>) -> Self {
        Self::new(TableRows::Memory(table))
    }

    fn new(rows: TableRows) -> Self {
        let (values, columns, stretches) = (Vec::new(), Vec::new(), Vec::new());
        Self { rows, text: 0, id: None, values, columns, stretches }
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        match &self.rows {
            TableRows::File(file) => file.schema(),
            TableRows::Memory(table) => &table.schema,
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.schema().column_with_name(name).is_some()
    }

    /// Finds the columns that are asked for, and cuts the rows into stretches.
    pub(super) fn bind(
        &mut self,
        stored: &Rereadable,
        options: &ReadOptions,
        ids: &IdSource,
    ) -> Result<()> {
        if !options.columns.is_empty() {
            self.bind_cells(stored, options, ids)?;
            self.stretches = self.cut(stored, options.chunk_bytes);
            return Ok(());
        }
        let schema = Arc::clone(self.schema());
        let column = |name: &str, allowed: fn(&DataType) -> bool, must: &str, advice: Advice| {
            let names = schema.fields().iter().map(|field| field.name().as_str());
            let Some((at, field)) = schema.column_with_name(name) else {
                return Err(no_column(&stored.name, name, names, advice));
            };
            let kind = field.data_type();
            match allowed(value_type(kind)) {
                true => Ok(at),
                false => {
                    Err(stored.error(format!("column `{name}` is {kind}, not {must}")).or(advice))
                }
            }
        };
        let name_it = match options.shape {
            Shape::Text => "name the text column",
            _ => "name the right column",
        };
        let advice = Advice::with(options.keys.text, name_it);
        let (allowed, must): (fn(&DataType) -> bool, _) = match options.shape {
            Shape::Text => (is_text, "text"),
            Shape::Elements => (|kind| is_text(kind) || holds_elements(kind), "lists or text"),
            Shape::Value => (is_any_value, "lists of numbers, bytes or text"),
        };
        self.text = column(&options.text, allowed, must, advice)?;
        if let IdSource::Field(name) = ids {
            let advice = options.keys.id_column();
            self.id = Some(column(name, is_id, "text or whole numbers", advice)?);
        }
        for name in &options.values {
            let value =
                |_| column(name, is_value, "numbers, times or text", "name another column".into());
            self.values.push(self.has(name).then_some(()).map(value).transpose()?);
        }
        self.stretches = self.cut(stored, options.chunk_bytes);
        Ok(())
    }

    /// The columns that are read.
    fn read_columns(&self) -> Vec<usize> {
        let text = Some(self.text).filter(|_| self.columns.is_empty());
        let named = [text, self.id].into_iter().chain(self.values.iter().copied()).flatten();
        let mut columns: Vec<usize> = named.chain(self.columns.iter().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    fn cut(&self, stored: &Rereadable, chunk_bytes: usize) -> Vec<Stretch> {
        let all_bytes = stored.len();
        let columns = self.read_columns();
        let is_ample = chunk_bytes >= ReadOptions::default().chunk_bytes;
        let (groups, chunk_bytes) = match &self.rows {
            TableRows::File(file) => (file.groups(&columns), WIDER * chunk_bytes),
            TableRows::Memory(table) => (table.groups(&columns), chunk_bytes),
        };
        let total: u64 = groups.iter().map(|group| group.0 as u64).sum();
        let share = |row: u64| (u128::from(all_bytes) * u128::from(row) / u128::from(total)) as u64;
        let mut stretches = Vec::new();
        let mut first = 0;
        for (group, (rows, bytes)) in groups.into_iter().enumerate() {
            let a_row = (bytes as usize / rows.max(1)).max(1);
            let step = (chunk_bytes / a_row).clamp(1, MOST_ROWS);
            let pages = match &self.rows {
                TableRows::File(file) if rows > step => file.pages(stored, group, &columns),
                _ => None,
            };
            let most = if is_ample { MOST_ROWS.min(LONG * step) } else { step };
            let mut start = 0;
            for rows in lengths(rows, step, most, pages.as_deref()) {
                let bytes = share(first + rows as u64) - share(first);
                stretches.push(Stretch { group, start, rows, first, bytes });
                first += rows as u64;
                start += rows;
            }
        }
        stretches
    }

    /// The wanted rows of a stretch, with the columns that are read or with all; none where none is wanted.
    fn read(
        &self,
        stored: &Rereadable,
        stretch: &Stretch,
        all_columns: bool,
        wanted: RecordFilter,
    ) -> Result<Option<RecordBatch>> {
        let columns = (!all_columns).then(|| self.read_columns());
        match &self.rows {
            TableRows::File(file) => {
                let rows = file.read(stored, stretch, columns.as_deref(), wanted)?;
                if let Some(rows) = &rows {
                    stored.count(stretch.bytes, rows.get_array_memory_size() as u64);
                }
                Ok(rows)
            }
            TableRows::Memory(table) => table
                .read(stretch, columns.as_deref(), wanted)
                .map_err(|error| self.failed(stored, &error)),
        }
    }

    pub(super) fn decode(
        &self,
        stored: &Rereadable,
        stretch: &Stretch,
        asked: ReadRequest,
        wanted: RecordFilter,
    ) -> Result<Batch<'static>> {
        let mut gather = BatchBuilder::new(asked, 0);
        let Some(rows) = self.read(stored, stretch, false, wanted)? else {
            return Ok(gather.finish(stretch.rows as u32));
        };
        let column = |at: Option<usize>| -> Option<ArrayRef> {
            rows.column_by_name(self.schema().field(at?).name()).cloned()
        };
        let failed = |error: ArrowError| self.failed(stored, &error);
        let text = column(Some(self.text)).map(|column| without_dictionary(&column)).transpose();
        let Some(text) = text.map_err(failed)? else { return Err(stored.changed()) };
        let ids = column(self.id).map(|column| id_column(&column)).transpose().map_err(failed)?;
        let values = self.value_columns(&rows).map_err(failed)?;
        let shape = asked.options.shape;
        let lists = ElementRows::new(&text).map_err(failed)?;
        let plain = (shape != Shape::Text && lists.is_none())
            .then(|| convert::texts(&text))
            .transpose()
            .map_err(failed)?;
        let ordinals = (0..stretch.rows as u32).filter(|row| wanted(*row));
        for (row, ordinal) in ordinals.enumerate().take(text.len()) {
            let line = stretch.first + u64::from(ordinal) + 1;
            let start = gather.arena.len();
            let parts = parts(asked, row, &text, ids.as_ref(), &values).and_then(|parts| {
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
                Ok((at, (id, values))) => gather.item(at, ordinal, line, id, values),
                Err(what) => gather.bad(line, what)?,
            }
        }
        match shape {
            Shape::Text => Ok(gather.finish_with(stretch.rows as u32, texts(&text))),
            _ => Ok(gather.finish(stretch.rows as u32)),
        }
    }

    /// The columns of the values that decide what is kept.
    fn value_columns(&self, rows: &RecordBatch) -> Result<Vec<Option<ArrayRef>>, ArrowError> {
        let column = |at: &Option<usize>| {
            let column = rows.column_by_name(self.schema().field((*at)?).name());
            column.map(value_column)
        };
        self.values.iter().map(|at| column(at).transpose()).collect()
    }

    /// The values and the ids of the rows of a stretch, for items that are no texts.
    pub(super) fn values(
        &self,
        stored: &Rereadable,
        stretch: &Stretch,
        asked: ReadRequest,
    ) -> Result<ValueColumn> {
        let Some(rows) = self.read(stored, stretch, false, &|_| true)? else {
            return Err(stored.changed());
        };
        let column = |at: Option<usize>| -> Option<ArrayRef> {
            rows.column_by_name(self.schema().field(at?).name()).cloned()
        };
        let failed = |error: ArrowError| self.failed(stored, &error);
        let Some(values) = column(Some(self.text)) else { return Err(stored.changed()) };
        let values = without_dictionary(&values).map_err(failed)?;
        let ids = column(self.id).map(|column| id_column(&column)).transpose().map_err(failed)?;
        let name = asked.ids.field_or_id();
        let ids = ids.map(|ids| (0..ids.len()).map(|row| id(name, &ids, row)).collect());
        let columns = self.value_columns(&rows).map_err(failed)?;
        let merits = (!columns.is_empty())
            .then(|| (0..rows.num_rows()).map(|row| row_values(asked, row, &columns)).collect());
        Ok(ValueColumn { values, ids, merits, first: stretch.first + 1 })
    }

    /// The columns of a table that are asked for as texts, null where a cell is; the ids, where there are
    /// some; and the number of the first row, from 1.
    pub(super) fn cells(
        &self,
        stored: &Rereadable,
        stretch: &Stretch,
    ) -> Result<(Vec<TextCells>, RowIds, u64)> {
        let Some(rows) = self.read(stored, stretch, false, &|_| true)? else {
            return Err(stored.changed());
        };
        let failed = |error: ArrowError| self.failed(stored, &error);
        let column = |at: usize| {
            let name = self.schema().field(at).name();
            let column = rows.column_by_name(name).ok_or_else(|| stored.changed())?;
            Ok((name, column))
        };
        let cells = self.columns.iter().map(|&at| {
            let (name, column) = column(at)?;
            let whole = value_type(column.data_type()).is_integer();
            let texts = super::arrow_lists::texts(&without_dictionary(column).map_err(failed)?);
            Ok(TextCells { name: name.clone(), texts: texts.map_err(failed)?, whole })
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

    fn failed(&self, stored: &Rereadable, error: &ArrowError) -> Error {
        match &self.rows {
            TableRows::File(_) => corrupt(stored, error),
            TableRows::Memory(_) => stored.error(format!("cannot be read: {error}")),
        }
    }

    /// The wanted rows with all their columns.
    pub(super) fn copy(
        &self,
        stored: &Rereadable,
        stretch: &Stretch,
        wanted: RecordFilter,
    ) -> Result<(u32, Option<RecordBatch>)> {
        let batch = self.read(stored, stretch, true, wanted)?;
        Ok((stretch.rows as u32, batch))
    }

    /// Finds the columns of a table that are asked for, which must hold what can be written as a text.
    fn bind_cells(
        &mut self,
        stored: &Rereadable,
        options: &ReadOptions,
        ids: &IdSource,
    ) -> Result<()> {
        let names = &options.columns;
        let schema = Arc::clone(self.schema());
        let fields: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        if let IdSource::Field(name) = ids {
            let at = fields.iter().position(|known| known == name);
            let advice = options.keys.id_column();
            let missing = || no_column(&stored.name, name, fields.iter().copied(), advice);
            let at = at.ok_or_else(missing)?;
            let kind = schema.field(at).data_type();
            if !is_id(value_type(kind)) && !value_type(kind).is_floating() {
                let what = format!("column `{name}` is {kind}, not text or numbers");
                return Err(stored.error(what).or(options.keys.id_column()));
            }
            self.id = Some(at);
        }
        self.columns = columns(&stored.name, names, &fields, self.id)?;
        if options.shape == Shape::Value && *names == [super::rows::ALL] {
            // Whatever can be compared: lists and structures are left out.
            self.columns.retain(|&at| is_element(value_type(schema.field(at).data_type())));
        }
        for &at in &self.columns {
            let field = schema.field(at);
            let (name, kind) = (field.name(), field.data_type());
            if !is_element(value_type(kind)) {
                let what = format!("column `{name}` is {kind}, not text, numbers or booleans");
                return Err(stored.error(what).or("name another column"));
            }
        }
        Ok(())
    }
}

impl MemoryTable {
    /// The rows of each batch, and about how many bytes some columns take in it.
    fn groups(&self, columns: &[usize]) -> Vec<(usize, u64)> {
        let bytes = |batch: &RecordBatch| {
            columns.iter().map(|&column| place::bytes(batch.column(column))).sum()
        };
        self.batches.iter().map(|batch| (batch.num_rows(), bytes(batch))).collect()
    }

    fn read(
        &self,
        stretch: &Stretch,
        columns: Option<&[usize]>,
        wanted: RecordFilter,
    ) -> Result<Option<RecordBatch>, ArrowError> {
        let batch = self.batches[stretch.group].slice(stretch.start, stretch.rows);
        let batch = columns.map_or(Ok(batch.clone()), |columns| batch.project(columns))?;
        let wanted: BooleanArray = (0..stretch.rows as u32).map(|row| Some(wanted(row))).collect();
        match wanted.true_count() {
            0 => Ok(None),
            all if all == stretch.rows => Ok(Some(batch)),
            _ => filter_record_batch(&batch, &wanted).map(Some),
        }
    }
}

/// Each row's id, or why it has none; nothing where the collection has no ids.
type RowIds = Option<Vec<Result<Id, Problem>>>;

/// A column of values with the ids beside them.
pub(super) struct ValueColumn {
    pub(super) values: ArrayRef,
    /// The values of the fields that decide which item is kept.
    pub(super) merits: Option<Vec<Result<KeepValues, Problem>>>,
    pub(super) ids: RowIds,
    /// The number of the first row.
    pub(super) first: u64,
}

/// A column as texts.
pub(super) struct TextCells {
    pub(super) name: String,
    pub(super) texts: ArrayRef,
    /// Whether they are whole numbers.
    pub(super) whole: bool,
}

fn parts(
    asked: ReadRequest,
    row: usize,
    text: &ArrayRef,
    ids: Option<&ArrayRef>,
    values: &[Option<ArrayRef>],
) -> Result<(Option<Id>, KeepValues), Problem> {
    if text.is_null(row) {
        return Err(null(&asked.options.text));
    }
    let id = ids.map(|column| id(asked.ids.field_or_id(), column, row)).transpose()?;
    Ok((id, row_values(asked, row, values)?))
}

/// The values of a row in the columns that decide what is kept.
fn row_values(
    asked: ReadRequest,
    row: usize,
    columns: &[Option<ArrayRef>],
) -> Result<KeepValues, Problem> {
    let of_row = |(column, name): (&Option<ArrayRef>, &String)| match column {
        Some(column) => value(name, column, row),
        None => Ok(None),
    };
    columns.iter().zip(&asked.options.values).map(of_row).collect()
}

fn id(name: &str, column: &ArrayRef, row: usize) -> Result<Id, Problem> {
    if column.is_null(row) {
        return Err(item::no_id(name, "null"));
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

fn value(name: &str, column: &ArrayRef, row: usize) -> Result<Option<Value>, Problem> {
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

/// As `Int64`, `UInt64` or `LargeUtf8`.
fn id_column(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match value_type(column.data_type()) {
        DataType::UInt64 => without_dictionary(column),
        kind if kind.is_integer() => convert::whole::<Int64Type>(column),
        _ => super::arrow_lists::texts(&without_dictionary(column)?),
    }
}

/// As `Int64`, `UInt64`, `Float64` or `LargeUtf8`.
fn value_column(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match value_type(column.data_type()) {
        kind if is_text(kind) => convert::texts(column),
        DataType::UInt64 => without_dictionary(column),
        kind if kind.is_integer() || kind.is_temporal() => convert::whole::<Int64Type>(column),
        _ => convert::floats(column),
    }
}

fn texts(column: &ArrayRef) -> TextColumn<'static> {
    match column.data_type() {
        DataType::LargeUtf8 => TextColumn::LargeUtf8(column.as_string::<i64>().clone()),
        DataType::Utf8View => TextColumn::View(column.as_string_view().clone()),
        _ => TextColumn::Utf8(column.as_string::<i32>().clone()),
    }
}

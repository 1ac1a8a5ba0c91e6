//! Tables of results: pairs, clusters. Rows go in, JSONL, CSV, TSV or Parquet comes out.

use super::formulas::Formulas;
use super::output::{CompleteOutput, Output};
use super::packers::{Resources, Turns};
use super::parquet::{ParquetWriter, failed};
use crate::item::{Id, IdRef};
use crate::{
    Error, Result,
    read::{
        Format,
        format::{Compression, by_extension},
    },
};
use arrow_array::{
    ArrayRef, RecordBatch,
    builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, UInt64Builder},
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Ids that are all whole numbers.
    IntId,
    /// Ids of which some may be text. In Parquet all become text.
    Id,
    /// Whole numbers that are ids, or nothing.
    MaybeIntId,
    /// Ids of which some may be text, or nothing.
    MaybeId,
    /// True or false.
    Bool,
    /// A number.
    Float,
    /// A number, or nothing.
    MaybeFloat,
    /// How many there are of something.
    Count,
    /// How many there are of something, or nothing.
    MaybeCount,
    /// A word.
    Text,
    /// A text, or nothing.
    MaybeText,
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it holds.
    pub kind: ColumnKind,
}

/// One value of a row.
#[derive(Clone, Copy, Debug)]
pub enum Cell<'a> {
    /// An id.
    Id(IdRef<'a>),
    /// True or false.
    Bool(bool),
    /// A number.
    Float(f64),
    /// Nothing.
    Missing,
    /// How many there are of something.
    Count(u64),
    /// A word.
    Text(&'a str),
    /// A value as JSON has it. Where rows are not JSON, a text stands for itself, and null for nothing.
    Json(&'a str),
}

impl<'a> From<&'a Id> for Cell<'a> {
    fn from(id: &'a Id) -> Self {
        Self::Id(id.into())
    }
}

/// Writes a table, row by row.
pub struct TableWriter {
    name: PathBuf,
    body: TableSink,
}

enum TableSink {
    /// How rows are formatted, and the rows so far.
    Text(Box<Output>, RowFormat, Vec<u8>),
    Parquet(Box<ParquetWriter>, ColumnBuilders),
    Memory(ColumnBuilders, Vec<RecordBatch>),
}

/// How a row becomes text.
#[derive(Clone, Debug)]
pub struct RowFormat(TextFormat);

#[derive(Clone, Debug)]
enum TextFormat {
    /// With what stands before each column's value.
    Jsonl(Vec<String>),
    Delimited(u8),
}

impl RowFormat {
    /// Appends one row: a cell for each column.
    pub fn row(&self, cells: &[Cell], out: &mut Vec<u8>) {
        match &self.0 {
            TextFormat::Jsonl(before) => json_row(before, cells, out),
            TextFormat::Delimited(delimiter) => delimited_row(cells, *delimiter, out),
        }
    }
}

/// Rows per batch; few, so that memory stays small.
const BATCH: usize = 1 << 14;
/// Bytes that are formatted before they are handed on.
const BUFFER: usize = 64 << 10;

impl TableWriter {
    /// Creates the table. The name tells the format if it is not given; standard output gets JSONL.
    pub fn create(
        target: Option<&Path>,
        format: Option<Format>,
        columns: &[Column<'_>],
    ) -> Result<Self> {
        let format = output_format(target, format)?;
        let mut output = Output::create(target)?;
        let name = output.name().to_path_buf();
        let body = match format {
            Format::Csv | Format::Tsv => {
                let delimiter = if format == Format::Csv { b',' } else { b'\t' };
                let mut header = Vec::new();
                for (at, column) in columns.iter().enumerate() {
                    if at > 0 {
                        header.push(delimiter);
                    }
                    delimited_text(column.name, delimiter, &mut header);
                }
                header.push(b'\n');
                TableSink::Text(output.into(), RowFormat(TextFormat::Delimited(delimiter)), header)
            }
            Format::Parquet => {
                let columns = ColumnBuilders::new(columns);
                let writer = ParquetWriter::new(output, Arc::clone(&columns.schema))?;
                TableSink::Parquet(Box::new(writer), columns)
            }
            Format::Jsonl | Format::Json => {
                if format == Format::Json {
                    output.put_elements();
                }
                let before = |(at, column): (usize, &Column<'_>)| {
                    let name = serde_json::Value::from(column.name);
                    format!("{}{name}:", if at == 0 { '{' } else { ',' })
                };
                let before = columns.iter().enumerate().map(before).collect();
                TableSink::Text(output.into(), RowFormat(TextFormat::Jsonl(before)), Vec::new())
            }
            _ => {
                let what = "a table has columns; name it .jsonl, .csv, .tsv or .parquet".to_owned();
                return Err(Error::file(name, what));
            }
        };
        Ok(Self { name, body })
    }

    /// What to do with formulas, if it is CSV or TSV. To be said before the first row.
    #[must_use]
    pub fn formulas(mut self, formulas: Formulas) -> Self {
        if let TableSink::Text(output, RowFormat(TextFormat::Delimited(delimiter)), _) =
            &mut self.body
        {
            output.put_rows(*delimiter, formulas);
        }
        self
    }

    /// Packs on several threads, if it goes to a file. To be said before the first row.
    #[must_use]
    pub fn with_resources(mut self, resources: Resources) -> Self {
        match &mut self.body {
            TableSink::Text(output, ..) => output.share(resources),
            TableSink::Parquet(writer, _) => writer.share(resources),
            TableSink::Memory(..) => {}
        }
        self
    }

    /// If threads pack: the turns of those that format rows.
    pub fn turns(&self) -> Option<Turns> {
        match &self.body {
            TableSink::Text(output, ..) => output.turns(),
            TableSink::Parquet(writer, _) => writer.turns(),
            TableSink::Memory(..) => None,
        }
    }

    /// A table that stays in memory.
    pub fn in_memory(columns: &[Column<'_>]) -> Self {
        Self {
            name: PathBuf::from("<table>"),
            body: TableSink::Memory(ColumnBuilders::new(columns), Vec::new()),
        }
    }

    /// Writes one row: a cell for each column.
    pub fn row(&mut self, cells: &[Cell]) -> Result<()> {
        match &mut self.body {
            TableSink::Text(output, format, buffer) => {
                format.row(cells, buffer);
                drain(output, buffer, BUFFER)
            }
            TableSink::Parquet(writer, columns) => match columns.row(cells, &self.name)? {
                Some(batch) => writer.write(&batch),
                None => Ok(()),
            },
            TableSink::Memory(columns, batches) => {
                batches.extend(columns.row(cells, &self.name)?);
                Ok(())
            }
        }
    }

    /// How rows are formatted where they become text, for threads that format some on their own.
    pub fn row_format(&self) -> Option<RowFormat> {
        match &self.body {
            TableSink::Text(_, format, _) => Some(format.clone()),
            TableSink::Parquet(..) | TableSink::Memory(..) => None,
        }
    }

    /// Writes rows that are formatted already.
    ///
    /// # Errors
    /// When they cannot be written, or rows are not text here.
    pub fn formatted(&mut self, rows: &[u8]) -> Result<()> {
        match &mut self.body {
            TableSink::Text(output, _, buffer) => {
                drain(output, buffer, 0)?;
                output.put(rows)
            }
            TableSink::Parquet(..) | TableSink::Memory(..) => {
                let what = "rows are not text here".to_owned();
                Err(Error::file(self.name.clone(), what))
            }
        }
    }

    /// The columns and rows of a table in memory.
    ///
    /// # Errors
    /// When it is written to a file.
    pub fn batches(self) -> Result<(SchemaRef, Vec<RecordBatch>)> {
        match self.body {
            TableSink::Memory(mut columns, mut batches) => {
                batches.push(columns.finish(&self.name)?);
                Ok((columns.schema, batches))
            }
            _ => Err(Error::file(self.name, "is a file, not a table")),
        }
    }

    /// Writes everything out; the file appears now.
    pub fn finish(self) -> Result<()> {
        self.ready()?.appear()
    }

    /// Writes everything to disk, under a temporary name still.
    pub fn ready(self) -> Result<CompleteOutput> {
        match self.body {
            TableSink::Text(mut output, _, mut buffer) => {
                drain(&mut output, &mut buffer, 0)?;
                output.ready()
            }
            TableSink::Parquet(mut writer, mut columns) => {
                writer.write(&columns.finish(&self.name)?)?;
                writer.ready()
            }
            TableSink::Memory(..) => {
                let what = "is a table in memory, not a file".to_owned();
                Err(Error::file(self.name, what))
            }
        }
    }
}

/// The format of an output: the one asked for, else the one its name tells, else an error; JSONL on
/// standard output.
pub(super) fn output_format(target: Option<&Path>, format: Option<Format>) -> Result<Format> {
    let Some(path) = target.filter(|path| path.as_os_str() != "-") else {
        return Ok(format.unwrap_or(Format::Jsonl));
    };
    let failed = |what: &str| Error::file(path, what);
    let (known, compression) = by_extension(path);
    let known = known.filter(|format| !format.is_vectors());
    // `/dev/null` and pipes have no extension, and take anything.
    let special = path.metadata().is_ok_and(|it| !it.is_file() && !it.is_dir());
    match format.or(known).or(special.then_some(Format::Jsonl)) {
        None => Err(failed(
            "its name does not tell the format; end it with .jsonl, .json, .csv, .tsv or .parquet",
        )),
        Some(Format::Parquet) if compression != Compression::Plain => {
            Err(failed("Parquet is packed inside; end the name with .parquet"))
        }
        Some(format) => Ok(format),
    }
}

fn drain(output: &mut Output, buffer: &mut Vec<u8>, limit: usize) -> Result<()> {
    if buffer.len() >= limit {
        output.put(buffer)?;
        buffer.clear();
    }
    Ok(())
}

fn json_row(before: &[String], cells: &[Cell], out: &mut Vec<u8>) {
    for (before, cell) in before.iter().zip(cells) {
        out.extend_from_slice(before.as_bytes());
        // Writing to memory cannot fail.
        let _ = match cell {
            // Most ids need no escapes, and serde_json looks at each byte on its own.
            Cell::Id(IdRef::Text(text)) | Cell::Text(text)
                if !has(text, |byte| byte < b' ' || is_one_of(byte, b"\"\\")) =>
            {
                quoted(text, out);
                Ok(())
            }
            Cell::Id(IdRef::Text(text)) | Cell::Text(text) => {
                serde_json::to_writer(&mut *out, text)
            }
            Cell::Id(IdRef::Int(number)) => serde_json::to_writer(&mut *out, number),
            Cell::Bool(flag) => serde_json::to_writer(&mut *out, flag),
            Cell::Float(number) => serde_json::to_writer(&mut *out, number),
            Cell::Missing => serde_json::to_writer(&mut *out, &()),
            Cell::Count(count) => serde_json::to_writer(&mut *out, count),
            Cell::Json(json) => {
                out.extend_from_slice(json.as_bytes());
                Ok(())
            }
        };
    }
    out.extend_from_slice(b"}\n");
}

fn quoted(text: &str, out: &mut Vec<u8>) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

/// Whether a byte is special. All are looked at, which the compiler can do for many at once.
fn has(text: &str, special: impl Fn(u8) -> bool) -> bool {
    text.bytes().fold(false, |found, byte| found | special(byte))
}

fn is_one_of<const N: usize>(byte: u8, those: &[u8; N]) -> bool {
    those.iter().fold(false, |found, that| found | (byte == *that))
}

fn delimited_row(cells: &[Cell], delimiter: u8, out: &mut Vec<u8>) {
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            out.push(delimiter);
        }
        // Writing to memory cannot fail.
        let _ = match cell {
            Cell::Id(IdRef::Text(text)) | Cell::Text(text) => {
                delimited_text(text, delimiter, out);
                Ok(())
            }
            Cell::Id(IdRef::Int(number)) => serde_json::to_writer(&mut *out, number),
            Cell::Bool(flag) => serde_json::to_writer(&mut *out, flag),
            Cell::Float(number) => serde_json::to_writer(&mut *out, number),
            Cell::Missing => Ok(()),
            Cell::Count(count) => serde_json::to_writer(&mut *out, count),
            Cell::Json(json) => {
                plain(json).into_iter().for_each(|text| delimited_text(&text, delimiter, out));
                Ok(())
            }
        };
    }
    out.push(b'\n');
}

/// A JSON value as a text; nothing for null.
fn plain(json: &str) -> Option<String> {
    match json.as_bytes().first() {
        Some(b'"') => Some(serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())),
        Some(b'n') => None,
        _ => Some(json.to_owned()),
    }
}

fn delimited_text(text: &str, delimiter: u8, out: &mut Vec<u8>) {
    if !text.is_empty() && !has(text, |byte| is_one_of(byte, &[b'"', b'\n', b'\r', delimiter])) {
        return out.extend_from_slice(text.as_bytes());
    }
    quoted(&text.replace('"', "\"\""), out);
}

impl Column<'_> {
    fn field(&self) -> Field {
        let kind = match self.kind {
            ColumnKind::IntId | ColumnKind::MaybeIntId => DataType::Int64,
            ColumnKind::Id | ColumnKind::MaybeId => DataType::Utf8,
            ColumnKind::Bool => DataType::Boolean,
            ColumnKind::Float | ColumnKind::MaybeFloat => DataType::Float64,
            ColumnKind::Count | ColumnKind::MaybeCount => DataType::UInt64,
            ColumnKind::Text | ColumnKind::MaybeText => DataType::Utf8,
        };
        let nullable = matches!(
            self.kind,
            ColumnKind::MaybeFloat
                | ColumnKind::MaybeText
                | ColumnKind::MaybeIntId
                | ColumnKind::MaybeId
                | ColumnKind::MaybeCount
        );
        Field::new(self.name, kind, nullable)
    }
}

/// Rows that are gathered into batches.
struct ColumnBuilders {
    schema: SchemaRef,
    builders: Vec<Builder>,
    rows: usize,
}

impl ColumnBuilders {
    fn new(columns: &[Column<'_>]) -> Self {
        let fields = columns.iter().map(Column::field).collect::<Vec<_>>();
        let builders = columns.iter().map(|column| Builder::new(column.kind)).collect();
        Self { schema: Arc::new(Schema::new(fields)), builders, rows: 0 }
    }

    /// Adds a row; returns the batch when it is full.
    fn row(&mut self, cells: &[Cell], name: &Path) -> Result<Option<RecordBatch>> {
        for (builder, cell) in self.builders.iter_mut().zip(cells) {
            builder.push(*cell, name)?;
        }
        self.rows += 1;
        if self.rows < BATCH { Ok(None) } else { self.finish(name).map(Some) }
    }

    /// The rows since the last batch.
    fn finish(&mut self, name: &Path) -> Result<RecordBatch> {
        self.rows = 0;
        let columns = self.builders.iter_mut().map(Builder::finish).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .map_err(|error| failed(name, error.into()))
    }
}

enum Builder {
    Int(Int64Builder),
    Text(StringBuilder),
    Bool(BooleanBuilder),
    Float(Float64Builder),
    Count(UInt64Builder),
}

impl Builder {
    fn new(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::IntId | ColumnKind::MaybeIntId => Self::Int(Int64Builder::new()),
            ColumnKind::Id | ColumnKind::MaybeId | ColumnKind::Text | ColumnKind::MaybeText => {
                Self::Text(StringBuilder::new())
            }
            ColumnKind::Bool => Self::Bool(BooleanBuilder::new()),
            ColumnKind::Float | ColumnKind::MaybeFloat => Self::Float(Float64Builder::new()),
            ColumnKind::Count | ColumnKind::MaybeCount => Self::Count(UInt64Builder::new()),
        }
    }

    fn push(&mut self, cell: Cell, name: &Path) -> Result<()> {
        match (self, cell) {
            (Self::Int(builder), Cell::Id(IdRef::Int(number))) => builder.append_value(number),
            (Self::Text(builder), Cell::Id(IdRef::Text(text))) => builder.append_value(text),
            (Self::Text(builder), Cell::Id(IdRef::Int(number))) => {
                builder.append_value(number.to_string());
            }
            (Self::Bool(builder), Cell::Bool(flag)) => builder.append_value(flag),
            (Self::Float(builder), Cell::Float(number)) => builder.append_value(number),
            (Self::Float(builder), Cell::Missing) => builder.append_null(),
            (Self::Text(builder), Cell::Missing) => builder.append_null(),
            (Self::Int(builder), Cell::Missing) => builder.append_null(),
            (Self::Count(builder), Cell::Missing) => builder.append_null(),
            (Self::Count(builder), Cell::Count(count)) => builder.append_value(count),
            (Self::Text(builder), Cell::Text(text)) => builder.append_value(text),
            (Self::Text(builder), Cell::Json(json)) => builder.append_option(plain(json)),
            (_, cell) => {
                return Err(Error::file(
                    name,
                    format!("{cell:?} does not fit its column; please report this"),
                ));
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Int(builder) => Arc::new(builder.finish()),
            Self::Text(builder) => Arc::new(builder.finish()),
            Self::Bool(builder) => Arc::new(builder.finish()),
            Self::Float(builder) => Arc::new(builder.finish()),
            Self::Count(builder) => Arc::new(builder.finish()),
        }
    }
}

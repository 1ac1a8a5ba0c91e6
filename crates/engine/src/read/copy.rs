//! Whole records, as they came or in another format.
//!
//! If a file already has the target's format, its records are copied byte for byte. Otherwise they become
//! JSON lines first, and JSON lines become rows of CSV or columns of Parquet.

use super::chunker::{Ends, first_record, last_end};
use super::{
    Chunk, InputFile, Kind, RecordFilter, Syntax,
    batch_builder::ReadRequest,
    csv,
    cut::{self, CutsByRecord, RecordCut},
    folder,
    json_array::ArrayLines,
    lines,
    scan::Data,
    table::Stretch,
    times,
};
use crate::{Error, Result};
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use serde_json::value::RawValue;
use std::{borrow::Cow, collections::HashMap, ops::Range, sync::Arc};

/// The format that records are copied to.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordFormat {
    /// One JSON object per line.
    Jsonl,
    /// One array of JSON objects. Records are copied as lines, and the output makes them elements.
    Array,
    /// Rows with these columns between delimiters.
    Delimited {
        /// The byte between fields.
        delimiter: u8,
        /// Their names.
        columns: Vec<String>,
        /// The header row, ready to be written.
        header: Vec<u8>,
    },
    /// Columns.
    Parquet(SchemaRef),
    /// Lines of text.
    Txt,
}

/// Records of one chunk.
#[derive(Debug)]
pub struct CopiedRecords {
    /// How many records the chunk has, wanted or not.
    pub records: u32,
    /// The wanted ones.
    pub body: RecordBody,
}

/// Records ready to be written.
#[derive(Debug)]
pub enum RecordBody {
    /// Lines or rows, each with its line end.
    Bytes(Vec<u8>),
    /// Lines or rows of the chunk, as they came.
    Stretches(Stretches),
    /// Columns.
    Batch(RecordBatch),
}

impl RecordBody {
    /// The records without their chunk, if that holds an item that is so large that another has to wait for it.
    pub(crate) fn apart(self, mut chunk: Chunk) -> (Self, Chunk) {
        if !chunk.holds_large_one() {
            return (self, chunk);
        }
        let bytes = self.pieces(&chunk).collect::<Vec<_>>().concat();
        chunk.data = Data::Files(0..0, None);
        (Self::Bytes(bytes), chunk)
    }

    /// About how many bytes the records take, with their chunk.
    pub(crate) fn bytes(&self, chunk: &Chunk) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Stretches(_) => chunk.text().map_or(0, |text| text.len()),
            Self::Batch(batch) => batch.get_array_memory_size(),
        }
    }

    /// The lines or rows, one piece after the other; none where there are columns.
    pub fn pieces<'a>(&'a self, chunk: &'a Chunk) -> impl Iterator<Item = &'a [u8]> {
        let (bytes, stretches) = match self {
            Self::Bytes(bytes) => (Some(&**bytes), None),
            Self::Stretches(stretches) => (None, chunk.text().map(|bytes| (stretches, bytes))),
            Self::Batch(_) => (None, None),
        };
        let stretches = stretches.into_iter().flat_map(|(stretches, bytes)| stretches.of(bytes));
        bytes.into_iter().chain(stretches)
    }
}

/// Where whole records lie in the bytes of a chunk. Neighbours are one stretch.
#[derive(Debug)]
pub struct Stretches {
    /// The bytes that may end a record.
    ends: &'static [u8],
    ranges: Vec<Range<usize>>,
}

impl Stretches {
    pub(super) fn new(ends: &'static [u8]) -> Self {
        Self { ends, ranges: Vec::new() }
    }

    pub(super) fn push(&mut self, record: Range<usize>) {
        match self.ranges.last_mut() {
            Some(last) if last.end == record.start => last.end = record.end,
            _ => self.ranges.push(record),
        }
    }

    /// The bytes of each, and a line feed where the last record of a file has no end.
    pub(super) fn of<'a>(&'a self, data: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let last = self.ranges.last().and_then(|last| data[..last.end].last());
        let ended = last.is_none_or(|last| self.ends.contains(last));
        let missing = (!ended).then_some(&b"\n"[..]);
        self.ranges.iter().map(|stretch| &data[stretch.clone()]).chain(missing)
    }
}

/// The lines of a file that is cut at fixed places are counted from the chunk's first.
pub(super) fn copy(
    source: &InputFile,
    asked: ReadRequest,
    chunk: &Chunk,
    wanted: RecordFilter,
    cuts: &[RecordCut],
    to: &RecordFormat,
) -> Result<CopiedRecords> {
    let (data, beyond) = match &chunk.data {
        // It was never an item, so nobody wants it.
        Data::TooLong { .. } => {
            return Ok(CopiedRecords { records: 1, body: RecordBody::Bytes(Vec::new()) });
        }
        Data::Unread(unread) => {
            let Some((stored, ranges)) = source.ranges() else { return Err(asked.of_another()) };
            let text = unread.text(chunk.number.chunk, ranges, stored)?;
            (CopiedData::Text(&text.bytes, 1), u32::from(text.long.is_some()))
        }
        Data::Text { bytes, line } => (CopiedData::Text(bytes, *line), 0),
        Data::Rows(stretch) => (CopiedData::Rows(stretch), 0),
        Data::Files(run, _) => (CopiedData::Files(run), 0),
    };
    let mut copied = match cuts {
        [] => copy_data(source, asked, &data, wanted, to)?,
        cuts => cut::copy_data(source, asked, &data, wanted, CutsByRecord(cuts), to)?,
    };
    copied.records += beyond;
    Ok(copied)
}

/// What is copied.
pub(super) enum CopiedData<'a> {
    Text(&'a [u8], u64),
    Rows(&'a Stretch),
    Files(&'a Range<usize>),
}

fn copy_data(
    source: &InputFile,
    asked: ReadRequest,
    data: &CopiedData,
    wanted: RecordFilter,
    to: &RecordFormat,
) -> Result<CopiedRecords> {
    if let Some(records) = as_it_came(source, asked, data, wanted, to)? {
        return Ok(records);
    }
    let mut json = Vec::new();
    let records = json_lines(source, asked, data, wanted, &mut json)?;
    Ok(CopiedRecords { records, body: records_as(source, json, to)? })
}

/// JSON lines in the format that is asked for.
pub(super) fn records_as(
    source: &InputFile,
    json: Vec<u8>,
    to: &RecordFormat,
) -> Result<RecordBody> {
    let failed = |what: String| Error::file(source.name.clone(), what);
    Ok(match to {
        RecordFormat::Jsonl | RecordFormat::Array => RecordBody::Bytes(json),
        RecordFormat::Delimited { delimiter, columns, .. } => {
            RecordBody::Bytes(delimited(&json, *delimiter, columns).map_err(failed)?)
        }
        RecordFormat::Parquet(schema) => {
            RecordBody::Batch(table(&json, schema).map_err(|error| failed(mixed(&error)))?)
        }
        RecordFormat::Txt => return Err(failed(ONLY_LINES.to_owned())),
    })
}

const ONLY_LINES: &str = "only lines of text can be written as .txt; name the output .jsonl";

/// The records where source and target have the same layout.
fn as_it_came(
    source: &InputFile,
    asked: ReadRequest,
    data: &CopiedData,
    wanted: RecordFilter,
    to: &RecordFormat,
) -> Result<Option<CopiedRecords>> {
    let mut rows = Stretches::new(b"\r\n");
    let mut lines = Stretches::new(b"\n");
    let (records, stretches) = match (&source.kind, data, to) {
        (
            Kind::Text { syntax: Syntax::Csv(header), .. },
            &CopiedData::Text(bytes, line),
            RecordFormat::Delimited { delimiter, .. },
        ) => match header.delimiter == csv::Delimiter::Byte(*delimiter) {
            true => (csv::copy(header, bytes, wanted, &mut rows)?, rows),
            false => {
                let mut out = Vec::new();
                let mut writer = csv_writer(*delimiter, &mut out);
                // Writing rows to memory cannot fail.
                let each = |row: &[&str]| drop(writer.write_record(row));
                let records = csv::rows(header, bytes, line, asked, wanted, each)?;
                drop(writer);
                return Ok(Some(CopiedRecords { records, body: RecordBody::Bytes(out) }));
            }
        },
        (Kind::Text { syntax: Syntax::Txt, .. }, CopiedData::Text(bytes, _), RecordFormat::Txt) => {
            (lines::copy(bytes, true, wanted, &mut lines), lines)
        }
        (
            Kind::Text { syntax: Syntax::Jsonl, .. },
            CopiedData::Text(bytes, _),
            RecordFormat::Jsonl | RecordFormat::Array,
        ) => (lines::copy(bytes, false, wanted, &mut lines), lines),
        (
            Kind::Table { stored, table },
            CopiedData::Rows(stretch),
            RecordFormat::Parquet(schema),
        ) => {
            let (records, batch) = table.copy(stored, stretch, wanted)?;
            let batch = batch.unwrap_or_else(|| RecordBatch::new_empty(Arc::clone(schema)));
            return Ok(Some(CopiedRecords { records, body: RecordBody::Batch(batch) }));
        }
        _ => return Ok(None),
    };
    Ok(Some(CopiedRecords { records, body: RecordBody::Stretches(stretches) }))
}

/// Up to which byte the first of these records are no more than `most` bytes; the first in any case if `one` is asked for.
pub(crate) fn records_within(
    format: &RecordFormat,
    records: &[u8],
    most: usize,
    one: bool,
) -> usize {
    if records.len() <= most {
        return records.len();
    }
    let ends = match format {
        RecordFormat::Delimited { delimiter, .. } => Ends::Quoted(*delimiter),
        _ => Ends::Lines,
    };
    match last_end(ends, &records[..most]) {
        0 if one => first_record(ends, records).unwrap_or(records.len()),
        end => end,
    }
}

/// The names as a row of their own; nothing where there are none.
pub(super) fn header_row(delimiter: u8, columns: &[String]) -> Vec<u8> {
    let mut out = Vec::new();
    if !columns.is_empty() {
        // Writing to memory cannot fail.
        let _ = csv_writer(delimiter, &mut out).write_record(columns);
    }
    out
}

pub(super) fn csv_writer(delimiter: u8, out: &mut Vec<u8>) -> ::csv::Writer<&mut Vec<u8>> {
    ::csv::WriterBuilder::new().delimiter(delimiter).from_writer(out)
}

/// The wanted records, each a JSON object on a line. Returns how many the chunk has.
pub(super) fn json_lines(
    source: &InputFile,
    asked: ReadRequest,
    data: &CopiedData,
    wanted: RecordFilter,
    out: &mut Vec<u8>,
) -> Result<u32> {
    match (&source.kind, data) {
        (Kind::Text { syntax, .. }, &CopiedData::Text(bytes, line)) => match syntax {
            Syntax::Jsonl => {
                let mut stretches = Stretches::new(b"\n");
                let records = lines::copy(bytes, false, wanted, &mut stretches);
                stretches.of(bytes).for_each(|piece| out.extend_from_slice(piece));
                Ok(records)
            }
            Syntax::Array(_) => {
                let array = ArrayLines::new(asked, bytes, line)?;
                let mut stretches = Stretches::new(b"\n");
                let records = lines::copy(&array.json, false, wanted, &mut stretches);
                stretches.of(&array.json).for_each(|piece| out.extend_from_slice(piece));
                Ok(records)
            }
            Syntax::Txt => txt_as_json(bytes, line, asked, wanted, out),
            Syntax::Csv(header) => csv::rows(header, bytes, line, asked, wanted, |row| {
                object(header.names.iter().map(String::as_str).zip(row.iter().copied()), out);
            }),
        },
        (Kind::Folder { documents, .. }, CopiedData::Files(run)) => {
            for (document, ordinal) in documents[(*run).clone()].iter().zip(0..) {
                if wanted(ordinal) {
                    let mut text = String::new();
                    match folder::read(&document.stored, asked.options, &mut text)? {
                        folder::Content::Text => {}
                        folder::Content::Unusable(error) => return Err(error),
                        _ => return Err(document.stored.changed()),
                    }
                    object([("id", document.id.as_str()), ("text", &text)].into_iter(), out);
                }
            }
            Ok(run.len() as u32)
        }
        (Kind::Table { stored, table }, CopiedData::Rows(stretch)) => {
            let (records, batch) = table.copy(stored, stretch, wanted)?;
            if let Some(batch) = batch {
                let failed = |what: String| {
                    stored.error(format!(
                        "cannot be written as JSON: {what}; name the output .parquet"
                    ))
                };
                if let Some(value) = times::unwritable(&batch) {
                    return Err(failed(value));
                }
                rows_as_json(&batch, out).map_err(|error| failed(error.to_string()))?;
            }
            Ok(records)
        }
        _ => Ok(0),
    }
}

fn txt_as_json(
    bytes: &[u8],
    first: u64,
    asked: ReadRequest,
    wanted: RecordFilter,
    out: &mut Vec<u8>,
) -> Result<u32> {
    let mut ordinal = 0;
    for (line, text) in lines::all_lines(bytes, first) {
        if wanted(ordinal) {
            let text = lines::utf8(text).map_err(|what| asked.error(line, what))?;
            object([("text", text)].into_iter(), out);
        }
        ordinal += 1;
    }
    Ok(ordinal)
}

fn rows_as_json(batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), ArrowError> {
    let mut writer = arrow_json::WriterBuilder::new()
        .with_explicit_nulls(true)
        .build::<_, arrow_json::writer::LineDelimited>(out);
    writer.write(batch)?;
    writer.finish()
}

/// Appends one JSON object of strings, on a line of its own.
fn object<'a>(fields: impl Iterator<Item = (&'a str, &'a str)>, out: &mut Vec<u8>) {
    let start = out.len();
    out.push(b'{');
    for (name, text) in fields {
        if out.len() > start + 1 {
            out.push(b',');
        }
        // Writing strings to memory cannot fail.
        let _ = serde_json::to_writer(&mut *out, name);
        out.push(b':');
        let _ = serde_json::to_writer(&mut *out, text);
    }
    out.extend_from_slice(b"}\n");
}

/// JSON lines as rows: strings as they are, null as nothing, everything else as JSON.
fn delimited(json: &[u8], delimiter: u8, columns: &[String]) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let mut writer = csv_writer(delimiter, &mut out);
    for (_, line) in lines::lines(json, 1) {
        let failed = |error| format!("a kept record is not a JSON object: {error}; fix it");
        let object: HashMap<String, &RawValue> = serde_json::from_slice(line).map_err(failed)?;
        for column in columns {
            // Numbers as they were written: 1.10 stays 1.10.
            let field = match object.get(column).map(|raw| raw.get()) {
                None | Some("null") => Cow::Borrowed(""),
                Some(text) if text.starts_with('"') => {
                    Cow::Owned(serde_json::from_str(text).map_err(failed)?)
                }
                Some(other) => Cow::Borrowed(other),
            };
            writer.write_field(field.as_ref()).map_err(|error| error.to_string())?;
        }
        writer.write_record(None::<&[u8]>).map_err(|error| error.to_string())?;
    }
    writer.flush().map_err(|error| error.to_string())?;
    drop(writer);
    Ok(out)
}

/// JSON lines as columns.
fn table(json: &[u8], schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let count = lines::lines(json, 1).count().max(1);
    let mut decoder = arrow_json::ReaderBuilder::new(Arc::clone(schema))
        .with_batch_size(count)
        .with_coerce_primitive(true)
        .build_decoder()?;
    decoder.decode(&without_pairs(json))?;
    let batch = decoder.flush()?;
    Ok(batch.unwrap_or_else(|| RecordBatch::new_empty(Arc::clone(schema))))
}

/// JSON with characters in place of their `\u` escapes in pairs. arrow-json 60 puts such pairs together wrongly: of
/// `\ud840\udc00`, U+20000, it makes U+10000, and so of all characters of every second plane.
fn without_pairs(json: &[u8]) -> Cow<'_, [u8]> {
    const LENGTH: usize = r"\ud840\udc00".len();
    let mut out = Vec::new();
    let (mut at, mut copied) = (0, 0);
    while let Some(next) = memchr::memchr(b'\\', &json[at..]) {
        at += next;
        let Some(character) = json.get(at..at + LENGTH).and_then(pair) else {
            at = json.len().min(at + 2); // what is escaped may be a backslash
            continue;
        };
        out.extend_from_slice(&json[copied..at]);
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        at += LENGTH;
        copied = at;
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    out.extend_from_slice(&json[copied..]);
    Cow::Owned(out)
}

/// The character of two `\u` escapes that make a pair.
fn pair(escapes: &[u8]) -> Option<char> {
    let unit = |escape: &[u8]| {
        let digits = std::str::from_utf8(escape.strip_prefix(br"\u")?).ok()?;
        u16::from_str_radix(digits, 16).ok()
    };
    let (high, low) = escapes.split_at(escapes.len() / 2);
    let high = unit(high).filter(|high| (0xd800..0xdc00).contains(high))?;
    char::decode_utf16([high, unit(low)?]).next()?.ok()
}

fn mixed(error: &ArrowError) -> String {
    let error = error.to_string();
    let error = error.lines().next().unwrap_or_default();
    format!("its records do not fit one table: {error}; name the output .jsonl")
}

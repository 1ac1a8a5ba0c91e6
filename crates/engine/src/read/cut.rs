//! Whole records of which stretches of the text are left out; all their other bytes stay as they came.
//!
//! In: the records of a chunk and, for some of them, ranges of bytes of the text. Out: the records in the format that was
//! asked for. A record that no cut names is copied as [`copy`](super::copy) does. In JSON the escapes around a cut stay
//! escapes, in CSV a field that was quoted stays quoted, and in Parquet a column keeps its type.

use super::{
    InputFile, Kind, RecordFilter, Syntax,
    batch_builder::ReadRequest,
    copy::{
        CopiedData, CopiedRecords, RecordBody, RecordFormat, csv_writer, json_lines, records_as,
    },
    csv, lines,
};
use crate::{Error, Result};
use arrow_array::{
    ArrayRef, LargeStringArray, RecordBatch, StringArray, StringViewArray, UInt64Array,
    cast::AsArray,
    types::{ArrowDictionaryKeyType, *},
};
use arrow_schema::{ArrowError, DataType};
use memchr::memchr;
use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::{collections::HashMap, fmt, ops::Range, sync::Arc};

/// The stretches of one record's text that are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordCut {
    /// The record's number in its chunk, from 0.
    pub ordinal: u32,
    /// Bytes of the text: in order, apart from each other, and at the borders of characters.
    pub ranges: Vec<Range<usize>>,
}

/// What is left of a text.
pub fn without(text: &str, ranges: &[Range<usize>]) -> String {
    left(text, ranges).unwrap_or_else(|| text.to_owned())
}

/// What is left of a text, if the ranges are some of it.
fn left(text: &str, ranges: &[Range<usize>]) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for range in ranges {
        out.push_str(text.get(at..range.start)?);
        at = range.end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}

/// The cuts of a chunk by record.
#[derive(Clone, Copy)]
pub(super) struct CutsByRecord<'a>(pub(super) &'a [RecordCut]);

impl<'a> CutsByRecord<'a> {
    fn of(self, ordinal: u32) -> Option<&'a [Range<usize>]> {
        let at = self.0.binary_search_by_key(&ordinal, |cut| cut.ordinal).ok()?;
        Some(&self.0[at].ranges)
    }
}

/// The wanted records, with these cuts.
pub(super) fn copy_data(
    source: &InputFile,
    asked: ReadRequest,
    data: &CopiedData,
    wanted: RecordFilter,
    cuts: CutsByRecord,
    to: &RecordFormat,
) -> Result<CopiedRecords> {
    let changed = || Error::file(asked.path, "changed while it was being read; run again");
    let field = &*asked.options.text;
    match (&source.kind, data, to) {
        (
            Kind::Text { syntax: Syntax::Csv(header), .. },
            &CopiedData::Text(bytes, line),
            RecordFormat::Delimited { delimiter, .. },
        ) => {
            let mut out = Vec::with_capacity(bytes.len());
            let records = if header.delimiter == csv::Delimiter::Byte(*delimiter) {
                csv_records(header, *delimiter, bytes, wanted, cuts, &mut out)?
            } else {
                csv_rows(header, *delimiter, (bytes, line), asked, wanted, cuts, &mut out)?
            };
            let records = records.ok_or_else(changed)?;
            Ok(CopiedRecords { records, body: RecordBody::Bytes(out) })
        }
        (Kind::Text { syntax: Syntax::Txt, .. }, CopiedData::Text(bytes, _), RecordFormat::Txt) => {
            let mut out = Vec::with_capacity(bytes.len());
            let records = txt_lines(bytes, wanted, cuts, &mut out).ok_or_else(changed)?;
            Ok(CopiedRecords { records, body: RecordBody::Bytes(out) })
        }
        (
            Kind::Table { stored, table },
            CopiedData::Rows(stretch),
            RecordFormat::Parquet(schema),
        ) => {
            let (records, batch) = table.copy(stored, stretch, wanted)?;
            let batch = match batch {
                None => RecordBatch::new_empty(Arc::clone(schema)),
                Some(batch) => {
                    let ordinals = (0..records).filter(|&ordinal| wanted(ordinal));
                    let ranges: Vec<_> = ordinals.map(|ordinal| cuts.of(ordinal)).collect();
                    cut_batch(batch, field, &ranges).map_err(|error| match error {
                        ArrowError::DictionaryKeyOverflowError => {
                            let what = format!(
                                "`{field}` has more different texts than its type has numbers"
                            );
                            Error::file(asked.path, what).or("write another format, such as .jsonl")
                        }
                        _ => changed(),
                    })?
                }
            };
            Ok(CopiedRecords { records, body: RecordBody::Batch(batch) })
        }
        _ => {
            let mut json = Vec::new();
            let records = json_lines(source, asked, data, wanted, &mut json)?;
            // Lines of text and documents have one field for it.
            let field = match &source.kind {
                Kind::Text { syntax: Syntax::Txt, .. } | Kind::Folder { .. } => "text",
                _ => field,
            };
            let ordinals = (0..records).filter(|&ordinal| wanted(ordinal));
            let json = cut_json_lines(&json, ordinals, field, cuts).ok_or_else(changed)?;
            Ok(CopiedRecords { records, body: records_as(source, json, to)? })
        }
    }
}

/// JSON objects, each on a line, with the cuts of these records in their order.
fn cut_json_lines(
    json: &[u8],
    mut ordinals: impl Iterator<Item = u32>,
    field: &str,
    cuts: CutsByRecord,
) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(json.len());
    for line in json.split_inclusive(|byte| *byte == b'\n') {
        match cuts.of(ordinals.next()?) {
            None => out.extend_from_slice(line),
            Some(ranges) => cut_json(line, field, ranges, &mut out)?,
        }
        if !line.ends_with(b"\n") {
            out.push(b'\n');
        }
    }
    Some(out)
}

/// Appends a JSON object without these bytes of the string in a field.
fn cut_json(line: &[u8], field: &str, ranges: &[Range<usize>], out: &mut Vec<u8>) -> Option<()> {
    let text = std::str::from_utf8(line).ok()?;
    let object = text.trim_ascii_start();
    let mut finder = StringFinder::default();
    finder.look_into(object, line.len() - text.trim_ascii_start().len(), field, 1)?;
    let (_, string) = finder.found?;
    let inner = string.start + 1..string.end.checked_sub(1)?;
    out.extend_from_slice(&line[..inner.start]);
    cut_escaped(&line[inner.clone()], ranges, out)?;
    out.extend_from_slice(&line[inner.end..]);
    Some(())
}

/// Where the string of a field is in an object, as [`fields`](super::fields) finds its value: a name with dots is a key as it
/// stands, else a path, and the last of equal keys counts.
#[derive(Default)]
struct StringFinder {
    /// At which depth, and which bytes with its quotes.
    found: Option<(usize, Range<usize>)>,
}

impl StringFinder {
    fn look_into(&mut self, object: &str, base: usize, name: &str, depth: usize) -> Option<()> {
        let mut reader = serde_json::Deserializer::from_str(object);
        let members = reader.deserialize_map(Members).ok()?;
        for (key, value) in members {
            let Some(rest) = name.strip_prefix(&*key) else { continue };
            let value = value.get();
            let at = base + (value.as_ptr() as usize - object.as_ptr() as usize);
            if rest.is_empty() {
                let is_nearer = self.found.as_ref().is_none_or(|(old, _)| depth <= *old);
                if value.starts_with('"') && is_nearer {
                    self.found = Some((depth, at..at + value.len()));
                }
            } else if let Some(rest) = rest.strip_prefix('.')
                && value.starts_with('{')
            {
                self.look_into(value, at, rest, depth + 1)?;
            }
        }
        Some(())
    }
}

/// The keys and values of an object, in order.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}

/// Appends what stands between the quotes of a JSON string, without these bytes of what it means.
fn cut_escaped(raw: &[u8], ranges: &[Range<usize>], out: &mut Vec<u8>) -> Option<()> {
    let mut place = EscapedPlace { raw, at: 0, meant: 0 };
    let mut copied = 0;
    for range in ranges {
        out.extend_from_slice(raw.get(copied..place.go_to(range.start)?)?);
        copied = place.go_to(range.end)?;
    }
    out.extend_from_slice(&raw[copied..]);
    Some(())
}

/// A place in an escaped string, and in what it means.
struct EscapedPlace<'a> {
    raw: &'a [u8],
    at: usize,
    meant: usize,
}

impl EscapedPlace<'_> {
    /// Where the byte is that stands for this one of the meaning.
    fn go_to(&mut self, meant: usize) -> Option<usize> {
        while self.meant < meant {
            let rest = &self.raw[self.at..];
            let plain = memchr(b'\\', rest).unwrap_or(rest.len()).min(meant - self.meant);
            self.at += plain;
            self.meant += plain;
            if self.meant == meant {
                break;
            }
            let (raw, means) = escape(&self.raw[self.at..])?;
            self.at += raw;
            self.meant += means;
        }
        (self.meant == meant).then_some(self.at)
    }
}

/// How long an escape is, and how many bytes it stands for.
fn escape(raw: &[u8]) -> Option<(usize, usize)> {
    let unit = |at: usize| {
        let digits = std::str::from_utf8(raw.get(at..at + 4)?).ok()?;
        u16::from_str_radix(digits, 16).ok()
    };
    match raw {
        [b'\\', b'u', ..] => match unit(2)? {
            0xd800..0xdc00 => Some((12, 4)),
            unit => Some((6, char::from_u32(u32::from(unit))?.len_utf8())),
        },
        [b'\\', _, ..] => Some((2, 1)),
        _ => None,
    }
}

/// The wanted lines of text.
fn txt_lines(
    data: &[u8],
    wanted: RecordFilter,
    cuts: CutsByRecord,
    out: &mut Vec<u8>,
) -> Option<u32> {
    let mut ordinal = 0;
    for whole in data.split_inclusive(|byte| *byte == b'\n') {
        if wanted(ordinal) {
            let line = lines::without_end(whole);
            match cuts.of(ordinal) {
                None => out.extend_from_slice(line),
                Some(ranges) => {
                    let line = std::str::from_utf8(line).ok()?;
                    out.extend_from_slice(left(line, ranges)?.as_bytes());
                }
            }
            let end = &whole[line.len()..];
            out.extend_from_slice(if end.is_empty() { b"\n" } else { end });
        }
        ordinal += 1;
    }
    Some(ordinal)
}

/// The wanted records of a CSV file, for one with the same delimiter. None where a cut does not fit.
fn csv_records(
    header: &csv::Header,
    delimiter: u8,
    data: &[u8],
    wanted: RecordFilter,
    cuts: CutsByRecord,
    out: &mut Vec<u8>,
) -> Result<Option<u32>> {
    let mut fits = true;
    let records = csv::records(header, data, |ordinal, _, record, at| {
        if wanted(ordinal) {
            let raw = &data[at];
            match cuts.of(ordinal) {
                None => out.extend_from_slice(raw),
                Some(ranges) => {
                    let value = record.get(header.text).and_then(|it| std::str::from_utf8(it).ok());
                    let value = value.and_then(|value| left(value, ranges));
                    fits &= value.is_some();
                    cut_row(header, delimiter, raw, &value.unwrap_or_default(), out);
                }
            }
            if !raw.ends_with(b"\n") && !raw.ends_with(b"\r") {
                out.push(b'\n');
            }
        }
        Ok(())
    })?;
    Ok(fits.then_some(records))
}

/// Appends a row with this value in the column of the text.
fn cut_row(header: &csv::Header, delimiter: u8, raw: &[u8], value: &str, out: &mut Vec<u8>) {
    let field = nth_field(raw, delimiter, header.text);
    let special = |byte: u8| [delimiter, b'"', b'\r', b'\n'].contains(&byte);
    // A row of one empty field would be no row.
    let is_blank = value.is_empty() && header.names.len() == 1;
    let is_quoted = raw.get(field.start) == Some(&b'"') || is_blank || value.bytes().any(special);
    out.extend_from_slice(&raw[..field.start]);
    if is_quoted {
        out.push(b'"');
        out.extend_from_slice(value.replace('"', "\"\"").as_bytes());
        out.push(b'"');
    } else {
        out.extend_from_slice(value.as_bytes());
    }
    out.extend_from_slice(&raw[field.end..]);
}

/// The bytes of a field in a row, with its quotes.
fn nth_field(raw: &[u8], delimiter: u8, number: usize) -> Range<usize> {
    let mut start = 0;
    for field in 0.. {
        let end = field_end(raw, start, delimiter);
        if field == number || raw.get(end) != Some(&delimiter) {
            return start..end;
        }
        start = end + 1;
    }
    start..start
}

/// Where the field ends that begins here.
fn field_end(raw: &[u8], start: usize, delimiter: u8) -> usize {
    let mut at = start;
    if raw.get(at) == Some(&b'"') {
        at += 1;
        while let Some(quote) = memchr(b'"', &raw[at..]) {
            at += quote + 1;
            if raw.get(at) != Some(&b'"') {
                break;
            }
            at += 1;
        }
    }
    let is_end = |byte: &u8| *byte == delimiter || matches!(byte, b'\r' | b'\n');
    raw[at..].iter().position(is_end).map_or(raw.len(), |end| at + end)
}

/// The wanted records of a CSV file with another delimiter.
fn csv_rows(
    header: &csv::Header,
    delimiter: u8,
    (data, line): (&[u8], u64),
    asked: ReadRequest,
    wanted: RecordFilter,
    cuts: CutsByRecord,
    out: &mut Vec<u8>,
) -> Result<Option<u32>> {
    let mut writer = csv_writer(delimiter, out);
    let mut fits = true;
    let mut ordinals = (0..).filter(|&ordinal| wanted(ordinal));
    let records = csv::rows(header, data, line, asked, wanted, |row| {
        let ranges = ordinals.next().and_then(|ordinal| cuts.of(ordinal));
        let value = ranges.map(|ranges| row.get(header.text).and_then(|it| left(it, ranges)));
        let is_cut = |at: usize| at == header.text && value.is_some();
        for (at, field) in row.iter().enumerate() {
            let new = value.as_ref().and_then(Option::as_deref).unwrap_or_default();
            // Writing rows to memory cannot fail.
            let _ = writer.write_field(if is_cut(at) { new } else { field });
        }
        let _ = writer.write_record(None::<&[u8]>);
        fits &= value.is_none_or(|value| value.is_some());
    })?;
    Ok(fits.then_some(records))
}

/// Rows with cuts in a column, which keeps its type.
fn cut_batch(
    batch: RecordBatch,
    field: &str,
    ranges: &[Option<&[Range<usize>]>],
) -> Result<RecordBatch, ArrowError> {
    if ranges.iter().all(Option::is_none) {
        return Ok(batch);
    }
    let schema = batch.schema();
    let at = schema.index_of(field)?;
    let mut columns = batch.columns().to_vec();
    columns[at] = cut_column(&columns[at], ranges)?;
    RecordBatch::try_new(schema, columns)
}

fn cut_column(
    column: &ArrayRef,
    ranges: &[Option<&[Range<usize>]>],
) -> Result<ArrayRef, ArrowError> {
    fn cut<'a>(
        texts: impl Iterator<Item = Option<&'a str>>,
        ranges: &[Option<&[Range<usize>]>],
    ) -> Vec<Option<String>> {
        let one = |(text, ranges): (Option<&str>, &Option<&[Range<usize>]>)| match ranges {
            Some(ranges) => left(text?, ranges),
            None => text.map(str::to_owned),
        };
        texts.zip(ranges).map(one).collect()
    }
    macro_rules! dictionary {
        ($column:expr, $keys:expr, $($kind:ident => $key:ty),*) => {
            match $keys {
                $(DataType::$kind => dictionary_cut::<$key>($column, ranges),)*
                other => Err(ArrowError::NotYetImplemented(other.to_string())),
            }
        };
    }
    Ok(match column.data_type() {
        DataType::Utf8 => {
            Arc::new(StringArray::from(cut(column.as_string::<i32>().iter(), ranges)))
        }
        DataType::LargeUtf8 => {
            Arc::new(LargeStringArray::from(cut(column.as_string::<i64>().iter(), ranges)))
        }
        DataType::Utf8View => {
            let texts = cut(column.as_string_view().iter(), ranges);
            Arc::new(StringViewArray::from_iter(texts))
        }
        DataType::Dictionary(keys, _) => {
            return dictionary!(column, &**keys,
                Int8 => Int8Type, Int16 => Int16Type, Int32 => Int32Type, Int64 => Int64Type,
                UInt8 => UInt8Type, UInt16 => UInt16Type, UInt32 => UInt32Type, UInt64 => UInt64Type);
        }
        other => return Err(ArrowError::NotYetImplemented(other.to_string())),
    })
}

/// A column with a dictionary: it gets one of the texts that there are after the cuts.
fn dictionary_cut<K: ArrowDictionaryKeyType>(
    column: &ArrayRef,
    ranges: &[Option<&[Range<usize>]>],
) -> Result<ArrayRef, ArrowError> {
    use arrow_array::{DictionaryArray, PrimitiveArray};
    use arrow_buffer::ArrowNativeType as _;
    let plain = super::convert::without_dictionary(column)?;
    let all: ArrayRef = cut_column(&plain, ranges)?;
    let texts: Vec<Option<&str>> = match all.data_type() {
        DataType::Utf8 => all.as_string::<i32>().iter().collect(),
        DataType::LargeUtf8 => all.as_string::<i64>().iter().collect(),
        _ => all.as_string_view().iter().collect(),
    };
    let mut rows: HashMap<&str, usize> = HashMap::new();
    let mut firsts = Vec::new();
    let mut keys = Vec::with_capacity(texts.len());
    for (row, text) in texts.into_iter().enumerate() {
        let key = text.map(|text| {
            *rows.entry(text).or_insert_with(|| {
                firsts.push(row as u64);
                firsts.len() - 1
            })
        });
        let native = |key| K::Native::from_usize(key).ok_or(ArrowError::DictionaryKeyOverflowError);
        keys.push(key.map(native).transpose()?);
    }
    let keys: PrimitiveArray<K> = keys.into_iter().collect();
    let values = arrow_select::take::take(&all, &UInt64Array::from(firsts), None)?;
    Ok(Arc::new(DictionaryArray::try_new(keys, values)?))
}

//! Values between delimiters, with a header row or without.
//!
//! Values are text, ids too: `007` stays `007`. The value that decides what is kept is a number where
//! it reads as one. A record that has more or fewer fields than the header is bad. Without a header row the
//! columns are called 1, 2, 3 and so on, as many as the first record has.
//!
//! Fields may be quoted where the delimiter is a single byte. Where it is longer, such as `::`, quotes are
//! characters like others and every line is a record.

use super::{
    IdSource, ReadOptions, RecordFilter,
    batch_builder::{BatchBuilder, ReadRequest},
    buffer::BufferPool,
    chunker::{self, Ends},
    copy::Stretches,
    item,
    lines::utf8,
    rows::ALL,
    text::{BYTE_ORDER_MARK, TextReader},
};
use crate::error::{Advice, Error, Problem, Result};
use crate::item::{Batch, Id, KeepValues, Value};
use csv::ByteRecord;
use std::{collections::HashSet, ops::Range, path::Path};

/// What stands between two fields.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Delimiter {
    Byte(u8),
    Text(Box<str>),
}

impl Delimiter {
    /// What the user asked for.
    pub(super) fn new(text: &str) -> Result<Self> {
        match text.as_bytes() {
            [] | [b'\n' | b'\r' | b'"'] => {
                let must = "a character or more, no quote and no line end";
                Err(Error::parameter("delimiter", format!("{text:?}"), must))
            }
            [byte] => Ok(Self::Byte(*byte)),
            _ => Ok(Self::Text(text.into())),
        }
    }

    pub(super) fn ends(&self) -> Ends {
        match self {
            Self::Byte(byte) => Ends::Quoted(*byte),
            Self::Text(_) => Ends::Lines,
        }
    }
}

/// The first row of a file, and which of its columns are asked for.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) delimiter: Delimiter,
    /// Whether the delimiter was found out, and is not the usual one.
    pub(super) is_told: bool,
    /// The columns' names; none where the file is empty.
    pub(super) names: Vec<String>,
    /// The row as it came, with a line end.
    pub(super) row: Vec<u8>,
    /// Its length in the file, blank lines before it included.
    pub(super) bytes: usize,
    /// Its lines in the file, blank lines before it included.
    pub(super) lines: u64,
    pub(super) text: usize,
    pub(super) id: Option<usize>,
    /// The columns of the values that decide what is kept, where there are such.
    values: Vec<Option<usize>>,
    /// The columns that are read instead of a text.
    pub(super) columns: Vec<usize>,
}

impl Header {
    /// Reads the first row. If it is not a row of names, it is a record, and the columns have numbers.
    pub(super) fn read(
        path: &Path,
        delimiter: Delimiter,
        options: &ReadOptions,
        text: &mut TextReader,
    ) -> Result<Self> {
        const STEP: usize = 64 << 10;
        let mut start = BufferPool::default().take();
        let end = loop {
            let full = text.fill(&mut start, STEP)? == STEP;
            match chunker::first_record(delimiter.ends(), &start) {
                // A `\r` at the very end may be half a line end.
                Some(end) if end < start.len() || !full => break end,
                _ if full => {}
                _ => break start.len(),
            }
        };
        start.truncate(end);
        let row = first_row(path, &delimiter, &start)?;
        let is_value = |field: &[u8]| {
            let text = std::str::from_utf8(field).ok();
            options.is_value.zip(text).is_some_and(|(is_value, text)| is_value(text))
        };
        let value = row.iter().position(is_value);
        if !options.header || value.is_some() {
            let mut names: Vec<_> = (1..=row.len()).map(|number| number.to_string()).collect();
            if let Some(value) = value.filter(|_| !names.contains(&options.text)) {
                names[value].clone_from(&options.text);
            }
            return Ok(Self::new(delimiter, names, Vec::new(), 0, 0));
        }
        let names: Result<Vec<_>, _> =
            row.iter().map(|name| utf8(name).map(str::to_owned)).collect();
        let names = names.map_err(|what| Error::input(path, 1, what))?;
        let lines = count_lines(&start);
        if let Some(name) = repeated(&names) {
            let what = format!("the header names the column {name:?} twice");
            let blank = start.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            let line = 1 + count_lines(&start[..blank]);
            let error = Error::input(path, line, Problem::new(what));
            return Err(error.or("give each column a name of its own"));
        }
        let mut whole = Vec::new();
        if !names.is_empty() {
            let blank = start.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            whole.extend_from_slice(&start[blank..]);
            if !whole.ends_with(b"\n") && !whole.ends_with(b"\r") {
                whole.push(b'\n');
            }
        }
        Ok(Self::new(delimiter, names, whole, end, lines))
    }

    fn new(
        delimiter: Delimiter,
        names: Vec<String>,
        row: Vec<u8>,
        bytes: usize,
        lines: u64,
    ) -> Self {
        let (values, columns) = (Vec::new(), Vec::new());
        let (is_told, text, id) = (false, 0, None);
        Self { delimiter, is_told, names, row, bytes, lines, text, id, values, columns }
    }

    /// Whether the file has all columns that are asked for, as far as they are known by now.
    fn has_wanted(&self, options: &ReadOptions) -> bool {
        let has_column = |name: &String| match name.parse::<usize>() {
            Ok(number) => number <= self.names.len() || self.has(name),
            Err(_) => self.has(name),
        };
        let has_columns = match &options.columns[..] {
            [] => self.has(&options.text) || options.rather.iter().any(|name| self.has(name)),
            // Of no more than one column, nobody asks for all.
            [all] if all == ALL => self.names.len() > 1,
            columns => columns.iter().all(has_column),
        };
        has_columns && options.id.as_ref().is_none_or(|id| self.has(id))
    }

    /// Reads the first row of a file whose delimiter nobody named: usually a comma, but another one if the columns that are
    /// asked for are there only then.
    pub(super) fn tell<'a>(
        path: &Path,
        options: &ReadOptions,
        open: impl Fn() -> Result<TextReader<'a>>,
    ) -> Result<Self> {
        let read = |byte| Self::read(path, Delimiter::Byte(byte), options, &mut open()?);
        let usual = read(b',');
        if usual.as_ref().is_ok_and(|header| header.names.is_empty() || header.has_wanted(options))
        {
            return usual;
        }
        let others = b";\t|".iter().filter_map(|byte| read(*byte).ok());
        match others.into_iter().find(|header| header.has_wanted(options)) {
            Some(header) => Ok(Self { is_told: true, ..header }),
            None => usual,
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// Finds the columns that are asked for.
    pub(super) fn bind(
        &mut self,
        path: &Path,
        options: &ReadOptions,
        ids: &IdSource,
    ) -> Result<()> {
        if self.names.is_empty() {
            return Ok(());
        }
        let is_one = matches!(&self.names[..], [name] if name.contains([';', '\t', '|', ',']));
        let column = |name: &str, advice: Advice| {
            self.names.iter().position(|known| known == name).ok_or_else(|| {
                let error = no_column(path, name, self.names.iter().map(String::as_str), advice);
                match is_one {
                    true => error.or(Advice::with("delimiter", "name the separator")),
                    false => error,
                }
            })
        };
        let id = match ids {
            IdSource::Field(name) => Some(column(name, options.keys.id_column())?),
            IdSource::None | IdSource::Ignored => None,
        };
        if !options.columns.is_empty() {
            let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
            self.columns = columns(path, &options.columns, &names, id)?;
            self.id = id;
            return Ok(());
        }
        let advice = Advice::with(options.keys.text, "name the text column");
        let text = column(&options.text, advice)?;
        let place = |name: &String| self.names.iter().position(|known| known == name);
        self.values = options.values.iter().map(place).collect();
        (self.text, self.id) = (text, id);
        Ok(())
    }
}

/// The first name that was there before. Of two columns with one name, nobody could ask for the second, and as JSON their
/// records would have a key twice.
fn repeated(names: &[String]) -> Option<&String> {
    let mut seen = HashSet::new();
    names.iter().find(|name| !seen.insert(name.as_str()))
}

/// The places of columns that were requested by name or by number, from 1; or of all but the ids.
pub(super) fn columns(
    path: &Path,
    asked: &[String],
    names: &[&str],
    id: Option<usize>,
) -> Result<Vec<usize>> {
    if asked == [ALL] {
        return Ok((0..names.len()).filter(|at| Some(*at) != id).collect());
    }
    let place = |name: &String| {
        let numbered = || name.parse().ok().and_then(|number: usize| number.checked_sub(1));
        let by_name = names.iter().position(|known| known == name);
        by_name
            .or_else(|| numbered().filter(|at| *at < names.len()))
            .ok_or_else(|| no_column(path, name, names.iter().copied(), "name one of these"))
    };
    asked.iter().map(place).collect()
}

/// The error for a column that a file does not have.
pub(super) fn no_column<'a>(
    path: &Path,
    name: &str,
    known: impl Iterator<Item = &'a str>,
    advice: impl Into<Advice>,
) -> Error {
    Error::file(path, format!("no column `{name}`")).or(item::choose(known, advice.into()))
}

fn reader(delimiter: u8, data: &[u8]) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true) // counted against the header here, for a message that says so
        .from_reader(data)
}

fn first_row(path: &Path, delimiter: &Delimiter, start: &[u8]) -> Result<ByteRecord> {
    let mut row = ByteRecord::new();
    match delimiter {
        Delimiter::Byte(byte) => {
            reader(*byte, start).read_byte_record(&mut row).map_err(|error| {
                Error::file(
                    path,
                    format!("the header row cannot be read: {error}; check that it is CSV"),
                )
            })?;
        }
        Delimiter::Text(text) => {
            split_lines(text, start, |_, _, record, _| {
                row = record.clone();
                Ok(())
            })?;
        }
    }
    Ok(row)
}

/// Calls `each` with every record of a chunk: its number, its line in the chunk from 0, the record,
/// and where its bytes lie. Returns how many there are.
pub(super) fn records(
    header: &Header,
    data: &[u8],
    mut each: impl FnMut(u32, u64, &ByteRecord, Range<usize>) -> Result<()>,
) -> Result<u32> {
    match &header.delimiter {
        Delimiter::Byte(byte) => quoted(*byte, data, &mut each),
        Delimiter::Text(text) => split_lines(text, data, each),
    }
}

/// Every line that is not empty is a record, cut wherever the delimiter stands.
fn split_lines(
    delimiter: &str,
    data: &[u8],
    mut each: impl FnMut(u32, u64, &ByteRecord, Range<usize>) -> Result<()>,
) -> Result<u32> {
    let finder = memchr::memmem::Finder::new(delimiter.as_bytes());
    let mut record = ByteRecord::new();
    let (mut ordinal, mut start) = (0, 0);
    for (number, whole) in (0..).zip(data.split_inclusive(|byte| *byte == b'\n')) {
        let line = whole.strip_suffix(b"\n").unwrap_or(whole);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let range = start..start + whole.len();
        start = range.end;
        if line.is_empty() {
            continue;
        }
        record.clear();
        let mut from = 0;
        for at in finder.find_iter(line) {
            record.push_field(&line[from..at]);
            from = at + delimiter.len();
        }
        record.push_field(&line[from..]);
        each(ordinal, number, &record, range)?;
        ordinal += 1;
    }
    Ok(ordinal)
}

/// What is done with a record: its number, its line, its fields, and where its bytes lie.
type EachRecord<'a> = dyn FnMut(u32, u64, &ByteRecord, Range<usize>) -> Result<()> + 'a;

fn quoted(delimiter: u8, data: &[u8], each: &mut EachRecord<'_>) -> Result<u32> {
    if data.starts_with(BYTE_ORDER_MARK) {
        // That of the file is gone already, so this one belongs to a field. The reader would take it off the first field of
        // every chunk, but not behind a line end.
        let behind_line_end = [b"\n", data].concat();
        return quoted(delimiter, &behind_line_end, &mut |ordinal, line, record, at| {
            each(ordinal, line - 1, record, at.start - 1..at.end - 1)
        });
    }
    let mut reader = reader(delimiter, data);
    let mut record = ByteRecord::new();
    let mut ordinal = 0;
    let (mut start, mut line) = (0, 0);
    // Reading bytes from memory, with any number of fields allowed, has nothing left to fail on.
    while reader.read_byte_record(&mut record).unwrap_or(false) {
        let mut end = reader.position().byte() as usize;
        if data[..end].ends_with(b"\r") && data[end..].starts_with(b"\n") {
            end += 1; // the reader stops in the middle of `\r\n`
        }
        let raw = &data[start..end];
        let blank = raw.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        line += count_lines(&raw[..blank]);
        each(ordinal, line, &record, start + blank..end)?;
        line += count_lines(&raw[blank..]);
        start = end;
        ordinal += 1;
    }
    Ok(ordinal)
}

fn count_lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

pub(super) fn decode(
    header: &Header,
    data: &[u8],
    first: u64,
    asked: ReadRequest,
    wanted: RecordFilter,
) -> Result<Batch<'static>> {
    let mut gather = BatchBuilder::new(asked, data.len());
    let count = records(header, data, |ordinal, line, record, _| {
        if !wanted(ordinal) {
            return Ok(());
        }
        let start = gather.arena.len();
        let read = item(header, record, asked).and_then(|(text, id, values)| {
            asked.options.shape.push_text(text, true, &mut gather.arena)?;
            Ok((id, values))
        });
        match read {
            Ok((id, values)) => {
                gather.item((start, gather.arena.len()), ordinal, first + line, id, values);
                Ok(())
            }
            Err(what) => gather.bad(first + line, what),
        }
    })?;
    Ok(gather.finish(count))
}

type Parts<'a> = (&'a str, Option<Id>, KeepValues);

fn item<'a>(
    header: &Header,
    record: &'a ByteRecord,
    asked: ReadRequest,
) -> Result<Parts<'a>, Problem> {
    check_length(header, record)?;
    let field = |column: usize| utf8(&record[column]);
    let text = field(header.text)?;
    let id = header.id.map(field).transpose()?.map(|id| Id::Text(id.into()));
    let value = |(column, name): (&Option<usize>, &String)| match column {
        Some(column) => value(field(*column)?, name),
        None => Ok(None),
    };
    let values = header.values.iter().zip(&asked.options.values).map(value);
    Ok((text, id, values.collect::<Result<KeepValues, Problem>>()?))
}

pub(super) fn check_length(header: &Header, record: &ByteRecord) -> Result<(), Problem> {
    if record.len() == header.names.len() {
        return Ok(());
    }
    let first = if header.row.is_empty() { "first line" } else { "header" };
    let what = format!("{} fields where the {first} has {}", record.len(), header.names.len());
    Err(Problem::new(what)
        .or("fix the line")
        .or("put quotes around a field with a delimiter or a line end in it")
        .or(Advice::with("delimiter", "name the delimiter"))
        .or(Advice::SKIP))
}

fn value(text: &str, field: &str) -> Result<Option<Value>, Problem> {
    if let Ok(whole) = text.trim().parse::<i128>() {
        return Ok(Some(Value::Int(whole)));
    }
    match text.trim().parse::<f64>() {
        _ if text.is_empty() => Ok(None),
        Ok(number) if number.is_nan() => Err(not_a_number(field)),
        Ok(number) => Ok(Some(Value::Number(number))),
        Err(_) => Ok(Some(Value::Text(text.into()))),
    }
}

/// The problem of a value that cannot be ordered.
pub(super) fn not_a_number(field: &str) -> Problem {
    Problem::new(format!("field `{field}` is NaN, which has no order"))
        .or("write a number or leave it empty")
}

/// Where the wanted records lie.
pub(super) fn copy(
    header: &Header,
    data: &[u8],
    wanted: RecordFilter,
    out: &mut Stretches,
) -> Result<u32> {
    records(header, data, |ordinal, _, _, at| {
        if wanted(ordinal) {
            out.push(at);
        }
        Ok(())
    })
}

/// Calls `each` with the fields of the wanted records, in the order of the header.
pub(super) fn rows(
    header: &Header,
    data: &[u8],
    first: u64,
    asked: ReadRequest,
    wanted: RecordFilter,
    mut each: impl FnMut(&[&str]),
) -> Result<u32> {
    records(header, data, |ordinal, line, record, _| {
        if wanted(ordinal) {
            let fields = check_length(header, record)
                .and_then(|()| record.iter().map(utf8).collect::<Result<Vec<_>, _>>())
                .map_err(|what| asked.error(first + line, what))?;
            each(&fields);
        }
        Ok(())
    })
}

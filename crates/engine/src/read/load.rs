//! Whole collections into memory: vectors, bit strings, strings.
//!
//! Records are parsed on all cores and taken in order. Vectors and bit strings of one collection must be
//! equally long; an error names the file and the line of the first that is not.
//!
//! 60,000 vectors of 784 components, on two busy cores: `.npy` and `.fvecs` in 0.5 s, `.npy` stored by column
//! in 1.2 s, a Parquet list column in 1.3 s, JSON lines (540 MB) in 4.5 s.

use super::{
    Chunk, Input, Kind, OnError, ReadOptions, Shape,
    arrow_lists::ArrowLists,
    convert,
    named::{NamedItems, NamesBuilder, Refusal},
    numbers::{self, BitNotation, Digits},
    open,
    place::Place,
    rows::null,
    scan::Data,
    shards_of,
    table::ValueColumn,
    vector_files::{self, Number},
};
use crate::error::{Advice, Error, Problem, Result};
use crate::item::{Batch, Bits, Id, KeepValues, Sets, Vectors};
use crate::parallel::in_order;
use crate::shingle::Grid;
use arrow_array::{
    Array, ArrayRef,
    cast::AsArray,
    types::{Float64Type, UInt8Type},
};
use arrow_schema::{ArrowError, DataType};
use std::path::Path;

/// Reads vectors: `.npy` (two dimensions, one vector per row), `.fvecs` `.bvecs` `.ivecs`, lists of numbers in
/// JSON lines and Parquet columns, cells and lines with numbers between white space, commas or semicolons.
///
/// # Errors
/// When a vector has another number of components than those before, or none, or one that is not a finite
/// number; and when a file cannot be read.
pub fn load_vectors(
    places: &[impl Into<Place> + Clone],
    options: &ReadOptions,
) -> Result<NamedItems<Vectors>> {
    vectors(places, options, None)
}

/// Reads vectors of which only the direction counts.
///
/// # Errors
/// As [`load_vectors`], and when all components of a vector are zero.
pub fn load_directions(
    places: &[impl Into<Place> + Clone],
    options: &ReadOptions,
) -> Result<NamedItems<Vectors>> {
    let refusal = || {
        Problem::new("all components are zero, so it has no direction")
            .or("drop it")
            .or(Advice::set("measure", "l2"))
            .or(Advice::SKIP)
    };
    vectors(places, options, Some(refusal))
}

fn vectors(
    places: &[impl Into<Place> + Clone],
    options: &ReadOptions,
    refusal: Option<fn() -> Problem>,
) -> Result<NamedItems<Vectors>> {
    let reading = ItemReader {
        text: &|text, out| Ok((numbers::vector(text, out)?, BitNotation::Clear)),
        column: &vector_column,
        row: &|element, row, out| {
            let start = out.len();
            element.floats(row, out)?;
            let components = out[start..].iter().zip(1..);
            for (value, number) in components {
                numbers::finite(number, *value)?;
            }
            Ok((out.len() - start, BitNotation::Clear))
        },
        unequal: Some(|length, before| {
            let what = format!("vector has {length} components, those before {before}");
            Problem::new(what).or("mend or drop it").or(Advice::SKIP)
        }),
        unfit: |values| values.iter().all(|&value| value == 0.0),
        refusal,
    };
    let loaded = load(places, options, Shape::Value, &reading)?;
    let items = match loaded.length {
        None => Vectors::default(),
        Some(dimension) => Vectors::new(dimension, loaded.values)?,
    };
    Ok(NamedItems { items, names: loaded.naming.finish() })
}

/// Reads bit strings: texts of 0 and 1 or of hexadecimal digits (`digits` says which, where that is not
/// clear), lists of 0 and 1, Parquet columns of bytes, `.npy` of bytes, eight bits each, or of booleans, and
/// `.bvecs`.
///
/// The first digit, or the most significant bit of the first byte, is bit 0, as `numpy.packbits` has it.
///
/// # Errors
/// When a bit string is longer or shorter than those before, or has other digits; and when a file cannot be
/// read.
pub fn load_bits(
    places: &[impl Into<Place> + Clone],
    options: &ReadOptions,
    digits: Digits,
) -> Result<NamedItems<Bits>> {
    let text = |text: &str, out: &mut Vec<u64>| numbers::bits(text, digits, out);
    let reading = ItemReader {
        text: &text,
        column: &|column| bit_column(column, digits),
        row: &|element, row, out| match element.number {
            Number::Unsigned(1) => numbers::bytes(row, out),
            Number::Bool => numbers::booleans(row, out),
            _ => Err(Problem::new("numbers that are no bytes")
                .or("save bits as uint8 (numpy.packbits) or as bool")),
        },
        unequal: Some(|length, before| {
            let what = format!("{length} bits, those before have {before}");
            Problem::new(what).or("mend or drop it").or(Advice::SKIP)
        }),
        unfit: |_| false,
        refusal: None,
    };
    let loaded = load(places, options, Shape::Value, &reading)?;
    let mut items = Bits::default();
    if let Some(length) = loaded.length {
        items = Bits::new(length)?;
        let words = items.words_each();
        loaded.values.chunks_exact(words).try_for_each(|words| items.push(words))?;
    }
    Ok(NamedItems { items, names: loaded.naming.finish() })
}

/// Reads lists of points, [x, y] and whatever else stands behind these, as the squares of a grid that they are in.
///
/// # Errors
/// When a record is no such list, and when a file cannot be read.
pub fn load_points(
    places: &[impl Into<Place> + Clone],
    options: &ReadOptions,
    grid: &Grid,
) -> Result<NamedItems<Sets>> {
    let reading = ItemReader {
        text: &|text, out: &mut Vec<u64>| {
            let squares = squares(text, grid)?;
            out.extend_from_slice(&squares);
            Ok((squares.len(), BitNotation::Clear))
        },
        column: &|_| Ok(None),
        row: &|_, _, _| Err("vectors are no points".into()),
        unequal: None,
        unfit: |_| false,
        refusal: None,
    };
    let loaded = load(places, options, Shape::Value, &reading)?;
    let mut items = Sets::default();
    loaded.ends.windows(2).for_each(|range| items.push(&loaded.values[range[0]..range[1]]));
    Ok(NamedItems { items, names: loaded.naming.finish() })
}

/// The squares of a list of points.
fn squares(text: &str, grid: &Grid) -> Result<Vec<u64>, Problem> {
    let how = "write a list of points, such as [[44, 359], [54, 209]]";
    let wrong = |what: String| Problem::new(what).or(how).or(Advice::SKIP);
    let list: Vec<Vec<serde_json::Value>> =
        serde_json::from_str(text).map_err(|_| wrong("no list of points".to_owned()))?;
    let mut points = Vec::with_capacity(list.len());
    for (number, point) in (1..).zip(&list) {
        let coordinate = |at: usize| point.get(at).and_then(serde_json::Value::as_f64);
        let Some(point) = coordinate(0).zip(coordinate(1)) else {
            return Err(wrong(format!("point {number} has no x and y that are numbers")));
        };
        points.push(point);
    }
    grid.set(points).map_err(|error| wrong(error.to_string()))
}

/// Reads texts as they are.
///
/// # Errors
/// When a record has no text, or a file cannot be read.
pub fn load_strings(
    places: &[impl Into<Place> + Clone],
    options: &ReadOptions,
) -> Result<NamedItems<Vec<String>>> {
    let reading = ItemReader {
        text: &|text, out: &mut Vec<u8>| {
            out.extend_from_slice(text.as_bytes());
            Ok((text.len(), BitNotation::Clear))
        },
        column: &|_| Ok(None),
        row: &|_, _, _| Err("vectors are no texts".into()),
        unequal: None,
        unfit: |_| false,
        refusal: None,
    };
    let loaded = load(places, options, options.shape, &reading)?;
    let text = |range: &[usize]| {
        let bytes = loaded.values[range[0]..range[1]].to_vec();
        String::from_utf8(bytes).unwrap_or_default() // they were texts
    };
    let items = loaded.ends.windows(2).map(text).collect();
    Ok(NamedItems { items, names: loaded.naming.finish() })
}

pub(super) fn threads() -> usize {
    rayon::current_num_threads()
}

/// How long an item is, and how it was written.
pub(super) type ItemLength = Result<(usize, BitNotation), Problem>;

/// Appends the item of one row.
pub(super) type RowOf<E> = Box<dyn Fn(usize, &mut Vec<E>) -> ItemLength>;

/// How the rows of a column are read; nothing where they are texts.
pub(super) type ColumnOf<E> = Result<Option<RowOf<E>>, ArrowError>;

/// Appends the item that a row of a file of vectors holds.
pub(super) type VectorRow<E> =
    dyn Fn(vector_files::NumberType, &[u8], &mut Vec<E>) -> ItemLength + Sync;

/// How items are read from texts, from columns of lists or bytes, and from rows of files of vectors.
pub(super) struct ItemReader<'a, E> {
    pub(super) text: &'a (dyn Fn(&str, &mut Vec<E>) -> ItemLength + Sync),
    pub(super) column: &'a (dyn Fn(&ArrayRef) -> ColumnOf<E> + Sync),
    pub(super) row: &'a VectorRow<E>,
    /// The problem of items that are not equally long, if they must be.
    pub(super) unequal: Option<fn(usize, usize) -> Problem>,
    /// Which well-formed items cannot be used, and what is wrong with them.
    pub(super) unfit: fn(&[E]) -> bool,
    pub(super) refusal: Option<fn() -> Problem>,
}

/// What was read so far.
pub(super) struct ItemsBuilder<E> {
    pub(super) values: Vec<E>,
    /// Where each item starts and the last ends, for items of any length.
    pub(super) ends: Vec<usize>,
    /// The length of all items, where they must be equally long.
    length: Option<usize>,
    written: BitNotation,
    pub(super) naming: NamesBuilder,
    /// Records before the file that is being read.
    position: u64,
}

/// The items of one chunk.
pub(super) struct ChunkItems<E> {
    values: Vec<E>,
    pub(super) records: Vec<Record>,
    bad: Vec<Error>,
    count: u32,
}

pub(super) struct Record {
    ordinal: u32,
    pub(super) line: u64,
    id: Option<Id>,
    /// The values that decide which item is kept.
    kept_by: KeepValues,
    /// Where its values end among those of the chunk.
    end: usize,
    measured: ItemLength,
}

fn load<E: Copy + Send>(
    places: &[impl Into<Place> + Clone],
    options: &ReadOptions,
    shape: Shape,
    reading: &ItemReader<E>,
) -> Result<ItemsBuilder<E>> {
    let mut loaded = ItemsBuilder::new();
    let places: Vec<Place> = places.iter().cloned().map(Into::into).collect();
    for place in shards_of::with_shards(&places, options)? {
        match open::vectors_file(&place, options)? {
            Some((stored, _, format)) if !options.values.is_empty() => {
                let what =
                    format!("files that end in .{format} hold vectors alone, no fields to keep by");
                return Err(Error::file(
                    &stored.name,
                    Problem::new(what).or(Advice::set("keep", "first")),
                ));
            }
            Some((stored, _, format)) if field_option(options).is_some() => {
                let what = format!("files that end in .{format} hold vectors alone, no fields");
                let advice = field_option(options).map(Advice::leave_out);
                return Err(Error::file(&stored.name, Problem::new(what).or_all(advice)));
            }
            Some((stored, compression, format)) => {
                loaded.naming.file(&stored.name);
                let mut row_values = Vec::new();
                vector_files::rows(&stored, compression, format, &mut |row, element, bytes| {
                    row_values.clear();
                    let measured = (reading.row)(element, bytes, &mut row_values);
                    let record = Record {
                        ordinal: 0,
                        line: row,
                        id: None,
                        kept_by: KeepValues::new(),
                        end: row_values.len(),
                        measured,
                    };
                    let taken =
                        loaded.take(&stored.name, record, &row_values, options.on_error, reading);
                    loaded.position += 1;
                    loaded.naming.read_up_to(loaded.position);
                    taken
                })?;
            }
            None => loaded.texts(&place, options, shape, reading)?,
        }
    }
    Ok(loaded)
}

/// An option that names a field, if one was given.
fn field_option(options: &ReadOptions) -> Option<&'static str> {
    let names_text = options.text != ReadOptions::default().text;
    options.id.is_some().then_some("id").or(names_text.then_some("text"))
}

impl<E: Copy + Send> ItemsBuilder<E> {
    pub(super) fn new() -> Self {
        Self {
            values: Vec::new(),
            ends: vec![0],
            length: None,
            written: BitNotation::Clear,
            naming: NamesBuilder::default(),
            position: 0,
        }
    }

    /// Reads a file or a table of records.
    fn texts(
        &mut self,
        place: &Place,
        options: &ReadOptions,
        shape: Shape,
        reading: &ItemReader<E>,
    ) -> Result<()> {
        if let Some(path) = place.path()
            && shape == Shape::Value
            && path.is_dir()
        {
            let what = "is a folder, which holds documents; name the files with the items";
            return Err(Error::file(path, what));
        }
        let options = ReadOptions { shape, ..options.clone() };
        let input = Input::open(std::slice::from_ref(place), options)?;
        let source = match input.sources.first() {
            Some(source) => source.name.clone(),
            None => return Ok(()),
        };
        self.naming.file(&source);
        let on_error = input.options.on_error;
        let read = |chunk| part(&input, &chunk, reading);
        let take = |part| self.take_part(&source, part, on_error, reading);
        in_order(threads(), input.scan(), read, take)
    }

    /// Adds the items of a chunk.
    pub(super) fn take_part(
        &mut self,
        path: &Path,
        part: ChunkItems<E>,
        on_error: OnError,
        reading: &ItemReader<E>,
    ) -> Result<()> {
        part.bad.into_iter().for_each(|error| self.naming.skip(error));
        let mut start = 0;
        for record in part.records {
            let end = record.end;
            self.take(path, record, &part.values[start..end], on_error, reading)?;
            start = end;
        }
        self.position += u64::from(part.count);
        self.naming.read_up_to(self.position);
        Ok(())
    }

    /// Adds one item, or skips a bad one if the user asked for that.
    fn take(
        &mut self,
        path: &Path,
        record: Record,
        values: &[E],
        on_error: OnError,
        reading: &ItemReader<E>,
    ) -> Result<()> {
        let position = self.position + u64::from(record.ordinal);
        let fits = |(length, written): (usize, BitNotation)| match (reading.unequal, self.length) {
            _ if self.clashes(written) => Err(mixed(written)),
            (Some(say), Some(before)) if before != length => Err(say(length, before)),
            _ => Ok((length, written)),
        };
        let unfit = reading.refusal.filter(|_| (reading.unfit)(values)).map(|refusal| refusal());
        let measured = record.measured.and_then(|it| unfit.map_or(Ok(it), Err));
        let fitting = measured.and_then(fits).map_err(Refusal::Record);
        let added = fitting.and_then(|measured| {
            self.naming.add(position, record.line, record.id)?;
            if !record.kept_by.is_empty() {
                self.naming.kept_by(record.kept_by);
            }
            Ok(measured)
        });
        let what = match added {
            Ok((length, written)) => {
                if self.length.is_none() {
                    self.length = reading.unequal.map(|_| length);
                }
                if written != BitNotation::Clear {
                    self.written = written;
                }
                self.values.extend_from_slice(values);
                if reading.unequal.is_none() {
                    self.ends.push(self.values.len());
                }
                return Ok(());
            }
            Err(Refusal::File(what)) => {
                return Err(Error::file(path, what));
            }
            Err(Refusal::Record(what)) => what,
        };
        let error = Error::input(path, record.line, what);
        match on_error {
            OnError::Stop => Err(error),
            OnError::Skip => {
                self.naming.skip(error);
                Ok(())
            }
        }
    }

    fn clashes(&self, written: BitNotation) -> bool {
        let clear = BitNotation::Clear;
        written != clear && self.written != clear && self.written != written
    }
}

/// The problem of a bit string that is written in another way than those before.
fn mixed(written: BitNotation) -> Problem {
    let what = match written {
        BitNotation::Hex => "hexadecimal digits, and those before were read as bits 0 and 1",
        _ => "only 0 and 1, and those before have hexadecimal digits",
    };
    Problem::new(what).or(Advice::set("digits", "hex")).or("write all in one way")
}

/// Reads the items of a chunk.
fn part<E>(input: &Input, chunk: &Chunk, reading: &ItemReader<E>) -> Result<ChunkItems<E>> {
    let source = &input.sources[chunk.source()];
    if let (Kind::Table { stored, table }, Data::Rows(stretch), Shape::Value) =
        (&source.kind, &chunk.data, input.options.shape)
    {
        let values = table.values(stored, stretch, input.asked(source))?;
        let row = (reading.column)(&values.values).map_err(|error| stored.error(error.to_string()));
        if let Some(row) = row? {
            return Ok(column_part(values, &input.options.text, &row));
        }
    }
    Ok(batch_part(input.decode(chunk, &|_| true)?, reading))
}

pub(super) fn batch_part<E>(batch: Batch, reading: &ItemReader<E>) -> ChunkItems<E> {
    let mut values = Vec::new();
    let mut records = Vec::with_capacity(batch.items.len());
    for (index, item) in batch.items.iter().enumerate() {
        let start = values.len();
        let measured = (reading.text)(batch.text(index), &mut values);
        if measured.is_err() {
            values.truncate(start);
        }
        records.push(Record {
            ordinal: item.ordinal,
            line: item.line,
            id: item.id.clone(),
            kept_by: item.values.clone(),
            end: values.len(),
            measured,
        });
    }
    ChunkItems { values, records, bad: batch.bad, count: batch.records }
}

fn column_part<E>(column: ValueColumn, name: &str, row_of: &RowOf<E>) -> ChunkItems<E> {
    let mut values = Vec::new();
    let mut ids = column.ids.map(Vec::into_iter);
    let mut merits = column.merits.map(Vec::into_iter);
    let count = column.values.len();
    let records = (0..count)
        .map(|row| {
            let start = values.len();
            let id = ids.as_mut().and_then(Iterator::next).transpose();
            let merit = merits.as_mut().and_then(Iterator::next).transpose();
            let measured = id.and_then(|id| match column.values.is_null(row) {
                true => Err(null(name)),
                false => Ok((id, merit?.unwrap_or_default(), row_of(row, &mut values)?)),
            });
            if measured.is_err() {
                values.truncate(start);
            }
            let (id, kept_by, measured) = match measured {
                Ok((id, kept_by, measured)) => (id, kept_by, Ok(measured)),
                Err(what) => (None, KeepValues::new(), Err(what)),
            };
            let (ordinal, line) = (row as u32, column.first + row as u64);
            Record { ordinal, line, id, kept_by, end: values.len(), measured }
        })
        .collect();
    ChunkItems { values, records, bad: Vec::new(), count: count as u32 }
}

/// The rows of a column of lists of numbers as vectors.
fn vector_column(column: &ArrayRef) -> ColumnOf<f32> {
    let Some(lists) = ArrowLists::new(column) else { return Ok(None) };
    let numbers = convert::floats(&lists.values)?;
    let ranges: Vec<(usize, usize)> = (0..column.len()).map(|row| lists.range(row)).collect();
    Ok(Some(Box::new(move |row, out| {
        let (start, end) = ranges[row];
        let numbers = numbers.as_primitive::<Float64Type>();
        for (at, number) in (start..end).zip(1..) {
            if numbers.is_null(at) {
                let what = format!("component {number} is null");
                return Err(Problem::new(what).or("mend or drop the vector"));
            }
            out.push(numbers::single(number, numbers.value(at))?);
        }
        match end - start {
            0 => Err(numbers::no_components()),
            dimension => Ok((dimension, BitNotation::Clear)),
        }
    })))
}

/// The rows of a column of bytes, or of lists of 0 and 1, as bit strings.
fn bit_column(column: &ArrayRef, digits: Digits) -> ColumnOf<u64> {
    if let Some(lists) = ArrowLists::new(column) {
        if lists.values.data_type().is_floating() {
            let what = "lists of fractions are no bits; save 0 and 1 as whole numbers or booleans";
            return Err(ArrowError::CastError(what.to_owned()));
        }
        let numbers = convert::whole::<UInt8Type>(&lists.values)?;
        let nulls = lists.values.clone();
        let ranges: Vec<(usize, usize)> = (0..column.len()).map(|row| lists.range(row)).collect();
        return Ok(Some(Box::new(move |row, out| {
            let (start, end) = ranges[row];
            let numbers = numbers.as_primitive::<UInt8Type>();
            for (at, number) in (start..end).zip(1..) {
                if nulls.is_null(at) || numbers.is_null(at) || numbers.value(at) > 1 {
                    let what = format!("component {number} is not 0 or 1");
                    return Err(Problem::new(what).or("bits are 0 or 1"));
                }
            }
            numbers::booleans(&numbers.values()[start..end], out)
        })));
    }
    if matches!(column.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) {
        let texts = convert::texts(column)?;
        return Ok(Some(Box::new(move |row, out| {
            numbers::bits(texts.as_string::<i64>().value(row), digits, out)
        })));
    }
    let bytes = convert::bytes(column)?;
    Ok(Some(Box::new(move |row, out| numbers::bytes(bytes.as_binary::<i64>().value(row), out))))
}

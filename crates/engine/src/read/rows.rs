//! Some columns of a table, row by row: CSV, TSV, JSON lines, Parquet, and lines of text whose columns stand
//! between white space.
//!
//! Columns are asked for by [`ReadOptions::columns`]: by their names, or by their numbers from 1 where no
//! column has that name. In lines of text, which have numbers only, blank lines and those that begin with
//! `#` or `%` are passed over, as edge lists have them.

use super::{
    Chunk, IdSource, Input, Kind, Syntax, csv,
    fields::{self, Scalar, WANTED},
    item,
    json_array::ArrayLines,
    lines::{self, utf8},
    scan::Data,
    shape::{Shape, number_text},
};
use crate::error::{Advice, Error, Problem, Result};
use crate::item::Id;
use arrow_array::{Array, cast::AsArray};
use serde_json::{Map, Value as Json};
use std::borrow::Cow;

/// What stands for all columns.
pub(crate) const ALL: &str = "*";

/// A row of a table.
pub(super) struct Row<'a> {
    /// Its number in its chunk, from 0.
    pub(super) ordinal: u32,
    /// Its line in the file, from 1.
    pub(super) line: u64,
    /// Its id, where all columns are asked for and one of them has the ids.
    pub(super) id: Option<Id>,
    /// The columns that were asked for, in that order.
    pub(super) cells: Vec<RowCell<'a>>,
}

/// A value of a row.
#[derive(Debug)]
pub(super) struct RowCell<'a> {
    pub(super) name: Cow<'a, str>,
    /// Nothing where it is null.
    pub(super) text: Option<Cow<'a, str>>,
    /// Whether it is a whole number, and not a text that looks like one.
    pub(super) whole: bool,
}

impl<'a> RowCell<'a> {
    fn text(name: &'a str, text: &'a str) -> Self {
        Self { name: name.into(), text: Some(text.into()), whole: false }
    }

    /// The value, or why there is none.
    pub(super) fn value(&self) -> Result<&str, Problem> {
        self.text.as_deref().ok_or_else(|| null(&self.name))
    }

    /// The value as an id.
    pub(super) fn id(&self) -> Result<Id, Problem> {
        let text = self.value()?;
        match text.parse() {
            Ok(number) if self.whole => Ok(Id::Int(number)),
            _ => Ok(Id::Text(text.into())),
        }
    }

    /// The value as a number.
    pub(super) fn number(&self) -> Result<f64, Problem> {
        let text = self.value()?;
        text.trim().parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| {
            Problem::new(format!("column `{}` is `{text}`, not a number", self.name))
                .or("mend it")
                .or(Advice::SKIP)
        })
    }
}

/// The problem of a cell that has to hold something.
pub(super) fn null(column: &str) -> Problem {
    Problem::new(format!("column `{column}` is null")).or("fill it").or(Advice::SKIP)
}

/// Takes a row, or what is wrong with the row at a line.
pub(super) type EachRow<'e> = &'e mut dyn FnMut(u64, Result<Row, Problem>) -> Result<()>;

/// Calls `each` with every row of a chunk; returns how many there are.
pub(super) fn rows(input: &Input, chunk: &Chunk, each: EachRow) -> Result<u32> {
    let source = &input.sources[chunk.source()];
    match (&source.kind, &chunk.data) {
        (Kind::Text { .. }, Data::TooLong { bytes, line }) => {
            input.options.max_item.check(*bytes).or_else(|problem| each(*line, Err(problem)))?;
            Ok(1)
        }
        (Kind::Text { syntax, .. }, Data::Text { bytes, line }) => match syntax {
            Syntax::Jsonl => json_rows(input, bytes, *line, each),
            Syntax::Array(_) => {
                let array = ArrayLines::new(input.asked(source), bytes, *line)?;
                json_rows(input, &array.json, 1, &mut |number, row| {
                    let line = array.line(number);
                    each(line, row.map(|row| Row { line, ..row }))
                })
            }
            Syntax::Txt => line_rows(input, bytes, *line, each),
            Syntax::Csv(header) => csv::records(header, bytes, |ordinal, at, record, _| {
                let line = line + at;
                let cells = csv::check_length(header, record).and_then(|()| {
                    let cell = |at: &usize| {
                        utf8(&record[*at]).map(|text| RowCell::text(&header.names[*at], text))
                    };
                    header.columns.iter().map(cell).collect()
                });
                let row = cells.and_then(|cells| {
                    let id = |column| utf8(&record[column]).map(|id| Id::Text(id.into()));
                    Ok(Row { ordinal, line, id: header.id.map(id).transpose()?, cells })
                });
                each(line, row)
            }),
        },
        (Kind::Table { stored, table }, Data::Rows(stretch)) => {
            let (columns, ids, first) = table.cells(stored, stretch)?;
            let count = columns.first().map_or(0, |column| column.texts.len());
            let mut ids = ids.map(Vec::into_iter);
            for at in 0..count {
                let line = first + at as u64;
                let cell = |column: &super::table::TextCells| {
                    let texts = column.texts.as_string::<i64>();
                    let text = texts.is_valid(at).then(|| texts.value(at).to_owned().into());
                    RowCell { name: column.name.clone().into(), text, whole: column.whole }
                };
                let cells = columns.iter().map(cell).collect();
                let id = ids.as_mut().and_then(Iterator::next).transpose();
                each(line, id.map(|id| Row { ordinal: at as u32, line, id, cells }))?;
            }
            Ok(count as u32)
        }
        _ => {
            Err(Error::file(source.name.clone(), "is a folder, not a table; name the files in it"))
        }
    }
}

fn line_rows(input: &Input, data: &[u8], first: u64, each: EachRow) -> Result<u32> {
    let names = &input.options.columns;
    let mut ordinal = 0;
    for (line, bytes) in lines::all_lines(data, first) {
        let start = bytes.trim_ascii_start().first();
        if !matches!(start, None | Some(b'#' | b'%')) {
            let row = utf8(bytes).and_then(|text| {
                let fields: Vec<&str> = text.split_whitespace().collect();
                let cells = match *names == [ALL] {
                    true => {
                        let named = |(field, number): (&&'_ str, u32)| RowCell {
                            name: number.to_string().into(),
                            text: Some((*field).to_owned().into()),
                            whole: false,
                        };
                        fields.iter().zip(1..).map(named).collect()
                    }
                    false => names
                        .iter()
                        .map(|name| numbered(name, &fields))
                        .collect::<Result<_, _>>()?,
                };
                Ok(Row { ordinal, line, id: None, cells })
            });
            each(line, row)?;
        }
        ordinal += 1;
    }
    Ok(ordinal)
}

fn numbered<'a>(name: &'a str, fields: &[&'a str]) -> Result<RowCell<'a>, Problem> {
    let column: Option<usize> = name.parse().ok();
    match column.and_then(|column| fields.get(column.checked_sub(1)?)) {
        Some(field) => Ok(RowCell::text(name, field)),
        None if column.is_some() => {
            let what = format!("{} fields, and column {name} is asked for", fields.len());
            Err(Problem::new(what).or("mend the line").or(Advice::SKIP))
        }
        None => {
            let what =
                format!("no column `{name}`: the columns of lines of text have numbers, from 1");
            Err(Problem::new(what).or("name one of them").or(Advice::set("format", "csv")))
        }
    }
}

fn json_rows(input: &Input, data: &[u8], first: u64, each: EachRow) -> Result<u32> {
    let names = &input.options.columns;
    let mut count = 0;
    for ((line, bytes), ordinal) in lines::lines(data, first).zip(0..) {
        let row = utf8(bytes).and_then(|text| {
            let (id, cells) = match *names == [ALL] {
                true => all_fields(input, text)?,
                false => (None, some_fields(names, text)?),
            };
            Ok(Row { ordinal, line, id, cells })
        });
        each(line, row)?;
        count = ordinal + 1;
    }
    Ok(count)
}

/// Up to three fields, which is what tables of groups have.
fn some_fields<'a>(names: &'a [String], text: &str) -> Result<Vec<RowCell<'a>>, Problem> {
    let mut wanted = [None; WANTED];
    for (slot, name) in wanted.iter_mut().zip(names) {
        *slot = Some(name.as_str());
    }
    let mut arena = Vec::new();
    let found = fields::take(text, &wanted, false, &mut arena)
        .map_err(|broken| lines::broken(broken, text))?;
    let cell = |(slot, name): (usize, &'a String)| {
        let missing = || lines::missing(name, text.as_bytes(), "name the right one");
        let (text, whole) = match found.get(slot).ok_or_else(missing)? {
            Scalar::Text(start, end) => (Some(utf8(&arena[start..end])?.to_owned()), false),
            Scalar::Int(number) => (Some(number.to_string()), true),
            Scalar::Huge(number) => (Some(number.to_string()), true),
            Scalar::Float(number) => (Some(number_text(number)), false),
            Scalar::Null => (None, false),
            other => {
                let what = format!("field `{name}` is {}", other.kind());
                return Err(Problem::new(what).or("it must be a string or a number"));
            }
        };
        Ok(RowCell { name: name.into(), text: text.map(Cow::Owned), whole })
    };
    names.iter().enumerate().map(cell).collect()
}

/// Every field but the id; the items of a list are fields of their own, unless any value is taken as it is.
fn all_fields(input: &Input, text: &str) -> Result<(Option<Id>, Vec<RowCell<'static>>), Problem> {
    let map: Map<String, Json> = serde_json::from_str(text)
        .map_err(|error| lines::broken(fields::JsonProblem::Json(error), text))?;
    let mut id = None;
    let mut cells = Vec::new();
    for (name, value) in map {
        match (&input.ids, value) {
            (IdSource::Field(field), value) if *field == name => {
                id = Some(match value {
                    Json::String(text) => Id::Text(text.into()),
                    Json::Number(number) if number.is_i64() => {
                        Id::Int(number.as_i64().unwrap_or_default())
                    }
                    _ => {
                        let what = format!("id `{name}` must be a string or a whole number");
                        return Err(what.into());
                    }
                });
            }
            (_, Json::Array(values)) if input.options.shape == Shape::Text => {
                for (value, number) in values.into_iter().zip(1..) {
                    cells.push(json_cell(format!("{name}.{number}"), value)?);
                }
            }
            (_, value @ (Json::Array(_) | Json::Object(_)))
                if input.options.shape == Shape::Value =>
            {
                cells.push(json_cell(name, Json::String(value.to_string()))?);
            }
            (_, value) => cells.push(json_cell(name, value)?),
        }
    }
    match &input.ids {
        IdSource::Field(field) if id.is_none() => {
            let known = cells.iter().map(|cell| &*cell.name);
            let advice = item::choose(known, "every record needs its id".into());
            Err(Problem::new(format!("no field `{field}`")).or(advice))
        }
        _ => Ok((id, cells)),
    }
}

fn json_cell(name: String, value: Json) -> Result<RowCell<'static>, Problem> {
    let (text, whole) = match value {
        Json::Null => (None, false),
        Json::String(text) => (Some(text), false),
        Json::Bool(value) => (Some(value.to_string()), false),
        Json::Number(number) => (Some(number.to_string()), number.is_i64()),
        Json::Array(_) | Json::Object(_) => {
            let what = format!("field `{name}` is no single value");
            return Err(Problem::new(what).or("leave it out"));
        }
    };
    Ok(RowCell { name: name.into(), text: text.map(Cow::Owned), whole })
}

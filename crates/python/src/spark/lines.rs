//! Pieces of files with one record per line, read by executors themselves.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::StringBuilder;
use arrow_pyarrow::PyArrowType;
use nearkin_engine::item::Id;
use nearkin_engine::read::{Format, OnError, Piece, Pieces, ReadOptions};
use nearkin_engine::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::columns::{batch, numbers};
use crate::error::Raise;
use crate::run::parse_options;

/// How lines are read: `path`, `name` (what the file is called, if `path` is a copy of it), `text`, `id` (a field's name or
/// none), `format`, `skip` (bad records), `options` (those that say how large an item may be).
pub(super) fn pieces(reading: &Bound<'_, PyDict>) -> PyResult<Pieces> {
    let text = |name: &str| -> PyResult<Option<String>> {
        reading.get_item(name)?.map_or(Ok(None), |value| value.extract())
    };
    let skip = reading.get_item("skip")?.map_or(Ok(false), |value| value.is_truthy())?;
    let limits = text("options")?.map(|json| parse_options(reading.py(), &json)).transpose()?;
    let options = ReadOptions {
        text: text("text")?.unwrap_or_else(|| "text".to_owned()),
        id: text("id")?,
        positions: text("id")?.is_none(),
        format: Some(if text("format")?.as_deref() == Some("txt") {
            Format::Txt
        } else {
            Format::Jsonl
        }),
        on_error: if skip { OnError::Skip } else { OnError::Stop },
        max_item: limits.unwrap_or_default().limit_of_task(),
        ..ReadOptions::default()
    };
    let path = text("path")?.unwrap_or_default();
    let name = text("name")?.unwrap_or_else(|| path.clone());
    Ok(Pieces::new(path.into(), options).copied_from(name.into()))
}

/// Records as columns.
#[derive(Default)]
struct Columns {
    positions: Vec<u64>,
    records: Vec<u64>,
    texts: StringBuilder,
    ids: StringBuilder,
}

impl Columns {
    fn push(&mut self, position: u64, record: u64, text: &str, id: Option<&Id>) {
        self.positions.push(position);
        self.records.push(record);
        self.texts.append_value(text);
        self.ids.append_option(id.map(json));
    }

    fn finish(mut self) -> RecordBatch {
        batch(vec![
            ("position", numbers(self.positions)),
            ("record", numbers(self.records)),
            ("text", Arc::new(self.texts.finish())),
            ("id", Arc::new(self.ids.finish())),
        ])
    }
}

/// The records that start at these bytes, counted from the first of `bytes` of a file, or all of `bytes` where none are
/// given: `position` (`position` and the byte), `record` (its number in `bytes`, from 0, where all are read), `text`, and
/// `id` as JSON where there are ids.
#[pyfunction]
#[pyo3(signature = (reading, bytes, position, offsets = None))]
pub(crate) fn read_lines(
    py: Python<'_>,
    reading: &Bound<'_, PyDict>,
    bytes: (u64, u64),
    position: u64,
    offsets: Option<Vec<u64>>,
) -> PyResult<PyArrowType<RecordBatch>> {
    let pieces = pieces(reading)?;
    let work = || -> Result<RecordBatch> {
        let mut columns = Columns::default();
        if let Some(offsets) = &offsets {
            let (file, mut line) = (pieces.open()?, Vec::new());
            for offset in offsets {
                pieces.line_at(&file, bytes.0 + offset, &mut line)?;
                let batch = pieces.decode(Piece::Lines(&line), 1, &|_| true)?;
                let Some(item) = batch.items.first() else { continue };
                columns.push(position + offset, 0, batch.text(0), item.id.as_ref());
            }
            return Ok(columns.finish());
        }
        let (mut records, mut starts) = (0, Vec::new());
        pieces.each(bytes.0..bytes.1, |piece, start| {
            let batch = pieces.decode(piece, records + 1, &|_| true)?;
            pieces.offsets(piece, &mut starts);
            let first = position + (start - bytes.0);
            for (at, item) in batch.items.iter().enumerate() {
                let offset = starts[item.ordinal as usize];
                let record = records + u64::from(item.ordinal);
                columns.push(first + u64::from(offset), record, batch.text(at), item.id.as_ref());
            }
            records += u64::from(batch.records);
            Ok(())
        })?;
        Ok(columns.finish())
    };
    py.detach(work).raise(py).map(PyArrowType)
}

/// An id as JSON.
fn json(id: &Id) -> String {
    let mut out = String::new();
    match id {
        Id::Int(number) => return number.to_string(),
        Id::Text(text) => {
            out.push('"');
            for c in text.chars() {
                match c {
                    '"' => out.push_str("\\\""),
                    '\\' => out.push_str("\\\\"),
                    '\n' => out.push_str("\\n"),
                    '\r' => out.push_str("\\r"),
                    '\t' => out.push_str("\\t"),
                    '\u{8}' => out.push_str("\\b"),
                    '\u{c}' => out.push_str("\\f"),
                    c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
                    c => out.push(c),
                }
            }
            out.push('"');
        }
    }
    out
}

/// Writes the records in these bytes of a file to `target` as they came, but for those that start at the bytes `without`,
/// ascending, counted from the first of these, and those that cannot be used where such are skipped.
#[pyfunction]
pub(crate) fn copy_lines(
    py: Python<'_>,
    reading: &Bound<'_, PyDict>,
    bytes: (u64, u64),
    without: Vec<u64>,
    target: PathBuf,
) -> PyResult<()> {
    let pieces = pieces(reading)?;
    let skips = pieces.skips();
    let work =
        || -> Result<()> {
            let failed = |error: std::io::Error| {
                Error::file(
                    target.clone(),
                    format!("cannot be written: {error}; check the folder and the disk"),
                )
            };
            let mut file = File::create(&target).map_err(failed)?;
            let mut gone = without.iter().peekable();
            let (mut starts, mut out) = (Vec::new(), Vec::new());
            pieces.each(bytes.0..bytes.1, |piece, start| {
                let first = start - bytes.0;
                let mut kept = Vec::with_capacity(starts.len());
                pieces.offsets(piece, &mut starts);
                kept.extend(starts.iter().map(|&offset| {
                    gone.next_if(|&&gone| gone == first + u64::from(offset)).is_none()
                }));
                if skips {
                    let good = pieces.decode(piece, 1, &|_| true)?;
                    let mut is_good = vec![false; kept.len()];
                    good.items.iter().for_each(|item| is_good[item.ordinal as usize] = true);
                    kept.iter_mut().zip(is_good).for_each(|(kept, good)| *kept &= good);
                }
                out.clear();
                pieces.copy(piece, &|ordinal| kept[ordinal as usize], &mut out);
                file.write_all(&out).map_err(failed)
            })
        };
    py.detach(work).raise(py)
}

/// Where the parts of a file with one record per line start, none much larger than `most`.
#[pyfunction]
pub(crate) fn starts(path: PathBuf, most: u64, py: Python<'_>) -> PyResult<Vec<u64>> {
    let size = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
    Pieces::new(path, ReadOptions::default()).starts(size, most).raise(py)
}

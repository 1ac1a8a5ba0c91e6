//! Pieces of files with a record a line, read by executors themselves.

use std::sync::Arc;

use arrow_array::{RecordBatch, StringArray};
use arrow_pyarrow::PyArrowType;
use nearkin::item::Id;
use nearkin::read::{Format, OnError, Pieces, ReadOptions, Shape};
use nearkin::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::columns::{batch, numbers};
use crate::error::Raise;

/// How lines are read: `path`, `text`, `id` (a field's name or none), `format`, `skip` (bad records), `elements`, `value`.
pub(super) fn pieces(reading: &Bound<'_, PyDict>) -> PyResult<Pieces> {
    let text = |name: &str| -> PyResult<Option<String>> {
        reading.get_item(name)?.map_or(Ok(None), |value| value.extract())
    };
    let is = |name: &str| -> PyResult<bool> {
        reading.get_item(name)?.map_or(Ok(false), |value| value.is_truthy())
    };
    let options = ReadOptions {
        text: text("text")?.unwrap_or_else(|| "text".to_owned()),
        id: text("id")?,
        positions: text("id")?.is_none(),
        value: text("value")?,
        format: Some(if text("format")?.as_deref() == Some("txt") {
            Format::Txt
        } else {
            Format::Jsonl
        }),
        on_error: if is("skip")? { OnError::Skip } else { OnError::Stop },
        shape: if is("elements")? { Shape::Elements } else { Shape::Text },
        ..ReadOptions::default()
    };
    Ok(Pieces::new(text("path")?.unwrap_or_default().into(), options))
}

/// The records of a piece in these rows, ascending; all where none are given: `position`, `text`, and `id` as JSON where
/// there are ids. The first record of the piece has this position.
#[pyfunction]
#[pyo3(signature = (piece, position, reading, rows = None))]
pub(crate) fn read_lines(
    py: Python<'_>,
    piece: &[u8],
    position: u64,
    reading: &Bound<'_, PyDict>,
    rows: Option<Vec<u32>>,
) -> PyResult<PyArrowType<RecordBatch>> {
    let pieces = pieces(reading)?;
    let work = || -> Result<RecordBatch> {
        let wanted = |row: u32| rows.as_ref().is_none_or(|rows| rows.binary_search(&row).is_ok());
        let decoded = pieces.decode(piece, 1, &wanted)?;
        if rows.as_ref().is_some_and(|rows| rows.len() != decoded.items.len()) {
            let what = "changed while it was being read; run again".to_owned();
            return Err(Error::File { path: decoded.path, what });
        }
        let texts = (0..decoded.items.len()).map(|at| decoded.text(at));
        let ids = decoded.items.iter().map(|item| item.id.as_ref().map(json));
        let positions = decoded.items.iter().map(|item| position + u64::from(item.ordinal));
        Ok(batch(vec![
            ("position", numbers(positions)),
            ("text", Arc::new(StringArray::from_iter_values(texts))),
            ("id", Arc::new(ids.collect::<StringArray>())),
        ]))
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

/// The records of a piece as they came, but for those in these rows, ascending.
#[pyfunction]
pub(crate) fn copy_lines<'py>(
    py: Python<'py>,
    piece: &[u8],
    reading: &Bound<'py, PyDict>,
    without: Vec<u32>,
) -> PyResult<Bound<'py, PyBytes>> {
    let pieces = pieces(reading)?;
    let out = py.detach(|| {
        let mut out = Vec::with_capacity(piece.len());
        let mut next = without.iter().copied().peekable();
        let next = std::cell::RefCell::new(&mut next);
        // Rows come in order, so one look tells.
        pieces.copy(piece, &|row| next.borrow_mut().next_if_eq(&row).is_none(), &mut out);
        out
    });
    Ok(PyBytes::new(py, &out))
}

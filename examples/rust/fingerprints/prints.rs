//! Reads prints: JSON lines with `finger` and `minutiae`, packed with gzip or not.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use nearkin_engine::{Error, Result};
use serde_json::Value;

/// A place where a ridge ends or splits: in pixels from the upper left corner, and where its ridge leads, in degrees
/// counter-clockwise from the right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Minutia {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) degrees: f64,
}

/// The minutiae of one print, and whose it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Print {
    pub(crate) finger: String,
    pub(crate) minutiae: Vec<Minutia>,
}

/// Minutiae that the extractor is less sure of are left out.
pub(crate) const QUALITY: f64 = 0.3;

/// The prints of a file, a line each.
pub(crate) fn read(path: &Path) -> Result<Vec<Print>> {
    let unreadable = |error: std::io::Error| {
        let what =
            format!("cannot be read ({error}); give a file of JSON lines, packed with gzip or not");
        Error::file(path, what)
    };
    let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
    let packed = file.fill_buf().map_err(unreadable)?.starts_with(&[0x1f, 0x8b]);
    let input: Box<dyn Read> =
        if packed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    let mut prints = Vec::new();
    for (line, text) in (1..).zip(BufReader::new(input).lines()) {
        let text = text.map_err(unreadable)?;
        if text.trim().is_empty() {
            continue;
        }
        let wrong = |what: String| Error::input(path, line, what);
        prints.push(print(&text).map_err(wrong)?);
    }
    Ok(prints)
}

fn print(text: &str) -> Result<Print, String> {
    let record: Value = serde_json::from_str(text)
        .map_err(|error| format!("is no JSON ({error}); put one object a line"))?;
    let finger = match &record["finger"] {
        Value::String(name) => name.clone(),
        Value::Number(number) => number.to_string(),
        _ => return Err("has no `finger`; add the finger's name".to_owned()),
    };
    let rows = record["minutiae"]
        .as_array()
        .ok_or("has no list `minutiae`; add one of [x, y, degrees] for each")?;
    let mut minutiae = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let number = |column: usize| row.get(column).and_then(Value::as_f64);
        let (Some(x), Some(y), Some(degrees)) = (number(0), number(1), number(2)) else {
            return Err(format!(
                "minutia {place} (from 0) is {row}; write [x, y, degrees] or [x, y, degrees, type, quality]"
            ));
        };
        if number(4).is_none_or(|quality| quality >= QUALITY) {
            minutiae.push(Minutia { x, y, degrees });
        }
    }
    Ok(Print { finger, minutiae })
}

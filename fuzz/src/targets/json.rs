//! Lines of JSON: the reader's fast way and serde_json must say the same.

use std::collections::HashMap;
use std::path::PathBuf;

use nearkin_engine::item::{Batch, Id};
use nearkin_engine::read::{OnError, Piece, Pieces, ReadOptions, Shape};
use nearkin_engine::shingle::elements::each_element;
use serde_json::value::RawValue;

use super::{check_message, choices};

/// One record per line: what is read is what serde_json reads, and what is copied are the lines as they came.
pub(crate) fn json(data: &[u8]) {
    let ([flags], data) = choices(data);
    let options = ReadOptions {
        id: (flags & 1 > 0).then(|| "id".to_owned()),
        values: if flags & 2 > 0 { vec!["n".to_owned(), "m".to_owned()] } else { Vec::new() },
        on_error: OnError::Skip,
        ..ReadOptions::default()
    };
    let pieces = Pieces::new(PathBuf::from("in.jsonl"), options);
    let batch = pieces.decode(Piece::Lines(data), 1, &|_| true).expect("bad records are skipped");
    batch.bad.iter().for_each(check_message);
    let records: Vec<&[u8]> =
        data.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect();
    assert_eq!(batch.records as usize, records.len(), "records");
    assert_eq!(batch.items.len() + batch.bad.len(), records.len(), "good and bad records");
    let mut items = batch.items.iter().enumerate().peekable();
    for (ordinal, line) in (0..).zip(&records) {
        let seen = items.next_if(|(_, item)| item.ordinal == ordinal);
        if has_huge_number(line) {
            continue; // an error or not, as it is wanted or not
        }
        let expected = model(line, flags);
        let shown = String::from_utf8_lossy(line);
        match (seen, expected) {
            (Some((at, item)), Some((text, id))) => {
                assert_eq!(batch.text(at), text, "{shown}");
                assert!(flags & 1 == 0 || item.id == id, "{:?} {id:?} {shown}", item.id);
            }
            (None, None) => {}
            (seen, expected) => {
                panic!("{:?} {expected:?} {shown}", seen.map(|(at, _)| batch.text(at)))
            }
        }
    }
    check_copies(&pieces, data, &records);
}

/// Whether a number of the record is beyond those of double precision.
fn has_huge_number(line: &[u8]) -> bool {
    let Ok(object) = serde_json::from_slice::<HashMap<String, &RawValue>>(line) else {
        return false;
    };
    let told = |raw: &&RawValue| serde_json::from_str::<serde_json::Value>(raw.get()).map(drop);
    object
        .values()
        .filter_map(|raw| told(raw).err())
        .any(|error| error.to_string().contains("out of range"))
}

/// The text and the id of a line; nothing where it is a bad record.
fn model(line: &[u8], flags: u8) -> Option<(String, Option<Id>)> {
    let line = std::str::from_utf8(line).ok()?;
    let object: HashMap<String, &RawValue> = serde_json::from_str(line).ok()?;
    let text = serde_json::from_str(object.get("text")?.get()).ok()?;
    let mut id = None;
    if flags & 1 > 0 {
        let raw = object.get("id")?.get();
        id = match raw.parse::<i64>() {
            Ok(number) if raw != "-0" => Some(Id::Int(number)),
            _ => match serde_json::from_str::<serde_json::Value>(raw).ok()? {
                serde_json::Value::String(text) => Some(Id::Text(text.into())),
                _ => return None,
            },
        };
    }
    // A field that decides what is kept, and is not there, counts as null.
    if let (2.., Some(raw)) = (flags & 2, object.get("n")) {
        let value = serde_json::from_str::<serde_json::Value>(raw.get()).ok()?;
        if value.is_boolean() || value.is_array() || value.is_object() {
            return None;
        }
    }
    Some((text, id))
}

fn check_copies(pieces: &Pieces, data: &[u8], records: &[&[u8]]) {
    let mut copy = Vec::new();
    assert_eq!(pieces.copy(Piece::Lines(data), &|_| true, &mut copy) as usize, records.len());
    let mut whole = records.join(&b'\n');
    if !whole.is_empty() {
        whole.push(b'\n');
    }
    assert_eq!(copy, whole, "copied records");
    let mut offsets = Vec::new();
    pieces.offsets(Piece::Lines(data), &mut offsets);
    assert_eq!(offsets.len(), records.len(), "offsets");
    for (offset, record) in offsets.iter().zip(records) {
        assert!(data[*offset as usize..].starts_with(record), "offsets");
    }
}

/// Sets, bags and other values: elements come back as they are in the JSON.
pub(crate) fn shapes(data: &[u8]) {
    let ([flags], data) = choices(data);
    let shape = if flags & 1 > 0 { Shape::Elements } else { Shape::Value };
    let options = ReadOptions { shape, on_error: OnError::Skip, ..ReadOptions::default() };
    let pieces = Pieces::new(PathBuf::from("in.jsonl"), options);
    let batch = pieces.decode(Piece::Lines(data), 1, &|_| true).expect("bad records are skipped");
    batch.bad.iter().for_each(check_message);
    let lines: Vec<&[u8]> =
        data.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect();
    for (at, item) in batch.items.iter().enumerate() {
        if shape == Shape::Elements {
            check_elements(&batch, at, lines[item.ordinal as usize]);
        }
    }
}

/// A list of strings alone has these as its elements.
fn check_elements(batch: &Batch, at: usize, line: &[u8]) {
    let mut elements = Vec::new();
    let mut total = 0u64;
    each_element(batch.text(at), |element, count| {
        total += u64::from(count);
        elements.push(element.to_owned());
    });
    assert!(total >= elements.len() as u64, "an element that is not there");
    let object: HashMap<String, &RawValue> = serde_json::from_slice(line).expect("it was read");
    if let Ok(strings) = serde_json::from_str::<Vec<String>>(object["text"].get()) {
        assert_eq!(elements, strings);
    }
}

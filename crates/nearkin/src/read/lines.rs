//! Formats with a record a line: JSON objects, and plain texts.

use super::{
    Ids, Wanted,
    fields::{self, Broken, Names, Scalar},
    gather::{Asked, Gather},
    item,
};
use crate::Result;
use crate::item::Batch;
use memchr::memchr;

/// All lines, with their ends, each with its number.
fn whole_lines(data: &[u8], first: u64) -> impl Iterator<Item = (u64, &[u8])> {
    let mut rest = data;
    let mut number = first;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, after) = rest.split_at(end);
        rest = after;
        number += 1;
        Some((number - 1, line))
    })
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

/// All lines without their ends: the records of a file of texts, in which a blank line is an empty text.
pub(super) fn all_lines(data: &[u8], first: u64) -> impl Iterator<Item = (u64, &[u8])> {
    whole_lines(data, first).map(|(number, line)| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        (number, line.strip_suffix(b"\r").unwrap_or(line))
    })
}

/// The lines that are not blank: the records of a file of JSON.
pub(super) fn lines(data: &[u8], first: u64) -> impl Iterator<Item = (u64, &[u8])> {
    all_lines(data, first).filter(|(_, line)| !is_blank(line))
}

/// Appends a record as it came, and a line feed where it has no line end: the last of a file.
/// `ends` are the bytes that may end one.
pub(super) fn push_record(record: &[u8], ends: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(record);
    if !record.last().is_some_and(|last| ends.contains(last)) {
        out.push(b'\n');
    }
}

/// Copies the wanted records as they came; blank lines are records or nothing. Returns how many there are
/// in all.
pub(super) fn copy(data: &[u8], with_blank: bool, wanted: Wanted, out: &mut Vec<u8>) -> u32 {
    let mut ordinal = 0;
    for (_, line) in whole_lines(data, 1).filter(|(_, line)| with_blank || !is_blank(line)) {
        if wanted(ordinal) {
            push_record(line, b"\n", out);
        }
        ordinal += 1;
    }
    ordinal
}

/// Lines of text: each is an item.
pub(super) fn decode_txt(
    data: &[u8],
    first: u64,
    asked: Asked,
    wanted: Wanted,
) -> Result<Batch<'static>> {
    let mut gather = Gather::new(asked, data.len());
    let mut ordinal = 0;
    for (number, line) in all_lines(data, first) {
        if wanted(ordinal) {
            match utf8(line) {
                Ok(text) => {
                    let start = gather.arena.len();
                    gather.arena.push_str(text);
                    gather.item((start, start + text.len()), ordinal, number, None, None);
                }
                Err(what) => gather.bad(number, what)?,
            }
        }
        ordinal += 1;
    }
    Ok(gather.finish(ordinal))
}

/// Lines of JSON: each is an object.
pub(super) fn decode_jsonl(
    data: &[u8],
    first: u64,
    asked: Asked,
    wanted: Wanted,
) -> Result<Batch<'static>> {
    let options = asked.options;
    let names: Names =
        [Some(&options.text), Some(asked.ids.field_or_id()), options.value.as_deref()];
    let mut gather = Gather::new(asked, data.len());
    let mut ordinal = 0;
    for (number, line) in lines(data, first) {
        if wanted(ordinal) {
            let kept = gather.arena.len();
            if let Err(what) = record((number, line), &names, asked.ids, ordinal, &mut gather) {
                gather.arena.truncate(kept);
                gather.bad(number, what)?;
            }
        }
        ordinal += 1;
    }
    Ok(gather.finish(ordinal))
}

fn record(
    (number, line): (u64, &[u8]),
    names: &Names,
    ids: &Ids,
    ordinal: u32,
    gather: &mut Gather,
) -> Result<(), String> {
    let line = utf8(line)?;
    let found = fields::take(line, names, &mut gather.arena).map_err(broken)?;
    let name = |slot: usize| names[slot].unwrap_or_default();
    let text = match found.get(0) {
        Some(Scalar::Text(start, end)) => (start, end),
        Some(other) => {
            return Err(format!(
                "field `{}` is {}, not a string; name the text field with --text, or pass \
                 --on-error skip",
                name(0),
                other.kind()
            ));
        }
        None => return Err(missing(name(0), line, "name the text field with --text")),
    };
    let id = match (found.get(1), ids) {
        (Some(scalar), Ids::Field(field)) => Some(item::id(field, scalar, &gather.arena)?),
        (None, Ids::Field(field)) => {
            return Err(missing(field, line, "every record needs its id; name it with --id"));
        }
        (Some(_), Ids::None) => return Err(LATE_ID.to_owned()),
        (None, Ids::None) | (_, Ids::Ignored) => None,
    };
    let value = match (found.get(2), names[2]) {
        (Some(scalar), Some(field)) => item::value(field, scalar, &gather.arena)?,
        (None, Some(field)) => return Err(missing(field, line, "every record needs it")),
        (_, None) => None,
    };
    gather.item(text, ordinal, number, id, value);
    Ok(())
}

const LATE_ID: &str = "has a field `id`, but the first record of the collection has none; name the \
                       id field with --id, or remove it";

/// Whether the first object among these lines has a field `id`; `None` where there is no object.
pub(super) fn first_has_id(data: &[u8]) -> Option<bool> {
    let names: Names = [Some("id"), None, None];
    let mut arena = String::new();
    lines(data, 1)
        .filter_map(|(_, line)| std::str::from_utf8(line).ok())
        .find_map(|line| fields::take(line, &names, &mut arena).ok())
        .map(|found| found.get(0).is_some())
}

/// The bytes as text, or where they stop being text.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|error| {
        format!(
            "not valid UTF-8 at byte {}; convert the file to UTF-8, or pass --on-error skip",
            error.valid_up_to() + 1
        )
    })
}

fn broken(broken: Broken) -> String {
    let error = match broken {
        Broken::NotAnObject(kind) => {
            return format!(
                "{kind} where a JSON object is needed; write {{\"text\": …}}, or pass --on-error \
                 skip"
            );
        }
        Broken::Json(error) => error,
    };
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let column = error.column();
    format!(
        "not valid JSON: {message} at column {column}; every line must be one JSON object: fix it, or pass --on-error skip"
    )
}

fn missing(field: &str, line: &str, advice: &str) -> String {
    let keys = fields::keys(line);
    let has = item::list(keys.iter().map(String::as_str));
    format!("no field `{field}`; it has {has}: {advice}")
}

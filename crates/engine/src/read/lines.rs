//! Formats with one record per line: JSON objects, and plain texts.

use super::{
    IdSource, RecordFilter,
    batch_builder::{BatchBuilder, ReadRequest},
    copy::Stretches,
    encoding::UNDECODABLE,
    fields::{self, FieldValues, JsonProblem, Scalar, WantedNames},
    item, json_fast,
    shape::Shape,
};
use crate::Result;
use crate::error::{Advice, Problem};
use crate::item::{Batch, KeepValues};
use crate::shingle::elements::push_plain;
use memchr::memchr;
use nearkin_kernels::AT_ONCE;

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
    whole_lines(data, first).map(|(number, line)| (number, without_end(line)))
}

pub(super) fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The lines that are not blank: the records of a file of JSON.
pub(super) fn lines(data: &[u8], first: u64) -> impl Iterator<Item = (u64, &[u8])> {
    all_lines(data, first).filter(|(_, line)| !is_blank(line))
}

/// Where the wanted records lie; blank lines are records or nothing. Returns how many there are in all.
pub(super) fn copy(
    data: &[u8],
    with_blank: bool,
    wanted: RecordFilter,
    out: &mut Stretches,
) -> u32 {
    let (mut start, mut ordinal) = (0, 0);
    for (_, line) in whole_lines(data, 1) {
        let end = start + line.len();
        if with_blank || !is_blank(line) {
            if wanted(ordinal) {
                out.push(start..end);
            }
            ordinal += 1;
        }
        start = end;
    }
    ordinal
}

/// Where the records start; blank lines are records or nothing.
pub(super) fn offsets(data: &[u8], with_blank: bool, out: &mut Vec<u32>) {
    let mut start = 0;
    for (_, line) in whole_lines(data, 1) {
        if with_blank || !is_blank(line) {
            out.push(start as u32);
        }
        start += line.len();
    }
}

/// Lines of text: each is an item.
pub(super) fn decode_txt(
    data: &[u8],
    first: u64,
    asked: ReadRequest,
    wanted: RecordFilter,
) -> Result<Batch<'static>> {
    let mut gather = BatchBuilder::new(asked, data.len());
    let mut ordinal = 0;
    for (number, line) in all_lines(data, first) {
        if wanted(ordinal) {
            let start = gather.arena.len();
            let shape = asked.options.shape;
            match utf8(line).and_then(|text| shape.push_text(text, false, &mut gather.arena)) {
                Ok(()) => {
                    gather.item(
                        (start, gather.arena.len()),
                        ordinal,
                        number,
                        None,
                        KeepValues::new(),
                    );
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
    asked: ReadRequest,
    wanted: RecordFilter,
) -> Result<Batch<'static>> {
    // All texts are checked for UTF-8 at once. Only if one is not, or something else is wrong, each line is
    // checked on its own, to say what is wrong and where.
    let decode = |trust| Jsonl::new(asked, data.len(), trust).decode(data, first, wanted);
    match decode(true) {
        Ok(Some(batch)) => Ok(batch),
        _ => Ok(decode(false)?.expect("every line was checked")),
    }
}

/// The records of a chunk, as they are read.
struct Jsonl<'a> {
    asked: ReadRequest<'a>,
    names: WantedNames<'a>,
    /// Whether lines may be read before they are known to be UTF-8.
    trust: bool,
    arena: Vec<u8>,
    gather: BatchBuilder<'a>,
}

impl<'a> Jsonl<'a> {
    fn new(asked: ReadRequest<'a>, bytes: usize, trust: bool) -> Self {
        let options = asked.options;
        // A field that nobody asks for may hold anything that is JSON, such as a number beyond those of double precision.
        let id = (*asked.ids != IdSource::Ignored).then(|| asked.ids.field_or_id());
        let names = [Some(&*options.text), id, options.values.first().map(String::as_str)];
        let arena = Vec::with_capacity(bytes + AT_ONCE);
        Self { asked, names, trust, arena, gather: BatchBuilder::new(asked, 0) }
    }

    /// The batch; `None` if a trusted text is not UTF-8.
    fn decode(
        mut self,
        data: &[u8],
        first: u64,
        wanted: RecordFilter,
    ) -> Result<Option<Batch<'static>>> {
        let (mut at, mut number, mut ordinal) = (0, first, 0);
        while at < data.len() {
            let rest = &data[at..];
            let quick = self.trust && rest[0] == b'{' && wanted(ordinal);
            if let Some(length) = quick.then(|| self.trusted(rest, number, ordinal)).flatten() {
                (at, number, ordinal) = (at + length, number + 1, ordinal + 1);
                continue;
            }
            let length = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let line = without_end(&rest[..length]);
            if !is_blank(line) {
                if wanted(ordinal) {
                    self.checked(line, number, ordinal)?;
                }
                ordinal += 1;
            }
            (at, number) = (at + length, number + 1);
        }
        Ok(self.gather.finish_utf8(ordinal, self.arena))
    }

    /// Reads the record on the first line, if that is simple, and gives its length.
    fn trusted(&mut self, data: &[u8], number: u64, ordinal: u32) -> Option<usize> {
        let start = self.arena.len();
        let (found, length) = json_fast::take(data, &self.names, &mut self.arena)?;
        if self.record(found, &data[..length], number, ordinal).is_err() {
            self.arena.truncate(start);
            return None;
        }
        Some(length)
    }

    fn checked(&mut self, line: &[u8], number: u64, ordinal: u32) -> Result<()> {
        let start = self.arena.len();
        let read = utf8(line)
            .and_then(|line| {
                let lists = self.asked.options.shape != Shape::Text;
                fields::take(line, &self.names, lists, &mut self.arena)
                    .map_err(|error| broken(error, line))
            })
            .and_then(|found| self.record(found, line, number, ordinal));
        read.or_else(|what| {
            self.arena.truncate(start);
            self.gather.bad(number, self.asked.maybe_text(line, what))
        })
    }

    /// Where a string lies; one that looks like a list text is moved.
    fn string(&mut self, start: usize, end: usize) -> Result<(usize, usize), Problem> {
        if self.asked.options.shape != Shape::Elements
            || self.arena[start..end].first() != Some(&0x1f)
        {
            return Ok((start, end));
        }
        let mut text = String::new();
        push_plain(&mut text, utf8(&self.arena[start..end])?);
        Ok(self.append(&text))
    }

    /// Where the list text of a list lies.
    fn list(&mut self, start: usize, end: usize) -> Result<(usize, usize), Problem> {
        if self.asked.options.shape == Shape::Value {
            return Ok((start, end));
        }
        let mut text = String::new();
        self.asked.options.shape.push_json(utf8(&self.arena[start..end])?, &mut text)?;
        Ok(self.append(&text))
    }

    fn append(&mut self, text: &str) -> (usize, usize) {
        let start = self.arena.len();
        self.arena.extend_from_slice(text.as_bytes());
        (start, self.arena.len())
    }

    fn record(
        &mut self,
        found: FieldValues,
        line: &[u8],
        number: u64,
        ordinal: u32,
    ) -> Result<(), Problem> {
        let names = self.names;
        let name = |slot: usize| names[slot].unwrap_or_default();
        let text = match found.get(0) {
            Some(Scalar::Text(start, end)) => self.string(start, end)?,
            Some(Scalar::Raw(start, end)) => {
                let at_field = |problem: Problem| Problem {
                    what: format!("field `{}`: {}", name(0), problem.what),
                    ..problem
                };
                self.list(start, end).map_err(at_field)?
            }
            Some(other) => {
                let (kind, which) = match self.asked.options.shape {
                    Shape::Text => ("string", "name the text field"),
                    _ => ("list", "name the right field"),
                };
                let what = format!("field `{}` is {}, not a {kind}", name(0), other.kind());
                let advice = Advice::with(self.asked.options.keys.text, which);
                return Err(Problem::new(what).or(advice).or(Advice::SKIP));
            }
            None => {
                let advice = Advice::with(self.asked.options.keys.text, "name the text field");
                return Err(missing(name(0), line, advice));
            }
        };
        let id = match (found.get(1), self.asked.ids) {
            (Some(scalar), IdSource::Field(field)) => Some(item::id(field, scalar, &self.arena)?),
            (None, IdSource::Field(field)) => {
                let name_it = "every record needs its id; name it";
                let advice = Advice::with(self.asked.options.keys.id, name_it);
                return Err(missing(field, line, advice));
            }
            (Some(_), IdSource::None) => return Err(late_id()),
            (None, IdSource::None) | (_, IdSource::Ignored) => None,
        };
        let values = self.values(found.get(2), line)?;
        self.gather.item(text, ordinal, number, id, values);
        Ok(())
    }

    /// The values of the fields that were asked for, null where the record has none. The first was found with the text; for
    /// others the line is read again.
    fn values(&mut self, first: Option<Scalar>, line: &[u8]) -> Result<KeepValues, Problem> {
        let Some((field, others)) = self.asked.options.values.split_first() else {
            return Ok(KeepValues::new());
        };
        let value = |field: &String, found: Option<Scalar>, arena: &[u8]| {
            found.map_or(Ok(None), |scalar| item::value(field, scalar, arena))
        };
        let mut values = vec![value(field, first, &self.arena)?];
        let mut arena = Vec::new();
        for some in others.chunks(fields::WANTED) {
            let names = std::array::from_fn(|slot| some.get(slot).map(String::as_str));
            let line = utf8(without_end(line))?;
            arena.clear();
            let found = fields::take(line, &names, false, &mut arena)
                .map_err(|error| broken(error, line))?;
            for (slot, field) in some.iter().enumerate() {
                values.push(value(field, found.get(slot), &arena)?);
            }
        }
        Ok(values)
    }
}

fn late_id() -> Problem {
    Problem::new("has a field `id`, but the first record of the collection has none")
        .or(Advice::with("id", "name the id field"))
        .or("remove it")
}

/// Whether the first object among these lines has a field of this name; `None` where there is no object.
pub(super) fn first_has(name: &str, data: &[u8]) -> Option<bool> {
    let names: WantedNames = [Some(name), None, None];
    let mut arena = Vec::new();
    lines(data, 1)
        .filter_map(|(_, line)| std::str::from_utf8(line).ok())
        .find_map(|line| fields::take(line, &names, false, &mut arena).ok())
        .map(|found| found.get(0).is_some())
}

/// The keys of the first object among these lines; `None` where there is no object.
pub(super) fn first_keys(data: &[u8]) -> Option<Vec<String>> {
    lines(data, 1).map(|(_, line)| fields::keys(line)).find(|keys| !keys.is_empty())
}

/// The bytes as text, or where they stop being text.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        if bytes[at..].starts_with(UNDECODABLE) {
            let what = format!("not a character of the encoding at byte {}", at + 1);
            let other = Advice::with("encoding", "name another encoding");
            return Problem::new(what).or(other).or(Advice::SKIP);
        }
        Problem::new(format!("not valid UTF-8 at byte {}", at + 1))
            .or("convert the file to UTF-8")
            .or(Advice::with("encoding", "name its encoding"))
            .or(Advice::SKIP)
    })
}

pub(super) fn broken(broken: JsonProblem, line: &str) -> Problem {
    let error = match broken {
        JsonProblem::NotAnObject(kind) => {
            let problem = Problem::new(format!("{kind} where a JSON object is needed"));
            let problem = problem.or("write {\"text\": …}").or_all(as_array(line));
            return problem.or_all(as_table(line)).or(Advice::SKIP);
        }
        JsonProblem::Json(error) => error,
    };
    if error.is_eof() && as_array(line).is_some() {
        let what = "a JSON array begins here, and every line must be one JSON object";
        return Problem::new(what).or_all(as_array(line)).or(Advice::SKIP);
    }
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let column = error.column();
    let here = line.get(column.saturating_sub(1)..).unwrap_or_default();
    if here.starts_with("NaN") || here.trim_start_matches('-').starts_with("Inf") {
        let what = format!("not valid JSON at column {column}: JSON has no NaN and no infinity");
        return Problem::new(what).or("mend or drop the record").or(Advice::SKIP);
    }
    Problem::new(format!("not valid JSON: {message} at column {column}"))
        .or("every line must be one JSON object: fix it")
        .or_all(as_table(line))
        .or(Advice::SKIP)
}

/// What to do with a line that may begin an array of all records.
fn as_array(line: &str) -> Option<Advice> {
    line.trim_start().starts_with('[').then(|| Advice::set("format", "json"))
}

/// What to do with a line that is no JSON but may be the row of a table.
fn as_table(line: &str) -> Option<Advice> {
    let format = |separator: char, format| line.contains(separator).then_some(format);
    let format = format('\t', "tsv").or(format(',', "csv"))?;
    (!line.contains(['{', '[', '}', ']'])).then(|| Advice::set("format", format))
}

pub(super) fn missing(field: &str, line: &[u8], advice: impl Into<Advice>) -> Problem {
    let keys = fields::keys(line);
    let advice = item::choose(keys.iter().map(String::as_str), advice.into());
    Problem::new(format!("no field `{field}`")).or(advice)
}

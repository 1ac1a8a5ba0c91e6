//! Files that are one JSON array of objects: cut between elements, and each chunk made into lines of JSON.
//!
//! A chunk ends behind a comma between two elements, so it is known from the bytes alone, and the array is never held as a
//! whole. Whoever decodes a chunk writes each element on a line of its own and leaves the rest to the reader of JSON lines.
//! Errors name the line of the file: that of the damage where the JSON is broken, else the first line of the element.

use std::ops::Range;

use memchr::{memchr_iter, memchr3};
use serde::de::IgnoredAny;

use super::{
    RecordFilter,
    batch_builder::ReadRequest,
    buffer::BufferPool,
    lines,
    rereadable::Rereadable,
    text::{TextForm, TextReader},
};
use crate::error::{Advice, Error, Problem, Result};
use crate::item::Batch;

/// Follows the structure of an array from behind its bracket, in pieces of any size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ArrayScanner {
    depth: u64,
    place: ScanPlace,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum ScanPlace {
    #[default]
    Outside,
    Text,
    /// Behind a backslash.
    Escape,
    /// Behind the bracket that ends the array.
    Behind,
}

/// What [`ArrayScanner::next`] stops behind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ArrayMark {
    /// A comma between two elements.
    Comma,
    /// The end of the array.
    End,
    /// A line end; whether it is inside a string, where JSON has none.
    Line { in_text: bool },
}

impl ArrayScanner {
    /// Whether the array has ended.
    pub(super) fn has_ended(self) -> bool {
        self.place == ScanPlace::Behind
    }

    /// Goes on from `at` to behind the next mark.
    pub(super) fn next(&mut self, bytes: &[u8], at: &mut usize) -> Option<ArrayMark> {
        while *at < bytes.len() {
            if self.place == ScanPlace::Text {
                *at += memchr3(b'"', b'\\', b'\n', &bytes[*at..]).unwrap_or(bytes.len() - *at);
            }
            let byte = *bytes.get(*at)?;
            *at += 1;
            if let Some(mark) = self.step(byte) {
                return Some(mark);
            }
        }
        None
    }

    fn step(&mut self, byte: u8) -> Option<ArrayMark> {
        let in_text = matches!(self.place, ScanPlace::Text | ScanPlace::Escape);
        match (self.place, byte) {
            (ScanPlace::Escape, _) => self.place = ScanPlace::Text,
            (ScanPlace::Text, b'\\') => self.place = ScanPlace::Escape,
            (ScanPlace::Text, b'"') => self.place = ScanPlace::Outside,
            (ScanPlace::Outside, b'"') => self.place = ScanPlace::Text,
            (ScanPlace::Outside, b'{' | b'[') => self.depth += 1,
            (ScanPlace::Outside, b',') if self.depth == 0 => return Some(ArrayMark::Comma),
            (ScanPlace::Outside, b']') if self.depth == 0 => {
                self.place = ScanPlace::Behind;
                return Some(ArrayMark::End);
            }
            (ScanPlace::Outside, b'}' | b']') => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        (byte == b'\n').then_some(ArrayMark::Line { in_text })
    }
}

/// What stands before the first element of an array.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrayStart {
    /// Bytes, with the bracket.
    pub(super) bytes: u64,
    /// Line ends among them.
    pub(super) lines: u64,
}

impl ArrayStart {
    /// Looks whether a file of JSON is one array; if not, it has objects on lines.
    ///
    /// # Errors
    /// When it is one object over several lines.
    pub(super) fn find(stored: &Rereadable, form: TextForm) -> Result<Option<Self>> {
        const STEP: usize = 64 << 10;
        let mut text = TextReader::open(stored, form)?;
        let mut start = Self { bytes: 0, lines: 0 };
        loop {
            let mut piece = BufferPool::default().take();
            let read = text.fill(&mut piece, STEP)?;
            let blank = piece.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            start.bytes += blank as u64;
            start.lines += count_lines(&piece[..blank]);
            match piece.get(blank) {
                Some(b'[') => return Ok(Some(Self { bytes: start.bytes + 1, ..start })),
                Some(b'{') if is_spread(&piece[blank..]) => {
                    let error = Error::input(&stored.name, start.lines + 1, Problem::new(SPREAD));
                    return Err(error
                        .or("write one object per line, or an array of objects")
                        .or(Advice::set("format", "folder")));
                }
                None if read == STEP => {}
                _ => return Ok(None),
            }
        }
    }
}

const SPREAD: &str =
    "is a JSON object over several lines, neither one object per line nor an array of objects";

/// Whether an object that begins here goes on behind the end of its first line.
fn is_spread(bytes: &[u8]) -> bool {
    let Some(end) = memchr::memchr(b'\n', bytes) else { return false };
    let first = serde_json::from_slice::<IgnoredAny>(&bytes[..end]);
    let goes_on = first.is_err_and(|error| error.is_eof());
    // A line that was cut off is followed by one that begins an object of its own.
    goes_on && !bytes[end..].trim_ascii_start().starts_with(b"{")
}

/// A chunk of an array as lines of JSON, one for each element.
#[derive(Debug, Default)]
pub(super) struct ArrayLines {
    pub(super) json: Vec<u8>,
    /// For each line, where the element lies in the chunk, and the number of its first line in the file.
    elements: Vec<(Range<usize>, u64)>,
}

impl ArrayLines {
    /// Of a chunk whose first line has this number.
    ///
    /// # Errors
    /// When an element is missing, or something follows the array.
    pub(super) fn new(asked: ReadRequest, chunk: &[u8], first: u64) -> Result<Self> {
        let mut lines = Self { json: Vec::with_capacity(chunk.len()), ..Self::default() };
        let mut scanner = ArrayScanner::default();
        let (mut at, mut start, mut line) = (0, 0, first);
        // Up to where the element is written, and where it begins in the lines.
        let (mut written, mut begin) = (0, 0);
        loop {
            let mark = scanner.next(chunk, &mut at);
            let end = if mark.is_some() { at - 1 } else { at };
            match mark {
                Some(ArrayMark::Line { in_text }) => {
                    lines.json.extend_from_slice(&chunk[written..end]);
                    written = at;
                    match in_text {
                        // Still one line, and still no JSON.
                        true => lines.json.push(b'\r'),
                        false => {
                            written += indent(&chunk[at..]);
                            // Two halves of a number are no number.
                            let ends = lines.json[begin..].last().is_some_and(is_of_token);
                            if ends && chunk.get(written).is_some_and(is_of_token) {
                                lines.json.push(b' ');
                            }
                        }
                    }
                    at = written;
                    continue;
                }
                Some(ArrayMark::Comma | ArrayMark::End) => {}
                None if chunk[start..].trim_ascii().is_empty() => {
                    lines.json.truncate(begin);
                    break;
                }
                None => {}
            }
            lines.json.extend_from_slice(&chunk[written..end]);
            let element = start + blank(&chunk[start..end])..end;
            let its_line = line + count_lines(&chunk[start..element.start]);
            if !element.is_empty() {
                lines.json.push(b'\n');
                lines.elements.push((element, its_line));
            } else if mark == Some(ArrayMark::Comma) {
                let problem = Problem::new("an element of the array is missing before the comma");
                return Err(asked.error(its_line, problem.or("remove the comma")));
            } else {
                lines.json.truncate(begin);
            }
            line += count_lines(&chunk[start..at]);
            (start, written, begin) = (at, at, lines.json.len());
            if mark != Some(ArrayMark::Comma) {
                break;
            }
        }
        let behind = blank(&chunk[at..]);
        if scanner.has_ended() && at + behind < chunk.len() {
            let line = line + count_lines(&chunk[at..at + behind]);
            let problem = Problem::new("something follows the end of the array");
            return Err(asked.error(line, problem.or("a file has one array: remove what follows")));
        }
        Ok(lines)
    }

    /// Takes the wanted elements apart.
    pub(super) fn decode(
        &self,
        chunk: &[u8],
        asked: ReadRequest,
        wanted: RecordFilter,
    ) -> Result<Batch<'static>> {
        let batch = lines::decode_jsonl(&self.json, 1, asked, wanted);
        let mut batch = batch.map_err(|error| self.in_file(error, chunk))?;
        for item in &mut batch.items {
            item.line = self.line(item.line);
        }
        let bad = std::mem::take(&mut batch.bad);
        batch.bad = bad.into_iter().map(|error| self.in_file(error, chunk)).collect();
        Ok(batch)
    }

    /// The line in the file of the element with this number, from 1.
    pub(super) fn line(&self, number: u64) -> u64 {
        self.elements.get(number as usize - 1).map_or(0, |(_, line)| *line)
    }

    /// An error of a line, as one of the element in the file.
    pub(super) fn in_file(&self, error: Error, chunk: &[u8]) -> Error {
        let Error::Input { path, line: number, problem } = error else { return error };
        let Some((element, first)) = self.elements.get(number as usize - 1) else {
            return Error::Input { path, line: number, problem };
        };
        let broken = serde_json::from_slice::<IgnoredAny>(&chunk[element.clone()]).err();
        match broken.filter(|_| problem.what.starts_with("not valid JSON")) {
            None => Error::Input { path, line: *first, problem }.without("format"),
            Some(broken) => {
                let line = first + broken.line().saturating_sub(1) as u64;
                let problem = Problem::new(what_is_broken(&problem, &broken));
                Error::Input { path, line, problem: problem.or("fix it").or(Advice::SKIP) }
            }
        }
    }
}

fn what_is_broken(problem: &Problem, broken: &serde_json::Error) -> String {
    if let Some((_, why)) = problem.what.split_once(": ").filter(|(_, why)| why.contains("NaN")) {
        return format!("not valid JSON: {why}");
    }
    let message = broken.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let place = if broken.line() > 1 { "" } else { " of the element" };
    format!("not valid JSON: {message} at column {}{place}", broken.column())
}

/// Bytes of white space before what follows a line end.
fn indent(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Bytes of white space at the start.
fn blank(bytes: &[u8]) -> usize {
    bytes.len() - bytes.trim_ascii_start().len()
}

fn count_lines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

/// Whether a byte may belong to a number, `true`, `false` or `null`.
fn is_of_token(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}

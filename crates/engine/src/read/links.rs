//! Links: a table with one row per link, of which two columns count.

use super::{Input, Kind, OnError, Place, ReadOptions, Syntax, rows};
use crate::error::{Error, Problem, Result};

/// Calls `each` with the two ends of every link of a file; returns what was wrong with the rows that were skipped. The
/// two columns are those of [`ReadOptions::columns`], else the first two, and in JSON lines `source` and `target`.
///
/// # Errors
/// When it was stopped, when the file cannot be read or has no such columns, and when `each` refuses a row, unless bad
/// rows are skipped.
pub fn each_link(
    place: &Place,
    options: &ReadOptions,
    stopped: &dyn Fn() -> bool,
    each: &mut dyn FnMut(&str, &str) -> Result<(), Problem>,
) -> Result<Vec<Error>> {
    let mut options = ReadOptions { positions: true, ..options.clone() };
    let named = !options.columns.is_empty();
    if !named {
        options.columns = ["1", "2"].map(str::to_owned).to_vec();
    }
    let mut input = Input::open(std::slice::from_ref(place), options)?;
    let is_json =
        |kind: &Kind| matches!(kind, Kind::Text { syntax: Syntax::Jsonl | Syntax::Array(_), .. });
    if !named && input.sources.iter().any(|source| is_json(&source.kind)) {
        input.options.columns = ["source", "target"].map(str::to_owned).to_vec();
    }
    let mut skipped = Vec::new();
    for chunk in input.scan() {
        if stopped() {
            return Err(Error::Interrupted);
        }
        let chunk = chunk?;
        let path = &input.sources[chunk.source()].name;
        rows::rows(&input, &chunk, &mut |line, row| {
            let taken = row.and_then(|row| match &row.cells[..] {
                [from, to] => each(from.value()?, to.value()?),
                cells => {
                    Err(Problem::new(format!("{} columns of a link", cells.len())).or("name two"))
                }
            });
            let Err(what) = taken else { return Ok(()) };
            let error = Error::input(path.clone(), line, what);
            if input.options.on_error == OnError::Stop {
                return Err(error);
            }
            skipped.push(error);
            Ok(())
        })?;
    }
    Ok(skipped)
}

//! What the items of a collection in memory are called, and where each came from.

use super::{
    Input, OnError,
    rows::{self, Row},
};
use crate::error::{Advice, Error, Problem, Result};
use crate::item::{Id, KeepValues, RecordPlaces};
use crate::search::ItemNames;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

/// A collection in memory, and what its items are called.
#[derive(Debug, Default)]
pub struct NamedItems<T> {
    /// The items.
    pub items: T,
    /// Their names.
    pub names: Names,
}

/// The ids of the items of a collection, and where each item came from.
#[derive(Debug, Default)]
pub struct Names {
    ids: Option<Vec<Id>>,
    files: Vec<PathBuf>,
    runs: Vec<NameRun>,
    len: usize,
    /// Records that were read, those left out included.
    records: u64,
    /// By item, the values that decide which is kept, where some were asked for.
    values: Option<Vec<KeepValues>>,
    /// What was wrong with the records that were left out.
    pub skipped: Vec<Error>,
}

/// Items that come from records which follow each other, line after line.
#[derive(Debug, Clone, Copy)]
struct NameRun {
    item: usize,
    position: u64,
    line: u64,
    file: usize,
}

impl Names {
    /// Number of items.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The user's ids, where the collection has some.
    pub fn ids(&self) -> Option<&[Id]> {
        self.ids.as_deref()
    }

    /// An item's id: the user's, else its position.
    pub fn id(&self, item: usize) -> Id {
        match &self.ids {
            Some(ids) => ids[item].clone(),
            None => Id::Int(self.position(item) as i64),
        }
    }

    /// Whether every id is a whole number.
    pub fn ids_are_numbers(&self) -> bool {
        let is_number = |id: &Id| matches!(id, Id::Int(_));
        self.ids.as_ref().is_none_or(|ids| ids.iter().all(is_number))
    }

    /// An item's position over all inputs, from 0; records that were left out keep theirs.
    pub fn position(&self, item: usize) -> u64 {
        let run = self.run(item);
        run.position + (item - run.item) as u64
    }

    /// The file an item comes from, and its line or row there, from 1.
    pub fn place(&self, item: usize) -> (&Path, u64) {
        let run = self.run(item);
        (&self.files[run.file], run.line + (item - run.item) as u64)
    }

    /// An error about an item, which says where it stands.
    pub fn error(&self, item: usize, problem: impl Into<Problem>) -> Error {
        let (path, line) = self.place(item);
        Error::input(path, line, problem)
    }

    /// The names as a search takes them.
    pub(crate) fn into_item_names(self) -> ItemNames {
        let places = Some(self.places());
        let follow = self.runs.iter().all(|run| run.position == run.item as u64);
        let positions = |at: usize| self.position(at) as u32;
        ItemNames {
            positions: (!follow || self.records != self.len as u64)
                .then(|| (0..self.len).map(positions).collect()),
            records: u32::try_from(self.records).unwrap_or(u32::MAX),
            ids: self.ids,
            values: self.values,
            lengths: None,
            places,
            skipped: self.skipped,
        }
    }

    /// Where each item stands, by its position.
    fn places(&self) -> RecordPlaces {
        let mut places = RecordPlaces::default();
        for run in &self.runs {
            places.push(run.position as u32, &self.files[run.file], run.line);
        }
        places
    }

    fn run(&self, item: usize) -> NameRun {
        let after = self.runs.partition_point(|run| run.item <= item);
        self.runs[after.saturating_sub(1)]
    }
}

/// Names as they are gathered, file after file.
#[derive(Debug, Default)]
pub(super) struct NamesBuilder {
    names: Names,
    /// Ids, and whose they are.
    seen: HashMap<Id, usize>,
    /// Records before the chunk that is being read.
    position: u64,
}

/// Takes a row at its position, or says what is wrong with it.
pub(super) type TakeRow<'t> = &'t mut dyn FnMut(&mut NamesBuilder, u64, Row) -> Result<(), Refusal>;

impl NamesBuilder {
    /// Hands every row of a table to `take`. A row that it refuses ends the run, or is skipped. Ends with an error when it
    /// is stopped.
    pub(super) fn read(
        &mut self,
        input: &Input,
        stopped: &dyn Fn() -> bool,
        take: TakeRow,
    ) -> Result<()> {
        let Some(source) = input.sources.first() else { return Ok(()) };
        let path = &source.name;
        self.file(path);
        for chunk in input.scan() {
            if stopped() {
                return Err(Error::Interrupted);
            }
            let first = self.position;
            let count = rows::rows(input, &chunk?, &mut |line, row| {
                let taken = row.map_err(Refusal::Record).and_then(|row| {
                    let position = first + u64::from(row.ordinal);
                    take(self, position, row)
                });
                let what = match taken {
                    Ok(()) => return Ok(()),
                    Err(Refusal::File(what)) => {
                        return Err(Error::file(path.clone(), what));
                    }
                    Err(Refusal::Record(what)) => what,
                };
                let error = Error::input(path.clone(), line, what);
                match input.options.on_error {
                    OnError::Stop => Err(error),
                    OnError::Skip => {
                        self.skip(error);
                        Ok(())
                    }
                }
            })?;
            self.position += u64::from(count);
        }
        self.names.records = self.position;
        Ok(())
    }

    /// So many records were read so far.
    pub(super) fn read_up_to(&mut self, records: u64) {
        self.names.records = records;
    }

    /// The last item is kept by these values.
    pub(super) fn kept_by(&mut self, kept_by: KeepValues) {
        let values = self.names.values.get_or_insert_default();
        values.resize(self.names.len.saturating_sub(1), KeepValues::new());
        values.push(kept_by);
    }

    /// From here on, items come from this file.
    pub(super) fn file(&mut self, path: &Path) {
        if self.names.files.last().is_none_or(|last| last != path) {
            self.names.files.push(path.to_path_buf());
        }
    }

    /// Adds an item, or says why it cannot be added: its id was there before.
    pub(super) fn add(&mut self, position: u64, line: u64, id: Option<Id>) -> Result<(), Refusal> {
        let item = self.names.len;
        match (&mut self.names.ids, id) {
            (ids, Some(id)) if item == 0 || ids.is_some() => {
                if let Some(&first) = self.seen.get(&id) {
                    let first = self.names.place(first);
                    return Err(Refusal::Record(Problem::repeated_id(&id, first)));
                }
                self.seen.insert(id.clone(), item);
                ids.get_or_insert_default().push(id);
            }
            (None, None) => {}
            _ => {
                let what = "its items and those before it do not both have ids";
                return Err(Refusal::File(
                    Problem::new(what)
                        .or("leave out the one or the other")
                        .or(Advice::turn_on("positions")),
                ));
            }
        }
        let file = self.names.files.len().saturating_sub(1);
        let follows = self.names.runs.last().is_some_and(|run| {
            let since = (item - run.item) as u64;
            (run.file, run.line + since, run.position + since) == (file, line, position)
        });
        if !follows {
            self.names.runs.push(NameRun { item, position, line, file });
        }
        self.names.len += 1;
        Ok(())
    }

    pub(super) fn skip(&mut self, error: Error) {
        self.names.skipped.push(error);
    }

    pub(super) fn finish(mut self) -> Names {
        if let Some(values) = &mut self.names.values {
            values.resize(self.names.len, KeepValues::new());
        }
        self.names
    }
}

/// Why an item cannot be added.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Something is wrong with it.
    Record(Problem),
    /// It does not go with the files before.
    File(Problem),
}

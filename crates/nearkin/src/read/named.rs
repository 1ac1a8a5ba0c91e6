//! What the items of a collection in memory are called, and where each came from.

use super::{
    Input, OnError,
    rows::{self, Row},
};
use crate::error::{Advice, Error, Problem, Result};
use crate::item::Id;
use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

/// A collection in memory, and what its items are called.
#[derive(Debug, Default)]
pub struct Named<T> {
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
    runs: Vec<Run>,
    len: usize,
    /// What was wrong with the records that were left out.
    pub skipped: Vec<Error>,
}

/// Items that come from records which follow each other, line after line.
#[derive(Debug, Clone, Copy)]
struct Run {
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

    fn run(&self, item: usize) -> Run {
        let after = self.runs.partition_point(|run| run.item <= item);
        self.runs[after.saturating_sub(1)]
    }
}

/// Names as they are gathered, file after file.
#[derive(Debug, Default)]
pub(super) struct Naming {
    names: Names,
    seen: HashSet<Id>,
    /// Records before the chunk that is being read.
    position: u64,
}

/// Takes a row at its position up, or says what is wrong with it.
pub(super) type TakeRow<'t> = &'t mut dyn FnMut(&mut Naming, u64, Row) -> Result<(), Refused>;

impl Naming {
    /// Hands every row of a table to `take`; those that it refuses end it, or are skipped. It ends with an
    /// error when it is stopped.
    pub(super) fn read(
        &mut self,
        input: &Input,
        stopped: &dyn Fn() -> bool,
        take: TakeRow,
    ) -> Result<()> {
        let Some(source) = input.sources.first() else { return Ok(()) };
        let path = &source.name;
        self.file(path);
        for chunk in input.scan(None)? {
            if stopped() {
                return Err(Error::Interrupted);
            }
            let first = self.position;
            let count = rows::rows(input, &chunk?, &mut |line, row| {
                let taken = row.map_err(Refused::Record).and_then(|row| {
                    let position = first + u64::from(row.ordinal);
                    take(self, position, row)
                });
                let what = match taken {
                    Ok(()) => return Ok(()),
                    Err(Refused::File(what)) => {
                        return Err(Error::file(path.clone(), what));
                    }
                    Err(Refused::Record(what)) => what,
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
        Ok(())
    }

    /// From here on, items come from this file.
    pub(super) fn file(&mut self, path: &Path) {
        if self.names.files.last().is_none_or(|last| last != path) {
            self.names.files.push(path.to_path_buf());
        }
    }

    /// Adds an item, or says why it cannot be added: its id was there before.
    pub(super) fn add(&mut self, position: u64, line: u64, id: Option<Id>) -> Result<(), Refused> {
        let item = self.names.len;
        match (&mut self.names.ids, id) {
            (ids, Some(id)) if item == 0 || ids.is_some() => {
                if !self.seen.insert(id.clone()) {
                    return Err(Refused::Record(Problem::repeated_id(&id)));
                }
                ids.get_or_insert_default().push(id);
            }
            (None, None) => {}
            _ => {
                let what = "its items and those before it do not both have ids";
                return Err(Refused::File(
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
            self.names.runs.push(Run { item, position, line, file });
        }
        self.names.len += 1;
        Ok(())
    }

    pub(super) fn skip(&mut self, error: Error) {
        self.names.skipped.push(error);
    }

    pub(super) fn finish(self) -> Names {
        self.names
    }
}

/// Why an item cannot be added.
#[derive(Debug)]
pub(super) enum Refused {
    /// Something is wrong with it.
    Record(Problem),
    /// It does not go with the files before.
    File(Problem),
}

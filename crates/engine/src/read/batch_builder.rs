//! Collects the items of one chunk, and deals with bad records the way the user asked.

use super::{IdSource, OnError, ReadOptions, Shape, format::by_extension};
use crate::error::{Advice, Error, Problem, Result};
use crate::item::{Batch, Id, Item, KeepValues, PassedOver, TextColumn};
use std::path::Path;

/// What to read from the records of one file.
#[derive(Clone, Copy)]
pub(super) struct ReadRequest<'a> {
    pub(super) path: &'a Path,
    pub(super) options: &'a ReadOptions,
    pub(super) ids: &'a IdSource,
}

impl ReadRequest<'_> {
    pub(super) fn error(&self, line: u64, problem: impl Into<Problem>) -> Error {
        Error::input(self.path, line, problem)
    }

    /// What is wrong with a line of JSON: of a stream, nobody said that it is JSON, and it may be text.
    pub(super) fn maybe_text(&self, line: &[u8], mut problem: Problem) -> Problem {
        let is_told = self.options.format.is_some() || by_extension(self.path).0.is_some();
        if !is_told && !line.trim_ascii_start().starts_with(b"{") {
            let text = Advice::set("format", "txt");
            let after = problem.advice.iter().rposition(|it| it.option() == Some("format"));
            let at = after.map_or(1, |at| at + 1).min(problem.advice.len());
            problem.advice.insert(at, text);
        }
        problem
    }

    /// The error for a chunk that is of another input than this file.
    pub(super) fn of_another(&self) -> Error {
        Error::file(self.path, "does not have this chunk")
    }

    /// Ends the run at an item that is too large, or leaves such items out.
    pub(super) fn within_limit<'a>(&self, mut batch: Batch<'a>) -> Result<Batch<'a>> {
        let limit = self.options.max_item;
        let has_counts = self.options.shape == Shape::Elements;
        let mut bad = Vec::new();
        for (index, item) in batch.items.iter().enumerate() {
            let text = batch.text(index);
            let checked = limit.check_text(text);
            let checked =
                checked.and_then(|()| if has_counts { limit.check_counts(text) } else { Ok(()) });
            if let Err(problem) = checked {
                let error = self.error(item.line, problem);
                if self.options.on_error == OnError::Stop {
                    return Err(error);
                }
                bad.push((index, error));
            }
        }
        for (index, _) in bad.iter().rev() {
            batch.items.remove(*index);
            if !batch.files.is_empty() {
                batch.files.remove(*index);
            }
        }
        batch.bad.extend(bad.into_iter().map(|(_, error)| error));
        Ok(batch)
    }
}

/// The items read so far. Their texts go into `arena`.
pub(super) struct BatchBuilder<'a> {
    asked: ReadRequest<'a>,
    pub(super) arena: String,
    batch: Batch<'static>,
}

impl<'a> BatchBuilder<'a> {
    /// `bytes` is how much text to expect at most.
    pub(super) fn new(asked: ReadRequest<'a>, bytes: usize) -> Self {
        let batch = Batch { path: asked.path.to_path_buf(), ..Batch::default() };
        Self { asked, arena: String::with_capacity(bytes), batch }
    }

    pub(super) fn item(
        &mut self,
        at: (usize, usize),
        ordinal: u32,
        line: u64,
        id: Option<Id>,
        values: KeepValues,
    ) {
        self.batch.items.push(Item { ordinal, line, id, values, at });
    }

    /// The last item is a file of its own.
    pub(super) fn of_file(&mut self, path: &Path) {
        self.batch.files.push(path.to_path_buf());
    }

    /// Ends the run at a record that cannot be used, or skips it.
    pub(super) fn bad(&mut self, line: u64, problem: Problem) -> Result<()> {
        self.bad_record(self.asked.error(line, problem))
    }

    pub(super) fn bad_record(&mut self, error: Error) -> Result<()> {
        match self.asked.options.on_error {
            OnError::Stop => Err(error),
            OnError::Skip => {
                self.batch.bad.push(error);
                Ok(())
            }
        }
    }

    /// What was passed over so far.
    pub(super) fn passed_over(&mut self) -> &mut PassedOver {
        &mut self.batch.passed_over
    }

    /// The batch, with the texts of the arena.
    pub(super) fn finish(mut self, records: u32) -> Batch<'static> {
        if self.arena.len() < self.arena.capacity() / 2 {
            self.arena.shrink_to_fit(); // few of many records were wanted: do not keep room for all
        }
        let texts = TextColumn::Arena(std::mem::take(&mut self.arena));
        self.finish_with(records, texts)
    }

    /// The batch, with texts in these bytes; `None` if they are not UTF-8.
    pub(super) fn finish_utf8(mut self, records: u32, arena: Vec<u8>) -> Option<Batch<'static>> {
        self.arena = nearkin_kernels::utf8(arena)?;
        let whole = |&(start, end): &(usize, usize)| {
            self.arena.is_char_boundary(start) && self.arena.is_char_boundary(end)
        };
        let whole = self.batch.items.iter().all(|item| whole(&item.at));
        whole.then(|| self.finish(records))
    }

    /// The batch, with these texts.
    pub(super) fn finish_with(
        mut self,
        records: u32,
        texts: TextColumn<'static>,
    ) -> Batch<'static> {
        self.batch.records = records;
        self.batch.texts = texts;
        self.batch
    }
}

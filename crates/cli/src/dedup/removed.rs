//! What was removed and why: one row per removed item.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::PoisonError;

use nearkin_engine::cluster::Reason;
use nearkin_engine::error::{Advice, Problem};
use nearkin_engine::item::RecordPlaces;
use nearkin_engine::matches::Ids;
use nearkin_engine::observe::Observer;
use nearkin_engine::read::{AnyInput, Input};
use nearkin_engine::write::{self, Cell, Column, ColumnKind, TableWriter};
use nearkin_engine::{Error, Result};
use serde_json::value::RawValue;

use super::{KeptItems, RecordSource};
use crate::search::{OutputTable, Target};

/// The columns before those of fields; `similarity` may be called otherwise.
const NAMES: [&str; 8] =
    ["id", "file", "line", "kept", "kept_file", "kept_line", "similarity", "reason"];

impl KeptItems {
    /// Writes one row per removed item, with these fields of its record.
    pub(crate) fn write_removed(
        &self,
        target: Target<'_>,
        fields: &[String],
        observer: &dyn Observer,
    ) -> Result<OutputTable> {
        let input = self.input_with_fields(fields)?;
        let table = target.create(&self.removed_columns(fields)?)?;
        let mut rows = RemovedRows {
            of: self,
            places: self.removed_places()?,
            ids: self.result.collection.ids(),
            kept_ids: self.result.collection.ids(),
            table: table.with_resources((&self.settings).into()),
        };
        let stop = || if observer.stopped() { Err(Error::Interrupted) } else { Ok(()) };
        let mut removed = self.removed();
        match input {
            None => {
                removed.try_for_each(|position| stop().and_then(|()| rows.row(position, &[])))?
            }
            Some(input) => {
                let old = self.result.collection.old_records();
                let is_removed = |record: u64| {
                    let position = u64::from(old) + record;
                    u32::try_from(position).is_ok_and(|position| self.is_removed(position))
                };
                let mut missing = MissingFields::new(fields);
                let resources = (&self.settings).into();
                write::json_lines(input, &is_removed, resources, &mut |_| stop(), &mut |line| {
                    let record = fields_of(line)?;
                    let values: Vec<Option<Cow<'_, str>>> =
                        fields.iter().map(|name| value(&record, name)).collect();
                    missing.see(&record, &values);
                    removed.next().map_or(Ok(()), |position| rows.row(position, &values))
                })?;
                let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
                notes.extend(missing.problem());
            }
        }
        target.finish(rows.table)
    }

    /// The files whose fields are asked for.
    fn input_with_fields(&self, fields: &[String]) -> Result<Option<&Input>> {
        match &self.source {
            _ if fields.is_empty() => Ok(None),
            RecordSource::Records(AnyInput::Records(input)) => Ok(Some(input)),
            RecordSource::Records(AnyInput::Groups(_)) | RecordSource::Vectors(_) => {
                let must = "left out: these items have no fields";
                Err(Error::parameter("removed_fields", fields.join(","), must))
            }
        }
    }

    fn removed_columns<'a>(&self, fields: &'a [String]) -> Result<Vec<Column<'a>>> {
        if let Some(name) = fields.iter().enumerate().find_map(|(at, name)| {
            let is_known = NAMES.contains(&name.as_str()) || *name == self.subject.value_name();
            (is_known || fields[..at].contains(name)).then_some(name)
        }) {
            let must = "without the columns that each row has, each field once";
            return Err(Error::parameter("removed_fields", name, must));
        }
        let [id, kept] = self.id_kinds();
        let kinds = [
            id,
            ColumnKind::Text,
            ColumnKind::Count,
            kept,
            ColumnKind::Text,
            ColumnKind::Count,
            ColumnKind::Float,
            ColumnKind::Text,
        ];
        let column = |(name, kind): (&&'static str, ColumnKind)| match *name {
            "similarity" => Column { name: self.subject.value_name(), kind },
            name => Column { name, kind },
        };
        let own = fields.iter().map(|name| Column { name, kind: ColumnKind::MaybeText });
        Ok(NAMES.iter().zip(kinds).map(column).chain(own).collect())
    }

    fn is_removed(&self, position: u32) -> bool {
        self.result.cluster(position).is_some_and(|(kept, _)| kept != position)
    }

    /// The positions of removed items, ascending.
    fn removed(&self) -> impl Iterator<Item = u32> {
        (0..self.result.collection.records()).filter(|&position| self.is_removed(position))
    }

    /// Where removed items stand, and those that are kept for them.
    fn removed_places(&self) -> Result<RecordPlaces> {
        let collection = &self.result.collection;
        let mut wanted = vec![false; collection.records() as usize];
        for (position, cluster) in self.result.clusters().enumerate() {
            if let Some((kept, _)) = cluster.filter(|(kept, _)| *kept as usize != position) {
                wanted[position] = true;
                wanted[kept as usize] = true;
            }
        }
        let own = match &self.source {
            RecordSource::Records(source) => Some(source),
            RecordSource::Vectors(_) => None, // read into memory, so it is known
        };
        let sources: Vec<&AnyInput> = self.old.iter().chain(own).collect();
        collection.places(&sources, self.settings.threads, |at| wanted[at as usize])
    }

    /// Why an item was removed, in a word.
    fn reason(&self, position: u32) -> &'static str {
        match self.result.reason(position) {
            Some(Reason::Identical) => "identical",
            Some(Reason::Chained) => "chain",
            _ if self.settings.measure.is_one_sided() => "contained",
            _ => "similar",
        }
    }
}

/// The rows as they are written.
struct RemovedRows<'a> {
    of: &'a KeptItems,
    places: RecordPlaces,
    ids: Ids<'a>,
    kept_ids: Ids<'a>,
    table: TableWriter,
}

impl RemovedRows<'_> {
    /// The row of a removed item, with the values of its fields.
    fn row(&mut self, position: u32, values: &[Option<Cow<'_, str>>]) -> Result<()> {
        let Some((kept, closeness)) = self.of.result.cluster(position) else { return Ok(()) };
        let (id, kept_id) = (self.ids.get(position)?, self.kept_ids.get(kept)?);
        let place =
            |position| self.places.get(position).map(|(file, line)| (file.to_string_lossy(), line));
        let [(file, line), (kept_file, kept_line)] =
            [position, kept].map(|position| place(position).unwrap_or_default());
        let mut row = vec![
            Cell::from(&id),
            Cell::Text(&file),
            Cell::Count(line),
            Cell::from(&kept_id),
            Cell::Text(&kept_file),
            Cell::Count(kept_line),
            Cell::Float(closeness),
            Cell::Text(self.of.reason(position)),
        ];
        row.extend(values.iter().map(|value| value.as_deref().map_or(Cell::Missing, Cell::Json)));
        self.table.row(&row)
    }
}

/// The fields of a record, each as JSON.
type Fields<'l> = HashMap<String, &'l RawValue>;

fn fields_of(line: &[u8]) -> Result<Fields<'_>> {
    serde_json::from_slice(line).map_err(|error| Error::file("input", error.to_string()))
}

/// A field as JSON; where none has this name, it may be a path with dots.
fn value<'l>(record: &Fields<'l>, name: &str) -> Option<Cow<'l, str>> {
    if let Some(raw) = record.get(name) {
        return Some(raw.get().into());
    }
    name.match_indices('.').find_map(|(at, _)| {
        let inner: Fields<'_> = serde_json::from_str(record.get(&name[..at])?.get()).ok()?;
        value(&inner, &name[at + 1..])
    })
}

/// Fields that no record had so far.
struct MissingFields<'a> {
    names: Vec<&'a str>,
    /// Those that the first record has.
    known: Vec<String>,
    is_empty: bool,
}

impl<'a> MissingFields<'a> {
    fn new(names: &'a [String]) -> Self {
        let names = names.iter().map(String::as_str).collect();
        Self { names, known: Vec::new(), is_empty: true }
    }

    fn see(&mut self, record: &Fields<'_>, values: &[Option<Cow<'_, str>>]) {
        if self.is_empty {
            self.known = record.keys().cloned().collect();
            self.known.sort_unstable();
            self.is_empty = false;
        }
        if !self.names.is_empty() && values.iter().any(Option::is_some) {
            self.names.retain(|name| value(record, name).is_none());
        }
    }

    /// About a field that no removed record has: a typing mistake, or one that few records have.
    fn problem(&self) -> Option<Problem> {
        let name = self.names.first().filter(|_| !self.is_empty)?;
        let known: Vec<String> = self.known.iter().map(|name| format!("`{name}`")).collect();
        let problem = Problem::new(format!("no removed record has a field `{name}`"));
        let advice = format!("the first has {}: name one of these", known.join(", "));
        Some(problem.or(Advice::with("removed_fields", advice)))
    }
}

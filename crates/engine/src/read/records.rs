//! Records with all their fields, as a table in memory.

use super::{
    Input, Place, ReadOptions, Shape,
    named::{NamedItems, NamesBuilder, Refusal},
    rows::{ALL, Row},
    shards_of,
};
use crate::Result;
use crate::item::{ColumnBuilder, RecordTable};
use std::collections::HashMap;

/// Reads records with all their fields, the id too where it is one. White space around names and values does not
/// count; a value that is null, empty or not there is missing; a list is its JSON.
///
/// # Errors
/// When a file cannot be read, a record is bad and bad ones are not to be skipped, or it was stopped.
pub fn load_records(
    places: &[Place],
    options: &ReadOptions,
    stopped: &dyn Fn() -> bool,
) -> Result<NamedItems<RecordTable>> {
    let mut loading = TableBuilder::default();
    let mut naming = NamesBuilder::default();
    for place in &shards_of::with_shards(places, options)? {
        let options =
            ReadOptions { columns: vec![ALL.to_owned()], shape: Shape::Value, ..options.clone() };
        let input = Input::open(std::slice::from_ref(place), options)?;
        naming.read(&input, stopped, &mut |naming, position, row| {
            loading.take(naming, position, row)
        })?;
    }
    Ok(NamedItems { items: loading.finish(), names: naming.finish() })
}

/// Columns as they are read.
#[derive(Default)]
struct TableBuilder {
    names: Vec<String>,
    places: HashMap<String, usize>,
    columns: Vec<ColumnBuilder>,
    len: usize,
}

impl TableBuilder {
    fn take(&mut self, naming: &mut NamesBuilder, position: u64, row: Row) -> Result<(), Refusal> {
        naming.add(position, row.line, row.id)?;
        for cell in &row.cells {
            let column = self.place(cell.name.trim());
            let column = &mut self.columns[column];
            // A name that stands twice in a record counts once.
            if column.len() == self.len {
                let text = cell.text.as_deref().map(str::trim);
                column.push(text.filter(|text| !text.is_empty()));
            }
        }
        self.len += 1;
        for column in &mut self.columns {
            if column.len() < self.len {
                column.push(None);
            }
        }
        Ok(())
    }

    /// The place of a column. A new one is missing in all records before.
    fn place(&mut self, name: &str) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = self.names.len();
        self.places.insert(name.to_owned(), place);
        self.names.push(name.to_owned());
        let mut column = ColumnBuilder::default();
        (0..self.len).for_each(|_| column.push(None));
        self.columns.push(column);
        place
    }

    fn finish(self) -> RecordTable {
        let columns = self.columns.into_iter().map(ColumnBuilder::finish).collect();
        RecordTable { names: self.names, columns, len: self.len }
    }
}

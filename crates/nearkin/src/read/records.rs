//! Records with all their fields, as a table in memory.

use super::{
    Input, OnError, Place, ReadOptions, Shape,
    named::{Named, Naming, Refused},
    rows::{self, ALL, Row},
};
use crate::item::{ColumnBuilder, Table};
use crate::{Error, Result};
use std::collections::HashMap;

/// Reads records with all their fields, the id too where it is one. White space around names and values does not
/// count; a value that is null, empty or not there is missing; a list is its JSON.
///
/// # Errors
/// When a file cannot be read, or a record is bad and bad ones are not to be skipped.
pub fn load_records(
    places: &[impl Into<Place> + Clone],
    options: &ReadOptions,
) -> Result<Named<Table>> {
    let mut loading = Loading::default();
    for place in places {
        let options =
            ReadOptions { columns: vec![ALL.to_owned()], shape: Shape::Value, ..options.clone() };
        loading.read(&Input::open(std::slice::from_ref(place), options)?)?;
    }
    Ok(loading.finish())
}

/// Columns as they are read.
#[derive(Default)]
struct Loading {
    names: Vec<String>,
    places: HashMap<String, usize>,
    columns: Vec<ColumnBuilder>,
    len: usize,
    naming: Naming,
    /// Records before the chunk that is being read.
    position: u64,
}

impl Loading {
    fn read(&mut self, input: &Input) -> Result<()> {
        let Some(source) = input.sources.first() else { return Ok(()) };
        let path = &source.name;
        self.naming.file(path);
        for chunk in input.scan(None)? {
            let count = rows::rows(input, &chunk?, &mut |line, row| {
                let what = match row.map_err(Refused::Record).and_then(|row| self.take(row)) {
                    Ok(()) => return Ok(()),
                    Err(Refused::File(what)) => {
                        return Err(Error::File { path: path.clone(), what });
                    }
                    Err(Refused::Record(what)) => what,
                };
                let error = Error::Input { path: path.clone(), line, what };
                match input.options.on_error {
                    OnError::Stop => Err(error),
                    OnError::Skip => {
                        self.naming.skip(error);
                        Ok(())
                    }
                }
            })?;
            self.position += u64::from(count);
        }
        Ok(())
    }

    fn take(&mut self, row: Row) -> Result<(), Refused> {
        self.naming.add(self.position + u64::from(row.ordinal), row.line, row.id)?;
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

    /// The place of a column, which is missing in all records before where it is new.
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

    fn finish(self) -> Named<Table> {
        let columns = self.columns.into_iter().map(ColumnBuilder::finish).collect();
        let items = Table { names: self.names, columns, len: self.len };
        Named { items, names: self.naming.finish() }
    }
}

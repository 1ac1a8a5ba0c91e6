//! Tables of records in memory, column by column, each distinct value once.

use std::borrow::Cow;

use super::{Interner, Values};

/// The code of a value that is not there.
pub const MISSING: u32 = u32::MAX;

/// A column of a table: which of its distinct values each record has.
#[derive(Debug, Clone, Default)]
pub struct RecordColumn {
    /// By record, the number of its value, or [`MISSING`].
    pub codes: Vec<u32>,
    /// The distinct values.
    pub values: Values,
}

impl RecordColumn {
    /// A record's value.
    pub fn get(&self, record: usize) -> Option<&str> {
        let code = self.codes[record];
        (code != MISSING).then(|| self.values.get(code as usize))
    }
}

/// Records with named columns.
#[derive(Debug, Clone, Default)]
pub struct RecordTable {
    /// The columns' names, in order.
    pub names: Vec<String>,
    /// The columns, each as long as the table.
    pub columns: Vec<RecordColumn>,
    /// Number of records.
    pub len: usize,
}

impl RecordTable {
    /// The column with this name.
    pub fn column(&self, name: &str) -> Option<&RecordColumn> {
        let place = self.names.iter().position(|known| known == name)?;
        Some(&self.columns[place])
    }

    /// Whether it has the column with this name, or all that are joined in it.
    pub fn has(&self, name: &str) -> bool {
        let parts = || name.split(" + ").all(|part| self.column(part.trim()).is_some());
        self.column(name).is_some() || parts()
    }

    /// The column with this name, or several joined by blanks: `first name + last name`.
    pub fn joined(&self, name: &str) -> Option<Cow<'_, RecordColumn>> {
        if let Some(column) = self.column(name) {
            return Some(Cow::Borrowed(column));
        }
        let parts: Vec<&RecordColumn> =
            name.split(" + ").map(|part| self.column(part.trim())).collect::<Option<_>>()?;
        let mut builder = ColumnBuilder::default();
        for record in 0..self.len {
            let values: Vec<&str> = parts.iter().filter_map(|part| part.get(record)).collect();
            builder.push(Some(values.join(" ")).as_deref().filter(|_| !values.is_empty()));
        }
        Some(Cow::Owned(builder.finish()))
    }

    /// Bytes that it takes, about.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(|column| 4 * column.codes.len() + column.values.bytes()).sum()
    }

    /// The records at these places.
    pub fn select(&self, places: &[u32]) -> Self {
        let select = |column: &RecordColumn| {
            let mut builder = ColumnBuilder::default();
            places.iter().for_each(|&place| builder.push(column.get(place as usize)));
            builder.finish()
        };
        let columns = self.columns.iter().map(select).collect();
        Self { names: self.names.clone(), columns, len: places.len() }
    }
}

/// A column as it is filled.
#[derive(Debug, Default)]
pub struct ColumnBuilder {
    codes: Vec<u32>,
    values: Interner,
}

impl ColumnBuilder {
    /// The value of the next record.
    pub fn push(&mut self, value: Option<&str>) {
        let code = value.map_or(MISSING, |value| self.number(value));
        self.push_number(code);
    }

    /// The value of the next record by its number, or [`MISSING`].
    pub fn push_number(&mut self, number: u32) {
        self.codes.push(number);
    }

    /// The number of a value, a new one where it is new.
    pub fn number(&mut self, value: &str) -> u32 {
        self.values.number(value)
    }

    /// Number of records so far.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there is no record yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The column.
    pub fn finish(self) -> RecordColumn {
        RecordColumn { codes: self.codes, values: self.values.into_values() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_joined_by_a_plus() {
        let column = |values: [Option<&str>; 3]| {
            let mut builder = ColumnBuilder::default();
            values.into_iter().for_each(|value| builder.push(value));
            builder.finish()
        };
        let table = RecordTable {
            names: vec!["first".into(), "last".into()],
            columns: vec![
                column([Some("ann"), None, None]),
                column([Some("smith"), Some("jones"), None]),
            ],
            len: 3,
        };
        let name = table.joined("first + last").expect("both are there");
        let values: Vec<Option<&str>> = (0..3).map(|record| name.get(record)).collect();
        assert_eq!(values, [Some("ann smith"), Some("jones"), None]);
        assert!(table.joined("first + age").is_none());
        assert_eq!(table.joined("last").expect("it is there").get(0), Some("smith"));
    }

    #[test]
    fn a_value_is_kept_once() {
        let mut builder = ColumnBuilder::default();
        for value in [Some("a"), None, Some("b"), Some("a"), Some("")] {
            builder.push(value);
        }
        let column = builder.finish();
        assert_eq!(column.codes, [0, MISSING, 1, 0, 2]);
        assert_eq!(column.values.iter().collect::<Vec<_>>(), ["a", "b", ""]);
        assert_eq!((column.get(3), column.get(1)), (Some("a"), None));
    }
}

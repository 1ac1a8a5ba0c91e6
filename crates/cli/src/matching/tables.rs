//! One table or two in memory, and what their records are called.

use std::borrow::Cow;
use std::path::Path;

use nearkin_engine::error::Advice;
use nearkin_engine::item::{Id, RecordTable};
use nearkin_engine::read::{NamedItems, Names, Place, ReadOptions, load_records};
use nearkin_engine::records::{Records, Rules};
use nearkin_engine::write::ColumnKind;
use nearkin_engine::{Error, Result};

/// The records of one table or of two, with their ids. Those of the second table are numbered after those of the first.
#[derive(Debug)]
pub(super) struct RecordTables {
    tables: Vec<NamedItems<RecordTable>>,
}

impl RecordTables {
    /// Reads each table from its places.
    pub(super) fn load(
        sides: &[&[Place]],
        options: &ReadOptions,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Self> {
        let tables = sides.iter().map(|places| load_records(places, options, stopped));
        Ok(Self { tables: tables.collect::<Result<_>>()? })
    }

    pub(super) fn records(&self) -> Records<'_> {
        Records { a: &self.tables[0].items, b: self.tables.get(1).map(|table| &table.items) }
    }

    /// Bytes of memory that they take.
    pub(super) fn bytes(&self) -> usize {
        self.tables.iter().map(|table| table.items.bytes()).sum()
    }

    fn names(&self) -> impl Iterator<Item = &Names> {
        self.tables.iter().map(|table| &table.names)
    }

    /// What was wrong with records that were left out.
    pub(super) fn errors(&self) -> impl Iterator<Item = &Error> {
        self.names().flat_map(|names| &names.skipped)
    }

    /// How many records were left out.
    pub(super) fn skipped(&self) -> u64 {
        self.names().map(|names| names.skipped.len() as u64).sum()
    }

    /// Which table a record is of, and where it stands there.
    fn place(&self, record: u32) -> (usize, usize) {
        let first = self.tables[0].items.len;
        match (record as usize).checked_sub(first).filter(|_| self.tables.len() > 1) {
            Some(record) => (1, record),
            None => (0, record as usize),
        }
    }

    pub(super) fn id(&self, record: u32) -> Id {
        let (table, record) = self.place(record);
        self.tables[table].names.id(record)
    }

    /// A record's value in the column that a field has in its table.
    pub(super) fn value(&self, record: u32, columns: &[String; 2]) -> Option<Cow<'_, str>> {
        let (table, record) = self.place(record);
        let items = &self.tables[table].items;
        let name = &columns[table];
        if let Some(column) = items.column(name) {
            return column.get(record).map(Cow::Borrowed);
        }
        let parts = name.split(" + ").filter_map(|part| items.column(part.trim())?.get(record));
        let parts: Vec<&str> = parts.collect();
        (!parts.is_empty()).then(|| Cow::Owned(parts.join(" ")))
    }

    pub(super) fn sizes(&self) -> Vec<usize> {
        self.tables.iter().map(|table| table.items.len).collect()
    }

    /// What the ids of each side are.
    pub(super) fn id_kinds(&self) -> [ColumnKind; 2] {
        let kind = |names: &Names| match names.ids_are_numbers() {
            true => ColumnKind::IntId,
            false => ColumnKind::Id,
        };
        [0, self.tables.len() - 1].map(|side| kind(&self.tables[side].names))
    }

    /// Refuses rules that name a column which a table does not have.
    pub(super) fn check_columns(&self, sides: &[&[Place]], rules: &Rules) -> Result<()> {
        for (side, (places, table)) in sides.iter().zip(&self.tables).enumerate() {
            let named = rules.fields.iter().map(|field| &field.columns);
            let named = named.chain(rules.check.iter().map(|check| &check.columns));
            let missing = named
                .map(|columns| &columns[side])
                .find(|name| table.items.len > 0 && !table.items.has(name));
            let Some(name) = missing else { continue };
            let path = places.first().map_or(Path::new(""), Place::name);
            let known = table.items.names.join(", ");
            let what = format!("no column `{name}`, which the rules name: it has {known}");
            let advice = match &table.items.names[..] {
                [one] if one.contains([';', '|', '\t', '%']) => {
                    Advice::with("delimiter", "say what stands between fields")
                }
                _ => "name another in the rules".into(),
            };
            return Err(Error::file(path, what).or(advice));
        }
        Ok(())
    }

    /// How many records there are, for the summary.
    pub(super) fn summary(&self) -> Vec<(u64, String)> {
        let mut rows = Vec::new();
        for (size, which) in self.sizes().into_iter().zip(["A", "B"]) {
            let of = if self.tables.len() > 1 { format!(" of {which}") } else { String::new() };
            rows.push((size as u64, format!("records{of}")));
        }
        if self.skipped() > 0 {
            rows.push((self.skipped(), "records skipped because they could not be used".into()));
        }
        rows
    }
}

//! Which columns go together, and what do they look like?

use std::collections::HashSet;

use super::super::dates::Date;
use super::super::fields::{canonical, folded};
use super::super::rules::{Distance, FieldRule, SIGNS, TAKEN};
use super::Records;
use crate::item::{MISSING, RecordColumn, RecordTable};

/// Columns that are compared, and those that are not, with why.
pub(super) struct ColumnPairs {
    pub(super) chosen: Vec<ColumnPair>,
    pub(super) left_out: Vec<(String, String)>,
}

/// A column of each table that is compared.
pub(super) struct ColumnPair {
    name: String,
    columns: [String; 2],
    distance: Distance,
}

impl ColumnPair {
    pub(super) fn rule(&self) -> FieldRule {
        FieldRule {
            columns: self.columns.clone(),
            ..FieldRule::new(&self.name, self.distance.clone())
        }
    }
}

/// Values of a column that are looked at.
const LOOKED_AT: usize = 2000;

/// Pairs the columns of the tables by their names, or else by their values.
pub(super) fn pair(records: &Records<'_>) -> ColumnPairs {
    let other = records.b.unwrap_or(records.a);
    let mut paired = ColumnPairs { chosen: Vec::new(), left_out: Vec::new() };
    let partners = partners(records.a, other, records.b.is_none());
    for (name, partner) in records.a.names.iter().zip(partners) {
        let Some(partner) = partner else {
            paired.left_out.push((name.clone(), "no column of the other table is like it".into()));
            continue;
        };
        let (Some(a), Some(b)) = (records.a.column(name), other.column(&partner)) else { continue };
        let distance = looks_like(a, b);
        if let Some(why) = useless(name, [a, b], &distance, records.b.is_none()) {
            paired.left_out.push((name.clone(), why.to_owned()));
            continue;
        }
        let known: Vec<&str> = paired.chosen.iter().map(|chosen| chosen.name.as_str()).collect();
        let name_of_field = field_name(name, &known);
        paired.chosen.push(ColumnPair {
            name: name_of_field,
            columns: [name.clone(), partner],
            distance,
        });
    }
    paired
}

/// A field's name for a column: the end of the column's name if that is an address or a path, without the signs of
/// conditions, and with a number if the name is taken.
fn field_name(column: &str, known: &[&str]) -> String {
    let end = column.rsplit(['#', '/', ':']).find(|part| !part.trim().is_empty());
    let end = end.map_or(column, str::trim);
    let plain = SIGNS.iter().fold(end.to_owned(), |name, sign| name.replace(sign, "_"));
    let free = |name: &String| !known.contains(&name.as_str()) && !TAKEN.contains(&name.as_str());
    let mut names =
        std::iter::once(plain.clone()).chain((2..).map(|number| format!("{plain}_{number}")));
    names.find(free).unwrap_or(plain)
}

/// By column of the first table, the column of the other that goes with it.
fn partners(a: &RecordTable, b: &RecordTable, same: bool) -> Vec<Option<String>> {
    if same {
        return a.names.iter().cloned().map(Some).collect();
    }
    let key = |name: &str| folded(&field_name(name, &[]));
    let mut free: Vec<&String> = b.names.iter().collect();
    let mut take = |wanted: &dyn Fn(&str) -> bool| {
        let place = free.iter().position(|name| wanted(name))?;
        Some(free.remove(place).clone())
    };
    let mut partners: Vec<Option<String>> =
        a.names.iter().map(|name| take(&|other| other == name)).collect();
    for (partner, name) in partners.iter_mut().zip(&a.names) {
        if partner.is_none() {
            *partner = take(&|other| key(other) == key(name));
        }
    }
    for (partner, column) in partners.iter_mut().zip(&a.columns) {
        if partner.is_none() {
            let values = some_values(column);
            let shared = |name: &str| {
                b.column(name).is_some_and(|other| {
                    let others = some_values(other);
                    let both = values.intersection(&others).count();
                    both * 5 > values.len().min(others.len()).max(1)
                })
            };
            *partner = take(&shared);
        }
    }
    partners
}

fn some_values(column: &RecordColumn) -> HashSet<String> {
    column.values.iter().take(LOOKED_AT).map(folded).filter(|value| !value.is_empty()).collect()
}

/// Why a column says nothing about which records are the same.
fn useless(
    name: &str,
    [a, b]: [&RecordColumn; 2],
    distance: &Distance,
    same: bool,
) -> Option<&'static str> {
    let distinct = |column: &RecordColumn| -> HashSet<String> {
        column.values.iter().filter_map(|value| canonical(value, distance)).collect()
    };
    let (first, second) = (distinct(a), distinct(b));
    if first.len() < 2 || second.len() < 2 {
        return Some("it has no two values");
    }
    if counts_up(a) && counts_up(b) {
        return Some("it counts up with the rows, as numbers of records do");
    }
    let filled =
        |column: &RecordColumn| column.codes.iter().filter(|&&code| code != MISSING).count();
    let unique = first.len() == filled(a) && second.len() == filled(b);
    let repeats = !same && first.intersection(&second).next().is_some();
    // Telephones, too, may all differ, if only in how they are written.
    let name = folded(name).replace('_', " ");
    let numbers = ["id", "ids", "key", "uuid", "guid", "nr", "number", "no", "code"];
    let is_id = name.split(' ').next_back().is_some_and(|word| numbers.contains(&word));
    (unique && !repeats && is_id).then_some("every record has a value of its own, as with ids")
}

/// Whether the values are whole numbers that never fall.
fn counts_up(column: &RecordColumn) -> bool {
    let numbers: Option<Vec<i64>> =
        (0..column.codes.len()).map(|record| column.get(record)?.parse().ok()).collect();
    numbers.is_some_and(|numbers| numbers.is_sorted())
}

/// How two columns are best compared.
fn looks_like(a: &RecordColumn, b: &RecordColumn) -> Distance {
    let values = || a.values.iter().take(LOOKED_AT).chain(b.values.iter().take(LOOKED_AT));
    let count = values().count().max(1) as f64;
    let share =
        |is: &dyn Fn(&str) -> bool| values().filter(|value| is(value)).count() as f64 / count;
    let number = |value: &str| {
        let bare = value.trim_start_matches(['$', '€', '£', ' ', '-']);
        bare.replace(',', "").parse().is_ok_and(|number: f64| number.is_finite())
    };
    if share(&|value| Date::parse(value).is_some()) > 0.9 {
        return Distance::Date;
    }
    // Whole numbers are mostly codes, in which a digit is mistyped.
    if share(&number) > 0.9 && share(&|value| value.contains('.')) > 0.1 {
        return Distance::Number;
    }
    let words =
        values().map(|value| value.split_whitespace().count()).sum::<usize>() as f64 / count;
    if words >= 3.0 { Distance::Words } else { Distance::Edit }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::ColumnBuilder;

    fn table(columns: &[(&str, &[&str])]) -> RecordTable {
        let column = |values: &[&str]| {
            let mut builder = ColumnBuilder::default();
            values.iter().for_each(|value| builder.push(Some(value)));
            builder.finish()
        };
        RecordTable {
            names: columns.iter().map(|(name, _)| (*name).to_owned()).collect(),
            columns: columns.iter().map(|(_, values)| column(values)).collect(),
            len: columns.first().map_or(0, |(_, values)| values.len()),
        }
    }

    #[test]
    fn columns_are_paired_and_looked_at() {
        let a = table(&[
            ("id", &["1", "2", "3"]),
            ("http://a.org#name", &["ann", "bob", "cy"]),
            ("born", &["1971-06-24", "1980-01-02", "1990-03-04"]),
            ("price", &["1.50", "$2.00", "3"]),
            (
                "note",
                &["sent to the wrong door", "has a big dog at home", "pays late in most years"],
            ),
            ("key", &["x1", "x2", "x3"]),
            ("only here", &["p", "q", "r"]),
        ]);
        let b = table(&[
            ("id", &["1", "2", "3"]),
            ("http://b.org#Name", &["bob", "dan", "ann"]),
            ("birthday", &["1971-06-24", "1980-01-02", "1991-03-04"]),
            ("price", &["1.50", "2.25", "3"]),
            ("note", &["a big dog is at home", "sent to a wrong door", "moved"]),
            ("key", &["y1", "y2", "y3"]),
        ]);
        let paired = pair(&Records { a: &a, b: Some(&b) });
        let chosen: Vec<(&str, &str, String)> = paired
            .chosen
            .iter()
            .map(|it| (it.name.as_str(), it.columns[1].as_str(), it.distance.to_string()))
            .collect();
        let expected = [
            ("name", "http://b.org#Name", "edit"),
            ("born", "birthday", "date"),
            ("price", "price", "number"),
            ("note", "note", "words"),
        ];
        assert_eq!(
            chosen,
            expected.map(|(name, column, distance)| (name, column, distance.to_owned()))
        );
        let left_out: Vec<&str> = paired.left_out.iter().map(|it| it.0.as_str()).collect();
        assert_eq!(left_out, ["id", "key", "only here"]);
    }

    #[test]
    fn fields_have_names_that_conditions_can_have() {
        assert_eq!(field_name("name and surname", &[]), "name_surname");
        assert_eq!(field_name("x&y", &["x_y"]), "x_y_2");
        assert_eq!(field_name("http://a.org#score", &["score_2"]), "score_3");
        assert_eq!(field_name("a", &[]), "a_2");
    }
}

//! Which columns go together, and what do they look like?

use std::collections::{HashMap, HashSet};

use super::super::dates::Date;
use super::super::fields::{canonical, canonical_as, folded};
use super::super::rules::{Distance, FieldRule, SIGNS, TAKEN};
use super::Records;
use crate::item::{MISSING, RecordColumn, RecordTable};
use crate::shingle::{Case, Shingling};

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
    let joined: HashSet<String> = partners
        .iter()
        .flatten()
        .flat_map(|columns| columns[0].split(" + ").skip(1).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    for (name, partner) in records.a.names.iter().zip(partners) {
        let Some(columns) = partner else {
            if joined.contains(name) {
                continue;
            }
            paired.left_out.push((name.clone(), "no column of the other table is like it".into()));
            continue;
        };
        let (Some(a), Some(b)) = (records.a.joined(&columns[0]), other.joined(&columns[1])) else {
            continue;
        };
        let is_joined = columns.iter().any(|name| name.contains(" + "));
        let distance = match looks_like([&a, &b]) {
            // Names in either order, and with typing errors.
            Distance::Edit | Distance::Words if is_joined => {
                Distance::Shingles(Shingling { case: Case::Fold, ..Shingling::chars(3) })
            }
            distance => distance,
        };
        if let Some(why) = useless(name, [&a, &b], &distance, records.b.is_none()) {
            paired.left_out.push((name.clone(), why.to_owned()));
            continue;
        }
        let known: Vec<&str> = paired.chosen.iter().map(|chosen| chosen.name.as_str()).collect();
        let name_of_field = field_name(name, &known);
        paired.chosen.push(ColumnPair { name: name_of_field, columns, distance });
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

/// By column of the first table, the column of the other that goes with it, or those that do when joined.
///
/// Equal names come first, then values that are the same as they are compared, then words that are about as frequent in
/// both: names that stand in one column here and in two there share their words, and no value.
fn partners(a: &RecordTable, b: &RecordTable, same: bool) -> Vec<Option<[String; 2]>> {
    if same {
        return a.names.iter().map(|name| Some([name.clone(), name.clone()])).collect();
    }
    let key = |name: &str| folded(&field_name(name, &[]));
    let mut free_b: Vec<&String> = b.names.iter().collect();
    let mut partners: Vec<Option<[String; 2]>> = vec![None; a.names.len()];
    for alike in [&|x: &str, y: &str| x == y, &|x: &str, y: &str| key(x) == key(y)]
        as [&dyn Fn(&str, &str) -> bool; 2]
    {
        for (partner, name) in partners.iter_mut().zip(&a.names).filter(|(it, _)| it.is_none()) {
            if let Some(place) = free_b.iter().position(|other| alike(name, other)) {
                *partner = Some([name.clone(), free_b.remove(place).clone()]);
            }
        }
    }
    let mut free_a: Vec<&String> = a
        .names
        .iter()
        .zip(&partners)
        .filter(|(_, it)| it.is_none())
        .map(|(name, _)| name)
        .collect();
    let contents = |table: &RecordTable, names: &[&String]| -> Vec<ColumnContent> {
        let column = |name: &&String| table.column(name).map(ColumnContent::new);
        names.iter().filter_map(column).collect()
    };
    let (of_a, of_b) = (contents(a, &free_a), contents(b, &free_b));
    let mut likes: Vec<(f64, usize, usize)> = Vec::new();
    for (x, first) in of_a.iter().enumerate() {
        likes.extend(of_b.iter().enumerate().map(|(y, second)| (first.like(second), x, y)));
    }
    likes.retain(|it| it.0 >= LIKE);
    likes.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
    let (mut taken_a, mut taken_b) = (vec![None; of_a.len()], vec![None; of_b.len()]);
    for &(_, x, y) in &likes {
        if taken_a[x].is_none() && taken_b[y].is_none() {
            (taken_a[x], taken_b[y]) = (Some(vec![x]), Some(x));
        }
    }
    // Which columns of either side are one column of the other.
    let pairs: Vec<(usize, usize)> =
        taken_b.iter().enumerate().filter_map(|(y, x)| Some(((*x)?, y))).collect();
    let mut found: Vec<[Vec<usize>; 2]> = Vec::new();
    for (x, y) in pairs {
        let (mut xs, mut ys) = (vec![x], vec![y]);
        for (other, taken) in taken_b.iter_mut().enumerate() {
            if taken.is_none() && of_a[x].joins(&of_b, &ys, other) {
                *taken = Some(x);
                ys.push(other);
            }
        }
        for other in (0..of_a.len()).filter(|_| ys.len() == 1) {
            if taken_a[other].is_none() && of_b[y].joins(&of_a, &xs, other) {
                taken_a[other] = Some(xs.clone());
                xs.push(other);
            }
        }
        xs.sort_unstable();
        ys.sort_unstable();
        found.push([xs, ys]);
    }
    let joined = |places: &[usize], names: &[&String]| {
        places.iter().map(|&place| names[place].as_str()).collect::<Vec<_>>().join(" + ")
    };
    for [xs, ys] in found {
        let place = a.names.iter().position(|name| name == free_a[xs[0]]);
        let columns = [joined(&xs, &free_a), joined(&ys, &free_b)];
        if let Some(place) = place {
            partners[place] = Some(columns);
        }
    }
    free_a.clear();
    partners
}

/// How alike columns must be to go together.
const LIKE: f64 = 0.1;
/// What a column must add to others to be joined with them.
const JOINS: f64 = 0.15;
/// Values of a column that tell what it has in common with others.
const VALUES: usize = 50_000;

/// What stands in a column: its values as they are compared, and its words.
struct ColumnContent {
    kind: Distance,
    values: HashSet<String>,
    /// Words and their shares of all words.
    words: HashMap<String, f64>,
    count: f64,
}

impl ColumnContent {
    fn new(column: &RecordColumn) -> Self {
        let kind = looks_like([column]);
        let month_first = kind.is_of_dates() && Date::month_first(column.values.iter());
        let mut values = HashSet::new();
        let mut words: HashMap<String, f64> = HashMap::new();
        let mut count = 0.0;
        for &code in column.codes.iter().filter(|&&code| code != MISSING).take(VALUES) {
            let value = column.values.get(code as usize);
            for word in folded(value).split(' ').filter(|word| !word.is_empty()) {
                *words.entry(word.to_owned()).or_default() += 1.0;
                count += 1.0;
            }
            let mut canonical = canonical_as(value, &kind, month_first).unwrap_or_default();
            if matches!(kind, Distance::Digits) {
                // Whatever stands before the number of the place and the number.
                canonical = canonical.split_off(canonical.len().saturating_sub(8));
            }
            if !canonical.is_empty() {
                values.insert(canonical);
            }
        }
        Self { kind, values, words, count }
    }

    /// How much two columns have in common, from 0 to 1.
    fn like(&self, other: &Self) -> f64 {
        let kinds = [&self.kind, &other.kind].map(std::mem::discriminant);
        let texts = [&self.kind, &other.kind]
            .map(|kind| matches!(kind, Distance::Edit | Distance::Words | Distance::Code));
        if kinds[0] != kinds[1] && texts != [true, true] {
            return 0.0;
        }
        let both = self.values.intersection(&other.values);
        let least = self.values.len().min(other.values.len()).max(1) as f64;
        // Short values, such as years, may be the same by chance.
        let (long, all) =
            both.fold((0, 0), |(long, all), value| (long + usize::from(value.len() >= 6), all + 1));
        let share = f64::from(all) / least;
        let same = if share > 0.2 || (long >= 10 && share > 0.02) { share.max(LIKE) } else { 0.0 };
        let words = if texts == [true, true] { self.shared(&[other]) } else { 0.0 };
        // Equal values are the better sign.
        same.max(0.9 * words)
    }

    /// The share of the words that a column has in common with others, in the frequencies that they have there.
    fn shared(&self, others: &[&Self]) -> f64 {
        let all: f64 = others.iter().map(|other| other.count).sum();
        let share = |(word, count): (&String, &f64)| {
            let there: f64 = others.iter().filter_map(|other| other.words.get(word)).sum();
            (count / self.count.max(1.0)).min(there / all.max(1.0))
        };
        // In order, because sums of fractions depend on it.
        let mut shares: Vec<f64> = self.words.iter().map(share).collect();
        shares.sort_by(f64::total_cmp);
        shares.iter().sum()
    }

    /// Whether this column is more like some of the others' together with one more.
    fn joins(&self, others: &[Self], places: &[usize], more: usize) -> bool {
        let of = |places: &mut dyn Iterator<Item = usize>| {
            self.shared(&places.map(|place| &others[place]).collect::<Vec<_>>())
        };
        let before = of(&mut places.iter().copied());
        of(&mut places.iter().copied().chain([more])) >= before + JOINS
    }
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

/// How the values of columns are best compared.
fn looks_like<const N: usize>(columns: [&RecordColumn; N]) -> Distance {
    let values = || columns.iter().flat_map(|column| column.values.iter().take(LOOKED_AT));
    let count = values().count().max(1) as f64;
    let share =
        |is: &dyn Fn(&str) -> bool| values().filter(|value| is(value)).count() as f64 / count;
    let number = |value: &str| {
        let bare = value.trim_matches(['$', '€', '£', ' ', '-', '\u{a0}']);
        let plain = bare.replace([',', '.'], "");
        plain.bytes().any(|byte| byte.is_ascii_digit())
            && (plain.bytes().all(|byte| byte.is_ascii_digit())
                || bare.parse().is_ok_and(|number: f64| number.is_finite()))
    };
    let fraction = |value: &str| {
        let end = value.trim_end_matches(|c: char| !c.is_ascii_digit());
        let behind = end.rfind(['.', ',']).map(|at| end.len() - at - 1);
        value.contains('.') || behind.is_some_and(|digits| digits != 3)
    };
    if share(&|value| Date::parse(value).is_some()) > 0.9 {
        return Distance::Date;
    }
    // Whole numbers are mostly codes, in which a digit is mistyped.
    if share(&number) > 0.9 && share(&fraction) > 0.1 {
        return Distance::Number;
    }
    if share(&telephone) > 0.9 {
        return Distance::Digits;
    }
    if share(&code) > 0.7 {
        return Distance::Code;
    }
    let words =
        values().map(|value| value.split_whitespace().count()).sum::<usize>() as f64 / count;
    if words >= 3.0 { Distance::Words } else { Distance::Edit }
}

/// Whether a value may be the number of a model or a part: digits with letters or signs, in one word.
fn code(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let others = value.chars().any(|c| c.is_alphabetic() || "-./".contains(c));
    digits >= 2 && others && !value.contains([' ', '@'])
}

/// Whether a value may be a telephone number: seven digits to fifteen, and no letters.
fn telephone(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    (7..=15).contains(&digits) && value.chars().all(|c| c.is_ascii_digit() || " ()+-/.".contains(c))
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

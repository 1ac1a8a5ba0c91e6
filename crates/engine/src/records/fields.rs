//! The values of a field, ready to be compared.
//!
//! Texts become lower-cased words with a blank between, without accents and apostrophes, so neither capitals nor
//! punctuation make a difference. Numbers and dates are read in many notations; what cannot be read is missing.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use super::Records;
use super::dates::Date;
use super::rules::{Distance, LossDistance};
use super::synonyms::Synonyms;
use crate::item::{
    ColumnBuilder, Interner, MISSING, RecordColumn, RecordTable, Sets, Sparse, Strings, Values,
};
use crate::measure::edit;
use crate::shingle::{Shingling, is_word_character};
use crate::space::{Space, SparseMeasure, SparseSpace, StringMeasure, StringSpace};
use crate::{Error, Result};

/// The values of a field over all records.
#[derive(Debug)]
pub struct Field {
    /// By record, the number of its value, or [`MISSING`].
    pub codes: Vec<u32>,
    /// The distinct values, as they are compared.
    pub values: Values,
    /// Records whose value is none of the kind, and counts as missing.
    pub unread: u64,
    distance: Distance,
    lost_at: LossDistance,
    tables: Vec<Synonyms>,
    forms: Forms,
}

/// Values in the form in which their distance is found.
#[derive(Debug)]
enum Forms {
    Strings { space: StringSpace, softened: Vec<bool> },
    Words { space: SparseSpace, words: Values },
    Sets(Sets),
    Numbers(Vec<f64>),
    Dates(Vec<Date>),
    Plain,
}

/// What a word of a table counts where the other value has another word of its group.
const SOFTENED: f64 = 0.9;

impl Field {
    /// The values of these columns.
    ///
    /// # Errors
    /// When a table has no such column.
    pub fn new(
        records: &Records<'_>,
        columns: &[String; 2],
        distance: &Distance,
        lost_at: LossDistance,
        tables: &[Synonyms],
        missing: &[String],
    ) -> Result<Self> {
        let missing: Vec<String> = missing.iter().map(|value| folded(value)).collect();
        let mut builder = ColumnBuilder::default();
        let mut unread = 0;
        let sides =
            [Some((records.a, "the first table")), records.b.map(|b| (b, "the second table"))];
        for ((table, which), name) in sides.into_iter().flatten().zip(columns) {
            // A file without records need not say what its columns are.
            if table.len == 0 {
                continue;
            }
            let column = column(table, which, name)?;
            unread += add(&mut builder, &column, distance, &missing);
        }
        let RecordColumn { codes, values } = builder.finish();
        let forms = Forms::new(&codes, &values, distance, tables)?;
        let (distance, tables) = (distance.clone(), tables.to_vec());
        Ok(Self { codes, values, unread, distance, lost_at, tables, forms })
    }

    /// How far apart the values of two records are, as a share of the distance of the full penalty.
    /// None if a value is missing.
    pub fn share(&self, a: u32, b: u32) -> Option<f64> {
        let [a, b] = [a, b].map(|record| self.codes[record as usize]);
        match (a, b) {
            (MISSING, _) | (_, MISSING) => None,
            _ if a == b => Some(0.0),
            _ => Some(self.share_of(a, b)),
        }
    }

    fn share_of(&self, a: u32, b: u32) -> f64 {
        let lost = match (self.lost_at, &self.forms) {
            (LossDistance::Distance(distance), _) => distance,
            (LossDistance::Share(share), Forms::Strings { space, .. }) => {
                let length = |value: u32| space.strings().length(value as usize);
                share * length(a).max(length(b)) as f64
            }
            (LossDistance::Share(share), Forms::Numbers(numbers)) => {
                share * numbers[a as usize].abs().max(numbers[b as usize].abs())
            }
            (LossDistance::Share(share), _) => share,
        };
        // The limit saves time: farther apart is all the same.
        let distance = match &self.forms {
            Forms::Strings { space, softened } => {
                let limit = lost.floor().max(0.0) as usize;
                let plain = space.within(a, b, limit);
                let mut best = plain;
                if softened[a as usize] && softened[b as usize] {
                    // Whichever is turned into the other.
                    for (a, b) in [(a, b), (b, a)] {
                        let limit = best.unwrap_or(limit.saturating_add(1));
                        best = self.softened(a, b, limit).or(best);
                    }
                }
                best.map_or(f64::INFINITY, |edits| edits as f64)
            }
            _ => self.distance(a, b),
        };
        if distance == 0.0 { 0.0 } else { (distance / lost).min(1.0) }
    }

    /// How far apart two values are, tables not counted.
    pub fn distance(&self, a: u32, b: u32) -> f64 {
        if a == b {
            return 0.0;
        }
        match &self.forms {
            Forms::Strings { space, .. } => space.value(a, b),
            Forms::Words { space, words } => {
                let shared =
                    if self.tables.is_empty() { 0.0 } else { self.shared(space, words, a, b) };
                (1.0 - space.value(a, b) - shared).max(0.0)
            }
            Forms::Sets(sets) => 1.0 - jaccard(sets, a, b),
            Forms::Numbers(numbers) => (numbers[a as usize] - numbers[b as usize]).abs(),
            Forms::Dates(dates) => f64::from(dates[a as usize].differing(dates[b as usize])),
            Forms::Plain => 1.0,
        }
    }

    /// Whether two values are at most this many edits apart, tables not counted.
    pub fn distance_within(&self, a: u32, b: u32, most: usize) -> bool {
        match &self.forms {
            Forms::Strings { space, .. } => space.within(a, b, most).is_some(),
            _ => self.distance(a, b) <= most as f64,
        }
    }

    /// How similar the words or shingles of two values are.
    pub fn similarity(&self, a: u32, b: u32) -> f64 {
        match &self.forms {
            Forms::Words { space, .. } => space.value(a, b),
            Forms::Sets(sets) => jaccard(sets, a, b),
            _ => f64::from(u8::from(a == b)),
        }
    }

    /// Fewer than `best` edits, where words of a group are exchanged for one edit each.
    fn softened(&self, a: u32, b: u32, best: usize) -> Option<usize> {
        let (a, b) = (self.values.get(a as usize), self.values.get(b as usize));
        let has = |text: &str, word: &str| text.split(' ').any(|other| other == word);
        let mut free: Vec<&str> = a.split(' ').filter(|word| !has(b, word)).collect();
        let mut exchanged = 0;
        let mut words: Vec<&str> = Vec::new();
        for word in b.split(' ') {
            let known = || self.tables.iter().any(|table| table.has(word)) && !has(a, word);
            let same = |other: &&str| self.tables.iter().any(|table| table.same(word, other));
            match free.iter().position(same).filter(|_| known()) {
                Some(at) => {
                    words.push(free.swap_remove(at));
                    exchanged += 1;
                }
                None => words.push(word),
            }
        }
        let left = best.checked_sub(exchanged + 1).filter(|_| exchanged > 0)?;
        edit::mutation_within_str(a, &words.join(" "), left).map(|edits| edits + exchanged)
    }

    /// What the words of a group that two values have in different forms add to the cosine.
    fn shared(&self, space: &SparseSpace, words: &Values, a: u32, b: u32) -> f64 {
        // In one order, because a word of one value may go with several of the other.
        let (a, b) = (a.min(b), a.max(b));
        let vectors = space.vectors();
        let (dims_a, weights_a) = vectors.get(a as usize);
        let (dims_b, weights_b) = vectors.get(b as usize);
        let length = (vectors.squares(a as usize) * vectors.squares(b as usize)).sqrt();
        let mut taken: Vec<u32> = Vec::new();
        let mut sum = 0.0;
        for (&x, &weight) in dims_a.iter().zip(weights_a) {
            let word = words.get(x as usize);
            if !self.tables.iter().any(|table| table.has(word)) || dims_b.contains(&x) {
                continue;
            }
            let found = dims_b.iter().zip(weights_b).find(|(y, _)| {
                let other = words.get(**y as usize);
                !dims_a.contains(y)
                    && !taken.contains(y)
                    && self.tables.iter().any(|table| table.same(word, other))
            });
            if let Some((&y, &other)) = found {
                taken.push(y);
                sum += SOFTENED * f64::from(weight) * f64::from(other);
            }
        }
        sum / length
    }

    /// The numbers that the values are, of numbers and days.
    pub fn numbers(&self) -> Option<&[f64]> {
        match &self.forms {
            Forms::Numbers(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// The words of the values, weighted, where they are compared by words.
    pub fn weighted(&self) -> Option<&Sparse> {
        match &self.forms {
            Forms::Words { space, .. } => Some(space.vectors()),
            _ => None,
        }
    }

    /// How far apart two values are.
    pub fn kind(&self) -> &Distance {
        &self.distance
    }
}

impl Forms {
    fn new(
        codes: &[u32],
        values: &Values,
        distance: &Distance,
        tables: &[Synonyms],
    ) -> Result<Self> {
        Ok(match distance {
            Distance::Edit | Distance::Digits | Distance::Code => {
                let mut strings = Strings::default();
                values.iter().for_each(|value| strings.push(value));
                let soft = |word: &str| tables.iter().any(|table| table.has(word));
                let softened = values.iter().map(|value| value.split(' ').any(soft)).collect();
                Self::Strings {
                    space: StringSpace::new(strings, StringMeasure::Mutation),
                    softened,
                }
            }
            Distance::Words => {
                let (vectors, words) = weighted_words(codes, values)?;
                Self::Words { space: SparseSpace::new(vectors, SparseMeasure::Cosine), words }
            }
            Distance::Shingles(shingling) => Self::Sets(sets(values, shingling)),
            Distance::Number => {
                Self::Numbers(values.iter().filter_map(|it| it.parse().ok()).collect())
            }
            Distance::Days => {
                let days = values.iter().filter_map(Date::parse);
                Self::Numbers(days.map(|date| f64::from(date.days())).collect())
            }
            Distance::Date => Self::Dates(values.iter().filter_map(Date::parse).collect()),
            Distance::Equal => Self::Plain,
        })
    }
}

fn column<'a>(table: &'a RecordTable, which: &str, name: &str) -> Result<Cow<'a, RecordColumn>> {
    table.joined(name).ok_or_else(|| {
        let known: Vec<&str> = table.names.iter().map(String::as_str).collect();
        let must = format!("a column of {which}, which has {}", known.join(", "));
        Error::parameter("a field's column", format!("`{name}`"), must)
    })
}

/// Adds a column's records, with their values as they are compared; returns how many could not be read.
fn add(
    builder: &mut ColumnBuilder,
    column: &RecordColumn,
    distance: &Distance,
    missing: &[String],
) -> u64 {
    let means_nothing = |value: &str| {
        let folded = folded(value);
        folded.is_empty() || missing.contains(&folded)
    };
    let month_first = distance.is_of_dates() && Date::month_first(column.values.iter());
    let number = |value: &str| match canonical_as(value, distance, month_first) {
        _ if means_nothing(value) => (MISSING, false),
        Some(value) => (builder.number(&value), false),
        None => (MISSING, true),
    };
    let numbers: Vec<(u32, bool)> = column.values.iter().map(number).collect();
    let mut unread = 0;
    for &code in &column.codes {
        let (number, wrong) = match code {
            MISSING => (MISSING, false),
            code => numbers[code as usize],
        };
        builder.push_number(number);
        unread += u64::from(wrong);
    }
    unread
}

/// A value as it is compared; none where there is nothing to compare.
pub(super) fn canonical(value: &str, distance: &Distance) -> Option<String> {
    canonical_as(value, distance, false)
}

/// A value as it is compared, of a column whose dates begin with the month or do not.
pub(super) fn canonical_as(value: &str, distance: &Distance, month_first: bool) -> Option<String> {
    match distance {
        Distance::Number => number(value).map(|number| number.to_string()),
        Distance::Days | Distance::Date => {
            Date::parse_as(value, month_first).map(|date| date.to_string())
        }
        Distance::Digits => {
            let digits: String = value.chars().filter(char::is_ascii_digit).collect();
            Some(digits).filter(|digits| !digits.is_empty())
        }
        Distance::Code => Some(folded(value).replace(' ', "")).filter(|code| !code.is_empty()),
        _ => Some(folded(value)).filter(|value| !value.is_empty()),
    }
}

/// Lower-cased words with a blank between, without accents and apostrophes.
pub fn folded(value: &str) -> String {
    const ACCENTS: std::ops::RangeInclusive<char> = '\u{300}'..='\u{36f}';
    let lower = match value.is_ascii() {
        true => value.to_ascii_lowercase(),
        false => {
            let plain = value.nfkd().filter(|c| !ACCENTS.contains(c)).nfc().collect::<String>();
            plain.to_lowercase().replace('ß', "ss").replace('’', "'")
        }
    };
    let lower = if lower.contains('\'') { lower.replace('\'', "") } else { lower };
    let mut folded = String::with_capacity(lower.len());
    for word in lower.split(|c| !is_word_character(c)).filter(|word| !word.is_empty()) {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded
}

/// The first number in a text: `$1,299.00`, `12,5`, `1.234,00`, `.99`, `1995.`. If there are a point and a
/// comma, the last begins the fraction; a comma alone does, unless exactly three digits follow it or it comes again. A
/// blank or an apostrophe between digits sets thousands apart.
pub fn number(text: &str) -> Option<f64> {
    let joined: String = {
        let chars: Vec<char> = text.chars().collect();
        let between = |at: usize| {
            matches!(chars[at], ' ' | '\u{a0}' | '\u{202f}' | '\'' | '’')
                && at > 0
                && chars[at - 1].is_ascii_digit()
                && chars
                    .get(at + 1..at + 4)
                    .is_some_and(|group| group.iter().all(char::is_ascii_digit))
        };
        (0..chars.len()).filter(|&at| !between(at)).map(|at| chars[at]).collect()
    };
    let text = joined.as_str();
    let digit = text.find(|c: char| c.is_ascii_digit())?;
    let is_point =
        text[..digit].ends_with('.') && !text[..digit - 1].ends_with(char::is_alphanumeric);
    let start = digit - usize::from(is_point);
    let rest = &text[start..];
    let end = rest.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ','));
    let digits = rest[..end.unwrap_or(rest.len())].trim_end_matches(['.', ',']);
    let last = |sign: char| digits.rfind(sign);
    let fraction = match (last('.'), last(',')) {
        (Some(point), Some(comma)) => Some(point.max(comma)),
        (Some(point), None) => Some(point).filter(|_| digits.matches('.').count() == 1),
        (None, Some(comma)) => {
            let thousands = digits.len() - comma == 4 || digits.matches(',').count() > 1;
            Some(comma).filter(|_| !thousands)
        }
        (None, None) => None,
    };
    let (whole, fraction) = match fraction {
        Some(at) => (&digits[..at], &digits[at + 1..]),
        None => (digits, ""),
    };
    let number: f64 = format!("0{}.{fraction}0", whole.replace(['.', ','], "")).parse().ok()?;
    // A minus, and no hyphen: nothing but a currency stands between it and the number, and no word before it.
    let before = text[..start].trim_end_matches(['$', '€', '£', ' ']);
    let minus = before.strip_suffix(['-', '−']);
    let negative = minus.is_some_and(|before| !before.ends_with(char::is_alphanumeric));
    number.is_finite().then_some(if negative { -number } else { number })
}

/// The shingles of each value.
pub(super) fn sets(values: &Values, shingling: &Shingling) -> Sets {
    let mut sets = Sets::default();
    values.iter().for_each(|value| sets.push(&shingling.set(value)));
    sets
}

pub(super) fn jaccard(sets: &Sets, a: u32, b: u32) -> f64 {
    crate::measure::jaccard::similarity(sets.get(a as usize), sets.get(b as usize))
}

/// Values as vectors of their words, each with the weight ln(1 + n / df) for a word that df of n records have.
pub(super) fn weighted_words(codes: &[u32], values: &Values) -> Result<(Sparse, Values)> {
    let mut often = vec![0u64; values.len()];
    for &code in codes.iter().filter(|&&code| code != MISSING) {
        often[code as usize] += 1;
    }
    let mut words = Interner::default();
    let mut having: Vec<u64> = Vec::new();
    let of_values: Vec<Vec<u32>> = values
        .iter()
        .zip(&often)
        .map(|(value, often)| {
            let mut of_value: Vec<u32> = value.split(' ').map(|word| words.number(word)).collect();
            of_value.sort_unstable();
            of_value.dedup();
            for &word in &of_value {
                having.resize(having.len().max(word as usize + 1), 0);
                having[word as usize] += often;
            }
            of_value
        })
        .collect();
    let records = often.iter().sum::<u64>() as f64;
    let mut vectors = Sparse::default();
    for of_value in &of_values {
        let weight =
            |&word: &u32| (word, (1.0 + records / having[word as usize] as f64).ln() as f32);
        vectors.push(&of_value.iter().map(weight).collect::<Vec<_>>())?;
    }
    Ok((vectors, words.into_values()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::rules::FieldRule;

    /// The share of two values that stand in one column.
    fn share(rule: &FieldRule, a: &str, b: &str) -> Option<f64> {
        let mut builder = ColumnBuilder::default();
        for value in [a, b] {
            builder.push(Some(value).filter(|value| !value.is_empty()));
        }
        let table =
            RecordTable { names: vec![rule.name.clone()], columns: vec![builder.finish()], len: 2 };
        let records = Records { a: &table, b: None };
        let (distance, lost_at) = (&rule.distance, rule.lost_at);
        let field = Field::new(&records, &rule.columns, distance, lost_at, &rule.tables, &[]);
        field.expect("a valid field").share(0, 1)
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, value) in [
            ("12", 12.0),
            ("$1,299.00", 1299.0),
            ("12,5", 12.5),
            ("1,234,567", 1_234_567.0),
            ("1995,", 1995.0),
            ("-3.5", -3.5),
            ("-$4", -4.0),
            ("EUR 7.", 7.0),
            (".5", 0.5),
            ("$.99", 0.99),
            ("KX-100", 100.0),
            ("1.234,00", 1234.0),
            ("1.234.567", 1_234_567.0),
            ("No.5", 5.0),
            ("1 299,00", 1299.0),
            ("1'299.00", 1299.0),
            ("12 34", 12.0),
        ] {
            assert_eq!(number(text), Some(value), "{text}");
        }
        assert_eq!(number("none"), None);
    }

    #[test]
    fn capitals_and_punctuation_make_no_difference() {
        assert_eq!(folded("  O'Brien-SMITH, Jr. "), "obrien smith jr");
        assert_eq!(folded("Müller & Söhne, Straße 5"), folded("MULLER Sohne STRASSE 5"));
        assert_eq!((folded("が"), folded("か")), ("が".to_owned(), "か".to_owned()));
        assert_eq!(folded("ＡＢＣ １２３"), "abc 123");
        assert_eq!(folded("—?!"), "");
    }

    #[test]
    fn a_nickname_differs_in_one_letter() {
        // Five edits apart, of which one is left when they are known to be the same.
        let mut rule = FieldRule::new("name", Distance::Edit);
        rule.lost_at = LossDistance::Distance(10.0);
        assert_eq!(share(&rule, "bill jones", "william jones"), Some(0.4));
        rule.tables = vec![Synonyms::shipped("nicknames").expect("it is shipped")];
        assert_eq!(share(&rule, "bill jones", "william jones"), Some(0.1));
        assert_eq!(share(&rule, "bill jones", "will jonas"), Some(0.2));
        assert_eq!(share(&rule, "bill bill", "william robert"), Some(0.6));
    }

    #[test]
    fn it_does_not_matter_which_comes_first() {
        let nicknames = || vec![Synonyms::shipped("nicknames").expect("it is shipped")];
        let names =
            ["bob bill smith", "rob will william smith", "al albert", "alan al bert", "liz beth"];
        let dates = ["2000-01-21", "2000-11-02", "2000-12-01", "1999-11-12", "2010-01-12"];
        for (distance, values) in [("edit", names), ("words", names), ("date", dates)] {
            let rule = FieldRule {
                tables: nicknames(),
                ..FieldRule::new("it", distance.parse().expect("valid"))
            };
            let rule = FieldRule { lost_at: LossDistance::Distance(20.0), ..rule };
            for (a, b) in values.iter().flat_map(|a| values.map(move |b| (a, b))) {
                assert_eq!(share(&rule, a, b), share(&rule, b, a), "{distance}: {a}, {b}");
            }
        }
    }

    #[test]
    fn words_of_a_group_count_nearly_as_equal() {
        let mut rule = FieldRule::new("street", Distance::Words);
        let far = share(&rule, "12 main street", "12 main st").expect("both are there");
        rule.tables = vec![Synonyms::shipped("abbreviations").expect("it is shipped")];
        let near = share(&rule, "12 main street", "12 main st").expect("both are there");
        assert!(near < 0.1 && far > 0.4, "{near} {far}");
    }

    #[test]
    fn each_distance_has_its_scale() {
        let rule = |distance: &str, lost_at| FieldRule {
            lost_at,
            ..FieldRule::new("it", distance.parse().expect("a distance"))
        };
        for (rule, a, b, expected) in [
            (rule("edit", LossDistance::Share(0.5)), "abcd", "abxd", Some(0.5)),
            (rule("edit", LossDistance::Distance(4.0)), "abcd", "badc", Some(0.5)),
            (rule("number", LossDistance::Share(0.1)), "100", "$95.00", Some(0.5)),
            (rule("number", LossDistance::Distance(10.0)), "100", "95", Some(0.5)),
            (rule("days", LossDistance::Distance(10.0)), "2020-01-01", "6.1.2020", Some(0.5)),
            (rule("date", LossDistance::Distance(2.0)), "2020-01-01", "20200102", Some(0.5)),
            (
                rule("digits", LossDistance::Distance(2.0)),
                "(033) 871-6662",
                "0338716663",
                Some(0.5),
            ),
            (rule("code", LossDistance::Distance(2.0)), "KX-100/b", "kx 100 B", Some(0.0)),
            (rule("code", LossDistance::Distance(2.0)), "KX-100", "KX101", Some(0.5)),
            (rule("digits", LossDistance::Distance(2.0)), "033 871", "+33871", Some(0.5)),
            (rule("equal", LossDistance::Distance(1.0)), "a", "b", Some(1.0)),
            (rule("equal", LossDistance::Distance(1.0)), "a", " A.", Some(0.0)),
            (rule("chars:2", LossDistance::Distance(1.0)), "abc", "abd", Some(2.0 / 3.0)),
            (rule("edit", LossDistance::Share(0.5)), "abcd", "", None),
            (rule("number", LossDistance::Share(0.5)), "12", "twelve", None),
            (rule("days", LossDistance::Share(0.5)), "2020-01-01", "soon", None),
        ] {
            let found = share(&rule, a, b);
            let same = match (found, expected) {
                (Some(found), Some(expected)) => (found - expected).abs() < 1e-9,
                (found, expected) => found == expected,
            };
            assert!(same, "{} {a} {b}: {found:?}, not {expected:?}", rule.distance);
        }
    }
}

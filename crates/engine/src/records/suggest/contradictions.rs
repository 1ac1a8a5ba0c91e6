//! Which columns say that the likely matches are different things?
//!
//! Editions of a book are alike in all but a column or two, and so are versions of a song and sizes of a product. Where many of
//! them stand in the tables, expectation maximisation takes them for the matches, and learns from them that the column that
//! tells them apart says nothing. That column then shows two kinds of likely matches: in some it is the same, far more
//! often than by chance, and in most it is not. Nobody knows which kind was meant, so it is said.

use rayon::prelude::*;

use super::super::fields::{Field, number};
use super::super::rules::{Distance, Rules};
use super::neighbours::random;
use super::{Scorer, TableSample, key};
use crate::item::MISSING;

/// Random pairs that tell what is close by chance.
const RANDOM: usize = 20_000;
/// The share of random pairs that may be close: a column in which more are tells few things apart.
const CLOSE: f64 = 0.02;
/// Likely matches that have both values, at least.
const LEAST: usize = 20;
/// The share of the likely matches that have both values, at least.
const FILLED: f64 = 0.1;
/// The share of those that differ, at least.
const DIFFER: f64 = 0.5;
/// How many times as often as by chance the column is close in likely matches, at least.
const BEYOND_CHANCE: f64 = 3.0;
/// The deviations of the number by chance that it must be above it.
const DEVIATIONS: f64 = 5.0;
/// Digits at the end of a number that are compared: others may be written before the number of a place.
const DIGITS: usize = 8;

/// A column that differs in most of the likely matches, and yet tells things apart.
#[derive(Debug, PartialEq)]
pub(super) struct Contradiction {
    /// The field, by its place.
    pub(super) field: usize,
    /// Likely matches that have both values.
    pub(super) known: usize,
    /// Those that differ.
    pub(super) differ: usize,
    /// The share of random pairs that are close.
    by_chance: f64,
}

impl Contradiction {
    /// What to tell whoever uses the rules.
    pub(super) fn warning(&self, rules: &Rules) -> String {
        let name = &rules.fields[self.field].name;
        let percent = 100.0 * self.differ as f64 / self.known as f64;
        format!(
            "`{name}` differs in {percent:.0} of 100 likely matches, and things that are the same may agree in it: editions, \
             versions or sizes of one thing may be taken for matches. All that is said of how many are true assumes that \
             `{name}` does not count. Look at ten matches that differ in it; if they are wrong, give [fields.{}] in the rules \
             points = 20 and penalty = 1000 in place of its curve",
            key(name)
        )
    }
}

/// The columns that contradict the likely matches, the most telling first.
pub(super) fn find(
    scorer: &Scorer,
    likely: &[(u32, u32)],
    sample: &TableSample,
) -> Vec<Contradiction> {
    let all = scorer.fields.first().map_or(0, |field| field.codes.len()) as u32;
    let random = random(sample, all, RANDOM);
    let of = |(at, field): (usize, &Field)| contradiction(at, field, likely, &random);
    let mut found: Vec<Contradiction> = scorer.fields.iter().enumerate().filter_map(of).collect();
    found.sort_by(|x, y| x.by_chance.total_cmp(&y.by_chance));
    found
}

fn contradiction(
    at: usize,
    field: &Field,
    likely: &[(u32, u32)],
    random: &[(u32, u32)],
) -> Option<Contradiction> {
    let column = ComparedColumn::new(field);
    let apart = |pairs: &[(u32, u32)]| -> Vec<f64> {
        pairs.par_iter().filter_map(|&(a, b)| column.apart(a, b)).collect()
    };
    let mut by_chance = apart(random);
    by_chance.sort_by(f64::total_cmp);
    // The farthest that is still closer than nearly all random pairs.
    let usual = *by_chance.get((by_chance.len() as f64 * CLOSE) as usize)?;
    if usual == 0.0 {
        return None;
    }
    let near = &by_chance[..by_chance.partition_point(|&it| it < usual)];
    let close = near.last().copied().unwrap_or(0.0);
    let by_chance = near.len().max(1) as f64 / by_chance.len() as f64;
    let of_likely = apart(likely);
    let known = of_likely.len();
    let agree = of_likely.iter().filter(|&&it| it <= close).count();
    // In numbers of models and the like, one other sign makes another thing.
    let same = match field.kind() {
        Distance::Code | Distance::Digits => of_likely.iter().filter(|&&it| it == 0.0).count(),
        _ => agree,
    };
    let expected = by_chance * known as f64;
    let is_sign = agree as f64 >= BEYOND_CHANCE * expected
        && agree as f64 >= expected + DEVIATIONS * (1.0 + expected.sqrt());
    let differ = known - same;
    let contradicts = known >= LEAST
        && known as f64 >= FILLED * likely.len() as f64
        && differ as f64 >= DIFFER * known as f64
        && is_sign;
    contradicts.then_some(Contradiction { field: at, known, differ, by_chance })
}

/// A column whose values are compared as numbers, if they are some, however they look to the rules.
struct ComparedColumn<'a> {
    field: &'a Field,
    numbers: Option<Vec<f64>>,
}

impl<'a> ComparedColumn<'a> {
    fn new(field: &'a Field) -> Self {
        let text = matches!(field.kind(), Distance::Edit | Distance::Words | Distance::Equal);
        let read = || field.values.iter().map(number).collect::<Option<Vec<f64>>>();
        let numbers = match field.numbers() {
            Some(numbers) if matches!(field.kind(), Distance::Number) => Some(numbers.to_vec()),
            _ if text => read(),
            _ => None,
        };
        Self { field, numbers }
    }

    /// How far apart two records are in it; none where a value is missing.
    fn apart(&self, a: u32, b: u32) -> Option<f64> {
        let codes = [a, b].map(|record| self.field.codes[record as usize]);
        if codes.contains(&MISSING) {
            return None;
        }
        if let Some(numbers) = &self.numbers {
            let [x, y] = codes.map(|code| numbers[code as usize]);
            let largest = x.abs().max(y.abs());
            return Some(if x == y { 0.0 } else { (x - y).abs() / largest });
        }
        if matches!(self.field.kind(), Distance::Digits) {
            let ends = codes.map(|code| {
                let digits = self.field.values.get(code as usize);
                digits.get(digits.len().saturating_sub(DIGITS)..).unwrap_or(digits)
            });
            if ends[0] == ends[1] {
                return Some(0.0);
            }
        }
        self.field.share(a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Records, SAMPLE};
    use super::*;
    use crate::family::hash::mix64;
    use crate::item::{ColumnBuilder, RecordTable};
    use crate::records::{FieldRule, GroupingRule};

    const RECORDS: u32 = 1000;

    fn table(value: impl Fn(u32) -> String) -> RecordTable {
        let mut column = ColumnBuilder::default();
        (0..RECORDS).for_each(|record| column.push(Some(&value(record))));
        RecordTable {
            names: vec!["it".into()],
            columns: vec![column.finish()],
            len: RECORDS as usize,
        }
    }

    /// What is found where a column of two tables, whose records are likely matches in their order, is the same in the first
    /// `same` of them.
    fn found(distance: &Distance, same: u32, value: impl Fn(u64) -> String) -> Vec<Contradiction> {
        let a = table(|record| value(u64::from(record)));
        let b =
            table(|record| value(u64::from(if record < same { record } else { record + RECORDS })));
        let records = Records { a: &a, b: Some(&b) };
        let rules = Rules {
            candidates: Vec::new(),
            fields: vec![FieldRule {
                columns: ["it".into(), "it".into()],
                ..FieldRule::new("it", distance.clone())
            }],
            threshold: None,
            grouping: GroupingRule::OneToOne,
            missing: Vec::new(),
            check: None,
            probability: None,
            warnings: Vec::new(),
        };
        let scorer = Scorer::new(&records, &rules).expect("the column is there");
        let likely: Vec<(u32, u32)> = (0..RECORDS).map(|it| (it, RECORDS + it)).collect();
        find(&scorer, &likely, &TableSample::new(&records, SAMPLE))
    }

    #[test]
    fn a_number_that_is_mostly_another_is_found() {
        let isbn = |it: u64| format!("{:010}", mix64(it, 1) % 10_000_000_000);
        let contradictions = found(&Distance::Digits, 100, isbn);
        assert_eq!(contradictions.len(), 1);
        assert_eq!((contradictions[0].known, contradictions[0].differ), (1000, 900));
        // Matches of which one in ten has another number are no doubt right; and where none has the same, the numbers may be
        // of two systems.
        assert_eq!(found(&Distance::Digits, 900, isbn), []);
        assert_eq!(found(&Distance::Digits, 0, isbn), []);
    }

    #[test]
    fn what_is_often_the_same_by_chance_tells_nothing() {
        // Five values: one random pair in five is the same.
        let colour = |it: u64| format!("colour{}", mix64(it, 2) % 5);
        assert_eq!(found(&Distance::Edit, 300, colour), []);
        // Of 500 pages, one in 500.
        let pages = |it: u64| (100 + mix64(it, 3) % 500).to_string();
        assert_eq!(found(&Distance::Edit, 300, pages).len(), 1);
    }

    #[test]
    fn a_model_of_the_same_series_is_another_thing() {
        // Of the likely matches all have models that differ in the last sign only, which few random pairs do.
        let model = |it: u64| format!("XK{}{:02}", 1000 + it % 1000, 10 + it / 1000);
        assert_eq!(found(&Distance::Code, 0, model).len(), 1);
    }
}

//! Entity resolution against code that shares nothing with it: all pairs, conditions and points worked out plainly.

use std::collections::BTreeSet;

use nearkin_engine::item::{ColumnBuilder, RecordTable};
use nearkin_engine::records::{
    Alternative, CheckRule, Distance, FieldRule, GroupingRule, Limits, LossDistance, Match,
    MatchResult, Records, Rules, resolve,
};

/// A generator of numbers, the same on every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn of<'a>(&mut self, values: &[&'a str]) -> &'a str {
        values[self.below(values.len() as u64) as usize]
    }
}

const NAMES: [&str; 8] = ["anna", "anne", "hanna", "bob", "bobby", "robert", "", "marianna"];
const TITLES: [&str; 7] = [
    "the red house",
    "a red house",
    "the house",
    "red red house garden",
    "a garden of trees",
    "",
    "trees",
];
const NUMBERS: [&str; 6] = ["10", "11", "12.5", "40", "", "11.0"];

type Row = [&'static str; 3];

fn rows(draw: &mut Draw, count: usize) -> Vec<Row> {
    (0..count).map(|_| [draw.of(&NAMES), draw.of(&TITLES), draw.of(&NUMBERS)]).collect()
}

fn table(rows: &[Row]) -> RecordTable {
    let column = |at: usize| {
        let mut builder = ColumnBuilder::default();
        rows.iter().for_each(|row| builder.push(Some(row[at]).filter(|value| !value.is_empty())));
        builder.finish()
    };
    let names = ["name", "title", "number"].map(str::to_owned).to_vec();
    RecordTable { names, columns: (0..3).map(column).collect(), len: rows.len() }
}

fn fields() -> Vec<FieldRule> {
    vec![
        FieldRule {
            lost_at: LossDistance::Distance(3.0),
            ..FieldRule::new("name", Distance::Edit)
        },
        FieldRule::new("title", "words:1".parse().expect("a distance")),
        FieldRule {
            lost_at: LossDistance::Distance(4.0),
            ..FieldRule::new("number", Distance::Number)
        },
    ]
}

fn rules(candidates: &[&str], threshold: f64, grouping: GroupingRule) -> Rules {
    let fields = fields();
    let candidates =
        candidates.iter().map(|text| Alternative::parse(text, &fields).expect("valid"));
    Rules {
        candidates: candidates.collect(),
        fields,
        threshold: Some(threshold),
        grouping,
        missing: Vec::new(),
        check: None,
        probability: None,
        warnings: Vec::new(),
    }
}

const LIMITS: Limits<'_> = Limits { memory: 1 << 30, stopped: &|| false };

/// What came of it, and the pairs.
fn run(a: &[Row], b: Option<&[Row]>, rules: &Rules) -> (MatchResult, Vec<Match>) {
    let (a, b) = (table(a), b.map(table));
    let records = Records { a: &a, b: b.as_ref() };
    let (outcome, scorer) = resolve(&records, rules, &LIMITS).expect("a run");
    let mut pairs = Vec::new();
    let take = |pair| {
        pairs.push(pair);
        Ok(())
    };
    let count = outcome.matches.each(&scorer, take).expect("nothing fails");
    assert_eq!(count, pairs.len() as u64);
    (outcome, pairs)
}

/// Edits with replacements and swaps of neighbours, by the plain recurrence.
fn edits(x: &str, y: &str) -> usize {
    let (x, y): (Vec<char>, Vec<char>) = (x.chars().collect(), y.chars().collect());
    let mut d = vec![vec![0usize; y.len() + 1]; x.len() + 1];
    for i in 0..=x.len() {
        for j in 0..=y.len() {
            d[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let changed = d[i - 1][j - 1] + usize::from(x[i - 1] != y[j - 1]);
                let mut best = changed.min(d[i - 1][j] + 1).min(d[i][j - 1] + 1);
                if i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1] {
                    best = best.min(d[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    d[x.len()][y.len()]
}

fn jaccard(x: &BTreeSet<String>, y: &BTreeSet<String>) -> f64 {
    x.intersection(y).count() as f64 / x.union(y).count().max(1) as f64
}

fn words(text: &str) -> BTreeSet<String> {
    text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn trigrams(text: &str) -> BTreeSet<String> {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() < 3 && !chars.is_empty() {
        return [text.to_owned()].into();
    }
    chars.windows(3).map(|window| window.iter().collect()).collect()
}

/// Whether a condition holds, by its text.
fn holds(condition: &str, x: &Row, y: &Row) -> bool {
    let both = |at: usize| !x[at].is_empty() && !y[at].is_empty();
    let number = |row: &Row| row[2].parse::<f64>().expect("a number");
    match condition {
        "name" => both(0) && x[0] == y[0],
        "title" => both(1) && x[1] == y[1],
        "number" => both(2) && number(x) == number(y),
        // The names have no stop words: only equal ones are alike.
        "name ~ 0.5 by stopwords" => both(0) && x[0] == y[0],
        "name within 1" => both(0) && edits(x[0], y[0]) <= 1,
        "name ~ 0.4" => both(0) && jaccard(&trigrams(x[0]), &trigrams(y[0])) >= 0.4,
        "title ~ 0.5" => both(1) && jaccard(&words(x[1]), &words(y[1])) >= 0.5,
        "number within 1.5" => both(2) && (number(x) - number(y)).abs() <= 1.5,
        other => panic!("{other}"),
    }
}

/// The points of two rows.
fn score(x: &Row, y: &Row) -> f64 {
    let part = |distance: f64, lost: f64| 100.0 * (1.0 - (distance / lost).min(1.0).powi(2));
    let mut points = 0.0;
    if !x[0].is_empty() && !y[0].is_empty() {
        points += part(edits(x[0], y[0]) as f64, 3.0);
    }
    if !x[1].is_empty() && !y[1].is_empty() {
        points += part(1.0 - jaccard(&words(x[1]), &words(y[1])), 0.8);
    }
    if let (Ok(p), Ok(q)) = (x[2].parse::<f64>(), y[2].parse::<f64>()) {
        points += part((p - q).abs(), 4.0);
    }
    points
}

const CONDITIONS: [&[&str]; 10] = [
    &["name"],
    &["name ~ 0.5 by stopwords"],
    &["number"],
    &["name within 1"],
    &["name ~ 0.4"],
    &["title ~ 0.5"],
    &["number within 1.5"],
    &["name", "title ~ 0.5 & number"],
    &["title & number within 1.5", "name within 1 & title ~ 0.5"],
    &["name ~ 0.4", "title ~ 0.5", "number"],
];

#[test]
fn candidates_and_points_are_those_of_brute_force() {
    let mut draw = Draw(7);
    for conditions in CONDITIONS {
        for two_tables in [false, true] {
            let (a, b) = (rows(&mut draw, 40), rows(&mut draw, 50));
            let rules = rules(conditions, f64::MIN, GroupingRule::All);
            let (outcome, matches) = run(&a, two_tables.then_some(&b), &rules);
            let all: Vec<Row> = if two_tables { [&a[..], &b[..]].concat() } else { a.clone() };
            let mut expected = Vec::new();
            for i in 0..if two_tables { a.len() } else { all.len() } {
                for j in if two_tables { a.len() } else { i + 1 }..all.len() {
                    let alternative = |text: &&str| {
                        text.split(" & ").all(|condition| holds(condition, &all[i], &all[j]))
                    };
                    if conditions.iter().any(alternative) {
                        expected.push((i as u32, j as u32, score(&all[i], &all[j])));
                    }
                }
            }
            assert!(expected.len() > 20, "{conditions:?} finds something");
            assert_eq!(outcome.reached, expected.len() as u64);
            let found: Vec<(u32, u32)> = matches.iter().map(|it| (it.a, it.b)).collect();
            let pairs: Vec<(u32, u32)> = expected.iter().map(|it| (it.0, it.1)).collect();
            assert_eq!(found, pairs, "{conditions:?}, two tables: {two_tables}");
            for (found, (_, _, score)) in matches.iter().zip(&expected) {
                // Each of three parts is rounded to a hundredth.
                assert!((found.score - score).abs() < 0.02, "{found:?} {score}");
            }
        }
    }
}

#[test]
fn a_threshold_keeps_what_reaches_it() {
    let a = rows(&mut Draw(3), 80);
    let (_, all) = run(&a, None, &rules(&["name ~ 0.4", "title"], f64::MIN, GroupingRule::All));
    for threshold in [0.0, 120.0, 200.0, 300.0] {
        let (_, found) =
            run(&a, None, &rules(&["name ~ 0.4", "title"], threshold, GroupingRule::All));
        let expected: Vec<_> = all.iter().filter(|it| it.score >= threshold).copied().collect();
        assert!(!expected.is_empty());
        assert_eq!(found, expected, "{threshold}");
    }
}

#[test]
fn one_record_between_two_clusters_does_not_join_them() {
    // Three and three that are equal, and one that is like either in one field.
    let first: Row = ["anna", "the red house", "10"];
    let second: Row = ["robert", "a garden of trees", "40"];
    let between: Row = ["anna", "a garden of trees", ""];
    let rows = [first, first, first, second, second, second, between];
    let (outcome, pairs) =
        run(&rows, None, &rules(&["name", "title"], 100.0, GroupingRule::Clusters));
    let clusters = outcome.matches.clusters().expect("clusters");
    assert_eq!((&clusters[..3], &clusters[3..6]), (&[0, 0, 0][..], &[3, 3, 3][..]));
    // It goes with the first of the two, six pairs and three.
    assert_eq!((clusters[6], pairs.len()), (0, 9));
    // Chains would have put all seven together.
    assert_eq!(outcome.reached, 3 + 3 + 6);
}

#[test]
fn tables_without_anything_to_match_give_nothing() {
    let none: [Row; 0] = [];
    let empty: [Row; 3] = [["", "", ""]; 3];
    for grouping in [GroupingRule::All, GroupingRule::OneToOne, GroupingRule::Clusters] {
        let rules = rules(&["name", "title ~ 0.5", "number within 1.5"], 1.0, grouping);
        for rows in [&none[..], &empty[..], &[["anna", "", ""]]] {
            assert_eq!(run(rows, None, &rules).1, [], "{grouping:?}");
        }
        assert_eq!(run(&none, Some(&empty), &rules).1, [], "{grouping:?}");
    }
}

#[test]
fn copies_cost_one_and_a_value_that_all_have_is_an_error() {
    // 200,000 equal records have twenty thousand million pairs.
    let rows: Vec<Row> = vec![["anna", "the house", "10"]; 200_000];
    let table = table(&rows);
    let records = Records { a: &table, b: None };
    let by_name = rules(&["name"], 250.0, GroupingRule::Clusters);
    let (outcome, _) = resolve(&records, &by_name, &LIMITS).expect("a run");
    assert_eq!((outcome.reached, outcome.candidates[0]), (200_000 * 199_999 / 2, 0));
    let clusters = outcome.matches.clusters().expect("clusters");
    assert!(clusters.iter().all(|&cluster| cluster == 0));
    let all = resolve(&records, &rules(&["name"], 250.0, GroupingRule::All), &LIMITS);
    let error = all.expect_err("nobody holds that").to_string();
    assert!(error.contains("no memory"), "{error}");
    // A name that all have, while each has another number.
    let mut numbers = ColumnBuilder::default();
    (0..300_000).for_each(|number| numbers.push(Some(&number.to_string())));
    let columns = ["anna", "the house"].map(|value| {
        let mut builder = ColumnBuilder::default();
        (0..300_000).for_each(|_| builder.push(Some(value)));
        builder.finish()
    });
    let columns = columns.into_iter().chain([numbers.finish()]).collect();
    let names = ["name", "title", "number"].map(str::to_owned).to_vec();
    let table = RecordTable { names, columns, len: 300_000 };
    let error = resolve(&Records { a: &table, b: None }, &by_name, &LIMITS);
    let error = error.expect_err("nobody waits for that").to_string();
    assert!(error.contains("`name`") && error.contains("`anna`"), "{error}");
}

#[test]
fn the_cheaper_of_two_conditions_finds_the_pairs() {
    // 160 records have the same name, and nearly all numbers are near each other: 3,000 pairs by the one, 12 million
    // by the other.
    let mut names = ColumnBuilder::default();
    let mut numbers = ColumnBuilder::default();
    for record in 0..40_000u32 {
        names.push(Some(&format!("name {}", record / 160)));
        numbers.push(Some(&(record % 1000).to_string()));
    }
    let columns = vec![names.finish(), ColumnBuilder::default().finish(), numbers.finish()];
    let mut table = RecordTable {
        names: ["name", "title", "number"].map(str::to_owned).to_vec(),
        columns,
        len: 40_000,
    };
    let mut titles = ColumnBuilder::default();
    (0..40_000).for_each(|_| titles.push(None));
    table.columns[1] = titles.finish();
    let records = Records { a: &table, b: None };
    let rules = rules(&["name & number within 1.5"], 0.0, GroupingRule::OneToOne);
    let (outcome, _) = resolve(&records, &rules, &LIMITS).expect("a run");
    // In a group of 160 numbers in a row, each but the last has one behind it; three groups go over the thousand.
    assert!((39_000..=40_000).contains(&outcome.candidates[0]), "{}", outcome.candidates[0]);
}

#[test]
fn a_field_that_was_not_scored_finds_the_threshold() {
    // Names that are equal are one person, born on one day; others that are alike are not.
    let mut draw = Draw(11);
    let mut names = ColumnBuilder::default();
    let mut born = ColumnBuilder::default();
    let mut days = Vec::new();
    for person in 0..2000u64 {
        let day = draw.below(10_000);
        for copy in 0..2 {
            days.push((day + copy) as f64);
            names.push(Some(&format!("person number {}", person * 7919 % 100_000)));
            born.push(Some(&(day + copy).to_string()));
        }
    }
    let columns = vec![names.finish(), born.finish()];
    let table = RecordTable { names: vec!["name".into(), "born".into()], columns, len: 4000 };
    let fields = vec![FieldRule::new("name", Distance::Edit)];
    let rules = Rules {
        candidates: vec![Alternative::parse("name within 1", &fields).expect("valid")],
        fields,
        threshold: None,
        grouping: GroupingRule::All,
        missing: Vec::new(),
        check: Some(CheckRule {
            columns: ["born".into(), "born".into()],
            distance: Distance::Number,
            most: None,
            window: None,
            share: 0.5,
        }),
        probability: None,
        warnings: Vec::new(),
    };
    let records = Records { a: &table, b: None };
    let (outcome, _) = resolve(&records, &rules, &LIMITS).expect("a run");
    let shares = outcome.shares.expect("a check");
    // Copies are a day apart, others some 3,333 on average. Of these 100,000 pairs are drawn, which are 2,360 apart give or take:
    // a standard error of 7.5. Five of them happen once in 1.7 million seeds, and the seed is fixed.
    assert!((shares.certain - 1.0).abs() < 0.01, "{shares:?}");
    let apart = days.iter().flat_map(|x| days.iter().map(move |y| (x - y).abs())).sum::<f64>();
    let random = apart / (4000.0 * 3999.0);
    assert!((shares.random - random).abs() < 5.0 * 7.5, "{shares:?}, not {random}");
    assert_eq!(outcome.reached, 2000);
    assert!(outcome.threshold > 90.0, "{}", outcome.threshold);
}

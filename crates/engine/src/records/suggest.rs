//! Which rules would do for these tables?
//!
//! Nobody says which records are the same, so it is guessed and the guess improved:
//!
//! 1. columns of the two tables that go together are compared as what they look like: dates, numbers, words, short texts;
//! 2. for some records, those that share rare words are looked up, and two are taken as the same where each is the
//!    other's best;
//! 3. among these pairs, expectation maximisation finds how often the fields of matches and of others are so far apart
//!    (the model of Fellegi and Sunter 1969; Winkler 1988 found its numbers so, without examples);
//! 4. a field's points and penalty are those of the quadratic that comes closest to the logarithm of the ratio of the
//!    two, ten points a factor of two, and the threshold is where matches and others are equally likely;
//! 5. candidates are found by the conditions that hold for most of the likely matches at the least cost.
//!
//! The pairs come from rare words, not from the rules' own candidates. Those are chosen by the very fields that are to
//! be judged, and expectation maximisation over them failed: F1 was 0.21 on products and 0.73 on citations.

mod columns;
mod mixture;
mod neighbours;

use std::fmt::Write as _;

use rayon::prelude::*;

use self::columns::{ColumnPair, ColumnPairs};
use self::mixture::Mixture;
use super::candidates::CandidateSearch;
use super::rules::{
    Alternative, Distance, FieldCondition, FieldRule, GroupingRule, Rules, ValueRelation,
};
use super::{Records, Scorer};
use crate::error::{Advice, Error, Result};
use crate::family::hash::mix64;

/// Records of the first table that are looked at, at most.
const SAMPLE: usize = 5000;
/// Matches on which conditions are tried, at most.
const MATCHES: usize = 20_000;
/// The share of the likely matches that candidates should have.
const COVERED: f64 = 0.995;
/// Candidates a record that a condition may bring, at most.
const MOST_EACH: f64 = 300.0;
/// Fewer likely matches say nothing.
const LEAST_MATCHES: usize = 10;
/// Records of the second table on which conditions on similar values are tried.
const TRIED: usize = 2000;

/// Rules that were found, and how a file says them.
#[derive(Debug)]
pub struct SuggestedRules {
    /// The rules.
    pub rules: Rules,
    /// As a file with comments.
    pub text: String,
}

/// Rules for these tables.
///
/// # Errors
/// When the tables have no columns that can be compared, nothing in them looks the same, or it was stopped.
pub fn suggest(
    records: &Records<'_>,
    stopped: &(dyn Fn() -> bool + Sync),
) -> Result<SuggestedRules> {
    let paired = columns::pair(records);
    if paired.chosen.is_empty() {
        return Err(match &records.a.names[..] {
            [] => nothing("the first table has no records"),
            [one] if one.contains([';', '|', '\t', ',', '%']) => {
                nothing("the first table has one column")
                    .or(Advice::with("delimiter", "say what stands between fields"))
            }
            _ => nothing("no two columns can be compared").or("give tables with columns in common"),
        });
    }
    let sample = TableSample::new(records);
    let fields = paired.chosen.iter().map(ColumnPair::rule).collect();
    let rules = Rules {
        candidates: Vec::new(),
        fields,
        threshold: None,
        grouping: if records.b.is_some() { GroupingRule::OneToOne } else { GroupingRule::Clusters },
        missing: Vec::new(),
        check: None,
    };
    let looked_at = sample.records(records);
    let scorer = Scorer::new(&looked_at, &rules)?;
    let pairs = neighbours::find(&sample, &looked_at, &rules)?;
    let mixture = Mixture::find(&scorer, &pairs);
    let likely = mixture.likely(&pairs.alike);
    if likely.len() < LEAST_MATCHES {
        let found = likely.len();
        let why =
            format!("{found} pairs look like matches, and fewer than {LEAST_MATCHES} say nothing");
        return Err(nothing(&why).or(BY_HAND));
    }
    let candidates = cover(&scorer, &rules, &likely, &sample, stopped)?;
    let rules = with_points(Rules { candidates, ..rules }, &mixture);
    if rules.scored().next().is_none() {
        return Err(nothing("no field tells matches from others").or(BY_HAND));
    }
    // Pairs of one table were met from both ends.
    let ends = if records.b.is_none() { 2 } else { 1 };
    let text = written(&rules, &paired, [pairs.alike.len(), likely.len()].map(|count| count / ends));
    Ok(SuggestedRules { rules, text })
}

/// The error where there is nothing to suggest.
fn nothing(why: &str) -> Error {
    Error::nothing(format!("nothing to suggest: {why}"))
}

const BY_HAND: &str = "write the rules by hand";

/// The records that are looked at: some of the first table, and all that they may match.
pub(super) struct TableSample {
    table: crate::item::RecordTable,
    /// Where they stand in the table, when they may match others of the same table.
    places: Option<Vec<u32>>,
}

impl TableSample {
    fn new(records: &Records<'_>) -> Self {
        const SEED: u64 = 0x5a3b_71e5;
        let mut places: Vec<u32> = (0..records.a.len as u32).collect();
        places.sort_by_key(|&place| mix64(u64::from(place), SEED));
        places.truncate(SAMPLE);
        places.sort_unstable();
        let table = records.a.select(&places);
        Self { table, places: records.b.is_none().then_some(places) }
    }

    /// As the records of two tables.
    fn records<'a>(&'a self, records: &Records<'a>) -> Records<'a> {
        Records { a: &self.table, b: Some(records.b.unwrap_or(records.a)) }
    }

    /// Number of records that are looked at.
    fn len(&self) -> u32 {
        self.table.len as u32
    }

    /// Whether two records, of the sample and of all, are one.
    fn is_same(&self, a: u32, b: u32) -> bool {
        self.places.as_ref().is_some_and(|places| places[a as usize] == b - self.len())
    }
}

/// A condition that may find candidates.
struct CandidateSource {
    alternative: Alternative,
    /// The likely matches for which it holds.
    holds: Vec<bool>,
    /// Candidates that it brings a record, about.
    cost: f64,
}

/// The conditions that hold for most of the likely matches at the least cost.
fn cover(
    scorer: &Scorer,
    rules: &Rules,
    likely: &[(u32, u32)],
    sample: &TableSample,
    stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<Alternative>> {
    let sources = sources(scorer, rules, likely, sample, stopped)?;
    let mut open = vec![true; likely.len()];
    let mut chosen: Vec<Alternative> = Vec::new();
    let wanted = (likely.len() as f64 * (1.0 - COVERED)) as usize;
    let least = 1 + likely.len() / 500;
    loop {
        let left = open.iter().filter(|open| **open).count();
        let gain = |source: &CandidateSource| {
            source.holds.iter().zip(&open).filter(|(holds, open)| **holds && **open).count()
        };
        let worth = |source: &CandidateSource| gain(source) as f64 / (5.0 + source.cost);
        let best = sources.iter().max_by(|a, b| worth(a).total_cmp(&worth(b)));
        match best.filter(|best| left > wanted && gain(best) >= least) {
            Some(best) => {
                open.iter_mut().zip(&best.holds).for_each(|(open, holds)| *open &= !holds);
                chosen.push(best.alternative.clone());
            }
            None => break,
        }
    }
    if chosen.is_empty() {
        return Err(nothing(
            "no condition finds candidates at a fair cost: write the rules by hand",
        ));
    }
    Ok(chosen)
}

/// Every condition that may be taken.
fn sources(
    scorer: &Scorer,
    rules: &Rules,
    likely: &[(u32, u32)],
    sample: &TableSample,
    stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<CandidateSource>> {
    let count = rules.fields.len();
    let equal = |field| FieldCondition { field, how: ValueRelation::Equal };
    let mut alternatives: Vec<Alternative> =
        (0..count).map(|field| Alternative(vec![equal(field)])).collect();
    for first in 0..count {
        alternatives
            .extend((first + 1..count).map(|it| Alternative(vec![equal(first), equal(it)])));
    }
    for (field, rule) in rules.fields.iter().enumerate() {
        let least: &[f64] = match rule.distance {
            Distance::Words => &[0.7, 0.5, 0.3, 0.2],
            Distance::Edit => &[0.7, 0.5],
            _ => &[],
        };
        let similar = |&least: &f64| {
            Alternative(vec![FieldCondition { field, how: ValueRelation::Similar(least, None) }])
        };
        alternatives.extend(least.iter().map(similar));
    }
    let tried = tried(scorer, sample);
    let all: Vec<u32> = (0..scorer.fields.first().map_or(0, |it| it.codes.len() as u32)).collect();
    let mut sources = Vec::new();
    for alternative in alternatives {
        if stopped() {
            return Err(Error::Interrupted);
        }
        let rules = Rules { candidates: vec![alternative.clone()], ..rules.clone() };
        let search = CandidateSearch::new(scorer, &rules, Some(sample.len()), all.clone(), stopped);
        let holds: Vec<bool> = likely.par_iter().map(|&(a, b)| search.is_new(0, a, b)).collect();
        if !holds.contains(&true) {
            continue;
        }
        let cost = match search.equal_pairs(0) {
            Some(pairs) => pairs as f64 / f64::from(sample.len().max(1)),
            None => {
                let found =
                    tried.pairs.par_iter().filter(|&&(a, b)| search.is_new(0, a, b)).count();
                // Finding similar values takes longer than finding equal ones.
                5.0 + found as f64 * tried.scale
            }
        };
        if cost <= MOST_EACH {
            sources.push(CandidateSource { alternative, holds, cost });
        }
    }
    Ok(sources)
}

/// Random pairs on which conditions are tried, and how many candidates a record each stands for.
struct TrialPairs {
    pairs: Vec<(u32, u32)>,
    scale: f64,
}

fn tried(scorer: &Scorer, sample: &TableSample) -> TrialPairs {
    const EACH: u32 = 200;
    let first = sample.len();
    let all = scorer.fields.first().map_or(0, |field| field.codes.len()) as u32;
    let step = |count: u32, most: u32| (count / most.max(1)).max(1) as usize;
    let rows: Vec<u32> = (0..first).step_by(step(first, EACH)).collect();
    let others: Vec<u32> = (first..all).step_by(step(all - first, TRIED as u32)).collect();
    let scale = f64::from(all - first) / (others.len().max(1) * rows.len().max(1)) as f64;
    let pairs = rows.iter().flat_map(|&a| others.iter().map(move |&b| (a, b)));
    TrialPairs { pairs: pairs.filter(|&(a, b)| !sample.is_same(a, b)).collect(), scale }
}

/// The rules with what the fields are worth; those that tell nothing are worth nothing.
fn with_points(mut rules: Rules, mixture: &Mixture) -> Rules {
    const POINTS_A_BIT: f64 = 10.0;
    for (rule, worth) in rules.fields.iter_mut().zip(&mixture.worth) {
        let [points, penalty] = [worth.points, worth.penalty].map(|it| (it * POINTS_A_BIT).round());
        let tells = points >= 5.0 && penalty >= 5.0;
        (rule.points, rule.penalty) = if tells { (points, penalty) } else { (0.0, 0.0) };
    }
    rules.threshold = Some((mixture.odds_against() * POINTS_A_BIT).round());
    rules
}

/// The rules as a file.
fn written(rules: &Rules, paired: &ColumnPairs, [pairs, likely]: [usize; 2]) -> String {
    let mut text = String::new();
    let mut line = |words: std::fmt::Arguments<'_>| {
        let _ = writeln!(text, "{words}");
    };
    line(format_args!(
        "# Suggested from {pairs} pairs of records that are alike, {likely} of which look like matches; nobody has"
    ));
    line(format_args!(
        "# checked it. Look at the matches around the threshold, and change what is wrong."
    ));
    line(format_args!(""));
    match rules.grouping {
        GroupingRule::OneToOne => line(format_args!(
            "match = \"one-to-one\"       # or \"all\", where a record may match several"
        )),
        grouping => line(format_args!(
            "match = \"{}\"         # groups of records; or \"one-to-one\", or \"all\"",
            grouping.name()
        )),
    }
    let threshold = rules.threshold.unwrap_or_default();
    line(format_args!("threshold = {threshold}            # of at most {} points", rules.most()));
    line(format_args!("candidates = ["));
    for alternative in &rules.candidates {
        line(format_args!("  {},", quoted(&alternative.display(&rules.fields))));
    }
    line(format_args!("]"));
    for (name, why) in &paired.left_out {
        line(format_args!("# `{name}` is left out: {why}."));
    }
    let needed: Vec<usize> =
        rules.candidates.iter().flat_map(|it| it.0.iter().map(|term| term.field)).collect();
    for (at, field) in rules.fields.iter().enumerate() {
        if !field.is_scored() && !needed.contains(&at) {
            line(format_args!(
                "# `{}` is left out: it does not tell matches from others.",
                field.name
            ));
            continue;
        }
        line(format_args!(""));
        line(format_args!("[fields.{}]", key(&field.name)));
        match &field.columns {
            [a, b] if a == b && *a == field.name => {}
            [a, b] if a == b => line(format_args!("column = {}", quoted(a))),
            [a, b] => line(format_args!("column = [{}, {}]", quoted(a), quoted(b))),
        }
        line(format_args!("distance = {}", quoted(&field.distance.to_string())));
        line(format_args!("lost_at = {}", field.lost_at));
        line(format_args!("points = {}", field.points));
        line(format_args!("penalty = {}", field.penalty));
    }
    text
}

/// A name as a key of TOML.
fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { quoted(name) }
}

/// A text as a string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

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

mod calibration;
mod columns;
mod contradictions;
mod mixture;
mod neighbours;

use std::collections::HashSet;
use std::fmt::Write as _;

use rayon::prelude::*;

use self::calibration::Calibration;
use self::columns::{ColumnPair, ColumnPairs};
use self::mixture::Mixture;
use super::candidates::CandidateSearch;
use super::rules::{
    Alternative, Distance, FieldCondition, GroupingRule, Probability, Rules, ValueRelation,
};
use super::{Records, Scorer};
use crate::error::{Advice, Error, Result};
use crate::family::hash::mix64;

/// Records of the first table that are looked at, at most.
const SAMPLE: Sample = Sample { records: 5000, each: 100, common: 1000 };
/// Those that are looked at where matches are so rare that the others held too few. Each is compared with fewer.
const LARGE_SAMPLE: Sample = Sample { records: 50_000, each: 20, common: 100 };

/// How much is looked at.
#[derive(Debug, Clone, Copy)]
struct Sample {
    /// Records of the first table, at most.
    records: usize,
    /// Pairs of one record, at most.
    each: usize,
    /// Words that more records of the second table have in a field are not looked up.
    common: usize,
}
/// Matches on which conditions are tried, at most.
const MATCHES: usize = 20_000;
/// The share of the likely matches that candidates should have.
const COVERED: f64 = 0.995;
/// Candidates a record that a condition may bring, at most.
const MOST_EACH: f64 = 300.0;
/// Matches of one record that are more than groups of the same thing have.
const MOST_MATCHES: f64 = 30.0;
/// Pairs that all conditions together may bring, by record of the smaller table; and for small tables.
const BUDGET_EACH: f64 = 200.0;
const LEAST_BUDGET: f64 = 3e6;
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
    match suggest_from(records, SAMPLE, stopped) {
        Err(Error::Interrupted) => Err(Error::Interrupted),
        Err(_) if records.a.len > SAMPLE.records => suggest_from(records, LARGE_SAMPLE, stopped),
        suggested => suggested,
    }
}

/// Rules for these tables, by a sample of this size.
fn suggest_from(
    records: &Records<'_>,
    size: Sample,
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
    let sample = TableSample::new(records, size);
    let fields = paired.chosen.iter().map(ColumnPair::rule).collect();
    let rules = Rules {
        candidates: Vec::new(),
        fields,
        threshold: None,
        grouping: if records.b.is_some() { GroupingRule::OneToOne } else { GroupingRule::Clusters },
        missing: Vec::new(),
        check: None,
        probability: None,
        warnings: Vec::new(),
    };
    let looked_at = sample.records(records);
    let scorer = Scorer::new(&looked_at, &rules)?;
    let pairs = neighbours::find(&sample, &scorer)?;
    let mixture = Mixture::find(&scorer, &pairs);
    let rules = with_points(rules, &mixture);
    if rules.scored().next().is_none() {
        return Err(nothing("no field tells matches from others").or(BY_HAND));
    }
    let scorer = Scorer::of(scorer.fields, rules.fields.clone());
    let start = mixture.odds_against() * POINTS_A_BIT;
    let score = |&(a, b): &(u32, u32)| scorer.score(a, b);
    let scores: Vec<f64> = pairs.alike.par_iter().map(score).collect();
    let best = match records.b {
        Some(_) => calibration::assign(&pairs.alike, &scores),
        None => (0..pairs.alike.len()).collect(),
    };
    let best = best.into_iter().filter(|&place| scores[place] >= start);
    let best: HashSet<(u32, u32)> = best.map(|place| pairs.alike[place]).collect();
    let mixed = mixed_pairs(&sample, &looked_at, &rules, &best)?;
    let calibration = match records.b {
        Some(_) => calibration::one_to_one(&pairs.alike, &scores, &mixed, sample.len()),
        None => of_mixture(&mixture, &pairs.alike, &mixed),
    };
    // Pairs of one table were met from both ends.
    let ends = if records.b.is_none() { 2 } else { 1 };
    let [found, of_mixed] = calibration.reached.map(|count| count / ends);
    if calibration.likely.len() < LEAST_MATCHES * ends {
        let found = calibration.likely.len() / ends;
        let why =
            format!("{found} pairs look like matches, and fewer than {LEAST_MATCHES} say nothing");
        return Err(nothing(&why).or(BY_HAND));
    }
    if of_mixed * 2 > found {
        let why = format!(
            "{found} pairs look like matches, and so do {of_mixed} of records whose columns were mixed: what is alike \
             is alike by chance"
        );
        return Err(nothing(&why).or(BY_HAND));
    }
    let contradictions = contradictions::find(&scorer, &calibration.likely, &sample);
    let step = calibration.likely.len().div_ceil(MATCHES).max(1);
    let likely: Vec<(u32, u32)> = calibration.likely.iter().copied().step_by(step).collect();
    let budget = Budget::new(records);
    let covered = cover(&scorer, &rules, &likely, &sample, &budget, stopped)?;
    let scale = records.a.len as f64 / f64::from(sample.len().max(1)) / ends as f64;
    let probability = Probability {
        even: tenth(calibration.probability.even),
        doubling: tenth(calibration.probability.doubling).max(0.1),
        matches: (calibration.probability.matches * scale).round(),
    };
    let mut rules = Rules {
        candidates: covered.chosen,
        threshold: Some(calibration.threshold.round().min(rules.most())),
        probability: Some(probability),
        ..rules
    };
    rules.warnings = contradictions.iter().map(|it| it.warning(&rules)).collect();
    rules.warnings.extend(warnings(&rules, records, [found, of_mixed]));
    rules.warnings.extend(covered.warning);
    let counts = [pairs.alike.len() / ends, calibration.likely.len() / ends];
    let text = written(&rules, &paired, counts);
    Ok(SuggestedRules { rules, text })
}

fn tenth(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// Points that double the odds.
const POINTS_A_BIT: f64 = 10.0;

/// What makes these rules doubtful.
fn warnings(rules: &Rules, records: &Records<'_>, [found, mixed]: [usize; 2]) -> Vec<String> {
    let mut warnings = Vec::new();
    if mixed * 10 > found {
        warnings.push(format!(
            "{mixed} pairs of records whose columns were mixed reach the threshold, and {found} others: many of the \
             matches may be alike by chance; look at those with the lowest scores"
        ));
    }
    let scored: Vec<&str> = rules.scored().map(|at| rules.fields[at].name.as_str()).collect();
    if scored.len() < 3 {
        let names = scored.join("` and `");
        warnings.push(format!(
            "only `{names}` tells matches from others; look at the matches, or add fields that go together under other names"
        ));
    }
    if let (Some(probability), Some(b)) = (rules.probability, records.b) {
        let most = records.a.len.min(b.len);
        if probability.matches > 1.05 * most as f64 {
            warnings.push(format!(
                "{} pairs look like matches, and at most {most} are possible; records may match several, or fields say too little",
                probability.matches
            ));
        }
    }
    if let (Some(probability), None) = (rules.probability, records.b) {
        let each = 2.0 * probability.matches / records.a.len.max(1) as f64;
        if each > MOST_MATCHES {
            warnings.push(format!(
                "{} pairs of {} records look like matches, so that each has {each:.0}; unless there are such large groups, \
                 the fields say too little: look at ten matches, and raise the threshold",
                probability.matches, records.a.len
            ));
        }
    }
    warnings
}

/// Pairs that look alike of the sample and of records whose columns were mixed, each for itself: what is alike by chance.
/// Without those that have a value from a record that may be a match.
fn mixed_pairs(
    sample: &TableSample,
    records: &Records<'_>,
    rules: &Rules,
    matches: &HashSet<(u32, u32)>,
) -> Result<Vec<((u32, u32), f64)>> {
    let other = records.b.unwrap_or(records.a);
    let mut mixed = other.clone();
    let mut orders: Vec<Vec<u32>> = Vec::new();
    for (number, column) in (1..).zip(&mut mixed.columns) {
        let mut order: Vec<u32> = (0..other.len as u32).collect();
        order.sort_by_key(|&record| mix64(u64::from(record), mix64(number, 0)));
        column.codes = order.iter().map(|&record| column.codes[record as usize]).collect();
        orders.push(order);
    }
    let first = sample.len();
    let by_chance = |&(a, b): &(u32, u32)| {
        let mut sources = orders.iter().map(|order| first + order[(b - first) as usize]);
        !sources.any(|source| sample.is_same(a, source) || matches.contains(&(a, source)))
    };
    let records = Records { a: records.a, b: Some(&mixed) };
    let scorer = Scorer::new(&records, rules)?;
    let pairs = neighbours::find(sample, &scorer)?.alike;
    let pairs: Vec<(u32, u32)> = pairs.into_iter().filter(by_chance).collect();
    Ok(pairs.into_par_iter().map(|pair| (pair, scorer.score(pair.0, pair.1))).collect())
}

/// What the mixture says about pairs of one table, of which each may match several.
fn of_mixture(mixture: &Mixture, pairs: &[(u32, u32)], mixed: &[((u32, u32), f64)]) -> Calibration {
    let threshold = mixture.odds_against() * POINTS_A_BIT;
    let likely = pairs.iter().zip(&mixture.chance).filter(|(_, chance)| **chance > 0.5);
    let likely: Vec<(u32, u32)> = likely.map(|(pair, _)| *pair).collect();
    let matches = mixture.chance[..pairs.len()].iter().sum();
    let of_mixed = mixed.iter().filter(|pair| pair.1 >= threshold).count();
    let probability = Probability { even: threshold, doubling: POINTS_A_BIT, matches };
    Calibration { probability, threshold, reached: [likely.len(), of_mixed], likely }
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
    size: Sample,
}

impl TableSample {
    fn new(records: &Records<'_>, size: Sample) -> Self {
        const SEED: u64 = 0x5a3b_71e5;
        let mut places: Vec<u32> = (0..records.a.len as u32).collect();
        places.sort_by_key(|&place| mix64(u64::from(place), SEED));
        places.truncate(size.records);
        places.sort_unstable();
        let table = records.a.select(&places);
        Self { table, places: records.b.is_none().then_some(places), size }
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
    pairs: f64,
    /// The same, and what it takes to find them.
    cost: f64,
}

/// How many pairs the candidates may be.
struct Budget {
    /// In all.
    pairs: f64,
    /// What a condition that brings one pair to each record that is looked at brings in all.
    scale: f64,
}

impl Budget {
    fn new(records: &Records<'_>) -> Self {
        let smaller = records.b.map_or(records.a.len, |b| b.len.min(records.a.len));
        // Pairs of one table are met from both ends.
        let ends = if records.b.is_none() { 2.0 } else { 1.0 };
        Self {
            pairs: (BUDGET_EACH * smaller as f64).max(LEAST_BUDGET),
            scale: records.a.len as f64 / ends,
        }
    }
}

/// The conditions that were chosen, and what was lost to the budget.
struct Covered {
    chosen: Vec<Alternative>,
    warning: Option<String>,
}

/// The conditions that hold for most of the likely matches at the least cost, within the budget.
fn cover(
    scorer: &Scorer,
    rules: &Rules,
    likely: &[(u32, u32)],
    sample: &TableSample,
    budget: &Budget,
    stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Covered> {
    let sources = sources(scorer, rules, likely, sample, stopped)?;
    let mut spent = 0.0;
    // Conditions that would have been taken, had they brought fewer pairs.
    let mut too_dear: Option<(String, f64)> = None;
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
        let brings = |source: &CandidateSource| source.pairs * budget.scale;
        let useful: Vec<&CandidateSource> =
            sources.iter().filter(|source| left > wanted && gain(source) >= least).collect();
        let (within, beyond): (Vec<&CandidateSource>, Vec<&CandidateSource>) =
            useful.into_iter().partition(|source| spent + brings(source) <= budget.pairs);
        let best = within.into_iter().max_by(|a, b| worth(a).total_cmp(&worth(b)));
        let dear = beyond.into_iter().max_by(|a, b| worth(a).total_cmp(&worth(b)));
        if let Some(dear) = dear.filter(|dear| best.is_none_or(|best| worth(dear) > worth(best))) {
            let name = dear.alternative.display(&rules.fields);
            too_dear.get_or_insert_with(|| (name, brings(dear)));
        }
        match best {
            Some(best) => {
                spent += brings(best);
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
    let missed = open.iter().filter(|open| **open).count() as f64 / likely.len().max(1) as f64;
    let warning = too_dear.map(|(name, pairs)| {
        let found = 100.0 * (1.0 - missed);
        format!(
            "`{name}` would have brought about {pairs:.0} pairs to look at, too many with the rest for a limit of {:.0}, and \
             was left out; the conditions hold for {found:.1} % of the likely matches",
            budget.pairs
        )
    });
    Ok(Covered { chosen, warning })
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
            Distance::Edit | Distance::Code => &[0.7, 0.5],
            Distance::Shingles(_) => &[0.7, 0.5, 0.35],
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
        let (pairs, cost) = match search.equal_pairs(0) {
            Some(pairs) => {
                let each = pairs as f64 / f64::from(sample.len().max(1));
                (each, each)
            }
            None => {
                let found =
                    tried.pairs.par_iter().filter(|&&(a, b)| search.is_new(0, a, b)).count();
                let each = found as f64 * tried.scale;
                // Finding similar values takes longer than finding equal ones.
                (each, 5.0 + each)
            }
        };
        if cost <= MOST_EACH {
            sources.push(CandidateSource { alternative, holds, pairs, cost });
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
    for (rule, worth) in rules.fields.iter_mut().zip(&mixture.worth) {
        let points = |&(share, bits): &(f64, f64)| (share, (bits * POINTS_A_BIT).round());
        let curve: Vec<(f64, f64)> = worth.0.iter().map(points).collect();
        let [best, worst] = [0, curve.len() - 1].map(|at| curve[at].1);
        let tells = best >= 5.0 && best - worst >= 10.0;
        rule.curve = if tells { curve } else { vec![(0.0, 0.0)] };
    }
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
    if !rules.warnings.is_empty() {
        line(format_args!("warnings = ["));
        rules.warnings.iter().for_each(|warning| line(format_args!("  {},", quoted(warning))));
        line(format_args!("]"));
    }
    line(format_args!("candidates = ["));
    for alternative in &rules.candidates {
        line(format_args!("  {},", quoted(&alternative.display(&rules.fields))));
    }
    line(format_args!("]"));
    if let Some(Probability { even, doubling, matches }) = rules.probability {
        line(format_args!(""));
        line(format_args!("[probability]              # of a match, by its score"));
        line(format_args!("even = {even}"));
        line(format_args!("doubling = {doubling}"));
        line(format_args!("matches = {matches}"));
    }
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
        match &field.curve[..] {
            [] => {
                line(format_args!("points = {}", field.points));
                line(format_args!("penalty = {}", field.penalty));
            }
            curve if field.is_scored() => {
                let points = curve.iter().map(|(share, points)| format!("[{share}, {points}]"));
                line(format_args!("curve = [{}]", points.collect::<Vec<_>>().join(", ")));
            }
            _ => line(format_args!("points = 0")),
        }
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

//! What a run found and took: the funnel for people, `--stats` for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::PathBuf;

use nearkin_engine::audit::{Audit, Recall};
use nearkin_engine::error::{Advice, Problem};
use nearkin_engine::item::PassedOver;
use nearkin_engine::matches::{Collection, Stats};
use nearkin_engine::observe::{Stage, StageTime};
use nearkin_engine::options::{Goal, Options};
use nearkin_engine::plan::{Plan, SearchCost, TablesPlan};
use nearkin_engine::search::Job;
use nearkin_engine::settings::{Settings, Strategy};
use nearkin_engine::shingle::{Shingling, Unit};
use nearkin_engine::write::{CompleteOutput, Output};
use nearkin_engine::{Error, Result};
use serde_json::{Value, json};

use crate::args::RunArgs;
use crate::screen::harmless;
use crate::wording::CommandWording;

/// What was compared, and how: what a summary says besides the numbers.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    settings: Settings,
    measure: String,
    /// How texts were cut; none for other items.
    shingle: Option<String>,
    /// Whether items were compared by their elements, and not in memory as they are.
    by_elements: bool,
    /// Whether rows are of an item and one of its closest.
    is_closest: bool,
    /// Minhashes of a signature, where similarities are estimates.
    estimate: Option<usize>,
}

impl Subject {
    pub(crate) fn new(options: &Options, goal: Goal, settings: &Settings) -> Result<Self> {
        let by_elements = !options.is_in_memory();
        let measure = match by_elements {
            true => settings.measure.name().to_owned(),
            false => options.query(goal)?.measure.to_string(),
        };
        let shingle = by_elements.then(|| settings.shingling.to_string());
        let is_closest = goal == Goal::Closest;
        let (settings, estimate) = (settings.clone(), options.estimate);
        Ok(Self { settings, measure, shingle, by_elements, is_closest, estimate })
    }

    /// What the closeness of an item to the kept one is called.
    pub(crate) fn value_name(&self) -> &'static str {
        if self.settings.within.is_some() { "distance" } else { "similarity" }
    }

    /// What counts as similar, where anything does.
    fn limit(&self) -> Option<f64> {
        let limit = self.settings.within.unwrap_or(self.settings.threshold);
        limit.is_finite().then_some(limit)
    }

    /// What is similar, in words.
    fn reach(&self) -> String {
        let reach = match self.settings.within {
            // Somebody may have meant 1 − cos.
            Some(most) if self.measure == "cosine" => {
                // More exact than 1 − cos where that is small.
                let lost = 2.0 * (most.to_radians() / 2.0).sin().powi(2);
                let lost = (lost * 1e9).round() / 1e9;
                format!("within {most} degrees, where 1 − cos is up to {lost}")
            }
            Some(most) => format!("within {most}"),
            None => format!("at or above {}", self.settings.threshold),
        };
        match (self.settings.no_closer, self.settings.within) {
            (None, _) => reach,
            (Some(bound), Some(_)) => format!("{reach} and at least {bound} apart"),
            (Some(bound), None) => format!("{reach} and at or below {bound}"),
        }
    }

    /// What the pairs that were written are.
    fn pairs(&self) -> String {
        let closest = "rows of an item and one of its closest";
        if self.estimate.is_some() {
            let what = if self.is_closest { closest } else { "pairs with an estimate" };
            return format!("{what} {} ({})", self.reach(), self.measure);
        }
        match (self.is_closest, self.limit()) {
            (true, Some(_)) => format!("{closest} {} ({})", self.reach(), self.measure),
            (true, None) => format!("{closest} ({})", self.measure),
            (false, _) if self.by_elements => format!("pairs {}, copies included", self.reach()),
            (false, _) => format!("pairs {} ({})", self.reach(), self.measure),
        }
    }

    /// The standard error of an estimate of the threshold: √(s(1 − s) / k).
    fn standard_error(&self, functions: usize) -> f64 {
        let at = self.settings.threshold.clamp(0.0, 1.0);
        (at * (1.0 - at) / functions as f64).sqrt()
    }

    /// How surely pairs were found.
    fn promise(&self, plan: &Plan) -> String {
        if let Some(functions) = self.estimate {
            return format!(
                "estimated: nothing was compared; each value is the share of {functions} minhashes that agree, with a \
                 standard error of {:.4} at {}",
                self.standard_error(functions),
                self.settings.threshold
            );
        }
        let Some(tables) = plan.tables_taken() else {
            return "found by an exact search, which misses none".to_owned();
        };
        let limit = self.settings.within.unwrap_or(self.settings.threshold);
        let chance = match self.settings.strategy {
            Strategy::Bands(_) | Strategy::Tables { .. } => (plan.recall * 1e6).round() / 1e6,
            _ => self.settings.recall,
        };
        let agreeing = match tables.expression.required_fields() {
            fields if fields.is_empty() => String::new(),
            fields => format!(" that agrees in {}", fields.join(", ")),
        };
        let promise =
            format!("promised: a pair at just {limit}{agreeing} is found with chance {chance}");
        match &tables.expected {
            None => promise,
            Some(expected) => format!(
                "{promise}, by {} ({} candidates expected)",
                named(tables),
                grouped(expected.candidates as u64)
            ),
        }
    }
}

/// The tables as the report shows them.
pub(crate) fn named(tables: &TablesPlan) -> String {
    match tables.probes {
        1 => tables.expression.to_string(),
        probes => format!("{} with {probes} probes a table", tables.expression),
    }
}

/// How many survived each stage, a line each.
pub(crate) fn funnel(stats: &Stats, subject: &Subject) -> String {
    let mut rows: Vec<(u64, String)> = vec![(stats.items, "items read".into())];
    rows.extend(stats.old.map(|old| (old, "of them in --against, where all stay".into())));
    if stats.skipped > 0 {
        rows.push((stats.skipped, "records skipped because they could not be used".into()));
    }
    rows.extend(passed_over(stats.passed_over));
    if stats.empty > 0 {
        rows.push((stats.empty, "empty items, similar to nothing".into()));
    }
    if stats.identical > 0 {
        let same = match subject.estimate {
            Some(_) => "with the signature of an earlier one",
            None => "identical to an earlier one",
        };
        rows.push((stats.identical, same.into()));
    }
    rows.push((stats.distinct, "distinct items".into()));
    rows.extend(compared(stats, subject));
    if let Some(pairs) = stats.pairs {
        rows.push((pairs, subject.pairs()));
    }
    if let (Some(clusters), Some(kept)) = (stats.clusters, stats.kept) {
        rows.push((clusters, format!("groups of similar items {}", subject.reach())));
        rows.push((stats.items - stats.old.unwrap_or(0) - kept, removed(stats, subject)));
        let kept_of = if stats.old.is_some() { "items of INPUT kept" } else { "items kept" };
        rows.push((kept, kept_of.into()));
    }
    let mut text = lines(&rows);
    let seconds: f64 = stats.stages.iter().map(|stage| stage.seconds).sum();
    if let Some(stage) = stats.resumed {
        let _ = writeln!(text, "  went on after the stage {} of an earlier run", stage.name());
    }
    let _ = write!(text, "  {}; took {seconds:.1} s", subject.promise(&stats.plan));
    if let Some(audit) = &stats.audit {
        let _ = write!(text, "\n{}", audited(audit));
    }
    text
}

/// The files of folders that were passed over, for `--stats`.
pub(crate) fn passed_over_json(files: PassedOver) -> serde_json::Value {
    json!({
        "binary": files.binary,
        "undecodable": files.undecodable,
        "ignored": files.ignored,
        "excluded": files.excluded,
        "dead_links": files.dead_links,
    })
}

/// The files of folders that were passed over.
pub(crate) fn passed_over(files: PassedOver) -> impl Iterator<Item = (u64, String)> {
    let rows = [
        (files.binary, "binary files passed over"),
        (files.undecodable, "files passed over that are no text in UTF-8, or in the --encoding"),
        (files.ignored, "files left out that a .gitignore names; --no-ignore reads them"),
        (files.excluded, "files and folders left out by --include and --exclude"),
        (files.dead_links, "links passed over that lead nowhere"),
    ];
    rows.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| (count, what.to_owned()))
}

/// The items that were removed, and how close they are to what is kept.
fn removed(stats: &Stats, subject: &Subject) -> String {
    let Some(least) = stats.least_close else { return "items removed".into() };
    // Never closer than what was measured.
    let least = match subject.value_name() {
        "distance" => (least * 1e4).ceil() / 1e4,
        _ => (least * 1e4).floor() / 1e4,
    };
    match (stats.unlike.unwrap_or(0), subject.value_name()) {
        (0, "distance") => format!("items removed, each within {least} of one that is kept"),
        (0, _) if least == 1.0 => {
            "items removed, each with similarity 1 to one that is kept".into()
        }
        (0, _) => {
            format!("items removed, each with similarity {least} or more to one that is kept")
        }
        (unlike, name) => format!(
            "items removed, {} of them not similar to the one that is kept: one has {name} {least}",
            grouped(unlike)
        ),
    }
}

/// How many texts are too short for their shingles.
pub(crate) struct ShortTexts {
    pub(crate) all: u64,
    /// Those without a character.
    pub(crate) empty: u64,
    /// Other ones without a shingle.
    pub(crate) none: u64,
    /// Those of one shingle.
    pub(crate) one: u64,
}

impl ShortTexts {
    /// The warning of a collection with many of them.
    pub(crate) fn warning(&self, shingling: &Shingling) -> Option<Problem> {
        /// A smaller share of the texts may have little to say.
        const SHARE: f64 = 0.05;
        let (unit, length, shorter): (_, _, &[&str]) = match shingling.unit {
            Unit::Words(length @ ..3) => ("words", length, &["chars:5"]),
            Unit::Words(length) => ("words", length, &["words:2", "chars:5"]),
            Unit::Chars(length @ ..3) => ("characters", length, &[]),
            Unit::Chars(length @ ..6) => ("characters", length, &["chars:2"]),
            Unit::Chars(length) => ("characters", length, &["chars:5"]),
            Unit::StopWords(_) => ("stop word", 0, &["words:5"]),
            Unit::Elements => return None,
        };
        let Self { all, empty, none, one } = *self;
        let short = empty + none + one;
        if short == 0 || (short as f64) < SHARE * all as f64 {
            return None;
        }
        let of = |some: u64| format!("{} of {} texts", grouped(some), grouped(all));
        let mut what = Vec::new();
        if empty > 0 {
            what.push(format!("{} are empty, and are similar to nothing", of(empty)));
        }
        if one > 0 {
            let one = of(one);
            what.push(format!(
                "{one} have at most {length} {unit}: each is one shingle, so almost only equal texts match"
            ));
        }
        if none > 0 {
            what.push(match shingling.unit {
                Unit::Chars(_) => format!("{} are blank, so only equal texts match", of(none)),
                _ => format!("{} have no {unit}, so only equal texts match", of(none)),
            });
        }
        let shorter: &[&str] = match (&shingling.unit, one, none) {
            (_, 0, 0) | (Unit::Chars(_), 0, _) => &[],
            // Shorter runs of words do not help texts without words.
            (Unit::Words(_), 0, _) => &["chars:5"],
            _ => shorter,
        };
        let mut problem = Problem::new(what.join("; "));
        if none > 0 && matches!(shingling.unit, Unit::StopWords(_)) {
            problem =
                problem.or(Advice::with("stop_words", "give the stop words of their language"));
        }
        let advice = shorter.iter().map(|&shorter| Advice::set("shingle", shorter));
        Some(advice.fold(problem, Problem::or))
    }
}

/// The warning of a run that had nothing to compare.
fn nothing(stats: &Stats) -> Option<Problem> {
    match (stats.items, stats.skipped) {
        (0, 0) if stats.passed_over != PassedOver::default() => {
            let what = Problem::new("there are no items: all files of the folder were passed over");
            Some(what.or("check the folder and the globs").or(Advice::turn_on("no_ignore")))
        }
        (0, 0) => {
            let what = Problem::new("there are no items: the input has no record");
            Some(
                what.or("check that it is the right file")
                    .or(Advice::with("format", "name its format")),
            )
        }
        (0, _) => {
            let what = Problem::new("there are no items: all records were skipped");
            Some(what.or(Advice::set("on_error", "stop")).or("read what is wrong with the first"))
        }
        _ => None,
    }
}

/// The warning of a run whose pairs are all closer than is allowed.
fn all_closer(stats: &Stats, subject: &Subject) -> Option<Problem> {
    let bound = subject.settings.no_closer?;
    let found = stats.similar > 0 || stats.identical > 0;
    if stats.pairs != Some(0) || !found || subject.is_closest {
        return None;
    }
    let name = if subject.settings.within.is_some() { "at_least" } else { "at_most" };
    let found = match (stats.similar, stats.identical) {
        (0, copies) => format!("{} items that are copies of others", grouped(copies)),
        (1, _) => "one similar pair of distinct items".to_owned(),
        (similar, _) => format!("{} similar pairs of distinct items", grouped(similar)),
    };
    let what = format!("no pair is left: the run found {found}, closer than {bound}");
    Some(Problem::new(what).or(Advice::with(name, "allow closer pairs")))
}

/// The warning of an audit that was asked for and not made.
fn not_audited(stats: &Stats, subject: &Subject) -> Option<Problem> {
    let is_asked = subject.settings.audit.is_some_and(|count| count > 0);
    if !is_asked || !stats.plan.is_exact() || stats.items == 0 {
        return None;
    }
    let what = "there was nothing to audit: the search was exact, which was faster here and misses no pair";
    let approximate = subject.by_elements.then(|| Advice::turn_on("approximate"));
    Some(approximate.into_iter().fold(Problem::new(what), Problem::or))
}

/// How many pairs were compared.
fn compared(stats: &Stats, subject: &Subject) -> Vec<(u64, String)> {
    // Groups leave out pairs that are connected already.
    let looked_at = match stats.kept {
        Some(_) => "pairs of them looked at",
        None => "pairs of them do",
    };
    if subject.estimate.is_some() {
        let what = "pairs of signatures agree in one value or more, and are counted";
        return if subject.is_closest { Vec::new() } else { vec![(stats.verified, what.into())] };
    }
    match (subject.by_elements, stats.plan.is_exact()) {
        (true, false) => vec![
            (stats.in_candidates, "of them share a bucket with another".into()),
            (stats.candidates, looked_at.into()),
            (
                stats.verified,
                "pairs compared exactly, the others ruled out by their sketches".into(),
            ),
        ],
        (true, true) => vec![
            (stats.candidates, "pairs that the filters of the exact search let through".into()),
            (stats.verified, "pairs compared element by element".into()),
        ],
        // Where the closest of each are looked for, pairs are not counted.
        (false, _) if stats.in_candidates == 0 => Vec::new(),
        (false, _) => vec![(stats.verified, "pairs compared exactly".into())],
    }
}

/// What the audit found, in words.
pub(crate) fn audited(audit: &Audit) -> String {
    let drawn = match (audit.items(), audit.compared()) {
        (Some(items), _) => format!("of {} items drawn at random", grouped(items)),
        (None, compared) if audit.is_of_all() => {
            format!(
                "of all {} pairs that a second look brings together",
                grouped(compared.unwrap_or(0))
            )
        }
        (None, compared) => {
            format!("of {} pairs drawn at random and compared", grouped(compared.unwrap_or(0)))
        }
    };
    let Some(all) = audit.overall() else {
        return format!("  audited: no similar pair {drawn}, so nothing is known of misses");
    };
    let share = |share: f64| format!("{share:.4}");
    let misses = match all.pairs - all.found {
        0 => "no miss".to_owned(),
        1 => "1 miss".to_owned(),
        misses => format!("{} misses", grouped(misses)),
    };
    let found = match all.interval {
        // All pairs were looked at.
        Some((low, high)) if low == high => format!("{} found", share(all.recall)),
        Some((low, 1.0)) => format!("at least {} found, 95 % sure", at_least(low)),
        Some((low, high)) => {
            format!("{} found, 95 % sure: {} to {}", share(all.recall), share(low), share(high))
        }
        None => format!("{} found", share(all.recall)),
    };
    let mut text =
        format!("  audited: {misses} among {} similar pairs {drawn}; {found}", grouped(all.pairs));
    if all.interval.is_some_and(|(low, high)| high - low > 0.5) {
        text.push_str("; too few pairs to tell, a larger --audit draws more");
    }
    // Distances have no bands.
    for (band, recall) in audit.bands().iter().filter(|(band, _)| band.start < band.end) {
        let pairs = grouped(recall.pairs);
        let found = match recall.interval {
            Some((low, high)) if low < high => {
                let range = format!("({} to {})", at_least(low), share(high));
                format!("{} of {pairs} pairs {range}", share(recall.recall))
            }
            Some(_) => format!("{} of {pairs} pairs", share(recall.recall)),
            // So few are told by their number, as their weights say nothing.
            None => format!("{} of {pairs} pairs found", grouped(recall.found)),
        };
        let _ = write!(text, "\n    {:>5} to {:<5} {found}", short(band.start), short(band.end));
    }
    text
}

/// A share in four digits, never above what it is.
fn at_least(share: f64) -> String {
    format!("{:.4}", (share * 1e4).floor() / 1e4)
}

/// A similarity in up to four digits.
fn short(similarity: f64) -> f64 {
    (similarity * 1e4).round() / 1e4
}

/// What either way was expected to cost, as JSON. Of texts, sets and bags it is null where only one way was open.
pub(crate) fn expected_json(plan: &Plan, by_elements: bool) -> Value {
    let tables = plan.tables.as_ref();
    if !by_elements {
        return json!({
            "complete": plan.exact.map(|cost| json!({ "seconds": cost.seconds })),
            "tables": tables.map(tables_json),
        });
    }
    let cost = |cost: SearchCost| json!({ "seconds": cost.seconds, "compared": cost.compared.map(f64::round) });
    match (plan.exact, tables.and_then(|tables| tables.cost)) {
        (Some(exact), Some(bands)) => json!({ "exact": cost(exact), "bands": cost(bands) }),
        _ => Value::Null,
    }
}

fn tables_json(tables: &TablesPlan) -> Value {
    let expected = tables.expected.as_ref();
    json!({
        "expression": tables.expression.to_string(),
        "probes": tables.probes,
        "seconds": tables.cost.map(|cost| cost.seconds),
        "candidates": expected.map(|expected| expected.candidates),
        "missed": expected.map(|expected| expected.missed),
        "wasted": expected.map(|expected| expected.wasted),
    })
}

/// The audit as JSON, in one shape whatever was seen.
pub(crate) fn audit_json(audit: &Audit) -> Value {
    let recall = |recall: Option<&Recall>| {
        let interval = recall.and_then(|recall| recall.interval);
        json!({
            "recall": recall.map(|recall| recall.recall),
            "low": interval.map(|ends| ends.0),
            "high": interval.map(|ends| ends.1),
            "pairs": recall.map_or(0, |recall| recall.pairs),
            "found": recall.map_or(0, |recall| recall.found),
        })
    };
    let mut json = recall(audit.overall().as_ref());
    json["items"] = audit.items().into();
    json["compared"] = audit.compared().into();
    json["confidence"] = 0.95.into();
    let band = |(band, of): &(Range<f64>, Recall)| {
        let mut json = recall(Some(of));
        json["from"] = band.start.into();
        json["to"] = band.end.into();
        json
    };
    let is_band = |(band, _): &&(Range<f64>, Recall)| band.start < band.end;
    json["by_similarity"] = audit.bands().iter().filter(is_band).map(band).collect();
    json
}

/// Counts and what they are of, a line each.
pub(crate) fn lines(rows: &[(u64, String)]) -> String {
    let width = rows.iter().map(|row| grouped(row.0).len()).max().unwrap_or(0);
    let mut text = String::new();
    for (count, what) in rows {
        let _ = writeln!(text, "  {:>width$}  {what}", grouped(*count));
    }
    text
}

/// A number with its thousands set apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The run as JSON.
pub(crate) fn as_json(stats: &Stats, subject: &Subject) -> Value {
    let Subject { settings, by_elements, .. } = subject;
    let tables = stats.plan.tables_taken();
    let bands = tables.and_then(TablesPlan::as_bands);
    let expression = tables.filter(|_| !by_elements);
    let threshold = match (by_elements, settings.within) {
        (true, _) => Some(settings.limit().similarity()),
        (false, Some(_)) => None,
        (false, None) => subject.limit(),
    };
    json!({
        "items": stats.items,
        "old": stats.old,
        "skipped": stats.skipped,
        "passed_over": passed_over_json(stats.passed_over),
        "empty": stats.empty,
        "unshingled": stats.unshingled,
        "short": stats.short,
        "identical": stats.identical,
        "distinct": stats.distinct,
        "in_candidates": stats.in_candidates,
        "candidates": stats.candidates,
        "verified": stats.verified,
        "similar": stats.similar,
        "pairs": stats.pairs,
        "clusters": stats.clusters,
        "kept": stats.kept,
        "least_close": stats.least_close,
        "unlike": stats.unlike,
        "threshold": threshold,
        "within": settings.within.filter(|within| within.is_finite()),
        "at_most": settings.no_closer.filter(|_| settings.within.is_none()),
        "at_least": settings.no_closer.filter(|_| settings.within.is_some()),
        "shingle": subject.shingle,
        "seed": settings.seed,
        "bands": bands.map(|bands| bands.count),
        "rows": bands.map(|bands| bands.rows),
        "expression": expression.map(|tables| tables.expression.to_string()),
        "probes": expression.map(|tables| tables.probes),
        "expected": expected_json(&stats.plan, *by_elements),
        "estimate": subject.estimate.map(|functions| json!({
            "functions": functions,
            "standard_error": subject.standard_error(functions),
        })),
        "way": match (tables.is_some(), by_elements) {
            _ if subject.estimate.is_some() => "estimate",
            (false, _) => "exact",
            (true, true) => "bands",
            (true, false) => "tables",
        },
        "measure": subject.measure,
        "recall": {
            "promised": subject.estimate.is_none().then_some(stats.plan.recall),
            "audited": stats.audit.as_ref().map(audit_json),
        },
        "stages": stages_json(&stats.stages),
        "resumed_after": stats.resumed.map(Stage::name),
        "peak_memory": peak_memory(),
    })
}

/// What each stage took.
pub(crate) fn stages_json(stages: &[StageTime]) -> Value {
    let stage = |stage: &StageTime| {
        (
            stage.stage.name().into(),
            json!({
                "seconds": stage.seconds,
                "bytes": stage.traffic.read,
                "unpacked": stage.traffic.unpacked,
            }),
        )
    };
    Value::Object(stages.iter().map(stage).collect())
}

/// What was written, or nothing if the reader closed it; other outputs are finished then.
pub(crate) fn unless_closed<T>(written: Result<T>) -> Result<Option<T>> {
    match written {
        Err(Error::Closed) => Ok(None),
        other => other.map(Some),
    }
}

/// Says of a run that was stopped how it goes on, where it can.
pub(crate) fn stopped(error: Error, job: Option<&Job>) -> anyhow::Error {
    let goes_on = job.is_some() && matches!(error, Error::Interrupted);
    let error = anyhow::Error::new(error);
    if goes_on { error.context("to go on, start it again with the same arguments") } else { error }
}

/// The report at the end of a run.
#[derive(Debug)]
pub(crate) struct RunReport {
    pub(crate) stats: Value,
    pub(crate) funnel: String,
    /// The first of the records that were skipped.
    pub(crate) skipped: Vec<Error>,
    /// What the user should look at.
    pub(crate) warnings: Vec<Problem>,
    pub(crate) job: Option<Job>,
}

impl RunReport {
    pub(crate) fn new<'a>(
        stats: Value,
        funnel: String,
        skipped: impl Iterator<Item = &'a Error>,
    ) -> Self {
        let skipped = skipped.take(SHOWN).map(|error| error.clone().without("on_error")).collect();
        Self { stats, funnel, skipped, warnings: Vec::new(), job: None }
    }

    pub(crate) fn of(stats: &Stats, collection: &Collection, subject: &Subject) -> Self {
        let (json, funnel) = (as_json(stats, subject), funnel(stats, subject));
        let Stats { items, empty, unshingled, short, .. } = *stats;
        let short = ShortTexts { all: items, empty, none: unshingled, one: short };
        let short = short.warning(&subject.settings.shingling).filter(|_| subject.by_elements);
        let warnings =
            [nothing(stats), all_closer(stats, subject), not_audited(stats, subject), short];
        let warnings = warnings.into_iter().flatten().collect();
        let report = Self::new(json, funnel, collection.skipped.iter());
        Self { warnings, ..report.skipped_in(&collection.skipped_in) }
    }

    /// With the number of records that were skipped of each file.
    fn skipped_in(mut self, counts: &BTreeMap<PathBuf, u64>) -> Self {
        let count = |(path, count): (&PathBuf, &u64)| (path.display().to_string(), json!(count));
        self.stats["skipped_in"] = Value::Object(counts.iter().map(count).collect());
        self
    }

    /// With these warnings before others.
    pub(crate) fn warning_first(mut self, warnings: impl IntoIterator<Item = Problem>) -> Self {
        self.warnings.splice(0..0, warnings);
        self
    }

    /// The job is done when the outputs are there.
    pub(crate) fn of_job(self, job: Option<Job>) -> Self {
        Self { job, ..self }
    }

    /// Ends a run whose outputs are written: shows the funnel, writes `--stats`, and lets everything
    /// appear together.
    pub(crate) fn finish(
        self,
        run: &RunArgs,
        mut ready: Vec<CompleteOutput>,
    ) -> anyhow::Result<()> {
        if let Some(path) = &run.stats {
            let mut output = Output::create(Some(path))?;
            output.put(format!("{:#}\n", self.stats).as_bytes())?;
            ready.insert(0, output.ready()?);
        }
        ready.into_iter().try_for_each(CompleteOutput::appear)?;
        if !run.quiet {
            for error in &self.skipped {
                tell(format_args!("skipped: {}", harmless(&error.worded(&CommandWording), false)));
            }
            let all = self.stats["skipped"].as_u64().unwrap_or(0);
            let others = all.saturating_sub(self.skipped.len() as u64);
            if others > 0 {
                tell(format_args!("skipped: and {} more", grouped(others)));
            }
            self.tell_skipped_in();
            tell(format_args!("{}", self.funnel));
        }
        for warning in &self.warnings {
            tell(format_args!("warning: {}", harmless(&warning.worded(&CommandWording), false)));
        }
        if let Some(job) = &self.job {
            job.finish();
        }
        Ok(())
    }
}

impl RunReport {
    /// Says how many records were skipped of each file, if there are several and not all of them were named.
    fn tell_skipped_in(&self) {
        let Some(counts) = self.stats["skipped_in"].as_object().filter(|counts| counts.len() > 1)
        else {
            return;
        };
        for (path, count) in counts.iter().take(SHOWN) {
            let count = grouped(count.as_u64().unwrap_or(0));
            tell(format_args!("skipped: {count} in {}", harmless(path, false)));
        }
        if counts.len() > SHOWN {
            let others = grouped((counts.len() - SHOWN) as u64);
            tell(format_args!("skipped: and some in {others} other files; --stats has all"));
        }
    }
}

/// Messages of skipped records that are shown.
const SHOWN: usize = 10;

/// The most memory this process has held, in bytes, where the system tells.
pub(crate) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Writes a line to standard error, if anybody reads it: what was done is done all the same.
pub(crate) fn tell(line: std::fmt::Arguments<'_>) {
    let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{line}\n"));
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_set_apart() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }
}

//! What a run found and took: the funnel for people, `--stats` for programs.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use nearkin::audit::{Audit, Recall};
use nearkin::error::Problem;
use nearkin::pipeline::{Choice, Collection, Expected, Job, Settings, Stage, StageTime, Stats};
use nearkin::write::{Output, Ready};
use nearkin::{Error, Result};
use serde_json::{Value, json};

use crate::args::RunArgs;
use crate::wording::CommandWording;

/// How many survived each stage, a line each.
pub(crate) fn funnel(stats: &Stats, settings: &Settings) -> String {
    let mut rows: Vec<(u64, String)> = vec![(stats.items, "items read".into())];
    if stats.skipped > 0 {
        rows.push((stats.skipped, "records skipped because they could not be used".into()));
    }
    if stats.empty > 0 {
        rows.push((stats.empty, "items without any shingle or element, similar to nothing".into()));
    }
    if stats.identical > 0 {
        rows.push((stats.identical, "identical to an earlier one".into()));
    }
    rows.push((stats.distinct, "distinct items".into()));
    match stats.bands {
        Some(_) => {
            rows.push((stats.in_candidates, "of them share a bucket with another".into()));
            rows.push((stats.candidates, "pairs of them do".into()));
            let what = "pairs compared exactly, the others ruled out by their sketches";
            rows.push((stats.verified, what.into()));
        }
        None => {
            rows.push((
                stats.candidates,
                "pairs that the filters of the exact search let through".into(),
            ));
            rows.push((stats.verified, "pairs compared element by element".into()));
        }
    }
    if let Some(pairs) = stats.pairs {
        rows.push((pairs, format!("pairs {}, copies included", reach(settings))));
    }
    if let (Some(clusters), Some(kept)) = (stats.clusters, stats.kept) {
        rows.push((clusters, format!("groups of similar items {}", reach(settings))));
        rows.push((stats.items - kept, "items removed".into()));
        rows.push((kept, "items kept".into()));
    }
    let mut text = lines(&rows);
    let seconds: f64 = stats.stages.iter().map(|stage| stage.seconds).sum();
    if let Some(stage) = stats.resumed {
        let _ = writeln!(text, "  went on after the stage {} of an earlier run", stage.name());
    }
    let promised = match stats.bands {
        None => "  found by an exact search, which misses none".to_owned(),
        Some(_) => format!(
            "  promised: a pair at just {} is found with chance {}",
            settings.within.unwrap_or(settings.threshold),
            if settings.bands.is_some() {
                (stats.recall_promised * 1e6).round() / 1e6
            } else {
                settings.recall
            },
        ),
    };
    let _ = write!(text, "{promised}; took {seconds:.1} s");
    if let Some(audit) = &stats.audit {
        let _ = write!(text, "\n{}", audited(audit, stats.audited_start));
    }
    text
}

/// What the audit found, in words.
pub(crate) fn audited(audit: &Audit, from_start: bool) -> String {
    let items = match (from_start, grouped(audit.items())) {
        (true, items) => format!("{items} items of the start of the input, as it is compressed,"),
        (false, items) => format!("{items} items drawn at random"),
    };
    let Some(all) = audit.overall() else {
        return format!("  audited: none of {items} has a similar one");
    };
    let share = |share: f64| format!("{share:.4}");
    // All items were looked at, or not just any.
    let range = |recall: &Recall, sure: &str| match recall.low == recall.high || from_start {
        true => String::new(),
        false => format!(" ({sure}{} to {})", share(recall.low), share(recall.high)),
    };
    let mut text = format!(
        "  audited: found {} of the pairs of {items}{}",
        share(all.recall),
        range(&all, "95 % sure: "),
    );
    if all.high - all.low > 0.5 && !from_start {
        text.push_str("; too few pairs to tell, --audit N draws more items");
    }
    // Distances have no bands.
    for (band, recall) in audit.bands().iter().filter(|(band, _)| band.start < band.end) {
        let _ = write!(
            text,
            "\n    {:>5} to {:<5} {} of {} pairs{}",
            short(band.start),
            short(band.end),
            share(recall.recall),
            grouped(recall.pairs),
            range(recall, ""),
        );
    }
    text
}

/// A similarity in up to four digits.
fn short(similarity: f64) -> f64 {
    (similarity * 1e4).round() / 1e4
}

/// What either way was expected to take, as JSON.
pub(crate) fn expected_json(choice: &Choice) -> Value {
    let way = |expected: Expected| json!({ "seconds": expected.seconds, "compared": expected.compared.round() });
    json!({ "exact": way(choice.exact), "bands": way(choice.bands) })
}

/// The audit as JSON.
pub(crate) fn audit_json(audit: &Audit) -> Value {
    let recall = |recall: &Recall| {
        json!({
            "recall": recall.recall,
            "low": recall.low,
            "high": recall.high,
            "pairs": recall.pairs,
            "found": recall.found,
        })
    };
    let mut json = audit.overall().map_or_else(|| json!({ "recall": null }), |all| recall(&all));
    json["items"] = audit.items().into();
    json["with_partners"] = audit.with_partners().into();
    json["confidence"] = 0.95.into();
    let band = |(band, of): &(Range<f64>, Recall)| {
        let mut json = recall(of);
        json["from"] = band.start.into();
        json["to"] = band.end.into();
        json
    };
    let is_band = |(band, _): &&(Range<f64>, Recall)| band.start < band.end;
    json["by_similarity"] = audit.bands().iter().filter(is_band).map(band).collect();
    json
}

/// What is similar, in words.
fn reach(settings: &Settings) -> String {
    match settings.within {
        Some(most) => format!("within {most}"),
        None => format!("at or above {}", settings.threshold),
    }
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
pub(crate) fn as_json(stats: &Stats, settings: &Settings) -> Value {
    json!({
        "items": stats.items,
        "skipped": stats.skipped,
        "empty": stats.empty,
        "identical": stats.identical,
        "distinct": stats.distinct,
        "in_candidates": stats.in_candidates,
        "candidates": stats.candidates,
        "verified": stats.verified,
        "similar": stats.similar,
        "pairs": stats.pairs,
        "clusters": stats.clusters,
        "kept": stats.kept,
        "threshold": settings.limit().similarity(),
        "shingle": settings.shingling.to_string(),
        "seed": settings.seed,
        "bands": stats.bands.map(|bands| bands.count),
        "rows": stats.bands.map(|bands| bands.rows),
        "expected": stats.choice.map(|choice| expected_json(&choice)),
        "way": if stats.bands.is_some() { "bands" } else { "exact" },
        "measure": settings.measure.name(),
        "recall": {
            "promised": if stats.bands.is_some() { stats.recall_promised } else { 1.0 },
            "audited": stats.audit.as_ref().map(|audit| {
                let mut json = audit_json(audit);
                json["from_start"] = stats.audited_start.into();
                if stats.audited_start {
                    // Not just any items: nothing is known of how far off it may be.
                    json["low"] = Value::Null;
                    json["high"] = Value::Null;
                }
                json
            }),
        },
        "stages": stages_json(&stats.stages),
        "resumed_after": stats.resumed.map(Stage::name),
        "peak_memory": peak_memory(),
    })
}

/// What each stage took.
pub(crate) fn stages_json(stages: &[StageTime]) -> Value {
    let stage = |stage: &StageTime| {
        (stage.stage.name().into(), json!({ "seconds": stage.seconds, "bytes": stage.bytes }))
    };
    Value::Object(stages.iter().map(stage).collect())
}

/// What was written, or nothing when whoever read it has had enough; other outputs are finished then.
pub(crate) fn unless_closed<T>(written: Result<T>) -> Result<Option<T>> {
    match written {
        Err(Error::Closed) => Ok(None),
        other => other.map(Some),
    }
}

/// Says of a run that was stopped how it goes on, where it can.
pub(crate) fn stopped(error: Error, settings: &Settings) -> anyhow::Error {
    let goes_on = settings.job.is_some() && matches!(error, Error::Interrupted);
    let error = anyhow::Error::new(error);
    if goes_on { error.context("to go on, start it again with the same arguments") } else { error }
}

/// What is told of a run at its end.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) stats: Value,
    pub(crate) funnel: String,
    /// The first of the records that were skipped.
    pub(crate) skipped: Vec<Error>,
    /// What the user should look at.
    pub(crate) warning: Option<Problem>,
    pub(crate) job: Option<Arc<Job>>,
}

impl Told {
    pub(crate) fn new<'a>(
        stats: Value,
        funnel: String,
        skipped: impl Iterator<Item = &'a Error>,
    ) -> Self {
        let skipped = skipped.take(SHOWN).map(|error| error.clone().without("on_error")).collect();
        Self { stats, funnel, skipped, warning: None, job: None }
    }

    pub(crate) fn of(stats: &Stats, collection: &Collection, settings: &Settings) -> Self {
        let (json, funnel) = (as_json(stats, settings), funnel(stats, settings));
        let told = Self::new(json, funnel, collection.skipped.iter());
        Self { job: settings.job.clone(), ..told }
    }

    /// Ends a run whose outputs are written: shows the funnel, writes `--stats`, and lets everything
    /// appear together.
    pub(crate) fn finish(self, run: &RunArgs, mut ready: Vec<Ready>) -> anyhow::Result<()> {
        if let Some(path) = &run.stats {
            let mut output = Output::create(Some(path))?;
            output.put(format!("{:#}\n", self.stats).as_bytes())?;
            ready.insert(0, output.ready()?);
        }
        ready.into_iter().try_for_each(Ready::appear)?;
        if !run.quiet {
            for error in &self.skipped {
                tell(format_args!("skipped: {}", error.worded(&CommandWording)));
            }
            tell(format_args!("{}", self.funnel));
            if let Some(warning) = &self.warning {
                tell(format_args!("warning: {}", warning.worded(&CommandWording)));
            }
        }
        if let Some(job) = &self.job {
            job.finish();
        }
        Ok(())
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

//! The report at the end of a run: how many records, candidates, matches and clusters there were.

use nearkin_engine::error::Problem;
use nearkin_engine::observe::StageTime;
use nearkin_engine::records::check::Shares;
use nearkin_engine::records::{Alternative, GroupingRule, MatchResult, Rules, Scorer};
use serde_json::{Value, json};

use super::tables::RecordTables;
use crate::report::{self, RunReport};

/// What there is to tell.
pub(super) struct Summary<'a> {
    pub(super) tables: &'a RecordTables,
    pub(super) rules: &'a Rules,
    pub(super) outcome: &'a MatchResult,
    pub(super) scorer: &'a Scorer,
    /// How many pairs there are, where they are wanted.
    pub(super) pairs: Option<u64>,
    pub(super) expected: Option<ExpectedTruth>,
    pub(super) stages: &'a [StageTime],
}

/// How many of the matches are expected to be true, and how many of the true ones to be among them.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExpectedTruth {
    pub(super) precision: Option<f64>,
    pub(super) recall: Option<f64>,
}

/// The report of a run that found rules.
pub(super) fn of_suggestion(
    tables: &RecordTables,
    warnings: &[String],
    stages: &[StageTime],
) -> RunReport {
    let stats = json!({
        "items": tables.records().len(),
        "records": tables.sizes(),
        "skipped": tables.skipped(),
        "warnings": warnings,
        "stages": report::stages_json(stages),
        "peak_memory": report::peak_memory(),
    });
    let funnel = format!("{}  took {:.1} s", report::lines(&tables.summary()), seconds(stages));
    let warnings = warnings.iter().map(|it| Problem::new(it.clone()));
    RunReport::new(stats, funnel, tables.errors()).warning_first(warnings)
}

fn seconds(stages: &[StageTime]) -> f64 {
    stages.iter().map(|stage| stage.seconds).sum()
}

/// How many records each cluster has; 0 for records that are not the first of one.
pub(super) fn sizes_of(clusters: &[u32]) -> impl Iterator<Item = u64> {
    let mut sizes = vec![0; clusters.len()];
    clusters.iter().for_each(|&cluster| sizes[cluster as usize] += 1);
    sizes.into_iter()
}

/// How many clusters have two records or more.
fn count_clusters(clusters: &[u32]) -> u64 {
    sizes_of(clusters).filter(|&size| size > 1).count() as u64
}

impl Summary<'_> {
    pub(super) fn report(&self) -> RunReport {
        let report = RunReport::new(self.as_json(), self.funnel(), self.tables.errors());
        report.warning_first(self.warnings().into_iter().map(Problem::new))
    }

    /// What is doubtful about the rules and about what they found.
    fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self.rules.warnings.clone();
        let precision = self.expected.and_then(|expected| expected.precision);
        if let Some(precision) = precision.filter(|precision| *precision < 0.8) {
            let percent = (precision * 100.0).round();
            warnings.push(format!(
                "about {percent} of 100 matches are expected to be true; look at those with the lowest scores, and raise the \
                 threshold if they are wrong"
            ));
        }
        let matches = self.rules.probability.map_or(0.0, |probability| probability.matches);
        if let Some(pairs) =
            self.pairs.filter(|pairs| matches > 0.0 && *pairs as f64 > 2.0 * matches)
        {
            warnings.push(format!(
                "{} matches were found, and about {} were expected; raise the threshold, or join a condition with another by &",
                report::grouped(pairs),
                report::grouped(matches as u64)
            ));
        }
        warnings
    }

    /// How many survived each step, a line each.
    fn funnel(&self) -> String {
        let Self { rules, outcome, .. } = self;
        let mut rows = self.tables.summary();
        for (number, (alternative, &count)) in
            rules.candidates.iter().zip(&outcome.candidates).enumerate()
        {
            let name = alternative.display(&rules.fields);
            let more = if number > 0 { "more " } else { "" };
            rows.push((count, format!("{more}pairs scored because of `{name}`")));
        }
        for (field, rule) in self.scorer.fields.iter().zip(&rules.fields) {
            if field.unread > 0 {
                let what = if rule.distance.is_of_dates() { "dates" } else { "numbers" };
                let name = &rule.name;
                rows.push((
                    field.unread,
                    format!("values of `{name}` are no {what}, and count as missing"),
                ));
            }
        }
        let threshold = outcome.threshold;
        rows.push((outcome.reached, format!("pairs of {threshold} points or more")));
        if let Some(clusters) = outcome.matches.clusters() {
            rows.push((count_clusters(clusters), "clusters of two or more".into()));
        }
        match (self.pairs, rules.grouping) {
            (Some(pairs), GroupingRule::Clusters) => {
                rows.push((pairs, "pairs of two records of one cluster".into()));
            }
            (Some(pairs), GroupingRule::OneToOne) => {
                rows.push((pairs, "pairs taken, each record in at most one".into()));
            }
            _ => {}
        }
        let shares = outcome.shares.as_ref().map_or(String::new(), shares_table);
        let shares = format!("{}{shares}", self.expected_line());
        format!("{}{shares}  took {:.1} s", report::lines(&rows), seconds(self.stages))
    }

    /// How many of the matches are expected to be true, and what that assumes.
    fn expected_line(&self) -> String {
        let Some(expected) = self.expected else { return String::new() };
        let said = |share: f64| format!("{:.1} %", share * 100.0);
        let Some(precision) = expected.precision.map(said) else { return String::new() };
        let recall = expected.recall.map(said);
        let recall =
            recall.map_or(String::new(), |it| format!(", and {it} of the true ones are found"));
        let unless = match self.rules.warnings.is_empty() {
            true => "",
            false => " and the warnings do not hold",
        };
        format!(
            "  expected, if the rules are right{unless}: {precision} of the matches are true{recall}\n"
        )
    }

    /// The run as JSON.
    fn as_json(&self) -> Value {
        let Self { tables, rules, outcome, .. } = self;
        let candidates = rules.candidates.iter().zip(&outcome.candidates);
        let candidate = |(alternative, pairs): (&Alternative, &u64)| json!({ "rule": alternative.display(&rules.fields), "pairs": pairs });
        json!({
            "items": tables.records().len(),
            "records": tables.sizes(),
            "skipped": tables.skipped(),
            "candidates": outcome.candidates.iter().sum::<u64>(),
            "candidates_by_rule": candidates.map(candidate).collect::<Vec<_>>(),
            "reached": outcome.reached,
            "pairs": self.pairs,
            "clusters": outcome.matches.clusters().map(count_clusters),
            "match": rules.grouping.name(),
            "threshold": outcome.threshold,
            "most": rules.most(),
            "expected_precision": self.expected.and_then(|it| it.precision),
            "expected_recall": self.expected.and_then(|it| it.recall),
            "shares": outcome.shares.as_ref().map(shares_json),
            "warnings": self.warnings(),
            "stages": report::stages_json(self.stages),
            "peak_memory": report::peak_memory(),
        })
    }
}

/// The share of true matches at each score, as JSON.
fn shares_json(shares: &Shares) -> Value {
    json!({
        "random": shares.random,
        "certain": shares.certain,
        "certain_from": shares.certain_from,
        "certain_pairs": shares.certain_pairs,
        "rows": shares.rows.iter().map(|row| json!({
            "from": row.from, "to": row.to, "pairs": row.pairs,
            "mean": row.mean, "share": row.share, "error": row.error,
        })).collect::<Vec<_>>(),
    })
}

/// The share of true matches at each score, as a table.
fn shares_table(shares: &Shares) -> String {
    let mut text = format!(
        "  share of true matches: the field is {:.4} apart in random pairs, {:.4} in the {} from {} points on\n",
        shares.random,
        shares.certain,
        report::grouped(shares.certain_pairs),
        shares.certain_from,
    );
    for row in &shares.rows {
        let bar = "#".repeat((row.share * 40.0).round() as usize);
        text.push_str(&format!(
            "    {:>7} {:>10} pairs  {:.3} ±{:.3} {bar}\n",
            row.from,
            report::grouped(row.pairs),
            row.share,
            row.error,
        ));
    }
    text
}

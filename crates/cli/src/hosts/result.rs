//! What `hosts` found: its tables, and what is told at the end.

use std::path::Path;

use nearkin::hosts::{
    Contraction, Fold, Graph, Hosts, Mirror, Mirrors, PageComparison, SkippedRecords, Verdict,
};
use nearkin::measure::jaccard;
use nearkin::observe::{Observer, StageTime};
use nearkin::write::{Cell, Column, ColumnKind, CompleteOutput, TableWriter};
use nearkin::{Error, Result};
use serde_json::{Value, json};

use super::HostsArgs;
use crate::report::{self, RunReport};

/// What became of the links.
pub(super) struct LinkContraction {
    graph: Graph,
    contracted: Contraction,
    links: Vec<(u32, u32)>,
    folds: Vec<Fold>,
    kept: Vec<Vec<u32>>,
}

impl LinkContraction {
    pub(super) fn new(graph: Graph, contracted: Contraction) -> Self {
        let links = graph.contracted_links(&contracted);
        let folds = graph.folds(&contracted);
        let kept = graph.kept_of_hosts(&contracted);
        Self { graph, contracted, links, folds, kept }
    }

    /// Pages that two hosts have in common.
    fn merged(&self, a: &str, b: &str) -> usize {
        let [Some(a), Some(b)] = [a, b].map(|host| self.graph.find(host)) else { return 0 };
        jaccard::shared(&self.kept[a as usize], &self.kept[b as usize])
    }

    fn saved(&self) -> usize {
        self.contracted.rounds.iter().sum()
    }

    /// Hosts that folded into others with all their pages.
    fn whole(&self) -> usize {
        self.folds.iter().filter(|fold| fold.merged == fold.pages).count()
    }
}

/// All that was found.
pub(super) struct HostsResult<'a> {
    pub(super) args: &'a HostsArgs,
    pub(super) hosts: Hosts,
    pub(super) mirrors: Mirrors,
    pub(super) checked: Option<Vec<PageComparison>>,
    pub(super) folded: Option<LinkContraction>,
    pub(super) skipped: SkippedRecords,
}

fn column(name: &str, kind: ColumnKind) -> Column<'_> {
    Column { name, kind }
}

impl HostsResult<'_> {
    pub(super) fn write(&self, observer: &dyn Observer) -> Result<Vec<CompleteOutput>> {
        let mut ready = Vec::new();
        if let Some(folded) = &self.folded {
            let args = self.args;
            ready.extend(
                args.contracted.as_deref().map(|path| write_links(folded, path)).transpose()?,
            );
            ready.extend(args.folds.as_deref().map(|path| write_folds(folded, path)).transpose()?);
        }
        ready.extend(report::unless_closed(self.write_pairs(observer))?);
        Ok(ready)
    }

    fn write_pairs(&self, observer: &dyn Observer) -> Result<CompleteOutput> {
        let mut columns = vec![
            column("a", ColumnKind::Text),
            column("b", ColumnKind::Text),
            column("similarity", ColumnKind::Float),
        ];
        let mut counts = vec!["a_urls", "b_urls", "shared_paths"];
        if self.checked.is_some() {
            counts.extend(["pages_compared", "pages_same", "pages_alike"]);
        }
        columns.extend(counts.into_iter().map(|name| column(name, ColumnKind::Count)));
        columns.extend(self.checked.is_some().then(|| column("verdict", ColumnKind::Text)));
        columns.extend(self.folded.is_some().then(|| column("pages_merged", ColumnKind::Count)));
        let mut table = TableWriter::create(self.args.output.as_deref(), None, &columns)?;
        for (at, pair) in self.mirrors.pairs.iter().enumerate() {
            if observer.stopped() {
                return Err(Error::Interrupted);
            }
            table.row(&self.row(at, pair))?;
        }
        table.ready()
    }

    fn row(&self, at: usize, pair: &Mirror) -> Vec<Cell<'_>> {
        let [a, b] = [pair.a, pair.b].map(|host| self.hosts.name(host));
        let mut row = vec![Cell::Text(a), Cell::Text(b), Cell::Float(pair.similarity)];
        let count = |count: usize| Cell::Count(count as u64);
        row.extend([pair.a, pair.b].map(|host| count(self.hosts.paths(host).len())));
        row.push(count(pair.shared_paths));
        if let Some(checked) = self.checked.as_ref().map(|checked| checked[at]) {
            row.extend([checked.compared, checked.same, checked.alike].map(count));
            row.push(Cell::Text(checked.verdict().name()));
        }
        row.extend(self.folded.as_ref().map(|folded| count(folded.merged(a, b))));
        row
    }

    /// How many pairs have each verdict.
    fn verdicts(&self) -> Option<Vec<(Verdict, u64)>> {
        let checked = self.checked.as_ref()?;
        let count = |verdict| {
            let of = checked.iter().filter(|checked| checked.verdict() == verdict);
            (verdict, of.count() as u64)
        };
        Some(Verdict::ALL.map(count).to_vec())
    }

    pub(super) fn told(&self, stages: &[StageTime]) -> RunReport {
        RunReport::new(self.as_json(stages), self.funnel(stages), self.skipped.first.iter())
    }

    fn funnel(&self, stages: &[StageTime]) -> String {
        let args = self.args;
        let mut rows = vec![(self.hosts.urls, "URLs read".to_owned())];
        if self.skipped.count > 0 {
            rows.push((
                self.skipped.count,
                "records skipped because they could not be used".into(),
            ));
        }
        rows.push((self.hosts.len() as u64, "hosts".into()));
        let least = format!(
            "of them judged, with at least {} URLs and {} shingles",
            args.least_urls, args.least_shingles
        );
        rows.push((self.mirrors.judged as u64, least));
        rows.push((self.mirrors.compared, "pairs compared shingle by shingle".into()));
        rows.push((
            self.mirrors.pairs.len() as u64,
            format!("pairs at or above {}", args.threshold),
        ));
        let verdicts = self.verdicts().unwrap_or_default().into_iter();
        for (verdict, count) in verdicts.filter(|(_, count)| *count > 0) {
            rows.push((count, format!("of them {} by their pages", verdict.name())));
        }
        if let Some(folded) = &self.folded {
            let (graph, saved) = (&folded.graph, folded.saved() as u64);
            let pages = graph.len() as u64;
            let before = format!("links between {} pages", report::grouped(pages));
            rows.push((graph.links().len() as u64, before));
            let rounds = folded.contracted.rounds.len();
            rows.push((saved, format!("pages merged with another; rounds: {rounds}")));
            let after = format!("links left, between {} pages", report::grouped(pages - saved));
            rows.push((folded.links.len() as u64, after));
            rows.push((
                folded.whole() as u64,
                "hosts folded into another with all their pages".into(),
            ));
        }
        let seconds: f64 = stages.iter().map(|stage| stage.seconds).sum();
        let promise = "found by an exact search, which misses none";
        format!("{}  {promise}; took {seconds:.1} s", report::lines(&rows))
    }

    fn as_json(&self, stages: &[StageTime]) -> Value {
        let args = self.args;
        let verdicts = self.verdicts().map(|verdicts| {
            let count =
                |(verdict, count): (Verdict, u64)| (verdict.name().to_owned(), count.into());
            Value::Object(verdicts.into_iter().map(count).collect())
        });
        let links = self.folded.as_ref().map(|folded| {
            json!({
                "links": folded.graph.links().len(),
                "pages": folded.graph.len(),
                "rounds": folded.contracted.rounds,
                "pages_merged": folded.saved(),
                "links_left": folded.links.len(),
                "pages_left": folded.graph.len() - folded.saved(),
                "hosts_folded": folded.whole(),
            })
        });
        json!({
            "urls": self.hosts.urls,
            "skipped": self.skipped.count,
            "hosts": self.hosts.len(),
            "judged": self.mirrors.judged,
            "verified": self.mirrors.compared,
            "pairs": self.mirrors.pairs.len(),
            "verdicts": verdicts,
            "links": links,
            "threshold": args.threshold,
            "least_urls": args.least_urls,
            "least_shingles": args.least_shingles,
            "way": "exact",
            "recall": { "promised": 1.0, "audited": null },
            "stages": report::stages_json(stages),
            "peak_memory": report::peak_memory(),
        })
    }
}

/// Writes the links that are left.
fn write_links(folded: &LinkContraction, path: &Path) -> Result<CompleteOutput> {
    let columns = [column("source", ColumnKind::Text), column("target", ColumnKind::Text)];
    let mut table = TableWriter::create(Some(path), None, &columns)?;
    for &(from, to) in &folded.links {
        table.row(&[from, to].map(|page| Cell::Text(folded.graph.url(page))))?;
    }
    table.ready()
}

/// Writes which hosts folded into others.
fn write_folds(folded: &LinkContraction, path: &Path) -> Result<CompleteOutput> {
    let columns = [
        column("host", ColumnKind::Text),
        column("into", ColumnKind::Text),
        column("pages", ColumnKind::Count),
        column("merged", ColumnKind::Count),
    ];
    let mut table = TableWriter::create(Some(path), None, &columns)?;
    for fold in &folded.folds {
        let [host, into] =
            [fold.host, fold.into].map(|host| folded.graph.hosts().get(host as usize));
        let [pages, merged] = [fold.pages, fold.merged].map(|count| Cell::Count(count as u64));
        table.row(&[Cell::Text(host), Cell::Text(into), pages, merged])?;
    }
    table.ready()
}

//! What was found of the hosts: its tables, and the report at the end.

use nearkin_engine::Result;
use nearkin_engine::hosts::{
    Contraction, Fold, Graph, Hosts, Mirror, Mirrors, PageComparison, SkippedRecords, Verdict,
};
use nearkin_engine::measure::jaccard;
use nearkin_engine::observe::{Observer, StageTime};
use nearkin_engine::write::{Cell, Column, ColumnKind, TableWriter};
use serde_json::{Value, json};

use crate::engine::{Account, Table, go_on};
use crate::output::in_memory;
use crate::report::{self, RunReport};

/// What became of the links.
#[derive(Debug)]
pub(super) struct LinkReport {
    graph: Graph,
    contracted: Contraction,
    links: Vec<(u32, u32)>,
    folds: Vec<Fold>,
    kept: Vec<Vec<u32>>,
}

impl LinkReport {
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

/// Pairs of hosts that look alike, and what their pages and links say of them.
#[derive(Debug)]
pub struct MirrorReport {
    pub(super) threshold: f64,
    pub(super) least_urls: usize,
    pub(super) least_shingles: usize,
    pub(super) hosts: Hosts,
    pub(super) mirrors: Mirrors,
    pub(super) checked: Option<Vec<PageComparison>>,
    pub(super) links: Option<LinkReport>,
    pub(super) skipped: SkippedRecords,
    pub(super) stages: Vec<StageTime>,
}

fn column(name: &str, kind: ColumnKind) -> Column<'_> {
    Column { name, kind }
}

impl MirrorReport {
    /// Pairs of hosts: `a`, `b`, `similarity`, `a_urls`, `b_urls`, `shared_paths`; with pages also `pages_compared`,
    /// `pages_same`, `pages_alike` and `verdict`; with links also `pages_merged`.
    ///
    /// # Errors
    /// When the observer stops it.
    pub fn pairs(&self, observer: &dyn Observer) -> Result<Table> {
        self.write_pairs(in_memory, observer)?.batches()
    }

    /// The links that are left when pages that are one page were merged: `source`, `target`. None without links.
    ///
    /// # Errors
    /// When the observer stops it.
    pub fn links(&self, observer: &dyn Observer) -> Result<Option<Table>> {
        self.write_links(in_memory, observer)?.map(TableWriter::batches).transpose()
    }

    /// Hosts that folded into others: `host`, `into`, `pages` (all of the host), `merged` (those that went there). None
    /// without links.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn folds(&self) -> Result<Option<Table>> {
        self.write_folds(in_memory)?.map(TableWriter::batches).transpose()
    }

    /// The report at the end of the run.
    pub fn account(&self) -> Account {
        self.report().into()
    }

    pub(super) fn report(&self) -> RunReport {
        RunReport::new(self.as_json(), self.funnel(), self.skipped.first.iter())
    }

    /// Adds a stage that a front end has timed.
    pub(super) fn add_stage(&mut self, stage: StageTime) {
        self.stages.push(stage);
    }

    pub(super) fn write_pairs(
        &self,
        create: impl FnOnce(&[Column<'_>]) -> Result<TableWriter>,
        observer: &dyn Observer,
    ) -> Result<TableWriter> {
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
        let merged = || column("pages_merged", ColumnKind::Count);
        columns.extend(self.links.is_some().then(merged));
        let mut table = create(&columns)?;
        for (at, pair) in self.mirrors.pairs.iter().enumerate() {
            go_on(observer)?;
            table.row(&self.row(at, pair))?;
        }
        Ok(table)
    }

    /// Writes the links that are left.
    pub(super) fn write_links(
        &self,
        create: impl FnOnce(&[Column<'_>]) -> Result<TableWriter>,
        observer: &dyn Observer,
    ) -> Result<Option<TableWriter>> {
        let Some(links) = &self.links else { return Ok(None) };
        let columns = [column("source", ColumnKind::Text), column("target", ColumnKind::Text)];
        let mut table = create(&columns)?;
        for &(from, to) in &links.links {
            go_on(observer)?;
            table.row(&[from, to].map(|page| Cell::Text(links.graph.url(page))))?;
        }
        Ok(Some(table))
    }

    /// Writes which hosts folded into others.
    pub(super) fn write_folds(
        &self,
        create: impl FnOnce(&[Column<'_>]) -> Result<TableWriter>,
    ) -> Result<Option<TableWriter>> {
        let Some(links) = &self.links else { return Ok(None) };
        let columns = [
            column("host", ColumnKind::Text),
            column("into", ColumnKind::Text),
            column("pages", ColumnKind::Count),
            column("merged", ColumnKind::Count),
        ];
        let mut table = create(&columns)?;
        for fold in &links.folds {
            let [host, into] =
                [fold.host, fold.into].map(|host| links.graph.hosts().get(host as usize));
            let [pages, merged] = [fold.pages, fold.merged].map(|count| Cell::Count(count as u64));
            table.row(&[Cell::Text(host), Cell::Text(into), pages, merged])?;
        }
        Ok(Some(table))
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
        row.extend(self.links.as_ref().map(|links| count(links.merged(a, b))));
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

    fn funnel(&self) -> String {
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
            self.least_urls, self.least_shingles
        );
        rows.push((self.mirrors.judged as u64, least));
        rows.push((self.mirrors.compared, "pairs compared shingle by shingle".into()));
        rows.push((
            self.mirrors.pairs.len() as u64,
            format!("pairs at or above {}", self.threshold),
        ));
        let verdicts = self.verdicts().unwrap_or_default().into_iter();
        for (verdict, count) in verdicts.filter(|(_, count)| *count > 0) {
            rows.push((count, format!("of them {} by their pages", verdict.name())));
        }
        if let Some(links) = &self.links {
            let (graph, saved) = (&links.graph, links.saved() as u64);
            let pages = graph.len() as u64;
            let before = format!("links between {} pages", report::grouped(pages));
            rows.push((graph.links().len() as u64, before));
            let rounds = links.contracted.rounds.len();
            rows.push((saved, format!("pages merged with another; rounds: {rounds}")));
            let after = format!("links left, between {} pages", report::grouped(pages - saved));
            rows.push((links.links.len() as u64, after));
            rows.push((
                links.whole() as u64,
                "hosts folded into another with all their pages".into(),
            ));
        }
        let seconds: f64 = self.stages.iter().map(|stage| stage.seconds).sum();
        let promise = "found by an exact search, which misses none";
        format!("{}  {promise}; took {seconds:.1} s", report::lines(&rows))
    }

    fn as_json(&self) -> Value {
        let verdicts = self.verdicts().map(|verdicts| {
            let count =
                |(verdict, count): (Verdict, u64)| (verdict.name().to_owned(), count.into());
            Value::Object(verdicts.into_iter().map(count).collect())
        });
        let links = self.links.as_ref().map(|links| {
            json!({
                "links": links.graph.links().len(),
                "pages": links.graph.len(),
                "rounds": links.contracted.rounds,
                "pages_merged": links.saved(),
                "links_left": links.links.len(),
                "pages_left": links.graph.len() - links.saved(),
                "hosts_folded": links.whole(),
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
            "threshold": self.threshold,
            "least_urls": self.least_urls,
            "least_shingles": self.least_shingles,
            "way": "exact",
            "recall": { "promised": 1.0, "audited": null },
            "stages": report::stages_json(&self.stages),
            "peak_memory": report::peak_memory(),
        })
    }
}

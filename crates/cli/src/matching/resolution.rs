//! Entity resolution for every front end: tables and rules come in; matches, clusters and shares go out as tables.

use std::borrow::Cow;

use nearkin_engine::observe::{Clock, Observer, Stage, StageTime};
use nearkin_engine::options::Options;
use nearkin_engine::read::Place;
use nearkin_engine::records::{self, Limits, Match, MatchGroups, MatchResult, Rules, Scorer};
use nearkin_engine::write::{Cell, Column, ColumnKind, TableWriter};
use nearkin_engine::{Error, Result, fair_share, with_threads};

use super::summary::{ExpectedTruth, Summary};
use super::tables::RecordTables;
use crate::engine::{Account, Table, go_on};
use crate::output::in_memory;
use crate::report::RunReport;

/// The tables that are matched, and what a run may take.
#[derive(Debug, Clone)]
pub struct MatchInput {
    /// Where the first table lies.
    pub a: Vec<Place>,
    /// Where the other lies; without, the records of the first are matched with each other.
    pub b: Option<Vec<Place>>,
    /// How both are read, and the threads and the memory to use.
    pub options: Options,
}

impl MatchInput {
    /// Finds the records that are the same.
    ///
    /// # Errors
    /// When a table cannot be read or does not have the columns that the rules name, when there is not enough memory, and
    /// when the observer stops it.
    pub fn resolve(&self, rules: Rules, observer: &dyn Observer) -> Result<Resolution> {
        let (tables, mut stages) = self.load(observer)?;
        tables.check_columns(&self.sides(), &rules)?;
        observer.stage(Stage::Verify, None);
        let clock = Clock::start(Stage::Verify);
        let (outcome, scorer) = with_threads(self.options.threads, || {
            let memory = self.options.memory.unwrap_or_else(fair_share);
            let limits = Limits { memory, stopped: &|| observer.stopped() };
            records::resolve(&tables.records(), &rules, &limits)
        })?;
        stages.push(clock.stop(0));
        Ok(Resolution { tables, rules, outcome, scorer, stages })
    }

    /// Finds rules for the tables, without examples.
    ///
    /// # Errors
    /// When a table cannot be read, when nothing in the tables looks the same, and when the observer stops it.
    pub fn suggest(&self, observer: &dyn Observer) -> Result<Suggestion> {
        let (tables, mut stages) = self.load(observer)?;
        observer.stage(Stage::Verify, None);
        let clock = Clock::start(Stage::Verify);
        let rules = with_threads(self.options.threads, || {
            records::suggest::suggest(&tables.records(), &|| observer.stopped())
        })?;
        stages.push(clock.stop(0));
        Ok(Suggestion { rules: rules.text, warnings: rules.rules.warnings, tables, stages })
    }

    fn sides(&self) -> Vec<&[Place]> {
        std::iter::once(&self.a).chain(&self.b).map(Vec::as_slice).collect()
    }

    fn load(&self, observer: &dyn Observer) -> Result<(RecordTables, Vec<StageTime>)> {
        self.options.check()?;
        let is_stdin = |places: &&[Place]| places.iter().any(Place::is_stdin);
        if self.sides().iter().filter(|places| is_stdin(places)).count() > 1 {
            let must = "on one side: standard input is read once";
            return Err(Error::parameter("-", "on both sides", must));
        }
        observer.stage(Stage::Load, None);
        let clock = Clock::start(Stage::Load);
        let tables = with_threads(self.options.threads, || {
            RecordTables::load(&self.sides(), &self.options.table_options(), &|| observer.stopped())
        })?;
        self.options.check_fits(tables.bytes())?;
        Ok((tables, vec![clock.stop(0)]))
    }
}

/// Rules that were found for two tables, or for one.
#[derive(Debug)]
pub struct Suggestion {
    /// The rules as TOML, with comments.
    pub rules: String,
    /// What is doubtful about them.
    warnings: Vec<String>,
    tables: RecordTables,
    stages: Vec<StageTime>,
}

impl Suggestion {
    /// The report at the end of the run.
    pub fn account(&self) -> Account {
        self.report().into()
    }

    pub(super) fn report(&self) -> RunReport {
        super::summary::of_suggestion(&self.tables, &self.warnings, &self.stages)
    }
}

/// Which records are the same.
#[derive(Debug)]
pub struct Resolution {
    tables: RecordTables,
    pub(super) rules: Rules,
    pub(super) outcome: MatchResult,
    scorer: Scorer,
    stages: Vec<StageTime>,
}

impl Resolution {
    /// Pairs of records that are the same: `a`, `b`, `score`, and what each field adds to it. With `values` also the
    /// values of the fields, `NAME_a` and `NAME_b`.
    ///
    /// # Errors
    /// When the observer stops it.
    pub fn matches(&self, values: bool, observer: &dyn Observer) -> Result<Table> {
        let (_, table) = self.write_matches(in_memory, values, observer)?;
        table.batches()
    }

    /// One row per record: `id`, and its `cluster` by the id of the first record in it. None where the rules do not make
    /// clusters.
    ///
    /// # Errors
    /// When the observer stops it.
    pub fn clusters(&self, observer: &dyn Observer) -> Result<Option<Table>> {
        let table = self.write_clusters(in_memory, observer)?;
        table.map(TableWriter::batches).transpose()
    }

    /// The share of true matches at each score: `from`, `to`, `pairs`, `mean`, `share`, `error`. None where the rules have
    /// no check.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn shares(&self) -> Result<Option<Table>> {
        let table = self.write_shares(in_memory)?;
        table.map(TableWriter::batches).transpose()
    }

    /// The report at the end of the run.
    pub fn account(&self) -> Account {
        self.report(Some(self.pairs())).into()
    }

    /// How many pairs of records are the same.
    fn pairs(&self) -> u64 {
        match &self.outcome.matches {
            MatchGroups::Pairs(pairs) => pairs.len() as u64,
            MatchGroups::Clusters(clusters) => {
                let sizes = super::summary::sizes_of(clusters);
                sizes.map(|size| size * size.saturating_sub(1) / 2).sum()
            }
        }
    }

    /// The report at the end, given how many pairs were written.
    pub(super) fn report(&self, pairs: Option<u64>) -> RunReport {
        let Self { tables, rules, outcome, scorer, stages } = self;
        let expected = self.expected();
        Summary { tables, rules, outcome, scorer, pairs, expected, stages }.report()
    }

    /// How many of the matches are expected to be true, where the rules say how probable they are.
    fn expected(&self) -> Option<ExpectedTruth> {
        let probability = self.rules.probability?;
        let (mut taken, mut truth) = (0u64, 0.0);
        let each = |pair: Match| {
            taken += 1;
            truth += probability.of(pair.score);
            Ok(())
        };
        self.outcome.matches.each(&self.scorer, each).ok()?;
        let precision = (taken > 0).then(|| truth / taken as f64);
        let recall = (probability.matches > 0.0).then(|| (truth / probability.matches).min(1.0));
        Some(ExpectedTruth { precision, recall })
    }

    /// Adds a stage that a front end has timed.
    pub(super) fn add_stage(&mut self, stage: StageTime) {
        self.stages.push(stage);
    }

    /// Writes the pairs, and says how many.
    pub(super) fn write_matches(
        &self,
        create: impl FnOnce(&[Column<'_>]) -> Result<TableWriter>,
        values: bool,
        observer: &dyn Observer,
    ) -> Result<(u64, TableWriter)> {
        let Self { tables, rules, outcome, scorer, .. } = self;
        let [a, b] = tables.id_kinds();
        let mut columns = vec![
            Column { name: "a", kind: a },
            Column { name: "b", kind: b },
            Column { name: "score", kind: ColumnKind::Float },
        ];
        if rules.probability.is_some() {
            columns.push(Column { name: "probability", kind: ColumnKind::Float });
        }
        let scored: Vec<usize> = rules.scored().collect();
        let part =
            |&at: &usize| Column { name: &rules.fields[at].name, kind: ColumnKind::MaybeFloat };
        columns.extend(scored.iter().map(part));
        let shown: Vec<usize> = (0..rules.fields.len()).filter(|_| values).collect();
        let side = |side: &'static str| {
            shown.iter().map(move |&at| format!("{}_{side}", rules.fields[at].name))
        };
        let names: Vec<String> = side("a").chain(side("b")).collect();
        columns.extend(names.iter().map(|name| Column { name, kind: ColumnKind::MaybeText }));
        let mut table = create(&columns)?;
        let count = outcome.matches.each(scorer, |pair| {
            go_on(observer)?;
            let (a, b) = (tables.id(pair.a), tables.id(pair.b));
            let mut cells = vec![Cell::from(&a), Cell::from(&b), Cell::Float(pair.score)];
            let thousandth = |it: f64| (it * 1000.0).round() / 1000.0;
            let probability =
                rules.probability.map(|it| Cell::Float(thousandth(it.of(pair.score))));
            cells.extend(probability);
            let part =
                |&at: &usize| scorer.part(at, pair.a, pair.b).map_or(Cell::Missing, Cell::Float);
            cells.extend(scored.iter().map(part));
            let value =
                |(record, at): (u32, usize)| tables.value(record, &rules.fields[at].columns);
            let both = [pair.a, pair.b].map(|record| shown.iter().map(move |&at| (record, at)));
            let values: Vec<Option<Cow<'_, str>>> = both.into_iter().flatten().map(value).collect();
            cells.extend(values.iter().map(|it| it.as_deref().map_or(Cell::Missing, Cell::Text)));
            table.row(&cells)
        })?;
        Ok((count, table))
    }

    /// Writes a row per record, where the rules make clusters.
    pub(super) fn write_clusters(
        &self,
        create: impl FnOnce(&[Column<'_>]) -> Result<TableWriter>,
        observer: &dyn Observer,
    ) -> Result<Option<TableWriter>> {
        let Some(clusters) = self.outcome.matches.clusters() else { return Ok(None) };
        let [kind, _] = self.tables.id_kinds();
        let columns = [Column { name: "id", kind }, Column { name: "cluster", kind }];
        let mut table = create(&columns)?;
        for (record, &cluster) in (0..).zip(clusters) {
            go_on(observer)?;
            let (id, cluster) = (self.tables.id(record), self.tables.id(cluster));
            table.row(&[Cell::from(&id), Cell::from(&cluster)])?;
        }
        Ok(Some(table))
    }

    /// Writes the share of true matches at each score, where the rules have a check.
    pub(super) fn write_shares(
        &self,
        create: impl FnOnce(&[Column<'_>]) -> Result<TableWriter>,
    ) -> Result<Option<TableWriter>> {
        let Some(shares) = &self.outcome.shares else { return Ok(None) };
        let float = |name| Column { name, kind: ColumnKind::Float };
        let pairs = Column { name: "pairs", kind: ColumnKind::Count };
        let columns =
            [float("from"), float("to"), pairs, float("mean"), float("share"), float("error")];
        let mut table = create(&columns)?;
        for row in &shares.rows {
            let [from, to, mean, share, error] =
                [row.from, row.to, row.mean, row.share, row.error].map(Cell::Float);
            table.row(&[from, to, Cell::Count(row.pairs), mean, share, error])?;
        }
        Ok(Some(table))
    }
}

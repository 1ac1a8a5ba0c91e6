//! `nearkin match`: records that are the same thing.

#[cfg(feature = "plot")]
mod plot;

use std::path::PathBuf;

use clap::Args;
use nearkin::fair_share;
use nearkin::item::RecordTable;
use nearkin::observe::{Clock, Observer, Stage, StageTime};
use nearkin::options::Options;
use nearkin::read::{NamedItems, Names, Place, load_records};
use nearkin::records::check::Shares;
use nearkin::records::{self, GroupingRule, Limits, MatchResult, Records, Rules, Scorer};
use nearkin::with_threads;
use nearkin::write::{Cell, Column, ColumnKind, CompleteOutput, Output, TableWriter};
use nearkin::{Error, Result};
use serde_json::{Value, json};

use crate::args::{RunArgs, TableArgs, check_plot, options_of, place_parser};
use crate::progress::Progress;
use crate::report::{self, RunReport};

/// Find records that describe the same thing, in one table or two
///
/// A file of rules says which pairs to compare, how much each field counts, and how matches are grouped. --suggest looks at
/// the tables and writes such a file for you to edit. The output has one row per match: a and b (the ids), score, and what
/// each field added to the score.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:
  nearkin match a.csv b.csv --suggest -o match.toml    write rules to edit
  nearkin match a.csv b.csv -c match.toml -o out.csv   matches and their scores

`nearkin match --help` shows all options, in groups, with more examples.",
    after_long_help = "Examples:
  nearkin match a.csv b.csv --suggest -o match.toml    write rules to edit
  nearkin match a.csv b.csv -c match.toml -o out.csv   matches and their scores
  nearkin match people.parquet -c match.toml --clusters who.csv
                                                       one table: who is who"
)]
pub(crate) struct MatchArgs {
    /// Table: .csv .tsv .jsonl .parquet, also .gz .zst, or - for standard input
    #[arg(value_name = "A", value_parser = place_parser())]
    a: Place,
    /// Second table [default: match A with itself]
    #[arg(value_name = "B", value_parser = place_parser())]
    b: Option<Place>,
    /// File of rules (TOML)
    #[arg(short, long, value_name = "FILE", help_heading = "Matching")]
    config: Option<PathBuf>,
    /// Write a file of rules for these tables; no examples are needed
    #[arg(long, conflicts_with_all = ["config", "values", "clusters", "shares", "plot"], help_heading = "Matching")]
    suggest: bool,
    #[command(flatten)]
    table: TableArgs,
    /// Write matches here, or the rules of --suggest [default: standard output, unless --clusters is given]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Also write the fields' values, as NAME_a and NAME_b
    #[arg(long, help_heading = "Output")]
    values: bool,
    /// Write one row per record: id and cluster (the id of the cluster's first record)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    clusters: Option<PathBuf>,
    /// Write the share of true matches at each score; the rules need a [check]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    shares: Option<PathBuf>,
    /// Draw the shares into a .svg or .png file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

impl MatchArgs {
    fn options(&self) -> Options {
        options_of(&[&self.table, &self.run])
    }
}

/// Tables with the ids of their records.
struct MatchTables {
    tables: Vec<NamedItems<RecordTable>>,
}

impl MatchTables {
    fn records(&self) -> Records<'_> {
        Records { a: &self.tables[0].items, b: self.tables.get(1).map(|table| &table.items) }
    }

    fn names(&self) -> impl Iterator<Item = &Names> {
        self.tables.iter().map(|table| &table.names)
    }

    /// Which table a record is of, and where it stands there.
    fn place(&self, record: u32) -> (usize, usize) {
        let first = self.tables[0].items.len;
        match (record as usize).checked_sub(first).filter(|_| self.tables.len() > 1) {
            Some(record) => (1, record),
            None => (0, record as usize),
        }
    }

    fn id(&self, record: u32) -> nearkin::item::Id {
        let (table, record) = self.place(record);
        self.tables[table].names.id(record)
    }

    /// A record's value in the column that a field has in its table.
    fn value(&self, record: u32, columns: &[String; 2]) -> Option<&str> {
        let (table, record) = self.place(record);
        self.tables[table].items.column(&columns[table])?.get(record)
    }

    fn sizes(&self) -> Vec<usize> {
        self.tables.iter().map(|table| table.items.len).collect()
    }

    fn skipped(&self) -> u64 {
        self.names().map(|names| names.skipped.len() as u64).sum()
    }

    /// How many records there are, for the summary.
    fn rows(&self) -> Vec<(u64, String)> {
        let mut rows = Vec::new();
        for (size, which) in self.sizes().into_iter().zip(["A", "B"]) {
            let of = if self.tables.len() > 1 { format!(" of {which}") } else { String::new() };
            rows.push((size as u64, format!("records{of}")));
        }
        if self.skipped() > 0 {
            rows.push((self.skipped(), "records skipped because they could not be used".into()));
        }
        rows
    }

    /// What the ids of each side are.
    fn id_kinds(&self) -> [ColumnKind; 2] {
        let kind = |names: &Names| match names.ids_are_numbers() {
            true => ColumnKind::IntId,
            false => ColumnKind::Id,
        };
        [0, self.tables.len() - 1].map(|side| kind(&self.tables[side].names))
    }
}

pub(crate) fn run(args: &MatchArgs) -> anyhow::Result<()> {
    if args.config.is_none() && !args.suggest {
        let what = "no rules: give them with --config match.toml, or have them written with --suggest -o match.toml\n";
        clap::Error::raw(clap::error::ErrorKind::MissingRequiredArgument, what).exit();
    }
    if args.a.is_stdin() && args.b.as_ref().is_some_and(Place::is_stdin) {
        let must = "on one side: standard input is read once";
        return Err(Error::parameter("-", "on both sides", must).into());
    }
    let rules = args.config.as_ref().map(|path| Rules::read(path, args.b.is_some())).transpose()?;
    let inputs: Vec<&Place> = std::iter::once(&args.a).chain(&args.b).collect();
    let [output, clusters, shares, plot] =
        [&args.output, &args.clusters, &args.shares, &args.plot].map(Option::as_deref);
    match args.suggest {
        true => args.run.check_all(&[], &[output], &inputs)?,
        false => args.run.check_all(&[output, clusters, shares], &[plot], &inputs)?,
    }
    plot.map_or(Ok(()), check_plot)?;
    if let Some(rules) = &rules {
        check(args, rules)?;
    }
    let progress = Progress::start(args.run.quiet)?;
    progress.stage(Stage::Load, None);
    let clock = Clock::start(Stage::Load);
    let loaded = with_threads(args.options().threads, || load(args))?;
    let mut stages = vec![clock.stop(0)];
    args.options().check_fits(loaded.tables.iter().map(|table| table.items.bytes()).sum())?;
    let Some(rules) = rules else {
        return suggest(args, &loaded, stages, &progress);
    };
    has_columns(args, &loaded, &rules)?;
    progress.stage(Stage::Verify, None);
    let clock = Clock::start(Stage::Verify);
    let (outcome, scorer) = with_threads(args.options().threads, || {
        let memory = args.options().memory.unwrap_or_else(fair_share);
        let limits = Limits { memory, stopped: &|| progress.stopped() };
        records::resolve(&loaded.records(), &rules, &limits)
    })?;
    stages.push(clock.stop(0));
    progress.stage(Stage::Write, None);
    let clock = Clock::start(Stage::Write);
    let mut ready = Vec::new();
    let mut pairs = None;
    // Who asks for clusters need not have the pairs as well.
    if args.output.is_some() || args.clusters.is_none() {
        let written = write_matches(args, &loaded, &rules, &outcome, &scorer, &progress);
        let (count, table) = report::unless_closed(written)?.unzip();
        pairs = count;
        ready.extend(table);
    }
    ready.extend(write_clusters(args, &loaded, &outcome)?);
    ready.extend(write_shares(args, &outcome)?);
    ready.extend(draw_shares(args, &outcome)?);
    stages.push(clock.stop(0));
    progress.finish();
    let run = Run {
        loaded: &loaded,
        rules: &rules,
        outcome: &outcome,
        scorer: &scorer,
        pairs,
        stages: &stages,
    };
    let skipped = loaded.names().flat_map(|names| &names.skipped);
    RunReport::new(run.as_json(), run.funnel(), skipped).finish(&args.run, ready)
}

/// Refuses outputs that these rules do not give.
fn check(args: &MatchArgs, rules: &Rules) -> Result<()> {
    if args.clusters.is_some() && rules.grouping != GroupingRule::Clusters {
        let name = rules.grouping.name();
        let must = format!("left out: the rules match {name}, and clusters are for one table");
        return Err(Error::parameter("clusters", "given", must));
    }
    for (name, given) in [("shares", &args.shares), ("plot", &args.plot)] {
        if given.is_some() && rules.check.is_none() {
            let must = "left out, or the rules given a [check], by which the share of true matches is found";
            return Err(Error::parameter(name, "given", must));
        }
    }
    Ok(())
}

/// Refuses rules that name a column which a table does not have.
fn has_columns(args: &MatchArgs, loaded: &MatchTables, rules: &Rules) -> Result<()> {
    let places = std::iter::once(&args.a).chain(&args.b);
    for (side, (place, table)) in places.zip(&loaded.tables).enumerate() {
        let named = rules.fields.iter().map(|field| &field.columns);
        let named = named.chain(rules.check.iter().map(|check| &check.columns));
        let missing = named
            .map(|columns| &columns[side])
            .find(|name| table.items.len > 0 && table.items.column(name).is_none());
        if let Some(name) = missing {
            let known = table.items.names.join(", ");
            let delimiter = match &table.items.names[..] {
                [one] if one.contains([';', '|', '\t', '%']) => {
                    "; what stands between fields is said by --delimiter"
                }
                _ => "; name another in the rules",
            };
            let what =
                format!("no column `{name}`, which the rules name: it has {known}{delimiter}");
            return Err(Error::file(place.name(), what));
        }
    }
    Ok(())
}

fn load(args: &MatchArgs) -> Result<MatchTables> {
    let options = args.options().table_options();
    let places = std::iter::once(&args.a).chain(&args.b);
    let tables = places.map(|place| load_records(std::slice::from_ref(place), &options));
    Ok(MatchTables { tables: tables.collect::<Result<_>>()? })
}

/// Writes rules for the tables.
fn suggest(
    args: &MatchArgs,
    loaded: &MatchTables,
    mut stages: Vec<StageTime>,
    progress: &Progress,
) -> anyhow::Result<()> {
    progress.stage(Stage::Verify, None);
    let clock = Clock::start(Stage::Verify);
    let text = with_threads(args.options().threads, || {
        records::suggest::suggest(&loaded.records(), &|| progress.stopped())
    })?;
    stages.push(clock.stop(0));
    progress.finish();
    let target = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    let mut output = Output::create(target)?;
    output.put(text.as_bytes())?;
    let skipped = loaded.names().flat_map(|names| &names.skipped);
    let stats = json!({
        "items": loaded.records().len(),
        "records": loaded.sizes(),
        "skipped": loaded.skipped(),
        "stages": report::stages_json(&stages),
        "peak_memory": report::peak_memory(),
    });
    let seconds: f64 = stages.iter().map(|stage| stage.seconds).sum();
    let funnel = format!("{}  took {seconds:.1} s", report::lines(&loaded.rows()));
    RunReport::new(stats, funnel, skipped).finish(&args.run, vec![output.ready()?])
}

fn write_matches(
    args: &MatchArgs,
    loaded: &MatchTables,
    rules: &Rules,
    outcome: &MatchResult,
    scorer: &Scorer,
    observer: &dyn Observer,
) -> Result<(u64, CompleteOutput)> {
    let [a, b] = loaded.id_kinds();
    let mut columns = vec![
        Column { name: "a", kind: a },
        Column { name: "b", kind: b },
        Column { name: "score", kind: ColumnKind::Float },
    ];
    let scored: Vec<usize> = rules.scored().collect();
    let part = |&at: &usize| Column { name: &rules.fields[at].name, kind: ColumnKind::MaybeFloat };
    columns.extend(scored.iter().map(part));
    let shown: Vec<usize> = (0..rules.fields.len()).filter(|_| args.values).collect();
    let side = |side: &'static str| {
        shown.iter().map(move |&at| format!("{}_{side}", rules.fields[at].name))
    };
    let names: Vec<String> = side("a").chain(side("b")).collect();
    columns.extend(names.iter().map(|name| Column { name, kind: ColumnKind::MaybeText }));
    let target = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    let mut table = TableWriter::create(target, None, &columns)?;
    let count = outcome.matches.each(scorer, |pair| {
        if observer.stopped() {
            return Err(Error::Interrupted);
        }
        let (a, b) = (loaded.id(pair.a), loaded.id(pair.b));
        let mut cells = vec![Cell::from(&a), Cell::from(&b), Cell::Float(pair.score)];
        let part = |&at: &usize| scorer.part(at, pair.a, pair.b).map_or(Cell::Missing, Cell::Float);
        cells.extend(scored.iter().map(part));
        for record in [pair.a, pair.b] {
            let value = |&at: &usize| loaded.value(record, &rules.fields[at].columns);
            cells.extend(shown.iter().map(|at| value(at).map_or(Cell::Missing, Cell::Text)));
        }
        table.row(&cells)
    })?;
    Ok((count, table.ready()?))
}

fn write_clusters(
    args: &MatchArgs,
    loaded: &MatchTables,
    outcome: &MatchResult,
) -> Result<Option<CompleteOutput>> {
    let (Some(path), Some(clusters)) = (&args.clusters, outcome.matches.clusters()) else {
        return Ok(None);
    };
    let [kind, _] = loaded.id_kinds();
    let columns = [Column { name: "id", kind }, Column { name: "cluster", kind }];
    let mut table = TableWriter::create(Some(path), None, &columns)?;
    for (record, &cluster) in (0..).zip(clusters) {
        table.row(&[Cell::from(&loaded.id(record)), Cell::from(&loaded.id(cluster))])?;
    }
    table.ready().map(Some)
}

fn write_shares(args: &MatchArgs, outcome: &MatchResult) -> Result<Option<CompleteOutput>> {
    let (Some(path), Some(shares)) = (&args.shares, &outcome.shares) else { return Ok(None) };
    let float = |name| Column { name, kind: ColumnKind::Float };
    let pairs = Column { name: "pairs", kind: ColumnKind::Count };
    let columns =
        [float("from"), float("to"), pairs, float("mean"), float("share"), float("error")];
    let mut table = TableWriter::create(Some(path), None, &columns)?;
    for row in &shares.rows {
        let [from, to, mean, share, error] =
            [row.from, row.to, row.mean, row.share, row.error].map(Cell::Float);
        table.row(&[from, to, Cell::Count(row.pairs), mean, share, error])?;
    }
    table.ready().map(Some)
}

#[cfg(feature = "plot")]
fn draw_shares(args: &MatchArgs, outcome: &MatchResult) -> anyhow::Result<Option<CompleteOutput>> {
    let (Some(path), Some(shares)) = (&args.plot, &outcome.shares) else { return Ok(None) };
    let mut output = Output::create(Some(path))?;
    output.put(&plot::draw(shares, outcome.threshold, path)?)?;
    Ok(Some(output.ready()?))
}

#[cfg(not(feature = "plot"))]
fn draw_shares(_: &MatchArgs, _: &MatchResult) -> anyhow::Result<Option<CompleteOutput>> {
    Ok(None)
}

fn count_clusters(clusters: &[u32]) -> u64 {
    let mut sizes = vec![0u32; clusters.len()];
    clusters.iter().for_each(|&cluster| sizes[cluster as usize] += 1);
    sizes.iter().filter(|&&size| size > 1).count() as u64
}

/// What there is to tell of a run at its end.
struct Run<'a> {
    loaded: &'a MatchTables,
    rules: &'a Rules,
    outcome: &'a MatchResult,
    scorer: &'a Scorer,
    /// How many were written.
    pairs: Option<u64>,
    stages: &'a [StageTime],
}

impl Run<'_> {
    /// How many survived each step, a line each.
    fn funnel(&self) -> String {
        let Self { rules, outcome, .. } = self;
        let mut rows = self.loaded.rows();
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
        let seconds: f64 = self.stages.iter().map(|stage| stage.seconds).sum();
        let shares = outcome.shares.as_ref().map_or(String::new(), shares_table);
        format!("{}{shares}  took {seconds:.1} s", report::lines(&rows))
    }

    /// The run as JSON.
    fn as_json(&self) -> Value {
        let Self { loaded, rules, outcome, .. } = self;
        let candidates = rules.candidates.iter().zip(&outcome.candidates);
        let candidate = |(alternative, pairs): (&records::Alternative, &u64)| json!({ "rule": alternative.display(&rules.fields), "pairs": pairs });
        json!({
            "items": loaded.records().len(),
            "records": loaded.sizes(),
            "skipped": loaded.skipped(),
            "candidates": outcome.candidates.iter().sum::<u64>(),
            "candidates_by_rule": candidates.map(candidate).collect::<Vec<_>>(),
            "reached": outcome.reached,
            "pairs": self.pairs,
            "clusters": outcome.matches.clusters().map(count_clusters),
            "match": rules.grouping.name(),
            "threshold": outcome.threshold,
            "most": rules.most(),
            "shares": outcome.shares.as_ref().map(|shares| json!({
                "random": shares.random,
                "certain": shares.certain,
                "certain_from": shares.certain_from,
                "certain_pairs": shares.certain_pairs,
                "rows": shares.rows.iter().map(|row| json!({
                    "from": row.from, "to": row.to, "pairs": row.pairs,
                    "mean": row.mean, "share": row.share, "error": row.error,
                })).collect::<Vec<_>>(),
            })),
            "stages": report::stages_json(self.stages),
            "peak_memory": report::peak_memory(),
        })
    }
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

//! `nearkin match`: records that are the same thing.

#[cfg(feature = "plot")]
mod plot;

use std::path::PathBuf;

use clap::Args;
use nearkin::item::Table;
use nearkin::pipeline::{Clock, Observer, Stage, StageTime};
use nearkin::read::{Named, Names, Place, load_records};
use nearkin::records::check::Shares;
use nearkin::records::{self, Outcome, Records, Rules, Scorer};
use nearkin::write::{Cell, Column, ColumnKind, Output, Ready, TableWriter};
use nearkin::{Error, Result};
use serde_json::{Value, json};

use crate::args::{RunArgs, TableArgs, check_plot, place_parser};
use crate::near::in_pool;
use crate::progress::Progress;
use crate::report::{self, Told};

/// Records that are the same thing: of two tables, or of one with itself
///
/// The rules say which pairs are looked at, what each field is worth, and how what matches is grouped. --suggest looks at the
/// tables and writes rules to begin with. A row is written for each match: a, b (the ids), score, and what each field adds to
/// it, so that you can see why.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  nearkin match a.csv b.csv --suggest -o match.toml    rules for two tables, to look at and change
  nearkin match a.csv b.csv -c match.toml -o out.csv   the matches, with each field's part in the score
  nearkin match people.parquet -c match.toml --clusters who.csv
                                                       one table with itself: who is who")]
pub(crate) struct MatchArgs {
    /// A table: .csv .tsv .jsonl .parquet (also .gz .zst), or - for standard input
    #[arg(value_name = "A", value_parser = place_parser())]
    a: Place,
    /// The other table; without, A is matched with itself
    #[arg(value_name = "B", value_parser = place_parser())]
    b: Option<Place>,
    /// The rules
    #[arg(short, long, value_name = "FILE", required_unless_present = "suggest")]
    config: Option<PathBuf>,
    /// Write rules for these tables instead, found without examples
    #[arg(long, conflicts_with_all = ["config", "clusters", "shares", "plot"])]
    suggest: bool,
    /// Where the matches go: .jsonl .csv .tsv .parquet; or the rules of --suggest [default: standard output, as JSON
    /// lines]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a row a record: its id, and its cluster by the id of the first record in it
    #[arg(long, value_name = "FILE")]
    clusters: Option<PathBuf>,
    /// Write the share of true matches at each score, where the rules have a [check]
    #[arg(long, value_name = "FILE")]
    shares: Option<PathBuf>,
    /// Draw it: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Tables with the ids of their records.
struct Loaded {
    tables: Vec<Named<Table>>,
}

impl Loaded {
    fn records(&self) -> Records<'_> {
        Records { a: &self.tables[0].items, b: self.tables.get(1).map(|table| &table.items) }
    }

    fn names(&self) -> impl Iterator<Item = &Names> {
        self.tables.iter().map(|table| &table.names)
    }

    fn id(&self, record: u32) -> nearkin::item::Id {
        let first = self.tables[0].items.len;
        match (record as usize).checked_sub(first).filter(|_| self.tables.len() > 1) {
            Some(record) => self.tables[1].names.id(record),
            None => self.tables[0].names.id(record as usize),
        }
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
    if args.a.is_stdin() && args.b.as_ref().is_some_and(Place::is_stdin) {
        let must = "on one side: standard input is read once";
        return Err(Error::parameter("-", "on both sides", must).into());
    }
    let rules = args.config.as_ref().map(|path| Rules::read(path, args.b.is_some())).transpose()?;
    let inputs: Vec<&Place> = std::iter::once(&args.a).chain(&args.b).collect();
    let outputs = [&args.output, &args.clusters, &args.shares].map(Option::as_deref);
    let outputs = if args.suggest { &outputs[..0] } else { &outputs[..] };
    args.run.check(outputs, &inputs)?;
    if let Some(path) = &args.plot {
        check_plot(path, &inputs)?;
    }
    if let Some(rules) = &rules {
        check(args, rules)?;
    }
    let progress = Progress::start(args.run.quiet)?;
    progress.stage(Stage::Load, None);
    let clock = Clock::start(Stage::Load);
    let loaded = in_pool(&args.run, || load(args))?;
    let mut stages = vec![clock.stop(0)];
    let Some(rules) = rules else {
        return suggest(args, &loaded, &progress);
    };
    progress.stage(Stage::Verify, None);
    let clock = Clock::start(Stage::Verify);
    let (outcome, scorer) =
        in_pool(&args.run, || records::resolve(&loaded.records(), &rules, &|| progress.stopped()))?;
    stages.push(clock.stop(0));
    progress.stage(Stage::Write, None);
    let clock = Clock::start(Stage::Write);
    let mut ready = Vec::new();
    ready.extend(report::unless_closed(write_matches(
        args, &loaded, &rules, &outcome, &scorer, &progress,
    ))?);
    ready.extend(write_clusters(args, &loaded, &outcome)?);
    ready.extend(write_shares(args, &outcome)?);
    ready.extend(draw_shares(args, &outcome)?);
    stages.push(clock.stop(0));
    progress.finish();
    let skipped = loaded.names().flat_map(|names| &names.skipped);
    let told = Told::new(
        as_json(&loaded, &rules, &outcome, &stages),
        funnel(&loaded, &rules, &outcome, &stages),
        skipped,
    );
    told.finish(&args.run, ready)
}

/// Refuses outputs that these rules do not give.
fn check(args: &MatchArgs, rules: &Rules) -> Result<()> {
    if args.clusters.is_some() && rules.grouping != records::Grouping::Clusters {
        let must = format!("left out: the rules match {}", rules.grouping.name());
        return Err(Error::parameter("--clusters", "given", must));
    }
    for (name, given) in [("--shares", &args.shares), ("--plot", &args.plot)] {
        if given.is_some() && rules.check.is_none() {
            return Err(Error::parameter(name, "given", "left out: the rules have no [check]"));
        }
    }
    Ok(())
}

fn load(args: &MatchArgs) -> Result<Loaded> {
    let options = args.table.options();
    let places = std::iter::once(&args.a).chain(&args.b);
    let tables = places.map(|place| load_records(std::slice::from_ref(place), &options));
    Ok(Loaded { tables: tables.collect::<Result<_>>()? })
}

/// Writes rules for the tables.
fn suggest(args: &MatchArgs, loaded: &Loaded, progress: &Progress) -> anyhow::Result<()> {
    progress.stage(Stage::Verify, None);
    let text = in_pool(&args.run, || {
        records::suggest::suggest(&loaded.records(), &|| progress.stopped())
    })?;
    progress.finish();
    let target = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    let mut output = Output::create(target)?;
    output.put(text.as_bytes())?;
    Ok(output.finish()?)
}

fn write_matches(
    args: &MatchArgs,
    loaded: &Loaded,
    rules: &Rules,
    outcome: &Outcome,
    scorer: &Scorer,
    observer: &dyn Observer,
) -> Result<Ready> {
    let [a, b] = loaded.id_kinds();
    let mut columns = vec![
        Column { name: "a", kind: a },
        Column { name: "b", kind: b },
        Column { name: "score", kind: ColumnKind::Float },
    ];
    let scored: Vec<usize> = rules.scored().collect();
    let part = |&at: &usize| Column { name: &rules.fields[at].name, kind: ColumnKind::MaybeFloat };
    columns.extend(scored.iter().map(part));
    let target = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    let mut table = TableWriter::create(target, None, &columns)?;
    for pair in &outcome.matches {
        if observer.stopped() {
            return Err(Error::Interrupted);
        }
        let (a, b) = (loaded.id(pair.a), loaded.id(pair.b));
        let mut cells = vec![Cell::Id(&a), Cell::Id(&b), Cell::Float(pair.score)];
        let part = |&at: &usize| scorer.part(at, pair.a, pair.b).map_or(Cell::Missing, Cell::Float);
        cells.extend(scored.iter().map(part));
        table.row(&cells)?;
    }
    table.ready()
}

fn write_clusters(args: &MatchArgs, loaded: &Loaded, outcome: &Outcome) -> Result<Option<Ready>> {
    let (Some(path), Some(clusters)) = (&args.clusters, &outcome.clusters) else { return Ok(None) };
    let [kind, _] = loaded.id_kinds();
    let columns = [Column { name: "id", kind }, Column { name: "cluster", kind }];
    let mut table = TableWriter::create(Some(path), None, &columns)?;
    for (record, &cluster) in (0..).zip(clusters) {
        table.row(&[Cell::Id(&loaded.id(record)), Cell::Id(&loaded.id(cluster))])?;
    }
    table.ready().map(Some)
}

fn write_shares(args: &MatchArgs, outcome: &Outcome) -> Result<Option<Ready>> {
    let (Some(path), Some(shares)) = (&args.shares, &outcome.shares) else { return Ok(None) };
    let names = ["from", "to", "pairs", "mean", "share", "error"];
    let columns = names.map(|name| Column { name, kind: ColumnKind::Float });
    let mut table = TableWriter::create(Some(path), None, &columns)?;
    for row in &shares.rows {
        let values = [row.from, row.to, row.pairs as f64, row.mean, row.share, row.error];
        table.row(&values.map(Cell::Float))?;
    }
    table.ready().map(Some)
}

#[cfg(feature = "plot")]
fn draw_shares(args: &MatchArgs, outcome: &Outcome) -> anyhow::Result<Option<Ready>> {
    let (Some(path), Some(shares)) = (&args.plot, &outcome.shares) else { return Ok(None) };
    let mut output = Output::create(Some(path))?;
    output.put(&plot::draw(shares, outcome.threshold, path)?)?;
    Ok(Some(output.ready()?))
}

#[cfg(not(feature = "plot"))]
fn draw_shares(_: &MatchArgs, _: &Outcome) -> anyhow::Result<Option<Ready>> {
    Ok(None)
}

fn count_clusters(clusters: &[u32]) -> u64 {
    let mut sizes = vec![0u32; clusters.len()];
    clusters.iter().for_each(|&cluster| sizes[cluster as usize] += 1);
    sizes.iter().filter(|&&size| size > 1).count() as u64
}

/// How many survived each step, a line each.
fn funnel(loaded: &Loaded, rules: &Rules, outcome: &Outcome, stages: &[StageTime]) -> String {
    let mut rows = Vec::new();
    for (table, which) in loaded.tables.iter().zip(["A", "B"]) {
        let of = if loaded.tables.len() > 1 { format!(" of {which}") } else { String::new() };
        rows.push((table.items.len as u64, format!("records{of}")));
    }
    let skipped: u64 = loaded.names().map(|names| names.skipped.len() as u64).sum();
    if skipped > 0 {
        rows.push((skipped, "records skipped because they could not be used".into()));
    }
    for (alternative, &count) in rules.candidates.iter().zip(&outcome.candidates) {
        let name = alternative.display(&rules.fields);
        rows.push((count, format!("pairs scored because of `{name}`")));
    }
    let threshold = outcome.threshold;
    rows.push((outcome.reached, format!("pairs of {threshold} points or more")));
    let matches = outcome.matches.len() as u64;
    if let Some(clusters) = &outcome.clusters {
        rows.push((count_clusters(clusters), "clusters of two or more".into()));
        rows.push((matches, "pairs of two records of one cluster".into()));
    } else if rules.grouping == records::Grouping::OneToOne {
        rows.push((matches, "pairs taken, each record in at most one".into()));
    }
    let seconds: f64 = stages.iter().map(|stage| stage.seconds).sum();
    let shares = outcome.shares.as_ref().map_or(String::new(), shares_table);
    format!("{}{shares}  took {seconds:.1} s", report::lines(&rows))
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

fn as_json(loaded: &Loaded, rules: &Rules, outcome: &Outcome, stages: &[StageTime]) -> Value {
    let candidates = rules.candidates.iter().zip(&outcome.candidates);
    let candidate = |(alternative, pairs): (&records::Alternative, &u64)| json!({ "rule": alternative.display(&rules.fields), "pairs": pairs });
    json!({
        "items": loaded.records().len(),
        "records": loaded.tables.iter().map(|table| table.items.len).collect::<Vec<_>>(),
        "skipped": loaded.names().map(|names| names.skipped.len()).sum::<usize>(),
        "candidates": outcome.candidates.iter().sum::<u64>(),
        "candidates_by_rule": candidates.map(candidate).collect::<Vec<_>>(),
        "reached": outcome.reached,
        "pairs": outcome.matches.len(),
        "clusters": outcome.clusters.as_deref().map(count_clusters),
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
        "stages": report::stages_json(stages),
        "peak_memory": report::peak_memory(),
    })
}

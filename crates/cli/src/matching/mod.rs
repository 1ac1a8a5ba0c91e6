//! `nearkin match`: records that are the same thing.

#[cfg(feature = "plot")]
mod plot;
mod resolution;
mod summary;
mod tables;

use std::path::{Path, PathBuf};

use clap::Args;
use nearkin_engine::observe::{Clock, Observer, Stage};
use nearkin_engine::read::Place;
use nearkin_engine::records::{GroupingRule, MatchResult, Rules};
use nearkin_engine::write::{CompleteOutput, Output, TableWriter};
use nearkin_engine::{Error, Result};

use crate::args::{RunArgs, TableArgs, check_plot, options_of, place_parser};
use crate::output::to_file;
use crate::progress::Progress;
use crate::report;

pub use resolution::{MatchInput, Resolution, Suggestion};

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

pub(crate) fn run(args: &MatchArgs) -> anyhow::Result<()> {
    if args.config.is_none() && !args.suggest {
        let what = "no rules: give them with --config match.toml, or have them written with --suggest -o match.toml\n";
        clap::Error::raw(clap::error::ErrorKind::MissingRequiredArgument, what).exit();
    }
    let rules = args.config.as_ref().map(|path| Rules::read(path, args.b.is_some())).transpose()?;
    args.check_outputs()?;
    if let Some(rules) = &rules {
        args.check_rules(rules)?;
    }
    let progress = Progress::start(args.run.quiet)?;
    match rules {
        Some(rules) => resolve(args, rules, &progress),
        None => suggest(args, &progress),
    }
}

/// Finds what is the same, and writes it.
fn resolve(args: &MatchArgs, rules: Rules, progress: &Progress) -> anyhow::Result<()> {
    let mut resolution = args.input().resolve(rules, progress)?;
    progress.stage(Stage::Write, None);
    let clock = Clock::start(Stage::Write);
    let (pairs, ready) = args.write(&resolution, progress)?;
    resolution.add_stage(clock.stop(0));
    progress.finish();
    resolution.report(pairs).finish(&args.run, ready)
}

/// Writes rules for the tables.
fn suggest(args: &MatchArgs, progress: &Progress) -> anyhow::Result<()> {
    let suggestion = args.input().suggest(progress)?;
    progress.finish();
    let mut output = Output::create(args.output())?;
    output.put(suggestion.rules.as_bytes())?;
    suggestion.report().finish(&args.run, vec![output.ready()?])
}

impl MatchArgs {
    fn input(&self) -> MatchInput {
        MatchInput {
            a: vec![self.a.clone()],
            b: self.b.clone().map(|place| vec![place]),
            options: options_of(&[&self.table, &self.run]),
        }
    }

    /// The file of --output; none for standard output.
    fn output(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| path.as_os_str() != "-")
    }

    /// Refuses outputs that cannot be made.
    fn check_outputs(&self) -> Result<()> {
        let inputs: Vec<&Place> = std::iter::once(&self.a).chain(&self.b).collect();
        let [output, clusters, shares, plot] =
            [&self.output, &self.clusters, &self.shares, &self.plot].map(Option::as_deref);
        match self.suggest {
            true => self.run.check_all(&[], &[output], &inputs)?,
            false => self.run.check_all(&[output, clusters, shares], &[plot], &inputs)?,
        }
        plot.map_or(Ok(()), check_plot)
    }

    /// Refuses outputs that these rules do not give.
    fn check_rules(&self, rules: &Rules) -> Result<()> {
        if self.clusters.is_some() && rules.grouping != GroupingRule::Clusters {
            let name = rules.grouping.name();
            let must = format!("left out: the rules match {name}, and clusters are for one table");
            return Err(Error::parameter("clusters", "given", must));
        }
        for (name, given) in [("shares", &self.shares), ("plot", &self.plot)] {
            if given.is_some() && rules.check.is_none() {
                let must = "left out, or the rules given a [check], by which the share of true matches is found";
                return Err(Error::parameter(name, "given", must));
            }
        }
        Ok(())
    }

    /// Writes all tables that are wanted, and says how many pairs were written.
    fn write(
        &self,
        resolution: &Resolution,
        observer: &dyn Observer,
    ) -> anyhow::Result<(Option<u64>, Vec<CompleteOutput>)> {
        let (mut pairs, mut ready) = (None, Vec::new());
        // With --clusters alone, no pairs are written.
        if self.output.is_some() || self.clusters.is_none() {
            let written = resolution.write_matches(
                to_file(self.output(), self.run.formulas()),
                self.values,
                observer,
            );
            let written = written.and_then(|(count, table)| Ok((count, table.ready()?)));
            let (count, table) = report::unless_closed(written)?.unzip();
            pairs = count;
            ready.extend(table);
        }
        if let Some(path) = &self.clusters {
            let table =
                resolution.write_clusters(to_file(Some(path), self.run.formulas()), observer)?;
            ready.extend(table.map(TableWriter::ready).transpose()?);
        }
        if let Some(path) = &self.shares {
            let table = resolution.write_shares(to_file(Some(path), self.run.formulas()))?;
            ready.extend(table.map(TableWriter::ready).transpose()?);
        }
        ready.extend(draw_shares(self, &resolution.outcome)?);
        Ok((pairs, ready))
    }
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

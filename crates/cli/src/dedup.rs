//! `nearkin dedup`: one item of each group kept.

use std::path::{Path, PathBuf};

use clap::Args;
use nearkin::cluster::Keep;
use nearkin::error::{Advice, Problem};
use nearkin::item::Source;
use nearkin::options::{Goal, Options, RunFiles};
use nearkin::pipeline::{self, Clock, Deduplicated, Observer, Settings, Stage, Swallowed};
use nearkin::read::{Opened, Place};
use nearkin::write::{self, Cell, Column, ColumnKind};

use crate::args::{
    InputArgs, RunArgs, ShingleArgs, SimilarityArgs, WayArgs, check_outputs, options_of, parsed,
};
use crate::progress::Progress;
use crate::report::{self, Told};
use crate::search::{Target, Written};

/// Keep one item of each group of similar items
///
/// Items that are similar, directly or through other items, form a group. One item of each group is written, and every
/// item that is similar to no other. Records keep all their fields and their order. The output may replace the input: it
/// appears when the run is done.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:
  nearkin dedup corpus.jsonl -o kept.jsonl             near-duplicate texts at 0.8
  nearkin dedup corpus.parquet -o kept.parquet --keep longest --clusters groups.csv

`nearkin dedup --help` shows all options, in groups, with more examples.",
    after_long_help = "Examples:
  nearkin dedup corpus.jsonl -o kept.jsonl             near-duplicate texts at 0.8
  nearkin dedup corpus.parquet -o kept.parquet --keep longest --clusters groups.csv
  nearkin dedup a.jsonl.gz b.jsonl.zst -o kept.jsonl.gz --keep max:date
  nearkin dedup news/ -o kept.jsonl -t 0.7 --no-chains"
)]
pub(crate) struct DedupArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    similarity: SimilarityArgs,
    #[command(flatten)]
    shingle: ShingleArgs,
    #[command(flatten)]
    way: WayArgs,
    /// Item to keep of each group: first, longest, max:FIELD or min:FIELD [default: first]
    ///
    /// Numbers are compared by size and come before texts, which are compared by their bytes; null comes last.
    #[arg(long, value_name = "WHICH", value_parser = parsed::<Keep>, help_heading = "Groups")]
    keep: Option<Keep>,
    /// Group only items that are similar to the kept item itself
    ///
    /// Without it, a is in one group with c if both are similar to b.
    #[arg(long, help_heading = "Groups")]
    no_chains: bool,
    /// Write the kept records here [default: JSON lines on standard output, unless --clusters is given]
    ///
    /// Formats: .jsonl .csv .tsv .txt .parquet, also .gz .zst.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Write one row per item: id, cluster (the id that was kept), kept, similarity
    ///
    /// similarity is that to the kept item. Formats: .jsonl .csv .tsv .parquet.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) clusters: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

impl DedupArgs {
    /// What these arguments say.
    pub(crate) fn options(&self) -> Options {
        let options =
            options_of(&[&self.input, &self.similarity, &self.shingle, &self.way, &self.run]);
        Options { keep: self.keep.clone(), no_chains: self.no_chains, ..options }
    }
}

/// The files that a run writes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DedupOutputs<'a> {
    kept: Option<&'a Path>,
    clusters: Option<&'a Path>,
    stats: Option<&'a Path>,
}

pub(crate) fn run(args: &DedupArgs) -> anyhow::Result<()> {
    let progress = Progress::start(args.run.quiet)?;
    let outputs = DedupOutputs {
        kept: args.output.as_deref(),
        clusters: args.clusters.as_deref(),
        stats: args.run.stats.as_deref(),
    };
    let mut found = find(&args.options(), &args.input.inputs, outputs, &progress)?;
    let clock = Clock::start(Stage::Write);
    let mut ready = Vec::new();
    if args.output.is_some() || args.clusters.is_none() {
        progress.stage(Stage::Write, Some(found.source.bytes()));
        let mut advance = |bytes| {
            progress.advance(bytes);
            if progress.stopped() { Err(nearkin::Error::Interrupted) } else { Ok(()) }
        };
        let (input, output) = (found.source.input(), args.output.as_deref());
        let kept = |record: u64| found.is_record_kept(record);
        let threads = found.settings.threads;
        let written = write::records(input, output, &kept, threads, &mut advance);
        ready.extend(report::unless_closed(written)?);
    }
    if let Some(path) = &args.clusters {
        // Before the records, which may take the place of the input.
        let target = Target::File(Some(path));
        if let Written::File(clusters) = found.write_clusters(target, &progress)? {
            ready.insert(0, clusters);
        }
    }
    found.result.stats.stages.push(clock.stop(found.source.bytes()));
    progress.finish();
    found.told().finish(&args.run, ready)
}

/// A collection with one item of each group kept, and where it came from.
pub(crate) struct Found {
    pub(crate) source: Opened,
    pub(crate) settings: Settings,
    pub(crate) result: Deduplicated,
    swallowed: Option<Problem>,
}

/// Finds the groups, and what is kept of each.
pub(crate) fn find(
    options: &Options,
    inputs: &[Place],
    outputs: DedupOutputs<'_>,
    observer: &dyn Observer,
) -> anyhow::Result<Found> {
    let mut settings = options.settings(Goal::Groups)?;
    let source = options.open(inputs, Some(&settings))?;
    let DedupOutputs { kept, clusters, stats } = outputs;
    // The kept records may take the place of the input; nothing else may.
    check_outputs(&[clusters], &[stats], &inputs.iter().collect::<Vec<_>>())?;
    check_outputs(&[kept, clusters], &[stats], &[])?;
    let files = RunFiles { inputs, against: &[], outputs: &[kept, clusters, stats] };
    settings.job = options.job(Goal::Groups, files, &[&source], &settings)?;
    let keep = options.keep.clone().unwrap_or_default();
    let result = pipeline::dedup(&source, &settings, &keep, !options.no_chains, observer)
        .map_err(|error| report::stopped(error, &settings))?;
    let swallowed = result.swallowed.map(|it| swallowed(it, &result)).transpose()?;
    Ok(Found { source, settings, result, swallowed })
}

/// The warning of a group that has an implausible share of the collection.
fn swallowed(swallowed: Swallowed, result: &Deduplicated) -> nearkin::Result<Problem> {
    let what = format!(
        "one group has {} of the distinct texts ({:.0} %), {} of them not similar to the kept item {}: it may be a \
         chain of unrelated texts",
        report::grouped(swallowed.texts as u64),
        100.0 * swallowed.share,
        report::grouped(swallowed.unlike as u64),
        result.collection.ids().get(swallowed.kept)?,
    );
    Ok(Problem::new(what)
        .or(Advice::turn_on("no_chains"))
        .or(Advice::with("threshold", "ask for more similarity"))
        .or("cut longer shingles"))
}

impl Found {
    /// Whether a record of the input is kept, by its number over all files.
    pub(crate) fn is_record_kept(&self, record: u64) -> bool {
        self.source.is_record_kept(record, |position| self.result.is_kept(position))
    }

    /// What there is to tell.
    pub(crate) fn told(&self) -> Told {
        let told = Told::of(&self.result.stats, &self.result.collection, &self.settings);
        Told { warning: self.swallowed.clone(), ..told }
    }

    /// Writes a row an item.
    pub(crate) fn write_clusters(
        &self,
        target: Target<'_>,
        observer: &dyn Observer,
    ) -> nearkin::Result<Written> {
        let result = &self.result;
        let collection = &result.collection;
        let numbers = collection.ids_are_numbers(0);
        let kind = if numbers { ColumnKind::IntId } else { ColumnKind::Id };
        let columns = [
            Column { name: "id", kind },
            Column { name: "cluster", kind },
            Column { name: "kept", kind: ColumnKind::Bool },
            Column { name: "similarity", kind: ColumnKind::Float },
        ];
        let mut table = target.create(&columns)?;
        let (mut ids, mut kept_ids) = (collection.ids(), collection.ids());
        for (position, cluster) in (0u32..).zip(result.clusters()) {
            let Some((kept, similarity)) = cluster else { continue };
            if observer.stopped() {
                return Err(nearkin::Error::Interrupted);
            }
            let (id, cluster) = (ids.get(position)?, kept_ids.get(kept)?);
            let kept = Cell::Bool(kept == position);
            table.row(&[Cell::from(&id), Cell::from(&cluster), kept, Cell::Float(similarity)])?;
        }
        target.finish(table)
    }
}

//! `nearkin dedup`: one item of each group kept.

use std::path::PathBuf;

use clap::Args;
use nearkin::cluster::Keep;
use nearkin::error::{Advice, Problem};
use nearkin::item::Source;
use nearkin::pipeline::{self, Clock, Deduplicated, Observer, Settings, Stage, Swallowed};
use nearkin::read::{AnyInput, Place};
use nearkin::write::{self, Cell, Column, ColumnKind};

use crate::args::{InputArgs, RunArgs, SimilarityArgs, job};
use crate::progress::Progress;
use crate::report::{self, Told};
use crate::search::{Target, Written};

/// Keep one item of each group of similar ones
///
/// Items that are similar to one another, directly or through others, form a group; the kept item of
/// each, and every item that resembles no other, is written with all its fields as they came, in
/// input order. The output may be the input: it appears when everything is done.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  nearkin dedup corpus.jsonl -o kept.jsonl
  nearkin dedup corpus.parquet -o kept.parquet --keep longest --clusters clusters.csv
  nearkin dedup news/ -o kept.jsonl -t 0.7 --no-chains
  nearkin dedup part1.jsonl.gz part2.jsonl.zst -o kept.jsonl.gz --keep max:date")]
pub(crate) struct DedupArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) similarity: SimilarityArgs,
    /// Which item of a group to keep: first, longest, max:FIELD or min:FIELD (numbers by size, before
    /// texts by their bytes; null last)
    #[arg(long, value_name = "WHICH", default_value = "first", help_heading = "Groups")]
    pub(crate) keep: Keep,
    /// Only group items that are similar to the kept one themselves, not through others
    #[arg(long, help_heading = "Groups")]
    pub(crate) no_chains: bool,
    /// Write a row an item: id, cluster (the id that was kept), kept, similarity to it; .jsonl, .csv,
    /// .tsv or .parquet
    #[arg(long, value_name = "FILE", help_heading = "Groups")]
    clusters: Option<PathBuf>,
    /// Write the kept records here: .jsonl, .csv, .tsv, .txt or .parquet, also .gz .zst [default: JSON
    /// lines on standard output, unless --clusters is given]
    #[arg(short, long, value_name = "FILE", help_heading = "Run")]
    output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

pub(crate) fn run(args: &DedupArgs) -> anyhow::Result<()> {
    let progress = Progress::start(args.run.quiet)?;
    let mut found = find(args, &progress)?;
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
    pub(crate) source: AnyInput,
    pub(crate) settings: Settings,
    pub(crate) result: Deduplicated,
    swallowed: Option<Problem>,
}

/// Finds the groups, and what is kept of each.
pub(crate) fn find(args: &DedupArgs, observer: &dyn Observer) -> anyhow::Result<Found> {
    let fields = &args.input.fields;
    let mut settings = args.similarity.settings(&args.run, fields)?;
    let source = fields.open(&args.input.inputs, args.keep.field(), Some(&settings))?;
    // The kept records may take the place of the input; nothing else may.
    let inputs: Vec<&Place> = args.input.inputs.iter().collect();
    args.run.check(&[args.clusters.as_deref()], &inputs)?;
    args.run.check(&[args.output.as_deref(), args.clusters.as_deref()], &[])?;
    let (words, temp) = (args.run.words.as_deref(), fields.table.temp.as_deref());
    settings.job = job(words, temp, &[&source], &args.similarity.shingle, &settings)?;
    let result = pipeline::dedup(&source, &settings, &args.keep, !args.no_chains, observer)
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

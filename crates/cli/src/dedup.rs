//! `nearkin dedup`: one item of each group kept.

use std::path::PathBuf;

use clap::Args;
use nearkin::cluster::Keep;
use nearkin::item::Source;
use nearkin::pipeline::{self, Clock, Deduplicated, Observer, Stage};
use nearkin::write::{self, Cell, Column, ColumnKind, TableWriter};

use crate::args::{InputArgs, RunArgs, SimilarityArgs, job};
use crate::progress::Progress;
use crate::report;

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
    input: InputArgs,
    #[command(flatten)]
    similarity: SimilarityArgs,
    /// Which item of a group to keep: first, longest, max:FIELD or min:FIELD (numbers by size, before
    /// texts by their bytes; null last)
    #[arg(long, value_name = "WHICH", default_value = "first", help_heading = "Groups")]
    keep: Keep,
    /// Only group items that are similar to the kept one themselves, not through others
    #[arg(long, help_heading = "Groups")]
    no_chains: bool,
    /// Write a row an item: id, cluster (the id that was kept), kept, similarity to it; .jsonl, .csv,
    /// .tsv or .parquet
    #[arg(long, value_name = "FILE", help_heading = "Groups")]
    clusters: Option<PathBuf>,
    /// Write the kept records here: .jsonl, .csv, .tsv, .txt or .parquet, also .gz .zst [default: JSON
    /// lines on standard output, unless --clusters is given]
    #[arg(short, long, value_name = "FILE", help_heading = "Run")]
    output: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

pub(crate) fn run(args: &DedupArgs) -> anyhow::Result<()> {
    let fields = &args.input.fields;
    let mut settings = args.similarity.settings(&args.run, fields)?;
    let source = fields.open(&args.input.inputs, args.keep.field(), Some(&settings))?;
    // The kept records may take the place of the input; nothing else may.
    let inputs: Vec<&PathBuf> = args.input.inputs.iter().collect();
    args.run.check(&[args.clusters.as_deref()], &inputs)?;
    args.run.check(&[args.output.as_deref(), args.clusters.as_deref()], &[])?;
    settings.job = job(fields.temp.as_deref(), &[&source], &args.similarity.shingle, &settings)?;
    let progress = Progress::start(args.run.quiet)?;
    let mut result = pipeline::dedup(&source, &settings, &args.keep, !args.no_chains, &progress)
        .map_err(|error| report::stopped(error, &settings))?;

    let clock = Clock::start(Stage::Write);
    let mut ready = Vec::new();
    if args.output.is_some() || args.clusters.is_none() {
        progress.stage(Stage::Write, Some(source.bytes()));
        let kept = |record: u64| source.is_record_kept(record, |position| result.is_kept(position));
        let mut advance = |bytes| {
            progress.advance(bytes);
            if progress.stopped() { Err(nearkin::Error::Interrupted) } else { Ok(()) }
        };
        let output = args.output.as_deref();
        let written = write::records(source.input(), output, &kept, settings.threads, &mut advance);
        ready.extend(report::unless_closed(written)?);
    }
    if let Some(path) = &args.clusters {
        // Before the records, which may take the place of the input.
        ready.insert(0, write_clusters(&result, path)?);
    }
    result.stats.stages.push(clock.stop(source.bytes()));
    progress.finish();
    report::finish(&result.stats, &result.collection, &settings, &args.run, ready)?;
    if !args.run.quiet
        && let Some(swallowed) = result.swallowed
    {
        eprintln!(
            "warning: one group has {} of the distinct texts ({:.0} %), {} of them not similar to the kept \
             item {}; if they do not belong together, use --no-chains, a higher --threshold or longer shingles",
            report::grouped(swallowed.texts as u64),
            100.0 * swallowed.share,
            report::grouped(swallowed.unlike as u64),
            result.collection.ids().get(swallowed.kept)?,
        );
    }
    Ok(())
}

fn write_clusters(result: &Deduplicated, path: &std::path::Path) -> nearkin::Result<write::Ready> {
    let collection = &result.collection;
    let numbers = collection.ids_are_numbers(0);
    let kind = if numbers { ColumnKind::IntId } else { ColumnKind::Id };
    let columns = [
        Column { name: "id", kind },
        Column { name: "cluster", kind },
        Column { name: "kept", kind: ColumnKind::Bool },
        Column { name: "similarity", kind: ColumnKind::Float },
    ];
    let mut table = TableWriter::create(Some(path), None, &columns)?;
    let (mut ids, mut kept_ids) = (collection.ids(), collection.ids());
    for (position, cluster) in (0u32..).zip(result.clusters()) {
        let Some((kept, similarity)) = cluster else { continue };
        let (id, cluster) = (ids.get(position)?, kept_ids.get(kept)?);
        let kept = Cell::Bool(kept == position);
        table.row(&[Cell::Id(&id), Cell::Id(&cluster), kept, Cell::Float(similarity)])?;
    }
    table.ready()
}

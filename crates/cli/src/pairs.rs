//! `nearkin pairs`: every similar pair.

use clap::Args;

use nearkin::options::Goal;

use crate::search::{self, SearchArgs};

/// Every similar pair, with its exact similarity
///
/// Writes a, b (the ids) and similarity, a before b in input order, sorted by the position of a, then
/// of b. Every pair written was compared exactly; what may be missing is a few pairs near the
/// threshold, as --recall says.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  nearkin pairs articles.jsonl                         pairs at 0.8 as JSON lines
  nearkin pairs articles.jsonl -t 0.5 -o pairs.csv     a lower threshold, into a CSV file
  nearkin pairs new.parquet --against old.parquet      pairs of one new and one old item
  zcat crawl.jsonl.gz | nearkin pairs - --text body    standard input, another field
  nearkin pairs novels/ --shingle chars:9              a folder, a document a file
  nearkin pairs buys.csv --group who --element what    baskets from a long table
  nearkin pairs images.npy --as vector --within 900    vectors by Euclidean distance
  nearkin pairs names.txt --as string --within 1       strings by edits")]
pub(crate) struct PairsArgs {
    #[command(flatten)]
    pub(crate) search: SearchArgs,
}

pub(crate) fn run(args: &PairsArgs) -> anyhow::Result<()> {
    search::run(&args.search, &args.search.options(), Goal::Pairs)
}

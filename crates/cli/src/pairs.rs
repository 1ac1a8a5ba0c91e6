//! `nearkin pairs`: every similar pair.

use clap::Args;

use nearkin_engine::options::Goal;

use crate::listing;
use crate::search::{self, SearchArgs};

/// Find every similar pair
///
/// Writes one row per pair: a and b (the ids), and similarity or distance. a comes before b in the input; rows are sorted
/// by the position of a, then of b. Every pair is compared exactly. A search by hashing may miss some pairs near the
/// threshold; --recall says how many at most, and an audit at the end measures it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:
  nearkin pairs articles.jsonl -t 0.5 -o pairs.csv     a lower threshold, as CSV
  nearkin pairs images.npy --as vector --within 900    by Euclidean distance

`nearkin pairs --help` shows all options, in groups, with more examples.",
    after_long_help = "Examples:
  nearkin pairs articles.jsonl                         pairs at 0.8, JSON lines
  nearkin pairs articles.jsonl -t 0.5 -o pairs.csv     a lower threshold, as CSV
  nearkin pairs new.parquet --against old.parquet      one new and one old item
  zcat crawl.jsonl.gz | nearkin pairs - --text body    from standard input
  nearkin pairs novels/ --shingle chars:9              one document per file
  nearkin pairs src/ --include '*.py' --show           copied code, for people
  nearkin pairs buys.csv --group who --element what    baskets from a long table
  nearkin pairs images.npy --as vector --within 900    by Euclidean distance
  nearkin pairs names.txt --as string --within 1       strings, one edit apart"
)]
pub(crate) struct PairsArgs {
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    /// Show the largest groups of similar texts instead, with their longest shared passages and where these stand
    ///
    /// Each group has an item to which all others of it are similar. For people who look for copied code or text.
    #[arg(long, help_heading = "Output")]
    show: bool,
}

pub(crate) fn run(args: &PairsArgs) -> anyhow::Result<()> {
    if args.show {
        return listing::run(args);
    }
    search::run(&args.search, &args.search.options(), Goal::Pairs)
}

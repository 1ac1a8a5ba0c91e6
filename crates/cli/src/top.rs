//! `nearkin top`: the k most similar of each item.

use clap::Args;

use crate::search::{self, Rows, SearchArgs};

/// The k most similar of each item, with their exact similarity
///
/// Writes a, b (the ids) and similarity: for each item the up to K others most similar to it among those
/// that reach the threshold, the most similar first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  nearkin top articles.jsonl -k 10 -t 0.3              for each article the ten most similar
  nearkin top new.parquet --against old.parquet -k 1   for each new item the nearest old one")]
pub(crate) struct TopArgs {
    /// How many of each item
    #[arg(short, value_name = "K", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    k: u32,
    #[command(flatten)]
    search: SearchArgs,
}

pub(crate) fn run(args: &TopArgs) -> anyhow::Result<()> {
    search::run(&args.search, Rows::Closest(args.k as usize))
}

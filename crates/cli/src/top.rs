//! `nearkin top`: the k most similar of each item.

use clap::Args;

use nearkin::options::{Goal, Options};

use crate::search::{self, SearchArgs};

/// The k most similar of each item, with their exact similarity
///
/// Writes a, b (the ids) and similarity or distance: for each item the up to K others closest to it, the closest
/// first. For texts, sets and bags only those count that reach --threshold (0.3 unless you say otherwise), and
/// --recall is the chance that one at just that is found; other items have none, and none is missed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  nearkin top articles.jsonl -k 10                     for each article the ten most similar
  nearkin top images.npy --as vector -k 5              for each vector the five nearest
  nearkin top new.parquet --against old.parquet -k 1   for each new item the nearest old one")]
pub(crate) struct TopArgs {
    /// How many of each item
    #[arg(short, value_name = "K", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) k: u32,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
}

impl TopArgs {
    /// What these arguments say.
    pub(crate) fn options(&self) -> Options {
        Options { k: Some(self.k as usize), ..self.search.options() }
    }
}

pub(crate) fn run(args: &TopArgs) -> anyhow::Result<()> {
    search::run(&args.search, &args.options(), Goal::Closest)
}

//! `nearkin top`: the k most similar of each item.

use clap::Args;

use nearkin_engine::options::{Goal, Options};

use crate::search::{self, SearchArgs};

/// Find the K most similar items of each item
///
/// Writes one row per neighbour: a and b (the ids), and similarity or distance; the nearest first. Texts, sets and bags
/// have only neighbours at or above --threshold (0.3 unless given). Other items need no threshold, and no neighbour is
/// missed.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:
  nearkin top articles.jsonl -k 10                     ten articles like each
  nearkin top images.npy --as vector -k 5              five nearest of each

`nearkin top --help` shows all options, in groups, with more examples.",
    after_long_help = "Examples:
  nearkin top articles.jsonl -k 10                     ten articles like each
  nearkin top images.npy --as vector -k 5              five nearest of each
  nearkin top new.parquet --against old.parquet -k 1   the nearest old item"
)]
pub(crate) struct TopArgs {
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    /// Neighbours per item
    #[arg(
        short,
        value_name = "K",
        default_value_t = 10,
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = "Output",
        display_order = 0
    )]
    pub(crate) k: u32,
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

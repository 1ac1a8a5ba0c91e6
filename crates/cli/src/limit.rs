//! `nearkin limit`: how fast could a run be?

use clap::Args;
use nearkin_engine::options::Goal;
use nearkin_engine::search;

use crate::args::{InputArgs, RunArgs, ShingleArgs, SimilarityArgs, WayArgs, options_of};
use crate::report::grouped;
use crate::screen::print;

/// Read, parse and shingle everything and do nothing with it: what no run can be faster than
///
/// For benchmarks: `bench/run` puts it beside the time of a whole run.
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct LimitArgs {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    similarity: SimilarityArgs,
    #[command(flatten)]
    shingle: ShingleArgs,
    #[command(flatten)]
    way: WayArgs,
    #[command(flatten)]
    run: RunArgs,
}

pub(crate) fn run(args: &LimitArgs) -> anyhow::Result<()> {
    let options = options_of(&[&args.input, &args.similarity, &args.shingle, &args.way, &args.run]);
    let settings = options.settings(Goal::Pairs)?;
    let source = options.open(&args.input.places()?, Some(&settings))?;
    let shingles = search::shingle_only(&source, &settings)?;
    print(format!("{} shingles\n", grouped(shingles)).as_bytes())
}

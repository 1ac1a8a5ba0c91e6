//! `nearkin limit`: how fast could a run be?

use clap::Args;
use nearkin::pipeline;

use crate::args::{InputArgs, RunArgs, SimilarityArgs};
use crate::report::grouped;

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
    run: RunArgs,
}

pub(crate) fn run(args: &LimitArgs) -> anyhow::Result<()> {
    let fields = &args.input.fields;
    let settings = args.similarity.settings(&args.run, fields)?;
    let source = fields.open(&args.input.inputs, None, Some(&settings))?;
    let shingles = pipeline::shingle_only(&source, &settings)?;
    println!("{} shingles", grouped(shingles));
    Ok(())
}

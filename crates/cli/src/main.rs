//! The `nearkin` command: parses arguments, calls the library, turns errors into one line.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod compare;
mod dedup;
mod items;
mod limit;
mod near;
mod pairs;
mod plan;
mod progress;
mod report;
mod search;
mod shell;
mod top;

use std::io::ErrorKind;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Finds similar items in large collections: every reported pair exact, the share found stated.
#[derive(Debug, Parser)]
#[command(name = "nearkin", version, propagate_version = true, max_term_width = 100)]
struct Command {
    #[command(subcommand)]
    job: Job,
}

#[derive(Debug, Subcommand)]
enum Job {
    Pairs(pairs::PairsArgs),
    Dedup(dedup::DedupArgs),
    Top(top::TopArgs),
    Compare(compare::CompareArgs),
    Plan(plan::PlanArgs),
    Limit(limit::LimitArgs),
    Completions(shell::CompletionsArgs),
    Man(shell::ManArgs),
}

fn main() -> ExitCode {
    let result = match Command::parse().job {
        Job::Pairs(args) => pairs::run(&args),
        Job::Dedup(args) => dedup::run(&args),
        Job::Top(args) => top::run(&args),
        Job::Compare(args) => compare::run(&args),
        Job::Plan(args) => plan::run(&args),
        Job::Limit(args) => limit::run(&args),
        Job::Completions(args) => shell::completions(&args),
        Job::Man(args) => shell::man(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            let interrupted = matches!(error.downcast_ref(), Some(nearkin::Error::Interrupted));
            ExitCode::from(if interrupted { 130 } else { 1 })
        }
    }
}

/// Whether whoever read our output has had enough (`nearkin pairs … | head`).
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(nearkin::Error::Closed))
        || error
            .downcast_ref()
            .is_some_and(|io: &std::io::Error| io.kind() == ErrorKind::BrokenPipe)
}

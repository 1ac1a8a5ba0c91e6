//! The command as a whole: parses arguments, runs what they ask for, turns errors into one line.

use std::ffi::OsString;
use std::io::ErrorKind;

use clap::{Parser, Subcommand};

use crate::{compare, dedup, hosts, limit, matching, pairs, plan, report, shell, top, wording};

/// Finds similar items in large collections: every reported pair exact, the share found stated.
#[derive(Debug, Parser)]
#[command(name = "nearkin", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Command {
    #[command(subcommand)]
    pub(crate) job: Job,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Job {
    Pairs(pairs::PairsArgs),
    Dedup(dedup::DedupArgs),
    Top(top::TopArgs),
    Compare(compare::CompareArgs),
    Plan(plan::PlanArgs),
    Match(matching::MatchArgs),
    Hosts(hosts::HostsArgs),
    Limit(limit::LimitArgs),
    Completions(shell::CompletionsArgs),
    Man(shell::ManArgs),
}

/// Runs the command with these words, the first of which is its name, and says with which status it ends.
pub fn main(words: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
    let result = match Command::parse_from(words).job {
        Job::Pairs(args) => pairs::run(&args),
        Job::Dedup(args) => dedup::run(&args),
        Job::Top(args) => top::run(&args),
        Job::Compare(args) => compare::run(&args),
        Job::Plan(args) => plan::run(&args),
        Job::Match(args) => matching::run(&args),
        Job::Hosts(args) => hosts::run(&args),
        Job::Limit(args) => limit::run(&args),
        Job::Completions(args) => shell::completions(&args),
        Job::Man(args) => shell::man(&args),
    };
    match result {
        Ok(()) => 0,
        Err(error) if is_closed_pipe(&error) => 0,
        Err(error) => {
            report::tell(format_args!("error: {}", wording::line(&error)));
            let interrupted = matches!(error.downcast_ref(), Some(nearkin::Error::Interrupted));
            if interrupted { 130 } else { 1 }
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

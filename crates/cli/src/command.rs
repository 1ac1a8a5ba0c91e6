//! The command as a whole: parses arguments, runs what they ask for, turns errors into one line.

use std::ffi::OsString;
use std::io::ErrorKind;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use nearkin_engine::options::{CONFLICTS, REQUIREMENTS};
use nearkin_engine::read::Place;

use crate::{
    compare, dedup, hosts, limit, matching, mistyped, overlap, pairs, plan, report, shell, show,
    top, trim, wording,
};

/// Finds similar items in large collections. Every reported pair is compared exactly.
#[derive(Debug, Parser)]
#[command(
    name = "nearkin",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = "Start with:
  nearkin dedup corpus.jsonl -o kept.jsonl     drop near-duplicates
  nearkin pairs corpus.jsonl -o pairs.csv      list the similar pairs"
)]
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
    Overlap(overlap::OverlapArgs),
    Trim(trim::TrimArgs),
    Show(show::ShowArgs),
    Limit(limit::LimitArgs),
    Completions(shell::CompletionsArgs),
    Man(shell::ManArgs),
}

/// The options that `-h` shows of each command; `--help` shows all.
const SHORT_HELP: &[(&str, &[&str])] = &[
    (
        "pairs",
        &[
            "against",
            "text",
            "id",
            "as",
            "measure",
            "threshold",
            "within",
            "shingle",
            "exact",
            "output",
        ],
    ),
    (
        "dedup",
        &[
            "against",
            "text",
            "as",
            "measure",
            "threshold",
            "within",
            "shingle",
            "exact",
            "keep",
            "output",
            "clusters",
            "removed",
        ],
    ),
    (
        "top",
        &[
            "against",
            "text",
            "id",
            "as",
            "measure",
            "threshold",
            "within",
            "shingle",
            "k",
            "output",
        ],
    ),
    (
        "compare",
        &[
            "collection",
            "as",
            "text",
            "id",
            "shingle",
            "expected",
            "fields",
            "passages",
            "least_words",
            "no_diff",
            "json",
        ],
    ),
    (
        "plan",
        &[
            "text",
            "as",
            "measure",
            "threshold",
            "within",
            "shingle",
            "recall",
            "and_or",
            "plot",
            "json",
        ],
    ),
    (
        "match",
        &[
            "config", "suggest", "output", "clusters", "values", "id", "shares", "plot",
            "on_error", "stats",
        ],
    ),
    (
        "hosts",
        &[
            "url",
            "threshold",
            "least_urls",
            "pages",
            "text",
            "alike",
            "links",
            "contracted",
            "folds",
            "output",
        ],
    ),
    (
        "overlap",
        &[
            "against",
            "text",
            "test_text",
            "id",
            "words",
            "share",
            "output",
            "report_pairs",
            "removed",
            "stats",
        ],
    ),
    (
        "trim",
        &[
            "text",
            "unit",
            "threshold",
            "at_least",
            "keep",
            "min_left",
            "output",
            "removed",
            "memory",
            "stats",
        ],
    ),
];

/// The options that `-h` shows of the steps of `show`.
const SHORT_STEP_HELP: &[&str] = &[
    "collection",
    "first",
    "text",
    "id",
    "as",
    "shingle",
    "letters",
    "urls",
    "universe",
    "permutation",
    "places",
    "functions",
    "all_permutations",
    "values",
    "truncate",
    "groups",
    "signatures",
    "bands",
    "rows",
    "threshold",
    "order",
    "length",
    "size",
    "normal",
    "all_signs",
    "line",
    "axes",
    "width",
    "within",
    "factor",
    "measure",
    "json",
    "latex",
    "plot",
    "most",
];

/// The command, with what is said in tables and not beside each argument: which options exclude or need one another,
/// and which `-h` shows.
pub(crate) fn command() -> clap::Command {
    let mut command = Command::command();
    let names: Vec<String> = command.get_subcommands().map(|it| it.get_name().to_owned()).collect();
    for name in names {
        let shown = SHORT_HELP.iter().find(|of| of.0 == name).map(|of| of.1);
        command = command.mut_subcommand(name, |job| with_tables(job, shown));
    }
    command = command.mut_subcommand("show", |show| {
        let steps: Vec<String> =
            show.get_subcommands().map(|it| it.get_name().to_owned()).collect();
        steps.into_iter().fold(show, |show, step| {
            show.mut_subcommand(step, |step| with_tables(step, Some(SHORT_STEP_HELP)))
        })
    });
    // It compares texts alone, and says so to anyone who asks for more.
    command = command.mut_subcommand("overlap", |job| {
        let text = "Field or column that holds the text [default: text]";
        let job = job.mut_arg("text", |argument| argument.help(text).long_help(text));
        OTHER_ITEMS.iter().fold(job, |job, id| job.mut_arg(id, |argument| argument.hide(true)))
    });
    command.mut_subcommand("compare", |job| job.mut_arg("grid", |argument| argument.hide(true)))
}

/// Options of items that are no texts.
const OTHER_ITEMS: &[&str] = &[
    "as",
    "group",
    "element",
    "count",
    "rating",
    "ratings",
    "element_groups",
    "edges",
    "questions",
    "grid",
    "digits",
];

fn with_tables(job: clap::Command, shown: Option<&[&str]>) -> clap::Command {
    let ids: Vec<String> =
        job.get_arguments().map(|argument| argument.get_id().to_string()).collect();
    let is_here = |name: &&&str| ids.iter().any(|id| id == **name);
    ids.iter().fold(job, |job, id| {
        job.mut_arg(id, |argument| {
            let of = |table: &[(&str, &'static [&'static str])]| -> Vec<&'static str> {
                let mine = table.iter().filter(|(name, _)| name == id);
                mine.flat_map(|(_, others)| others.iter()).filter(is_here).copied().collect()
            };
            let hidden = shown.is_some_and(|shown| !shown.contains(&id.as_str()));
            if argument.is_positional() {
                return argument.help_heading(None);
            }
            // So that -1 is told what it must be, and not taken for an option.
            let argument = match argument.get_action().takes_values() {
                true => argument.allow_negative_numbers(true),
                false => argument,
            };
            let argument =
                of(REQUIREMENTS).into_iter().fold(argument, |it, other| it.requires(other));
            argument.conflicts_with_all(of(CONFLICTS)).hide_short_help(hidden)
        })
    })
}

/// Runs the command with these words, the first of which is its name, and says with which status it ends.
pub fn main(words: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
    nearkin_engine::read::hide_caught_panics();
    let mut all = command();
    let matches = all.try_get_matches_from_mut(words);
    let matches = matches.unwrap_or_else(|error| mistyped::advised(error, &all).exit());
    let job = matches.subcommand().map(|(_, job)| job);
    let memory = job.and_then(|job| job.try_get_one::<usize>("memory").ok().flatten());
    if let Some(memory) = memory {
        /// Memory for each pool of it that threads share.
        const POOL: usize = 64 << 20;
        nearkin_kernels::share_memory(memory / POOL);
    }
    /// Freed pieces that threads keep are little beside it.
    const MUCH: usize = 4 << 30;
    if memory.copied().unwrap_or_else(nearkin_engine::fair_share) >= MUCH {
        nearkin_kernels::keep_large_pieces();
    }
    if let Some(what) = job.and_then(inputs_behind_others) {
        all.error(clap::error::ErrorKind::ArgumentConflict, what).exit();
    }
    let command = Command::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let result = match command.job {
        Job::Pairs(args) => pairs::run(&args),
        Job::Dedup(args) => dedup::run(&args),
        Job::Top(args) => top::run(&args),
        Job::Compare(args) => compare::run(&args),
        Job::Plan(args) => plan::run(&args),
        Job::Match(args) => matching::run(&args),
        Job::Hosts(args) => hosts::run(&args),
        Job::Overlap(args) => overlap::run(&args),
        Job::Trim(args) => trim::run(&args),
        Job::Show(args) => show::run(&args),
        Job::Limit(args) => limit::run(&args),
        Job::Completions(args) => shell::completions(&args),
        Job::Man(args) => shell::man(&args),
    };
    match result {
        Ok(()) => 0,
        Err(error) if is_closed_pipe(&error) => 0,
        Err(error) => {
            report::tell(format_args!("error: {}", wording::line(&error)));
            let interrupted =
                matches!(error.downcast_ref(), Some(nearkin_engine::Error::Interrupted));
            if interrupted { crate::progress::interrupted() } else { 1 }
        }
    }
}

/// What is wrong with files behind --against that are taken for INPUT, as others before it are: a shell writes a pattern
/// out as several files, of which --against takes the first.
fn inputs_behind_others(job: &ArgMatches) -> Option<String> {
    let has = |id: &str| job.ids().any(|own| own == id);
    if !has("inputs") || !has("against") {
        return None;
    }
    let first = job.indices_of("against")?.min()?;
    let inputs = || job.indices_of("inputs").into_iter().flatten();
    inputs().find(|at| *at < first)?;
    let behind = inputs().position(|at| at > first)?;
    let place = job.get_many::<Place>("inputs")?.nth(behind)?;
    Some(format!(
        "`{}` behind --against would be one more INPUT; write --against before each file of that collection, or all of INPUT \
         before it",
        place.name().display()
    ))
}

/// Whether the reader closed our output (`nearkin pairs … | head`).
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(nearkin_engine::Error::Closed))
        || error
            .downcast_ref()
            .is_some_and(|io: &std::io::Error| io.kind() == ErrorKind::BrokenPipe)
}

//! What is said about an option that a command does not have, and about a number that it cannot take.

use std::error::Error as _;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use nearkin_engine::measure::edit;

/// Names that other tools have for options of ours.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("column", "text"),
    ("field", "text"),
    ("content", "text"),
    ("key", "id"),
    ("similarity", "threshold"),
    ("distance", "within"),
    ("out", "output"),
    ("jobs", "threads"),
    ("workers", "threads"),
    ("tmp", "temp"),
    ("ngram", "shingle"),
    ("delim", "delimiter"),
    ("separator", "delimiter"),
];

/// The error with better advice, where it is about an unknown option: the same option of another command, our name for
/// it, or one that differs by a slip of the finger.
pub(crate) fn advised(mut error: clap::Error, command: &clap::Command) -> clap::Error {
    if let Some(wrong) = wrong_number(&error) {
        let help = "For more information, try '--help'.";
        return clap::Error::raw(ErrorKind::ValueValidation, format!("{wrong}\n\n{help}\n"));
    }
    let unknown = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(unknown))) => unknown.clone(),
        _ => return error,
    };
    let Some(name) = unknown.strip_prefix("--") else { return error };
    let suggested = match error.remove(ContextKind::SuggestedArg) {
        Some(ContextValue::String(suggested)) => Some(suggested),
        _ => None,
    };
    error.remove(ContextKind::Suggested);
    let used = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let is_used = |job: &&clap::Command| used.contains(&format!("nearkin {}", job.get_name()));
    let has = |job: &clap::Command, name: &str| {
        job.get_arguments().any(|argument| argument.get_long() == Some(name))
    };
    let other = OTHER_NAMES.iter().find(|(theirs, _)| *theirs == name).map(|(_, ours)| *ours);
    let own = command.get_subcommands().find(is_used);
    let owners: Vec<&str> = command
        .get_subcommands()
        .filter(|job| has(job, name))
        .map(clap::Command::get_name)
        .collect();
    let tip = match (other.filter(|ours| own.is_some_and(|job| has(job, ours))), suggested) {
        (Some(ours), _) => Some(format!("here it is called '--{ours}'")),
        (None, Some(suggested)) if is_slip(name, &suggested) => {
            Some(format!("a similar argument exists: '{suggested}'"))
        }
        _ if !owners.is_empty() => Some(format!("it belongs to {}", all_of(&owners))),
        _ => None,
    };
    if let Some(tip) = tip {
        let tip = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

/// What is wrong with a value that is no whole number, or out of its range.
fn wrong_number(error: &clap::Error) -> Option<String> {
    let (ContextValue::String(option), ContextValue::String(value)) =
        (error.get(ContextKind::InvalidArg)?, error.get(ContextKind::InvalidValue)?)
    else {
        return None;
    };
    let told = error.source()?.to_string();
    let range = match told.strip_prefix(&format!("{value} is not in ")) {
        Some(range) => {
            let (least, most) = range.split_once("..=")?;
            match most.parse() {
                // As many as the number's type has.
                Ok(u32::MAX) | Err(_) => format!(", {least} or more"),
                Ok(most) => format!(" from {least} to {most}"),
            }
        }
        None if error.source()?.is::<std::num::ParseIntError>() => String::new(),
        None => return None,
    };
    Some(format!("invalid value '{value}' for '{option}': it must be a whole number{range}"))
}

/// Names in a row: `a, b and c`.
fn all_of(names: &[&str]) -> String {
    match names {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        _ => names.concat(),
    }
}

/// Whether two names differ by a slip of the finger or two.
fn is_slip(name: &str, suggested: &str) -> bool {
    let suggested = suggested.trim_start_matches('-').split([' ', '=']).next().unwrap_or("");
    let most = if name.len() < 8 { 2 } else { 3 };
    suggested.starts_with(name) || edit::distance_str(name, suggested) <= most
}

//! Errors in the words of someone at a command line: `pass --on-error skip`.

use std::sync::atomic::{AtomicBool, Ordering};

use clap::CommandFactory;
use nearkin_engine::error::{Wording, any_of};

use crate::command::Command;
use crate::screen::harmless;

/// Whether the steps of `show` are spoken of. Their flags have names that are plain words elsewhere, such as a width.
static SPEAKS_OF_STEPS: AtomicBool = AtomicBool::new(false);

/// From now on errors are about a step of `show`.
pub(crate) fn speak_of_steps() {
    SPEAKS_OF_STEPS.store(true, Ordering::Relaxed);
}

/// Speaks of options as flags.
#[derive(Debug, Clone, Copy)]
pub struct CommandWording;

impl Wording for CommandWording {
    /// The flag, or the name itself where no command has such a flag.
    fn option(&self, key: &str) -> String {
        let name = key.replace('_', "-");
        let command = Command::command();
        let jobs = || command.get_subcommands();
        let steps = jobs().flat_map(clap::Command::get_subcommands);
        let steps = steps.filter(|_| SPEAKS_OF_STEPS.load(Ordering::Relaxed));
        let mut flags = jobs().chain(steps).flat_map(clap::Command::get_arguments);
        let written = flags.find_map(|flag| match (flag.get_long(), flag.get_short()) {
            (Some(long), _) => (long == name).then(|| format!("--{name}")),
            (None, Some(short)) => (name == short.to_string()).then(|| format!("-{name}")),
            (None, None) => None,
        });
        written.unwrap_or_else(|| key.to_owned())
    }

    fn set(&self, key: &str, values: &[&str]) -> String {
        format!("pass {} {}", self.option(key), any_of(values))
    }

    fn turn_on(&self, key: &str) -> String {
        format!("pass {}", self.option(key))
    }
}

/// What a run says that was told to stop.
pub(crate) fn interrupted() -> String {
    match nearkin_engine::write::is_partly_written() {
        true => "interrupted; the output is incomplete".to_owned(),
        false => nearkin_engine::Error::Interrupted.worded(&CommandWording),
    }
}

/// An error and what led to it, on one line.
pub(crate) fn line(error: &anyhow::Error) -> String {
    let worded = |cause: &(dyn std::error::Error + 'static)| match cause.downcast_ref() {
        Some(nearkin_engine::Error::Interrupted) => interrupted(),
        Some(error) => nearkin_engine::Error::worded(error, &CommandWording),
        None => cause.to_string(),
    };
    harmless(&error.chain().map(worded).collect::<Vec<_>>().join(": "), false).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_flags_where_there_is_one() {
        for (key, flag) in
            [("on_error", "--on-error"), ("k", "-k"), ("as", "--as"), ("dimension", "dimension")]
        {
            assert_eq!(CommandWording.option(key), flag);
        }
    }

    #[test]
    fn context_comes_first() {
        let error = nearkin_engine::Error::parameter("least_words", 0, "at least 1");
        let error = anyhow::Error::new(error).context("while planning");
        assert_eq!(line(&error), "while planning: --least-words is 0; it must be at least 1");
    }
}

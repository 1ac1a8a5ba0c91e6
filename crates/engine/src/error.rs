//! Everything that can go wrong: one variant per cause, with the values, and with what the user can do about it.
//!
//! Advice is data, because users give options in different ways: on a command line, as keyword arguments, in a
//! struct. Each front end has a [`Wording`] and prints errors by [`Error::worded`]. `Display` is for users of this crate.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::item::Id;

/// The library's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong. Its message is one line and ends with what the user can do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A parameter outside its range.
    Parameter {
        /// The option's key, such as `on_error`, or a few words for what is no option.
        name: &'static str,
        /// The value given.
        value: String,
        /// What it must be.
        must: String,
        /// What else can be done.
        advice: Vec<Advice>,
    },

    /// An option that is needed here and was not given.
    Missing {
        /// The option's key.
        option: &'static str,
        /// What the option says, such as "the largest distance of a pair".
        what: String,
    },

    /// An option that is needed with another one.
    Needed {
        /// The key of the option that was not given.
        option: &'static str,
        /// The key of the option that was.
        with: &'static str,
    },

    /// Two options that exclude each other.
    Conflict {
        /// The key of one.
        option: &'static str,
        /// The key of the other.
        with: &'static str,
    },

    /// Two vectors that can only be compared when they are equally long.
    Mismatch {
        /// Components of the first.
        left: usize,
        /// Components of the second.
        right: usize,
    },

    /// Bad input at a line or row of a file.
    Input {
        /// The file as the user named it.
        path: PathBuf,
        /// Line number (or row number, for files without lines), from 1.
        line: u64,
        /// What is wrong there.
        problem: Problem,
    },

    /// A file as a whole cannot be used.
    File {
        /// The file as the user named it.
        path: PathBuf,
        /// What is wrong with it.
        problem: Problem,
    },

    /// There is no result.
    Nothing(
        /// Why.
        Problem,
    ),

    /// The program that read the output has ended, as `head` does: nothing to report.
    Closed,

    /// The user asked to stop.
    Interrupted,
}

/// What is wrong, and what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, without advice.
    pub what: String,
    /// What can be done: any one of these helps.
    pub advice: Vec<Advice>,
}

/// One thing that a user can do about an error.
///
/// Options go by their keys, which have underscores: `on_error`, `threshold`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// Something that takes no option: "convert the file to UTF-8".
    Do(Cow<'static, str>),
    /// Give an option this value. Several in a row for one option are a choice of values.
    Set {
        /// The option's key.
        option: Cow<'static, str>,
        /// The value.
        value: Cow<'static, str>,
    },
    /// Give an option a value of the user's choice.
    Use {
        /// The option's key.
        option: Cow<'static, str>,
        /// What the option does, as a command: "choose another field".
        to: Cow<'static, str>,
    },
    /// Turn an option on that takes no value.
    TurnOn(
        /// The option's key.
        Cow<'static, str>,
    ),
    /// Leave an option out.
    LeaveOut(
        /// The option's key.
        Cow<'static, str>,
    ),
}

/// How a front end speaks of options to its users.
pub trait Wording {
    /// An option by its name: `--on-error`, or `on_error`.
    fn option(&self, key: &str) -> String;

    /// An option that the user is to give a value, in "choose another field with …": `--id`, or `id=`.
    fn with(&self, key: &str) -> String {
        self.option(key)
    }

    /// What to do to give an option one of these values: `pass --as vector or bits`.
    fn set(&self, key: &str, values: &[&str]) -> String;

    /// What to do to turn an option on: `pass --exact`, or `pass exact=True`.
    fn turn_on(&self, key: &str) -> String;
}

/// The words for those who call this crate.
struct RustWording;

impl Wording for RustWording {
    fn option(&self, key: &str) -> String {
        format!("`{key}`")
    }

    fn set(&self, key: &str, values: &[&str]) -> String {
        format!("set `{key}` to {}", any_of(values))
    }

    fn turn_on(&self, key: &str) -> String {
        format!("turn `{key}` on")
    }
}

impl Advice {
    /// Leave bad records out and go on.
    pub const SKIP: Self =
        Self::Set { option: Cow::Borrowed("on_error"), value: Cow::Borrowed("skip") };

    /// Give an option this value.
    pub fn set(option: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        Self::Set { option: option.into(), value: value.into() }
    }

    /// Give an option a value of the user's choice, `to` do this.
    pub fn with(option: &'static str, to: impl Into<Cow<'static, str>>) -> Self {
        Self::Use { option: option.into(), to: to.into() }
    }

    /// Turn an option on.
    pub const fn turn_on(option: &'static str) -> Self {
        Self::TurnOn(Cow::Borrowed(option))
    }

    /// Leave an option out.
    pub const fn leave_out(option: &'static str) -> Self {
        Self::LeaveOut(Cow::Borrowed(option))
    }

    /// The key of the option that it is about.
    pub fn option(&self) -> Option<&str> {
        match self {
            Self::Do(_) => None,
            Self::Set { option, .. } | Self::Use { option, .. } => Some(option),
            Self::TurnOn(option) | Self::LeaveOut(option) => Some(option),
        }
    }
}

impl From<&'static str> for Advice {
    fn from(what: &'static str) -> Self {
        Self::Do(what.into())
    }
}

impl From<String> for Advice {
    fn from(what: String) -> Self {
        Self::Do(what.into())
    }
}

impl Problem {
    /// What is wrong; [`or`](Self::or) adds what can be done.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), advice: Vec::new() }
    }

    /// Adds one thing that can be done.
    #[must_use]
    pub fn or(mut self, advice: impl Into<Advice>) -> Self {
        self.advice.push(advice.into());
        self
    }

    /// Adds what can be done, if there is something.
    #[must_use]
    #[cfg(feature = "files")]
    pub(crate) fn or_all(self, advice: Option<Advice>) -> Self {
        advice.into_iter().fold(self, Self::or)
    }

    /// The problem of an id that an earlier record has, at this line of a file. Leaving such records out is no advice: they
    /// may differ in all but their ids.
    pub(crate) fn repeated_id(id: &Id, (path, line): (&Path, u64)) -> Self {
        let (id, path) = (id.to_string(), path.display());
        Self::new(format!("the id {id:?} was there before, at {path}:{line}"))
            .or(Advice::turn_on("positions"))
            .or(Advice::with("id", "choose another field"))
            .or("make ids unique")
    }

    /// A text with the fingerprint of another.
    pub(crate) fn equal_fingerprints() -> Self {
        Self::new("the text differs from an earlier one with the same fingerprint, or has changed since it was read")
            .or("run again")
            .or(Advice::with("seed", "give another number"))
    }

    /// All of it in one text, to be kept in a file.
    pub(crate) fn to_text(&self) -> String {
        let mut parts = vec![self.what.as_str()];
        for advice in &self.advice {
            parts.extend(match advice {
                Advice::Do(what) => ["do", what, ""],
                Advice::Set { option, value } => ["set", option, value],
                Advice::Use { option, to } => ["use", option, to],
                Advice::TurnOn(option) => ["turn on", option, ""],
                Advice::LeaveOut(option) => ["leave out", option, ""],
            });
        }
        parts.join(SEPARATOR)
    }

    /// What [`to_text`](Self::to_text) wrote.
    pub(crate) fn from_text(text: &str) -> Self {
        let mut parts = text.split(SEPARATOR).map(str::to_owned);
        let mut problem = Self::new(parts.next().unwrap_or_default());
        while let (Some(kind), Some(first), Some(second)) =
            (parts.next(), parts.next(), parts.next())
        {
            let (first, second) = (first.into(), second.into());
            problem.advice.push(match kind.as_str() {
                "set" => Advice::Set { option: first, value: second },
                "use" => Advice::Use { option: first, to: second },
                "turn on" => Advice::TurnOn(first),
                "leave out" => Advice::LeaveOut(first),
                _ => Advice::Do(first),
            });
        }
        problem
    }

    /// The message in the words of a front end.
    pub fn worded(&self, wording: &dyn Wording) -> String {
        with_advice(self.what.clone(), &self.advice, wording)
    }
}

/// Between the parts of a problem in a file; no message has it.
const SEPARATOR: &str = "\0";

impl From<String> for Problem {
    fn from(what: String) -> Self {
        Self::new(what)
    }
}

impl From<&str> for Problem {
    fn from(what: &str) -> Self {
        Self::new(what)
    }
}

impl Error {
    /// A parameter outside its range, by the option's key or in a few words.
    pub fn parameter(name: &'static str, value: impl ToString, must: impl Into<String>) -> Self {
        Self::Parameter { name, value: value.to_string(), must: must.into(), advice: Vec::new() }
    }

    /// A similarity outside its range; one that looks like a percentage is answered as such.
    pub(crate) fn threshold(least: f64, most: f64, must: impl Into<String>) -> Self {
        let error = Self::parameter("threshold", least, must);
        let share = least / 100.0;
        match least >= 10.0 && share <= most {
            true => error.or(Advice::set("threshold", share.to_string())),
            false => error,
        }
    }

    /// A recall outside its range.
    pub(crate) fn recall(recall: f64) -> Self {
        let must = "above 0 and below 1: only an exact search misses none";
        let error = Self::parameter("recall", recall, must);
        match (10.0..100.0).contains(&recall) {
            // A percentage.
            true => error.or(Advice::set("recall", (recall / 100.0).to_string())),
            false => error.or(Advice::turn_on("exact")),
        }
    }

    /// An option that is needed here, and what it says.
    pub fn missing(option: &'static str, what: impl Into<String>) -> Self {
        Self::Missing { option, what: what.into() }
    }

    /// An option that is needed with another one.
    pub const fn needed(option: &'static str, with: &'static str) -> Self {
        Self::Needed { option, with }
    }

    /// Two options that exclude each other.
    pub const fn conflict(option: &'static str, with: &'static str) -> Self {
        Self::Conflict { option, with }
    }

    /// Bad input at a line or row of a file.
    pub fn input(path: impl Into<PathBuf>, line: u64, problem: impl Into<Problem>) -> Self {
        Self::Input { path: path.into(), line, problem: problem.into() }
    }

    /// The file in which something is wrong, if it is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Input { path, .. } | Self::File { path, .. } => Some(path),
            _ => None,
        }
    }

    /// The line is this many lines further down, if the error has one.
    #[cfg(feature = "files")]
    pub(crate) fn move_down(&mut self, lines: u64) {
        if let Self::Input { line, .. } = self {
            *line += lines;
        }
    }

    /// A file as a whole cannot be used.
    pub fn file(path: impl Into<PathBuf>, problem: impl Into<Problem>) -> Self {
        Self::File { path: path.into(), problem: problem.into() }
    }

    /// There is no result.
    pub fn nothing(problem: impl Into<Problem>) -> Self {
        Self::Nothing(problem.into())
    }

    /// Adds one thing that can be done, where the error has room for it.
    #[must_use]
    pub fn or(mut self, advice: impl Into<Advice>) -> Self {
        if let Some(list) = self.advice_mut() {
            list.push(advice.into());
        }
        self
    }

    /// The error without advice about this option. After a record was skipped, the advice to skip it is of no use.
    #[must_use]
    pub fn without(mut self, option: &str) -> Self {
        if let Some(list) = self.advice_mut() {
            list.retain(|advice| advice.option() != Some(option));
        }
        self
    }

    fn advice_mut(&mut self) -> Option<&mut Vec<Advice>> {
        match self {
            Self::Parameter { advice, .. } => Some(advice),
            Self::Input { problem, .. } | Self::File { problem, .. } | Self::Nothing(problem) => {
                Some(&mut problem.advice)
            }
            _ => None,
        }
    }

    /// The message in the words of a front end, on one line: control characters of names are spelled out.
    pub fn worded(&self, wording: &dyn Wording) -> String {
        let message = self.message(wording);
        if !message.contains(char::is_control) {
            return message;
        }
        let mut line = String::with_capacity(message.len() + 16);
        for c in message.chars() {
            if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
        }
        line
    }

    fn message(&self, wording: &dyn Wording) -> String {
        match self {
            Self::Parameter { name, value, must, advice } => {
                let name = if is_key(name) { wording.option(name) } else { (*name).to_owned() };
                with_advice(format!("{name} is {value}; it must be {must}"), advice, wording)
            }
            Self::Missing { option, what } => {
                format!("{} is required: {what}", wording.option(option))
            }
            Self::Needed { option, with } => {
                format!("{} is required with {}", wording.option(option), wording.option(with))
            }
            Self::Conflict { option, with } => {
                let [option, with] = [option, with].map(|key| wording.option(key));
                format!("{option} does not go with {with}; leave one of them out")
            }
            Self::Mismatch { left, right } => {
                format!("vectors have {left} and {right} components; give both the same length")
            }
            Self::Input { path, line, problem } => {
                format!("{}:{line}: {}", path.display(), problem.worded(wording))
            }
            Self::File { path, problem } => {
                format!("{}: {}", path.display(), problem.worded(wording))
            }
            Self::Nothing(problem) => problem.worded(wording),
            Self::Closed => "the reader of the output has gone; the rest was not written".into(),
            Self::Interrupted => "interrupted; no output was written".into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(&RustWording))
    }
}

impl std::error::Error for Error {}

/// Whether a parameter's name is the key of an option, not words about something else.
fn is_key(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// "What is wrong; do this, do that, or do something else".
fn with_advice(mut what: String, advice: &[Advice], wording: &dyn Wording) -> String {
    let of_one_option = |a: &Advice, b: &Advice| match (a, b) {
        (Advice::Set { option: a, .. }, Advice::Set { option: b, .. }) => a == b,
        _ => false,
    };
    let choices: Vec<&[Advice]> = advice.chunk_by(of_one_option).collect();
    for (i, choice) in choices.iter().enumerate() {
        what.push_str(match i {
            0 => "; ",
            _ if i + 1 == choices.len() => ", or ",
            _ => ", ",
        });
        what.push_str(&phrase(choice, wording));
    }
    what
}

/// One thing to do. Several values of one option are one thing.
fn phrase(choice: &[Advice], wording: &dyn Wording) -> String {
    match &choice[0] {
        Advice::Do(what) => what.clone().into_owned(),
        Advice::Set { option, .. } => {
            let value = |advice: &'_ Advice| match advice {
                Advice::Set { value, .. } => Some(value.clone()),
                _ => None,
            };
            let values: Vec<Cow<'_, str>> = choice.iter().filter_map(value).collect();
            wording.set(option, &values.iter().map(|value| &**value).collect::<Vec<_>>())
        }
        Advice::Use { option, to } => format!("{to} with {}", wording.with(option)),
        Advice::TurnOn(option) => wording.turn_on(option),
        Advice::LeaveOut(option) => format!("leave out {}", wording.option(option)),
    }
}

/// "a, b or c".
pub fn any_of(words: &[impl AsRef<str>]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Flags;

    impl Wording for Flags {
        fn option(&self, key: &str) -> String {
            format!("--{}", key.replace('_', "-"))
        }
        fn set(&self, key: &str, values: &[&str]) -> String {
            format!("pass {} {}", self.option(key), any_of(values))
        }
        fn turn_on(&self, key: &str) -> String {
            format!("pass {}", self.option(key))
        }
    }

    #[test]
    fn each_front_end_has_its_words() {
        let first = (Path::new("a.jsonl"), 1);
        let error = Error::input("a.jsonl", 3, Problem::repeated_id(&Id::Int(7), first));
        assert_eq!(
            error.to_string(),
            "a.jsonl:3: the id \"7\" was there before, at a.jsonl:1; turn `positions` on, choose another field with `id`, \
             or make ids unique"
        );
        assert_eq!(
            error.clone().without("positions").worded(&Flags),
            "a.jsonl:3: the id \"7\" was there before, at a.jsonl:1; choose another field with --id, or make ids unique"
        );
        assert_eq!(
            Error::file("a", "is a mystery").or(Advice::leave_out("format")).worded(&Flags),
            "a: is a mystery; leave out --format"
        );
        let formats = ["csv", "tsv", "txt"].map(|format| Advice::set("format", format));
        let error = formats.into_iter().fold(Error::nothing("no format"), Error::or);
        let error = error.or(Advice::turn_on("positions"));
        assert_eq!(
            error.worded(&Flags),
            "no format; pass --format csv, tsv or txt, or pass --positions"
        );
    }

    #[test]
    fn options_have_dashes_and_other_parameters_do_not() {
        let error = Error::parameter("least_words", 0, "at least 1");
        assert_eq!(error.worded(&Flags), "--least-words is 0; it must be at least 1");
        let error = Error::parameter("a weight", "NaN", "finite").or("drop the vector");
        assert_eq!(error.worded(&Flags), "a weight is NaN; it must be finite; drop the vector");
        let error = Error::missing("within", "the largest distance of a pair");
        assert_eq!(error.worded(&Flags), "--within is required: the largest distance of a pair");
        let error = Error::needed("rows", "bands");
        assert_eq!(error.worded(&Flags), "--rows is required with --bands");
        let error = Error::conflict("exact", "bands");
        assert_eq!(error.to_string(), "`exact` does not go with `bands`; leave one of them out");
    }

    /// Flags are words of the command; here options go by their keys.
    #[test]
    fn no_text_of_the_library_names_a_flag() {
        let mut folders = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
        let mut files = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]").next().unwrap_or_default();
                for (line, number) in code.lines().zip(1..) {
                    let code = line.split("// ").next().unwrap_or_default();
                    assert!(!names_flag(code), "{}:{number}: {line}", path.display());
                }
                files += 1;
            }
        }
        assert!(files > 100, "{files} files");
    }

    fn names_flag(code: &str) -> bool {
        let after = |(at, _)| code[at + 2..].starts_with(|next: char| next.is_ascii_lowercase());
        code.match_indices("--").any(after)
    }

    #[test]
    fn problems_come_back_from_files() {
        let problem = Problem::repeated_id(&Id::Int(7), (Path::new("a"), 1))
            .or(Advice::leave_out("format"))
            .or(Advice::turn_on("exact"));
        assert_eq!(Problem::from_text(&problem.to_text()), problem);
        assert_eq!(Problem::from_text("alone"), Problem::new("alone"));
    }
}

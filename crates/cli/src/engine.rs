//! The command's jobs for callers that have items in memory: the same flags, the same work, columns as results.
//!
//! Flags are the words of the command line without inputs, such as `--threshold=0.5`, so that one copy of what they mean,
//! and of what is said when they are wrong, serves everybody.

use std::ffi::OsString;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;
use clap::{CommandFactory, Parser};
use nearkin::cluster::Keep;
use nearkin::pipeline::{self, Observer, Settings, Watched};
use nearkin::read::Place;
use nearkin::{Error, write};

use crate::command::{Command, Job};
use crate::dedup::{self, DedupArgs, Found};
use crate::report::Told;
use crate::search::{self, Rows, SearchArgs, Target, Written};
use crate::{compare, plan};

/// What went wrong.
#[derive(Debug)]
pub enum Failure {
    /// The flags make no sense.
    Usage(String),
    /// The library says so.
    Library(Error),
    /// Anything else.
    Other(String),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let message = format!("{error:#}");
        match error.downcast() {
            Ok(error) => Self::Library(error),
            Err(_) => Self::Other(message),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl From<clap::Error> for Failure {
    /// The first paragraph, on one line.
    fn from(error: clap::Error) -> Self {
        let text = error.render().to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        let first = text.split("\n\n").next().unwrap_or_default();
        Self::Usage(first.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// What a job gives.
pub type Result<T> = std::result::Result<T, Failure>;

/// Columns and rows.
pub type Table = (SchemaRef, Vec<RecordBatch>);

/// What is told of a run at its end.
#[derive(Debug)]
pub struct Account {
    /// What `--stats` has, as JSON.
    pub stats: String,
    /// What the user should look at: records that were left out, a group that has an implausible share.
    pub warnings: Vec<String>,
}

impl From<Told> for Account {
    /// The run is over: what it put aside to go on is removed.
    fn from(told: Told) -> Self {
        if let Some(job) = &told.job {
            job.finish();
        }
        let skipped = told.skipped.into_iter().map(|message| format!("skipped: {message}"));
        Self { stats: told.stats.to_string(), warnings: skipped.chain(told.warning).collect() }
    }
}

/// Stands for inputs that are handed over otherwise.
const PLACEHOLDER: &str = "-";

fn parse(job: &str, flags: &[String], operands: &[&str]) -> Result<Job> {
    let words = ["nearkin", job].into_iter().chain(flags.iter().map(String::as_str));
    Ok(Command::try_parse_from(words.chain(["--"]).chain(operands.iter().copied()))?.job)
}

fn other_job(job: &str) -> Failure {
    Failure::Usage(format!("`{job}` is no job of this kind; take pairs, top or dedup"))
}

fn parse_search(job: &str, flags: &[String]) -> Result<(SearchArgs, Rows)> {
    match parse(job, flags, &[PLACEHOLDER])? {
        Job::Pairs(args) => Ok((args.search, Rows::Pairs)),
        Job::Top(args) => Ok((args.search, Rows::Closest(args.k as usize))),
        _ => Err(other_job(job)),
    }
}

fn parse_dedup(flags: &[String]) -> Result<DedupArgs> {
    match parse("dedup", flags, &[PLACEHOLDER])? {
        Job::Dedup(args) => Ok(args),
        _ => Err(other_job("dedup")),
    }
}

/// The rows of `pairs` or `top`.
///
/// # Errors
/// When the flags make no sense or a record cannot be used, as the command has it.
pub fn search(
    job: &str,
    flags: &[String],
    inputs: Vec<Place>,
    against: Vec<Place>,
    observer: &dyn Observer,
) -> Result<(Table, Account)> {
    let (mut args, rows) = parse_search(job, flags)?;
    args.run.words = Some(words(job, flags, inputs.iter().chain(&against)));
    args.input.inputs = inputs;
    args.against = against;
    match search::find(&args, rows, Target::Memory, observer)? {
        (Some(Written::Memory(schema, rows)), told) => Ok(((schema, rows), told.into())),
        _ => Err(Failure::Other("no table was written".to_owned())),
    }
}

/// What tells this run from others.
fn words<'a>(job: &str, flags: &[String], places: impl Iterator<Item = &'a Place>) -> Vec<String> {
    let places = places.map(|place| place.name().to_string_lossy().into_owned());
    std::iter::once(job.to_owned()).chain(flags.iter().cloned()).chain(places).collect()
}

/// A collection with one item of each group kept.
pub struct Deduplicated(Found);

/// Finds the groups of a collection.
///
/// # Errors
/// When the flags make no sense or a record cannot be used, as the command has it.
pub fn dedup(
    flags: &[String],
    inputs: Vec<Place>,
    observer: &dyn Observer,
) -> Result<(Deduplicated, Account)> {
    let mut args = parse_dedup(flags)?;
    args.run.words = Some(words("dedup", flags, inputs.iter()));
    args.input.inputs = inputs;
    let found = dedup::find(&args, observer)?;
    let account = found.told().into();
    Ok((Deduplicated(found), account))
}

impl Deduplicated {
    /// For each of the first `records` records whether it is kept.
    pub fn kept(&self, records: u64) -> BooleanArray {
        (0..records).map(|record| Some(self.0.is_record_kept(record))).collect()
    }

    /// The kept records, read from their files again.
    ///
    /// # Errors
    /// When a file has changed, or records do not fit one table; when the observer stops it.
    pub fn records(&self, observer: &dyn Observer) -> Result<Table> {
        let kept = |record: u64| self.0.is_record_kept(record);
        let (input, threads) = (self.0.source.input(), self.0.settings.threads);
        Ok(write::batches(input, &kept, threads, &mut |_| go_on(observer))?)
    }

    /// A row an item: `id`, `cluster`, `kept`, `similarity`.
    ///
    /// # Errors
    /// When ids that were put aside cannot be read again.
    pub fn clusters(&self, observer: &dyn Observer) -> Result<Table> {
        match self.0.write_clusters(Target::Memory, observer)? {
            Written::Memory(schema, rows) => Ok((schema, rows)),
            Written::File(_) => Err(Failure::Other("no table was written".to_owned())),
        }
    }
}

/// An error where the observer has had enough.
pub(crate) fn go_on(observer: &dyn Observer) -> nearkin::Result<()> {
    if observer.stopped() { Err(Error::Interrupted) } else { Ok(()) }
}

/// The settings that flags of `pairs`, `top` or `dedup` stand for, and for `dedup` what is kept and whether groups may
/// hang together by chains.
///
/// # Errors
/// When the flags make no sense.
pub fn settings(job: &str, flags: &[String]) -> Result<(Settings, Keep, bool)> {
    match job {
        "dedup" => {
            let args = parse_dedup(flags)?;
            let settings = args.similarity.settings(&args.run, &args.input.fields)?;
            Ok((settings, args.keep, !args.no_chains))
        }
        _ => {
            let (args, _) = parse_search(job, flags)?;
            let settings = args.similarity.settings(&args.run, &args.input.fields)?;
            Ok((settings, Keep::First, true))
        }
    }
}

/// Whether a run with these flags finds pairs of these items by an exact search: what the command decides by itself.
///
/// # Errors
/// When the flags make no sense or a record cannot be used.
pub fn is_exact(
    job: &str,
    flags: &[String],
    inputs: Vec<Place>,
    observer: &dyn Observer,
) -> Result<bool> {
    let (settings, _, chains) = settings(job, flags)?;
    if settings.promised()? == 1.0 && settings.bands.is_none() {
        return Ok(true);
    }
    let fields = match parse(job, flags, &[PLACEHOLDER])? {
        Job::Dedup(args) => args.input.fields,
        Job::Pairs(args) => args.search.input.fields,
        Job::Top(args) => args.search.input.fields,
        _ => return Err(other_job(job)),
    };
    let source = fields.open(&inputs, None, Some(&settings))?;
    let source = Watched { source: &source, observer };
    let choice = match job == "dedup" && chains {
        true => pipeline::choose_for_groups(&source, &settings)?,
        false => pipeline::choose(&source, &settings)?,
    };
    Ok(choice.is_some_and(|choice| choice.way() == pipeline::Way::Exact))
}

/// The plan as JSON.
///
/// # Errors
/// When the flags make no sense or a record cannot be used.
pub fn plan(flags: &[String], inputs: Vec<Place>, observer: &dyn Observer) -> Result<String> {
    let mut flags = flags.to_vec();
    flags.push("--json".to_owned());
    match parse("plan", &flags, &[])? {
        Job::Plan(mut args) => {
            args.inputs = inputs;
            Ok(plan::tell(&args, observer)?)
        }
        _ => Err(other_job("plan")),
    }
}

/// Two texts compared, as text or with the flag `--json` as JSON.
///
/// # Errors
/// When the flags make no sense.
pub fn compare(flags: &[String], names: [&str; 2], texts: [&str; 2]) -> Result<String> {
    match parse("compare", flags, &names)? {
        Job::Compare(args) => Ok(compare::tell_texts(&args, texts)?),
        _ => Err(other_job("compare")),
    }
}

/// A command line taken apart: the job, and each option that was given by its long name, with its values.
#[derive(Debug)]
pub struct Parsed {
    /// The job.
    pub job: String,
    /// Options and their values; `INPUT` are those without a name.
    pub options: Vec<(String, Vec<OsString>)>,
}

/// Takes a command line apart, the first word being the job.
///
/// # Errors
/// When the command would refuse it.
pub fn take_apart(words: &[String]) -> Result<Parsed> {
    let command = Command::command();
    let words = std::iter::once("nearkin").chain(words.iter().map(String::as_str));
    let matches = command.clone().try_get_matches_from(words)?;
    let Some((job, matches)) = matches.subcommand() else {
        return Err(Failure::Usage("a job is missing; take pairs or dedup".to_owned()));
    };
    let mut options = Vec::new();
    let arguments = command.find_subcommand(job).into_iter().flat_map(|job| job.get_arguments());
    for argument in arguments {
        let id = argument.get_id().as_str();
        let given = matches.value_source(id) == Some(clap::parser::ValueSource::CommandLine);
        if !given {
            continue;
        }
        let name =
            argument.get_long().unwrap_or(if argument.is_positional() { "INPUT" } else { id });
        let takes_values = argument.get_action().takes_values();
        let raw = matches.get_raw(id).filter(|_| takes_values).into_iter().flatten();
        options.push((name.to_owned(), raw.map(ToOwned::to_owned).collect()));
    }
    Ok(Parsed { job: job.to_owned(), options })
}

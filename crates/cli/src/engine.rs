//! The command's jobs for callers that have items in memory: the same options, the same work, columns as results.

use std::path::{Path, PathBuf};

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;
use clap::FromArgMatches;
use nearkin_engine::Error;
use nearkin_engine::error::Problem;
use nearkin_engine::observe::{Clock, NoObserver, ObservedSource, Observer, Stage};
use nearkin_engine::options::{Goal, Options};
use nearkin_engine::read::Place;
use nearkin_engine::search::Search;
use nearkin_engine::settings::Strategy;
use nearkin_engine::write::{self, Formulas};

use crate::command::{Command, Job, command};
use crate::compare::{ComparisonArgs, ComparisonRequest};
use crate::dedup::{self, DedupOutputs, KeptItems, KeptTarget, RecordSource};
use crate::plan::{self, PlanRequest};
use crate::report::RunReport;
use crate::screen::Screen;
use crate::search::{self, OutputTable, SearchRequest, Target};

/// What went wrong.
#[derive(Debug)]
pub enum Failure {
    /// The command line makes no sense.
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

/// The report at the end of a run.
#[derive(Debug)]
pub struct Account {
    /// What `--stats` has, as JSON.
    pub stats: String,
    /// The first of the records that were skipped.
    pub skipped: Vec<Error>,
    /// What the user should look at.
    pub warnings: Vec<Problem>,
}

impl From<RunReport> for Account {
    /// The run is over: what it put aside to go on is removed.
    fn from(told: RunReport) -> Self {
        if let Some(job) = &told.job {
            job.finish();
        }
        Self { stats: told.stats.to_string(), skipped: told.skipped, warnings: told.warnings }
    }
}

/// The rows of `pairs`, or with [`Goal::Closest`] of `top`.
///
/// # Errors
/// When the options make no sense or a record cannot be used, as in the command.
pub fn search(
    goal: Goal,
    options: &Options,
    inputs: &[Place],
    against: &[Place],
    observer: &dyn Observer,
) -> Result<(Table, Account)> {
    let target = Target::Memory;
    let request = SearchRequest { options, goal, inputs, against, target, stats: None };
    match search::find(&request, observer)? {
        (Some(OutputTable::Memory(schema, rows)), told) => Ok(((schema, rows), told.into())),
        _ => Err(Failure::Other("no table was written".to_owned())),
    }
}

/// A collection with one item of each group kept.
pub struct DedupResult(KeptItems);

/// Finds the groups of a collection, and writes what is kept to `output`, a file or a folder, if there is one.
///
/// # Errors
/// When the options make no sense, a record cannot be used or the output cannot be written, as in the command.
pub fn dedup(
    options: &Options,
    inputs: &[Place],
    output: Option<&Path>,
    observer: &dyn Observer,
) -> Result<(DedupResult, Account)> {
    let target = output.map(KeptTarget::of).unwrap_or_default();
    let mut found = dedup::find(options, inputs, DedupOutputs::of(target), observer)?;
    if output.is_some() {
        let (clock, before) = (Clock::start(Stage::Write), found.source.traffic());
        observer.stage(Stage::Write, Some(found.source.bytes()));
        let mut advance = |bytes| {
            observer.advance(bytes);
            go_on(observer)
        };
        found.write_kept(target, Formulas::Kept, &mut advance)?.appear()?;
        let traffic = found.source.traffic() - before;
        found.result.stats.stages.push(clock.stop_with(traffic));
    }
    let account = found.report()?.into();
    found.finish_job();
    Ok((DedupResult(found), account))
}

impl DedupResult {
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
        let mut progress = |_| go_on(observer);
        match &self.0.source {
            RecordSource::Records(source) => {
                let threads = self.0.settings.threads;
                Ok(write::batches(source.input(), &kept, threads, &mut progress)?)
            }
            RecordSource::Vectors(files) => Ok(write::vector_batches(files, &kept, &mut progress)?),
        }
    }

    /// One row per item: `id`, `cluster`, `kept`, and `similarity` or `distance`.
    ///
    /// # Errors
    /// When ids that were put aside cannot be read again.
    pub fn clusters(&self, observer: &dyn Observer) -> Result<Table> {
        match self.0.write_clusters(Target::Memory, observer)? {
            OutputTable::Memory(schema, rows) => Ok((schema, rows)),
            OutputTable::File(_) => Err(Failure::Other("no table was written".to_owned())),
        }
    }
}

/// Returns an error if the observer stops the run.
pub(crate) fn go_on(observer: &dyn Observer) -> nearkin_engine::Result<()> {
    if observer.stopped() { Err(Error::Interrupted) } else { Ok(()) }
}

/// Whether a run finds pairs of these items by an exact search: what the command decides by itself.
///
/// # Errors
/// When the options make no sense or a record cannot be used.
pub fn is_exact(
    goal: Goal,
    options: &Options,
    inputs: &[Place],
    observer: &dyn Observer,
) -> Result<bool> {
    let settings = options.settings(goal)?;
    let by_bands = matches!(settings.strategy, Strategy::Bands(_));
    if settings.promised()? == 1.0 && !by_bands {
        return Ok(true);
    }
    let source = options.open(inputs, Some(&settings))?;
    let source = ObservedSource { source: &source, observer };
    let search = Search::new(&settings);
    let is_exact = options.search_elements(
        &settings,
        (&source, None),
        &NoObserver,
        |items| Ok(search.plan(items, goal)?.is_some_and(|plan| plan.is_exact())),
        |_, _| Ok(true),
    )?;
    Ok(is_exact)
}

/// The plan as JSON.
///
/// # Errors
/// When the options make no sense or a record cannot be used.
pub fn plan(options: Options, inputs: Vec<Place>, observer: &dyn Observer) -> Result<String> {
    Ok(plan::tell(&PlanRequest::as_json(options, inputs), observer)?)
}

/// What a comparison shows.
#[derive(Debug, Clone, Copy, Default)]
pub struct ComparisonView {
    /// Whether it is JSON.
    pub json: bool,
    /// Whether all passages are wanted.
    pub passages: bool,
    /// How many words in a row have to be the same for a passage.
    pub least_words: Option<u32>,
}

/// Two texts compared, as text or as JSON.
///
/// # Errors
/// When the options make no sense.
pub fn compare(
    options: &Options,
    view: ComparisonView,
    names: [&str; 2],
    texts: [&str; 2],
) -> Result<String> {
    if view.passages && options.normal_form.is_some() {
        return Err(Error::conflict("normal_form", "passages").into());
    }
    let ComparisonView { json, passages, least_words } = view;
    let view = &ComparisonArgs { json, passages, least_words, no_diff: false };
    let shingling = options.text_shingling()?;
    Ok(ComparisonRequest { names, texts, view, shingling }.tell(Screen::PAPER)?)
}

/// A command line of `pairs` or `dedup` taken apart.
#[derive(Debug)]
pub struct CommandLine {
    /// What is looked for.
    pub goal: Goal,
    /// What the options say.
    pub options: Options,
    /// The collection.
    pub inputs: Vec<Place>,
    /// The other collection.
    pub against: Vec<Place>,
    /// Where the rows or the kept records go.
    pub output: Option<PathBuf>,
    /// Where the groups go.
    pub clusters: Option<PathBuf>,
    /// Where the account of the run goes.
    pub stats: Option<PathBuf>,
}

/// Takes a command line apart, the first word being the job.
///
/// # Errors
/// When the command would refuse it, or it is another job.
pub fn command_line(words: &[String]) -> Result<CommandLine> {
    let words = std::iter::once("nearkin").chain(words.iter().map(String::as_str));
    let matches = command().try_get_matches_from(words)?;
    let flag = |(_, job): (&str, &clap::ArgMatches)| {
        job.try_get_one::<bool>("no_formulas").ok().flatten().copied()
    };
    if matches.subcommand().and_then(flag) == Some(true) {
        return Err(Failure::Usage("--no-formulas does not run on Spark; leave it out".to_owned()));
    }
    let line = match Command::from_arg_matches(&matches)?.job {
        Job::Pairs(args) => Ok(CommandLine {
            goal: Goal::Pairs,
            options: args.search.options(),
            inputs: args.search.input.places()?,
            against: args.search.against,
            output: args.search.output,
            clusters: None,
            stats: args.search.run.stats,
        }),
        Job::Dedup(args) => Ok(CommandLine {
            goal: Goal::Groups,
            options: args.options(),
            inputs: args.input.places()?,
            against: Vec::new(),
            output: args.output,
            clusters: args.clusters,
            stats: args.run.stats,
        }),
        _ => {
            let job = matches.subcommand_name().unwrap_or_default();
            Err(Failure::Usage(format!("`{job}` does not run on Spark; pairs and dedup do")))
        }
    }?;
    let Options { include, exclude, no_ignore, encoding, .. } = &line.options;
    let given = [
        ("--include", include.is_some()),
        ("--exclude", exclude.is_some()),
        ("--no-ignore", *no_ignore),
        ("--encoding", encoding.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => {
            Err(Failure::Usage(format!("{flag} does not run on Spark; leave it out")))
        }
        None => Ok(line),
    }
}

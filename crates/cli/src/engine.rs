//! The command's jobs for callers that have items in memory: the same options, the same work, columns as results.

use std::path::{Path, PathBuf};

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;
use clap::FromArgMatches;
use nearkin_engine::Error;
use nearkin_engine::error::Problem;
use nearkin_engine::observe::{Clock, NoObserver, ObservedSource, Observer, Stage};
use nearkin_engine::options::{Goal, Keyword, Options, TrimOptions};
use nearkin_engine::read::Place;
use nearkin_engine::search::Search;
use nearkin_engine::settings::Strategy;
use nearkin_engine::textbook::show::{ShowOptions, Step};
use nearkin_engine::write::{self, CompleteOutput, Formulas};

use crate::command::{Command, Job, command};
use crate::compare::{self, ComparisonArgs, ComparisonRequest, Expected, ItemPlaces};
use crate::dedup::{self, DedupOutputs, KeptItems, KeptTarget, RecordSource};
use crate::output::in_memory;
use crate::overlap::{FoundOverlaps, OverlapRequest};
use crate::plan::{self, PlanRequest};
use crate::report::RunReport;
use crate::screen::Screen;
use crate::search::{self, OutputTable, SearchRequest, Target};
use crate::show::{self, NamedItems, Typed};
use crate::trim::{self, TrimRequest, Trimmed};

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

/// Where `dedup` writes.
#[derive(Debug, Clone, Copy, Default)]
pub struct DedupTargets<'a> {
    /// What is kept: a file or a folder.
    pub output: Option<&'a Path>,
    /// What was removed and why.
    pub removed: Option<&'a Path>,
    /// The fields of removed records in that table.
    pub removed_fields: &'a [String],
}

/// Finds the groups of a collection, which may grow another one, and writes what was asked for.
///
/// # Errors
/// When the options make no sense, a record cannot be used or the output cannot be written, as in the command.
pub fn dedup(
    options: &Options,
    inputs: &[Place],
    against: &[Place],
    targets: DedupTargets<'_>,
    observer: &dyn Observer,
) -> Result<(DedupResult, Account)> {
    let DedupTargets { output, removed, removed_fields } = targets;
    let target = output.map(KeptTarget::of).unwrap_or_default();
    let outputs = DedupOutputs::of(target, removed);
    let mut found = dedup::find(options, (inputs, against), outputs, observer)?;
    let mut ready = Vec::new();
    if removed.is_some() {
        let target = Target::File(removed, Formulas::Kept);
        if let OutputTable::File(table) = found.write_removed(target, removed_fields, observer)? {
            ready.push(table);
        }
    }
    if output.is_some() {
        let (clock, before) = (Clock::start(Stage::Write), found.source.traffic());
        observer.stage(Stage::Write, Some(found.source.bytes()));
        let mut advance = |bytes| {
            observer.advance(bytes);
            go_on(observer)
        };
        ready.push(found.write_kept(target, Formulas::Kept, &mut advance)?);
        let traffic = found.source.traffic() - before;
        found.result.stats.stages.push(clock.stop_with(traffic));
    }
    ready.into_iter().try_for_each(CompleteOutput::appear)?;
    let account = found.report()?.into();
    found.finish_job();
    Ok((DedupResult(found), account))
}

/// A collection without the pieces that are repeated.
pub struct TrimResult(Trimmed);

/// Finds what is repeated in a collection. Writes what is left to `output`, a file or a folder, if there is one, and what is
/// removed to `removed`; else that is kept in memory.
///
/// # Errors
/// When the options make no sense, a record cannot be used or an output cannot be written, as in the command.
pub fn trim(
    options: &Options,
    trim: &TrimOptions,
    inputs: &[Place],
    (output, removed): (Option<&Path>, Option<&Path>),
    observer: &dyn Observer,
) -> Result<(TrimResult, Account)> {
    let kept = output.map(KeptTarget::of).unwrap_or_default();
    let rows = match removed {
        Some(path) => Target::File(Some(path), Formulas::Kept),
        None => Target::Memory,
    };
    let request = TrimRequest { options, trim, inputs, kept, removed: Some(rows), stats: None };
    let mut found = trim::find(&request, observer)?;
    let documents = match output {
        Some(_) => Some(found.write(kept, Formulas::Kept, observer)?),
        None => None,
    };
    found.removed = match found.removed.take() {
        Some(OutputTable::File(rows)) => {
            rows.appear()?;
            None
        }
        rows => rows,
    };
    documents.map_or(Ok(()), write::CompleteOutput::appear)?;
    let account = found.report().into();
    found.finish_job();
    Ok((TrimResult(found), account))
}

impl TrimResult {
    /// For each of the first `records` records whether it is kept.
    pub fn kept(&self, records: u64) -> BooleanArray {
        (0..records).map(|record| Some(self.0.is_kept(record))).collect()
    }

    /// The documents that are left, read from their files again.
    ///
    /// # Errors
    /// When a file has changed, or records do not fit one table; when the observer stops it.
    pub fn records(&self, observer: &dyn Observer) -> Result<Table> {
        Ok(self.0.batches(observer)?)
    }

    /// One row per stretch that was removed; none where these were written to a file.
    pub fn removed(&self) -> Option<Table> {
        match &self.0.removed {
            Some(OutputTable::Memory(schema, rows)) => Some((schema.clone(), rows.clone())),
            _ => None,
        }
    }
}

impl DedupResult {
    /// How many records the collection has, skipped ones included.
    pub fn count(&self) -> u64 {
        let collection = &self.0.result.collection;
        u64::from(collection.records() - collection.old_records())
    }

    /// One row per removed item, with these fields of its record.
    ///
    /// # Errors
    /// When a file has changed, or no record has a field.
    pub fn removed(&self, fields: &[String], observer: &dyn Observer) -> Result<Table> {
        match self.0.write_removed(Target::Memory, fields, observer)? {
            OutputTable::Memory(schema, rows) => Ok((schema, rows)),
            OutputTable::File(_) => Err(Failure::Other("no table was written".to_owned())),
        }
    }

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
        match self.0.write_clusters(Target::Memory, 1, observer)? {
            OutputTable::Memory(schema, rows) => Ok((schema, rows)),
            OutputTable::File(_) => Err(Failure::Other("no table was written".to_owned())),
        }
    }
}

/// Training documents with what they share with test items.
pub struct OverlapResult(FoundOverlaps);

/// Finds the documents of `inputs` that contain stretches of the items of `against`, and writes the others to `output`, a file
/// or a folder, if there is one; or, if they are to be cut, all of them without these stretches.
///
/// # Errors
/// When the options make no sense, a record cannot be used or the output cannot be written, as in the command.
pub fn overlap(
    options: &Options,
    inputs: &[Place],
    against: &[Place],
    output: Option<&Path>,
    cut: bool,
    observer: &dyn Observer,
) -> Result<(OverlapResult, Account)> {
    let kept = output.map(KeptTarget::of).unwrap_or_default();
    let request =
        OverlapRequest { options, inputs, against, kept, cut, tables: [None, None], stats: None };
    let mut found = request.find(observer)?;
    if output.is_some() {
        let (clock, before) = (Clock::start(Stage::Write), found.source.traffic());
        observer.stage(Stage::Write, Some(found.source.bytes()));
        found.write_kept(kept, Formulas::Kept, observer)?.appear()?;
        let traffic = found.source.traffic() - before;
        found.stages.push(clock.stop_with(traffic));
    }
    let account = found.report().into();
    Ok((OverlapResult(found), account))
}

impl OverlapResult {
    /// For each of the first `records` records whether it is kept.
    pub fn kept(&self, records: u64) -> BooleanArray {
        (0..records).map(|record| Some(self.0.is_kept(record))).collect()
    }

    /// The records that are kept, read from their files again.
    ///
    /// # Errors
    /// When a file has changed, or records do not fit one table; when the observer stops it.
    pub fn records(&self, observer: &dyn Observer) -> Result<Table> {
        let kept = |record: u64| self.0.is_kept(record);
        let mut progress = |_| go_on(observer);
        let (threads, records) = (self.0.settings.threads, self.0.records(&kept));
        Ok(write::batches(self.0.input().input(), records, threads, &mut progress)?)
    }

    /// One row per stretch that stands in a document and in a test item.
    ///
    /// # Errors
    /// When what was put aside cannot be read again, or the observer stops it.
    pub fn pairs(&self, observer: &dyn Observer) -> Result<Table> {
        Ok(self.0.write_pairs(in_memory, observer)?.batches()?)
    }

    /// One row per document that overlaps.
    ///
    /// # Errors
    /// As of [`pairs`](Self::pairs).
    pub fn removed(&self, observer: &dyn Observer) -> Result<Table> {
        Ok(self.0.write_removed(in_memory, observer)?.batches()?)
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
#[derive(Debug, Clone, Default)]
pub struct ComparisonView {
    /// Whether it is JSON.
    pub json: bool,
    /// Whether all passages are wanted.
    pub passages: bool,
    /// How many words in a row have to be the same for a passage.
    pub least_words: Option<u32>,
    /// Elements of the universe of which two random sets are; 0 for those of the collection.
    pub expected: Option<u64>,
    /// The fields of records that are compared.
    pub fields: Option<Vec<String>>,
}

impl From<ComparisonView> for ComparisonArgs {
    fn from(view: ComparisonView) -> Self {
        let ComparisonView { json, passages, least_words, expected, fields } = view;
        let expected = expected.map(|universe| match universe {
            0 => Expected::OfCollection,
            universe => Expected::Of(universe),
        });
        Self { json, passages, least_words, expected, fields, no_diff: false }
    }
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
    let view = &ComparisonArgs::from(view);
    let shingling = options.text_shingling()?;
    let universe = compare::known_universe(view)?;
    Ok(ComparisonRequest { names, texts, view, shingling, universe }.tell(Screen::PAPER)?)
}

/// Two items of a collection compared, as text or as JSON; messages call them `names`.
///
/// # Errors
/// When the options make no sense, or there are no such items.
pub fn compare_items(
    options: &Options,
    view: ComparisonView,
    names: [&str; 2],
    ids: [&str; 2],
    inputs: &[Place],
) -> Result<String> {
    let view = &ComparisonArgs::from(view);
    let places = ItemPlaces { ids, inputs };
    Ok(compare::tell_items(options, view, names, places, Screen::PAPER)?)
}

/// What a step of `show` shows, in every form.
#[derive(Debug)]
pub struct ShownForms {
    /// For programs.
    pub json: String,
    /// For people.
    pub text: String,
    /// For LaTeX.
    pub latex: String,
    /// For notebooks.
    pub html: String,
}

/// Items for a step of `show`.
#[derive(Debug, Default)]
pub struct ShowItems {
    /// Names and contents as JSON: `[["S1", "a,d"], [null, ["b", "d"]]]`.
    pub typed: String,
    /// The collection to take items from instead.
    pub collection: Vec<Place>,
    /// Their ids; none for the first items.
    pub ids: Vec<String>,
    /// How many of the first.
    pub first: usize,
}

/// What a few items become in a step of `show`, whose own options are JSON.
///
/// # Errors
/// When the options make no sense, or the items do not go with the step.
pub fn show(
    step: &str,
    options: &Options,
    own: &str,
    items: &ShowItems,
    most: usize,
) -> Result<ShownForms> {
    let json = |error: serde_json::Error| Failure::Other(error.to_string());
    let step = Step::of_word(step)
        .ok_or_else(|| Error::parameter("step", step, format!("one of {}", Step::words())))?;
    let own: ShowOptions = serde_json::from_str(own).map_err(json)?;
    let ShowItems { typed, collection, ids, first } = items;
    let typed = Typed::Named(serde_json::from_str(typed).map_err(json)?);
    let items = NamedItems { typed, collection, ids, first: *first };
    let shown = show::shown(step, options, &own, items)?;
    Ok(ShownForms {
        json: serde_json::to_string(&shown).map_err(json)?,
        text: shown.as_text(most),
        latex: shown.as_latex(most),
        html: shown.as_html(most),
    })
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
        Job::Dedup(args) if args.removed.is_some() || args.clusters_from.is_some() => {
            let what = "--removed and --clusters-from do not run on Spark; leave them out";
            Err(Failure::Usage(what.to_owned()))
        }
        Job::Dedup(args) => Ok(CommandLine {
            goal: Goal::Groups,
            options: args.options(),
            inputs: args.input.places()?,
            against: args.against,
            output: args.output,
            clusters: args.clusters,
            stats: args.run.stats,
        }),
        _ => {
            let job = matches.subcommand_name().unwrap_or_default();
            Err(Failure::Usage(format!("`{job}` does not run on Spark; pairs and dedup do")))
        }
    }?;
    let Options { include, exclude, no_ignore, encoding, at_most, at_least, .. } = &line.options;
    let given = [
        ("--at-most", at_most.is_some()),
        ("--at-least", at_least.is_some()),
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

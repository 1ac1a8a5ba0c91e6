//! What `pairs` and `top` have in common: find what is similar, and write rows of two items each.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use clap::Args;
use nearkin_engine::amplify::Expression;
use nearkin_engine::error::Problem;
use nearkin_engine::matches::{self, Ids, Matches};
use nearkin_engine::observe::{Clock, Observer, Stage};
use nearkin_engine::options::{Goal, Options, RunFiles};
use nearkin_engine::read::{AnyInput, Place};
use nearkin_engine::search::{Job, Search};
use nearkin_engine::settings::Settings;
use nearkin_engine::space::Form;
use nearkin_engine::write::{
    self, Cell, Column, ColumnKind, CompleteOutput, Formulas, Resources, RowFormat, TableWriter,
    Turns,
};
use nearkin_engine::{Error, with_threads};

use crate::args::{
    AgainstArgs, Fill, InputArgs, RunArgs, ShingleArgs, SimilarityArgs, WayArgs, check_folders,
    check_outputs, number, options_of, parsed, place_parser,
};
use crate::output::to_file;
use crate::progress::Progress;
use crate::report::{self, RunReport, Subject};

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Compare the items of INPUT with these, not with each other; repeat for several
    #[arg(long, value_name = "OTHER", num_args = 1, value_parser = place_parser(), help_heading = "Input")]
    pub(crate) against: Vec<Place>,
    #[command(flatten)]
    fields: AgainstArgs,
    #[command(flatten)]
    similarity: SimilarityArgs,
    #[command(flatten)]
    bound: BoundArgs,
    #[command(flatten)]
    shingle: ShingleArgs,
    #[command(flatten)]
    way: WayArgs,
    #[command(flatten)]
    tables: TablesArgs,
    /// Write the rows here [default: JSON lines on standard output]
    ///
    /// Formats: .jsonl .csv .tsv .parquet, also .gz .zst.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// How close the pairs that are handed out may be.
#[derive(Debug, Args)]
#[command(next_help_heading = "Similarity")]
struct BoundArgs {
    /// Largest similarity of a pair, such as 0.95 to leave out copies and near-copies
    ///
    /// Closer pairs are found and left out, so --recall and the audit speak of all pairs from --threshold on.
    #[arg(long, value_name = "SIMILARITY", value_parser = number, allow_negative_numbers = true)]
    at_most: Option<f64>,
    /// Smallest distance of a pair, with --within
    #[arg(long, value_name = "DISTANCE", value_parser = number, allow_negative_numbers = true)]
    at_least: Option<f64>,
}

impl Fill for BoundArgs {
    fn fill(&self, options: &mut Options) {
        options.at_most = self.at_most;
        options.at_least = self.at_least;
    }
}

/// Tables to search by.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
struct TablesArgs {
    /// Search in memory by this expression of ANDs and ORs, such as 'or(20, and(5, minhash))'
    ///
    /// Functions: minhash for texts, sets and bags, and squares or squares(N), which says yes if an item has all of N random
    /// elements; hyperplane for cosine, and for vectors signs; line or line(WIDTH) for l2 and l1; bits for hamming;
    /// equal(FIELD) for items that are records.
    #[arg(long, value_name = "EXPR", value_parser = parsed::<Expression>)]
    and_or: Option<Expression>,
    /// Compare nothing: report how many of K minhashes of two items agree, as an estimate [default for K: 256]
    ///
    /// All pairs are reported whose estimate reaches the threshold. The column is called estimate. The standard error of an
    /// estimate is √(s(1 − s)/K), 0.03 or less for 256. For texts, sets and bags by jaccard or bag.
    #[arg(long, value_name = "K", num_args = 0..=1, require_equals = true, default_missing_value = "256", value_parser = clap::value_parser!(u32).range(1..))]
    estimate: Option<u32>,
    /// Buckets to look into in each table
    ///
    /// For --and-or 'or(B, and(R, function))', or --bands with --rows.
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..))]
    probes: Option<u16>,
}

impl Fill for TablesArgs {
    fn fill(&self, options: &mut Options) {
        options.and_or.clone_from(&self.and_or);
        options.estimate = self.estimate.map(|functions| functions as usize);
        options.probes = self.probes.map(usize::from);
    }
}

impl SearchArgs {
    /// What these arguments say.
    pub(crate) fn options(&self) -> Options {
        options_of(&[
            &self.input,
            &self.fields,
            &self.similarity,
            &self.bound,
            &self.shingle,
            &self.way,
            &self.tables,
            &self.run,
        ])
    }
}

/// A search, the collections it is of, and where its rows go.
pub(crate) struct SearchRequest<'a> {
    pub(crate) options: &'a Options,
    pub(crate) goal: Goal,
    pub(crate) inputs: &'a [Place],
    pub(crate) against: &'a [Place],
    pub(crate) target: Target<'a>,
    pub(crate) stats: Option<&'a Path>,
}

impl SearchRequest<'_> {
    /// Which rows are written.
    pub(crate) fn rows(&self) -> nearkin_engine::Result<Rows> {
        Ok(match self.goal {
            Goal::Closest => Rows::Closest(self.options.closest()?),
            Goal::Pairs | Goal::Groups => Rows::Pairs,
        })
    }

    /// Refuses outputs that cannot be written.
    pub(crate) fn check_outputs(&self) -> nearkin_engine::Result<()> {
        if matches!(self.target, Target::File(None, _)) {
            write::check_stdout()?;
        }
        let inputs: Vec<&Place> = self.inputs.iter().chain(self.against).collect();
        check_outputs(&[self.target.path()], &[self.stats], &inputs)?;
        check_folders(self.inputs, self.against, &[self.target.path(), self.stats])
    }

    /// The job to which the search belongs, if it can be taken up again.
    fn job(&self, settings: &Settings) -> nearkin_engine::Result<Option<Job>> {
        let Self { options, goal, inputs, against, target, stats } = *self;
        let files = RunFiles { inputs, against, outputs: &[target.path(), stats] };
        options.job(goal, files, settings)
    }
}

/// Which rows are written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rows {
    /// Every similar pair, once.
    Pairs,
    /// Each item with this many of its most similar items.
    Closest(usize),
}

impl Rows {
    fn each(
        self,
        rows: &matches::Rows<'_>,
        items: Range<u32>,
        row: impl FnMut(u32, u32, f64) -> nearkin_engine::Result<()>,
    ) -> nearkin_engine::Result<u64> {
        match self {
            Self::Pairs => rows.pairs(items, row),
            Self::Closest(k) => rows.closest(k, items, row),
        }
    }
}

/// Where a table goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target<'a> {
    /// Into a file, or to standard output.
    File(Option<&'a Path>, Formulas),
    /// Nowhere: it is handed back.
    Memory,
}

/// A table that is written.
pub(crate) enum OutputTable {
    File(CompleteOutput),
    Memory(SchemaRef, Vec<RecordBatch>),
}

impl<'a> Target<'a> {
    /// The file, if it goes into one.
    pub(crate) fn path(self) -> Option<&'a Path> {
        match self {
            Self::File(path, _) => path,
            Self::Memory => None,
        }
    }

    pub(crate) fn create(self, columns: &[Column<'_>]) -> nearkin_engine::Result<TableWriter> {
        match self {
            Self::File(path, formulas) => to_file(path, formulas)(columns),
            Self::Memory => Ok(TableWriter::in_memory(columns)),
        }
    }

    pub(crate) fn finish(self, table: TableWriter) -> nearkin_engine::Result<OutputTable> {
        match self {
            Self::File(..) => table.ready().map(OutputTable::File),
            Self::Memory => table.batches().map(|(schema, rows)| OutputTable::Memory(schema, rows)),
        }
    }
}

/// The result of a search: its table, unless the reader closed it, and its report.
pub(crate) type Outcome = (Option<OutputTable>, RunReport);

pub(crate) fn run(args: &SearchArgs, options: &Options, goal: Goal) -> anyhow::Result<()> {
    let progress = Progress::start(args.run.quiet)?;
    let inputs = args.input.places()?;
    let request = SearchRequest {
        options,
        goal,
        inputs: &inputs,
        against: &args.against,
        target: Target::File(args.output.as_deref(), args.run.formulas()),
        stats: args.run.stats.as_deref(),
    };
    let (written, told) = find(&request, &progress)?;
    progress.finish();
    let ready = written.into_iter().filter_map(|written| match written {
        OutputTable::File(ready) => Some(ready),
        OutputTable::Memory(..) => None,
    });
    told.finish(&args.run, ready.collect())
}

/// Finds what is similar, and writes it.
pub(crate) fn find(
    request: &SearchRequest<'_>,
    observer: &dyn Observer,
) -> anyhow::Result<Outcome> {
    let SearchRequest { options, goal, inputs, against, target, .. } = *request;
    if [inputs, against].iter().all(|places| places.iter().any(Place::is_stdin)) {
        let must = "on one: standard input is read once";
        return Err(Error::parameter("-", "on both sides", must).into());
    }
    options.check_against(against)?;
    let settings = options.settings(goal)?;
    let (mut similar, job, warnings) = match options.is_in_memory() {
        true => matches_in_memory(request, &settings, observer)?,
        false => scanned_matches(request, &settings, observer)?,
    };
    observer.stage(Stage::Write, None);
    let clock = Clock::start(Stage::Write);
    let value = match (options.estimate, similar.form()) {
        (Some(_), _) => "estimate",
        (None, Form::Similarity) => "similarity",
        (None, Form::Distance) => "distance",
    };
    let rows = (request.rows()?, value);
    let written = write_rows(&similar, rows, (&settings).into(), target, observer);
    let written = report::unless_closed(written)?;
    similar.stats.stages.push(clock.stop(0));
    let (count, written) = written.unzip();
    similar.stats.pairs = count;
    let subject = Subject::new(options, goal, &settings)?;
    let report = RunReport::of(&similar.stats, &similar.collection, &subject);
    Ok((written, report.warning_first(warnings).of_job(job)))
}

/// What was found, the job to which the search belongs, and what the user should look at.
type Found = (Matches, Option<Job>, Vec<Problem>);

/// Searches texts, sets or bags.
fn scanned_matches(
    request: &SearchRequest<'_>,
    settings: &Settings,
    observer: &dyn Observer,
) -> anyhow::Result<Found> {
    let SearchRequest { options, inputs, against, .. } = *request;
    let source = options.open(inputs, Some(settings))?;
    let other =
        (!against.is_empty()).then(|| options.open_against(against, Some(settings))).transpose()?;
    request.check_outputs()?;
    let job = request.job(settings)?;
    let search = Search::new(settings).observed(observer).resuming(job.as_ref());
    let matches = options.search_elements(
        settings,
        (&source, other.as_ref()),
        observer,
        |items| search.pairs(items),
        |bags, loaded| {
            let mut matches = search.pairs(bags)?;
            matches.stats.stages.insert(0, loaded);
            Ok(matches)
        },
    );
    let matches = matches.map_err(|error| report::stopped(error, job.as_ref()))?;
    let warnings = [Some(&source), other.as_ref()].into_iter().flatten();
    Ok((matches, job, warnings.flat_map(AnyInput::warnings).collect()))
}

/// Searches items that are held in memory.
fn matches_in_memory(
    request: &SearchRequest<'_>,
    settings: &Settings,
    observer: &dyn Observer,
) -> anyhow::Result<Found> {
    let SearchRequest { options, goal, inputs, against, .. } = *request;
    request.check_outputs()?;
    let job = request.job(settings)?;
    observer.stage(Stage::Load, None);
    let clock = Clock::start(Stage::Load);
    let items = with_threads(options.threads, || options.load(goal, inputs, against))?;
    let loaded = clock.stop(0);
    let search = Search::new(settings).observed(observer).resuming(job.as_ref());
    let matches = match request.rows()? {
        Rows::Pairs => search.pairs(items),
        Rows::Closest(k) => search.closest(items, k),
    };
    let mut matches = matches.map_err(|error| report::stopped(error, job.as_ref()))?;
    matches.stats.stages.insert(0, loaded);
    Ok((matches, job, Vec::new()))
}

/// The columns of a table of pairs: whether the ids of each side are whole numbers, and what the value is called.
pub(crate) fn columns(numbers: [bool; 2], value: &str) -> [Column<'_>; 3] {
    let [a, b] = numbers.map(|numbers| if numbers { ColumnKind::IntId } else { ColumnKind::Id });
    let column = |name, kind| Column { name, kind };
    [column("a", a), column("b", b), column(value, ColumnKind::Float)]
}

/// Writes the rows, and says how many.
fn write_rows(
    similar: &Matches,
    (rows, value): (Rows, &str),
    resources: Resources,
    target: Target<'_>,
    observer: &dyn Observer,
) -> nearkin_engine::Result<(u64, OutputTable)> {
    let collection = &similar.collection;
    let (right, start) = collection.split().map_or((0, 0), |split| (1, split));
    let numbers = [0, right].map(|input| collection.ids_are_numbers(input));
    let columns = columns(numbers, value);
    let mut table = target.create(&columns)?.with_resources(resources);
    let threads = resources.threads;
    let rows = PairRows { kind: rows, matches: similar, found: similar.rows(), start, observer };
    let count = match table.row_format().filter(|_| rows.found.are_short()) {
        Some(format) => rows.write_formatted(threads, &format, &mut table)?,
        None => {
            let items = rows.found.items();
            rows.each(items, &mut rows.ids(threads), &mut |cells| table.row(cells))?
        }
    };
    Ok((count, target.finish(table)?))
}

/// The rows of a table of pairs, with their ids.
struct PairRows<'a> {
    kind: Rows,
    matches: &'a Matches,
    found: matches::Rows<'a>,
    /// Where the second collection starts.
    start: u32,
    observer: &'a dyn Observer,
}

impl<'a> PairRows<'a> {
    /// The ids of the first items of rows, and those of the second.
    fn ids(&self, threads: usize) -> (Ids<'a>, Ids<'a>) {
        let collection = &self.matches.collection;
        (collection.ids_for(threads), collection.ids_for(threads))
    }

    /// Hands the rows of some items to `row`, and says how many.
    fn each(
        &self,
        items: Range<u32>,
        (ids, other_ids): &mut (Ids<'_>, Ids<'_>),
        row: &mut dyn FnMut(&[Cell]) -> nearkin_engine::Result<()>,
    ) -> nearkin_engine::Result<u64> {
        let mut first = None; // the rows of one item follow each other
        self.kind.each(&self.found, items, |a, b, value| {
            if self.observer.stopped() {
                return Err(Error::Interrupted);
            }
            let (_, a) = match first.take() {
                Some(known @ (position, _)) if position == a => first.insert(known),
                _ => first.insert((a, ids.get(a)?)),
            };
            let b = other_ids.find(b + self.start)?;
            row(&[Cell::from(&*a), Cell::Id(b), Cell::Float(value)])
        })
    }

    /// Writes all rows, which several threads format, and says how many.
    fn write_formatted(
        &self,
        threads: usize,
        format: &RowFormat,
        table: &mut TableWriter,
    ) -> nearkin_engine::Result<u64> {
        /// Bytes of a portion's rows, as a rule.
        const PORTION: usize = 1 << 18;
        // What a thread has at hand of ids that are on disk serves the next portion too.
        let free = Mutex::new(Vec::new());
        let lock = || free.lock().unwrap_or_else(PoisonError::into_inner);
        let turns = table.turns();
        let mut count = 0;
        self.found.in_order(
            threads,
            |items| {
                let _turn = turns.as_ref().map(Turns::wait);
                let mut own = lock().pop().unwrap_or_else(|| self.ids(threads));
                let mut bytes = Vec::with_capacity(PORTION);
                let count = self.each(items, &mut own, &mut |cells| {
                    format.row(cells, &mut bytes);
                    Ok(())
                })?;
                lock().push(own);
                Ok((count, bytes))
            },
            |(some, bytes)| {
                count += some;
                table.formatted(&bytes)
            },
        )?;
        Ok(count)
    }
}

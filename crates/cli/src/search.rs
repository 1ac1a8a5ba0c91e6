//! What `pairs` and `top` have in common: find what is similar, and write rows of two items each.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use clap::Args;
use nearkin::Error;
use nearkin::amplify::Expression;
use nearkin::pipeline::{self, Clock, Ids, Observer, Similar, Stage};
use nearkin::read::Place;
use nearkin::verify::Measure;
use nearkin::write::{Cell, Column, ColumnKind, Ready, TableWriter};

use crate::args::{InputArgs, RunArgs, SimilarityArgs, job, place_parser};
use crate::near;
use crate::progress::Progress;
use crate::report::{self, Told};

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Pair the items of INPUT with the items of these instead of among themselves; repeat for several
    #[arg(long, value_name = "OTHER", num_args = 1, value_parser = place_parser(), help_heading = "Input")]
    pub(crate) against: Vec<Place>,
    #[command(flatten)]
    pub(crate) similarity: SimilarityArgs,
    /// Find pairs in memory by the tables of this expression of ANDs and ORs, such as 'or(20, and(5, minhash))',
    /// with hyperplane or signs for cosine, line or line(WIDTH) for l2 and l1, bits for hamming
    #[arg(long, value_name = "EXPR", conflicts_with_all = ["recall", "bands", "exact"], help_heading = "Similarity")]
    pub(crate) and_or: Option<Expression>,
    /// Look into so many buckets of each table of --and-or 'or(B, and(R, function))' or of --bands and --rows
    #[arg(long, value_name = "T", conflicts_with_all = ["recall", "exact"], value_parser = clap::value_parser!(u16).range(1..), help_heading = "Similarity")]
    pub(crate) probes: Option<u16>,
    /// Write pairs here: .jsonl, .csv, .tsv or .parquet, also .gz .zst [default: JSON lines on standard
    /// output]
    #[arg(short, long, value_name = "FILE", help_heading = "Run")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Which rows are written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rows {
    /// Every similar pair, once.
    Pairs,
    /// Each item with so many of those most similar to it.
    Closest(usize),
}

impl Rows {
    fn each(
        self,
        rows: &pipeline::Rows<'_>,
        items: Range<u32>,
        row: impl FnMut(u32, u32, f64) -> nearkin::Result<()>,
    ) -> nearkin::Result<u64> {
        match self {
            Self::Pairs => rows.pairs(items, row),
            Self::Closest(k) => rows.closest(k, items, row),
        }
    }
}

/// The threshold of `top` for texts, sets and bags: the lower it is, the more has to be compared.
const TOP: f64 = 0.3;

/// Where a table goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target<'a> {
    /// Into a file, or to standard output.
    File(Option<&'a Path>),
    /// Nowhere: it is handed back.
    Memory,
}

/// A table that is written.
pub(crate) enum Written {
    File(Ready),
    Memory(SchemaRef, Vec<RecordBatch>),
}

impl Target<'_> {
    pub(crate) fn create(self, columns: &[Column<'_>]) -> nearkin::Result<TableWriter> {
        match self {
            Self::File(path) => TableWriter::create(path, None, columns),
            Self::Memory => Ok(TableWriter::in_memory(columns)),
        }
    }

    pub(crate) fn finish(self, table: TableWriter) -> nearkin::Result<Written> {
        match self {
            Self::File(_) => table.ready().map(Written::File),
            Self::Memory => table.batches().map(|(schema, rows)| Written::Memory(schema, rows)),
        }
    }
}

/// What a search leaves: its table, unless whoever read it has had enough, and what there is to tell.
pub(crate) type Outcome = (Option<Written>, Told);

pub(crate) fn run(args: &SearchArgs, rows: Rows) -> anyhow::Result<()> {
    let progress = Progress::start(args.run.quiet)?;
    let (written, told) = find(args, rows, Target::File(args.output.as_deref()), &progress)?;
    progress.finish();
    let ready = written.into_iter().filter_map(|written| match written {
        Written::File(ready) => Some(ready),
        Written::Memory(..) => None,
    });
    told.finish(&args.run, ready.collect())
}

/// Finds what is similar, and writes it.
pub(crate) fn find(
    args: &SearchArgs,
    rows: Rows,
    target: Target<'_>,
    observer: &dyn Observer,
) -> anyhow::Result<Outcome> {
    let fields = &args.input.fields;
    if [&args.input.inputs, &args.against].iter().all(|places| places.iter().any(Place::is_stdin)) {
        return Err(
            Error::parameter("-", "on both sides", "on one: standard input is read once").into()
        );
    }
    if near::is_held(fields, &args.similarity, args.and_or.as_ref()) {
        return near::find(args, rows, target, observer);
    }
    if args.probes.is_some() {
        let must = "left out for texts, sets and bags, which are found by bands of minhashes";
        return Err(Error::parameter("--probes", "given", must).into());
    }
    let mut settings = args.similarity.settings(&args.run, fields)?;
    if matches!(rows, Rows::Closest(_)) && args.similarity.threshold.is_none() {
        settings.threshold = if settings.measure == Measure::BagSum { 0.23 } else { TOP };
    }
    let source = fields.open(&args.input.inputs, None, Some(&settings))?;
    let against = (!args.against.is_empty())
        .then(|| fields.open(&args.against, None, Some(&settings)))
        .transpose()?;
    let inputs: Vec<&Place> = args.input.inputs.iter().chain(&args.against).collect();
    args.run.check(&[args.output.as_deref()], &inputs)?;
    let sources: Vec<_> = std::iter::once(&source).chain(&against).collect();
    let (words, temp) = (args.run.words.as_deref(), fields.table.temp.as_deref());
    settings.job = job(words, temp, &sources, &args.similarity.shingle, &settings)?;
    let mut similar = pipeline::pairs(&source, against.as_ref(), &settings, observer)
        .map_err(|error| report::stopped(error, &settings))?;
    observer.stage(Stage::Write, None);
    let clock = Clock::start(Stage::Write);
    let written = report::unless_closed(write_rows(
        &similar,
        rows,
        args,
        settings.threads,
        target,
        observer,
    ))?;
    similar.stats.stages.push(clock.stop(0));
    let (count, written) = written.unzip();
    similar.stats.pairs = count;
    Ok((written, Told::of(&similar.stats, &similar.collection, &settings)))
}

/// The columns of a table of pairs: whether the ids of each side are whole numbers, and what the value is called.
pub(crate) fn columns(numbers: [bool; 2], value: &str) -> [Column<'_>; 3] {
    let [a, b] = numbers.map(|numbers| if numbers { ColumnKind::IntId } else { ColumnKind::Id });
    let column = |name, kind| Column { name, kind };
    [column("a", a), column("b", b), column(value, ColumnKind::Float)]
}

/// Writes the rows, and says how many.
fn write_rows(
    similar: &Similar,
    rows: Rows,
    args: &SearchArgs,
    threads: usize,
    target: Target<'_>,
    observer: &dyn Observer,
) -> nearkin::Result<(u64, Written)> {
    let collection = &similar.collection;
    let (right, start) = collection.split().map_or((0, 0), |split| (1, split));
    let as_distance = args.similarity.within.is_some();
    let numbers = [0, right].map(|input| collection.ids_are_numbers(input));
    let columns = columns(numbers, if as_distance { "distance" } else { "similarity" });
    let mut table = target.create(&columns)?;
    let found = similar.rows();
    // Hands the rows of some items to `row`.
    let each = |items: Range<u32>,
                (ids, other_ids): &mut (Ids<'_>, Ids<'_>),
                row: &mut dyn FnMut(&[Cell]) -> nearkin::Result<()>| {
        let mut first = None; // the rows of one item follow each other
        rows.each(&found, items, |a, b, value| {
            if observer.stopped() {
                return Err(Error::Interrupted);
            }
            let (_, a) = match first.take() {
                Some(known @ (position, _)) if position == a => first.insert(known),
                _ => first.insert((a, ids.get(a)?)),
            };
            let b = other_ids.find(b + start)?;
            row(&[Cell::from(&*a), Cell::Id(b), Cell::Float(value)])
        })
    };
    let ids = || (collection.ids_for(threads), collection.ids_for(threads));
    let Some(format) = table.row_format().filter(|_| found.are_short()) else {
        let count = each(found.items(), &mut ids(), &mut |cells| table.row(cells))?;
        return Ok((count, target.finish(table)?));
    };
    /// Bytes of a portion's rows, as a rule.
    const PORTION: usize = 1 << 18;
    // What a thread has at hand of ids that are on disk serves the next portion too.
    let free = Mutex::new(Vec::new());
    let lock = || free.lock().unwrap_or_else(PoisonError::into_inner);
    let mut count = 0;
    found.in_order(
        threads,
        |items| {
            let mut own = lock().pop().unwrap_or_else(ids);
            let mut bytes = Vec::with_capacity(PORTION);
            let count = each(items, &mut own, &mut |cells| {
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
    Ok((count, target.finish(table)?))
}

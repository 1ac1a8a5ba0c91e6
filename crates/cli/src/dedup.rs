//! `nearkin dedup`: one item of each group kept.

use std::path::{Path, PathBuf};

use clap::Args;
use nearkin_engine::cluster::{Deduplication, GiantCluster, Keep};
use nearkin_engine::error::{Advice, Problem};
use nearkin_engine::item::Source;
use nearkin_engine::observe::{Clock, Observer, Stage, Traffic};
use nearkin_engine::options::{Goal, Options, RunFiles};
use nearkin_engine::read::{AnyInput, Place, VectorFiles};
use nearkin_engine::search::{Job, Search};
use nearkin_engine::settings::Settings;
use nearkin_engine::write::{self, Cell, Column, ColumnKind, CompleteOutput, Formulas};
use nearkin_engine::{Error, with_threads};

use crate::args::{
    InputArgs, RunArgs, ShingleArgs, SimilarityArgs, WayArgs, check_outputs, options_of, parsed,
    size,
};
use crate::progress::Progress;
use crate::report::{self, RunReport, Subject};
use crate::search::{OutputTable, Target};

/// Keep one item of each group of similar items
///
/// An item is removed only if an item that is kept is similar to it. Records keep all their fields and their order. The
/// output may replace the input: it appears when the run is done.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:
  nearkin dedup corpus.jsonl -o kept.jsonl             near-duplicates at 0.8
  nearkin dedup corpus.parquet -o kept.parquet --keep longest --clusters c.csv

`nearkin dedup --help` shows all options, in groups, with more examples.",
    after_long_help = "Examples:
  nearkin dedup corpus.jsonl -o kept.jsonl             near-duplicates at 0.8
  nearkin dedup corpus.parquet -o kept.parquet --keep longest --clusters c.csv
  nearkin dedup a.jsonl.gz b.jsonl.zst -o kept.jsonl.gz --keep max:date
  nearkin dedup corpus/ -o kept/                       shards in, shards out
  nearkin dedup news/ -o kept.jsonl -t 0.7 --chains"
)]
pub(crate) struct DedupArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    similarity: SimilarityArgs,
    #[command(flatten)]
    shingle: ShingleArgs,
    #[command(flatten)]
    way: WayArgs,
    /// Item to keep of each group: first, longest, max:FIELD or min:FIELD [default: first]
    ///
    /// Numbers are compared by size and come before texts, which are compared by their bytes; null comes last. Under the
    /// measures containment and overlap, the larger of two items is kept, and this decides between equally large ones.
    #[arg(long, value_name = "WHICH", value_parser = parsed::<Keep>, help_heading = "Groups")]
    keep: Option<Keep>,
    /// Group items that are similar through others, and keep one of each group
    ///
    /// If a and c are similar to b, the three are one group. So items are removed that are not similar to any that is
    /// kept; the summary says how many.
    #[arg(long, help_heading = "Groups")]
    chains: bool,
    /// As it is by default, for older scripts
    #[arg(long, hide = true)]
    no_chains: bool,
    /// Write the kept records here [default: JSON lines on standard output, unless --clusters is given]
    ///
    /// Formats: .jsonl .json .csv .tsv .txt .parquet, also .gz .zst; .npy .fvecs .bvecs .ivecs from files of the same format.
    /// A folder, or a name that ends in /, gets a file for each input file, with its path below the folder of all inputs,
    /// its format and its packing.
    #[arg(short, long, value_name = "FILE or DIR/", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Write files of about this size to the folder of -o, such as 256M: part-00000, part-00001 …
    ///
    /// The size is that of the records before they are packed. All files of the input must have one format and packing.
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "Output")]
    pub(crate) shard_size: Option<usize>,
    /// Write one row per item: id, cluster (the id that was kept), kept, similarity
    ///
    /// similarity is that to the kept item; with --within it is distance. Formats: .jsonl .csv .tsv .parquet.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) clusters: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

impl DedupArgs {
    /// What these arguments say.
    pub(crate) fn options(&self) -> Options {
        let options =
            options_of(&[&self.input, &self.similarity, &self.shingle, &self.way, &self.run]);
        Options {
            keep: self.keep.clone(),
            chains: self.chains,
            no_chains: self.no_chains,
            ..options
        }
    }
}

/// Where the kept records go.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum KeptTarget<'a> {
    /// Nowhere: the caller asks for them later, or wants only the groups.
    #[default]
    Nowhere,
    Stdout,
    File(&'a Path),
    /// A folder with a file for each of the input, or files of this size.
    Shards(&'a Path, Option<usize>),
}

impl<'a> KeptTarget<'a> {
    /// A folder that is there, or a name that ends in a slash, is for shards.
    pub(crate) fn of(path: &'a Path) -> Self {
        let has_slash = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        if has_slash || path.is_dir() { Self::Shards(path, None) } else { Self::File(path) }
    }

    /// In files of this size, if there is one.
    fn cut(self, size: Option<usize>) -> nearkin_engine::Result<Self> {
        match (self, size) {
            (_, None) => Ok(self),
            (Self::Shards(folder, _), size) => Ok(Self::Shards(folder, size)),
            (_, Some(size)) => {
                let must = "left out, or -o the name of a folder, with a / at its end";
                Err(Error::parameter("shard_size", size, must))
            }
        }
    }

    fn path(self) -> Option<&'a Path> {
        match self {
            Self::File(path) | Self::Shards(path, _) => Some(path),
            Self::Nowhere | Self::Stdout => None,
        }
    }

    fn file(self) -> Option<&'a Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Nowhere | Self::Stdout | Self::Shards(..) => None,
        }
    }

    /// Refuses a folder that cannot be made, or for which this input has no shards, before the work.
    fn check_shards(self, source: &RecordSource) -> nearkin_engine::Result<()> {
        let Self::Shards(folder, _) = self else { return Ok(()) };
        write::check_folder(folder)?;
        match source {
            RecordSource::Records(source) => source.input().check_shards(),
            RecordSource::Vectors(_) => Err(Error::file(
                folder,
                "is a folder, and vectors are written to one file; name it",
            )),
        }
    }
}

/// The files that a run writes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DedupOutputs<'a> {
    kept: KeptTarget<'a>,
    clusters: Option<&'a Path>,
    stats: Option<&'a Path>,
}

impl<'a> DedupOutputs<'a> {
    /// The kept records alone.
    pub(crate) fn of(kept: KeptTarget<'a>) -> Self {
        Self { kept, ..Self::default() }
    }
}

pub(crate) fn run(args: &DedupArgs) -> anyhow::Result<()> {
    let progress = Progress::start(args.run.quiet)?;
    let outputs = DedupOutputs {
        kept: match (&args.output, &args.clusters) {
            (Some(path), _) => KeptTarget::of(path),
            (None, None) => {
                write::check_stdout()?;
                KeptTarget::Stdout
            }
            (None, Some(_)) => KeptTarget::Nowhere,
        }
        .cut(args.shard_size)?,
        clusters: args.clusters.as_deref(),
        stats: args.run.stats.as_deref(),
    };
    let mut found = find(&args.options(), &args.input.places()?, outputs, &progress)?;
    let (clock, before) = (Clock::start(Stage::Write), found.source.traffic());
    let mut ready = Vec::new();
    if args.output.is_some() || args.clusters.is_none() {
        progress.stage(Stage::Write, Some(found.source.bytes()));
        let mut advance = |bytes| {
            progress.advance(bytes);
            if progress.stopped() { Err(Error::Interrupted) } else { Ok(()) }
        };
        let written = found.write_kept(outputs.kept, args.run.formulas(), &mut advance);
        ready.extend(report::unless_closed(written)?);
    }
    if let Some(path) = &args.clusters {
        // Before the records, which may take the place of the input.
        let target = Target::File(Some(path), args.run.formulas());
        if let OutputTable::File(clusters) = found.write_clusters(target, &progress)? {
            ready.insert(0, clusters);
        }
    }
    let traffic = found.source.traffic() - before;
    found.result.stats.stages.push(clock.stop_with(traffic));
    progress.finish();
    found.into_report()?.finish(&args.run, ready)
}

/// A collection with one item of each group kept, and where it came from.
pub(crate) struct KeptItems {
    pub(crate) source: RecordSource,
    pub(crate) settings: Settings,
    pub(crate) result: Deduplication,
    subject: Subject,
    job: Option<Job>,
}

/// Where whole records are copied from.
pub(crate) enum RecordSource {
    Records(AnyInput),
    /// Rows of `.npy` and other files of vectors.
    Vectors(VectorFiles),
}

impl RecordSource {
    pub(crate) fn traffic(&self) -> Traffic {
        match self {
            Self::Records(source) => source.traffic(),
            Self::Vectors(_) => Traffic::default(),
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Records(source) => source.bytes(),
            Self::Vectors(files) => files.bytes(),
        }
    }
}

/// Finds the groups, and what is kept of each.
pub(crate) fn find(
    options: &Options,
    inputs: &[Place],
    outputs: DedupOutputs<'_>,
    observer: &dyn Observer,
) -> anyhow::Result<KeptItems> {
    let settings = options.settings(Goal::Groups)?;
    let subject = Subject::new(options, Goal::Groups, &settings)?;
    // Items in memory are read first, and what is kept is copied afterwards.
    let rereadable = match options.is_in_memory() {
        true => Place::rereadable(inputs, options.temp.as_deref())?,
        false => Vec::new(),
    };
    let source = match options.is_in_memory() {
        true => records_in_memory(options, &rereadable, outputs)?,
        false => RecordSource::Records(options.open(inputs, Some(&settings))?),
    };
    let DedupOutputs { kept, clusters, stats } = outputs;
    kept.check_shards(&source)?;
    let kept_file = kept.file();
    // The kept records may take the place of the input; nothing else may.
    check_outputs(&[clusters], &[stats], &inputs.iter().collect::<Vec<_>>())?;
    match &source {
        RecordSource::Records(_) => check_outputs(&[kept_file, clusters], &[stats], &[])?,
        RecordSource::Vectors(_) => check_outputs(&[clusters], &[kept_file, stats], &[])?,
    }
    let keep = options.keep.clone().unwrap_or_default();
    let files = RunFiles { inputs, against: &[], outputs: &[kept.path(), clusters, stats] };
    let job = options.job(Goal::Groups, files, &settings)?;
    let search = Search::new(&settings).observed(observer).resuming(job.as_ref());
    let result = match &source {
        RecordSource::Records(source) if !options.is_in_memory() => {
            let linkage = options.linkage();
            options.search_elements(
                &settings,
                (source, None),
                observer,
                |items| search.dedup(items, &keep, linkage),
                |bags, loaded| {
                    let mut result = search.dedup(bags, &keep, linkage)?;
                    result.stats.stages.insert(0, loaded);
                    Ok(result)
                },
            )
        }
        _ => {
            observer.stage(Stage::Load, None);
            let clock = Clock::start(Stage::Load);
            let load = || options.load(Goal::Groups, &rereadable, &[]);
            let items = with_threads(options.threads, load)?;
            let loaded = clock.stop(source.bytes());
            let result = search.dedup(items, &keep, options.linkage());
            result.map(|mut result| {
                result.stats.stages.insert(0, loaded);
                result
            })
        }
    };
    let result = result.map_err(|error| report::stopped(error, job.as_ref()))?;
    Ok(KeptItems { source, settings, result, subject, job })
}

/// Where the records of items in memory are copied from.
fn records_in_memory(
    options: &Options,
    inputs: &[Place],
    outputs: DedupOutputs<'_>,
) -> nearkin_engine::Result<RecordSource> {
    match VectorFiles::open(inputs, &options.read_options())? {
        Some(files) => {
            if matches!(outputs.kept, KeptTarget::Stdout | KeptTarget::File(_)) {
                write::check_vectors(outputs.kept.file(), files.format())?;
            }
            Ok(RecordSource::Vectors(files))
        }
        None => options.open_records(inputs).map(RecordSource::Records),
    }
}

/// The warning of a group that has an implausible share of the collection.
fn warning(giant: GiantCluster, result: &Deduplication) -> nearkin_engine::Result<Problem> {
    let what = format!(
        "one group has {} of the distinct items ({:.0} %), {} of them not similar to the kept item {}: it may be a \
         chain of unrelated items",
        report::grouped(giant.items as u64),
        100.0 * giant.share,
        report::grouped(giant.unlike as u64),
        result.collection.ids().get(giant.kept)?,
    );
    Ok(Problem::new(what)
        .or(Advice::leave_out("chains"))
        .or(Advice::with("threshold", "ask for more similarity"))
        .or("cut longer shingles"))
}

impl KeptItems {
    /// Whether a record of the input is kept, by its number over all files.
    pub(crate) fn is_record_kept(&self, record: u64) -> bool {
        let is_kept = |position| self.result.is_kept(position);
        match &self.source {
            RecordSource::Records(source) => source.is_record_kept(record, is_kept),
            RecordSource::Vectors(_) => {
                let records = u64::from(self.result.collection.records());
                record < records && is_kept(record as u32)
            }
        }
    }

    /// Writes the kept records.
    pub(crate) fn write_kept(
        &self,
        target: KeptTarget<'_>,
        formulas: Formulas,
        advance: &mut (dyn FnMut(u64) -> nearkin_engine::Result<()> + Send),
    ) -> nearkin_engine::Result<CompleteOutput> {
        let kept = |record: u64| self.is_record_kept(record);
        match &self.source {
            RecordSource::Records(source) => {
                let input = source.input();
                match target {
                    KeptTarget::Shards(folder, None) => {
                        let threads = self.settings.threads;
                        write::shards(input, folder, &kept, formulas, threads, advance)
                    }
                    KeptTarget::Shards(folder, Some(size)) => {
                        let resources = (&self.settings).into();
                        write::even_shards(input, folder, size, &kept, formulas, resources, advance)
                    }
                    _ => {
                        let resources = (&self.settings).into();
                        write::records(input, target.file(), &kept, formulas, resources, advance)
                    }
                }
            }
            RecordSource::Vectors(files) => {
                let count = self.result.stats.kept.unwrap_or(0);
                write::vectors(files, target.file(), &kept, count, advance)
            }
        }
    }

    /// What there is to tell.
    pub(crate) fn report(&self) -> nearkin_engine::Result<RunReport> {
        let mut report = RunReport::of(&self.result.stats, &self.result.collection, &self.subject);
        if let RecordSource::Records(source) = &self.source {
            report = report.warning_first(source.warnings());
        }
        report
            .warnings
            .extend(self.result.giant.map(|giant| warning(giant, &self.result)).transpose()?);
        Ok(report)
    }

    /// What there is to tell at the end of a run whose outputs are written.
    pub(crate) fn into_report(self) -> nearkin_engine::Result<RunReport> {
        Ok(self.report()?.of_job(self.job))
    }

    /// The job is over: what was put aside to go on with it is removed.
    pub(crate) fn finish_job(&self) {
        self.job.iter().for_each(Job::finish);
    }

    /// Writes one row per item.
    pub(crate) fn write_clusters(
        &self,
        target: Target<'_>,
        observer: &dyn Observer,
    ) -> nearkin_engine::Result<OutputTable> {
        let result = &self.result;
        let collection = &result.collection;
        let numbers = collection.ids_are_numbers(0);
        let kind = if numbers { ColumnKind::IntId } else { ColumnKind::Id };
        let columns = [
            Column { name: "id", kind },
            Column { name: "cluster", kind },
            Column { name: "kept", kind: ColumnKind::Bool },
            Column { name: self.subject.value_name(), kind: ColumnKind::Float },
        ];
        let mut table = target.create(&columns)?.with_resources((&self.settings).into());
        let (mut ids, mut kept_ids) = (collection.ids(), collection.ids());
        for (position, cluster) in (0u32..).zip(result.clusters()) {
            let Some((kept, similarity)) = cluster else { continue };
            if observer.stopped() {
                return Err(Error::Interrupted);
            }
            let (id, cluster) = (ids.get(position)?, kept_ids.get(kept)?);
            let kept = Cell::Bool(kept == position);
            table.row(&[Cell::from(&id), Cell::from(&cluster), kept, Cell::Float(similarity)])?;
        }
        target.finish(table)
    }
}

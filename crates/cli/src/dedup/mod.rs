//! `nearkin dedup`: one item of each group kept.

mod old;
mod removed;
mod target;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

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
    AgainstArgs, InputArgs, RunArgs, ShingleArgs, SimilarityArgs, WayArgs, check_folders,
    check_outputs, file_bytes, options_of, parsed, place_parser,
};
use crate::progress::Progress;
use crate::report::{self, RunReport, Subject};
use crate::search::{OutputTable, Target};
pub(crate) use target::KeptTarget;

/// Keep one item of each group of similar items
///
/// An item is removed only if an item that is kept is similar to it. Records keep all their fields and their order. The
/// output may replace the input: it appears when the run is done.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:
  nearkin dedup corpus.jsonl -o kept.jsonl             near-duplicates at 0.8
  nearkin dedup corpus.parquet -o kept.parquet --keep longest --removed gone.csv
  nearkin dedup today.jsonl --against kept/ -o new.jsonl

`nearkin dedup --help` shows all options, in groups, with more examples.",
    after_long_help = "Examples:
  nearkin dedup corpus.jsonl -o kept.jsonl             near-duplicates at 0.8
  nearkin dedup corpus.parquet -o kept.parquet --keep longest --clusters c.csv
  nearkin dedup a.jsonl.gz b.jsonl.zst -o kept.jsonl.gz --keep max:date
  nearkin dedup corpus/ -o kept/                       shards in, shards out
  nearkin dedup today.jsonl --against kept/ -o new.jsonl
  nearkin dedup corpus.jsonl -o kept.jsonl --keep 'prefer:source=wiki|longest' --removed gone.csv
  nearkin dedup news/ -o kept.jsonl -t 0.7 --chains"
)]
pub(crate) struct DedupArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Also remove what is similar to an item of OLD; nothing of OLD is removed or written; repeat for several
    ///
    /// As if OLD came before INPUT and all of it were kept. OLD may have other formats and fields than INPUT.
    #[arg(long, value_name = "OLD", num_args = 1, value_parser = place_parser(), help_heading = "Input")]
    pub(crate) against: Vec<Place>,
    #[command(flatten)]
    fields: AgainstArgs,
    #[command(flatten)]
    similarity: SimilarityArgs,
    #[command(flatten)]
    shingle: ShingleArgs,
    #[command(flatten)]
    way: WayArgs,
    /// Item to keep of each group: first, longest, max:FIELD, min:FIELD or prefer:FIELD=A,B [default: first]
    ///
    /// Several rules with | between them are tried in order: 'prefer:source=wiki,books|max:quality|longest'. Ties go to the
    /// next rule, and at last to the first item. Numbers are compared by size and come before texts, which are compared by
    /// their bytes. With prefer, values that are not listed come after those that are, as equals. Null comes last, and a
    /// field that a record does not have is null. Under the measures containment and overlap, the larger of two items is
    /// kept, and this decides between equally large ones.
    #[arg(long, value_name = "RULES", value_parser = parsed::<Keep>, help_heading = "Groups")]
    keep: Option<Keep>,
    /// Group items that are similar through others, and keep one of each group
    ///
    /// If a and c are similar to b, the three are one group. So items are removed that are not similar to any that is
    /// kept; the summary says how many. With --against, a group with an item of OLD loses all its items of INPUT.
    #[arg(long, help_heading = "Groups")]
    chains: bool,
    /// As it is by default, for older scripts
    #[arg(long, hide = true)]
    no_chains: bool,
    /// Write the kept records here [default: JSON lines on standard output, unless --clusters or --removed is given]
    ///
    /// Formats: .jsonl .json .csv .tsv .txt .parquet, also .gz .zst; .npy .fvecs .bvecs .ivecs from files of the same format.
    /// A folder, or a name that ends in /, gets a file for each input file, with its path below the folder of all inputs,
    /// its format and its packing.
    #[arg(short, long, value_name = "FILE or DIR/", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Write files of about this size to the folder of -o, such as 256M: part-00000, part-00001 …
    ///
    /// The size is that of the records before they are packed. All files of the input must have one format and packing.
    #[arg(long, value_name = "SIZE", value_parser = file_bytes, help_heading = "Output")]
    pub(crate) shard_size: Option<usize>,
    /// Write one row per item: id, cluster (the id that was kept), kept, similarity
    ///
    /// similarity is that to the kept item; with --within it is distance. With --against, items of OLD have no rows, and a
    /// column old says whether cluster is an id of OLD. Formats: .jsonl .csv .tsv .parquet.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) clusters: Option<PathBuf>,
    /// Leave groups of fewer items out of --clusters, such as 2 [default: 1]
    #[arg(long, value_name = "N", requires = "clusters", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Output")]
    pub(crate) clusters_from: Option<u32>,
    /// Write one row per removed item: id, file, line, kept, kept_file, kept_line, similarity, reason
    ///
    /// kept is the id of the item that stands for it. reason is identical, similar or contained (under --measure containment
    /// and overlap); with --chains also chain, where the two are not similar. Formats: .jsonl .csv .tsv .parquet, also .gz
    /// .zst.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) removed: Option<PathBuf>,
    /// Fields of the removed record to add to its row, such as title,url
    #[arg(
        long,
        value_name = "FIELD,…",
        value_delimiter = ',',
        requires = "removed",
        help_heading = "Output"
    )]
    pub(crate) removed_fields: Vec<String>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

impl DedupArgs {
    /// What these arguments say.
    pub(crate) fn options(&self) -> Options {
        let options = options_of(&[
            &self.input,
            &self.fields,
            &self.similarity,
            &self.shingle,
            &self.way,
            &self.run,
        ]);
        Options {
            keep: self.keep.clone(),
            chains: self.chains,
            no_chains: self.no_chains,
            ..options
        }
    }
}

/// The files that a run writes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DedupOutputs<'a> {
    kept: KeptTarget<'a>,
    clusters: Option<&'a Path>,
    removed: Option<&'a Path>,
    stats: Option<&'a Path>,
}

impl<'a> DedupOutputs<'a> {
    /// The kept records, and what was removed.
    pub(crate) fn of(kept: KeptTarget<'a>, removed: Option<&'a Path>) -> Self {
        Self { kept, removed, ..Self::default() }
    }
}

pub(crate) fn run(args: &DedupArgs) -> anyhow::Result<()> {
    let progress = Progress::start(args.run.quiet)?;
    let outputs = DedupOutputs {
        kept: match (&args.output, args.clusters.is_some() || args.removed.is_some()) {
            (Some(path), _) => KeptTarget::of(path),
            (None, false) => {
                write::check_stdout()?;
                KeptTarget::Stdout
            }
            (None, true) => KeptTarget::Nowhere,
        }
        .cut(args.shard_size)?,
        clusters: args.clusters.as_deref(),
        removed: args.removed.as_deref(),
        stats: args.run.stats.as_deref(),
    };
    let inputs = args.input.places()?;
    let mut found = find(&args.options(), (&inputs, &args.against), outputs, &progress)?;
    let (clock, before) = (Clock::start(Stage::Write), found.source.traffic());
    let mut ready = Vec::new();
    if !matches!(outputs.kept, KeptTarget::Nowhere) {
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
        let from = args.clusters_from.unwrap_or(1);
        if let OutputTable::File(clusters) = found.write_clusters(target, from, &progress)? {
            ready.insert(0, clusters);
        }
    }
    if let Some(path) = &args.removed {
        let target = Target::File(Some(path), args.run.formulas());
        let removed = found.write_removed(target, &args.removed_fields, &progress)?;
        if let OutputTable::File(removed) = removed {
            ready.insert(0, removed);
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
    /// The collection that is grown, where it is not in memory.
    old: Option<AnyInput>,
    keep: Keep,
    /// What was found out while outputs were written.
    notes: Mutex<Vec<Problem>>,
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

/// Finds the groups of a collection, which may grow another one, and what is kept of each.
pub(crate) fn find(
    options: &Options,
    (inputs, against): (&[Place], &[Place]),
    outputs: DedupOutputs<'_>,
    observer: &dyn Observer,
) -> anyhow::Result<KeptItems> {
    let settings = options.settings(Goal::Groups)?;
    options.check_against(against)?;
    old::check_apart(options, inputs, against)?;
    let subject = Subject::new(options, Goal::Groups, &settings)?;
    // Items in memory are read first, and what is kept is copied afterwards.
    let rereadable = match options.is_in_memory() {
        true => Place::rereadable(inputs, options.temp.as_deref())?,
        false => Vec::new(),
    };
    let is_by_elements = !options.is_in_memory() && !against.is_empty();
    let old = is_by_elements.then(|| options.open_against(against, Some(&settings))).transpose()?;
    let source = match options.is_in_memory() {
        true => records_in_memory(options, &rereadable, outputs)?,
        false => RecordSource::Records(options.open(inputs, Some(&settings))?),
    };
    let DedupOutputs { kept, clusters, removed, stats } = outputs;
    kept.check_shards(&source)?;
    let kept_file = kept.file();
    // The kept records may take the place of the input; nothing else may.
    check_outputs(&[clusters, removed], &[stats], &inputs.iter().collect::<Vec<_>>())?;
    let old_places: Vec<&Place> = against.iter().collect();
    match &source {
        RecordSource::Records(_) => {
            check_outputs(&[kept_file, clusters, removed], &[stats], &old_places)?;
        }
        RecordSource::Vectors(_) => {
            check_outputs(&[clusters, removed], &[kept_file, stats], &old_places)?;
        }
    }
    check_folders(inputs, against, &[kept.path(), clusters, removed, stats])?;
    let keep = options.keep.clone().unwrap_or_default();
    let files = RunFiles { inputs, against, outputs: &[kept.path(), clusters, removed, stats] };
    let job = options.job(Goal::Groups, files, &settings)?;
    let search = Search::new(&settings).observed(observer).resuming(job.as_ref());
    let result = match &source {
        RecordSource::Records(source) if !options.is_in_memory() => {
            let linkage = options.linkage();
            // What is grown comes first.
            let sides = old.as_ref().map_or((source, None), |old| (old, Some(source)));
            options.search_elements(
                &settings,
                sides,
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
            let load = || options.load(Goal::Groups, &rereadable, against);
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
    if let RecordSource::Records(source) = &source {
        source.input().check_values(|field| result.collection.has_value(field))?;
    }
    let notes = Mutex::default();
    Ok(KeptItems { source, old, keep, settings, result, subject, notes, job })
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
        let old = self.result.collection.old_records();
        let is_kept = |position: u32| self.result.is_kept(old + position);
        match &self.source {
            RecordSource::Records(source) => source.is_record_kept(record, is_kept),
            RecordSource::Vectors(_) => {
                let records = u64::from(self.result.collection.records() - old);
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
                target.write(source.input(), (&kept).into(), formulas, &self.settings, advance)
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
        report = report.warning_first(self.old.iter().flat_map(AnyInput::warnings));
        report.warnings.extend(old::warning(&self.result.stats));
        report.warnings.extend(self.unseen()?);
        report.warnings.extend(self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone());
        report
            .warnings
            .extend(self.result.giant.map(|giant| warning(giant, &self.result)).transpose()?);
        Ok(report)
    }

    /// Values that are to be kept, and that no item has: a slip, or the wrong field.
    fn unseen(&self) -> nearkin_engine::Result<Option<Problem>> {
        /// Values that are named.
        const NAMED: usize = 3;
        let unseen = self.result.unseen_values(&self.keep)?;
        if unseen.is_empty() {
            return Ok(None);
        }
        let values =
            if unseen.len() == 1 { "this preferred value" } else { "these preferred values" };
        let named = unseen.iter().take(NAMED).map(|(field, value)| format!("`{value}` in {field}"));
        let mut what = format!("no item has {values}: {}", named.collect::<Vec<_>>().join(", "));
        if unseen.len() > NAMED {
            what.push_str(&format!(" and {} more", unseen.len() - NAMED));
        }
        Ok(Some(
            Problem::new(what).or("check how they are written, as upper and lower case differ"),
        ))
    }

    /// What there is to tell at the end of a run whose outputs are written.
    pub(crate) fn into_report(self) -> nearkin_engine::Result<RunReport> {
        Ok(self.report()?.of_job(self.job))
    }

    /// The job is over: what was put aside to go on with it is removed.
    pub(crate) fn finish_job(&self) {
        self.job.iter().for_each(Job::finish);
    }

    /// What the ids of items are, and those of kept items, which may be old.
    fn id_kinds(&self) -> [ColumnKind; 2] {
        let collection = &self.result.collection;
        let own = collection.ids_are_numbers(collection.split().map_or(0, |_| 1));
        let all = own && collection.ids_are_numbers(0);
        [own, all].map(|numbers| if numbers { ColumnKind::IntId } else { ColumnKind::Id })
    }

    /// How many items each kept one stands for, itself included, by position.
    fn group_sizes(&self) -> Vec<u32> {
        let mut sizes = vec![0; self.result.collection.records() as usize];
        self.result.clusters().flatten().for_each(|(kept, _)| sizes[kept as usize] += 1);
        sizes
    }

    /// Writes one row per item of a group of at least `from` items.
    pub(crate) fn write_clusters(
        &self,
        target: Target<'_>,
        from: u32,
        observer: &dyn Observer,
    ) -> nearkin_engine::Result<OutputTable> {
        let result = &self.result;
        let collection = &result.collection;
        let old = collection.split().map(|_| collection.old_records());
        let [id, cluster] = self.id_kinds();
        let mut columns = vec![
            Column { name: "id", kind: id },
            Column { name: "cluster", kind: cluster },
            Column { name: "kept", kind: ColumnKind::Bool },
            Column { name: self.subject.value_name(), kind: ColumnKind::Float },
        ];
        columns.extend(old.map(|_| Column { name: "old", kind: ColumnKind::Bool }));
        let mut table = target.create(&columns)?.with_resources((&self.settings).into());
        let (mut ids, mut kept_ids) = (collection.ids(), collection.ids());
        let sizes = (from > 1).then(|| self.group_sizes());
        for position in collection.old_records()..collection.records() {
            let Some((kept, similarity)) = result.cluster(position) else { continue };
            if sizes.as_ref().is_some_and(|sizes| sizes[kept as usize] < from) {
                continue;
            }
            if observer.stopped() {
                return Err(Error::Interrupted);
            }
            let (id, cluster) = (ids.get(position)?, kept_ids.get(kept)?);
            let is_kept = Cell::Bool(kept == position);
            let mut row =
                vec![Cell::from(&id), Cell::from(&cluster), is_kept, Cell::Float(similarity)];
            row.extend(old.map(|old| Cell::Bool(kept < old)));
            table.row(&row)?;
        }
        target.finish(table)
    }
}

//! `nearkin overlap`: training documents that contain stretches of test items.

mod report;

use std::path::{Path, PathBuf};

use clap::Args;
use nearkin_engine::item::Source;
use nearkin_engine::observe::{Clock, Observer, Stage, StageTime};
use nearkin_engine::options::Options;
use nearkin_engine::overlap::{self, OverlapSettings, Overlaps, TestItems};
use nearkin_engine::read::{AnyInput, Place, PositionFilter};
use nearkin_engine::settings::Settings;
use nearkin_engine::write::{CompleteOutput, Formulas, KeptRecords, TableWriter, TextCuts};
use nearkin_engine::{Error, Result, with_threads};

use crate::args::{
    Fill, InputArgs, RunArgs, check_folders, check_once, check_outputs, file_bytes, number,
    options_of, place_parser,
};
use crate::dedup::{KeptTarget, RecordSource};
use crate::engine::go_on;
use crate::output::to_file;
use crate::progress::Progress;
use crate::report::unless_closed;
use crate::screen::print;

/// Find training documents that contain stretches of test items, and remove them
///
/// A document overlaps with a test item if some words in a row (13 unless --words says otherwise) stand in both. Upper and
/// lower case, punctuation, white space and line ends do not count. Every overlap is found, and every one is checked word by
/// word. Without an output, the overlaps are listed.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:
  nearkin overlap train.jsonl --against test.jsonl                    list the overlaps
  nearkin overlap train.jsonl --against test.jsonl -o clean.jsonl     remove the documents

`nearkin overlap --help` shows all options, in groups, with more examples.",
    after_long_help = "Examples:
  nearkin overlap train.jsonl --against test.jsonl                    list the overlaps
  nearkin overlap train.jsonl --against test.jsonl -o clean.jsonl     remove the documents
  nearkin overlap train/ --against a.jsonl --against b.csv -o clean/  shards in, shards out
  nearkin overlap train.jsonl --against quiz.csv --test-text question --words 8
  nearkin overlap train.jsonl --against test.jsonl --share 0.8 --report-pairs who.csv
  nearkin overlap train.jsonl --against test.jsonl -o clean.jsonl --removed gone.csv
  nearkin overlap train.jsonl --against test.jsonl -o clean.jsonl --cut   keep the documents, without the stretches"
)]
pub(crate) struct OverlapArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Test items, which are held in memory; repeat for several files
    #[arg(long, value_name = "TEST", required = true, num_args = 1, value_parser = place_parser(), help_heading = "Input")]
    against: Vec<Place>,
    #[command(flatten)]
    measure: OverlapMeasureArgs,
    /// Write the documents that do not overlap here
    ///
    /// Records keep all their fields and their order. Formats: .jsonl .json .csv .tsv .txt .parquet, also .gz .zst. A folder, or a
    /// name that ends in /, gets a file for each input file, with its path below the folder of all inputs, its format and its
    /// packing.
    #[arg(short, long, value_name = "FILE or DIR/", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Cut the overlapping stretches out of documents, and keep the documents
    ///
    /// A cut goes from the first word of a stretch to its last; stretches that overlap are cut as one. Of white space on both
    /// sides, one side goes too. All other fields stay as they came.
    #[arg(long, requires = "output", help_heading = "Output")]
    cut: bool,
    /// Write files of about this size to the folder of -o, such as 256M: part-00000, part-00001 …
    #[arg(long, value_name = "SIZE", value_parser = file_bytes, requires = "output", help_heading = "Output")]
    shard_size: Option<usize>,
    /// Write one row per overlapping stretch: who overlaps with whom, where, and the passage
    ///
    /// Columns: train, test (ids), words, train_file, train_line, train_offset, train_length (bytes), test_file, test_line,
    /// test_offset, test_length, passage; with --share also share. Formats: .jsonl .csv .tsv .parquet, also .gz .zst.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    report_pairs: Option<PathBuf>,
    /// Write one row per document that overlaps: id, file, line, test, test_file, test_line, words, reason
    ///
    /// test is the item with which the document shares most words. Formats: .jsonl .csv .tsv .parquet, also .gz .zst.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    removed: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

/// What counts as an overlap.
#[derive(Debug, Args)]
#[command(next_help_heading = "Overlap")]
struct OverlapMeasureArgs {
    /// Words in a row that must stand in both [default: 13]
    ///
    /// A word is a run of letters, digits and underscores; in scripts without blanks between words (Chinese, Japanese, Thai
    /// …) every letter is a word. Test items with fewer words cannot be found.
    #[arg(long, value_name = "N")]
    words: Option<usize>,
    /// Share of a test item's stretches of --words words that a document must contain, such as 0.8
    ///
    /// Each different stretch counts once. Without this option, one stretch is enough.
    #[arg(long, value_name = "SHARE", value_parser = number, allow_negative_numbers = true)]
    share: Option<f64>,
    /// Name at most N test items for a stretch that stands in many of them [default: 10]
    ///
    /// The first ones are named. This changes only which pairs are reported: documents that overlap and test items that are
    /// found are all counted and removed. Has no effect with --share.
    #[arg(long, value_name = "N")]
    most_tests: Option<usize>,
    /// Field or column that holds the text of test items [default: that of --text]
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    test_text: Option<String>,
    /// Field or column that holds the id of test items [default: that of --id]
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    test_id: Option<String>,
}

impl Fill for OverlapMeasureArgs {
    fn fill(&self, options: &mut Options) {
        options.words = self.words;
        options.share = self.share;
        options.most_tests = self.most_tests;
        options.test_text.clone_from(&self.test_text);
        options.test_id.clone_from(&self.test_id);
    }
}

/// Training documents, the test items, and which files the run writes.
pub(crate) struct OverlapRequest<'a> {
    pub(crate) options: &'a Options,
    pub(crate) inputs: &'a [Place],
    pub(crate) against: &'a [Place],
    pub(crate) kept: KeptTarget<'a>,
    /// Whether documents are cut, and not left out.
    pub(crate) cut: bool,
    pub(crate) tables: [Option<&'a Path>; 2],
    pub(crate) stats: Option<&'a Path>,
}

/// Training documents with what they share with test items.
pub(crate) struct FoundOverlaps {
    pub(crate) source: RecordSource,
    pub(crate) settings: Settings,
    pub(crate) measure: OverlapSettings,
    pub(crate) overlaps: Overlaps,
    /// Whether documents are cut, and not left out.
    pub(crate) cut: bool,
    pub(crate) stages: Vec<StageTime>,
}

pub(crate) fn run(args: &OverlapArgs) -> anyhow::Result<()> {
    let progress = Progress::start(args.run.quiet)?;
    let options = options_of(&[&args.input, &args.measure, &args.run]);
    let output = args.output.as_deref();
    let inputs = args.input.places()?;
    let request = OverlapRequest {
        options: &options,
        inputs: &inputs,
        against: &args.against,
        kept: output.map(KeptTarget::of).unwrap_or_default().cut(args.shard_size)?,
        cut: args.cut,
        tables: [args.report_pairs.as_deref(), args.removed.as_deref()],
        stats: args.run.stats.as_deref(),
    };
    let mut found = request.find(&progress)?;
    let (clock, before) = (Clock::start(Stage::Write), found.source.traffic());
    let ready = args.write(&found, request.kept, &progress)?;
    let traffic = found.source.traffic() - before;
    found.stages.push(clock.stop_with(traffic));
    progress.finish();
    if [&args.output, &args.report_pairs, &args.removed].iter().all(|path| path.is_none()) {
        print(found.listing()?.as_bytes())?;
    }
    found.report().finish(&args.run, ready)
}

impl OverlapArgs {
    /// Writes all that is wanted.
    fn write(
        &self,
        found: &FoundOverlaps,
        kept: KeptTarget<'_>,
        progress: &Progress,
    ) -> Result<Vec<CompleteOutput>> {
        let mut ready = Vec::new();
        let formulas = self.run.formulas();
        if let Some(path) = &self.report_pairs {
            let pairs = found.write_pairs(to_file(Some(path), formulas), progress);
            ready.extend(unless_closed(pairs.and_then(TableWriter::ready))?);
        }
        if let Some(path) = &self.removed {
            let removed = found.write_removed(to_file(Some(path), formulas), progress);
            ready.extend(unless_closed(removed.and_then(TableWriter::ready))?);
        }
        // The records come last, because they may take the place of the input.
        if self.output.is_some() {
            progress.stage(Stage::Write, Some(found.source.bytes()));
            ready.extend(unless_closed(found.write_kept(kept, formulas, progress))?);
        }
        Ok(ready)
    }
}

impl OverlapRequest<'_> {
    /// Finds what overlaps.
    pub(crate) fn find(&self, observer: &dyn Observer) -> Result<FoundOverlaps> {
        let Self { options, inputs, against, .. } = *self;
        if [inputs, against].iter().all(|places| places.iter().any(Place::is_stdin)) {
            let must = "on one: standard input is read once";
            return Err(Error::parameter("-", "on both sides", must));
        }
        check_apart(inputs, against)?;
        check_once(options, inputs)?;
        check_once(options, against)?;
        let (settings, measure) = options.overlap_settings()?;
        let source = RecordSource::Records(options.open(inputs, Some(&settings))?);
        let tests = options.open_tests(against, &settings)?;
        self.check_outputs(&source)?;
        let mut stages = Vec::new();
        let overlaps = with_threads(Some(settings.threads), || {
            observer.stage(Stage::Load, Some(tests.bytes()));
            let clock = Clock::start(Stage::Load);
            let items = TestItems::read(&tests, &measure, observer)?;
            stages.push(clock.stop_with(Source::traffic(&tests)));
            let RecordSource::Records(train) = &source else {
                return Err(Error::parameter("as", "vector", "text"));
            };
            observer.stage(Stage::Read, Some(train.bytes()));
            let clock = Clock::start(Stage::Read);
            let found = overlap::find(train, items, &measure, observer)?;
            stages.push(clock.stop_with(train.traffic()));
            Ok(found)
        })?;
        Ok(FoundOverlaps { source, settings, measure, overlaps, cut: self.cut, stages })
    }

    /// Refuses outputs that cannot be written, before the work.
    fn check_outputs(&self, source: &RecordSource) -> Result<()> {
        let Self { inputs, against, kept, tables: [pairs, removed], stats, .. } = *self;
        kept.check_shards(source)?;
        let (train, tests): (Vec<&Place>, Vec<&Place>) =
            (inputs.iter().collect(), against.iter().collect());
        // The kept records may take the place of the input; nothing else may.
        let all: Vec<&Place> = train.into_iter().chain(tests.iter().copied()).collect();
        check_outputs(&[pairs, removed], &[stats], &all)?;
        check_outputs(&[kept.file(), pairs, removed], &[stats], &tests)?;
        check_folders(inputs, against, &[kept.path(), pairs, removed, stats])
    }
}

/// Refuses a file that is on both sides: every document would overlap with itself.
fn check_apart(inputs: &[Place], against: &[Place]) -> Result<()> {
    let whole = |place: &Place| std::fs::canonicalize(place.path()?).ok();
    let trains: Vec<PathBuf> = inputs.iter().filter_map(whole).collect();
    for (test, there) in against.iter().filter_map(|test| Some((test, whole(test)?))) {
        for train in &trains {
            if train.starts_with(&there) || there.starts_with(train) {
                let what = "is on both sides, and every document would overlap with itself; name the training \
                            documents, and with --against the test items";
                return Err(Error::file(test.name(), what));
            }
        }
    }
    Ok(())
}

impl FoundOverlaps {
    /// Writes the records that do not overlap, or all of them without their stretches.
    pub(crate) fn write_kept(
        &self,
        target: KeptTarget<'_>,
        formulas: Formulas,
        observer: &dyn Observer,
    ) -> Result<CompleteOutput> {
        let mut advance = |bytes| {
            observer.advance(bytes);
            go_on(observer)
        };
        let kept = |position: u64| self.is_kept(position);
        let records = self.records(&kept);
        target.write(self.input().input(), records, formulas, &self.settings, &mut advance)
    }

    /// Whether a record is written.
    pub(crate) fn is_kept(&self, position: u64) -> bool {
        if self.cut { self.overlaps.is_item(position) } else { self.overlaps.is_kept(position) }
    }

    /// The records that are written, and what is left out of them.
    pub(crate) fn records<'a>(&'a self, kept: PositionFilter<'a>) -> KeptRecords<'a> {
        KeptRecords { kept, cuts: self.cut.then_some(&self.overlaps as &dyn TextCuts) }
    }

    pub(crate) fn input(&self) -> &AnyInput {
        match &self.source {
            RecordSource::Records(source) => source,
            RecordSource::Vectors(_) => unreachable!("overlaps are those of texts"),
        }
    }
}

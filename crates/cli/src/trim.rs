//! `nearkin trim`: documents without the pieces that stand elsewhere too.

use std::path::{Path, PathBuf};

use clap::Args;
use nearkin_engine::error::{Advice, Problem};
use nearkin_engine::item::{PassedOver, Source};
use nearkin_engine::observe::{Clock, Observer, Stage, StageTime};
use nearkin_engine::options::{Options, RunFiles, TrimOptions};
use nearkin_engine::read::Place;
use nearkin_engine::search::Job;
use nearkin_engine::settings::Settings;
use nearkin_engine::trim::{Cuts, KeepPiece, PieceUnit, RemovedStretch, Trim, TrimFacts};
use nearkin_engine::write::{
    self, Cell, Column, ColumnKind, CompleteOutput, Formulas, KeptRecords, TableWriter,
};
use nearkin_engine::{Error, Result};
use serde_json::json;

use crate::args::{
    Fill, PlaceArgs, RunArgs, TableArgs, check_folders, check_once, check_outputs, file_bytes,
    keyword_parser, number, options_of, parsed, whole_number,
};
use crate::dedup::{KeptTarget, RecordSource};
use crate::progress::Progress;
use crate::report::{self, RunReport, grouped};
use crate::search::{OutputTable, Target};

/// Remove pieces of documents that are repeated, and keep the first
///
/// A piece is a line, a paragraph, a sentence, or any run of N words. It is removed if the same words stand earlier, in
/// another document or in the same one. Case, punctuation and white space between words do not count. Documents keep all
/// their other fields and their order.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:
  nearkin trim corpus.jsonl --unit words:50 -o trimmed.jsonl     runs of 50 words or more
  nearkin trim pages/ --unit line --at-least 10 -o trimmed.jsonl boilerplate of web pages

`nearkin trim --help` shows all options, in groups, with more examples.",
    after_long_help = "Examples:
  nearkin trim corpus.jsonl --unit words:50 -o trimmed.jsonl     runs of 50 words or more
  nearkin trim pages/ --unit line --at-least 10 -o trimmed.jsonl lines in 10 or more documents
  nearkin trim corpus/ --unit line --at-least 10 --keep none -o trimmed/
  nearkin trim corpus.parquet --unit paragraph --min-left 20 -o trimmed.parquet
  nearkin trim corpus.jsonl --unit words:50 -o trimmed.jsonl --removed removed.jsonl"
)]
pub(crate) struct TrimArgs {
    #[command(flatten)]
    places: PlaceArgs,
    /// Field or column that holds the text [default: text]
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    text: Option<String>,
    #[command(flatten)]
    table: TableArgs,
    /// What a piece is: line, paragraph, sentence, or words:N for any run of N words or more
    ///
    /// A paragraph ends at a blank line. A sentence ends behind . ! or ? with white space after it, and at a line end. N is
    /// at least 5; 50 is a good start.
    #[arg(long, value_name = "UNIT", required = true, value_parser = parsed::<PieceUnit>, help_heading = "Pieces")]
    unit: PieceUnit,
    /// Remove pieces that are similar to an earlier one, too: smallest similarity [default: only the same words]
    ///
    /// For lines, paragraphs and sentences. Jaccard similarity of runs of five words, exactly compared, as `dedup` has it.
    #[arg(short, long, value_name = "SIMILARITY", value_parser = number, allow_negative_numbers = true, help_heading = "Pieces")]
    threshold: Option<f64>,
    /// In how many documents a piece must stand to be removed [default: in two places, which may be one document]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..), help_heading = "Pieces")]
    at_least: Option<u32>,
    /// Which place of a repeated piece stays [default: first]
    #[arg(long, value_name = "WHICH", value_parser = keyword_parser::<KeepPiece>(), help_heading = "Pieces")]
    keep: Option<KeepPiece>,
    /// Drop a document that lost something and has fewer words left [default: 0, which drops none]
    #[arg(long, value_name = "WORDS", help_heading = "Pieces")]
    min_left: Option<usize>,
    /// Seed of the key of all hashes [default: 1]
    #[arg(long, value_parser = whole_number, allow_negative_numbers = true, help_heading = "Pieces")]
    seed: Option<u64>,
    /// Write the documents here [default: JSON lines on standard output]
    ///
    /// Formats: .jsonl .json .csv .tsv .txt .parquet, also .gz .zst. A folder, or a name that ends in /, gets a file for each
    /// input file, with its path below the folder of all inputs, its format and its packing.
    #[arg(short, long, value_name = "FILE or DIR/", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Write files of about this size to the folder of -o, such as 256M: part-00000, part-00001 …
    #[arg(long, value_name = "SIZE", value_parser = file_bytes, help_heading = "Output")]
    shard_size: Option<usize>,
    /// Write one row per stretch that was removed: where it was, its text, and where the kept one stands
    ///
    /// With these rows, each document can be put together again. Formats: .jsonl .csv .tsv .parquet.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    removed: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

impl TrimArgs {
    fn options(&self) -> (Options, TrimOptions) {
        let groups: [&dyn Fill; 2] = [&self.table, &self.run];
        let options = Options {
            text: self.text.clone(),
            seed: self.seed,
            threshold: self.threshold,
            ..options_of(&groups)
        };
        let trim = TrimOptions {
            unit: Some(self.unit),
            at_least: self.at_least,
            keep: self.keep,
            min_left: self.min_left,
        };
        (options, trim)
    }
}

/// What is trimmed, and where its parts go.
pub(crate) struct TrimRequest<'a> {
    pub(crate) options: &'a Options,
    pub(crate) trim: &'a TrimOptions,
    pub(crate) inputs: &'a [Place],
    pub(crate) kept: KeptTarget<'a>,
    /// Where the rows of what is removed go, if anywhere.
    pub(crate) removed: Option<Target<'a>>,
    pub(crate) stats: Option<&'a Path>,
}

pub(crate) fn run(args: &TrimArgs) -> anyhow::Result<()> {
    let progress = Progress::start(args.run.quiet)?;
    let (options, trim) = args.options();
    let kept = match &args.output {
        Some(path) => KeptTarget::of(path),
        None => {
            write::check_stdout()?;
            KeptTarget::Stdout
        }
    };
    let inputs = args.places.all()?;
    let request = TrimRequest {
        options: &options,
        trim: &trim,
        inputs: &inputs,
        kept: kept.cut(args.shard_size)?,
        removed: args.removed.as_deref().map(|it| Target::File(Some(it), args.run.formulas())),
        stats: args.run.stats.as_deref(),
    };
    let mut trimmed = find(&request, &progress)?;
    let written = trimmed.write(request.kept, args.run.formulas(), &progress);
    let mut ready: Vec<CompleteOutput> = report::unless_closed(written)?.into_iter().collect();
    if let Some(OutputTable::File(removed)) = trimmed.removed.take() {
        // Before the documents, which may take the place of the input.
        ready.insert(0, removed);
    }
    progress.finish();
    trimmed.into_report().finish(&args.run, ready)
}

/// A collection and what is cut out of it.
pub(crate) struct Trimmed {
    source: RecordSource,
    settings: Settings,
    trim: TrimOptions,
    threshold: Option<f64>,
    cuts: Cuts,
    pub(crate) removed: Option<OutputTable>,
    job: Option<Job>,
    written: Vec<StageTime>,
}

/// Finds what is cut out.
pub(crate) fn find(request: &TrimRequest<'_>, observer: &dyn Observer) -> anyhow::Result<Trimmed> {
    let TrimRequest { options, trim, inputs, kept, removed, stats } = *request;
    let (trim_settings, settings) = trim.settings(options)?;
    check_once(options, inputs)?;
    let source = RecordSource::Records(options.open(inputs, Some(&settings))?);
    kept.check_shards(&source)?;
    let removed_file = removed.and_then(Target::path);
    // The documents may take the place of the input; nothing else may.
    check_outputs(&[removed_file], &[stats], &inputs.iter().collect::<Vec<_>>())?;
    check_outputs(&[kept.file(), removed_file], &[stats], &[])?;
    check_folders(inputs, &[], &[kept.path(), removed_file, stats])?;
    let files = RunFiles { inputs, against: &[], outputs: &[kept.path(), removed_file, stats] };
    let job = trim.job(options, files, &settings)?;
    let RecordSource::Records(any) = &source else {
        return Err(Error::nothing("there are no texts").into());
    };
    let run = Trim::new(any, &trim_settings, observer, job.as_ref());
    let stopped = |error| report::stopped(error, job.as_ref());
    let stretches = run.stretches().map_err(stopped)?;
    let mut table = match removed {
        Some(target) => Some(RemovedTable::create(target, stretches.facts(), &settings)?),
        None => None,
    };
    let mut sink = table.as_mut().map(|table| |row: RemovedStretch| table.row(&row));
    let sink = sink.as_mut().map(|sink| sink as &mut (dyn FnMut(RemovedStretch) -> _ + Send));
    let cuts = run.cuts(stretches, sink).map_err(stopped)?;
    let removed = table.map(RemovedTable::finish).transpose()?;
    let trim = trim.clone();
    let threshold = options.threshold;
    Ok(Trimmed { source, settings, trim, threshold, cuts, removed, job, written: Vec::new() })
}

/// The table of what is removed.
struct RemovedTable<'a> {
    target: Target<'a>,
    table: TableWriter,
}

impl<'a> RemovedTable<'a> {
    fn create(target: Target<'a>, facts: &TrimFacts, settings: &Settings) -> Result<Self> {
        let (id, kept_id) = match facts.ids_are_numbers {
            true => (ColumnKind::IntId, ColumnKind::MaybeIntId),
            false => (ColumnKind::Id, ColumnKind::MaybeId),
        };
        let columns = [
            ("id", id),
            ("file", ColumnKind::Text),
            ("line", ColumnKind::Count),
            ("offset", ColumnKind::Count),
            ("length", ColumnKind::Count),
            ("reason", ColumnKind::Text),
            ("kept_id", kept_id),
            ("kept_file", ColumnKind::MaybeText),
            ("kept_line", ColumnKind::MaybeCount),
            ("kept_offset", ColumnKind::MaybeCount),
            ("text", ColumnKind::Text),
        ];
        let columns = columns.map(|(name, kind)| Column { name, kind });
        let table = target.create(&columns)?.with_resources(settings.into());
        Ok(Self { target, table })
    }

    fn row(&mut self, row: &RemovedStretch) -> Result<()> {
        let kept = row.kept.as_ref();
        let (file, kept_file) = (row.file_name(), kept.map(|it| it.file_name()));
        self.table.row(&[
            Cell::from(&row.id),
            Cell::Text(&file),
            Cell::Count(row.line),
            Cell::Count(row.offset),
            Cell::Count(row.text.len() as u64),
            Cell::Text(if row.is_repeated { "repeated" } else { "dropped" }),
            kept.map_or(Cell::Missing, |it| Cell::from(&it.id)),
            kept_file.as_deref().map_or(Cell::Missing, Cell::Text),
            kept.map_or(Cell::Missing, |it| Cell::Count(it.line)),
            kept.map_or(Cell::Missing, |it| Cell::Count(it.offset)),
            Cell::Text(&row.text),
        ])
    }

    fn finish(self) -> Result<OutputTable> {
        self.target.finish(self.table)
    }
}

impl Trimmed {
    /// The documents that are written, and what is cut out of them.
    fn documents<R>(&self, take: impl FnOnce(KeptRecords<'_>) -> R) -> R {
        let kept = |position: u64| self.cuts.is_kept(position);
        take(KeptRecords { kept: &kept, cuts: Some(&self.cuts) })
    }

    /// Writes the documents.
    pub(crate) fn write(
        &mut self,
        target: KeptTarget<'_>,
        formulas: Formulas,
        observer: &dyn Observer,
    ) -> Result<CompleteOutput> {
        let RecordSource::Records(source) = &self.source else {
            return Err(Error::nothing("there are no texts"));
        };
        let (clock, before) = (Clock::start(Stage::Write), source.traffic());
        observer.stage(Stage::Write, Some(source.bytes()));
        let mut advance = |bytes| {
            observer.advance(bytes);
            if observer.stopped() { Err(Error::Interrupted) } else { Ok(()) }
        };
        let written = self.documents(|documents| {
            target.write(source.input(), documents, formulas, &self.settings, &mut advance)
        });
        let stage = clock.stop_with(source.traffic() - before);
        self.written.push(stage);
        written
    }

    /// Whether a record is written.
    pub(crate) fn is_kept(&self, position: u64) -> bool {
        self.cuts.is_kept(position)
    }

    /// The documents as columns in memory.
    pub(crate) fn batches(&self, observer: &dyn Observer) -> Result<crate::engine::Table> {
        let RecordSource::Records(source) = &self.source else {
            return Err(Error::nothing("there are no texts"));
        };
        let mut advance = |_| if observer.stopped() { Err(Error::Interrupted) } else { Ok(()) };
        let threads = self.settings.threads;
        self.documents(|documents| write::batches(source.input(), documents, threads, &mut advance))
    }

    /// The job is over: what was put aside to go on with it is removed.
    pub(crate) fn finish_job(&self) {
        self.job.iter().for_each(Job::finish);
    }

    /// What there is to tell.
    pub(crate) fn report(&self) -> RunReport {
        let mut report =
            RunReport::new(self.stats(), self.funnel(), self.cuts.facts.problems.iter());
        report.warnings = self.warnings();
        report
    }

    fn into_report(mut self) -> RunReport {
        let job = self.job.take();
        self.report().of_job(job)
    }

    fn stages(&self) -> Vec<StageTime> {
        self.cuts.facts.stages.iter().chain(&self.written).copied().collect()
    }

    fn stats(&self) -> serde_json::Value {
        let (cuts, facts) = (&self.cuts, &self.cuts.facts);
        json!({
            "documents": facts.documents,
            "skipped": self.skipped(),
            "passed_over": report::passed_over_json(facts.passed_over),
            "bytes": facts.bytes,
            "words": facts.words,
            "unit": self.trim.unit.map(|unit| unit.to_string()),
            "threshold": self.threshold,
            "at_least": self.trim.at_least,
            "min_left": self.trim.min_left.unwrap_or(0),
            "pieces": (facts.pieces > 0).then_some(facts.pieces),
            "blank": facts.blank,
            "short": facts.short,
            "repeated": cuts.stretches,
            "cut": cuts.cut,
            "removed_words": cuts.words,
            "removed_bytes": cuts.bytes,
            "dropped": cuts.dropped,
            "emptied": cuts.emptied,
            "kept": facts.documents - cuts.dropped,
            "seed": self.settings.seed,
            "stages": report::stages_json(&self.stages()),
            "resumed": facts.resumed,
            "peak_memory": report::peak_memory(),
        })
    }

    /// Records that could not be used.
    fn skipped(&self) -> u64 {
        let facts = &self.cuts.facts;
        facts.skipped.len() as u64 - facts.passed_over.records()
    }

    /// How much was left after each step, a line each.
    fn funnel(&self) -> String {
        let (cuts, facts) = (&self.cuts, &self.cuts.facts);
        let unit = self.trim.unit.unwrap_or(PieceUnit::Line);
        let mut rows = vec![(facts.documents, "documents read".to_owned())];
        if self.skipped() > 0 {
            let what = "records skipped because they could not be used";
            rows.push((self.skipped(), what.to_owned()));
        }
        rows.extend(report::passed_over(facts.passed_over));
        match unit {
            PieceUnit::Words(_) => rows.push((facts.words, "words in them".to_owned())),
            _ => rows.push((facts.pieces, format!("{} in them", unit.plural()))),
        }
        let repeated = match unit {
            PieceUnit::Words(words) => format!("stretches of {words} words or more"),
            _ => unit.plural().to_owned(),
        };
        let where_else = match (self.trim.at_least, self.trim.keep) {
            (None, Some(KeepPiece::Nothing)) => "that stand more than once".to_owned(),
            (None, _) if self.threshold.is_some() => {
                format!("that are similar to an earlier one, {} or more", self.settings.threshold)
            }
            (None, _) => "that stand earlier too".to_owned(),
            (Some(least), _) => format!("that stand in {least} documents or more"),
        };
        rows.push((cuts.stretches, format!("{repeated} removed {where_else}")));
        rows.push((cuts.cut, "documents that lost something".to_owned()));
        let share = 100.0 * cuts.words as f64 / facts.words.max(1) as f64;
        rows.push((cuts.words, format!("words removed, {share:.1} % of all")));
        rows.push((cuts.bytes, "bytes removed".to_owned()));
        if let Some(least @ 1..) = self.trim.min_left {
            let what = format!("documents dropped, of which fewer than {least} words were left");
            rows.push((cuts.dropped, what));
        }
        rows.push((facts.documents - cuts.dropped, "documents kept".to_owned()));
        let seconds: f64 = self.stages().iter().map(|stage| stage.seconds).sum();
        let resumed = if facts.resumed { "  went on after an earlier run\n" } else { "" };
        format!("{}{resumed}  took {seconds:.1} s", report::lines(&rows))
    }

    /// What is not as somebody may think.
    fn warnings(&self) -> Vec<Problem> {
        let (cuts, facts) = (&self.cuts, &self.cuts.facts);
        let unit = self.trim.unit.unwrap_or(PieceUnit::Line);
        let of = |some: u64, all: u64| format!("{} of {}", grouped(some), grouped(all));
        let mut warnings = match &self.source {
            RecordSource::Records(source) => source.warnings(),
            RecordSource::Vectors(_) => Vec::new(),
        };
        if facts.documents == 0 {
            let what = match self.skipped() {
                0 if facts.passed_over != PassedOver::default() => {
                    "there are no documents: all files of the folder were passed over"
                }
                0 => "there are no documents: the input has no record",
                _ => "there are no documents: all records were skipped",
            };
            let advice = Advice::with("format", "name its format");
            return vec![Problem::new(what).or("check that it is the right file").or(advice)];
        }
        if let PieceUnit::Words(words) = unit
            && 10 * facts.short > 9 * facts.documents
        {
            let what = format!(
                "{} documents have fewer than {words} words, so nothing in them can be repeated",
                of(facts.short, facts.documents)
            );
            let shorter = Advice::with("unit", "give shorter runs of words, or line");
            warnings.push(Problem::new(what).or(shorter));
        }
        if 2 * facts.blank > facts.pieces {
            let what =
                format!("{} {} are blank, and stay", of(facts.blank, facts.pieces), unit.plural());
            warnings.push(Problem::new(what).or("check that this is the text that you mean"));
        }
        if unit.is_part_of_lines() && facts.pieces <= facts.documents && facts.documents > 1 {
            let what = format!(
                "the documents have one of the {} each, so only whole documents can be removed",
                unit.plural()
            );
            let other = Advice::with("unit", "take sentence or words:N");
            warnings.push(Problem::new(what).or(other));
        }
        if cuts.stretches == 0 {
            let what = "nothing was removed: no piece is repeated";
            let problem = Problem::new(what).or(Advice::with("unit", "try a smaller piece"));
            let least =
                self.trim.at_least.map(|_| Advice::with("at_least", "ask for fewer documents"));
            warnings.push(least.into_iter().fold(problem, Problem::or));
        }
        if 2 * cuts.words > facts.words {
            let share = 100 * cuts.words / facts.words.max(1);
            let what = format!("{share} % of all words were removed: look at what they are");
            let problem = Problem::new(what).or(Advice::with("removed", "write them to a file"));
            warnings.push(problem.or(Advice::with("at_least", "ask for more documents")));
        }
        if cuts.emptied > 0 {
            let what = format!("{} documents are left without a word", grouped(cuts.emptied));
            warnings.push(Problem::new(what).or(Advice::set("min_left", "1")));
        }
        warnings
    }
}

//! `nearkin hosts`: hosts that mirror one another.

mod report;
mod search;

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use nearkin_engine::Result;
use nearkin_engine::observe::{Clock, Observer, Stage};
use nearkin_engine::options::Options;
use nearkin_engine::read::{Format, OnError, Place};
use nearkin_engine::shingle::Shingling;
use nearkin_engine::write::{CompleteOutput, TableWriter};

use crate::args::{
    RunArgs, format_parser, item_bytes, keyword_parser, options_of, parsed, place_parser,
};
use crate::output::to_file;
use crate::progress::Progress;
use crate::report::unless_closed;

pub use report::MirrorReport;
pub use search::HostsInput;
use search::{ALIKE, LEAST_LINKS, LEAST_SHINGLES, LEAST_URLS, MOST_PAGES, THRESHOLD};

/// Find hosts that mirror one another, by their URLs
///
/// Writes one row per pair of hosts whose URLs are alike: a, b, similarity (of their sets of path shingles), a_urls and
/// b_urls (known URLs of each) and shared_paths (paths that are the same on both), sorted by where a, then b, first appears.
///
/// --pages also compares the pages at shared paths and adds pages_compared, pages_same, pages_alike and a verdict:
/// identical, similar, partial, different or unchecked. --links merges pages that are the same page, then pages that link
/// to the same pages, until nothing changes, and adds pages_merged.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:
  nearkin hosts urls.txt.gz                            pairs of hosts
  nearkin hosts urls.txt --pages pages.parquet         also compare the pages

`nearkin hosts --help` shows all options, in groups, with more examples.",
    after_long_help = "Examples:
  nearkin hosts urls.txt.gz                            pairs of hosts
  nearkin hosts crawl.jsonl --url address -t 0.5       another field, threshold
  cut -f2 log.tsv | nearkin hosts -                    one URL per line
  nearkin hosts urls.txt --pages pages.parquet         also compare the pages
  nearkin hosts urls.txt --links links.tsv --contracted out.tsv --folds folds.csv"
)]
pub(crate) struct HostsArgs {
    /// Lists of URLs: .txt (one per line), .jsonl .csv .tsv .parquet, also .gz .zst, or - for standard input
    #[arg(value_name = "URLS", required = true, value_parser = place_parser(), help_heading = "Input")]
    inputs: Vec<Place>,
    /// Field or column that holds the URL, also in --pages
    ///
    /// In .csv and .tsv files without a header row it is the first column that holds a URL.
    #[arg(long, value_name = "FIELD", default_value = "url", help_heading = "Input")]
    url: String,
    /// Read every list in this format, whatever its extension; standard input is txt
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(), help_heading = "Input")]
    format: Option<Format>,
    /// Separator of CSV fields, such as ';' [default: a comma; a tab in .tsv]
    #[arg(long, value_name = "TEXT", help_heading = "Input")]
    delimiter: Option<String>,
    /// What to do with a record that cannot be used, such as one without a URL [default: stop]
    #[arg(long, value_name = "WHAT", value_parser = keyword_parser::<OnError>(), help_heading = "Input")]
    on_error: Option<OnError>,
    /// Largest line or record, such as 64M [default: 1G, or less where --memory has no room for it]
    #[arg(long, value_name = "SIZE", value_parser = item_bytes, help_heading = "Input")]
    max_item: Option<usize>,
    /// Smallest similarity of two hosts
    ///
    /// Two hosts with the same pages, each half known, have about 0.33.
    #[arg(
        short,
        long,
        value_name = "SIMILARITY",
        default_value_t = THRESHOLD,
        allow_negative_numbers = true,
        help_heading = "Mirrors"
    )]
    threshold: f64,
    /// Ignore hosts with fewer different URLs
    #[arg(long, value_name = "N", default_value_t = LEAST_URLS, help_heading = "Mirrors")]
    least_urls: usize,
    /// Ignore hosts with fewer shingles
    ///
    /// A shingle is two consecutive words of a path and their place in it.
    #[arg(long, value_name = "N", default_value_t = LEAST_SHINGLES, help_heading = "Mirrors")]
    least_shingles: usize,
    /// Also compare pages: a file of URLs and texts (.jsonl .csv .tsv .parquet)
    #[arg(long, value_name = "FILE", value_parser = place_parser(), help_heading = "Pages")]
    pages: Option<Place>,
    /// Field or column of --pages that holds the text
    #[arg(long, value_name = "FIELD", default_value = "text", help_heading = "Pages")]
    text: String,
    /// Pieces that page texts are cut into: words:K, chars:K or stopwords
    #[arg(
        long,
        value_name = "SHINGLE",
        default_value = "words:5",
        value_parser = parsed::<Shingling>,
        help_heading = "Pages"
    )]
    shingle: Shingling,
    /// Smallest similarity of two pages that are alike
    #[arg(
        long,
        value_name = "SIMILARITY",
        default_value_t = ALIKE,
        allow_negative_numbers = true,
        help_heading = "Pages"
    )]
    alike: f64,
    /// Compare at most N pages per pair of hosts, chosen at random
    #[arg(long, value_name = "N", default_value_t = MOST_PAGES, help_heading = "Pages")]
    most_pages: usize,
    /// Merge pages that are the same page: a file with one link per row (.tsv .csv .txt .jsonl .parquet)
    ///
    /// Pages are merged by their texts and by their links.
    #[arg(long, value_name = "FILE", value_parser = place_parser(), help_heading = "Links")]
    links: Option<Place>,
    /// Columns of --links [default: the first two; source,target in JSON lines]
    #[arg(long, value_name = "FROM,TO", requires = "links", help_heading = "Links")]
    link_fields: Option<LinkFields>,
    /// Ignore pages without text that have fewer different links
    #[arg(long, value_name = "N", default_value_t = LEAST_LINKS, help_heading = "Links")]
    least_links: usize,
    /// Write the remaining links here: source, target
    #[arg(long, value_name = "FILE", requires = "links", help_heading = "Links")]
    contracted: Option<PathBuf>,
    /// Write hosts that merged into others here: host, into, pages, merged
    ///
    /// pages: all pages of the host; merged: those that went there.
    #[arg(long, value_name = "FILE", requires = "links", help_heading = "Links")]
    folds: Option<PathBuf>,
    /// Write the rows here [default: JSON lines on standard output]
    ///
    /// Formats: .jsonl .csv .tsv .parquet, also .gz .zst.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

/// Where links come from and go to.
#[derive(Debug, Clone)]
struct LinkFields([String; 2]);

impl FromStr for LinkFields {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text.split_once(',') {
            Some((from, to)) if !from.is_empty() && !to.is_empty() && !to.contains(',') => {
                Ok(Self([from, to].map(str::to_owned)))
            }
            _ => Err("give two names, such as source,target".to_owned()),
        }
    }
}

pub(crate) fn run(args: &HostsArgs) -> anyhow::Result<()> {
    let progress = Progress::start(args.run.quiet)?;
    args.check_outputs()?;
    let mut report = args.input().find(&progress)?;
    progress.stage(Stage::Write, None);
    let clock = Clock::start(Stage::Write);
    let ready = args.write(&report, &progress)?;
    report.add_stage(clock.stop(0));
    progress.finish();
    report.report().finish(&args.run, ready)
}

impl HostsArgs {
    /// Refuses outputs that cannot be made.
    fn check_outputs(&self) -> Result<()> {
        let inputs: Vec<&Place> =
            self.inputs.iter().chain(&self.pages).chain(&self.links).collect();
        let tables = [&self.output, &self.contracted, &self.folds].map(|path| path.as_deref());
        self.run.check(&tables, &inputs)
    }

    fn input(&self) -> HostsInput {
        HostsInput {
            urls: self.inputs.clone(),
            pages: self.pages.iter().cloned().collect(),
            links: self.links.iter().cloned().collect(),
            url: self.url.clone(),
            text: self.text.clone(),
            link_fields: self.link_fields.clone().map(|fields| fields.0),
            threshold: self.threshold,
            least_urls: self.least_urls,
            least_shingles: self.least_shingles,
            shingle: self.shingle.clone(),
            alike: self.alike,
            most_pages: self.most_pages,
            least_links: self.least_links,
            options: Options {
                format: self.format,
                delimiter: self.delimiter.clone(),
                on_error: self.on_error,
                max_item: self.max_item,
                ..options_of(&[&self.run])
            },
        }
    }

    /// Writes all tables that are wanted.
    fn write(&self, report: &MirrorReport, observer: &dyn Observer) -> Result<Vec<CompleteOutput>> {
        let mut ready = Vec::new();
        if let Some(path) = &self.contracted {
            let table = report.write_links(to_file(Some(path), self.run.formulas()), observer)?;
            ready.extend(table.map(TableWriter::ready).transpose()?);
        }
        if let Some(path) = &self.folds {
            let table = report.write_folds(to_file(Some(path), self.run.formulas()))?;
            ready.extend(table.map(TableWriter::ready).transpose()?);
        }
        let pairs =
            report.write_pairs(to_file(self.output.as_deref(), self.run.formulas()), observer);
        ready.extend(unless_closed(pairs.and_then(TableWriter::ready))?);
        Ok(ready)
    }
}

//! `nearkin hosts`: hosts that mirror one another.

mod report;
mod search;

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use nearkin::Result;
use nearkin::pipeline::{Clock, Observer, Stage};
use nearkin::read::{Format, Place};
use nearkin::shingle::Shingling;
use nearkin::write::{Ready, TableWriter};

use crate::args::{ErrorPolicy, RunArgs, format_parser, place_parser};
use crate::output::to_file;
use crate::progress::Progress;
use crate::report::unless_closed;

pub use report::MirrorReport;
pub use search::HostsInput;
use search::{ALIKE, LEAST_LINKS, LEAST_SHINGLES, LEAST_URLS, MOST_PAGES, THRESHOLD};

/// Hosts that mirror one another, from their URLs alone
///
/// Writes a row for each pair of hosts whose URLs look alike: a, b, similarity (the share of path shingles of either that both
/// have), a_urls and b_urls (how many of each are known) and shared_paths (how many paths both have to the letter), sorted by
/// where a, then b, first appears. With --pages the pages at paths that both have are compared: pages_compared, pages_same,
/// pages_alike, and the verdict identical, similar, partial, different or unchecked. With --links pages that are one page are
/// merged, and then those that link to the same pages, until nothing more changes: pages_merged.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  nearkin hosts urls.txt.gz                            pairs of hosts as JSON lines
  nearkin hosts crawl.jsonl --url address -t 0.5       another field, a higher threshold
  cut -f2 log.tsv | nearkin hosts -                    standard input, a URL a line
  nearkin hosts urls.txt --pages pages.parquet         and are their pages the same?
  nearkin hosts urls.txt --links links.tsv --contracted left.tsv --folds folds.csv")]
pub(crate) struct HostsArgs {
    /// Lists of URLs: .txt (one a line), .jsonl .csv .tsv .parquet (a field or column), also .gz .zst, or - for standard
    /// input
    #[arg(value_name = "URLS", required = true, value_parser = place_parser(), help_heading = "Input")]
    inputs: Vec<Place>,
    /// Field or column that holds the URL, here and in --pages. In .csv and .tsv files without a row of names it is the first
    /// column with a URL
    #[arg(long, value_name = "FIELD", default_value = "url", help_heading = "Input")]
    url: String,
    /// Read every list as this format instead of going by its extension; standard input is txt unless said
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(), help_heading = "Input")]
    format: Option<Format>,
    /// What stands between the fields of CSV files, such as ';' [default: a comma, or a tab in .tsv]
    #[arg(long, value_name = "TEXT", help_heading = "Input")]
    delimiter: Option<String>,
    /// Folder for temporary files, where standard input is kept [default: the system's]
    #[arg(long, value_name = "DIR", help_heading = "Input")]
    temp: Option<PathBuf>,
    /// What to do with a record that cannot be used, such as one that is no URL
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = ErrorPolicy::Stop, help_heading = "Input")]
    on_error: ErrorPolicy,
    /// Pairs at or above this similarity are reported. Two hosts with the same pages, of which the lists have half each, are
    /// at about 0.33
    #[arg(
        short,
        long,
        value_name = "SIMILARITY",
        default_value_t = THRESHOLD,
        allow_negative_numbers = true,
        help_heading = "Mirrors"
    )]
    threshold: f64,
    /// Hosts with fewer different URLs are not judged
    #[arg(long, value_name = "N", default_value_t = LEAST_URLS, help_heading = "Mirrors")]
    least_urls: usize,
    /// Nor are those with fewer shingles: two words of a path that follow each other, and their place
    #[arg(long, value_name = "N", default_value_t = LEAST_SHINGLES, help_heading = "Mirrors")]
    least_shingles: usize,
    /// Compare the pages of each pair: a file of pages with their URLs and texts (.jsonl .csv .tsv .parquet)
    #[arg(long, value_name = "FILE", value_parser = place_parser(), help_heading = "Pages")]
    pages: Option<Place>,
    /// Field or column of --pages that holds the text
    #[arg(long, value_name = "FIELD", default_value = "text", help_heading = "Pages")]
    text: String,
    /// What texts are cut into: chars:K, words:K or stopwords
    #[arg(long, value_name = "SHINGLE", default_value = "words:5", help_heading = "Pages")]
    shingle: Shingling,
    /// Pages at or above this resemblance are near the same
    #[arg(
        long,
        value_name = "SIMILARITY",
        default_value_t = ALIKE,
        allow_negative_numbers = true,
        help_heading = "Pages"
    )]
    alike: f64,
    /// Compare at most so many pages of each pair, chosen at random
    #[arg(long, value_name = "N", default_value_t = MOST_PAGES, help_heading = "Pages")]
    most_pages: usize,
    /// Merge pages that are one page, by their texts and their links: a file with a link a row (.tsv .csv .txt .jsonl
    /// .parquet)
    #[arg(long, value_name = "FILE", value_parser = place_parser(), help_heading = "Links")]
    links: Option<Place>,
    /// The two columns of --links, from where and to where [default: the first two; of JSON lines source,target]
    #[arg(long, value_name = "FROM,TO", requires = "links", help_heading = "Links")]
    link_fields: Option<LinkFields>,
    /// A page without text is not judged by fewer different links
    #[arg(long, value_name = "N", default_value_t = LEAST_LINKS, help_heading = "Links")]
    least_links: usize,
    /// Write the links that are left here: source, target
    #[arg(long, value_name = "FILE", requires = "links", help_heading = "Links")]
    contracted: Option<PathBuf>,
    /// Write here which hosts folded into others: host, into, pages (all of the host), merged (those that went there)
    #[arg(long, value_name = "FILE", requires = "links", help_heading = "Links")]
    folds: Option<PathBuf>,
    /// Write pairs here: .jsonl, .csv, .tsv or .parquet, also .gz .zst [default: JSON lines on standard
    /// output]
    #[arg(short, long, value_name = "FILE", help_heading = "Run")]
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
    report.told().finish(&args.run, ready)
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
            format: self.format,
            delimiter: self.delimiter.clone(),
            temp: self.temp.clone(),
            on_error: self.on_error.into(),
            threshold: self.threshold,
            least_urls: self.least_urls,
            least_shingles: self.least_shingles,
            shingle: self.shingle.clone(),
            alike: self.alike,
            most_pages: self.most_pages,
            least_links: self.least_links,
            threads: self.run.threads.map(usize::from),
            memory: self.run.memory,
        }
    }

    /// Writes all tables that are wanted.
    fn write(&self, report: &MirrorReport, observer: &dyn Observer) -> Result<Vec<Ready>> {
        let mut ready = Vec::new();
        if let Some(path) = &self.contracted {
            let table = report.write_links(to_file(Some(path)), observer)?;
            ready.extend(table.map(TableWriter::ready).transpose()?);
        }
        if let Some(path) = &self.folds {
            let table = report.write_folds(to_file(Some(path)))?;
            ready.extend(table.map(TableWriter::ready).transpose()?);
        }
        let pairs = report.write_pairs(to_file(self.output.as_deref()), observer);
        ready.extend(unless_closed(pairs.and_then(TableWriter::ready))?);
        Ok(ready)
    }
}

//! `nearkin hosts`: hosts that mirror one another.

mod result;

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use nearkin::hosts::address::is_url;
use nearkin::hosts::{Check, Contraction, Graph, Hosts, MirrorSearch, Rule, SkippedRecords};
use nearkin::observe::{Clock, Observer, Stage, StageTime};
use nearkin::options::Options;
use nearkin::read::{FieldKeys, Format, Input, OnError, Place, ReadOptions, each_link};
use nearkin::shingle::{Shingling, UrlShingles};
use nearkin::with_threads;
use nearkin::write::CompleteOutput;
use nearkin::{Error, Result};

use crate::args::{RunArgs, format_parser, keyword_parser, options_of, parsed, place_parser};
use crate::progress::Progress;
use crate::report::RunReport;
use result::{HostsResult, LinkContraction};

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
    /// Smallest similarity of two hosts
    ///
    /// Two hosts with the same pages, each half known, have about 0.33.
    #[arg(
        short,
        long,
        value_name = "SIMILARITY",
        default_value_t = 0.33,
        allow_negative_numbers = true,
        help_heading = "Mirrors"
    )]
    threshold: f64,
    /// Ignore hosts with fewer different URLs
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Mirrors")]
    least_urls: usize,
    /// Ignore hosts with fewer shingles
    ///
    /// A shingle is two consecutive words of a path and their place in it.
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Mirrors")]
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
        default_value_t = 0.8,
        allow_negative_numbers = true,
        help_heading = "Pages"
    )]
    alike: f64,
    /// Compare at most N pages per pair of hosts, chosen at random
    #[arg(long, value_name = "N", default_value_t = 200, help_heading = "Pages")]
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
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "Links")]
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
    let (ready, told) = with_threads(args.options().threads, || find(args, &progress))?;
    progress.finish();
    told.finish(&args.run, ready)
}

/// Finds the mirrors, checks them as far as there is something to check them by, and writes all tables.
fn find(args: &HostsArgs, observer: &dyn Observer) -> Result<(Vec<CompleteOutput>, RunReport)> {
    args.check_places()?;
    args.check_similarities()?;
    let mut watch = Watch { observer, stages: Vec::new() };
    let urls = Input::open(&args.inputs, args.url_options())?;
    let pages = args
        .pages
        .as_ref()
        .map(|place| Input::open(std::slice::from_ref(place), args.page_options()));
    let pages = pages.transpose()?;
    let mut skipped = SkippedRecords::default();
    let graph = args.links.as_ref().map(|place| args.graph(place, &mut watch, &mut skipped));
    let mut graph = graph.transpose()?;
    let mut hosts = watch.stage(Stage::Read, urls.bytes(), || {
        Hosts::read(&urls, &UrlShingles::default(), args.on_error.unwrap_or_default(), observer)
    })?;
    args.options().check_fits(hosts.bytes())?;
    let stopped = || observer.stopped();
    let mirrors = watch.stage(Stage::Join, 0, || hosts.mirrors(&args.search(&stopped)))?;
    let checked = match &pages {
        Some(pages) => watch.stage(Stage::Verify, 2 * pages.bytes(), || {
            let (checked, more) = hosts.check(&mirrors.pairs, pages, &args.check(), observer)?;
            skipped += more;
            Ok(Some(checked))
        })?,
        None => None,
    };
    let contracted = match &mut graph {
        Some(graph) => Some(args.contract(graph, pages.as_ref(), &mut watch)?),
        None => None,
    };
    skipped += std::mem::take(&mut hosts.skipped);
    let folded =
        graph.zip(contracted).map(|(graph, contracted)| LinkContraction::new(graph, contracted));
    let found = HostsResult { args, hosts, mirrors, checked, folded, skipped };
    let ready = watch.stage(Stage::Write, 0, || found.write(observer))?;
    Ok((ready, found.told(&watch.stages)))
}

/// Times the stages and shows them.
struct Watch<'a> {
    observer: &'a dyn Observer,
    stages: Vec<StageTime>,
}

impl Watch<'_> {
    fn stage<T>(
        &mut self,
        stage: Stage,
        bytes: u64,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.observer.stage(stage, (bytes > 0).then_some(bytes));
        let clock = Clock::start(stage);
        let done = work()?;
        self.stages.push(clock.stop(bytes));
        Ok(done)
    }
}

impl HostsArgs {
    /// Refuses outputs that cannot be made, and standard input for two things.
    fn check_places(&self) -> Result<()> {
        let inputs: Vec<&Place> =
            self.inputs.iter().chain(&self.pages).chain(&self.links).collect();
        if inputs.iter().filter(|place| place.is_stdin()).count() > 1 {
            return Err(Error::parameter(
                "-",
                "given twice",
                "given once: standard input is read once",
            ));
        }
        if let Some(folder) =
            inputs.iter().filter_map(|place| place.path()).find(|path| path.is_dir())
        {
            let what = "is a folder; name the files in it".to_owned();
            return Err(Error::file(folder, what));
        }
        let tables = [&self.output, &self.contracted, &self.folds].map(|path| path.as_deref());
        self.run.check(&tables, &inputs)
    }

    fn check_similarities(&self) -> Result<()> {
        let given = [("threshold", self.threshold), ("alike", self.alike)];
        match given.into_iter().find(|(_, value)| !(*value > 0.0 && *value <= 1.0)) {
            Some((name, value)) => Err(Error::parameter(name, value, "above 0 and at most 1")),
            None => Ok(()),
        }
    }

    fn options(&self) -> Options {
        Options {
            on_error: self.on_error,
            delimiter: self.delimiter.clone(),
            ..options_of(&[&self.run])
        }
    }

    fn url_options(&self) -> ReadOptions {
        ReadOptions {
            text: self.url.clone(),
            keys: FieldKeys { text: "url", ..FieldKeys::default() },
            positions: true,
            format: self.format,
            piped: Format::Txt,
            is_value: Some(is_url),
            ..self.options().table_options()
        }
    }

    fn page_options(&self) -> ReadOptions {
        ReadOptions {
            text: self.text.clone(),
            id: Some(self.url.clone()),
            keys: FieldKeys { id: "url", ..FieldKeys::default() },
            ..self.options().table_options()
        }
    }

    fn link_options(&self) -> ReadOptions {
        ReadOptions {
            columns: self.link_fields.as_ref().map_or_else(Vec::new, |fields| fields.0.to_vec()),
            is_value: Some(is_url),
            ..self.options().table_options()
        }
    }

    fn search<'a>(&self, stopped: &'a (dyn Fn() -> bool + Sync)) -> MirrorSearch<'a> {
        MirrorSearch {
            threshold: self.threshold,
            least_urls: self.least_urls,
            least_shingles: self.least_shingles,
            stopped,
        }
    }

    fn check(&self) -> Check {
        Check {
            shingling: self.shingle.clone(),
            alike: self.alike,
            most: self.most_pages,
            on_error: self.on_error.unwrap_or_default(),
        }
    }

    /// Reads the links.
    fn graph(
        &self,
        place: &Place,
        watch: &mut Watch<'_>,
        skipped: &mut SkippedRecords,
    ) -> Result<Graph> {
        let observer = watch.observer;
        watch.stage(Stage::Load, 0, || {
            let mut graph = Graph::default();
            let stopped = || observer.stopped();
            let bad = each_link(place, &self.link_options(), &stopped, &mut |from, to| {
                graph.link(from, to)
            })?;
            skipped.add(bad);
            Ok(graph)
        })
    }

    /// Merges pages that are one page.
    fn contract(
        &self,
        graph: &mut Graph,
        pages: Option<&Input>,
        watch: &mut Watch<'_>,
    ) -> Result<Contraction> {
        let observer = watch.observer;
        if let Some(pages) = pages {
            watch.stage(Stage::Sketch, pages.bytes(), || {
                graph.read_texts(pages, &self.check(), observer)
            })?;
        }
        let rule = Rule { alike: self.alike, least_links: self.least_links };
        watch.stage(Stage::Contract, 0, || graph.contract(&rule, &|| observer.stopped()))
    }
}

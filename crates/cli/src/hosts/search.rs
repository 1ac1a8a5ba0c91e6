//! Mirror hosts for every front end: URLs, pages and links come in; pairs of hosts, links and folds go out as tables.

use nearkin_engine::hosts::address::is_url;
use nearkin_engine::hosts::{Check, Contraction, Graph, Hosts, MirrorSearch, Rule, SkippedRecords};
use nearkin_engine::observe::{Clock, Observer, Stage, StageTime};
use nearkin_engine::options::Options;
use nearkin_engine::read::{FieldKeys, Format, Input, OnError, Place, ReadOptions, each_link};
use nearkin_engine::shingle::{Shingling, UrlShingles};
use nearkin_engine::{Error, Result, with_threads};

use super::report::{LinkReport, MirrorReport};

/// What is searched for mirrors, and how.
#[derive(Debug, Clone)]
pub struct HostsInput {
    /// Lists of URLs.
    pub urls: Vec<Place>,
    /// Pages with their URLs and texts, by which pairs of hosts are checked.
    pub pages: Vec<Place>,
    /// Links between pages: those that are one page are merged.
    pub links: Vec<Place>,
    /// The field that holds the URL, of lists and of pages.
    pub url: String,
    /// The field of pages that holds the text.
    pub text: String,
    /// The two fields of a link, from where and to where; the first two unless given.
    pub link_fields: Option<[String; 2]>,
    /// Pairs of hosts at or above this similarity are found.
    pub threshold: f64,
    /// Hosts with fewer different URLs are not judged.
    pub least_urls: usize,
    /// Hosts with fewer shingles are not judged.
    pub least_shingles: usize,
    /// What texts are cut into.
    pub shingle: Shingling,
    /// Pages at or above this resemblance are near the same.
    pub alike: f64,
    /// Pages of each pair of hosts that are compared, at most.
    pub most_pages: usize,
    /// A page without text is not judged by fewer different links.
    pub least_links: usize,
    /// How files are read (`format` is that of the lists), and the threads and the memory to use.
    pub options: Options,
}

impl Default for HostsInput {
    fn default() -> Self {
        Self {
            urls: Vec::new(),
            pages: Vec::new(),
            links: Vec::new(),
            url: "url".to_owned(),
            text: "text".to_owned(),
            link_fields: None,
            threshold: THRESHOLD,
            least_urls: LEAST_URLS,
            least_shingles: LEAST_SHINGLES,
            shingle: Shingling::default(),
            alike: ALIKE,
            most_pages: MOST_PAGES,
            least_links: LEAST_LINKS,
            options: Options::default(),
        }
    }
}

/// The similarity of two hosts with the same pages, of which the lists have half each.
pub(super) const THRESHOLD: f64 = 0.33;
pub(super) const LEAST_URLS: usize = 10;
pub(super) const LEAST_SHINGLES: usize = 20;
pub(super) const ALIKE: f64 = 0.8;
pub(super) const MOST_PAGES: usize = 200;
pub(super) const LEAST_LINKS: usize = 3;

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

impl HostsInput {
    /// Finds the mirrors, and checks them as far as there is something to check them by.
    ///
    /// # Errors
    /// When an input cannot be read, a parameter is out of range, there is not enough memory, or the observer stops it.
    pub fn find(&self, observer: &dyn Observer) -> Result<MirrorReport> {
        self.options.check()?;
        with_threads(self.options.threads, || self.find_in_pool(observer))
    }

    fn find_in_pool(&self, observer: &dyn Observer) -> Result<MirrorReport> {
        self.check_places()?;
        self.check_similarities()?;
        let mut watch = Watch { observer, stages: Vec::new() };
        let urls = Input::open(&self.urls, self.url_options())?;
        let pages = (!self.pages.is_empty()).then(|| Input::open(&self.pages, self.page_options()));
        let pages = pages.transpose()?;
        let mut skipped = SkippedRecords::default();
        let graph = (!self.links.is_empty()).then(|| self.graph(&mut watch, &mut skipped));
        let mut graph = graph.transpose()?;
        let mut hosts = watch.stage(Stage::Read, urls.bytes(), || {
            Hosts::read(&urls, &UrlShingles::default(), self.on_error(), observer)
        })?;
        self.options.check_fits(hosts.bytes())?;
        let stopped = || observer.stopped();
        let mirrors = watch.stage(Stage::Join, 0, || hosts.mirrors(&self.search(&stopped)))?;
        let checked = match &pages {
            Some(pages) => watch.stage(Stage::Verify, 2 * pages.bytes(), || {
                let (checked, more) =
                    hosts.check(&mirrors.pairs, pages, &self.check(), observer)?;
                skipped += more;
                Ok(Some(checked))
            })?,
            None => None,
        };
        let contracted = match &mut graph {
            Some(graph) => Some(self.contract(graph, pages.as_ref(), &mut watch)?),
            None => None,
        };
        skipped += std::mem::take(&mut hosts.skipped);
        let links =
            graph.zip(contracted).map(|(graph, contracted)| LinkReport::new(graph, contracted));
        Ok(MirrorReport {
            threshold: self.threshold,
            least_urls: self.least_urls,
            least_shingles: self.least_shingles,
            hosts,
            mirrors,
            checked,
            links,
            skipped,
            stages: watch.stages,
        })
    }

    /// Refuses folders, and standard input for two things.
    fn check_places(&self) -> Result<()> {
        let mut inputs = self.urls.iter().chain(&self.pages).chain(&self.links);
        if inputs.clone().filter(|place| place.is_stdin()).count() > 1 {
            return Err(Error::parameter(
                "-",
                "given twice",
                "given once: standard input is read once",
            ));
        }
        let is_folder = |path: &&std::path::Path| path.is_dir();
        match inputs.find_map(|place| place.path().filter(is_folder)) {
            Some(folder) => {
                let what = "is a folder; name the files in it".to_owned();
                Err(Error::file(folder, what))
            }
            None => Ok(()),
        }
    }

    fn check_similarities(&self) -> Result<()> {
        let given = [("threshold", self.threshold), ("alike", self.alike)];
        match given.into_iter().find(|(_, value)| !(*value > 0.0 && *value <= 1.0)) {
            Some((name, value)) => Err(Error::parameter(name, value, "above 0 and at most 1")),
            None => Ok(()),
        }
    }

    fn on_error(&self) -> OnError {
        self.options.on_error.unwrap_or_default()
    }

    /// How pages and links are read.
    fn read_options(&self) -> ReadOptions {
        ReadOptions { format: None, ..self.options.table_options() }
    }

    fn url_options(&self) -> ReadOptions {
        ReadOptions {
            text: self.url.clone(),
            keys: FieldKeys { text: "url", ..FieldKeys::default() },
            positions: true,
            format: self.options.format,
            piped: Format::Txt,
            is_value: Some(is_url),
            ..self.read_options()
        }
    }

    fn page_options(&self) -> ReadOptions {
        ReadOptions {
            text: self.text.clone(),
            id: Some(self.url.clone()),
            keys: FieldKeys { id: "url", ..FieldKeys::default() },
            ..self.read_options()
        }
    }

    fn link_options(&self) -> ReadOptions {
        ReadOptions {
            columns: self.link_fields.as_ref().map_or_else(Vec::new, |fields| fields.to_vec()),
            is_value: Some(is_url),
            ..self.read_options()
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
            on_error: self.on_error(),
        }
    }

    /// Reads the links.
    fn graph(&self, watch: &mut Watch<'_>, skipped: &mut SkippedRecords) -> Result<Graph> {
        let observer = watch.observer;
        watch.stage(Stage::Load, 0, || {
            let mut graph = Graph::default();
            let stopped = || observer.stopped();
            for place in &self.links {
                let bad = each_link(place, &self.link_options(), &stopped, &mut |from, to| {
                    graph.link(from, to)
                })?;
                skipped.add(bad);
            }
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

//! A run that was stopped goes on after its last finished stage, with the same result.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use nearkin_engine::Error;
use nearkin_engine::cluster::{Keep, Linkage};
use nearkin_engine::family::hash::SplitMix;
use nearkin_engine::item::{Strings, Texts, Vectors};
use nearkin_engine::observe::{Observer, Stage};
use nearkin_engine::search::{Items, Job, MemoryItems, Search, SourceItems};
use nearkin_engine::settings::{Settings, Strategy};
use nearkin_engine::space::{StringMeasure, VectorMeasure};

/// Families of near copies: each text has one word of its own.
fn texts() -> Vec<String> {
    let text = |i: usize| {
        let words = (0..60).map(|w| format!("w{}", (i / 5) * 1000 + w));
        words.chain([format!("own{i}")]).collect::<Vec<_>>().join(" ")
    };
    (0..1500).map(text).collect()
}

/// Stops a run as soon as it enters a stage.
struct StopAt {
    stage: Stage,
    reached: AtomicBool,
}

impl Observer for StopAt {
    fn stage(&self, stage: Stage, _total: Option<u64>) {
        if stage == self.stage {
            self.reached.store(true, Ordering::Relaxed);
        }
    }

    fn stopped(&self) -> bool {
        self.reached.load(Ordering::Relaxed)
    }
}

fn job(folder: &Path) -> Job {
    Job::open(folder, "test", "texts").expect("a job")
}

type Rows = (Vec<(u32, u32, f64)>, u64);

fn all_pairs(search: Search<'_>) -> nearkin_engine::Result<(Rows, Option<Stage>)> {
    let texts = texts();
    let similar = search.pairs(SourceItems::new(&Texts(&texts)))?;
    let mut rows = Vec::new();
    similar.each(|a, b, similarity| {
        rows.push((a, b, similarity));
        Ok(())
    })?;
    Ok(((rows, similar.stats.verified), similar.stats.resumed))
}

fn all_clusters(search: Search<'_>) -> nearkin_engine::Result<(Rows, Option<Stage>)> {
    let texts = texts();
    let result = search.dedup(SourceItems::new(&Texts(&texts)), &Keep::Longest, Linkage::Chains)?;
    let cluster = |(position, cluster): (u32, Option<(u32, f64)>)| {
        let (kept, similarity) = cluster.expect("no text is skipped");
        (position, kept, similarity)
    };
    let rows = (0u32..).zip(result.clusters()).map(cluster).collect();
    Ok(((rows, result.stats.verified), result.stats.resumed))
}

/// Bytes of memory with which a quarter, about 600 records of 680 bytes, is kept from the first pass, and as much is
/// held of those that are read again: the rest is on disk.
const SOME: usize = 1_600_000;

#[test]
fn a_stopped_run_goes_on_after_its_last_finished_stage() {
    type Work = fn(Search<'_>) -> nearkin_engine::Result<(Rows, Option<Stage>)>;
    for work in [all_pairs as Work, all_clusters] {
        let all =
            |strategy| work(Search::new(&Settings { strategy, ..Settings::default() })).unwrap();
        let expected = [Strategy::Approximate, Strategy::Exact].map(all);
        assert!(expected.iter().all(|(rows, resumed)| rows.0.len() > 1000 && resumed.is_none()));
        // With little memory what is loaded is on disk and is found again; with much it is read again.
        for (strategy, memory, stop, after) in [
            (Strategy::Approximate, usize::MAX, Stage::Sketch, None),
            (Strategy::Approximate, usize::MAX, Stage::Candidates, None),
            (Strategy::Approximate, usize::MAX, Stage::Verify, Some(Stage::Candidates)),
            (Strategy::Approximate, 0, Stage::Candidates, None),
            (Strategy::Approximate, 0, Stage::Load, Some(Stage::Candidates)),
            (Strategy::Approximate, 0, Stage::Verify, Some(Stage::Load)),
            (Strategy::Approximate, SOME, Stage::Verify, Some(Stage::Load)),
            (Strategy::Exact, usize::MAX, Stage::Read, None),
            (Strategy::Exact, usize::MAX, Stage::Join, Some(Stage::Candidates)),
            (Strategy::Exact, 0, Stage::Load, Some(Stage::Candidates)),
            (Strategy::Exact, 0, Stage::Join, Some(Stage::Load)),
        ] {
            let expected = &expected[usize::from(strategy == Strategy::Exact)].0;
            let folder = tempfile::tempdir().unwrap();
            let stopper = StopAt { stage: stop, reached: AtomicBool::new(false) };
            let settings = Settings { memory, strategy, ..Settings::default() };
            let search = Search::new(&settings);
            let first = job(folder.path());
            let stopped = work(search.observed(&stopper).resuming(Some(&first)));
            assert!(matches!(stopped, Err(Error::Interrupted)), "{stop:?}");
            drop(first);
            let again = job(folder.path());
            let strategy = &settings.strategy;
            let (rows, resumed) = work(search.resuming(Some(&again))).unwrap();
            // Little memory means more blocks, and other pairs that are looked at.
            assert_eq!(rows.0, expected.0, "{strategy:?} {memory} {stop:?}");
            assert!(*strategy == Strategy::Exact || rows.1 == expected.1, "{memory} {stop:?}");
            assert_eq!(resumed, after, "{memory} {stop:?}");
            // All stages are finished now, and only the writing would be done again.
            let (once_more, resumed) = work(search.resuming(Some(&again))).unwrap();
            assert_eq!((once_more, resumed), (rows, Some(Stage::Verify)));
            again.finish();
            assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
        }
    }
}

/// Vectors and strings, some of them copies, with a limit and the stage that compares them.
fn items() -> [(Items, f64, Strategy, Stage); 3] {
    let mut random = SplitMix::new(3);
    let values = (0..600 * 4).map(|_| random.below(20) as f32).collect();
    let vectors = Vectors::new(4, values).expect("vectors");
    let vectors = Items::Vectors(vectors, VectorMeasure::L2);
    let strings: Strings = (0..600).map(|i| format!("name {}", i * i % 700)).collect();
    let strings = Items::Strings(strings, StringMeasure::Mutation);
    let expression = "or(4, and(2, line(8)))".parse().expect("an expression");
    let tables = Strategy::Tables { expression, probes: 1 };
    [
        (vectors.clone(), 4.0, Strategy::Exact, Stage::Join),
        (vectors, 4.0, tables, Stage::Verify),
        (strings, 1.0, Strategy::Cheapest, Stage::Join),
    ]
}

/// The rows of a search of items in memory, what was compared, and the stage after which it went on.
type MemoryWork = fn(Search<'_>, Items) -> nearkin_engine::Result<(Rows, Option<Stage>)>;

fn pairs_in_memory(
    search: Search<'_>,
    items: Items,
) -> nearkin_engine::Result<(Rows, Option<Stage>)> {
    let similar = search.pairs(MemoryItems::new(items))?;
    let mut rows = Vec::new();
    similar.each(|a, b, value| {
        rows.push((a, b, value));
        Ok(())
    })?;
    Ok(((rows, similar.stats.verified), similar.stats.resumed))
}

fn closest_in_memory(
    search: Search<'_>,
    items: Items,
) -> nearkin_engine::Result<(Rows, Option<Stage>)> {
    let similar = search.closest(MemoryItems::new(items), 3)?;
    let mut rows = Vec::new();
    similar.closest(3, |a, b, value| {
        rows.push((a, b, value));
        Ok(())
    })?;
    Ok(((rows, similar.stats.verified), similar.stats.resumed))
}

fn clusters_in_memory(
    search: Search<'_>,
    items: Items,
    linkage: Linkage,
) -> nearkin_engine::Result<(Rows, Option<Stage>)> {
    let result = search.dedup(MemoryItems::new(items), &Keep::First, linkage)?;
    let cluster = |(position, cluster): (u32, Option<(u32, f64)>)| {
        let (kept, value) = cluster.expect("no item is skipped");
        (position, kept, value)
    };
    let rows = (0u32..).zip(result.clusters()).map(cluster).collect();
    Ok(((rows, result.stats.verified), result.stats.resumed))
}

#[test]
fn matches_of_items_in_memory_are_taken_up_again() {
    let chains: MemoryWork = |search, items| clusters_in_memory(search, items, Linkage::Chains);
    let stars: MemoryWork = |search, items| clusters_in_memory(search, items, Linkage::Stars);
    let works: [(&str, MemoryWork); 4] = [
        ("pairs", pairs_in_memory),
        ("closest", closest_in_memory),
        ("chains", chains),
        ("stars", stars),
    ];
    for (name, work) in works {
        for (items, limit, strategy, stage) in items() {
            let stage = if name == "closest" { Stage::Verify } else { stage };
            let settings =
                Settings { within: Some(limit), strategy, memory: 0, ..Settings::default() };
            let search = Search::new(&settings);
            let (expected, resumed) = work(search, items.clone()).unwrap();
            assert!(expected.0.len() >= 600 && resumed.is_none(), "{name}");
            let folder = tempfile::tempdir().unwrap();
            let stopper = || StopAt { stage, reached: AtomicBool::new(false) };
            let first = job(folder.path());
            let stopped = work(search.observed(&stopper()).resuming(Some(&first)), items.clone());
            assert!(matches!(stopped, Err(Error::Interrupted)), "{name} {stage:?}");
            drop(first);
            let left = std::fs::read_dir(folder.path()).unwrap().next();
            assert!(left.is_none(), "nothing was finished, and nothing is left");
            let second = job(folder.path());
            let (rows, resumed) = work(search.resuming(Some(&second)), items.clone()).unwrap();
            assert_eq!((&rows, resumed), (&expected, None), "{name} {stage:?}");
            drop(second);
            // The stage is not entered again, or this run would be stopped.
            let third = job(folder.path());
            let again = work(search.observed(&stopper()).resuming(Some(&third)), items).unwrap();
            assert_eq!(again, (expected, Some(Stage::Verify)), "{name} {stage:?}");
            third.finish();
            assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
        }
    }
}

//! A run that was stopped goes on after its last finished stage, with the same result.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use nearkin_engine::Error;
use nearkin_engine::cluster::{Keep, Linkage};
use nearkin_engine::item::Texts;
use nearkin_engine::observe::{Observer, Stage};
use nearkin_engine::search::{Job, Search, SourceItems};
use nearkin_engine::settings::{Settings, Strategy};

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

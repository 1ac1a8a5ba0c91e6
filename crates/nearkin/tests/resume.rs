//! A run that was stopped goes on after its last finished stage, with the same result.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nearkin::Error;
use nearkin::cluster::Keep;
use nearkin::item::Texts;
use nearkin::pipeline::{Job, NoObserver, Observer, Settings, Stage, dedup, pairs};

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

fn settings(folder: &Path, memory: usize) -> Settings {
    let job = Job::open(folder, "test", "texts").expect("a job");
    Settings { memory, job: Some(Arc::new(job)), ..Settings::default() }
}

type Rows = (Vec<(u32, u32, f64)>, u64);

fn all_pairs(
    settings: &Settings,
    observer: &dyn Observer,
) -> nearkin::Result<(Rows, Option<Stage>)> {
    let texts = texts();
    let similar = pairs(&Texts(&texts), None, settings, observer)?;
    let mut rows = Vec::new();
    similar.each(|a, b, similarity| {
        rows.push((a, b, similarity));
        Ok(())
    })?;
    Ok(((rows, similar.stats.verified), similar.stats.resumed))
}

fn all_clusters(
    settings: &Settings,
    observer: &dyn Observer,
) -> nearkin::Result<(Rows, Option<Stage>)> {
    let texts = texts();
    let result = dedup(&Texts(&texts), settings, &Keep::Longest, true, observer)?;
    let cluster = |(position, cluster): (u32, Option<(u32, f64)>)| {
        let (kept, similarity) = cluster.expect("no text is skipped");
        (position, kept, similarity)
    };
    let rows = (0u32..).zip(result.clusters()).map(cluster).collect();
    Ok(((rows, result.stats.verified), result.stats.resumed))
}

#[test]
fn a_stopped_run_goes_on_after_its_last_finished_stage() {
    type Work = fn(&Settings, &dyn Observer) -> nearkin::Result<(Rows, Option<Stage>)>;
    for work in [all_pairs as Work, all_clusters] {
        let (expected, resumed) = work(&Settings::default(), &NoObserver).unwrap();
        assert!(expected.0.len() > 1000 && resumed.is_none());
        // With little memory what is loaded is on disk and is found again; with much it is read again.
        for (memory, stop, after) in [
            (usize::MAX, Stage::Sketch, None),
            (usize::MAX, Stage::Candidates, None),
            (usize::MAX, Stage::Verify, Some(Stage::Candidates)),
            (0, Stage::Candidates, None),
            (0, Stage::Load, Some(Stage::Candidates)),
            (0, Stage::Verify, Some(Stage::Load)),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let stopper = StopAt { stage: stop, reached: AtomicBool::new(false) };
            let stopped = work(&settings(folder.path(), memory), &stopper);
            assert!(matches!(stopped, Err(Error::Interrupted)), "{stop:?}");
            let again = settings(folder.path(), memory);
            let (rows, resumed) = work(&again, &NoObserver).unwrap();
            assert_eq!(rows, expected, "{memory} {stop:?}");
            assert_eq!(resumed, after, "{memory} {stop:?}");
            // All stages are finished now, and only the writing would be done again.
            let (rows, resumed) = work(&again, &NoObserver).unwrap();
            assert_eq!((rows, resumed), (expected.clone(), Some(Stage::Verify)));
            again.job.as_ref().unwrap().finish();
            assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
        }
    }
}

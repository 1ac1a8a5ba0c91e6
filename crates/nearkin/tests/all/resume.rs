//! A run that was stopped goes on after its last finished stage, with the same result.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nearkin::Error;
use nearkin::cluster::Keep;
use nearkin::item::Texts;
use nearkin::pipeline::{Job, NoObserver, Observer, Settings, Stage, Way, dedup, pairs};

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

fn settings(folder: &Path, memory: usize, way: Way) -> Settings {
    let job = Job::open(folder, "test", "texts").expect("a job");
    Settings { memory, way, job: Some(Arc::new(job)), ..Settings::default() }
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

/// Bytes of memory with which a quarter, about 600 records of 680 bytes, is kept from the first pass, and as much is
/// held of those that are read again: the rest is on disk.
const SOME: usize = 1_600_000;

#[test]
fn a_stopped_run_goes_on_after_its_last_finished_stage() {
    type Work = fn(&Settings, &dyn Observer) -> nearkin::Result<(Rows, Option<Stage>)>;
    for work in [all_pairs as Work, all_clusters] {
        let all = |way| work(&Settings { way, ..Settings::default() }, &NoObserver).unwrap();
        let expected = [Way::Bands, Way::Exact].map(all);
        assert!(expected.iter().all(|(rows, resumed)| rows.0.len() > 1000 && resumed.is_none()));
        // With little memory what is loaded is on disk and is found again; with much it is read again.
        for (way, memory, stop, after) in [
            (Way::Bands, usize::MAX, Stage::Sketch, None),
            (Way::Bands, usize::MAX, Stage::Candidates, None),
            (Way::Bands, usize::MAX, Stage::Verify, Some(Stage::Candidates)),
            (Way::Bands, 0, Stage::Candidates, None),
            (Way::Bands, 0, Stage::Load, Some(Stage::Candidates)),
            (Way::Bands, 0, Stage::Verify, Some(Stage::Load)),
            (Way::Bands, SOME, Stage::Verify, Some(Stage::Load)),
            (Way::Exact, usize::MAX, Stage::Read, None),
            (Way::Exact, usize::MAX, Stage::Join, Some(Stage::Candidates)),
            (Way::Exact, 0, Stage::Load, Some(Stage::Candidates)),
            (Way::Exact, 0, Stage::Join, Some(Stage::Load)),
        ] {
            let expected = &expected[usize::from(way == Way::Exact)].0;
            let folder = tempfile::tempdir().unwrap();
            let stopper = StopAt { stage: stop, reached: AtomicBool::new(false) };
            let stopped = work(&settings(folder.path(), memory, way), &stopper);
            assert!(matches!(stopped, Err(Error::Interrupted)), "{stop:?}");
            let again = settings(folder.path(), memory, way);
            let (rows, resumed) = work(&again, &NoObserver).unwrap();
            // Little memory means more blocks, and other pairs that are looked at.
            assert_eq!(rows.0, expected.0, "{way:?} {memory} {stop:?}");
            assert!(way == Way::Exact || rows.1 == expected.1, "{memory} {stop:?}");
            assert_eq!(resumed, after, "{memory} {stop:?}");
            // All stages are finished now, and only the writing would be done again.
            let (once_more, resumed) = work(&again, &NoObserver).unwrap();
            assert_eq!((once_more, resumed), (rows, Some(Stage::Verify)));
            again.job.as_ref().unwrap().finish();
            assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
        }
    }
}

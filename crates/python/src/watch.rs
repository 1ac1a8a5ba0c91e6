//! Work in Rust while Python stays alive: other threads run, Ctrl-C stops the work, progress is shown.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use nearkin_engine::observe::{Observer, Stage};
use pyo3::prelude::*;

/// How often Ctrl-C is looked for and progress is shown.
const TICK: Duration = Duration::from_millis(100);

/// What the work says of itself, and whether it is to stop.
#[derive(Default)]
struct Watch {
    stopped: AtomicBool,
    stage: AtomicUsize,
    done: AtomicU64,
    /// 0 where it is not known.
    total: AtomicU64,
}

impl Observer for Watch {
    fn stage(&self, stage: Stage, total: Option<u64>) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total.unwrap_or(0), Ordering::Relaxed);
        self.stage.store(1 + stage as usize, Ordering::Relaxed);
    }

    fn advance(&self, amount: u64) {
        self.done.fetch_add(amount, Ordering::Relaxed);
    }

    fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

impl Watch {
    /// Calls `progress` with the stage's name, what is done of it, and of how much.
    fn show(&self, py: Python<'_>, progress: &Py<PyAny>) -> PyResult<()> {
        let stage = self.stage.load(Ordering::Relaxed).checked_sub(1);
        let Some(stage) = stage.and_then(|stage| Stage::ALL.get(stage)) else { return Ok(()) };
        let total = self.total.load(Ordering::Relaxed);
        progress.call1(py, (stage.name(), self.done.load(Ordering::Relaxed), total)).map(drop)
    }
}

/// Does the work on a thread of its own, without the interpreter's lock. An exception that comes meanwhile stops it and
/// is raised in place of its result.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&dyn Observer) -> T + Send,
) -> PyResult<T> {
    let watch = Watch::default();
    let look = || {
        Python::attach(|py| {
            py.check_signals()?;
            progress.as_ref().map_or(Ok(()), |progress| watch.show(py, progress))
        })
    };
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, wait) = channel::<()>();
            let working = scope.spawn(|| {
                let _done = done; // dropped at the end, also of a panic
                work(&watch)
            });
            let mut raised = Ok(());
            while wait.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if raised.is_ok() {
                    raised = look();
                    watch.stopped.store(raised.is_err(), Ordering::Relaxed);
                }
            }
            let result = working.join().unwrap_or_else(|panic| resume_unwind(panic));
            raised.map(|()| result)
        })
    })
}

//! A progress bar on a terminal, and Ctrl-C.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use nearkin_engine::observe::{Observer, Stage};

static STOPPED: AtomicBool = AtomicBool::new(false);

/// Shows the stage, its rate and the time left while a terminal is there to show it on.
pub(crate) struct Progress {
    /// None where nobody looks: even a hidden bar starts a thread for every stage.
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A bar on standard error unless `quiet`; and from now on Ctrl-C ends the run cleanly.
    pub(crate) fn start(quiet: bool) -> anyhow::Result<Self> {
        ctrlc::set_handler(|| {
            if !STOPPED.swap(true, Ordering::Relaxed) {
                std::thread::spawn(leave_anyway);
            }
        })
        .context("cannot watch for Ctrl-C")?;
        let show = !quiet && std::io::stderr().is_terminal();
        Ok(Self { bar: show.then(ProgressBar::new_spinner) })
    }

    /// Takes the bar off the screen.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Ends a run that was asked to stop and cannot: one that waits for somebody to read its output.
fn leave_anyway() {
    std::thread::sleep(Duration::from_secs(2));
    nearkin_engine::write::remove_temporary_files();
    crate::report::tell(format_args!("error: {}", nearkin_engine::Error::Interrupted));
    std::process::exit(130);
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Observer for Progress {
    fn stage(&self, stage: Stage, total: Option<u64>) {
        let Some(bar) = &self.bar else { return };
        bar.reset();
        match total {
            Some(total) => {
                bar.set_style(style(
                    "{prefix:>10} {wide_bar} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta} left",
                ));
                bar.set_length(total);
                bar.disable_steady_tick();
            }
            None => {
                bar.set_style(style("{prefix:>10} {spinner} {elapsed}"));
                bar.enable_steady_tick(Duration::from_millis(100));
            }
        }
        bar.set_prefix(stage.name());
    }

    fn advance(&self, amount: u64) {
        if let Some(bar) = &self.bar {
            bar.inc(amount);
        }
    }

    fn stopped(&self) -> bool {
        STOPPED.load(Ordering::Relaxed)
    }
}

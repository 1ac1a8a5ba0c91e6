//! A progress bar on a terminal, and signals to stop.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Duration;

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use nearkin_engine::observe::{Observer, Stage};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// The signal that asked the run to stop; 0 where none did.
static STOPPED: AtomicI32 = AtomicI32::new(0);

/// Shows the stage, its rate and the time left while a terminal is there to show it on.
pub(crate) struct Progress {
    /// None where nobody looks: even a hidden bar starts a thread for every stage.
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A bar on standard error unless `quiet`; and from now on Ctrl-C and other signals to stop end the run cleanly.
    pub(crate) fn start(quiet: bool) -> anyhow::Result<Self> {
        let mut signals = Signals::new(signals_to_heed()).context("cannot watch for Ctrl-C")?;
        let watch = std::thread::Builder::new().spawn(move || {
            for signal in signals.forever() {
                let first =
                    STOPPED.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
                if first.is_ok() {
                    std::thread::spawn(leave_anyway);
                }
            }
        });
        watch.context(
            "cannot start a thread; allow more memory (ulimit -v) or threads (ulimit -u)",
        )?;
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

/// The signals that end a run, but for those that whoever started it wants ignored, as nohup does.
fn signals_to_heed() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let is_heeded = |signal: &i32| ignored >> (signal - 1) & 1 == 0;
    [SIGINT, SIGTERM, SIGHUP].into_iter().filter(is_heeded).collect()
}

/// With which status a run ends that was asked to stop: as if the signal had ended it.
pub(crate) fn interrupted() -> u8 {
    match STOPPED.load(Ordering::Relaxed) {
        0 => 128 + SIGINT as u8,
        signal => 128 + signal as u8,
    }
}

/// Ends a run that was asked to stop and cannot: one that waits for somebody to read its output.
fn leave_anyway() {
    std::thread::sleep(Duration::from_secs(2));
    nearkin_engine::write::remove_temporary_files();
    crate::report::tell(format_args!("error: {}", crate::wording::interrupted()));
    std::process::exit(interrupted().into());
}

/// Ends the program because the system refuses it this many bytes of memory. Asks for no memory itself.
pub fn out_of_memory(bytes: usize) {
    /// Only one thread speaks.
    static ENDS: AtomicBool = AtomicBool::new(false);
    while ENDS.swap(true, Ordering::Relaxed) {
        std::thread::park();
    }
    nearkin_engine::write::remove_temporary_files();
    // Without a buffer, so that it goes out in pieces that need no memory.
    let _ = writeln!(
        std::io::stderr(),
        "error: the system refuses another {bytes} bytes of memory; free some, pass a smaller --memory or fewer \
         --threads, or allow more (ulimit -v)"
    );
    nearkin_kernels::end_at_once(1);
}

/// From now on, a thread for which the system has no memory ends the program in the same way. The standard library panics
/// before the thread can do anything.
pub fn when_threads_are_refused() {
    /// What the standard library asks for at the start of a thread, at least.
    const SIGNAL_STACK: usize = 8 << 10;
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let what = panic.payload_as_str().unwrap_or_default();
        if what.starts_with("failed to allocate an alternative stack") {
            out_of_memory(SIGNAL_STACK);
        }
        usual(panic);
    }));
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
        STOPPED.load(Ordering::Relaxed) != 0
    }
}

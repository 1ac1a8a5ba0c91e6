//! Many threads work, one takes the results in order.
//!
//! The threads take jobs from one iterator under a lock (a job is megabytes of input, so the lock is
//! free nearly always, and what the iterator itself does, such as decompressing, overlaps with the work
//! of the others). No thread runs more than a window ahead of the consumer, which bounds memory.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rayon::ThreadPoolBuilder;

use crate::{Error, Result};

/// Finished jobs that may wait for an earlier one, beside the one each thread works on.
const WINDOW: usize = 2;

type Outcome<R> = std::thread::Result<Result<R>>;

/// Applies `work` to every job on `threads` threads and hands the results to `take` in job order.
/// The first error, in job order, ends it. With one thread, all is done on the caller's.
pub(crate) fn in_order<J, R>(
    threads: usize,
    mut jobs: impl Iterator<Item = Result<J>> + Send,
    work: impl Fn(J) -> Result<R> + Sync,
    mut take: impl FnMut(R) -> Result<()>,
) -> Result<()>
where
    R: Send,
{
    if threads <= 1 {
        return jobs.try_for_each(|job| take(work(job?)?));
    }
    let line =
        Line { jobs: Mutex::new((0, jobs)), taken: Mutex::new(Some(0)), moved: Condvar::new() };
    let (send, receive) = channel::<(usize, Outcome<R>)>();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (send, line, work) = (send.clone(), &line, &work);
            scope.spawn(move || line.serve(threads + WINDOW, work, &send));
        }
        drop(send);
        let mut early = BTreeMap::new();
        let mut next = 0;
        let consume = || -> std::result::Result<Result<()>, Box<dyn Any + Send>> {
            for (number, outcome) in receive {
                early.insert(number, outcome);
                while let Some(outcome) = early.remove(&next) {
                    match outcome? {
                        Ok(result) => {
                            if let Err(error) = take(result) {
                                return Ok(Err(error));
                            }
                        }
                        Err(error) => return Ok(Err(error)),
                    }
                    next += 1;
                    line.advance(next);
                }
            }
            Ok(Ok(()))
        };
        let _close = CloseAtEnd(&line); // also when `take` panics
        consume().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// The jobs, and how far the consumer is (`None`: nobody consumes any more).
struct Line<I> {
    jobs: Mutex<(usize, I)>,
    taken: Mutex<Option<usize>>,
    moved: Condvar,
}

/// Lets the threads go home, however the consumer ends.
struct CloseAtEnd<'a, I>(&'a Line<I>);

impl<I> Drop for CloseAtEnd<'_, I> {
    fn drop(&mut self) {
        *lock(&self.0.taken) = None;
        self.0.moved.notify_all();
    }
}

impl<I> Line<I> {
    fn serve<J, R>(
        &self,
        window: usize,
        work: &(impl Fn(J) -> Result<R> + Sync),
        send: &Sender<(usize, Outcome<R>)>,
    ) where
        I: Iterator<Item = Result<J>>,
    {
        loop {
            let mut jobs = lock(&self.jobs);
            let number = jobs.0;
            if !self.wait_for(number, window) {
                return;
            }
            // The iterator and the work are caught alike: a panic must reach the consumer, or it
            // would wait for ever.
            let Some(job) = catch_unwind(AssertUnwindSafe(|| jobs.1.next())).transpose() else {
                return;
            };
            jobs.0 += 1;
            drop(jobs);
            let outcome = job.and_then(|job| catch_unwind(AssertUnwindSafe(|| job.and_then(work))));
            let failed = !matches!(outcome, Ok(Ok(_)));
            if send.send((number, outcome)).is_err() || failed {
                return;
            }
        }
    }

    /// Waits until job `number` is within the window; false when nobody consumes any more.
    fn wait_for(&self, number: usize, window: usize) -> bool {
        let mut taken = lock(&self.taken);
        loop {
            match *taken {
                None => return false,
                Some(done) if number < done + window => return true,
                Some(_) => {}
            }
            taken = self.moved.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn advance(&self, next: usize) {
        *lock(&self.taken) = Some(next);
        self.moved.notify_all();
    }
}

/// Panics are caught before they can poison a lock, and what they leave behind is not used again.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` with this many threads for whatever it does in parallel.
pub(crate) fn in_pool<R: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<R> + Send,
) -> Result<R> {
    let pool = ThreadPoolBuilder::new().num_threads(threads.max(1)).build().map_err(|error| {
        Error::File {
            path: PathBuf::from("threads"),
            what: format!("cannot start {threads}: {error}"),
        }
    })?;
    pool.install(work)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn failure(n: usize) -> Error {
        Error::parameter("n", n, "another")
    }

    #[test]
    fn results_come_in_order_at_any_number_of_threads() {
        for threads in [0, 1, 2, 7] {
            let mut seen = Vec::new();
            let jobs = (0..1000usize).map(Ok);
            in_order(
                threads,
                jobs,
                |n| Ok(n * 2),
                |n| {
                    seen.push(n);
                    Ok(())
                },
            )
            .unwrap();
            assert_eq!(seen, (0..1000).map(|n| n * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_first_error_in_order_wins() {
        let jobs = (0..100usize).map(|n| if n == 60 { Err(failure(n)) } else { Ok(n) });
        let work = |n| if n == 41 || n == 40 { Err(failure(n)) } else { Ok(n) };
        let mut seen = 0;
        let error = in_order(4, jobs, work, |_| {
            seen += 1;
            Ok(())
        })
        .unwrap_err();
        assert!(error.to_string().contains("40"), "{error}");
        assert_eq!(seen, 40);
    }

    #[test]
    fn an_error_of_the_consumer_stops_everyone() {
        let endless = (0usize..).map(Ok);
        let stop = |n| if n == 10 { Err(failure(n)) } else { Ok(()) };
        assert!(in_order(3, endless, Ok, stop).is_err());
    }

    #[test]
    fn a_panic_in_the_consumer_reaches_the_caller() {
        let take = |n: usize| if n == 5 { panic!("five") } else { Ok(()) };
        let run = || in_order(2, (0usize..).map(Ok), Ok, take);
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    }

    #[test]
    fn a_panic_in_the_work_reaches_the_caller() {
        let work = |n: usize| if n == 5 { panic!("five") } else { Ok(n) };
        let caught =
            catch_unwind(AssertUnwindSafe(|| in_order(2, (0usize..).map(Ok), work, |_| Ok(()))));
        assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"five"));
    }
}

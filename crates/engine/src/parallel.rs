//! Many threads work, and the results are taken one by one, in order.
//!
//! The threads take jobs from one iterator under a lock (a job, such as half a megabyte of input, takes so long that
//! the lock is free nearly always, and what the iterator itself does, such as decompressing, overlaps with the work of
//! the others). Whoever has finished the job whose turn it is takes its result and those behind it that are there. No
//! thread runs more than a window ahead of what was taken, which bounds memory.
//!
//! **No separate thread takes results.** It would have to be woken for every piece of half a megabyte, which cost a
//! twentieth of the time. Without it, reading and shingling 1 GB on two cores was 1.92 times as fast as on one; with
//! it, 1.82 times.
//!
//! **Little is left that only one thread does.** Most steps of `pairs` go through `in_order`: one thread cuts the next
//! piece while others work, and taking results overlaps with the work. Recording when threads are on a processor showed
//! how much of a step on two threads only one of them did: for the licence texts 36 of 147 ms before, and 13 of 121 ms
//! now.
//!
//! **Memory changes hands in few large parts.** If one thread allocates what another frees, the allocator makes threads
//! wait. The command also tells it to keep freed memory (`keep_freed_memory`), because threads that return memory and
//! ask for it again wait in the system. What is left on collections that take a tenth of a second is the start and the
//! end of the process, about five milliseconds, and clearing fresh memory. What did not help: keeping threads awake
//! between two steps, building an index on two threads.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::{Error, Result};

/// Finished jobs that may wait for an earlier one, beside the one each thread works on.
const WINDOW: usize = 6;

type Outcome<R> = std::thread::Result<Result<R>>;

/// Applies `work` to every job on `threads` threads, of which the caller's is one, and hands the results to `take` in job
/// order. The first error, in job order, ends it. Neither may wait for other work of the pool: a thread that waits may be
/// given another job here, and would wait for itself.
pub(crate) fn in_order<J, R>(
    threads: usize,
    jobs: impl Iterator<Item = Result<J>> + Send,
    work: impl Fn(J) -> Result<R> + Sync,
    take: impl FnMut(R) -> Result<()> + Send,
) -> Result<()>
where
    R: Send,
{
    ahead(threads + WINDOW, threads, jobs, work, take)
}

/// Applies `work` to every job on `threads` threads, as [`in_order`] does, where no thread need wait for a slow one.
pub(crate) fn in_any_order<J>(
    threads: usize,
    jobs: impl Iterator<Item = Result<J>> + Send,
    work: impl Fn(J) -> Result<()> + Sync,
) -> Result<()> {
    ahead(usize::MAX / 2, threads, jobs, work, |()| Ok(()))
}

/// Like [`in_order`], with at most `window` jobs ahead of the first that is not done.
fn ahead<J, R>(
    window: usize,
    threads: usize,
    mut jobs: impl Iterator<Item = Result<J>> + Send,
    work: impl Fn(J) -> Result<R> + Sync,
    mut take: impl FnMut(R) -> Result<()> + Send,
) -> Result<()>
where
    R: Send,
{
    if threads <= 1 {
        return jobs.try_for_each(|job| take(work(job?)?));
    }
    let (work, take) = (&work, &Mutex::new(take));
    let mut jobs = jobs.map(|job| -> PendingJob<'_> {
        Box::new(move || {
            let result = work(job?)?;
            Ok(Box::new(move || (*lock(take))(result)) as FinishedJob<'_>)
        })
    });
    serve(window, threads, &mut jobs)
}

/// A job that is yet to be done.
type PendingJob<'a> = Box<dyn FnOnce() -> Result<FinishedJob<'a>> + 'a>;
/// A job that is done, and whose result is yet to be taken.
type FinishedJob<'a> = Box<dyn FnOnce() -> Result<()> + Send + 'a>;

/// What is the same whatever the jobs are, so that it is compiled once: it was half a megabyte of the command. Two
/// allocations a job are nothing beside the job.
fn serve<'a>(
    window: usize,
    threads: usize,
    jobs: &mut (dyn Iterator<Item = PendingJob<'a>> + Send),
) -> Result<()> {
    let line = Line {
        jobs: Mutex::new((0, jobs)),
        done: Mutex::new(ResultQueue {
            early: BTreeMap::new(),
            next: 0,
            is_taken: false,
            end: None,
        }),
        moved: Condvar::new(),
    };
    let serve = || line.serve(window);
    if rayon::current_thread_index().is_some() {
        // The threads of the pool are there already: one that is started now may wait for milliseconds until a processor
        // is found for it.
        rayon::scope(|scope| {
            (1..threads).for_each(|_| scope.spawn(|_| serve()));
            serve();
        });
    } else {
        std::thread::scope(|scope| {
            // If the system has no more threads, those that there are do the work.
            let start = |_| std::thread::Builder::new().spawn_scoped(scope, serve).is_ok();
            let _ = (1..threads).all(start);
            serve();
        });
    }
    match line.done.into_inner().unwrap_or_else(PoisonError::into_inner).end {
        None => Ok(()),
        Some(Ok(end)) => end,
        Some(Err(panic)) => resume_unwind(panic),
    }
}

/// The jobs, and those that are done.
struct Line<'a, 'j> {
    jobs: Mutex<(usize, &'j mut (dyn Iterator<Item = PendingJob<'a>> + Send))>,
    done: Mutex<ResultQueue<'a>>,
    moved: Condvar,
}

/// What is done.
struct ResultQueue<'a> {
    /// Results that are not taken yet, and the number of the next to be taken.
    early: BTreeMap<usize, Outcome<FinishedJob<'a>>>,
    next: usize,
    /// Whether a thread takes results just now.
    is_taken: bool,
    /// What ended it before all jobs were done.
    end: Option<Outcome<()>>,
}

impl<'a> Line<'a, '_> {
    fn serve(&self, window: usize) {
        loop {
            let mut jobs = lock(&self.jobs);
            let number = jobs.0;
            if !self.wait_for(number, window) {
                return;
            }
            // The iterator and the work are caught alike: a panic must come out where the caller is.
            let Some(job) = catch_unwind(AssertUnwindSafe(|| jobs.1.next())).transpose() else {
                return;
            };
            jobs.0 += 1;
            drop(jobs);
            let outcome = job.and_then(|work| catch_unwind(AssertUnwindSafe(work)));
            let failed = !matches!(outcome, Ok(Ok(_)));
            self.hand_in(number, outcome);
            if failed {
                return;
            }
        }
    }

    /// Waits until job `number` is within the window; false when no more is to be done.
    fn wait_for(&self, number: usize, window: usize) -> bool {
        let mut done = lock(&self.done);
        while done.end.is_none() && number >= done.next + window {
            done = self.moved.wait(done).unwrap_or_else(PoisonError::into_inner);
        }
        done.end.is_none()
    }

    /// Hands a result in, and takes those whose turn it is, unless another thread does.
    fn hand_in(&self, number: usize, outcome: Outcome<FinishedJob<'a>>) {
        let mut done = lock(&self.done);
        if done.end.is_some() {
            return;
        }
        done.early.insert(number, outcome);
        if done.is_taken {
            return;
        }
        done.is_taken = true;
        loop {
            let next = done.next;
            let Some(outcome) = done.early.remove(&next) else { break };
            drop(done);
            let taken = outcome.and_then(|result| catch_unwind(AssertUnwindSafe(|| result?())));
            done = lock(&self.done);
            self.moved.notify_all();
            match taken {
                Ok(Ok(())) => done.next += 1,
                end => {
                    done.end = Some(end);
                    // The next job may be one that waits until these are gone, as large items do.
                    done.early.clear();
                    return;
                }
            }
        }
        done.is_taken = false;
    }
}

/// Panics are caught, and what they leave behind is not used again.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// So many threads.
pub(crate) fn pool(threads: usize) -> Result<ThreadPool> {
    ThreadPoolBuilder::new().num_threads(threads.max(1)).build().map_err(|error| {
        Error::file(PathBuf::from("threads"), format!("cannot start {threads}: {error}"))
    })
}

/// Runs `work`, with `threads` threads for what it does in parallel, or one thread per core.
///
/// # Errors
/// Those of the work, and when the threads cannot be started.
pub fn with_threads<R: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> Result<R> + Send,
) -> Result<R> {
    match threads {
        Some(threads) => in_pool(threads, work),
        None => work(),
    }
}

/// Runs `work` with this many threads for whatever it does in parallel.
pub(crate) fn in_pool<R: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<R> + Send,
) -> Result<R> {
    pool(threads)?.install(work)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Error;

    fn failure(n: usize) -> Error {
        Error::parameter("n", n, "another")
    }

    /// Runs a test on threads of its own, and on those of pools with fewer, as many and more.
    fn everywhere(test: impl Fn() + Send + Sync) {
        test();
        for threads in [1, 2, 9] {
            pool(threads).unwrap().install(&test);
        }
    }

    #[test]
    fn results_come_in_order_at_any_number_of_threads() {
        everywhere(|| {
            for threads in [0, 1, 2, 7] {
                let mut seen = Vec::new();
                let take = |n| {
                    seen.push(n);
                    Ok(())
                };
                in_order(threads, (0..1000usize).map(Ok), |n| Ok(n * 2), take).unwrap();
                assert_eq!(seen, (0..1000).map(|n| n * 2).collect::<Vec<_>>());
            }
        });
    }

    #[test]
    fn two_at_once_in_one_pool() {
        let sum = || {
            let mut sum = 0;
            let take = |n: usize| {
                sum += n;
                Ok(())
            };
            in_order(4, (0..1000usize).map(Ok), Ok, take).map(|()| sum)
        };
        everywhere(|| {
            let (a, b) = rayon::join(sum, sum);
            assert_eq!((a.unwrap(), b.unwrap()), (499_500, 499_500));
        });
    }

    #[test]
    fn in_any_order_nobody_waits_for_a_slow_one() {
        // The first job ends when all others are done, which are more than may wait in order.
        let (jobs, threads) = (100, 2);
        let done = (Mutex::new(0), Condvar::new());
        let work = |n: usize| {
            let mut count = lock(&done.0);
            if n == 0 {
                while *count < jobs - 1 {
                    count = done.1.wait(count).unwrap();
                }
            }
            *count += 1;
            done.1.notify_all();
            Ok(())
        };
        in_any_order(threads, (0..jobs).map(Ok), work).unwrap();
        assert_eq!(*lock(&done.0), jobs);
    }

    #[test]
    fn the_first_error_in_order_wins() {
        everywhere(|| {
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
        });
    }

    #[test]
    fn an_error_of_the_consumer_stops_everyone() {
        let stop = |n| if n == 10 { Err(failure(n)) } else { Ok(()) };
        everywhere(|| assert!(in_order(3, (0usize..).map(Ok), Ok, stop).is_err()));
    }

    #[test]
    fn an_error_lets_go_of_results_that_nobody_takes() {
        /// What only one may have at a time, as the buffer of a large item.
        struct Only(Arc<(Mutex<bool>, Condvar)>);
        impl Drop for Only {
            fn drop(&mut self) {
                *lock(&self.0.0) = false;
                self.0.1.notify_all();
            }
        }
        everywhere(|| {
            let taken = Arc::new((Mutex::new(false), Condvar::new()));
            let wait = |wanted: bool| {
                let mut is = lock(&taken.0);
                while *is != wanted {
                    is = taken.1.wait(is).unwrap();
                }
                *is = true;
            };
            // The first fails when the second has what the third waits for.
            let jobs = (0..3usize).map(|n| {
                let only = (n > 0).then(|| {
                    wait(false);
                    taken.1.notify_all();
                    Only(Arc::clone(&taken))
                });
                Ok((n, only))
            });
            let work = |(n, only): (usize, Option<Only>)| {
                if n == 0 && rayon::current_num_threads() > 1 {
                    wait(true);
                }
                if n == 0 { Err(failure(n)) } else { Ok(only) }
            };
            assert!(in_order(3, jobs, work, |_| Ok(())).is_err());
        });
    }

    #[test]
    fn a_panic_in_the_consumer_reaches_the_caller() {
        let take = |n: usize| if n == 5 { panic!("five") } else { Ok(()) };
        let run = || in_order(2, (0usize..).map(Ok), Ok, take);
        everywhere(|| assert!(catch_unwind(AssertUnwindSafe(run)).is_err()));
    }

    #[test]
    fn a_panic_in_the_work_reaches_the_caller() {
        let work = |n: usize| if n == 5 { panic!("five") } else { Ok(n) };
        let run = || in_order(2, (0usize..).map(Ok), work, |_| Ok(()));
        everywhere(|| {
            let caught = catch_unwind(AssertUnwindSafe(run));
            assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"five"));
        });
    }
}

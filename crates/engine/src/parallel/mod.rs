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

mod lanes;

use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::item::Lanes;
use crate::spill::Budget;
use crate::{Error, Result};

use lanes::{Ahead, LaneJobs, Turns};

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
    let take = Mutex::new(take);
    let lane = LaneJobs { jobs: pending(Box::new(jobs), &work, &|_| 0, &take), is_cheap: false };
    let ahead = Ahead { window, room: 0, lanes: 1 };
    lanes::serve(ahead, Turns::AllLanes, threads, &mut std::iter::once(lane))
}

/// How much may wait for its turn while lanes are served side by side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaneRoom {
    /// What the results of later lanes may weigh.
    pub(crate) weight: usize,
    /// Lanes that may be open.
    pub(crate) lanes: usize,
}

impl LaneRoom {
    /// For results that are a few numbers each.
    pub(crate) fn of_numbers(threads: usize) -> Self {
        Self { weight: 1, lanes: threads }
    }

    /// A share of the memory.
    pub(crate) fn within(budget: &Budget, threads: usize) -> Self {
        /// Memory for each file that is unpacked side by side with others: what it is packed with has windows.
        const LANE: usize = 32 << 20;
        let lanes = (budget.share(16) / LANE).clamp(1, threads.max(1));
        Self { weight: budget.share(1), lanes }
    }
}

/// Applies `work` to every job of all lanes on `threads` threads, and hands the results to `take` in the order of the
/// lanes and of the jobs in each, as [`in_order`] does. `weight` says how much of the room a result takes while it waits.
pub(crate) fn in_lanes<'a, J, R>(
    threads: usize,
    room: LaneRoom,
    lanes: Lanes<'a, J>,
    work: impl Fn(J) -> Result<R> + Sync,
    weight: impl Fn(&R) -> usize + Sync,
    mut take: impl FnMut(R) -> Result<()> + Send,
) -> Result<()>
where
    J: 'a,
    R: Send,
{
    if threads <= 1 {
        return lanes.flat_map(|lane| lane.chunks).try_for_each(|job| take(work(job?)?));
    }
    let take = &Mutex::new(take);
    let (work, weight) = (&work, &weight);
    let mut lanes = lanes.map(|lane| LaneJobs {
        jobs: pending(lane.chunks, work, weight, take),
        is_cheap: lane.is_cheap,
    });
    let ahead = Ahead { window: threads + WINDOW, room: room.weight, lanes: room.lanes.max(1) };
    lanes::serve(ahead, Turns::AllLanes, threads, &mut lanes)
}

/// Like [`in_lanes`], but no lane waits for another: `take` gets the results of each lane in its order, those of several
/// lanes at once. The first error that comes up ends it.
#[cfg(feature = "files")]
pub(crate) fn in_each_lane<'a, J, R>(
    threads: usize,
    most_lanes: usize,
    lanes: Lanes<'a, J>,
    work: impl Fn(J) -> Result<R> + Sync,
    take: impl Fn(R) -> Result<()> + Sync,
) -> Result<()>
where
    J: 'a,
    R: Send,
{
    /// Results of a lane that may wait.
    const WAITING: usize = 4;
    if threads <= 1 {
        return lanes.flat_map(|lane| lane.chunks).try_for_each(|job| take(work(job?)?));
    }
    let (work, take) = (&work, &take);
    let mut lanes = lanes.map(|lane| {
        let jobs = lane.chunks.map(move |job| -> PendingJob<'_> {
            Box::new(move || {
                let result = work(job?)?;
                Ok((0, Box::new(move || take(result)) as FinishedJob<'_>))
            })
        });
        LaneJobs { jobs: Box::new(jobs), is_cheap: lane.is_cheap }
    });
    let ahead = Ahead { window: WAITING, room: 0, lanes: most_lanes.max(1) };
    lanes::serve(ahead, Turns::EachLane, threads, &mut lanes)
}

/// Applies `work` to every job of all lanes on `threads` threads, in any order, with at most `most_lanes` open. The first error that
/// comes up ends it.
pub(crate) fn in_any_lane<'a, J: 'a>(
    threads: usize,
    most_lanes: usize,
    lanes: Lanes<'a, J>,
    work: impl Fn(J) -> Result<()> + Sync,
) -> Result<()> {
    if threads <= 1 {
        return lanes.flat_map(|lane| lane.chunks).try_for_each(|job| work(job?));
    }
    let work = &work;
    let mut lanes = lanes.map(|lane| {
        let jobs = lane.chunks.map(move |job| -> PendingJob<'_> {
            Box::new(move || {
                work(job?)?;
                Ok((0, Box::new(|| Ok(())) as FinishedJob<'_>))
            })
        });
        LaneJobs { jobs: Box::new(jobs), is_cheap: lane.is_cheap }
    });
    let ahead = Ahead { window: usize::MAX / 2, room: 0, lanes: most_lanes.max(1) };
    lanes::serve(ahead, Turns::EachLane, threads, &mut lanes)
}

/// The jobs with what is done with them and their results.
fn pending<'a, J: 'a, R: Send + 'a>(
    jobs: Box<dyn Iterator<Item = Result<J>> + Send + 'a>,
    work: &'a (impl Fn(J) -> Result<R> + Sync),
    weight: &'a (impl Fn(&R) -> usize + Sync),
    take: &'a Mutex<impl FnMut(R) -> Result<()> + Send>,
) -> Box<dyn Iterator<Item = PendingJob<'a>> + Send + 'a> {
    Box::new(jobs.map(move |job| -> PendingJob<'a> {
        Box::new(move || {
            let result = work(job?)?;
            let weight = weight(&result);
            Ok((weight, Box::new(move || (*lock(take))(result)) as FinishedJob<'a>))
        })
    }))
}

/// A job that is yet to be done.
type PendingJob<'a> = Box<dyn FnOnce() -> Result<(usize, FinishedJob<'a>)> + 'a>;
/// A job that is done, and whose result is yet to be taken.
type FinishedJob<'a> = Box<dyn FnOnce() -> Result<()> + Send + 'a>;

/// Panics are caught, and what they leave behind is not used again.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait<'a, T>(moved: &Condvar, held: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    moved.wait(held).unwrap_or_else(PoisonError::into_inner)
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
    use std::panic::{AssertUnwindSafe, catch_unwind};
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

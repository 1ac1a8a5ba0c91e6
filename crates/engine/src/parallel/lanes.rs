//! Lanes of jobs that threads serve side by side.
//!
//! The next job of a lane is taken out by one thread at a time. A thread takes it from the first lane that is free, so a
//! later file is unpacked only while all earlier ones are busy, and few are open at once. Results come in the order of all
//! jobs: those of later lanes wait until the lanes before them have ended. Of the lane whose turn it is, no job is more than a
//! window ahead; of the others, no job is taken while results that weigh more than there is room for are waiting.
//!
//! Where each lane has results of its own ([`Turns::EachLane`]), nothing waits for other lanes.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard};

use super::{FinishedJob, Outcome, PendingJob, lock, wait};
use crate::Result;

/// How far threads may go ahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ahead {
    /// Jobs of one lane beyond the first whose result is not taken.
    pub(super) window: usize,
    /// What results of later lanes may weigh together.
    pub(super) room: usize,
    /// Lanes that may be open.
    pub(super) lanes: usize,
}

/// Whose results may be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turns {
    /// Those of all lanes, one lane after the other, by one thread at a time.
    AllLanes,
    /// Those of each lane, by one thread for each.
    EachLane,
}

/// Jobs that are taken out one after the other, and whether that costs next to nothing.
pub(super) struct LaneJobs<'a> {
    pub(super) jobs: Box<dyn Iterator<Item = PendingJob<'a>> + Send + 'a>,
    pub(super) is_cheap: bool,
}

/// Does all jobs of all lanes.
pub(super) fn serve<'a>(
    ahead: Ahead,
    turns: Turns,
    threads: usize,
    lanes: &mut (dyn Iterator<Item = LaneJobs<'a>> + Send),
) -> Result<()> {
    let line = Line {
        ahead,
        turns,
        state: Mutex::new(State {
            lanes: BTreeMap::new(),
            unopened: Some(lanes),
            opened: 0,
            first: 0,
            waiting: 0,
            idle: 0,
            end: None,
        }),
        moved: Condvar::new(),
    };
    let serve = || line.serve();
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
    match line.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).end {
        None => Ok(()),
        Some(Ok(end)) => end,
        Some(Err(panic)) => resume_unwind(panic),
    }
}

/// The lanes, and those who wait for something to do.
struct Line<'a, 'j> {
    ahead: Ahead,
    turns: Turns,
    state: Mutex<State<'a, 'j>>,
    moved: Condvar,
}

struct State<'a, 'j> {
    /// The lanes that are open, by their number.
    lanes: BTreeMap<usize, OpenLane<'a>>,
    unopened: Option<&'j mut (dyn Iterator<Item = LaneJobs<'a>> + Send)>,
    opened: usize,
    /// The lane whose results are taken, where all lanes take turns.
    first: usize,
    /// What results of later lanes weigh.
    waiting: usize,
    /// Threads that have nothing to do.
    idle: usize,
    /// What ended it before all jobs were done.
    end: Option<Outcome<()>>,
}

/// What a job left, until it is taken.
struct JobResult<'a> {
    weight: usize,
    outcome: Outcome<FinishedJob<'a>>,
}

#[derive(Default)]
struct OpenLane<'a> {
    /// None while a thread takes the next job out, and when there is none.
    jobs: Option<LaneJobs<'a>>,
    has_ended: bool,
    /// Jobs taken out, and results taken.
    begun: usize,
    taken: usize,
    /// Results that are not taken yet, by their number.
    early: BTreeMap<usize, JobResult<'a>>,
    /// Whether a thread takes results just now.
    is_taken: bool,
}

impl OpenLane<'_> {
    fn is_done(&self) -> bool {
        self.has_ended && self.taken == self.begun
    }

    fn end(&mut self) {
        self.jobs = None;
        self.has_ended = true;
    }
}

/// What a thread does next.
enum Next<'a> {
    /// The job of a lane, with its number in that.
    Job(usize, usize, PendingJob<'a>),
    /// Take the next job of this lane out.
    Lane(usize, LaneJobs<'a>),
}

impl<'a> State<'a, '_> {
    /// What there is to do for a thread.
    fn next(&mut self, ahead: Ahead, turns: Turns) -> Option<Next<'a>> {
        let (first, waiting) = (self.first, self.waiting);
        let may = |number: usize, lane: &OpenLane| match turns == Turns::EachLane || number == first
        {
            true => lane.begun < lane.taken.saturating_add(ahead.window),
            false => waiting < ahead.room,
        };
        let free =
            |(number, lane): &(&usize, &mut OpenLane)| lane.jobs.is_some() && may(**number, lane);
        if let Some((&number, lane)) = self.lanes.iter_mut().find(free) {
            return lane.jobs.take().map(|jobs| Next::Lane(number, jobs));
        }
        let may_open = match turns {
            Turns::EachLane => true,
            Turns::AllLanes => self.lanes.is_empty() || waiting < ahead.room,
        };
        if self.lanes.len() >= ahead.lanes || !may_open {
            return None;
        }
        let Some(jobs) = self.unopened.as_mut().and_then(|lanes| lanes.next()) else {
            self.unopened = None;
            return None;
        };
        self.opened += 1;
        self.lanes.insert(self.opened - 1, OpenLane::default());
        Some(Next::Lane(self.opened - 1, jobs))
    }

    fn is_done(&self) -> bool {
        self.unopened.is_none() && self.lanes.is_empty()
    }

    /// The job that a thread took out of a lane; the lane is free again. None if the lane has ended.
    fn job(
        &mut self,
        number: usize,
        jobs: LaneJobs<'a>,
        job: Option<PendingJob<'a>>,
    ) -> Option<Next<'a>> {
        let lane = self.lanes.get_mut(&number).filter(|lane| !lane.has_ended)?;
        let Some(job) = job else {
            lane.end();
            return None;
        };
        lane.jobs = Some(jobs);
        lane.begun += 1;
        Some(Next::Job(number, lane.begun - 1, job))
    }

    /// Keeps a result until it is taken. After a failure nothing more is begun that comes later.
    fn keep(&mut self, number: usize, job: usize, result: JobResult<'a>) {
        let failed = !matches!(result.outcome, Ok(Ok(_)));
        if number != self.first {
            self.waiting += result.weight;
        }
        if let Some(lane) = self.lanes.get_mut(&number) {
            lane.early.insert(job, result);
        }
        if failed {
            self.lanes.range_mut(number..).for_each(|(_, lane)| lane.end());
            self.unopened = None;
        }
    }

    /// Removes a lane of which nothing is left. The next one takes its turn.
    fn remove(&mut self, number: usize) {
        self.lanes.remove(&number);
        if number == self.first {
            self.first += 1;
            let next = self.lanes.get(&self.first);
            let weights = next.map_or(0, |lane| lane.early.values().map(|it| it.weight).sum());
            self.waiting -= weights;
        }
    }
}

type Held<'s, 'a, 'j> = MutexGuard<'s, State<'a, 'j>>;

impl<'a, 'j> Line<'a, 'j> {
    fn serve(&self) {
        let mut state = lock(&self.state);
        while state.end.is_none() {
            let next = match state.next(self.ahead, self.turns) {
                Some(Next::Lane(number, mut jobs)) if jobs.is_cheap => {
                    let job = catch_unwind(AssertUnwindSafe(|| jobs.jobs.next()));
                    (state, number, jobs, job)
                }
                Some(Next::Lane(number, mut jobs)) => {
                    drop(state);
                    let job = catch_unwind(AssertUnwindSafe(|| jobs.jobs.next()));
                    (lock(&self.state), number, jobs, job)
                }
                _ if state.is_done() => return,
                _ => {
                    state.idle += 1;
                    state = wait(&self.moved, state);
                    state.idle -= 1;
                    continue;
                }
            };
            state = self.go_on(next);
        }
    }

    /// Does the job that was taken out of a lane.
    fn go_on<'s>(
        &'s self,
        (mut state, number, jobs, job): (
            Held<'s, 'a, 'j>,
            usize,
            LaneJobs<'a>,
            std::thread::Result<Option<PendingJob<'a>>>,
        ),
    ) -> Held<'s, 'a, 'j> {
        let job = job.unwrap_or_else(|panic| Some(Box::new(|| resume_unwind(panic))));
        match state.job(number, jobs, job) {
            Some(Next::Job(number, at, job)) => {
                if state.idle > 0 {
                    self.moved.notify_one();
                }
                drop(state);
                let result = match catch_unwind(AssertUnwindSafe(job)) {
                    Ok(Ok((weight, finished))) => JobResult { weight, outcome: Ok(Ok(finished)) },
                    Ok(Err(error)) => JobResult { weight: 0, outcome: Ok(Err(error)) },
                    Err(panic) => JobResult { weight: 0, outcome: Err(panic) },
                };
                let mut state = lock(&self.state);
                if state.end.is_none() {
                    state.keep(number, at, result);
                    state = self.take(state, number);
                }
                state
            }
            _ => {
                self.moved.notify_all();
                self.take(state, number)
            }
        }
    }

    /// Takes the results whose turn it is, unless another thread does.
    fn take<'s>(&'s self, mut state: Held<'s, 'a, 'j>, own: usize) -> Held<'s, 'a, 'j> {
        loop {
            let number = if self.turns == Turns::EachLane { own } else { state.first };
            let Some(lane) = state.lanes.get_mut(&number).filter(|lane| !lane.is_taken) else {
                return state;
            };
            let next = lane.taken;
            let Some(result) = lane.early.remove(&next) else {
                if !lane.is_done() {
                    return state;
                }
                state.remove(number);
                self.moved.notify_all();
                continue;
            };
            lane.is_taken = true;
            drop(state);
            let taken =
                result.outcome.and_then(|result| catch_unwind(AssertUnwindSafe(|| result?())));
            state = lock(&self.state);
            match (taken, state.lanes.get_mut(&number)) {
                (Ok(Ok(())), Some(lane)) => {
                    lane.taken += 1;
                    lane.is_taken = false;
                    if state.idle > 0 {
                        self.moved.notify_one();
                    }
                }
                (Ok(Ok(())), None) => return state, // it has ended meanwhile
                (end, _) => {
                    state.end.get_or_insert(end);
                    // The next job may be one that waits until these are gone, as large items do.
                    state.lanes.clear();
                    self.moved.notify_all();
                    return state;
                }
            }
        }
    }
}

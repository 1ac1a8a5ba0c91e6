//! Portions of one output that several threads pack at once. They come back in the order in which they were given.
//!
//! The threads are those of the output, not those that read: who packs four megabytes while others wait for its next
//! piece of input holds everyone up, because few pieces may be read ahead of the first that was not taken. [`Turns`] keep
//! all of them together within the number of threads that was asked for.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle};

use crate::settings::Settings;

/// What may be used to write one output.
#[derive(Clone, Copy, Debug)]
pub struct Resources {
    /// Threads at work at once. With one, whoever writes also packs.
    pub threads: usize,
    /// Bytes of memory of the whole run, of which an output takes a small part.
    pub memory: usize,
}

impl From<&Settings> for Resources {
    fn from(settings: &Settings) -> Self {
        Self { threads: settings.threads, memory: settings.memory }
    }
}

impl Resources {
    /// How many portions of this many bytes may be there at once beside the one that is being filled.
    fn portions(self, bytes: usize) -> usize {
        /// A few wait, so that no thread does.
        const WAITING: usize = 2;
        let fitting = self.memory / 8 / bytes;
        if self.threads < 2 || fitting < 2 { 0 } else { fitting.min(self.threads + WAITING) }
    }
}

type Pack<J, R> = dyn Fn(J) -> R + Send + Sync;

/// Packs portions: at first by whoever takes them back, and with [`Packers::share`] on threads.
pub(super) struct Packers<J, R> {
    shared: Arc<Shared<J, R>>,
    threads: Vec<JoinHandle<()>>,
    most_threads: usize,
    /// Portions that are here at once.
    most: usize,
}

struct Shared<J, R> {
    pack: Box<Pack<J, R>>,
    line: Mutex<Line<J, R>>,
    moved: Condvar,
    turns: OnceLock<Turns>,
}

struct Line<J, R> {
    /// The oldest first.
    portions: VecDeque<Portion<J, R>>,
    /// The number of the oldest.
    first: usize,
    is_over: bool,
}

enum Portion<J, R> {
    Waiting(J),
    AtWork,
    Packed(Result<R, Box<dyn Any + Send>>),
}

impl<J: Send + 'static, R: Send + 'static> Packers<J, R> {
    pub(super) fn new(pack: impl Fn(J) -> R + Send + Sync + 'static) -> Self {
        let line = Line { portions: VecDeque::new(), first: 0, is_over: false };
        let shared = Shared {
            pack: Box::new(pack),
            line: Mutex::new(line),
            moved: Condvar::new(),
            turns: OnceLock::new(),
        };
        Self { shared: Arc::new(shared), threads: Vec::new(), most_threads: 0, most: 0 }
    }

    /// From now on, threads pack. A portion takes about this many bytes in all.
    pub(super) fn share(&mut self, resources: Resources, portion: usize) {
        self.most = resources.portions(portion);
        self.most_threads = self.most.min(resources.threads);
        let _ = self.shared.turns.set(Turns::new(resources.threads));
    }

    /// If threads pack: the turns, for all others who work for the output.
    pub(super) fn turns(&self) -> Option<Turns> {
        self.shared.turns.get().filter(|_| self.most > 0).cloned()
    }

    /// One more portion. Take what is packed before the next.
    pub(super) fn give(&mut self, portion: J) {
        if self.threads.len() < self.most_threads {
            let shared = Arc::clone(&self.shared);
            match Builder::new().spawn(move || shared.serve()) {
                Ok(thread) => self.threads.push(thread),
                // If the system has no more threads, those that there are do the work.
                Err(_) => self.most_threads = 0,
            }
        }
        lock(&self.shared.line).portions.push_back(Portion::Waiting(portion));
        self.shared.moved.notify_one();
    }

    /// The oldest portion if it is packed. Waits for it if there are too many.
    pub(super) fn take(&self) -> Option<R> {
        self.take_above(self.most)
    }

    /// The oldest portion, if there is one.
    pub(super) fn take_last(&self) -> Option<R> {
        self.take_above(0)
    }

    fn take_above(&self, most: usize) -> Option<R> {
        let mut line = lock(&self.shared.line);
        loop {
            let are_too_many = line.portions.len() > most;
            match line.portions.front()? {
                Portion::Packed(_) => return line.pop(),
                _ if !are_too_many => return None,
                // Those whose turn it is may wait for room that only this thread can make.
                Portion::Waiting(_) => line = self.shared.pack_next(line),
                Portion::AtWork => {
                    line = self.shared.moved.wait(line).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

impl<J, R> Drop for Packers<J, R> {
    fn drop(&mut self) {
        lock(&self.shared.line).is_over = true;
        self.shared.moved.notify_all();
        // A thread catches all panics.
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

impl<J, R> Shared<J, R> {
    /// Packs what there is, until all is over.
    fn serve(&self) {
        loop {
            let mut line = lock(&self.line);
            while !line.is_over && line.waiting().is_none() {
                line = self.moved.wait(line).unwrap_or_else(PoisonError::into_inner);
            }
            if line.is_over {
                return;
            }
            // Nothing is claimed before it is this thread's turn, so nobody waits for what is not at work.
            drop(line);
            let _turn = self.turns.get().map(Turns::wait);
            drop(self.pack_next(lock(&self.line)));
        }
    }

    /// Packs the oldest portion that waits, if any.
    fn pack_next<'a>(&'a self, mut line: MutexGuard<'a, Line<J, R>>) -> MutexGuard<'a, Line<J, R>> {
        let Some(at) = line.waiting() else { return line };
        let number = line.first + at;
        let portion = std::mem::replace(&mut line.portions[at], Portion::AtWork);
        let Portion::Waiting(portion) = portion else { return line };
        drop(line);
        let packed = catch_unwind(AssertUnwindSafe(|| (self.pack)(portion)));
        let mut line = lock(&self.line);
        // Those before it may be gone, but nobody takes one that is at work.
        let at = number - line.first;
        line.portions[at] = Portion::Packed(packed);
        self.moved.notify_all();
        line
    }
}

impl<J, R> Line<J, R> {
    fn waiting(&self) -> Option<usize> {
        self.portions.iter().position(|portion| matches!(portion, Portion::Waiting(_)))
    }

    /// The oldest, which is packed. A panic comes out where it is taken.
    fn pop(&mut self) -> Option<R> {
        let Some(Portion::Packed(packed)) = self.portions.pop_front() else { return None };
        self.first += 1;
        Some(packed.unwrap_or_else(|panic| resume_unwind(panic)))
    }
}

/// Who may be at work: as many at once as there are turns.
#[derive(Clone, Debug)]
pub struct Turns(Arc<(Mutex<usize>, Condvar)>);

/// One turn; over when it is dropped.
#[derive(Debug)]
pub struct Turn<'a>(&'a Turns);

impl Turns {
    pub(super) fn new(count: usize) -> Self {
        Self(Arc::new((Mutex::new(count.max(1)), Condvar::new())))
    }

    /// Waits until there is one.
    pub fn wait(&self) -> Turn<'_> {
        let mut free = lock(&self.0.0);
        while *free == 0 {
            free = self.0.1.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let (free, freed) = &*self.0.0;
        *lock(free) += 1;
        freed.notify_one();
    }
}

/// Panics are caught, and what is behind a lock is whole at any time.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Memory in which so many portions fit that this takes one byte for each.
    fn shared<J, R>(packers: &mut Packers<J, R>, threads: usize, portions: usize)
    where
        J: Send + 'static,
        R: Send + 'static,
    {
        packers.share(Resources { threads, memory: 8 * portions }, 1);
    }

    /// Gives the numbers up to `count` and returns what comes back, and how many were ever at work at once.
    fn squares(threads: usize, portions: usize, count: usize) -> (Vec<usize>, usize) {
        let (now, peak) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
        let peak_of_packers = Arc::clone(&peak);
        let mut packers = Packers::new(move |n: usize| {
            peak_of_packers.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::yield_now();
            now.fetch_sub(1, Ordering::SeqCst);
            n * n
        });
        shared(&mut packers, threads, portions);
        let mut back = Vec::new();
        for n in 0..count {
            packers.give(n);
            back.extend(std::iter::from_fn(|| packers.take()));
            assert!(n + 1 - back.len() <= portions, "more than {portions} portions are held");
        }
        back.extend(std::iter::from_fn(|| packers.take_last()));
        (back, peak.load(Ordering::SeqCst))
    }

    #[test]
    fn portions_come_back_in_order_at_any_number_of_threads() {
        let expected: Vec<usize> = (0..500).map(|n| n * n).collect();
        for (threads, portions) in [(0, 0), (1, 9), (2, 1), (2, 2), (2, 9), (5, 3), (9, 99)] {
            let (back, at_once) = squares(threads, portions, 500);
            assert_eq!(back, expected, "{threads} threads, {portions} portions");
            // The thread that gives packs when nobody else may.
            assert!(at_once <= threads + 1, "{at_once} at once with {threads} threads");
        }
    }

    #[test]
    fn all_turns_are_taken_by_threads_that_wait_for_what_is_packed() {
        let mut packers = Packers::new(|n: usize| n + 1);
        shared(&mut packers, 2, 2);
        let turns = packers.turns().unwrap();
        let _taken = (turns.wait(), turns.wait());
        packers.give(1);
        assert_eq!(packers.take_last(), Some(2));
    }

    #[test]
    fn a_panic_comes_out_where_its_portion_is_taken() {
        for threads in [0, 2] {
            let pack = |n: usize| if n == 3 { panic!("three") } else { n };
            let mut packers = Packers::new(pack);
            shared(&mut packers, threads, 9);
            (0..5).for_each(|n| packers.give(n));
            let back: Vec<_> = (0..3).filter_map(|_| packers.take_last()).collect();
            assert_eq!(back, [0, 1, 2]);
            let caught = catch_unwind(AssertUnwindSafe(|| packers.take_last()));
            assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"three"));
        }
    }

    #[test]
    fn what_nobody_takes_is_dropped() {
        let dropped = Arc::new(());
        let mut packers = Packers::new(|it: Arc<()>| it);
        shared(&mut packers, 2, 99);
        (0..20).for_each(|_| packers.give(Arc::clone(&dropped)));
        drop(packers);
        assert_eq!(Arc::strong_count(&dropped), 1);
    }

    #[test]
    fn little_memory_is_for_one_portion() {
        let portions = |threads, memory| Resources { threads, memory }.portions(4 << 20);
        assert_eq!(portions(1, 8 << 30), 0);
        assert_eq!(portions(16, 16 << 20), 0);
        assert_eq!(portions(16, 8 << 30), 18);
        assert_eq!(portions(2, 128 << 20), 4);
    }
}

//! The queue of outcomes for the caller.
//!
//! An outcome is ready once all previous ones are. Until then it waits in a ring of at most
//! [`WINDOW`] places, which starts at the first job without an outcome. The caller takes many ready
//! outcomes at a time. With [`Delivery::AsTheyCome`](Delivery) each outcome is ready at once, and
//! its place only records it.
//!
//! Waking a thread costs as much as hashing a small file. So the caller is woken when [`MANY`]
//! outcomes are ready, at the end, or after [`PATIENCE`]. It is woken at once if it was idle for
//! that long.
//!
//! No thread waits forever. A job may start only within the window, and the job at the head is
//! always within it. The worker with that job does not wait: a worker that waits for a turn of a
//! device (`devices.rs`) has no job, and workers with a turn continue to read.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Delivery;
use super::stop::Stop;
use super::task::{Completed, Sequence, Serial, Worker};

/// The largest number of jobs under way, including finished ones that the caller has not taken. It
/// bounds memory.
pub(super) const WINDOW: u64 = 1 << 16;

/// The number of ready outcomes at which the caller is woken.
const MANY: usize = 512;

/// The largest number of outcomes taken at a time. The window does not move while the caller has
/// them.
const MOST: usize = 1024;

/// The longest time that an outcome waits for others.
const PATIENCE: Duration = Duration::from_millis(5);

/// The outcomes of a run. Its methods may be called from any thread.
#[derive(Debug)]
pub(super) struct Outbox {
    state: Mutex<State>,
    /// Notified when the head moves, when the caller takes outcomes, and when serial jobs or the
    /// number of workers change. Workers, serial threads and the thread that pulls jobs wait for
    /// it.
    changed: Condvar,
    /// Notified when as many outcomes are ready as the caller waits for, or none will come.
    ready: Condvar,
    /// The first job that may not start yet. A copy of the state that can be read without the lock.
    end_of_window: AtomicU64,
}

#[derive(Debug)]
struct State {
    delivery: Delivery,
    /// The first job without an outcome.
    head: Sequence,
    /// The places from the head on.
    places: VecDeque<Slot>,
    /// The outcomes that are ready for the caller.
    ready: VecDeque<Completed>,
    /// The number of outcomes that the caller has processed.
    done: u64,
    /// The number of outcomes that the caller took last and may not have processed.
    taken: u64,
    /// Serial jobs, which run when the head reaches them, with the worker that opened them.
    serial: BTreeMap<Sequence, (Worker, Serial)>,
    /// The number of workers that may still add serial jobs.
    workers: usize,
    /// The number of threads that may still add outcomes.
    threads: usize,
    /// The number of threads that wait for a change.
    waiters: usize,
    /// The number of outcomes that the caller waits for.
    wanted: usize,
    /// Whether serial jobs wait until the caller has processed all previous outcomes.
    serial_waits_for_caller: bool,
    /// Whether a serial job is waiting for that.
    is_urgent: bool,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a box would be allocated for each file")]
enum Slot {
    /// The outcome has not arrived.
    Empty,
    /// The outcome waits for previous ones.
    Waiting(Completed),
    /// The outcome has arrived and is ready.
    Came,
}

impl State {
    /// Returns whether no further outcome will become ready.
    fn is_at_end(&self, stop: &Stop) -> bool {
        self.threads == 0 || stop.is_set()
    }

    fn end_of_window(&self) -> Sequence {
        self.head.min(self.done) + WINDOW
    }

    /// Adds an outcome, and marks outcomes as ready whose previous ones have arrived.
    fn put(&mut self, outcome: Completed) {
        let behind_head = usize::try_from(outcome.sequence - self.head).expect("not before it");
        if self.places.len() <= behind_head {
            self.places.resize_with(behind_head + 1, || Slot::Empty);
        }
        self.places[behind_head] = match self.delivery {
            Delivery::InOrder if behind_head > 0 => Slot::Waiting(outcome),
            _ => {
                self.ready.push_back(outcome);
                Slot::Came
            }
        };
        while let Some(Slot::Waiting(_) | Slot::Came) = self.places.front() {
            if let Some(Slot::Waiting(outcome)) = self.places.pop_front() {
                self.ready.push_back(outcome);
            }
            self.head += 1;
        }
    }

    /// Removes up to a number of ready outcomes.
    fn take(&mut self, batch: &mut VecDeque<Completed>) {
        if batch.is_empty() && self.ready.len() <= MOST {
            mem::swap(batch, &mut self.ready);
        } else {
            let count = self.ready.len().min(MOST);
            batch.extend(self.ready.drain(..count));
        }
    }
}

impl Outbox {
    /// Makes an outbox. `is_asked` tells whether the caller asks for outcomes while jobs run, that
    /// is, runs no jobs on its own thread.
    pub(super) fn new(delivery: Delivery, is_asked: bool) -> Self {
        let state = State {
            delivery,
            head: 0,
            places: VecDeque::new(),
            ready: VecDeque::new(),
            done: 0,
            taken: 0,
            serial: BTreeMap::new(),
            workers: 0,
            threads: 0,
            waiters: 0,
            wanted: usize::MAX,
            serial_waits_for_caller: is_asked && delivery == Delivery::InOrder,
            is_urgent: false,
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            ready: Condvar::new(),
            end_of_window: AtomicU64::new(WINDOW),
        }
    }

    /// Adds outcomes.
    pub(super) fn complete(&self, outcomes: &mut Vec<Completed>) {
        if outcomes.is_empty() {
            return;
        }
        let mut state = self.lock();
        outcomes.drain(..).for_each(|outcome| state.put(outcome));
        if state.ready.len() >= state.wanted {
            self.ready.notify_one();
        }
        self.notify(&state);
    }

    /// Appends ready outcomes to `batch`. Waits for them, at most `patience` if given. Returns
    /// whether more outcomes can come.
    pub(super) fn take(
        &self,
        batch: &mut VecDeque<Completed>,
        patience: Option<Duration>,
        stop: &Stop,
    ) -> bool {
        let deadline = patience.and_then(|patience| Instant::now().checked_add(patience));
        let mut state = self.lock();
        state.done += mem::take(&mut state.taken);
        self.notify(&state);
        if patience != Some(Duration::ZERO) {
            state = self.await_many(state, deadline, stop);
        }
        state.is_urgent = false;
        let before = batch.len();
        state.take(batch);
        state.taken = (batch.len() - before) as u64;
        state.taken > 0 || !state.is_at_end(stop)
    }

    /// Waits briefly for many outcomes, then for any.
    fn await_many<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        deadline: Option<Instant>,
        stop: &Stop,
    ) -> MutexGuard<'a, State> {
        let soon = Instant::now() + PATIENCE;
        let soon = deadline.map_or(soon, |deadline| deadline.min(soon));
        for (wanted, until) in [(MANY, Some(soon)), (1, deadline)] {
            state.wanted = if state.is_urgent { 1 } else { wanted };
            while state.ready.len() < state.wanted && !state.is_at_end(stop) {
                let Some(until) = until else {
                    state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
                    continue;
                };
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                let waited = self.ready.wait_timeout(state, left);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        state.wanted = usize::MAX;
        state
    }

    /// Waits until a job is within the window. Only for a thread that has nothing under way.
    pub(super) fn wait_for_window(&self, sequence: Sequence, stop: &Stop) {
        if sequence < self.end_of_window.load(Ordering::Acquire) {
            return;
        }
        let mut state = self.lock();
        while sequence >= state.end_of_window() && state.workers > 0 && !stop.is_set() {
            state = self.wait(state);
        }
    }

    /// Adds a serial job, for the thread that has the files of the worker.
    pub(super) fn hand_in_serial(&self, sequence: Sequence, worker: Worker, job: Serial) {
        let mut state = self.lock();
        state.serial.insert(sequence, (worker, job));
        self.wake(&state);
    }

    /// Returns the next serial job of a worker, once the caller has processed all previous
    /// outcomes. A user who types the input may want to see them first, and the job may run
    /// forever. Returns `None` if no further jobs can come.
    pub(super) fn next_serial(&self, worker: Worker, stop: &Stop) -> Option<(Sequence, Serial)> {
        let mut state = self.lock();
        loop {
            let head = state.head;
            if stop.is_set() || (state.workers == 0 && state.serial.is_empty()) {
                return None;
            }
            if state.serial.get(&head).is_some_and(|(its_worker, _)| *its_worker == worker) {
                if !state.serial_waits_for_caller || state.done == head {
                    return state.serial.remove(&head).map(|(_, job)| (head, job));
                }
                state.is_urgent = true;
                if state.wanted != usize::MAX {
                    state.wanted = 1;
                }
                self.ready.notify_one();
            }
            state = self.wait(state);
        }
    }

    /// Records the start of workers.
    pub(super) fn workers_begin(&self, count: usize) {
        let mut state = self.lock();
        state.workers += count;
        state.threads += count;
    }

    /// Records the start of another thread.
    pub(super) fn thread_begins(&self) {
        self.lock().threads += 1;
    }

    /// Records the end of a worker.
    pub(super) fn worker_ends(&self) {
        self.lock().workers -= 1;
        self.thread_ends();
    }

    /// Records the end of a worker or another thread.
    pub(super) fn thread_ends(&self) {
        self.lock().threads -= 1;
        self.wake_all();
    }

    /// Wakes all waiting threads, because the run is stopped or a thread has ended.
    pub(super) fn wake_all(&self) {
        // A thread that checked before is waiting by now.
        drop(self.lock());
        self.changed.notify_all();
        self.ready.notify_all();
    }

    /// Returns the state, which is consistent even after a panic.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.waiters += 1;
        let mut state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.waiters -= 1;
        state
    }

    /// Notifies threads that wait for the window or the head.
    fn notify(&self, state: &State) {
        self.end_of_window.store(state.end_of_window(), Ordering::Release);
        self.wake(state);
    }

    fn wake(&self, state: &State) {
        if state.waiters > 0 {
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::Algorithms;
    use crate::engine::task::Input;
    use crate::engine::{Hashed, Source};

    fn outcome(sequence: Sequence) -> Completed {
        Completed { sequence, source: Source::Nothing, result: Ok(Hashed::default()) }
    }

    /// Makes an outbox with one worker.
    fn outbox(delivery: Delivery) -> Outbox {
        let outbox = Outbox::new(delivery, true);
        outbox.workers_begin(1);
        outbox
    }

    /// Returns the numbers of ready outcomes, and whether more can come.
    fn take(outbox: &Outbox, stop: &Stop) -> (Vec<Sequence>, bool) {
        let mut batch = VecDeque::new();
        let may_more_come = outbox.take(&mut batch, Some(Duration::ZERO), stop);
        (batch.iter().map(|outcome| outcome.sequence).collect(), may_more_come)
    }

    #[test]
    fn outcomes_are_returned_in_job_order() {
        let (outbox, stop) = (outbox(Delivery::InOrder), Stop::default());
        outbox.complete(&mut vec![outcome(2), outcome(1)]);
        assert_eq!(take(&outbox, &stop), (vec![], true));
        outbox.complete(&mut vec![outcome(0)]);
        assert_eq!(take(&outbox, &stop), (vec![0, 1, 2], true));
        outbox.complete(&mut vec![outcome(4)]);
        outbox.complete(&mut vec![outcome(3)]);
        outbox.worker_ends();
        assert_eq!(take(&outbox, &stop), (vec![3, 4], true));
        assert_eq!(take(&outbox, &stop), (vec![], false));
    }

    #[test]
    fn outcomes_are_returned_once_as_they_complete() {
        let (outbox, stop) = (outbox(Delivery::AsTheyCome), Stop::default());
        outbox.complete(&mut vec![outcome(2), outcome(1)]);
        assert_eq!(take(&outbox, &stop), (vec![2, 1], true));
        outbox.complete(&mut vec![outcome(3)]);
        outbox.complete(&mut vec![outcome(0)]);
        assert_eq!(take(&outbox, &stop), (vec![3, 0], true));
        assert_eq!(outbox.lock().head, 4);
        outbox.worker_ends();
        assert_eq!(take(&outbox, &stop), (vec![], false));
    }

    #[test]
    fn a_job_beyond_the_window_waits() {
        for delivery in [Delivery::InOrder, Delivery::AsTheyCome] {
            let (outbox, stop) = (outbox(delivery), Stop::default());
            outbox.wait_for_window(WINDOW - 1, &stop);
            let wait = |sequence| outbox.wait_for_window(sequence, &stop);
            let await_waiter = || {
                while outbox.lock().waiters == 0 {
                    thread::yield_now();
                }
            };
            thread::scope(|scope| {
                let waiting = scope.spawn(|| wait(WINDOW));
                await_waiter();
                let moved = || outbox.lock().end_of_window() - WINDOW;
                outbox.complete(&mut vec![outcome(1)]);
                take(&outbox, &stop);
                take(&outbox, &stop);
                assert_eq!(moved(), 0, "the head has not come");
                outbox.complete(&mut vec![outcome(0)]);
                // The caller has processed at most that one.
                let had = if delivery == Delivery::InOrder { 0 } else { 1 };
                assert_eq!(moved(), had, "the caller has not come back for more");
                take(&outbox, &stop);
                take(&outbox, &stop);
                assert_eq!(moved(), 2);
                waiting.join().unwrap();
                wait(WINDOW + 1);
                // It does not wait either if no worker is left for the previous jobs.
                let waiting = scope.spawn(|| wait(WINDOW + 2));
                outbox.worker_ends();
                waiting.join().unwrap();
            });
        }
    }

    #[test]
    fn outcomes_end_and_stop_wake_the_caller() {
        for how in 0..3 {
            let (outbox, stop) = (outbox(Delivery::InOrder), Stop::default());
            thread::scope(|scope| {
                let caller = scope.spawn(|| {
                    let mut batch = VecDeque::new();
                    (outbox.take(&mut batch, None, &stop), batch.len())
                });
                // It has waited for others in vain.
                while outbox.lock().wanted != 1 {
                    thread::yield_now();
                }
                match how {
                    0 => outbox.complete(&mut vec![outcome(0)]),
                    1 => outbox.worker_ends(),
                    _ => {
                        stop.set();
                        outbox.wake_all();
                    }
                }
                assert_eq!(caller.join().unwrap(), [(true, 1), (false, 0), (false, 0)][how]);
            });
        }
    }

    #[test]
    fn a_serial_job_waits_for_its_turn() {
        let (outbox, stop) = (Outbox::new(Delivery::InOrder, false), Stop::default());
        outbox.workers_begin(2);
        for (sequence, worker) in [(1, 1), (3, 0), (0, 0), (2, 1)] {
            let (source, algorithms) = (Source::Stdin, Algorithms::NONE);
            let serial = Serial { source, algorithms, input: Input::Stdin };
            outbox.hand_in_serial(sequence, worker, serial);
        }
        let serve = |worker| {
            let jobs = std::iter::from_fn(|| outbox.next_serial(worker, &stop));
            let serve = |(sequence, _)| {
                outbox.complete(&mut vec![outcome(sequence)]);
                sequence
            };
            jobs.map(serve).collect::<Vec<_>>()
        };
        thread::scope(|scope| {
            let serial = [0, 1].map(|worker| scope.spawn(move || serve(worker)));
            outbox.worker_ends();
            outbox.worker_ends();
            assert_eq!(serial.map(|thread| thread.join().unwrap()), [[0, 3], [1, 2]]);
        });
        stop.set();
        assert!(outbox.next_serial(0, &stop).is_none());
    }

    #[test]
    fn a_serial_job_waits_for_the_caller() {
        let (outbox, stop) = (outbox(Delivery::InOrder), Stop::default());
        let (source, algorithms) = (Source::Stdin, Algorithms::NONE);
        outbox.hand_in_serial(1, 0, Serial { source, algorithms, input: Input::Stdin });
        outbox.complete(&mut vec![outcome(0)]);
        thread::scope(|scope| {
            let serial = scope.spawn(|| outbox.next_serial(0, &stop));
            assert_eq!(take(&outbox, &stop), (vec![0], true));
            while outbox.lock().waiters == 0 {
                thread::yield_now();
            }
            assert!(!serial.is_finished(), "the caller has not come back for more");
            assert_eq!(take(&outbox, &stop), (vec![], true));
            assert!(matches!(serial.join().unwrap(), Some((1, _))));
        });
    }
}

//! Puts outcomes back into the order of the jobs.
//!
//! A ring of at most [`WINDOW`] places begins at the first job whose outcome is not out yet, the
//! head. An outcome goes into its place; whoever fills the head's place passes on everything up to
//! the next gap, under the lock, so that the sink sees one outcome at a time and needs no thread.
//!
//! Nothing waits for ever: a job may begin only when it lies within the window, the head's job
//! always does, and whoever has it waits for nothing but a turn of its device (`devices.rs`), whose
//! holders read on without waiting.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::serial::Serial;

/// The most jobs that may be under way, finished ones behind an unfinished one included: what is
/// kept of those is what memory is spent on.
pub(super) const WINDOW: u64 = 1 << 16;

/// A job's number in the order, from 0.
pub(super) type Sequence = u64;

/// A worker's number, from 0.
pub(super) type Worker = usize;

/// Where outcomes are delivered. Its methods may be called from any thread. `T` is the context of the jobs, `R` what is kept of an outcome.
pub(super) struct Order<T, R, F> {
    state: Mutex<State<T, R, F>>,
    /// The head, or serial jobs, or the number of workers changed, and somebody waits for it.
    changed: Condvar,
    /// A copy of the state's, to be read without the lock.
    head: AtomicU64,
    stopped: AtomicBool,
}

struct State<T, R, F> {
    sink: F,
    head: Sequence,
    /// The outcomes from the head on; `None` where there is none yet.
    waiting: VecDeque<Option<R>>,
    /// Jobs that must be done alone, when the head comes to them, and the worker that opened them.
    serial: BTreeMap<Sequence, (Worker, Serial<T>)>,
    /// Workers that may still hand in serial jobs.
    workers: usize,
    /// Threads that wait for a change.
    waiters: usize,
}

impl<T, R, F: FnMut(R) -> ControlFlow<()>> Order<T, R, F> {
    pub(super) fn new(sink: F, workers: usize) -> Self {
        let state = State {
            sink,
            head: 0,
            waiting: VecDeque::new(),
            serial: BTreeMap::new(),
            workers,
            waiters: 0,
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            head: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// Whether the sink wants no more.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Takes outcomes, and passes on those whose turn it is.
    pub(super) fn complete(&self, outcomes: &mut Vec<(Sequence, R)>) {
        if outcomes.is_empty() {
            return;
        }
        let mut state = self.lock();
        for (sequence, outcome) in outcomes.drain(..) {
            let place = usize::try_from(sequence - state.head).expect("within the window");
            if state.waiting.len() <= place {
                state.waiting.resize_with(place + 1, || None);
            }
            state.waiting[place] = Some(outcome);
        }
        while !self.is_stopped()
            && let Some(Some(_)) = state.waiting.front()
        {
            let outcome = state.waiting.pop_front().flatten().expect("just seen");
            state.head += 1;
            if (state.sink)(outcome).is_break() {
                self.stopped.store(true, Ordering::Relaxed);
            }
        }
        self.head.store(state.head, Ordering::Release);
        self.wake(state);
    }

    /// Waits until a job may begin: until few enough of those before it are not out. Only for those
    /// who have nothing under way.
    pub(super) fn wait_for_window(&self, sequence: Sequence) {
        if sequence < self.head.load(Ordering::Acquire) + WINDOW {
            return;
        }
        let mut state = self.lock();
        while sequence >= state.head + WINDOW && state.workers > 0 && !self.is_stopped() {
            state = self.wait(state);
        }
    }

    /// Hands in a job that must be done alone, by a thread that has the worker's files.
    pub(super) fn hand_in_serial(&self, sequence: Sequence, worker: Worker, job: Serial<T>) {
        let mut state = self.lock();
        state.serial.insert(sequence, (worker, job));
        self.wake(state);
    }

    /// The worker's next serial job, once all jobs before it are out; `None` when no more can come.
    pub(super) fn next_serial(&self, worker: Worker) -> Option<(Sequence, Serial<T>)> {
        let mut state = self.lock();
        loop {
            let head = state.head;
            if self.is_stopped() || (state.workers == 0 && state.serial.is_empty()) {
                return None;
            }
            if let Entry::Occupied(job) = state.serial.entry(head)
                && job.get().0 == worker
            {
                return Some((head, job.remove().1));
            }
            state = self.wait(state);
        }
    }

    /// Notes that a worker has ended. One that panics ends the run.
    pub(super) fn worker_ends(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.workers -= 1;
        self.wake(state);
        self.thread_ends();
    }

    /// Notes that a thread which does jobs has ended. One that panics ends the run: the outcomes of its jobs will
    /// not come, and nobody shall wait for them.
    pub(super) fn thread_ends(&self) {
        if thread::panicking() {
            let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            self.stopped.store(true, Ordering::Relaxed);
            self.wake(state);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T, R, F>> {
        self.state.lock().expect("a sink that panics ends the run")
    }

    fn wait<'a>(
        &self,
        mut state: MutexGuard<'a, State<T, R, F>>,
    ) -> MutexGuard<'a, State<T, R, F>> {
        state.waiters += 1;
        let mut state = self.changed.wait(state).expect("a sink that panics ends the run");
        state.waiters -= 1;
        state
    }

    fn wake(&self, state: MutexGuard<'_, State<T, R, F>>) {
        if state.waiters > 0 {
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::serial::Input;
    use crate::engine::{Job, Source};

    /// What is kept of an outcome here: its own number.
    type Kept = u64;

    fn outcome(sequence: Sequence) -> (Sequence, Kept) {
        (sequence, sequence)
    }

    #[test]
    fn outcomes_come_out_in_order_whatever_order_they_go_in() {
        let mut seen = Vec::new();
        let order = Order::<(), _, _>::new(
            |outcome: Kept| {
                seen.push(outcome);
                ControlFlow::Continue(())
            },
            1,
        );
        order.complete(&mut vec![outcome(2), outcome(1)]);
        order.complete(&mut vec![outcome(0)]);
        order.complete(&mut vec![outcome(4)]);
        order.complete(&mut vec![outcome(3)]);
        drop(order);
        assert_eq!(seen, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_job_beyond_the_window_waits_for_the_head() {
        let order = Order::<(), _, _>::new(|_: Kept| ControlFlow::Continue(()), 1);
        order.wait_for_window(WINDOW - 1);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| order.wait_for_window(WINDOW));
            while order.lock().waiters == 0 {
                thread::yield_now();
            }
            order.complete(&mut vec![outcome(1)]);
            assert!(!waiting.is_finished());
            order.complete(&mut vec![outcome(0)]);
            waiting.join().unwrap();
            order.wait_for_window(WINDOW + 1);
            // Nor does it wait when nobody is left to do what is before it.
            let waiting = scope.spawn(|| order.wait_for_window(WINDOW + 2));
            order.worker_ends();
            waiting.join().unwrap();
        });
    }

    #[test]
    fn nothing_comes_out_after_a_break() {
        let mut seen = Vec::new();
        let order = Order::<(), _, _>::new(
            |outcome: Kept| {
                seen.push(outcome);
                if outcome == 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
            1,
        );
        order.complete(&mut (0..5).map(outcome).collect());
        assert!(order.is_stopped());
        order.complete(&mut vec![outcome(5)]);
        assert!(order.next_serial(0).is_none());
        drop(order);
        assert_eq!(seen, [0, 1]);
    }

    #[test]
    fn a_serial_job_waits_for_its_turn_and_goes_to_its_worker() {
        let order = Order::new(|_: Kept| ControlFlow::Continue(()), 2);
        let job = |context| {
            let algorithms = crate::Algorithms::NONE;
            Serial { job: Job { source: Source::Stdin, algorithms, context }, input: Input::Stdin }
        };
        for (sequence, worker) in [(1, 1), (3, 0), (0, 0), (2, 1)] {
            order.hand_in_serial(sequence, worker, job(sequence));
        }
        let serve = |worker| {
            let jobs = std::iter::from_fn(|| order.next_serial(worker));
            let serve = |(sequence, job): (Sequence, Serial<Sequence>)| {
                order.complete(&mut vec![outcome(sequence)]);
                job.job.context
            };
            jobs.map(serve).collect::<Vec<_>>()
        };
        thread::scope(|scope| {
            let serial = [0, 1].map(|worker| scope.spawn(move || serve(worker)));
            order.worker_ends();
            order.worker_ends();
            assert_eq!(serial.map(|thread| thread.join().unwrap()), [[0, 3], [1, 2]]);
        });
    }
}

//! Where outcomes wait for the caller.
//!
//! An outcome is ready once all before it are; until then it lies in its place in a ring, which
//! begins at the first job whose outcome has not come and has at most [`WINDOW`] places. The
//! caller's thread takes many that are ready at a stroke. (Where the caller wants outcomes [as they
//! come](Delivery), each is ready at once, and its place only notes that it came.)
//!
//! To wake a thread costs as much as to hash a small file. So the caller is woken when [`MANY`] are
//! ready, at the end, or when it has waited for [`PATIENCE`]; but at once where it had nothing to
//! do for that long.
//!
//! Nothing waits for ever: a job may begin only when it lies within the window, and the head's job
//! always does. The worker that has it waits for nothing: one that waits for a turn of a device
//! (`devices.rs`) has no job, and those that have a turn go on reading.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Delivery;
use super::stop::Stop;
use super::task::{Completed, Sequence, Serial, Worker};

/// The most jobs that may be under way, with finished ones that the caller has not taken. It bounds
/// memory.
pub(super) const WINDOW: u64 = 1 << 16;

/// So many outcomes are worth waking the caller for.
const MANY: usize = 512;

/// So many are taken at a stroke at most: the window does not move while the caller has them.
const MOST: usize = 1024;

/// How long an outcome may wait for company.
const PATIENCE: Duration = Duration::from_millis(5);

/// The outcomes of a run. Its methods may be called from any thread.
#[derive(Debug)]
pub(super) struct Outbox {
    state: Mutex<State>,
    /// The head moved, the caller took some, serial jobs or the number of workers changed: worker
    /// and serial threads wait for it, and the thread that pulls the jobs.
    changed: Condvar,
    /// As many are ready as the caller waits for, or no more come.
    ready: Condvar,
    /// The first job that may not begin yet; a copy of what the state says, to be read without the
    /// lock.
    end_of_window: AtomicU64,
}

#[derive(Debug)]
struct State {
    delivery: Delivery,
    /// The first job whose outcome has not come.
    head: Sequence,
    /// From the head on.
    places: VecDeque<Slot>,
    /// They wait for the caller.
    ready: VecDeque<Completed>,
    /// How many outcomes the caller is done with.
    done: u64,
    /// How many it took last, and may not be done with.
    taken: u64,
    /// Jobs that must be done alone, when the head comes to them, and the worker that opened them.
    serial: BTreeMap<Sequence, (Worker, Serial)>,
    /// Workers that may still hand in serial jobs.
    workers: usize,
    /// Threads that may still bring outcomes.
    threads: usize,
    /// Threads that wait for a change.
    waiters: usize,
    /// As many as the caller waits for.
    wanted: usize,
    /// What is read alone waits until the caller is done with all before it.
    serial_waits_for_caller: bool,
    /// And does so now.
    is_urgent: bool,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a box would be allocated for each file")]
enum Slot {
    /// Its outcome has not come.
    Empty,
    /// It waits for those before it.
    Waiting(Completed),
    /// It came, and is ready.
    Came,
}

impl State {
    /// Whether no outcome will become ready.
    fn is_at_end(&self, stop: &Stop) -> bool {
        self.threads == 0 || stop.is_set()
    }

    fn end_of_window(&self) -> Sequence {
        self.head.min(self.done) + WINDOW
    }

    /// Takes an outcome in, and makes ready what has all before it.
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

    /// Takes what is ready, the first so many of it.
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
    /// `is_asked` says whether the caller asks for outcomes while jobs are done: that its own
    /// thread does none.
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

    /// Takes outcomes in.
    pub(super) fn complete(&self, outcomes: &mut Vec<Completed>) {
        if outcomes.is_empty() {
            return;
        }
        let mut state = self.lock();
        outcomes.drain(..).for_each(|outcome| state.put(outcome));
        if state.ready.len() >= state.wanted {
            self.ready.notify_one();
        }
        self.tell(&state);
    }

    /// Gives the caller what is ready, behind what is in `batch`; waits for it, for as long as
    /// `patience` where there is one. Whether any can come after these.
    pub(super) fn take(
        &self,
        batch: &mut VecDeque<Completed>,
        patience: Option<Duration>,
        stop: &Stop,
    ) -> bool {
        let deadline = patience.and_then(|patience| Instant::now().checked_add(patience));
        let mut state = self.lock();
        state.done += mem::take(&mut state.taken);
        self.tell(&state);
        if patience != Some(Duration::ZERO) {
            state = self.await_many(state, deadline, stop);
        }
        state.is_urgent = false;
        let before = batch.len();
        state.take(batch);
        state.taken = (batch.len() - before) as u64;
        state.taken > 0 || !state.is_at_end(stop)
    }

    /// Waits for many, but not for long; then for any.
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

    /// Waits until a job may begin: until few enough of those before it are out. Only for the
    /// thread that has nothing under way.
    pub(super) fn wait_for_window(&self, sequence: Sequence, stop: &Stop) {
        if sequence < self.end_of_window.load(Ordering::Acquire) {
            return;
        }
        let mut state = self.lock();
        while sequence >= state.end_of_window() && state.workers > 0 && !stop.is_set() {
            state = self.wait(state);
        }
    }

    /// Hands in a job that must be done alone, by a thread that has the worker's files.
    pub(super) fn hand_in_serial(&self, sequence: Sequence, worker: Worker, job: Serial) {
        let mut state = self.lock();
        state.serial.insert(sequence, (worker, job));
        self.wake(&state);
    }

    /// The worker's next serial job, once all jobs before it are out, and the caller is done with
    /// them: it may take for ever, and whoever is to type it may want to see them. `None` when no
    /// more can come.
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

    /// Notes that so many workers begin.
    pub(super) fn workers_begin(&self, count: usize) {
        let mut state = self.lock();
        state.workers += count;
        state.threads += count;
    }

    /// Notes that a thread beside a worker begins.
    pub(super) fn thread_begins(&self) {
        self.lock().threads += 1;
    }

    /// Notes that a worker has ended.
    pub(super) fn worker_ends(&self) {
        self.lock().workers -= 1;
        self.thread_ends();
    }

    /// Notes that a thread has ended, a worker or one beside it.
    pub(super) fn thread_ends(&self) {
        self.lock().threads -= 1;
        self.wake_all();
    }

    /// Wakes all that wait, since the run is stopped or a thread has ended.
    pub(super) fn wake_all(&self) {
        // Whoever looked before has begun to wait now.
        drop(self.lock());
        self.changed.notify_all();
        self.ready.notify_all();
    }

    /// The state, which no panic leaves half changed.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.waiters += 1;
        let mut state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.waiters -= 1;
        state
    }

    /// Tells where the window ends now to whoever waits for that, or for the head.
    fn tell(&self, state: &State) {
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

    /// An outbox of one worker.
    fn outbox(delivery: Delivery) -> Outbox {
        let outbox = Outbox::new(delivery, true);
        outbox.workers_begin(1);
        outbox
    }

    /// The numbers of what is ready, and whether more can come.
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
                // Of what came the caller has had that one at most.
                let had = if delivery == Delivery::InOrder { 0 } else { 1 };
                assert_eq!(moved(), had, "the caller has not come back for more");
                take(&outbox, &stop);
                take(&outbox, &stop);
                assert_eq!(moved(), 2);
                waiting.join().unwrap();
                wait(WINDOW + 1);
                // Nor does it wait when no worker is left to do what is before it.
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
                // It has waited in vain for company.
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

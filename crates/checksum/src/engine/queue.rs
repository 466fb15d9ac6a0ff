//! The queue of jobs from the iterator to the workers.
//!
//! One thread pulls the iterator ahead of the workers (`run.rs`). So an iterator that waits, for a
//! name from a pipe or for a directory, does not delay a worker whose lanes are in use, and no
//! outcome; and what it keeps open is used by one thread only.
//!
//! A worker takes many jobs at once if files are short. If a long file comes up and another worker
//! is idle, it returns the jobs that it has not started. So the queue has not ended while a worker
//! holds jobs that it may return.
//!
//! If files come from a medium, a worker takes all available jobs, looks up their places, and
//! returns them as a [`Plan`]. From then on jobs are taken in the order of the plan, with a turn of
//! their device.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::devices;
use super::outbox::WINDOW;
use super::plan::{Place, Plan, Round};
use super::task::{Task, Worker};

/// The number of jobs that are pulled ahead of the workers. A full queue is refilled when half of
/// it is gone, because on a single CPU each refill costs two thread switches.
const AHEAD: usize = 1024;

/// The number of jobs that are pulled ahead if they are planned: as many as may be under way.
const AHEAD_OF_PLAN: usize = WINDOW as usize;

/// Before planning, the queue waits for more jobs as long as they come at this rate. So reading
/// files does not interrupt a walk through directories on the same disk. Names that a user types or
/// a program prints one by one come more slowly.
const PACE: (usize, Duration) = (4, Duration::from_millis(500));

/// The longest wait for more jobs.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The queue of jobs.
#[derive(Debug)]
pub(super) struct JobQueue {
    state: Mutex<State>,
    /// Whether any worker waits for jobs. A copy of the state that can be read without the lock.
    has_waiting: AtomicBool,
    /// Notified when there are jobs, when none will come, and when all workers are started.
    /// Workers wait for it.
    filled: Condvar,
    /// Notified when there is room, or when no worker is left. The thread that pulls the iterator
    /// waits for it.
    drained: Condvar,
}

#[derive(Debug)]
struct State {
    /// The jobs in the order in which they were pulled.
    jobs: VecDeque<Task>,
    /// The jobs with known places, which are taken first.
    plan: Plan,
    /// Whether a worker is looking up places, which the other workers wait for.
    is_planning: bool,
    /// The number of jobs to pull ahead.
    ahead: usize,
    /// Whether no further jobs will come.
    ended: bool,
    /// Whether the remaining jobs are not wanted.
    stopped: bool,
    /// The number of workers that may still take jobs.
    workers: usize,
    /// Whether all workers are started.
    all_started: bool,
    /// The number of workers that wait for jobs.
    waiting: usize,
    /// Whether a thread waits for room.
    is_full: bool,
    /// Whether each worker has jobs that it may not have started.
    holds: Vec<bool>,
}

impl State {
    /// Returns whether no jobs are available now.
    fn is_empty(&self) -> bool {
        self.plan.is_empty() && !self.has_unplanned()
    }

    /// Returns whether jobs with unknown places are available now.
    fn has_unplanned(&self) -> bool {
        !self.jobs.is_empty() && !self.is_planning
    }

    /// Returns whether there are no jobs and none will come.
    fn is_at_end(&self) -> bool {
        self.stopped || (self.is_empty() && self.ended && !self.holds.contains(&true))
    }
}

/// The result of asking for jobs.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Some,
    /// No jobs are available now.
    None,
    /// No further jobs will come.
    End,
}

/// The result of asking for planned jobs.
#[derive(Debug)]
pub(super) enum Planned<R> {
    Some(Round<R>),
    /// The number of planned jobs on devices without room for another reader.
    NoRoom(usize),
    /// The plan is empty.
    None,
}

impl JobQueue {
    pub(super) fn new(workers: usize) -> Self {
        let jobs = VecDeque::with_capacity(AHEAD);
        let state = State {
            jobs,
            plan: Plan::default(),
            is_planning: false,
            ahead: AHEAD,
            ended: false,
            stopped: false,
            workers,
            all_started: false,
            waiting: 0,
            is_full: false,
            holds: vec![false; workers],
        };
        Self {
            state: Mutex::new(state),
            has_waiting: AtomicBool::new(false),
            filled: Condvar::new(),
            drained: Condvar::new(),
        }
    }

    /// Records that no further workers will be started, and the number of workers that failed to
    /// start.
    pub(super) fn all_are_started(&self, missing: usize) {
        let mut state = self.change();
        state.workers -= missing;
        state.all_started = true;
        self.filled.notify_all();
    }

    /// Records that no further jobs will come.
    pub(super) fn end(&self) {
        self.change().ended = true;
        self.filled.notify_all();
    }

    /// Returns whether no further jobs will come.
    pub(super) fn has_ended(&self) -> bool {
        self.change().ended
    }

    /// Records that no further jobs are wanted.
    pub(super) fn stop(&self) {
        self.change().stopped = true;
        self.filled.notify_all();
        self.drained.notify_all();
    }

    /// Makes the queue usable again for a single worker.
    pub(super) fn begin_again(&self) {
        let mut state = self.change();
        (state.ended, state.workers) = (false, 1);
    }

    /// Adds a job once there is room. Returns false if it is not wanted or no worker is left.
    pub(super) fn push(&self, job: Task) -> bool {
        let mut state = self.change();
        if state.jobs.len() >= state.ahead {
            state.is_full = true;
            let is_full = |state: &mut State| state.is_full && state.workers > 0 && !state.stopped;
            let waited = self.drained.wait_while(state, is_full);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        state.jobs.push_back(job);
        if state.waiting > 0 {
            self.filled.notify_one();
        }
        state.workers > 0 && !state.stopped
    }

    /// Moves up to `count` jobs into `jobs`, and up to `most` if as many are left for each other
    /// worker. Does not wait. The worker must have started all jobs that it took before.
    pub(super) fn take(
        &self,
        worker: Worker,
        count: usize,
        most: usize,
        jobs: &mut VecDeque<Task>,
    ) -> Taken {
        let mut state = self.change();
        self.let_go(&mut state, worker);
        if !state.has_unplanned() || state.stopped {
            return if state.is_at_end() { Taken::End } else { Taken::None };
        }
        let share = state.jobs.len() / state.workers;
        let count = count.min(state.jobs.len()).max(most.min(share));
        jobs.extend(state.jobs.drain(..count));
        state.holds[worker] = count > 1;
        self.have_more_pulled(&mut state);
        Taken::Some
    }

    /// Takes at most `most` of the next jobs of the plan, like [`Plan::take`].
    pub(super) fn take_planned<R>(
        &self,
        worker: Worker,
        most: usize,
        load: impl Fn(devices::Number) -> u64,
        room: impl FnMut(devices::Number) -> Option<R>,
        jobs: &mut VecDeque<Task>,
    ) -> Planned<R> {
        let mut state = self.change();
        self.let_go(&mut state, worker);
        if state.plan.is_empty() || state.stopped {
            return Planned::None;
        }
        match state.plan.take(most, load, room, jobs) {
            None => Planned::NoRoom(state.plan.waiting()),
            Some(round) => {
                state.holds[worker] = true;
                Planned::Some(round)
            }
        }
    }

    /// Takes all unplanned jobs, for a worker that will [plan](Self::plan) them. If the order
    /// matters and there is no plan, waits for more jobs as long as they come fast. If there is a
    /// plan, possibly of another device, takes many jobs or the last ones.
    pub(super) fn take_unplanned(&self, worker: Worker, has_order: bool) -> Vec<Task> {
        let mut state = self.change();
        if !state.has_unplanned() || state.stopped {
            return Vec::new();
        }
        if !state.plan.is_empty() && state.jobs.len() < AHEAD && !state.ended {
            return Vec::new();
        }
        state.is_planning = true;
        state.holds[worker] = true;
        if has_order {
            state.ahead = AHEAD_OF_PLAN;
            self.have_more_pulled(&mut state);
            if state.plan.is_empty() && state.jobs.len() > 1 {
                state = self.await_more(state);
            }
        }
        let jobs = state.jobs.drain(..).collect();
        self.have_more_pulled(&mut state);
        jobs
    }

    /// Waits for jobs as long as they come fast.
    fn await_more<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let begin = Instant::now();
        let mut before = 0;
        while state.jobs.len() >= before + PACE.0 && begin.elapsed() < LONGEST_WAIT {
            before = state.jobs.len();
            let more = |state: &mut State| {
                !state.ended && !state.stopped && state.jobs.len() < state.ahead
            };
            let waited = self.filled.wait_timeout_while(state, PACE.1, more);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state
    }

    /// Returns whether the places of all jobs are known or not needed.
    pub(super) fn is_all_planned(&self) -> bool {
        let state = self.change();
        state.ended && state.jobs.is_empty() && !state.is_planning
    }

    /// Returns jobs to the queue, each with its place if known.
    pub(super) fn plan(&self, worker: Worker, jobs: impl Iterator<Item = (Task, Option<Place>)>) {
        let mut state = self.change();
        jobs.for_each(|(job, place)| state.plan.add(job, place));
        state.is_planning = false;
        self.let_go(&mut state, worker);
        self.filled.notify_all();
    }

    /// Returns a started job whose device has no room.
    pub(super) fn defer(&self, job: Task, place: Place) {
        self.change().plan.add(job, Some(place));
        self.filled.notify_all();
    }

    /// Lets the pulling thread continue if there is room.
    fn have_more_pulled(&self, state: &mut State) {
        if state.is_full && state.jobs.len() <= state.ahead / 2 {
            state.is_full = false;
            self.drained.notify_one();
        }
    }

    /// Returns whether any worker waits for jobs.
    pub(super) fn has_waiting(&self) -> bool {
        self.has_waiting.load(Ordering::Relaxed)
    }

    /// Takes back jobs that a worker has not started.
    pub(super) fn give_back(&self, worker: Worker, jobs: &mut VecDeque<Task>) {
        let mut state = self.change();
        let first_left = state.jobs.front().map(|job| job.sequence);
        let is_before = jobs.iter().map(|job| job.sequence).chain(first_left).is_sorted();
        while let Some(job) = jobs.pop_back() {
            state.jobs.push_front(job);
        }
        if !is_before {
            // They were planned, or another worker has returned later ones.
            state.jobs.make_contiguous().sort_unstable_by_key(|job| job.sequence);
        }
        self.let_go(&mut state, worker);
        self.filled.notify_all();
    }

    /// Records that a worker will not return its jobs.
    fn let_go(&self, state: &mut State, worker: Worker) {
        if std::mem::take(&mut state.holds[worker]) && state.is_at_end() {
            self.filled.notify_all();
        }
    }

    /// Waits until there are jobs, or none will come. The worker must have started all jobs that
    /// it took before.
    pub(super) fn wait(&self, worker: Worker) {
        let mut state = self.change();
        self.let_go(&mut state, worker);
        state.waiting += 1;
        self.has_waiting.store(true, Ordering::Relaxed);
        let nothing = |state: &mut State| state.is_empty() && !state.is_at_end();
        let waited = self.filled.wait_while(state, nothing);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        self.has_waiting.store(state.waiting > 0, Ordering::Relaxed);
    }

    /// Returns whether a worker may leave the jobs to others, that is, whether it is not the last
    /// one. If so, the worker has ended. Waits until the number of workers is known, before the
    /// first job comes.
    pub(super) fn leave(&self) -> bool {
        let started = self.filled.wait_while(self.change(), |state| !state.all_started);
        let mut state = started.unwrap_or_else(PoisonError::into_inner);
        let has_others = state.workers > 1;
        if has_others {
            state.workers -= 1;
        }
        has_others
    }

    /// Records the end of a worker.
    pub(super) fn worker_ends(&self, worker: Worker) {
        let mut state = self.change();
        state.workers -= 1;
        self.let_go(&mut state, worker);
        self.drained.notify_one();
    }

    /// Returns the state, which is consistent even after a panic.
    fn change(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Algorithms;
    use crate::engine::Source;
    use crate::engine::task::Sequence;

    fn jobs(count: u64) -> impl Iterator<Item = Task> {
        let (source, algorithms) = (Source::Nothing, Algorithms::NONE);
        (0..count).map(move |sequence| Task { sequence, source: source.clone(), algorithms })
    }

    fn fill(queue: &JobQueue, count: u64) {
        assert!(jobs(count).all(|job| queue.push(job)));
        queue.end();
    }

    fn numbers(jobs: &VecDeque<Task>) -> impl Iterator<Item = Sequence> {
        jobs.iter().map(|job| job.sequence)
    }

    #[test]
    fn every_job_is_taken_once_in_order() {
        const JOBS: u64 = 10 * AHEAD as u64;
        let (queue, mut taken) = (JobQueue::new(1), VecDeque::new());
        std::thread::scope(|scope| {
            scope.spawn(|| fill(&queue, JOBS));
            while queue.take(0, 7, 7, &mut taken) != Taken::End {
                queue.wait(0);
            }
        });
        assert!(numbers(&taken).eq(0..JOBS));
    }

    #[test]
    fn the_queue_is_bounded_by_room_and_workers() {
        let queue = JobQueue::new(1);
        std::thread::scope(|scope| {
            let pushing = scope.spawn(|| {
                jobs(10 * AHEAD as u64).take_while(|_| true).position(|job| !queue.push(job))
            });
            while !queue.change().is_full {
                std::thread::yield_now();
            }
            assert_eq!(queue.change().jobs.len(), AHEAD);
            queue.worker_ends(0);
            assert_eq!(pushing.join().unwrap(), Some(AHEAD));
        });
    }

    #[test]
    fn a_stop_ends_all_waits() {
        let (queue, mut taken) = (JobQueue::new(2), VecDeque::new());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.wait(0));
            while queue.change().waiting == 0 {
                std::thread::yield_now();
            }
            queue.stop();
            waiting.join().unwrap();
        });
        assert!(jobs(1).all(|job| !queue.push(job)));
        assert_eq!(queue.take(0, 1, 1, &mut taken), Taken::End);

        let queue = JobQueue::new(1);
        std::thread::scope(|scope| {
            let pushing = scope.spawn(|| jobs(10 * AHEAD as u64).position(|job| !queue.push(job)));
            while !queue.change().is_full {
                std::thread::yield_now();
            }
            queue.stop();
            assert_eq!(pushing.join().unwrap(), Some(AHEAD));
        });
    }

    #[test]
    fn all_workers_but_the_last_may_leave() {
        let queue = JobQueue::new(5);
        let left = std::thread::scope(|scope| {
            let leaving = scope.spawn(|| queue.leave());
            queue.all_are_started(2);
            leaving.join().unwrap()
        });
        assert_eq!([left, queue.leave(), queue.leave(), queue.leave()], [true, true, false, false]);
        assert_eq!(queue.change().workers, 1);
    }

    #[test]
    fn a_worker_takes_more_only_if_enough_is_left() {
        let (queue, mut taken) = (JobQueue::new(3), VecDeque::new());
        fill(&queue, 30);
        let mut count = |count, most| {
            taken.clear();
            queue.take(0, count, most, &mut taken);
            taken.len()
        };
        assert_eq!(count(2, 8), 8);
        assert_eq!(count(2, 8), 7);
        assert_eq!(count(6, 8), 6);
        assert_eq!(count(32, 32), 9);
    }

    #[test]
    fn returned_jobs_are_taken_again_in_order() {
        let queue = JobQueue::new(2);
        let [mut first, mut second, mut third] = [const { VecDeque::new() }; 3];
        fill(&queue, 10);
        queue.take(0, 4, 4, &mut first);
        queue.take(1, 6, 6, &mut second);
        assert_eq!(queue.take(1, 1, 1, &mut third), Taken::None, "the other one holds some");
        let begun = [&mut first, &mut second].map(|jobs| jobs.pop_front().expect("a job").sequence);
        assert_eq!(begun, [0, 4]);
        queue.give_back(1, &mut second);
        queue.give_back(0, &mut first);
        assert!(first.is_empty() && second.is_empty());
        assert_eq!(queue.take(0, 9, 9, &mut third), Taken::Some);
        assert!(numbers(&third).eq([1, 2, 3, 5, 6, 7, 8, 9]));

        // The queue does not wait for jobs that no worker can return.
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.wait(1));
            while queue.change().waiting == 0 {
                std::thread::yield_now();
            }
            queue.worker_ends(0);
            waiting.join().unwrap();
        });
        assert_eq!(queue.take(1, 1, 1, &mut third), Taken::End);
    }

    #[test]
    fn jobs_returned_late_go_before_later_ones() {
        let queue = JobQueue::new(2);
        let [mut first, mut second, mut all] = [const { VecDeque::new() }; 3];
        fill(&queue, 6);
        queue.take(0, 2, 2, &mut first);
        queue.take(1, 2, 2, &mut second);
        queue.give_back(0, &mut first);
        queue.give_back(1, &mut second);
        queue.take(0, 6, 6, &mut all);
        assert!(numbers(&all).eq(0..6));
    }
}

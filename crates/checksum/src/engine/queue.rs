//! Jobs on their way from the iterator to the workers.
//!
//! One thread pulls the iterator, ahead of the workers (`run.rs`). So an iterator that waits, for a
//! name to come through a pipe or for a directory to be read, holds up no worker whose lanes are in
//! use, and no outcome; and what it keeps open is used by one thread only.
//!
//! A worker takes many jobs at once where files are short, and gives back what it has not begun
//! when a long one comes up and another worker has nothing to do. So there is no end while a worker
//! holds jobs that it may give back.
//!
//! Where files come from a medium, a worker takes all jobs that are there, looks where each lies,
//! and brings them back as a [`Plan`]: from then on they are taken in its order, and with a turn of
//! their device.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::devices;
use super::outbox::WINDOW;
use super::plan::{Place, Plan, Round};
use super::task::{Task, Worker};

/// How many jobs are pulled ahead of the workers. When they are all there nothing is pulled until
/// half are gone: on a single CPU each time costs two changes of threads.
const AHEAD: usize = 1024;

/// And how many where they are planned: as many as may be under way.
const AHEAD_OF_PLAN: usize = WINDOW as usize;

/// More jobs are waited for before they are planned, as long as so many come in this time: a walk
/// through directories on the same disk is not to be interrupted by reading files. Names that
/// somebody types, or a program gives one by one, come more slowly.
const PACE: (usize, Duration) = (4, Duration::from_millis(500));

/// So long they are waited for at most.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The jobs that no worker has taken yet.
#[derive(Debug)]
pub(super) struct JobQueue {
    state: Mutex<State>,
    /// Whether any worker waits for jobs; a copy of what the state says, to be read without the
    /// lock.
    has_waiting: AtomicBool,
    /// There are jobs again, or no more will come; before that, all workers are started. Workers
    /// wait for it.
    filled: Condvar,
    /// There is room again, or no worker is left. Who pulls the iterator waits for it.
    drained: Condvar,
}

#[derive(Debug)]
struct State {
    /// In the order in which they were pulled.
    jobs: VecDeque<Task>,
    /// Those whose places are known; they go first.
    plan: Plan,
    /// A worker looks where jobs lie, and the others wait for that.
    is_planning: bool,
    /// How many jobs are pulled ahead.
    ahead: usize,
    /// No more jobs will come.
    ended: bool,
    /// And those that are there are not wanted.
    stopped: bool,
    /// Workers that may still take jobs.
    workers: usize,
    /// Whether these are all there will be.
    all_started: bool,
    /// Workers that wait for jobs.
    waiting: usize,
    /// Whether somebody waits for room.
    is_full: bool,
    /// Whether each worker has jobs that it took and may not have begun.
    holds: Vec<bool>,
}

impl State {
    /// Whether there are no jobs to be taken now.
    fn is_empty(&self) -> bool {
        self.plan.is_empty() && !self.has_unplanned()
    }

    /// Whether there are jobs to be taken now whose places are unknown.
    fn has_unplanned(&self) -> bool {
        !self.jobs.is_empty() && !self.is_planning
    }

    /// Whether there are no jobs now, nor will be.
    fn is_at_end(&self) -> bool {
        self.stopped || (self.is_empty() && self.ended && !self.holds.contains(&true))
    }
}

/// What came of asking for jobs.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Some,
    /// There are none now.
    None,
    /// There will be none.
    End,
}

/// What came of asking for planned jobs.
#[derive(Debug)]
pub(super) enum Planned<R> {
    Some(Round<R>),
    /// There are so many, of devices that have no room for one more reader.
    NoRoom(usize),
    /// Nothing is planned.
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

    /// Notes that no more workers will be started, and how many of those expected were not.
    pub(super) fn all_are_started(&self, missing: usize) {
        let mut state = self.change();
        state.workers -= missing;
        state.all_started = true;
        self.filled.notify_all();
    }

    /// Notes that no more jobs come.
    pub(super) fn end(&self) {
        self.change().ended = true;
        self.filled.notify_all();
    }

    /// Whether no more jobs come.
    pub(super) fn has_ended(&self) -> bool {
        self.change().ended
    }

    /// Notes that no more jobs are wanted.
    pub(super) fn stop(&self) {
        self.change().stopped = true;
        self.filled.notify_all();
        self.drained.notify_all();
    }

    /// Whether one worker does jobs again, for whom more come.
    pub(super) fn begin_again(&self) {
        let mut state = self.change();
        (state.ended, state.workers) = (false, 1);
    }

    /// Adds a job, once there is room; false when it is not wanted, or no worker is left to do it.
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

    /// Takes up to `count` jobs into `jobs`, and up to `most` where as many are left for each other
    /// worker; does not wait for any. Those that the worker took before are begun.
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

    /// Takes the next jobs of the plan, up to `most`, as [`Plan::take`]; none where there is no
    /// plan.
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

    /// Takes all jobs that are not planned, for a worker that will [plan](Self::plan) them. Where
    /// their order matters, and there is no plan, it waits for more, as long as they come fast.
    /// Where there is one, which may be of another device, it takes many or the last.
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

    /// Whether somebody has looked, or need not look, where each of all jobs lies.
    pub(super) fn is_all_planned(&self) -> bool {
        let state = self.change();
        state.ended && state.jobs.is_empty() && !state.is_planning
    }

    /// Brings jobs back, each with its place if that is known.
    pub(super) fn plan(&self, worker: Worker, jobs: impl Iterator<Item = (Task, Option<Place>)>) {
        let mut state = self.change();
        jobs.for_each(|(job, place)| state.plan.add(job, place));
        state.is_planning = false;
        self.let_go(&mut state, worker);
        self.filled.notify_all();
    }

    /// Brings back a job that was begun and whose device has no room.
    pub(super) fn defer(&self, job: Task, place: Place) {
        self.change().plan.add(job, Some(place));
        self.filled.notify_all();
    }

    /// Lets the pulling go on where there is room again.
    fn have_more_pulled(&self, state: &mut State) {
        if state.is_full && state.jobs.len() <= state.ahead / 2 {
            state.is_full = false;
            self.drained.notify_one();
        }
    }

    /// Whether any worker waits for jobs.
    pub(super) fn has_waiting(&self) -> bool {
        self.has_waiting.load(Ordering::Relaxed)
    }

    /// Takes back jobs that a worker has not begun.
    pub(super) fn give_back(&self, worker: Worker, jobs: &mut VecDeque<Task>) {
        let mut state = self.change();
        let first_left = state.jobs.front().map(|job| job.sequence);
        let is_before = jobs.iter().map(|job| job.sequence).chain(first_left).is_sorted();
        while let Some(job) = jobs.pop_back() {
            state.jobs.push_front(job);
        }
        if !is_before {
            // They were planned, or another worker gave back later ones in between.
            state.jobs.make_contiguous().sort_unstable_by_key(|job| job.sequence);
        }
        self.let_go(&mut state, worker);
        self.filled.notify_all();
    }

    /// Notes that a worker will not give back what it took.
    fn let_go(&self, state: &mut State, worker: Worker) {
        if std::mem::take(&mut state.holds[worker]) && state.is_at_end() {
            self.filled.notify_all();
        }
    }

    /// Waits until there are jobs, or none will come. Those that the worker took before are begun.
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

    /// Whether a worker may leave the jobs to others: if it is not the last one. Then it has ended.
    /// Waits until it is known how many there are, before the first job comes.
    pub(super) fn leave(&self) -> bool {
        let started = self.filled.wait_while(self.change(), |state| !state.all_started);
        let mut state = started.unwrap_or_else(PoisonError::into_inner);
        let has_others = state.workers > 1;
        if has_others {
            state.workers -= 1;
        }
        has_others
    }

    /// Notes that a worker has ended.
    pub(super) fn worker_ends(&self, worker: Worker) {
        let mut state = self.change();
        state.workers -= 1;
        self.let_go(&mut state, worker);
        self.drained.notify_one();
    }

    /// The state, which no panic leaves half changed.
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

        // Jobs that no worker can give back are not waited for.
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

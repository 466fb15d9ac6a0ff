//! Jobs on their way from the iterator to the workers.
//!
//! One thread pulls the iterator, ahead of the workers. So an iterator that waits, for a name to come
//! through a pipe or for a folder to be read, holds up no worker whose lanes are in use; and what it
//! keeps open is used by one thread only.
//!
//! A worker takes many jobs at once where files are short, and gives back what it has not begun when a long one
//! comes up: the others may have nothing to do. So there is no end while a worker holds jobs that it may give back.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::Job;
use super::order::{Order, Sequence, Worker};

/// How many jobs are pulled ahead of the workers. When they are all there nothing is pulled until half
/// are gone: on a single CPU each time costs two changes of threads.
pub(super) const AHEAD: usize = 1024;

/// The jobs that no worker has taken yet. `T` is their context.
pub(super) struct Feed<T> {
    state: Mutex<State<T>>,
    /// There are jobs again, or no more will come; before that, all workers are started. Workers wait for it.
    filled: Condvar,
    /// There is room again, or no worker is left. Who pulls the iterator waits for it.
    drained: Condvar,
}

struct State<T> {
    jobs: VecDeque<(Sequence, Job<T>)>,
    /// No more jobs will come.
    ended: bool,
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

impl<T> State<T> {
    /// Whether there are no jobs now, nor will be.
    fn is_at_end(&self) -> bool {
        self.jobs.is_empty() && self.ended && !self.holds.contains(&true)
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

impl<T> Feed<T> {
    pub(super) fn new(workers: usize) -> Self {
        let jobs = VecDeque::with_capacity(AHEAD);
        let (ended, all_started, is_full) = (false, false, false);
        let holds = vec![false; workers];
        let state = State { jobs, ended, workers, all_started, waiting: 0, is_full, holds };
        Self { state: Mutex::new(state), filled: Condvar::new(), drained: Condvar::new() }
    }

    /// Notes that no more workers will be started, and how many of those expected were not.
    pub(super) fn all_are_started(&self, missing: usize) {
        let mut state = self.change();
        state.workers -= missing;
        state.all_started = true;
        self.filled.notify_all();
    }

    /// Pulls the iterator to its end, or until the jobs are not wanted any more.
    pub(super) fn pull<R, F>(&self, mut jobs: impl Iterator<Item = Job<T>>, order: &Order<T, R, F>)
    where
        F: FnMut(R) -> ControlFlow<()>,
    {
        /// Tells the workers, also when the iterator panics.
        struct End<'a, T>(&'a Feed<T>);
        impl<T> Drop for End<'_, T> {
            fn drop(&mut self) {
                self.0.change().ended = true;
                self.0.filled.notify_all();
            }
        }
        let _end = End(self);
        for sequence in 0.. {
            order.wait_for_window(sequence);
            let Some(job) = jobs.next() else { break };
            if order.is_stopped() || !self.push(sequence, job) {
                break;
            }
        }
    }

    /// Adds a job, once there is room; false when no worker is left to do it.
    fn push(&self, sequence: Sequence, job: Job<T>) -> bool {
        let mut state = self.change();
        if state.jobs.len() >= AHEAD {
            state.is_full = true;
            let is_full = |state: &mut State<T>| state.is_full && state.workers > 0;
            let waited = self.drained.wait_while(state, is_full);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        state.jobs.push_back((sequence, job));
        if state.waiting > 0 {
            self.filled.notify_one();
        }
        state.workers > 0
    }

    /// Takes up to `count` jobs into `jobs`, and up to `most` where as many are left for each other
    /// worker; does not wait for any. Those that the worker took before are begun.
    pub(super) fn take(
        &self,
        worker: Worker,
        count: usize,
        most: usize,
        jobs: &mut VecDeque<(Sequence, Job<T>)>,
    ) -> Taken {
        let mut state = self.change();
        self.let_go(&mut state, worker);
        if state.jobs.is_empty() {
            return if state.is_at_end() { Taken::End } else { Taken::None };
        }
        let share = state.jobs.len() / state.workers;
        let count = count.min(state.jobs.len()).max(most.min(share));
        jobs.extend(state.jobs.drain(..count));
        state.holds[worker] = count > 1;
        if state.is_full && state.jobs.len() <= AHEAD / 2 {
            state.is_full = false;
            self.drained.notify_one();
        }
        Taken::Some
    }

    /// Takes back jobs that a worker has not begun.
    pub(super) fn give_back(&self, worker: Worker, jobs: &mut VecDeque<(Sequence, Job<T>)>) {
        let mut state = self.change();
        let first_left = state.jobs.front().map(|(sequence, _)| *sequence);
        let is_before = jobs.back().zip(first_left).is_none_or(|(last, first)| last.0 < first);
        while let Some(job) = jobs.pop_back() {
            state.jobs.push_front(job);
        }
        if !is_before {
            // Another worker gave back later ones in between.
            state.jobs.make_contiguous().sort_unstable_by_key(|(sequence, _)| *sequence);
        }
        self.let_go(&mut state, worker);
        self.filled.notify_all();
    }

    /// Notes that a worker will not give back what it took.
    fn let_go(&self, state: &mut State<T>, worker: Worker) {
        if std::mem::take(&mut state.holds[worker]) && state.is_at_end() {
            self.filled.notify_all();
        }
    }

    /// Waits until there are jobs, or none will come. Those that the worker took before are begun.
    pub(super) fn wait(&self, worker: Worker) {
        let mut state = self.change();
        self.let_go(&mut state, worker);
        state.waiting += 1;
        let nothing = |state: &mut State<T>| state.jobs.is_empty() && !state.is_at_end();
        let waited = self.filled.wait_while(state, nothing);
        waited.unwrap_or_else(PoisonError::into_inner).waiting -= 1;
    }

    /// Whether a worker may leave the jobs to others: if it is not the last one. Then it has ended. Waits until it
    /// is known how many there are, before the first job comes.
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
    fn change(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Algorithms;
    use crate::engine::Source;

    fn jobs(count: usize) -> impl Iterator<Item = Job<usize>> {
        (0..count).map(|context| Job {
            source: Source::Nothing,
            algorithms: Algorithms::NONE,
            context,
        })
    }

    fn order() -> Order<usize, (), impl FnMut(()) -> ControlFlow<()>> {
        Order::new(|()| ControlFlow::Continue(()), 1)
    }

    #[test]
    fn every_job_is_taken_once_in_order() {
        let (feed, order, mut taken) = (Feed::new(1), order(), VecDeque::new());
        std::thread::scope(|scope| {
            scope.spawn(|| feed.pull(jobs(10 * AHEAD), &order));
            while feed.take(0, 7, 7, &mut taken) != Taken::End {
                feed.wait(0);
            }
        });
        let contexts = taken.iter().map(|(sequence, job)| (*sequence, job.context));
        assert!(contexts.eq((0..10 * AHEAD).map(|index| (index as Sequence, index))));
    }

    #[test]
    fn it_pulls_no_further_than_there_is_room_nor_for_nobody() {
        let (feed, order) = (Feed::new(1), order());
        let mut pulled = 0;
        std::thread::scope(|scope| {
            scope.spawn(|| feed.pull(jobs(10 * AHEAD).inspect(|_| pulled += 1), &order));
            while !feed.change().is_full {
                std::thread::yield_now();
            }
            assert_eq!(feed.change().jobs.len(), AHEAD);
            feed.worker_ends(0);
        });
        assert_eq!(pulled, AHEAD + 1);
    }

    #[test]
    fn all_but_the_last_may_leave() {
        let feed = Feed::<()>::new(5);
        let left = std::thread::scope(|scope| {
            let leaving = scope.spawn(|| feed.leave());
            feed.all_are_started(2);
            leaving.join().unwrap()
        });
        assert_eq!([left, feed.leave(), feed.leave(), feed.leave()], [true, true, false, false]);
        assert_eq!(feed.change().workers, 1);
    }

    #[test]
    fn more_than_needed_is_taken_where_as_much_is_left_for_others() {
        let (feed, order, mut taken) = (Feed::new(3), order(), VecDeque::new());
        feed.pull(jobs(30), &order);
        let mut count = |count, most| {
            taken.clear();
            feed.take(0, count, most, &mut taken);
            taken.len()
        };
        assert_eq!(count(2, 8), 8);
        assert_eq!(count(2, 8), 7);
        assert_eq!(count(6, 8), 6);
        assert_eq!(count(32, 32), 9);
    }

    #[test]
    fn what_is_given_back_is_taken_again_in_its_order_and_before_the_end() {
        let (feed, order) = (Feed::new(2), order());
        let [mut first, mut second, mut third] = [const { VecDeque::new() }; 3];
        feed.pull(jobs(10), &order);
        feed.take(0, 4, 4, &mut first);
        feed.take(1, 6, 6, &mut second);
        assert_eq!(feed.take(1, 1, 1, &mut third), Taken::None, "the other one holds some");
        let begun = [&mut first, &mut second].map(|jobs| jobs.pop_front().expect("a job").0);
        assert_eq!(begun, [0, 4]);
        feed.give_back(1, &mut second);
        feed.give_back(0, &mut first);
        assert!(first.is_empty() && second.is_empty());
        assert_eq!(feed.take(0, 9, 9, &mut third), Taken::Some);
        assert!(third.iter().map(|(sequence, _)| *sequence).eq([1, 2, 3, 5, 6, 7, 8, 9]));

        // Nobody waits for jobs that nobody can give back.
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| feed.wait(1));
            while feed.change().waiting == 0 {
                std::thread::yield_now();
            }
            feed.worker_ends(0);
            waiting.join().unwrap();
        });
        assert_eq!(feed.take(1, 1, 1, &mut third), Taken::End);
    }

    #[test]
    fn what_is_given_back_after_later_ones_goes_before_them() {
        let (feed, order) = (Feed::new(2), order());
        let [mut first, mut second, mut all] = [const { VecDeque::new() }; 3];
        feed.pull(jobs(6), &order);
        feed.take(0, 2, 2, &mut first);
        feed.take(1, 2, 2, &mut second);
        feed.give_back(0, &mut first);
        feed.give_back(1, &mut second);
        feed.take(0, 6, 6, &mut all);
        assert!(all.iter().map(|(sequence, _)| *sequence).eq(0..6));
    }

    #[test]
    fn an_iterator_that_panics_ends_the_jobs() {
        let (feed, order) = (Feed::new(1), order());
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            feed.pull(
                jobs(3).map(|job| if job.context == 2 { panic!("third") } else { job }),
                &order,
            );
        }));
        assert!(result.is_err());
        let mut taken = VecDeque::new();
        feed.wait(0);
        assert_eq!(feed.take(0, usize::MAX, 0, &mut taken), Taken::Some);
        assert_eq!((taken.len(), feed.take(0, 1, 1, &mut taken)), (2, Taken::End));
    }
}

//! A run: its threads, and the iterator of outcomes for the caller.
//!
//! ```text
//! a separate thread pulls the jobs, keeps their contexts, and queues the rest    queue.rs
//! workers do the jobs                                                            worker/
//! the caller's thread takes the outcomes, and adds the contexts again            outbox.rs
//! ```
//!
//! So a worker never runs, drops or sees values of the caller. This matters because a worker may
//! have its own descriptor table (`descriptors.rs`). Also, workers are not compiled for the types
//! of the caller.
//!
//! If there is a single job by [`size_hint`](Iterator::size_hint), or if the system refuses
//! threads, the thread of the caller does all of this when it asks for an outcome, some jobs at a
//! time.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::core::Core;
use super::devices::Media;
use super::panics::{self, Payload};
use super::task::{Completed, Sequence, Task};
use super::{Job, Options, Outcome, read, worker};

/// Runs jobs. Returns an [iterator](Run) of the outcomes. Jobs run even if the caller does not ask
/// for outcomes, up to 65,536 jobs under way.
///
/// A separate thread pulls the jobs, up to a thousand ahead of the workers. While the iterator
/// waits, the previous jobs continue. Memory grows neither with the number of jobs nor with their
/// sizes. The context of a job is kept until its outcome is returned, so there may be 65,536
/// contexts. Do not put scarce resources such as open files into them.
///
/// If the system refuses threads, fewer threads work. Without threads, or for a single job by
/// [`size_hint`](Iterator::size_hint), the thread of the caller works when it asks for an outcome.
#[must_use = "it is stopped when it is dropped"]
pub fn run<T, I>(options: &Options, jobs: I) -> Run<T>
where
    T: Send + 'static,
    I: Iterator<Item = Job<T>> + Send + 'static,
{
    let most = jobs.size_hint().1.unwrap_or(usize::MAX);
    let jobs: Jobs<T> = Box::new(jobs);
    // Often there is a single file, and starting threads would take most of the time.
    if most <= 1 {
        return Run::here(options, jobs);
    }
    let threads = match options.threads {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        threads => threads,
    };
    Run::in_threads(threads.min(most), options, jobs)
}

type Jobs<T> = Box<dyn Iterator<Item = Job<T>> + Send>;

/// The iterator of the outcomes of a [run](run), in the order of [`Options::delivery`].
///
/// Dropping it stops the run, as [`stop`](Stopper::stop) does, and waits for its threads. It does
/// not wait for a thread that is blocked in the iterator of the jobs, which ends when the iterator
/// returns.
///
/// # Panics
/// Asking for an outcome panics if the iterator of the jobs has panicked, with the same payload. If
/// several threads panic, the payload is that of the first. Remaining outcomes are lost. Dropping a
/// run does not report a panic.
pub struct Run<T> {
    threads: Threads<T>,
    contexts: Arc<Mutex<Contexts<T>>>,
    /// The outcomes taken but not returned, and their contexts.
    batch: VecDeque<Completed>,
    their_contexts: VecDeque<T>,
    is_at_end: bool,
    /// Whether all jobs are done.
    is_complete: bool,
    totals: Totals,
}

enum Threads<T> {
    /// The thread that pulls the jobs, and the workers.
    Started { core: Arc<Core>, puller: Option<JoinHandle<()>>, workers: Vec<JoinHandle<()>> },
    /// No threads, and the number of pulled jobs.
    None { core: Arc<Core>, jobs: Jobs<T>, pulled: Sequence },
}

/// The contexts of the jobs under way, in order.
struct Contexts<T> {
    /// The contexts from the first one that is not taken.
    known: VecDeque<Option<T>>,
    first: Sequence,
}

impl<T> Contexts<T> {
    fn take(&mut self, sequence: Sequence) -> T {
        let place = usize::try_from(sequence - self.first).expect("each is taken once");
        let context = self.known[place].take().expect("each is taken once");
        while let Some(None) = self.known.front() {
            self.known.pop_front();
            self.first += 1;
        }
        context
    }
}

/// The state, which is consistent even after a panic.
fn lock<T>(contexts: &Mutex<Contexts<T>>) -> MutexGuard<'_, Contexts<T>> {
    contexts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The counts of the returned outcomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// The number of outcomes, including failed ones.
    pub outcomes: u64,
    /// The number of failed outcomes.
    pub failed: u64,
    /// The number of bytes of the others.
    pub bytes: u64,
}

/// The error of a run that was stopped before all jobs were done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped")]
#[non_exhaustive]
pub struct Stopped {
    /// The counts of the finished jobs.
    pub totals: Totals,
}

/// A handle to stop a run from any thread.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<Core>);

impl Stopper {
    /// Stops the run. Reads in progress end after at most 512 KiB of each file, and waits for
    /// inputs end. No further outcomes come.
    pub fn stop(&self) {
        self.0.stop();
    }
}

impl<T: Send + 'static> Run<T> {
    fn new(threads: Threads<T>, contexts: Arc<Mutex<Contexts<T>>>) -> Self {
        let (batch, their_contexts) = (VecDeque::new(), VecDeque::new());
        let (is_at_end, is_complete, totals) = (false, false, Totals::default());
        Self { threads, contexts, batch, their_contexts, is_at_end, is_complete, totals }
    }

    fn no_contexts() -> Arc<Mutex<Contexts<T>>> {
        Arc::new(Mutex::new(Contexts { known: VecDeque::new(), first: 0 }))
    }

    fn in_threads(threads: usize, options: &Options, jobs: Jobs<T>) -> Self {
        let core = Core::new(Options { threads, ..options.clone() }, true);
        let contexts = Self::no_contexts();
        // The jobs go to their thread once there are workers. Without workers they are done here.
        let Some((puller, send)) = start_puller(&core, &contexts) else {
            return Self::here(options, jobs);
        };
        let start = |number| {
            let worker = Arc::clone(&core);
            let work = move || worker.panics.catch(|| worker::work(number, &worker));
            read::is_memory_left().then(|| thread::Builder::new().spawn(work).ok()).flatten()
        };
        let workers: Vec<_> = (0..threads).map_while(start).collect();
        let missing = threads - workers.len();
        if workers.is_empty() {
            return Self::here(options, jobs);
        }
        (0..missing).for_each(|_| core.outbox.worker_ends());
        core.queue.all_are_started(missing);
        // It waits only for this.
        let _ = send.send(jobs);
        Self::new(Threads::Started { core, puller: Some(puller), workers }, contexts)
    }

    fn here(options: &Options, jobs: Jobs<T>) -> Self {
        let options = Options { threads: 1, own_descriptors: false, ..options.clone() };
        let core = Core::new(options, false);
        core.queue.all_are_started(0);
        Self::new(Threads::None { core, jobs, pulled: 0 }, Self::no_contexts())
    }

    /// Returns a handle that stops this run.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(self.core()))
    }

    /// Returns the next outcome if it arrives within `patience`. Also returns `None` at the end,
    /// see [`is_at_end`](Self::is_at_end).
    ///
    /// If the thread of the caller does the jobs, the call takes as long as they do.
    pub fn next_within(&mut self, patience: Duration) -> Option<Outcome<T>> {
        self.next_outcome(Some(patience))
    }

    /// Returns the next outcome. Calls `before_waiting` before it waits, for example to write
    /// lines.
    ///
    /// # Errors
    /// Fails with the error of `before_waiting`, without waiting.
    pub fn next_or_wait<E>(
        &mut self,
        before_waiting: impl FnOnce() -> Result<(), E>,
    ) -> Result<Option<Outcome<T>>, E> {
        let works_here = matches!(self.threads, Threads::None { .. });
        if !(works_here && self.batch.is_empty())
            && let Some(outcome) = self.next_within(Duration::ZERO)
        {
            return Ok(Some(outcome));
        }
        before_waiting()?;
        Ok(self.next())
    }

    /// Returns whether all outcomes were returned.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.is_at_end && self.batch.is_empty()
    }

    /// Returns the properties of the devices found so far.
    #[must_use]
    pub fn media(&self) -> Media {
        self.core().devices.media()
    }

    /// Ends the run and returns its counts. Jobs that are not done are stopped. Call it after
    /// [`is_at_end`](Self::is_at_end) returns true.
    ///
    /// # Errors
    /// Fails if not all jobs were done or not all outcomes returned.
    ///
    /// # Panics
    /// Panics if the iterator of the jobs did, with the same payload.
    pub fn finish(mut self) -> Result<Totals, Stopped> {
        let is_complete = self.is_complete && self.batch.is_empty();
        if !is_complete {
            self.core().stop();
        }
        self.end();
        let totals = self.totals;
        if is_complete { Ok(totals) } else { Err(Stopped { totals }) }
    }

    fn next_outcome(&mut self, patience: Option<Duration>) -> Option<Outcome<T>> {
        if self.batch.is_empty() && !self.is_at_end {
            self.fetch(patience);
        }
        if self.core().stop.is_set() && !self.is_at_end() {
            self.batch.clear();
            self.their_contexts.clear();
            self.is_complete = false;
            self.end();
        }
        let (outcome, context) = self.batch.pop_front().zip(self.their_contexts.pop_front())?;
        let Completed { source, result, .. } = outcome;
        self.totals.outcomes += 1;
        match &result {
            Ok(hashed) => self.totals.bytes += hashed.bytes,
            Err(_) => self.totals.failed += 1,
        }
        Some(Outcome { source, context, result })
    }

    fn fetch(&mut self, patience: Option<Duration>) {
        match &mut self.threads {
            Threads::Started { core, .. } => {
                if !core.outbox.take(&mut self.batch, patience, &core.stop) {
                    self.is_complete = !core.stop.is_set();
                    self.end();
                }
            }
            Threads::None { core, jobs, pulled } => {
                let before = *pulled;
                // One by one, because the iterator may wait for the outcome of this job before it
                // returns the next one.
                pull(core, &mut jobs.take(1), &self.contexts, pulled);
                worker::work(0, core);
                core.outbox.take(&mut self.batch, Some(Duration::ZERO), &core.stop);
                self.is_at_end = *pulled == before;
                self.is_complete = self.is_at_end && !core.stop.is_set();
                core.queue.begin_again();
                core.outbox.workers_begin(1);
            }
        }
        let mut contexts = lock(&self.contexts);
        self.their_contexts.extend(self.batch.iter().map(|it| contexts.take(it.sequence)));
    }
}

impl<T> Run<T> {
    fn core(&self) -> &Arc<Core> {
        match &self.threads {
            Threads::Started { core, .. } | Threads::None { core, .. } => core,
        }
    }

    /// Waits for the threads, and resumes the first panic.
    fn end(&mut self) {
        if let Some(panic) = self.join() {
            resume_unwind(panic);
        }
    }

    /// Waits for the threads, which have ended or were stopped. Returns the first panic.
    fn join(&mut self) -> Option<Payload> {
        self.is_at_end = true;
        let Threads::Started { core, puller, workers } = &mut self.threads else { return None };
        // Panics are caught within the threads.
        mem::take(workers).into_iter().for_each(|worker| drop(worker.join()));
        // It may block in the iterator of the caller, and only there.
        if let Some(puller) = puller.take_if(|_| core.queue.has_ended()) {
            drop(puller.join());
        }
        core.panics.take()
    }
}

impl<T: Send + 'static> Iterator for Run<T> {
    type Item = Outcome<T>;

    fn next(&mut self) -> Option<Outcome<T>> {
        self.next_outcome(None)
    }
}

impl<T> Drop for Run<T> {
    fn drop(&mut self) {
        if !self.is_at_end {
            self.core().stop();
            // A panic is reported when the caller asks for outcomes.
            self.join().into_iter().for_each(panics::dispose);
        }
    }
}

impl<T> fmt::Debug for Run<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("totals", &self.totals).finish_non_exhaustive()
    }
}

/// Runs the thread that pulls jobs, once it gets them.
fn start_puller<T: Send + 'static>(
    core: &Arc<Core>,
    contexts: &Arc<Mutex<Contexts<T>>>,
) -> Option<(JoinHandle<()>, SyncSender<Jobs<T>>)> {
    let (send, jobs) = mpsc::sync_channel::<Jobs<T>>(1);
    let (core, contexts) = (Arc::clone(core), Arc::clone(contexts));
    let puller = move || {
        core.panics.catch(|| {
            if let Ok(mut jobs) = jobs.recv() {
                pull(&core, &mut jobs, &contexts, &mut 0);
            }
        });
    };
    let puller = read::is_memory_left().then(|| thread::Builder::new().spawn(puller).ok());
    Some((puller.flatten()?, send))
}

/// Pulls jobs to their end, or until they are no longer wanted. Counts them in `pulled`.
fn pull<T>(
    core: &Core,
    jobs: &mut dyn Iterator<Item = Job<T>>,
    contexts: &Mutex<Contexts<T>>,
    pulled: &mut Sequence,
) {
    /// Notifies the workers, also if the iterator panics.
    struct EndOfJobs<'a>(&'a Core);
    impl Drop for EndOfJobs<'_> {
        fn drop(&mut self) {
            // First, so that a thread that sees the stop also sees that there is a panic to wait
            // for.
            self.0.queue.end();
            self.0.stop_after_panic();
        }
    }
    let _end = EndOfJobs(core);
    loop {
        core.outbox.wait_for_window(*pulled, &core.stop);
        if core.stop.is_set() {
            return;
        }
        let Some(Job { source, algorithms, context }) = jobs.next() else { return };
        lock(contexts).known.push_back(Some(context));
        let sequence = *pulled;
        *pulled += 1;
        if !core.queue.push(Task { sequence, source, algorithms }) {
            return;
        }
    }
}

#[cfg(test)]
mod tests;

//! A run: the threads behind it, and the outcomes as an iterator on the caller's.
//!
//! ```text
//! a thread of its own pulls the jobs, keeps their contexts, and queues the rest   queue.rs
//! workers do them                                                                worker/
//! the caller's thread takes the outcomes and puts the contexts back              outbox.rs
//! ```
//!
//! So nothing of the caller's is run, dropped or even seen by a worker, which may have a table of
//! descriptors of its own (`descriptors.rs`); and no worker is compiled for the caller's types.
//!
//! Where there is but one job, as the iterator's [`size_hint`](Iterator::size_hint) says, or where
//! the system gives no threads, the caller's thread does all of this, some jobs at a time, when it
//! asks for an outcome.

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

/// Runs the jobs. The outcomes are the [iterator](Run)'s; nothing waits for the caller to ask for
/// them, as long as no more than 65,536 jobs are under way.
///
/// The jobs are pulled by a thread of their own, up to a thousand ahead of the workers; where the
/// iterator waits, what it gave is done meanwhile. Memory grows neither with the number of jobs nor
/// with their sizes. A job's context is kept until its outcome is given out, so there may be 65,536
/// of them: what there are few of, like open files, does not belong into one.
///
/// Fewer threads than asked for work where the system does not give as many. Where it gives none,
/// and where there is but one job, as the iterator's [`size_hint`](Iterator::size_hint) says, the
/// caller's thread works when it asks for an outcome.
#[must_use = "it is stopped when it is dropped"]
pub fn run<T, I>(options: &Options, jobs: I) -> Run<T>
where
    T: Send + 'static,
    I: Iterator<Item = Job<T>> + Send + 'static,
{
    let most = jobs.size_hint().1.unwrap_or(usize::MAX);
    let jobs: Jobs<T> = Box::new(jobs);
    // Often there is a single file, and most of the time is that of starting.
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

/// The outcomes of a [run](run), in the order that [`Options::delivery`] says.
///
/// To drop it stops the run, as [`stop`](Stopper::stop) does, and waits for its threads; but for
/// the one that waits in the iterator of the jobs, if it does, which ends when that returns.
///
/// # Panics
/// Asking for an outcome panics when the iterator of the jobs did, with the same payload; where
/// several threads panic, with that of the first. Outcomes that were not given out by then are
/// lost. A run that is dropped says nothing of such a panic.
pub struct Run<T> {
    threads: Threads<T>,
    contexts: Arc<Mutex<Contexts<T>>>,
    /// Taken but not given out; and the contexts of these.
    batch: VecDeque<Completed>,
    their_contexts: VecDeque<T>,
    is_at_end: bool,
    /// All jobs were done.
    is_complete: bool,
    totals: Totals,
}

enum Threads<T> {
    /// The thread that pulls the jobs, and those that do them.
    Started { core: Arc<Core>, puller: Option<JoinHandle<()>>, workers: Vec<JoinHandle<()>> },
    /// None; and how many jobs were pulled.
    None { core: Arc<Core>, jobs: Jobs<T>, pulled: Sequence },
}

/// The contexts of the jobs that are under way, in their order.
struct Contexts<T> {
    /// From the first on that is not taken.
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

/// What no panic leaves half changed.
fn lock<T>(contexts: &Mutex<Contexts<T>>) -> MutexGuard<'_, Contexts<T>> {
    contexts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What came of the outcomes that were given out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Outcomes, failed ones included.
    pub outcomes: u64,
    /// Those that have no digests.
    pub failed: u64,
    /// Bytes of the others.
    pub bytes: u64,
}

/// A run was stopped, so that not all jobs were done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped")]
#[non_exhaustive]
pub struct Stopped {
    /// What was done.
    pub totals: Totals,
}

/// Stops a run, from any thread.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<Core>);

impl Stopper {
    /// Ends the run: what is being read is given up, after at most 512 KiB of each file, and what
    /// waits for an input waits no longer. No outcome comes any more.
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
        // The jobs go to their thread once there are workers: without, they are done here.
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
        // It waits for nothing else.
        let _ = send.send(jobs);
        Self::new(Threads::Started { core, puller: Some(puller), workers }, contexts)
    }

    fn here(options: &Options, jobs: Jobs<T>) -> Self {
        let options = Options { threads: 1, own_descriptors: false, ..options.clone() };
        let core = Core::new(options, false);
        core.queue.all_are_started(0);
        Self::new(Threads::None { core, jobs, pulled: 0 }, Self::no_contexts())
    }

    /// What stops this run.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(self.core()))
    }

    /// The next outcome if it comes within this time; none at the end, too, as
    /// [`is_at_end`](Self::is_at_end) tells.
    ///
    /// Where the caller's thread does the jobs itself it takes as long as they do.
    pub fn next_within(&mut self, patience: Duration) -> Option<Outcome<T>> {
        self.next_outcome(Some(patience))
    }

    /// The next outcome; `before_waiting` is called if it is not there already, to do what else
    /// there is, like writing out lines.
    ///
    /// # Errors
    /// Those of `before_waiting`, and then nothing was waited for.
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

    /// Whether no outcome comes any more.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.is_at_end && self.batch.is_empty()
    }

    /// What is known by now of the devices that files come from.
    #[must_use]
    pub fn media(&self) -> Media {
        self.core().devices.media()
    }

    /// The result: whether all jobs were done and all outcomes given out, as is known once
    /// [`is_at_end`](Self::is_at_end) says so. What is still to be done is stopped.
    ///
    /// # Errors
    /// They were not.
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
                // One by one: whoever gives the next one may wait for what came of this.
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

    /// Waits for the threads, and goes on with the panic of the first that panicked.
    fn end(&mut self) {
        if let Some(panic) = self.join() {
            resume_unwind(panic);
        }
    }

    /// Waits for the threads, which have ended or been stopped; the panic of the first that
    /// panicked.
    fn join(&mut self) -> Option<Payload> {
        self.is_at_end = true;
        let Threads::Started { core, puller, workers } = &mut self.threads else { return None };
        // Their panics are caught where they run.
        mem::take(workers).into_iter().for_each(|worker| drop(worker.join()));
        // It may wait in the caller's iterator for as long as it likes, and only that.
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
            // A panic is told to whoever asks for outcomes.
            self.join().into_iter().for_each(panics::dispose);
        }
    }
}

impl<T> fmt::Debug for Run<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("totals", &self.totals).finish_non_exhaustive()
    }
}

/// The thread that pulls jobs, once it gets them.
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

/// Pulls jobs to their end, or until they are not wanted any more; counts them in `pulled`.
fn pull<T>(
    core: &Core,
    jobs: &mut dyn Iterator<Item = Job<T>>,
    contexts: &Mutex<Contexts<T>>,
    pulled: &mut Sequence,
) {
    /// Tells the workers, also when the iterator panics.
    struct EndOfJobs<'a>(&'a Core);
    impl Drop for EndOfJobs<'_> {
        fn drop(&mut self) {
            // First: whoever sees the stop then sees that there is a panic to wait for.
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

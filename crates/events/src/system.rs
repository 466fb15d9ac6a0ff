//! The running scheduler: one thread that sleeps until the next deadline, and those that act.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use crate::job::{Action, Repeat};
use crate::outcome::{ActionId, AddError, Base, Cancel, Life};
use crate::settings::{Builder, Every, PendingAction, Shutdown};
use crate::transaction::{Transaction, TransactionError};
use crate::worker::{Shared, shard_hint};
use crate::{nanos, unix_nanos};

/// Runs actions at their times: see the [crate documentation](crate).
///
/// Dropping it drops what is pending and returns at once, also while actions run.
pub struct EventSystem {
    pub(crate) shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// `shutdown` was called, and may have been told to let things drain.
    ended: AtomicBool,
}

impl std::fmt::Debug for EventSystem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventSystem").field("pending", &self.len()).finish_non_exhaustive()
    }
}

impl EventSystem {
    /// A running system with the default settings.
    ///
    /// # Errors
    /// If the system has no threads or no timers left to give.
    pub fn start() -> io::Result<Self> {
        Self::builder().start()
    }

    /// Settings to start from.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Starts the threads.
    pub(crate) fn spawn(shared: Arc<Shared>, workers: usize) -> io::Result<Self> {
        // From here on a failure drops the system, which ends the threads that were started.
        let system =
            EventSystem { shared, threads: Mutex::default(), ended: AtomicBool::new(false) };
        system.spawn_one("events", Shared::schedule)?;
        for _ in 0..workers {
            system.spawn_one("events-worker", Shared::work)?;
        }
        Ok(system)
    }

    fn spawn_one(&self, name: &str, run: fn(&Shared)) -> io::Result<()> {
        let shared = self.shared.clone();
        let thread = thread::Builder::new().name(name.into()).spawn(move || run(&shared))?;
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        Ok(())
    }

    /// Runs an action when the wall clock shows this time: it follows the clock when that is set.
    /// A time that has passed means at once.
    ///
    /// # Errors
    /// [`AddError::Full`] or [`AddError::Closed`]; the action is dropped.
    pub fn add_at(
        &self,
        at: SystemTime,
        action: impl FnOnce() + Send + 'static,
    ) -> Result<ActionId, AddError> {
        self.add(Base::Wall, unix_nanos(at), Action::Once(Box::new(action)), None)
    }

    /// Runs an action when this time has passed, by the clock the system was built with.
    ///
    /// # Errors
    /// [`AddError::Full`] or [`AddError::Closed`]; the action is dropped.
    pub fn add_after(
        &self,
        delay: Duration,
        action: impl FnOnce() + Send + 'static,
    ) -> Result<ActionId, AddError> {
        self.add(Base::Steady, self.in_nanos(delay), Action::Once(Box::new(action)), None)
    }

    /// Repeats an action; the first run is due at this time of the wall clock, and the others are
    /// by that clock too.
    ///
    /// # Errors
    /// [`AddError::NoInterval`], [`AddError::Full`] or [`AddError::Closed`].
    pub fn repeat_at(
        &self,
        first: SystemTime,
        every: Every,
        action: impl FnMut() + Send + 'static,
    ) -> Result<ActionId, AddError> {
        self.repeat(Base::Wall, unix_nanos(first), every, Box::new(action))
    }

    /// Repeats an action; the first run is due when this time has passed.
    ///
    /// # Errors
    /// [`AddError::NoInterval`], [`AddError::Full`] or [`AddError::Closed`].
    pub fn repeat_after(
        &self,
        first: Duration,
        every: Every,
        action: impl FnMut() + Send + 'static,
    ) -> Result<ActionId, AddError> {
        self.repeat(Base::Steady, self.in_nanos(first), every, Box::new(action))
    }

    fn repeat(
        &self,
        base: Base,
        first: u64,
        every: Every,
        action: Box<dyn FnMut() + Send>,
    ) -> Result<ActionId, AddError> {
        let mut repeat = every.starting(first)?;
        let deadline = repeat.jittered();
        self.add(base, deadline, Action::Repeated(action), Some(repeat))
    }

    fn add(
        &self,
        base: Base,
        deadline: u64,
        action: Action,
        repeat: Option<Box<Repeat>>,
    ) -> Result<ActionId, AddError> {
        let added = self.shared.core.add(shard_hint(), base, Some(deadline), action, repeat);
        let (id, wake) = added?;
        self.shared.notify(wake);
        Ok(id)
    }

    pub(crate) fn in_nanos(&self, delay: Duration) -> u64 {
        self.shared.clock.steady().saturating_add(nanos(delay))
    }

    /// Cancels an event, and tells whether that was in time.
    pub fn cancel(&self, id: ActionId) -> Cancel {
        self.shared.core.cancel(id)
    }

    /// As [`cancel`](Self::cancel); if the action is running, waits until it has ended. From within
    /// that action itself, does not wait.
    pub fn cancel_and_wait(&self, id: ActionId) -> Cancel {
        let found = self.cancel(id);
        if found == Cancel::Running && !self.shared.is_running_here(id) {
            self.shared.core.wait_for(id);
        }
        found
    }

    /// Moves a pending event to another time of the wall clock. False if it was not pending on that
    /// clock any more.
    pub fn reschedule_at(&self, id: ActionId, at: SystemTime) -> bool {
        id.is_on(Base::Wall) && self.reschedule(id, unix_nanos(at))
    }

    /// Moves a pending event to when this time has passed. False if it was not pending on the clock
    /// of delays any more.
    pub fn reschedule_after(&self, id: ActionId, delay: Duration) -> bool {
        id.is_on(Base::Steady) && self.reschedule(id, self.in_nanos(delay))
    }

    fn reschedule(&self, id: ActionId, deadline: u64) -> bool {
        let moved = self.shared.core.reschedule(id, deadline);
        moved.map(|wake| self.shared.notify(wake)).is_some()
    }

    /// Several changes that take effect at once, or not at all: if the closure returns an error or
    /// panics, if an event it cancels or moves has begun meanwhile, or after shutdown. No action it
    /// adds begins before it is committed.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lanesum_events::{EventSystem, TestClock, TransactionError};
    ///
    /// let system = EventSystem::builder().test_clock(&TestClock::new()).start()?;
    /// let failed = system.transaction(|tx| {
    ///     tx.add_after(Duration::from_secs(1), || println!("never printed"))?;
    ///     Err::<(), Box<dyn std::error::Error>>("changed my mind".into())
    /// });
    /// assert!(matches!(failed, Err(TransactionError::Failed(_))));
    /// assert!(system.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`TransactionError`].
    pub fn transaction<R, E>(
        &self,
        changes: impl FnOnce(&mut Transaction<'_>) -> Result<R, E>,
    ) -> Result<R, TransactionError<E>> {
        Transaction::run(self, changes)
    }

    /// Whether the event waits for its time, or for a worker.
    pub fn is_pending(&self, id: ActionId) -> bool {
        self.shared.core.is_pending(id)
    }

    /// How many events wait for their times.
    pub fn len(&self) -> usize {
        self.shared.core.len()
    }

    /// Whether no event waits for its time.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The events that wait for their times, soonest first. Takes time in proportion to all of
    /// them, in which nothing is added and nothing begins.
    pub fn pending(&self) -> Vec<PendingAction> {
        let pending = self.shared.core.pending();
        let now = self.shared.clock.now();
        let mut all: Vec<PendingAction> = pending
            .into_iter()
            .map(|(id, deadline, repeats)| {
                let remaining = deadline.saturating_sub(now.on(id.base()));
                PendingAction { id, remaining: Duration::from_nanos(remaining), repeats }
            })
            .collect();
        all.sort_by_key(|action| action.remaining);
        all
    }

    /// How many actions have run, those that panicked included.
    pub fn ran(&self) -> u64 {
        self.shared.ran.load(Ordering::Relaxed)
    }

    /// How many actions have panicked.
    pub fn panicked(&self) -> u64 {
        self.shared.panicked.load(Ordering::Relaxed)
    }

    /// Waits until all that is due by now has run: what a test does after moving its clock. Not to
    /// be called from an action, which would wait for itself.
    pub fn wait_idle(&self) {
        while self.shared.core.is_busy(self.shared.clock.now()) {
            self.shared.core.expired.wait_idle();
            // What is due and not yet claimed is a matter of the scheduler's getting a CPU.
            thread::yield_now();
        }
    }

    /// Ends the system and waits for its threads: for the actions that have begun, and when
    /// draining for those that are pending. From within an action, does not wait. After draining
    /// has begun in one thread, another can still drop the rest.
    pub fn shutdown(&self, how: Shutdown) {
        self.ended.store(true, Ordering::Relaxed);
        self.shared.core.close(match how {
            Shutdown::Drain => Life::Draining,
            Shutdown::DropPending => Life::Closed,
        });
        self.shared.clock.wake();
        let threads =
            std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let me = thread::current().id();
        if threads.iter().all(|thread| thread.thread().id() != me) {
            // None of them has panicked: actions and the hook are caught.
            threads.into_iter().for_each(|thread| drop(thread.join()));
        }
    }
}

impl Drop for EventSystem {
    fn drop(&mut self) {
        if !*self.ended.get_mut() {
            self.shared.core.close(Life::Closed);
            self.shared.clock.wake();
        }
    }
}

//! What can be asked of a running system, by whoever has a handle to it: its owner, and actions.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, SystemTime};

use crate::job::{Action, Repeat, Repeated};
use crate::lock::lock;
use crate::outcome::{ActionId, AddError, Base, Cancel, Life, Wake};
use crate::settings::{Every, PendingAction, Shutdown};
use crate::state::{Core, Taken};
use crate::transaction::{Transaction, TransactionError};
use crate::worker::{Shared, current, shard_hint};
use crate::{TestClock, nanos, unix_nanos};

/// Operates an [`EventSystem`](crate::EventSystem) without owning it: when that is dropped, or shut
/// down, additions fail with [`AddError::Closed`]. Clones are handles to the same system.
///
/// An action that keeps one does not keep the system running.
///
/// In a child process that `fork` has made there are none of the threads of the system. Additions
/// and transactions fail there with [`AddError::Forked`]; all else finds nothing, and does nothing.
/// Futures that were made before stay pending there.
#[derive(Clone)]
pub struct Handle {
    pub(crate) shared: Arc<Shared>,
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle").field("pending", &self.len()).finish_non_exhaustive()
    }
}

/// What an action is told when it runs.
///
/// ```
/// use std::sync::mpsc::channel;
/// use std::time::Duration;
/// use lanesum_events::EventSystem;
///
/// let system = EventSystem::start()?;
/// let (send, receive) = channel();
/// let first = system.add_after(Duration::from_millis(1), move |context| {
///     let first = context.id();
///     let again = context.system().add_after(Duration::ZERO, move |_| send.send(first).unwrap());
///     again.unwrap();
/// })?;
/// assert_eq!(receive.recv()?, first);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    system: &'a Handle,
    id: ActionId,
}

impl<'a> Context<'a> {
    pub(crate) fn new(system: &'a Handle, id: ActionId) -> Self {
        Context { system, id }
    }

    /// The system that runs the action; it can be cloned.
    pub fn system(&self) -> &'a Handle {
        self.system
    }

    /// The event whose action it is.
    pub fn id(&self) -> ActionId {
        self.id
    }
}

impl Handle {
    /// None in a child process: a thread that is not there may have held a lock.
    pub(crate) fn core(&self) -> Option<&Core> {
        (!self.shared.is_forked()).then_some(&self.shared.core)
    }

    pub(crate) fn notify(&self, wake: Wake) {
        if wake.0 {
            self.shared.clock.wake();
        }
    }

    /// Drops what is the user's, with no lock held.
    pub(crate) fn discard<T>(&self, id: ActionId, what: T) {
        self.shared.panics.catch(id, || drop(what));
    }

    pub(crate) fn discard_all(&self, taken: Taken) {
        taken.into_iter().for_each(|(id, job)| self.discard(id, job));
    }

    /// Runs an action when the wall clock shows this time: it follows the clock when that is set.
    /// A time that has passed means at once.
    ///
    /// # Errors
    /// [`AddError::Full`], [`AddError::Closed`] or [`AddError::Forked`]; the action is dropped.
    pub fn add_at(
        &self,
        at: SystemTime,
        action: impl FnOnce(&Context<'_>) + Send + 'static,
    ) -> Result<ActionId, AddError> {
        self.add(Base::Wall, unix_nanos(at), Action::Once(Box::new(action)), None)
    }

    /// Runs an action when this time has passed, by the clock the system was built with.
    ///
    /// # Errors
    /// [`AddError::Full`], [`AddError::Closed`] or [`AddError::Forked`]; the action is dropped.
    pub fn add_after(
        &self,
        delay: Duration,
        action: impl FnOnce(&Context<'_>) + Send + 'static,
    ) -> Result<ActionId, AddError> {
        self.add(Base::Steady, self.in_nanos(delay), Action::Once(Box::new(action)), None)
    }

    /// Repeats an action; the first run is due at this time of the wall clock, and the others are
    /// by that clock too.
    ///
    /// # Errors
    /// [`AddError::NoInterval`], [`AddError::Full`], [`AddError::Closed`] or [`AddError::Forked`].
    pub fn repeat_at(
        &self,
        first: SystemTime,
        every: Every,
        action: impl FnMut(&Context<'_>) + Send + 'static,
    ) -> Result<ActionId, AddError> {
        self.repeat(Base::Wall, unix_nanos(first), every, Box::new(action))
    }

    /// Repeats an action; the first run is due when this time has passed.
    ///
    /// # Errors
    /// [`AddError::NoInterval`], [`AddError::Full`], [`AddError::Closed`] or [`AddError::Forked`].
    pub fn repeat_after(
        &self,
        first: Duration,
        every: Every,
        action: impl FnMut(&Context<'_>) + Send + 'static,
    ) -> Result<ActionId, AddError> {
        self.repeat(Base::Steady, self.in_nanos(first), every, Box::new(action))
    }

    fn repeat(
        &self,
        base: Base,
        first: u64,
        every: Every,
        action: Repeated,
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
        let core = self.core().ok_or(AddError::Forked)?;
        let (id, wake) = core.add(shard_hint(), base, Some(deadline), action, repeat)?;
        self.notify(wake);
        Ok(id)
    }

    pub(crate) fn in_nanos(&self, delay: Duration) -> u64 {
        self.shared.clock.steady().saturating_add(nanos(delay))
    }

    /// Cancels an event, and tells whether that was in time. What was cancelled is dropped here.
    pub fn cancel(&self, id: ActionId) -> Cancel {
        let Some(core) = self.core() else { return Cancel::Gone };
        let (found, action, wake) = core.cancel(id);
        self.notify(wake);
        if let Some(action) = action {
            self.discard(id, action);
        }
        found
    }

    /// As [`cancel`](Self::cancel); if the action is running, waits until it has ended and a
    /// repeating one has been dropped, and tells [`Cancel::Ended`].
    ///
    /// Does not wait for what would wait for the caller: from within that action itself, and from
    /// within another one of this system for which that action waits in the same way, itself or
    /// over others. Then one of them goes on, and is told [`Cancel::Running`]. Two systems know
    /// nothing of each other: actions of both that wait for each other wait for ever.
    pub fn cancel_and_wait(&self, id: ActionId) -> Cancel {
        match self.cancel(id) {
            Cancel::Running => self.shared.core.wait_for(current(), id),
            found => found,
        }
    }

    /// Moves a pending event to another time of the wall clock; a repeating one goes on from there,
    /// with its jitter. False if it was not pending on that clock any more.
    pub fn reschedule_at(&self, id: ActionId, at: SystemTime) -> bool {
        id.is_on(Base::Wall) && self.reschedule(id, unix_nanos(at))
    }

    /// Moves a pending event to when this time has passed; a repeating one goes on from there, with
    /// its jitter. False if it was not pending on the clock of delays any more: what runs is not,
    /// also where it repeats.
    pub fn reschedule_after(&self, id: ActionId, delay: Duration) -> bool {
        id.is_on(Base::Steady) && self.reschedule(id, self.in_nanos(delay))
    }

    fn reschedule(&self, id: ActionId, deadline: u64) -> bool {
        let moved = self.core().and_then(|core| core.reschedule(id, deadline));
        moved.map(|wake| self.notify(wake)).is_some()
    }

    /// Several changes that take effect at once, or not at all: if the closure returns an error or
    /// panics, if an event it cancels or moves has begun meanwhile, or after shutdown. No action it
    /// adds begins before it is committed.
    ///
    /// It is one system's: a thread that is inside one begins no other, of whatever system, and
    /// what it does by way of handles takes effect at once. What it adds has its place under
    /// [`max_pending`](crate::Builder::max_pending) from then on, and what it cancels keeps its own
    /// until the commit. So a full system has no room to swap one event for another: there, move
    /// the one, or cancel it before the transaction.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lanesum_events::{EventSystem, Every, TestClock, TransactionError};
    ///
    /// let system = EventSystem::builder().test_clock(&TestClock::new()).start()?;
    /// let second = Duration::from_secs(1);
    /// let old = system.add_after(second, |_| println!("never printed"))?;
    /// system.transaction(|tx| {
    ///     tx.cancel(old);
    ///     tx.repeat_after(second, Every::new(second), |_| println!("tick"))?;
    ///     Ok::<_, TransactionError>(())
    /// })?;
    /// assert_eq!(system.len(), 1);
    ///
    /// // Any error will do that can hold the system's own.
    /// let failed = system.transaction(|tx| {
    ///     tx.add_after(second, |_| println!("never printed"))?;
    ///     Err::<(), Box<dyn std::error::Error>>("changed my mind".into())
    /// });
    /// assert_eq!(failed.unwrap_err().to_string(), "changed my mind");
    /// assert_eq!(system.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What the closure returns, or a [`TransactionError`].
    pub fn transaction<R, E: From<TransactionError>>(
        &self,
        changes: impl FnOnce(&mut Transaction<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        Transaction::run(self, changes)
    }

    /// Whether the event waits for its time, or for a worker.
    pub fn is_pending(&self, id: ActionId) -> bool {
        self.core().is_some_and(|core| core.is_pending(id))
    }

    /// How many events wait for their times.
    pub fn len(&self) -> usize {
        self.core().map_or(0, Core::len)
    }

    /// Whether no event waits for its time.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The events that wait for their times, soonest first. Takes time in proportion to all of
    /// them, in which nothing is added and nothing begins.
    pub fn pending(&self) -> Vec<PendingAction> {
        let Some(core) = self.core() else { return Vec::new() };
        let pending = core.pending();
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

    /// How many actions have panicked, when they ran or when they were dropped.
    pub fn panicked(&self) -> u64 {
        self.shared.panics.count()
    }

    /// Waits until all that is due by now has run: what a test does after moving its clock. From
    /// within an action of this system, which would wait for itself, does not wait; two systems
    /// whose actions do so for each other wait for ever.
    pub fn wait_idle(&self) {
        let Some(core) = self.core().filter(|_| !self.shared.is_own_thread()) else { return };
        while core.is_busy(self.shared.clock.now()) {
            core.expired.wait_idle();
            // What is due and not yet claimed is a matter of the scheduler's getting a CPU.
            thread::yield_now();
        }
    }

    /// Nanoseconds until the next deadline on either clock.
    pub(crate) fn nanos_to_next(&self) -> Option<u64> {
        let now = self.shared.clock.now();
        let [wall, steady] = self.core()?.first_deadlines();
        let left = |at: Option<u64>, now| at.map(|at| at.saturating_sub(now));
        [left(wall, now.wall), left(steady, now.steady)].into_iter().flatten().min()
    }

    pub(crate) fn follows(&self, clock: &TestClock) -> bool {
        self.shared.clock.is(clock)
    }

    /// Ends the system and waits for its threads: for the actions that have begun, and when
    /// draining for those that are pending. So does every further call. From within an action of
    /// this system, does not wait; two systems whose actions end each other wait for ever. After
    /// draining has begun in one thread, another can still drop the rest.
    pub fn shutdown(&self, how: Shutdown) {
        self.shared.ended.store(true, Ordering::Relaxed);
        self.close(match how {
            Shutdown::Drain => Life::Draining,
            Shutdown::DropPending => Life::Closed,
        });
        if self.shared.is_forked() || self.shared.is_own_thread() {
            return;
        }
        // None of them has panicked: what is the user's is caught.
        lock(&self.shared.threads).drain(..).for_each(|thread| drop(thread.join()));
    }

    pub(crate) fn close(&self, life: Life) {
        let Some(core) = self.core() else { return };
        let taken = core.close(life);
        // First: what is dropped may take its time.
        self.shared.clock.wake();
        self.discard_all(taken);
    }
}

//! The operations of a running system, for its owner and for actions.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::job::{Action, Repeat, Repeated};
use crate::lock::lock;
use crate::outcome::{ActionId, AddError, Base, Cancel, Life, Wake};
use crate::settings::{Every, PendingAction, Shutdown};
use crate::state::{Core, Taken};
use crate::transaction::{Transaction, TransactionError};
use crate::worker::{Shared, current, shard_hint};
use crate::{TestClock, nanos, unix_nanos};

/// A handle to an [`EventSystem`](crate::EventSystem). Once the system is dropped or shut down,
/// additions fail with [`AddError::Closed`]. Clones are handles to the same system.
///
/// A handle does not keep the system running, also not one within an action.
///
/// A child process made by `fork` has none of the threads of the system. Additions and transactions
/// fail there with [`AddError::Forked`]. All other methods find no events and do nothing. Futures
/// made before the fork stay pending.
#[derive(Clone)]
pub struct Handle {
    pub(crate) shared: Arc<Shared>,
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle").field("pending", &self.len()).finish_non_exhaustive()
    }
}

/// The argument of a running action.
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

    /// Returns a handle to the system that runs the action.
    pub fn system(&self) -> &'a Handle {
        self.system
    }

    /// Returns the id of the event of the action.
    pub fn id(&self) -> ActionId {
        self.id
    }
}

impl Handle {
    /// Returns `None` in a child process, where a thread that no longer exists may hold a lock.
    pub(crate) fn core(&self) -> Option<&Core> {
        (!self.shared.is_forked()).then_some(&self.shared.core)
    }

    pub(crate) fn notify(&self, wake: Wake) {
        if wake.0 {
            self.set_timer();
        }
    }

    /// Drops user values without a lock held.
    pub(crate) fn discard<T>(&self, id: ActionId, what: T) {
        self.shared.panics.catch(id, || drop(what));
    }

    pub(crate) fn discard_all(&self, taken: Taken) {
        taken.into_iter().for_each(|(id, job)| self.discard(id, job));
    }

    /// Runs an action when the wall clock shows `at`, and follows the clock if it is set. A time in
    /// the past runs it at once.
    ///
    /// # Errors
    /// Fails with [`AddError::Full`], [`AddError::Closed`] or [`AddError::Forked`], and drops the
    /// action.
    pub fn add_at(
        &self,
        at: SystemTime,
        action: impl FnOnce(&Context<'_>) + Send + 'static,
    ) -> Result<ActionId, AddError> {
        self.add(Base::Wall, unix_nanos(at), Action::Once(Box::new(action)), None)
    }

    /// Runs an action after a delay, by the [delay clock](crate::Builder::delay_clock) of the
    /// system.
    ///
    /// # Errors
    /// Fails with [`AddError::Full`], [`AddError::Closed`] or [`AddError::Forked`], and drops the
    /// action.
    pub fn add_after(
        &self,
        delay: Duration,
        action: impl FnOnce(&Context<'_>) + Send + 'static,
    ) -> Result<ActionId, AddError> {
        self.add(Base::Steady, self.in_nanos(delay), Action::Once(Box::new(action)), None)
    }

    /// Runs an action at an [`Instant`], converted to the [delay
    /// clock](crate::Builder::delay_clock) of the system. A time in the past runs it at once.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    /// use std::time::{Duration, Instant};
    /// use lanesum_events::EventSystem;
    ///
    /// let system = EventSystem::start()?;
    /// let (send, receive) = channel();
    /// let at = Instant::now() + Duration::from_millis(1);
    /// system.add_at_instant(at, move |_| send.send(Instant::now()).unwrap())?;
    /// assert!(receive.recv()? >= at);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Fails with [`AddError::Full`], [`AddError::Closed`] or [`AddError::Forked`], and drops the
    /// action.
    pub fn add_at_instant(
        &self,
        at: Instant,
        action: impl FnOnce(&Context<'_>) + Send + 'static,
    ) -> Result<ActionId, AddError> {
        self.add(Base::Steady, self.at_instant(at), Action::Once(Box::new(action)), None)
    }

    /// Repeats an action. The first run is due at a time of the wall clock, and later runs follow
    /// the same clock.
    ///
    /// # Errors
    /// Fails with [`AddError::NoInterval`], [`AddError::Full`], [`AddError::Closed`] or
    /// [`AddError::Forked`].
    pub fn repeat_at(
        &self,
        first: SystemTime,
        every: Every,
        action: impl FnMut(&Context<'_>) + Send + 'static,
    ) -> Result<ActionId, AddError> {
        self.repeat(Base::Wall, unix_nanos(first), every, Box::new(action))
    }

    /// Repeats an action. The first run is due after a delay.
    ///
    /// # Errors
    /// Fails with [`AddError::NoInterval`], [`AddError::Full`], [`AddError::Closed`] or
    /// [`AddError::Forked`].
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

    pub(crate) fn add(
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

    /// Returns the time of the delay clock at an instant.
    pub(crate) fn at_instant(&self, at: Instant) -> u64 {
        // In this order, so that no event is early.
        let now = self.shared.clock.instant();
        let steady = self.shared.clock.steady();
        match at.checked_duration_since(now) {
            Some(left) => steady.saturating_add(nanos(left)),
            None => steady.saturating_sub(nanos(now.saturating_duration_since(at))),
        }
    }

    /// Returns the instant of a time of the delay clock.
    #[cfg(feature = "async")]
    pub(crate) fn instant(&self, steady: u64) -> Instant {
        let (time, now) = (self.shared.clock.steady(), self.shared.clock.instant());
        let at = match steady.checked_sub(time) {
            Some(left) => now.checked_add(Duration::from_nanos(left)),
            None => now.checked_sub(Duration::from_nanos(time - steady)),
        };
        at.unwrap_or(now)
    }

    pub(crate) fn in_nanos(&self, delay: Duration) -> u64 {
        self.shared.clock.steady().saturating_add(nanos(delay))
    }

    /// Cancels an event, and returns the state in which it was. A cancelled action is dropped in
    /// this call.
    pub fn cancel(&self, id: ActionId) -> Cancel {
        let Some(core) = self.core() else { return Cancel::Gone };
        let (found, action, wake) = core.cancel(id);
        self.notify(wake);
        if let Some(action) = action {
            self.discard(id, action);
        }
        found
    }

    /// Cancels an event like [`cancel`](Self::cancel), but waits for a running action. It returns
    /// [`Cancel::Ended`] after the action has ended and, if it repeats, was dropped.
    ///
    /// It does not wait in a cycle and returns [`Cancel::Running`] instead:
    ///
    /// - if the caller is the action itself;
    /// - if the action waits for the action of the caller, directly or through other actions of
    ///   this system.
    ///
    /// Cycles across two systems are not detected: their actions wait for each other forever.
    pub fn cancel_and_wait(&self, id: ActionId) -> Cancel {
        match self.cancel(id) {
            Cancel::Running => self.shared.core.wait_for(current(), id),
            found => found,
        }
    }

    /// Moves a pending event to another time of the wall clock. A repeating event continues from
    /// there, with its jitter. Returns false if the event is no longer pending on the wall clock.
    pub fn reschedule_at(&self, id: ActionId, at: SystemTime) -> bool {
        id.is_on(Base::Wall) && self.reschedule(id, unix_nanos(at))
    }

    /// Moves a pending event to `delay` from now. A repeating event continues from there, with its
    /// jitter. Returns false if the event is no longer pending on the delay clock. A running event
    /// is not pending, even if it repeats.
    pub fn reschedule_after(&self, id: ActionId, delay: Duration) -> bool {
        id.is_on(Base::Steady) && self.reschedule(id, self.in_nanos(delay))
    }

    fn reschedule(&self, id: ActionId, deadline: u64) -> bool {
        let moved = self.core().and_then(|core| core.reschedule(id, deadline));
        moved.map(|wake| self.notify(wake)).is_some()
    }

    /// Makes several changes that take effect together or not at all. They have no effect in these
    /// cases:
    ///
    /// - The closure returns an error or panics.
    /// - An event to cancel or move has begun in the meantime.
    /// - The system is shut down.
    ///
    /// No added action begins before the commit.
    ///
    /// Transactions cannot be nested, not even those of different systems. Calls of a [`Handle`]
    /// within the closure take effect at once. Added events count towards
    /// [`max_pending`](crate::Builder::max_pending) at once, and cancelled events count until the
    /// commit. So a full system has no room to swap one event for another. Move the event instead,
    /// or cancel it before the transaction.
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
    /// // Any error type works that can hold a `TransactionError`.
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
    /// Fails with the error of the closure, or with a [`TransactionError`].
    pub fn transaction<R, E: From<TransactionError>>(
        &self,
        changes: impl FnOnce(&mut Transaction<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        Transaction::run(self, changes)
    }

    /// Returns whether the event waits for its time or for a worker.
    pub fn is_pending(&self, id: ActionId) -> bool {
        self.core().is_some_and(|core| core.is_pending(id))
    }

    /// Returns the number of events that wait for their times.
    pub fn len(&self) -> usize {
        self.core().map_or(0, Core::len)
    }

    /// Returns whether no event waits for its time.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the events that wait for their times, soonest first. Takes time proportional to
    /// their number. Meanwhile no event is added and no action begins.
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

    /// Returns the number of actions that have run, including those that panicked.
    pub fn ran(&self) -> u64 {
        self.shared.ran.load(Ordering::Relaxed)
    }

    /// Returns the number of actions that panicked while running or being dropped.
    pub fn panicked(&self) -> u64 {
        self.shared.panics.count()
    }

    /// Waits until all due actions have run, for example in a test after it moved the clock. Within
    /// an action of this system it does not wait, because the action would wait for itself. Actions
    /// of two systems that call this for each other wait forever.
    pub fn wait_idle(&self) {
        let Some(core) = self.core().filter(|_| !self.shared.is_own_thread()) else { return };
        while core.is_busy(self.shared.clock.now()) {
            core.expired.wait_idle();
            // Due events that are not claimed yet wait for a thread to get a CPU, or for the slack.
            thread::yield_now();
        }
    }

    /// Returns the nanoseconds until the next deadline on either clock.
    pub(crate) fn nanos_to_next(&self) -> Option<u64> {
        let now = self.shared.clock.now();
        let [wall, steady] = self.core()?.first_deadlines();
        let left = |at: Option<u64>, now| at.map(|at| at.saturating_sub(now));
        [left(wall, now.wall), left(steady, now.steady)].into_iter().flatten().min()
    }

    pub(crate) fn follows(&self, clock: &TestClock) -> bool {
        self.shared.clock.is(clock)
    }

    /// Ends the system and waits for its threads. It waits for running actions and, with
    /// [`Shutdown::Drain`], for pending ones. Further calls wait as well. While one thread drains,
    /// another one can still drop the rest with [`Shutdown::DropPending`].
    ///
    /// Within an action of this system it does not wait. Actions of two systems that end each other
    /// wait forever.
    pub fn shutdown(&self, how: Shutdown) {
        self.close(match how {
            Shutdown::Drain => Life::Draining,
            Shutdown::DropPending => Life::Closed,
        });
        if self.shared.is_forked() || self.shared.is_own_thread() {
            return;
        }
        // No thread has panicked, because panics of user code are caught.
        lock(&self.shared.threads).drain(..).for_each(|thread| drop(thread.join()));
    }

    pub(crate) fn close(&self, life: Life) {
        self.shared.ended.store(true, Ordering::Relaxed);
        let Some(core) = self.core() else { return };
        let taken = core.close(life);
        // First, because dropping may take long.
        self.set_timer();
        self.discard_all(taken);
    }
}

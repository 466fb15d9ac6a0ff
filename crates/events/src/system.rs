//! The running scheduler: one thread that sleeps until the next deadline, and those that act.

use std::any::Any;
use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use crate::clock::{Clock, DelayClock};
use crate::job::{Action, Missed, Repeat};
use crate::state::{ActionId, AddError, Base, Cancel, Core, Life, Next, Wake};
use crate::timerfd::TimerFds;
use crate::transaction::{Transaction, TransactionError};
use crate::{TestClock, nanos, unix_nanos};

type PanicHook = Box<dyn Fn(&Panicked) + Send + Sync>;

/// An action has panicked: what the hook is told.
#[derive(Debug)]
pub struct Panicked {
    /// The event whose action it was. A repeating one does not run again.
    pub id: ActionId,
    /// What was given to `panic!`.
    pub payload: Box<dyn Any + Send>,
}

impl Panicked {
    /// The message, if it is a text.
    pub fn message(&self) -> Option<&str> {
        let text = self.payload.downcast_ref::<&str>().copied();
        text.or_else(|| self.payload.downcast_ref::<String>().map(String::as_str))
    }
}

/// What [`EventSystem::shutdown`] does about events that are pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Waits until each has run at its time; a repeating one runs once more.
    Drain,
    /// Drops them. Waits for the actions that have begun.
    DropPending,
}

/// An event that waits for its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingAction {
    /// Its id.
    pub id: ActionId,
    /// The time until it is due; zero if it is overdue.
    pub remaining: Duration,
    /// Whether it repeats.
    pub repeats: bool,
}

/// How an action repeats.
#[derive(Clone, Copy, Debug)]
pub struct Every {
    interval: Duration,
    jitter: Duration,
    missed: Missed,
    seed: Option<u64>,
}

impl Every {
    /// Each time the interval has passed, whatever the runs themselves take: it does not drift.
    pub fn new(interval: Duration) -> Self {
        Every { interval, jitter: Duration::ZERO, missed: Missed::default(), seed: None }
    }

    /// Each run is later than its regular time by something between nothing and this, at random.
    pub fn jitter(self, jitter: Duration) -> Self {
        Every { jitter, ..self }
    }

    /// What to do about runs that could not take place in time.
    pub fn missed(self, missed: Missed) -> Self {
        Every { missed, ..self }
    }

    /// Makes the jitter the same each time, for tests.
    pub fn seed(self, seed: u64) -> Self {
        Every { seed: Some(seed), ..self }
    }

    fn starting(self, first: u64) -> Result<Box<Repeat>, AddError> {
        if self.interval.is_zero() {
            return Err(AddError::NoInterval);
        }
        Ok(Box::new(Repeat {
            every: nanos(self.interval),
            jitter: nanos(self.jitter),
            missed: self.missed,
            grid: first,
            random: self.seed.unwrap_or_else(seed),
        }))
    }
}

/// A different number for each event of each process.
fn seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    RandomState::new().hash_one(COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Settings of an [`EventSystem`].
pub struct Builder {
    workers: Option<usize>,
    delays: DelayClock,
    max_pending: usize,
    hook: PanicHook,
    clock: Option<TestClock>,
}

impl Builder {
    /// How many threads run actions: by default as many as there are CPUs. Zero is `inline`.
    pub fn workers(self, workers: usize) -> Self {
        Builder { workers: Some(workers), ..self }
    }

    /// Runs actions in the scheduler's own thread, one after the other, in order of their times. A
    /// slow one delays all others.
    pub fn inline(self) -> Self {
        self.workers(0)
    }

    /// Which clock delays follow.
    pub fn delay_clock(self, delays: DelayClock) -> Self {
        Builder { delays, ..self }
    }

    /// How many events may be there at a time, from adding until their actions have ended. Further
    /// ones are refused with [`AddError::Full`].
    pub fn max_pending(self, events: usize) -> Self {
        Builder { max_pending: events, ..self }
    }

    /// Is called when an action panics, in the thread that ran it. (What the program's own panic
    /// hook prints comes on top.)
    pub fn on_panic(self, hook: impl Fn(&Panicked) + Send + Sync + 'static) -> Self {
        Builder { hook: Box::new(hook), ..self }
    }

    /// Takes the time from this clock instead of the machine's.
    pub fn test_clock(self, clock: &TestClock) -> Self {
        Builder { clock: Some(clock.clone()), ..self }
    }

    /// Starts the threads.
    ///
    /// # Errors
    /// If the system has no threads or no timers left to give.
    pub fn start(self) -> io::Result<EventSystem> {
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        let workers = self.workers.unwrap_or(cpus);
        let clock = match self.clock {
            Some(clock) => Clock::Test(clock, self.delays, Arc::default()),
            None => Clock::System(Arc::new(TimerFds::new(self.delays)?)),
        };
        // Twice as many shards as CPUs: a thread that has lost its CPU while it holds a lock stands
        // in the way of few others.
        let core = Core::new((2 * cpus).next_power_of_two().min(32), self.max_pending);
        let shared = Arc::new(Shared {
            core,
            clock,
            hook: self.hook,
            inline: workers == 0,
            ran: AtomicU64::new(0),
            panicked: AtomicU64::new(0),
        });
        // From here on a failure drops `system`, which ends the threads that were started.
        let system =
            EventSystem { shared, threads: Mutex::default(), ended: AtomicBool::new(false) };
        system.spawn("events", Shared::schedule)?;
        for _ in 0..workers {
            system.spawn("events-worker", Shared::work)?;
        }
        Ok(system)
    }
}

pub(crate) struct Shared {
    pub(crate) core: Core,
    pub(crate) clock: Clock,
    hook: PanicHook,
    inline: bool,
    ran: AtomicU64,
    panicked: AtomicU64,
}

thread_local! {
    /// Which shard this thread adds to. Different threads, different shards.
    static SHARD: usize = {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        THREADS.fetch_add(1, Ordering::Relaxed)
    };
    /// The event whose action this thread runs, of the system at that address.
    static CURRENT: Cell<Option<(usize, ActionId)>> = const { Cell::new(None) };
}

/// The shard this thread adds to, before the modulo.
pub(crate) fn shard_hint() -> usize {
    SHARD.with(|shard| *shard)
}

impl Shared {
    /// Tells this system from others, as long as it lives.
    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    pub(crate) fn notify(&self, wake: Wake) {
        if wake.0 {
            self.clock.wake();
        }
    }

    fn schedule(&self) {
        loop {
            match self.core.claim(self.clock.now()) {
                Next::Claimed if self.inline => {
                    while let Some(id) = self.core.take_expired(false) {
                        self.perform(id);
                    }
                }
                Next::Claimed => {}
                Next::Sleep(until) => self.clock.sleep(until),
                Next::Stop => break,
            }
        }
        self.core.stop_workers();
        if self.inline {
            self.work();
        }
    }

    fn work(&self) {
        while let Some(id) = self.core.take_expired(true) {
            self.perform(id);
        }
    }

    /// Runs the action of an expired event, unless it has been cancelled.
    fn perform(&self, id: ActionId) {
        if let Some(mut action) = self.core.begin(id) {
            let before = CURRENT.replace(Some((self.address(), id)));
            // The action is consumed, or dropped below if it panicked: nobody sees it half done.
            let result = catch_unwind(AssertUnwindSafe(|| match action {
                Action::Once(once) => {
                    once();
                    None
                }
                Action::Repeated(ref mut repeated) => {
                    repeated();
                    Some(action)
                }
            }));
            self.ran.fetch_add(1, Ordering::Relaxed);
            let again = result.unwrap_or_else(|payload| {
                self.panicked.fetch_add(1, Ordering::Relaxed);
                let panicked = Panicked { id, payload };
                // A hook that panics must not end the thread either.
                let _ = catch_unwind(AssertUnwindSafe(|| (self.hook)(&panicked)));
                None
            });
            CURRENT.set(before);
            self.notify(self.core.end(id, again));
        }
        self.notify(self.core.settle());
    }
}

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
        Builder {
            workers: None,
            delays: DelayClock::default(),
            max_pending: usize::MAX,
            hook: Box::new(|_| {}),
            clock: None,
        }
    }

    fn spawn(&self, name: &str, run: fn(&Shared)) -> io::Result<()> {
        let shared = self.shared.clone();
        let thread = thread::Builder::new().name(name.into()).spawn(move || run(&shared))?;
        self.threads.lock().unwrap_or_else(|e| e.into_inner()).push(thread);
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
        if found == Cancel::Running && CURRENT.get() != Some((self.shared.address(), id)) {
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

    /// The events that wait for their times, soonest first. Takes time in proportion to all of them,
    /// in which nothing is added and nothing begins.
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
            self.shared.core.wait_idle();
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
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(|e| e.into_inner()));
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

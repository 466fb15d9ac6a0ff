//! How a system is set up, how an action repeats, and what a system tells about itself.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::clock::{Clock, DelayClock};
use crate::job::{Missed, Repeat};
use crate::outcome::{ActionId, AddError};
use crate::panics::{PanicHook, Panicked};
use crate::state::Core;
use crate::timerfd::TimerFds;
use crate::worker::Shared;
use crate::{EventSystem, TestClock, nanos};

/// What [`Handle::shutdown`](crate::Handle::shutdown) does about events that are pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shutdown {
    /// Waits until each has run at its time; a repeating one runs again. With a [`TestClock`]
    /// somebody else has to move it meanwhile.
    Drain,
    /// Drops them. Waits for the actions that have begun.
    DropPending,
}

/// An event that waits for its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// Where that is more than the interval, runs are missed as if the system were late.
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

    pub(crate) fn starting(self, first: u64) -> Result<Box<Repeat>, AddError> {
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

impl Default for Builder {
    fn default() -> Self {
        Builder {
            workers: None,
            delays: DelayClock::default(),
            max_pending: usize::MAX,
            hook: Box::new(|_| {}),
            clock: None,
        }
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { workers, delays, max_pending, hook: _, clock } = self;
        f.debug_struct("Builder")
            .field("workers", workers)
            .field("delays", delays)
            .field("max_pending", max_pending)
            .field("clock", clock)
            .finish_non_exhaustive()
    }
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
    /// ones are refused with [`AddError::Full`]. What a transaction adds
    /// counts at once, and what it cancels until it is committed.
    pub fn max_pending(self, events: usize) -> Self {
        Builder { max_pending: events, ..self }
    }

    /// Is called when an action panics, in the thread that ran it; also when one does so while it
    /// is dropped, in the thread that cancelled it or shut the system down. (A panic of one that
    /// was refused is the caller's. What the program's own panic hook prints comes on top.)
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
        let shards = (2 * cpus).next_power_of_two().min(32);
        let core = Core::new(system_number(), shards, self.max_pending);
        EventSystem::spawn(Shared::new(core, clock, self.hook, workers == 0)?, workers)
    }
}

/// A different number for each system of this process. (It takes hours to start 2^32 of them.)
fn system_number() -> u32 {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    COUNT.fetch_add(1, Ordering::Relaxed)
}

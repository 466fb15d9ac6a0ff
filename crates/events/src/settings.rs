//! The settings of systems and repetitions, and the description of pending events.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::clock::{Clock, DelayClock};
use crate::job::{Missed, Repeat};
use crate::outcome::{ActionId, AddError};
use crate::panics::{PanicHook, Panicked};
use crate::state::{Core, Pace};
use crate::timerfd::TimerFds;
use crate::worker::Shared;
use crate::{EventSystem, TestClock, nanos};

/// How [`Handle::shutdown`](crate::Handle::shutdown) handles pending events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shutdown {
    /// Waits until each pending event has run at its time, including repetitions. If the system has
    /// a [`TestClock`], another thread must move it.
    Drain,
    /// Drops pending events, and waits for running actions.
    DropPending,
}

/// An event that waits for its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PendingAction {
    /// The id of the event.
    pub id: ActionId,
    /// The time until the event is due, or zero if it is overdue.
    pub remaining: Duration,
    /// Whether the event repeats.
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
    /// Repeats at each interval, independent of the duration of the runs. The times do not drift.
    pub fn new(interval: Duration) -> Self {
        Every { interval, jitter: Duration::ZERO, missed: Missed::default(), seed: None }
    }

    /// Delays each run by a random time from zero up to `jitter`. A jitter above the interval
    /// causes missed runs, as if the system were late.
    pub fn jitter(self, jitter: Duration) -> Self {
        Every { jitter, ..self }
    }

    /// Sets how missed runs are handled.
    pub fn missed(self, missed: Missed) -> Self {
        Every { missed, ..self }
    }

    /// Makes the jitter reproducible, for tests.
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

/// Returns a different number for each event of each process.
fn seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    RandomState::new().hash_one(COUNT.fetch_add(1, Ordering::Relaxed))
}

/// The least time between wake-ups, in nanoseconds. It is about the time that one takes.
const PAUSE: u64 = 50_000;

/// Settings of an [`EventSystem`].
pub struct Builder {
    workers: Option<usize>,
    delays: DelayClock,
    max_pending: usize,
    slack: Duration,
    hook: PanicHook,
    clock: Option<TestClock>,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            workers: None,
            delays: DelayClock::default(),
            max_pending: usize::MAX,
            slack: Duration::ZERO,
            hook: Box::new(|_| {}),
            clock: None,
        }
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { workers, delays, max_pending, slack, hook: _, clock } = self;
        f.debug_struct("Builder")
            .field("workers", workers)
            .field("delays", delays)
            .field("max_pending", max_pending)
            .field("slack", slack)
            .field("clock", clock)
            .finish_non_exhaustive()
    }
}

impl Builder {
    /// Sets the number of threads that run actions. The default is the number of CPUs. Zero means
    /// one, as [`inline`](Self::inline).
    pub fn workers(self, workers: usize) -> Self {
        Builder { workers: Some(workers), ..self }
    }

    /// Runs actions in one thread, one after the other in order of their times. A slow action
    /// delays all others. It is the same as one worker.
    pub fn inline(self) -> Self {
        self.workers(0)
    }

    /// Lets each event run up to `slack` late, so that one wake-up serves all events that are due
    /// within that time. No event runs early. The default is zero: each event wakes a thread at its
    /// exact time, except that events within 50 us after others may share a wake-up. With 1 ms of
    /// slack, thousands of events a second take a fraction of the CPU.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lanesum_events::{EventSystem, Shutdown};
    ///
    /// let system = EventSystem::builder().slack(Duration::from_millis(1)).start()?;
    /// for n in 0..100 {
    ///     // A few wake-ups instead of 100.
    ///     system.add_after(Duration::from_micros(10 * n), |_| {})?;
    /// }
    /// system.shutdown(Shutdown::Drain);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn slack(self, slack: Duration) -> Self {
        Builder { slack, ..self }
    }

    /// Sets the clock that delays follow.
    pub fn delay_clock(self, delays: DelayClock) -> Self {
        Builder { delays, ..self }
    }

    /// Limits the number of events, counted from adding until their actions have ended. Further
    /// events are refused with [`AddError::Full`]. Events that a transaction adds count at once,
    /// and events that it cancels count until the commit.
    pub fn max_pending(self, events: usize) -> Self {
        Builder { max_pending: events, ..self }
    }

    /// Sets a hook for panics of actions. It is called in the thread that ran the action. If the
    /// action panics while it is dropped, the hook is called in the thread that cancelled it or
    /// shut the system down. A panic in the drop of a refused action reaches the caller instead.
    /// The panic hook of the program runs in addition.
    pub fn on_panic(self, hook: impl Fn(&Panicked) + Send + Sync + 'static) -> Self {
        Builder { hook: Box::new(hook), ..self }
    }

    /// Uses a test clock instead of the system clock.
    pub fn test_clock(self, clock: &TestClock) -> Self {
        Builder { clock: Some(clock.clone()), ..self }
    }

    /// Starts the threads of the system.
    ///
    /// # Errors
    /// Fails if the operating system cannot create a thread or a timer. On systems other than Linux
    /// it fails with [`io::ErrorKind::Unsupported`], unless there is a
    /// [`test_clock`](Self::test_clock).
    pub fn start(self) -> io::Result<EventSystem> {
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        let threads = self.workers.unwrap_or(cpus).max(1);
        let slack = nanos(self.slack);
        // The time on a test clock does not pass until somebody moves it.
        let pause = if self.clock.is_some() { 0 } else { slack.max(PAUSE) };
        let pace = Pace { slack, pause, alone: threads == 1 };
        let clock = match self.clock {
            Some(clock) => Clock::Test(clock, self.delays, Arc::default()),
            None => Clock::System(Arc::new(TimerFds::new(self.delays)?)),
        };
        // Twice as many shards as CPUs. A thread that loses its CPU while it holds a lock blocks
        // only few others.
        let shards = (2 * cpus).next_power_of_two().min(32);
        let core = Core::new(system_number(), shards, self.max_pending, pace);
        EventSystem::spawn(Shared::new(core, clock, self.hook)?, threads)
    }
}

/// Returns a different number for each system and each stream of this process, up to 2^32.
pub(crate) fn system_number() -> u32 {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    COUNT.fetch_add(1, Ordering::Relaxed)
}

//! A clock that moves only on request.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::clock::DelayClock;
use crate::outcome::Times;
use crate::{Handle, nanos, unix_nanos};

/// A clock for tests. The test moves the time and does not have to sleep.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use std::{sync::Arc, time::Duration};
/// use lanesum_events::{Context, EventSystem, TestClock};
///
/// let clock = TestClock::new();
/// let system = EventSystem::builder().test_clock(&clock).start()?;
/// let rings = Arc::new(AtomicU32::new(0));
/// let bell = rings.clone();
/// let ring = move |_: &Context<'_>| _ = bell.fetch_add(1, Ordering::Relaxed);
/// system.add_after(Duration::from_secs(3600), ring)?;
///
/// clock.advance(Duration::from_secs(3599));
/// system.wait_idle();
/// assert_eq!(rings.load(Ordering::Relaxed), 0);
/// clock.advance(Duration::from_secs(1));
/// system.wait_idle();
/// assert_eq!(rings.load(Ordering::Relaxed), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TestClock {
    shared: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Debug)]
struct State {
    /// The instant of the start of the monotonic clock.
    start: Instant,
    wall: u64,
    monotonic: u64,
    boot: u64,
    /// The number of changes of the time and of expired alarms.
    changes: u64,
}

impl State {
    fn now(&self, delays: DelayClock) -> Times {
        let steady = match delays {
            DelayClock::Boot => self.boot,
            DelayClock::Monotonic => self.monotonic,
        };
        Times { wall: self.wall, steady }
    }
}

impl Default for TestClock {
    fn default() -> Self {
        Self::new()
    }
}

impl TestClock {
    /// Makes a clock that shows 2000-01-01 00:00:00 UTC, on a machine that has just started.
    pub fn new() -> Self {
        Self::at(SystemTime::UNIX_EPOCH + Duration::from_secs(946_684_800))
    }

    /// Makes a clock that shows the time `wall`, but not before 1970.
    pub fn at(wall: SystemTime) -> Self {
        let wall = unix_nanos(wall);
        let state = State { start: Instant::now(), wall, monotonic: 0, boot: 0, changes: 0 };
        TestClock { shared: Arc::new((Mutex::new(state), Condvar::new())) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        state.changes += 1;
        drop(state);
        self.shared.1.notify_all();
    }

    /// Advances every clock.
    pub fn advance(&self, by: Duration) {
        self.change(|state| {
            state.monotonic = state.monotonic.saturating_add(nanos(by));
            state.boot = state.boot.saturating_add(nanos(by));
            state.wall = state.wall.saturating_add(nanos(by));
        });
    }

    /// Advances the time from one deadline of the system to the next until the wall clock shows
    /// `until`. At each deadline it waits until all due actions have run. So each action runs at
    /// its own time, including actions that other actions add. Within an action it advances the
    /// time without waiting, because the action would wait for itself.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    /// use std::time::Duration;
    /// use lanesum_events::{EventSystem, TestClock};
    ///
    /// let (clock, second) = (TestClock::new(), Duration::from_secs(1));
    /// let system = EventSystem::builder().test_clock(&clock).start()?;
    /// let (send, times) = channel();
    /// let (start, watch) = (clock.wall(), clock.clone());
    /// system.add_after(second, move |first| {
    ///     let again = first.system().add_after(second, move |_| send.send(watch.wall()).unwrap());
    ///     again.unwrap();
    /// })?;
    /// clock.run_until(&system, start + 10 * second);
    /// assert_eq!(times.recv()?, start + 2 * second);
    /// assert_eq!(clock.wall(), start + 10 * second);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// Panics if the system uses another clock.
    pub fn run_until(&self, system: &Handle, until: SystemTime) {
        assert!(system.follows(self), "the event system does not take its time from this clock");
        let until = unix_nanos(until);
        loop {
            system.wait_idle();
            let left = until.saturating_sub(self.lock().wall);
            if left == 0 {
                return;
            }
            let step = system.nanos_to_next().unwrap_or(left).min(left);
            self.advance(Duration::from_nanos(step));
        }
    }

    /// Advances the time as if the machine were suspended: the monotonic clock does not move.
    pub fn suspend(&self, by: Duration) {
        self.change(|state| {
            state.boot = state.boot.saturating_add(nanos(by));
            state.wall = state.wall.saturating_add(nanos(by));
        });
    }

    /// Sets the wall clock forward or back. The other clocks do not change.
    pub fn set_wall(&self, to: SystemTime) {
        self.change(|state| state.wall = unix_nanos(to));
    }

    /// Returns the time of the wall clock.
    pub fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_nanos(self.lock().wall)
    }

    /// Returns the time of the monotonic clock, for deadlines that are instants.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lanesum_events::TestClock;
    ///
    /// let clock = TestClock::new();
    /// let start = clock.instant();
    /// clock.advance(Duration::from_secs(60));
    /// assert_eq!(clock.instant() - start, Duration::from_secs(60));
    /// ```
    pub fn instant(&self) -> Instant {
        let state = self.lock();
        let time = state.start.checked_add(Duration::from_nanos(state.monotonic));
        time.unwrap_or(state.start)
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    pub(crate) fn now(&self, delays: DelayClock) -> Times {
        self.lock().now(delays)
    }

    /// Wakes a sleeping thread if one of the times is reached.
    pub(crate) fn set(&self, to: Times, delays: DelayClock) {
        let now = self.now(delays);
        if [(now.wall, to.wall), (now.steady, to.steady)].into_iter().any(|(now, to)| now >= to) {
            self.change(|_| {});
        }
    }

    /// Sleeps until the clock changes. Each change wakes one thread of a system: `answered` is the
    /// number of the last change that a thread of the system has answered.
    pub(crate) fn sleep(&self, answered: &AtomicU64) {
        let mut state = self.lock();
        while state.changes == answered.load(Ordering::Relaxed) {
            state = self.shared.1.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        answered.store(state.changes, Ordering::Relaxed);
    }
}

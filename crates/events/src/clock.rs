//! Clocks, and sleeping until a time.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use crate::TestClock;
use crate::outcome::Times;
use crate::timerfd::TimerFds;

/// The clock that delays follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DelayClock {
    /// Runs on while the machine is suspended. A delay of one hour ends after one hour of real
    /// time.
    #[default]
    Boot,
    /// Stops while the machine is suspended. A delay counts only time in which the machine is
    /// running.
    Monotonic,
}

/// The source of time of an event system.
#[derive(Clone, Debug)]
pub(crate) enum Clock {
    System(Arc<TimerFds>),
    /// A test clock, with the number of the last change that a sleep has answered.
    Test(TestClock, DelayClock, Arc<AtomicU64>),
}

impl Clock {
    pub(crate) fn now(&self) -> Times {
        match self {
            Clock::System(timers) => timers.now(),
            Clock::Test(clock, delays, _) => clock.now(*delays),
        }
    }

    pub(crate) fn steady(&self) -> u64 {
        match self {
            Clock::System(timers) => timers.steady(),
            Clock::Test(clock, delays, _) => clock.now(*delays).steady,
        }
    }

    /// Returns the time of the monotonic clock.
    pub(crate) fn instant(&self) -> Instant {
        match self {
            Clock::System(_) => Instant::now(),
            Clock::Test(clock, ..) => clock.instant(),
        }
    }

    pub(crate) fn is(&self, other: &TestClock) -> bool {
        matches!(self, Clock::Test(clock, ..) if clock.is(other))
    }

    /// Sets the timer to the times that `alarm` returns, or `u64::MAX` for none. If several threads
    /// call it at once, the last call of `alarm` counts.
    pub(crate) fn set(&self, alarm: &dyn Fn() -> Times) {
        match self {
            Clock::System(timers) => timers.set(alarm),
            Clock::Test(clock, delays, _) => clock.set(alarm(), *delays),
        }
    }

    /// Sleeps until the timer wakes this thread. It wakes one sleeping thread, or the next one that
    /// sleeps, when it expires and when the wall clock is set. May return early.
    pub(crate) fn sleep(&self) {
        match self {
            Clock::System(timers) => timers.sleep(),
            Clock::Test(clock, _, answered) => clock.sleep(answered),
        }
    }
}

//! Clocks, and sleeping until a time.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

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

    pub(crate) fn is(&self, other: &TestClock) -> bool {
        matches!(self, Clock::Test(clock, ..) if clock.is(other))
    }

    /// Sleeps until one of the times is reached, the wall clock is set, or `wake` is called. A call
    /// of `wake` before the sleep counts as well. May return early.
    pub(crate) fn sleep(&self, until: Times) {
        match self {
            Clock::System(timers) => timers.sleep(until),
            Clock::Test(clock, delays, answered) => clock.sleep(until, *delays, answered),
        }
    }

    pub(crate) fn wake(&self) {
        match self {
            Clock::System(timers) => timers.wake(),
            Clock::Test(clock, ..) => clock.wake(),
        }
    }
}

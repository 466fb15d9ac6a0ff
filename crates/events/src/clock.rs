//! The time, and sleeping until a moment.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::TestClock;
use crate::outcome::Times;
use crate::timerfd::TimerFds;

/// The clock that delays follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DelayClock {
    /// Goes on while the machine sleeps: a delay of an hour ends an hour later by the watch.
    #[default]
    Boot,
    /// Stands still while the machine sleeps: a delay counts time in which the machine could work.
    Monotonic,
}

/// The source of time of an event system.
#[derive(Clone, Debug)]
pub(crate) enum Clock {
    System(Arc<TimerFds>),
    /// With the number of the last change that a sleep has answered.
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

    /// Until one of the times is reached, the wall clock is set, or `wake` is called: also if that
    /// was before. May return early.
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

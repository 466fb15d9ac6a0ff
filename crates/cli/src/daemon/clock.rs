//! Detects that the wall clock was set.

use std::time::{Duration, SystemTime};

use rustix::time::{ClockId, clock_gettime};

/// The minimum difference that counts as a set clock.
const SET: Duration = Duration::from_secs(30);

/// The previous value of the wall clock, and of a clock that includes sleep and is never set.
pub struct Clock(SystemTime, Duration);

impl Clock {
    pub fn new() -> Self {
        let time = clock_gettime(ClockId::Boottime);
        let seconds = Duration::from_secs(time.tv_sec.max(0).cast_unsigned());
        let steady = seconds + Duration::from_nanos(time.tv_nsec.max(0).cast_unsigned());
        Self(SystemTime::now(), steady)
    }

    /// Returns whether the wall clock was set since the previous call.
    pub fn was_set(&mut self) -> bool {
        let now = Self::new();
        let expected = self.0 + now.1.saturating_sub(self.1);
        let drift = now.0.duration_since(expected).unwrap_or_else(|error| error.duration());
        *self = now;
        drift > SET
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_jumps_was_set() {
        let mut clock = Clock::new();
        assert!(!clock.was_set());
        clock.0 -= 2 * SET;
        assert!(clock.was_set() && !clock.was_set());
        clock.0 += 2 * SET;
        assert!(clock.was_set());
        // A machine that slept, unless it was booted just now.
        if let Some(steady) = clock.1.checked_sub(2 * SET) {
            (clock.0, clock.1) = (clock.0 - 2 * SET, steady);
            assert!(!clock.was_set());
        }
    }
}

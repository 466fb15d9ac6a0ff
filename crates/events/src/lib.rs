//! Actions at exact times.
#![forbid(unsafe_code)]

mod clock;
mod job;
mod schedule;
mod state;
mod sync;
mod system;
mod test_clock;
mod timerfd;
mod transaction;

use std::time::{Duration, SystemTime};

pub use clock::DelayClock;
pub use job::Missed;
pub use schedule::{Claim, EventId, Full, Iter, Pending, Schedule};
pub use state::{ActionId, AddError, Cancel};
pub use system::{Builder, EventSystem, Every, Panicked, PendingAction, Shutdown};
pub use test_clock::TestClock;
pub use transaction::{Transaction, TransactionError};

/// A duration in nanoseconds; 584 years if it is longer.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A time in nanoseconds since 1970; zero if it lies before, the year 2554 if it lies after that.
fn unix_nanos(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, nanos)
}

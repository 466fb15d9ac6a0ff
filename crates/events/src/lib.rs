//! Actions at exact times: add, move, cancel, all or none of several at once.
//!
//! | you have | take |
//! |---|---|
//! | an action, and a delay or a time of the wall clock | [`EventSystem::start`], then [`add_after`](Handle::add_after), [`add_at`](Handle::add_at) |
//! | one that is to run again and again | [`repeat_after`](Handle::repeat_after), [`repeat_at`](Handle::repeat_at) with [`Every`] |
//! | changes that belong together | [`transaction`](Handle::transaction) |
//! | an action that must be over before you go on | [`cancel_and_wait`](Handle::cancel_and_wait) |
//! | futures, and any executor | [`sleep`](Handle::sleep), [`timeout`](Handle::timeout), [`due_stream`](Handle::due_stream) with the feature `async` |
//! | a test | [`TestClock`] |
//! | a clock and threads of your own | [`Schedule`], which has neither |
//! | events to store | [`Schedule::snapshot`], with the feature `serde` |
//!
//! Two layers, each of use alone:
//!
//! - [`Schedule`] is a data structure: events by deadline, exact to the nanosecond, with a cost per
//!   event that does not grow with their number. It has no clock, no threads and does no I/O.
//! - [`EventSystem`] is that in operation: a thread that sleeps until the exact next deadline, and
//!   workers that run actions. Wall-clock times ([`add_at`](Handle::add_at)) follow the clock
//!   when it is set; delays ([`add_after`](Handle::add_after)) do not care. Events can repeat.
//!   A [transaction](Handle::transaction) makes several changes at once. [`TestClock`] moves
//!   when a test says so.
//!
//! ```
//! use std::sync::mpsc::channel;
//! use std::time::Duration;
//! use lanesum_events::{Cancel, EventSystem, Shutdown};
//!
//! let system = EventSystem::start()?;
//! let (send, receive) = channel();
//! let never = system.add_after(Duration::from_secs(3600), |_| println!("an hour has passed"))?;
//! system.add_after(Duration::from_millis(1), move |_| send.send("now").unwrap())?;
//! assert_eq!(receive.recv()?, "now");
//! assert_eq!(system.cancel(never), Cancel::Cancelled);
//! system.shutdown(Shutdown::Drain);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An action gets a [`Context`]: its own id, and the system as a [`Handle`], to be used and to be
//! cloned. Actions, and all that they own, run and are dropped with no lock held: there and in
//! `Drop` they may use the system, panic and end it. A panic is caught, counted, and told to the
//! [hook](Builder::on_panic).
//!
//! What it is not for: a cron with calendars and time zones (it knows intervals and points in
//! time), and jobs that must survive the process (see [`Snapshot`] for what helps to build that).
//!
//! Features: `async` for [`Sleep`], [`Timeout`] and [`DueStream`], which work under any executor,
//! and end when the system does; `serde` for a [`Snapshot`] that can be stored.
//!
//! Deadlines have 64 bits of nanoseconds: wall-clock times from 1970 to 2554, earlier ones being
//! due at once, later ones at the end. Linux only, for its timers.
#![forbid(unsafe_code)]
#![warn(missing_debug_implementations)]

#[cfg(feature = "async")]
mod asynchronous;
mod clock;
mod expired;
mod handle;
mod job;
mod lock;
mod outcome;
mod panics;
mod schedule;
mod settings;
mod shard;
mod state;
mod sync;
mod system;
mod test_clock;
mod timerfd;
mod transaction;
mod waits;
mod worker;

use std::time::{Duration, SystemTime};

#[cfg(feature = "async")]
pub use asynchronous::{Closed, DueStream, Sleep, Timeout, TimeoutError};
pub use clock::DelayClock;
pub use handle::{Context, Handle};
pub use job::Missed;
pub use outcome::{ActionId, AddError, Cancel};
pub use panics::Panicked;
pub use schedule::{Claim, EventId, Full, Iter, Pending, Schedule, Snapshot};
pub use settings::{Builder, Every, PendingAction, Shutdown};
pub use system::EventSystem;
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

/// The example of the page on the registry, tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

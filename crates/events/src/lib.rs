//! Runs actions at exact times. Actions can be added, moved and cancelled, also several in one
//! transaction.
//!
//! | you have | you want | use |
//! |---|---|---|
//! | an action | to run it after a delay or at a time | [`EventSystem::start`], then [`add_after`](Handle::add_after), [`add_at`](Handle::add_at) |
//! | an action | to repeat it | [`repeat_after`](Handle::repeat_after), [`repeat_at`](Handle::repeat_at) with [`Every`] |
//! | several changes | all of them or none | [`transaction`](Handle::transaction) |
//! | an event | to cancel it and wait for its end | [`cancel_and_wait`](Handle::cancel_and_wait) |
//! | futures, under any executor | to wait or to limit the time | [`sleep`](Handle::sleep), [`timeout`](Handle::timeout), [`due_stream`](Handle::due_stream) with the feature `async` |
//! | a test | to move the time | [`TestClock`] |
//! | thousands of events a second | to share wake-ups and use less CPU | [`Builder::slack`] |
//! | your own clock and threads | the data structure only | [`Schedule`] |
//! | pending events | to store them | [`Schedule::snapshot`] with the feature `serde` |
//!
//! There are two layers, and each can be used alone:
//!
//! - [`Schedule`] is a data structure of events by deadline. It is exact to the nanosecond, and its
//!   cost per event does not grow with the number of events. It has no clock and no threads, and
//!   does no I/O.
//! - [`EventSystem`] runs the events of a schedule. Its threads sleep until the exact next deadline
//!   and run the actions. Wall-clock times ([`add_at`](Handle::add_at)) follow the clock
//!   when it is set. Delays ([`add_after`](Handle::add_after)) are not affected.
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
//! An action gets a [`Context`] with its own id and a [`Handle`] to the system. Actions run and are
//! dropped without a lock held. So an action and its `Drop` may use the system, end it, and panic.
//! A panic is caught, counted, and reported to the [hook](Builder::on_panic).
//!
//! The crate does not support calendars and time zones as cron does, only intervals and points in
//! time. Events do not survive the process; a [`Snapshot`] helps to store them.
//!
//! Features:
//!
//! - `async`: [`Sleep`], [`Timeout`] and [`DueStream`], which work under any executor and end with
//!   the system.
//! - `serde`: a [`Snapshot`] can be stored.
//!
//! Deadlines are 64-bit numbers of nanoseconds, which cover wall-clock times from 1970 to 2554.
//! Earlier times are due at once, and later ones are due in 2554.
//!
//! The crate compiles on every platform, and [`Schedule`] works on each of them. An [`EventSystem`]
//! uses timers of Linux. Elsewhere [`EventSystem::start`] fails with
//! [`Unsupported`](std::io::ErrorKind::Unsupported), unless the system has a [`TestClock`].
#![forbid(unsafe_code)]
#![warn(missing_debug_implementations)]

#[cfg(feature = "async")]
mod asynchronous;
mod clock;
#[cfg(feature = "async")]
mod due_stream;
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
#[cfg_attr(not(target_os = "linux"), path = "no_timers.rs")]
mod timerfd;
mod transaction;
mod waits;
mod worker;

use std::time::{Duration, SystemTime};

#[cfg(feature = "async")]
pub use asynchronous::{Closed, Sleep, Timeout, TimeoutError};
pub use clock::DelayClock;
#[cfg(feature = "async")]
pub use due_stream::{Deadline, Due, DueStream};
pub use handle::{Context, Handle};
pub use job::Missed;
pub use outcome::{ActionId, AddError, Cancel};
pub use panics::Panicked;
pub use schedule::{Claim, EventId, Full, Iter, Pending, Schedule, Snapshot};
pub use settings::{Builder, Every, PendingAction, Shutdown};
pub use system::EventSystem;
pub use test_clock::TestClock;
pub use transaction::{Transaction, TransactionError};

/// Returns a duration in nanoseconds, at most 584 years.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns a time in nanoseconds since 1970, limited to the years 1970 to 2554.
fn unix_nanos(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, nanos)
}

/// Tests the example in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

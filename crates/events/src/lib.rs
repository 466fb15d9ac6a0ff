//! Actions at exact times.
#![forbid(unsafe_code)]

mod schedule;

pub use schedule::{Claim, EventId, Full, Iter, Pending, Schedule};

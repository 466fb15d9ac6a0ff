//! The public types of an event: its id, its payload, and the error if it does not fit.

use super::slab::Seq;

/// The id of an event. It contains the 64-bit number of the addition, so a schedule never reuses an
/// id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId {
    /// Two halves, so that an id takes 12 bytes.
    pub(super) seq: Seq,
    pub(super) slot: u32,
}

/// A pending event, as returned by [`Schedule::iter`](super::Schedule::iter).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pending<'a, T> {
    /// The deadline in nanoseconds.
    pub deadline: u64,
    /// The id of the event.
    pub id: EventId,
    /// The payload of the event.
    pub payload: &'a T,
}

/// The error if the schedule is full, with the payload that was not added.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Full<T>(pub T);

impl<T> std::fmt::Debug for Full<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Full(..)")
    }
}

impl<T> std::fmt::Display for Full<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the schedule is full: raise its bound, or cancel events first")
    }
}

impl<T> std::error::Error for Full<T> {}

/// A due event that stays in the schedule. Made by
/// [`Schedule::claim_due`](super::Schedule::claim_due).
#[derive(Debug)]
#[non_exhaustive]
pub struct Claim<'a, T> {
    /// The id of the event, valid until it is cancelled.
    pub id: EventId,
    /// The deadline in nanoseconds.
    pub deadline: u64,
    /// The payload of the event.
    pub payload: &'a mut T,
}

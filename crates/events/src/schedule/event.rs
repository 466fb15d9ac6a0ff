//! What callers see of an event: its id, what it carries, what did not fit.

use super::slab::Seq;

/// The name of one event. No two additions to the same schedule ever get the same one: it holds the
/// number of the addition, which has 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId {
    /// In halves, so that an id takes 12 bytes.
    pub(super) seq: Seq,
    pub(super) slot: u32,
}

/// A pending event, as [`Schedule::iter`](super::Schedule::iter) shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pending<'a, T> {
    /// The time it is due, in nanoseconds.
    pub deadline: u64,
    /// Its id.
    pub id: EventId,
    /// What it carries.
    pub payload: &'a T,
}

/// The schedule holds as many events as it may; this is the payload that was to be added.
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

/// An event whose time has come and that still has its id: see
/// [`Schedule::claim_due`](super::Schedule::claim_due).
#[derive(Debug)]
#[non_exhaustive]
pub struct Claim<'a, T> {
    /// Its id, valid until it is cancelled.
    pub id: EventId,
    /// The time it was due, in nanoseconds.
    pub deadline: u64,
    /// What it carries.
    pub payload: &'a mut T,
}

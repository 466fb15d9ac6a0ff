//! The pending events in order.

use super::bucket::Entry;
use super::wheel::Events;
use super::{EventId, Schedule};

/// A pending event, as [`Schedule::iter`] shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending<'a, T> {
    /// The time it is due, in nanoseconds.
    pub deadline: u64,
    /// Its id.
    pub id: EventId,
    /// What it carries.
    pub payload: &'a T,
}

/// Made by [`Schedule::iter`].
pub struct Iter<'a, T> {
    schedule: &'a Schedule<T>,
    entries: std::vec::IntoIter<Entry>,
}

impl<'a, T> Iter<'a, T> {
    pub(super) fn new(schedule: &'a Schedule<T>) -> Self {
        let mut entries = Vec::with_capacity(schedule.armed);
        schedule.spine.for_each(&mut |entry| {
            if schedule.slab.is_current(entry) {
                entries.push(*entry);
            }
        });
        // Equal deadlines share a bucket, whose order is that of adding; the sort is stable.
        entries.sort_by_key(|entry| entry.deadline);
        Iter { schedule, entries: entries.into_iter() }
    }
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = Pending<'a, T>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.entries.next()?;
        let (deadline, slot) = (entry.deadline, entry.slot());
        let (label, payload) = self.schedule.slab.get(slot)?;
        Some(Pending { deadline, id: EventId::new(label.seq, slot), payload })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

impl<T> ExactSizeIterator for Iter<'_, T> {}

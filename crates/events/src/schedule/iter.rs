//! Iteration over pending events in order.

use super::bucket::EventRef;
use super::queue::Events;
use super::{EventId, Pending, Schedule};

/// An iterator over pending events. Made by [`Schedule::iter`].
pub struct Iter<'a, T> {
    schedule: &'a Schedule<T>,
    entries: std::vec::IntoIter<EventRef>,
}

impl<'a, T> Iter<'a, T> {
    pub(super) fn new(schedule: &'a Schedule<T>) -> Self {
        let mut entries = Vec::with_capacity(schedule.len());
        schedule.queue.for_each(&mut |entry| {
            if schedule.slab.is_current(entry) {
                entries.push(*entry);
            }
        });
        // Equal deadlines share a bucket, which is in order of adding, and the sort is stable.
        entries.sort_by_key(|entry| entry.deadline);
        Iter { schedule, entries: entries.into_iter() }
    }
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = Pending<'a, T>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.entries.next()?;
        let (deadline, slot) = (entry.deadline, entry.slot());
        let (seq, held) = self.schedule.slab.at(slot)?;
        Some(Pending { deadline, id: EventId { seq, slot }, payload: &held.payload })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

impl<T> ExactSizeIterator for Iter<'_, T> {}

impl<T> std::fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Iter").field("left", &self.len()).finish_non_exhaustive()
    }
}

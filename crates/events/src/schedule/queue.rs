//! The entries in order: arrivals before a spine.

use super::arrivals::Arrivals;
use super::bucket::EventRef;
use super::spine::Spine;

/// A source that knows which entries are current.
pub(super) trait Events {
    fn is_current(&self, entry: &EventRef) -> bool;

    /// Passes on those of up to 64 entries that are current.
    ///
    /// Does all look-ups first, without branches in between: half of the entries may be stale, and
    /// each misprediction would wait for memory. The order matters as well: slots often follow each
    /// other, and the CPU prefetches in the order of addresses.
    #[inline]
    fn current(&self, entries: &[EventRef], mut to: impl FnMut(EventRef)) {
        let mut current = 0_u64;
        for (index, entry) in entries.iter().enumerate() {
            current |= u64::from(self.is_current(entry)) << index;
        }
        while current != 0 {
            to(entries[current.trailing_zeros() as usize]);
            current &= current - 1;
        }
    }
}

/// A new entry is added to a list. The list is sorted into the spine when one of its entries may be
/// the next one. Each entry moves to the spine at most once, and never if it is cancelled before.
pub(super) struct Queue {
    arrivals: Arrivals,
    /// Its entries were added before all arrivals with the same deadline.
    spine: Spine,
}

impl Queue {
    pub(super) const fn new() -> Self {
        Queue { arrivals: Arrivals::new(), spine: Spine::new() }
    }

    /// The number of entries, including stale ones.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.arrivals.len() + self.spine.len()
    }

    /// Adds an entry after those with the same deadline.
    #[inline]
    pub(super) fn insert(&mut self, entry: EventRef) {
        self.arrivals.push(entry);
    }

    /// Returns the first entry if its deadline is not after `now`. The entry may be stale.
    #[inline]
    pub(super) fn first_due(&mut self, now: u64, events: &impl Events) -> Option<EventRef> {
        loop {
            match self.spine.front() {
                Some(first) if !self.arrivals.may_precede(first.deadline, now) => {
                    return Some(first).filter(|first| first.deadline <= now);
                }
                None if self.spine.len() > 0 => self.spine.open_next(events),
                None if self.arrivals.len() == 0 => return None,
                _ => self.admit(events),
            }
        }
    }

    #[inline]
    pub(super) fn pop_front(&mut self) {
        self.spine.pop_front();
    }

    /// Sorts the arrivals into the spine.
    #[cold]
    fn admit(&mut self, events: &impl Events) {
        let arrivals = std::mem::replace(&mut self.arrivals, Arrivals::new());
        if self.spine.len() == 0 {
            self.spine.prepare(arrivals.len(), arrivals.chunks());
        }
        for chunk in arrivals.into_chunks() {
            for entries in chunk.chunks(64) {
                events.current(entries, |entry| self.spine.insert(entry));
            }
        }
    }

    /// Calls a function for every entry. Entries with equal deadlines are in order of adding.
    pub(super) fn for_each(&self, to: &mut dyn FnMut(&EventRef)) {
        self.spine.for_each(to);
        self.arrivals.chunks().flatten().for_each(to);
    }

    /// Keeps the entries for which `keep` returns true.
    pub(super) fn retain(&mut self, keep: &mut dyn FnMut(&mut EventRef) -> bool) {
        self.spine.retain(keep);
        self.arrivals.retain(keep);
    }

    pub(super) fn heap_size(&self) -> usize {
        self.arrivals.heap_size() + self.spine.heap_size()
    }
}

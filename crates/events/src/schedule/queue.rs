//! The entries in order: arrivals in front of a spine.

use super::arrivals::Arrivals;
use super::bucket::EventRef;
use super::spine::Spine;

/// Who knows which entries still stand for an event.
pub(super) trait Events {
    fn is_current(&self, entry: &EventRef) -> bool;

    /// Hands over those of up to 64 entries that stand for an event.
    ///
    /// All the look-ups first, without a branch between them: half of the entries may be stale, and
    /// a wrong guess would wait for memory each time. And in this order: their slots often follow
    /// one another, and a processor fetches ahead what is read in the order of addresses.
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

/// An entry arrives in a list and is sorted into the spine when one of the list could be the next.
/// Each entry moves from the one to the other once; what is cancelled before never does.
pub(super) struct Queue {
    arrivals: Arrivals,
    /// Older, where deadlines are equal, than all arrivals.
    spine: Spine,
}

impl Queue {
    pub(super) const fn new() -> Self {
        Queue { arrivals: Arrivals::new(), spine: Spine::new() }
    }

    /// Entries held, also those that no longer stand for an event.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.arrivals.len() + self.spine.len()
    }

    /// Adds an entry after those that have the same deadline.
    #[inline]
    pub(super) fn insert(&mut self, entry: EventRef) {
        self.arrivals.push(entry);
    }

    /// The first of the entries, if its deadline is not after `now`. It may be stale.
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

    /// Shows every entry; equal deadlines in order of adding.
    pub(super) fn for_each(&self, to: &mut dyn FnMut(&EventRef)) {
        self.spine.for_each(to);
        self.arrivals.chunks().flatten().for_each(to);
    }

    /// Keeps what `keep` wants.
    pub(super) fn retain(&mut self, keep: &mut dyn FnMut(&mut EventRef) -> bool) {
        self.spine.retain(keep);
        self.arrivals.retain(keep);
    }

    pub(super) fn heap_size(&self) -> usize {
        self.arrivals.heap_size() + self.spine.heap_size()
    }
}

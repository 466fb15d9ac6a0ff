//! A queue with exact deadlines and a constant cost per event.
//!
//! A heap or a tree is exact, but costs log n per event, mostly in cache misses. A timing wheel is
//! fast, but rounds: events of one tick run in any order at the end of the tick. This schedule uses
//! a wheel for coarse order and sorts few events at a time, as late as possible:
//!
//! ```text
//! add(deadline):  append the event to the arrivals
//! next():         if an arrival may be earlier than all other events, distribute all arrivals:
//!                   the highest byte that differs between deadline and cursor chooses a level,
//!                   the value of that byte chooses a bucket of the level: push the event there
//!                 if the sorted list `near` is not empty: return its first event
//!                 otherwise move the cursor to the first nonempty bucket of the lowest level
//!                   if it holds at most 1,024 events: sort them, they are the new `near`
//!                   otherwise distribute its events again, now to lower levels
//! cancel(id):     empty the slot of the event; its entry in a list or bucket becomes stale
//! ```
//!
//! A deadline has eight bytes, so there are eight levels of 256 buckets, and a bucket of level `l`
//! covers 256^l nanoseconds. The levels cover all 64-bit deadlines. A bitmap per level marks
//! nonempty buckets, so skipping an empty year takes as long as skipping an empty microsecond.
//! There is no tick and no `now`: the cursor moves to the next events, not with time.
//!
//! **Why it is exact.** Events in level `l` agree with the cursor above byte `l` and are greater in
//! that byte. So they come after all events in lower levels, and the buckets of a level are in
//! order. The first bucket of the lowest level therefore holds the earliest events, and these are
//! sorted by their full deadlines. Arrivals are sorted in as soon as one of them may be earlier.
//! Events with equal deadlines are always in the same bucket, because only deadline and cursor
//! determine it, and those among the arrivals are newer. Each list keeps the order of adding, and
//! the sort is stable. The invariants stand at [`spine::Spine`] and are asserted where they could
//! break.
//!
//! **Why it is O(1).** Adding is a push, and an event leaves the arrivals once. Before the events
//! of a bucket are distributed again, the cursor moves to their longest common prefix, so they
//! always separate. An event moves down at most seven times, in practice once or twice, and is
//! sorted once among at most 1,024 events. Cancelling touches only the slot. Stale entries are
//! dropped with their list or bucket, or all at once if there are more of them than events, so each
//! cancellation pays for one. Most timers are cancelled early and are never sorted.
//!
//! Ladder queues (Tang, Goh and Thng, 2005) delay sorting in the same way. The wheel finds buckets
//! by the bits of a deadline, for all deadlines and without reading the events.
//!
//! **How it differs from a wheel.** The cursor is at the next event, which may be a year away when
//! an event for tomorrow is added. A wheel that follows the clock does not have this case. Here the
//! cursor moves back by zeroing its bytes from the first different one. All events sorted below
//! that byte belong to one bucket and are moved there as a stash, without reading the events. When
//! the cursor reaches the bucket again, it restores the stash. So moving back costs only a few
//! pointers. Setting the time back has no effect on the schedule.
//!
//! Up to 512 events are kept in one sorted list. The levels, 8 KiB each, are only allocated for
//! more.
//!
//! Memory: an event with a payload of 8 bytes has a slot of 16 bytes and an entry of 16 bytes.
//! Neither is copied into larger storage, because slots and lists grow and shrink by chunks. Freed
//! chunks go back to the allocator. After 10^7 events glibc keeps all memory resident, because each
//! thread holds small blocks above it. `malloc_trim(0)` returns it to the system.

mod arrivals;
mod bucket;
mod event;
mod iter;
mod level;
mod queue;
mod slab;
mod snapshot;
mod spine;

use bucket::EventRef;
use queue::{Events, Queue};
use slab::{Held, Slab, Tag};

pub use event::{Claim, EventId, Full, Pending};
pub use iter::Iter;
pub use snapshot::Snapshot;

/// The tag of an event that has no deadline.
const IDLE: Tag = Tag::MAX;
/// The tag of the first event, and of all remaining events when the tags are renewed.
const FIRST: Tag = Tag::MIN;
/// The number of stale entries that are kept at any number of events, so that a small schedule is
/// not swept all the time.
const STALE_MIN: usize = 256;

/// Events by deadline, in nanoseconds from an origin that the caller chooses. It has no clock and
/// no threads.
///
/// ```
/// use lanesum_events::Schedule;
///
/// let mut schedule = Schedule::new();
/// let tea = schedule.add(180_000_000_000, "tea is ready")?;
/// let egg = schedule.add(270_000_000_001, "egg is ready")?;
/// schedule.add(180_000_000_000, "stop the music")?;
///
/// assert_eq!(schedule.cancel(egg), Some("egg is ready"));
/// assert_eq!(schedule.cancel(egg), None);
/// assert_eq!(schedule.next_deadline(), Some(180_000_000_000));
/// assert_eq!(schedule.pop_due(179_999_999_999), None);
/// assert_eq!(schedule.pop_due(180_000_000_000), Some((180_000_000_000, tea, "tea is ready")));
/// assert_eq!(schedule.pop_due(u64::MAX).map(|due| due.2), Some("stop the music"));
/// assert!(schedule.is_empty());
/// # Ok::<(), lanesum_events::Full<&str>>(())
/// ```
pub struct Schedule<T> {
    slab: Slab<T>,
    /// An entry for each event with a deadline, and stale entries.
    queue: Queue,
    /// The number of the next addition.
    next_seq: u64,
    next_tag: Tag,
    /// The number of events without a deadline.
    idle: usize,
    /// The number of events that may go before stale entries are counted again.
    patience: usize,
    bound: usize,
}

impl<T> Default for Schedule<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows only the number of pending events. There may be millions, and payloads need not implement
/// [`Debug`](std::fmt::Debug).
impl<T> std::fmt::Debug for Schedule<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schedule").field("pending", &self.len()).finish_non_exhaustive()
    }
}

impl<T> Schedule<T> {
    /// Makes an empty schedule, bounded only by the 2^32 slots of an [`EventId`]. It allocates no
    /// memory.
    pub const fn new() -> Self {
        Self::with_bound(usize::MAX)
    }

    /// Makes an empty schedule for at most `bound` events at a time.
    pub const fn with_bound(bound: usize) -> Self {
        Schedule {
            slab: Slab::new(),
            queue: Queue::new(),
            next_seq: 0,
            next_tag: FIRST,
            idle: 0,
            patience: STALE_MIN / 2,
            bound,
        }
    }

    /// Adds an event that is due at `deadline`, after existing events with the same deadline.
    ///
    /// # Errors
    /// Fails if the bound is reached, and returns the payload.
    #[inline]
    pub fn add(&mut self, deadline: u64, payload: T) -> Result<EventId, Full<T>> {
        let tag = self.new_tag();
        let id = self.put(tag, payload)?;
        self.queue.insert(EventRef::new(deadline, id.slot, tag));
        Ok(id)
    }

    /// Adds an event without a deadline. [`reschedule`](Self::reschedule) sets one. Until then it
    /// counts towards the bound, but is not pending.
    ///
    /// # Errors
    /// Fails if the bound is reached, and returns the payload.
    pub fn add_idle(&mut self, payload: T) -> Result<EventId, Full<T>> {
        let id = self.put(IDLE, payload)?;
        self.idle += 1;
        Ok(id)
    }

    #[inline]
    fn put(&mut self, tag: Tag, payload: T) -> Result<EventId, Full<T>> {
        if self.slab.len() >= self.bound {
            return Err(Full(payload));
        }
        let seq = [(self.next_seq >> 32) as u32, self.next_seq as u32];
        let slot = self.slab.insert(seq, tag, payload).map_err(Full)?;
        self.next_seq += 1;
        Ok(EventId { seq, slot })
    }

    /// Returns a tag that no entry has.
    #[inline]
    fn new_tag(&mut self) -> Tag {
        if self.next_tag == IDLE {
            self.renew_tags();
        }
        let tag = self.next_tag;
        self.next_tag = tag.saturating_add(1);
        tag
    }

    /// Once in 2^32 additions: removes every stale entry, so that all remaining ones can share a
    /// tag.
    #[cold]
    fn renew_tags(&mut self) {
        self.sweep();
        self.slab.all_mut().filter(|held| held.tag != IDLE).for_each(|held| held.tag = FIRST);
        self.queue.retain(&mut |entry| {
            *entry = entry.with_tag(FIRST);
            true
        });
        self.next_tag = FIRST.saturating_add(1);
    }

    /// Removes an event, pending or idle, and returns its payload. Returns `None` for an unknown
    /// id.
    #[inline]
    pub fn cancel(&mut self, id: EventId) -> Option<T> {
        let (_, held) = self.slab.take_if(id.slot, |seq, _| seq == id.seq)?;
        if held.tag == IDLE {
            self.idle -= 1;
        } else {
            self.one_less();
        }
        Some(held.payload)
    }

    /// Moves an event to another deadline, after existing events with that deadline. An idle event
    /// becomes pending. Returns false for an unknown id.
    pub fn reschedule(&mut self, id: EventId, deadline: u64) -> bool {
        let new_tag = self.new_tag();
        let Some((seq, held)) = self.slab.at_mut(id.slot) else { return false };
        if seq != id.seq {
            return false;
        }
        let was_idle = std::mem::replace(&mut held.tag, new_tag) == IDLE;
        self.queue.insert(EventRef::new(deadline, id.slot, new_tag));
        if was_idle {
            self.idle -= 1;
        } else {
            self.one_less();
        }
        true
    }

    /// Keeps the number of stale entries below that of events. Call it when an entry becomes stale,
    /// or when the event of an entry is removed.
    #[inline]
    fn one_less(&mut self) {
        self.patience -= 1;
        if self.patience == 0 {
            self.limit_stale();
        }
    }

    /// Drops the stale entries if there are as many as events. Each cancellation then pays a
    /// constant share. Otherwise this cannot happen before half of the difference is gone.
    #[cold]
    fn limit_stale(&mut self) {
        let most = 2 * self.len() + STALE_MIN;
        if self.queue.len() >= most {
            self.sweep();
        }
        self.patience = (most - self.queue.len()).div_ceil(2);
    }

    #[cold]
    fn sweep(&mut self) {
        let slab = &self.slab;
        self.queue.retain(&mut |entry| slab.is_current(entry));
        debug_assert_eq!(self.queue.len(), self.len(), "entries and pending events differ");
    }

    /// Returns the earliest deadline. Takes `&mut self` because it may sort events.
    #[inline]
    pub fn next_deadline(&mut self) -> Option<u64> {
        Some(self.front(u64::MAX)?.deadline)
    }

    /// Returns the first entry of an event, if it is due.
    fn front(&mut self, now: u64) -> Option<EventRef> {
        loop {
            let first = self.queue.first_due(now, &self.slab)?;
            if self.slab.is_current(&first) {
                return Some(first);
            }
            self.queue.pop_front();
        }
    }

    /// Returns the deadline and the payload of the first event if it is due at `now`.
    pub fn peek_due(&mut self, now: u64) -> Option<(u64, &T)> {
        let entry = self.front(now)?;
        let (_, held) = self.slab.at(entry.slot())?;
        Some((entry.deadline, &held.payload))
    }

    /// Removes the first event if it is due at `now`, and returns its deadline, id and payload.
    /// Earlier deadlines come first, and equal ones in order of adding.
    #[inline]
    pub fn pop_due(&mut self, now: u64) -> Option<(u64, EventId, T)> {
        loop {
            let entry = self.queue.first_due(now, &self.slab)?;
            self.queue.pop_front();
            let slot = entry.slot();
            if let Some((seq, held)) = self.slab.take_if(slot, |_, tag| entry.has_tag(tag.get())) {
                self.one_less();
                return Some((entry.deadline, EventId { seq, slot }, held.payload));
            }
        }
    }

    /// Claims the first event if it is due at `now`. Unlike with [`pop_due`](Self::pop_due) the
    /// event stays in the schedule, idle, until it is cancelled or rescheduled.
    pub fn claim_due(&mut self, now: u64) -> Option<Claim<'_, T>> {
        let entry = self.front(now)?;
        self.queue.pop_front();
        self.idle += 1;
        self.one_less();
        let slot = entry.slot();
        let (seq, held) = self.slab.at_mut(slot)?;
        held.tag = IDLE;
        let id = EventId { seq, slot };
        Some(Claim { id, deadline: entry.deadline, payload: &mut held.payload })
    }

    /// Returns the deadline, the id and the payload of the first event, due or not.
    pub fn peek(&mut self) -> Option<(u64, EventId, &T)> {
        let entry = self.front(u64::MAX)?;
        let slot = entry.slot();
        let (seq, held) = self.slab.at(slot)?;
        Some((entry.deadline, EventId { seq, slot }, &held.payload))
    }

    /// Removes all events, pending and idle. Their ids stay unused.
    ///
    /// ```
    /// use lanesum_events::Schedule;
    ///
    /// let mut schedule = Schedule::new();
    /// let id = schedule.add(7, 'a')?;
    /// assert_eq!(schedule.peek(), Some((7, id, &'a')));
    /// assert!(schedule.capacity() >= 1);
    /// schedule.clear();
    /// schedule.add(7, 'b')?;
    /// assert_eq!(schedule.cancel(id), None);
    /// # Ok::<(), lanesum_events::Full<char>>(())
    /// ```
    pub fn clear(&mut self) {
        let slab = std::mem::replace(&mut self.slab, Slab::new());
        self.queue = Queue::new();
        self.idle = 0;
        self.patience = STALE_MIN / 2;
        // Last, because the drop of a payload can panic.
        drop(slab);
    }

    /// Returns the number of events for which slots are allocated.
    pub fn capacity(&self) -> usize {
        self.slab.capacity()
    }

    /// Returns the payload of a pending or idle event.
    pub fn get(&self, id: EventId) -> Option<&T> {
        Some(&self.held(id)?.payload)
    }

    fn held(&self, id: EventId) -> Option<&Held<T>> {
        let (seq, held) = self.slab.at(id.slot)?;
        (seq == id.seq).then_some(held)
    }

    /// Returns the payload of a pending or idle event by mutable reference.
    pub fn get_mut(&mut self, id: EventId) -> Option<&mut T> {
        let (seq, held) = self.slab.at_mut(id.slot)?;
        (seq == id.seq).then_some(&mut held.payload)
    }

    /// Returns whether the event waits for its deadline.
    pub fn is_pending(&self, id: EventId) -> bool {
        self.held(id).is_some_and(|held| held.tag != IDLE)
    }

    /// Returns the number of events that wait for their deadlines.
    pub fn len(&self) -> usize {
        self.slab.len() - self.idle
    }

    /// Returns whether no event waits for its deadline.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of events without a deadline.
    pub fn idle(&self) -> usize {
        self.idle
    }

    /// Returns the number of allocated bytes.
    pub fn heap_size(&self) -> usize {
        self.slab.heap_size() + self.queue.heap_size()
    }

    /// Returns the pending events in the order in which they will be popped. The call takes O(n log
    /// n).
    pub fn iter(&self) -> Iter<'_, T> {
        Iter::new(self)
    }
}

impl<T> Events for Slab<T> {
    #[inline]
    fn is_current(&self, entry: &EventRef) -> bool {
        entry.has_tag(self.tag(entry.slot()))
    }
}

#[cfg(test)]
mod tests;

//! Exact deadlines, and a cost per event that does not grow with their number.
//!
//! A heap or a tree is exact and pays log n, most of it in cache misses. A timing wheel is fast and
//! rounds: what falls into one of its ticks runs in any order, at the end of it. Here a wheel does
//! the coarse work and a sort the fine, on a few events at a time, and no sooner than it must:
//!
//! ```text
//! add(deadline):     append the event to the arrivals
//! next():            if an arrival may come before all others, sort the arrivals in, each thus:
//!                      the highest byte in which its deadline differs from the cursor names a
//!                      level, and the value of that byte a bucket: push it there
//!                    near, the open stretch of time, is not empty: its first
//!                    else move the cursor to the first bucket of the lowest level that has one,
//!                      and if it holds few events (1,024): sort them; they are near
//!                      else: sort in each again; it goes to a lower level now
//! cancel(id):        empty the slot of the event; its entry in a list or bucket goes stale
//! ```
//!
//! A deadline has eight bytes, so there are eight levels of 256 buckets, and bucket `b` of level
//! `l` is a stretch of 256^l nanoseconds. All of 64 bits is covered: 1 ns or 500 years need no list
//! of their own. A bitmap per level says which buckets hold something, so it takes the same time to
//! pass over an empty year as over an empty microsecond. There is no tick, and no `now`: the cursor
//! moves to where events are, not with time.
//!
//! **Why it is exact.** Whatever is in level `l` agrees with the cursor above byte `l` and is
//! greater in it; so it comes after all that is in lower levels, and the buckets of a level are in
//! order of their numbers. The first bucket of the lowest level therefore holds the earliest
//! events, and they are sorted by their full deadlines. Arrivals are asked for as soon as the
//! earliest deadline among them is before that. Equal deadlines are in the same bucket at any time,
//! since nothing but deadline and cursor decides on it, and those among the arrivals are younger;
//! each list keeps its order of adding, sorting in all of one keeps it, and the sort is stable. The
//! invariants stand at [`spine::Spine`] and are asserted where they could break.
//!
//! **Why it is O(1).** Adding is a push. An event leaves the arrivals once. Before the events of a
//! bucket are sorted in again the cursor goes to their longest common prefix, so that they do
//! separate; an event moves down at most seven times, in practice once or twice, and is sorted once
//! among at most 1,024. Cancelling touches the slot. Stale entries are dropped when their list or
//! bucket comes up, or all at once as soon as there are more of them than events: each cancellation
//! pays for one. What is cancelled in good time, as most timers are, was never sorted in at all.
//!
//! Putting events off like this is known from ladder queues (Tang, Goh and Thng, 2005); a wheel
//! adds that buckets are found by bits of the deadline, for all of time and without looking at the
//! events.
//!
//! **Where it deviates from a wheel.** The cursor stands at the next event, which may be a year
//! away, and then something is added for tomorrow. A wheel whose hand follows the clock never sees
//! this; one that looks ahead must go back. The cursor turns back by zeroing its bytes from the one
//! that differs: what was sorted out below that byte belongs to one bucket, and is laid into it as
//! it is, a stash, without looking at the events. When the cursor comes there again it takes the
//! stash up. So a schedule that always looks ahead, as one that sleeps exactly must, pays for it
//! with a few pointers. It is the same when time is set back: nothing happens at all.
//!
//! Few events (512) stand in one sorted line, which is near without end; the levels, 8 KiB each,
//! are only made for more.
//!
//! Memory: an event with a payload of 8 bytes has a slot of 16 and an entry of 16. Neither is ever
//! copied into larger storage: slots and lists grow by chunks, and give them back by chunks. They
//! go to the allocator; what that keeps is its own affair. Of 10^7 events that are all gone glibc
//! keeps everything resident, since small pieces, which each thread holds on to, lie above it;
//! `malloc_trim(0)` returns it to the last megabyte, for those who need that.

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
/// The tag of the first event, and of all that are left when the tags are renewed.
const FIRST: Tag = Tag::MIN;
/// Stale entries that are kept whatever the number of events, so that a small schedule is not swept
/// all the time.
const STALE_MIN: usize = 256;

/// Events by deadline, in nanoseconds from an origin of the caller's choice. No clock, no threads.
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
    /// An entry for each event that has a deadline, and stale ones.
    queue: Queue,
    /// The number of the next addition.
    next_seq: u64,
    next_tag: Tag,
    /// Events without a deadline.
    idle: usize,
    /// So many events may go before stale entries are counted.
    patience: usize,
    bound: usize,
}

impl<T> Default for Schedule<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows how many are pending: there may be millions, and payloads need not be
/// [`Debug`](std::fmt::Debug).
impl<T> std::fmt::Debug for Schedule<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schedule").field("pending", &self.len()).finish_non_exhaustive()
    }
}

impl<T> Schedule<T> {
    /// An empty schedule without a bound (but for the 2^32 slots an [`EventId`] can name). It
    /// allocates nothing yet.
    pub const fn new() -> Self {
        Self::with_bound(usize::MAX)
    }

    /// A schedule in which at most `bound` events may have a slot at a time.
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

    /// Adds an event that is due at `deadline`, after those that are due at the same time.
    ///
    /// # Errors
    /// Gives the payload back when the bound is reached.
    #[inline]
    pub fn add(&mut self, deadline: u64, payload: T) -> Result<EventId, Full<T>> {
        let tag = self.new_tag();
        let id = self.put(tag, payload)?;
        self.queue.insert(EventRef::new(deadline, id.slot, tag));
        Ok(id)
    }

    /// Adds an event that has no deadline until [`reschedule`](Self::reschedule) gives it one. It
    /// counts towards the bound, but is not pending.
    ///
    /// # Errors
    /// Gives the payload back when the bound is reached.
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

    /// A tag that no entry has.
    #[inline]
    fn new_tag(&mut self) -> Tag {
        if self.next_tag == IDLE {
            self.renew_tags();
        }
        let tag = self.next_tag;
        self.next_tag = tag.saturating_add(1);
        tag
    }

    /// Once in 2^32 additions: with every stale entry gone, all present ones can share a tag.
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

    /// Takes an event out, idle ones too. `None` if the id names nothing here any more.
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

    /// Moves an event to another deadline, after those that are due then; an idle one becomes
    /// pending. False if the id names nothing here any more.
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

    /// To be called when an entry has gone stale, or the event of one has gone: keeps the stale
    /// ones fewer than the events.
    #[inline]
    fn one_less(&mut self) {
        self.patience -= 1;
        if self.patience == 0 {
            self.limit_stale();
        }
    }

    /// Drops the stale entries if there are as many as events: then each cancellation has paid for
    /// a constant share of this. Otherwise they cannot be before half of the difference has gone.
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

    /// The earliest deadline. (It may sort out events on the way, hence `&mut`.)
    #[inline]
    pub fn next_deadline(&mut self) -> Option<u64> {
        Some(self.front(u64::MAX)?.deadline)
    }

    /// The first entry that stands for an event, if it is due.
    fn front(&mut self, now: u64) -> Option<EventRef> {
        loop {
            let first = self.queue.first_due(now, &self.slab)?;
            if self.slab.is_current(&first) {
                return Some(first);
            }
            self.queue.pop_front();
        }
    }

    /// The first event, as it stands, if it is due at `now`.
    pub fn peek_due(&mut self, now: u64) -> Option<(u64, &T)> {
        let entry = self.front(now)?;
        let (_, held) = self.slab.at(entry.slot())?;
        Some((entry.deadline, &held.payload))
    }

    /// Takes out the first event if it is due at `now`: the deadline, the id, the payload. Earlier
    /// deadlines come first, equal ones in order of adding.
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

    /// As [`pop_due`](Self::pop_due), but the event stays here, idle, under its id: until it is
    /// done and cancelled, or rescheduled.
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

    /// The payload of an event that is here, pending or idle.
    pub fn get(&self, id: EventId) -> Option<&T> {
        Some(&self.held(id)?.payload)
    }

    fn held(&self, id: EventId) -> Option<&Held<T>> {
        let (seq, held) = self.slab.at(id.slot)?;
        (seq == id.seq).then_some(held)
    }

    /// As [`get`](Self::get), to change it.
    pub fn get_mut(&mut self, id: EventId) -> Option<&mut T> {
        let (seq, held) = self.slab.at_mut(id.slot)?;
        (seq == id.seq).then_some(&mut held.payload)
    }

    /// Whether the event waits for its deadline.
    pub fn is_pending(&self, id: EventId) -> bool {
        self.held(id).is_some_and(|held| held.tag != IDLE)
    }

    /// How many events wait for their deadlines.
    pub fn len(&self) -> usize {
        self.slab.len() - self.idle
    }

    /// Whether no event waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many events are held without a deadline.
    pub fn idle(&self) -> usize {
        self.idle
    }

    /// How many bytes it has allocated.
    pub fn heap_size(&self) -> usize {
        self.slab.heap_size() + self.queue.heap_size()
    }

    /// The pending events, in the order in which they will be popped. Takes O(n log n) at once.
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

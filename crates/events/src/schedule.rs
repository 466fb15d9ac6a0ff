//! Exact deadlines, and a cost per event that does not grow with their number.
//!
//! A heap or a tree is exact and pays log n, most of it in cache misses. A timing wheel is fast and
//! rounds: what falls into one of its ticks runs in any order, at the end of it. Here a wheel does
//! the coarse work and a sort the fine, and only ever on a few events at once:
//!
//! ```text
//! add(deadline):     the highest byte in which it differs from the cursor names a level, and the
//!                    value of that byte a bucket: push the event there
//! next():            near, the open stretch of time, is not empty: its first
//!                    else move the cursor to the first bucket of the lowest level that has one, and
//!                      if it holds few events (1,024): sort them; they are near
//!                      else: add each again; it goes to a lower level now
//! cancel(id):        empty the slot of the event; its entry in the bucket goes stale
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
//! events, and they are sorted by their full deadlines. Equal deadlines are in the same bucket at
//! any time, since nothing but deadline and cursor decides on it; each bucket keeps its order of
//! adding, adding all of a bucket again keeps it, and the sort is stable. The invariants stand at
//! [`wheel::Spine`] and are asserted where they could break.
//!
//! **Why it is O(1).** Adding takes an exclusive or and a push. Before the events of a bucket are
//! added again the cursor goes to their longest common prefix, so that they do separate; an event
//! moves down at most seven times, in practice once or twice, and is sorted once among at most
//! 1,024. Cancelling touches the slot. Stale entries are dropped when their bucket comes up, or all
//! at once as soon as there are more of them than events: each cancellation pays for one.
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
//! copied into larger storage: slots and buckets grow by chunks, and give them back by chunks.

mod bucket;
mod iter;
mod slab;
mod snapshot;
mod wheel;

use bucket::Entry;
use slab::{Label, Slab, Tag};
use wheel::{Events, Spine};

pub use iter::{Iter, Pending};
pub use snapshot::Snapshot;

/// The name of one event. No two additions to the same schedule ever get the same one: it holds the
/// number of the addition, which has 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId {
    /// In halves, so that an id takes 12 bytes.
    seq: [u32; 2],
    slot: u32,
}

impl EventId {
    #[inline]
    fn new(seq: u64, slot: u32) -> Self {
        EventId { seq: [(seq >> 32) as u32, seq as u32], slot }
    }

    #[inline]
    fn seq(self) -> u64 {
        u64::from(self.seq[0]) << 32 | u64::from(self.seq[1])
    }
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

/// An event whose time has come and that still has its id: see [`Schedule::claim_due`].
#[derive(Debug)]
pub struct Claim<'a, T> {
    /// Its id, valid until it is cancelled.
    pub id: EventId,
    /// The time it was due, in nanoseconds.
    pub deadline: u64,
    /// What it carries.
    pub payload: &'a mut T,
}

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
    spine: Spine,
    /// The number of the next addition.
    next_seq: u64,
    next_tag: Tag,
    /// Events that have a deadline.
    armed: usize,
    /// Entries of the spine that no longer stand for an event.
    stale: usize,
    bound: usize,
}

impl<T> Default for Schedule<T> {
    fn default() -> Self {
        Self::new()
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
            spine: Spine::new(),
            next_seq: 0,
            next_tag: FIRST,
            armed: 0,
            stale: 0,
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
        self.armed += 1;
        self.spine.insert(Entry::new(deadline, id.slot, tag));
        Ok(id)
    }

    /// Adds an event that has no deadline until [`reschedule`](Self::reschedule) gives it one. It
    /// counts towards the bound, but is not pending.
    ///
    /// # Errors
    /// Gives the payload back when the bound is reached.
    pub fn add_idle(&mut self, payload: T) -> Result<EventId, Full<T>> {
        self.put(IDLE, payload)
    }

    #[inline]
    fn put(&mut self, tag: Tag, payload: T) -> Result<EventId, Full<T>> {
        if self.slab.len() >= self.bound {
            return Err(Full(payload));
        }
        let seq = self.next_seq;
        let slot = self.slab.insert(Label { seq, tag }, payload).map_err(Full)?;
        self.next_seq += 1;
        Ok(EventId::new(seq, slot))
    }

    /// A tag that no entry of the spine has.
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
        self.slab.tags_mut().filter(|tag| **tag != IDLE).for_each(|tag| *tag = FIRST);
        self.spine.retain(&mut |entry| {
            *entry = entry.with_tag(FIRST);
            true
        });
        self.next_tag = FIRST.saturating_add(1);
    }

    /// Takes an event out, idle ones too. `None` if the id names nothing here any more.
    #[inline]
    pub fn cancel(&mut self, id: EventId) -> Option<T> {
        let (label, payload) = self.slab.remove_if(id.slot, |label| label.seq == id.seq())?;
        if label.tag != IDLE {
            self.armed -= 1;
            self.gone_stale();
        }
        Some(payload)
    }

    /// Moves an event to another deadline, after those that are due then; an idle one becomes
    /// pending. False if the id names nothing here any more.
    pub fn reschedule(&mut self, id: EventId, deadline: u64) -> bool {
        let new_tag = self.new_tag();
        let Some((_, tag, _)) = self.slab.get_mut(id.slot).filter(|slot| slot.0 == id.seq()) else {
            return false;
        };
        let before = std::mem::replace(tag, new_tag);
        self.spine.insert(Entry::new(deadline, id.slot, new_tag));
        if before == IDLE {
            self.armed += 1;
        } else {
            self.gone_stale();
        }
        true
    }

    #[inline]
    fn gone_stale(&mut self) {
        self.stale += 1;
        if self.stale > self.armed + STALE_MIN {
            self.sweep();
        }
    }

    /// Drops the stale entries. They were as many as the events, so each cancellation has paid for
    /// a constant share of this.
    #[cold]
    fn sweep(&mut self) {
        let slab = &self.slab;
        self.spine.retain(&mut |entry| slab.is_current(entry));
        self.stale = 0;
        debug_assert_eq!(self.spine.len(), self.armed, "entries and pending events differ");
    }

    /// The earliest deadline. (It may sort out events on the way, hence `&mut`.)
    #[inline]
    pub fn next_deadline(&mut self) -> Option<u64> {
        Some(self.front()?.deadline)
    }

    #[inline]
    fn front(&mut self) -> Option<Entry> {
        self.spine.front(&mut self.stale, &self.slab)
    }

    /// The first event, as it stands, if it is due at `now`.
    pub fn peek_due(&mut self, now: u64) -> Option<(u64, &T)> {
        let entry = self.front().filter(|entry| entry.deadline <= now)?;
        let (_, payload) = self.slab.get(entry.slot())?;
        Some((entry.deadline, payload))
    }

    /// Takes out the first event if it is due at `now`: the deadline, the id, the payload. Earlier
    /// deadlines come first, equal ones in order of adding.
    #[inline]
    pub fn pop_due(&mut self, now: u64) -> Option<(u64, EventId, T)> {
        let entry = self.front().filter(|entry| entry.deadline <= now)?;
        self.spine.pop_front();
        let (Label { seq, .. }, payload) = self.slab.remove_if(entry.slot(), |_| true)?;
        self.armed -= 1;
        Some((entry.deadline, EventId::new(seq, entry.slot()), payload))
    }

    /// As [`pop_due`](Self::pop_due), but the event stays here, idle, under its id: until it is
    /// done and cancelled, or rescheduled.
    pub fn claim_due(&mut self, now: u64) -> Option<Claim<'_, T>> {
        let entry = self.front().filter(|entry| entry.deadline <= now)?;
        self.spine.pop_front();
        self.armed -= 1;
        let (seq, tag, payload) = self.slab.get_mut(entry.slot())?;
        *tag = IDLE;
        let id = EventId::new(seq, entry.slot());
        Some(Claim { id, deadline: entry.deadline, payload })
    }

    /// The payload of an event that is here, pending or idle.
    pub fn get(&self, id: EventId) -> Option<&T> {
        self.slab
            .get(id.slot)
            .filter(|(label, _)| label.seq == id.seq())
            .map(|(_, payload)| payload)
    }

    /// As [`get`](Self::get), to change it.
    pub fn get_mut(&mut self, id: EventId) -> Option<&mut T> {
        self.slab.get_mut(id.slot).filter(|slot| slot.0 == id.seq()).map(|slot| slot.2)
    }

    /// Whether the event waits for its deadline.
    pub fn is_pending(&self, id: EventId) -> bool {
        let label = self.slab.get(id.slot).map(|(label, _)| label);
        label.is_some_and(|label| label.seq == id.seq() && label.tag != IDLE)
    }

    /// How many events wait for their deadlines.
    pub fn len(&self) -> usize {
        self.armed
    }

    /// Whether no event waits.
    pub fn is_empty(&self) -> bool {
        self.armed == 0
    }

    /// How many events are held without a deadline.
    pub fn idle(&self) -> usize {
        self.slab.len() - self.armed
    }

    /// How many bytes it has allocated.
    pub fn heap_size(&self) -> usize {
        self.slab.heap_size() + self.spine.heap_size()
    }

    /// The pending events, in the order in which they will be popped. Takes O(n log n) at once.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter::new(self)
    }
}

impl<T> Events for Slab<T> {
    #[inline]
    fn may_be_current(&self, entry: &Entry) -> bool {
        self.is_live(entry.slot())
    }

    #[inline]
    fn is_current(&self, entry: &Entry) -> bool {
        self.tag(entry.slot()).is_some_and(|tag| entry.has_tag(tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In the middle of an era, and of the tags, an event is there from before; then both wrap.
    #[test]
    fn names_stay_apart_where_counters_wrap() {
        let mut schedule = Schedule::new();
        let early = schedule.add(1_000_000, u64::MAX).unwrap();
        schedule.next_seq = (1 << 32) - 5_000;
        schedule.next_tag = Tag::new(u32::MAX - 7_000).unwrap();
        let mut ids = vec![early];
        let mut gone = Vec::new();
        for n in 0..10_000 {
            ids.push(schedule.add(n % 1_000, n).unwrap());
            if n % 3 == 0 {
                let id = ids.swap_remove(n as usize % ids.len());
                assert!(schedule.cancel(id).is_some());
                gone.push(id);
            }
            if n % 5 == 0 {
                assert!(schedule.reschedule(ids[n as usize % ids.len()], n % 777));
            }
        }
        assert!(schedule.next_seq > 1 << 32 && schedule.next_tag.get() < 10_000);
        let mut all: Vec<_> = ids.iter().chain(&gone).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), ids.len() + gone.len(), "two additions have the same id");
        assert!(gone.iter().all(|&id| schedule.get(id).is_none() && !schedule.reschedule(id, 0)));
        assert_eq!(schedule.len(), ids.len());
        let mut popped: Vec<_> = std::iter::from_fn(|| schedule.pop_due(u64::MAX)).collect();
        assert!(popped.is_sorted_by_key(|due| due.0));
        popped.sort_by_key(|due| due.1);
        ids.sort();
        assert!(popped.iter().map(|due| due.1).eq(ids));
    }

    /// A stale entry whose slot has been used again must not stand for the new event.
    #[test]
    fn a_stale_entry_does_not_come_alive() {
        let mut schedule = Schedule::new();
        let first = schedule.add(10, 'a').unwrap();
        schedule.cancel(first);
        let second = schedule.add(20, 'b').unwrap();
        assert_eq!(first.slot, second.slot);
        assert_eq!(schedule.pop_due(15), None);
        // To and fro: the entry at 20 is stale, although the event is there again.
        assert!(schedule.reschedule(second, 5) && schedule.reschedule(second, 20));
        assert_eq!(schedule.pop_due(5), None);
        assert_eq!(schedule.next_deadline(), Some(20));
        assert_eq!(schedule.pop_due(20), Some((20, second, 'b')));
        assert_eq!(schedule.pop_due(u64::MAX), None);
        assert_eq!((schedule.stale, schedule.spine.len()), (0, 0));
    }
}

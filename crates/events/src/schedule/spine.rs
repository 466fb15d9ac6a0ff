//! The spine, which orders the entries: levels of buckets, relative to a cursor.

use std::collections::VecDeque;

use super::bucket::{Bucket, CHUNK, EventRef};
use super::level::{LEVELS, Level, digit, prefix, stretch, width};
use super::queue::Events;

/// The largest bucket that is sorted when the cursor reaches it. A larger one is first distributed
/// over the level below.
const SORT: usize = 1024;
/// The largest number of entries near the cursor. More are distributed, unless all are due at once.
const NEAR: usize = 4 * SORT;
/// The largest total number of entries that are kept in one sorted list. It is far below `NEAR`, so
/// that a schedule does not alternate between the two forms.
const GATHER: usize = SORT / 2;
/// The largest bucket whose entries are looked up in the slab to drop stale ones. Its cache lines
/// are still in the cache when the events are popped. Larger buckets are distributed unchecked.
const FILTER: usize = 4096;
/// The look-ups of one chunk fit into the bits of a word.
const _: () = assert!(CHUNK <= 64);
/// The largest number of entries that are moved one by one when the cursor moves back. More are
/// moved as a stash.
const FLATTEN: usize = 512;

/// See the documentation of [`super`]. The invariants, for a cursor `c` and the width `w` of the
/// open range:
///
/// 1. `near` holds exactly the entries whose deadline differs from `c` in the lowest `w` digits
///    only. They are sorted by deadline, then by order of adding. No deadline lies before this
///    range.
/// 2. All levels below `w` are empty.
/// 3. An entry in bucket `b` of level `l` agrees with `c` in every digit above `l`, and its digit
///    `l` is `b`, which is greater than that of `c`.
pub(super) struct Spine {
    cursor: u64,
    width: u32,
    near: VecDeque<EventRef>,
    levels: [Option<Box<Level>>; LEVELS as usize],
    len: usize,
}

impl Spine {
    /// Makes an empty spine whose open range is all of time.
    pub(super) const fn new() -> Self {
        Spine {
            cursor: 0,
            width: LEVELS,
            near: VecDeque::new(),
            levels: [const { None }; LEVELS as usize],
            len: 0,
        }
    }

    /// The number of entries, including stale ones.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds an entry after those with the same deadline.
    #[inline]
    pub(super) fn insert(&mut self, entry: EventRef) {
        self.len += 1;
        self.place(entry);
    }

    /// Inserts an entry that `len` already counts.
    #[inline]
    fn place(&mut self, entry: EventRef) {
        let width = width(entry.deadline ^ self.cursor);
        if width <= self.width {
            self.place_near(entry);
        } else {
            if entry.deadline < self.cursor {
                self.turn_back(width - 1);
                return self.place(entry);
            }
            self.place_far(entry, width - 1);
        }
    }

    #[inline]
    fn place_far(&mut self, entry: EventRef, level: u32) {
        let index = digit(entry.deadline, level);
        debug_assert!(
            prefix(entry.deadline, level + 1) == prefix(self.cursor, level + 1)
                && index > digit(self.cursor, level),
            "level {level}, bucket {index}: {entry:?} is not for a cursor at {:#x}",
            self.cursor,
        );
        self.level(level).fill(index).push(entry);
    }

    #[inline]
    fn level(&mut self, level: u32) -> &mut Level {
        self.levels[level as usize].get_or_insert_with(Level::new)
    }

    fn place_near(&mut self, entry: EventRef) {
        if self.near.back().is_none_or(|last| last.deadline <= entry.deadline) {
            self.near.push_back(entry);
        } else {
            let after = self.near.partition_point(|other| other.deadline <= entry.deadline);
            self.near.insert(after, entry);
        }
        if self.near.len() > NEAR && self.width > 0 {
            self.distribute();
        }
    }

    /// Moves the cursor back by zeroing the digits from `level` down. The contents of the levels
    /// below it and of the open range move into the one bucket that they belong to.
    #[cold]
    fn turn_back(&mut self, level: u32) {
        let index = digit(self.cursor, level);
        let mut below = Spine { cursor: self.cursor, width: self.width, ..Spine::new() };
        below.near = std::mem::take(&mut self.near);
        below.len = below.near.len();
        for lower in 0..level as usize {
            below.levels[lower] = self.levels[lower].take().filter(|level| !level.is_empty());
            if let Some(level) = &below.levels[lower] {
                below.len += level.buckets().map(Bucket::len).sum::<usize>();
            }
        }
        self.cursor = prefix(self.cursor, level + 1);
        self.width = 0;
        if below.len > FLATTEN {
            self.level(level).fill(index).set_stash(Box::new(below));
        } else {
            below.drain(&mut |entry| self.place_far(entry, level));
        }
    }

    /// Returns the first entry of the open range, if any. There may be other entries if it is
    /// empty.
    #[inline]
    pub(super) fn front(&self) -> Option<EventRef> {
        self.near.front().copied()
    }

    #[inline]
    pub(super) fn pop_front(&mut self) {
        if self.near.pop_front().is_some() {
            self.len -= 1;
        }
    }

    /// Sets the cursor of an empty spine for a number of entries to insert.
    pub(super) fn prepare<'a>(
        &mut self,
        count: usize,
        parts: impl Iterator<Item = &'a [EventRef]>,
    ) {
        debug_assert_eq!(self.len, 0, "the spine is in use");
        *self = Spine::new();
        if count > GATHER {
            self.anchor(parts);
        }
    }

    /// Opens the range of the first bucket when the open range is empty. Only current entries are
    /// moved to the open range, which may stay empty.
    #[inline(never)]
    pub(super) fn open_next(&mut self, events: &impl Events) {
        debug_assert!(self.near.is_empty(), "the open stretch is not exhausted");
        if self.len <= GATHER {
            return self.gather(events);
        }
        let (level, index) = self.first_bucket();
        let mut bucket = self.take(level, index);
        let stretch = stretch(self.cursor, level, index);
        debug_assert!(stretch > self.cursor, "the cursor stands still at {stretch:#x}");
        self.cursor = stretch;
        self.width = 0;
        if let Some(stash) = bucket.take_stash() {
            self.restore(*stash, level);
            bucket.into_chunks().flatten().for_each(|entry| self.place(entry));
            return;
        }
        let before = bucket.len();
        if before > FILTER {
            self.anchor(bucket.chunks());
            bucket.into_chunks().flatten().for_each(|entry| self.place(entry));
            return;
        }
        for chunk in bucket.into_chunks() {
            events.current(&chunk, |entry| self.near.push_back(entry));
        }
        self.len -= before - self.near.len();
        if self.near.len() <= SORT {
            self.width = level;
            self.sort_near();
        } else {
            self.distribute();
        }
    }

    /// Equal deadlines stay in order of adding.
    #[inline(never)]
    fn sort_near(&mut self) {
        self.near.make_contiguous().sort_by_key(|entry| entry.deadline);
    }

    /// Makes all of time the open range again when few entries are left.
    fn gather(&mut self, events: &impl Events) {
        let all = std::mem::replace(self, Spine::new());
        all.drain(&mut |entry| {
            if events.is_current(&entry) {
                self.near.push_back(entry);
            }
        });
        self.sort_near();
        self.len = self.near.len();
    }

    /// Distributes the entries of the open range over the levels.
    fn distribute(&mut self) {
        let near = std::mem::take(&mut self.near);
        let (front, back) = near.as_slices();
        self.anchor([front, back].into_iter());
        near.into_iter().for_each(|entry| self.place(entry));
    }

    /// Sets the cursor to the longest common prefix of the entries in the open range. So each
    /// distribution separates some of them, or finds that all are due at once.
    fn anchor<'a>(&mut self, parts: impl Iterator<Item = &'a [EventRef]>) {
        let mut parts = parts.filter(|part| !part.is_empty()).peekable();
        let Some(first) = parts.peek().map(|part| part[0].deadline) else { return };
        let differs = |all, entry: &EventRef| all | (entry.deadline ^ first);
        let difference = parts.fold(0, |all, part| part.iter().fold(all, differs));
        self.cursor = prefix(first, width(difference));
        self.width = 0;
    }

    fn restore(&mut self, stash: Spine, level: u32) {
        self.cursor = stash.cursor;
        self.width = stash.width;
        self.near = stash.near;
        for (mine, its) in self.levels.iter_mut().zip(stash.levels).take(level as usize) {
            debug_assert!(mine.as_ref().is_none_or(|level| level.is_empty()));
            if its.is_some() {
                *mine = its;
            }
        }
    }

    fn first_bucket(&self) -> (u32, usize) {
        let found = self
            .levels
            .iter()
            .enumerate()
            .find_map(|(number, level)| Some((number as u32, level.as_ref()?.first()?)));
        let Some(found) = found else { unreachable!("{} entries are in no bucket", self.len) };
        found
    }

    fn take(&mut self, level: u32, index: usize) -> Bucket {
        let Some(level) = &mut self.levels[level as usize] else {
            unreachable!("bucket {index} was found in level {level}")
        };
        level.take(index)
    }

    /// Passes on every entry: buckets in order of time, and within a bucket in order of adding.
    fn drain(self, to: &mut dyn FnMut(EventRef)) {
        self.near.into_iter().for_each(&mut *to);
        for mut level in self.levels.into_iter().flatten() {
            while let Some(index) = level.first() {
                let mut bucket = level.take(index);
                if let Some(stash) = bucket.take_stash() {
                    stash.drain(to);
                }
                bucket.into_chunks().flatten().for_each(&mut *to);
            }
        }
    }

    /// Calls a function for every entry, in the order of `drain`.
    pub(super) fn for_each(&self, to: &mut dyn FnMut(&EventRef)) {
        self.near.iter().for_each(&mut *to);
        for bucket in self.levels.iter().flatten().flat_map(|level| level.buckets()) {
            if let Some(stash) = bucket.stash() {
                stash.for_each(to);
            }
            bucket.chunks().flatten().for_each(&mut *to);
        }
    }

    pub(super) fn heap_size(&self) -> usize {
        let levels: usize = self.levels.iter().flatten().map(|level| level.heap_size()).sum();
        self.near.capacity() * size_of::<EventRef>() + levels
    }

    /// Keeps the entries for which `keep` returns true.
    pub(super) fn retain(&mut self, keep: &mut dyn FnMut(&mut EventRef) -> bool) {
        self.near.retain_mut(|entry| keep(entry));
        self.near.shrink_to_fit();
        self.len = self.near.len();
        for place in &mut self.levels {
            let Some(level) = place else { continue };
            level.for_each_mut(&mut |bucket| {
                bucket.retain(keep);
                self.len += bucket.len();
            });
            if level.is_empty() {
                *place = None;
            }
        }
    }
}

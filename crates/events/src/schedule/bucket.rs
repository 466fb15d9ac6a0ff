//! A bucket: the entries of one time range, in order of adding.

use super::slab::Tag;
use super::spine::Spine;

/// The entry of an event in the wheel. The payload stays in the slab, so moving an event moves 16
/// bytes at any size of the payload.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventRef {
    pub(super) deadline: u64,
    /// The slot and the tag in one word, so the compiler passes an entry in two registers.
    mark: u64,
}

impl EventRef {
    #[inline]
    pub(super) fn new(deadline: u64, slot: u32, tag: Tag) -> Self {
        EventRef { deadline, mark: u64::from(slot) << 32 | u64::from(tag.get()) }
    }

    #[inline]
    pub(super) fn slot(&self) -> u32 {
        (self.mark >> 32) as u32
    }

    /// Returns whether `tag` is the tag of this entry. If so, the entry is current: its event was
    /// not cancelled, run or moved.
    #[inline]
    pub(super) fn has_tag(&self, tag: u32) -> bool {
        self.mark as u32 == tag
    }

    pub(super) fn with_tag(self, tag: Tag) -> Self {
        Self::new(self.deadline, self.slot(), tag)
    }
}

/// The number of entries per allocation. 64 entries are 1 KiB. The last chunk of a bucket is half
/// empty on average, which is little compared with the thousand entries of a busy bucket. The fast
/// path of the allocator still serves this size.
pub(super) const CHUNK: usize = 64;

/// Chunks instead of a vector, which would be copied at each growth and could be half empty. Full
/// chunks stay in place and are freed one by one.
#[derive(Default)]
pub(super) struct Bucket {
    tail: Vec<EventRef>,
    rest: Option<Box<Rest>>,
}

#[derive(Default)]
struct Rest {
    full: Vec<Vec<EventRef>>,
    /// Events of this time range that were already sorted when the cursor moved back. They were
    /// added before all entries in `full` and `tail`.
    stash: Option<Box<Spine>>,
}

impl Bucket {
    #[inline]
    pub(super) fn push(&mut self, entry: EventRef) {
        if self.tail.len() == self.tail.capacity() {
            self.grow();
        }
        self.tail.push(entry);
    }

    #[cold]
    fn grow(&mut self) {
        if self.tail.len() < CHUNK {
            self.tail.reserve_exact(self.tail.len().clamp(4, CHUNK - self.tail.len()));
        } else {
            let full = std::mem::replace(&mut self.tail, Vec::with_capacity(CHUNK));
            self.rest.get_or_insert_default().full.push(full);
        }
    }

    /// Returns the number of entries, including those of a stash.
    pub(super) fn len(&self) -> usize {
        let rest = self.rest.as_ref().map_or(0, |rest| {
            rest.full.iter().map(Vec::len).sum::<usize>()
                + rest.stash.as_ref().map_or(0, |s| s.len())
        });
        rest + self.tail.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Stores a spine as the stash of this bucket, which must be empty.
    pub(super) fn set_stash(&mut self, spine: Box<Spine>) {
        assert!(self.is_empty(), "a stash must be older than the rest of its bucket");
        self.rest = Some(Box::new(Rest { full: Vec::new(), stash: Some(spine) }));
    }

    pub(super) fn stash(&self) -> Option<&Spine> {
        self.rest.as_ref()?.stash.as_deref()
    }

    pub(super) fn take_stash(&mut self) -> Option<Box<Spine>> {
        self.rest.as_mut()?.stash.take()
    }

    /// Returns the entries outside of the stash in order of adding, up to `CHUNK` per slice.
    pub(super) fn chunks(&self) -> impl Iterator<Item = &[EventRef]> {
        let full = self.rest.iter().flat_map(|rest| rest.full.iter().map(Vec::as_slice));
        full.chain([self.tail.as_slice()])
    }

    /// Returns the chunks, and frees each one as soon as it was read.
    pub(super) fn into_chunks(self) -> impl Iterator<Item = Vec<EventRef>> {
        let full = self.rest.into_iter().flat_map(|rest| rest.full);
        full.chain([self.tail])
    }

    pub(super) fn heap_size(&self) -> usize {
        let rest = self.rest.as_ref().map_or(0, |rest| {
            let full: usize = rest.full.iter().map(Vec::capacity).sum();
            let stash = rest.stash.as_ref();
            size_of::<Rest>()
                + full * size_of::<EventRef>()
                + rest.full.capacity() * size_of::<Vec<EventRef>>()
                + stash.map_or(0, |stash| size_of::<Spine>() + stash.heap_size())
        });
        rest + self.tail.capacity() * size_of::<EventRef>()
    }

    /// Keeps the entries for which `keep` returns true, in order, in as few chunks as possible.
    pub(super) fn retain(&mut self, keep: &mut dyn FnMut(&mut EventRef) -> bool) {
        let mut old = std::mem::take(self);
        if let Some(mut stash) = old.take_stash() {
            stash.retain(keep);
            if stash.len() > 0 {
                self.set_stash(stash);
            }
        }
        for chunk in old.into_chunks() {
            for mut entry in chunk {
                if keep(&mut entry) {
                    self.push(entry);
                }
            }
        }
    }
}

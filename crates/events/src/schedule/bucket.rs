//! A bucket: what is due within one stretch of time, in order of adding.

use super::slab::Tag;
use super::spine::Spine;

/// What the wheel knows of an event. The payload stays in the slab, so that moving an event costs
/// 16 bytes whatever it carries.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventRef {
    pub(super) deadline: u64,
    /// Slot and tag in one word: the compiler then passes an entry in two registers.
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

    /// Whether `tag` is the one this entry was made with. If so, it stands for an event: it has
    /// been neither cancelled, nor run, nor moved to another deadline.
    #[inline]
    pub(super) fn has_tag(&self, tag: u32) -> bool {
        self.mark as u32 == tag
    }

    pub(super) fn with_tag(self, tag: Tag) -> Self {
        Self::new(self.deadline, self.slot(), tag)
    }
}

/// Entries in one allocation. 64 of them are 1 KiB: the last chunk of a bucket stands half empty on
/// average, which is little beside the thousand entries of a busy bucket, and the allocator's fast
/// path still serves it.
pub(super) const CHUNK: usize = 64;

/// A vector would double: half of it empty on a bad day, and copied each time. Full chunks stay
/// where they are and go back to the allocator one by one.
#[derive(Default)]
pub(super) struct Bucket {
    tail: Vec<EventRef>,
    rest: Option<Box<Rest>>,
}

#[derive(Default)]
struct Rest {
    full: Vec<Vec<EventRef>>,
    /// Events of this stretch that were already sorted out further when the cursor turned back.
    /// They were added before everything in `full` and `tail`.
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

    /// Entries held, those of a stash included.
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

    /// Lays a spine aside in this bucket, which must hold nothing.
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

    /// The entries outside the stash, in order of adding: up to `CHUNK` in a slice.
    pub(super) fn chunks(&self) -> impl Iterator<Item = &[EventRef]> {
        let full = self.rest.iter().flat_map(|rest| rest.full.iter().map(Vec::as_slice));
        full.chain([self.tail.as_slice()])
    }

    /// As `chunks`; each is given back as soon as it has been read.
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

    /// Keeps what `keep` wants, in order, in as few chunks as will hold it.
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

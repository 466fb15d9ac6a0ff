//! New entries that are not needed yet: a list in order of adding, and its earliest deadline.

use super::bucket::EventRef;

/// The number of entries per allocation. It is large, because entries are written and read in
/// order, and small enough for the allocator to reuse memory.
const CHUNK: usize = 4096;
/// The number of entries of the first allocation.
const FIRST: usize = 4;

pub(super) struct Arrivals {
    /// All chunks but the last one are full.
    chunks: Vec<Vec<EventRef>>,
    len: usize,
    /// A lower bound of all deadlines, or `u64::MAX` without deadlines.
    earliest: u64,
}

impl Arrivals {
    pub(super) const fn new() -> Self {
        Arrivals { chunks: Vec::new(), len: 0, earliest: u64::MAX }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns whether an entry may be due before `deadline` and by `now`.
    #[inline]
    pub(super) fn may_precede(&self, deadline: u64, now: u64) -> bool {
        self.earliest < deadline && self.earliest <= now
    }

    #[inline]
    pub(super) fn push(&mut self, entry: EventRef) {
        self.len += 1;
        self.earliest = self.earliest.min(entry.deadline);
        match self.chunks.last_mut() {
            Some(last) if last.len() < last.capacity() => last.push(entry),
            _ => self.grow(entry),
        }
    }

    #[cold]
    fn grow(&mut self, entry: EventRef) {
        let size = if self.chunks.is_empty() { FIRST } else { CHUNK };
        match self.chunks.last_mut() {
            Some(last) if last.len() < CHUNK => {
                last.reserve_exact(last.len().min(CHUNK - last.len()));
                last.push(entry);
            }
            _ => {
                let mut chunk = Vec::with_capacity(size);
                chunk.push(entry);
                self.chunks.push(chunk);
            }
        }
    }

    pub(super) fn chunks(&self) -> impl Iterator<Item = &[EventRef]> {
        self.chunks.iter().map(Vec::as_slice)
    }

    /// Returns the chunks, and frees each one as soon as it was read.
    pub(super) fn into_chunks(self) -> impl Iterator<Item = Vec<EventRef>> {
        self.chunks.into_iter()
    }

    /// Keeps the entries for which `keep` returns true, in order.
    pub(super) fn retain(&mut self, keep: &mut dyn FnMut(&mut EventRef) -> bool) {
        let old = std::mem::replace(self, Arrivals::new());
        for chunk in old.into_chunks() {
            for mut entry in chunk {
                if keep(&mut entry) {
                    self.push(entry);
                }
            }
        }
    }

    pub(super) fn heap_size(&self) -> usize {
        let entries: usize = self.chunks.iter().map(Vec::capacity).sum();
        entries * size_of::<EventRef>() + self.chunks.capacity() * size_of::<Vec<EventRef>>()
    }
}

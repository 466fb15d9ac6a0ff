//! The storage of payloads: slots in chunks of 256, addressed by index and never moved.
//!
//! Additions are numbered with 64 bits, and a slot stores the lower 32. Its chunk stores the upper
//! 32 bits, the era. A chunk holds events of one era only, and may change the era when it is empty.
//! So every slot has a complete number, and a slot with a payload of 8 bytes takes 16 bytes.
//!
//! Removing an event touches the cache line of its slot and the header of its chunk. A header has
//! 16 bytes for 4 KiB, so the headers of 10^7 events stay in the cache. Removal also takes few
//! instructions, so the CPU can overlap many cancellations that wait for memory. So there is no
//! list or map of free slots. Instead a cursor visits 64 slots at a time and finds the empty ones
//! when it fills them, because their cache lines are needed then. Slots that were freed in any
//! order are reused in the order of their addresses.

use std::num::NonZeroU32;

/// The number of slots per allocation.
const CHUNK: usize = 256;
/// The number of slots that are searched together for free ones, one per bit of a word.
const GROUP: usize = u64::BITS as usize;
/// A chunk with more used slots counts as full, because a search would examine more than eight
/// slots for each free one.
const MOST_USED: u32 = (CHUNK - CHUNK / 8) as u32;
/// The number of chunks whose slots a 32-bit index can address.
const MOST_CHUNKS: usize = 1 << (u32::BITS - CHUNK.ilog2());

/// Identifies the current entry of an event in the queue.
pub(super) type Tag = NonZeroU32;

/// The number of an addition in two halves: the era, and the part in the slot.
pub(super) type Seq = [u32; 2];

/// An event in its slot. The niche of the tag marks an empty slot.
pub(super) struct Held<T> {
    seq: u32,
    pub(super) tag: Tag,
    pub(super) payload: T,
}

type Slots<T> = Box<[Option<Held<T>>; CHUNK]>;

const _: () = assert!(size_of::<Option<Held<u64>>>() == 16);

struct Chunk<T> {
    /// `None` if no slot is in use, except for the chunk that is being filled.
    slots: Option<Slots<T>>,
    /// The number of used slots.
    used: u32,
    /// The upper half of the addition numbers in this chunk.
    era: u32,
}

impl<T> Chunk<T> {
    /// Returns whether a search for free slots for events of an era is worthwhile.
    fn has_room(&self, era: u32) -> bool {
        self.used == 0 || self.used <= MOST_USED && self.era == era
    }
}

pub(super) struct Slab<T> {
    chunks: Vec<Chunk<T>>,
    /// The group whose slots are being filled. They start at this multiple of `GROUP`.
    group: usize,
    /// The free slots of the group, without those that are freed later.
    free: u64,
    used: usize,
}

fn place(slot: u32) -> (usize, usize) {
    (slot as usize / CHUNK, slot as usize % CHUNK)
}

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Slab { chunks: Vec::new(), group: 0, free: 0, used: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// Puts an event into a slot. Returns the payload if nearly 2^32 slots are used. `seq` must
    /// increase by one at each call.
    #[inline]
    pub(super) fn insert(&mut self, seq: Seq, tag: Tag, payload: T) -> Result<u32, T> {
        let [era, seq] = seq;
        // At zero a new era begins, which needs another chunk.
        if (self.free == 0 || seq == 0) && !self.find_room(era) {
            return Err(payload);
        }
        let slot = (self.group * GROUP) as u32 + self.free.trailing_zeros();
        self.free &= self.free - 1;
        let (index, within) = place(slot);
        let chunk = &mut self.chunks[index];
        let Some(slots) = &mut chunk.slots else {
            unreachable!("chunk {index} was chosen and has no slots")
        };
        slots[within] = Some(Held { seq, tag, payload });
        chunk.used += 1;
        self.used += 1;
        Ok(slot)
    }

    /// Chooses a group with free slots. Returns false if all groups are full.
    ///
    /// It stays in a chunk as long as the chunk has room, and so never leaves an empty one. Then it
    /// takes the next chunk while an eighth of all slots is free, so some chunk has room. Only
    /// chunks of a past era may be skipped without effect, and then a round allocates an eighth
    /// more chunks.
    #[cold]
    fn find_room(&mut self, era: u32) -> bool {
        let next = self.group + 1;
        let end = next.next_multiple_of(CHUNK / GROUP);
        let begin = end - CHUNK / GROUP;
        if (next..end).chain(begin..next).any(|group| self.choose(group, era)) {
            return true;
        }
        let count = self.chunks.len();
        let slots = count * CHUNK;
        let mut grow = 1;
        if slots - self.used >= slots / 8 {
            if (end..slots / GROUP).chain(0..begin).any(|group| self.choose(group, era)) {
                return true;
            }
            grow += count / 8;
        }
        let new = || Chunk { slots: None, used: 0, era };
        self.chunks.resize_with((count + grow).min(MOST_CHUNKS), new);
        count < MOST_CHUNKS && self.choose(slots / GROUP, era)
    }

    /// Starts to fill a group if it has room.
    fn choose(&mut self, group: usize, era: u32) -> bool {
        let (index, within) = place((group * GROUP) as u32);
        let Some(chunk) = self.chunks.get_mut(index).filter(|chunk| chunk.has_room(era)) else {
            return false;
        };
        let slots = chunk.slots.get_or_insert_with(|| Box::new([const { None }; CHUNK]));
        let mut free = 0_u64;
        for (bit, slot) in slots[within..within + GROUP].iter().enumerate() {
            free |= u64::from(slot.is_none()) << bit;
        }
        if free == 0 {
            return false;
        }
        debug_assert!(chunk.used == 0 || chunk.era == era, "chunk {index} mixes two eras");
        chunk.era = era;
        self.free = free;
        self.group = group;
        true
    }

    /// Returns any event in a slot, and the number of its addition.
    #[inline]
    pub(super) fn at(&self, slot: u32) -> Option<(Seq, &Held<T>)> {
        let (index, within) = place(slot);
        let chunk = self.chunks.get(index)?;
        let held = chunk.slots.as_ref()?[within].as_ref()?;
        Some(([chunk.era, held.seq], held))
    }

    /// Returns the tag of the event in a slot, or zero, which is not a tag, for an empty slot. Does
    /// not branch.
    #[inline]
    pub(super) fn tag(&self, slot: u32) -> u32 {
        let (index, within) = place(slot);
        let slots = self.chunks.get(index).and_then(|chunk| chunk.slots.as_ref());
        slots.map_or(0, |slots| slots[within].as_ref().map_or(0, |held| held.tag.get()))
    }

    /// Returns any event in a slot by mutable reference.
    #[inline]
    pub(super) fn at_mut(&mut self, slot: u32) -> Option<(Seq, &mut Held<T>)> {
        let (index, within) = place(slot);
        let chunk = self.chunks.get_mut(index)?;
        let held = chunk.slots.as_mut()?[within].as_mut()?;
        Some(([chunk.era, held.seq], held))
    }

    /// Empties a slot if its event is the wanted one.
    #[inline]
    pub(super) fn take_if(
        &mut self,
        slot: u32,
        wanted: impl FnOnce(Seq, Tag) -> bool,
    ) -> Option<(Seq, Held<T>)> {
        let (index, within) = place(slot);
        let chunk = self.chunks.get_mut(index)?;
        let place = &mut chunk.slots.as_mut()?[within];
        let (seq, tag) = place.as_ref().map(|held| ([chunk.era, held.seq], held.tag))?;
        if !wanted(seq, tag) {
            return None;
        }
        let held = place.take()?;
        self.used -= 1;
        chunk.used -= 1;
        if chunk.used == 0 {
            self.give_back(index);
        }
        Some((seq, held))
    }

    /// Frees the storage of an empty chunk. The chunk that is being filled keeps its storage,
    /// because a single short-lived event would otherwise allocate each time.
    #[cold]
    fn give_back(&mut self, index: usize) {
        if self.used == 0 && self.chunks.len() > 1 {
            *self = Slab::new();
        } else if index != self.group * GROUP / CHUNK {
            self.chunks[index].slots = None;
        }
    }

    pub(super) fn capacity(&self) -> usize {
        CHUNK * self.chunks.iter().filter(|chunk| chunk.slots.is_some()).count()
    }

    pub(super) fn heap_size(&self) -> usize {
        self.capacity() / CHUNK * size_of::<[Option<Held<T>>; CHUNK]>()
            + self.chunks.capacity() * size_of::<Chunk<T>>()
    }

    /// Returns every event, in unspecified order.
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Held<T>> {
        let slots = self.chunks.iter_mut().filter_map(|chunk| chunk.slots.as_mut());
        slots.flat_map(|slots| slots.iter_mut()).flatten()
    }
}

//! Where the payloads are: slots in chunks, found by index, never moved.
//!
//! Additions are numbered with 64 bits, of which a slot stores the lower 32. The upper ones, the
//! era, are those of its chunk: a chunk takes events of one era only, and of another when it is
//! empty. So the whole number is known for every slot, and a slot with a payload of 8 bytes is 16.

use std::num::NonZeroU32;

/// Slots in one allocation. Storage is given back chunk by chunk, so a chunk should be small; its
/// header is looked up on every access, so there should be few of them: at 4,096 the headers of
/// ten million events still fit the L2 cache.
const CHUNK_BITS: u32 = 12;
const CHUNK: usize = 1 << CHUNK_BITS;
const NONE: u32 = u32::MAX;

/// Tells which entry of the wheel stands for an event.
pub(super) type Tag = NonZeroU32;

/// What every slot knows of its event, beside the payload.
#[derive(Clone, Copy)]
pub(super) struct Label {
    /// The number of the addition that made it.
    pub(super) seq: u64,
    pub(super) tag: Tag,
}

enum Slot<T> {
    Free {
        next: u32,
    },
    /// The tag's niche is what tells the variants apart.
    Used {
        seq: u32,
        tag: Tag,
        payload: T,
    },
}

const _: () = assert!(size_of::<Slot<u64>>() == 16);

struct Chunk<T> {
    /// Without storage when no slot is in use.
    slots: Vec<Slot<T>>,
    /// A bit for each slot in use: 32 times smaller than the slots themselves, so that the many
    /// questions about cancelled events are answered without touching these.
    live: [u64; CHUNK / 64],
    /// The upper half of the number of each addition in here.
    era: u32,
    /// First free slot within `slots`; they are linked. `NONE` at the end.
    free: u32,
    used: u32,
    /// Whether `Slab::partial` names this chunk.
    listed: bool,
}

pub(super) struct Slab<T> {
    chunks: Vec<Chunk<T>>,
    /// The chunks that have room, except `current`. The last one is taken next.
    partial: Vec<u32>,
    /// Where the next event goes.
    current: usize,
    used: usize,
}

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Slab { chunks: Vec::new(), partial: Vec::new(), current: 0, used: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// Puts an event into a slot; gives the payload back when all 2^32 are taken. The numbers of
    /// additions never decrease.
    #[inline]
    pub(super) fn insert(&mut self, label: Label, payload: T) -> Result<u32, T> {
        let Label { seq, tag } = label;
        let era = (seq >> 32) as u32;
        let index = match self.chunks.get(self.current) {
            Some(chunk) if chunk.has_room(era) => self.current,
            _ => match self.next_chunk(era) {
                Some(index) => index,
                None => return Err(payload),
            },
        };
        let within = self.chunks[index].insert(seq as u32, tag, payload);
        self.used += 1;
        Ok((index as u32) << CHUNK_BITS | within)
    }

    #[cold]
    fn next_chunk(&mut self, era: u32) -> Option<usize> {
        let index = loop {
            match self.partial.pop() {
                Some(index) => {
                    let chunk = &mut self.chunks[index as usize];
                    chunk.listed = false;
                    // A chunk of a past era is listed again when it has become empty.
                    if chunk.used == 0 || chunk.era == era {
                        break index as usize;
                    }
                }
                None if self.chunks.len() == 1 << (u32::BITS - CHUNK_BITS) => return None,
                None => {
                    self.chunks.push(Chunk::new());
                    break self.chunks.len() - 1;
                }
            }
        };
        let chunk = &mut self.chunks[index];
        debug_assert!(chunk.used == 0 || chunk.era == era, "chunk {index} mixes two eras");
        chunk.era = era;
        // The first chunk grows as a vector does, so that a small schedule stays small.
        if chunk.slots.capacity() == 0 && self.used > 0 {
            chunk.slots.reserve_exact(CHUNK);
        }
        self.current = index;
        Some(index)
    }

    #[inline]
    fn slot(&self, slot: u32) -> Option<&Slot<T>> {
        let chunk = self.chunks.get((slot >> CHUNK_BITS) as usize)?;
        chunk.slots.get(slot as usize & (CHUNK - 1))
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<(Label, &T)> {
        let chunk = self.chunks.get((slot >> CHUNK_BITS) as usize)?;
        match chunk.slots.get(slot as usize & (CHUNK - 1))? {
            &Slot::Used { seq, tag, ref payload } => {
                Some((Label { seq: chunk.whole(seq), tag }, payload))
            }
            Slot::Free { .. } => None,
        }
    }

    /// The tag of the event in a slot.
    #[inline]
    pub(super) fn tag(&self, slot: u32) -> Option<Tag> {
        match self.slot(slot)? {
            Slot::Used { tag, .. } => Some(*tag),
            Slot::Free { .. } => None,
        }
    }

    /// Whether any event is in the slot.
    #[inline]
    pub(super) fn is_live(&self, slot: u32) -> bool {
        let chunk = self.chunks.get((slot >> CHUNK_BITS) as usize);
        let within = slot as usize & (CHUNK - 1);
        chunk.is_some_and(|chunk| chunk.live[within / 64] >> (within % 64) & 1 == 1)
    }

    /// The number of the addition, and the tag and the payload to change.
    #[inline]
    pub(super) fn get_mut(&mut self, slot: u32) -> Option<(u64, &mut Tag, &mut T)> {
        let chunk = self.chunks.get_mut((slot >> CHUNK_BITS) as usize)?;
        let era = u64::from(chunk.era) << 32;
        match chunk.slots.get_mut(slot as usize & (CHUNK - 1))? {
            Slot::Used { seq, tag, payload } => Some((era | u64::from(*seq), tag, payload)),
            Slot::Free { .. } => None,
        }
    }

    /// Empties the slot if the event in it satisfies `wanted`.
    #[inline]
    pub(super) fn remove_if(
        &mut self,
        slot: u32,
        wanted: impl FnOnce(Label) -> bool,
    ) -> Option<(Label, T)> {
        let index = (slot >> CHUNK_BITS) as usize;
        let chunk = self.chunks.get_mut(index)?;
        let removed = chunk.remove_if(slot as usize & (CHUNK - 1), wanted)?;
        self.used -= 1;
        if chunk.used == 0 {
            self.give_back(index);
        } else if !chunk.listed && index != self.current {
            chunk.listed = true;
            self.partial.push(index as u32);
        }
        Some(removed)
    }

    /// Returns the storage of a chunk that has become empty. The one that is being filled keeps it,
    /// or a single event that comes and goes would allocate each time.
    #[cold]
    fn give_back(&mut self, index: usize) {
        if self.used == 0 && (self.chunks.len() > 1 || self.chunks[0].slots.capacity() > 64) {
            *self = Slab::new();
        } else if index != self.current {
            let chunk = &mut self.chunks[index];
            chunk.slots = Vec::new();
            chunk.free = NONE;
            if !chunk.listed {
                chunk.listed = true;
                self.partial.push(index as u32);
            }
        }
    }

    pub(super) fn heap_size(&self) -> usize {
        let slots: usize = self.chunks.iter().map(|chunk| chunk.slots.capacity()).sum();
        slots * size_of::<Slot<T>>()
            + self.chunks.capacity() * size_of::<Chunk<T>>()
            + self.partial.capacity() * size_of::<u32>()
    }

    /// The tag of every event, in no particular order.
    pub(super) fn tags_mut(&mut self) -> impl Iterator<Item = &mut Tag> {
        self.chunks.iter_mut().flat_map(|chunk| &mut chunk.slots).filter_map(|slot| match slot {
            Slot::Used { tag, .. } => Some(tag),
            Slot::Free { .. } => None,
        })
    }
}

impl<T> Chunk<T> {
    fn new() -> Self {
        let live = [0; CHUNK / 64];
        Chunk { slots: Vec::new(), live, era: 0, free: NONE, used: 0, listed: false }
    }

    #[inline]
    fn whole(&self, seq: u32) -> u64 {
        u64::from(self.era) << 32 | u64::from(seq)
    }

    #[inline]
    fn has_room(&self, era: u32) -> bool {
        self.era == era && (self.free != NONE || self.slots.len() < CHUNK)
    }

    #[inline]
    fn insert(&mut self, seq: u32, tag: Tag, payload: T) -> u32 {
        self.used += 1;
        if self.free == NONE {
            let within = self.slots.len();
            self.slots.push(Slot::Used { seq, tag, payload });
            self.live[within / 64] |= 1 << (within % 64);
            return within as u32;
        }
        let within = self.free;
        self.live[within as usize / 64] |= 1 << (within % 64);
        let slot = &mut self.slots[within as usize];
        let Slot::Free { next } = *slot else {
            unreachable!("slot {within} is listed as free, and in use")
        };
        self.free = next;
        *slot = Slot::Used { seq, tag, payload };
        within
    }

    #[inline]
    fn remove_if(
        &mut self,
        within: usize,
        wanted: impl FnOnce(Label) -> bool,
    ) -> Option<(Label, T)> {
        let era = u64::from(self.era) << 32;
        let slot = self.slots.get_mut(within)?;
        let label = match *slot {
            Slot::Used { seq, tag, .. } => Label { seq: era | u64::from(seq), tag },
            Slot::Free { .. } => return None,
        };
        if !wanted(label) {
            return None;
        }
        match std::mem::replace(slot, Slot::Free { next: self.free }) {
            Slot::Used { payload, .. } => {
                self.free = within as u32;
                self.live[within / 64] &= !(1 << (within % 64));
                self.used -= 1;
                Some((label, payload))
            }
            Slot::Free { .. } => unreachable!("slot {within} was seen in use"),
        }
    }
}

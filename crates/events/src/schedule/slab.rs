//! Where the payloads are: slots in chunks, found by index, never moved.
//!
//! Additions are numbered with 64 bits, of which a slot stores the lower 32. The upper ones, the
//! era, are those of its chunk: a chunk takes events of one era only, and of another when it is
//! empty. So the whole number is known for every slot, and a slot with a payload of 8 bytes is 16.
//!
//! Taking an event out is a matter of one line of memory, its slot's; all else that it changes, a
//! bit and a count, is 100 times smaller and stays in the cache. No list of free slots leads through
//! the slots: the bits tell which are free, and a cursor goes round them. So slots that were freed
//! in any order are used again in order of their addresses, which the memory is fastest at.

use std::num::NonZeroU32;

/// Slots in one allocation. Storage is given back chunk by chunk, so a chunk should be small; its
/// header is looked up on every access, so there should be few of them: at 4,096 the headers of
/// ten million events take 80 KiB.
const CHUNK_BITS: u32 = 12;
const CHUNK: usize = 1 << CHUNK_BITS;
/// Slots whose bits are in one word.
const WORD: usize = u64::BITS as usize;

/// Tells which entry of the wheel stands for an event.
pub(super) type Tag = NonZeroU32;

/// The number of an addition, in halves: the era, and what the slot knows.
pub(super) type Seq = [u32; 2];

/// An event in its slot. The tag's niche tells an empty slot.
pub(super) struct Held<T> {
    seq: u32,
    pub(super) tag: Tag,
    pub(super) payload: T,
}

const _: () = assert!(size_of::<Option<Held<u64>>>() == 16);

struct Chunk<T> {
    /// Without storage when no slot is in use.
    slots: Vec<Option<Held<T>>>,
    /// The upper half of the number of each addition in here.
    era: u32,
    used: u32,
}

pub(super) struct Slab<T> {
    chunks: Vec<Chunk<T>>,
    /// A bit for each slot in use, those of a chunk in `CHUNK / WORD` words: 128 times smaller than
    /// the slots, so that what they can tell costs little.
    live: Vec<u64>,
    /// The word of `live` whose slots are being filled, from the lowest to the highest. Below the
    /// chunk's `slots.len()` or at it: so a chunk has no gaps.
    word: usize,
    /// Which slots of this word are free. (One that is freed now may not be among them.)
    free: u64,
    used: usize,
}

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Slab { chunks: Vec::new(), live: Vec::new(), word: 0, free: 0, used: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// Puts an event into a slot; gives the payload back when all 2^32 are taken. `seq` is greater
    /// each time, by one.
    #[inline]
    pub(super) fn insert(&mut self, seq: Seq, tag: Tag, payload: T) -> Result<u32, T> {
        let [era, seq] = seq;
        // At zero a new era begins, and needs another chunk.
        if (self.free == 0 || seq == 0) && !self.find_room(era) {
            return Err(payload);
        }
        let slot = self.word * WORD + self.free.trailing_zeros() as usize;
        self.live[self.word] |= self.free & self.free.wrapping_neg();
        self.free &= self.free - 1;
        let chunk = &mut self.chunks[slot >> CHUNK_BITS];
        let within = slot & (CHUNK - 1);
        let held = Some(Held { seq, tag, payload });
        if within == chunk.slots.len() {
            chunk.slots.push(held);
        } else {
            chunk.slots[within] = held;
        }
        chunk.used += 1;
        self.used += 1;
        Ok(slot as u32)
    }

    /// Chooses a word with free slots; false if there are no more.
    ///
    /// A choice costs little for each slot it finds. Within a chunk there are but 64 words. From
    /// chunk to chunk the cursor only goes on while an eighth of all slots is free: then at least a
    /// sixteenth of them lies in chunks that are sparse enough to be taken, 256 slots for each
    /// header that a round looks at.
    #[cold]
    fn find_room(&mut self, era: u32) -> bool {
        let current = self.word / (CHUNK / WORD);
        if self.choose_in(current, era) {
            return true;
        }
        let slots = self.chunks.len() * CHUNK;
        if slots - self.used >= slots / 8 {
            let count = self.chunks.len();
            let others = (current + 1..count).chain(0..current);
            for index in others {
                let sparse = self.chunks[index].used as usize <= CHUNK - CHUNK / 16;
                if sparse && self.choose_in(index, era) {
                    return true;
                }
            }
        }
        if self.chunks.len() == 1 << (u32::BITS - CHUNK_BITS) {
            return (0..self.chunks.len()).any(|index| self.choose_in(index, era));
        }
        // The first chunk grows as a vector does, so that a small schedule stays small.
        let slots = Vec::with_capacity(if self.chunks.is_empty() { 0 } else { CHUNK });
        self.chunks.push(Chunk { slots, era, used: 0 });
        self.live.resize(self.chunks.len() * (CHUNK / WORD), 0);
        self.choose_in(self.chunks.len() - 1, era)
    }

    /// Chooses a word of this chunk: of those that have been filled before if many of their slots
    /// are free again, else the one after them.
    fn choose_in(&mut self, index: usize, era: u32) -> bool {
        let Some(chunk) = self.chunks.get_mut(index) else { return false };
        if chunk.used == 0 {
            chunk.era = era;
            if index > 0 && chunk.slots.capacity() == 0 {
                chunk.slots.reserve_exact(CHUNK);
            }
        } else if chunk.era != era {
            return false;
        }
        let first = index * (CHUNK / WORD);
        let filled = chunk.slots.len();
        let fresh = first + filled / WORD;
        let again = || {
            // From the cursor on, if it is in here.
            let next = (self.word + 1).clamp(first, fresh);
            (next..fresh).chain(first..next).find(|&word| self.live[word] != u64::MAX)
        };
        let word = match filled < CHUNK {
            true if chunk.used as usize > filled / 4 * 3 => fresh,
            true => again().unwrap_or(fresh),
            false => match again() {
                Some(word) => word,
                None => return false,
            },
        };
        self.word = word;
        self.free = !self.live[word];
        true
    }

    #[inline]
    fn slot(&self, slot: u32) -> Option<(&Chunk<T>, &Held<T>)> {
        let chunk = self.chunks.get((slot >> CHUNK_BITS) as usize)?;
        Some((chunk, chunk.slots.get(slot as usize & (CHUNK - 1))?.as_ref()?))
    }

    /// The event in a slot, whichever it is, and the number of its addition.
    #[inline]
    pub(super) fn at(&self, slot: u32) -> Option<(Seq, &Held<T>)> {
        self.slot(slot).map(|(chunk, held)| ([chunk.era, held.seq], held))
    }

    /// As `at`, to change it.
    #[inline]
    pub(super) fn at_mut(&mut self, slot: u32) -> Option<(Seq, &mut Held<T>)> {
        let chunk = self.chunks.get_mut((slot >> CHUNK_BITS) as usize)?;
        let held = chunk.slots.get_mut(slot as usize & (CHUNK - 1))?.as_mut()?;
        Some(([chunk.era, held.seq], held))
    }

    /// Whether any event is in the slot.
    #[inline]
    pub(super) fn is_live(&self, slot: u32) -> bool {
        let word = self.live.get(slot as usize / WORD);
        word.is_some_and(|word| word >> (slot as usize % WORD) & 1 == 1)
    }

    /// Empties the slot if the event in it is wanted, by its era and itself.
    #[inline]
    pub(super) fn take_if(
        &mut self,
        slot: u32,
        wanted: impl FnOnce(Seq, Tag) -> bool,
    ) -> Option<(Seq, Held<T>)> {
        let index = (slot >> CHUNK_BITS) as usize;
        let chunk = self.chunks.get_mut(index)?;
        let place = chunk.slots.get_mut(slot as usize & (CHUNK - 1))?;
        let (seq, tag) = place.as_ref().map(|held| ([chunk.era, held.seq], held.tag))?;
        if !wanted(seq, tag) {
            return None;
        }
        let held = place.take()?;
        chunk.used -= 1;
        self.live[slot as usize / WORD] &= !(1 << (slot as usize % WORD));
        self.used -= 1;
        if chunk.used == 0 {
            self.give_back(index);
        }
        Some((seq, held))
    }

    /// Returns the storage of a chunk that has become empty. The one that is being filled keeps it,
    /// or a single event that comes and goes would allocate each time.
    #[cold]
    fn give_back(&mut self, index: usize) {
        if self.used == 0 && (self.chunks.len() > 1 || self.chunks[0].slots.capacity() > WORD) {
            *self = Slab::new();
        } else if index != self.word / (CHUNK / WORD) {
            self.chunks[index].slots = Vec::new();
        }
    }

    pub(super) fn heap_size(&self) -> usize {
        let slots: usize = self.chunks.iter().map(|chunk| chunk.slots.capacity()).sum();
        slots * size_of::<Option<Held<T>>>()
            + self.chunks.capacity() * size_of::<Chunk<T>>()
            + self.live.capacity() * size_of::<u64>()
    }

    /// Every event, in no particular order.
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Held<T>> {
        self.chunks.iter_mut().flat_map(|chunk| &mut chunk.slots).flatten()
    }
}

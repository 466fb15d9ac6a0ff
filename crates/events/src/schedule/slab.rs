//! Where the payloads are: slots in chunks of 64, found by index, never moved.
//!
//! Additions are numbered with 64 bits, of which a slot stores the lower 32. The upper ones, the
//! era, are those of its chunk: a chunk takes events of one era only, and of another when it is
//! empty. So the whole number is known for every slot, and a slot with a payload of 8 bytes is 16.
//!
//! Taking an event out touches one line of memory, its slot's, beside the header of its chunk; the
//! headers are 40 times smaller than the slots and stay in the cache. And it takes few instructions:
//! the more of them a processor must hold back until memory has answered, the fewer cancellations it
//! can begin meanwhile. So there is no list of free slots, nor a count for each chunk. A bit for
//! each slot tells which are free, and a cursor goes round them; slots that were freed in any order
//! are used again in the order of their addresses.

use std::num::NonZeroU32;

/// Slots in one allocation: as many as a word has bits.
const CHUNK: usize = u64::BITS as usize;
const FULL: u64 = u64::MAX;
/// So many chunks have all the slots that an index of 32 bits can name.
const MOST_CHUNKS: usize = 1 << (u32::BITS - CHUNK.ilog2());

/// Tells which entry of the queue stands for an event.
pub(super) type Tag = NonZeroU32;

/// The number of an addition, in halves: the era, and what the slot knows.
pub(super) type Seq = [u32; 2];

/// An event in its slot. The tag's niche tells an empty slot.
pub(super) struct Held<T> {
    seq: u32,
    pub(super) tag: Tag,
    pub(super) payload: T,
}

type Slots<T> = Box<[Option<Held<T>>; CHUNK]>;

const _: () = assert!(size_of::<Option<Held<u64>>>() == 16);

struct Chunk<T> {
    /// None when no slot is in use, but for the chunk that is being filled.
    slots: Option<Slots<T>>,
    /// A bit for each slot in use.
    live: u64,
    /// The upper half of the number of each addition in here.
    era: u32,
}

pub(super) struct Slab<T> {
    chunks: Vec<Chunk<T>>,
    /// The chunk whose slots are being filled.
    current: usize,
    /// Which of its slots are free. (One that is freed now may not be among them.)
    free: u64,
    used: usize,
}

fn place(slot: u32) -> (usize, usize) {
    (slot as usize / CHUNK, slot as usize % CHUNK)
}

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Slab { chunks: Vec::new(), current: 0, free: 0, used: 0 }
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
        let chunk = &mut self.chunks[self.current];
        let Some(slots) = &mut chunk.slots else {
            unreachable!("chunk {} was chosen and has no slots", self.current)
        };
        let within = self.free.trailing_zeros() as usize % CHUNK;
        self.free &= self.free - 1;
        chunk.live |= 1 << within;
        slots[within] = Some(Held { seq, tag, payload });
        self.used += 1;
        Ok((self.current * CHUNK + within) as u32)
    }

    /// Chooses a chunk with free slots; false if there are no more.
    ///
    /// While an eighth of all slots is free it takes the next chunk that has any. A round looks at
    /// each header once and finds at least 8 slots for each. Only those of a past era may be passed
    /// over in vain; then the round pays for an eighth more chunks.
    #[cold]
    fn find_room(&mut self, era: u32) -> bool {
        let count = self.chunks.len();
        let slots = count * CHUNK;
        let all = (self.current..count).chain(0..self.current.min(count));
        let mut grow = 1;
        if slots - self.used >= slots / 8 || count == MOST_CHUNKS {
            let has_room = |&index: &usize| {
                let chunk = &self.chunks[index];
                chunk.live == 0 || chunk.live != FULL && chunk.era == era
            };
            if let Some(index) = all.into_iter().find(has_room) {
                self.choose(index, era);
                return true;
            }
            grow += count / 8;
        }
        let count = (count + grow).min(MOST_CHUNKS);
        if count == self.chunks.len() {
            return false;
        }
        let first = self.chunks.len();
        self.chunks.resize_with(count, || Chunk { slots: None, live: 0, era });
        self.choose(first, era);
        true
    }

    fn choose(&mut self, index: usize, era: u32) {
        let chunk = &mut self.chunks[index];
        debug_assert!(chunk.live == 0 || chunk.era == era, "chunk {index} mixes two eras");
        chunk.era = era;
        chunk.slots.get_or_insert_with(|| Box::new([const { None }; CHUNK]));
        self.free = !chunk.live;
        self.current = index;
    }

    /// The event in a slot, whichever it is, and the number of its addition.
    #[inline]
    pub(super) fn at(&self, slot: u32) -> Option<(Seq, &Held<T>)> {
        let (index, within) = place(slot);
        let chunk = self.chunks.get(index)?;
        let held = chunk.slots.as_ref()?[within].as_ref()?;
        Some(([chunk.era, held.seq], held))
    }

    /// As `at`, to change it.
    #[inline]
    pub(super) fn at_mut(&mut self, slot: u32) -> Option<(Seq, &mut Held<T>)> {
        let (index, within) = place(slot);
        let chunk = self.chunks.get_mut(index)?;
        let held = chunk.slots.as_mut()?[within].as_mut()?;
        Some(([chunk.era, held.seq], held))
    }

    /// Whether any event is in the slot.
    #[inline]
    pub(super) fn is_live(&self, slot: u32) -> bool {
        let (index, within) = place(slot);
        self.chunks.get(index).is_some_and(|chunk| chunk.live >> within & 1 == 1)
    }

    /// Empties the slot if the event in it is wanted.
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
        chunk.live &= !(1 << within);
        if chunk.live == 0 {
            self.give_back(index);
        }
        Some((seq, held))
    }

    /// Returns the storage of a chunk that has become empty. The one that is being filled keeps it,
    /// or a single event that comes and goes would allocate each time.
    #[cold]
    fn give_back(&mut self, index: usize) {
        if self.used == 0 && self.chunks.len() > 1 {
            *self = Slab::new();
        } else if index != self.current {
            self.chunks[index].slots = None;
        }
    }

    pub(super) fn heap_size(&self) -> usize {
        let chunks = self.chunks.iter().filter(|chunk| chunk.slots.is_some()).count();
        chunks * size_of::<[Option<Held<T>>; CHUNK]>()
            + self.chunks.capacity() * size_of::<Chunk<T>>()
    }

    /// Every event, in no particular order.
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Held<T>> {
        let slots = self.chunks.iter_mut().filter_map(|chunk| chunk.slots.as_mut());
        slots.flat_map(|slots| slots.iter_mut()).flatten()
    }
}

//! Where the payloads are: slots in chunks of 256, found by index, never moved.
//!
//! Additions are numbered with 64 bits, of which a slot stores the lower 32. The upper ones, the
//! era, are those of its chunk: a chunk takes events of one era only, and of another when it is
//! empty. So the whole number is known for every slot, and a slot with a payload of 8 bytes is 16.
//!
//! Taking an event out touches one line of memory, its slot's, beside the header of its chunk: 16
//! bytes for 4 KiB, so that the headers of 10^7 events stay in the cache. And it takes few
//! instructions: the more of them a processor must hold back until memory has answered, the fewer
//! cancellations it can begin meanwhile. So there is neither a list of free slots nor a map of
//! them: a cursor goes round the slots, 64 at a time, and looks which are empty when it fills them,
//! as then their lines are needed anyway. Slots that were freed in any order are used again in the
//! order of their addresses.

use std::num::NonZeroU32;

/// Slots in one allocation.
const CHUNK: usize = 256;
/// Slots that are looked at together for free ones: as many as a word has bits.
const GROUP: usize = u64::BITS as usize;
/// A chunk of which more slots are used is as good as full: those who looked for the free ones
/// would look at more than eight for each.
const MOST_USED: u32 = (CHUNK - CHUNK / 8) as u32;
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
    /// How many slots are in use.
    used: u32,
    /// The upper half of the number of each addition in here.
    era: u32,
}

impl<T> Chunk<T> {
    /// Whether it is worth while to look for free slots for events of this era.
    fn has_room(&self, era: u32) -> bool {
        self.used == 0 || self.used <= MOST_USED && self.era == era
    }
}

pub(super) struct Slab<T> {
    chunks: Vec<Chunk<T>>,
    /// The group whose slots are being filled: they begin at this multiple of `GROUP`.
    group: usize,
    /// Which of them are free. (One that is freed now is not among them.)
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

    /// Puts an event into a slot; gives the payload back when 2^32 are taken, or nearly so. `seq`
    /// is greater each time, by one.
    #[inline]
    pub(super) fn insert(&mut self, seq: Seq, tag: Tag, payload: T) -> Result<u32, T> {
        let [era, seq] = seq;
        // At zero a new era begins, and needs another chunk.
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

    /// Chooses a group with free slots; false if there are no more.
    ///
    /// It stays in a chunk as long as that has room, and so does not leave one that is empty. Then,
    /// while an eighth of all slots is free, so that there must be a chunk that has room, it takes
    /// the next. Only those of a past era may be passed over in vain; then the round pays for an
    /// eighth more chunks.
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

    /// Fills this group from now on, if there is room in it.
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

    /// The event in a slot, whichever it is, and the number of its addition.
    #[inline]
    pub(super) fn at(&self, slot: u32) -> Option<(Seq, &Held<T>)> {
        let (index, within) = place(slot);
        let chunk = self.chunks.get(index)?;
        let held = chunk.slots.as_ref()?[within].as_ref()?;
        Some(([chunk.era, held.seq], held))
    }

    /// The tag of the event in a slot; zero, which is no tag, if it is empty: both alike, so that
    /// no branch depends on it.
    #[inline]
    pub(super) fn tag(&self, slot: u32) -> u32 {
        let (index, within) = place(slot);
        let slots = self.chunks.get(index).and_then(|chunk| chunk.slots.as_ref());
        slots.map_or(0, |slots| slots[within].as_ref().map_or(0, |held| held.tag.get()))
    }

    /// As `at`, to change it.
    #[inline]
    pub(super) fn at_mut(&mut self, slot: u32) -> Option<(Seq, &mut Held<T>)> {
        let (index, within) = place(slot);
        let chunk = self.chunks.get_mut(index)?;
        let held = chunk.slots.as_mut()?[within].as_mut()?;
        Some(([chunk.era, held.seq], held))
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
        chunk.used -= 1;
        if chunk.used == 0 {
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
        } else if index != self.group * GROUP / CHUNK {
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

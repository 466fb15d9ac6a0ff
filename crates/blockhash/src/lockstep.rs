//! Hashes messages with the same number of blocks in lockstep, from the first block to the digest.
//!
//! ```text
//! where none of them has anything beyond the blocks that are whole in each (records of 64 bytes):
//!   the block of padding is the same for all, and is prepared once
//! otherwise:
//!   write what goes beyond, and its padding, into one or two blocks for each
//! run the kernel over the whole blocks, where they lie, and then over this
//! ```

use alloc::vec::Vec;

use lanesum_lanes::{BLOCK_LEN, Backend, Blocks, MAX_LANES};

use crate::Midstate;
use crate::hash::{BlockHash, Bytes as _, Plan, units};
use crate::padding::{PaddedTail, blocks_of};

/// The largest number of blocks of a short message, including padding.
pub(crate) const SHORT: usize = 16;

/// The total size in bytes up to which messages use more lanes than [`BlockHash::most_streams`].
/// More lanes do not pay for messages outside of the near caches.
const NEAR: usize = 4 << 20;

/// The largest number of lanes if all messages start at the same page offset. With more lanes,
/// prefetched lines evict each other from the first-level cache before they are used.
pub(crate) const CROWD: usize = 32;

/// The number of messages that are examined together.
pub(crate) const ROW: usize = 4 * MAX_LANES;

/// The number of messages that go together in few lanes, such as two.
const FEW: usize = 16;

/// The largest number of messages per lane that go together.
const MOST_GROUPS: usize = 8;

/// Hashes messages in lockstep.
#[derive(Debug)]
pub struct Lockstep<H: BlockHash> {
    backend: Backend,
    /// The state that all messages continue.
    start: Midstate<H>,
    /// The largest number of lanes.
    pub(crate) lanes: usize,
    /// The tails of previous messages, because those of the next ones may be similar.
    tails: Vec<PaddedTail<H>>,
    /// The last computed padding block: the length of its messages, and the block.
    padding: (usize, H::Padding),
}

impl<H: BlockHash> Lockstep<H> {
    pub(crate) fn new(backend: Backend, start: Midstate<H>) -> Self {
        let lanes = H::width(backend, MAX_LANES);
        Self { backend, start, lanes, tails: Vec::new(), padding: (usize::MAX, H::NO_PADDING) }
    }

    /// Computes the last state of each message if all have the same number of blocks. Returns
    /// whether they do.
    ///
    /// # Panics
    /// Panics if there are more than 256 messages, or not as many states.
    pub fn hash_if_alike(&mut self, messages: &[&[u8]], states: &mut [H::State]) -> bool {
        let (whole, [shortest, longest]) = Blocks::whole(messages, units::<H>());
        if blocks_of::<H>(shortest) != blocks_of::<H>(longest) {
            return false;
        }
        let lanes = self.lanes_for(messages, longest);
        // Several messages per lane go together, so that the first blocks of the next ones are
        // transposed during the last steps of the previous ones. The kernel starts these from the
        // initial state.
        let is_whole = self.start == Midstate::INITIAL;
        let together = if is_whole { lanes * (ROW / lanes).min(MOST_GROUPS) } else { lanes };
        let mut first = 0;
        while messages.len() - first >= lanes {
            let count = together.min((messages.len() - first) / lanes * lanes);
            let blocks = whole.lanes(first, count);
            self.fill(lanes, blocks, longest, &mut states[first..]);
            first += count;
        }
        while first < messages.len() {
            // Idle lanes hash the first message and have a place for its state.
            let width = H::width(self.backend, messages.len() - first);
            let count = width.min(messages.len() - first);
            let (mut all, mut found) = ([messages[first]; MAX_LANES], [H::State::ZEROS; MAX_LANES]);
            all[..count].copy_from_slice(&messages[first..][..count]);
            let blocks = Blocks::new(&all[..width], whole.count());
            self.fill(width, blocks, longest, &mut found);
            states[first..][..count].copy_from_slice(&found[..count]);
            first += count;
        }
        true
    }

    /// Returns how many of some equally long messages go together.
    fn lanes_for(&self, alike: &[&[u8]], longest: usize) -> usize {
        let most = self.lanes.min(alike.len());
        let streams = H::most_streams(self.backend);
        if most > streams && longest > NEAR / most {
            streams
        } else if most > CROWD && blocks_of::<H>(longest) > SHORT && are_crowded(&alike[..most]) {
            CROWD
        } else {
            self.lanes
        }
    }

    /// Computes states from the whole blocks of messages that fill all lanes of some groups.
    fn fill(&mut self, width: usize, whole: Blocks<'_>, longest: usize, states: &mut [H::State]) {
        // To empty a whole row takes as long as to hash two short messages.
        if whole.inputs().len() <= FEW {
            self.fill_of::<FEW>(width, whole, longest, states);
        } else {
            self.fill_of::<ROW>(width, whole, longest, states);
        }
    }

    /// Computes [`fill`](Self::fill) for at most `MOST` messages.
    fn fill_of<const MOST: usize>(
        &mut self,
        width: usize,
        whole: Blocks<'_>,
        longest: usize,
        states: &mut [H::State],
    ) {
        let (messages, count) = (whole.inputs(), whole.inputs().len());
        let length = whole.count() * BLOCK_LEN;
        let mut bytes;
        let (tails, last) = if longest == length {
            if self.padding.0 != length {
                let tail = PaddedTail::<H>::of(&[], self.start.length_with(length));
                self.padding = (length, H::padding(tail.blocks()));
            }
            (None, Some(&self.padding.1))
        } else {
            if self.tails.len() < count {
                self.tails.resize(count, PaddedTail::new());
            }
            bytes = [&[][..]; MOST];
            // Without iterators, whose functions may stay calls, once per message.
            for place in 0..count {
                let message = messages[place];
                self.tails[place].write(&message[length..], self.start.length_with(message.len()));
            }
            for place in 0..count {
                bytes[place] = self.tails[place].blocks();
            }
            (Some(Blocks::new(&bytes[..count], bytes[0].len() / BLOCK_LEN)), None)
        };
        let mut blocks = [[Blocks::NONE; 2]; MOST_GROUPS];
        let blocks = &mut blocks[..count / width];
        for (group, [first, second]) in blocks.iter_mut().enumerate() {
            *first = whole.lanes(group * width, width);
            *second = tails.map_or(Blocks::NONE, |tails| tails.lanes(group * width, width));
        }
        states[..width].fill(self.start.state);
        H::run(Plan { blocks, last, states }, self.backend, width);
    }
}

/// Returns whether messages start at few page offsets. Lines at the same offset share the 8 to 12
/// ways of one set of the first-level cache, so each evicts another one before it is used.
pub(crate) fn are_crowded(messages: &[&[u8]]) -> bool {
    const LINES_A_PAGE: usize = 64;
    const WAYS: u32 = 8;
    let places = messages.iter().fold(0_u64, |places, message| {
        places | 1 << (message.as_ptr().addr() / BLOCK_LEN % LINES_A_PAGE)
    });
    places.count_ones() * WAYS < messages.len() as u32
}

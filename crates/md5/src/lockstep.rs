//! Messages that take as many blocks each, side by side from the beginning to the digest.
//!
//! ```text
//! where none of them has anything beyond the blocks that are whole in each (records of 64 bytes):
//!   the block of padding is the same for all, and is added to the step table before
//! otherwise:
//!   write what goes beyond, and its padding, into one or two blocks for each
//! run the kernel over the whole blocks, where they lie, and then over this
//! ```

use alloc::vec::Vec;

use lanesum_lanes::{BLOCK_LEN, Backend, Blocks, MAX_LANES};

use crate::kernel::{INITIAL_STATE, Plan, State, Sums};
use crate::padding::{PaddedTail, blocks_of};
use crate::streams::most_streams;
use crate::table::{STEPS, Step};

/// The most blocks that a short message takes, padding included.
pub(crate) const SHORT: usize = 16;

/// Bytes of messages that may go together in more lanes than [`most_streams`], which does not pay
/// for what comes from far.
const NEAR: usize = 4 << 20;

/// How many lanes go forward together at most when all messages begin at the same place of their
/// pages. With more, the lines that were fetched ahead push each other out of the first-level cache
/// before they are used.
pub(crate) const CROWD: usize = 32;

/// How many messages are looked at together.
pub(crate) const ROW: usize = 4 * MAX_LANES;

/// How many times as many messages as lanes go together at most.
const MOST_GROUPS: usize = 8;

/// Hashes messages in lockstep.
pub(crate) struct Lockstep {
    backend: Backend,
    /// The most lanes there are.
    pub(crate) lanes: usize,
    /// The tails of some messages before, since those of the next ones may be similar.
    tails: Vec<PaddedTail>,
    /// The last block of padding that was computed: the length of its messages, and its sums.
    padding: (usize, Sums),
}

impl Lockstep {
    pub(crate) fn new(backend: Backend) -> Self {
        let lanes = backend.width_for(MAX_LANES);
        Self { backend, lanes, tails: Vec::new(), padding: (usize::MAX, [[0; 4]; 16]) }
    }

    /// The digest of each message, of any number, if all take as many blocks; says whether they do.
    pub(crate) fn hash_if_alike(&mut self, messages: &[&[u8]], digests: &mut [State]) -> bool {
        let (whole, [shortest, longest]) = Blocks::whole(messages);
        if blocks_of(shortest) != blocks_of(longest) {
            return false;
        }
        let lanes = self.lanes_for(messages, longest);
        // Several times as many as lanes go together, so that the first blocks of the next ones are
        // transposed during the last steps of those before.
        let together = lanes * (ROW / lanes).min(MOST_GROUPS);
        let mut first = 0;
        while messages.len() - first >= lanes {
            let count = together.min((messages.len() - first) / lanes * lanes);
            let blocks = whole.lanes(first, count);
            self.fill(lanes, blocks, longest, &mut digests[first..]);
            first += count;
        }
        let (messages, digests) = (&messages[first..], &mut digests[first..]);
        let count = messages.len();
        if count > 0 {
            // Idle lanes have the first message, and a place for its digest.
            let width = self.backend.width_for(count);
            let (mut all, mut found) = ([messages[0]; MAX_LANES], [[0; 16]; MAX_LANES]);
            all[..count].copy_from_slice(messages);
            let blocks = Blocks::new(&all[..width], whole.count());
            self.fill(width, blocks, longest, &mut found);
            digests.copy_from_slice(&found[..count]);
        }
        true
    }

    /// How many of some messages that are alike go forward together.
    fn lanes_for(&self, alike: &[&[u8]], longest: usize) -> usize {
        let most = self.lanes.min(alike.len());
        let streams = most_streams(self.backend);
        if most > streams && longest > NEAR / most {
            streams
        } else if most > CROWD && blocks_of(longest) > SHORT && are_crowded(&alike[..most]) {
            CROWD
        } else {
            self.lanes
        }
    }

    /// The digests of messages by their whole blocks, which all lanes of some groups of a width
    /// have.
    fn fill(&mut self, width: usize, whole: Blocks<'_>, longest: usize, digests: &mut [State]) {
        let (messages, count) = (whole.inputs(), whole.inputs().len());
        let length = whole.count() * BLOCK_LEN;
        let mut bytes;
        let (tails, last) = if longest == length {
            if self.padding.0 != length {
                self.padding = (length, padding(length));
            }
            (None, Some(&self.padding.1))
        } else {
            self.tails.resize(count.max(self.tails.len()), PaddedTail::new());
            bytes = [&[][..]; ROW];
            let places = self.tails.iter_mut().zip(&mut bytes);
            for (message, (tail, bytes)) in messages.iter().zip(places) {
                tail.write(&message[length..], message.len() as u64);
                *bytes = tail.blocks();
            }
            (Some(Blocks::new(&bytes[..count], bytes[0].len() / BLOCK_LEN)), None)
        };
        let mut blocks = [[Blocks::NONE; 2]; MOST_GROUPS];
        let blocks = &mut blocks[..count / width];
        for (group, [first, second]) in blocks.iter_mut().enumerate() {
            *first = whole.lanes(group * width, width);
            *second = tails.map_or(Blocks::NONE, |tails| tails.lanes(group * width, width));
        }
        digests[..width].fill(INITIAL_STATE);
        Plan { blocks, last, states: digests }.run(self.backend, width);
    }
}

/// Whether messages begin at few places of their pages. Lines of the same place share the few ways
/// (8 to 12) of one set of the first-level cache, so that each pushes out another before it is
/// used.
pub(crate) fn are_crowded(messages: &[&[u8]]) -> bool {
    const LINES_A_PAGE: usize = 64;
    const WAYS: u32 = 8;
    let places = messages.iter().fold(0_u64, |places, message| {
        places | 1 << (message.as_ptr().addr() / BLOCK_LEN % LINES_A_PAGE)
    });
    places.count_ones() * WAYS < messages.len() as u32
}

/// The last block of messages of so many whole blocks: nothing but padding, the same for all. Its
/// words are added to the constants of the steps that take them.
fn padding(length: usize) -> Sums {
    let tail = PaddedTail::of(&[], length as u64);
    let (words, _) = tail.blocks().as_chunks();
    let sum = |step: Step| u32::from_le_bytes(words[step.word]).wrapping_add(step.constant);
    STEPS.map(|steps| steps.map(sum))
}

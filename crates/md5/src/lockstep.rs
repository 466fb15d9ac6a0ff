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

use crate::kernel::{Start, State, Sums, compress};
use crate::padding::{PaddedTail, blocks_of};
use crate::table::STEPS;

/// Hashes messages in lockstep.
pub(crate) struct Lockstep {
    backend: Backend,
    /// The tails of some messages before, since those of the next ones may be similar.
    tails: Vec<PaddedTail>,
    /// The last block of some messages before that had nothing else in it.
    padding: Padding,
}

impl Lockstep {
    pub(crate) fn new(backend: Backend) -> Self {
        Self { backend, tails: Vec::new(), padding: Padding::of(0) }
    }

    /// The digest of each message. There are as many as lanes at most, at least one, and all take as
    /// many blocks.
    pub(crate) fn hash(&mut self, messages: &[&[u8]], digests: &mut [State]) {
        let count = messages.len();
        let width = self.backend.width_for(count);
        if count == width {
            self.fill(messages, &mut digests[..width]);
        } else {
            // Idle lanes have the first message, and a place for its digest.
            let (mut all, mut found) = ([messages[0]; MAX_LANES], [[0; 16]; MAX_LANES]);
            all[..count].copy_from_slice(messages);
            self.fill(&all[..width], &mut found[..width]);
            digests.copy_from_slice(&found[..count]);
        }
    }

    /// The same of as many messages as the lanes of a width.
    fn fill(&mut self, messages: &[&[u8]], digests: &mut [State]) {
        let width = messages.len();
        let (shortest, longest) = lengths(messages);
        assert!(blocks_of(shortest) == blocks_of(longest), "as many blocks each");
        let whole = Blocks::new(messages, shortest / BLOCK_LEN);
        let length = whole.count() * BLOCK_LEN;
        if longest == length {
            if self.padding.length != length {
                self.padding = Padding::of(length);
            }
            let last = Some(&self.padding.sums);
            compress(self.backend, width, Start::Initial, &[whole], last, digests);
        } else {
            self.tails.resize(width.max(self.tails.len()), PaddedTail::new());
            let mut tails = [&[][..]; MAX_LANES];
            for ((tail, message), bytes) in self.tails.iter_mut().zip(messages).zip(&mut tails) {
                tail.write(&message[length..], message.len() as u64);
                *bytes = tail.blocks();
            }
            let tails = Blocks::new(&tails[..width], tails[0].len() / BLOCK_LEN);
            compress(self.backend, width, Start::Initial, &[whole, tails], None, digests);
        }
    }
}

/// The lengths of the shortest and the longest message.
#[inline]
pub(crate) fn lengths(messages: &[&[u8]]) -> (usize, usize) {
    messages.iter().fold((usize::MAX, 0), |(shortest, longest), message| {
        (shortest.min(message.len()), longest.max(message.len()))
    })
}

/// The last block of messages of so many whole blocks: nothing but padding, the same for all.
struct Padding {
    length: usize,
    /// Its words, each added to the constant of the step that takes it.
    sums: Sums,
}

impl Padding {
    fn of(length: usize) -> Self {
        let mut tail = PaddedTail::new();
        tail.write(&[], length as u64);
        let (words, _) = tail.blocks().as_chunks();
        let sums =
            STEPS.map(|step| u32::from_le_bytes(words[step.word]).wrapping_add(step.constant));
        Self { length, sums }
    }
}

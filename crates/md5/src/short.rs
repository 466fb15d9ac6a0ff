//! Many short messages that are at hand whole: in gangs of as many as there are lanes, which take the
//! same number of blocks each, so that all begin and end together.
//!
//! ```text
//! as many neighbours as there are lanes, and as many blocks each, are a gang as they stand; in other cases each
//! waits among those of as many blocks, and when they are as many as the lanes, they are a gang:
//!   where none of them has anything beyond the blocks that are whole in each (records of 64 bytes):
//!     the block of padding is the same for all, and is added to the step table before
//!   otherwise:
//!     write what goes beyond, and its padding, into one or two blocks for each
//!   run the kernel over the whole blocks, where they lie, and then over this
//! ```
//!
//! [`Lanes`](crate::Lanes) could do that too, as it does with whatever ends at its own time, but asks
//! every stream what it has next, several times a message: a message of 64 bytes takes three times as long there.

use alloc::vec::Vec;
use core::ops::ControlFlow;
use core::slice;

use lanesum_lanes::{BLOCK_LEN, Backend, Blocks, MAX_LANES};

use crate::Digest;
use crate::edge::{End, blocks_of};
use crate::kernel::hash_gang;
use crate::table::STEPS;

/// The most blocks that a message takes here, padding included.
const MOST_BLOCKS: usize = 16;

/// Short messages, of which as many as there are lanes, and as many blocks each, make a gang.
pub(crate) struct Gangs<M> {
    hasher: Hasher,
    lanes: usize,
    /// Neighbours, fewer than a gang, and the number of the first of them.
    neighbours: Vec<M>,
    first: usize,
    /// Those that take another number of blocks than their neighbours, with their numbers, by that number of blocks.
    waiting: [Vec<(usize, M)>; MOST_BLOCKS],
    /// Whether the last message has been taken.
    no_more: bool,
}

impl<M: AsRef<[u8]>> Gangs<M> {
    pub(crate) fn new(backend: Backend) -> Self {
        let lanes = backend.width_for(MAX_LANES);
        Self {
            hasher: Hasher::new(backend),
            lanes,
            neighbours: Vec::with_capacity(lanes),
            first: 0,
            waiting: [const { Vec::new() }; MOST_BLOCKS],
            no_more: false,
        }
    }

    /// Takes messages up to the next one that is too long, which it gives back with its number, or to the last.
    /// There is a digest for each message taken, which is none yet as long as it waits.
    #[inline]
    pub(crate) fn next_long(
        &mut self,
        messages: &mut impl Iterator<Item = M>,
        digests: &mut Vec<Digest>,
    ) -> Option<(usize, M)> {
        while !self.no_more {
            let long = messages.by_ref().take(self.lanes).try_for_each(|message| {
                if blocks_of(message.as_ref().len()) > MOST_BLOCKS {
                    return ControlFlow::Break(message);
                }
                self.neighbours.push(message);
                ControlFlow::Continue(())
            });
            self.no_more = long.is_continue() && self.neighbours.len() < self.lanes;
            self.sort(digests);
            if let ControlFlow::Break(message) = long {
                let number = self.first;
                self.first += 1;
                digests.push(Digest::default());
                return Some((number, message));
            }
        }
        None
    }

    /// A message that waits, with its number: what is left when no gang will be complete any more.
    pub(crate) fn pop(&mut self) -> Option<(usize, M)> {
        self.waiting.iter_mut().find_map(Vec::pop)
    }

    /// Hashes neighbours that are a gang; otherwise puts each where it belongs. After the last message a
    /// quarter of a gang will do.
    fn sort(&mut self, digests: &mut Vec<Digest>) {
        let least = if self.no_more { self.lanes / 4 } else { self.lanes };
        if self.neighbours.len() >= least
            && let Some(found) = self.hasher.hash(self.neighbours.iter().map(AsRef::as_ref))
        {
            self.first += found.len();
            digests.extend(found.iter().copied().map(Digest));
            self.neighbours.clear();
        }
        for message in self.neighbours.drain(..) {
            let gang = &mut self.waiting[blocks_of(message.as_ref().len()) - 1];
            gang.push((self.first, message));
            self.first += 1;
            digests.push(Digest::default());
            if gang.len() == self.lanes {
                self.hasher.hash_numbered(gang, digests);
            }
        }
        if self.no_more {
            for gang in self.waiting.iter_mut().filter(|gang| gang.len() >= least) {
                self.hasher.hash_numbered(gang, digests);
            }
        }
    }
}

/// Hashes gangs.
struct Hasher {
    backend: Backend,
    /// The ends of the messages of some gang before, since those of the next one may be similar.
    ends: Vec<End>,
    /// The last block of some gang before in which nobody had anything else.
    padding: Padding,
    digests: [[u8; 16]; MAX_LANES],
}

impl Hasher {
    fn new(backend: Backend) -> Self {
        Self { backend, ends: Vec::new(), padding: Padding::of(0), digests: [[0; 16]; MAX_LANES] }
    }

    /// Takes messages that take as many blocks each, at least one message, to the digests of their numbers.
    fn hash_numbered<M: AsRef<[u8]>>(
        &mut self,
        gang: &mut Vec<(usize, M)>,
        digests: &mut [Digest],
    ) {
        let messages = gang.iter().map(|(_, message)| message.as_ref());
        let found = self.hash(messages).expect("as many blocks each");
        for ((number, _), digest) in gang.drain(..).zip(found) {
            digests[number] = Digest(*digest);
        }
    }

    /// The digests of messages that take as many blocks each, at least one message; `None` if they do not.
    #[inline]
    fn hash<'a>(
        &mut self,
        messages: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
    ) -> Option<&[[u8; 16]]> {
        let mut longest = 0;
        let whole = messages.clone().inspect(|message| longest = longest.max(message.len()));
        let whole = Blocks::whole(whole);
        let width = self.backend.width_for(messages.len());
        let length = whole.count() * BLOCK_LEN;
        if longest == length {
            if self.padding.length != length {
                self.padding = Padding::of(length);
            }
            let (parts, last) = (slice::from_ref(&whole), Some(&self.padding.sums));
            hash_gang(self.backend, width, parts, last, &mut self.digests);
        } else {
            let blocks = blocks_of(longest);
            if messages.clone().any(|message| blocks_of(message.len()) != blocks) {
                return None;
            }
            self.ends.resize(messages.len().max(self.ends.len()), End::new());
            for (end, message) in self.ends.iter_mut().zip(messages.clone()) {
                end.write(&message[length..], message.len() as u64);
            }
            let ends = Blocks::whole(self.ends[..messages.len()].iter().map(End::blocks));
            hash_gang(self.backend, width, &[whole, ends], None, &mut self.digests);
        }
        Some(&self.digests[..messages.len()])
    }
}

/// The last block of messages of so many whole blocks: nothing but padding, the same for all of them.
struct Padding {
    length: usize,
    /// Its words, each added to the constant of the step that takes it.
    sums: [u32; 64],
}

impl Padding {
    fn of(length: usize) -> Self {
        let mut end = End::new();
        end.write(&[], length as u64);
        let (words, _) = end.blocks().as_chunks();
        let sums =
            STEPS.map(|step| u32::from_le_bytes(words[step.word]).wrapping_add(step.constant));
        Self { length, sums }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::md5;

    #[test]
    fn every_length_is_hashed_in_a_gang_or_given_back() {
        let bytes: Vec<u8> = (0..2000_u32).map(|index| (index * 31 % 251) as u8).collect();
        for backend in Backend::available() {
            let mut gangs = Gangs::new(backend);
            let lanes = gangs.lanes;
            // Each length as often as there are lanes, at other bytes each time: first in turns, so that each waits
            // for its like, then side by side.
            let turns = (0..lanes).flat_map(|turn| (0..=1100).map(move |length| (turn, length)));
            let runs = (0..=1100).flat_map(|length| (0..lanes).map(move |turn| (turn, length)));
            let messages: Vec<&[u8]> =
                turns.chain(runs).map(|(turn, length)| &bytes[turn..][..length]).collect();
            let mut digests = Vec::new();
            let mut waiting = messages.iter();
            let long = core::iter::from_fn(|| gangs.next_long(&mut waiting, &mut digests));
            let long: Vec<(usize, &&[u8])> = long.collect();
            assert!(long.iter().all(|(_, message)| message.len() > MOST_BLOCKS * BLOCK_LEN - 9));
            assert_eq!(long.len(), 2 * lanes * (1100 + 9 - MOST_BLOCKS * BLOCK_LEN));
            let left: Vec<_> = core::iter::from_fn(|| gangs.pop()).collect();
            assert!(left.len() < MOST_BLOCKS * (lanes / 4).max(1), "{backend}: {}", left.len());
            for (number, message) in long.into_iter().chain(left) {
                assert_eq!(digests[number], Digest::default(), "not hashed here");
                digests[number] = md5(message);
            }
            assert_eq!(digests.len(), messages.len());
            for (digest, message) in digests.iter().zip(messages) {
                assert_eq!(*digest, md5(message), "{backend}: {} bytes", message.len());
            }
        }
    }
}

//! Many messages that are at hand whole: in gangs of as many as there are lanes, which take the
//! same number of blocks each, so that all begin and end together.
//!
//! ```text
//! take a row of neighbours, several times as many as there are lanes; of owned ones, up to the first that is longer
//! if all take as many blocks each, they are gangs as they stand; if not, as many of them as there are lanes may be one; in
//! other cases each waits among those of as many blocks, and when they are as many as the lanes, they are a gang:
//!   where none of them has anything beyond the blocks that are whole in each (records of 64 bytes):
//!     the block of padding is the same for all, and is added to the step table before
//!   otherwise:
//!     write what goes beyond, and its padding, into one or two blocks for each
//!   run the kernel over the whole blocks, where they lie, and then over this, and go on to the next gang of the row
//! ```
//!
//! Longer ones do not wait for their like. But they are sorted by their lengths, and those that are alike then make up
//! gangs as well. What is left goes the way of `uneven.rs`.
//!
//! [`Lanes`](crate::Lanes) could do that too, as it does with whatever ends at its own time, but asks
//! every stream what it has next, several times a message: a message of 64 bytes takes three times as long there,
//! and one of 4 KiB 1.1 times.

use alloc::vec::Vec;
use core::slice;

use lanesum_lanes::{BLOCK_LEN, Backend, Blocks, MAX_LANES, fetch};

use crate::edge::{End, blocks_of};
use crate::gang::hash_gang;
use crate::many::{CROWD, Column, is_owned};
use crate::table::STEPS;

/// The most blocks that a message takes that waits for its like, padding included.
const MOST_BLOCKS: usize = 16;

/// Bytes of messages that may go together in more lanes than [`Backend::most_streams`], which does not pay for what
/// comes from far.
const NEAR: usize = 4 << 20;

/// Messages that are taken at once: several gangs, so that the next one's first block is made ready while one is hashed.
const ROW: usize = 2 * MAX_LANES;

/// Short messages, of which as many as there are lanes, and as many blocks each, make a gang.
pub(crate) struct Gangs<M> {
    hasher: Hasher,
    lanes: usize,
    /// The last messages taken, neighbours; `None` where one was taken out. Of owned ones only the last may
    /// be too long, so that a row holds few bytes.
    row: Vec<Option<M>>,
    /// How many of these are sorted already.
    sorted: usize,
    /// The number of the first message that is not sorted yet.
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
            row: Vec::new(),
            sorted: 0,
            first: 0,
            waiting: [const { Vec::new() }; MOST_BLOCKS],
            no_more: false,
        }
    }

    /// Takes messages up to the next one that is too long, which it gives back with its number, or to the last, and puts
    /// the digests of others into their places.
    #[inline]
    pub(crate) fn next_long(
        &mut self,
        messages: &mut impl Iterator<Item = M>,
        digests: &mut (impl Column + ?Sized),
    ) -> Option<(usize, M)> {
        while !self.have_all() {
            if self.sorted == self.row.len() {
                self.row.clear();
                self.sorted = 0;
                if is_owned::<M>() {
                    self.take_owned_row(messages);
                } else {
                    self.row.extend(messages.by_ref().take(ROW).map(Some));
                    self.no_more = self.row.len() < ROW;
                }
                if self.hash_row(digests) {
                    continue;
                }
            }
            let most = self.lanes.min(self.row.len() - self.sorted);
            let next = &self.row[self.sorted..][..most];
            let count = next.iter().position(|it| is_long(bytes(it))).unwrap_or(most);
            self.sort(count, digests);
            if count < most {
                let long = self.row[self.sorted].take();
                (self.sorted, self.first) = (self.sorted + 1, self.first + 1);
                return long.map(|message| (self.first - 1, message));
            }
        }
        let least = self.least();
        for gang in self.waiting.iter_mut().filter(|gang| gang.len() >= least) {
            self.hasher.hash_numbered(gang, digests);
            gang.clear();
        }
        None
    }

    /// Takes the next messages of those that are owned, up to the first one that is long: to look at each by itself
    /// takes an eighth of the time of those of 64 bytes.
    fn take_owned_row(&mut self, messages: &mut impl Iterator<Item = M>) {
        while self.row.len() < ROW {
            let Some(message) = messages.next() else {
                self.no_more = true;
                return;
            };
            let is_long = is_long(message.as_ref());
            self.row.push(Some(message));
            if is_long {
                return;
            }
        }
    }

    /// Whether the last message has been taken.
    pub(crate) fn have_all(&self) -> bool {
        self.no_more && self.sorted == self.row.len()
    }

    /// The fewest messages that make a gang: after the last message a quarter will do.
    fn least(&self) -> usize {
        if self.no_more { (self.lanes / 4).max(1) } else { self.lanes }
    }

    /// How many messages have been taken.
    pub(crate) const fn taken(&self) -> usize {
        self.first
    }

    /// A message that waits, with its number: what is left when no gang will be complete any more.
    pub(crate) fn pop(&mut self) -> Option<(usize, M)> {
        self.waiting.iter_mut().find_map(Vec::pop)
    }

    /// Takes those of messages in the order of their lengths that make up gangs: of as many blocks each, and as many as
    /// fill lanes. After the last message a quarter will do, if there are no others.
    #[inline]
    pub(crate) fn take_long(
        &mut self,
        messages: &mut Vec<(usize, M)>,
        digests: &mut (impl Column + ?Sized),
    ) {
        let streams = self.hasher.backend.most_streams();
        let (mut kept, mut first) = (0, 0);
        while let Some(alike) = messages[first..].chunk_by(|a, b| blocks(a) == blocks(b)).next() {
            let count = alike.len();
            let mut lanes = self.lanes.min(count);
            if lanes > streams && alike[0].1.as_ref().len() > NEAR / lanes {
                lanes = streams;
            }
            if lanes > CROWD && are_crowded(&alike[..lanes]) {
                lanes = CROWD;
            }
            let are_last = self.have_all() && kept == 0 && first + count == messages.len();
            if lanes < self.lanes && !are_last {
                lanes = lanes.min(CROWD);
            }
            let least = if are_last { (self.lanes / 4).max(1) } else { self.lanes.min(CROWD) };
            if lanes >= least {
                self.hasher.hash_numbered(&alike[..lanes], digests);
                first += lanes;
            } else {
                for place in 0..count {
                    messages.swap(kept + place, first + place);
                }
                kept += count;
                first += count;
            }
        }
        messages.truncate(kept);
    }

    /// Hashes all messages of a row if they are gangs as they stand.
    fn hash_row(&mut self, digests: &mut (impl Column + ?Sized)) -> bool {
        if self.row.is_empty() || !self.row.len().is_multiple_of(self.lanes) {
            return false;
        }
        let count = self.row.len();
        let (row, first) = (self.row.iter().map(bytes), self.first);
        let is_hashed =
            self.hasher.hash::<ROW>(row, MOST_BLOCKS, move || digests.places(first, count));
        if is_hashed {
            self.sorted = count;
            self.first += count;
        }
        is_hashed
    }

    /// Hashes the next `count` of the row if they are a gang; otherwise puts each where it belongs.
    fn sort(&mut self, count: usize, digests: &mut (impl Column + ?Sized)) {
        let least = self.least();
        let row = &mut self.row[self.sorted..][..count];
        self.sorted += count;
        if count >= least {
            let mut found = [[0; 16]; MAX_LANES];
            if self.hasher.hash::<MAX_LANES>(row.iter().map(bytes), MOST_BLOCKS, || &mut found) {
                digests.places(self.first, count).copy_from_slice(&found[..count]);
                self.first += count;
                return;
            }
        }
        for message in row.iter_mut().filter_map(Option::take) {
            // When it is its turn, others have been read in between.
            fetch(message.as_ref());
            let gang = &mut self.waiting[blocks_of(message.as_ref().len()) - 1];
            gang.push((self.first, message));
            self.first += 1;
            if gang.len() == self.lanes {
                self.hasher.hash_numbered(gang, digests);
                gang.clear();
            }
        }
    }
}

/// Whether a message does not wait for its like.
#[inline]
fn is_long(message: &[u8]) -> bool {
    blocks_of(message.len()) > MOST_BLOCKS
}

/// The bytes of a message of a row.
fn bytes<M: AsRef<[u8]>>(message: &Option<M>) -> &[u8] {
    message.as_ref().expect("not taken out").as_ref()
}

/// How many blocks a message takes.
fn blocks<M: AsRef<[u8]>>((_, message): &(usize, M)) -> usize {
    blocks_of(message.as_ref().len())
}

/// Whether messages begin at so few places of their pages that their lines push each other out of the first-level cache.
fn are_crowded<M: AsRef<[u8]>>(messages: &[(usize, M)]) -> bool {
    let messages = messages.iter().map(|(_, message)| message.as_ref());
    Blocks::<MAX_LANES>::whole(messages).are_crowded()
}

/// Hashes gangs.
struct Hasher {
    backend: Backend,
    /// The ends of the messages of some gang before, since those of the next one may be similar.
    ends: Vec<End>,
    /// The last block of some gang before in which nobody had anything else.
    padding: Padding,
}

impl Hasher {
    fn new(backend: Backend) -> Self {
        Self { backend, ends: Vec::new(), padding: Padding::of(0) }
    }

    /// Takes messages that take as many blocks each, at least one message.
    fn hash_numbered<M: AsRef<[u8]>>(
        &mut self,
        gang: &[(usize, M)],
        digests: &mut (impl Column + ?Sized),
    ) {
        let messages = gang.iter().map(|(_, message)| message.as_ref());
        let mut found = [[0; 16]; MAX_LANES];
        let is_hashed = self.hash::<MAX_LANES>(messages, usize::MAX, || &mut found);
        assert!(is_hashed, "as many blocks each");
        for ((number, _), digest) in gang.iter().zip(found) {
            digests.places(*number, 1)[0] = digest;
        }
    }

    /// Hashes messages that take as many blocks each, at least one message; false if they do not, or take more
    /// than `most` blocks. There may be `N` messages: more than there are lanes if these are gangs without an idle lane. It asks
    /// for places for their digests once it hashes them: as many as those, or as a gang's lanes.
    #[inline]
    fn hash<'a, 'd, const N: usize>(
        &mut self,
        messages: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
        most: usize,
        places: impl FnOnce() -> &'d mut [[u8; 16]],
    ) -> bool {
        let mut longest = 0;
        let whole = messages.clone().inspect(|message| longest = longest.max(message.len()));
        let whole = Blocks::<N>::whole(whole);
        let length = whole.count() * BLOCK_LEN;
        let blocks = blocks_of(longest);
        if blocks > most {
            return false;
        }
        let width = self.backend.width_for_all(messages.len().min(MAX_LANES));
        if longest == length {
            if self.padding.length != length {
                self.padding = Padding::of(length);
            }
            let (parts, last) = (slice::from_ref(&whole), Some(&self.padding.sums));
            hash_gang(self.backend, width, parts, last, places());
        } else {
            if messages.clone().any(|message| blocks_of(message.len()) != blocks) {
                return false;
            }
            self.ends.resize(messages.len().max(self.ends.len()), End::new());
            for (end, message) in self.ends.iter_mut().zip(messages.clone()) {
                end.write(&message[length..], message.len() as u64);
            }
            let ends = Blocks::whole(self.ends[..messages.len()].iter().map(End::blocks));
            hash_gang(self.backend, width, &[whole, ends], None, places());
        }
        true
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

    /// Gives each place once.
    struct Once {
        digests: Vec<[u8; 16]>,
        given: Vec<bool>,
    }

    impl Column for Once {
        fn places(&mut self, first: usize, count: usize) -> &mut [[u8; 16]] {
            for given in &mut self.given[first..][..count] {
                assert!(!core::mem::replace(given, true), "found once");
            }
            &mut self.digests[first..][..count]
        }
    }

    #[test]
    fn every_length_is_hashed_in_a_gang_or_given_back() {
        let bytes: Vec<u8> = (0..2000_u32).map(|index| (index * 31 % 251) as u8).collect();
        for backend in crate::tests::backends() {
            let mut gangs = Gangs::new(backend);
            let lanes = gangs.lanes;
            // Each length as often as there are lanes, at other bytes each time: first in turns, so that each waits
            // for its like, then side by side.
            let turns = (0..lanes).flat_map(|turn| (0..=1100).map(move |length| (turn, length)));
            let runs = (0..=1100).flat_map(|length| (0..lanes).map(move |turn| (turn, length)));
            let messages: Vec<&[u8]> =
                turns.chain(runs).map(|(turn, length)| &bytes[turn..][..length]).collect();
            let count = messages.len();
            let mut digests =
                Once { digests: alloc::vec![[0; 16]; count], given: alloc::vec![false; count] };
            let mut waiting = messages.iter();
            let long = core::iter::from_fn(|| gangs.next_long(&mut waiting, &mut digests));
            let long: Vec<(usize, &&[u8])> = long.collect();
            assert!(long.iter().all(|(_, message)| message.len() > MOST_BLOCKS * BLOCK_LEN - 9));
            assert_eq!(long.len(), 2 * lanes * (1100 + 9 - MOST_BLOCKS * BLOCK_LEN));
            let left: Vec<_> = core::iter::from_fn(|| gangs.pop()).collect();
            assert!(left.len() < MOST_BLOCKS * (lanes / 4).max(1), "{backend}: {}", left.len());
            for (number, message) in long.into_iter().chain(left) {
                assert!(!digests.given[number], "not hashed here");
                digests.places(number, 1)[0] = md5(message).0;
            }
            assert_eq!(gangs.taken(), messages.len());
            assert!(digests.given.iter().all(|&given| given), "every one was hashed");
            for (digest, message) in digests.digests.iter().zip(messages) {
                assert_eq!(*digest, md5(message).0, "{backend}: {} bytes", message.len());
            }
        }
    }
}

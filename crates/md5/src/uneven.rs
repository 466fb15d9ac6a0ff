//! Many messages that are at hand whole and do not take the same number of blocks.
//!
//! ```text
//! until nothing but ends is left:
//!   take the messages that have most left, as many as there are lanes
//!   run the kernel over as many blocks of each as the shortest of them has left
//! with the ends, those of one block and those of two: the same
//! ```
//!
//! What is left of each is then much the same for many again. So they come to their ends in a few large steps, with all
//! lanes in use: 512 messages of up to 64 KiB in some seventy runs of 16 lanes. As streams in [`Lanes`](crate::Lanes)
//! they take a thousand, since each stops the others twice. And the longest is always among those that go forward.

use alloc::vec::Vec;

use lanesum_lanes::{BLOCK_LEN, Backend, Blocks, MAX_LANES, fetch};

use crate::Digest;
use crate::edge::{End, blocks_of};
use crate::gang::compress_lanes;
use crate::kernel::States;
use crate::many::{Column, turn, width_for};
use crate::table::INITIAL;

/// Messages on their way.
pub(crate) struct Uneven<M> {
    backend: Backend,
    /// The most messages to take forward together.
    most: usize,
    /// None where a message has ended.
    messages: Vec<Option<Begun<M>>>,
    /// Those that have most left, ascending.
    first: Vec<Left>,
    /// Those that have come since, or gone forward, and that others have more left than.
    later: Vec<Left>,
    /// Those of which nothing is left but an end of one block, and of two.
    ended: [Vec<Left>; 2],
    ends: Vec<End>,
}

/// A message, its number, and where it stands.
struct Begun<M> {
    number: usize,
    message: M,
    /// Bytes that are hashed, in whole blocks.
    hashed: usize,
    state: [u32; 4],
}

impl<M: AsRef<[u8]>> Begun<M> {
    /// What is not hashed yet.
    #[inline]
    fn rest(&self) -> &[u8] {
        &self.message.as_ref()[self.hashed..]
    }
}

/// How many whole blocks are left of a message, and which one that is: small, since there is much sorting.
#[derive(Clone, Copy, Default)]
struct Left {
    blocks: usize,
    message: usize,
}

impl<M: AsRef<[u8]>> Uneven<M> {
    pub(crate) fn new(backend: Backend) -> Self {
        Self {
            backend,
            most: backend.most_streams(),
            messages: Vec::new(),
            first: Vec::new(),
            later: Vec::new(),
            ended: [const { Vec::new() }; 2],
            ends: Vec::new(),
        }
    }

    /// Takes messages, each with its number.
    pub(crate) fn extend(&mut self, messages: impl IntoIterator<Item = (usize, M)>) {
        for (number, message) in messages {
            self.take(Begun { number, message, hashed: 0, state: INITIAL });
        }
    }

    /// Hashes as long as there are messages for all lanes, or to the last, and puts digests into their places.
    pub(crate) fn hash(&mut self, to_the_last: bool, digests: &mut (impl Column + ?Sized)) {
        let least = if to_the_last { 1 } else { self.most };
        while self.first.len() + self.later.len() >= least {
            self.go_forward();
        }
        self.end(least, digests);
        let unfinished: Vec<_> = self.messages.drain(..).flatten().collect();
        self.first.clear();
        self.later.clear();
        self.ended.iter_mut().for_each(Vec::clear);
        unfinished.into_iter().for_each(|begun| self.take(begun));
    }

    /// Bytes of the messages that have not ended.
    pub(crate) fn bytes(&self) -> usize {
        let lengths = self.messages.iter().flatten().map(|begun| begun.message.as_ref().len());
        lengths.fold(0, usize::saturating_add)
    }

    fn take(&mut self, begun: Begun<M>) {
        let left = Left { blocks: begun.rest().len() / BLOCK_LEN, message: self.messages.len() };
        self.messages.push(Some(begun));
        self.put(left);
    }

    /// Puts a message where it belongs. Comes with those that have more left afterwards.
    fn put(&mut self, left: Left) {
        if left.blocks == 0 {
            let blocks = blocks_of(self.begun(left).rest().len());
            self.ended[blocks - 1].push(left);
        } else if self.first.last().is_some_and(|last| last.blocks <= left.blocks) {
            self.first.push(left);
        } else {
            self.later.push(left);
        }
    }

    fn begun(&self, left: Left) -> &Begun<M> {
        self.messages[left.message].as_ref().expect("not ended")
    }

    /// Takes those forward that have most left, by as many blocks as all of them have.
    fn go_forward(&mut self) {
        if self.first.len() < self.most && !self.later.is_empty() {
            self.first.append(&mut self.later);
            self.first.sort_unstable_by_key(|left| left.blocks);
        }
        let others = self.first.len().saturating_sub(self.most);
        for &next in &self.first[others.saturating_sub(self.most)..others] {
            let rest = self.begun(next).rest();
            fetch(&rest[..rest.len().min(FETCHED)]);
        }
        let mut blocks = self.rests(&self.first[others..]);
        let lanes = blocks.lanes();
        let width = width_for(self.backend, &blocks);
        let active = width.min(lanes);
        let mut moving = [Left::default(); MAX_LANES];
        let moving = &mut moving[..active];
        moving.copy_from_slice(&self.first[self.first.len() - active..]);
        if active < lanes {
            // They come to their ends together.
            blocks = turn(self.rests(moving));
        }
        let count = blocks.count();
        let states = self.forward(width, moving, blocks);
        self.first.truncate(self.first.len() - active);
        for (lane, left) in moving.iter_mut().enumerate() {
            let begun = self.messages[left.message].as_mut().expect("not ended");
            begun.state = state_of(&states, lane);
            begun.hashed += count * BLOCK_LEN;
            left.blocks -= count;
            self.put(*left);
        }
    }

    /// Ends messages of which nothing but the end is left, as long as there are so many.
    fn end(&mut self, least: usize, digests: &mut (impl Column + ?Sized)) {
        self.ends.resize(self.most, End::new());
        for kind in 0..self.ended.len() {
            while self.ended[kind].len() >= least {
                let lanes = self.ended[kind].len().min(self.most);
                let ending = self.ended[kind].split_off(self.ended[kind].len() - lanes);
                for (end, left) in self.ends.iter_mut().zip(&ending) {
                    let begun = self.messages[left.message].as_ref().expect("not ended");
                    end.write(begun.rest(), begun.message.as_ref().len() as u64);
                }
                let ends = Blocks::whole(self.ends[..lanes].iter().map(End::blocks));
                let states = self.forward(self.backend.width_for_all(lanes), &ending, ends);
                for (lane, left) in ending.iter().enumerate() {
                    let begun = self.messages[left.message].take().expect("not ended");
                    let digest = Digest::from_state(state_of(&states, lane));
                    digests.places(begun.number, 1)[0] = digest.0;
                }
            }
        }
    }

    /// The whole blocks that all of these messages have left.
    fn rests(&self, messages: &[Left]) -> Blocks<'_> {
        Blocks::whole(messages.iter().map(|&left| self.begun(left).rest()))
    }

    /// The states of messages after these blocks.
    fn forward(&self, width: usize, messages: &[Left], blocks: Blocks<'_>) -> States<MAX_LANES> {
        let mut states = [[0; MAX_LANES]; 4];
        for (lane, &left) in messages.iter().enumerate() {
            let state = self.begun(left).state;
            states.iter_mut().zip(state).for_each(|(words, word)| words[lane] = word);
        }
        compress_lanes(self.backend, width, &mut states, blocks);
        states
    }
}

fn state_of(states: &States<MAX_LANES>, lane: usize) -> [u32; 4] {
    states.each_ref().map(|words| words[lane])
}

/// Bytes of the messages that are next which are fetched into a cache meanwhile. The kernel asks for those behind in time.
const FETCHED: usize = 4 * BLOCK_LEN;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::many::CROWD;
    use crate::md5;
    use crate::tests::backends;

    /// Lengths up to a limit, in no order.
    fn lengths(count: usize, limit: usize) -> impl Iterator<Item = usize> {
        (0..count).map(move |index| index * 7919 % (limit + 1))
    }

    /// Gives each place once.
    struct Once(Vec<Option<[[u8; 16]; 1]>>);

    impl Column for Once {
        fn places(&mut self, first: usize, count: usize) -> &mut [[u8; 16]] {
            assert_eq!(count, 1);
            assert!(self.0[first].is_none(), "found once");
            self.0[first].insert([[0; 16]])
        }
    }

    #[test]
    fn each_message_is_found_once() {
        let bytes: Vec<u8> = (0..9000_u32).map(|index| (index * 31 % 251) as u8).collect();
        for backend in backends() {
            // A long one at the beginning, and more than one filling of the lanes.
            let lengths: Vec<usize> = [8900].into_iter().chain(lengths(300, 3000)).collect();
            let messages: Vec<&[u8]> = lengths
                .iter()
                .enumerate()
                .map(|(at, &length)| &bytes[at % 64..][..length])
                .collect();
            let mut digests = Once(alloc::vec![None; messages.len()]);
            let mut uneven = Uneven::new(backend);
            let mut numbered = messages.iter().enumerate();
            for taken in [1, 5, 100, 2, 0, 193] {
                uneven.extend(numbered.by_ref().take(taken));
                uneven.hash(false, &mut digests);
                assert!(uneven.first.len() + uneven.later.len() < uneven.most);
            }
            uneven.hash(true, &mut digests);
            assert!(uneven.messages.is_empty());
            for (digest, message) in digests.0.iter().zip(&messages) {
                assert_eq!(*digest, Some([md5(message).0]), "{backend}: {} bytes", message.len());
            }
        }
    }

    /// Messages that begin at different places of their pages, and at the same one, where fewer go forward together.
    #[test]
    fn many_come_to_their_ends_in_few_runs() {
        const COUNT: usize = 512;
        const LIMIT: usize = 64 << 10;
        let bytes = [0; LIMIT + 64 * BLOCK_LEN];
        for backend in backends() {
            for distance in [BLOCK_LEN, 0] {
                let mut uneven = Uneven::new(backend);
                let starts = (0..64).cycle().map(|place| place * distance);
                let messages = lengths(COUNT, LIMIT).zip(starts);
                uneven
                    .extend(messages.map(|(length, start)| &bytes[start..][..length]).enumerate());
                let lanes = if distance == 0 { uneven.most.min(CROWD) } else { uneven.most };
                let lanes = backend.width_for(lanes);
                let mut runs = 0;
                while uneven.first.len() + uneven.later.len() > 0 {
                    uneven.go_forward();
                    runs += 1;
                }
                // Those that take turns stop twice as often, and the last filling as often as its lengths differ.
                let runs_a_filling = if lanes < uneven.most { 4 } else { 2 };
                assert!(
                    runs <= runs_a_filling * COUNT / lanes + 16,
                    "{backend}: {runs} of {lanes} lanes, {distance} bytes apart"
                );
            }
        }
    }
}

//! Schedules many messages that are in memory: the longest first, so that all lanes end together.
//!
//! ```text
//! for each row of neighbours, as many as there are lanes:
//!   if all take as many blocks, hash them in lockstep as they stand
//!   otherwise put each short one into the bucket for its number of blocks; a full one is hashed
//! in the end sort all that are left by their lengths; those that are alike go in lockstep
//! until nothing but tails is left of the others:
//!   take those that have most left, as many as there are lanes
//!   run the kernel over as many blocks of each as the shortest of them has left
//! with the tails, those of one block and those of two: the same
//! ```
//!
//! The rests of many messages then have similar lengths again. So all messages end in a few large
//! steps with all lanes in use. [`Lanes`](crate::Lanes) would also work, but it asks each stream
//! several times per message for its next bytes.

use alloc::vec::Vec;

use lanesum_lanes::{BLOCK_LEN, Backend, MAX_LANES, fetch};

use crate::Midstate;
use crate::groups::advance;
use crate::hash::{BlockHash, Bytes as _, block_len};
use crate::lockstep::{CROWD, Lockstep, SHORT, are_crowded};
use crate::padding::{PaddedTail, blocks_of};

/// The number of bytes at the start of the next messages that are prefetched. The kernel itself
/// prefetches the following bytes in time.
const FETCHED: usize = 4 * BLOCK_LEN;

/// Stores the last state of each message at its place. All messages continue the state `start`.
///
/// # Panics
/// Panics if there are not as many states as messages.
pub fn hash<H: BlockHash>(
    backend: Backend,
    start: Midstate<H>,
    messages: &[&[u8]],
    states: &mut [H::State],
) {
    assert!(messages.len() == states.len());
    let mut scheduler = Scheduler::<H>::new(backend, start, messages, states);
    scheduler.take_rows();
    scheduler.take_alike();
    while !scheduler.waiting.is_empty() || !scheduler.later.is_empty() {
        scheduler.go_forward();
    }
    scheduler.end();
}

/// The number of whole blocks left of a message, and its index. The type is small, because it is
/// sorted often.
#[derive(Clone, Copy, Default)]
struct Left {
    blocks: usize,
    message: usize,
}

// The two sorts are compiled once, because they do not depend on the hash function.

fn sort_by_length(waiting: &mut [Left], messages: &[&[u8]]) {
    waiting.sort_unstable_by_key(|left| messages[left.message].len());
}

fn sort_by_blocks(waiting: &mut [Left]) {
    waiting.sort_unstable_by_key(|left| left.blocks);
}

struct Scheduler<'a, H: BlockHash> {
    backend: Backend,
    start: Midstate<H>,
    lockstep: Lockstep<H>,
    messages: &'a [&'a [u8]],
    /// The state of each started message.
    states: &'a mut [H::State],
    /// Short messages with a different number of blocks than their neighbours, by that number.
    buckets: [Vec<usize>; SHORT],
    /// The messages with the most blocks left, ascending.
    waiting: Vec<Left>,
    /// Messages that advanced and now have fewer blocks left than others.
    later: Vec<Left>,
    /// Messages with only a tail of one block left, and of two.
    tails: [Vec<usize>; 2],
}

impl<'a, H: BlockHash> Scheduler<'a, H> {
    fn new(
        backend: Backend,
        start: Midstate<H>,
        messages: &'a [&'a [u8]],
        states: &'a mut [H::State],
    ) -> Self {
        Self {
            backend,
            start,
            lockstep: Lockstep::new(backend, start),
            messages,
            states,
            buckets: [const { Vec::new() }; SHORT],
            waiting: Vec::new(),
            later: Vec::new(),
            tails: [const { Vec::new() }; 2],
        }
    }

    /// Hashes rows of neighbours with the same number of blocks. Sorts the other messages by that
    /// number, and hashes those that fill all lanes.
    fn take_rows(&mut self) {
        let mut are_others = false;
        let lanes = self.lockstep.lanes;
        for (row, messages) in self.messages.chunks(lanes).enumerate() {
            let first = row * lanes;
            // The last few messages are hashed together with others, if there are any.
            let may_be_alike = messages.len() >= self.fewest() || !are_others;
            let states = &mut self.states[first..][..messages.len()];
            if !(may_be_alike && self.lockstep.hash_if_alike(messages, states)) {
                are_others = true;
                (first..first + messages.len()).for_each(|message| self.sort(message));
            }
        }
        for blocks in 1..=SHORT {
            let bucket = core::mem::take(&mut self.buckets[blocks - 1]);
            if bucket.len() >= self.fewest() {
                self.hash_in_lockstep(&bucket);
            } else {
                bucket.into_iter().for_each(|message| self.begin(message));
            }
        }
    }

    /// Returns the smallest number of short messages that are hashed in lockstep.
    fn fewest(&self) -> usize {
        (self.lockstep.lanes / 4).max(1)
    }

    /// Puts a message into its bucket, or among the waiting messages.
    fn sort(&mut self, message: usize) {
        let bytes = self.messages[message];
        let blocks = blocks_of::<H>(bytes.len());
        if blocks > SHORT {
            return self.begin(message);
        }
        // Other messages are read before this one advances.
        fetch(bytes);
        self.buckets[blocks - 1].push(message);
        if self.buckets[blocks - 1].len() == self.lockstep.lanes {
            let bucket = core::mem::take(&mut self.buckets[blocks - 1]);
            self.hash_in_lockstep(&bucket);
            self.buckets[blocks - 1] = bucket;
            self.buckets[blocks - 1].clear();
        }
    }

    /// Puts a message among the waiting ones.
    fn begin(&mut self, message: usize) {
        self.states[message] = self.start.state;
        let blocks = self.messages[message].len() / block_len::<H>();
        self.waiting.push(Left { blocks, message });
    }

    /// Hashes messages with the same number of blocks, at most as many as there are lanes.
    fn hash_in_lockstep(&mut self, numbers: &[usize]) {
        let (mut messages, mut states) = ([&[][..]; MAX_LANES], [H::State::ZEROS; MAX_LANES]);
        let (messages, states) = (&mut messages[..numbers.len()], &mut states[..numbers.len()]);
        // Without iterators, whose functions may stay calls, once per message.
        for place in 0..numbers.len() {
            messages[place] = self.messages[numbers[place]];
        }
        let are_alike = self.lockstep.hash_if_alike(messages, states);
        assert!(are_alike, "as many blocks each");
        for place in 0..numbers.len() {
            self.states[numbers[place]] = states[place];
        }
    }

    /// Sorts the waiting messages, and hashes those with the same number of blocks if there are
    /// many.
    fn take_alike(&mut self) {
        let mut waiting = core::mem::take(&mut self.waiting);
        sort_by_length(&mut waiting, self.messages);
        let blocks = |left: &Left| blocks_of::<H>(self.messages[left.message].len());
        let runs: Vec<usize> =
            waiting.chunk_by(|a, b| blocks(a) == blocks(b)).map(<[Left]>::len).collect();
        let mut rest = &waiting[..];
        for count in runs {
            let mut alike;
            (alike, rest) = rest.split_at(count);
            while alike.len() >= self.lockstep.lanes.min(CROWD) {
                let now;
                let most = self.lockstep.lanes;
                (now, alike) =
                    alike.split_at(if alike.len() < most { CROWD.min(most) } else { most });
                let mut numbers = [0; MAX_LANES];
                for (number, left) in numbers.iter_mut().zip(now) {
                    *number = left.message;
                }
                self.hash_in_lockstep(&numbers[..now.len()]);
            }
            alike.iter().for_each(|&left| self.put(left));
        }
        // They are in ascending order.
        debug_assert!(self.waiting.is_sorted_by_key(|left| left.blocks) && self.later.is_empty());
    }

    /// Returns the rest of a message that is not hashed yet.
    fn rest(&self, left: Left) -> &'a [u8] {
        let message = self.messages[left.message];
        &message[(message.len() / block_len::<H>() - left.blocks) * block_len::<H>()..]
    }

    /// Puts a message into the list for its number of blocks left. Those with more left follow
    /// later.
    fn put(&mut self, left: Left) {
        if left.blocks == 0 {
            let blocks = blocks_of::<H>(self.rest(left).len());
            self.tails[blocks - 1].push(left.message);
        } else if self.waiting.last().is_none_or(|last| last.blocks <= left.blocks) {
            self.waiting.push(left);
        } else {
            self.later.push(left);
        }
    }

    /// Advances the messages with the most blocks left, by as many blocks as all of them have.
    fn go_forward(&mut self) {
        let mut most = H::most_streams(self.backend);
        if self.waiting.len() < most && !self.later.is_empty() {
            self.waiting.append(&mut self.later);
            sort_by_blocks(&mut self.waiting);
        }
        if most > CROWD && self.are_first_crowded(most) {
            most = CROWD;
        }
        let others = self.waiting.len().saturating_sub(most);
        for &next in &self.waiting[others.saturating_sub(most)..others] {
            let rest = self.rest(next);
            fetch(&rest[..rest.len().min(FETCHED)]);
        }
        let mut moving = [Left::default(); MAX_LANES];
        let moving = &mut moving[..self.waiting.len() - others];
        moving.copy_from_slice(&self.waiting[others..]);
        self.waiting.truncate(others);
        let (mut messages, mut rests) = ([0; MAX_LANES], [&[][..]; MAX_LANES]);
        for (lane, &left) in moving.iter().enumerate() {
            (messages[lane], rests[lane]) = (left.message, self.rest(left));
        }
        // The first one has the fewest blocks left.
        let count = moving[0].blocks;
        self.compress(&messages[..moving.len()], &mut rests, count);
        for left in moving {
            left.blocks -= count;
            self.put(*left);
        }
    }

    /// Returns whether the `most` longest rests continue at few page offsets.
    fn are_first_crowded(&self, most: usize) -> bool {
        let mut rests = [&[][..]; MAX_LANES];
        let first = &self.waiting[self.waiting.len().saturating_sub(most)..];
        for (rest, &left) in rests.iter_mut().zip(first) {
            *rest = self.rest(left);
        }
        first.len() > CROWD && are_crowded(&rests[..first.len()])
    }

    /// Finishes messages with only their tail left.
    fn end(&mut self) {
        let mut padded = Vec::new();
        padded.resize(H::most_streams(self.backend), PaddedTail::<H>::new());
        for blocks in [1, 2] {
            let tails = core::mem::take(&mut self.tails[blocks - 1]);
            for ending in tails.chunks(padded.len()) {
                let mut rests = [&[][..]; MAX_LANES];
                for ((tail, rest), &number) in padded.iter_mut().zip(&mut rests).zip(ending) {
                    let message = self.messages[number];
                    let length = message.len();
                    let bytes = &message[length - length % block_len::<H>()..];
                    tail.write(bytes, self.start.length_with(length));
                    *rest = tail.blocks();
                }
                self.compress(ending, &mut rests, blocks);
            }
        }
    }

    /// Advances messages by `blocks` blocks of their rests.
    fn compress(&mut self, numbers: &[usize], rests: &mut [&[u8]; MAX_LANES], blocks: usize) {
        let mut states = [H::State::ZEROS; MAX_LANES];
        for (state, &number) in states.iter_mut().zip(numbers) {
            *state = self.states[number];
        }
        advance::<H>(self.backend, rests, numbers.len(), blocks, &mut states);
        for (state, &number) in states.iter().zip(numbers) {
            self.states[number] = *state;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest_of;
    use crate::toy::Toy;

    const BACKEND: Backend = Backend::PORTABLE;

    /// Returns lengths up to a limit, in random order.
    fn lengths(count: usize, limit: usize) -> impl Iterator<Item = usize> {
        (0..count).map(move |index| index * 7919 % (limit + 1))
    }

    /// Hashes messages and checks that each state is written.
    fn check(messages: &[&[u8]]) {
        let mut states = alloc::vec![[0xee; 8]; messages.len()];
        hash::<Toy>(BACKEND, Midstate::INITIAL, messages, &mut states);
        for (state, message) in states.iter().zip(messages) {
            assert_eq!(state[..6], digest_of::<Toy>(message).0, "{} bytes", message.len());
        }
    }

    #[test]
    fn every_length_is_hashed_next_to_equal_and_other_lengths() {
        let bytes: Vec<u8> = (0..3000_u32).map(|index| (index * 31 % 251) as u8).collect();
        // Each length once per lane, at different bytes each time. First the lengths alternate, so
        // that each message waits for others of its length. Then equal lengths follow each other.
        let turns = (0..16).flat_map(|turn| (0..=2200).map(move |length| (turn, length)));
        let runs = (0..=2200).flat_map(|length| (0..16).map(move |turn| (turn, length)));
        let messages: Vec<&[u8]> =
            turns.chain(runs).map(|(turn, length)| &bytes[turn..][..length]).collect();
        check(&messages);
    }

    #[test]
    fn each_message_is_returned_once() {
        let bytes: Vec<u8> = (0..9000_u32).map(|index| (index * 31 % 251) as u8).collect();
        // A long message first, and more messages than lanes.
        let lengths: Vec<usize> = [8900].into_iter().chain(lengths(300, 3000)).collect();
        let messages: Vec<&[u8]> =
            lengths.iter().enumerate().map(|(at, &length)| &bytes[at % 64..][..length]).collect();
        for count in [0, 1, 3, 5, 100, messages.len()] {
            check(&messages[..count]);
        }
    }

    #[test]
    fn many_messages_end_in_few_runs() {
        const COUNT: usize = 512;
        const LIMIT: usize = 64 << 10;
        let bytes = [0; LIMIT + 64 * 128];
        let starts = (0..64).cycle().map(|place| place * 128);
        let messages: Vec<&[u8]> = lengths(COUNT, LIMIT)
            .zip(starts)
            .map(|(length, start)| &bytes[start..][..length])
            .collect();
        let mut states = [[0; 8]; COUNT];
        let mut scheduler =
            Scheduler::<Toy>::new(BACKEND, Midstate::INITIAL, &messages, &mut states);
        scheduler.take_rows();
        scheduler.take_alike();
        let mut runs = 0;
        while !scheduler.waiting.is_empty() || !scheduler.later.is_empty() {
            scheduler.go_forward();
            runs += 1;
        }
        // The last group needs one run for each different length.
        assert!(runs <= 2 * COUNT / 16 + 16, "{runs}");
    }
}

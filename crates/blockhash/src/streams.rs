//! Hashes many streams at once, one in each lane.
//!
//! ```text
//! repeat:
//!   for each lane that has no whole block ready:
//!     take what its stream has next into the lane's buffer, or end it with the padding;
//!     if all of it is hashed: give stream and digest back; the caller puts the next one in
//!     if it has nothing yet: leave it out
//!   n = the least number of blocks that any other lane has ready
//!   run the kernel over n blocks of each of these
//! ```
//!
//! So no lane waits for a longer or slower one, and none runs past its end. The kernel stops
//! whenever a lane needs new bytes. Used lanes are kept dense from lane 0 on, so the narrowest
//! width that holds them is used. With few streams left, each one is nearly as fast as alone.

use alloc::vec::Vec;
use core::task::Poll;

use lanesum_lanes::{Backend, MAX_LANES};

use crate::groups::advance;
use crate::hash::{BlockHash, block_len};
use crate::padding::BlockBuffer;
use crate::{Digest, Midstate, Stream};

/// The largest number of streams.
const MOST: usize = MAX_LANES;

/// Computes the digests of many streams of any lengths at once, one in each lane.
#[derive(Debug)]
pub struct Lanes<H: BlockHash, S> {
    lanes: LaneStates<H>,
    /// The streams by lane.
    streams: Vec<S>,
    capacity: usize,
}

impl<H: BlockHash, S: Stream> Lanes<H, S> {
    /// Makes lanes of the best backend of this CPU.
    #[must_use]
    pub fn new() -> Self {
        Self::with_backend(Backend::best())
    }

    /// Makes lanes of a backend.
    #[must_use]
    pub fn with_backend(backend: Backend) -> Self {
        let capacity = H::most_streams(backend);
        let streams = Vec::with_capacity(capacity);
        Self { lanes: LaneStates::with_backend(backend), streams, capacity }
    }

    /// Returns the largest number of streams at a time: the number of lanes. It is small where more
    /// lanes are no faster, such as 2 for SHA-256 by SHA instructions. A stream that has nothing
    /// yet keeps its place.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns the number of streams.
    #[must_use]
    pub fn len(&self) -> usize {
        self.streams.len()
    }

    /// Returns whether there are no streams.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// Returns whether no further stream fits.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.len() == self.capacity
    }

    /// Adds a stream.
    ///
    /// # Panics
    /// Panics if the lanes are [full](Self::is_full).
    pub fn push(&mut self, stream: S) {
        self.push_behind(Midstate::INITIAL, stream);
    }

    /// Adds a stream with the rest of a message.
    ///
    /// # Panics
    /// Panics if the lanes are [full](Self::is_full).
    pub fn push_behind(&mut self, midstate: Midstate<H>, stream: S) {
        assert!(!self.is_full(), "all {} lanes are taken", self.capacity);
        self.lanes.push_behind(midstate);
        self.streams.push(stream);
    }

    /// Hashes until a stream has ended, removes it, and returns it with its digest. Returns `None`
    /// if there are no streams, or if all of them are pending.
    ///
    /// For streams that may be pending for long, call [`advance`](Self::advance) and
    /// [`take_finished`](Self::take_finished) instead, and do something else in between.
    ///
    /// # Panics
    /// Panics if a stream panics, or has panicked before.
    pub fn pop(&mut self) -> Option<(S, Digest<H>)> {
        loop {
            let finished = self.take_finished();
            if finished.is_some() || !self.advance() {
                return finished;
            }
        }
    }

    /// Removes a stream that has ended and returns it with its digest. Asks the streams of all
    /// lanes without a ready block.
    ///
    /// # Panics
    /// Panics in the same cases as [`pop`](Self::pop).
    pub fn take_finished(&mut self) -> Option<(S, Digest<H>)> {
        let lane = self.lanes.finished(&mut self.streams)?;
        let (stream, state) = self.take(lane);
        Some((stream, Digest::of_state(&state)))
    }

    /// Hashes the ready blocks of all lanes until a lane needs new bytes. Returns whether any lane
    /// had a block. Pending streams wait, and so do those that have ended, until they are [taken
    /// out](Self::take_finished).
    ///
    /// # Panics
    /// Panics in the same cases as [`pop`](Self::pop).
    pub fn advance(&mut self) -> bool {
        self.lanes.advance(&mut self.streams)
    }

    /// Removes a stream for which `is_it` returns true, before it has ended. It has no digest. Use
    /// it for streams that are too slow, for example.
    pub fn remove(&mut self, is_it: impl FnMut(&S) -> bool) -> Option<S> {
        let lane = self.iter().position(is_it)?;
        Some(self.take(lane).0)
    }

    /// Returns the streams in unspecified order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &S> {
        self.streams.iter()
    }

    /// Returns the streams in unspecified order, for example to give them new bytes. Bytes that
    /// [`chunk`](Stream::chunk) has returned must stay until they are consumed.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = &mut S> {
        self.streams.iter_mut()
    }

    /// Removes a lane.
    fn take(&mut self, lane: usize) -> (S, H::State) {
        (self.streams.swap_remove(lane), self.lanes.swap_remove(lane))
    }
}

impl<H: BlockHash, S: Stream> Default for Lanes<H, S> {
    fn default() -> Self {
        Self::new()
    }
}

/// The states of [`Lanes`] whose streams are elsewhere. Each method takes the streams of all lanes
/// in order.
///
/// With one of these for each hash function, a stream that is read once can have digests of
/// several: see [`Stream::chunk`] about a stream that has nothing yet.
#[derive(Debug)]
pub struct LaneStates<H: BlockHash> {
    backend: Backend,
    lanes: Vec<Lane<H>>,
    /// The states by lane.
    states: [H::State; MOST],
    /// The number of blocks that each lane has ready. It is 0 until the stream is asked.
    ready: [usize; MOST],
    /// Whether a stream is being asked. If none is, a stream has panicked.
    is_poisoned: bool,
}

impl<H: BlockHash> LaneStates<H> {
    /// Makes no lanes, of a backend.
    #[must_use]
    pub fn with_backend(backend: Backend) -> Self {
        let lanes = Vec::with_capacity(H::most_streams(backend));
        Self { backend, lanes, states: [H::INITIAL; MOST], ready: [0; MOST], is_poisoned: false }
    }

    /// Returns the number of lanes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lanes.len()
    }

    /// Returns whether there are no lanes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Adds a lane.
    ///
    /// # Panics
    /// Panics if there are already [`MAX_LANES`].
    pub fn push(&mut self) {
        self.push_behind(Midstate::INITIAL);
    }

    /// Adds a lane for the rest of a message.
    ///
    /// # Panics
    /// Panics if there are already [`MAX_LANES`].
    pub fn push_behind(&mut self, Midstate { state, length }: Midstate<H>) {
        let lane = self.lanes.len();
        (self.states[lane], self.ready[lane]) = (state, 0);
        self.lanes.push(Lane::new(length));
    }

    /// Returns a lane whose stream has ended and is hashed. Asks the streams of all lanes without a
    /// ready block.
    ///
    /// # Panics
    /// Panics if there are fewer streams than lanes, or if a stream panics or has panicked before.
    pub fn finished(&mut self, streams: &mut [impl Stream]) -> Option<usize> {
        self.begin();
        // From the last lane down, so that no stream is moved just before it is removed.
        let finished = (0..self.lanes.len()).rev().find(|&lane| {
            if self.ready[lane] == 0 {
                self.ready[lane] = self.lanes[lane].prepare(&mut streams[lane]);
            }
            self.ready[lane] == 0 && self.lanes[lane].ended
        });
        self.is_poisoned = false;
        finished
    }

    /// Hashes the ready blocks of all lanes until a lane needs new bytes. Returns whether any lane
    /// had a block.
    ///
    /// # Panics
    /// Panics in the same cases as [`finished`](Self::finished).
    pub fn advance(&mut self, streams: &mut [impl Stream]) -> bool {
        self.begin();
        assert_eq!(streams.len(), self.lanes.len(), "streams and lanes");
        for ((ready, lane), stream) in self.ready.iter_mut().zip(&mut self.lanes).zip(&mut *streams)
        {
            if *ready == 0 {
                *ready = lane.prepare(stream);
            }
        }
        let count = self.ready().iter().copied().filter(|&blocks| blocks > 0).min();
        if let Some(count) = count {
            if self.ready().contains(&0) {
                self.hash_some(streams, count);
            } else {
                self.hash_all(streams, count);
            }
            for ((ready, lane), stream) in self.ready.iter_mut().zip(&mut self.lanes).zip(streams) {
                if *ready > 0 {
                    *ready -= count;
                    lane.advance(stream, count);
                }
            }
        }
        self.is_poisoned = false;
        count.is_some()
    }

    /// Removes a lane and returns its state. The last lane moves into its place, as in
    /// [`Vec::swap_remove`].
    ///
    /// # Panics
    /// Panics if there is no such lane.
    pub fn swap_remove(&mut self, lane: usize) -> H::State {
        let last = self.lanes.len() - 1;
        let state = self.states[lane];
        self.states[lane] = self.states[last];
        self.ready[lane] = self.ready[last];
        self.lanes.swap_remove(lane);
        state
    }

    /// Notes that streams are being asked. After a panic in one of them the consumed bytes are
    /// unknown.
    fn begin(&mut self) {
        assert!(!self.is_poisoned, "a stream has panicked, so no digest can be trusted");
        self.is_poisoned = true;
    }

    /// Hashes `count` blocks of every lane.
    fn hash_all(&mut self, streams: &mut [impl Stream], count: usize) {
        let (mut inputs, lanes) = ([&[][..]; MOST], self.lanes.len());
        for ((input, lane), stream) in inputs.iter_mut().zip(&self.lanes).zip(streams) {
            *input = lane.blocks(stream);
        }
        advance::<H>(self.backend, &mut inputs, lanes, count, &mut self.states);
    }

    /// Hashes `count` blocks of the lanes that have any.
    fn hash_some(&mut self, streams: &mut [impl Stream], count: usize) {
        let (mut inputs, mut states) = ([&[][..]; MOST], [H::INITIAL; MOST]);
        let (mut numbers, mut lanes) = ([0; MOST], 0);
        for ((number, lane), stream) in self.lanes.iter().enumerate().zip(streams) {
            if self.ready[number] > 0 {
                (inputs[lanes], states[lanes]) = (lane.blocks(stream), self.states[number]);
                numbers[lanes] = number;
                lanes += 1;
            }
        }
        advance::<H>(self.backend, &mut inputs, lanes, count, &mut states);
        for (&number, state) in numbers[..lanes].iter().zip(states) {
            self.states[number] = state;
        }
    }

    /// Returns the known number of ready blocks of each lane.
    fn ready(&self) -> &[usize] {
        &self.ready[..self.lanes.len()]
    }
}

/// What a lane knows of its stream, besides the state.
#[derive(Debug)]
struct Lane<H: BlockHash> {
    /// The bytes that do not fill a block, and at the end the padding.
    buffer: BlockBuffer<H>,
    /// The number of blocks of the buffer that are hashed.
    buffer_done: usize,
    /// The number of bytes of the message so far.
    length: u64,
    /// Whether the stream has ended and the buffer holds the padding.
    ended: bool,
}

impl<H: BlockHash> Lane<H> {
    fn new(length: u64) -> Self {
        Self { buffer: BlockBuffer::new(), buffer_done: 0, length, ended: false }
    }

    /// Makes at least one block ready and returns the number of ready blocks. Returns 0 if the
    /// message is completely hashed or the stream is pending.
    #[inline]
    fn prepare(&mut self, stream: &mut impl Stream) -> usize {
        loop {
            let ready = self.buffer.blocks().len() / block_len::<H>() - self.buffer_done;
            if ready > 0 || self.ended {
                return ready;
            }
            let Poll::Ready(chunk) = stream.chunk() else { return 0 };
            if chunk.is_empty() {
                self.end(stream.is_cut());
            } else if self.buffer.is_empty() && chunk.len() >= block_len::<H>() {
                return chunk.len() / block_len::<H>();
            } else {
                let taken = self.buffer.fill(chunk);
                self.length = self.length.wrapping_add(taken as u64);
                stream.consume(taken);
            }
        }
    }

    /// Pads the message, unless the stream is cut.
    ///
    /// # Panics
    /// Panics if the stream is cut within a block, which has no midstate.
    fn end(&mut self, is_cut: bool) {
        self.ended = true;
        if is_cut {
            assert!(self.buffer.is_empty(), "a stream is cut within a block");
        } else {
            self.buffer.pad(self.length);
        }
    }

    /// Returns the ready blocks, possibly followed by further bytes.
    #[inline]
    fn blocks<'a>(&'a self, stream: &'a mut impl Stream) -> &'a [u8] {
        if self.buffer.is_empty() {
            match stream.chunk() {
                Poll::Ready(chunk) => chunk,
                Poll::Pending => panic!("a stream takes back what it has said"),
            }
        } else {
            &self.buffer.blocks()[block_len::<H>() * self.buffer_done..]
        }
    }

    /// Notes that the first `count` of the ready blocks are hashed.
    #[inline]
    fn advance(&mut self, stream: &mut impl Stream, count: usize) {
        if self.buffer.is_empty() {
            self.length = self.length.wrapping_add((block_len::<H>() * count) as u64);
            stream.consume(block_len::<H>() * count);
        } else if self.ended {
            self.buffer_done += count;
        } else {
            self.buffer.clear();
        }
    }
}

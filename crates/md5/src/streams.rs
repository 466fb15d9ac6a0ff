//! Many streams at once, one in each lane.
//!
//! ```text
//! repeat:
//!   for each lane that has no whole block ready:
//!     take what its stream has next into the lane's buffer, or end it with the padding;
//!     if all of it is hashed: give stream and digest back; the caller puts the next one in
//!   n = the least number of blocks that any lane has ready
//!   run the kernel over n blocks of every lane
//! ```
//!
//! So no lane waits for a longer one, and none runs past its end; how often the kernel is called
//! depends on how often any lane needs attention. Lanes in use are kept dense, from lane 0, so that
//! the narrowest width that holds them does: with few streams left each keeps nearly the speed that
//! it would have alone.

use alloc::vec::Vec;

use lanesum_lanes::{BLOCK_LEN, Backend, Blocks, MAX_LANES};

use crate::kernel::{INITIAL_STATE, Plan, State};
use crate::padding::BlockBuffer;
use crate::{Digest, Stream};

/// The most streams of any backend.
const MOST: usize = MAX_LANES;

/// How many long messages a backend takes forward together, if there are so many: as many as a
/// width of it has; 32 at most, unless these leave units idle. More are faster only as long as they
/// come out of the nearest caches.
///
/// ```
/// use lanesum_md5::{Backend, most_streams};
///
/// assert_eq!(most_streams(Backend::PORTABLE), 4);
/// ```
#[must_use]
pub fn most_streams(backend: Backend) -> usize {
    backend.width_for(if backend.leaves_units_idle() { MOST } else { 32 })
}

/// Computes the MD5 of many streams at once, of any lengths, one in each lane.
///
/// ```
/// use lanesum_md5::{Lanes, md5};
///
/// let messages: Vec<Vec<u8>> = (0..100).map(|n| vec![n as u8; 37 * n]).collect();
/// let mut waiting = messages.iter();
/// let mut lanes = Lanes::new();
/// let mut ended = 0;
/// loop {
///     while !lanes.is_full() && let Some(message) = waiting.next() {
///         lanes.push(&message[..]);
///     }
///     // Gives back one stream that has ended: the next can take its place at once.
///     let Some((rest, digest)) = lanes.pop() else { break };
///     assert!(rest.is_empty());
///     assert!(messages.iter().any(|message| md5(message) == digest));
///     ended += 1;
/// }
/// assert_eq!(ended, 100);
/// ```
#[derive(Debug)]
pub struct Lanes<S> {
    backend: Backend,
    capacity: usize,
    lanes: Vec<Lane<S>>,
    /// By lane.
    states: [State; MOST],
    /// How many blocks each lane has ready: none where its stream has not been asked yet.
    ready: [usize; MOST],
}

impl<S: Stream> Lanes<S> {
    /// Lanes of the best backend that the CPU has.
    #[must_use]
    pub fn new() -> Self {
        Self::with_backend(Backend::best())
    }

    /// Lanes of a backend.
    #[must_use]
    pub fn with_backend(backend: Backend) -> Self {
        let capacity = most_streams(backend);
        Self {
            backend,
            capacity,
            lanes: Vec::with_capacity(capacity),
            states: [INITIAL_STATE; MOST],
            ready: [0; MOST],
        }
    }

    /// How many streams fit at once.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// How many streams there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lanes.len()
    }

    /// Whether there is no stream.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Whether there is no free lane.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.len() == self.capacity()
    }

    /// Puts a stream into a free lane.
    ///
    /// # Panics
    /// When [`is_full`](Self::is_full).
    pub fn push(&mut self, stream: S) {
        assert!(!self.is_full(), "all {} lanes are taken", self.capacity());
        self.states[self.lanes.len()] = INITIAL_STATE;
        self.ready[self.lanes.len()] = 0;
        self.lanes.push(Lane::new(stream));
    }

    /// Goes on until a stream has ended; gives it back with its digest. `None` when there is none.
    ///
    /// This is [`take_finished`](Self::take_finished) and [`advance`](Self::advance) alternately.
    /// Call these to put several streams in at once, or to do something else in between.
    pub fn pop(&mut self) -> Option<(S, Digest)> {
        loop {
            let finished = self.take_finished();
            if finished.is_some() || self.is_empty() {
                return finished;
            }
            self.advance();
        }
    }

    /// Takes out a stream that is hashed to its end, with its digest; its lane is free then. `None`
    /// when no lane can say so without going forward.
    pub fn take_finished(&mut self) -> Option<(S, Digest)> {
        // From the last one down: when many end together, none is moved only to be taken out next.
        while let Some(lane) = self.ready().iter().rposition(|&blocks| blocks == 0) {
            self.ready[lane] = self.lanes[lane].prepare();
            if self.ready[lane] == 0 {
                return Some(self.remove(lane));
            }
        }
        None
    }

    /// Takes every lane forward to where the first of them needs attention: at least one block, or
    /// none while a stream that has ended is not [taken out](Self::take_finished).
    pub fn advance(&mut self) {
        for (ready, lane) in self.ready.iter_mut().zip(&mut self.lanes) {
            if *ready == 0 {
                *ready = lane.prepare();
            }
        }
        let count = self.ready().iter().copied().min().unwrap_or(0);
        if count == 0 {
            return;
        }
        let lanes = self.lanes.len();
        let width = self.backend.width_for(lanes);
        let mut inputs = [&[][..]; MOST];
        for (input, lane) in inputs.iter_mut().zip(&mut self.lanes) {
            *input = lane.blocks();
        }
        // Lanes that are not in use get what the first one has.
        let first = inputs[0];
        inputs[lanes..width].fill(first);
        let blocks = Blocks::new(&inputs[..width], count);
        let blocks = &[[blocks, Blocks::NONE]];
        Plan { blocks, last: None, states: &mut self.states }.run(self.backend, width);
        for (ready, lane) in self.ready.iter_mut().zip(&mut self.lanes) {
            *ready -= count;
            lane.advance(count);
        }
    }

    /// How many blocks each lane has ready, as far as is known.
    fn ready(&self) -> &[usize] {
        &self.ready[..self.lanes.len()]
    }

    /// Takes a lane out; the last one moves into its place.
    fn remove(&mut self, lane: usize) -> (S, Digest) {
        let last = self.lanes.len() - 1;
        let state = self.states[lane];
        self.states[lane] = self.states[last];
        self.ready[lane] = self.ready[last];
        (self.lanes.swap_remove(lane).stream, Digest(state))
    }
}

impl<S: Stream> Default for Lanes<S> {
    fn default() -> Self {
        Self::new()
    }
}

/// A stream and where it stands.
#[derive(Debug)]
struct Lane<S> {
    stream: S,
    /// Bytes that do not fill a block, and in the end the padding.
    buffer: BlockBuffer,
    /// Blocks of the buffer that are hashed already.
    buffer_done: usize,
    /// Bytes consumed.
    length: u64,
    /// Whether the stream has ended and the buffer holds the padding.
    ended: bool,
}

impl<S: Stream> Lane<S> {
    fn new(stream: S) -> Self {
        Self { stream, buffer: BlockBuffer::new(), buffer_done: 0, length: 0, ended: false }
    }

    /// Makes at least one block ready, and says how many there are; none when the message is hashed
    /// to its end.
    #[inline]
    fn prepare(&mut self) -> usize {
        loop {
            let ready = self.buffer.blocks().len() / BLOCK_LEN - self.buffer_done;
            if ready > 0 || self.ended {
                return ready;
            }
            let chunk = self.stream.chunk();
            if chunk.is_empty() {
                self.buffer.pad(self.length);
                self.ended = true;
            } else if self.buffer.is_empty() && chunk.len() >= BLOCK_LEN {
                return chunk.len() / BLOCK_LEN;
            } else {
                let taken = self.buffer.fill(chunk);
                self.length += taken as u64;
                self.stream.consume(taken);
            }
        }
    }

    /// The blocks that are ready, and perhaps some bytes more.
    #[inline]
    fn blocks(&mut self) -> &[u8] {
        if self.buffer.is_empty() {
            self.stream.chunk()
        } else {
            &self.buffer.blocks()[BLOCK_LEN * self.buffer_done..]
        }
    }

    /// Notes that the first `count` of the ready blocks are hashed.
    #[inline]
    fn advance(&mut self, count: usize) {
        if self.buffer.is_empty() {
            self.length += (BLOCK_LEN * count) as u64;
            self.stream.consume(BLOCK_LEN * count);
        } else if self.ended {
            self.buffer_done += count;
        } else {
            self.buffer.clear();
        }
    }
}

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

use lanesum_lanes::{BLOCK_LEN, Backend, Blocks, MAX_LANES};

use crate::kernel::{INITIAL_STATE, Plan, State};
use crate::padding::BlockBuffer;
use crate::{Md5Digest, Midstate, Stream};

/// The largest number of streams of any backend.
const MOST: usize = MAX_LANES;

/// Returns how many long messages a backend hashes together. It is one of its widths, and at most
/// 32 unless 32 leave execution units idle. More messages are faster only if they are in the
/// nearest caches.
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

/// Computes the MD5 of many streams of any lengths at once, one in each lane.
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
    /// The streams by lane.
    states: [State; MOST],
    /// The number of blocks that each lane has ready. It is 0 until the stream is asked.
    ready: [usize; MOST],
    /// Whether a stream is being asked. If none is, a stream has panicked.
    is_poisoned: bool,
}

impl<S: Stream> Lanes<S> {
    /// Makes lanes of the best backend of this CPU.
    #[must_use]
    pub fn new() -> Self {
        Self::with_backend(Backend::best())
    }

    /// Makes lanes of a backend.
    #[must_use]
    pub fn with_backend(backend: Backend) -> Self {
        let capacity = most_streams(backend);
        Self {
            backend,
            capacity,
            lanes: Vec::with_capacity(capacity),
            states: [INITIAL_STATE; MOST],
            ready: [0; MOST],
            is_poisoned: false,
        }
    }

    /// Returns the largest number of streams at a time.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns the number of streams.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lanes.len()
    }

    /// Returns whether there are no streams.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Returns whether all lanes are in use.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.len() == self.capacity()
    }

    /// Puts a stream into a free lane.
    ///
    /// # Panics
    /// Panics if [`is_full`](Self::is_full).
    pub fn push(&mut self, stream: S) {
        self.push_behind(Midstate { state: INITIAL_STATE, length: 0 }, stream);
    }

    /// Puts a stream into a free lane that continues a message after a midstate.
    ///
    /// ```
    /// use lanesum_md5::{Lanes, Md5, md5};
    ///
    /// let message = [7; 1000];
    /// let mut first = Md5::new();
    /// first.update(&message[..128]);
    /// let mut lanes = Lanes::new();
    /// lanes.push_behind(first.midstate().expect("two blocks"), &message[128..]);
    /// assert_eq!(lanes.pop().expect("one stream").1, md5(&message));
    /// ```
    ///
    /// # Panics
    /// Panics if [`is_full`](Self::is_full).
    pub fn push_behind(&mut self, midstate: Midstate, stream: S) {
        assert!(!self.is_full(), "all {} lanes are taken", self.capacity());
        self.states[self.lanes.len()] = midstate.state;
        self.ready[self.lanes.len()] = 0;
        self.lanes.push(Lane::new(stream, midstate.length));
    }

    /// Hashes until a stream has ended, and returns it with its digest.
    ///
    /// Returns `None` if there are no streams ([`is_empty`](Self::is_empty)), or if all streams are
    /// pending. In the latter case wait until one of them is ready, and call this method again.
    ///
    /// This method calls [`take_finished`](Self::take_finished) and [`advance`](Self::advance)
    /// alternately. Call these directly to add several streams at once, or to do something else in
    /// between.
    ///
    /// # Panics
    /// Panics if a stream panics, or has panicked before.
    pub fn pop(&mut self) -> Option<(S, Md5Digest)> {
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
    pub fn take_finished(&mut self) -> Option<(S, Md5Digest)> {
        self.begin();
        // From the last lane down, so that no stream is moved just before it is removed.
        let finished = (0..self.lanes.len()).rev().find(|&lane| {
            if self.ready[lane] == 0 {
                self.ready[lane] = self.lanes[lane].prepare();
            }
            self.ready[lane] == 0 && self.lanes[lane].ended
        });
        self.is_poisoned = false;
        finished.map(|lane| self.take(lane))
    }

    /// Hashes the ready blocks of all lanes until a lane needs new bytes. Returns whether any lane
    /// had a block. Pending streams wait, and so do those that have ended, until they are [taken
    /// out](Self::take_finished).
    ///
    /// # Panics
    /// Panics in the same cases as [`pop`](Self::pop).
    pub fn advance(&mut self) -> bool {
        self.begin();
        for (ready, lane) in self.ready.iter_mut().zip(&mut self.lanes) {
            if *ready == 0 {
                *ready = lane.prepare();
            }
        }
        let count = self.ready().iter().copied().filter(|&blocks| blocks > 0).min();
        if let Some(count) = count {
            if self.ready().contains(&0) {
                self.hash_some(count);
            } else {
                self.hash_all(count);
            }
            for (ready, lane) in self.ready.iter_mut().zip(&mut self.lanes) {
                if *ready > 0 {
                    *ready -= count;
                    lane.advance(count);
                }
            }
        }
        self.is_poisoned = false;
        count.is_some()
    }

    /// Removes a stream for which `is_it` returns true, before it has ended. It has no digest. Use
    /// it for streams that are too slow, for example.
    ///
    /// ```
    /// use lanesum_md5::Lanes;
    ///
    /// let mut lanes = Lanes::new();
    /// lanes.push(&b"a"[..]);
    /// lanes.push(&b"bc"[..]);
    /// assert_eq!(lanes.remove(|stream| stream.len() == 2), Some(&b"bc"[..]));
    /// assert_eq!(lanes.len(), 1);
    /// ```
    pub fn remove(&mut self, is_it: impl FnMut(&S) -> bool) -> Option<S> {
        let lane = self.iter().position(is_it)?;
        Some(self.take(lane).0)
    }

    /// Returns the streams in unspecified order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &S> {
        self.lanes.iter().map(|lane| &lane.stream)
    }

    /// Returns the streams in unspecified order, for example to give them new bytes. Bytes that
    /// [`chunk`](Stream::chunk) has returned must stay until they are consumed.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = &mut S> {
        self.lanes.iter_mut().map(|lane| &mut lane.stream)
    }

    /// Notes that streams are being asked. After a panic in one of them the consumed bytes are
    /// unknown.
    fn begin(&mut self) {
        assert!(!self.is_poisoned, "a stream has panicked, so no digest can be trusted");
        self.is_poisoned = true;
    }

    /// Hashes `count` blocks of every lane.
    fn hash_all(&mut self, count: usize) {
        let (mut inputs, lanes) = ([&[][..]; MOST], self.lanes.len());
        for (input, lane) in inputs.iter_mut().zip(&mut self.lanes) {
            *input = lane.blocks();
        }
        hash(self.backend, &mut inputs, lanes, count, &mut self.states);
    }

    /// Hashes `count` blocks of the lanes that have any.
    fn hash_some(&mut self, count: usize) {
        let (mut inputs, mut states) = ([&[][..]; MOST], [INITIAL_STATE; MOST]);
        let (mut numbers, mut lanes) = ([0; MOST], 0);
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            if self.ready[number] > 0 {
                (inputs[lanes], states[lanes]) = (lane.blocks(), self.states[number]);
                numbers[lanes] = number;
                lanes += 1;
            }
        }
        hash(self.backend, &mut inputs, lanes, count, &mut states);
        for (&number, state) in numbers[..lanes].iter().zip(states) {
            self.states[number] = state;
        }
    }

    /// Returns the known number of ready blocks of each lane.
    fn ready(&self) -> &[usize] {
        &self.ready[..self.lanes.len()]
    }

    /// Removes a lane. The last one moves into its place.
    fn take(&mut self, lane: usize) -> (S, Md5Digest) {
        let last = self.lanes.len() - 1;
        let state = self.states[lane];
        self.states[lane] = self.states[last];
        self.ready[lane] = self.ready[last];
        (self.lanes.swap_remove(lane).stream, Md5Digest(state))
    }
}

impl<S: Stream> Default for Lanes<S> {
    fn default() -> Self {
        Self::new()
    }
}

/// Advances the states of the first `lanes` inputs by a number of blocks of each.
fn hash(
    backend: Backend,
    inputs: &mut [&[u8]; MOST],
    lanes: usize,
    count: usize,
    states: &mut [State; MOST],
) {
    let width = backend.width_for(lanes);
    // Unused lanes get the input of the first one.
    let first = inputs[0];
    inputs[lanes..width].fill(first);
    let blocks = Blocks::new(&inputs[..width], count);
    let blocks = &[[blocks, Blocks::NONE]];
    Plan { blocks, last: None, states }.run(backend, width);
}

/// A stream and its state.
#[derive(Debug)]
struct Lane<S> {
    stream: S,
    /// The bytes that do not fill a block, and at the end the padding.
    buffer: BlockBuffer,
    /// The number of blocks of the buffer that are hashed.
    buffer_done: usize,
    /// The number of bytes of the message so far.
    length: u64,
    /// Whether the stream has ended and the buffer holds the padding.
    ended: bool,
}

impl<S: Stream> Lane<S> {
    fn new(stream: S, length: u64) -> Self {
        Self { stream, buffer: BlockBuffer::new(), buffer_done: 0, length, ended: false }
    }

    /// Makes at least one block ready and returns the number of ready blocks. Returns 0 if the
    /// message is completely hashed or the stream is pending.
    #[inline]
    fn prepare(&mut self) -> usize {
        loop {
            let ready = self.buffer.blocks().len() / BLOCK_LEN - self.buffer_done;
            if ready > 0 || self.ended {
                return ready;
            }
            let Poll::Ready(chunk) = self.stream.chunk() else { return 0 };
            if chunk.is_empty() {
                self.end();
            } else if self.buffer.is_empty() && chunk.len() >= BLOCK_LEN {
                return chunk.len() / BLOCK_LEN;
            } else {
                let taken = self.buffer.fill(chunk);
                self.length += taken as u64;
                self.stream.consume(taken);
            }
        }
    }

    /// Pads the message, unless the stream is cut.
    ///
    /// # Panics
    /// Panics if the stream is cut within a block, which has no midstate.
    fn end(&mut self) {
        self.ended = true;
        if self.stream.is_cut() {
            assert!(self.buffer.is_empty(), "a stream is cut within a block");
        } else {
            self.buffer.pad(self.length);
        }
    }

    /// Returns the ready blocks, possibly followed by further bytes.
    #[inline]
    fn blocks(&mut self) -> &[u8] {
        if self.buffer.is_empty() {
            match self.stream.chunk() {
                Poll::Ready(chunk) => chunk,
                Poll::Pending => panic!("a stream takes back what it has said"),
            }
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

//! Many streams at once, one in each lane.
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
//! So no lane waits for a longer one or for one that is slow, and none runs past its end; how often
//! the kernel is called depends on how often any lane needs attention. Lanes in use are kept dense,
//! from lane 0, so that the narrowest width that holds them does: with few streams left each keeps
//! nearly the speed that it would have alone.

use alloc::vec::Vec;
use core::task::Poll;

use lanesum_lanes::{BLOCK_LEN, Backend, Blocks, MAX_LANES};

use crate::kernel::{INITIAL_STATE, Plan, State};
use crate::padding::BlockBuffer;
use crate::{Md5Digest, Midstate, Stream};

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
    /// Whether a stream is being asked, and if it is not, has panicked.
    is_poisoned: bool,
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
            is_poisoned: false,
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
    /// Panics if [`is_full`](Self::is_full).
    pub fn push(&mut self, stream: S) {
        self.push_behind(Midstate { state: INITIAL_STATE, length: 0 }, stream);
    }

    /// Puts a stream into a free lane that is the rest of a message, or a part of it.
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

    /// Goes on until a stream has ended; gives it back with its digest. `None` when there is none,
    /// or when all that there are have nothing yet ([`is_empty`](Self::is_empty) tells): wait until
    /// one of them has, and call this again.
    ///
    /// This is [`take_finished`](Self::take_finished) and [`advance`](Self::advance) alternately.
    /// Call these to put several streams in at once, or to do something else in between.
    ///
    /// # Panics
    /// Panics if a stream has panicked before; and with it when it does.
    pub fn pop(&mut self) -> Option<(S, Md5Digest)> {
        loop {
            let finished = self.take_finished();
            if finished.is_some() || !self.advance() {
                return finished;
            }
        }
    }

    /// Gives back a stream that has ended, with its digest, if there is one. Asks the streams of
    /// the lanes that have no block ready.
    ///
    /// # Panics
    /// Panics in the same cases as [`pop`](Self::pop).
    pub fn take_finished(&mut self) -> Option<(S, Md5Digest)> {
        self.begin();
        // From the last one down: when many end together, none is moved only to be taken out next.
        let finished = (0..self.lanes.len()).rev().find(|&lane| {
            if self.ready[lane] == 0 {
                self.ready[lane] = self.lanes[lane].prepare();
            }
            self.ready[lane] == 0 && self.lanes[lane].ended
        });
        self.is_poisoned = false;
        finished.map(|lane| self.take(lane))
    }

    /// Takes every lane that has a block forward to where the first of them needs attention; says
    /// whether there was one. Streams that have nothing yet stay where they are, and so do those
    /// that have ended, until they are [taken out](Self::take_finished).
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

    /// Takes a stream out that `is_it` says yes to, before it has ended: one that comes too slowly,
    /// for instance. There is no digest of it.
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

    /// The streams, in no order that could be relied on.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &S> {
        self.lanes.iter().map(|lane| &lane.stream)
    }

    /// The streams, to give them what came for them. What [`chunk`](Stream::chunk) has said and is
    /// not consumed has to stay.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = &mut S> {
        self.lanes.iter_mut().map(|lane| &mut lane.stream)
    }

    /// Notes that streams are asked. If one of them panics, it is not known what was consumed of
    /// which.
    fn begin(&mut self) {
        assert!(!self.is_poisoned, "a stream has panicked, so no digest can be trusted");
        self.is_poisoned = true;
    }

    /// Hashes so many blocks of every lane.
    fn hash_all(&mut self, count: usize) {
        let (mut inputs, lanes) = ([&[][..]; MOST], self.lanes.len());
        for (input, lane) in inputs.iter_mut().zip(&mut self.lanes) {
            *input = lane.blocks();
        }
        hash(self.backend, &mut inputs, lanes, count, &mut self.states);
    }

    /// Hashes so many blocks of the lanes that have any, side by side.
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

    /// How many blocks each lane has ready, as far as is known.
    fn ready(&self) -> &[usize] {
        &self.ready[..self.lanes.len()]
    }

    /// Takes a lane out; the last one moves into its place.
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

/// Takes the states of the first `lanes` inputs forward by so many blocks of each.
fn hash(
    backend: Backend,
    inputs: &mut [&[u8]; MOST],
    lanes: usize,
    count: usize,
    states: &mut [State; MOST],
) {
    let width = backend.width_for(lanes);
    // Lanes that are not in use get what the first one has.
    let first = inputs[0];
    inputs[lanes..width].fill(first);
    let blocks = Blocks::new(&inputs[..width], count);
    let blocks = &[[blocks, Blocks::NONE]];
    Plan { blocks, last: None, states }.run(backend, width);
}

/// A stream and where it stands.
#[derive(Debug)]
struct Lane<S> {
    stream: S,
    /// Bytes that do not fill a block, and in the end the padding.
    buffer: BlockBuffer,
    /// Blocks of the buffer that are hashed already.
    buffer_done: usize,
    /// Bytes of the message so far.
    length: u64,
    /// Whether the stream has ended and the buffer holds the padding.
    ended: bool,
}

impl<S: Stream> Lane<S> {
    fn new(stream: S, length: u64) -> Self {
        Self { stream, buffer: BlockBuffer::new(), buffer_done: 0, length, ended: false }
    }

    /// Makes at least one block ready, and says how many there are; none when the message is hashed
    /// to its end, or has nothing yet.
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

    /// Ends the message, unless it goes on elsewhere.
    ///
    /// # Panics
    /// Panics if it is cut within a block: no state stands for that.
    fn end(&mut self) {
        self.ended = true;
        if self.stream.is_cut() {
            assert!(self.buffer.is_empty(), "a stream is cut within a block");
        } else {
            self.buffer.pad(self.length);
        }
    }

    /// The blocks that are ready, and perhaps some bytes more.
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

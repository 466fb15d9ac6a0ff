//! Many messages at once: the lanes, and who sits in them.
//!
//! ```text
//! repeat:
//!   for each lane that has no whole block ready:
//!     take what its stream has next into the lane's edge, or end it with the padding;
//!     if all of it is hashed: give stream and digest back; the caller puts the next one in
//!   n = the least number of blocks that any lane has ready
//!   run the kernel over n blocks of every lane
//! ```
//!
//! So no lane waits for a longer one, and none runs past its end; how often the kernel is called
//! depends on how often any lane needs attention. Lanes in use are kept dense, from lane 0, so that
//! the narrowest width that holds them does: with few streams left each keeps nearly the speed that
//! it would have alone. (Where four are faster three at a time, they take turns.)

use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Range;
use core::{iter, mem};

use lanesum_lanes::{BLOCK_LEN, Backend, Blocks, MAX_LANES};

use crate::edge::Edge;
use crate::gang::compress_lanes;
use crate::kernel::States;
use crate::short::Gangs;
use crate::uneven::Uneven;
use crate::{Digest, Stream, table};

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
    /// Lane i's state is column i.
    states: States<MAX_LANES>,
    /// How many blocks lane i has ready: none where nobody has asked its stream yet.
    ready: [usize; MAX_LANES],
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
        let capacity = backend.most_streams();
        Self {
            backend,
            capacity,
            lanes: Vec::with_capacity(capacity),
            states: [[0; MAX_LANES]; 4],
            ready: [0; MAX_LANES],
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
        for (words, initial) in self.states.iter_mut().zip(table::INITIAL) {
            words[self.lanes.len()] = initial;
        }
        self.ready[self.lanes.len()] = 0;
        self.lanes.push(Lane::new(stream));
    }

    /// Goes on until a stream has ended; gives it back with its digest. `None` when there is none.
    ///
    /// This is [`ended`](Self::ended) and [`advance`](Self::advance) in turns. Who wants to put
    /// several streams in at once, or to do something else in between, calls these.
    pub fn pop(&mut self) -> Option<(S, Digest)> {
        loop {
            let ended = self.ended();
            if ended.is_some() || self.is_empty() {
                return ended;
            }
            self.advance();
        }
    }

    /// A stream that is hashed to its end, with its digest; its lane is free. `None` when no lane
    /// can say so without going forward.
    pub fn ended(&mut self) -> Option<(S, Digest)> {
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
    /// none while a stream that has [`ended`](Self::ended) is not taken out.
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
        let mut blocks = Blocks::new(self.lanes.iter_mut().map(Lane::blocks), count);
        let width = width_for(self.backend, &blocks);
        let active = width.min(lanes);
        if active < lanes {
            blocks = turn(blocks);
        }
        let count = blocks.count();
        compress_lanes(self.backend, width, &mut self.states, blocks);
        for (ready, lane) in self.ready.iter_mut().zip(&mut self.lanes[..active]) {
            *ready -= count;
            lane.advance(count);
        }
        self.take_turns(active);
    }

    /// How many blocks each lane has ready, as far as is known.
    fn ready(&self) -> &[usize] {
        &self.ready[..self.lanes.len()]
    }

    /// Where not all lanes went forward, lets those come first that did not.
    fn take_turns(&mut self, active: usize) {
        let lanes = self.lanes.len();
        if active < lanes {
            self.lanes.rotate_left(active);
            self.ready[..lanes].rotate_left(active);
            for words in &mut self.states {
                words[..lanes].rotate_left(active);
            }
        }
    }

    /// Takes a lane out; the last one moves into its place.
    fn remove(&mut self, lane: usize) -> (S, Digest) {
        let last = self.lanes.len() - 1;
        let mut state = [0; 4];
        for (word, words) in state.iter_mut().zip(&mut self.states) {
            *word = words[lane];
            words[lane] = words[last];
        }
        self.ready[lane] = self.ready[last];
        (self.lanes.swap_remove(lane).stream, Digest::from_state(state))
    }
}

impl<S: Stream> Default for Lanes<S> {
    fn default() -> Self {
        Self::new()
    }
}

/// How many lanes go forward together at most when all begin at the same place of their pages, as
/// those of messages in pages of their own do. With 64 the lines that were fetched ahead push each
/// other out of the first-level cache before they are used: of messages of 8 KiB and 16 KiB,
/// 64 lanes then hash 0.88 and 0.93 times as fast as 32, and of 1 MiB no faster.
pub(crate) const CROWD: usize = 32;

/// The width in which to take lanes forward that have these blocks. There may be more lanes, which then take turns.
pub(crate) fn width_for(backend: Backend, blocks: &Blocks<'_>) -> usize {
    let width = backend.width_for(blocks.lanes());
    if width > CROWD && blocks.are_crowded() { backend.width_for(CROWD) } else { width }
}

/// Blocks for which a lane goes forward when lanes take turns, a quarter of what is ready within
/// these bounds: few enough that they come to their ends together, and enough that changing places
/// costs nothing.
const TURN: Range<usize> = 64..512;

/// Those of the blocks for which lanes go forward when they take turns.
pub(crate) fn turn(blocks: Blocks<'_>) -> Blocks<'_> {
    blocks.first((blocks.count() / 4).clamp(TURN.start, TURN.end))
}

/// A stream and where it stands.
#[derive(Debug)]
struct Lane<S> {
    stream: S,
    /// The bytes at the edge of a block, and in the end the padding.
    edge: Edge,
    /// Blocks of the edge that are hashed already.
    edge_done: usize,
    /// Bytes consumed.
    length: u64,
    /// Whether the stream has ended and the edge holds the padding.
    ended: bool,
}

impl<S: Stream> Lane<S> {
    fn new(stream: S) -> Self {
        Self { stream, edge: Edge::new(), edge_done: 0, length: 0, ended: false }
    }

    /// Makes at least one block ready, and says how many there are; none when the message is hashed to its end.
    #[inline]
    fn prepare(&mut self) -> usize {
        loop {
            let ready = self.edge.blocks().len() / BLOCK_LEN - self.edge_done;
            if ready > 0 || self.ended {
                return ready;
            }
            let chunk = self.stream.chunk();
            if chunk.is_empty() {
                self.edge.pad(self.length);
                self.ended = true;
            } else if self.edge.is_empty() && chunk.len() >= BLOCK_LEN {
                return chunk.len() / BLOCK_LEN;
            } else {
                let taken = self.edge.fill(chunk);
                self.length += taken as u64;
                self.stream.consume(taken);
            }
        }
    }

    /// The blocks that are ready, and perhaps some bytes more.
    #[inline]
    fn blocks(&mut self) -> &[u8] {
        if self.edge.is_empty() {
            self.stream.chunk()
        } else {
            &self.edge.blocks()[BLOCK_LEN * self.edge_done..]
        }
    }

    /// Notes that the first `count` of the ready blocks are hashed.
    #[inline]
    fn advance(&mut self, count: usize) {
        if self.edge.is_empty() {
            self.length += (BLOCK_LEN * count) as u64;
            self.stream.consume(BLOCK_LEN * count);
        } else if self.ended {
            self.edge_done += count;
        } else {
            self.edge.clear();
        }
    }
}

/// The MD5 of each of many messages, in their order.
///
/// Messages are taken before the first of them is hashed, since the longest go first: up to 512 at a time. Messages that own
/// their bytes are dropped once they are hashed, and of those that are not yet, 64 MiB are held at most, the last one taken not
/// counted, and 1 MiB of messages of up to 1 KiB. So owned messages of 8 MiB are hashed in eight lanes: give references, as in
/// `md5_many(&messages)`, to those that are in memory anyway. They take all lanes whatever their length.
///
/// ```
/// let digests = lanesum_md5::md5_many(["a", "", "abc"]);
/// assert_eq!(digests[2].to_string(), "900150983cd24fb0d6963f7d28e17f72");
/// ```
#[must_use]
pub fn md5_many<I>(messages: I) -> Vec<Digest>
where
    I: IntoIterator<Item: AsRef<[u8]>>,
{
    md5_many_with(Backend::best(), messages)
}

/// [`md5_many`] with a given backend.
///
/// ```
/// use lanesum_md5::{Backend, md5_many, md5_many_with};
///
/// for backend in Backend::available() {
///     assert_eq!(md5_many_with(backend, ["a", "b"]), md5_many(["a", "b"]));
/// }
/// ```
#[must_use]
pub fn md5_many_with<I>(backend: Backend, messages: I) -> Vec<Digest>
where
    I: IntoIterator<Item: AsRef<[u8]>>,
{
    let messages = messages.into_iter();
    let mut digests = Vec::with_capacity(messages.size_hint().0);
    hash_all(backend, messages, &mut digests);
    digests.into_iter().map(Digest).collect()
}

/// [`md5_many_with`] into a column of 16-byte values. From bytes it comes by
/// [`as_chunks_mut`](slice::as_chunks_mut).
///
/// ```
/// use lanesum_md5::{Backend, md5, md5_many_into};
///
/// let mut column = [0; 2 * 16];
/// let (digests, _) = column.as_chunks_mut();
/// md5_many_into(Backend::best(), ["a", "b"], digests);
/// assert_eq!(column[16..], md5(b"b").0);
/// ```
///
/// # Panics
/// When there are not as many digests as messages.
pub fn md5_many_into<I>(backend: Backend, messages: I, digests: &mut [[u8; 16]])
where
    I: IntoIterator<Item: AsRef<[u8]>>,
{
    let count = digests.len();
    let taken = hash_all(backend, messages.into_iter(), &mut *digests);
    assert_eq!(taken, count, "messages and digests");
}

/// Where digests go.
pub(crate) trait Column {
    /// The places of the messages from number `first` on, `count` of them. Each is asked for once, not in the order of
    /// the numbers.
    fn places(&mut self, first: usize, count: usize) -> &mut [[u8; 16]];
}

impl Column for [[u8; 16]] {
    #[inline]
    fn places(&mut self, first: usize, count: usize) -> &mut [[u8; 16]] {
        let most = self.len();
        self.get_mut(first..first + count).unwrap_or_else(|| panic!("more messages than {most}"))
    }
}

impl Column for Vec<[u8; 16]> {
    #[inline]
    fn places(&mut self, first: usize, count: usize) -> &mut [[u8; 16]] {
        let end = first + count;
        if self.len() < end {
            // Some of those before may come later.
            self.resize(end, [0; 16]);
        }
        &mut self[first..end]
    }
}

/// Puts the digest of each message into its place. Gives how many messages there were.
#[inline]
fn hash_all<M: AsRef<[u8]>>(
    backend: Backend,
    mut messages: impl Iterator<Item = M>,
    digests: &mut (impl Column + ?Sized),
) -> usize {
    let mut gangs = Gangs::new(backend);
    let mut uneven = Uneven::new(backend);
    loop {
        let held = if is_owned::<M>() { uneven.bytes() } else { 0 };
        let room = AHEAD_BYTES.saturating_sub(held);
        let mut next = longest_first(room, || gangs.next_long(&mut messages, digests));
        gangs.take_long(&mut next, digests);
        uneven.extend(next);
        let all = gangs.have_all();
        if all {
            uneven.extend(iter::from_fn(|| gangs.pop()));
        }
        let is_full = is_owned::<M>() && uneven.bytes() >= AHEAD_BYTES;
        uneven.hash(all || is_full, digests);
        if all {
            return gangs.taken();
        }
    }
}

/// How many messages are looked at ahead, and how many bytes of them: they may be owned, and are all kept.
const AHEAD: usize = 512;
const AHEAD_BYTES: usize = 64 << 20;

/// Whether it takes memory to keep messages: what has nothing to drop and is small refers to somebody else's.
pub(crate) const fn is_owned<M>() -> bool {
    mem::needs_drop::<M>() || size_of::<M>() > BLOCK_LEN
}

/// The next messages, of so many bytes or just above, the longest first, so that all lanes come to their ends together.
fn longest_first<M: AsRef<[u8]>>(
    room: usize,
    mut next: impl FnMut() -> Option<(usize, M)>,
) -> Vec<(usize, M)> {
    let (mut ahead, mut bytes) = (Vec::new(), 0_usize);
    while ahead.len() < AHEAD
        && bytes < room
        && let Some((index, message)) = next()
    {
        bytes = bytes.saturating_add(message.as_ref().len());
        ahead.push((index, message));
    }
    ahead.sort_by_key(|(_, message)| Reverse(message.as_ref().len()));
    ahead
}

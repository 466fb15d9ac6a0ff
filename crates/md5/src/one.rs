//! One message: at once, in chunks, or from a reader.

use core::fmt;

use lanesum_lanes::{BLOCK_LEN, Backend, Blocks};

use crate::kernel::{INITIAL_STATE, Plan, State};
use crate::padding::{BlockBuffer, PaddedTail};
use crate::{Md5Digest, Midstate};

/// MD5 of a message that comes in chunks. Memory: the state and two blocks, whatever the length.
///
/// A clone goes its own way from there, so that messages with a common beginning share its work:
///
/// ```
/// use lanesum_md5::{Md5, md5};
///
/// let mut common = Md5::new();
/// common.update(b"GET /");
/// let mut one = common.clone();
/// one.update(b"a");
/// common.update(b"b");
/// assert_eq!(one.finalize(), md5(b"GET /a"));
/// assert_eq!(common.finalize(), md5(b"GET /b"));
/// ```
#[derive(Clone)]
pub struct Md5 {
    state: State,
    buffer: BlockBuffer,
    /// Bytes so far. RFC 1321 counts bits modulo 2^64; so does this, in the end.
    length: u64,
}

impl Md5 {
    /// The state before the first byte.
    #[must_use]
    pub const fn new() -> Self {
        Self { state: INITIAL_STATE, buffer: BlockBuffer::new(), length: 0 }
    }

    /// Takes the next bytes.
    #[inline]
    pub fn update(&mut self, bytes: impl AsRef<[u8]>) {
        self.take(bytes.as_ref());
    }

    fn take(&mut self, mut bytes: &[u8]) {
        self.length = self.length.wrapping_add(bytes.len() as u64);
        if !self.buffer.is_empty() {
            bytes = &bytes[self.buffer.fill(bytes)..];
            if self.buffer.blocks().is_empty() {
                return;
            }
            take(&mut self.state, self.buffer.blocks());
            self.buffer.clear();
        }
        let (blocks, rest) = bytes.split_at(bytes.len() - bytes.len() % BLOCK_LEN);
        take(&mut self.state, blocks);
        self.buffer.fill(rest);
    }

    /// The digest of all bytes taken.
    #[must_use]
    pub fn finalize(mut self) -> Md5Digest {
        self.finish()
    }

    /// The digest of all bytes taken; starts again from nothing.
    pub fn finalize_reset(&mut self) -> Md5Digest {
        let digest = self.finish();
        self.reset();
        digest
    }

    /// Starts again from nothing.
    pub fn reset(&mut self) {
        *self = Self::new();
    }

    /// Where the message stands, to go on from another day; `None` where the bytes taken are not
    /// whole blocks of 64.
    #[must_use]
    pub fn midstate(&self) -> Option<Midstate> {
        // Past 2^64 bytes the length begins again, at a whole block again.
        if self.buffer.is_empty() { Midstate::new(self.state, self.length) } else { None }
    }

    /// The state after the last whole block, how many bytes there were in all, and those behind
    /// that block.
    #[cfg(feature = "digest")]
    pub(crate) fn parts(&self) -> (&State, u64, &[u8]) {
        (&self.state, self.length, self.buffer.bytes())
    }

    /// Where a message goes on whose first `length` bytes, whole blocks, led to this state.
    pub(crate) const fn from_parts(state: State, length: u64) -> Self {
        Self { state, buffer: BlockBuffer::new(), length }
    }

    fn finish(&mut self) -> Md5Digest {
        self.buffer.pad(self.length);
        take(&mut self.state, self.buffer.blocks());
        Md5Digest(self.state)
    }
}

/// Takes a state forward by whole blocks.
fn take(state: &mut State, blocks: &[u8]) {
    if !blocks.is_empty() {
        let states = core::slice::from_mut(state);
        let piece = [blocks];
        let blocks = &[[whole(&piece), Blocks::NONE]];
        Plan { blocks, last: None, states }.run(Backend::best(), 1);
    }
}

/// All whole blocks of a piece.
fn whole<'a>(piece: &'a [&'a [u8]; 1]) -> Blocks<'a> {
    Blocks::new(piece, piece[0].len() / BLOCK_LEN)
}

/// Where a message goes on.
impl From<Midstate> for Md5 {
    fn from(Midstate { state, length }: Midstate) -> Self {
        Self::from_parts(state, length)
    }
}

impl Default for Md5 {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows the length alone: the state would tell of the message.
impl fmt::Debug for Md5 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Md5").field("length", &self.length).finish_non_exhaustive()
    }
}

#[cfg(feature = "std")]
impl std::io::Write for Md5 {
    /// Takes all bytes; never fails.
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// MD5 of a message that is in memory.
///
/// ```
/// let digest = lanesum_md5::md5(b"message digest");
/// assert_eq!(digest.to_string(), "f96b697d7cb7938d525a2f31aaf161d0");
/// ```
#[inline]
#[must_use]
pub fn md5(message: impl AsRef<[u8]>) -> Md5Digest {
    md5_of_slice(message.as_ref())
}

fn md5_of_slice(message: &[u8]) -> Md5Digest {
    let rest = &message[message.len() - message.len() % BLOCK_LEN..];
    let tail = PaddedTail::of(rest, message.len() as u64);
    let mut states = [INITIAL_STATE];
    let (message, tail) = ([message], [tail.blocks()]);
    let blocks = &[[whole(&message), whole(&tail)]];
    let plan = Plan { blocks, last: None, states: &mut states };
    plan.run(Backend::best(), 1);
    Md5Digest(states[0])
}

/// MD5 of a message that an iterator yields in chunks of any lengths: the lazy `ByteString`. One
/// chunk is held at a time.
///
/// ```
/// let chunks = std::iter::repeat_n([0; 1000], 1000); // a megabyte, never held whole
/// assert_eq!(lanesum_md5::md5_chunks(chunks), lanesum_md5::md5(&[0; 1_000_000]));
/// ```
pub fn md5_chunks<I>(chunks: I) -> Md5Digest
where
    I: IntoIterator<Item: AsRef<[u8]>>,
{
    let mut md5 = Md5::new();
    chunks.into_iter().for_each(|chunk| md5.update(chunk));
    md5.finalize()
}

/// MD5 of all that a reader yields, through a buffer of 64 KiB.
///
/// ```
/// let mut reader = &b"abc"[..];
/// assert_eq!(lanesum_md5::md5_reader(&mut reader)?, lanesum_md5::md5(b"abc"));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The reader's own, except interruptions, after which it reads on.
#[cfg(feature = "std")]
pub fn md5_reader<R: std::io::Read>(mut reader: R) -> std::io::Result<Md5Digest> {
    let mut md5 = Md5::new();
    let mut buffer = alloc::vec![0; 64 << 10];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(md5.finalize()),
            Ok(read) => md5.update(&buffer[..read]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

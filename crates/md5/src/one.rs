//! One message at a time: whole, in chunks, or from a reader.

use core::fmt;

use lanesum_lanes::{BLOCK_LEN, Backend, Blocks};

use crate::kernel::{INITIAL_STATE, Plan, State};
use crate::padding::{BlockBuffer, PaddedTail};
use crate::{Md5Digest, Midstate};

/// Computes the MD5 of a message that arrives in chunks. It holds the state and two blocks of 64
/// bytes, at any length of the message.
///
/// A clone continues independently, so messages with a common beginning can share the work for it:
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
    /// The number of bytes so far. The padding counts bits modulo 2^64, as in RFC 1321.
    length: u64,
}

impl Md5 {
    /// Makes a hasher of an empty message.
    #[must_use]
    pub const fn new() -> Self {
        Self { state: INITIAL_STATE, buffer: BlockBuffer::new(), length: 0 }
    }

    /// Adds the next bytes of the message.
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

    /// Returns the digest of all bytes added.
    #[must_use]
    pub fn finalize(mut self) -> Md5Digest {
        self.finish()
    }

    /// Returns the digest of all bytes added, and resets the hasher.
    pub fn finalize_reset(&mut self) -> Md5Digest {
        let digest = self.finish();
        self.reset();
        digest
    }

    /// Resets the hasher to an empty message.
    pub fn reset(&mut self) {
        *self = Self::new();
    }

    /// Returns the state of the message, to continue later. Returns `None` if the bytes added are
    /// not whole blocks of 64 bytes.
    #[must_use]
    pub fn midstate(&self) -> Option<Midstate> {
        // Past 2^64 bytes the length starts again at 0, which is a whole block.
        if self.buffer.is_empty() { Midstate::new(self.state, self.length) } else { None }
    }

    /// Returns the state after the last whole block, the total number of bytes, and the bytes after
    /// that block.
    #[cfg(feature = "digest")]
    pub(crate) fn parts(&self) -> (&State, u64, &[u8]) {
        (&self.state, self.length, self.buffer.bytes())
    }

    /// Makes a hasher that continues after the first `length` bytes, whole blocks, with this state.
    pub(crate) const fn from_parts(state: State, length: u64) -> Self {
        Self { state, buffer: BlockBuffer::new(), length }
    }

    fn finish(&mut self) -> Md5Digest {
        self.buffer.pad(self.length);
        take(&mut self.state, self.buffer.blocks());
        Md5Digest(self.state)
    }
}

/// Advances a state by whole blocks.
fn take(state: &mut State, blocks: &[u8]) {
    if !blocks.is_empty() {
        let states = core::slice::from_mut(state);
        let piece = [blocks];
        let blocks = &[[whole(&piece), Blocks::NONE]];
        Plan { blocks, last: None, states }.run(Backend::best(), 1);
    }
}

/// Returns all whole blocks of a piece.
fn whole<'a>(piece: &'a [&'a [u8]; 1]) -> Blocks<'a> {
    Blocks::new(piece, piece[0].len() / BLOCK_LEN)
}

/// Makes a hasher that continues a message.
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

/// Shows only the length, because the state would reveal the message.
impl fmt::Debug for Md5 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Md5").field("length", &self.length).finish_non_exhaustive()
    }
}

#[cfg(feature = "std")]
impl std::io::Write for Md5 {
    /// Adds all bytes. Never fails.
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns the MD5 digest of a message in memory.
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

/// Returns the MD5 digest of a message that an iterator yields in chunks of any lengths. Holds one
/// chunk at a time.
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

/// Returns the MD5 digest of all bytes of a reader, read through a buffer of 64 KiB.
///
/// ```
/// let mut reader = &b"abc"[..];
/// assert_eq!(lanesum_md5::md5_reader(&mut reader)?, lanesum_md5::md5(b"abc"));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Fails with the error of the reader. Interrupted reads are repeated.
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

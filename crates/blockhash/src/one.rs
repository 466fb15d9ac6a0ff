//! One message at a time: whole, in chunks, or from a reader.

use core::fmt;

use lanesum_lanes::{Backend, Blocks};
#[cfg(feature = "zeroize")]
use zeroize::Zeroize as _;

use crate::hash::{BlockHash, Plan, block_len, blocks};
use crate::padding::{BlockBuffer, PaddedTail};
use crate::{Digest, Midstate};

/// Computes the digest of a message that arrives in chunks. It holds the state and two blocks, at
/// any length of the message.
///
/// A clone continues independently, so messages with a common beginning can share the work for it.
#[derive(Clone)]
pub struct Hasher<H: BlockHash> {
    state: H::State,
    buffer: BlockBuffer<H>,
    /// The number of bytes so far.
    length: u64,
}

impl<H: BlockHash> Hasher<H> {
    /// Makes a hasher of an empty message.
    #[must_use]
    pub const fn new() -> Self {
        Self { state: H::INITIAL, buffer: BlockBuffer::new(), length: 0 }
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
            take::<H>(&mut self.state, self.buffer.blocks());
            self.buffer.clear();
        }
        let (blocks, rest) = bytes.split_at(bytes.len() - bytes.len() % block_len::<H>());
        take::<H>(&mut self.state, blocks);
        self.buffer.fill(rest);
    }

    /// Returns the digest of all bytes added.
    #[must_use]
    pub fn finalize(mut self) -> Digest<H> {
        self.finish()
    }

    /// Returns the digest of all bytes added, and resets the hasher.
    pub fn finalize_reset(&mut self) -> Digest<H> {
        let digest = self.finish();
        self.reset();
        digest
    }

    /// Resets the hasher to an empty message.
    pub fn reset(&mut self) {
        *self = Self::new();
    }

    /// Returns the state of the message, to continue later. Returns `None` if the bytes added are
    /// not whole blocks.
    #[must_use]
    pub fn midstate(&self) -> Option<Midstate<H>> {
        // Past 2^64 bytes the length starts again at 0, which is a whole block.
        if self.buffer.is_empty() { Midstate::new(self.state, self.length) } else { None }
    }

    /// Returns the state after the last whole block, the total number of bytes, and the bytes after
    /// that block.
    #[cfg(feature = "digest")]
    pub(crate) fn parts(&self) -> (&H::State, u64, &[u8]) {
        (&self.state, self.length, self.buffer.bytes())
    }

    /// Makes a hasher that continues after the first `length` bytes, whole blocks, with this state.
    pub(crate) const fn from_parts(state: H::State, length: u64) -> Self {
        Self { state, buffer: BlockBuffer::new(), length }
    }

    fn finish(&mut self) -> Digest<H> {
        self.buffer.pad(self.length);
        take::<H>(&mut self.state, self.buffer.blocks());
        Digest::of_state(&self.state)
    }
}

/// Advances a state by whole blocks.
fn take<H: BlockHash>(state: &mut H::State, blocks: &[u8]) {
    if !blocks.is_empty() {
        let states = core::slice::from_mut(state);
        let piece = [blocks];
        let blocks = &[[whole::<H>(&piece), Blocks::NONE]];
        H::run(Plan { blocks, last: None, states }, Backend::best(), 1);
    }
}

/// Returns all whole blocks of a piece.
fn whole<'a, H: BlockHash>(piece: &'a [&'a [u8]; 1]) -> Blocks<'a> {
    blocks::<H>(piece, piece[0].len() / block_len::<H>())
}

/// Overwrites state and buffer, because both would reveal parts of the message.
#[cfg(feature = "zeroize")]
impl<H: BlockHash> Drop for Hasher<H> {
    fn drop(&mut self) {
        self.state.as_mut().zeroize();
        self.buffer.zeroize();
        self.length.zeroize();
    }
}

#[cfg(feature = "zeroize")]
impl<H: BlockHash> zeroize::ZeroizeOnDrop for Hasher<H> {}

/// Makes a hasher that continues a message.
impl<H: BlockHash> From<Midstate<H>> for Hasher<H> {
    fn from(Midstate { state, length }: Midstate<H>) -> Self {
        Self::from_parts(state, length)
    }
}

impl<H: BlockHash> Default for Hasher<H> {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows only the length, because the state would reveal the message.
impl<H: BlockHash> fmt::Debug for Hasher<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(H::NAME).field("length", &self.length).finish_non_exhaustive()
    }
}

#[cfg(feature = "std")]
impl<H: BlockHash> std::io::Write for Hasher<H> {
    /// Adds all bytes. Never fails.
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns the digest of a message in memory.
pub fn digest_of<H: BlockHash>(message: &[u8]) -> Digest<H> {
    let rest = &message[message.len() - message.len() % block_len::<H>()..];
    let tail = PaddedTail::<H>::of(rest, message.len() as u64);
    let mut states = [H::INITIAL];
    let (message, tail) = ([message], [tail.blocks()]);
    let blocks = &[[whole::<H>(&message), whole::<H>(&tail)]];
    H::run(Plan { blocks, last: None, states: &mut states }, Backend::best(), 1);
    Digest::of_state(&states[0])
}

/// Returns the digest of a message that an iterator yields in chunks of any lengths. Holds one
/// chunk at a time.
pub fn chunks<H: BlockHash, I>(chunks: I) -> Digest<H>
where
    I: IntoIterator<Item: AsRef<[u8]>>,
{
    let mut hasher = Hasher::new();
    chunks.into_iter().for_each(|chunk| hasher.update(chunk));
    hasher.finalize()
}

/// Returns the digest of all bytes of a reader, read through a buffer of 64 KiB.
///
/// # Errors
/// Fails with the error of the reader. Interrupted reads are repeated.
#[cfg(feature = "std")]
pub fn reader<H: BlockHash, R: std::io::Read>(mut reader: R) -> std::io::Result<Digest<H>> {
    let mut hasher = Hasher::new();
    let mut buffer = alloc::vec![0; 64 << 10];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finalize()),
            Ok(read) => hasher.update(&buffer[..read]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

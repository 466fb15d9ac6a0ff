//! The state of a message after some of its blocks.

use crate::hash::{BlockHash, block_len};

/// The state of a hash function after the first blocks of a message, to continue later or in
/// another process. It is not a digest of these blocks, but reveals as much about them as a digest
/// does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Midstate<H: BlockHash> {
    pub(crate) state: H::State,
    pub(crate) length: u64,
}

impl<H: BlockHash> Midstate<H> {
    /// The state before the first block of a message.
    pub const INITIAL: Self = Self { state: H::INITIAL, length: 0 };

    /// Makes a midstate from the bytes of the state after `length` bytes of a message. Returns
    /// `None` if these are not whole blocks. A length past 2^64 bytes starts again at 0, so longer
    /// messages have another digest than the standards of SHA-512 and SHA-384 define.
    #[must_use]
    pub const fn new(state: H::State, length: u64) -> Option<Self> {
        let is_whole = length.is_multiple_of(block_len::<H>() as u64);
        if is_whole { Some(Self { state, length }) } else { None }
    }

    /// Makes a midstate from the bytes of a state, as [`new`](Self::new) does. Also returns `None`
    /// if `state` has the wrong length.
    #[must_use]
    pub fn from_slice(state: &[u8], length: u64) -> Option<Self> {
        Self::new(state.try_into().ok()?, length)
    }

    /// Returns the number of bytes of the message before this state.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Returns the number of bytes of the message with `more` bytes after this state.
    #[cfg(feature = "alloc")]
    pub(crate) const fn length_with(&self, more: usize) -> u64 {
        self.length.wrapping_add(more as u64)
    }

    /// Returns the bytes of the state, in the order of the bytes of a digest.
    #[must_use]
    pub const fn to_bytes(&self) -> H::State {
        self.state
    }
}

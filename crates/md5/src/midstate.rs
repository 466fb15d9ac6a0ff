//! The state of a message after some of its blocks.

use lanesum_lanes::BLOCK_LEN;

use crate::kernel::State;
use crate::{DIGEST_LEN, Md5Digest};

/// The state of MD5 after the first blocks of a message, to continue later or in another process.
/// It is not a digest of these blocks, but reveals as much about them as a digest does.
///
/// ```
/// use lanesum_md5::{Md5, Midstate, md5};
///
/// let message = [7; 1000];
/// let mut first = Md5::new();
/// first.update(&message[..640]);
/// let midstate = first.midstate().expect("ten blocks of 64 bytes, and nothing behind them");
/// let (length, state) = (midstate.length(), midstate.to_bytes());
///
/// let mut rest = Md5::from(Midstate::new(state, length).expect("whole blocks"));
/// rest.update(&message[640..]);
/// assert_eq!(rest.finalize(), md5(&message));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Midstate {
    pub(crate) state: State,
    pub(crate) length: u64,
}

impl Midstate {
    /// Makes a midstate from the 16-byte state after `length` bytes of a message. Returns `None` if
    /// these are not whole blocks of 64 bytes.
    #[must_use]
    pub const fn new(state: [u8; DIGEST_LEN], length: u64) -> Option<Self> {
        if length.is_multiple_of(BLOCK_LEN as u64) { Some(Self { state, length }) } else { None }
    }

    /// Makes a midstate from the result of a stream that was [cut](crate::Stream::is_cut) after
    /// `length` bytes. Returns `None` if these are not whole blocks of 64 bytes.
    pub const fn of_cut(state: Md5Digest, length: u64) -> Option<Self> {
        Self::new(state.0, length)
    }

    /// Returns the number of bytes of the message before this state.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Returns the 16 bytes of the state: A, B, C and D of RFC 1321, little-endian.
    #[must_use]
    pub const fn to_bytes(&self) -> [u8; DIGEST_LEN] {
        self.state
    }
}

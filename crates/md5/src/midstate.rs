//! Where a message stands after some of its blocks.

use lanesum_lanes::BLOCK_LEN;

use crate::kernel::State;
use crate::{DIGEST_LEN, Md5Digest};

/// The state of MD5 after the first blocks of a message, to go on from later: in another process,
/// or on another day. It is no digest of these blocks, and tells as much of them as one does.
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
    /// The state of 16 bytes after `length` bytes of a message; `None` if these are not whole
    /// blocks of 64.
    #[must_use]
    pub const fn new(state: [u8; DIGEST_LEN], length: u64) -> Option<Self> {
        if length.is_multiple_of(BLOCK_LEN as u64) { Some(Self { state, length }) } else { None }
    }

    /// The state after `length` bytes, of a stream that was [cut](crate::Stream::is_cut) there.
    pub const fn of_cut(state: Md5Digest, length: u64) -> Option<Self> {
        Self::new(state.0, length)
    }

    /// How many bytes of the message led to it.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// The 16 bytes of the state: A, B, C and D of RFC 1321, little-endian.
    #[must_use]
    pub const fn to_bytes(&self) -> [u8; DIGEST_LEN] {
        self.state
    }
}

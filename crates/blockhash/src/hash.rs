//! What the schedulers must know of a hash function.

use core::fmt;
use core::hash::Hash;

use lanesum_lanes::{BLOCK_LEN, Backend, Blocks};

#[cfg(feature = "alloc")]
use crate::{Midstate, lockstep::Lockstep};

/// A hash function that advances a state by blocks, and ends a message with a byte 0x80, zeros, and
/// its length in bits: MD5, SHA-1 and SHA-2.
///
/// A crate implements it for a type without contents. All else follows: [`Hasher`](crate::Hasher),
/// [`Lanes`](crate::Lanes), [`Digest`](crate::Digest), and the functions of [`api!`](crate::api).
pub trait BlockHash:
    Copy + Default + Ord + Hash + fmt::Debug + Send + Sync + Unpin + 'static
{
    /// The state of a message as bytes, in the order of the bytes of a digest.
    type State: Bytes;
    /// The digest: the first bytes of the last state.
    type Digest: Bytes;
    /// Two blocks: the end of a message with its padding.
    type Tail: Bytes;
    /// A last block that is the same in all lanes, as the kernel needs it.
    type Padding: Copy + fmt::Debug;

    /// The name, such as `MD5`.
    const NAME: &'static str;
    /// Whether words are stored with the most significant byte first.
    const IS_BIG_ENDIAN: bool;
    /// The state before the first block.
    const INITIAL: Self::State;
    /// A padding, before any is known.
    const NO_PADDING: Self::Padding;

    /// Returns how many of `lanes` messages the next run of the kernel takes, and so in how many
    /// lanes it runs: one of the widths that [`run`](Self::run) accepts. It is greater than `lanes`
    /// if lanes are to stay idle. The result for [`MAX_LANES`](lanesum_lanes::MAX_LANES) is the
    /// widest.
    fn width(backend: Backend, lanes: usize) -> usize;

    /// Returns how many long messages are hashed together.
    fn most_streams(backend: Backend) -> usize {
        Self::width(backend, lanesum_lanes::MAX_LANES)
    }

    /// Prepares a last block that is the same in all lanes.
    fn padding(block: &[u8]) -> Self::Padding;

    /// Runs the kernel. Implementations are compiled once, with everything that they call.
    ///
    /// # Panics
    /// Panics if `width` is not a width of the backend, or if there are fewer states or inputs.
    fn run(plan: Plan<'_, Self>, backend: Backend, width: usize);

    /// Calls [`Lockstep::hash_if_alike`]. [`schedulers!`](crate::schedulers) makes this method, so
    /// that the crate of the hash function compiles it once, and not each crate that uses it.
    #[cfg(feature = "alloc")]
    fn hash_if_alike(
        lockstep: &mut Lockstep<Self>,
        messages: &[&[u8]],
        states: &mut [Self::State],
    ) -> bool;

    /// Calls [`memory::hash`](crate::memory::hash), for the same reason.
    #[cfg(feature = "alloc")]
    fn hash_in_memory(
        backend: Backend,
        start: Midstate<Self>,
        messages: &[&[u8]],
        states: &mut [Self::State],
    );
}

/// An array of bytes.
pub trait Bytes:
    Copy
    + Ord
    + Hash
    + fmt::Debug
    + AsRef<[u8]>
    + AsMut<[u8]>
    + for<'a> TryFrom<&'a [u8], Error = core::array::TryFromSliceError>
    + Send
    + Sync
    + Unpin
    + 'static
{
    /// As many zeros.
    const ZEROS: Self;
    /// The number of bytes.
    const LEN: usize;
}

impl<const N: usize> Bytes for [u8; N] {
    const ZEROS: Self = [0; N];
    const LEN: usize = N;
}

/// The work of a kernel: advances the states of messages, as many at a time as there are lanes.
#[derive(Debug)]
pub struct Plan<'a, H: BlockHash> {
    /// The blocks of the first messages in two parts, then those of the next messages.
    pub blocks: &'a [[Blocks<'a>; 2]],
    /// A last block that is the same in all lanes, if the messages end in one.
    pub last: Option<&'a H::Padding>,
    /// The states of the messages. Those of the first messages are read; those of later messages
    /// start from the initial state and are only written.
    pub states: &'a mut [H::State],
}

/// Bytes in a block.
pub(crate) const fn block_len<H: BlockHash>() -> usize {
    H::Tail::LEN / 2
}

/// The number of blocks of [`lanesum_lanes`] in a block.
pub(crate) const fn units<H: BlockHash>() -> usize {
    block_len::<H>() / BLOCK_LEN
}

/// Returns the first `count` blocks of inputs.
///
/// # Panics
/// Panics if an input is shorter.
#[inline(always)]
pub(crate) fn blocks<'a, H: BlockHash>(inputs: &'a [&'a [u8]], count: usize) -> Blocks<'a> {
    Blocks::new(inputs, count * units::<H>())
}

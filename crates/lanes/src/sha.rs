//! The SHA instructions of a CPU, which compute some rounds of one message each.

use core::marker::PhantomData;

use crate::Backend;
use crate::blocks::{BlockRow, Blocks};
use crate::word::sealed::Sealed;

/// Four adjacent 32-bit words of a message or a state, of each of [`STREAMS`](ShaWord::STREAMS)
/// messages, with the operations of SHA-1 and SHA-256 on them.
///
/// The first of the four words is the one in the lowest bits. [Intel's
/// manual](https://www.intel.com/sdm) describes the operations under the names in parentheses.
pub trait ShaWord: Copy + Sealed {
    /// The number of messages.
    const STREAMS: usize;

    /// Returns the same four words for each message.
    fn splat(words: [u32; 4]) -> Self;

    /// Loads quarter `quarter` of a block of each message, big-endian. Message `i` is lane
    /// `first + i`.
    fn load(row: BlockRow<'_>, first: usize, quarter: usize) -> Self;

    /// Loads four big-endian words at byte 16 * `piece` of each state, or the last ones with zeros
    /// above.
    ///
    /// # Panics
    /// Panics if there are fewer states than messages, or less bytes.
    fn load_state<const N: usize>(states: &[[u8; N]], piece: usize) -> Self;

    /// Stores what [`load_state`](Self::load_state) loads.
    ///
    /// # Panics
    /// Panics in the same cases.
    fn store_state<const N: usize>(self, states: &mut [[u8; N]], piece: usize);

    /// Returns the sums of the words.
    #[must_use]
    fn add(self, other: Self) -> Self;

    /// Returns the exclusive or of the words.
    #[must_use]
    fn xor(self, other: Self) -> Self;

    /// Returns the words in the given order: two bits for each, as in `PSHUFD`.
    #[must_use]
    fn shuffle<const ORDER: i32>(self) -> Self;

    /// Returns the last `4 - COUNT` words of `self`, followed by the first `COUNT` of `next`.
    /// `COUNT` is 1 to 3.
    #[must_use]
    fn shift_in<const COUNT: i32>(self, next: Self) -> Self;

    /// Computes two rounds of SHA-256 (`SHA256RNDS2`). `self` is `[h, g, d, c]`, `other` is
    /// `[f, e, b, a]`, and `sums` has the sums of words and constants as its first two. Returns the
    /// new `[f, e, b, a]`; the new `[h, g, d, c]` is the old `other`.
    #[must_use]
    fn sha256_two_rounds(self, other: Self, sums: Self) -> Self;

    /// Computes the first part of four words of the schedule of SHA-256 (`SHA256MSG1`).
    #[must_use]
    fn sha256_message_1(self, next: Self) -> Self;

    /// Computes the last part of four words of the schedule of SHA-256 (`SHA256MSG2`).
    #[must_use]
    fn sha256_message_2(self, last: Self) -> Self;

    /// Computes four rounds of SHA-1 (`SHA1RNDS4`). `self` is `[d, c, b, a]`. `sums` has the words
    /// from the last to the first, with `e` in the last sum. `F` is the number of the function.
    #[must_use]
    fn sha1_four_rounds<const F: i32>(self, sums: Self) -> Self;

    /// Adds `self`, the state of four rounds before, as `e` to the last word (`SHA1NEXTE`).
    #[must_use]
    fn sha1_add_e(self, words: Self) -> Self;

    /// Computes the first part of four words of the schedule of SHA-1 (`SHA1MSG1`).
    #[must_use]
    fn sha1_message_1(self, next: Self) -> Self;

    /// Computes the last part of four words of the schedule of SHA-1 (`SHA1MSG2`).
    #[must_use]
    fn sha1_message_2(self, last: Self) -> Self;

    /// Calls a function, compiled with the SHA instructions.
    fn call<R>(function: impl FnOnce() -> R) -> R;
}

/// The [`WIDTHS`](crate::Kernel::WIDTHS) of SHA-1 and SHA-256. There are none for CPUs whose
/// rotations take two cycles, because the number of units limits these kernels.
pub const SHA_WIDTHS: [u128; 6] = [
    1 << 1,
    1 << 1 | 1 << 4,
    1 << 1 | 1 << 8,
    1 << 1 | 1 << 8 | 1 << 16,
    0,
    1 << 1 | 1 << 8 | 1 << 16 | 1 << 32,
];

/// A computation written against [`ShaWord`]. Otherwise like [`Kernel`](crate::Kernel).
pub trait ShaKernel {
    /// The result of the computation.
    type Output;

    /// The largest number of messages to compile the kernel for: 1, 2 or 4.
    const MOST_STREAMS: usize;

    /// Runs the computation for the messages of `W`.
    ///
    /// Implementations must be `#[inline(always)]`, and so must every function that they pass words
    /// to.
    fn run<W: ShaWord>(self) -> Self::Output;
}

/// One block of each message.
#[derive(Clone, Copy)]
pub struct ShaBlock<'a, W> {
    row: BlockRow<'a>,
    word: PhantomData<W>,
}

impl<'a, W: ShaWord> ShaBlock<'a, W> {
    /// Returns block `index` of each message.
    ///
    /// # Panics
    /// Panics if there is no such block, or if there are fewer inputs than messages.
    #[inline(always)]
    #[must_use]
    pub fn new(blocks: &Blocks<'a>, index: usize) -> Self {
        Self { row: blocks.row(index, W::STREAMS), word: PhantomData }
    }

    /// Returns quarter `quarter` of the block, 0 to 3, big-endian.
    ///
    /// # Panics
    /// Panics if there is no such quarter.
    #[inline(always)]
    #[must_use]
    pub fn quarter(&self, quarter: usize) -> W {
        W::load(self.row, 0, quarter)
    }
}

impl Backend {
    /// Returns how many messages the SHA instructions of this CPU hash together, ascending. It is
    /// empty if the CPU has none, and for the portable backend.
    ///
    /// Two messages take less than the time of two on all CPUs, because the instructions wait for
    /// each other. Four are faster still only where two instructions start in every other cycle: on
    /// AMD's.
    #[must_use]
    pub fn sha_streams(self) -> &'static [usize] {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        if self != Self::PORTABLE {
            return crate::x86_64::sha::Instructions::of_this_cpu().streams();
        }
        &[]
    }

    /// Runs a kernel of the SHA instructions for `streams` messages.
    ///
    /// # Panics Panics if the CPU has no SHA instructions, or if `streams` is not 1, 2 or 4, or
    /// more than the kernel's most.
    #[inline]
    pub fn run_sha<K: ShaKernel>(self, streams: usize, kernel: K) -> K::Output {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        if !self.sha_streams().is_empty() {
            return crate::x86_64::sha::run(streams, kernel);
        }
        let _ = kernel;
        panic!("no SHA instructions for {streams} messages")
    }
}

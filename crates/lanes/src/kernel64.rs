//! What runs in words of 64 bits.

use crate::Word64;

/// A computation written against [`Word64`]; otherwise as [`Kernel`](crate::Kernel).
pub trait Kernel64 {
    /// What it gives back.
    type Output;

    /// Does it, in lanes of `W`.
    ///
    /// Implementations must be `#[inline(always)]`, and so must what they call with words: only
    /// then is the code compiled with the instructions of the backend.
    fn run<W: Word64>(self) -> Self::Output;
}

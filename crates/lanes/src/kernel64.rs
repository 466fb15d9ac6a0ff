//! Kernels in words of 64 bits.

use crate::Word64;

/// A computation written against [`Word64`]. Otherwise like [`Kernel`](crate::Kernel).
pub trait Kernel64 {
    /// The result of the computation.
    type Output;

    /// The numbers of lanes to compile the kernel for, as bits: for the portable backend, and for
    /// registers of 16, 32 and 64 bytes. A large kernel names those that it uses.
    const WIDTHS: [u128; 4] = [u128::MAX; 4];

    /// The numbers of lanes of [`Backend::narrow_widths_64`](crate::Backend::narrow_widths_64) to
    /// compile the kernel for, as bits.
    const NARROW: u128 = 0;

    /// Runs the computation in lanes of `W`.
    ///
    /// Implementations must be `#[inline(always)]`, and so must every function that they pass words
    /// to. Only then does the compiler use the instructions of the backend.
    fn run<W: Word64>(self) -> Self::Output;
}

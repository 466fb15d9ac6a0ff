//! How to run a kernel of 64-bit words with an instruction set.

use crate::backend::{InstructionSet::*, no_such_width};
#[cfg(target_arch = "x86_64")]
use crate::x86_64::{avx2_64, avx512_64, latency, sse2_64};
use crate::{Backend, Word64};

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

impl Backend {
    /// The numbers of lanes in which it runs a kernel of 64-bit words, ascending.
    #[must_use]
    pub const fn widths_64(self) -> &'static [usize] {
        match self.0 {
            Portable => &[1, 2],
            #[cfg(target_arch = "x86_64")]
            Sse2 => &[1, 2, 4, 6],
            #[cfg(target_arch = "x86_64")]
            Avx2 => &[1, 4, 8, 12],
            #[cfg(target_arch = "x86_64")]
            Avx512 => &[1, 8, 16, 24],
        }
    }

    /// The number of lanes for kernels whose words have to be brought together from many places: the most, but
    /// with AVX-512 two registers where they keep the units busy. There is room then for the CPU to
    /// begin with the next lanes before the last are done.
    #[must_use]
    pub fn gathering_width_64(self) -> usize {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Avx512 if !latency::vectors_take_two_cycles() => 16,
            _ => self.widths_64()[self.widths_64().len() - 1],
        }
    }

    /// Whether its words are loaded by a mask: [`Word64::load_pair_or_zeros`] is as fast as
    /// [`Word64::load_pair`].
    #[must_use]
    pub const fn loads_by_mask(self) -> bool {
        match self.0 {
            Portable => false,
            #[cfg(target_arch = "x86_64")]
            Sse2 | Avx2 => false,
            #[cfg(target_arch = "x86_64")]
            Avx512 => true,
        }
    }

    /// Runs a kernel of 64-bit words in `width` lanes.
    ///
    /// # Panics
    /// When `width` is not one of [`widths_64`](Self::widths_64).
    #[inline]
    pub fn run_64<K: Kernel64>(self, width: usize, kernel: K) -> K::Output {
        match (width, self.0) {
            (1, _) => kernel.run::<u64>(),
            (2, Portable) => kernel.run::<[u64; 2]>(),
            (_, Portable) => no_such_width(width),
            #[cfg(target_arch = "x86_64")]
            (_, Sse2) => sse2_64::run(width, kernel),
            // SAFETY: `of_cpu` looked, when this value was made, that the CPU has what AVX2 needs.
            #[cfg(target_arch = "x86_64")]
            (_, Avx2) => unsafe { avx2_64::run(width, kernel) },
            // SAFETY: `of_cpu` looked, when this value was made, that the CPU has what AVX-512 needs.
            #[cfg(target_arch = "x86_64")]
            (_, Avx512) => unsafe { avx512_64::run(width, kernel) },
        }
    }
}

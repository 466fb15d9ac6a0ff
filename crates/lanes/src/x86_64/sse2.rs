//! SSE2, which every x86-64 has: four lanes of 32 bits.

use core::arch::asm;
use core::arch::x86_64::*;

use super::vector::{Register, Set};
use crate::word::{Bits, Numbers};

/// The instruction set.
#[derive(Clone, Copy)]
pub(crate) struct Sse2;

impl<R: Bits> Set<R> for Sse2 {
    const ALONE: bool = false;

    #[inline(always)]
    fn end_step<const F: i32, const COUNT: u32>(sum: R, b: R, c: R, d: R) -> R {
        sum.fewest::<F, COUNT>(b, c, d)
    }

    #[inline(always)]
    fn call<T>(function: impl FnOnce() -> T) -> T {
        function()
    }
}

impl Numbers for __m128i {
    #[inline(always)]
    fn splat(value: u32) -> Self {
        // SAFETY: the ground rule.
        unsafe { _mm_set1_epi32(value.cast_signed()) }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: the ground rule.
        unsafe { _mm_add_epi32(self, other) }
    }

    #[inline(always)]
    fn opaque(mut self) -> Self {
        // SAFETY: no instruction, so nothing that could be violated.
        unsafe {
            asm!("/* {0} */", inout(xmm_reg) self, options(pure, nomem, nostack, preserves_flags))
        }
        self
    }
}

impl Bits for __m128i {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: the ground rule.
        unsafe { _mm_and_si128(self, other) }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: the ground rule.
        unsafe { _mm_xor_si128(self, other) }
    }

    #[inline(always)]
    fn rotate_left(self, count: u32) -> Self {
        let count = count.cast_signed();
        // SAFETY: the ground rule. The compiler makes the immediate forms of constant counts.
        unsafe {
            let (left, right) = (_mm_cvtsi32_si128(count), _mm_cvtsi32_si128(32 - count));
            _mm_or_si128(_mm_sll_epi32(self, left), _mm_srl_epi32(self, right))
        }
    }
}

impl Register for __m128i {
    #[inline(always)]
    fn interleave(self, other: Self) -> [Self; 2] {
        // SAFETY: the ground rule.
        unsafe { [_mm_unpacklo_epi32(self, other), _mm_unpackhi_epi32(self, other)] }
    }
}

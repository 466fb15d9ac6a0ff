//! SSE2, which every x86-64 has: four lanes of 32 bits.

use core::arch::asm;
use core::arch::x86_64::{__m128i as Xmm, *};

use super::vector::{Register, Set};
use crate::word::{Numbers, function, logic};

/// The instruction set.
#[derive(Clone, Copy)]
pub(crate) struct Sse2;

impl Set<Xmm> for Sse2 {
    const ALONE: bool = false;

    #[inline(always)]
    fn logic<const F: i32>(b: Xmm, c: Xmm, d: Xmm) -> Xmm {
        let ones = Xmm::splat(u32::MAX);
        // SAFETY: the ground rule.
        unsafe { logic!(F, b, c, d, _mm_and_si128, _mm_or_si128, _mm_xor_si128, ones) }
    }

    #[inline(always)]
    fn rotate_right<const COUNT: u32>(value: Xmm) -> Xmm {
        // SAFETY: the ground rule. The compiler makes the immediate form of a constant count.
        unsafe {
            let left = _mm_sll_epi32(value, _mm_cvtsi32_si128(32 - COUNT.cast_signed()));
            _mm_or_si128(value.shift_right::<COUNT>(), left)
        }
    }

    /// Swaps the bytes of each half, and then the halves.
    #[inline(always)]
    fn swap_bytes(value: Xmm) -> Xmm {
        // SAFETY: the ground rule.
        unsafe {
            let bytes = _mm_or_si128(_mm_slli_epi16::<8>(value), _mm_srli_epi16::<8>(value));
            let low = _mm_shufflelo_epi16::<0b10_11_00_01>(bytes);
            _mm_shufflehi_epi16::<0b10_11_00_01>(low)
        }
    }

    #[inline(always)]
    fn end_step<const F: i32, const COUNT: u32>(sum: Xmm, b: Xmm, c: Xmm, d: Xmm) -> Xmm {
        let ones = Xmm::splat(u32::MAX);
        // SAFETY: the ground rule. The compiler makes the immediate forms of constant counts.
        unsafe {
            let [sum, late] = match F {
                function::F => [sum, _mm_xor_si128(d, _mm_and_si128(b, _mm_xor_si128(c, d)))],
                function::G => [sum.add(_mm_andnot_si128(d, c)), _mm_and_si128(b, d)],
                function::H => [sum, _mm_xor_si128(b, _mm_xor_si128(c, d))],
                function::I => [sum, _mm_xor_si128(c, _mm_xor_si128(_mm_andnot_si128(b, d), ones))],
                _ => unreachable!("no function of MD5"),
            };
            let sum = _mm_add_epi32(sum, late);
            let left = _mm_sll_epi32(sum, _mm_cvtsi32_si128(COUNT.cast_signed()));
            let right = _mm_srl_epi32(sum, _mm_cvtsi32_si128(32 - COUNT.cast_signed()));
            _mm_add_epi32(_mm_or_si128(left, right), b)
        }
    }

    #[inline(always)]
    fn call<T>(function: impl FnOnce() -> T) -> T {
        function()
    }
}

impl Numbers for Xmm {
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

impl Register for Xmm {
    #[inline(always)]
    fn interleave(self, other: Self) -> [Self; 2] {
        // SAFETY: the ground rule.
        unsafe { [_mm_unpacklo_epi32(self, other), _mm_unpackhi_epi32(self, other)] }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: the ground rule.
        unsafe { _mm_xor_si128(self, other) }
    }

    #[inline(always)]
    fn shift_right<const COUNT: u32>(self) -> Self {
        // SAFETY: the ground rule. The compiler makes the immediate form of a constant count.
        unsafe { _mm_srl_epi32(self, _mm_cvtsi32_si128(COUNT.cast_signed())) }
    }
}

//! AVX-512 (F, VL and BW): up to sixteen lanes of 32 bits, with three-operand logic.

use core::arch::asm;
use core::arch::x86_64::{__m256i as Ymm, __m512i as Zmm, *};

use super::vector::{Register, Set, swapped};
use crate::word::Numbers;

/// The instruction set, with steps of the fewest operations.
///
/// Ternary logic overwrites an operand, so the compiler copies one that is still needed. That is
/// usually `c` or `d`, but `b` if `b` is opaque. On Zen 4 the copy of an old value delays its
/// readers. The copy of `b`, which was just computed, costs nothing.
#[derive(Clone, Copy)]
pub(crate) struct Avx512;

impl Set<Ymm> for Avx512 {
    const ALONE: bool = false;

    #[inline(always)]
    fn logic<const F: i32>(b: Ymm, c: Ymm, d: Ymm) -> Ymm {
        // SAFETY: the ground rule.
        unsafe { _mm256_ternarylogic_epi32::<F>(b, c, d) }
    }

    #[inline(always)]
    fn rotate_right<const COUNT: u32>(value: Ymm) -> Ymm {
        // SAFETY: the ground rule. The compiler makes the immediate form of a constant count.
        unsafe { _mm256_rorv_epi32(value, Ymm::splat(COUNT)) }
    }

    #[inline(always)]
    fn swap_bytes(value: Ymm) -> Ymm {
        // SAFETY: the ground rule.
        unsafe { _mm256_shuffle_epi8(value, _mm256_broadcastsi128_si256(swapped())) }
    }

    #[inline(always)]
    fn end_step<const F: i32, const COUNT: u32>(sum: Ymm, b: Ymm, c: Ymm, d: Ymm) -> Ymm {
        // SAFETY: the ground rule. The compiler makes the immediate form of a constant count.
        unsafe {
            let sum = _mm256_add_epi32(sum, _mm256_ternarylogic_epi32::<F>(b.opaque(), c, d));
            _mm256_add_epi32(_mm256_rolv_epi32(sum, Ymm::splat(COUNT)), b)
        }
    }

    #[inline(always)]
    fn call<T>(function: impl FnOnce() -> T) -> T {
        call(function)
    }
}

impl Set<Zmm> for Avx512 {
    const ALONE: bool = false;

    #[inline(always)]
    fn logic<const F: i32>(b: Zmm, c: Zmm, d: Zmm) -> Zmm {
        // SAFETY: the ground rule.
        unsafe { _mm512_ternarylogic_epi32::<F>(b, c, d) }
    }

    #[inline(always)]
    fn rotate_right<const COUNT: u32>(value: Zmm) -> Zmm {
        // SAFETY: the ground rule. The compiler makes the immediate form of a constant count.
        unsafe { _mm512_rorv_epi32(value, Zmm::splat(COUNT)) }
    }

    #[inline(always)]
    fn swap_bytes(value: Zmm) -> Zmm {
        // SAFETY: the ground rule.
        unsafe { _mm512_shuffle_epi8(value, _mm512_broadcast_i32x4(swapped())) }
    }

    #[inline(always)]
    fn end_step<const F: i32, const COUNT: u32>(sum: Zmm, b: Zmm, c: Zmm, d: Zmm) -> Zmm {
        // SAFETY: the ground rule. The compiler makes the immediate form of a constant count.
        unsafe {
            let sum = _mm512_add_epi32(sum, _mm512_ternarylogic_epi32::<F>(b.opaque(), c, d));
            _mm512_add_epi32(_mm512_rolv_epi32(sum, Zmm::splat(COUNT)), b)
        }
    }

    #[inline(always)]
    fn call<T>(function: impl FnOnce() -> T) -> T {
        call(function)
    }
}

#[inline(always)]
fn call<T>(function: impl FnOnce() -> T) -> T {
    #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx2,popcnt")]
    fn call<T>(function: impl FnOnce() -> T) -> T {
        function()
    }
    // SAFETY: the ground rule.
    unsafe { call(function) }
}

/// The same instruction set with the shortest steps, for registers that do not share the execution
/// units, on CPUs on which a rotation takes two cycles.
#[derive(Clone, Copy)]
pub(crate) struct Avx512Shortest;

impl Set<Ymm> for Avx512Shortest {
    const ALONE: bool = true;

    #[inline(always)]
    fn logic<const F: i32>(b: Ymm, c: Ymm, d: Ymm) -> Ymm {
        <Avx512 as Set<Ymm>>::logic::<F>(b, c, d)
    }

    #[inline(always)]
    fn rotate_right<const COUNT: u32>(value: Ymm) -> Ymm {
        <Avx512 as Set<Ymm>>::rotate_right::<COUNT>(value)
    }

    #[inline(always)]
    fn swap_bytes(value: Ymm) -> Ymm {
        <Avx512 as Set<Ymm>>::swap_bytes(value)
    }

    #[inline(always)]
    fn end_step<const F: i32, const COUNT: u32>(sum: Ymm, b: Ymm, c: Ymm, d: Ymm) -> Ymm {
        // SAFETY: the ground rule.
        unsafe { shortest::<F, COUNT>(sum, b, c, d) }
    }

    #[inline(always)]
    fn call<T>(function: impl FnOnce() -> T) -> T {
        call(function)
    }
}

/// The end of a step with only four one-cycle operations between `b` and the result: the chain of
/// [`avx2`](super::avx2) after the function of the step. The order matters even more here, because
/// the CPU assigns an operation to a unit when it is issued, not when it is ready.
#[target_feature(enable = "avx512f,avx512vl")]
#[inline]
fn shortest<const F: i32, const COUNT: u32>(sum: Ymm, b: Ymm, c: Ymm, d: Ymm) -> Ymm {
    let result;
    // SAFETY: reads and writes registers alone.
    unsafe {
        asm!(
            "vpslld {left}, {sum}, {n}",
            "vpaddd {left}, {left}, {b}",
            "vmovdqa32 {late}, {b}",
            "vpternlogd {late}, {c}, {d}, {truth}",
            "vpaddd {result}, {sum}, {late}",
            "vpslld {late}, {late}, {n}",
            "vpaddd {left}, {left}, {late}",
            "vpsrld {result}, {result}, 32 - {n}",
            "vpaddd {result}, {result}, {left}",
            sum = in(ymm_reg) sum,
            b = in(ymm_reg) b,
            c = in(ymm_reg) c,
            d = in(ymm_reg) d,
            left = out(ymm_reg) _,
            late = out(ymm_reg) _,
            result = out(ymm_reg) result,
            n = const COUNT,
            truth = const F,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    result
}

impl Numbers for Zmm {
    #[inline(always)]
    fn splat(value: u32) -> Self {
        // SAFETY: the ground rule.
        unsafe { _mm512_set1_epi32(value.cast_signed()) }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: the ground rule.
        unsafe { _mm512_add_epi32(self, other) }
    }

    #[inline(always)]
    fn opaque(self) -> Self {
        #[target_feature(enable = "avx512f")]
        #[inline]
        fn opaque(mut value: Zmm) -> Zmm {
            // SAFETY: no instruction, so nothing that could be violated.
            unsafe {
                asm!("/* {0} */", inout(zmm_reg) value, options(pure, nomem, nostack, preserves_flags))
            }
            value
        }
        // SAFETY: the ground rule.
        unsafe { opaque(self) }
    }
}

impl Register for Zmm {
    #[inline(always)]
    fn interleave(self, other: Self) -> [Self; 2] {
        // SAFETY: the ground rule.
        unsafe { [_mm512_unpacklo_epi32(self, other), _mm512_unpackhi_epi32(self, other)] }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: the ground rule.
        unsafe { _mm512_xor_si512(self, other) }
    }

    #[inline(always)]
    fn shift_right<const COUNT: u32>(self) -> Self {
        // SAFETY: the ground rule. The compiler makes the immediate form of a constant count.
        unsafe { _mm512_srl_epi32(self, _mm_cvtsi32_si128(COUNT.cast_signed())) }
    }
}

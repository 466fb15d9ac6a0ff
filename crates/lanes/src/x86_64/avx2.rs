//! AVX2: eight lanes of 32 bits.

use core::arch::asm;
use core::arch::x86_64::{__m256i as Ymm, *};

use super::vector::{Register, Set, swapped};
use crate::word::{Numbers, function, logic};

/// The instruction set. Two registers that share the execution units are faster with fewer
/// operations, although the dependency chain is longer.
#[derive(Clone, Copy)]
pub(crate) struct Avx2<const ALONE: bool>;

impl<const ALONE: bool> Set<Ymm> for Avx2<ALONE> {
    const ALONE: bool = ALONE;

    #[inline(always)]
    fn logic<const F: i32>(b: Ymm, c: Ymm, d: Ymm) -> Ymm {
        let ones = Ymm::splat(u32::MAX);
        // SAFETY: the ground rule.
        unsafe { logic!(F, b, c, d, _mm256_and_si256, _mm256_or_si256, _mm256_xor_si256, ones) }
    }

    #[inline(always)]
    fn rotate_right<const COUNT: u32>(value: Ymm) -> Ymm {
        // SAFETY: the ground rule. The compiler makes the immediate form of a constant count.
        unsafe {
            let left = _mm256_sll_epi32(value, _mm_cvtsi32_si128(32 - COUNT.cast_signed()));
            _mm256_or_si256(value.shift_right::<COUNT>(), left)
        }
    }

    #[inline(always)]
    fn swap_bytes(value: Ymm) -> Ymm {
        // SAFETY: the ground rule.
        unsafe { _mm256_shuffle_epi8(value, _mm256_broadcastsi128_si256(swapped())) }
    }

    #[inline(always)]
    fn end_step<const F: i32, const COUNT: u32>(sum: Ymm, b: Ymm, c: Ymm, d: Ymm) -> Ymm {
        let ones = Ymm::splat(u32::MAX);
        // SAFETY: the ground rule. The compiler makes the immediate forms of constant counts.
        unsafe {
            let [sum, late] = match F {
                function::F => {
                    [sum, _mm256_xor_si256(d, _mm256_and_si256(b, _mm256_xor_si256(c, d)))]
                }
                function::G => [sum.add(_mm256_andnot_si256(d, c)), _mm256_and_si256(b, d)],
                function::H => [sum, _mm256_xor_si256(b, _mm256_xor_si256(c, d))],
                function::I => {
                    [sum, _mm256_xor_si256(c, _mm256_xor_si256(_mm256_andnot_si256(b, d), ones))]
                }
                _ => unreachable!("no function of MD5"),
            };
            if ALONE {
                return shortest::<COUNT>(sum.opaque(), late, b);
            }
            let sum = _mm256_add_epi32(sum, late);
            let left = _mm256_sllv_epi32(sum, Ymm::splat(COUNT));
            let right = _mm256_srlv_epi32(sum, Ymm::splat(32 - COUNT));
            _mm256_add_epi32(_mm256_or_si256(left, right), b)
        }
    }

    #[inline(always)]
    fn call<T>(function: impl FnOnce() -> T) -> T {
        #[target_feature(enable = "avx2")]
        fn call<T>(function: impl FnOnce() -> T) -> T {
            function()
        }
        // SAFETY: the ground rule.
        unsafe { call(function) }
    }
}

/// `((sum + late) <<< COUNT) + other` with only three one-cycle operations between `late` and the
/// result, for a word that does not share the execution units.
///
/// A rotation is two shifts and a sum, which take two cycles. On Zen 4 the rotate instruction takes
/// two cycles as well. With the sums before and after it that makes four cycles. But a left shift
/// of a sum is the sum of the left shifts, so only the right shift waits for the first sum:
///
/// ```text
/// ((s + l) <<< n) + o  =  ((s << n) + o + (l << n))  +  ((s + l) >> (32 - n))
/// ```
///
/// In assembly, because the order matters: in this order no operation takes a unit that the longest
/// chain needs.
#[target_feature(enable = "avx2")]
#[inline]
fn shortest<const COUNT: u32>(sum: Ymm, late: Ymm, other: Ymm) -> Ymm {
    let result;
    // SAFETY: reads and writes registers only.
    unsafe {
        asm!(
            "vpslld {left}, {late}, {n}",
            "vpaddd {result}, {sum}, {late}",
            "vpsrld {result}, {result}, 32 - {n}",
            "vpslld {sum}, {sum}, {n}",
            "vpaddd {sum}, {sum}, {other}",
            "vpaddd {sum}, {sum}, {left}",
            "vpaddd {result}, {result}, {sum}",
            sum = inout(ymm_reg) sum => _,
            late = in(ymm_reg) late,
            other = in(ymm_reg) other,
            left = out(ymm_reg) _,
            result = out(ymm_reg) result,
            n = const COUNT,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    result
}

impl Numbers for Ymm {
    #[inline(always)]
    fn splat(value: u32) -> Self {
        // SAFETY: the ground rule.
        unsafe { _mm256_set1_epi32(value.cast_signed()) }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: the ground rule.
        unsafe { _mm256_add_epi32(self, other) }
    }

    #[inline(always)]
    fn opaque(self) -> Self {
        #[target_feature(enable = "avx2")]
        #[inline]
        fn opaque(mut value: Ymm) -> Ymm {
            // SAFETY: no instruction, so nothing that could be violated.
            unsafe {
                asm!("/* {0} */", inout(ymm_reg) value, options(pure, nomem, nostack, preserves_flags))
            }
            value
        }
        // SAFETY: the ground rule.
        unsafe { opaque(self) }
    }
}

impl Register for Ymm {
    #[inline(always)]
    fn interleave(self, other: Self) -> [Self; 2] {
        // SAFETY: the ground rule.
        unsafe { [_mm256_unpacklo_epi32(self, other), _mm256_unpackhi_epi32(self, other)] }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: the ground rule.
        unsafe { _mm256_xor_si256(self, other) }
    }

    #[inline(always)]
    fn shift_right<const COUNT: u32>(self) -> Self {
        // SAFETY: the ground rule. The compiler makes the immediate form of a constant count.
        unsafe { _mm256_srl_epi32(self, _mm_cvtsi32_si128(COUNT.cast_signed())) }
    }
}

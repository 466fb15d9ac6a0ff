//! Registers of 128, 256 and 512 bits: the instructions that words of 32 bits are made of.

use core::arch::asm;
use core::arch::x86_64::*;

use crate::word::{Bits, Function, sealed::Sealed};

/// A register of words of 32 bits. The ground rule of [`x86_64`](super) holds for all methods.
pub(crate) trait Register: Bits {
    /// How many words there are.
    const LANES: usize;

    /// Pieces of 128 bits side by side. Of four as many are taken as there is room for.
    fn join(pieces: [__m128i; 4]) -> Self;

    /// The pieces of 128 bits; zeros where there are fewer than four.
    fn pieces(self) -> [__m128i; 4];

    /// Makes four columns of four rows, in each piece of 128 bits by itself.
    fn columns(rows: [Self; 4]) -> [Self; 4];

    /// `((sum + late) <<< COUNT) + other` in which the result is three operations of one cycle
    /// behind `late`, for a word that has the units for itself.
    ///
    /// A rotation is two shifts and a sum, which take two cycles (and so does AMD's one instruction
    /// for it on Zen 4); with the sums before and behind that is four. But a left shift of a sum is
    /// the sum of the left shifts, so that only the right shift has to wait for the first sum:
    ///
    /// ```text
    /// ((s + l) <<< n) + o  =  ((s << n) + o + (l << n))  +  ((s + l) >> (32 - n))
    /// ```
    ///
    /// In assembly, because the order matters: in this one no other operation takes the unit of one
    /// that is waited for.
    fn shortest_sum<const COUNT: u32>(sum: Self, late: Self, other: Self) -> Self;

    /// The end of a step by ternary logic, in which the result is four operations of one cycle
    /// behind `b`, where a rotation takes two, for a word that has the units for itself.
    ///
    /// It is the chain of [`shortest_sum`](Self::shortest_sum) with the step's function before it,
    /// and its order matters even more: which unit an operation waits for is settled as it comes,
    /// not when it is ready.
    fn shortest_step<F: Function, const COUNT: u32>(sum: Self, b: Self, c: Self, d: Self) -> Self;

    /// The end of a step by ternary logic in the fewest operations.
    ///
    /// In assembly for the sake of one register: ternary logic replaces an operand, and has to be
    /// given a copy if that is needed again. The compiler copies whichever it likes, c or d as a
    /// rule. On Zen 4 the copy of a value that has been there for long delays what waits for it;
    /// the copy of b, which has just been computed, costs nothing.
    fn fewest_step<F: Function, const COUNT: u32>(sum: Self, b: Self, c: Self, d: Self) -> Self;
}

/// Implements [`Register`] by the instructions of a width.
macro_rules! register {
    (
        $register:ident, $class:ident, lanes: $lanes:literal,
        plain: $plain:literal, vex: $vex:literal, ternary: $ternary:literal,
        splat: $splat:ident, add: $add:ident, and: $and:ident, and_not: $and_not:ident,
        or: $or:ident, xor: $xor:ident, shift: $left:ident $right:ident,
        unpack: $low32:ident $high32:ident $low64:ident $high64:ident,
        join: $join:ident, pieces: $pieces:ident,
    ) => {
        impl Sealed for $register {}

        impl Bits for $register {
            const IS_VECTOR: bool = true;

            #[inline(always)]
            fn splat(value: u32) -> Self {
                // SAFETY: the ground rule.
                unsafe { $splat(value.cast_signed()) }
            }

            #[inline(always)]
            fn opaque(self) -> Self {
                #[target_feature(enable = $plain)]
                #[inline]
                fn opaque(mut value: $register) -> $register {
                    // SAFETY: no instruction, so nothing that could be violated.
                    unsafe {
                        asm!(
                            "/* {0} */", inout($class) value,
                            options(pure, nomem, nostack, preserves_flags)
                        );
                    }
                    value
                }
                // SAFETY: the ground rule.
                unsafe { opaque(self) }
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                // SAFETY: the ground rule.
                unsafe { $add(self, other) }
            }

            #[inline(always)]
            fn and(self, other: Self) -> Self {
                // SAFETY: the ground rule.
                unsafe { $and(self, other) }
            }

            #[inline(always)]
            fn and_not(self, other: Self) -> Self {
                // SAFETY: the ground rule. The instruction negates its first operand.
                unsafe { $and_not(other, self) }
            }

            #[inline(always)]
            fn or(self, other: Self) -> Self {
                // SAFETY: the ground rule.
                unsafe { $or(self, other) }
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                // SAFETY: the ground rule.
                unsafe { $xor(self, other) }
            }

            #[inline(always)]
            fn rotate_left(self, count: u32) -> Self {
                // SAFETY: the ground rule.
                unsafe {
                    let left = $left(self, _mm_cvtsi32_si128(count.cast_signed()));
                    let right = $right(self, _mm_cvtsi32_si128(32 - count.cast_signed()));
                    $or(left, right)
                }
            }
        }

        impl Register for $register {
            const LANES: usize = $lanes;

            #[inline(always)]
            fn join(pieces: [__m128i; 4]) -> Self {
                // SAFETY: the ground rule.
                unsafe { $join(pieces) }
            }

            #[inline(always)]
            fn pieces(self) -> [__m128i; 4] {
                // SAFETY: the ground rule.
                unsafe { $pieces(self) }
            }

            #[inline(always)]
            fn columns([r0, r1, r2, r3]: [Self; 4]) -> [Self; 4] {
                // SAFETY: the ground rule.
                unsafe {
                    let (a, b) = ($low32(r0, r1), $high32(r0, r1));
                    let (c, d) = ($low32(r2, r3), $high32(r2, r3));
                    [$low64(a, c), $high64(a, c), $low64(b, d), $high64(b, d)]
                }
            }

            #[inline(always)]
            fn shortest_sum<const COUNT: u32>(sum: Self, late: Self, other: Self) -> Self {
                #[target_feature(enable = $vex)]
                #[inline]
                fn chain<const COUNT: u32>(
                    sum: $register,
                    late: $register,
                    other: $register,
                ) -> $register {
                    let result;
                    // SAFETY: reads and writes registers alone.
                    unsafe {
                        asm!(
                            "vpslld {left}, {late}, {n}",
                            "vpaddd {result}, {sum}, {late}",
                            "vpsrld {result}, {result}, 32 - {n}",
                            "vpslld {sum}, {sum}, {n}",
                            "vpaddd {sum}, {sum}, {other}",
                            "vpaddd {sum}, {sum}, {left}",
                            "vpaddd {result}, {result}, {sum}",
                            sum = inout($class) sum => _,
                            late = in($class) late,
                            other = in($class) other,
                            left = out($class) _,
                            result = out($class) result,
                            n = const COUNT,
                            options(pure, nomem, nostack, preserves_flags)
                        );
                    }
                    result
                }
                // SAFETY: the ground rule.
                unsafe { chain::<COUNT>(sum, late, other) }
            }

            #[inline(always)]
            fn shortest_step<F: Function, const COUNT: u32>(
                sum: Self,
                b: Self,
                c: Self,
                d: Self,
            ) -> Self {
                #[target_feature(enable = $ternary)]
                #[inline]
                fn step<F: Function, const COUNT: u32>(
                    sum: $register,
                    b: $register,
                    c: $register,
                    d: $register,
                ) -> $register {
                    let result;
                    // Named, since as `_` they would not be of 512 bits (Rust 1.95).
                    let (_left, _late): ($register, $register);
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
                            sum = in($class) sum,
                            b = in($class) b,
                            c = in($class) c,
                            d = in($class) d,
                            left = out($class) _left,
                            late = out($class) _late,
                            result = out($class) result,
                            n = const COUNT,
                            truth = const F::TRUTH,
                            options(pure, nomem, nostack, preserves_flags)
                        );
                    }
                    result
                }
                // SAFETY: the ground rule.
                unsafe { step::<F, COUNT>(sum, b, c, d) }
            }

            #[inline(always)]
            fn fewest_step<F: Function, const COUNT: u32>(
                sum: Self,
                b: Self,
                c: Self,
                d: Self,
            ) -> Self {
                #[target_feature(enable = $ternary)]
                #[inline]
                fn step<F: Function, const COUNT: u32>(
                    sum: $register,
                    b: $register,
                    c: $register,
                    d: $register,
                ) -> $register {
                    let result;
                    let _late: $register;
                    // SAFETY: reads and writes registers alone.
                    unsafe {
                        asm!(
                            "vmovdqa32 {late}, {b}",
                            "vpternlogd {late}, {c}, {d}, {truth}",
                            "vpaddd {result}, {sum}, {late}",
                            "vprold {result}, {result}, {n}",
                            "vpaddd {result}, {result}, {b}",
                            sum = in($class) sum,
                            b = in($class) b,
                            c = in($class) c,
                            d = in($class) d,
                            late = out($class) _late,
                            result = out($class) result,
                            n = const COUNT,
                            truth = const F::TRUTH,
                            options(pure, nomem, nostack, preserves_flags)
                        );
                    }
                    result
                }
                // SAFETY: the ground rule.
                unsafe { step::<F, COUNT>(sum, b, c, d) }
            }
        }
    };
}

register! {
    __m128i, xmm_reg, lanes: 4,
    plain: "sse2", vex: "avx2", ternary: "avx512f,avx512vl",
    splat: _mm_set1_epi32, add: _mm_add_epi32, and: _mm_and_si128, and_not: _mm_andnot_si128,
    or: _mm_or_si128, xor: _mm_xor_si128, shift: _mm_sll_epi32 _mm_srl_epi32,
    unpack: _mm_unpacklo_epi32 _mm_unpackhi_epi32 _mm_unpacklo_epi64 _mm_unpackhi_epi64,
    join: join1, pieces: pieces1,
}
register! {
    __m256i, ymm_reg, lanes: 8,
    plain: "avx2", vex: "avx2", ternary: "avx512f,avx512vl",
    splat: _mm256_set1_epi32, add: _mm256_add_epi32, and: _mm256_and_si256,
    and_not: _mm256_andnot_si256, or: _mm256_or_si256, xor: _mm256_xor_si256,
    shift: _mm256_sll_epi32 _mm256_srl_epi32,
    unpack: _mm256_unpacklo_epi32 _mm256_unpackhi_epi32 _mm256_unpacklo_epi64
        _mm256_unpackhi_epi64,
    join: join2, pieces: pieces2,
}
register! {
    __m512i, zmm_reg, lanes: 16,
    plain: "avx512f", vex: "avx512f", ternary: "avx512f",
    splat: _mm512_set1_epi32, add: _mm512_add_epi32, and: _mm512_and_si512,
    and_not: _mm512_andnot_si512, or: _mm512_or_si512, xor: _mm512_xor_si512,
    shift: _mm512_sll_epi32 _mm512_srl_epi32,
    unpack: _mm512_unpacklo_epi32 _mm512_unpackhi_epi32 _mm512_unpacklo_epi64
        _mm512_unpackhi_epi64,
    join: join4, pieces: pieces4,
}

#[target_feature(enable = "sse2")]
#[inline]
fn join1([piece, ..]: [__m128i; 4]) -> __m128i {
    piece
}

#[target_feature(enable = "avx2")]
#[inline]
fn join2([low, high, ..]: [__m128i; 4]) -> __m256i {
    _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
}

#[target_feature(enable = "avx512f,avx2")]
#[inline]
fn join4([p0, p1, p2, p3]: [__m128i; 4]) -> __m512i {
    let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(p0), p1);
    let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(p2), p3);
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
}

#[target_feature(enable = "sse2")]
#[inline]
fn pieces1(register: __m128i) -> [__m128i; 4] {
    let zero = _mm_setzero_si128();
    [register, zero, zero, zero]
}

#[target_feature(enable = "avx2")]
#[inline]
fn pieces2(register: __m256i) -> [__m128i; 4] {
    let (low, high) = (_mm256_castsi256_si128(register), _mm256_extracti128_si256::<1>(register));
    let zero = _mm_setzero_si128();
    [low, high, zero, zero]
}

#[target_feature(enable = "avx512f")]
#[inline]
fn pieces4(register: __m512i) -> [__m128i; 4] {
    [
        _mm512_castsi512_si128(register),
        _mm512_extracti32x4_epi32::<1>(register),
        _mm512_extracti32x4_epi32::<2>(register),
        _mm512_extracti32x4_epi32::<3>(register),
    ]
}

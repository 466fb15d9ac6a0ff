//! AVX-512 (F and VL): sixteen lanes in 512 bits, and rotations and ternary logic of every width.

use core::arch::x86_64::*;

use super::avx2::{row8, settle8};
use super::sse2::{row4, settle4};
use super::{quarter_of, settle, word};
use crate::backend::no_such_width;
use crate::{BLOCK_LEN, Kernel, Pair};

/// Truth tables for `vpternlog`, by the operands' own: bit i of each constant is the result where
/// the first operand is bit 2 of i, the second bit 1, the third bit 0.
mod truth {
    const A: i32 = 0xf0;
    const B: i32 = 0xcc;
    const C: i32 = 0xaa;

    pub(super) const XOR3: i32 = A ^ B ^ C;
    pub(super) const XOR_OR_NOT: i32 = A ^ (B | (!C & 0xff));
    pub(super) const SELECT: i32 = (A & B) | (!A & C);
}

/// The operations that AVX-512 does in one instruction, for a register of any width.
macro_rules! one_instruction_each {
    ($rotate:ident, $ternary:ident, $add:ident, $splat:ident) => {
        #[inline(always)]
        fn rotate_left(self, count: u32) -> Self {
            // SAFETY: the ground rule. The compiler makes the immediate form of a constant count.
            Self(unsafe { $rotate(self.0, $splat(count.cast_signed())) })
        }

        #[inline(always)]
        fn xor3(self, b: Self, c: Self) -> Self {
            // SAFETY: the ground rule.
            Self(unsafe { $ternary::<{ truth::XOR3 }>(self.0, b.0, c.0) })
        }

        #[inline(always)]
        fn xor_or_not(self, b: Self, c: Self) -> Self {
            // SAFETY: the ground rule.
            Self(unsafe { $ternary::<{ truth::XOR_OR_NOT }>(self.0, b.0, c.0) })
        }

        #[inline(always)]
        fn add_select(self, mask: Self, yes: Self, no: Self) -> Self {
            // SAFETY: the ground rule.
            Self(unsafe { $add(self.0, $ternary::<{ truth::SELECT }>(mask.0, yes.0, no.0)) })
        }
    };
}

settle!(settle16, __m512i, zmm_reg, "avx512f");

word! {
    U32x4, __m128i, 4,
    load: _mm_loadu_si128, store: _mm_storeu_si128, splat: _mm_set1_epi32, add: _mm_add_epi32, row: row4, settle: settle4,
    unpack: [_mm_unpacklo_epi32, _mm_unpackhi_epi32, _mm_unpacklo_epi64, _mm_unpackhi_epi64],

    one_instruction_each!(_mm_rolv_epi32, _mm_ternarylogic_epi32, _mm_add_epi32, _mm_set1_epi32);
}

word! {
    U32x8, __m256i, 8,
    load: _mm256_loadu_si256, store: _mm256_storeu_si256,
    splat: _mm256_set1_epi32, add: _mm256_add_epi32, row: row8, settle: settle8,
    unpack: [
        _mm256_unpacklo_epi32, _mm256_unpackhi_epi32,
        _mm256_unpacklo_epi64, _mm256_unpackhi_epi64
    ],

    one_instruction_each!(
        _mm256_rolv_epi32, _mm256_ternarylogic_epi32, _mm256_add_epi32, _mm256_set1_epi32
    );
}

word! {
    U32x16, __m512i, 16,
    load: _mm512_loadu_si512, store: _mm512_storeu_si512,
    splat: _mm512_set1_epi32, add: _mm512_add_epi32, row: row16, settle: settle16,
    unpack: [
        _mm512_unpacklo_epi32, _mm512_unpackhi_epi32,
        _mm512_unpacklo_epi64, _mm512_unpackhi_epi64
    ],

    one_instruction_each!(
        _mm512_rolv_epi32, _mm512_ternarylogic_epi32, _mm512_add_epi32, _mm512_set1_epi32
    );
}

/// Quarter `quarter` of lanes `row`, `row` + 4, `row` + 8 and `row` + 12.
#[inline(always)]
fn row16(inputs: &[&[u8; BLOCK_LEN]; 16], row: usize, quarter: usize) -> __m512i {
    let piece = |lane: usize| quarter_of(inputs[lane], quarter);
    // SAFETY: the ground rule.
    unsafe {
        let low = _mm512_castsi128_si512(piece(row));
        let low = _mm512_inserti32x4::<1>(low, piece(row + 4));
        let low = _mm512_inserti32x4::<2>(low, piece(row + 8));
        _mm512_inserti32x4::<3>(low, piece(row + 12))
    }
}

/// Runs a kernel in one register of 128, 256 or 512 bits, or in two sets of 512.
#[target_feature(enable = "avx512f,avx512vl,avx2")]
pub(crate) fn run<K: Kernel>(width: usize, kernel: K) -> K::Output {
    match width {
        4 => kernel.run::<U32x4>(),
        8 => kernel.run::<U32x8>(),
        16 => kernel.run::<U32x16>(),
        32 => kernel.run::<Pair<U32x16, U32x16>>(),
        _ => no_such_width(width),
    }
}

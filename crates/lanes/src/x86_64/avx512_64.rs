//! AVX-512 (F, VL and BW): eight lanes of 64 bits in 512, rotations, ternary logic, and loads of
//! single bytes by a mask.

use core::arch::x86_64::*;

use super::word64::{number, pair, rest_by_shift, word64};
use crate::backend::no_such_width;
use crate::{Kernel64, Pair, WORD_LEN, Words};

/// The truth table of `a ^ b ^ c` for `vpternlog`.
const XOR3: i32 = 0x96;

word64! {
    U64x8, __m512i, 8,
    load: _mm512_loadu_si512, store: _mm512_storeu_si512,
    splat: _mm512_set1_epi64, add: _mm512_add_epi64, xor: _mm512_xor_si512,
    shift_left: _mm512_sll_epi64,
    unpack: [_mm512_unpacklo_epi64, _mm512_unpackhi_epi64], row: row8,

    #[inline(always)]
    fn rotate_left(self, count: u32) -> Self {
        // SAFETY: the ground rule. The compiler makes the immediate form of a constant count.
        Self(unsafe { _mm512_rolv_epi64(self.0, _mm512_set1_epi64(i64::from(count))) })
    }

    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe { _mm512_ternarylogic_epi64::<XOR3>(self.0, b.0, c.0) })
    }

    rest_by_shift!(
        8, _mm512_srlv_epi64, _mm512_and_si512, _mm512_sub_epi64, _mm512_slli_epi64,
        _mm512_set1_epi64, short_rests
    );
}

/// The rests of inputs of less than eight bytes.
#[inline(always)]
fn short_rests(words: &Words<'_>, first: usize) -> U64x8 {
    U64x8::side_by_side(|lane| up_to_word(words.input(first + lane)))
}

/// Up to seven bytes, and zeros behind them.
#[inline(always)]
fn up_to_word(bytes: &[u8]) -> __m128i {
    let mask = ((1_u32 << (bytes.len() % WORD_LEN)) - 1) as __mmask16;
    // SAFETY: the ground rule; the mask has a bit for each of up to seven bytes that are there, and
    // what it leaves out is not read.
    unsafe { _mm_maskz_loadu_epi8(mask, bytes.as_ptr().cast()) }
}

/// The pieces of every other lane, side by side.
#[inline(always)]
fn row8(piece: impl Fn(usize) -> __m128i) -> __m512i {
    // SAFETY: the ground rule.
    unsafe {
        let row = _mm512_castsi128_si512(piece(0));
        let row = _mm512_inserti32x4::<1>(row, piece(1));
        let row = _mm512_inserti32x4::<2>(row, piece(2));
        _mm512_inserti32x4::<3>(row, piece(3))
    }
}

/// Runs a kernel in one to three sets of eight lanes.
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx2")]
pub(crate) fn run<K: Kernel64>(width: usize, kernel: K) -> K::Output {
    match width {
        8 => kernel.run::<U64x8>(),
        16 => kernel.run::<Pair<U64x8, U64x8>>(),
        24 => kernel.run::<Pair<Pair<U64x8, U64x8>, U64x8>>(),
        _ => no_such_width(width),
    }
}

//! SSE2: two lanes of 64 bits in 128, on every x86-64.

use core::arch::x86_64::*;

use super::word64::{number, pair, shifts_and_logic_64, word64};
use crate::backend::no_such_width;
use crate::{Kernel64, Pair, Words};

word64! {
    U64x2, __m128i, 2,
    load: _mm_loadu_si128, store: _mm_storeu_si128,
    splat: _mm_set1_epi64x, add: _mm_add_epi64, xor: _mm_xor_si128,
    shift_left: _mm_sll_epi64,
    unpack: [_mm_unpacklo_epi64, _mm_unpackhi_epi64], row: row2,

    /// There is no shift by another count in each lane.
    #[inline(always)]
    fn load_rest(words: &Words<'_>, first: usize) -> Self {
        Self::load(&<[u64; 2]>::load_rest(words, first))
    }

    shifts_and_logic_64!(
        _mm_sll_epi64, _mm_srl_epi64, _mm_or_si128, _mm_xor_si128, _mm_shuffle_epi32
    );
}

/// The pieces of every other lane.
#[inline(always)]
fn row2(piece: impl Fn(usize) -> __m128i) -> __m128i {
    piece(0)
}

/// Runs a kernel in one to three sets of two lanes.
pub(crate) fn run<K: Kernel64>(width: usize, kernel: K) -> K::Output {
    match width {
        2 => kernel.run::<U64x2>(),
        4 => kernel.run::<Pair<U64x2, U64x2>>(),
        6 => kernel.run::<Pair<Pair<U64x2, U64x2>, U64x2>>(),
        _ => no_such_width(width),
    }
}

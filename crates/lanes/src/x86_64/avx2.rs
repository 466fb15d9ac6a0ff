//! AVX2: eight lanes in 256 bits.

use core::arch::x86_64::*;

use super::sse2::{columns4, settle4};
use super::transpose::{
    transpose_block4, transpose_half8, transpose_pair4, transpose_pair8, transposes_ahead,
};
use super::{
    align_frame, chain, columns, quarter_of, quarters, settle, shifts_and_logic, shortest_chain,
    stores_rows, word,
};
use crate::backend::no_such_width;
use crate::{BLOCK_LEN, Kernel, Pair};

settle!(settle8, __m256i, ymm_reg, "avx2");

columns!(
    columns8,
    __m256i,
    _mm256_unpacklo_epi32,
    _mm256_unpackhi_epi32,
    _mm256_unpacklo_epi64,
    _mm256_unpackhi_epi64
);
quarters!(quarters8, __m256i, 8, row: row8, columns: columns8);

chain!(chain4, __m128i, xmm_reg, "avx2");
chain!(chain8, __m256i, ymm_reg, "avx2");

word! {
    Chain4, __m128i, 4,
    load: _mm_loadu_si128, store: _mm_storeu_si128, splat: _mm_set1_epi32, add: _mm_add_epi32,
    settle: settle4,

    transposes_ahead!(
        4, __m128i, first in 1: transpose_block4, others in 8: transpose_pair4, holding (), or ()
    );
    stores_rows!(columns4, all: core::convert::identity);
    shifts_and_logic!(
        _mm_sll_epi32, _mm_srl_epi32, _mm_or_si128, _mm_xor_si128, _mm_and_si128,
        _mm_andnot_si128, _mm_set1_epi32
    );
    shortest_chain!(chain4);
}

/// Defines a word of eight lanes.
macro_rules! word8 {
    ($name:ident; $($loads_and_chain:tt)*) => {
        word! {
            $name, __m256i, 8,
            load: _mm256_loadu_si256, store: _mm256_storeu_si256,
            splat: _mm256_set1_epi32, add: _mm256_add_epi32,
            settle: settle8,

            stores_rows!(columns8, low: _mm256_castsi256_si128, high: _mm256_extracti128_si256::<1>);
            shifts_and_logic!(
                _mm256_sll_epi32, _mm256_srl_epi32, _mm256_or_si256, _mm256_xor_si256,
                _mm256_and_si256, _mm256_andnot_si256, _mm256_set1_epi32
            );
            $($loads_and_chain)*
        }
    };
}

// By itself.
word8!(
    Chain8;
    transposes_ahead!(
        8, __m256i, first in 2: transpose_half8, others in 8: transpose_pair8, holding (), or ()
    );
    shortest_chain!(chain8);
);
// In a pair.
word8!(
    Shared8;
    transposes_ahead!(
        8, __m256i, first in 2: transpose_half8, others in 2: transpose_half8, holding (), or ()
    );
);

/// Quarter `quarter` of lanes `row` and `row` + 4.
#[inline(always)]
fn row8(inputs: &[&[u8; BLOCK_LEN]; 8], row: usize, quarter: usize) -> __m256i {
    let low = quarter_of(inputs[row], quarter);
    let high = quarter_of(inputs[row + 4], quarter);
    // SAFETY: the ground rule.
    unsafe { _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high) }
}

/// Runs a kernel in one register of 128 or 256 bits, or in two sets of 256, which share the units: there
/// the longer chain of fewer operations is the faster one.
#[target_feature(enable = "avx2")]
pub(crate) fn run<K: Kernel>(width: usize, kernel: K) -> K::Output {
    align_frame();
    match width {
        4 => kernel.run::<Chain4>(),
        8 => kernel.run::<Chain8>(),
        16 => kernel.run::<Pair<Shared8, Shared8>>(),
        _ => no_such_width(width),
    }
}

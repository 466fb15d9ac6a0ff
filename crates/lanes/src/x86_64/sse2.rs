//! SSE2: four lanes in 128 bits, on every x86-64.

use core::arch::x86_64::*;

use super::{columns, quarter_of, quarters, settle, shifts_and_logic, stores_rows, word};
use crate::backend::no_such_width;
use crate::portable::loads_blocks;
use crate::{BLOCK_LEN, Kernel, Pair};

settle!(settle4, __m128i, xmm_reg, "sse2");

columns!(
    columns4,
    __m128i,
    _mm_unpacklo_epi32,
    _mm_unpackhi_epi32,
    _mm_unpacklo_epi64,
    _mm_unpackhi_epi64
);
quarters!(quarters4, __m128i, 4, row: row4, columns: columns4);

word! {
    U32x4, __m128i, 4,
    load: _mm_loadu_si128, store: _mm_storeu_si128, splat: _mm_set1_epi32, add: _mm_add_epi32,
    settle: settle4,

    loads_blocks!(4, in 4: quarters4, Self);
    stores_rows!(columns4, all: core::convert::identity);
    shifts_and_logic!(
        _mm_sll_epi32, _mm_srl_epi32, _mm_or_si128, _mm_xor_si128, _mm_and_si128,
        _mm_andnot_si128, _mm_set1_epi32
    );
}

/// Quarter `quarter` of lane `row`.
#[inline(always)]
fn row4(inputs: &[&[u8; BLOCK_LEN]; 4], row: usize, quarter: usize) -> __m128i {
    quarter_of(inputs[row], quarter)
}

/// Runs a kernel in one or two sets of four lanes.
pub(crate) fn run<K: Kernel>(width: usize, kernel: K) -> K::Output {
    match width {
        4 => kernel.run::<U32x4>(),
        8 => kernel.run::<Pair<U32x4, U32x4>>(),
        _ => no_such_width(width),
    }
}

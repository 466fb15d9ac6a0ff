//! AVX2: four lanes of 64 bits in 256.

use core::arch::x86_64::*;

use super::avx2::Avx2;
use super::word64::{
    number, one_by_one, pair, rest_by_shift, shifts_and_logic_64, swapped, word64,
};
use crate::{Source, Word64};

word64! {
    U64x4, __m256i, 4,
    set: Avx2<false>,
    load: _mm256_loadu_si256, store: _mm256_storeu_si256,
    splat: _mm256_set1_epi64x, add: _mm256_add_epi64, xor: _mm256_xor_si256,
    shift: [_mm256_sll_epi64, _mm256_srl_epi64],
    unpack: [_mm256_unpacklo_epi64, _mm256_unpackhi_epi64], row: row4,

    /// All bits of a lane are set, or none.
    type Mask = __m256i;

    #[inline(always)]
    fn more_than(self, other: Self) -> __m256i {
        // SAFETY: the ground rule.
        unsafe { _mm256_cmpgt_epi64(self.0, other.0) }
    }

    #[inline(always)]
    fn below(self, counts: Self, above: Self) -> Self {
        // SAFETY: the ground rule. A shift by 64 or more leaves nothing.
        Self(unsafe {
            let mask = _mm256_sllv_epi64(_mm256_set1_epi64x(-1), counts.0);
            _mm256_or_si256(_mm256_and_si256(mask, above.0), _mm256_andnot_si256(mask, self.0))
        })
    }

    #[inline(always)]
    fn select(mask: __m256i, yes: Self, no: Self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe { _mm256_blendv_epi8(no.0, yes.0, mask) })
    }

    #[inline(always)]
    fn swap_bytes(self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe { _mm256_shuffle_epi8(self.0, _mm256_broadcastsi128_si256(swapped())) })
    }

    rest_by_shift!(
        _mm256_srlv_epi64, _mm256_and_si256, _mm256_sub_epi64, _mm256_set1_epi64x, short_rests
    );
    one_by_one!(4);
    shifts_and_logic_64!(
        _mm256_sll_epi64, _mm256_srl_epi64, _mm256_or_si256, _mm256_xor_si256, _mm256_and_si256,
        _mm256_shuffle_epi32
    );
}

/// Returns the rests of inputs, some of which have less than eight bytes.
#[inline(always)]
fn short_rests<S: Source>(source: &S, first: usize) -> U64x4 {
    U64x4::load(&<[u64; 4]>::load_rest(source, first))
}

/// Returns the pieces of every other lane in one register.
#[inline(always)]
fn row4(piece: impl Fn(usize) -> __m128i) -> __m256i {
    // SAFETY: the ground rule.
    unsafe { _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(piece(0)), piece(1)) }
}

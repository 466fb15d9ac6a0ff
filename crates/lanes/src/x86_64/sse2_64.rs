//! SSE2: two lanes of 64 bits in 128, on every x86-64.

use core::arch::x86_64::*;

use super::sse2::Sse2;
use super::word64::{number, one_by_one, pair, shifts_and_logic_64, word64};
use crate::{Source, Word64};

word64! {
    U64x2, __m128i, 2,
    set: Sse2,
    load: _mm_loadu_si128, store: _mm_storeu_si128,
    splat: _mm_set1_epi64x, add: _mm_add_epi64, xor: _mm_xor_si128,
    shift: [_mm_sll_epi64, _mm_srl_epi64],
    unpack: [_mm_unpacklo_epi64, _mm_unpackhi_epi64], row: row2,

    type Mask = [bool; 2];

    /// SSE2 has no comparison of 64-bit numbers.
    #[inline(always)]
    fn more_than(self, other: Self) -> [bool; 2] {
        self.lanes().more_than(other.lanes())
    }

    /// SSE2 has no shift by a different count in each lane.
    #[inline(always)]
    fn below(self, counts: Self, above: Self) -> Self {
        Self::load(&self.lanes().below(counts.lanes(), above.lanes()))
    }

    #[inline(always)]
    fn select(mask: [bool; 2], yes: Self, no: Self) -> Self {
        let mask = Self::load(&mask.map(|yes| 0_u64.wrapping_sub(yes.into())));
        // SAFETY: the ground rule.
        Self(unsafe { _mm_or_si128(_mm_and_si128(mask.0, yes.0), _mm_andnot_si128(mask.0, no.0)) })
    }

    /// Swaps the bytes of each quarter, and then the order of the quarters.
    #[inline(always)]
    fn swap_bytes(self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe {
            let bytes = _mm_or_si128(_mm_slli_epi16::<8>(self.0), _mm_srli_epi16::<8>(self.0));
            _mm_shufflehi_epi16::<0b00_01_10_11>(_mm_shufflelo_epi16::<0b00_01_10_11>(bytes))
        })
    }

    #[inline(always)]
    fn shift_in(self, next: Self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe {
            let (this, next) = (_mm_castsi128_pd(self.0), _mm_castsi128_pd(next.0));
            _mm_castpd_si128(_mm_shuffle_pd::<0b01>(this, next))
        })
    }

    /// SSE2 has no shift by a different count in each lane.
    #[inline(always)]
    fn load_rest<S: Source>(source: &S, first: usize) -> Self {
        Self::load(&<[u64; 2]>::load_rest(source, first))
    }

    one_by_one!(2);
    shifts_and_logic_64!(
        _mm_sll_epi64, _mm_srl_epi64, _mm_or_si128, _mm_xor_si128, _mm_and_si128, _mm_shuffle_epi32
    );
}

impl U64x2 {
    #[inline(always)]
    fn lanes(self) -> [u64; 2] {
        let mut lanes = [0; 2];
        self.store(&mut lanes);
        lanes
    }
}

/// Returns the pieces of every other lane.
#[inline(always)]
fn row2(piece: impl Fn(usize) -> __m128i) -> __m128i {
    piece(0)
}

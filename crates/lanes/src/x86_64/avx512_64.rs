//! AVX-512 (F, VL and BW): eight lanes of 64 bits, with rotations, ternary logic, and masked loads
//! of single bytes.

use core::arch::asm;
use core::arch::x86_64::*;
use core::ops::RangeInclusive;

use super::avx512::Avx512;
use super::word64::{number, pair, rest_by_shift, swapped, word64};
use crate::{PICK_ROOM, Source, WORD_LEN, Word64};

/// The truth table of `a ^ b ^ c` for `vpternlog`.
const XOR3: i32 = 0x96;

/// The truth table of `a ? b : c`.
const SELECT: i32 = 0xca;

/// The truth table of the majority of three.
const MAJORITY: i32 = 0xe8;

word64! {
    U64x8, __m512i, 8,
    set: Avx512,
    load: _mm512_loadu_si512, store: _mm512_storeu_si512,
    splat: _mm512_set1_epi64, add: _mm512_add_epi64, xor: _mm512_xor_si512,
    shift: [_mm512_sll_epi64, _mm512_srl_epi64],
    unpack: [_mm512_unpacklo_epi64, _mm512_unpackhi_epi64], row: row8,

    #[inline(always)]
    fn rotate_left(self, count: u32) -> Self {
        // SAFETY: the ground rule. The compiler makes the immediate form of a constant count.
        Self(unsafe {
            if count == 32 {
                // With three registers this is 3 % faster on Zen 4 than a rotation.
                _mm512_shuffle_epi32::<0b10_11_00_01>(self.0)
            } else {
                _mm512_rolv_epi64(self.0, _mm512_set1_epi64(i64::from(count)))
            }
        })
    }

    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe { _mm512_ternarylogic_epi64::<XOR3>(self.0, b.0, c.0) })
    }

    #[inline(always)]
    fn choose(self, yes: Self, no: Self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe { _mm512_ternarylogic_epi64::<SELECT>(self.0, yes.0, no.0) })
    }

    #[inline(always)]
    fn majority(self, b: Self, c: Self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe { _mm512_ternarylogic_epi64::<MAJORITY>(self.0, b.0, c.0) })
    }

    #[inline(always)]
    fn swap_bytes(self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe { _mm512_shuffle_epi8(self.0, _mm512_broadcast_i32x4(swapped())) })
    }

    type Mask = __mmask8;

    #[inline(always)]
    fn in_order(self) -> Self {
        #[target_feature(enable = "avx512f")]
        #[inline]
        fn in_order(mut value: __m512i) -> __m512i {
            // SAFETY: no instruction, so nothing that could be violated. Not `pure`, so that it
            // keeps its place.
            unsafe {
                asm!("/* {0} */", inout(zmm_reg) value, options(nomem, nostack, preserves_flags));
            }
            value
        }
        // SAFETY: the ground rule.
        Self(unsafe { in_order(self.0) })
    }

    #[inline(always)]
    fn more_than(self, other: Self) -> __mmask8 {
        // SAFETY: the ground rule.
        unsafe { _mm512_cmpgt_epu64_mask(self.0, other.0) }
    }

    #[inline(always)]
    fn below(self, counts: Self, above: Self) -> Self {
        // SAFETY: the ground rule. A shift by 64 or more leaves nothing.
        Self(unsafe {
            let mask = _mm512_sllv_epi64(_mm512_set1_epi64(-1), counts.0);
            _mm512_ternarylogic_epi64::<SELECT>(mask, above.0, self.0)
        })
    }

    #[inline(always)]
    fn rest(self, lengths: Self, above: Self) -> Self {
        // SAFETY: the ground rule. Only the lowest three bits of an index count, so a length
        // selects its mask.
        Self(unsafe {
            let masks = _mm512_sllv_epi64(
                _mm512_set1_epi64(-1),
                _mm512_setr_epi64(0, 8, 16, 24, 32, 40, 48, 56),
            );
            let mask = _mm512_permutexvar_epi64(lengths.0, masks);
            _mm512_ternarylogic_epi64::<SELECT>(mask, above.0, self.0)
        })
    }

    #[inline(always)]
    fn select(mask: __mmask8, yes: Self, no: Self) -> Self {
        // SAFETY: the ground rule.
        Self(unsafe { _mm512_mask_blend_epi64(mask, no.0, yes.0) })
    }

    rest_by_shift!(
        _mm512_srlv_epi64, _mm512_and_si512, _mm512_sub_epi64, _mm512_set1_epi64, short_rests
    );

    #[inline(always)]
    fn load_pair_or_zeros<S: Source>(source: &S, first: usize, index: usize) -> [Self; 2] {
        let from = WORD_LEN * index;
        let masks = masks(source.lengths(first), Self::splat(from as u64));
        Self::halves(|lane| some_of_pair(source.input(first + lane), from, masks[lane]))
    }

    #[inline(always)]
    fn rest_of_any(input: &[u8]) -> u64 {
        let rest = input.len() % WORD_LEN;
        let bytes = some_of_pair(input, input.len() - rest, !(u64::MAX << rest));
        // SAFETY: the ground rule.
        unsafe { _mm_cvtsi128_si64(bytes) }.cast_unsigned()
    }

    #[inline(always)]
    fn pick(numbers: &[u32], range: RangeInclusive<u32>, picked: &mut [u32]) -> usize {
        const { assert!(AT_ONCE <= PICK_ROOM) };
        let mut picked = Picked { picked, count: 0, range };
        let (sixteens, rest) = numbers.as_chunks::<AT_ONCE>();
        for sixteen in sixteens {
            picked.add(sixteen);
        }
        if !rest.is_empty() {
            picked.add(rest);
        }
        picked.count
    }
}

/// The number of numbers in a register.
const AT_ONCE: usize = 16;

/// The numbers within a range, and their count.
struct Picked<'p> {
    picked: &'p mut [u32],
    count: usize,
    range: RangeInclusive<u32>,
}

impl Picked<'_> {
    /// Adds those of up to sixteen numbers that are within the range.
    #[inline(always)]
    fn add(&mut self, numbers: &[u32]) {
        let Self { picked, count, range } = self;
        assert!(*count + AT_ONCE <= picked.len());
        let there = u16::MAX >> (AT_ONCE - numbers.len());
        // SAFETY: the ground rule. Only existing numbers are read, there is room for a whole
        // register, and neither the load nor the store requires alignment.
        unsafe {
            let some = _mm512_maskz_loadu_epi32(there, numbers.as_ptr().cast());
            let first = _mm512_set1_epi32(range.start().cast_signed());
            let span = _mm512_set1_epi32((range.end() - range.start()).cast_signed());
            let within = _mm512_mask_cmple_epu32_mask(there, _mm512_sub_epi32(some, first), span);
            let packed = _mm512_maskz_compress_epi32(within, some);
            _mm512_storeu_si512(picked.as_mut_ptr().add(*count).cast(), packed);
            *count += within.count_ones() as usize;
        }
    }
}

/// Returns the rests of inputs, some of which have less than eight bytes.
#[inline(always)]
fn short_rests<S: Source>(source: &S, first: usize) -> U64x8 {
    let lengths = source.lengths::<U64x8>(first);
    let from = lengths.shift_right(WORD_LEN.ilog2()).shift_left(WORD_LEN.ilog2());
    let masks = masks(lengths, from);
    let [rests, _] = U64x8::halves(|lane| {
        let input = source.input(first + lane);
        some_of_pair(input, input.len() - input.len() % WORD_LEN, masks[lane])
    });
    rests
}

/// Returns in the lowest sixteen bits of each mask one bit for each byte from `from` on that an
/// input of that length has.
#[inline(always)]
fn masks(lengths: U64x8, from: U64x8) -> [u64; 8] {
    // SAFETY: the ground rule.
    let masks = U64x8(unsafe {
        let left = _mm512_sub_epi64(_mm512_max_epu64(lengths.0, from.0), from.0);
        // For 64 or more the bit is shifted out, and all lower bits are set.
        let next = _mm512_sllv_epi64(_mm512_set1_epi64(1), left);
        _mm512_sub_epi64(next, _mm512_set1_epi64(1))
    });
    let mut lanes = [0; 8];
    masks.store(&mut lanes);
    lanes
}

/// Returns the sixteen bytes of an input from `from` on, with zeros for bytes that are not in the
/// mask.
#[inline(always)]
fn some_of_pair(input: &[u8], from: usize, mask: u64) -> __m128i {
    debug_assert!((0..16).all(|byte| mask >> byte & 1 == 0 || from + byte < input.len()));
    // SAFETY: the ground rule. Bytes that are not in the mask are not read, and the functions above
    // set only bits of existing bytes.
    unsafe { _mm_maskz_loadu_epi8(mask as __mmask16, input.as_ptr().wrapping_add(from).cast()) }
}

/// Returns the pieces of every other lane in one register.
#[inline(always)]
fn row8(piece: impl Fn(usize) -> __m128i) -> __m512i {
    // SAFETY: the ground rule.
    unsafe {
        let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(piece(0)), piece(1));
        let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(piece(2)), piece(3));
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
    }
}

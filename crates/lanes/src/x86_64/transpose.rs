//! Blocks of 4 to 16 lanes, transposed in parts: those of the next block between the steps of this one.

use core::arch::x86_64::*;

use super::avx2::{columns8, quarters8};
use super::columns;
use super::sse2::quarters4;
use crate::BLOCK_LEN;
use crate::feed::plain::Plain;
use crate::fetch::fetch_line;

/// Defines a function that transposes a part of a block of each lane, in eight parts: of the first halves in four, then of
/// the other ones. Between the parts it holds eight registers.
///
/// ```text
/// part 0    rows of the first half of all lanes, a register each; four rows become four columns, in every
///           quarter by itself: each column has word c of four lanes, then word c + 4 of these, and so on
/// part 1    the same of the second half of all lanes
/// part 2    two columns, word c and word c + 4 of half of the lanes each, become these words of all, for c = 0, 1
/// part 3    and for c = 2, 3
/// ```
macro_rules! transpose_part {
    ($name:ident, $register:ident, $lanes:literal, row: $row:ident, columns: $columns:ident, both: $both:ident) => {
        #[inline(always)]
        pub(super) fn $name(
            mut held: [$register; 8],
            words: &mut [$register; 16],
            blocks: &[&[u8; BLOCK_LEN]; $lanes],
            part: usize,
        ) -> [$register; 8] {
            let half = part / 4;
            let [h0, h1, h2, h3, h4, h5, h6, h7] = held;
            // No closures here: they would not be compiled with the instructions.
            match part % 4 {
                group @ 0..2 => {
                    let first = group * $lanes / 2;
                    let columns = $columns([
                        $row(blocks, first, half),
                        $row(blocks, first + 1, half),
                        $row(blocks, first + 2, half),
                        $row(blocks, first + 3, half),
                    ]);
                    held[4 * group..][..4].copy_from_slice(&columns);
                    held
                }
                2 => {
                    [words[8 * half], words[8 * half + 4]] = $both(h0, h4);
                    [words[8 * half + 1], words[8 * half + 5]] = $both(h1, h5);
                    held
                }
                _ => {
                    [words[8 * half + 2], words[8 * half + 6]] = $both(h2, h6);
                    [words[8 * half + 3], words[8 * half + 7]] = $both(h3, h7);
                    // Nobody needs them any more.
                    // SAFETY: the ground rule; zeros are a value.
                    [unsafe { core::mem::zeroed() }; 8]
                }
            }
        }

        // SAFETY: every content of a register is a value.
        unsafe impl Plain for [[$register; 16]; 2] {}
    };
}

transpose_part!(transpose_part8, __m256i, 8, row: half_of, columns: columns8, both: both8);
transpose_part!(transpose_part16, __m512i, 16, row: halves_of, columns: columns16, both: both16);

/// Transposes a half of a block of each lane, for AVX2, which has no registers for what would be held between smaller
/// parts; and there are pointers to load for each.
#[inline(always)]
pub(super) fn transpose_half8(
    (): (),
    words: &mut [__m256i; 16],
    blocks: &[&[u8; BLOCK_LEN]; 8],
    half: usize,
) {
    for quarter in [2 * half, 2 * half + 1] {
        words[4 * quarter..][..4].copy_from_slice(&quarters8(blocks, quarter));
    }
}

/// Defines a function that transposes two words of a block of each lane, an eighth of it, without any vector operation.
///
/// Words of four and eight lanes have the units for themselves, but a shuffle that is ready before an operation of the chain
/// takes the unit that this needs next, as shifts have but two. Eight bytes are loaded instead, and stored as two times four:
/// when a vector of them is loaded, hundreds of cycles later, they are in the cache. On a Zen 4 a block of four and of eight
/// long messages takes 259 and 263 cycles so, 274 and 283 by shuffles before the first rounds; with AVX2 305 and 308
/// instead of 323 and 331. Two times eight lanes are as fast or 5 % slower so, since there are 256 stores in 370 cycles, and
/// four lanes of SSE2 1.5 % faster, eight slower.
macro_rules! transpose_pair {
    ($name:ident, $register:ident, $lanes:literal) => {
        #[inline(always)]
        pub(super) fn $name(
            (): (),
            words: &mut [$register; 16],
            blocks: &[&[u8; BLOCK_LEN]; $lanes],
            part: usize,
        ) {
            let rows: *mut [u32; $lanes] = words.as_mut_ptr().cast();
            for (lane, block) in blocks.iter().enumerate() {
                let bytes = block[8 * part..][..8].try_into().expect("8 bytes");
                let pair = u64::from_le_bytes(bytes);
                // Volatile: of other stores the compiler makes one of a vector, with more shuffles than there were (1.05 and
                // 1.2 times the time).
                // SAFETY: there are sixteen registers of so many lanes, and every content is a value.
                unsafe {
                    let [low, high] = [rows.add(2 * part), rows.add(2 * part + 1)];
                    (&raw mut (*low)[lane]).write_volatile(pair as u32);
                    (&raw mut (*high)[lane]).write_volatile((pair >> 32) as u32);
                }
            }
        }
    };
}

transpose_pair!(transpose_pair4, __m128i, 4);
transpose_pair!(transpose_pair8, __m256i, 8);

// SAFETY: every content of a register is a value.
unsafe impl Plain for [[__m128i; 16]; 2] {}

/// Transposes a block of each lane.
#[inline(always)]
pub(super) fn transpose_block4(
    (): (),
    words: &mut [__m128i; 16],
    blocks: &[&[u8; BLOCK_LEN]; 4],
    _: usize,
) {
    for quarter in 0..4 {
        words[4 * quarter..][..4].copy_from_slice(&quarters4(blocks, quarter));
    }
}

/// The part of [`Word`](crate::Word) that is about blocks, by functions that transpose one of so many parts and hold
/// something in between, or nothing: one for the first block, and one for the others, between the steps.
macro_rules! transposes_ahead {
    (
        $lanes:literal, $register:ident, first in $first_parts:literal: $first_part:ident,
        others in $parts:literal: $transpose_part:ident, holding $held:ty, or $nothing:expr
    ) => {
        type Ahead = [[$register; 16]; 2];
        type Held = $held;
        const PARTS: usize = $parts;

        #[inline(always)]
        fn begin<const N: usize>(
            ahead: &mut Self::Ahead,
            blocks: &$crate::Blocks<'_, N>,
            first: usize,
        ) {
            let blocks = blocks.get::<$lanes>(first, 0);
            let mut held = Self::hold_nothing();
            for part in 0..$first_parts {
                held = $first_part(held, &mut ahead[0], &blocks, part);
            }
        }

        #[inline(always)]
        fn hold_nothing() -> Self::Held {
            $nothing
        }

        #[inline(always)]
        fn prepare<const N: usize>(
            mut held: Self::Held,
            ahead: &mut Self::Ahead,
            number: usize,
            blocks: &$crate::Blocks<'_, N>,
            first: usize,
            index: usize,
            turn: $crate::Turn,
        ) -> Self::Held {
            if index >= blocks.count() {
                return Self::hold_nothing();
            }
            let blocks = blocks.get::<$lanes>(first, index);
            for part in turn.parts().start..turn.parts().end.min(Self::PARTS) {
                held = $transpose_part(held, &mut ahead[number % 2], &blocks, part);
            }
            held
        }

        #[inline(always)]
        fn word(_: &Self::Held, ahead: &Self::Ahead, number: usize, word: usize) -> Self {
            Self(ahead[number % 2][word])
        }
    };
}
pub(super) use transposes_ahead;

columns!(
    columns16,
    __m512i,
    _mm512_unpacklo_epi32,
    _mm512_unpackhi_epi32,
    _mm512_unpacklo_epi64,
    _mm512_unpackhi_epi64
);

/// A half of the blocks of lanes `lane` and `lane` + 4.
#[inline(always)]
fn halves_of(blocks: &[&[u8; BLOCK_LEN]; 16], lane: usize, half: usize) -> __m512i {
    let [low, high] = [half_of(blocks, lane, half), half_of(blocks, lane + 4, half)];
    // SAFETY: the ground rule.
    unsafe { _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high) }
}

/// A half of the block of a lane. With the first one goes a hint to fetch the block [`FETCH_AHEAD`] further on.
#[inline(always)]
fn half_of<const N: usize>(blocks: &[&[u8; BLOCK_LEN]; N], lane: usize, half: usize) -> __m256i {
    let block = blocks[lane];
    let bytes: &[u8; 32] = block[32 * half..][..32].try_into().expect("32 bytes");
    if half == 0 {
        fetch_line::<2>(block.as_ptr().wrapping_add(FETCH_AHEAD * BLOCK_LEN));
    }
    // SAFETY: the ground rule; the array has 32 bytes, and the load asks for no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// Blocks of a lane from the one that is loaded to the one that is to be fetched, into the second-level cache. The CPU finds
/// out by itself where some lanes go on, but not where 32 do, of which another one ends every few blocks: 512 messages of any length
/// up to 64 KiB, from the third-level cache, take 0.8 times as long with this (4 to 6 are alike, 2, 8 and 12 slower) as fetched into the
/// first level two blocks ahead, which took 0.6 to 0.77 times as long as without a hint.
const FETCH_AHEAD: usize = 4;

/// Of two columns the first halves, and the second ones.
#[inline(always)]
fn both8(low: __m256i, high: __m256i) -> [__m256i; 2] {
    // SAFETY: the ground rule.
    unsafe {
        [_mm256_permute2x128_si256::<0x20>(low, high), _mm256_permute2x128_si256::<0x31>(low, high)]
    }
}

/// Of two columns the quarters 0 and 2, and 1 and 3.
#[inline(always)]
fn both16(low: __m512i, high: __m512i) -> [__m512i; 2] {
    // SAFETY: the ground rule.
    unsafe {
        [
            _mm512_shuffle_i32x4::<0b10_00_10_00>(low, high),
            _mm512_shuffle_i32x4::<0b11_01_11_01>(low, high),
        ]
    }
}

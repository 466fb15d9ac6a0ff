//! Ways to load blocks of 4 to 16 lanes: in the turns of their own steps, or transposed in parts
//! between the steps of the block before.

use core::arch::x86_64::*;

use super::register::Register;
use super::words::{Set, Vector};
use crate::blocks::{BLOCK_LEN, BlockRow};
use crate::feed::{InTurns, LoadQuarter, Plain, Turn};
use crate::fetch::fetch_line;
use crate::word::WordSource;

/// A way to load the blocks of words.
pub(crate) trait Load<R, S>: Copy {
    type Source: WordSource<Vector<R, S, Self>>;
}

/// A quarter of a block in each of its first four turns, and a hint for another block so many
/// further on.
#[derive(Clone, Copy)]
pub(crate) struct Quarters<const FETCH_AHEAD: usize>;

impl<R: Register, S: Set, const FETCH_AHEAD: usize> Load<R, S> for Quarters<FETCH_AHEAD> {
    type Source = InTurns<Vector<R, S, Self>>;
}

impl<R: Register, S: Set, const FETCH_AHEAD: usize> LoadQuarter
    for Vector<R, S, Quarters<FETCH_AHEAD>>
{
    const FETCH_AHEAD: usize = FETCH_AHEAD;

    #[inline(always)]
    fn load_quarter(row: BlockRow<'_>, quarter: usize) -> [Self; 4] {
        let [a, b, c, d] = transposed_quarter(row, quarter);
        [Self::new(a), Self::new(b), Self::new(c), Self::new(d)]
    }
}

/// A way to transpose a block in parts, ahead of its steps.
pub(crate) trait Transposition<R>: Copy {
    /// What is held in registers between parts.
    type Carry: Copy;
    const PARTS: usize;

    fn no_carry() -> Self::Carry;

    /// Does one part after the other.
    fn part(carry: Self::Carry, words: &mut [R; 16], row: BlockRow<'_>, part: usize)
    -> Self::Carry;

    /// All of a first block, which no steps are before.
    #[inline(always)]
    fn all(words: &mut [R; 16], row: BlockRow<'_>) {
        let mut carry = Self::no_carry();
        for part in 0..Self::PARTS {
            carry = Self::part(carry, words, row, part);
        }
    }
}

/// In such parts, a block ahead.
#[derive(Clone, Copy)]
pub(crate) struct InParts<T>(T);

impl<R: Register, S: Set, T: Transposition<R>> Load<R, S> for InParts<T>
where
    [[R; 16]; 2]: Plain,
{
    type Source = Ahead<T::Carry>;
}

/// The source of words that are transposed ahead: this block's and the next one's lie in memory.
#[derive(Clone, Copy)]
pub(crate) struct Ahead<C>(C);

impl<R: Register, S: Set, T: Transposition<R>> WordSource<Vector<R, S, InParts<T>>>
    for Ahead<T::Carry>
where
    [[R; 16]; 2]: Plain,
{
    type Transposed = [[R; 16]; 2];
    const PARTS: usize = T::PARTS;

    #[inline(always)]
    fn nothing() -> Self {
        Self(T::no_carry())
    }

    #[inline(always)]
    fn begin(transposed: &mut Self::Transposed, row: BlockRow<'_>, first: usize) -> Self {
        T::all(&mut transposed[0], row.skip_lanes(first));
        Self(T::no_carry())
    }

    #[inline(always)]
    fn prepare(
        self,
        transposed: &mut Self::Transposed,
        row: BlockRow<'_>,
        first: usize,
        number: usize,
        turn: Turn,
    ) -> Self {
        let row = row.skip_lanes(first);
        let Self(mut carry) = self;
        for part in turn.parts(T::PARTS) {
            carry = T::part(carry, &mut transposed[number % 2], row, part);
        }
        Self(carry)
    }

    #[inline(always)]
    fn word(
        &self,
        transposed: &[[R; 16]; 2],
        number: usize,
        word: usize,
    ) -> Vector<R, S, InParts<T>> {
        Vector::new(transposed[number % 2][word])
    }
}

// SAFETY: every content of a register is a value.
unsafe impl Plain for [[__m128i; 16]; 2] {}
// SAFETY: as above.
unsafe impl Plain for [[__m256i; 16]; 2] {}
// SAFETY: as above.
unsafe impl Plain for [[__m512i; 16]; 2] {}

/// Two parts, a half of a block each. For AVX2, which has no registers for what would be held
/// between smaller parts; and there are pointers to load for each.
#[derive(Clone, Copy)]
pub(crate) struct Halves;

impl<R: Register> Transposition<R> for Halves {
    type Carry = ();
    const PARTS: usize = 2;

    #[inline(always)]
    fn no_carry() {}

    #[inline(always)]
    fn part((): (), words: &mut [R; 16], row: BlockRow<'_>, half: usize) {
        for quarter in [2 * half, 2 * half + 1] {
            words[4 * quarter..][..4].copy_from_slice(&transposed_quarter(row, quarter));
        }
    }
}

/// Eight parts, two words of each lane each, without any vector operation.
///
/// Words of four and eight lanes have the units for themselves, but a shuffle that is ready before
/// an operation of the chain takes the unit that this needs next, as shifts have but two. Eight
/// bytes are loaded instead, and stored as two times four: when a vector of them is loaded,
/// hundreds of cycles later, they are in the cache.
#[derive(Clone, Copy)]
pub(crate) struct WordPairs;

impl<R: Register> Transposition<R> for WordPairs {
    type Carry = ();
    const PARTS: usize = 8;

    #[inline(always)]
    fn no_carry() {}

    #[inline(always)]
    fn part((): (), words: &mut [R; 16], row: BlockRow<'_>, part: usize) {
        let words: &mut [R; 2] = words[2 * part..].first_chunk_mut().expect("two words");
        let [low, high] = words.each_mut().map(|word| core::ptr::from_mut(word).cast::<u32>());
        for lane in 0..R::LANES {
            let pair = u64::from_le_bytes(*row.bytes(lane, 8 * part));
            // Volatile: of other stores the compiler makes one of a vector, with more shuffles
            // than there were.
            // SAFETY: a register has so many lanes, and every content is a value.
            unsafe {
                low.add(lane).write_volatile(pair as u32);
                high.add(lane).write_volatile((pair >> 32) as u32);
            }
        }
    }

    /// By shuffles, since what is stored in pieces is not in the cache yet when it is loaded.
    #[inline(always)]
    fn all(words: &mut [R; 16], row: BlockRow<'_>) {
        <Halves as Transposition<R>>::all(words, row);
    }
}

/// Eight parts, of the first half of a block in four, then of the other one. Between the parts
/// eight registers are held.
///
/// ```text
/// part 0    rows of the first half of all lanes, a register each; four rows become four columns,
///           in every quarter by itself: each column has word c of four lanes, then word c + 4 of
///           these, and so on
/// part 1    the same of the second half of all lanes
/// part 2    two columns, word c and word c + 4 of half of the lanes each, become these words of
///           all, for c = 0, 1
/// part 3    and for c = 2, 3
/// ```
#[derive(Clone, Copy)]
pub(crate) struct Eighths;

impl<R: Halved> Transposition<R> for Eighths {
    type Carry = [R; 8];
    const PARTS: usize = 8;

    #[inline(always)]
    fn no_carry() -> [R; 8] {
        [R::splat(0); 8]
    }

    #[inline(always)]
    fn part(mut carry: [R; 8], words: &mut [R; 16], row: BlockRow<'_>, part: usize) -> [R; 8] {
        let half = part / 4;
        let [c0, c1, c2, c3, c4, c5, c6, c7] = carry;
        // No closures here: they would not be compiled with the instructions.
        match part % 4 {
            group @ 0..2 => {
                let first = group * R::LANES / 2;
                let columns = R::columns([
                    R::half_rows(row, first, half),
                    R::half_rows(row, first + 1, half),
                    R::half_rows(row, first + 2, half),
                    R::half_rows(row, first + 3, half),
                ]);
                carry[4 * group..][..4].copy_from_slice(&columns);
                carry
            }
            2 => {
                [words[8 * half], words[8 * half + 4]] = R::merge(c0, c4);
                [words[8 * half + 1], words[8 * half + 5]] = R::merge(c1, c5);
                carry
            }
            _ => {
                [words[8 * half + 2], words[8 * half + 6]] = R::merge(c2, c6);
                [words[8 * half + 3], words[8 * half + 7]] = R::merge(c3, c7);
                Self::no_carry()
            }
        }
    }
}

/// Registers that hold halves of blocks: [`Eighths`].
pub(crate) trait Halved: Register {
    /// A half of the block of a lane; of sixteen lanes also that of the lane four further on.
    fn half_rows(row: BlockRow<'_>, lane: usize, half: usize) -> Self;

    /// Two columns, each with two words of half of the lanes, as these words of all lanes.
    fn merge(low: Self, high: Self) -> [Self; 2];
}

impl Halved for __m256i {
    #[inline(always)]
    fn half_rows(row: BlockRow<'_>, lane: usize, half: usize) -> Self {
        if half == 0 {
            fetch_line::<2>(row.address(lane).wrapping_add(FETCH_AHEAD * BLOCK_LEN));
        }
        // SAFETY: the ground rule; these are 32 bytes, and the load asks for no alignment.
        unsafe { _mm256_loadu_si256(row.bytes::<32>(lane, 32 * half).as_ptr().cast()) }
    }

    #[inline(always)]
    fn merge(low: Self, high: Self) -> [Self; 2] {
        // SAFETY: the ground rule.
        unsafe {
            [
                _mm256_permute2x128_si256::<0x20>(low, high),
                _mm256_permute2x128_si256::<0x31>(low, high),
            ]
        }
    }
}

impl Halved for __m512i {
    #[inline(always)]
    fn half_rows(row: BlockRow<'_>, lane: usize, half: usize) -> Self {
        let low = __m256i::half_rows(row, lane, half);
        let high = __m256i::half_rows(row, lane + 4, half);
        // SAFETY: the ground rule.
        unsafe { _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high) }
    }

    #[inline(always)]
    fn merge(low: Self, high: Self) -> [Self; 2] {
        // SAFETY: the ground rule.
        unsafe {
            [
                _mm512_shuffle_i32x4::<0b10_00_10_00>(low, high),
                _mm512_shuffle_i32x4::<0b11_01_11_01>(low, high),
            ]
        }
    }
}

/// Blocks of a lane from the one that is loaded to the one that is fetched, into the second-level
/// cache. The CPU finds out by itself where a few lanes go on, but not where 32 do, of which
/// another one ends every few blocks.
const FETCH_AHEAD: usize = 4;

/// A quarter of a block of each lane, four words: those of lanes l, l + 4, ... are put side by side
/// into a register, for l = 0 to 3, and these four rows become four columns.
#[inline(always)]
fn transposed_quarter<R: Register>(row: BlockRow<'_>, quarter: usize) -> [R; 4] {
    let at = 16 * quarter;
    R::columns([
        join_pieces(
            #[inline(always)]
            |lane| row.bytes(lane, at),
        ),
        join_pieces(
            #[inline(always)]
            |lane| row.bytes(lane + 1, at),
        ),
        join_pieces(
            #[inline(always)]
            |lane| row.bytes(lane + 2, at),
        ),
        join_pieces(
            #[inline(always)]
            |lane| row.bytes(lane + 3, at),
        ),
    ])
}

/// The pieces of lanes 0, 4, 8 and 12, as far as there are such.
#[inline(always)]
pub(super) fn join_pieces<'a, R: Register>(piece: impl Fn(usize) -> &'a [u8; 16]) -> R {
    let first = load_piece(piece(0));
    R::join(match R::LANES {
        4 => [first; 4],
        8 => [first, load_piece(piece(4)), first, first],
        _ => [first, load_piece(piece(4)), load_piece(piece(8)), load_piece(piece(12))],
    })
}

/// A piece of 128 bits.
#[inline(always)]
fn load_piece(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: SSE2 is part of x86-64; the array has 16 bytes, and the load asks for no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

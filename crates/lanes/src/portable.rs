//! Words that need no instruction set: an array of lanes, and two words as one.

use crate::blocks::BlockRow;
use crate::feed::{InTurns, LoadQuarter, Turn};
use crate::word::{Bits, WordSource, end_step, sealed::Sealed};
use crate::{Function, Word};

impl<const N: usize> Sealed for [u32; N] {}

/// Plain loops, which the compiler turns into whatever vectors the target has.
impl<const N: usize> Bits for [u32; N] {
    const IS_VECTOR: bool = false;

    #[inline(always)]
    fn splat(value: u32) -> Self {
        [value; N]
    }

    /// Of one lane only: the compiler must be free to choose a vector for several.
    #[inline(always)]
    fn opaque(self) -> Self {
        if N == 1 { self.map(opaque) } else { self }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        core::array::from_fn(|lane| self[lane].wrapping_add(other[lane]))
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        core::array::from_fn(|lane| self[lane] & other[lane])
    }

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        core::array::from_fn(|lane| self[lane] & !other[lane])
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        core::array::from_fn(|lane| self[lane] | other[lane])
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        core::array::from_fn(|lane| self[lane] ^ other[lane])
    }

    #[inline(always)]
    fn rotate_left(self, count: u32) -> Self {
        self.map(|value| value.rotate_left(count))
    }
}

impl<const N: usize> Word for [u32; N] {
    const LANES: usize = N;

    type Source = InTurns<Self>;

    #[inline(always)]
    fn splat(value: u32) -> Self {
        Bits::splat(value)
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Bits::add(self, other)
    }

    #[inline(always)]
    fn opaque(self) -> Self {
        Bits::opaque(self)
    }

    #[inline(always)]
    fn end_step<F: Function, const COUNT: u32>(self, b: Self, c: Self, d: Self) -> Self {
        end_step::<F, _, COUNT>(self, b, c, d)
    }

    #[inline(always)]
    fn load_rows(rows: &[[u8; 16]]) -> [Self; 4] {
        let number = |word: usize, lane: usize| {
            u32::from_le_bytes(rows[lane][4 * word..][..4].try_into().expect("four bytes"))
        };
        core::array::from_fn(|word| core::array::from_fn(|lane| number(word, lane)))
    }

    #[inline(always)]
    fn store_rows(words: [Self; 4], rows: &mut [[u8; 16]]) {
        for (lane, row) in rows[..N].iter_mut().enumerate() {
            // By one number: bytes that are written in pieces and read whole make the CPU wait.
            let [a, b, c, d] = words.map(|word| u128::from(word[lane]));
            *row = (a | b << 32 | c << 64 | d << 96).to_le_bytes();
        }
    }

    #[inline(always)]
    fn call<R>(function: impl FnOnce() -> R) -> R {
        function()
    }
}

impl<const N: usize> LoadQuarter for [u32; N] {
    #[inline(always)]
    fn load_quarter(row: BlockRow<'_>, quarter: usize) -> [Self; 4] {
        let lanes: [[u32; 4]; N] = core::array::from_fn(|lane| row.quarter(lane, quarter));
        core::array::from_fn(|word| lanes.map(|words| words[word]))
    }
}

/// [`Bits::opaque`] of one lane: an empty piece of assembly that might have changed it.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
#[inline(always)]
fn opaque(value: u32) -> u32 {
    let mut value = value;
    // The 32 bits of a register have a name of their own on each.
    #[cfg(target_arch = "x86_64")]
    // SAFETY: no instruction, so nothing that could be violated.
    unsafe {
        core::arch::asm!("/* {0:e} */", inout(reg) value, options(pure, nomem, nostack, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!("/* {0:w} */", inout(reg) value, options(pure, nomem, nostack, preserves_flags));
    }
    value
}

/// [`Bits::opaque`] of one lane, where assembly is not to be had.
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
#[inline(always)]
fn opaque(value: u32) -> u32 {
    value
}

/// Two words as one: two independent chains of dependent instructions, which fill the units that
/// one chain leaves idle.
#[derive(Clone, Copy, Debug)]
pub struct Pair<A, B>(pub(crate) A, pub(crate) B);

impl<A: Sealed, B: Sealed> Sealed for Pair<A, B> {}

impl<A: Word, B: Word> Word for Pair<A, B> {
    const LANES: usize = A::LANES + B::LANES;

    type Source = (A::Source, B::Source);

    #[inline(always)]
    fn splat(value: u32) -> Self {
        Self(A::splat(value), B::splat(value))
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0.add(other.0), self.1.add(other.1))
    }

    #[inline(always)]
    fn opaque(self) -> Self {
        Self(self.0.opaque(), self.1.opaque())
    }

    #[inline(always)]
    fn end_step<F: Function, const COUNT: u32>(self, b: Self, c: Self, d: Self) -> Self {
        Self(self.0.end_step::<F, COUNT>(b.0, c.0, d.0), self.1.end_step::<F, COUNT>(b.1, c.1, d.1))
    }

    #[inline(always)]
    fn load_rows(rows: &[[u8; 16]]) -> [Self; 4] {
        let ([a0, a1, a2, a3], [b0, b1, b2, b3]) =
            (A::load_rows(rows), B::load_rows(&rows[A::LANES..]));
        [Self(a0, b0), Self(a1, b1), Self(a2, b2), Self(a3, b3)]
    }

    #[inline(always)]
    fn store_rows(words: [Self; 4], rows: &mut [[u8; 16]]) {
        A::store_rows(words.map(|word| word.0), rows);
        B::store_rows(words.map(|word| word.1), &mut rows[A::LANES..]);
    }

    #[inline(always)]
    fn call<R>(function: impl FnOnce() -> R) -> R {
        A::call(function)
    }
}

impl<A: Word, B: Word> WordSource<Pair<A, B>> for (A::Source, B::Source) {
    type Transposed =
        (<A::Source as WordSource<A>>::Transposed, <B::Source as WordSource<B>>::Transposed);
    const PARTS: usize = A::Source::PARTS + B::Source::PARTS;

    #[inline(always)]
    fn nothing() -> Self {
        (A::Source::nothing(), B::Source::nothing())
    }

    #[inline(always)]
    fn begin(transposed: &mut Self::Transposed, row: BlockRow<'_>, first: usize) -> Self {
        let a = A::Source::begin(&mut transposed.0, row, first);
        (a, B::Source::begin(&mut transposed.1, row, first + A::LANES))
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
        let a = self.0.prepare(&mut transposed.0, row, first, number, turn);
        let (first, turn) = (first + A::LANES, turn.after(A::Source::PARTS));
        (a, self.1.prepare(&mut transposed.1, row, first, number, turn))
    }

    #[inline(always)]
    fn word(&self, transposed: &Self::Transposed, number: usize, word: usize) -> Pair<A, B> {
        let a = self.0.word(&transposed.0, number, word);
        Pair(a, self.1.word(&transposed.1, number, word))
    }
}

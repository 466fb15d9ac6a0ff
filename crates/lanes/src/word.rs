//! The traits that a kernel is written against.

use crate::blocks::BlockRow;
use crate::feed::{Plain, Turn};

/// In a module that others cannot name, so that the words of this crate are the only ones: kernels
/// rely on what they say.
pub(crate) mod sealed {
    pub trait Sealed {}
}

/// A function of three words, bit by bit.
pub trait Function {
    /// The operands' own truth tables: [`TRUTH`](Self::TRUTH) is the function of these.
    const B: u8 = 0b1111_0000;
    /// See [`B`](Self::B).
    const C: u8 = 0b1100_1100;
    /// See [`B`](Self::B).
    const D: u8 = 0b1010_1010;

    /// The function's truth table: bit i is the result where the bit of `b` is bit 2 of i, that of
    /// `c` bit 1, and that of `d` bit 0.
    const TRUTH: u8;

    /// Two words that add up to `sum + f(b, c, d)`, the first of them without waiting for `b`.
    fn add_to<W: Bits>(sum: W, b: W, c: W, d: W) -> [W; 2];
}

/// Sums and single bits of numbers of 32 bits, one number in each lane.
pub trait Bits: Copy + sealed::Sealed {
    /// Whether it is a register of several lanes.
    const IS_VECTOR: bool;

    /// The same number in every lane.
    fn splat(value: u32) -> Self;

    /// The same value, of whose making the optimiser knows nothing any more.
    ///
    /// It adds up operands in an order of its own: constants last, as a rule. In a chain of
    /// dependent sums that puts one more addition behind the operand that comes last. What is
    /// opaque is added up before.
    #[must_use]
    fn opaque(self) -> Self;

    /// Sum modulo 2^32.
    #[must_use]
    fn add(self, other: Self) -> Self;

    /// `self & other`.
    #[must_use]
    fn and(self, other: Self) -> Self;

    /// `self & !other`.
    #[must_use]
    fn and_not(self, other: Self) -> Self;

    /// `self | other`.
    #[must_use]
    fn or(self, other: Self) -> Self;

    /// `self ^ other`.
    #[must_use]
    fn xor(self, other: Self) -> Self;

    /// `!self`.
    #[must_use]
    #[inline(always)]
    fn not(self) -> Self {
        self.xor(Self::splat(u32::MAX))
    }

    /// Rotation to the left by `count` bits, 1 to 31.
    #[must_use]
    fn rotate_left(self, count: u32) -> Self;
}

/// `((sum + F(b, c, d)) <<< COUNT) + b` in the fewest operations.
#[inline(always)]
pub(crate) fn end_step<F: Function, B: Bits, const COUNT: u32>(sum: B, b: B, c: B, d: B) -> B {
    let [sum, late] = F::add_to(sum, b, c, d);
    let sum = if B::IS_VECTOR { sum.opaque() } else { sum };
    sum.add(late).rotate_left(COUNT).add(b)
}

/// A word of 32 bits in each of [`LANES`](Word::LANES) lanes.
///
/// Lane `i` of a result depends on lane `i` of the operands alone.
pub trait Word: Copy + sealed::Sealed {
    /// How many lanes there are.
    const LANES: usize;

    /// Where its blocks' words come from.
    type Source: WordSource<Self>;

    /// The same value in every lane.
    fn splat(value: u32) -> Self;

    /// Sum modulo 2^32.
    #[must_use]
    fn add(self, other: Self) -> Self;

    /// See [`Bits::opaque`].
    #[must_use]
    fn opaque(self) -> Self;

    /// `((self + F(b, c, d)) <<< COUNT) + b`, where `b` comes after the other operands: the end of
    /// a step of MD5. `COUNT` is 1 to 31.
    #[must_use]
    fn end_step<F: Function, const COUNT: u32>(self, b: Self, c: Self, d: Self) -> Self;

    /// Four words from rows of bytes: row `i` is lane `i` of each of them, little-endian.
    ///
    /// # Panics
    /// When there are fewer rows than lanes.
    fn load_rows(rows: &[[u8; 16]]) -> [Self; 4];

    /// Puts four words into such rows.
    ///
    /// # Panics
    /// When there are fewer rows than lanes.
    fn store_rows(words: [Self; 4], rows: &mut [[u8; 16]]);

    /// Runs a function compiled with the instructions of the word.
    fn call<R>(function: impl FnOnce() -> R) -> R;

    /// Runs a function, which in code that is not optimised has a frame of its own: that of a whole
    /// kernel of many lanes would not fit into the stack of a thread.
    #[inline(always)]
    fn in_own_frame<R>(function: impl FnOnce() -> R) -> R {
        #[inline(never)]
        fn called<W: Word, R>(function: impl FnOnce() -> R) -> R {
            W::call(function)
        }
        if cfg!(debug_assertions) && Self::LANES > 1 {
            called::<Self, R>(function)
        } else {
            function()
        }
    }
}

/// The words of one block after the other, and what is carried in registers from turn to turn: see
/// [`BlockFeed`](crate::BlockFeed), which alone uses it.
pub trait WordSource<W>: Copy {
    /// Where words lie that are transposed ahead of their block.
    type Transposed: Plain;

    /// In how many parts the work on a block is done ahead; 0 where it is not.
    const PARTS: usize;

    /// Nothing carried.
    fn nothing() -> Self;

    /// Makes the lanes `first .. first + LANES` of the first block ready.
    fn begin(transposed: &mut Self::Transposed, row: BlockRow<'_>, first: usize) -> Self;

    /// Does what is due in a turn for block `number`.
    #[must_use]
    fn prepare(
        self,
        transposed: &mut Self::Transposed,
        row: BlockRow<'_>,
        first: usize,
        number: usize,
        turn: Turn,
    ) -> Self;

    /// Word `word` of block `number`.
    fn word(&self, transposed: &Self::Transposed, number: usize, word: usize) -> W;
}

//! The one trait that a kernel is written against.

use crate::feed::plain::Plain;
use crate::{Blocks, MAX_LANES, Turn};

/// A function of three words, bit by bit.
pub trait Function {
    /// The operands' own truth tables: [`TRUTH`](Self::TRUTH) is the function of these.
    const B: u8 = 0b1111_0000;
    /// See [`B`](Self::B).
    const C: u8 = 0b1100_1100;
    /// See [`B`](Self::B).
    const D: u8 = 0b1010_1010;

    /// The function's truth table: bit i is the result where the bit of `b` is bit 2 of i, that of `c` bit 1, and
    /// that of `d` bit 0.
    const TRUTH: u8;

    /// Two words that add up to `sum + f(b, c, d)`, the first of them without waiting for `b`.
    fn add_to<W: Word>(sum: W, b: W, c: W, d: W) -> [W; 2];
}

/// A word of 32 bits in each of [`LANES`](Word::LANES) lanes.
///
/// Lane `i` of a result depends on lane `i` of the operands alone. The operations are those from
/// which MD5 (and SHA-1, SHA-256, BLAKE3) rounds are made; the ones with several operands exist
/// because some instruction sets have one instruction for them, or a shorter dependent chain.
pub trait Word: Copy {
    /// How many lanes there are.
    const LANES: usize;

    /// Where words lie that are ready ahead of their block: see [`Feed`](crate::Feed), which alone uses this and what
    /// follows from it.
    type Ahead: Plain;

    /// What is in registers of this block, or of the next one.
    type Held: Copy;

    /// In how many parts the work on a block is done ahead.
    const PARTS: usize;

    /// The same value in every lane.
    fn splat(value: u32) -> Self;

    /// Takes the first `LANES` values.
    ///
    /// # Panics
    /// When there are fewer.
    fn load(values: &[u32]) -> Self;

    /// Puts the lanes into the first `LANES` places.
    ///
    /// # Panics
    /// When there are fewer.
    fn store(self, values: &mut [u32]);

    /// The same value, of whose making the optimiser knows nothing any more.
    ///
    /// It adds up operands in an order of its own: constants last, as a rule. In a chain of
    /// dependent sums that puts one more addition behind the operand that comes last. What is
    /// settled is added up before.
    #[must_use]
    fn settled(self) -> Self;

    /// Sum modulo 2^32.
    #[must_use]
    fn add(self, other: Self) -> Self;

    /// Rotation to the left by `count` bits, 1 to 31.
    #[must_use]
    fn rotate_left(self, count: u32) -> Self;

    /// `a ^ b ^ c`, with `self` as `a`.
    #[must_use]
    fn xor3(self, b: Self, c: Self) -> Self;

    /// `a ^ (b | !c)`, with `self` as `a`.
    #[must_use]
    fn xor_or_not(self, b: Self, c: Self) -> Self;

    /// `mask ? yes : no`, bit by bit, with `self` as `mask`.
    #[must_use]
    fn select(self, yes: Self, no: Self) -> Self;

    /// Two words that add up to `self + mask.select(yes, no)`; `yes` comes late, and the first of
    /// them does not wait for it: the two halves of a selection are disjoint and may be added one
    /// after the other.
    #[must_use]
    #[inline(always)]
    fn and_select(self, mask: Self, yes: Self, no: Self) -> [Self; 2] {
        [self, mask.select(yes, no)]
    }

    /// `((self + late) <<< COUNT) + other`, where `late` comes after the other operands: as written here in
    /// the fewest operations, which is best for words that share the units with others, and where a
    /// rotation takes one cycle. `COUNT` is 1 to 31.
    #[must_use]
    #[inline(always)]
    fn add_rotate_add<const COUNT: u32>(self, late: Self, other: Self) -> Self {
        self.add(late).rotate_left(COUNT).add(other)
    }

    /// `((self + F(b, c, d)) <<< COUNT) + b`, where `b` comes after the other operands: the end of a step of MD5.
    /// `COUNT` is 1 to 31.
    #[must_use]
    #[inline(always)]
    fn end_step<F: Function, const COUNT: u32>(self, b: Self, c: Self, d: Self) -> Self {
        let [sum, late] = F::add_to(self, b, c, d);
        sum.add_rotate_add::<COUNT>(late, b)
    }

    /// Makes the first block of the inputs `first .. first + LANES` ready, as block number 0.
    ///
    /// # Panics
    /// When there is no block, or the lanes are not all lanes of `blocks`.
    fn begin<const N: usize>(ahead: &mut Self::Ahead, blocks: &Blocks<'_, N>, first: usize);

    /// Nothing.
    fn hold_nothing() -> Self::Held;

    /// Does what is due in a turn for block `index` of these, which is number `number` of all that are taken. Words that are
    /// ahead have nothing to do for a block that is not there.
    ///
    /// # Panics
    /// Otherwise when there is no such block, or when the lanes are not all lanes of `blocks`.
    fn prepare<const N: usize>(
        held: Self::Held,
        ahead: &mut Self::Ahead,
        number: usize,
        blocks: &Blocks<'_, N>,
        first: usize,
        index: usize,
        turn: Turn,
    ) -> Self::Held;

    /// Word `word` of block number `number`.
    fn word(held: &Self::Held, ahead: &Self::Ahead, number: usize, word: usize) -> Self;

    /// Puts four words into rows of bytes: row `i` is lane `i` of each of them, little-endian.
    ///
    /// # Panics
    /// When there are fewer rows than lanes.
    #[inline(always)]
    fn store_rows(words: [Self; 4], rows: &mut [[u8; 16]]) {
        let mut columns = [[0; MAX_LANES]; 4];
        for (column, word) in columns.iter_mut().zip(words) {
            word.store(column);
        }
        for (lane, row) in rows[..Self::LANES].iter_mut().enumerate() {
            for (place, column) in row.as_chunks_mut().0.iter_mut().zip(&columns) {
                *place = column[lane].to_le_bytes();
            }
        }
    }
}

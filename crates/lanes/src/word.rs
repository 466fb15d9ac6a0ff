//! The traits that a kernel is written against.

use crate::blocks::BlockRow;
use crate::feed::Transposed;

/// In a module that others cannot name, so that the words of this crate are the only ones: kernels
/// rely on what they say.
pub(crate) mod sealed {
    pub trait Sealed {}
}

/// What every word can do with numbers of 32 bits, one in each lane: sums.
pub trait Numbers: Copy {
    /// The same number in every lane.
    fn splat(value: u32) -> Self;

    /// Sum modulo 2^32.
    #[must_use]
    fn add(self, other: Self) -> Self;

    /// The same value, hidden from the optimiser, which cannot change how it is computed.
    ///
    /// It adds up operands in an order of its own: constants last, as a rule. In a chain of
    /// dependent sums that puts one more addition behind the operand that comes last. What is
    /// opaque is added up before.
    #[must_use]
    fn opaque(self) -> Self;
}

/// A word of 32 bits in each of [`LANES`](Word::LANES) lanes.
///
/// Lane `i` of a result depends on lane `i` of the operands alone.
pub trait Word: Numbers + sealed::Sealed {
    /// How many lanes there are.
    const LANES: usize;

    /// In how many parts a block is transposed ahead of its steps; 0 where words are loaded when
    /// they are needed.
    const PARTS: usize;

    /// `((self + f(b, c, d)) <<< COUNT) + b`, where `b` comes after the other operands: the end of
    /// a step of MD5. `F` is one of the [functions](crate::function), `COUNT` is 1 to 31.
    #[must_use]
    fn end_step<const F: i32, const COUNT: u32>(self, b: Self, c: Self, d: Self) -> Self;

    /// Four words from rows of bytes: row `i` is lane `i` of each of them, little-endian.
    ///
    /// # Panics
    /// Panics if there are fewer rows than lanes.
    fn load_rows(rows: &[[u8; 16]]) -> [Self; 4];

    /// Puts four words into such rows.
    ///
    /// # Panics
    /// Panics if there are fewer rows than lanes.
    fn store_rows(words: [Self; 4], rows: &mut [[u8; 16]]);

    /// Word `number` of a block: of the row, lane `i` of the word from lane `first + i`, or where
    /// it is transposed ahead of what was made ready.
    fn word(row: BlockRow<'_>, ready: &Transposed, first: usize, number: usize) -> Self;

    /// Makes one part of a row's words ready.
    #[inline(always)]
    fn transpose(row: BlockRow<'_>, ready: &mut Transposed, first: usize, part: usize) {
        let _ = (row, ready, first, part);
    }

    /// Makes all of a row's words ready, to be used at once.
    #[inline(always)]
    fn transpose_all(row: BlockRow<'_>, ready: &mut Transposed, first: usize) {
        for part in 0..Self::PARTS {
            Self::transpose(row, ready, first, part);
        }
    }

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

/// The functions of MD5 by their truth tables: bit i is the result where the bit of `b` is bit 2 of
/// i, that of `c` bit 1, and that of `d` bit 0.
pub mod function {
    pub(crate) const B: i32 = 0b1111_0000;
    pub(crate) const C: i32 = 0b1100_1100;
    pub(crate) const D: i32 = 0b1010_1010;
    const ALL: i32 = 0b1111_1111;

    /// b chooses c or d.
    pub const F: i32 = (B & C) | ((B ^ ALL) & D);
    /// d chooses b or c.
    pub const G: i32 = (B & D) | (C & (D ^ ALL));
    /// The parity.
    pub const H: i32 = B ^ C ^ D;
    /// c, negated where b or not d.
    pub const I: i32 = C ^ (B | (D ^ ALL));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, Kernel, MAX_LANES};

    /// `((7 + f(b, c, d)) <<< 9) + b` of operands that are tables themselves.
    struct EndStep<const F: i32>;

    impl<const F: i32> Kernel for EndStep<F> {
        type Output = Vec<u32>;

        #[inline(always)]
        fn run<W: Word>(self) -> Vec<u32> {
            let [b, c, d] = [function::B, function::C, function::D];
            let word = |table: i32| W::splat(table.cast_unsigned());
            let end = W::splat(7).end_step::<F, 9>(word(b), word(c), word(d));
            let mut rows = [[0; 16]; MAX_LANES];
            W::store_rows([end; 4], &mut rows);
            let words = rows[..W::LANES].as_flattened().as_chunks().0;
            words.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
        }
    }

    #[test]
    fn every_word_computes_the_function_of_its_truth_table() {
        fn check<const F: i32>(backend: Backend) {
            // Beyond their eight bits all three tables are 0.
            let beyond = if F & 1 == 1 { u32::MAX << 8 } else { 0 };
            let sum = (F.cast_unsigned() | beyond).wrapping_add(7);
            let expected = sum.rotate_left(9).wrapping_add(function::B.cast_unsigned());
            for &width in backend.widths() {
                let words = backend.run(width, EndStep::<F>);
                assert_eq!(words, vec![expected; 4 * width], "{F:#b}: {backend} {width}");
            }
        }
        for backend in Backend::available() {
            check::<{ function::F }>(backend);
            check::<{ function::G }>(backend);
            check::<{ function::H }>(backend);
            check::<{ function::I }>(backend);
        }
    }
}

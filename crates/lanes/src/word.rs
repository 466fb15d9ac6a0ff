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
    /// When there are fewer rows than lanes.
    fn load_rows(rows: &[[u8; 16]]) -> [Self; 4];

    /// Puts four words into such rows.
    ///
    /// # Panics
    /// When there are fewer rows than lanes.
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

/// Single bits of the numbers of a word.
pub(crate) trait Bits: Numbers {
    fn and(self, other: Self) -> Self;

    fn xor(self, other: Self) -> Self;

    fn rotate_left(self, count: u32) -> Self;

    #[inline(always)]
    fn not(self) -> Self {
        self.xor(Self::splat(u32::MAX))
    }

    /// Two words that add up to `self + f(b, c, d)`, the first of them without waiting for `b`.
    #[inline(always)]
    fn add_function<const F: i32>(self, b: Self, c: Self, d: Self) -> [Self; 2] {
        match F {
            function::F => [self, d.xor(b.and(c.xor(d)))],
            // The halves are disjoint.
            function::G => [self.add(c.and(d.not())), b.and(d)],
            function::H => [self, b.xor(c.xor(d))],
            // b | !d, as De Morgan says.
            function::I => [self, c.xor(d.and(b.not()).not())],
            _ => unreachable!("no function of MD5"),
        }
    }

    /// [`Word::end_step`] in the fewest operations.
    #[inline(always)]
    fn fewest<const F: i32, const COUNT: u32>(self, b: Self, c: Self, d: Self) -> Self {
        let [sum, late] = self.add_function::<F>(b, c, d);
        sum.add(late).rotate_left(COUNT).add(b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portable::Scalar;

    #[test]
    fn functions_are_as_their_truth_tables() {
        fn check<const F: i32>() {
            let [b, c, d] = [function::B, function::C, function::D];
            let [b, c, d] = [b, c, d].map(|table| Scalar::<true>::splat(table as u32));
            let [sum, late] = Scalar::splat(7).add_function::<F>(b, c, d);
            assert_eq!(sum.add(late).add(Scalar::splat(249)).0 as u8, F as u8);
        }
        check::<{ function::F }>();
        check::<{ function::G }>();
        check::<{ function::H }>();
        check::<{ function::I }>();
    }
}

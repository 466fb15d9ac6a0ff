//! The traits that kernels are written against.

use crate::blocks::BlockRow;
use crate::feed::Transposed;

/// In a private module, so that other crates cannot implement words: memory safety relies on them.
pub(crate) mod sealed {
    pub trait Sealed {}
}

/// Sums of 32-bit numbers, one number in each lane.
pub trait Numbers: Copy {
    /// Returns a word with the same number in every lane.
    fn splat(value: u32) -> Self;

    /// Returns the sum modulo 2^32.
    #[must_use]
    fn add(self, other: Self) -> Self;

    /// Returns the same value, hidden from the optimiser, which then keeps the order of its
    /// computation.
    ///
    /// The optimiser reorders sums and usually adds constants last. In a chain of dependent sums
    /// that adds one addition after the latest operand. An opaque sum is computed before.
    #[must_use]
    fn opaque(self) -> Self;
}

/// A word of 32 bits in each of [`LANES`](Word::LANES) lanes.
///
/// Lane `i` of a result depends on lane `i` of the operands alone.
pub trait Word: Numbers + sealed::Sealed {
    /// The number of lanes.
    const LANES: usize;

    /// The number of parts in which a block is transposed before its steps, or 0 if words are
    /// loaded when they are needed.
    const PARTS: usize;

    /// Returns `((self + f(b, c, d)) <<< COUNT) + b`, the end of a step of MD5. `b` is the operand
    /// that is computed last. `F` is one of the [functions](crate::function), and `COUNT` is 1 to
    /// 31.
    #[must_use]
    fn end_step<const F: i32, const COUNT: u32>(self, b: Self, c: Self, d: Self) -> Self;

    /// Loads four words from rows of bytes. Row `i` holds lane `i` of each word, little-endian.
    ///
    /// # Panics
    /// Panics if there are fewer rows than lanes.
    fn load_rows(rows: &[[u8; 16]]) -> [Self; 4];

    /// Stores four words into rows of bytes, as [`load_rows`](Self::load_rows) reads them.
    ///
    /// # Panics
    /// Panics if there are fewer rows than lanes.
    fn store_rows(words: [Self; 4], rows: &mut [[u8; 16]]);

    /// Returns word `number` of a block. Lane `i` of the word comes from lane `first + i` of `row`,
    /// or from `ready` if words are transposed before the steps.
    fn word(row: BlockRow<'_>, ready: &Transposed, first: usize, number: usize) -> Self;

    /// Transposes one part of a row into `ready`.
    #[inline(always)]
    fn transpose(row: BlockRow<'_>, ready: &mut Transposed, first: usize, part: usize) {
        let _ = (row, ready, first, part);
    }

    /// Transposes a whole row into `ready`, for immediate use.
    #[inline(always)]
    fn transpose_all(row: BlockRow<'_>, ready: &mut Transposed, first: usize) {
        for part in 0..Self::PARTS {
            Self::transpose(row, ready, first, part);
        }
    }

    /// Calls a function, compiled with the instructions of the word.
    fn call<R>(function: impl FnOnce() -> R) -> R;

    /// Calls a function with its own stack frame in unoptimised code. The frame of a whole kernel
    /// of many lanes would overflow the stack of a thread.
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

/// The functions of MD5 (RFC 1321, section 3.4) as truth tables. Bit `i` of a table is the result
/// for `b` = bit 2, `c` = bit 1 and `d` = bit 0 of `i`.
pub mod function {
    pub(crate) const B: i32 = 0b1111_0000;
    pub(crate) const C: i32 = 0b1100_1100;
    pub(crate) const D: i32 = 0b1010_1010;
    const ALL: i32 = 0b1111_1111;

    /// `b` selects `c` or `d`.
    pub const F: i32 = (B & C) | ((B ^ ALL) & D);
    /// `d` selects `b` or `c`.
    pub const G: i32 = (B & D) | (C & (D ^ ALL));
    /// The parity of `b`, `c` and `d`.
    pub const H: i32 = B ^ C ^ D;
    /// `c`, negated where `b | !d` is set.
    pub const I: i32 = C ^ (B | (D ^ ALL));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, Kernel, MAX_LANES};

    /// `((7 + f(b, c, d)) <<< 9) + b` for operands that are themselves truth tables.
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
            // All three tables are 0 beyond their eight bits.
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

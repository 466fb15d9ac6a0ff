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

    /// Returns `f(self, c, d)` of each bit. `F` is one of the [functions](crate::function), and
    /// `self` is its `b`.
    #[must_use]
    fn logic<const F: i32>(self, c: Self, d: Self) -> Self;

    /// Returns `self ^ other`.
    #[must_use]
    fn xor(self, other: Self) -> Self;

    /// Rotates to the right by `COUNT` bits, 1 to 31.
    #[must_use]
    fn rotate_right<const COUNT: u32>(self) -> Self;

    /// Shifts to the right by `COUNT` bits, 1 to 31, and fills with zeros.
    #[must_use]
    fn shift_right<const COUNT: u32>(self) -> Self;

    /// Reverses the bytes of each number.
    #[must_use]
    fn swap_bytes(self) -> Self;

    /// Returns `((self + f(b, c, d)) <<< COUNT) + b`, the end of a step of MD5. `b` is the operand
    /// that is computed last. `F` is one of the [functions](crate::function), and `COUNT` is 1 to
    /// 31.
    ///
    /// One operation, because the fastest form of the whole differs from that of its parts.
    #[must_use]
    fn end_step<const F: i32, const COUNT: u32>(self, b: Self, c: Self, d: Self) -> Self;

    /// Loads the first `LANES` numbers.
    ///
    /// # Panics
    /// Panics if there are fewer.
    fn load(numbers: &[u32]) -> Self;

    /// Stores the lanes into the first `LANES` places.
    ///
    /// # Panics
    /// Panics if there are fewer.
    fn store(self, numbers: &mut [u32]);

    /// Loads four words from rows of bytes. The row of lane `i` is piece `piece` of 16 bytes of
    /// element `i`, and holds lane `i` of each word, little-endian.
    ///
    /// # Panics
    /// Panics if there are fewer elements than lanes, or if they have no such piece.
    fn load_rows<const N: usize>(rows: &[[u8; N]], piece: usize) -> [Self; 4];

    /// Stores four words into rows of bytes, as [`load_rows`](Self::load_rows) reads them.
    ///
    /// # Panics
    /// Panics if there are fewer elements than lanes, or if they have no such piece.
    fn store_rows<const N: usize>(words: [Self; 4], rows: &mut [[u8; N]], piece: usize);

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

/// The functions of MD5 (RFC 1321, section 3.4), SHA-1 and SHA-2 (FIPS 180-4, section 4.1) as truth
/// tables. Bit `i` of a table is the result for `b` = bit 2, `c` = bit 1 and `d` = bit 0 of `i`.
pub mod function {
    pub(crate) const B: i32 = 0b1111_0000;
    pub(crate) const C: i32 = 0b1100_1100;
    pub(crate) const D: i32 = 0b1010_1010;
    const ALL: i32 = 0b1111_1111;

    /// `b` selects `c` or `d`. FIPS 180-4 calls it Ch.
    pub const F: i32 = (B & C) | ((B ^ ALL) & D);
    /// `d` selects `b` or `c`.
    pub const G: i32 = (B & D) | (C & (D ^ ALL));
    /// The parity of `b`, `c` and `d`: `b ^ c ^ d`.
    pub const H: i32 = B ^ C ^ D;
    /// `c`, negated where `b | !d` is set.
    pub const I: i32 = C ^ (B | (D ^ ALL));
    /// The majority of `b`, `c` and `d`. FIPS 180-4 calls it Maj.
    pub const MAJORITY: i32 = (B & C) | (B & D) | (C & D);
}

/// Returns [`Word::logic`] by operations that every word has, for words without ternary logic.
macro_rules! logic {
    ($function:ident, $b:expr, $c:expr, $d:expr, $and:expr, $or:expr, $xor:expr, $ones:expr) => {
        match $function {
            function::F => $xor($d, $and($b, $xor($c, $d))),
            function::G => $xor($c, $and($d, $xor($b, $c))),
            function::H => $xor($b, $xor($c, $d)),
            function::I => $xor($c, $or($b, $xor($d, $ones))),
            function::MAJORITY => $xor($b, $and($xor($b, $c), $xor($b, $d))),
            _ => unreachable!("no such function"),
        }
    };
}
pub(crate) use logic;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, Kernel};

    /// `((7 + f(b, c, d)) <<< 9) + b` for operands that are themselves truth tables.
    struct EndStep<const F: i32>;

    impl<const F: i32> Kernel for EndStep<F> {
        type Output = Vec<u32>;

        #[inline(always)]
        fn run<W: Word>(self) -> Vec<u32> {
            let [b, c, d] = [function::B, function::C, function::D];
            let word = |table: i32| W::splat(table.cast_unsigned());
            let end = W::splat(7).end_step::<F, 9>(word(b), word(c), word(d));
            numbers(end)
        }
    }

    /// `f(b, c, d)` for operands that are themselves truth tables.
    struct Logic<const F: i32>;

    impl<const F: i32> Kernel for Logic<F> {
        type Output = Vec<u32>;

        #[inline(always)]
        fn run<W: Word>(self) -> Vec<u32> {
            let [b, c, d] = [function::B, function::C, function::D];
            let word = |table: i32| W::splat(table.cast_unsigned());
            numbers(word(b).logic::<F>(word(c), word(d)))
        }
    }

    /// Returns the numbers of all lanes.
    #[inline(always)]
    fn numbers<W: Word>(word: W) -> Vec<u32> {
        let mut numbers = vec![0; W::LANES];
        word.store(&mut numbers);
        numbers
    }

    /// The unary operations, loads and stores, with a different number in each lane.
    struct Unary;

    impl Kernel for Unary {
        type Output = ();

        #[inline(always)]
        fn run<W: Word>(self) {
            let expected: Vec<u32> =
                (0..W::LANES as u32).map(|lane| 0x89ab_cdef ^ lane << 13).collect();
            let word = W::load(&expected);
            let by = |operation: fn(u32) -> u32| {
                expected.iter().map(|&n| operation(n)).collect::<Vec<_>>()
            };
            assert_eq!(numbers(word), expected);
            assert_eq!(numbers(word.swap_bytes()), by(u32::swap_bytes));
            assert_eq!(numbers(word.rotate_right::<7>()), by(|n| n.rotate_right(7)));
            assert_eq!(numbers(word.rotate_right::<8>()), by(|n| n.rotate_right(8)));
            assert_eq!(numbers(word.rotate_right::<25>()), by(|n| n.rotate_right(25)));
            assert_eq!(numbers(word.shift_right::<10>()), by(|n| n >> 10));
            let mut rows = vec![[0xee; 36]; W::LANES];
            let words = [word, word.swap_bytes(), W::splat(1), W::splat(2)];
            W::store_rows(words, &mut rows, 1);
            for (row, number) in rows.iter().zip(&expected) {
                let bytes = [*number, number.swap_bytes(), 1, 2].map(u32::to_le_bytes);
                assert_eq!(row[16..32], *bytes.as_flattened());
                assert!(row[..16].iter().chain(&row[32..]).all(|&byte| byte == 0xee));
            }
            let loaded = W::load_rows(&rows, 1);
            assert_eq!(loaded.map(numbers), words.map(numbers));
        }
    }

    #[test]
    fn unary_operations_work_in_every_word() {
        for backend in Backend::available() {
            for &width in backend.widths() {
                backend.run(width, Unary);
            }
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
                if F != function::MAJORITY {
                    let words = backend.run(width, EndStep::<F>);
                    assert_eq!(words, vec![expected; width], "{F:#b}: {backend} {width}");
                }
                let words = backend.run(width, Logic::<F>);
                let expected =
                    expected.wrapping_sub(function::B.cast_unsigned()).rotate_right(9) - 7;
                assert_eq!(words, vec![expected; width], "{F:#b}: {backend} {width}");
            }
        }
        for backend in Backend::available() {
            check::<{ function::F }>(backend);
            check::<{ function::G }>(backend);
            check::<{ function::H }>(backend);
            check::<{ function::I }>(backend);
            check::<{ function::MAJORITY }>(backend);
        }
    }
}

//! Words of 64 bits for SipHash and SHA-512, like [`Word`](crate::Word) for 32 bits.

use core::ops::RangeInclusive;

use crate::word::sealed::Sealed;
use crate::words::rest_of_any;
use crate::{MAX_LANES_64, Source, WORD_LEN};

/// A word of 64 bits in each of [`LANES`](Word64::LANES) lanes.
///
/// Lane `i` of a result depends on lane `i` of the operands alone. The operations are those of
/// the rounds of SipHash and SHA-512.
pub trait Word64: Copy + Sealed {
    /// The number of lanes.
    const LANES: usize;

    /// A boolean in each lane.
    type Mask: Copy;

    /// Returns a word with the same value in every lane.
    fn splat(value: u64) -> Self;

    /// Loads the first `LANES` values.
    ///
    /// # Panics
    /// Panics if there are fewer.
    fn load(values: &[u64]) -> Self;

    /// Stores the lanes into the first `LANES` places.
    ///
    /// # Panics
    /// Panics if there are fewer.
    fn store(self, values: &mut [u64]);

    /// Returns the same value and keeps the compiler from reordering its computation with that of
    /// the next value `in_order`. Has an effect in one-lane words and in words of AVX-512 only.
    #[must_use]
    #[inline(always)]
    fn in_order(self) -> Self {
        self
    }

    /// Returns the sum modulo 2^64.
    #[must_use]
    fn add(self, other: Self) -> Self;

    /// Rotates to the left by `count` bits, 1 to 63.
    #[must_use]
    fn rotate_left(self, count: u32) -> Self;

    /// Returns `self ^ b`.
    #[must_use]
    fn xor(self, b: Self) -> Self;

    /// Returns `self ^ b ^ c`.
    #[must_use]
    fn xor3(self, b: Self, c: Self) -> Self;

    /// Returns `self ? yes : no` of each bit.
    #[must_use]
    fn choose(self, yes: Self, no: Self) -> Self;

    /// Returns the majority of `self`, `b` and `c` of each bit.
    #[must_use]
    fn majority(self, b: Self, c: Self) -> Self;

    /// Reverses the bytes of each number.
    #[must_use]
    fn swap_bytes(self) -> Self;

    /// Shifts to the left by `count` bits, 0 to 63.
    #[must_use]
    fn shift_left(self, count: u32) -> Self;

    /// Shifts to the right by `count` bits, 0 to 63, and fills with zeros.
    #[must_use]
    fn shift_right(self, count: u32) -> Self;

    /// Returns the lanes from the second on, followed by the first of `next`. For kernels whose
    /// lanes are adjacent words of one input.
    #[must_use]
    #[inline(always)]
    fn shift_in(self, next: Self) -> Self {
        let mut values = [0; 2 * MAX_LANES_64];
        self.store(&mut values);
        next.store(&mut values[Self::LANES..]);
        Self::load(&values[1..])
    }

    /// Calls a function, compiled with the instructions of the word.
    #[inline(always)]
    fn call<R>(function: impl FnOnce() -> R) -> R {
        function()
    }

    /// Calls a function with its own stack frame in unoptimised code. The frame of a whole kernel
    /// of many lanes would overflow the stack of a thread.
    #[inline(always)]
    fn in_own_frame<R>(function: impl FnOnce() -> R) -> R {
        #[inline(never)]
        fn called<W: Word64, R>(function: impl FnOnce() -> R) -> R {
            W::call(function)
        }
        if cfg!(debug_assertions) && Self::LANES > 1 {
            called::<Self, R>(function)
        } else {
            function()
        }
    }

    /// Returns in which lanes `self` is greater than `other`. Valid for numbers below 2^63 only.
    fn more_than(self, other: Self) -> Self::Mask;

    /// Combines the lowest `counts` bits of `self` with the bits of `above` above them, in each
    /// lane. A count of 64 or more gives all of `self`.
    #[must_use]
    fn below(self, counts: Self, above: Self) -> Self;

    /// Combines the lowest `lengths % 8` bytes of `self` with the bytes of `above` above them, in
    /// each lane.
    #[must_use]
    #[inline(always)]
    fn rest(self, lengths: Self, above: Self) -> Self {
        // The lowest three bits of a length, times eight, are a number of bits.
        let bits = lengths.shift_left(u64::BITS - WORD_LEN.ilog2()).shift_right(u64::BITS - 6);
        self.below(bits, above)
    }

    /// Returns `mask ? yes : no` in each lane.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// Loads words `index` and `index + 1` of the inputs `first .. first + LANES`. Lane `i` of the
    /// results is from input `first + i`.
    ///
    /// # Panics
    /// Panics if an input lacks these words, or if `source` does not have all the lanes.
    fn load_pair<S: Source>(source: &S, first: usize, index: usize) -> [Self; 2];

    /// Loads word `index` of the inputs `first .. first + LANES`.
    ///
    /// # Panics
    /// Panics if an input lacks the word, or if `source` does not have all the lanes.
    fn load_word<S: Source>(source: &S, first: usize, index: usize) -> Self;

    /// Loads the last `length % 8` bytes of each of the inputs `first .. first + LANES` as a
    /// number.
    ///
    /// # Panics
    /// Panics if `source` does not have all the lanes.
    fn load_rest<S: Source>(source: &S, first: usize) -> Self;

    /// Returns the last `length % 8` bytes of one input as a number. Fast even where the lengths of
    /// inputs of fewer than eight bytes cannot be predicted.
    #[must_use]
    #[inline(always)]
    fn rest_of_any(input: &[u8]) -> u64 {
        rest_of_any(input)
    }

    /// Loads words `index` and `index + 1` of the inputs `first .. first + LANES`, with zeros for
    /// the bytes beyond the end of an input.
    ///
    /// # Panics
    /// Panics if `source` does not have all the lanes.
    fn load_pair_or_zeros<S: Source>(source: &S, first: usize, index: usize) -> [Self; 2];

    /// Copies the `numbers` within `range` to the front of `picked`, in order, and returns their
    /// count. The contents of `picked` after them are unspecified.
    ///
    /// # Panics
    /// Panics if `picked` has no room for these and [`PICK_ROOM`] more.
    #[inline(always)]
    fn pick(numbers: &[u32], range: RangeInclusive<u32>, picked: &mut [u32]) -> usize {
        let (first, span) = (*range.start(), range.end() - range.start());
        let mut count = 0;
        for &number in numbers {
            // Without a branch, which would be mispredicted.
            picked[count] = number;
            count += usize::from(number.wrapping_sub(first) <= span);
        }
        count
    }
}

/// The number of additional places that [`Word64::pick`] may write to.
pub const PICK_ROOM: usize = 16;

/// Other crates cannot implement words, because memory safety relies on them. Only the seal keeps
/// this from compiling:
///
/// ```compile_fail,E0277
/// use lanesum_lanes::{Source, Word64};
///
/// #[derive(Clone, Copy)]
/// struct Mine;
///
/// impl Word64 for Mine {
///     const LANES: usize = 1;
///     type Mask = bool;
///     fn splat(_: u64) -> Self { Self }
///     fn load(_: &[u64]) -> Self { Self }
///     fn store(self, _: &mut [u64]) {}
///     fn add(self, _: Self) -> Self { Self }
///     fn rotate_left(self, _: u32) -> Self { Self }
///     fn xor(self, _: Self) -> Self { Self }
///     fn xor3(self, _: Self, _: Self) -> Self { Self }
///     fn choose(self, _: Self, _: Self) -> Self { Self }
///     fn majority(self, _: Self, _: Self) -> Self { Self }
///     fn swap_bytes(self) -> Self { Self }
///     fn shift_left(self, _: u32) -> Self { Self }
///     fn shift_right(self, _: u32) -> Self { Self }
///     fn more_than(self, _: Self) -> bool { false }
///     fn below(self, _: Self, _: Self) -> Self { Self }
///     fn select(_: bool, _: Self, _: Self) -> Self { Self }
///     fn load_pair<S: Source>(_: &S, _: usize, _: usize) -> [Self; 2] { [Self; 2] }
///     fn load_word<S: Source>(_: &S, _: usize, _: usize) -> Self { Self }
///     fn load_rest<S: Source>(_: &S, _: usize) -> Self { Self }
///     fn load_pair_or_zeros<S: Source>(_: &S, _: usize, _: usize) -> [Self; 2] { [Self; 2] }
/// }
/// ```
#[cfg(doctest)]
struct Sealed64;

//! Words of 64 bits: what [`Word`](crate::Word) is to MD5, for SipHash.

use core::ops::RangeInclusive;

use crate::word::sealed::Sealed;
use crate::{Source, WORD_LEN};

/// A word of 64 bits in each of [`LANES`](Word64::LANES) lanes.
///
/// Lane `i` of a result depends on lane `i` of the operands alone. The operations are those from
/// which SipHash rounds are made.
pub trait Word64: Copy + Sealed {
    /// How many lanes there are.
    const LANES: usize;

    /// A yes or no in each lane.
    type Mask: Copy;

    /// The same value in every lane.
    fn splat(value: u64) -> Self;

    /// Takes the first `LANES` values.
    ///
    /// # Panics
    /// Panics if there are fewer.
    fn load(values: &[u64]) -> Self;

    /// Puts the lanes into the first `LANES` places.
    ///
    /// # Panics
    /// Panics if there are fewer.
    fn store(self, values: &mut [u64]);

    /// The same value. In a register of one lane, and in those of AVX-512, it is there before the
    /// next value that is made in order: what makes them is not reordered.
    #[must_use]
    #[inline(always)]
    fn in_order(self) -> Self {
        self
    }

    /// Sum modulo 2^64.
    #[must_use]
    fn add(self, other: Self) -> Self;

    /// Rotation to the left by `count` bits, 1 to 63.
    #[must_use]
    fn rotate_left(self, count: u32) -> Self;

    /// `a ^ b`, with `self` as `a`.
    #[must_use]
    fn xor(self, b: Self) -> Self;

    /// `a ^ b ^ c`, with `self` as `a`.
    #[must_use]
    fn xor3(self, b: Self, c: Self) -> Self;

    /// Shifts to the left by `count` bits, 0 to 63.
    #[must_use]
    fn shift_left(self, count: u32) -> Self;

    /// Shifts to the right by `count` bits, 0 to 63; zeros come in.
    #[must_use]
    fn shift_right(self, count: u32) -> Self;

    /// Runs a function compiled with the instructions of the word.
    #[inline(always)]
    fn call<R>(function: impl FnOnce() -> R) -> R {
        function()
    }

    /// Runs a function, which in code that is not optimised has a frame of its own: that of a whole
    /// kernel of many lanes would not fit into the stack of a thread.
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

    /// Where the lane of `self` is more than that of `other`. Numbers below 2^63 only.
    fn more_than(self, other: Self) -> Self::Mask;

    /// In each lane the lowest `counts` bits of `self`, and above them those of `above`: all of
    /// `self` where 64 or more are counted.
    #[must_use]
    fn below(self, counts: Self, above: Self) -> Self;

    /// In each lane the lowest `lengths % 8` bytes of `self`, and above them those of `above`.
    #[must_use]
    #[inline(always)]
    fn rest(self, lengths: Self, above: Self) -> Self {
        // Of a length the lowest three bits, eightfold, which is bits.
        let bits = lengths.shift_left(u64::BITS - WORD_LEN.ilog2()).shift_right(u64::BITS - 6);
        self.below(bits, above)
    }

    /// `mask ? yes : no`, lane by lane.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// Words `index` and `index + 1` of the inputs `first .. first + LANES`: lane `i` of the
    /// results is of input `first + i`.
    ///
    /// # Panics
    /// Panics if not all inputs have these words, or the lanes are not all lanes of `source`.
    fn load_pair<S: Source>(source: &S, first: usize, index: usize) -> [Self; 2];

    /// Word `index` of the inputs `first .. first + LANES`.
    ///
    /// # Panics
    /// Panics if not all inputs have it, or the lanes are not all lanes of `source`.
    fn load_word<S: Source>(source: &S, first: usize, index: usize) -> Self;

    /// The rests of the inputs `first .. first + LANES` as numbers: of each its last `length % 8`
    /// bytes.
    ///
    /// # Panics
    /// Panics if the lanes are not all lanes of `source`.
    fn load_rest<S: Source>(source: &S, first: usize) -> Self;

    /// Words `index` and `index + 1` of the inputs `first .. first + LANES`, whether they have them
    /// or not: with zeros for the bytes beyond their ends.
    ///
    /// # Panics
    /// Panics if the lanes are not all lanes of `source`.
    fn load_pair_or_zeros<S: Source>(source: &S, first: usize, index: usize) -> [Self; 2];

    /// Puts those of `numbers` that are within a range to the front of `picked`, in their order,
    /// and says how many these are. What it writes beyond them is nothing.
    ///
    /// # Panics
    /// Panics if there is not room for these and [`PICK_ROOM`] more.
    #[inline(always)]
    fn pick(numbers: &[u32], range: RangeInclusive<u32>, picked: &mut [u32]) -> usize {
        let (first, span) = (*range.start(), range.end() - range.start());
        let mut count = 0;
        for &number in numbers {
            // Without a branch, which no CPU could foresee.
            picked[count] = number;
            count += usize::from(number.wrapping_sub(first) <= span);
        }
        count
    }
}

/// Numbers by which [`Word64::pick`] may write too many.
pub const PICK_ROOM: usize = 16;

/// No other crate can make words, which memory safety relies on. This compiles but for the seal:
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

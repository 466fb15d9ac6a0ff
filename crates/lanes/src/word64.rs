//! Words of 64 bits: what [`Word`](crate::Word) is to MD5, for SipHash.

use crate::Words;

/// A word of 64 bits in each of [`LANES`](Word64::LANES) lanes.
///
/// Lane `i` of a result depends on lane `i` of the operands alone. The operations are those from
/// which SipHash rounds are made.
pub trait Word64: Copy {
    /// How many lanes there are.
    const LANES: usize;

    /// The same value in every lane.
    fn splat(value: u64) -> Self;

    /// Takes the first `LANES` values.
    ///
    /// # Panics
    /// When there are fewer.
    fn load(values: &[u64]) -> Self;

    /// Puts the lanes into the first `LANES` places.
    ///
    /// # Panics
    /// When there are fewer.
    fn store(self, values: &mut [u64]);

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

    /// Little-endian words `index` and `index + 1` of the inputs `first .. first + LANES`: lane `i`
    /// of the results is of input `first + i`.
    ///
    /// # Panics
    /// When these are no whole words of `words` or the lanes are not all lanes of it.
    fn load_pair(words: &Words<'_>, first: usize, index: usize) -> [Self; 2];

    /// Little-endian word `index` of the inputs `first .. first + LANES`.
    ///
    /// # Panics
    /// When it is no whole word of `words` or the lanes are not all lanes of it.
    fn load_word(words: &Words<'_>, first: usize, index: usize) -> Self;

    /// The rests of the inputs `first .. first + LANES` as little-endian numbers: of each its last
    /// `length % 8` bytes.
    ///
    /// # Panics
    /// When the lanes are not all lanes of `words`.
    fn load_rest(words: &Words<'_>, first: usize) -> Self;

    /// The lengths of the inputs `first .. first + LANES`, in bytes.
    ///
    /// # Panics
    /// When the lanes are not all lanes of `words`.
    fn load_lengths(words: &Words<'_>, first: usize) -> Self;
}

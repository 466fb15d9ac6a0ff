//! Words of 64 bits: what [`Word`](crate::Word) is to MD5, for SipHash.

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
}

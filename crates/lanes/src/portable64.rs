//! Words of 64 bits that need no instruction set: one lane and an array of lanes.

use crate::Word64;

impl Word64 for u64 {
    const LANES: usize = 1;

    #[inline(always)]
    fn splat(value: u64) -> Self {
        value
    }

    #[inline(always)]
    fn load(values: &[u64]) -> Self {
        values[0]
    }

    #[inline(always)]
    fn store(self, values: &mut [u64]) {
        values[0] = self;
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn rotate_left(self, count: u32) -> Self {
        self.rotate_left(count)
    }

    #[inline(always)]
    fn xor(self, b: Self) -> Self {
        self ^ b
    }

    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        self ^ b ^ c
    }
}

/// Several lanes as plain loops, which the compiler turns into whatever vectors the target has.
impl<const N: usize> Word64 for [u64; N] {
    const LANES: usize = N;

    #[inline(always)]
    fn splat(value: u64) -> Self {
        [value; N]
    }

    #[inline(always)]
    fn load(values: &[u64]) -> Self {
        core::array::from_fn(|lane| values[lane])
    }

    #[inline(always)]
    fn store(self, values: &mut [u64]) {
        values[..N].copy_from_slice(&self);
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        core::array::from_fn(|lane| self[lane].wrapping_add(other[lane]))
    }

    #[inline(always)]
    fn rotate_left(self, count: u32) -> Self {
        self.map(|value| value.rotate_left(count))
    }

    #[inline(always)]
    fn xor(self, b: Self) -> Self {
        core::array::from_fn(|lane| self[lane] ^ b[lane])
    }

    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        core::array::from_fn(|lane| self[lane] ^ b[lane] ^ c[lane])
    }
}

//! Words of 64 bits that need no instruction set: one lane, an array of lanes, and two words as one.

use crate::words::rest_of;
use crate::{Pair, Word64, Words};

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

    #[inline(always)]
    fn shift_left(self, count: u32) -> Self {
        self << count
    }

    #[inline(always)]
    fn load_pair(words: &Words<'_>, first: usize, index: usize) -> [Self; 2] {
        [Self::load_word(words, first, index), Self::load_word(words, first, index + 1)]
    }

    #[inline(always)]
    fn load_word(words: &Words<'_>, first: usize, index: usize) -> Self {
        Self::from_le_bytes(*words.at(first, index))
    }

    #[inline(always)]
    fn load_rest(words: &Words<'_>, first: usize) -> Self {
        rest_of(words.input(first))
    }

    #[inline(always)]
    fn load_lengths(words: &Words<'_>, first: usize) -> Self {
        words.input(first).len() as Self
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

    #[inline(always)]
    fn shift_left(self, count: u32) -> Self {
        self.map(|value| value << count)
    }

    #[inline(always)]
    fn load_pair(words: &Words<'_>, first: usize, index: usize) -> [Self; 2] {
        [Self::load_word(words, first, index), Self::load_word(words, first, index + 1)]
    }

    #[inline(always)]
    fn load_word(words: &Words<'_>, first: usize, index: usize) -> Self {
        core::array::from_fn(|lane| u64::load_word(words, first + lane, index))
    }

    #[inline(always)]
    fn load_rest(words: &Words<'_>, first: usize) -> Self {
        core::array::from_fn(|lane| u64::load_rest(words, first + lane))
    }

    #[inline(always)]
    fn load_lengths(words: &Words<'_>, first: usize) -> Self {
        *words.lengths(first)
    }
}

/// Two words as one, as for 32 bits: independent chains of dependent instructions.
impl<A: Word64, B: Word64> Word64 for Pair<A, B> {
    const LANES: usize = A::LANES + B::LANES;

    #[inline(always)]
    fn splat(value: u64) -> Self {
        Self(A::splat(value), B::splat(value))
    }

    #[inline(always)]
    fn load(values: &[u64]) -> Self {
        Self(A::load(values), B::load(&values[A::LANES..]))
    }

    #[inline(always)]
    fn store(self, values: &mut [u64]) {
        self.0.store(values);
        self.1.store(&mut values[A::LANES..]);
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0.add(other.0), self.1.add(other.1))
    }

    #[inline(always)]
    fn rotate_left(self, count: u32) -> Self {
        Self(self.0.rotate_left(count), self.1.rotate_left(count))
    }

    #[inline(always)]
    fn xor(self, b: Self) -> Self {
        Self(self.0.xor(b.0), self.1.xor(b.1))
    }

    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        Self(self.0.xor3(b.0, c.0), self.1.xor3(b.1, c.1))
    }

    #[inline(always)]
    fn shift_left(self, count: u32) -> Self {
        Self(self.0.shift_left(count), self.1.shift_left(count))
    }

    #[inline(always)]
    fn load_pair(words: &Words<'_>, first: usize, index: usize) -> [Self; 2] {
        let [a, b] = A::load_pair(words, first, index);
        let [c, d] = B::load_pair(words, first + A::LANES, index);
        [Self(a, c), Self(b, d)]
    }

    #[inline(always)]
    fn load_word(words: &Words<'_>, first: usize, index: usize) -> Self {
        Self(A::load_word(words, first, index), B::load_word(words, first + A::LANES, index))
    }

    #[inline(always)]
    fn load_rest(words: &Words<'_>, first: usize) -> Self {
        Self(A::load_rest(words, first), B::load_rest(words, first + A::LANES))
    }

    #[inline(always)]
    fn load_lengths(words: &Words<'_>, first: usize) -> Self {
        Self(A::load_lengths(words, first), B::load_lengths(words, first + A::LANES))
    }
}

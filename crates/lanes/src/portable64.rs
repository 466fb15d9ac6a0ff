//! Words of 64 bits in plain Rust: one lane, an array of lanes, and two words as one.

use core::ops::RangeInclusive;

use crate::word::sealed::Sealed;
use crate::words::{rest_of, rest_of_any, word_or_zeros};
use crate::{Pair, Source, Word64};

impl Sealed for u64 {}

impl Word64 for u64 {
    const LANES: usize = 1;
    type Mask = bool;

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

    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    #[inline(always)]
    fn in_order(self) -> Self {
        let mut value = self;
        // SAFETY: no instruction, so nothing that could be violated. Not `pure`, so that it keeps
        // its place.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) value, options(nomem, nostack, preserves_flags));
        }
        value
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
    fn choose(self, yes: Self, no: Self) -> Self {
        no ^ self & (yes ^ no)
    }

    #[inline(always)]
    fn majority(self, b: Self, c: Self) -> Self {
        b ^ (self ^ b) & (b ^ c)
    }

    #[inline(always)]
    fn swap_bytes(self) -> Self {
        self.swap_bytes()
    }

    #[inline(always)]
    fn shift_left(self, count: u32) -> Self {
        self << count
    }

    #[inline(always)]
    fn shift_right(self, count: u32) -> Self {
        self >> count
    }

    #[inline(always)]
    fn more_than(self, other: Self) -> bool {
        self > other
    }

    #[inline(always)]
    fn below(self, count: Self, above: Self) -> Self {
        let mask = if count < 64 { u64::MAX << count } else { 0 };
        self & !mask | above & mask
    }

    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }

    #[inline(always)]
    fn load_pair<S: Source>(source: &S, first: usize, index: usize) -> [Self; 2] {
        [Self::load_word(source, first, index), Self::load_word(source, first, index + 1)]
    }

    #[inline(always)]
    fn load_word<S: Source>(source: &S, first: usize, index: usize) -> Self {
        Self::from_le_bytes(*source.at(first, index))
    }

    #[inline(always)]
    fn load_rest<S: Source>(source: &S, first: usize) -> Self {
        rest_of(source.input(first))
    }

    #[inline(always)]
    fn load_pair_or_zeros<S: Source>(source: &S, first: usize, index: usize) -> [Self; 2] {
        let input = source.input(first);
        [word_or_zeros(input, index), word_or_zeros(input, index + 1)]
    }
}

/// Returns the value of each lane. `array::from_fn` stays a call where a crate is compiled in
/// parts.
#[inline(always)]
fn each<T: Copy + Default, const N: usize>(value: impl Fn(usize) -> T) -> [T; N] {
    let mut all = [T::default(); N];
    for lane in 0..N {
        all[lane] = value(lane);
    }
    all
}

impl<const N: usize> Sealed for [u64; N] {}

/// Several lanes as plain loops, which the compiler vectorises for the target.
impl<const N: usize> Word64 for [u64; N] {
    const LANES: usize = N;
    type Mask = [bool; N];

    #[inline(always)]
    fn splat(value: u64) -> Self {
        [value; N]
    }

    #[inline(always)]
    fn load(values: &[u64]) -> Self {
        each(|lane| values[lane])
    }

    #[inline(always)]
    fn store(self, values: &mut [u64]) {
        values[..N].copy_from_slice(&self);
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        each(|lane| self[lane].wrapping_add(other[lane]))
    }

    #[inline(always)]
    fn rotate_left(self, count: u32) -> Self {
        each(|lane| self[lane].rotate_left(count))
    }

    #[inline(always)]
    fn xor(self, b: Self) -> Self {
        each(|lane| self[lane] ^ b[lane])
    }

    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        each(|lane| self[lane] ^ b[lane] ^ c[lane])
    }

    #[inline(always)]
    fn choose(self, yes: Self, no: Self) -> Self {
        each(|lane| self[lane].choose(yes[lane], no[lane]))
    }

    #[inline(always)]
    fn majority(self, b: Self, c: Self) -> Self {
        each(|lane| self[lane].majority(b[lane], c[lane]))
    }

    #[inline(always)]
    fn swap_bytes(self) -> Self {
        each(|lane| self[lane].swap_bytes())
    }

    #[inline(always)]
    fn shift_left(self, count: u32) -> Self {
        each(|lane| self[lane] << count)
    }

    #[inline(always)]
    fn shift_right(self, count: u32) -> Self {
        each(|lane| self[lane] >> count)
    }

    #[inline(always)]
    fn more_than(self, other: Self) -> [bool; N] {
        each(|lane| self[lane] > other[lane])
    }

    #[inline(always)]
    fn below(self, counts: Self, above: Self) -> Self {
        each(|lane| self[lane].below(counts[lane], above[lane]))
    }

    #[inline(always)]
    fn select(mask: [bool; N], yes: Self, no: Self) -> Self {
        each(|lane| if mask[lane] { yes[lane] } else { no[lane] })
    }

    #[inline(always)]
    fn load_pair<S: Source>(source: &S, first: usize, index: usize) -> [Self; 2] {
        [Self::load_word(source, first, index), Self::load_word(source, first, index + 1)]
    }

    #[inline(always)]
    fn load_word<S: Source>(source: &S, first: usize, index: usize) -> Self {
        each(|lane| u64::load_word(source, first + lane, index))
    }

    #[inline(always)]
    fn load_rest<S: Source>(source: &S, first: usize) -> Self {
        each(|lane| rest_of_any(source.input(first + lane)))
    }

    #[inline(always)]
    fn load_pair_or_zeros<S: Source>(source: &S, first: usize, index: usize) -> [Self; 2] {
        [
            each(|lane| word_or_zeros(source.input(first + lane), index)),
            each(|lane| word_or_zeros(source.input(first + lane), index + 1)),
        ]
    }
}

/// The methods of a [`Pair`] that call the same method of both words: loads and stores, methods
/// with further words, and methods with a count.
macro_rules! pairwise {
    ($lane:ty; $($of_words:ident($($word:ident),*))*; $($by_count:ident)*) => {
        const LANES: usize = A::LANES + B::LANES;

        #[inline(always)]
        fn splat(value: $lane) -> Self {
            Self(A::splat(value), B::splat(value))
        }

        #[inline(always)]
        fn load(values: &[$lane]) -> Self {
            Self(A::load(values), B::load(&values[A::LANES..]))
        }

        #[inline(always)]
        fn store(self, values: &mut [$lane]) {
            self.0.store(values);
            self.1.store(&mut values[A::LANES..]);
        }

        $(#[inline(always)]
        fn $of_words(self, $($word: Self),*) -> Self {
            Self(self.0.$of_words($($word.0),*), self.1.$of_words($($word.1),*))
        })*

        $(#[inline(always)]
        fn $by_count(self, count: u32) -> Self {
            Self(self.0.$by_count(count), self.1.$by_count(count))
        })*
    };
}

/// Two words as one, as for 32 bits: two independent chains of instructions.
impl<A: Word64, B: Word64> Word64 for Pair<A, B> {
    pairwise! { u64; add(other) xor(b) xor3(b, c) choose(yes, no) majority(b, c) swap_bytes() below(counts, above) rest(lengths, above); rotate_left shift_left shift_right }

    type Mask = (A::Mask, B::Mask);

    #[inline(always)]
    fn call<R>(function: impl FnOnce() -> R) -> R {
        A::call(function)
    }

    #[inline(always)]
    fn in_order(self) -> Self {
        Self(self.0.in_order(), self.1.in_order())
    }

    #[inline(always)]
    fn more_than(self, other: Self) -> Self::Mask {
        (self.0.more_than(other.0), self.1.more_than(other.1))
    }

    #[inline(always)]
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        Self(A::select(mask.0, yes.0, no.0), B::select(mask.1, yes.1, no.1))
    }

    #[inline(always)]
    fn load_pair<S: Source>(source: &S, first: usize, index: usize) -> [Self; 2] {
        let [a, b] = A::load_pair(source, first, index);
        let [c, d] = B::load_pair(source, first + A::LANES, index);
        [Self(a, c), Self(b, d)]
    }

    #[inline(always)]
    fn load_word<S: Source>(source: &S, first: usize, index: usize) -> Self {
        Self(A::load_word(source, first, index), B::load_word(source, first + A::LANES, index))
    }

    #[inline(always)]
    fn load_rest<S: Source>(source: &S, first: usize) -> Self {
        Self(A::load_rest(source, first), B::load_rest(source, first + A::LANES))
    }

    #[inline(always)]
    fn load_pair_or_zeros<S: Source>(source: &S, first: usize, index: usize) -> [Self; 2] {
        let [a, b] = A::load_pair_or_zeros(source, first, index);
        let [c, d] = B::load_pair_or_zeros(source, first + A::LANES, index);
        [Self(a, c), Self(b, d)]
    }

    #[inline(always)]
    fn rest_of_any(input: &[u8]) -> u64 {
        A::rest_of_any(input)
    }

    #[inline(always)]
    fn pick(numbers: &[u32], range: RangeInclusive<u32>, picked: &mut [u32]) -> usize {
        A::pick(numbers, range, picked)
    }
}

//! The four incarnations of the Haskell document: rolled or unrolled, words decoded or read where
//! they lie.
//!
//! `getNthWord32` was written there with Data.Binary, which decodes, and with `unsafePerformIO` and
//! a pointer. This crate has no `unsafe`; what stands for the pointer is a view of the block as
//! sixteen little-endian words, which zerocopy makes without copying and the compiler checks.

use zerocopy::FromBytes as _;
use zerocopy::little_endian::U32;

use super::steps::{SHIFTS, SINES, State, WORDS, f, g, h, i, sum};
use crate::hashers::frame::Block;

/// A block as its sixteen words.
trait Words {
    fn word(&self, index: usize) -> u32;
}

/// Each word decoded when it is asked for.
struct Decoded<'block>(&'block Block);

impl Words for Decoded<'_> {
    #[inline(always)]
    fn word(&self, index: usize) -> u32 {
        let bytes = self.0.as_chunks().0;
        u32::from_le_bytes(bytes[index])
    }
}

/// Each word read from where it lies.
struct InPlace<'block>(&'block [U32; 16]);

impl<'block> InPlace<'block> {
    #[inline(always)]
    fn new(block: &'block Block) -> Self {
        Self(<[U32; 16]>::ref_from_bytes(block).expect("a block is sixteen words"))
    }
}

impl Words for InPlace<'_> {
    #[inline(always)]
    fn word(&self, index: usize) -> u32 {
        self.0[index].get()
    }
}

pub fn rolled_decoded(state: State, block: &Block) -> State {
    rolled(state, &Decoded(block))
}

pub fn rolled_in_place(state: State, block: &Block) -> State {
    rolled(state, &InPlace::new(block))
}

pub fn unrolled_decoded(state: State, block: &Block) -> State {
    unrolled(state, &Decoded(block))
}

pub fn unrolled_in_place(state: State, block: &Block) -> State {
    unrolled(state, &InPlace::new(block))
}

/// The `foldl'` version: one fold over the numbers of the steps.
#[inline(always)]
fn rolled(state: State, words: &impl Words) -> State {
    let step = |[a, b, c, d]: State, step: usize| {
        let (round, place) = (step / 16, step % 16);
        let function = match round {
            0 => f(b, c, d),
            1 => g(b, c, d),
            2 => h(b, c, d),
            _ => i(b, c, d),
        };
        let sum = a
            .wrapping_add(function)
            .wrapping_add(words.word(WORDS[round][place]))
            .wrapping_add(SINES[round][place]);
        [d, sum.rotate_left(SHIFTS[round][place % 4]).wrapping_add(b), b, c]
    };
    sum(state, (0..64).fold(state, step))
}

/// The unrolled version: 64 steps one after the other, every number in its place.
#[inline(always)]
fn unrolled(state: State, words: &impl Words) -> State {
    let [mut a, mut b, mut c, mut d] = state;
    macro_rules! step {
        ($function:ident $a:ident $b:ident $c:ident $d:ident $round:literal $place:literal) => {
            $a = $a
                .wrapping_add($function($b, $c, $d))
                .wrapping_add(words.word(const { WORDS[$round][$place] }))
                .wrapping_add(const { SINES[$round][$place] })
                .rotate_left(const { SHIFTS[$round][$place % 4] })
                .wrapping_add($b);
        };
    }
    macro_rules! round {
        ($function:ident $round:literal: $($p:literal $q:literal $r:literal $s:literal),*) => {$(
            step!($function a b c d $round $p);
            step!($function d a b c $round $q);
            step!($function c d a b $round $r);
            step!($function b c d a $round $s);
        )*};
    }
    round!(f 0: 0 1 2 3, 4 5 6 7, 8 9 10 11, 12 13 14 15);
    round!(g 1: 0 1 2 3, 4 5 6 7, 8 9 10 11, 12 13 14 15);
    round!(h 2: 0 1 2 3, 4 5 6 7, 8 9 10 11, 12 13 14 15);
    round!(i 3: 0 1 2 3, 4 5 6 7, 8 9 10 11, 12 13 14 15);
    sum(state, [a, b, c, d])
}

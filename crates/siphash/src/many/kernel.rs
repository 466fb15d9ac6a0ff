//! The kernel: inputs of as many whole words each, from the first of them to the hash.

use lanesum_lanes::{Kernel64, Word64, Words};

use super::Output;
use crate::round::State;
use crate::words::EIGHT_BYTES;

/// Hashes the inputs of all lanes of a width.
pub(crate) struct Hash<'a, H, const C: usize, const D: usize> {
    pub(crate) start: State<u64>,
    pub(crate) words: Words<'a>,
    /// Takes the hash of each lane.
    pub(crate) hashes: &'a mut [H],
}

impl<H: Output, const C: usize, const D: usize> Kernel64 for Hash<'_, H, C, D> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word64>(self) {
        let words = &self.words;
        let mut state = State::<W>::splat(self.start);
        let count = words.count();
        for index in (0..count / 2).map(|pair| 2 * pair) {
            let [first, second] = W::load_pair(words, 0, index);
            state = state.absorb::<C>(first).absorb::<C>(second);
        }
        if count % 2 == 1 {
            state = state.absorb::<C>(W::load_word(words, 0, count - 1));
        }
        let last = W::load_rest(words, 0).xor(W::load_lengths(words, 0).shift_left(56));
        H::finish::<W, D>(state.absorb::<C>(last), self.hashes);
    }
}

/// Hashes a column of numbers, as many of them as fill the lanes.
pub(crate) struct HashNumbers<'a, H, const C: usize, const D: usize> {
    pub(crate) start: State<u64>,
    pub(crate) numbers: &'a [u64],
    pub(crate) hashes: &'a mut [H],
}

impl<H: Output, const C: usize, const D: usize> Kernel64 for HashNumbers<'_, H, C, D> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word64>(self) {
        let start = State::<W>::splat(self.start);
        let numbers = self.numbers.chunks_exact(W::LANES);
        let hashes = self.hashes.chunks_exact_mut(W::LANES);
        for (numbers, hashes) in numbers.zip(hashes) {
            let state = start.absorb::<C>(W::load(numbers)).absorb::<C>(W::splat(EIGHT_BYTES));
            H::finish::<W, D>(state, hashes);
        }
    }
}

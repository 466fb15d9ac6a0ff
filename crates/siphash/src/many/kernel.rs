//! The kernel: one input in each lane, from its first word to its hash.

use lanesum_lanes::{Source, WORD_LEN, Word64};

use super::Output;
use crate::round::State;

/// The hashes of the inputs of all lanes, which have the same number of whole words.
#[inline(always)]
pub(super) fn hash_even<S, W, H, const C: usize, const D: usize>(
    start: State<W>,
    source: &S,
    hashes: &mut [H],
) where
    S: Source,
    W: Word64,
    H: Output,
{
    let count = source.least();
    let mut state = absorb_pairs::<S, W, C>(start, source, count);
    if count % 2 == 1 {
        state = state.absorb::<C>(W::load_word(source, 0, count - 1));
    }
    let length = source.lengths::<W>(0).shift_left(LENGTH_SHIFT);
    state = state.absorb::<C>(W::load_rest(source, 0).xor(length));
    H::finish::<W, D>(state, hashes);
}

/// The hashes of the inputs of all lanes, of any lengths.
///
/// Lanes whose input has ended keep their state until the longest has ended; then all are finished.
#[inline(always)]
pub(super) fn hash_ragged<S, W, H, const C: usize, const D: usize>(
    start: State<W>,
    source: &S,
    hashes: &mut [H],
) where
    S: Source,
    W: Word64,
    H: Output,
{
    let together = source.least() / 2 * 2;
    let mut state = absorb_pairs::<S, W, C>(start, source, together);
    let ends = Ends::load(source);
    let last = source.longest() / WORD_LEN;
    let mut index = together;
    while index < last {
        let [first, second] = W::load_pair_or_zeros(source, 0, index);
        state = ends.absorb::<C>(state, first, index);
        state = ends.absorb::<C>(state, second, index + 1);
        index += 2;
    }
    if index == last {
        // Often the longest input has no byte any more, and its last word the length alone.
        let word = if source.longest() > WORD_LEN * index {
            let [word, _] = W::load_pair_or_zeros(source, 0, index);
            word
        } else {
            W::splat(0)
        };
        state = ends.absorb::<C>(state, word, index);
    }
    H::finish::<W, D>(state, hashes);
}

/// Where the inputs of all lanes end.
struct Ends<W> {
    /// The index of the last word.
    lasts: W,
    /// What the last word has in its highest byte.
    lengths: W,
}

impl<W: Word64> Ends<W> {
    #[inline(always)]
    fn load<S: Source>(source: &S) -> Self {
        let lengths = source.lengths::<W>(0);
        Self {
            lasts: lengths.shift_right(WORD_LEN.ilog2()),
            lengths: lengths.shift_left(LENGTH_SHIFT),
        }
    }

    /// Mixes word `index` into the lanes that have it.
    #[inline(always)]
    fn absorb<const C: usize>(&self, state: State<W>, word: W, index: usize) -> State<W> {
        let (this, next) = (W::splat(index as u64), W::splat(index as u64 + 1));
        let word = W::select(self.lasts.at_least(next), word, word.xor(self.lengths));
        State::select(self.lasts.at_least(this), state.absorb::<C>(word), state)
    }
}

/// Mixes in the first words of all lanes, an even number of them.
#[inline(always)]
fn absorb_pairs<S: Source, W: Word64, const C: usize>(
    mut state: State<W>,
    source: &S,
    count: usize,
) -> State<W> {
    for index in (0..count / 2).map(|pair| 2 * pair) {
        let [first, second] = W::load_pair(source, 0, index);
        state = state.absorb::<C>(first).absorb::<C>(second);
    }
    state
}

/// The length of an input is in the highest byte of its last word.
const LENGTH_SHIFT: u32 = 56;

//! The kernel: hashes one input in each lane, from its first word to its hash.

use lanesum_lanes::{ShortLanes, Source, WORD_LEN, Word64};

use super::Rounds;
use crate::round::State;

/// Returns the state after the last words of the inputs of all lanes, which have the same number of
/// whole words.
#[inline(always)]
pub(super) fn absorb_even<S: Source, W: Word64>(
    start: State<W>,
    rounds: Rounds,
    source: &S,
) -> State<W> {
    let state = absorb_whole(start, rounds, source);
    let length = source.lengths::<W>(0).shift_left(LENGTH_SHIFT);
    state.absorb(rounds.each, W::load_rest(source, 0).xor(length))
}

/// Returns the state after the whole words that the inputs of all lanes have.
#[inline(always)]
pub(super) fn absorb_whole<S: Source, W: Word64>(
    start: State<W>,
    rounds: Rounds,
    source: &S,
) -> State<W> {
    let count = source.least();
    let state = absorb_pairs(start, rounds, source, count);
    if count % 2 == 1 {
        return state.absorb(rounds.each, W::load_word(source, 0, count - 1));
    }
    state
}

/// Returns the state after the last words of the inputs of all lanes, of any lengths.
///
/// Lanes whose input has ended keep their state until the longest input has ended.
#[inline(always)]
pub(super) fn absorb_ragged<S: Source, W: Word64>(
    start: State<W>,
    rounds: Rounds,
    source: &S,
) -> State<W> {
    let together = source.least() / 2 * 2;
    let mut state = absorb_pairs(start, rounds, source, together);
    let ends = Ends::load(source);
    let last = source.longest() / WORD_LEN;
    let mut index = together;
    while index < last {
        let [first, second] = W::load_pair_or_zeros(source, 0, index);
        state = ends.absorb(state, rounds, ends.with_length(first, index), index);
        state = ends.absorb(state, rounds, ends.with_length(second, index + 1), index + 1);
        index += 2;
    }
    if index == last {
        // The last word of the longest input often has only the length and no bytes.
        let word = if source.longest() > WORD_LEN * index {
            let [word, _] = W::load_pair_or_zeros(source, 0, index);
            word
        } else {
            W::splat(0)
        };
        state = ends.absorb(state, rounds, ends.with_length(word, index), index);
    }
    state
}

/// Returns the state after the last words of short pieces whose following words may be read. Their
/// first two words are already loaded.
#[inline(always)]
pub(super) fn absorb_short<W: Word64>(
    start: State<W>,
    rounds: Rounds,
    source: &ShortLanes<'_>,
    words: [W; 2],
) -> State<W> {
    let (least, last) = (source.least(), source.longest() / WORD_LEN);
    let ends = Ends::load(source);
    let [mut first, mut second] = words;
    let mut state = start;
    let mut index = 0;
    while index + 1 < least {
        state = state.absorb(rounds.each, first).absorb(rounds.each, second);
        index += 2;
        [first, second] = W::load_pair(source, 0, index);
    }
    if least == last {
        if index < least {
            state = state.absorb(rounds.each, first);
            first = second;
        }
        return state.absorb(rounds.each, ends.last(first));
    }
    loop {
        state = ends.absorb(state, rounds, ends.cut(first, index), index);
        if index == last {
            return state;
        }
        state = ends.absorb(state, rounds, ends.cut(second, index + 1), index + 1);
        if index + 1 == last {
            return state;
        }
        index += 2;
        [first, second] = W::load_pair(source, 0, index);
    }
}

/// The ends of the inputs of all lanes.
struct Ends<W> {
    lengths: W,
}

impl<W: Word64> Ends<W> {
    #[inline(always)]
    fn load<S: Source>(source: &S) -> Self {
        Self { lengths: source.lengths(0) }
    }

    /// Returns word `index` without the bytes after the end of an input, and with its length.
    #[inline(always)]
    fn cut(&self, word: W, index: usize) -> W {
        let bits =
            self.lengths.shift_left(3).add(W::splat((WORD_BITS * index as u64).wrapping_neg()));
        word.below(bits, self.lengths.shift_left(LENGTH_SHIFT))
    }

    /// Returns the last word of inputs that all end in it, without the bytes after their ends.
    #[inline(always)]
    fn last(&self, word: W) -> W {
        word.rest(self.lengths, self.lengths.shift_left(LENGTH_SHIFT))
    }

    /// Returns word `index` with the length of an input that ends in it. Zeros must follow the
    /// input.
    #[inline(always)]
    fn with_length(&self, word: W, index: usize) -> W {
        let last = word.xor(self.lengths.shift_left(LENGTH_SHIFT));
        W::select(self.whole_words().more_than(W::splat(index as u64)), word, last)
    }

    /// Mixes word `index` into the lanes that have it.
    #[inline(always)]
    fn absorb(&self, state: State<W>, rounds: Rounds, word: W, index: usize) -> State<W> {
        let next = state.absorb(rounds.each, word);
        State::select(W::splat(index as u64).more_than(self.whole_words()), state, next)
    }

    #[inline(always)]
    fn whole_words(&self) -> W {
        self.lengths.shift_right(WORD_LEN.ilog2())
    }
}

/// Mixes in an even number of first words of all lanes.
#[inline(always)]
fn absorb_pairs<S: Source, W: Word64>(
    mut state: State<W>,
    rounds: Rounds,
    source: &S,
    count: usize,
) -> State<W> {
    let mut index = 0;
    while index + 1 < count {
        let [first, second] = W::load_pair(source, 0, index);
        state = state.absorb(rounds.each, first).absorb(rounds.each, second);
        index += 2;
    }
    state
}

/// Bits in a word.
const WORD_BITS: u64 = u64::BITS as u64;

/// The position of the length of an input, the highest byte of its last word.
pub(super) const LENGTH_SHIFT: u32 = 56;

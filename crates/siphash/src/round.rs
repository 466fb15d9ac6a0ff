//! The round of SipHash, and the three operations made of it: start, absorb a word, finish.
//!
//! The paper (Aumasson and Bernstein, "SipHash: a fast short-input PRF", section 2) has
//!
//! ```text
//! SipRound:  v0 += v1;      v2 += v3;
//!            v1 <<<= 13;    v3 <<<= 16;
//!            v1 ^= v0;      v3 ^= v2;
//!            v0 <<<= 32;
//!            v2 += v1;      v0 += v3;
//!            v1 <<<= 17;    v3 <<<= 21;
//!            v1 ^= v2;      v3 ^= v0;
//!            v2 <<<= 32;
//! a word m:  v3 ^= m;  C rounds;  v0 ^= m
//! the end:   v2 ^= 0xff;  D rounds;  the hash is v0 ^ v1 ^ v2 ^ v3
//! ```
//!
//! The code differs from the paper in four ways.
//!
//! The first two rows of a round change v0 and v1 without v2 and v3, so they do not need the word
//! that was just mixed into v3. The code does this part at the end of the previous round
//! ([`State::left`]). For the first word it is done once per key.
//!
//! In the last round v0 is needed only for the hash. There it cancels against v3, which contains
//! v0. So the last round does not compute v0 ([`State::last_round`]).
//!
//! A single input waits for its own results. From v3 to the v3 of the next round four operations
//! depend on each other, and all fourteen operations fit into the same four cycles. They do so in
//! the order of [`State::rest_of_round`], which starts the awaited operations early and puts
//! rotations between them. Zen 4 takes 5.3 cycles in the order of the paper and 5.0 in the order
//! that compilers choose.
//!
//! `v3 ^= m` makes v3 wait again. So words are absorbed in pairs. The second word is mixed into v3
//! in the last round of the first one, where v3 waits for v0 anyway ([`State::absorb_pair`]).

use lanesum_lanes::{WORD_LEN, Word64};

/// v0 to v3 in all lanes of a word, with [`left`](State::left) of the next round already done.
#[derive(Clone, Copy)]
pub struct State<W>([W; 4]);

/// "somepseudorandomlygeneratedbytes", section 2.2 of the paper.
const INITIAL: [u64; 4] =
    [0x736f_6d65_7073_6575, 0x646f_7261_6e64_6f6d, 0x6c79_6765_6e65_7261, 0x7465_6462_7974_6573];

/// The constants that distinguish 128-bit hashes from 64-bit ones: for v1 at the start, for v2 at
/// the end, and for v1 before the second half of the hash. From the reference implementation.
const WIDE_BEGINNING: u64 = 0xee;
const WIDE_END: u64 = 0xee;
const WIDE_SECOND: u64 = 0xdd;
/// The constant for v2 at the end of a 64-bit hash.
const END: u64 = 0xff;

impl State<u64> {
    /// Returns the state before the first word of an input, for 64-bit hashes.
    pub(crate) const fn new(k0: u64, k1: u64) -> Self {
        Self::of_key(k0, k1, 0)
    }

    /// Returns the state of the same key for 128-bit hashes.
    pub(crate) const fn wide(self) -> Self {
        // No word was absorbed, so v2 and v3 still contain the key.
        let [_, _, v2, v3] = self.0;
        Self::of_key(v2 ^ INITIAL[2], v3 ^ INITIAL[3], WIDE_BEGINNING)
    }

    const fn of_key(k0: u64, k1: u64, width: u64) -> Self {
        let [v0, v1] = [k0 ^ INITIAL[0], k1 ^ INITIAL[1] ^ width];
        // The same as `left`, which is a trait method and not callable in a `const fn`.
        let v0 = v0.wrapping_add(v1);
        let v1 = v1.rotate_left(13) ^ v0;
        Self([v0, v1, k0 ^ INITIAL[2], k1 ^ INITIAL[3]])
    }
}

#[cfg(feature = "many")]
impl<W: Word64> State<W> {
    /// Returns the same state in every lane.
    #[inline(always)]
    pub(crate) fn splat(state: State<u64>) -> Self {
        let [v0, v1, v2, v3] = state.0;
        Self([W::splat(v0), W::splat(v1), W::splat(v2), W::splat(v3)])
    }

    /// Returns `mask ? yes : no` in each lane.
    #[inline(always)]
    pub(crate) fn select(mask: W::Mask, yes: Self, no: Self) -> Self {
        let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (yes.0, no.0);
        let [v0, v1] = [W::select(mask, a0, b0), W::select(mask, a1, b1)];
        Self([v0, v1, W::select(mask, a2, b2), W::select(mask, a3, b3)])
    }
}

impl<W: Word64> State<W> {
    /// Computes the first half of a round on v0 and v1, without the rotation of v0.
    #[inline(always)]
    fn left(self) -> Self {
        let [v0, v1, v2, v3] = self.0;
        let v0 = v0.add(v1).in_order();
        let v1 = v1.rotate_left(13).in_order();
        let v1 = v1.xor(v0).in_order();
        Self([v0, v1, v2, v3])
    }

    /// Computes that rotation, the first half of a round on v2 and v3, and the second half. Then
    /// mixes the next word into v3, if there is one.
    ///
    /// The order of the lines is the order of the instructions; see the top of the file.
    #[inline(always)]
    fn rest_of_round(self, next: Option<W>) -> Self {
        let [v0, v1, v2, v3] = self.0;
        let v0 = v0.rotate_left(32).in_order();
        let v2 = v2.add(v3).in_order();
        let v3 = v3.rotate_left(16).in_order();
        let v3 = v3.xor(v2).in_order();
        let v2 = v2.add(v1).in_order();
        let v1 = v1.rotate_left(17).in_order();
        let v0 = v0.add(v3).in_order();
        let v3 = v3.rotate_left(21).in_order();
        let v1 = v1.xor(v2).in_order();
        let v2 = v2.rotate_left(32).in_order();
        // The word first, because v0 is computed last.
        let v3 = next.map_or(v3, |word| v3.xor(word).in_order());
        Self([v0, v1, v2, v3.xor(v0).in_order()])
    }

    /// Computes a round, from one [`left`](Self::left) to the next.
    #[inline(always)]
    fn round(self) -> Self {
        self.rest_of_round(None).left()
    }

    /// Computes the rest of the last round and the xor of all four words.
    #[inline(always)]
    fn last_round(self) -> W {
        let [_, v1, v2, v3] = self.0;
        let v2 = v2.add(v3);
        let v3 = v3.rotate_left(16).xor(v2);
        let v2 = v2.add(v1);
        // v0 ^ v3, with v3 = (v3 <<< 21) ^ v0; and v1 ^ v2.
        v3.rotate_left(21).xor3(v1.rotate_left(17), v2).xor(v2.rotate_left(32))
    }

    /// Mixes in a word of the input.
    #[inline(always)]
    pub(crate) fn absorb(self, rounds: usize, word: W) -> Self {
        self.begin(word).absorb_begun(rounds, word, None)
    }

    /// Starts to mix in a word, into v3.
    #[inline(always)]
    fn begin(self, word: W) -> Self {
        let [v0, v1, v2, v3] = self.0;
        Self([v0, v1, v2, v3.xor(word)])
    }

    /// Mixes in a word that is already in v3, and starts with the next word.
    #[inline(always)]
    fn absorb_begun(self, rounds: usize, word: W, next: Option<W>) -> Self {
        W::in_own_frame(
            #[inline(always)]
            || {
                let mut state = self;
                for _ in 1..rounds {
                    state = state.round();
                }
                state = state.rest_of_round(next);
                state.0[0] = state.0[0].xor(word);
                state.left()
            },
        )
    }

    /// Returns the 64-bit hash after the last word.
    #[inline(always)]
    pub(crate) fn finish(self, rounds: usize) -> W {
        W::in_own_frame(
            #[inline(always)]
            || {
                let mut state = self;
                state.0[2] = state.0[2].xor(W::splat(END));
                for _ in 1..rounds {
                    state = state.round();
                }
                state.last_round()
            },
        )
    }

    /// Returns the 128-bit hash, low word first, of a state that started as [`wide`](State::wide).
    #[inline(always)]
    pub(crate) fn finish_wide(self, rounds: usize) -> [W; 2] {
        W::in_own_frame(
            #[inline(always)]
            || {
                let mut state = self;
                state.0[2] = state.0[2].xor(W::splat(WIDE_END));
                for _ in 1..rounds {
                    state = state.round();
                }
                let Self([v0, v1, v2, v3]) = state.rest_of_round(None);
                let low = v0.xor3(v1, v2).xor(v3);
                state = Self([v0, v1.xor(W::splat(WIDE_SECOND)), v2, v3]).left();
                for _ in 1..rounds {
                    state = state.round();
                }
                [low, state.last_round()]
            },
        )
    }
}

impl State<u64> {
    /// Mixes in whole words of an input.
    #[inline(always)]
    pub(crate) fn absorb_words(self, rounds: usize, words: &[[u8; WORD_LEN]]) -> Self {
        let (state, odd) = self.absorb_pairs(rounds, words);
        match odd {
            Some(word) => state.absorb(rounds, word),
            None => state,
        }
    }

    /// Mixes in all words of an input. Short inputs have separate code without a loop.
    #[inline(always)]
    pub(crate) fn absorb_all(self, rounds: usize, words: &[[u8; WORD_LEN]], last: u64) -> Self {
        let Some((&first, others)) = words.split_first() else {
            return self.absorb(rounds, last);
        };
        let first = u64::from_le_bytes(first);
        if others.is_empty() {
            return self.absorb_pair(rounds, first, last);
        }
        let (state, odd) = self.absorb(rounds, first).absorb_pairs(rounds, others);
        match odd {
            Some(word) => state.absorb_pair(rounds, word, last),
            None => state.absorb(rounds, last),
        }
    }

    /// Mixes in words in pairs. Also returns the word that is left, if any.
    ///
    /// Does not use `as_chunks`, which computes values that inputs of 16 bytes never need. Does not
    /// use `fold`, which some callers compile to a call with the state in memory.
    #[inline(always)]
    fn absorb_pairs(self, rounds: usize, words: &[[u8; WORD_LEN]]) -> (Self, Option<u64>) {
        let (mut state, mut words) = (self, words);
        while let Some((&[a, b], rest)) = words.split_first_chunk() {
            state = state.absorb_pair(rounds, u64::from_le_bytes(a), u64::from_le_bytes(b));
            words = rest;
        }
        (state, words.first().copied().map(u64::from_le_bytes))
    }

    /// Mixes in two words, the second one into v3 before the first one is finished.
    #[inline(always)]
    fn absorb_pair(self, rounds: usize, a: u64, b: u64) -> Self {
        self.begin(a).absorb_begun(rounds, a, Some(b)).absorb_begun(rounds, b, None)
    }
}

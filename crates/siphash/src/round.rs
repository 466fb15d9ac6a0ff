//! The round, and the three things that are made of it: beginning, absorbing a word, finishing.
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
//! Four things differ from the text.
//!
//! What the first two rows of a round do to v0 and v1 needs neither v2 nor v3, and so not the word
//! that has just been mixed into v3. Here it is done at the end of the round before
//! ([`State::left`]). For the first word that is when the key becomes known, once for all inputs.
//!
//! In the last round v0 is needed for the hash alone, where it meets v3, which has v0 in it as
//! well: they cancel. So v0 is not computed any more ([`State::last_round`]).
//!
//! One input alone waits for its own results: from v3 to the v3 of the next round four operations
//! follow one another, and all fourteen can be done in the same four cycles. They are if they come
//! in the order of [`State::rest_of_round`], what is waited for early and rotations between; in the
//! order of the text a Zen 4 takes 5.3 cycles, in that of compilers 5.0.
//!
//! `v3 ^= m` makes v3 wait again. So words are taken two at a time, and the second is mixed into v3
//! in the last round of the first, where v3 waits for v0 anyway ([`State::absorb_pair`]).

use lanesum_lanes::{WORD_LEN, Word64};

/// v0 to v3, in as many lanes as a word has, with [`left`](State::left) of the next round done.
#[derive(Clone, Copy)]
pub struct State<W>([W; 4]);

/// "somepseudorandomlygeneratedbytes", section 2.2 of the paper.
const INITIAL: [u64; 4] =
    [0x736f_6d65_7073_6575, 0x646f_7261_6e64_6f6d, 0x6c79_6765_6e65_7261, 0x7465_6462_7974_6573];

/// What tells hashes of 128 bits from those of 64: into v1 at the beginning, into v2 at the end,
/// into v1 before the second half of the hash. From the reference implementation.
const WIDE_BEGINNING: u64 = 0xee;
const WIDE_END: u64 = 0xee;
const WIDE_SECOND: u64 = 0xdd;
/// Into v2 at the end of a hash of 64 bits.
const END: u64 = 0xff;

impl State<u64> {
    /// The state before the first word of an input, for hashes of 64 bits.
    pub(crate) const fn new(k0: u64, k1: u64) -> Self {
        Self::of_key(k0, k1, 0)
    }

    /// The same key's state for hashes of 128 bits.
    pub(crate) const fn wide(self) -> Self {
        // No word has been absorbed: v2 and v3 still show the key.
        let [_, _, v2, v3] = self.0;
        Self::of_key(v2 ^ INITIAL[2], v3 ^ INITIAL[3], WIDE_BEGINNING)
    }

    const fn of_key(k0: u64, k1: u64, width: u64) -> Self {
        let [v0, v1] = [k0 ^ INITIAL[0], k1 ^ INITIAL[1] ^ width];
        // `left`, which as a method of a trait cannot be called here.
        let v0 = v0.wrapping_add(v1);
        let v1 = v1.rotate_left(13) ^ v0;
        Self([v0, v1, k0 ^ INITIAL[2], k1 ^ INITIAL[3]])
    }
}

impl<W: Word64> State<W> {
    /// The same state in every lane.
    #[inline(always)]
    pub(crate) fn splat(state: State<u64>) -> Self {
        let [v0, v1, v2, v3] = state.0;
        Self([W::splat(v0), W::splat(v1), W::splat(v2), W::splat(v3)])
    }

    /// `mask ? yes : no`, lane by lane.
    #[inline(always)]
    pub(crate) fn select(mask: W::Mask, yes: Self, no: Self) -> Self {
        let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (yes.0, no.0);
        let [v0, v1] = [W::select(mask, a0, b0), W::select(mask, a1, b1)];
        Self([v0, v1, W::select(mask, a2, b2), W::select(mask, a3, b3)])
    }

    /// The first half of a round on v0 and v1, but for the rotation of v0.
    #[inline(always)]
    fn left(self) -> Self {
        let [v0, v1, v2, v3] = self.0;
        let v0 = v0.add(v1).in_order();
        let v1 = v1.rotate_left(13).in_order();
        let v1 = v1.xor(v0).in_order();
        Self([v0, v1, v2, v3])
    }

    /// That rotation, the first half of a round on v2 and v3, and its second half; then the next
    /// word is mixed into v3, if there is one.
    ///
    /// The order of the lines is that of the instructions: see the top of the file.
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
        // The word first: v0 comes last.
        let v3 = next.map_or(v3, |word| v3.xor(word).in_order());
        Self([v0, v1, v2, v3.xor(v0).in_order()])
    }

    /// A round, from where [`left`](Self::left) has been done to where it has been done again.
    #[inline(always)]
    fn round(self) -> Self {
        self.rest_of_round(None).left()
    }

    /// The rest of the last round, with the xor of all four words.
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
    pub(crate) fn absorb<const C: usize>(self, word: W) -> Self {
        self.begin(word).absorb_begun::<C>(word, None)
    }

    /// The first of what mixes in a word: into v3.
    #[inline(always)]
    fn begin(self, word: W) -> Self {
        let [v0, v1, v2, v3] = self.0;
        Self([v0, v1, v2, v3.xor(word)])
    }

    /// All but the first, and the first with the next word.
    #[inline(always)]
    fn absorb_begun<const C: usize>(self, word: W, next: Option<W>) -> Self {
        const { assert!(C > 0, "SipHash needs a round for each word") };
        W::in_own_frame(
            #[inline(always)]
            || {
                let mut state = self;
                for _ in 1..C {
                    state = state.round();
                }
                state = state.rest_of_round(next);
                state.0[0] = state.0[0].xor(word);
                state.left()
            },
        )
    }

    /// The hash of 64 bits, after the last word.
    #[inline(always)]
    pub(crate) fn finish<const D: usize>(self) -> W {
        const { assert!(D > 0, "SipHash needs a round in the end") };
        W::in_own_frame(
            #[inline(always)]
            || {
                let mut state = self;
                state.0[2] = state.0[2].xor(W::splat(END));
                for _ in 1..D {
                    state = state.round();
                }
                state.last_round()
            },
        )
    }

    /// The hash of 128 bits, low word first, of a state that began [`wide`](State::wide).
    #[inline(always)]
    pub(crate) fn finish_wide<const D: usize>(self) -> [W; 2] {
        const { assert!(D > 0, "SipHash needs a round in the end") };
        W::in_own_frame(
            #[inline(always)]
            || {
                let mut state = self;
                state.0[2] = state.0[2].xor(W::splat(WIDE_END));
                for _ in 1..D {
                    state = state.round();
                }
                let Self([v0, v1, v2, v3]) = state.rest_of_round(None);
                let low = v0.xor3(v1, v2).xor(v3);
                state = Self([v0, v1.xor(W::splat(WIDE_SECOND)), v2, v3]).left();
                for _ in 1..D {
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
    pub(crate) fn absorb_words<const C: usize>(self, words: &[[u8; WORD_LEN]]) -> Self {
        let (state, odd) = self.absorb_pairs::<C>(words);
        odd.map_or(state, |word| state.absorb::<C>(word))
    }

    /// Mixes in all words of an input. Short ones have ways of their own, without a loop.
    #[inline(always)]
    pub(crate) fn absorb_all<const C: usize>(self, words: &[[u8; WORD_LEN]], last: u64) -> Self {
        let Some((&first, others)) = words.split_first() else {
            return self.absorb::<C>(last);
        };
        let first = u64::from_le_bytes(first);
        if others.is_empty() {
            return self.absorb_pair::<C>(first, last);
        }
        let (state, odd) = self.absorb::<C>(first).absorb_pairs::<C>(others);
        match odd {
            Some(word) => state.absorb_pair::<C>(word, last),
            None => state.absorb::<C>(last),
        }
    }

    /// Mixes in words as long as there are two. Gives the one that is left, too.
    ///
    /// With neither `as_chunks`, which computes ahead what 16 bytes never need, nor `fold`, which
    /// is a call for some callers, with the state in memory.
    #[inline(always)]
    fn absorb_pairs<const C: usize>(self, words: &[[u8; WORD_LEN]]) -> (Self, Option<u64>) {
        let (mut state, mut words) = (self, words);
        while let Some((&[a, b], rest)) = words.split_first_chunk() {
            state = state.absorb_pair::<C>(u64::from_le_bytes(a), u64::from_le_bytes(b));
            words = rest;
        }
        (state, words.first().copied().map(u64::from_le_bytes))
    }

    /// Mixes in two words, the second into v3 before the first is done.
    #[inline(always)]
    fn absorb_pair<const C: usize>(self, a: u64, b: u64) -> Self {
        self.begin(a).absorb_begun::<C>(a, Some(b)).absorb_begun::<C>(b, None)
    }
}

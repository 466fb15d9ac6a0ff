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
//! Two things differ from the text.
//!
//! What the first two rows of a round do to v0 and v1 needs neither v2 nor v3, and so not the word
//! that has just been mixed into v3. Here it is done at the end of the round before ([`State::left`]).
//! For the first word that is when the key becomes known, once for all inputs.
//!
//! In the last round v0 is needed for the hash alone, where it meets v3, which has v0 in it as
//! well: they cancel. So v0 is not computed any more ([`State::last_round`]).

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
        Self([v0.rotate_left(32), v1, k0 ^ INITIAL[2], k1 ^ INITIAL[3]])
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

    /// The first half of a round on v0 and v1.
    #[inline(always)]
    fn left(self) -> Self {
        let [v0, v1, v2, v3] = self.0;
        let v0 = v0.add(v1);
        Self([v0.rotate_left(32), v1.rotate_left(13).xor(v0), v2, v3])
    }

    /// The first half of a round on v2 and v3, and its second half.
    #[inline(always)]
    fn rest_of_round(self) -> Self {
        let [v0, v1, v2, v3] = self.0;
        let v2 = v2.add(v3);
        let v3 = v3.rotate_left(16).xor(v2);
        let v0 = v0.add(v3);
        let v2 = v2.add(v1);
        Self([v0, v1.rotate_left(17).xor(v2), v2.rotate_left(32), v3.rotate_left(21).xor(v0)])
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
        const { assert!(C > 0, "SipHash needs a round for each word") };
        let mut state = self;
        state.0[3] = state.0[3].xor(word);
        for _ in 1..C {
            state = state.rest_of_round().left();
        }
        state = state.rest_of_round();
        state.0[0] = state.0[0].xor(word);
        state.left()
    }

    /// The hash of 64 bits, after the last word.
    #[inline(always)]
    pub(crate) fn finish<const D: usize>(self) -> W {
        const { assert!(D > 0, "SipHash needs a round in the end") };
        let mut state = self;
        state.0[2] = state.0[2].xor(W::splat(END));
        for _ in 1..D {
            state = state.rest_of_round().left();
        }
        state.last_round()
    }

    /// The hash of 128 bits, low word first, of a state that began [`wide`](State::wide).
    #[inline(always)]
    pub(crate) fn finish_wide<const D: usize>(self) -> [W; 2] {
        const { assert!(D > 0, "SipHash needs a round in the end") };
        let mut state = self;
        state.0[2] = state.0[2].xor(W::splat(WIDE_END));
        for _ in 1..D {
            state = state.rest_of_round().left();
        }
        let Self([v0, v1, v2, v3]) = state.rest_of_round();
        let low = v0.xor3(v1, v2).xor(v3);
        state = Self([v0, v1.xor(W::splat(WIDE_SECOND)), v2, v3]).left();
        for _ in 1..D {
            state = state.rest_of_round().left();
        }
        [low, state.last_round()]
    }
}

impl State<u64> {
    /// Mixes in whole words of an input.
    #[inline(always)]
    pub(crate) fn absorb_words<const C: usize>(self, words: &[[u8; WORD_LEN]]) -> Self {
        words.iter().fold(self, |state, &word| state.absorb::<C>(u64::from_le_bytes(word)))
    }

    /// Mixes in all words of an input, where what counts is how long each takes until the next one
    /// may follow.
    ///
    /// `v3 ^= m` is the first thing that is done with a word, and so one more operation between v3 of
    /// the round before and v2 of the next. Where a word has more than one round, m is mixed here
    /// into a part of v3 that is known earlier: v3 after its second rotation is the xor of v0,
    /// which comes last, with rotations of two things that are there before.
    #[inline(always)]
    pub(crate) fn absorb_all<const C: usize>(self, words: &[[u8; WORD_LEN]], last: u64) -> Self {
        let Some((&first, others)) = words.split_first().filter(|_| C > 1) else {
            return self.absorb_words::<C>(words).absorb::<C>(last);
        };
        let mut word = u64::from_le_bytes(first);
        let mut state = self;
        state.0[3] ^= word;
        for &next in others {
            let next = u64::from_le_bytes(next);
            state = state.to_next::<C>(word, next);
            word = next;
        }
        state = state.to_next::<C>(word, last);
        state.0[3] ^= last;
        state.absorb::<C>(last)
    }

    /// From where `word` has been mixed into v3 to where `next` has.
    #[inline(always)]
    fn to_next<const C: usize>(mut self, word: u64, next: u64) -> Self {
        for _ in 1..C {
            self = self.rest_of_round().left();
        }
        let [v0, v1, v2, v3] = self.0;
        let v2 = v2.wrapping_add(v3);
        let early = (v3.rotate_left(16 + 21) ^ next ^ v2.rotate_left(21)).settled();
        let v0 = v0.wrapping_add(v3.rotate_left(16) ^ v2);
        let v2 = v2.wrapping_add(v1);
        let v1 = v1.rotate_left(17) ^ v2;
        Self([v0 ^ word, v1, v2.rotate_left(32), early ^ v0]).left()
    }
}

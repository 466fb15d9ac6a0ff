//! The kernel: the table's steps over whole blocks, in as many lanes as a word has.
//!
//! RFC 1321 section 3.4, for each block of sixteen words X:
//!
//! ```text
//! AA, BB, CC, DD = A, B, C, D
//! 64 times:  A = B + ((A + round(B, C, D) + X[k] + T[i]) <<< s);  A, B, C, D = D, A, B, C
//! A, B, C, D = A + AA, B + BB, C + CC, D + DD
//! ```
//!
//! Here A to D are words of many lanes, which hold a state of another message each. Four things
//! differ from the text. X comes from a [`BlockFeed`], which has a turn before every fourth step:
//! in many lanes it transposes a part of the next block while these steps wait for each other.
//! X\[k\] + T\[i\] is added to A before the round's function, because both are known long before B
//! is. G is a selection between operands of which one comes late, so it is added as two disjoint
//! halves. And the end of a step, from the function on, is one operation of the word,
//! [`Word::end_step`], since the shortest way to do it depends on the instruction set and on the
//! CPU: `end_step` of `lanes/src/x86_64/avx512.rs`, `avx2.rs` and `sse2.rs`, and of
//! `lanes/src/portable.rs`.

use lanesum_lanes::{Backend, BlockFeed, Blocks, Compression, Kernel, Word, compress};

use crate::table::{INITIAL, STEPS, Step};

/// The state of a message as bytes: A, B, C and D, little-endian. In the end it is the digest.
pub(crate) type State = [u8; 16];

/// The state before the first block.
pub(crate) const INITIAL_STATE: State =
    [1, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10];

/// X\[k\] + T\[i\] of each step, for a block that is the same in all lanes.
pub(crate) type Sums = [[u32; 4]; 16];

/// What a kernel does: takes states forward, of as many messages at a time as there are lanes.
pub(crate) struct Plan<'a> {
    /// The blocks of some messages in two parts, then those of the next messages.
    pub(crate) blocks: &'a [[Blocks<'a>; 2]],
    /// A block behind them that is the same in all lanes, if messages end in such a one.
    pub(crate) last: Option<&'a Sums>,
    /// Of one message after the other: where the first of them stand, and those after them where
    /// they will stand, from their beginning on.
    pub(crate) states: &'a mut [State],
}

impl Plan<'_> {
    /// All kernels are compiled here, once.
    ///
    /// # Panics
    /// Panics if `width` is not one of the backend's, or there are fewer states or inputs.
    pub(crate) fn run(self, backend: Backend, width: usize) {
        backend.run(width, self);
    }
}

impl Kernel for Plan<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(mut self) {
        let state = W::load_rows(self.states);
        let parts = self.blocks.as_flattened();
        compress(&mut self, state, parts);
    }
}

/// The state before the first block, in all lanes.
#[inline(always)]
fn initial<W: Word>() -> [W; 4] {
    // No closure: that would not be compiled with the instructions.
    let [a, b, c, d] = INITIAL;
    [W::splat(a), W::splat(b), W::splat(c), W::splat(d)]
}

/// A step, for which `sum` is X\[k\] + T\[i\]; the result's roles are already those of the next
/// one.
#[inline(always)]
fn step<W: Word, const F: i32, const SHIFT: u32>([a, b, c, d]: [W; 4], sum: W) -> [W; 4] {
    [d, a.add(sum).opaque().end_step::<F, SHIFT>(b, c, d), b, c]
}

/// The four steps of a turn.
macro_rules! turn {
    ($turn:literal, $state:expr, $sums:expr) => {{
        const STEP: [Step; 4] = STEPS[$turn];
        let [s0, s1, s2, s3] = $sums;
        let state = step::<W, { STEP[0].function }, { STEP[0].shift }>($state, s0);
        let state = step::<W, { STEP[1].function }, { STEP[1].shift }>(state, s1);
        let state = step::<W, { STEP[2].function }, { STEP[2].shift }>(state, s2);
        step::<W, { STEP[3].function }, { STEP[3].shift }>(state, s3)
    }};
}

/// X\[k\] + T\[i\] of the steps of a turn.
#[inline(always)]
fn sums<W: Word>(feed: &BlockFeed<'_, W>, turn: usize) -> [W; 4] {
    let [a, b, c, d] = STEPS[turn];
    [
        feed.word(a.word).add(W::splat(a.constant)),
        feed.word(b.word).add(W::splat(b.constant)),
        feed.word(c.word).add(W::splat(c.constant)),
        feed.word(d.word).add(W::splat(d.constant)),
    ]
}

/// The 64 steps. Turns are written out since the compiler does not unroll so long a loop.
impl Compression for Plan<'_> {
    #[inline(always)]
    fn block<W: Word>(before: [W; 4], feed: &mut BlockFeed<'_, W>) -> [W; 4] {
        let mut state = before;
        macro_rules! turns {
            ($($turn:literal)*) => {$(
                if W::PARTS > 0 {
                    // Steps before the turn come before it: otherwise the compiler would sink them.
                    state[1] = state[1].opaque();
                }
                state = W::in_own_frame(#[inline(always)] || {
                    feed.turn($turn);
                    turn!($turn, state, sums(feed, $turn))
                });
            )*};
        }
        turns!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        add_each(state, before)
    }

    #[inline(always)]
    fn end_part<W: Word>(&mut self, mut state: [W; 4], part: usize) -> [W; 4] {
        if part.is_multiple_of(2) {
            return state;
        }
        if let Some(sums) = self.last {
            state = compress_by_sums(state, sums);
        }
        W::store_rows(state, &mut self.states[part / 2 * W::LANES..]);
        initial()
    }
}

/// States after one more block, the same in all lanes. Four steps of a round are like the four
/// before, and what they add comes from memory: so they are a loop, and leave the cache of
/// instructions to the kernel of blocks that differ.
#[inline(always)]
fn compress_by_sums<W: Word>(before: [W; 4], sums: &Sums) -> [W; 4] {
    let mut state = before;
    macro_rules! rounds {
        ($($turn:literal)*) => {$(
            for &[a, b, c, d] in &sums[$turn..$turn + 4] {
                state = W::in_own_frame(#[inline(always)] || {
                    turn!($turn, state, [W::splat(a), W::splat(b), W::splat(c), W::splat(d)])
                });
            }
        )*};
    }
    rounds!(0 4 8 12);
    add_each(state, before)
}

#[inline(always)]
fn add_each<W: Word>([a, b, c, d]: [W; 4], other: [W; 4]) -> [W; 4] {
    [a.add(other[0]), b.add(other[1]), c.add(other[2]), d.add(other[3])]
}

#[cfg(test)]
mod tests {
    use lanesum_lanes::MAX_LANES;

    use super::*;

    #[test]
    fn the_initial_state_is_the_one_in_the_table() {
        let words = INITIAL_STATE.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        assert!(words.eq(INITIAL));
    }

    /// Every width that a backend has; blocks that begin at different places of their pages, and at
    /// the same one; two parts as one; from any states, and from the initial one.
    #[test]
    fn every_width_agrees_with_one_lane() {
        let bytes: Vec<u8> = (0..64 * 4096).map(|byte| (byte * 31 % 251) as u8).collect();
        let other: [State; MAX_LANES] =
            core::array::from_fn(|lane| core::array::from_fn(|byte| (byte * 99 + lane) as u8));
        for (distance, initial) in [(192, other), (4096, other), (192, [INITIAL_STATE; MAX_LANES])]
        {
            let first: Vec<&[u8]> =
                (0..MAX_LANES).map(|lane| &bytes[lane * distance..][..192]).collect();
            let second: Vec<&[u8]> =
                (0..MAX_LANES).map(|lane| &bytes[lane * distance + 192..][..64]).collect();
            let all: Vec<&[u8]> =
                (0..MAX_LANES).map(|lane| &bytes[lane * distance..][..256]).collect();
            let expected = |lane: usize| {
                let mut state = [initial[lane]];
                let blocks = Blocks::new(&all[lane..=lane], 4);
                let blocks = &[[blocks, Blocks::NONE]];
                Plan { blocks, last: None, states: &mut state }.run(Backend::PORTABLE, 1);
                state[0]
            };
            let expected: Vec<State> = (0..MAX_LANES).map(expected).collect();
            for backend in crate::tests::backends() {
                for &width in backend.widths() {
                    let mut states = initial;
                    let blocks = &[[Blocks::new(&first, 3), Blocks::new(&second, 1)]];
                    Plan { blocks, last: None, states: &mut states }.run(backend, width);
                    assert_eq!(states[..width], expected[..width], "{backend} {width}");
                    assert_eq!(states[width..], initial[width..], "{backend} {width}: beyond");
                }
            }
        }
    }
}

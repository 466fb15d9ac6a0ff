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
//! in few lanes to load four words, in many to transpose a part of the next block while these steps
//! wait for each other. X\[k\] + T\[i\] is added to A before the round's function, because both are
//! known long before B is. G is a selection between operands of which one comes late, so it is
//! added as two disjoint halves. And the end of a step, from the function on, is one operation of
//! the word, [`Word::end_step`], since the shortest way to do it depends on the instruction set and
//! on the CPU.

use lanesum_lanes::{Backend, Bits, BlockFeed, Blocks, Compression, Function, Kernel, Word};

use crate::table::{INITIAL, Round, STEPS, Step};

/// The state of a message as bytes: A, B, C and D, little-endian. In the end it is the digest.
pub(crate) type State = [u8; 16];

/// The state before the first block.
pub(crate) const INITIAL_STATE: State = {
    let ([a, b, c, d], mut state, mut byte) = (INITIAL, [0; 16], 0);
    while byte < 16 {
        state[byte] = [a, b, c, d][byte / 4].to_le_bytes()[byte % 4];
        byte += 1;
    }
    state
};

/// From which states a kernel goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// Each message is at its beginning.
    Initial,
    /// The states are those that are given.
    States,
}

/// X\[k\] + T\[i\] of each step, for a block that is the same in all lanes.
pub(crate) type Sums = [u32; 64];

/// What a kernel does with messages.
#[derive(Clone, Copy)]
pub(crate) struct Plan<'a> {
    pub(crate) start: Start,
    /// The blocks of some messages, one part after the other, and then those of the next messages,
    /// as many as lanes each time.
    pub(crate) parts: &'a [Blocks<'a>],
    /// How many parts messages have.
    pub(crate) parts_each: usize,
    /// A block that is the same in all lanes, if messages end in such a one.
    pub(crate) last: Option<&'a Sums>,
}

/// Takes states forward as planned, `width` at a time: of one message after the other from row 0 on.
///
/// All kernels are compiled here, once.
///
/// # Panics
/// When `width` is not one of the backend's, or there are fewer states or inputs.
pub(crate) fn compress(backend: Backend, width: usize, plan: Plan<'_>, states: &mut [State]) {
    backend.run(width, Compress { plan, states });
}

struct Compress<'a> {
    plan: Plan<'a>,
    states: &'a mut [State],
}

impl Kernel for Compress<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(mut self) {
        let state = match self.plan.start {
            Start::Initial => initial(),
            Start::States => W::load_rows(self.states),
        };
        let parts = self.plan.parts;
        lanesum_lanes::compress(&mut self, state, parts);
    }
}

/// The state before the first block, in all lanes.
#[inline(always)]
fn initial<W: Word>() -> [W; 4] {
    // No closure: that would not be compiled with the instructions.
    let [a, b, c, d] = INITIAL;
    [W::splat(a), W::splat(b), W::splat(c), W::splat(d)]
}

/// The function of each round as a type: its truth table, and how words compute it.
macro_rules! functions {
    ($($name:ident: $truth:expr, |$sum:ident, $b:ident, $c:ident, $d:ident| $two:expr;)*) => {$(
        struct $name;

        impl Function for $name {
            const TRUTH: u8 = {
                let ($b, $c, $d) = (Self::B, Self::C, Self::D);
                $truth
            };

            #[inline(always)]
            fn add_to<W: Bits>($sum: W, $b: W, $c: W, $d: W) -> [W; 2] {
                $two
            }
        }
    )*};
}
functions! {
    F: (b & c) | (!b & d), |sum, b, c, d| [sum, d.xor(b.and(c.xor(d)))];
    G: (b & d) | (c & !d), |sum, b, c, d| [sum.add(c.and_not(d)), b.and(d)];
    H: b ^ c ^ d, |sum, b, c, d| [sum, b.xor(c.xor(d))];
    I: c ^ (b | !d), |sum, b, c, d| [sum, c.xor(b.or(d.not()))];
}

/// Step `INDEX` of the table, for which `sum` is X\[k\] + T\[i\]; the result's roles are already
/// those of the next step.
#[inline(always)]
fn step<W: Word, const INDEX: usize, const SHIFT: u32>([a, b, c, d]: [W; 4], sum: W) -> [W; 4] {
    let sum = a.add(sum).opaque();
    let result = match const { STEPS[INDEX].round } {
        Round::F => sum.end_step::<F, SHIFT>(b, c, d),
        Round::G => sum.end_step::<G, SHIFT>(b, c, d),
        Round::H => sum.end_step::<H, SHIFT>(b, c, d),
        Round::I => sum.end_step::<I, SHIFT>(b, c, d),
    };
    [d, result, b, c]
}

/// The 64 steps. They are written out by index since the compiler does not unroll so long a loop.
impl Compression for Compress<'_> {
    #[inline(always)]
    fn block<W: Word>(before: [W; 4], feed: &mut BlockFeed<'_, W>) -> [W; 4] {
        let mut state = before;
        macro_rules! turns {
            ($($turn:literal: $($index:literal)*;)*) => {$(
                if BlockFeed::<W>::IS_AHEAD {
                    // Steps before the turn come before it: otherwise the compiler would sink them.
                    state[1] = state[1].opaque();
                }
                state = W::in_own_frame(#[inline(always)] || {
                    feed.turn($turn);
                    $(
                        let Step { word, constant, .. } = const { STEPS[$index] };
                        let sum = feed.word(word).add(W::splat(constant));
                        state = step::<W, $index, { STEPS[$index].shift }>(state, sum);
                    )*
                    state
                });
            )*};
        }
        turns! {
            0: 0 1 2 3; 1: 4 5 6 7; 2: 8 9 10 11; 3: 12 13 14 15;
            4: 16 17 18 19; 5: 20 21 22 23; 6: 24 25 26 27; 7: 28 29 30 31;
            8: 32 33 34 35; 9: 36 37 38 39; 10: 40 41 42 43; 11: 44 45 46 47;
            12: 48 49 50 51; 13: 52 53 54 55; 14: 56 57 58 59; 15: 60 61 62 63;
        }
        add_each(state, before)
    }

    #[inline(always)]
    fn end_part<W: Word>(&mut self, mut state: [W; 4], part: usize) -> [W; 4] {
        if !(part + 1).is_multiple_of(self.plan.parts_each) {
            return state;
        }
        if let Some(sums) = self.plan.last {
            state = forward_by_sums(state, sums);
        }
        let group = part / self.plan.parts_each;
        W::store_rows(state, &mut self.states[group * W::LANES..]);
        initial()
    }
}

/// States after one more block, the same in all lanes. Four steps of a round are like the four
/// before, and what they add comes from memory: so they are a loop, and leave the cache of
/// instructions to the kernel of blocks that differ.
#[inline(always)]
fn forward_by_sums<W: Word>(before: [W; 4], sums: &Sums) -> [W; 4] {
    let mut state = before;
    macro_rules! round {
        ($($index:literal)*: $from:literal) => {
            for four in &sums[$from..$from + 16].as_chunks::<4>().0[..] {
                state = W::in_own_frame(
                    #[inline(always)]
                    || {
                        $(
                            let sum = W::splat(four[$index % 4]);
                            state = step::<W, $index, { STEPS[$index].shift }>(state, sum);
                        )*
                        state
                    },
                );
            }
        };
    }
    round! { 0 1 2 3: 0 }
    round! { 16 17 18 19: 16 }
    round! { 32 33 34 35: 32 }
    round! { 48 49 50 51: 48 }
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
    fn functions_are_as_their_truth_tables() {
        fn check<F: Function>() {
            let [b, c, d] = [F::B, F::C, F::D].map(|table| [u32::from(table)]);
            let [[sum], [late]] = F::add_to([7], b, c, d);
            assert_eq!(sum.wrapping_add(late).wrapping_sub(7) as u8, F::TRUTH);
        }
        check::<F>();
        check::<G>();
        check::<H>();
        check::<I>();
    }

    #[test]
    fn the_initial_state_is_that_of_the_table() {
        let words = INITIAL_STATE.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        assert!(words.eq(INITIAL));
    }

    /// Every width that a backend has; blocks that begin at different places of their pages, and at
    /// the same one; two parts as one; from any states, and from the initial one.
    #[test]
    fn every_width_is_as_one_lane() {
        let bytes: Vec<u8> = (0..64 * 4096).map(|byte| (byte * 31 % 251) as u8).collect();
        let other: [State; MAX_LANES] =
            core::array::from_fn(|lane| core::array::from_fn(|byte| (byte * 99 + lane) as u8));
        for (distance, start) in
            [(192, Start::States), (4096, Start::States), (192, Start::Initial)]
        {
            let first: Vec<&[u8]> =
                (0..MAX_LANES).map(|lane| &bytes[lane * distance..][..192]).collect();
            let second: Vec<&[u8]> =
                (0..MAX_LANES).map(|lane| &bytes[lane * distance + 192..][..64]).collect();
            let all: Vec<&[u8]> =
                (0..MAX_LANES).map(|lane| &bytes[lane * distance..][..256]).collect();
            let initial = match start {
                Start::Initial => [INITIAL_STATE; MAX_LANES],
                Start::States => other,
            };
            let expected = |lane: usize| {
                let mut state = [initial[lane]];
                let blocks = Blocks::new(&all[lane..=lane], 4);
                let plan =
                    Plan { start: Start::States, parts: &[blocks], parts_each: 1, last: None };
                compress(Backend::PORTABLE, 1, plan, &mut state);
                state[0]
            };
            let expected: Vec<State> = (0..MAX_LANES).map(expected).collect();
            for backend in crate::tests::backends() {
                for &width in backend.widths() {
                    let mut states = other;
                    let parts = [Blocks::new(&first, 3), Blocks::new(&second, 1)];
                    let plan = Plan { start, parts: &parts, parts_each: 2, last: None };
                    compress(backend, width, plan, &mut states);
                    assert_eq!(states[..width], expected[..width], "{backend} {width}");
                    assert_eq!(states[width..], other[width..], "{backend} {width}: beyond");
                }
            }
        }
    }
}

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
//! differ from the text. X comes from a [`Feed`], which has a turn before every fourth step: in few lanes to
//! load four words, in many to transpose a part of the next block while these steps wait for each other.
//! X\[k\] + T\[i\] is added to A before the round's function, because both are known long before B is. G is a
//! selection between operands of which one comes late, added by [`Word::and_select`]: where that is shorter,
//! as two disjoint halves. And the end of a step, from the function on, is one operation of the word,
//! [`Word::end_step`], since the shortest way to do it depends on the instruction set and on the CPU.

use lanesum_lanes::{Backend, Blocks, Feed, Function, Kernel, Place, Room, Word};

use crate::table::{Round, STEPS, Step};

/// The states of `N` messages, lane by lane: A of all, B of all, C of all, D of all.
pub(crate) type States<const N: usize> = [[u32; N]; 4];

/// Takes all lanes of a width forward by the same number of blocks.
struct Compress<'a, const N: usize> {
    states: &'a mut States<N>,
    parts: &'a [Blocks<'a, N>],
}

/// Takes the first `width` states forward by all blocks of one part after the other, lane by lane.
///
/// # Panics
/// When `width` is not one of the backend's, or more than `N`.
#[inline]
pub(crate) fn compress<const N: usize>(
    backend: Backend,
    width: usize,
    states: &mut States<N>,
    parts: &[Blocks<'_, N>],
) {
    backend.run(width, Compress { states, parts });
}

impl<const N: usize> Kernel for Compress<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        let state = self.states.each_ref().map(|lanes| W::load(lanes));
        let state = forward_by_all(state, self.parts);
        for (lanes, word) in self.states.iter_mut().zip(state) {
            word.store(lanes);
        }
    }
}

/// States after all blocks of one part after the other.
#[inline(always)]
pub(crate) fn forward_by_all<W: Word, const N: usize>(
    mut state: [W; 4],
    parts: &[Blocks<'_, N>],
) -> [W; 4] {
    let mut room = Room::<W>::new();
    for blocks in parts {
        let Some(mut feed) = room.begin(blocks) else { continue };
        state = forward_by(blocks.count(), state, &mut feed);
    }
    state
}

/// States after so many blocks more.
#[inline(always)]
pub(crate) fn forward_by<W: Word, P: Place<N>, const N: usize>(
    count: usize,
    mut state: [W; 4],
    feed: &mut Feed<'_, W, P, N>,
) -> [W; 4] {
    for _ in 0..count {
        state = forward(state, feed);
        feed.next_block();
    }
    state
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
            fn add_to<W: Word>($sum: W, $b: W, $c: W, $d: W) -> [W; 2] {
                $two
            }
        }
    )*};
}
functions! {
    F: (b & c) | (!b & d), |sum, b, c, d| [sum, b.select(c, d)];
    G: (b & d) | (c & !d), |sum, b, c, d| sum.and_select(d, b, c);
    H: b ^ c ^ d, |sum, b, c, d| [sum, b.xor3(c, d)];
    I: c ^ (b | !d), |sum, b, c, d| [sum, c.xor_or_not(b, d)];
}

/// Step `INDEX` of the table, for which `sum` is X\[k\] + T\[i\]; the result's roles are already those of the next step.
#[inline(always)]
pub(crate) fn step<W: Word, const INDEX: usize, const SHIFT: u32>(
    [a, b, c, d]: [W; 4],
    sum: W,
) -> [W; 4] {
    let sum = a.add(sum).settled();
    let result = match const { STEPS[INDEX].round } {
        Round::F => sum.end_step::<F, SHIFT>(b, c, d),
        Round::G => sum.end_step::<G, SHIFT>(b, c, d),
        Round::H => sum.end_step::<H, SHIFT>(b, c, d),
        Round::I => sum.end_step::<I, SHIFT>(b, c, d),
    };
    [d, result, b, c]
}

/// States after one more block, another one in each lane. The steps are written out by index since the compiler does
/// not unroll so long a loop.
#[inline(always)]
fn forward<W: Word, P: Place<N>, const N: usize>(
    before: [W; 4],
    feed: &mut Feed<'_, W, P, N>,
) -> [W; 4] {
    let mut state = before;
    macro_rules! turns {
        ($($turn:literal: $($index:literal)*;)*) => { $(
            if W::PARTS > 0 {
                // Steps before the turn come before it: otherwise the compiler would sink them below.
                state[1] = state[1].settled();
            }
            feed.turn($turn);
            $(
                let Step { word, constant, .. } = const { STEPS[$index] };
                let sum = feed.word(word).add(W::splat(constant));
                state = step::<W, $index, { STEPS[$index].shift }>(state, sum);
            )*
        )* };
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
pub(crate) fn add_each<W: Word>([a, b, c, d]: [W; 4], other: [W; 4]) -> [W; 4] {
    [a.add(other[0]), b.add(other[1]), c.add(other[2]), d.add(other[3])]
}

#[cfg(test)]
mod tests {
    use lanesum_lanes::MAX_LANES;

    use super::*;

    #[test]
    fn functions_are_as_their_truth_tables() {
        fn check<F: Function>() {
            let [b, c, d] = [F::B, F::C, F::D].map(u32::from);
            let [sum, late] = F::add_to(7, b, c, d);
            assert_eq!(sum.wrapping_add(late).wrapping_sub(7) as u8, F::TRUTH);
        }
        check::<F>();
        check::<G>();
        check::<H>();
        check::<I>();
    }

    /// Every width that a backend has, also those that this CPU would not choose; blocks that begin at
    /// different places of their pages, and at the same one; two parts as one.
    #[test]
    fn every_width_is_as_one_lane() {
        let bytes: Vec<u8> = (0..64 * 4096).map(|byte| (byte * 31 % 251) as u8).collect();
        let initial: States<MAX_LANES> =
            core::array::from_fn(|word| core::array::from_fn(|lane| (word * 99 + lane) as u32));
        for distance in [192, 4096] {
            let inputs: Vec<&[u8]> =
                (0..MAX_LANES).map(|lane| &bytes[lane * distance..][..256]).collect();
            let expected = |lane: usize| {
                let mut state = initial.map(|words| [words[lane]]);
                compress(Backend::PORTABLE, 1, &mut state, &[Blocks::new([inputs[lane]], 4)]);
                state.map(|[word]| word)
            };
            let expected: Vec<[u32; 4]> = (0..MAX_LANES).map(expected).collect();
            for backend in crate::tests::backends() {
                for &width in backend.widths() {
                    let mut states = initial;
                    let lanes = inputs[..width].iter();
                    let first = Blocks::new(lanes.clone().copied(), 3);
                    assert_eq!(first.are_crowded(), distance == 4096 && width > 8);
                    let second = Blocks::new(lanes.map(|input| &input[192..]), 1);
                    compress(backend, width, &mut states, &[first, second]);
                    for lane in 0..MAX_LANES {
                        let state = states.map(|words| words[lane]);
                        // Lanes beyond the width are nobody's business.
                        let expected = if lane < width {
                            expected[lane]
                        } else {
                            initial.map(|words| words[lane])
                        };
                        assert_eq!(state, expected, "{backend} {width}: lane {lane}");
                    }
                }
            }
        }
    }
}

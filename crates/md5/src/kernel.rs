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
//! differ from the text. X comes four words at a time, right before the first round needs them: the CPU loads
//! and transposes them while it waits for the steps before. X\[k\] + T\[i\] is added to A before the round's function, because both are
//! known long before B is. G is a selection between operands of which one comes late, added by
//! [`Word::and_select`]: where that is shorter, as two disjoint halves. And the end of a step, from the
//! function on, is one operation of the word, [`Word::end_step`], since the shortest way to do it depends on
//! the instruction set and on the CPU.

use lanesum_lanes::{Backend, Blocks, Function, Kernel, Word};

use crate::table::{Round, STEPS};

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
    fn is_crowded(&self) -> bool {
        // It takes as long to find out as a block or two.
        self.parts.iter().any(|blocks| blocks.count() > 2 && blocks.are_crowded())
    }

    #[inline(always)]
    fn run<W: Word>(self) {
        let mut state = self.states.each_ref().map(|lanes| W::load(lanes));
        for blocks in self.parts {
            for index in 0..blocks.count() {
                let block = W::block(blocks, 0, index);
                let [a, b, c, d] = rounds(state, &block);
                state = [a.add(state[0]), b.add(state[1]), c.add(state[2]), d.add(state[3])];
            }
        }
        for (lanes, word) in self.states.iter_mut().zip(state) {
            word.store(lanes);
        }
    }
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

/// One step of the table; the result's roles are already those of the next step.
#[inline(always)]
fn step<W: Word, const INDEX: usize, const SHIFT: u32>(
    [a, b, c, d]: [W; 4],
    words: &[W; 16],
) -> [W; 4] {
    let step = const { STEPS[INDEX] };
    let sum = a.add(words[step.word].add(W::splat(step.constant))).settled();
    let result = match step.round {
        Round::F => sum.end_step::<F, SHIFT>(b, c, d),
        Round::G => sum.end_step::<G, SHIFT>(b, c, d),
        Round::H => sum.end_step::<H, SHIFT>(b, c, d),
        Round::I => sum.end_step::<I, SHIFT>(b, c, d),
    };
    [d, result, b, c]
}

/// All 64 steps, written out by index since the compiler does not unroll so long a loop.
#[inline(always)]
fn rounds<W: Word>(mut state: [W; 4], block: &W::Block<'_>) -> [W; 4] {
    let mut words = [W::splat(0); 16];
    macro_rules! steps {
        ($($index:literal)*) => { $(state = step::<W, $index, { STEPS[$index].shift }>(state, &words);)* };
    }
    macro_rules! quarter {
        ($quarter:literal: $($index:literal)*) => {
            words[4 * $quarter..][..4].copy_from_slice(&W::quarter(block, $quarter));
            steps! { $($index)* }
        };
    }
    quarter! { 0: 0 1 2 3 }
    quarter! { 1: 4 5 6 7 }
    quarter! { 2: 8 9 10 11 }
    quarter! { 3: 12 13 14 15 }
    steps! {
        16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47
        48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanesum_lanes::MAX_LANES;

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
            for backend in Backend::available() {
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

//! The kernel: the steps of the table over whole blocks, in all lanes of a word.
//!
//! RFC 1321 section 3.4, for each block of sixteen words X:
//!
//! ```text
//! AA, BB, CC, DD = A, B, C, D
//! 64 times:  A = B + ((A + round(B, C, D) + X[k] + T[i]) <<< s);  A, B, C, D = D, A, B, C
//! A, B, C, D = A + AA, B + BB, C + CC, D + DD
//! ```
//!
//! Here A to D are words of many lanes, and each lane holds the state of one message. The code
//! differs from the RFC in four ways:
//!
//! - X comes from a [`BlockFeed`], which takes a turn before every fourth step. With many lanes it
//!   transposes a part of the next block while the steps wait for each other.
//! - X\[k\] + T\[i\] is added to A before the function of the round, because both are known long
//!   before B.
//! - G selects between operands, one of which is computed late, so it is added as two disjoint
//!   halves.
//! - The end of a step, from the function on, is one operation of the word, [`Word::end_step`]. Its
//!   shortest form depends on the instruction set and on the CPU.

use lanesum_blockhash::{BlockHash, Plan};
use lanesum_lanes::{Backend, BlockFeed, Compression, Kernel, MAX_LANES, Word, compress};

use crate::Md5Hash;
use crate::table::{INITIAL, STEPS, Step};

/// The state of a message as bytes: A, B, C and D, little-endian. The last state is the digest.
type State = [u8; 16];

/// The state before the first block.
const INITIAL_STATE: State =
    [1, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10];

impl BlockHash for Md5Hash {
    type State = State;
    type Digest = State;
    type Tail = [u8; 128];
    /// X\[k\] + T\[i\] of each step.
    type Padding = [[u32; 4]; 16];

    const NAME: &'static str = "MD5";
    const IS_BIG_ENDIAN: bool = false;
    const INITIAL: State = INITIAL_STATE;
    const NO_PADDING: Self::Padding = [[0; 4]; 16];

    #[inline]
    fn width(backend: Backend, lanes: usize) -> usize {
        backend.width_for(lanes)
    }

    fn most_streams(backend: Backend) -> usize {
        backend.width_for(if backend.leaves_units_idle() { MAX_LANES } else { 32 })
    }

    fn padding(block: &[u8]) -> Self::Padding {
        let (words, _) = block.as_chunks();
        let sum = |step: Step| u32::from_le_bytes(words[step.word]).wrapping_add(step.constant);
        STEPS.map(|steps| steps.map(sum))
    }

    fn run(plan: Plan<'_, Self>, backend: Backend, width: usize) {
        backend.run(width, Md5Kernel(plan));
    }

    lanesum_blockhash::schedulers!(State);
}

/// X\[k\] + T\[i\] of each step, for a block that all lanes share.
type Sums = <Md5Hash as BlockHash>::Padding;

struct Md5Kernel<'a>(Plan<'a, Md5Hash>);

impl Kernel for Md5Kernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(mut self) {
        let state = W::load_rows(self.0.states, 0);
        let parts = self.0.blocks.as_flattened();
        compress(&mut self, state, parts);
    }
}

/// Returns the state before the first block, in all lanes.
#[inline(always)]
fn initial<W: Word>() -> [W; 4] {
    // Not a closure, which would be compiled without the instructions of the backend.
    let [a, b, c, d] = INITIAL;
    [W::splat(a), W::splat(b), W::splat(c), W::splat(d)]
}

/// Computes a step. `sum` is X\[k\] + T\[i\], and the words of the result have the roles of the
/// next step.
#[inline(always)]
fn step<W: Word, const F: i32, const SHIFT: u32>([a, b, c, d]: [W; 4], sum: W) -> [W; 4] {
    [d, a.add(sum).opaque().end_step::<F, SHIFT>(b, c, d), b, c]
}

/// Computes the four steps of a turn.
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

/// Returns X\[k\] + T\[i\] of the steps of a turn.
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

/// The 64 steps. The turns are written out, because the compiler does not unroll such a long loop.
impl Compression for Md5Kernel<'_> {
    type State<W: Word> = [W; 4];

    #[inline(always)]
    fn block<W: Word>(before: [W; 4], feed: &mut BlockFeed<'_, W>) -> [W; 4] {
        let mut state = before;
        macro_rules! turns {
            ($($turn:literal)*) => {$(
                if W::PARTS > 0 {
                    // Keeps the steps before the turn there; the compiler would move them down.
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
        if let Some(sums) = self.0.last {
            state = compress_by_sums(state, sums);
        }
        W::store_rows(state, &mut self.0.states[part / 2 * W::LANES..], 0);
        initial()
    }
}

/// Returns the states after one more block that is the same in all lanes. The code is a loop over
/// groups of four steps whose sums come from memory. It is small and leaves the instruction cache
/// to the other kernel.
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

#[cfg(feature = "digest")]
impl lanesum_blockhash::crypto::Sizes for Md5Hash {
    type OutputSize = digest::consts::U16;
    type BlockSize = digest::consts::U64;
    type CoreSize = digest::consts::U24;
    type SerializedSize = digest::consts::U88;
    #[cfg(feature = "oid")]
    const OID: digest::const_oid::ObjectIdentifier =
        digest::const_oid::ObjectIdentifier::new_unwrap("1.2.840.113549.2.5");
}

#[cfg(test)]
mod tests {
    use lanesum_lanes::Blocks;

    use super::*;

    #[test]
    fn the_initial_state_is_the_one_in_the_table() {
        let words = INITIAL_STATE.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        assert!(words.eq(INITIAL));
    }

    /// Tries every width of a backend, blocks at equal and different page offsets, one and two
    /// parts, and arbitrary and initial states.
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
                let plan = Plan { blocks, last: None, states: &mut state };
                Md5Hash::run(plan, Backend::PORTABLE, 1);
                state[0]
            };
            let expected: Vec<State> = (0..MAX_LANES).map(expected).collect();
            for backend in crate::tests::backends() {
                for &width in backend.widths() {
                    let mut states = initial;
                    let blocks = &[[Blocks::new(&first, 3), Blocks::new(&second, 1)]];
                    let plan = Plan { blocks, last: None, states: &mut states };
                    Md5Hash::run(plan, backend, width);
                    assert_eq!(states[..width], expected[..width], "{backend} {width}");
                    assert_eq!(states[width..], initial[width..], "{backend} {width}: beyond");
                }
            }
        }
    }
}

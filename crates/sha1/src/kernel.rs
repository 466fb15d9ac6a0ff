//! SHA-1: FIPS 180-4, section 6.1.
//!
//! For each block of sixteen words M:
//!
//! ```text
//! W[t] = M[t] for t < 16, and then (W[t-3] ^ W[t-8] ^ W[t-14] ^ W[t-16]) <<< 1
//! a .. e = H
//! 80 times:  T = (a <<< 5) + f(b, c, d) + e + K + W[t];  e, d, c, b, a = d, c, b <<< 30, a, T
//! H = H + (a .. e)
//! ```
//!
//! Here all are words of many lanes. The second kernel uses the SHA instructions, because these
//! compute rounds and not operations. They are faster for one message, and for two.

use lanesum_blockhash::{BlockHash, Plan};
use lanesum_lanes::function::H;
use lanesum_lanes::{
    Backend, BlockFeed, Compression, Kernel, MAX_LANES, SHA_WIDTHS, ShaBlock, ShaKernel, ShaWord,
    TURNS, Word, compress,
};

use crate::Sha1Hash;
use crate::table::{FUNCTION, INITIAL, K};

/// The state as bytes: a to e, big-endian. The last state is the digest.
type State = [u8; 20];

/// W\[t\] of each round, for a block that all lanes share. The constant is not added, because the
/// SHA instructions add it. The first sixteen are the block.
type Schedule = [[u32; 4]; 20];

impl BlockHash for Sha1Hash {
    type State = State;
    type Digest = State;
    type Tail = [u8; 128];
    type Padding = Schedule;

    const NAME: &'static str = "SHA-1";
    const IS_BIG_ENDIAN: bool = true;
    const INITIAL: State = {
        let mut bytes = [0; 20];
        let mut place = 0;
        while place < 20 {
            bytes[place] = (INITIAL[place / 4] >> (24 - place % 4 * 8)) as u8;
            place += 1;
        }
        bytes
    };
    const NO_PADDING: Schedule = [[0; 4]; 20];

    /// Cycles for a byte of each message: on Emerald Rapids 1.9 for one message by SHA instructions
    /// and 3.2 for two, 4.6 for 8 lanes of AVX-512VL, and 7.2 for 16 lanes of AVX-512. On Zen 3
    /// 1.42 for one message, 1.54 for two, 2.28 for four, and 6.1 for 8 lanes of AVX2.
    fn width(backend: Backend, lanes: usize) -> usize {
        let instructions = backend.sha_streams();
        let register = backend.register_len() / size_of::<u32>();
        // Lanes of a whole register take as long as so many messages otherwise.
        let (others, narrow) = match (instructions, register) {
            (_, 0) => return 1,
            (&[], 4) => (1, 4),
            (&[], 8) => (2, 8),
            (&[], _) => (1, 8),
            (&[_, _], 8) => (5, 8),
            (&[_, _], 16) => (2, 8),
            // Zen 4 and Zen 5: sixteen lanes take as long as seven messages by instructions.
            (_, 16) => (7, 16),
            _ => (usize::MAX, 0),
        };
        if lanes <= others {
            let fits = |&&streams: &&usize| streams <= lanes;
            return instructions.iter().rfind(fits).copied().unwrap_or(1);
        }
        // Two registers pay only where one leaves units idle.
        match lanes {
            17.. if backend.leaves_units_idle() => 32,
            9.. if register == 16 => 16,
            _ => narrow,
        }
    }

    fn padding(block: &[u8]) -> Schedule {
        let (bytes, _) = block.as_chunks();
        let mut words: [u32; 16] = core::array::from_fn(|place| u32::from_be_bytes(bytes[place]));
        let mut schedule = Self::NO_PADDING;
        for (round, place) in schedule.as_flattened_mut().iter_mut().enumerate() {
            let word = |after: usize| words[(round + after) % 16];
            if round >= 16 {
                words[round % 16] = (word(13) ^ word(8) ^ word(2) ^ word(0)).rotate_left(1);
            }
            *place = words[round % 16];
        }
        schedule
    }

    /// All kernels are compiled once, in this function.
    fn run(plan: Plan<'_, Self>, backend: Backend, width: usize) {
        #[cfg(not(target_arch = "x86_64"))]
        if width == 1 {
            return run_one(plan);
        }
        if backend.sha_streams().contains(&width) {
            backend.run_sha(width, Work(plan));
        } else {
            backend.run(width, Work(plan));
        }
    }

    lanesum_blockhash::schedulers!(State);
}

/// Hashes one message by the crate `sha1`, which has the SHA instructions of other CPUs.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn run_one(plan: Plan<'_, Sha1Hash>) {
    let Plan { blocks, last, states } = plan;
    let (words, _) = states[0].as_chunks();
    let mut state: [u32; 5] = core::array::from_fn(|place| u32::from_be_bytes(words[place]));
    for (parts, place) in blocks.iter().zip(states) {
        for part in parts.iter().filter(|part| part.count() > 0) {
            let bytes = &part.inputs()[0][..part.count() * lanesum_lanes::BLOCK_LEN];
            sha1::block_api::compress(&mut state, bytes.as_chunks().0);
        }
        if let Some([a, b, c, d, ..]) = last {
            let block = [a, b, c, d].map(|words| words.map(u32::to_be_bytes));
            let bytes = block.as_flattened().as_flattened();
            sha1::block_api::compress(&mut state, bytes.as_chunks().0);
        }
        place.copy_from_slice(state.map(u32::to_be_bytes).as_flattened());
        state = INITIAL;
    }
}

struct Work<'a>(Plan<'a, Sha1Hash>);

impl Kernel for Work<'_> {
    type Output = ();
    const WIDTHS: [u128; 6] = SHA_WIDTHS;

    #[inline(always)]
    fn run<W: Word>(mut self) {
        let [a, b, c, d] = W::load_rows(self.0.states, 0);
        let mut last = [0; MAX_LANES];
        for (number, state) in last[..W::LANES].iter_mut().zip(&*self.0.states) {
            *number = u32::from_le_bytes(*state.last_chunk().expect("four bytes"));
        }
        let e = W::load(&last).swap_bytes();
        // Not `map`, whose closures would be compiled without the instructions of the backend.
        let [a, b, c, d] = [a.swap_bytes(), b.swap_bytes(), c.swap_bytes(), d.swap_bytes()];
        let parts = self.0.blocks.as_flattened();
        compress(&mut self, [a, b, c, d, e], parts);
    }
}

/// Computes a round. `sum` is W\[t\] + K.
#[inline(always)]
fn round<W: Word, const F: i32>([a, b, c, d, e]: [W; 5], sum: W) -> [W; 5] {
    let sum = e.add(sum).add(b.logic::<F>(c, d)).add(a.rotate_right::<27>());
    [sum, a, b.rotate_right::<2>(), c, d]
}

/// Computes twenty rounds with words that all lanes share.
#[inline(always)]
fn twenty<W: Word, const F: i32>(mut state: [W; 5], words: &[[u32; 4]], constant: u32) -> [W; 5] {
    for [t0, t1, t2, t3] in words {
        for word in [t0, t1, t2, t3] {
            state = round::<W, F>(state, W::splat(word.wrapping_add(constant)));
        }
    }
    state
}

/// Repeats an expression for each round, sixteen at a time in their own frame. The rounds are
/// written out, because each twenty have their own function.
macro_rules! rounds {
    ($word:ident, $state:ident, |$round:ident| $sum:expr) => {
        rounds!(@ $word, $state, |$round| $sum; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        rounds!(@ $word, $state, |$round| $sum; 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
        rounds!(@ $word, $state, |$round| $sum; 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47);
        rounds!(@ $word, $state, |$round| $sum; 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63);
        rounds!(@ $word, $state, |$round| $sum; 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79);
    };
    (@ $word:ident, $state:ident, |$round:ident| $sum:expr; $($number:literal)*) => {
        $state = $word::in_own_frame(#[inline(always)] || {
            let mut state = $state;
            $({
                const $round: usize = $number;
                let sum = $sum;
                let sum = sum.add($word::splat(K[$round / 20]));
                state = round::<$word, { FUNCTION[$number / 20] }>(state, sum);
            })*
            state
        });
    };
}

impl Compression for Work<'_> {
    type State<W: Word> = [W; 5];

    #[inline(always)]
    fn block<W: Word>(before: [W; 5], feed: &mut BlockFeed<'_, W>) -> [W; 5] {
        const { assert!(TURNS == 16) };
        let mut state = before;
        let words = &mut [W::splat(0); 16];
        rounds!(W, state, |T| {
            if T < 16 {
                feed.turn(T);
                words[T % 16] = feed.word(T).swap_bytes();
            } else {
                let word =
                    words[(T + 13) % 16].logic::<H>(words[(T + 8) % 16], words[(T + 2) % 16]);
                words[T % 16] = word.xor(words[T % 16]).rotate_right::<31>();
            }
            words[T % 16]
        });
        add_each(state, before)
    }

    #[inline(always)]
    fn end_part<W: Word>(&mut self, mut state: [W; 5], part: usize) -> [W; 5] {
        if part.is_multiple_of(2) {
            return state;
        }
        if let Some(schedule) = self.0.last {
            let before = state;
            let (first, second) = schedule.split_at(10);
            state = twenty::<W, { FUNCTION[0] }>(state, &first[..5], K[0]);
            state = twenty::<W, { FUNCTION[1] }>(state, &first[5..], K[1]);
            state = twenty::<W, { FUNCTION[2] }>(state, &second[..5], K[2]);
            state = twenty::<W, { FUNCTION[3] }>(state, &second[5..], K[3]);
            state = add_each(state, before);
        }
        let [a, b, c, d, e] = state;
        let states = &mut self.0.states[part / 2 * W::LANES..][..W::LANES];
        let [a, b, c, d] = [a.swap_bytes(), b.swap_bytes(), c.swap_bytes(), d.swap_bytes()];
        W::store_rows([a, b, c, d], states, 0);
        let mut last = [0; MAX_LANES];
        e.swap_bytes().store(&mut last);
        for (state, number) in states.iter_mut().zip(&last) {
            *state.last_chunk_mut().expect("four bytes") = number.to_le_bytes();
        }
        let [a, b, c, d, e] = INITIAL;
        [W::splat(a), W::splat(b), W::splat(c), W::splat(d), W::splat(e)]
    }
}

#[inline(always)]
fn add_each<W: Word>([a, b, c, d, e]: [W; 5], other: [W; 5]) -> [W; 5] {
    [a.add(other[0]), b.add(other[1]), c.add(other[2]), d.add(other[3]), e.add(other[4])]
}

impl ShaKernel for Work<'_> {
    type Output = ();
    const MOST_STREAMS: usize = 4;

    #[inline(always)]
    fn run<W: ShaWord>(self) {
        let Plan { blocks, last, states } = self.0;
        let mut state = Halves::of(W::load_state(states, 0), W::load_state(states, 1));
        let [a, b, c, d, e] = INITIAL;
        let initial = Halves::of(W::splat([a, b, c, d]), W::splat([e, 0, 0, 0]));
        for (group, parts) in blocks.iter().enumerate() {
            for blocks in parts {
                for index in 0..blocks.count() {
                    state = state.after_block(ShaBlock::new(blocks, index));
                }
            }
            if let Some(schedule) = last {
                state = state.after_schedule(schedule);
            }
            state.store(&mut states[group * W::STREAMS..]);
            state = initial;
        }
    }
}

/// The state as the SHA instructions need it: `[d, c, b, a]` and `[0, 0, 0, e]`, from the lowest
/// bits.
#[derive(Clone, Copy)]
struct Halves<W> {
    dcba: W,
    e: W,
}

/// Four words in the reverse order.
const REVERSED: i32 = 0b00_01_10_11;

impl<W: ShaWord> Halves<W> {
    /// Returns the state of `[a, b, c, d]` and `[e, 0, 0, 0]`.
    #[inline(always)]
    fn of(abcd: W, e: W) -> Self {
        Self { dcba: abcd.shuffle::<REVERSED>(), e: e.shuffle::<REVERSED>() }
    }

    #[inline(always)]
    fn store(self, states: &mut [State]) {
        self.dcba.shuffle::<REVERSED>().store_state(states, 0);
        self.e.shuffle::<REVERSED>().store_state(states, 1);
    }

    #[inline(always)]
    fn after_block(self, block: ShaBlock<'_, W>) -> Self {
        let words = &mut [
            block.quarter(0).shuffle::<REVERSED>(),
            block.quarter(1).shuffle::<REVERSED>(),
            block.quarter(2).shuffle::<REVERSED>(),
            block.quarter(3).shuffle::<REVERSED>(),
        ];
        self.after_rounds(
            #[inline(always)]
            |four| {
                if four >= 4 {
                    let [next, before_8, last] =
                        [words[(four + 1) % 4], words[(four + 2) % 4], words[(four + 3) % 4]];
                    let word = words[four % 4].sha1_message_1(next).xor(before_8);
                    words[four % 4] = word.sha1_message_2(last);
                }
                words[four % 4]
            },
        )
    }

    #[inline(always)]
    fn after_schedule(self, schedule: &Schedule) -> Self {
        self.after_rounds(
            #[inline(always)]
            |four| {
                let [a, b, c, d] = schedule[four];
                W::splat([d, c, b, a])
            },
        )
    }

    /// Computes all rounds, four at a time, with the words that `words` returns for each four.
    #[inline(always)]
    fn after_rounds(self, mut words: impl FnMut(usize) -> W) -> Self {
        let Self { mut dcba, e } = self;
        // The first sum has the whole e. Later ones have e as the rotated a of four rounds before.
        let mut before = dcba;
        dcba = dcba.sha1_four_rounds::<0>(words(0).add(e));
        macro_rules! fours {
            ($function:literal: $($four:literal)*) => {$(
                let sums = before.sha1_add_e(words($four));
                before = dcba;
                dcba = dcba.sha1_four_rounds::<$function>(sums);
            )*};
        }
        fours!(0: 1 2 3 4);
        fours!(1: 5 6 7 8 9);
        fours!(2: 10 11 12 13 14);
        fours!(3: 15 16 17 18 19);
        Self { dcba: dcba.add(self.dcba), e: before.sha1_add_e(e) }
    }
}

#[cfg(feature = "digest")]
impl lanesum_blockhash::crypto::Sizes for Sha1Hash {
    type OutputSize = digest::consts::U20;
    type BlockSize = digest::consts::U64;
    type CoreSize = digest::consts::U28;
    type SerializedSize = digest::consts::U92;
    #[cfg(feature = "oid")]
    const OID: digest::const_oid::ObjectIdentifier =
        digest::const_oid::ObjectIdentifier::new_unwrap("1.3.14.3.2.26");
}

#[cfg(test)]
mod tests {
    use lanesum_lanes::Blocks;

    use super::*;

    /// The kernel of other CPUs agrees with that of one lane.
    #[test]
    fn one_message_agrees_with_one_lane() {
        let bytes: [u8; 512] = core::array::from_fn(|place| (place * 31 % 251) as u8);
        let [first, second]: [&[u8]; 2] = [&bytes, &bytes[77..]];
        let [first, second] = [[first], [second]];
        let parts = [Blocks::new(&first, 5), Blocks::new(&second, 2)];
        let last = Sha1Hash::padding(&bytes[..64]);
        for last in [None, Some(&last)] {
            let mut states = [[[3; 20]; 2]; 2];
            let [one, lane] = &mut states;
            let blocks = &[parts, [parts[1], Blocks::NONE]];
            run_one(Plan { blocks, last, states: one });
            Backend::PORTABLE.run(1, Work(Plan { blocks, last, states: lane }));
            assert_eq!(states[0], states[1]);
        }
    }
}

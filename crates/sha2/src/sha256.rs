//! SHA-256 and SHA-224: FIPS 180-4, sections 6.2 and 6.3.
//!
//! For each block of sixteen words M:
//!
//! ```text
//! W[t] = M[t] for t < 16, and then s1(W[t-2]) + W[t-7] + s0(W[t-15]) + W[t-16]
//! a .. h = H
//! 64 times:  T1 = h + S1(e) + Ch(e, f, g) + K[t] + W[t];  T2 = S0(a) + Maj(a, b, c)
//!            h, g, f, e, d, c, b, a = g, f, e, d + T1, c, b, a, T1 + T2
//! H = H + (a .. h)
//! ```
//!
//! Here all are words of many lanes. The second kernel uses the SHA instructions, because these
//! compute rounds and not operations. On most CPUs they are faster than up to eight lanes.

use lanesum_lanes::function::{F, H, MAJORITY};
use lanesum_lanes::{
    Backend, BlockFeed, Blocks, Compression, Kernel, SHA_WIDTHS, ShaBlock, ShaKernel, ShaWord,
    TURNS, Word, compress,
};

use crate::table::K_256 as K;

/// The state as bytes: a to h, big-endian.
pub type State = [u8; 32];

/// W\[t\] + K\[t\] of each round, for a block that all lanes share.
pub type Sums = [[u32; 16]; 4];

pub const NO_SUMS: Sums = [[0; 16]; 4];

/// Returns a state as bytes.
pub const fn bytes_of(words: [u32; 8]) -> State {
    let mut bytes = [0; 32];
    let mut place = 0;
    while place < 32 {
        bytes[place] = (words[place / 4] >> (24 - place % 4 * 8)) as u8;
        place += 1;
    }
    bytes
}

/// Returns how many of `lanes` messages go together.
///
/// Cycles for a byte of each message: on Emerald Rapids 2.06 for one message by SHA instructions
/// and 3.2 for two, 9.6 for 8 lanes of AVX-512VL, and 14 for 16 lanes of AVX-512. On Zen 3 1.52 for
/// one and for two messages, 3.9 for four, and 13.5 for 8 lanes of AVX2.
pub fn width(backend: Backend, lanes: usize) -> usize {
    let instructions = backend.sha_streams().first_chunk();
    let register = backend.register_len() / size_of::<u32>();
    // Lanes of a whole register take as long as so many messages otherwise.
    let (others, narrow) = match (instructions, register) {
        (_, 0) => return 1,
        (None, 4) => (1, 4),
        (None, 8) => (2, 8),
        (None, _) => (1, 8),
        // Zen 5 has twice the units of Zen 4, on which SHA instructions are as fast as lanes.
        (_, 16) if backend.leaves_units_idle() => (7, 16),
        (_, 16) if backend.sha_streams().len() == 2 => (5, 8),
        _ => (usize::MAX, 0),
    };
    if lanes <= others {
        let pair: &[usize; 2] = instructions.unwrap_or(&[1, 1]);
        return if lanes > 1 { pair[1] } else { pair[0] };
    }
    // Two registers pay only where one leaves units idle.
    match lanes {
        24.. if backend.leaves_units_idle() => 32,
        9.. if register == 16 => 16,
        _ => narrow,
    }
}

/// Prepares a block that all lanes share.
pub fn sums(block: &[u8]) -> Sums {
    let (bytes, _) = block.as_chunks();
    let mut words: [u32; 16] = core::array::from_fn(|place| u32::from_be_bytes(bytes[place]));
    let mut sums = K;
    for (group, sums) in sums.iter_mut().enumerate() {
        for (place, sum) in sums.iter_mut().enumerate() {
            if group > 0 {
                let [before_15, before_7, before_2] =
                    [1, 9, 14].map(|after| words[(place + after) % 16]);
                let s0 = before_15.rotate_right(7) ^ before_15.rotate_right(18) ^ before_15 >> 3;
                let s1 = before_2.rotate_right(17) ^ before_2.rotate_right(19) ^ before_2 >> 10;
                words[place] = [before_7, s0, s1].into_iter().fold(words[place], u32::wrapping_add);
            }
            *sum = sum.wrapping_add(words[place]);
        }
    }
    sums
}

/// All kernels are compiled once, in this function.
pub fn run(work: Work<'_>, backend: Backend, width: usize) {
    #[cfg(not(target_arch = "x86_64"))]
    if width == 1 {
        return run_one(work);
    }
    if backend.sha_streams().contains(&width) {
        backend.run_sha(width, work);
    } else {
        backend.run(width, work);
    }
}

/// Hashes one message by the crate `sha2`, which has the SHA instructions of other CPUs.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn run_one(work: Work<'_>) {
    let Work { blocks, last, states, initial } = work;
    let (words, _) = states[0].as_chunks();
    let mut state: [u32; 8] = core::array::from_fn(|place| u32::from_be_bytes(words[place]));
    for (parts, place) in blocks.iter().zip(states) {
        for part in parts.iter().filter(|part| part.count() > 0) {
            let bytes = &part.inputs()[0][..part.count() * lanesum_lanes::BLOCK_LEN];
            sha2::block_api::compress256(&mut state, bytes.as_chunks().0);
        }
        if let Some(sums) = last {
            let words: [u32; 16] = core::array::from_fn(|t| sums[0][t].wrapping_sub(K[0][t]));
            let block = words.map(u32::to_be_bytes);
            sha2::block_api::compress256(&mut state, block.as_flattened().as_chunks().0);
        }
        *place = bytes_of(state);
        state = initial;
    }
}

/// The work of a kernel: a [`Plan`](lanesum_blockhash::Plan), whose messages begin with the state
/// `initial`.
pub struct Work<'a> {
    pub blocks: &'a [[Blocks<'a>; 2]],
    pub last: Option<&'a Sums>,
    pub states: &'a mut [State],
    pub initial: [u32; 8],
}

impl Kernel for Work<'_> {
    type Output = ();
    const WIDTHS: [u128; 6] = SHA_WIDTHS;

    #[inline(always)]
    fn run<W: Word>(mut self) {
        let [a, b, c, d] = W::load_rows(self.states, 0);
        let [e, f, g, h] = W::load_rows(self.states, 1);
        // Not `map`, whose closures would be compiled without the instructions of the backend.
        let [a, b, c, d] = [a.swap_bytes(), b.swap_bytes(), c.swap_bytes(), d.swap_bytes()];
        let [e, f, g, h] = [e.swap_bytes(), f.swap_bytes(), g.swap_bytes(), h.swap_bytes()];
        let parts = self.blocks.as_flattened();
        compress(&mut self, [a, b, c, d, e, f, g, h], parts);
    }
}

/// Computes a round. `sum` is W\[t\] + K\[t\].
#[inline(always)]
fn round<W: Word>([a, b, c, d, e, f, g, h]: [W; 8], sum: W) -> [W; 8] {
    let s1 = e.rotate_right::<6>().logic::<H>(e.rotate_right::<11>(), e.rotate_right::<25>());
    let t1 = h.add(sum).add(e.logic::<F>(f, g)).add(s1);
    let s0 = a.rotate_right::<2>().logic::<H>(a.rotate_right::<13>(), a.rotate_right::<22>());
    let t2 = s0.add(a.logic::<MAJORITY>(b, c));
    [t1.add(t2), a, b, c, d.add(t1), e, f, g]
}

/// Returns W\[t\] from the words before it.
#[inline(always)]
fn schedule<W: Word>(before_16: W, before_15: W, before_7: W, before_2: W) -> W {
    let s0 = before_15
        .rotate_right::<7>()
        .logic::<H>(before_15.rotate_right::<18>(), before_15.shift_right::<3>());
    let s1 = before_2
        .rotate_right::<17>()
        .logic::<H>(before_2.rotate_right::<19>(), before_2.shift_right::<10>());
    before_16.add(before_7).add(s0).add(s1)
}

impl Compression for Work<'_> {
    type State<W: Word> = [W; 8];

    #[inline(always)]
    fn block<W: Word>(before: [W; 8], feed: &mut BlockFeed<'_, W>) -> [W; 8] {
        const { assert!(TURNS == 16) };
        let mut state = before;
        let words = &mut [W::splat(0); 16];
        sixteen!(W, state, |I| {
            feed.turn(I);
            words[I] = feed.word(I).swap_bytes();
            words[I].add(W::splat(K[0][I]))
        });
        for constants in &K[1..] {
            sixteen!(W, state, |I| {
                let [before_15, before_7, before_2] = [(I + 1) % 16, (I + 9) % 16, (I + 14) % 16];
                words[I] = schedule(words[I], words[before_15], words[before_7], words[before_2]);
                words[I].add(W::splat(constants[I]))
            });
        }
        add_each(state, before)
    }

    #[inline(always)]
    fn end_part<W: Word>(&mut self, mut state: [W; 8], part: usize) -> [W; 8] {
        if part.is_multiple_of(2) {
            return state;
        }
        if let Some(sums) = self.last {
            let before = state;
            for sums in sums {
                sixteen!(W, state, |I| W::splat(sums[I]));
            }
            state = add_each(state, before);
        }
        let [a, b, c, d, e, f, g, h] = state;
        let states = &mut self.states[part / 2 * W::LANES..];
        let [a, b, c, d] = [a.swap_bytes(), b.swap_bytes(), c.swap_bytes(), d.swap_bytes()];
        W::store_rows([a, b, c, d], states, 0);
        let [e, f, g, h] = [e.swap_bytes(), f.swap_bytes(), g.swap_bytes(), h.swap_bytes()];
        W::store_rows([e, f, g, h], states, 1);
        let [a, b, c, d, e, f, g, h] = self.initial;
        [
            W::splat(a),
            W::splat(b),
            W::splat(c),
            W::splat(d),
            W::splat(e),
            W::splat(f),
            W::splat(g),
            W::splat(h),
        ]
    }
}

#[inline(always)]
fn add_each<W: Word>([a, b, c, d, e, f, g, h]: [W; 8], other: [W; 8]) -> [W; 8] {
    [
        a.add(other[0]),
        b.add(other[1]),
        c.add(other[2]),
        d.add(other[3]),
        e.add(other[4]),
        f.add(other[5]),
        g.add(other[6]),
        h.add(other[7]),
    ]
}

/// The state as the SHA instructions need it: `[f, e, b, a]` and `[h, g, d, c]`, from the lowest
/// bits.
#[derive(Clone, Copy)]
struct Halves<W> {
    feba: W,
    hgdc: W,
}

impl ShaKernel for Work<'_> {
    type Output = ();
    /// Four messages have more words than there are registers.
    const MOST_STREAMS: usize = 2;

    #[inline(always)]
    fn run<W: ShaWord>(self) {
        let mut state = Halves::of(W::load_state(self.states, 0), W::load_state(self.states, 1));
        let [a, b, c, d, e, f, g, h] = self.initial;
        let initial = Halves::of(W::splat([a, b, c, d]), W::splat([e, f, g, h]));
        for (group, parts) in self.blocks.iter().enumerate() {
            for blocks in parts {
                for index in 0..blocks.count() {
                    state = state.after_block(ShaBlock::new(blocks, index));
                }
            }
            if let Some(sums) = self.last {
                state = state.after_sums(sums);
            }
            state.store(&mut self.states[group * W::STREAMS..]);
            state = initial;
        }
    }
}

impl<W: ShaWord> Halves<W> {
    /// Returns the state of `[a, b, c, d]` and `[e, f, g, h]`.
    #[inline(always)]
    fn of(abcd: W, efgh: W) -> Self {
        let badc = abcd.shuffle::<0b10_11_00_01>();
        let hgfe = efgh.shuffle::<0b00_01_10_11>();
        let [dcba, fehg] = [badc.shuffle::<0b01_00_11_10>(), hgfe.shuffle::<0b01_00_11_10>()];
        Self { feba: hgfe.shift_in::<2>(badc), hgdc: fehg.shift_in::<2>(dcba) }
    }

    #[inline(always)]
    fn store(self, states: &mut [State]) {
        let Self { feba, hgdc } = self;
        let [ab, ef] = [feba.shuffle::<0b10_11_01_00>(), feba.shuffle::<0b00_01_00_00>()];
        ab.shift_in::<2>(hgdc.shuffle::<0b00_01_10_11>()).store_state(states, 0);
        ef.shift_in::<2>(hgdc.shuffle::<0b00_00_00_01>()).store_state(states, 1);
    }

    /// Computes four rounds.
    #[inline(always)]
    fn four_rounds(self, sums: W) -> Self {
        let Self { feba, hgdc } = self;
        let next = hgdc.sha256_two_rounds(feba, sums);
        Self { feba: feba.sha256_two_rounds(next, sums.shuffle::<0b11_10_11_10>()), hgdc: next }
    }

    #[inline(always)]
    fn after_block(self, block: ShaBlock<'_, W>) -> Self {
        let mut state = self;
        let mut words = [block.quarter(0), block.quarter(1), block.quarter(2), block.quarter(3)];
        macro_rules! group {
            ($group:expr, $($i:literal)*) => {$(
                let [a, b, c, d] = quarter(&K[$group], $i);
                state = state.four_rounds(words[$i].add(W::splat([a, b, c, d])));
            )*};
        }
        macro_rules! scheduled {
            ($group:expr, $($i:literal)*) => {$(
                let [next, before_8, last] =
                    [words[($i + 1) % 4], words[($i + 2) % 4], words[($i + 3) % 4]];
                let sum = words[$i].sha256_message_1(next).add(before_8.shift_in::<1>(last));
                words[$i] = sum.sha256_message_2(last);
                group!($group, $i);
            )*};
        }
        group!(0, 0 1 2 3);
        scheduled!(1, 0 1 2 3);
        scheduled!(2, 0 1 2 3);
        scheduled!(3, 0 1 2 3);
        self.add(state)
    }

    #[inline(always)]
    fn after_sums(self, sums: &[[u32; 16]; 4]) -> Self {
        let mut state = self;
        for sums in sums.as_flattened().as_chunks().0 {
            state = state.four_rounds(W::splat(*sums));
        }
        self.add(state)
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { feba: self.feba.add(other.feba), hgdc: self.hgdc.add(other.hgdc) }
    }
}

/// Returns four adjacent constants.
#[inline(always)]
fn quarter(constants: &[u32; 16], quarter: usize) -> [u32; 4] {
    constants.as_chunks().0[quarter]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel of other CPUs agrees with that of one lane.
    #[test]
    fn one_message_agrees_with_one_lane() {
        let bytes: [u8; 512] = core::array::from_fn(|place| (place * 31 % 251) as u8);
        let [first, second]: [&[u8]; 2] = [&bytes, &bytes[77..]];
        let [first, second] = [[first], [second]];
        let parts = [Blocks::new(&first, 5), Blocks::new(&second, 2)];
        let last = sums(&bytes[..64]);
        for last in [None, Some(&last)] {
            let mut states = [[[3; 32]; 2]; 2];
            let [one, lane] = &mut states;
            let blocks = &[parts, [parts[1], Blocks::NONE]];
            let initial = crate::table::INITIAL_224;
            run_one(Work { blocks, last, states: one, initial });
            Backend::PORTABLE.run(1, Work { blocks, last, states: lane, initial });
            assert_eq!(states[0], states[1]);
        }
    }
}

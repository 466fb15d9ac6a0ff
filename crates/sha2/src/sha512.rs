//! SHA-512, SHA-384 and SHA-512/256: FIPS 180-4, sections 6.4, 6.5 and 6.7.
//!
//! As SHA-256, but with 80 rounds on words of 64 bits, and blocks of 128 bytes.

use lanesum_lanes::{
    BLOCK_LEN, Backend, Blocks, Compression64, Kernel64, LongBlock, Word64, compress_64,
};

use crate::table::K_512 as K;

/// The state as bytes: a to h, big-endian.
pub type State = [u8; 64];

/// W\[t\] + K\[t\] of each round, for a block that all lanes share.
pub type Sums = [[u64; 16]; 5];

pub const NO_SUMS: Sums = [[0; 16]; 5];

/// Returns a state as bytes.
pub const fn bytes_of(words: [u64; 8]) -> State {
    let mut bytes = [0; 64];
    let mut place = 0;
    while place < 64 {
        bytes[place] = (words[place / 8] >> (56 - place % 8 * 8)) as u8;
        place += 1;
    }
    bytes
}

/// Returns the words of a state.
#[inline(always)]
fn words_of(state: &State) -> [u64; 8] {
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(state.as_chunks().0) {
        *word = u64::from_be_bytes(*bytes);
    }
    words
}

/// Returns how many of `lanes` messages go together. Two registers are no faster than one, except
/// where one leaves units idle.
pub fn width(backend: Backend, lanes: usize) -> usize {
    match (backend.register_len() / size_of::<u64>(), lanes) {
        (0, _) | (_, ..=1) => 1,
        // Two lanes of SSE2 are slower than two messages one by one.
        (2, _) => 1,
        (4, ..=2) => 1,
        (4, _) | (_, ..=4) => 4,
        (_, 9..) if backend.leaves_units_idle() => 16,
        (_, _) => 8,
    }
}

/// Prepares a block that all lanes share.
pub fn sums(block: &[u8]) -> Sums {
    let (bytes, _) = block.as_chunks();
    let mut words: [u64; 16] = core::array::from_fn(|place| u64::from_be_bytes(bytes[place]));
    let mut sums = K;
    for (group, sums) in sums.iter_mut().enumerate() {
        for (place, sum) in sums.iter_mut().enumerate() {
            if group > 0 {
                let [before_15, before_7, before_2] =
                    [1, 9, 14].map(|after| words[(place + after) % 16]);
                words[place] = schedule(words[place], before_15, before_7, before_2);
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
    match width {
        1 if backend.register_len() > 0 => backend.run_64(2, One(work)),
        _ => backend.run_64(width, work),
    }
}

/// Hashes one message by the crate `sha2`, which has the SHA instructions of other CPUs.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn run_one(work: Work<'_>) {
    let Work { blocks, last, states, initial } = work;
    let mut state = words_of(&states[0]);
    for (parts, place) in blocks.iter().zip(states) {
        for part in parts.iter().filter(|part| part.count() > 0) {
            let bytes = &part.inputs()[0][..part.count() * BLOCK_LEN];
            sha2::block_api::compress512(&mut state, bytes.as_chunks().0);
        }
        if let Some(sums) = last {
            let words: [u64; 16] = core::array::from_fn(|t| sums[0][t].wrapping_sub(K[0][t]));
            let block = words.map(u64::to_be_bytes);
            sha2::block_api::compress512(&mut state, block.as_flattened().as_chunks().0);
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
    pub initial: [u64; 8],
}

impl Kernel64 for Work<'_> {
    type Output = ();
    const WIDTHS: [u128; 4] = [1 << 1, 0, 1 << 4, 1 << 8 | 1 << 16];
    const NARROW: u128 = 1 << 4;

    #[inline(always)]
    fn run<W: Word64>(mut self) {
        let mut state = [W::splat(0); 8];
        let mut numbers = [0; 16];
        for (place, word) in state.iter_mut().enumerate() {
            for (number, bytes) in numbers[..W::LANES].iter_mut().zip(&*self.states) {
                *number = u64::from_be_bytes(bytes.as_chunks().0[place]);
            }
            *word = W::load(&numbers);
        }
        let parts = self.blocks.as_flattened();
        compress_64(&mut self, state, parts);
    }
}

/// The work for one message after another. The lanes are adjacent words of the message: each
/// operation schedules two words, and the rounds are computed without lanes. That takes four fifths
/// of the time of a single lane.
struct One<'a>(Work<'a>);

impl Kernel64 for One<'_> {
    type Output = ();
    const WIDTHS: [u128; 4] = [0, 1 << 2, 0, 0];
    const NARROW: u128 = 1 << 2;

    #[inline(always)]
    fn run<W: Word64>(self) {
        let Work { blocks, last, states, initial } = self.0;
        let mut state = words_of(&states[0]);
        for (parts, place) in blocks.iter().zip(states) {
            for part in parts.iter().filter(|part| part.count() > 0) {
                let bytes = &part.inputs()[0][..part.count() * BLOCK_LEN];
                for block in bytes.as_chunks().0 {
                    state = block_of_one::<W>(state, block);
                }
            }
            if let Some(sums) = last {
                state = after_sums(state, sums);
            }
            *place = bytes_of(state);
            state = initial;
        }
    }
}

/// Returns the state after a block of one message. Sixteen rounds are computed from the sums in
/// memory while the next sixteen are prepared.
#[inline(always)]
fn block_of_one<W: Word64>(before: [u64; 8], block: &[u8; 128]) -> [u64; 8] {
    assert!(W::LANES == 2, "two words at a time");
    let mut state = before;
    let mut numbers = [0; 16];
    for (number, bytes) in numbers.iter_mut().zip(block.as_chunks().0) {
        *number = u64::from_le_bytes(*bytes);
    }
    let words = &mut [W::splat(0); 8];
    let sums = &mut [0; 16];
    for (place, word) in words.iter_mut().enumerate() {
        *word = W::load(&numbers[2 * place..]).swap_bytes();
        word.add(W::load(&K[0][2 * place..])).store(&mut sums[2 * place..]);
    }
    for constants in &K[1..] {
        macro_rules! pairs {
            ($($i:literal)*) => {$(
                let before_15 = words[$i].shift_in(words[($i + 1) % 8]);
                let before_7 = words[($i + 4) % 8].shift_in(words[($i + 5) % 8]);
                words[$i] = schedule(words[$i], before_15, before_7, words[($i + 7) % 8]);
                state = round(round(state, sums[2 * $i]), sums[2 * $i + 1]);
                words[$i].add(W::load(&constants[2 * $i..])).store(&mut sums[2 * $i..]);
            )*};
        }
        pairs!(0 1 2 3 4 5 6 7);
    }
    sixteen!(u64, state, |I| sums[I]);
    add_each(state, before)
}

/// Returns the state after a prepared block.
#[inline(always)]
fn after_sums<W: Word64>(before: [W; 8], sums: &Sums) -> [W; 8] {
    let mut state = before;
    for sums in sums {
        sixteen!(W, state, |I| W::splat(sums[I]));
    }
    add_each(state, before)
}

/// Computes a round. `sum` is W\[t\] + K\[t\].
#[inline(always)]
fn round<W: Word64>([a, b, c, d, e, f, g, h]: [W; 8], sum: W) -> [W; 8] {
    let s1 = rotate_right(e, 14).xor3(rotate_right(e, 18), rotate_right(e, 41));
    let t1 = h.add(sum).add(e.choose(f, g)).add(s1);
    let s0 = rotate_right(a, 28).xor3(rotate_right(a, 34), rotate_right(a, 39));
    let t2 = s0.add(a.majority(b, c));
    [t1.add(t2), a, b, c, d.add(t1), e, f, g]
}

/// Returns W\[t\] from the words before it.
#[inline(always)]
fn schedule<W: Word64>(before_16: W, before_15: W, before_7: W, before_2: W) -> W {
    let s0 = rotate_right(before_15, 1).xor3(rotate_right(before_15, 8), before_15.shift_right(7));
    let s1 = rotate_right(before_2, 19).xor3(rotate_right(before_2, 61), before_2.shift_right(6));
    before_16.add(before_7).add(s0).add(s1)
}

#[inline(always)]
fn rotate_right<W: Word64>(word: W, count: u32) -> W {
    word.rotate_left(64 - count)
}

impl Compression64 for Work<'_> {
    type State<W: Word64> = [W; 8];

    #[inline(always)]
    fn block<W: Word64>(before: [W; 8], block: &LongBlock<'_>) -> [W; 8] {
        let mut state = before;
        let words = &mut [W::splat(0); 16];
        sixteen!(W, state, |I| {
            if I.is_multiple_of(2) {
                let [word, next] = W::load_pair(block, 0, I);
                [words[I], words[I | 1]] = [word.swap_bytes(), next.swap_bytes()];
            }
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
    fn end_part<W: Word64>(&mut self, mut state: [W; 8], part: usize) -> [W; 8] {
        if part.is_multiple_of(2) {
            return state;
        }
        if let Some(sums) = self.last {
            state = after_sums(state, sums);
        }
        let states = &mut self.states[part / 2 * W::LANES..][..W::LANES];
        let mut numbers = [0; 16];
        for (place, word) in state.iter().enumerate() {
            word.swap_bytes().store(&mut numbers);
            for (bytes, number) in states.iter_mut().zip(&numbers) {
                bytes.as_chunks_mut().0[place] = number.to_le_bytes();
            }
        }
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
fn add_each<W: Word64>([a, b, c, d, e, f, g, h]: [W; 8], other: [W; 8]) -> [W; 8] {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel of other CPUs agrees with that of one lane.
    #[test]
    fn one_message_agrees_with_one_lane() {
        let bytes: [u8; 512] = core::array::from_fn(|place| (place * 31 % 251) as u8);
        let [first, second]: [&[u8]; 2] = [&bytes, &bytes[77..]];
        let [first, second] = [[first], [second]];
        let parts = [Blocks::new(&first, 6), Blocks::new(&second, 2)];
        let last = sums(&bytes[..128]);
        for last in [None, Some(&last)] {
            let mut states = [[[3; 64]; 2]; 2];
            let [one, lane] = &mut states;
            let blocks = &[parts, [parts[1], Blocks::NONE]];
            let initial = crate::table::INITIAL_384;
            run_one(Work { blocks, last, states: one, initial });
            Backend::PORTABLE.run_64(1, Work { blocks, last, states: lane, initial });
            assert_eq!(states[0], states[1]);
        }
    }
}

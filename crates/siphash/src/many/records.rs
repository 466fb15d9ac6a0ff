//! Adjacent inputs of one length: records and numbers.

use lanesum_lanes::{Kernel64, Records, Source as _, WORD_LEN, Word64};

use super::Function;
use super::hashes::{Found, Hashes};
use super::kernel::{LENGTH_SHIFT, absorb_whole};
use crate::round::State;
use crate::words::EIGHT_BYTES;

/// All numbers of lanes but one.
const WIDTHS: [u128; 4] = [!(1 << 1); 4];

/// Hashes as many records as fill all lanes. Returns their number.
pub(super) struct HashRecords<'a> {
    pub(super) function: Function,
    /// The records, of `len` bytes each.
    pub(super) bytes: &'a [u8],
    pub(super) len: usize,
    pub(super) hashes: Hashes<'a>,
}

impl Kernel64 for HashRecords<'_> {
    type Output = usize;

    const WIDTHS: [u128; 4] = WIDTHS;

    #[inline(always)]
    fn run<W: Word64>(self) -> usize {
        let Self { function: Function { start, rounds, .. }, bytes, len, mut hashes } = self;
        let (start, are_wide) = (State::<W>::splat(start), hashes.are_wide());
        let length = W::splat((len as u64) << LENGTH_SHIFT);
        let mut found = Found::new();
        let mut first = 0;
        while first + W::LANES <= hashes.len() {
            let records = Records::new(&bytes[first * len..], len, W::LANES);
            let state = absorb_whole(start, rounds, &records);
            let last = if len.is_multiple_of(WORD_LEN) {
                length
            } else if records.word_follows() {
                let word = W::load_word(&records, 0, records.least());
                word.rest(W::splat(len as u64), length)
            } else {
                W::load_rest(&records, 0).xor(length)
            };
            found.finish(state.absorb(rounds.each, last), rounds, are_wide);
            hashes.fill(first, W::LANES, &found);
            first += W::LANES;
        }
        first
    }
}

/// Hashes as many numbers of a column as fill all lanes. Returns their number.
pub(super) struct HashNumbers<'a> {
    pub(super) function: Function,
    pub(super) numbers: &'a [u64],
    pub(super) hashes: Hashes<'a>,
}

impl Kernel64 for HashNumbers<'_> {
    type Output = usize;

    const WIDTHS: [u128; 4] = WIDTHS;

    #[inline(always)]
    fn run<W: Word64>(self) -> usize {
        let Self { function: Function { start, rounds, .. }, numbers, mut hashes } = self;
        let (start, are_wide) = (State::<W>::splat(start), hashes.are_wide());
        let mut found = Found::new();
        let mut first = 0;
        while first + W::LANES <= numbers.len() {
            let state = start.absorb(rounds.each, W::load(&numbers[first..]));
            let state = state.absorb(rounds.each, W::splat(EIGHT_BYTES));
            found.finish(state, rounds, are_wide);
            hashes.fill(first, W::LANES, &found);
            first += W::LANES;
        }
        first
    }
}

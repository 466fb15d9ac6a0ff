//! Adjacent inputs of one length: records and numbers.

use lanesum_lanes::{Kernel64, Records, Word64};

use super::Output;
use super::kernel::hash_even;
use crate::round::State;
use crate::words::EIGHT_BYTES;

/// Hashes as many records as fill all lanes.
pub(super) struct HashRecords<'a, H, const N: usize, const C: usize, const D: usize> {
    pub(super) start: State<u64>,
    pub(super) records: &'a [[u8; N]],
    pub(super) hashes: &'a mut [H],
}

impl<H: Output, const N: usize, const C: usize, const D: usize> Kernel64
    for HashRecords<'_, H, N, C, D>
{
    type Output = ();

    #[inline(always)]
    fn run<W: Word64>(self) {
        let start = State::<W>::splat(self.start);
        let records = self.records.chunks_exact(W::LANES);
        let hashes = self.hashes.chunks_exact_mut(W::LANES);
        for (records, hashes) in records.zip(hashes) {
            hash_even::<_, W, H, C, D>(start, &Records(records), hashes);
        }
    }
}

/// Hashes as many numbers of a column as fill all lanes.
pub(super) struct HashNumbers<'a, H, const C: usize, const D: usize> {
    pub(super) start: State<u64>,
    pub(super) numbers: &'a [u64],
    pub(super) hashes: &'a mut [H],
}

impl<H: Output, const C: usize, const D: usize> Kernel64 for HashNumbers<'_, H, C, D> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word64>(self) {
        let start = State::<W>::splat(self.start);
        let numbers = self.numbers.chunks_exact(W::LANES);
        let hashes = self.hashes.chunks_exact_mut(W::LANES);
        for (numbers, hashes) in numbers.zip(hashes) {
            let state = start.absorb::<C>(W::load(numbers)).absorb::<C>(W::splat(EIGHT_BYTES));
            H::finish::<W, D>(state, hashes);
        }
    }
}

//! Short pieces of one buffer: sorted, chunk by chunk, by their numbers of words.

use lanesum_lanes::{CHUNK, Kernel64, MAX_LANES_64, Offset, ShortPieces, Word64};

use super::Output;
use super::kernel::{hash_ragged, hash_short};
use crate::round::State;

/// Hashes pieces from the first on, as long as they are short and fill the lanes. Gives how many.
pub(super) struct HashShort<'h, O, H, const C: usize, const D: usize> {
    pub(super) start: State<u64>,
    pub(super) buffer: &'h [u8],
    /// One more than there are hashes.
    pub(super) offsets: &'h [O],
    pub(super) hashes: &'h mut [H],
}

impl<O: Offset, H: Output, const C: usize, const D: usize> Kernel64 for HashShort<'_, O, H, C, D> {
    type Output = usize;

    #[inline(always)]
    fn run<W: Word64>(self) -> usize {
        let start = State::<W>::splat(self.start);
        let mut pieces = ShortPieces::new();
        let mut own = [H::default(); MAX_LANES_64];
        let own = &mut own[..W::LANES];
        let mut done = 0;
        for hashes in self.hashes.chunks_mut(CHUNK) {
            let count = hashes.len();
            let offsets = &self.offsets[done..][..=count];
            if count < W::LANES || !pieces.sort::<W, O>(self.buffer, offsets) {
                break;
            }
            for first in (0..count).step_by(W::LANES) {
                // In the end some are hashed again, instead of leaving lanes idle.
                let first = first.min(count - W::LANES);
                let lanes = pieces.lanes(first, W::LANES);
                if lanes.words_follow() {
                    hash_short::<W, H, C, D>(start, &lanes, own);
                } else {
                    hash_ragged::<_, W, H, C, D>(start, &lanes, own);
                }
                pieces.scatter(first, own, hashes);
            }
            done += count;
        }
        done
    }
}

//! Short pieces of one buffer, sorted by number of words within each chunk.

use lanesum_lanes::{CHUNK, Kernel64, MAX_LANES_64, Offset, ShortLanes, ShortPieces, Word64};

use super::Output;
use super::kernel::{absorb_ragged, absorb_short};
use crate::round::State;

/// Hashes pieces from the first one on, as long as they are short and fill the lanes. Returns their
/// number.
pub(super) struct HashShort<'h, O, H, const C: usize, const D: usize> {
    pub(super) start: State<u64>,
    pub(super) buffer: &'h [u8],
    /// One more than the number of hashes.
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
            let last = count - W::LANES;
            let (mut lanes, mut words) = lanes_from(&pieces, 0);
            // The first of the pieces whose hashes are in `own`. At first there are none, and the
            // values stored at the first places are replaced later.
            let mut hashed = 0;
            for first in (0..count).step_by(W::LANES) {
                let state = if lanes.words_follow() {
                    absorb_short::<W, C>(start, &lanes, words)
                } else {
                    absorb_ragged::<_, W, C>(start, &lanes)
                };
                // The scalar work is here, because the vector units still run rounds.
                pieces.fetch_behind();
                pieces.scatter(hashed, own, hashes);
                // The last group hashes some pieces again instead of leaving lanes idle.
                hashed = first.min(last);
                (lanes, words) = lanes_from(&pieces, (first + W::LANES).min(last));
                H::finish::<W, D>(state, own);
            }
            pieces.scatter(hashed, own, hashes);
            done += count;
        }
        done
    }
}

/// Returns the pieces from `first` on, one for each lane, and their first words if two more may be
/// read.
#[inline(always)]
fn lanes_from<'s, W: Word64>(
    pieces: &'s ShortPieces<'_>,
    first: usize,
) -> (ShortLanes<'s>, [W; 2]) {
    let lanes = pieces.lanes(first, W::LANES);
    let words = match lanes.words_follow() {
        true => W::load_pair(&lanes, 0, 0),
        false => [W::splat(0); 2],
    };
    (lanes, words)
}

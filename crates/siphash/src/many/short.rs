//! Short inputs, sorted by number of words within each chunk.

use lanesum_lanes::{
    CHUNK, Column, Kernel64, ShortLanes, ShortPieces, ShortSlices, SliceLanes, Word64,
};

use super::Function;
use super::batch::Slices;
use super::hashes::{Found, Hashes, Scatter as _};
use super::kernel::{absorb_ragged, absorb_short, absorb_whole};
use crate::round::State;

/// The values of [`Backend::gathering_width_64`](lanesum_lanes::Backend::gathering_width_64).
const WIDTHS: [u128; 4] = [1 << 2, 1 << 6, 1 << 12, 1 << 16 | 1 << 24];

/// Those of the backends that load by a mask. The test below runs all of them.
const WIDTHS_BY_MASK: [u128; 4] = if cfg!(test) { WIDTHS } else { [0, 0, 0, WIDTHS[3]] };

/// Hashes pieces of a buffer from the first one on, as long as they are short and fill the lanes.
/// Returns their number.
pub(super) struct HashPieces<'h> {
    pub(super) function: Function,
    pub(super) column: Column<'h>,
    /// As many as pieces.
    pub(super) hashes: Hashes<'h>,
}

impl Kernel64 for HashPieces<'_> {
    type Output = usize;

    const WIDTHS: [u128; 4] = WIDTHS;

    #[inline(always)]
    fn run<W: Word64>(self) -> usize {
        let Self { function: Function { start, rounds, backend }, column, mut hashes } = self;
        let by_mask = backend.loads_by_mask();
        let (start, are_wide) = (State::<W>::splat(start), hashes.are_wide());
        let mut pieces = ShortPieces::new();
        let mut found = Found::new();
        let mut done = 0;
        while done < hashes.len() {
            let count = CHUNK.min(hashes.len() - done);
            if count < W::LANES || !pieces.sort::<W>(column.range(done, count), by_mask) {
                break;
            }
            let mut hashes = hashes.range(done, count);
            let last = count - W::LANES;
            let (mut lanes, mut words) = lanes_from(&pieces, 0);
            // The first of the pieces whose hashes are in `found`. At first there are none, and the
            // values stored at the first places are replaced later.
            let mut hashed = 0;
            let mut first = 0;
            while first < count {
                let state = if lanes.words_follow() {
                    absorb_short(start, rounds, &lanes, words)
                } else {
                    absorb_ragged(start, rounds, &lanes)
                };
                // The scalar work is here, because the vector units still run rounds.
                pieces.fetch_behind();
                pieces.scatter_hashes(hashed, W::LANES, &found, &mut hashes);
                // The last group hashes some pieces again instead of leaving lanes idle.
                hashed = first.min(last);
                (lanes, words) = lanes_from(&pieces, (first + W::LANES).min(last));
                found.finish(state, rounds, are_wide);
                first += W::LANES;
            }
            pieces.scatter_hashes(hashed, W::LANES, &found, &mut hashes);
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

/// Hashes slices from the first one on, as long as they are short and fill the lanes. Returns their
/// number. Only for backends that load by a mask.
pub(super) struct HashSlices<'h, 'a> {
    pub(super) function: Function,
    pub(super) slices: &'h dyn Slices<'a>,
    /// The place of the first slice.
    pub(super) first: usize,
    /// As many as slices from there on.
    pub(super) hashes: Hashes<'h>,
}

impl Kernel64 for HashSlices<'_, '_> {
    type Output = usize;

    const WIDTHS: [u128; 4] = WIDTHS_BY_MASK;

    #[inline(always)]
    fn run<W: Word64>(self) -> usize {
        let Self { function: Function { start, rounds, .. }, mut hashes, .. } = self;
        let (start, are_wide) = (State::<W>::splat(start), hashes.are_wide());
        let mut slices = ShortSlices::new();
        let mut both = [SliceLanes::new(), SliceLanes::new()];
        let [now, next] = &mut both;
        let (mut now, mut next) = (now, next);
        let mut found = Found::new();
        let mut done = 0;
        while done < hashes.len() {
            let count = CHUNK.min(hashes.len() - done);
            if count < W::LANES {
                break;
            }
            self.slices.copy(self.first + done, slices.places(count));
            if !slices.sort::<W>(count) {
                break;
            }
            let mut hashes = hashes.range(done, count);
            let last = count - W::LANES;
            slices.put::<W>(0, now);
            // As for pieces.
            let mut hashed = 0;
            let mut first = 0;
            while first < count {
                let lanes = &*now;
                let state = if lanes.are_even() {
                    absorb_whole(start, rounds, &lanes).absorb(rounds.each, lanes.lasts())
                } else {
                    absorb_ragged(start, rounds, &lanes)
                };
                slices.scatter_hashes(hashed, W::LANES, &found, &mut hashes);
                hashed = first.min(last);
                slices.put::<W>((first + W::LANES).min(last), next);
                found.finish(state, rounds, are_wide);
                core::mem::swap(&mut now, &mut next);
                first += W::LANES;
            }
            slices.scatter_hashes(hashed, W::LANES, &found, &mut hashes);
            done += count;
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use lanesum_lanes::Backend;

    use super::*;
    use crate::SipHash24;
    use crate::many::hashes::Output;

    /// Checks sorted slices on every backend against one at a time.
    #[test]
    fn sorted_slices_agree_with_one_by_one() {
        fn check<H: Output + core::fmt::Debug + PartialEq>(hash: fn(&SipHash24, &[u8]) -> H) {
            let sip = SipHash24::from_words(1, 2);
            let bytes: Vec<u8> = (0..1_000_u32).map(|byte| (byte * 31 % 251) as u8).collect();
            for longest in [0, 7, 8, 16, 64, 127] {
                for count in [0, 1, 24, 25, 479, 480, 481, 1_000] {
                    let length = |place| place * place * 7 % (longest + 1);
                    let inputs: Vec<&[u8]> =
                        (0..count).map(|place| &bytes[place % 100..][..length(place)]).collect();
                    for backend in Backend::available() {
                        let mut hashes = vec![H::default(); count];
                        let kernel = HashSlices {
                            function: sip.with_backend(backend).function::<H>(),
                            slices: &&inputs[..],
                            first: 0,
                            hashes: H::hashes(&mut hashes),
                        };
                        let done = backend.run_64(backend.gathering_width_64(), kernel);
                        // Fewer than there are lanes are left.
                        assert!(done <= count && count - done < backend.gathering_width_64());
                        for (input, found) in inputs.iter().zip(&hashes[..done]) {
                            assert_eq!(*found, hash(&sip, input), "{backend}: {}", input.len());
                        }
                    }
                }
            }
        }
        check::<u64>(|sip, input| sip.hash(input));
        check::<u128>(|sip, input| sip.hash128(input));
    }
}

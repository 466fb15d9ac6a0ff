//! The kernel for many messages: some blocks of each ([`compress_lanes`]), or all of as many blocks each, from the initial
//! state to the digests ([`hash_gang`]).

use lanesum_lanes::{Backend, Blocks, Kernel, MAX_LANES, Room, Word};

use crate::kernel::{States, add_each, compress, forward_by, forward_by_all, step};
use crate::table::{INITIAL, STEPS};

/// [`compress`] in up to [`MAX_LANES`] lanes. It is compiled in this crate, and not once more for each kind of stream.
pub(crate) fn compress_lanes(
    backend: Backend,
    width: usize,
    states: &mut States<MAX_LANES>,
    blocks: Blocks<'_>,
) {
    compress(backend, width, states, &[blocks]);
}

/// Hashes whole messages side by side, of as many blocks each.
struct HashGang<'a, const N: usize> {
    parts: &'a [Blocks<'a, N>],
    last: Option<&'a [u32; 64]>,
    digests: &'a mut [[u8; 16]],
}

/// The digests of messages in the first `width` lanes. A message is the blocks of one part after the other, and then
/// perhaps one that is the same in all lanes, given by the table's constants with its words added.
///
/// Where `N` is more than [`MAX_LANES`], there may be several times `width` messages, and they go `width` at a time. The
/// first block of the next ones is made ready during the last one of these, which is worth a twelfth of a block; but looking
/// where a block is found takes a hundredth of each, so that is for short messages.
///
/// # Panics
/// When `width` is not one of the backend's, or there are other numbers of messages or fewer digests than `width`.
pub(crate) fn hash_gang<const N: usize>(
    backend: Backend,
    width: usize,
    parts: &[Blocks<'_, N>],
    last: Option<&[u32; 64]>,
    digests: &mut [[u8; 16]],
) {
    let fit = |lanes: usize| lanes <= width || N > MAX_LANES && lanes.is_multiple_of(width);
    assert!(parts.iter().all(|blocks| fit(blocks.lanes())));
    backend.run(width, HashGang { parts, last, digests });
}

impl<const N: usize> Kernel for HashGang<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        let Self { parts, last, digests } = self;
        let initial = INITIAL.map(|word| W::splat(word));
        if N <= MAX_LANES {
            end_gang(forward_by_all(initial, parts), last, digests);
            return;
        }
        let (lanes, count) = (parts[0].lanes(), parts.iter().map(Blocks::count).sum());
        let mut room = Room::<W>::new();
        let mut feed = room.begin_gangs(parts, lanes);
        for (_, digests) in (0..lanes).step_by(W::LANES).zip(digests.chunks_mut(W::LANES)) {
            let state = match &mut feed {
                Some(feed) => forward_by(count, initial, feed),
                None => initial,
            };
            end_gang(state, last, digests);
        }
    }
}

/// The digests of a gang after the block that is the same in all lanes, if there is one. No closure: that would not be
/// compiled with the instructions of the backend.
#[inline(always)]
fn end_gang<W: Word>(mut state: [W; 4], last: Option<&[u32; 64]>, digests: &mut [[u8; 16]]) {
    if let Some(sums) = last {
        state = forward_by_same(state, sums);
    }
    W::store_rows(state, digests);
}

/// States after one more block, the same in all lanes, of which `sums` has X\[k\] + T\[i\] of each step. Four steps
/// of a round are like the four before, and what they add comes from memory: so they are a loop, and leave the
/// cache of instructions to the kernel of blocks that differ.
#[inline(always)]
fn forward_by_same<W: Word>(before: [W; 4], sums: &[u32; 64]) -> [W; 4] {
    let mut state = before;
    macro_rules! round {
        ($($index:literal)*: $from:literal) => {
            for four in &sums[$from..$from + 16].as_chunks::<4>().0[..] {
                $(state = step::<W, $index, { STEPS[$index].shift }>(state, W::splat(four[$index % 4]));)*
            }
        };
    }
    round! { 0 1 2 3: 0 }
    round! { 16 17 18 19: 16 }
    round! { 32 33 34 35: 32 }
    round! { 48 49 50 51: 48 }
    add_each(state, before)
}

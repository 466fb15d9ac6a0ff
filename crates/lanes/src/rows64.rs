//! Feeds a kernel of 64-bit words with the words of 128-byte blocks.
//!
//! The words are transposed at the start of their block. Transposing them during the block before,
//! as `feed.rs` does for 32 bits, was no faster for SHA-512, whose blocks take four times as long.

use crate::blocks::{BLOCK_LEN, BlockRow, Blocks};
use crate::fetch::fetch_line;
use crate::{Source, WORD_LEN, Word64};

/// The computation of a kernel of 64-bit words on blocks.
pub trait Compression64 {
    /// The state: an array of words.
    type State<W: Word64>: Copy;

    /// Returns the state after a block.
    fn block<W: Word64>(state: Self::State<W>, block: &LongBlock<'_>) -> Self::State<W>;

    /// Returns the state to continue with after the last block of a part. Parts are numbered from
    /// 0.
    fn end_part<W: Word64>(&mut self, state: Self::State<W>, part: usize) -> Self::State<W>;
}

/// Runs a compression over all blocks of all parts in order, separately in each lane. The blocks
/// have 128 bytes, two of those that [`Blocks`] counts.
///
/// # Panics
/// Panics if a part has fewer inputs than lanes, or an odd number of blocks of 64 bytes.
#[inline(always)]
pub fn compress_64<C: Compression64, W: Word64>(
    compression: &mut C,
    mut state: C::State<W>,
    parts: &[Blocks<'_>],
) {
    for (part, blocks) in parts.iter().enumerate() {
        assert!(blocks.count().is_multiple_of(2), "half a block");
        for index in (0..blocks.count()).step_by(2) {
            fetch_ahead::<W>(blocks, index);
            let halves = [index, index + 1].map(|index| blocks.row(index, W::LANES));
            state = C::block(state, &LongBlock { halves, lanes: W::LANES });
        }
        state = compression.end_part(state, part);
    }
}

/// Prefetches both lines of a later block. The CPU prefetches a few lanes by itself, but too late
/// for the first-level cache.
#[inline(always)]
fn fetch_ahead<W: Word64>(blocks: &Blocks<'_>, index: usize) {
    for index in [index + 8, index + 9] {
        if W::LANES > 1 && index < blocks.count() {
            let row = blocks.row(index, W::LANES);
            (0..W::LANES).for_each(|lane| fetch_line::<1>(row.bytes::<1>(lane, 0).as_ptr()));
        }
    }
}

/// One block of 128 bytes for each lane: sixteen words, little-endian.
#[derive(Clone, Copy)]
pub struct LongBlock<'a> {
    /// Both have `lanes` lanes.
    halves: [BlockRow<'a>; 2],
    lanes: usize,
}

impl<'a> LongBlock<'a> {
    /// Returns a half of the block of a lane.
    #[inline(always)]
    fn half(&self, half: usize, lane: usize) -> BlockRow<'a> {
        assert!(lane < self.lanes, "no such lane");
        self.halves[half]
    }
}

impl Source for LongBlock<'_> {
    #[inline(always)]
    fn least(&self) -> usize {
        2 * BLOCK_LEN / WORD_LEN
    }

    #[inline(always)]
    fn longest(&self) -> usize {
        2 * BLOCK_LEN
    }

    #[inline(always)]
    fn at<const M: usize>(&self, lane: usize, index: usize) -> &[u8; M] {
        let at = index * WORD_LEN;
        self.half(at / BLOCK_LEN, lane).bytes(lane, at % BLOCK_LEN)
    }

    #[inline(always)]
    fn last(&self, lane: usize) -> &[u8; WORD_LEN] {
        self.half(1, lane).bytes(lane, BLOCK_LEN - WORD_LEN)
    }

    #[inline(always)]
    fn input(&self, lane: usize) -> &[u8] {
        self.half(0, lane).rest(lane, 2 * BLOCK_LEN)
    }

    #[inline(always)]
    fn lengths<W: Word64>(&self, _: usize) -> W {
        W::splat(2 * BLOCK_LEN as u64)
    }
}

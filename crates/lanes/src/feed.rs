//! Feeds a kernel with the words of its blocks; each lane of a word comes from a different input.
//!
//! Words of one lane are loaded when they are needed. Blocks of many lanes must be transposed
//! first, which is as much work as a dozen steps. Transposing before the steps uses other execution
//! units than the steps do. Transposing in parts, between the steps of the previous block, takes
//! half of the time. So a kernel takes sixteen turns per block: in MD5, one before every fourth of
//! the 64 steps. In some turns the feed transposes a part of the next block. Transposed words lie
//! in memory and are operands of sums from there.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::blocks::{BlockRow, Blocks, MAX_LANES};
use crate::fetch::fetch_line;
use crate::word::Word;

/// The number of turns per block.
pub const TURNS: usize = 16;

/// The computation of a kernel on blocks.
pub trait Compression {
    /// The state: an array of words.
    type State<W: Word>: Copy;

    /// Returns the state after a block. Takes all turns of the feed in order.
    fn block<W: Word>(state: Self::State<W>, feed: &mut BlockFeed<'_, W>) -> Self::State<W>;

    /// Returns the state to continue with after the last block of a part. Parts are numbered from
    /// 0.
    fn end_part<W: Word>(&mut self, state: Self::State<W>, part: usize) -> Self::State<W>;
}

/// Runs a compression over all blocks of all parts in order, separately in each lane.
///
/// ```
/// use lanesum_lanes::{
///     Backend, BlockFeed, Blocks, Compression, Kernel, Numbers, TURNS, Word, compress,
/// };
///
/// /// The sum of the first words of all blocks, in each lane.
/// struct Sum([u32; 4]);
///
/// impl Compression for Sum {
///     type State<W: Word> = W;
///
///     #[inline(always)]
///     fn block<W: Word>(sum: W, feed: &mut BlockFeed<'_, W>) -> W {
///         (0..TURNS).for_each(|turn| feed.turn(turn));
///         sum.add(feed.word(0))
///     }
///
///     #[inline(always)]
///     fn end_part<W: Word>(&mut self, sum: W, _: usize) -> W {
///         sum.store(&mut self.0);
///         sum
///     }
/// }
///
/// struct SumOf<'a>(Blocks<'a>);
///
/// impl Kernel for SumOf<'_> {
///     type Output = [u32; 4];
///
///     #[inline(always)]
///     fn run<W: Word>(self) -> [u32; 4] {
///         let mut sum = Sum([0; 4]);
///         compress(&mut sum, W::splat(0), &[self.0]);
///         sum.0
///     }
/// }
///
/// let inputs: [&[u8]; 4] = [&[1; 128], &[2; 128], &[3; 128], &[4; 128]];
/// let sums = Backend::best().run(4, SumOf(Blocks::new(&inputs, 2)));
/// assert_eq!(sums, [0x0202_0202, 0x0404_0404, 0x0606_0606, 0x0808_0808]);
/// ```
///
/// # Panics
/// Panics if a part has fewer inputs than lanes, or if the compression does not take all turns.
#[inline(always)]
pub fn compress<C: Compression, W: Word>(
    compression: &mut C,
    mut state: C::State<W>,
    parts: &[Blocks<'_>],
) {
    let ready = &mut [Transposed([[MaybeUninit::uninit(); MAX_LANES]; 16]); 2];
    if W::PARTS > 0
        && let Some(row) = first_of(parts, W::LANES)
    {
        // The places of unused lanes are initialized, too.
        perhaps_write(ready);
        W::in_own_frame(
            #[inline(always)]
            || W::transpose_all(row, &mut ready[0], 0),
        );
    }
    let mut number = 0;
    for (part, blocks) in parts.iter().enumerate() {
        for index in 0..blocks.count() {
            fetch_ahead::<W>(blocks, index);
            let row = blocks.row(index, W::LANES);
            let next = if W::PARTS == 0 {
                None
            } else if index + 1 < blocks.count() {
                Some(blocks.row(index + 1, W::LANES))
            } else {
                first_of(&parts[part + 1..], W::LANES)
            };
            let mut feed = BlockFeed { ready, row, next, number, turns: 0, word: PhantomData };
            state = C::block(state, &mut feed);
            // Otherwise the next block's words could be stale or uninitialized.
            // (A message with the number would keep the feed out of registers.)
            assert!(feed.turns == TURNS, "not all turns of a block were taken");
            number += 1;
        }
        state = compression.end_part(state, part);
    }
}

/// Prefetches later blocks. The CPU prefetches a few lanes by itself, but too late for the
/// first-level cache. It does not prefetch 32 lanes in which a new message starts every few blocks.
#[inline(always)]
fn fetch_ahead<W: Word>(blocks: &Blocks<'_>, index: usize) {
    let index = index + if W::LANES < 8 { 32 } else { 4 };
    if W::LANES != 8 && index < blocks.count() {
        let row = blocks.row(index, W::LANES);
        for address in (0..W::LANES).map(|lane| row.bytes::<1>(lane, 0)) {
            if W::LANES < 8 {
                fetch_line::<1>(address.as_ptr())
            } else {
                fetch_line::<2>(address.as_ptr())
            }
        }
    }
}

/// Returns the first block of some parts.
#[inline(always)]
fn first_of<'a>(parts: &[Blocks<'a>], lanes: usize) -> Option<BlockRow<'a>> {
    parts.iter().find(|blocks| blocks.count() > 0).map(|blocks| blocks.row(0, lanes))
}

/// The words of a block, as the kernel needs them.
pub struct BlockFeed<'r, W> {
    /// The words of this block and of the next one, by block number modulo 2.
    ready: &'r mut [Transposed; 2],
    row: BlockRow<'r>,
    /// The block that is being transposed.
    next: Option<BlockRow<'r>>,
    /// The number of previous blocks.
    number: usize,
    /// The number of turns taken.
    turns: usize,
    word: PhantomData<W>,
}

impl<W: Word> BlockFeed<'_, W> {
    /// Takes turn `turn`, 0 to 15. A constant is fastest.
    ///
    /// # Panics
    /// Panics if `turn` is not the next one.
    #[inline(always)]
    pub fn turn(&mut self, turn: usize) {
        assert!(turn == self.turns && turn < TURNS, "not the next turn");
        self.turns += 1;
        if W::PARTS == 0 {
            return;
        }
        if let Some(next) = self.next {
            for part in turn * W::PARTS / TURNS..(turn + 1) * W::PARTS / TURNS {
                W::transpose(next, &mut self.ready[(self.number + 1) % 2], 0, part);
            }
        }
        // The words are read again where they are used, which leaves the registers to other values.
        perhaps_write(self.ready);
    }

    /// Returns word `number` of this block, little-endian and transposed: lane `i` is that word of
    /// input `i`. The word is available after turn `number / 4`.
    #[inline(always)]
    #[must_use]
    pub fn word(&self, number: usize) -> W {
        W::word(self.row, &self.ready[self.number % 2], 0, number)
    }
}

/// The words of a block of each lane, transposed: number `n` of lane `l` is `0[n][l]`.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
#[cfg_attr(
    not(all(target_arch = "x86_64", target_feature = "sse2")),
    expect(dead_code, reason = "no words are ahead")
)]
pub struct Transposed(pub(crate) [[MaybeUninit<u32>; MAX_LANES]; 16]);

/// Makes the compiler assume that the memory was written. It emits no instruction.
#[inline(always)]
fn perhaps_write<T>(memory: &mut T) {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    // SAFETY: no instruction, so nothing that could be violated.
    unsafe {
        core::arch::asm!("/* {0} */", in(reg) memory, options(nostack, preserves_flags));
    }
    #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
    core::hint::black_box(memory);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, Kernel, MAX_LANES};

    /// Skips some turns of each block.
    struct Few<const TAKEN: usize>;

    impl<const TAKEN: usize> Compression for Few<TAKEN> {
        type State<W: Word> = W;

        fn block<W: Word>(state: W, feed: &mut BlockFeed<'_, W>) -> W {
            (0..TAKEN).for_each(|turn| feed.turn(turn));
            state.add(feed.word(15))
        }

        fn end_part<W: Word>(&mut self, state: W, _: usize) -> W {
            let mut numbers = [0; MAX_LANES];
            state.store(&mut numbers);
            assert_eq!(numbers[..W::LANES], [0x0303_0303; MAX_LANES][..W::LANES]);
            W::splat(0)
        }
    }

    struct Run<const TAKEN: usize>;

    impl<const TAKEN: usize> Kernel for Run<TAKEN> {
        type Output = ();

        #[inline(always)]
        fn run<W: Word>(self) {
            let inputs: [&[u8]; MAX_LANES] = [&[1; 192]; MAX_LANES];
            let parts = [Blocks::new(&inputs, 3); 2];
            compress(&mut Few::<TAKEN>, W::splat(0), &parts);
        }
    }

    /// A kernel cannot read words that were not loaded or transposed.
    #[test]
    fn a_kernel_that_skips_steps_panics() {
        for backend in Backend::available() {
            for &width in backend.widths() {
                backend.run(width, Run::<16>);
                let of_fewer = std::panic::catch_unwind(|| backend.run(width, Run::<15>));
                let message = *of_fewer.unwrap_err().downcast::<&str>().unwrap();
                assert_eq!(message, "not all turns of a block were taken", "{backend} {width}");
            }
        }
    }
}

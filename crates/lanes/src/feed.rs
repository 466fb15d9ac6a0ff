//! What hands a kernel the words of its blocks, a lane of each word from another input.
//!
//! A kernel has sixteen turns for a block: with MD5's 64 steps, one before every fourth. In a turn
//! some words have a part of their work done:
//!
//! - Words that are not ahead load four words in each of the first four turns, right before the
//!   first round needs them ([`InTurns`]).
//! - Others are *ahead*. Their blocks have to be transposed first, which of many lanes is as much
//!   work as a dozen steps. Done in front of the steps, it leaves some units idle and the steps
//!   leave others idle; done between the steps of the block before, in small parts, it takes half
//!   of the time. Few lanes leave their units idle as well, but their steps wait for each other,
//!   and so must not wait for a unit: those are transposed in units that the steps do not use.
//!   Words that are ready lie in memory, from where they are operands of sums.

use core::mem::MaybeUninit;
use core::ops::Range;

use crate::blocks::{BLOCK_LEN, BlockRow, Blocks};
use crate::fetch::fetch_line;
use crate::word::{Word, WordSource};

/// Turns for a block.
pub const TURNS: usize = 16;

/// What a kernel does with blocks.
pub trait Compression {
    /// The state after a block. Takes all turns of the feed, in their order.
    fn block<W: Word>(state: [W; 4], feed: &mut BlockFeed<'_, W>) -> [W; 4];

    /// The state from which to go on after the last block of a part. Parts are numbered from 0.
    fn end_part<W: Word>(&mut self, state: [W; 4], part: usize) -> [W; 4];
}

/// Runs a compression over all blocks of one part after the other, in each lane by itself.
///
/// ```
/// use lanesum_lanes::{Backend, BlockFeed, Blocks, Compression, Kernel, TURNS, Word, compress};
///
/// /// The sum of the first words of all blocks, in each lane.
/// struct Sum([[u8; 16]; 4]);
///
/// impl Compression for Sum {
///     #[inline(always)]
///     fn block<W: Word>([sum, ..]: [W; 4], feed: &mut BlockFeed<'_, W>) -> [W; 4] {
///         (0..TURNS).for_each(|turn| feed.turn(turn));
///         [sum.add(feed.word(0)); 4]
///     }
///
///     #[inline(always)]
///     fn end_part<W: Word>(&mut self, state: [W; 4], _: usize) -> [W; 4] {
///         W::store_rows(state, &mut self.0);
///         state
///     }
/// }
///
/// struct SumOf<'a>(Blocks<'a>);
///
/// impl Kernel for SumOf<'_> {
///     type Output = [[u8; 16]; 4];
///
///     #[inline(always)]
///     fn run<W: Word>(self) -> [[u8; 16]; 4] {
///         let mut sum = Sum([[0; 16]; 4]);
///         compress(&mut sum, [W::splat(0); 4], &[self.0]);
///         sum.0
///     }
/// }
///
/// let inputs: [&[u8]; 4] = [&[1; 128], &[2; 128], &[3; 128], &[4; 128]];
/// let sums = Backend::best().run(4, SumOf(Blocks::new(&inputs, 2)));
/// assert_eq!(sums, [[2; 16], [4; 16], [6; 16], [8; 16]]);
/// ```
///
/// # Panics
/// When a part has fewer inputs than lanes, or the compression does not take all turns.
#[inline(always)]
pub fn compress<C: Compression, W: Word>(
    compression: &mut C,
    mut state: [W; 4],
    parts: &[Blocks<'_>],
) {
    let mut memory = MaybeUninit::uninit();
    let transposed = Plain::any(&mut memory);
    let mut source = W::Source::nothing();
    if BlockFeed::<W>::IS_AHEAD
        && let Some(row) = first_of(parts, W::LANES)
    {
        source = W::in_own_frame(
            #[inline(always)]
            || W::Source::begin(transposed, row, 0),
        );
    }
    let mut number = 0;
    for (part, blocks) in parts.iter().enumerate() {
        for index in 0..blocks.count() {
            let row = if !BlockFeed::<W>::IS_AHEAD {
                Some(blocks.row(index, W::LANES))
            } else if index + 1 < blocks.count() {
                Some(blocks.row(index + 1, W::LANES))
            } else {
                first_of(&parts[part + 1..], W::LANES)
            };
            let mut feed = BlockFeed { transposed, source, row, number, turns: 0 };
            state = C::block(state, &mut feed);
            // Otherwise the next block's words would be whatever lay in memory.
            // (A message with the number would keep the feed out of registers.)
            assert!(feed.turns == TURNS, "not all turns of a block were taken");
            source = feed.source;
            number += 1;
        }
        state = compression.end_part(state, part);
    }
}

/// The first block of some parts.
#[inline(always)]
fn first_of<'a>(parts: &[Blocks<'a>], lanes: usize) -> Option<BlockRow<'a>> {
    parts.iter().find(|blocks| blocks.count() > 0).map(|blocks| blocks.row(0, lanes))
}

/// The words of a block.
pub struct BlockFeed<'r, W: Word> {
    transposed: &'r mut <W::Source as WordSource<W>>::Transposed,
    source: W::Source,
    /// The block on which work is done: this one, or of words that are ahead the next one, if there
    /// is one.
    row: Option<BlockRow<'r>>,
    /// How many blocks came before.
    number: usize,
    /// How many have been taken.
    turns: usize,
}

impl<W: Word> BlockFeed<'_, W> {
    /// Whether words are transposed ahead, between the steps of the block before.
    pub const IS_AHEAD: bool = <W::Source as WordSource<W>>::PARTS > 0;

    /// Takes turn number `turn`, 0 to 15. For speed it should be a constant.
    ///
    /// # Panics
    /// When it is not the next one.
    #[inline(always)]
    pub fn turn(&mut self, turn: usize) {
        assert!(turn == self.turns && turn < TURNS, "not the next turn");
        self.turns += 1;
        if let Some(row) = self.row {
            let number = self.number + usize::from(Self::IS_AHEAD);
            let turn = Turn { turn, others: 0, all: <W::Source as WordSource<W>>::PARTS };
            self.source = self.source.prepare(self.transposed, row, 0, number, turn);
        } else {
            // Nothing is to be kept in registers for the turns that follow.
            self.source = W::Source::nothing();
        }
        self.transposed.leave_in_memory();
    }

    /// Word `number` of this block, little-endian and transposed: lane `i` is that word of input
    /// `i`. It is there after turn `number / 4`.
    #[inline(always)]
    #[must_use]
    pub fn word(&self, number: usize) -> W {
        self.source.word(self.transposed, self.number, number)
    }
}

/// A turn, and whose parts come when.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    turn: usize,
    /// Parts of others that come first.
    others: usize,
    /// The parts of all.
    all: usize,
}

impl Turn {
    /// The same for what comes after so many more parts.
    #[inline(always)]
    pub(crate) const fn after(self, parts: usize) -> Self {
        Self { others: self.others + parts, ..self }
    }

    /// Which of its `parts` are due. The parts of all are spread evenly over the turns.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "no words are ahead"))]
    #[inline(always)]
    pub(crate) fn parts(self, parts: usize) -> Range<usize> {
        let from = self.turn * self.all / TURNS;
        let to = (self.turn + 1) * self.all / TURNS;
        from.saturating_sub(self.others)..to.saturating_sub(self.others).min(parts)
    }
}

/// Words that are loaded a quarter of a block at a time.
pub trait LoadQuarter: Word {
    /// How many blocks ahead of the one that is loaded a hint goes to fetch another; 0 for none.
    const FETCH_AHEAD: usize = 0;

    /// Words `4 * quarter` to `4 * quarter + 3` of a block of each lane.
    fn load_quarter(row: BlockRow<'_>, quarter: usize) -> [Self; 4];
}

/// A source of words that are loaded in the first four turns of their own block.
#[derive(Clone, Copy)]
pub struct InTurns<W>([W; 16]);

impl<W: LoadQuarter> WordSource<W> for InTurns<W> {
    type Transposed = ();
    const PARTS: usize = 0;

    #[inline(always)]
    fn nothing() -> Self {
        Self([W::splat(0); 16])
    }

    #[inline(always)]
    fn begin((): &mut (), _: BlockRow<'_>, _: usize) -> Self {
        Self::nothing()
    }

    #[inline(always)]
    fn prepare(
        mut self,
        (): &mut (),
        row: BlockRow<'_>,
        first: usize,
        _: usize,
        Turn { turn, .. }: Turn,
    ) -> Self {
        if turn < 4 {
            let row = row.skip_lanes(first);
            if turn == 0 && W::FETCH_AHEAD > 0 {
                for lane in 0..W::LANES {
                    let ahead = row.address(lane).wrapping_add(W::FETCH_AHEAD * BLOCK_LEN);
                    fetch_line::<1>(ahead);
                }
            }
            self.0[4 * turn..][..4].copy_from_slice(&W::load_quarter(row, turn));
        }
        self
    }

    #[inline(always)]
    fn word(&self, (): &(), _: usize, word: usize) -> W {
        self.0[word]
    }
}

/// Types for memory of which every content is a value.
///
/// # Safety
/// Every content of the type's memory must be a value.
pub unsafe trait Plain: Sized {
    /// Some value.
    #[inline(always)]
    fn any(memory: &mut MaybeUninit<Self>) -> &mut Self {
        if size_of::<Self>() > 0 {
            perhaps_write(memory.as_mut_ptr());
        }
        // SAFETY: either there is no memory, or assembly might have written it, so that there is
        // some content; and every content is a value, as the implementation promises.
        unsafe { memory.assume_init_mut() }
    }

    /// The same value, which the optimiser has to read again where it is used: registers are for
    /// others.
    #[inline(always)]
    fn leave_in_memory(&mut self) {
        if size_of::<Self>() > 0 {
            perhaps_write(self);
        }
    }
}

/// Assembly of no instruction that might have written there.
#[inline(always)]
fn perhaps_write<T>(memory: *mut T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: no instruction, so nothing that could be violated.
    unsafe {
        core::arch::asm!("/* {0} */", in(reg) memory, options(nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "x86_64"))]
    unreachable!("no word is ahead, so there is no {memory:?}");
}

// SAFETY: there is no content.
unsafe impl Plain for () {}
// SAFETY: every content of one is a value, and so is that of both.
unsafe impl<A: Plain, B: Plain> Plain for (A, B) {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, Kernel, MAX_LANES};

    /// Takes some turns of each block only.
    struct Few<const TAKEN: usize>;

    impl<const TAKEN: usize> Compression for Few<TAKEN> {
        fn block<W: Word>(state: [W; 4], feed: &mut BlockFeed<'_, W>) -> [W; 4] {
            (0..TAKEN).for_each(|turn| feed.turn(turn));
            [state[0].add(feed.word(15)); 4]
        }

        fn end_part<W: Word>(&mut self, state: [W; 4], _: usize) -> [W; 4] {
            let mut rows = [[0; 16]; MAX_LANES];
            W::store_rows(state, &mut rows);
            assert_eq!(rows[..W::LANES], [[3; 16]; MAX_LANES][..W::LANES]);
            [W::splat(0); 4]
        }
    }

    struct Run<const TAKEN: usize>;

    impl<const TAKEN: usize> Kernel for Run<TAKEN> {
        type Output = ();

        #[inline(always)]
        fn run<W: Word>(self) {
            let inputs: [&[u8]; MAX_LANES] = [&[1; 192]; MAX_LANES];
            let parts = [Blocks::new(&inputs, 3); 2];
            compress(&mut Few::<TAKEN>, [W::splat(0); 4], &parts);
        }
    }

    /// No kernel sees words that have not been loaded or transposed.
    #[test]
    fn all_turns_must_be_taken() {
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

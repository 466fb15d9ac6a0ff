//! What hands a kernel the words of its blocks, a lane of each word from another input.
//!
//! A kernel has sixteen turns for a block: with MD5's 64 steps, one before every fourth. In a turn some words have
//! a part of their work done:
//!
//! - Few lanes load four words in each of the first four turns, right before the first round needs them, or all in
//!   the first turn.
//! - Many lanes are *ahead*. Their blocks have to be transposed first, which is as much work as a dozen
//!   steps. Done in front of the steps, it leaves some units idle and the steps leave others idle;
//!   done between the steps of the block before, in small parts, it takes half of the time. Words that are ready lie
//!   in memory, from where they are operands of sums.

use core::mem::MaybeUninit;
use core::ops::Range;

use plain::Plain;

use crate::{Blocks, Word};

/// Turns for a block.
pub const TURNS: usize = 16;

/// Memory for the words that are ready.
pub struct Room<W: Word>(MaybeUninit<W::Ahead>);

impl<W: Word> Room<W> {
    /// Memory that holds anything.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self(MaybeUninit::uninit())
    }

    /// Begins with the first of blocks, if there is one.
    #[inline(always)]
    pub fn begin<'r, const N: usize>(
        &'r mut self,
        blocks: &'r Blocks<'r, N>,
    ) -> Option<Feed<'r, W, N>> {
        if blocks.count() == 0 {
            return None;
        }
        let ahead = W::Ahead::any(&mut self.0);
        W::begin(ahead, blocks, 0);
        Some(Feed { ahead, held: W::hold_nothing(), blocks, index: 0 })
    }
}

impl<W: Word> Default for Room<W> {
    fn default() -> Self {
        Self::new()
    }
}

/// The words of one block after the other.
///
/// ```
/// use lanesum_lanes::{Backend, Blocks, Kernel, MAX_LANES, Room, TURNS, Word};
///
/// /// The sum of the first words of all blocks, in each lane.
/// struct Sum<'a>(Blocks<'a>);
///
/// impl Kernel for Sum<'_> {
///     type Output = [u32; MAX_LANES];
///
///     #[inline(always)]
///     fn run<W: Word>(self) -> [u32; MAX_LANES] {
///         let mut sums = [0; MAX_LANES];
///         let mut room = Room::<W>::new();
///         let Some(mut feed) = room.begin(&self.0) else { return sums };
///         let mut sum = W::splat(0);
///         loop {
///             (0..TURNS).for_each(|turn| feed.turn(turn));
///             sum = sum.add(feed.word(0));
///             if !feed.next_block() {
///                 break;
///             }
///         }
///         sum.store(&mut sums);
///         sums
///     }
/// }
///
/// let inputs = [[1; 128], [2; 128]];
/// let blocks = Blocks::new(inputs.iter().map(|input| &input[..]), 2);
/// let sums = Backend::best().run(4, Sum(blocks));
/// assert_eq!(sums[..2], [2 * 0x0101_0101, 2 * 0x0202_0202]);
/// ```
pub struct Feed<'r, W: Word, const N: usize> {
    ahead: &'r mut W::Ahead,
    held: W::Held,
    blocks: &'r Blocks<'r, N>,
    index: usize,
}

impl<W: Word, const N: usize> Feed<'_, W, N> {
    /// Takes turn number `turn`, 0 to 15. For speed it should be a constant.
    #[inline(always)]
    pub fn turn(&mut self, turn: usize) {
        let turn = Turn { turn, others: 0, all: W::PARTS };
        self.held = W::prepare(self.held, self.ahead, self.blocks, 0, self.index, turn);
        self.ahead.leave_in_memory();
    }

    /// Word `number` of this block, little-endian and transposed: lane `i` is that word of input `i`. It is there
    /// after turn `number / 4`.
    #[inline(always)]
    #[must_use]
    pub fn word(&self, number: usize) -> W {
        W::word(&self.held, self.ahead, self.index, number)
    }

    /// Goes on to the next block, after sixteen turns, and says whether there is one.
    #[inline(always)]
    pub fn next_block(&mut self) -> bool {
        self.index += 1;
        self.index < self.blocks.count()
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
    /// The same for who comes after so many more parts.
    #[inline(always)]
    pub(crate) const fn after(self, parts: usize) -> Self {
        Self { others: self.others + parts, ..self }
    }

    /// The number of the turn.
    #[inline(always)]
    pub(crate) const fn number(self) -> usize {
        self.turn
    }

    /// Which of its parts somebody has to do. The parts of all are spread evenly over the turns.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "no words are ahead"))]
    #[inline(always)]
    pub(crate) const fn parts(self) -> Range<usize> {
        let from = self.turn * self.all / TURNS;
        let to = (self.turn + 1) * self.all / TURNS;
        from.saturating_sub(self.others)..to.saturating_sub(self.others)
    }
}

/// In a module that others cannot name, so that they cannot implement it.
pub(crate) mod plain {
    use core::mem::MaybeUninit;

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
            // SAFETY: either there is no memory, or assembly might have written it, so that there is some content;
            // and every content is a value, as who implements this promises.
            unsafe { memory.assume_init_mut() }
        }

        /// The same value, which the optimiser has to read again where it is used: registers are for others.
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
}

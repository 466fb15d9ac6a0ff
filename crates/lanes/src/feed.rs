//! What hands a kernel the words of its blocks, a lane of each word from another input.
//!
//! A kernel has sixteen turns for a block: with MD5's 64 steps, one before every fourth. In a turn some words have
//! a part of their work done:
//!
//! - Words that are not ahead load four words in each of the first four turns, right before the first round needs them, or
//!   all in the first turn.
//! - Others are *ahead*. Their blocks have to be transposed first, which of many lanes is as much work as a dozen
//!   steps. Done in front of the steps, it leaves some units idle and the steps leave others idle;
//!   done between the steps of the block before, in small parts, it takes half of the time. Few lanes leave their units idle
//!   as well, but their steps wait for each other, and so must not wait for a unit: those are transposed in units that the
//!   steps do not use. Words that are ready lie in memory, from where they are operands of sums.

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
    ) -> Option<Feed<'r, W, InOrder<'r, N>, N>> {
        (blocks.count() > 0).then(|| self.begin_at(InOrder { blocks, index: 0 }))
    }

    /// Begins with the first block of the first lanes, if there is one. Behind the blocks of one part come those of the
    /// next, and behind all of these lanes the same of as many lanes more, as long as there are less than `lanes`.
    #[inline(always)]
    pub fn begin_gangs<'r, const N: usize>(
        &'r mut self,
        parts: &'r [Blocks<'r, N>],
        lanes: usize,
    ) -> Option<Feed<'r, W, InGangs<'r, N>, N>> {
        let part = part_from(0, parts)?;
        Some(self.begin_at(InGangs { parts, lanes, number: 0, first: 0, part, index: 0 }))
    }

    #[inline(always)]
    fn begin_at<P: Place<N>, const N: usize>(&mut self, mut place: P) -> Feed<'_, W, P, N> {
        let ahead = W::Ahead::any(&mut self.0);
        let (blocks, first, _) = place.block();
        W::begin(ahead, blocks, first);
        if W::PARTS > 0 {
            place = place.next::<W>();
        }
        Feed { ahead, held: W::hold_nothing(), place }
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
///         let mut feed = room.begin(&self.0).expect("two blocks");
///         let mut sum = W::splat(0);
///         for _ in 0..self.0.count() {
///             (0..TURNS).for_each(|turn| feed.turn(turn));
///             sum = sum.add(feed.word(0));
///             feed.next_block();
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
pub struct Feed<'r, W: Word, P, const N: usize> {
    ahead: &'r mut W::Ahead,
    held: W::Held,
    /// The block on which work is done: this one, or where words are ahead the next one.
    place: P,
}

impl<W: Word, P: Place<N>, const N: usize> Feed<'_, W, P, N> {
    /// Takes turn number `turn`, 0 to 15. For speed it should be a constant.
    ///
    /// # Panics
    /// Behind the last block.
    #[inline(always)]
    pub fn turn(&mut self, turn: usize) {
        let turn = Turn { turn, others: 0, all: W::PARTS };
        let (blocks, first, index) = self.place.block();
        let number = self.place.number();
        self.held = W::prepare(self.held, self.ahead, number, blocks, first, index, turn);
        self.ahead.leave_in_memory();
    }

    /// Word `number` of this block, little-endian and transposed: lane `i` is that word of input `i`. It is there
    /// after turn `number / 4`.
    #[inline(always)]
    #[must_use]
    pub fn word(&self, number: usize) -> W {
        let block = self.place.number() - usize::from(W::PARTS > 0);
        W::word(&self.held, self.ahead, block, number)
    }

    /// Goes on to the next block, after sixteen turns.
    #[inline(always)]
    pub fn next_block(&mut self) {
        self.place = self.place.next::<W>();
    }
}

/// Where a feed is: at a block, or behind the last one.
pub trait Place<const N: usize>: Copy {
    /// Of which blocks, from which lane on, and which of them. Behind the last block there is none of this number.
    fn block(&self) -> (&Blocks<'_, N>, usize, usize);

    /// How many blocks of each lane came before.
    fn number(&self) -> usize;

    /// The next one.
    #[must_use]
    fn next<W: Word>(self) -> Self;
}

/// One block of each lane after the other.
#[derive(Clone, Copy, Debug)]
pub struct InOrder<'r, const N: usize> {
    blocks: &'r Blocks<'r, N>,
    index: usize,
}

impl<const N: usize> Place<N> for InOrder<'_, N> {
    #[inline(always)]
    fn block(&self) -> (&Blocks<'_, N>, usize, usize) {
        (self.blocks, 0, self.index)
    }

    #[inline(always)]
    fn number(&self) -> usize {
        self.index
    }

    #[inline(always)]
    fn next<W: Word>(self) -> Self {
        Self { index: self.index + 1, ..self }
    }
}

/// The blocks of some lanes, one part after the other, and then those of the lanes behind these.
#[derive(Clone, Copy, Debug)]
pub struct InGangs<'r, const N: usize> {
    parts: &'r [Blocks<'r, N>],
    lanes: usize,
    number: usize,
    first: usize,
    part: usize,
    index: usize,
}

impl<const N: usize> Place<N> for InGangs<'_, N> {
    #[inline(always)]
    fn block(&self) -> (&Blocks<'_, N>, usize, usize) {
        (&self.parts[self.part], self.first, self.index)
    }

    #[inline(always)]
    fn number(&self) -> usize {
        self.number
    }

    #[inline(always)]
    fn next<W: Word>(self) -> Self {
        let next = Self { number: self.number + 1, index: self.index + 1, ..self };
        if next.index < self.parts[self.part].count() {
            return next;
        }
        if let Some(part) = part_from(self.part + 1, self.parts) {
            return Self { part, index: 0, ..next };
        }
        let first = self.first + W::LANES;
        match part_from(0, self.parts) {
            Some(part) if first < self.lanes => Self { part, first, index: 0, ..next },
            _ => next,
        }
    }
}

/// The first part from one on that has blocks.
#[inline(always)]
fn part_from<const N: usize>(part: usize, parts: &[Blocks<'_, N>]) -> Option<usize> {
    parts[part..].iter().position(|blocks| blocks.count() > 0).map(|place| part + place)
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

//! Words that need no instruction set: one lane, an array of lanes, and two words as one.

use crate::feed::Turn;
use crate::{BLOCK_LEN, Blocks, Function, Word};

/// The part of [`Word`] that is about blocks, for words that are not ahead, by a function that loads as many words of
/// each lane's block in each of the first turns: a quarter in each of four, or all in the first. With the first may go
/// a hint to fetch the block that is so many further on.
macro_rules! loads_blocks {
    ($lanes:tt, in $turns:literal: $load:ident, $word:expr $(, fetch: $ahead:expr)?) => {
        type Ahead = ();
        type Held = [Self; 16];
        const PARTS: usize = 0;

        #[inline(always)]
        fn begin<const BLOCKS: usize>((): &mut (), _: &$crate::Blocks<'_, BLOCKS>, _: usize) {}

        #[inline(always)]
        fn hold_nothing() -> Self::Held {
            [Self::splat(0); 16]
        }

        #[inline(always)]
        fn prepare<const BLOCKS: usize>(
            mut held: Self::Held,
            (): &mut (),
            _: usize,
            blocks: &$crate::Blocks<'_, BLOCKS>,
            first: usize,
            index: usize,
            turn: $crate::Turn,
        ) -> Self::Held {
            let turn = turn.number();
            $(if turn == 0 {
                for block in blocks.get::<$lanes>(first, index) {
                    let line = block.as_ptr().wrapping_add($ahead * $crate::BLOCK_LEN);
                    $crate::fetch::fetch_line::<1>(line);
                }
            })?
            if turn < $turns {
                let words = $load(&blocks.get::<$lanes>(first, index), turn).map($word);
                held[16 / $turns * turn..][..16 / $turns].copy_from_slice(&words);
            }
            held
        }

        #[inline(always)]
        fn word(held: &Self::Held, (): &(), _: usize, word: usize) -> Self {
            held[word]
        }
    };
}
#[cfg(target_arch = "x86_64")]
pub(crate) use loads_blocks;

/// One lane. The sums are ordered so that the operand that comes last enters last.
impl Word for u32 {
    const LANES: usize = 1;

    loads_blocks!(1, in 4: quarter_of_one, core::convert::identity);

    #[inline(always)]
    fn splat(value: u32) -> Self {
        value
    }

    #[inline(always)]
    fn load(values: &[u32]) -> Self {
        values[0]
    }

    #[inline(always)]
    fn store(self, values: &mut [u32]) {
        values[0] = self;
    }

    #[inline(always)]
    fn settled(self) -> Self {
        settle(self)
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn rotate_left(self, count: u32) -> Self {
        self.rotate_left(count)
    }

    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        self ^ (b ^ c)
    }

    #[inline(always)]
    fn xor_or_not(self, b: Self, c: Self) -> Self {
        self ^ (b | !c)
    }

    #[inline(always)]
    fn select(self, yes: Self, no: Self) -> Self {
        no ^ (self & (yes ^ no))
    }

    #[inline(always)]
    fn and_select(self, mask: Self, yes: Self, no: Self) -> [Self; 2] {
        [self.wrapping_add(!mask & no), mask & yes]
    }
}

/// [`Word::settled`] of one lane: an empty piece of assembly that might have changed it.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
#[inline(always)]
fn settle(value: u32) -> u32 {
    let mut value = value;
    // The 32 bits of a register have a name of their own on each.
    #[cfg(target_arch = "x86_64")]
    // SAFETY: no instruction, so nothing that could be violated.
    unsafe {
        core::arch::asm!("/* {0:e} */", inout(reg) value, options(pure, nomem, nostack, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!("/* {0:w} */", inout(reg) value, options(pure, nomem, nostack, preserves_flags));
    }
    value
}

/// [`Word::settled`] of one lane, where assembly is not to be had.
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
#[inline(always)]
fn settle(value: u32) -> u32 {
    value
}

#[inline(always)]
fn quarter_of_one([block]: &[&[u8; BLOCK_LEN]; 1], quarter: usize) -> [u32; 4] {
    core::array::from_fn(|word| word_of(block, 4 * quarter + word))
}

#[inline(always)]
fn quarter_of_each<const N: usize>(
    blocks: &[&[u8; BLOCK_LEN]; N],
    quarter: usize,
) -> [[u32; N]; 4] {
    core::array::from_fn(|word| blocks.map(|block| word_of(block, 4 * quarter + word)))
}

/// Word `word` of a block, little-endian.
#[inline(always)]
fn word_of(block: &[u8; BLOCK_LEN], word: usize) -> u32 {
    u32::from_le_bytes(block[4 * word..][..4].try_into().expect("four bytes"))
}

/// Several lanes as plain loops, which the compiler turns into whatever vectors the target has.
impl<const N: usize> Word for [u32; N] {
    const LANES: usize = N;

    loads_blocks!(N, in 4: quarter_of_each, core::convert::identity);

    #[inline(always)]
    fn splat(value: u32) -> Self {
        [value; N]
    }

    #[inline(always)]
    fn load(values: &[u32]) -> Self {
        core::array::from_fn(|lane| values[lane])
    }

    #[inline(always)]
    fn store(self, values: &mut [u32]) {
        values[..N].copy_from_slice(&self);
    }

    #[inline(always)]
    fn settled(self) -> Self {
        self
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        core::array::from_fn(|lane| self[lane].wrapping_add(other[lane]))
    }

    #[inline(always)]
    fn rotate_left(self, count: u32) -> Self {
        self.map(|value| value.rotate_left(count))
    }

    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        core::array::from_fn(|lane| self[lane] ^ b[lane] ^ c[lane])
    }

    #[inline(always)]
    fn xor_or_not(self, b: Self, c: Self) -> Self {
        core::array::from_fn(|lane| self[lane] ^ (b[lane] | !c[lane]))
    }

    #[inline(always)]
    fn select(self, yes: Self, no: Self) -> Self {
        core::array::from_fn(|lane| no[lane] ^ (self[lane] & (yes[lane] ^ no[lane])))
    }
}

/// Two words as one: two independent chains of dependent instructions, which fill the units that
/// one chain leaves idle.
#[derive(Clone, Copy, Debug)]
pub struct Pair<A, B>(pub(crate) A, pub(crate) B);

/// The methods of a [`Pair`] that are those of its two words: what fills lanes of a type and empties
/// them, those with so many words more, and those with a count.
macro_rules! pairwise {
    ($lane:ty; $($of_words:ident($($word:ident),*))*; $($by_count:ident)*) => {
        const LANES: usize = A::LANES + B::LANES;

        #[inline(always)]
        fn splat(value: $lane) -> Self {
            Self(A::splat(value), B::splat(value))
        }

        #[inline(always)]
        fn load(values: &[$lane]) -> Self {
            Self(A::load(values), B::load(&values[A::LANES..]))
        }

        #[inline(always)]
        fn store(self, values: &mut [$lane]) {
            self.0.store(values);
            self.1.store(&mut values[A::LANES..]);
        }

        $(#[inline(always)]
        fn $of_words(self, $($word: Self),*) -> Self {
            Self(self.0.$of_words($($word.0),*), self.1.$of_words($($word.1),*))
        })*

        $(#[inline(always)]
        fn $by_count(self, count: u32) -> Self {
            Self(self.0.$by_count(count), self.1.$by_count(count))
        })*
    };
}
pub(crate) use pairwise;

impl<A: Word, B: Word> Word for Pair<A, B> {
    pairwise! {
        u32;
        settled() add(other) xor3(b, c) xor_or_not(b, c) select(yes, no);
        rotate_left
    }

    #[inline(always)]
    fn and_select(self, mask: Self, yes: Self, no: Self) -> [Self; 2] {
        let [a0, b0] = self.0.and_select(mask.0, yes.0, no.0);
        let [a1, b1] = self.1.and_select(mask.1, yes.1, no.1);
        [Self(a0, a1), Self(b0, b1)]
    }

    #[inline(always)]
    fn add_rotate_add<const COUNT: u32>(self, late: Self, other: Self) -> Self {
        Self(
            self.0.add_rotate_add::<COUNT>(late.0, other.0),
            self.1.add_rotate_add::<COUNT>(late.1, other.1),
        )
    }

    #[inline(always)]
    fn end_step<F: Function, const COUNT: u32>(self, b: Self, c: Self, d: Self) -> Self {
        Self(self.0.end_step::<F, COUNT>(b.0, c.0, d.0), self.1.end_step::<F, COUNT>(b.1, c.1, d.1))
    }

    type Ahead = (A::Ahead, B::Ahead);
    type Held = (A::Held, B::Held);
    const PARTS: usize = A::PARTS + B::PARTS;

    #[inline(always)]
    fn begin<const N: usize>(ahead: &mut Self::Ahead, blocks: &Blocks<'_, N>, first: usize) {
        A::begin(&mut ahead.0, blocks, first);
        B::begin(&mut ahead.1, blocks, first + A::LANES);
    }

    #[inline(always)]
    fn hold_nothing() -> Self::Held {
        (A::hold_nothing(), B::hold_nothing())
    }

    #[inline(always)]
    fn prepare<const N: usize>(
        held: Self::Held,
        ahead: &mut Self::Ahead,
        number: usize,
        blocks: &Blocks<'_, N>,
        first: usize,
        index: usize,
        turn: Turn,
    ) -> Self::Held {
        let a = A::prepare(held.0, &mut ahead.0, number, blocks, first, index, turn);
        let (first, turn) = (first + A::LANES, turn.after(A::PARTS));
        (a, B::prepare(held.1, &mut ahead.1, number, blocks, first, index, turn))
    }

    #[inline(always)]
    fn word(held: &Self::Held, ahead: &Self::Ahead, number: usize, word: usize) -> Self {
        let a = A::word(&held.0, &ahead.0, number, word);
        Self(a, B::word(&held.1, &ahead.1, number, word))
    }

    #[inline(always)]
    fn store_rows(words: [Self; 4], rows: &mut [[u8; 16]]) {
        let [Self(a0, b0), Self(a1, b1), Self(a2, b2), Self(a3, b3)] = words;
        A::store_rows([a0, a1, a2, a3], rows);
        B::store_rows([b0, b1, b2, b3], &mut rows[A::LANES..]);
    }
}

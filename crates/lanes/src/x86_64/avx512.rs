//! AVX-512 (F and VL): sixteen lanes in 512 bits, and rotations and ternary logic of every width.

use core::arch::x86_64::*;

use super::avx2::{columns8, quarters8, settle8};
use super::sse2::{columns4, quarters4, settle4};
use super::transpose::{
    columns16, transpose_block4, transpose_half8, transpose_pair4, transpose_pair8,
    transpose_part8, transpose_part16, transposes_ahead,
};
use super::{align_frame, settle, stores_rows, word};
use crate::backend::no_such_width;
use crate::portable::loads_blocks;
use crate::{BLOCK_LEN, Function, Kernel, Pair, Word};

/// Truth tables for `vpternlog`, by the operands' own: bit i of each constant is the result where
/// the first operand is bit 2 of i, the second bit 1, the third bit 0.
mod truth {
    const A: i32 = 0xf0;
    const B: i32 = 0xcc;
    const C: i32 = 0xaa;

    pub(super) const XOR3: i32 = A ^ B ^ C;
    pub(super) const XOR_OR_NOT: i32 = A ^ (B | (!C & 0xff));
    pub(super) const SELECT: i32 = (A & B) | (!A & C);
}

/// The operations that AVX-512 does in one instruction, for a register of any width.
macro_rules! one_instruction_each {
    ($rotate:ident, $ternary:ident, $splat:ident) => {
        #[inline(always)]
        fn rotate_left(self, count: u32) -> Self {
            // SAFETY: the ground rule. The compiler makes the immediate form of a constant count.
            Self(unsafe { $rotate(self.0, $splat(count.cast_signed())) })
        }

        #[inline(always)]
        fn xor3(self, b: Self, c: Self) -> Self {
            // SAFETY: the ground rule.
            Self(unsafe { $ternary::<{ truth::XOR3 }>(self.0, b.0, c.0) })
        }

        #[inline(always)]
        fn xor_or_not(self, b: Self, c: Self) -> Self {
            // SAFETY: the ground rule.
            Self(unsafe { $ternary::<{ truth::XOR_OR_NOT }>(self.0, b.0, c.0) })
        }

        #[inline(always)]
        fn select(self, yes: Self, no: Self) -> Self {
            // SAFETY: the ground rule.
            Self(unsafe { $ternary::<{ truth::SELECT }>(self.0, yes.0, no.0) })
        }
    };
}

/// Defines a function for [`Word::end_step`] by its instructions. Registers beside the operands and the result are
/// named, since as `_` they would not be of 512 bits (Rust 1.95).
macro_rules! end_of_step {
    ($name:ident, $register:ty, $class:ident, $($other:ident)*: $($instruction:literal)*) => {
        #[target_feature(enable = "avx512f,avx512vl")]
        #[inline]
        fn $name<F: Function, const COUNT: u32>(
            sum: $register,
            b: $register,
            c: $register,
            d: $register,
        ) -> $register {
            let result;
            $(let $other: $register;)*
            // SAFETY: reads and writes registers alone.
            unsafe {
                core::arch::asm!(
                    $($instruction,)*
                    sum = in($class) sum,
                    b = in($class) b,
                    c = in($class) c,
                    d = in($class) d,
                    $($other = out($class) $other,)*
                    result = out($class) result,
                    n = const COUNT,
                    truth = const F::TRUTH,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            _ = [$($other),*];
            result
        }
    };
}

/// The end of a step in which the result is four operations of one cycle behind `b`,
/// where a rotation takes two, for a word that has the units for itself.
///
/// It is the chain of [`chain`](super::chain) with the step's function before it, and its order matters even
/// more: which unit an operation waits for is settled as it comes, not when it is ready. Of 173 orders that the
/// dependencies allow (with the two sums before it), tried on Zen 4 in a kernel of assembly alone, a block
/// takes from 257 to 360 cycles, half of them more than 297; 256 is what 64 times four operations take. With
/// this one the kernel takes 258 in one lane; when the compiler placed the function, it took 280.
macro_rules! shortest_chain_of_step {
    ($name:ident, $register:ty, $class:ident) => {
        end_of_step! {
            $name, $register, $class, left late:
            "vpslld {left}, {sum}, {n}"
            "vpaddd {left}, {left}, {b}"
            "vmovdqa32 {late}, {b}"
            "vpternlogd {late}, {c}, {d}, {truth}"
            "vpaddd {result}, {sum}, {late}"
            "vpslld {late}, {late}, {n}"
            "vpaddd {left}, {left}, {late}"
            "vpsrld {result}, {result}, 32 - {n}"
            "vpaddd {result}, {result}, {left}"
        }
    };
}

/// The end of a step in the fewest operations, for words that share the units with others.
///
/// In assembly for the sake of one register: ternary logic replaces an operand, and has to be given a copy if that is
/// needed again. The compiler copies whichever it likes, c or d as a rule. On Zen 4 the copy of a
/// value that has been there for long delays what waits for it: in a chain of a sum, that
/// copy, ternary logic and a sum by 0.8 cycles, and two registers of 16 lanes by 0.6 to 1.4 cycles a step. The copy of b,
/// which has just been computed, costs nothing.
macro_rules! fewest_operations_of_step {
    ($name:ident, $register:ty, $class:ident) => {
        end_of_step! {
            $name, $register, $class, late:
            "vmovdqa32 {late}, {b}"
            "vpternlogd {late}, {c}, {d}, {truth}"
            "vpaddd {result}, {sum}, {late}"
            "vprold {result}, {result}, {n}"
            "vpaddd {result}, {result}, {b}"
        }
    };
}

shortest_chain_of_step!(alone4, __m128i, xmm_reg);
shortest_chain_of_step!(alone8, __m256i, ymm_reg);
fewest_operations_of_step!(shared8, __m256i, ymm_reg);
fewest_operations_of_step!(shared16, __m512i, zmm_reg);

settle!(settle16, __m512i, zmm_reg, "avx512f");

/// [`Word::end_step`] by a function of [`end_of_step`].
macro_rules! ends_steps {
    ($end_of_step:ident) => {
        #[inline(always)]
        fn end_step<F: Function, const COUNT: u32>(self, b: Self, c: Self, d: Self) -> Self {
            // SAFETY: the ground rule.
            Self(unsafe { $end_of_step::<F, COUNT>(self.0, b.0, c.0, d.0) })
        }
    };
}

/// Defines a word of one lane, which is the same in all four places of a register.
macro_rules! word1 {
    ($name:ident; $($loads_and_end_step:tt)*) => {
        word! {
            $name, __m128i, 1,
            load: _mm_loadu_si32, store: _mm_storeu_si32,
            splat: _mm_set1_epi32, add: _mm_add_epi32,
            settle: settle4,

            one_instruction_each!(_mm_rolv_epi32, _mm_ternarylogic_epi32, _mm_set1_epi32);
            $($loads_and_end_step)*
        }
    };
}

/// Defines a word of four lanes.
macro_rules! word4 {
    ($name:ident; $($loads_and_end_step:tt)*) => {
        word! {
            $name, __m128i, 4,
            load: _mm_loadu_si128, store: _mm_storeu_si128,
            splat: _mm_set1_epi32, add: _mm_add_epi32,
            settle: settle4,

            stores_rows!(columns4, all: core::convert::identity);
            one_instruction_each!(_mm_rolv_epi32, _mm_ternarylogic_epi32, _mm_set1_epi32);
            $($loads_and_end_step)*
        }
    };
}

/// Defines a word of eight lanes.
macro_rules! word8 {
    ($name:ident; $($loads_and_end_step:tt)*) => {
        word! {
            $name, __m256i, 8,
            load: _mm256_loadu_si256, store: _mm256_storeu_si256,
            splat: _mm256_set1_epi32, add: _mm256_add_epi32,
            settle: settle8,

            stores_rows!(columns8, low: _mm256_castsi256_si128, high: _mm256_extracti128_si256::<1>);
            one_instruction_each!(
                _mm256_rolv_epi32, _mm256_ternarylogic_epi32, _mm256_set1_epi32
            );
            $($loads_and_end_step)*
        }
    };
}

/// Blocks of a stream from the one that is loaded to the one that is to be fetched, into the first level. On a Granite Rapids one
/// stream of 64 MiB takes 4.12 cycles a byte with this and 4.31 without, as long with 8 to 64 and into the second level; from the
/// cache as long as without.
const FETCH_AHEAD: usize = 32;

// By themselves.
word1!(U32x1; loads_blocks!(1, in 1: words1, Self, fetch: FETCH_AHEAD););
word4!(U32x4; loads_blocks!(4, in 4: quarters4, Self, fetch: FETCH_AHEAD););
word8!(U32x8; loads_blocks!(8, in 4: quarters8, Self););
// By themselves, where a rotation takes two cycles.
word1!(Chain1; loads_blocks!(1, in 1: words1, Self); ends_steps!(alone4););
word4!(
    Chain4;
    transposes_ahead!(
        4, __m128i, first in 1: transpose_block4, others in 8: transpose_pair4, holding (), or ()
    );
    ends_steps!(alone4);
);
word8!(
    Chain8;
    transposes_ahead!(
        8, __m256i, first in 2: transpose_half8, others in 8: transpose_pair8, holding (), or ()
    );
    ends_steps!(alone8);
);
// In pairs.
word8!(
    Shared8;
    transposes_ahead!(
        8, __m256i, first in 8: transpose_part8, others in 8: transpose_part8,
        holding [__m256i; 8], or [Self::splat(0).0; 8]
    );
    ends_steps!(shared8);
);
word! {
    U32x16, __m512i, 16,
    load: _mm512_loadu_si512, store: _mm512_storeu_si512,
    splat: _mm512_set1_epi32, add: _mm512_add_epi32,
    settle: settle16,

    stores_rows!(
        columns16,
        p0: _mm512_castsi512_si128,
        p1: _mm512_extracti32x4_epi32::<1>,
        p2: _mm512_extracti32x4_epi32::<2>,
        p3: _mm512_extracti32x4_epi32::<3>
    );
    one_instruction_each!(_mm512_rolv_epi32, _mm512_ternarylogic_epi32, _mm512_set1_epi32);
    transposes_ahead!(
        16, __m512i, first in 8: transpose_part16, others in 8: transpose_part16,
        holding [__m512i; 8], or [Self::splat(0).0; 8]
    );
    ends_steps!(shared16);
}

/// A block's words, each by itself: in all four places of a register, since that takes no instruction more
/// than in one.
#[inline(always)]
fn words1([block]: &[&[u8; BLOCK_LEN]; 1], _: usize) -> [__m128i; 16] {
    let mut words = [0; 16];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = i32::from_le_bytes(*bytes);
    }
    // SAFETY: the ground rule.
    words.map(|word| unsafe { _mm_set1_epi32(word) })
}

type U32x32 = Pair<U32x16, U32x16>;

/// Runs a kernel in one register of 128, 256 or 512 bits, or in two to four sets of 512.
///
/// Where rotations are slow, taking two cycles, few lanes are faster with the words that have the shortest chain;
/// and there one register of 512 bits occupies two units for each operation, so that two of 256
/// leave shorter gaps (5.8 instead of 6.5 cycles a step).
#[target_feature(enable = "avx512f,avx512vl,avx2")]
pub(crate) fn run<K: Kernel>(width: usize, slow_rotations: bool, kernel: K) -> K::Output {
    if slow_rotations {
        match width {
            4 => return run_in::<Chain4, _>(kernel),
            8 => return run_in::<Chain8, _>(kernel),
            16 => return run_in::<Pair<Shared8, Shared8>, _>(kernel),
            _ => {}
        }
    }
    match width {
        4 => run_in::<U32x4, _>(kernel),
        8 => run_in::<U32x8, _>(kernel),
        16 => run_in::<U32x16, _>(kernel),
        32 => run_in::<U32x32, _>(kernel),
        48 => run_in::<Pair<U32x32, U32x16>, _>(kernel),
        64 => run_in::<Pair<U32x32, U32x32>, _>(kernel),
        _ => no_such_width(width),
    }
}

/// Runs a kernel in one lane. Not in [`run`], the frame of which is kilobytes: a short message would notice.
#[target_feature(enable = "avx512f,avx512vl,avx2")]
pub(crate) fn run1<K: Kernel>(slow_rotations: bool, kernel: K) -> K::Output {
    if slow_rotations { kernel.run::<Chain1>() } else { kernel.run::<U32x1>() }
}

/// Runs a kernel in words of one kind. A function of its own for each: without optimisation the
/// frames of all kernels together take more than the 2 MiB that threads have.
#[target_feature(enable = "avx512f,avx512vl,avx2")]
fn run_in<W: Word, K: Kernel>(kernel: K) -> K::Output {
    align_frame();
    kernel.run::<W>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::InOrder;
    use crate::{Blocks, Feed, MAX_LANES, Room, TURNS};

    /// b ? c : d.
    struct Select;

    impl Function for Select {
        const TRUTH: u8 = (Self::B & Self::C) | (!Self::B & Self::D);

        #[inline(always)]
        fn add_to<W: Word>(sum: W, b: W, c: W, d: W) -> [W; 2] {
            [sum, b.select(c, d)]
        }
    }

    /// Every operation once, of two blocks in each lane.
    struct All<'a>(Blocks<'a>);

    impl Kernel for All<'_> {
        type Output = [u32; MAX_LANES];

        #[inline(always)]
        fn run<W: Word>(self) -> [u32; MAX_LANES] {
            let mut room = Room::<W>::new();
            let mut feed = room.begin(&self.0).expect("two blocks");
            let turns = |feed: &mut Feed<'_, W, InOrder<'_, _>, _>| {
                (0..TURNS).for_each(|turn| feed.turn(turn))
            };
            turns(&mut feed);
            let [a, b, c, d] = [0, 1, 2, 3].map(|number| feed.word(number));
            feed.next_block();
            turns(&mut feed);
            let e = feed.word(15);
            let [sum, late] = a.xor3(b, c).and_select(d, e, a);
            let result = sum
                .add_rotate_add::<7>(late, b.select(c, d).rotate_left(9))
                .add_rotate_add::<31>(c.xor_or_not(d, e), W::splat(3).settled())
                .end_step::<Select, 5>(a, d, e)
                .end_step::<Select, 26>(e, b, c);
            let mut lanes = [0; MAX_LANES];
            result.store(&mut lanes);
            lanes
        }
    }

    /// The words for this CPU are tested with all kernels; those for others here.
    #[test]
    fn words_are_as_one_lane_whatever_the_latency() {
        if !crate::Backend::available().any(|backend| backend.name() == "avx512") {
            return;
        }
        let inputs: [[u8; 128]; MAX_LANES] = core::array::from_fn(|lane| {
            core::array::from_fn(|byte| (lane * 77 + byte * byte * 13) as u8)
        });
        let expected =
            inputs.each_ref().map(|input| All(Blocks::new([&input[..]], 2)).run::<u32>()[0]);
        for width in [1, 4, 8, 16, 32] {
            for slow_rotations in [false, true] {
                let all = All(Blocks::new(inputs[..width].iter().map(|input| &input[..]), 2));
                // SAFETY: the CPU has AVX-512, as the backend says.
                let found = unsafe {
                    match width {
                        1 => run1(slow_rotations, all),
                        _ => run(width, slow_rotations, all),
                    }
                };
                assert_eq!(found[..width], expected[..width], "{width} {slow_rotations}");
            }
        }
    }
}

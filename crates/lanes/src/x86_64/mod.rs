//! The instruction sets of x86-64, one file each.
//!
//! **The ground rule of every `unsafe` here.** A word type of this folder is private to the crate
//! and is named only in the `run` functions at the ends of these files, which carry the
//! `#[target_feature]` that its intrinsics need and are reached only through a
//! [`Backend`](crate::Backend), which exists only where the CPU was found to have those features.
//! So whoever executes one of its methods has proved that the CPU has the instructions; the
//! methods are `#[inline(always)]` and compile as part of those functions.

use core::arch::x86_64::{__m128i, _mm_loadu_si128};
use core::mem::MaybeUninit;

pub(crate) mod avx2;
pub(crate) mod avx2_64;
pub(crate) mod avx512;
pub(crate) mod avx512_64;
pub(crate) mod latency;
pub(crate) mod sse2;
pub(crate) mod sse2_64;
mod transpose;
mod word64;

/// Defines [`Word::settled`](crate::Word::settled) for a register: an empty piece of assembly that
/// might have changed it.
macro_rules! settle {
    ($name:ident, $register:ty, $class:ident, $feature:literal) => {
        #[target_feature(enable = $feature)]
        #[inline]
        pub(super) fn $name(value: $register) -> $register {
            let mut value = value;
            // SAFETY: no instruction, so nothing that could be violated.
            unsafe {
                core::arch::asm!(
                    "/* {0} */", inout($class) value,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            value
        }
    };
}
pub(crate) use settle;

/// Implements [`Word`](crate::Word) for a type around one register.
macro_rules! word {
    (
        $name:ident, $register:ident, $lanes:literal,
        load: $load:ident, store: $store:ident, splat: $splat:ident, add: $add:ident,
        settle: $settle:ident,
        $($rest:tt)*
    ) => {
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name($register);

        impl $crate::Word for $name {
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(value: u32) -> Self {
                // SAFETY: the ground rule.
                Self(unsafe { $splat(value.cast_signed()) })
            }

            #[inline(always)]
            fn load(values: &[u32]) -> Self {
                let values: &[u32; $lanes] = values[..$lanes].try_into().expect("as many");
                // SAFETY: the ground rule; the array is as long as the register, and the load
                // asks for no alignment.
                Self(unsafe { $load(values.as_ptr().cast()) })
            }

            #[inline(always)]
            fn store(self, values: &mut [u32]) {
                let values: &mut [u32; $lanes] = (&mut values[..$lanes]).try_into().expect("as many");
                // SAFETY: the ground rule; the array is as long as the register, and the store
                // asks for no alignment.
                unsafe { $store(values.as_mut_ptr().cast(), self.0) }
            }

            #[inline(always)]
            fn settled(self) -> Self {
                // SAFETY: the ground rule.
                Self(unsafe { $settle(self.0) })
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                // SAFETY: the ground rule.
                Self(unsafe { $add(self.0, other.0) })
            }

            $($rest)*
        }
    };
}
pub(crate) use word;

/// Defines a function that makes four columns of four rows, in each piece of 128 bits by itself.
macro_rules! columns {
    ($name:ident, $register:ty, $lo32:ident, $hi32:ident, $lo64:ident, $hi64:ident) => {
        #[inline(always)]
        pub(super) fn $name([r0, r1, r2, r3]: [$register; 4]) -> [$register; 4] {
            // SAFETY: the ground rule.
            unsafe {
                let (a, b) = ($lo32(r0, r1), $hi32(r0, r1));
                let (c, d) = ($lo32(r2, r3), $hi32(r2, r3));
                [$lo64(a, c), $hi64(a, c), $lo64(b, d), $hi64(b, d)]
            }
        }
    };
}
pub(crate) use columns;

/// Defines a function that loads a quarter of each block (16 bytes, four words) and transposes it: the quarters
/// of lanes l, l + 4, ... are put side by side into a register, for l = 0 to 3, and these four rows become
/// four columns.
macro_rules! quarters {
    ($name:ident, $register:ty, $lanes:literal, row: $row:ident, columns: $columns:ident) => {
        #[inline(always)]
        pub(super) fn $name(
            blocks: &[&[u8; $crate::BLOCK_LEN]; $lanes],
            quarter: usize,
        ) -> [$register; 4] {
            $columns([
                $row(blocks, 0, quarter),
                $row(blocks, 1, quarter),
                $row(blocks, 2, quarter),
                $row(blocks, 3, quarter),
            ])
        }
    };
}
pub(crate) use quarters;

/// [`Word::store_rows`](crate::Word::store_rows) by a function of [`columns`], which gives back the
/// rows of lanes l, l + 4, ... side by side, and by one that extracts a piece of 128 bits.
macro_rules! stores_rows {
    ($columns:ident, $($piece:ident: $extract:expr),+) => {
        #[inline(always)]
        fn store_rows(words: [Self; 4], rows: &mut [[u8; 16]]) {
            let [a, b, c, d] = words;
            let columns = $columns([a.0, b.0, c.0, d.0]);
            let (fours, _) = rows[..Self::LANES].as_chunks_mut::<4>();
            let [$($piece),+] = fours else { unreachable!("four rows for each piece") };
            for (lane, column) in columns.into_iter().enumerate() {
                // SAFETY: the ground rule; a row has 16 bytes, and the store asks for no alignment.
                unsafe { $(_mm_storeu_si128($piece[lane].as_mut_ptr().cast(), $extract(column));)+ }
            }
        }
    };
}
pub(crate) use stores_rows;

/// [`Word::add_rotate_add`](crate::Word::add_rotate_add) by a function of [`chain`].
macro_rules! shortest_chain {
    ($chain:ident) => {
        #[inline(always)]
        fn add_rotate_add<const COUNT: u32>(self, late: Self, other: Self) -> Self {
            // SAFETY: the ground rule.
            Self(unsafe { $chain::<COUNT>(self.0, late.0, other.0) })
        }
    };
}
pub(crate) use shortest_chain;

/// Defines a function for `((sum + late) <<< COUNT) + other` in which the result is three operations of
/// one cycle behind `late`, for a word that has the units for itself.
///
/// A rotation is two shifts and a sum, which take two cycles (and so does AMD's one instruction for
/// it on Zen 4); with the sums before and behind that is four. But a left shift of a sum is the sum of
/// the left shifts, so that only the right shift has to wait for the first sum:
///
/// ```text
/// ((s + l) <<< n) + o  =  ((s << n) + o + (l << n))  +  ((s + l) >> (32 - n))
/// ```
///
/// In assembly, because the order matters: of 40 orders tried on Zen 4 this was among those in which no
/// other operation takes the unit of one that is waited for. These seven take 4.0 cycles so after one another, in
/// the worst order 4.6.
macro_rules! chain {
    ($name:ident, $register:ty, $class:ident, $feature:literal) => {
        #[target_feature(enable = $feature)]
        #[inline]
        fn $name<const COUNT: u32>(
            sum: $register,
            late: $register,
            other: $register,
        ) -> $register {
            let result;
            // SAFETY: reads and writes registers alone.
            unsafe {
                core::arch::asm!(
                    "vpslld {left}, {late}, {n}",
                    "vpaddd {result}, {sum}, {late}",
                    "vpsrld {result}, {result}, 32 - {n}",
                    "vpslld {sum}, {sum}, {n}",
                    "vpaddd {sum}, {sum}, {other}",
                    "vpaddd {sum}, {sum}, {left}",
                    "vpaddd {result}, {result}, {sum}",
                    sum = inout($class) sum => _,
                    late = in($class) late,
                    other = in($class) other,
                    left = out($class) _,
                    result = out($class) result,
                    n = const COUNT,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            result
        }
    };
}
pub(crate) use chain;

/// The operations that AVX-512 has instructions for, made of shifts and logic where it is missing.
macro_rules! shifts_and_logic {
    (
        $left:ident, $right:ident, $or:ident, $xor:ident, $and:ident, $and_not:ident, $splat:ident
    ) => {
        #[inline(always)]
        fn rotate_left(self, count: u32) -> Self {
            // SAFETY: the ground rule.
            Self(unsafe {
                let left = $left(self.0, _mm_cvtsi32_si128(count.cast_signed()));
                let right = $right(self.0, _mm_cvtsi32_si128(32 - count.cast_signed()));
                $or(left, right)
            })
        }

        #[inline(always)]
        fn xor3(self, b: Self, c: Self) -> Self {
            // SAFETY: the ground rule.
            Self(unsafe { $xor(self.0, $xor(b.0, c.0)) })
        }

        #[inline(always)]
        fn xor_or_not(self, b: Self, c: Self) -> Self {
            // SAFETY: the ground rule.
            Self(unsafe { $xor(self.0, $or(b.0, $xor(c.0, $splat(-1)))) })
        }

        #[inline(always)]
        fn select(self, yes: Self, no: Self) -> Self {
            // SAFETY: the ground rule.
            Self(unsafe { $xor(no.0, $and(self.0, $xor(yes.0, no.0))) })
        }

        #[inline(always)]
        fn and_select(self, mask: Self, yes: Self, no: Self) -> [Self; 2] {
            // SAFETY: the ground rule.
            let (no, yes) = unsafe { (Self($and_not(mask.0, no.0)), Self($and(mask.0, yes.0))) };
            [self.add(no).settled(), yes]
        }
    };
}
pub(crate) use shifts_and_logic;

/// Lets the caller's frame begin at a cache line. The compiler does so for what is in it by the program's will, but
/// not for the registers that it spills, of which every other one lies across two lines otherwise.
#[inline(always)]
fn align_frame() {
    #[repr(align(64))]
    struct Line {
        _bytes: [u8; 64],
    }
    core::hint::black_box(&MaybeUninit::<Line>::uninit());
}

/// Bytes 16 * `quarter` to 16 * `quarter` + 15 of a block.
#[inline(always)]
fn quarter_of(block: &[u8; crate::BLOCK_LEN], quarter: usize) -> __m128i {
    let bytes: &[u8; 16] = block[16 * quarter..][..16].try_into().expect("sixteen bytes");
    // SAFETY: SSE2 is part of x86-64; the array has 16 bytes, and the load asks for no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

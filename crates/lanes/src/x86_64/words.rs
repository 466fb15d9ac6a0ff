//! Words of 32 bits: a register, the instructions that end a step, and a way to load blocks.

use core::arch::x86_64::*;
use core::marker::PhantomData;

use super::load::{Load, join_pieces};
use super::register::Register;
use crate::blocks::BlockRow;
use crate::feed::{InTurns, LoadQuarter};
use crate::word::{Bits, end_step, sealed::Sealed};
use crate::{Function, Word};

/// An instruction set by what words take of it: the end of a step, in registers that have the units
/// for themselves (`ALONE`) or share them with others, and what its functions enable.
pub(crate) trait Set: Copy {
    fn end_step<R: Register, F: Function, const COUNT: u32>(sum: R, b: R, c: R, d: R) -> R;

    /// Runs a function compiled with the instructions.
    fn call<T>(function: impl FnOnce() -> T) -> T;
}

/// SSE2, which every x86-64 has.
#[derive(Clone, Copy)]
pub(crate) struct Sse2;

impl Set for Sse2 {
    #[inline(always)]
    fn end_step<R: Register, F: Function, const COUNT: u32>(sum: R, b: R, c: R, d: R) -> R {
        end_step::<F, R, COUNT>(sum, b, c, d)
    }

    #[inline(always)]
    fn call<T>(function: impl FnOnce() -> T) -> T {
        function()
    }
}

/// AVX2. In a register that shares the units the longer chain of fewer operations is faster.
#[derive(Clone, Copy)]
pub(crate) struct Avx2<const ALONE: bool>;

impl<const ALONE: bool> Set for Avx2<ALONE> {
    #[inline(always)]
    fn end_step<R: Register, F: Function, const COUNT: u32>(sum: R, b: R, c: R, d: R) -> R {
        if ALONE {
            let [sum, late] = F::add_to(sum, b, c, d);
            R::shortest_sum::<COUNT>(sum.opaque(), late, b)
        } else {
            end_step::<F, R, COUNT>(sum, b, c, d)
        }
    }

    #[inline(always)]
    fn call<T>(function: impl FnOnce() -> T) -> T {
        #[target_feature(enable = "avx2")]
        fn call<T>(function: impl FnOnce() -> T) -> T {
            function()
        }
        // SAFETY: the ground rule.
        unsafe { call(function) }
    }
}

/// AVX-512. The shortest chain is for registers that have the units for themselves, where a
/// rotation takes two cycles.
#[derive(Clone, Copy)]
pub(crate) struct Avx512<const SHORTEST: bool>;

impl<const SHORTEST: bool> Set for Avx512<SHORTEST> {
    #[inline(always)]
    fn end_step<R: Register, F: Function, const COUNT: u32>(sum: R, b: R, c: R, d: R) -> R {
        if SHORTEST {
            R::shortest_step::<F, COUNT>(sum, b, c, d)
        } else {
            R::fewest_step::<F, COUNT>(sum, b, c, d)
        }
    }

    #[inline(always)]
    fn call<T>(function: impl FnOnce() -> T) -> T {
        #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx2,popcnt")]
        fn call<T>(function: impl FnOnce() -> T) -> T {
            function()
        }
        // SAFETY: the ground rule.
        unsafe { call(function) }
    }
}

/// A word of as many lanes as a register has.
#[derive(Clone, Copy)]
pub(crate) struct Vector<R, S, L>(pub(super) R, PhantomData<(S, L)>);

impl<R, S, L> Vector<R, S, L> {
    #[inline(always)]
    pub(super) const fn new(register: R) -> Self {
        Self(register, PhantomData)
    }
}

impl<R, S, L> Sealed for Vector<R, S, L> {}

impl<R: Register, S: Set, L: Load<R, S>> Word for Vector<R, S, L> {
    const LANES: usize = R::LANES;

    type Source = L::Source;

    #[inline(always)]
    fn splat(value: u32) -> Self {
        Self::new(R::splat(value))
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::new(self.0.add(other.0))
    }

    #[inline(always)]
    fn opaque(self) -> Self {
        Self::new(self.0.opaque())
    }

    #[inline(always)]
    fn end_step<F: Function, const COUNT: u32>(self, b: Self, c: Self, d: Self) -> Self {
        Self::new(S::end_step::<R, F, COUNT>(self.0, b.0, c.0, d.0))
    }

    #[inline(always)]
    fn load_rows(rows: &[[u8; 16]]) -> [Self; 4] {
        let rows = &rows[..R::LANES];
        let [a, b, c, d] = R::columns([
            join_pieces::<R>(
                #[inline(always)]
                |lane| &rows[lane],
            ),
            join_pieces::<R>(
                #[inline(always)]
                |lane| &rows[lane + 1],
            ),
            join_pieces::<R>(
                #[inline(always)]
                |lane| &rows[lane + 2],
            ),
            join_pieces::<R>(
                #[inline(always)]
                |lane| &rows[lane + 3],
            ),
        ]);
        [Self::new(a), Self::new(b), Self::new(c), Self::new(d)]
    }

    #[inline(always)]
    fn store_rows([a, b, c, d]: [Self; 4], rows: &mut [[u8; 16]]) {
        let rows = &mut rows[..R::LANES];
        for (column, register) in R::columns([a.0, b.0, c.0, d.0]).into_iter().enumerate() {
            let pieces = register.pieces();
            for (piece, row) in rows.iter_mut().skip(column).step_by(4).enumerate() {
                // SAFETY: SSE2 is part of x86-64; a row has 16 bytes, and the store asks for no
                // alignment.
                unsafe { _mm_storeu_si128(row.as_mut_ptr().cast(), pieces[piece]) }
            }
        }
    }

    #[inline(always)]
    fn call<T>(function: impl FnOnce() -> T) -> T {
        S::call(function)
    }
}

/// A word of one lane, which is the same in all four places of a register, since that takes no
/// instruction more than in one.
#[derive(Clone, Copy)]
pub(crate) struct Lane<S>(__m128i, PhantomData<S>);

impl<S> Lane<S> {
    #[inline(always)]
    const fn new(register: __m128i) -> Self {
        Self(register, PhantomData)
    }
}

impl<S> Sealed for Lane<S> {}

impl<S: Set> Word for Lane<S> {
    const LANES: usize = 1;

    type Source = InTurns<Self>;

    #[inline(always)]
    fn splat(value: u32) -> Self {
        Self::new(Bits::splat(value))
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::new(self.0.add(other.0))
    }

    #[inline(always)]
    fn opaque(self) -> Self {
        Self::new(self.0.opaque())
    }

    #[inline(always)]
    fn end_step<F: Function, const COUNT: u32>(self, b: Self, c: Self, d: Self) -> Self {
        Self::new(S::end_step::<__m128i, F, COUNT>(self.0, b.0, c.0, d.0))
    }

    #[inline(always)]
    fn load_rows(rows: &[[u8; 16]]) -> [Self; 4] {
        <[u32; 1]>::load_rows(rows).map(|[word]| Self::splat(word))
    }

    #[inline(always)]
    fn store_rows([a, b, c, d]: [Self; 4], rows: &mut [[u8; 16]]) {
        // All rows are the same.
        let [row, ..] = Register::columns([a.0, b.0, c.0, d.0]);
        // SAFETY: SSE2 is part of x86-64; a row has 16 bytes, and the store asks for no alignment.
        unsafe { _mm_storeu_si128(rows[0].as_mut_ptr().cast(), row) }
    }

    #[inline(always)]
    fn call<T>(function: impl FnOnce() -> T) -> T {
        S::call(function)
    }
}

impl<S: Set> LoadQuarter for Lane<S> {
    const FETCH_AHEAD: usize = 32;

    #[inline(always)]
    fn load_quarter(row: BlockRow<'_>, quarter: usize) -> [Self; 4] {
        let [a, b, c, d] = row.quarter(0, quarter);
        [Self::splat(a), Self::splat(b), Self::splat(c), Self::splat(d)]
    }
}

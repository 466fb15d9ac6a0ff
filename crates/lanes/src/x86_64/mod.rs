//! The instruction sets of x86-64.
//!
//! **The ground rule of every `unsafe` here.** The words of this module are private to the crate
//! and are named only in the table of `backend.rs`. So kernels run with them only through a
//! [`Backend`](crate::Backend), and a `Backend` exists only if the CPU has the features in the
//! table. So every call of a method of a word runs on a CPU with its instructions. The methods are
//! `#[inline(always)]` and compile as part of the function that enables the instructions, `call` of
//! the word.

pub(crate) mod avx2;
pub(crate) mod avx2_64;
pub(crate) mod avx512;
pub(crate) mod avx512_64;
pub(crate) mod latency;
#[cfg(feature = "std")]
pub mod other_cpus;
pub mod sha;
pub(crate) mod sse2;
pub(crate) mod sse2_64;
pub(crate) mod vector;
mod word64;

use core::arch::x86_64::{__m128i, __m256i, __m512i};

use crate::Pair;

// Words that the table names more than once.
pub(crate) type Sse2x4 = vector::Vector<__m128i, sse2::Sse2, 4>;
pub(crate) type Avx2x8 = vector::Vector<__m256i, avx2::Avx2<false>, 8>;
pub(crate) type Avx512x8 = vector::Vector<__m256i, avx512::Avx512, 8>;
pub(crate) type Avx512x16 = vector::Vector<__m512i, avx512::Avx512, 16>;
pub(crate) type Avx512x32 = Pair<Avx512x16, Avx512x16>;

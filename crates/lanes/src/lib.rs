//! Runs one hash kernel in many SIMD lanes, with the instruction set chosen at run time.
//!
//! | you have | you want | use |
//! |---|---|---|
//! | a computation on 32-bit numbers | many of them at once | a [`Kernel`] over [`Word`] |
//! | a computation on 64-bit numbers | many of them at once | a [`Kernel64`] over [`Word64`] |
//! | a kernel | to run it on this CPU | [`Backend::best`], [`Backend::available`] |
//! | messages of 64-byte blocks, as in MD5 | to feed them to a kernel | [`Blocks`] and [`compress`] |
//! | messages of 128-byte blocks, as in SHA-512 | to feed them to a kernel | [`Blocks`] and [`compress_64`] |
//! | a CPU with SHA instructions | to run a kernel of them | [`ShaKernel`], [`Backend::sha_streams`] |
//! | inputs of 64-bit words, as in SipHash | to feed them to a kernel | [`Inputs`], [`Records`] |
//! | short strings in one buffer | to sort them by length for the lanes | [`Column`] and [`ShortPieces`] |
//! | short slices | to sort them by length for the lanes | [`ShortSlices`] |
//! | memory that is read in random order | to prefetch it | [`fetch()`] |
//!
//! A hash kernel is written once, against [`Word`], and runs in 1 to 64 lanes:
//!
//! ```
//! use lanesum_lanes::{Backend, Kernel, Numbers, Word};
//!
//! /// Adds a number to each of many.
//! struct Add<'a>(u32, &'a mut [u32]);
//!
//! impl Kernel for Add<'_> {
//!     type Output = ();
//!
//!     #[inline(always)] // so that it compiles with the instructions of the backend
//!     fn run<W: Word>(self) {
//!         for numbers in self.1.chunks_exact_mut(W::LANES) {
//!             W::load(numbers).add(W::splat(self.0)).store(numbers);
//!         }
//!     }
//! }
//!
//! let mut numbers = [1; 8];
//! Backend::best().run(4, Add(2, &mut numbers));
//! assert_eq!(numbers, [3; 8]);
//! ```
//!
//! The source files:
//!
//! - `word.rs` and `word64.rs`: the traits.
//! - `portable.rs` and `portable64.rs`: words in plain Rust.
//! - `x86_64/`: words in SIMD registers.
//! - `backend.rs`: the table of instruction sets, their detection, and how to run a kernel.
//! - `blocks.rs` and `words.rs`: the inputs of kernels.
//! - `sorted.rs`, `short.rs` and `slices.rs`: short inputs, sorted.
//! - `feed.rs` and `rows64.rs`: the order in which a kernel reads its blocks.
//! - `sha.rs`: the SHA instructions.
//! - `forks.rs`: notices a fork, for secrets that the child must not share.
//!
//! This is the only crate of lanesum with `unsafe` for SIMD. `x86_64/mod.rs`, `blocks.rs` and
//! `feed.rs` state the safety conditions. `forks.rs` has an `unsafe` call of the C library.

#![cfg_attr(not(feature = "std"), no_std)]
#![allow(
    clippy::needless_range_loop,
    reason = "functions of iterators may stay calls in hot loops without link-time optimisation"
)]

mod backend;
mod blocks;
mod copy;
mod feed;
mod fetch;
#[cfg(feature = "std")]
mod forks;
mod kernel64;
mod opaque;
mod pieces;
mod portable;
mod portable64;
mod rows64;
mod sha;
mod short;
mod slices;
mod sorted;
mod word;
mod word64;
mod words;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod x86_64;

pub use backend::{Backend, Kernel};
pub use blocks::{BLOCK_LEN, Blocks, MAX_LANES};
pub use copy::copy;
pub use feed::{BlockFeed, Compression, TURNS, compress};
pub use fetch::fetch;
#[cfg(feature = "std")]
pub use forks::forks;
pub use kernel64::Kernel64;
pub use pieces::{Column, Offset, Offsets, Pieces};
pub use portable::Pair;
pub use rows64::{Compression64, LongBlock, compress_64};
pub use sha::{SHA_WIDTHS, ShaBlock, ShaKernel, ShaWord};
pub use short::{ShortLanes, ShortPieces};
pub use slices::{ShortSlices, SliceLanes};
pub use sorted::CHUNK;
pub use word::{Numbers, Word, function};
pub use word64::{PICK_ROOM, Word64};
pub use words::{Inputs, MAX_LANES_64, Records, Source, WORD_LEN, Words, rest_of};
#[cfg(all(feature = "std", target_arch = "x86_64", target_feature = "sse2"))]
#[doc(hidden)]
pub use x86_64::other_cpus;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[doc(hidden)]
pub use x86_64::{latency::Latency, sha::Instructions as ShaInstructions};

/// Tests the example in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

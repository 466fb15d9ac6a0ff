//! SIMD words behind one trait, chosen at run time.
//!
//! | you have | take |
//! |---|---|
//! | a computation in lanes of 32 bits, of 64 bits | a [`Kernel`] over [`Word`], a [`Kernel64`] over [`Word64`] |
//! | a CPU to choose for | [`Backend::best`], [`Backend::available`] |
//! | messages of whole blocks, as MD5's | [`Blocks`] and [`compress`] |
//! | inputs of words of 64 bits, as SipHash's | [`Inputs`], [`Records`] |
//! | short strings in one buffer | [`Pieces`] and [`ShortPieces`] |
//! | memory that is read soon, in an order that no CPU foresees | [`fetch`] |
//!
//! A hash kernel is written once, against [`Word`], and runs in one lane or in sixty-four:
//!
//! ```
//! use lanesum_lanes::{Backend, Kernel, Numbers, Word};
//!
//! /// Adds a number to each of many: four in each row of bytes.
//! struct Add<'a>(u32, &'a mut [[u8; 16]]);
//!
//! impl Kernel for Add<'_> {
//!     type Output = ();
//!
//!     #[inline(always)] // so that it compiles with the instructions of the backend
//!     fn run<W: Word>(self) {
//!         for rows in self.1.chunks_exact_mut(W::LANES) {
//!             W::store_rows(W::load_rows(rows).map(|word| word.add(W::splat(self.0))), rows);
//!         }
//!     }
//! }
//!
//! let mut rows = [[1; 16]; 8];
//! Backend::best().run(4, Add(2, &mut rows));
//! assert_eq!(rows, [[3, 1, 1, 1, 3, 1, 1, 1, 3, 1, 1, 1, 3, 1, 1, 1]; 8]);
//! ```
//!
//! The files say what they hold: `word.rs` the traits, `portable.rs` words made of plain Rust,
//! `x86_64/` those of registers, `backend.rs` the table of instruction sets, which of them this CPU
//! has and how to run a kernel there, `blocks.rs` what a kernel reads, `feed.rs` when it reads
//! what. This is the only crate of lanesum with SIMD `unsafe`; `x86_64/mod.rs`, `blocks.rs` and
//! `feed.rs` state the obligations.

#![cfg_attr(not(feature = "std"), no_std)]

mod backend;
mod blocks;
mod feed;
mod fetch;
mod kernel64;
mod opaque;
mod pieces;
mod portable;
mod portable64;
mod short;
mod word;
mod word64;
mod words;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod x86_64;

pub use backend::{Backend, Kernel};
pub use blocks::{BLOCK_LEN, Blocks, MAX_LANES};
pub use feed::{BlockFeed, Compression, TURNS, compress};
pub use fetch::fetch;
pub use kernel64::Kernel64;
pub use pieces::{Offset, Pieces};
pub use portable::Pair;
pub use short::{CHUNK, ShortLanes, ShortPieces};
pub use word::{Numbers, Word, function};
pub use word64::{PICK_ROOM, Word64};
pub use words::{Inputs, MAX_LANES_64, Records, Source, WORD_LEN, Words, rest_of};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[doc(hidden)]
pub use x86_64::latency::Latency;
#[cfg(all(feature = "std", target_arch = "x86_64", target_feature = "sse2"))]
#[doc(hidden)]
pub use x86_64::other_latencies;

/// The example of the page on the registry, tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

//! Hash functions of fixed-size blocks, such as MD5, SHA-1 and SHA-2, over one message or over many
//! at once in SIMD lanes.
//!
//! A crate that implements one describes it by [`BlockHash`] and makes its functions with [`api!`].
//! Users of a hash function use that crate: `lanesum-md5`, `lanesum-sha1` or `lanesum-sha2`.
//!
//! | you have | you want | use |
//! |---|---|---|
//! | a table and a kernel | a hash function | [`BlockHash`], [`api!`] |
//! | a hash function as a type | its state while chunks arrive | [`Hasher`] |
//! | many streams | all digests | [`Lanes`] |
//! | streams that need several digests in one read | all digests | [`LaneStates`] for each |
//! | the first blocks of a message | to hash the rest later | [`Midstate`] |
//! | messages that begin with the same blocks | all digests | [`many_behind`] |
//!
//! The schedulers, from the simplest to the most general:
//!
//! - `one.rs`: one message.
//! - `lockstep.rs`: messages with equal numbers of blocks, from the first block to the digest.
//! - `memory.rs`: messages of any lengths in memory, the longest first.
//! - `streams.rs`: messages that arrive in pieces.

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "std"), no_std)]
#![allow(
    clippy::needless_range_loop,
    reason = "functions of iterators may stay calls in hot loops without link-time optimisation"
)]

#[cfg(feature = "alloc")]
extern crate alloc;

mod api;
#[cfg(feature = "digest")]
pub mod crypto;
mod digest;
#[cfg(feature = "alloc")]
mod groups;
mod hash;
#[cfg(feature = "alloc")]
mod lockstep;
#[cfg(feature = "alloc")]
mod many;
#[cfg(feature = "alloc")]
pub mod memory;
mod midstate;
mod one;
mod padding;
#[cfg(feature = "std")]
mod reader;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "alloc")]
mod stream;
#[cfg(feature = "alloc")]
mod streams;
#[cfg(all(test, feature = "alloc"))]
mod toy;

#[cfg(feature = "alloc")]
pub use crate::lockstep::Lockstep;
#[cfg(feature = "alloc")]
pub use crate::many::{Output, many, many_behind, many_into};
#[cfg(feature = "std")]
pub use crate::one::reader;
#[cfg(feature = "std")]
pub use crate::reader::Reader;
#[cfg(feature = "alloc")]
pub use crate::stream::{Chunks, Stream};
#[cfg(feature = "alloc")]
pub use crate::streams::{LaneStates, Lanes};
pub use crate::{
    digest::{Digest, ParseDigestError},
    hash::{BlockHash, Bytes, Plan},
    midstate::Midstate,
    one::{Hasher, chunks, digest_of},
};
pub use lanesum_lanes::Backend;

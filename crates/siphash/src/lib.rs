//! Computes SipHash, a keyed hash of short inputs, of one input or of many at once.
//!
//! An attacker without the key can neither predict the hash of an input nor find two inputs with
//! the same hash. So a hash table with a secret key cannot be flooded with colliding keys, and a
//! hash of 128 bits under a secret key authenticates a message. Do not use SipHash without a key
//! (use XXH3 or BLAKE3), nor for passwords.
//!
//! | you have | you want | use |
//! |---|---|---|
//! | a slice | its hash | [`SipHash::hash`], [`hash128`](SipHash::hash128) |
//! | pieces that arrive over time | the hash of all | [`SipHash::hasher`], [`hasher128`](SipHash::hasher128) |
//! | many slices | all hashes | [`SipHash::hash_many`] |
//! | many strings in one buffer (Arrow's layout) | all hashes | [`SipHash::hash_offsets`] |
//! | many records of one length | all hashes | [`SipHash::hash_records`] |
//! | a column of numbers | all hashes | [`SipHash::hash_u64s`] |
//! | a `HashMap` | to protect it from flooding | [`RandomState`], or a [`SipHash`] with your key |
//! | many keys | to look them up in a table at once | `FloodSafeMap` of the crate `lanesum-table` |
//! | code written against RustCrypto traits | to use it unchanged | [`SipHasher128`] with the feature `digest` |
//!
//! ```
//! use lanesum_siphash::SipHash24;
//!
//! let sip = SipHash24::new(b"sixteen bytes...");
//!
//! // One input.
//! let hash: u64 = sip.hash(b"lanesum");
//!
//! // An input in pieces.
//! let mut hasher = sip.hasher();
//! hasher.update(b"lane");
//! hasher.update(b"sum");
//! assert_eq!(hasher.finalize(), hash);
//!
//! // Many inputs of any lengths at once.
//! let mut hashes = [0_u64; 2];
//! sip.hash_many(&["lanesum", "a"], &mut hashes);
//! assert_eq!(hashes[0], hash);
//! ```
//!
//! **Stable.** The hash of bytes under a key is the one defined in the paper. It is the same on
//! every machine, with every backend and in every version of this crate. Hashes from the trait
//! `Hash` are not stable; see [`SipHasher`].
//!
//! How it works: `round.rs` holds the round. `one.rs` and `hasher.rs` run it over the words of one
//! input, and `many/` runs it over many inputs in all lanes of a word of [`lanesum_lanes`].

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "std"), no_std)]
#![allow(
    clippy::needless_range_loop,
    clippy::manual_memcpy,
    reason = "functions of iterators may stay calls in hot loops without link-time optimisation"
)]

#[cfg(feature = "digest")]
pub mod crypto;
mod hasher;
#[cfg(feature = "many")]
mod many;
mod one;
#[cfg(feature = "std")]
mod random;
mod round;
mod words;

#[cfg(feature = "many")]
pub use crate::many::{Offset, Output, WithBackend};
#[cfg(feature = "std")]
pub use crate::random::RandomState;
pub use crate::{
    hasher::{SipHasher, SipHasher128},
    one::{KEY_LEN, SipHash, SipHash13, SipHash24, SipHash48},
};
pub use lanesum_lanes::Backend;

/// Tests the examples in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

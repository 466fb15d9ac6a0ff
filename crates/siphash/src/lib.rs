//! SipHash: keyed hashes of short inputs, of one at a time or of many at once.
//!
//! Without the key one can neither predict the hash of an input nor find two inputs of the
//! same hash. So a table with a key of its own cannot be flooded with colliding keys, and a hash of
//! 128 bits under a secret key authenticates a message. It is not for inputs without a key (take
//! XXH3 or BLAKE3), nor for passwords.
//!
//! | you have | take |
//! |---|---|
//! | a slice | [`SipHash::hash`], [`hash128`](SipHash::hash128) |
//! | pieces as they come | [`SipHash::hasher`], [`hasher128`](SipHash::hasher128) |
//! | many slices | [`SipHash::hash_many`] |
//! | many strings in one buffer (Arrow's layout) | [`SipHash::hash_offsets`] |
//! | many records of one length | [`SipHash::hash_records`] |
//! | a column of numbers | [`SipHash::hash_u64s`] |
//! | a `HashMap` | [`RandomState`], or a [`SipHash`] with a key of your own |
//! | a hash table, and many keys to look up in it | `FloodSafeMap` of the crate `lanesum-table` |
//! | code written against the RustCrypto traits | [`SipHasher128`] with the feature `digest` |
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
//! **Stable.** The hash of bytes under a key is what the paper defines: the same on every machine,
//! with every backend and in every version of this crate. Hashes made by way of the trait `Hash`
//! are not ([`SipHasher`] says why).
//!
//! How it works: `round.rs` holds the one round, `one.rs` and `hasher.rs` run it over one input's
//! words, `many/` over many inputs' in as many lanes as a word of [`lanesum_lanes`] has.

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(feature = "digest")]
pub mod crypto;
mod hasher;
mod many;
mod one;
#[cfg(feature = "std")]
mod random;
mod round;
mod words;

#[cfg(feature = "std")]
pub use crate::random::RandomState;
pub use crate::{
    hasher::{SipHasher, SipHasher128},
    many::{Offset, Output, WithBackend},
    one::{KEY_LEN, SipHash, SipHash13, SipHash24, SipHash48},
};
pub use lanesum_lanes::Backend;

/// The examples of the page on the registry, tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

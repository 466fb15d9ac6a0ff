//! Computes SHA-1 (FIPS 180-4) of one input, of a stream of chunks, or of many inputs at once.
//!
//! SHA-1 detects accidental changes, not attacks: an attacker with a few thousand dollars can make
//! two inputs with the same digest. Use it to check existing SHA-1 checksums. It does not detect
//! inputs that were made to collide; the crates `sha1-checked` and `sha1dc` do.
//!
//! The digest of *one* input cannot be computed in parallel. This crate computes 4 to 32 inputs in
//! parallel in the SIMD registers of one core, or 1 to 4 with the SHA instructions of the CPU,
//! whichever is faster.
//!
//! | you have | you want | use |
//! |---|---|---|
//! | a slice | its digest | [`sha1()`] |
//! | chunks that arrive over time | the digest of all | [`Sha1`] |
//! | an iterator of chunks | the digest of all | [`sha1_chunks`] |
//! | a reader | the digest of its contents | [`sha1_reader`] |
//! | many slices | all digests | [`sha1_many`], [`sha1_many_into`] |
//! | many streams, such as files | the digest of each as soon as it ends; up to [`Lanes::capacity`] streams at a time | [`Lanes`] |
//! | the first blocks of a message | to store the state, and continue later | [`Midstate`] |
//! | code written against RustCrypto traits | to use it unchanged | [`Sha1`] with the feature `digest` (0.11), also as `Hmac<Sha1>` (`hmac` 0.13) |
//! | digests | to store or print them | [`Sha1Digest`], with serde by the feature `serde` |
//!
//! ```
//! // One input.
//! let digest = lanesum_sha1::sha1(b"abc");
//! assert_eq!(digest.to_string(), "a9993e364706816aba3e25717850c26c9cd0d89d");
//!
//! // A stream of chunks, in constant memory.
//! let mut sha1 = lanesum_sha1::Sha1::new();
//! sha1.update(b"a");
//! sha1.update(b"bc");
//! assert_eq!(sha1.finalize(), digest);
//!
//! // Many inputs of any lengths at once.
//! # #[cfg(feature = "alloc")]
//! assert_eq!(lanesum_sha1::sha1_many([&b"abc"[..], b"", b"abc"])[2], digest);
//! ```
//!
//! How it works: `table.rs` holds the constants, and `kernel.rs` the rounds, in all lanes of a word
//! of [`lanesum_lanes`]. The crate [`lanesum_blockhash`] feeds whole blocks to the kernel.

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(feature = "alloc")]
extern crate alloc;

mod kernel;
mod table;

#[cfg(feature = "digest")]
pub use digest::{self, Digest};
#[cfg(feature = "std")]
pub use lanesum_blockhash::Reader;
#[cfg(feature = "digest")]
pub use lanesum_blockhash::crypto;
pub use lanesum_blockhash::{Backend, ParseDigestError};
#[cfg(feature = "alloc")]
pub use lanesum_blockhash::{Chunks, Output, Stream};

/// The hash function SHA-1 as a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha1Hash;

lanesum_blockhash::api! {
    crate: "lanesum_sha1", name: "SHA-1", hash: Sha1Hash,
    types: Sha1, Sha1Digest, Midstate;
    functions: sha1, sha1_chunks, sha1_reader, sha1_many, sha1_many_with, sha1_many_into,
    sha1_many_into_with;
    abc: "a9993e364706816aba3e25717850c26c9cd0d89d"
}

/// Computes the SHA-1 of many streams of any lengths at once, one in each lane.
#[cfg(feature = "alloc")]
pub type Lanes<S> = lanesum_blockhash::Lanes<Sha1Hash, S>;

/// Tests the examples in the README.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct Readme;

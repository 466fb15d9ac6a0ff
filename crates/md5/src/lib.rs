//! Computes MD5 (RFC 1321) of one input, of a stream of chunks, or of many inputs at once.
//!
//! MD5 detects accidental changes, not attacks: anyone can make two inputs with the same digest.
//! Use it to check existing MD5 checksums. The digest of *one* input cannot be computed in
//! parallel. This crate computes 4 to 64 inputs in parallel in the SIMD registers of one core.
//!
//! | you have | you want | use |
//! |---|---|---|
//! | a slice | its digest | [`md5`] |
//! | chunks that arrive over time | the digest of all | [`Md5`] |
//! | an iterator of chunks | the digest of all | [`md5_chunks`] |
//! | a reader | the digest of its contents | [`md5_reader`] |
//! | many slices | all digests | [`md5_many`], [`md5_many_into`] |
//! | many streams, such as files or sockets | all digests, without waiting for slow streams | [`Lanes`] |
//! | the first part of a message | to hash the rest later | [`Midstate`] |
//! | code written against RustCrypto traits | to use it unchanged | [`Md5`] with the feature `digest` (0.11), also as `Hmac<Md5>` (`hmac` 0.13) |
//! | digests | to store or print them | [`Md5Digest`], with serde by the feature `serde` |
//!
//! ```
//! // One input.
//! assert_eq!(lanesum_md5::md5(b"abc").to_string(), "900150983cd24fb0d6963f7d28e17f72");
//!
//! // A stream of chunks, in constant memory.
//! let mut md5 = lanesum_md5::Md5::new();
//! md5.update(b"a");
//! md5.update(b"bc");
//! assert_eq!(md5.finalize(), lanesum_md5::md5(b"abc"));
//!
//! // Many inputs of any lengths at once.
//! # #[cfg(feature = "alloc")]
//! assert_eq!(lanesum_md5::md5_many([&b"abc"[..], b"", b"abc"])[2], lanesum_md5::md5(b"abc"));
//! ```
//!
//! How it works: `table.rs` holds the 64 steps, and `kernel.rs` runs them in all lanes of a word of
//! [`lanesum_lanes`]. All other files feed whole blocks to the kernel.

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(feature = "alloc")]
extern crate alloc;

#[cfg(feature = "digest")]
pub mod crypto;
mod digest;
mod kernel;
#[cfg(feature = "alloc")]
mod lockstep;
#[cfg(feature = "alloc")]
mod many;
#[cfg(feature = "alloc")]
mod memory;
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
mod table;

#[cfg(feature = "alloc")]
pub use crate::many::{Output, md5_many, md5_many_into, md5_many_into_with, md5_many_with};
#[cfg(feature = "std")]
pub use crate::one::md5_reader;
#[cfg(feature = "std")]
pub use crate::reader::Reader;
#[cfg(feature = "alloc")]
pub use crate::stream::{Chunks, Stream};
#[cfg(feature = "alloc")]
pub use crate::streams::{Lanes, most_streams};
pub use crate::{
    digest::{Md5Digest, ParseDigestError},
    midstate::Midstate,
    one::{Md5, md5, md5_chunks},
};
pub use lanesum_lanes::{BLOCK_LEN, Backend};

/// The number of bytes in a digest.
pub const DIGEST_LEN: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all backends, with the choices of the CPU latency under test.
    pub fn backends() -> impl Iterator<Item = Backend> {
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        lanesum_lanes::other_latencies::pretend();
        Backend::available()
    }

    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    #[test]
    fn every_test_holds_for_other_latencies() {
        lanesum_lanes::other_latencies::test_each();
    }
}

/// Tests the examples in the README.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct Readme;

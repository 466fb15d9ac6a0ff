//! MD5 (RFC 1321) of one input, a stream of chunks, or many inputs at once.
//!
//! MD5 finds accidents, not attackers: anyone can make two inputs with one digest. It is here for
//! the many checksums that exist already. The digest of *one* input cannot be computed in parallel;
//! what is parallel here is many inputs, 4 to 64 of them side by side in the SIMD registers of one
//! core.
//!
//! | you have | take |
//! |---|---|
//! | a slice | [`md5`] |
//! | chunks as they come | [`Md5`] |
//! | an iterator of chunks | [`md5_chunks`] |
//! | a reader | [`md5_reader`] |
//! | many slices | [`md5_many`], [`md5_many_into`] |
//! | many streams, of files or sockets or anything | [`Lanes`], which refills a lane the moment its stream ends; one that has nothing yet holds up no other |
//! | a part of a message now, the rest another day | [`Midstate`] |
//! | code written against the RustCrypto traits | [`Md5`] with the feature `digest` (0.11), also as `Hmac<Md5>` (`hmac` 0.13) |
//! | digests to store | [`Md5Digest`]: bytes, hexadecimal digits, or serde with the feature `serde` |
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
//! How it works: `table.rs` holds the 64 steps, `kernel.rs` runs them in as many lanes as a word of
//! [`lanesum_lanes`] has, and everything else feeds it whole blocks.

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

/// Bytes in a digest.
pub const DIGEST_LEN: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    /// All backends, as a CPU of the latency to pretend would use them.
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

/// The examples of the page on the registry, tested.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct Readme;

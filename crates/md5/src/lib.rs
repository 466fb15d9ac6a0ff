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
//! [`lanesum_lanes`]. The crate [`lanesum_blockhash`] feeds whole blocks to the kernel.

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(feature = "alloc")]
extern crate alloc;

mod kernel;
mod table;

use lanesum_blockhash::BlockHash;

#[cfg(feature = "digest")]
pub use digest::{self, Digest};
#[cfg(feature = "std")]
pub use lanesum_blockhash::Reader;
#[cfg(feature = "digest")]
pub use lanesum_blockhash::crypto;
pub use lanesum_blockhash::{Backend, ParseDigestError};
#[cfg(feature = "alloc")]
pub use lanesum_blockhash::{Chunks, Output, Stream};
pub use lanesum_lanes::BLOCK_LEN;

/// The number of bytes in a digest.
pub const DIGEST_LEN: usize = 16;

/// The hash function MD5 as a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Md5Hash;

lanesum_blockhash::api! {
    crate: "lanesum_md5", name: "MD5", hash: Md5Hash,
    types: Md5, Md5Digest, Midstate;
    functions: md5, md5_chunks, md5_reader, md5_many, md5_many_with, md5_many_into,
    md5_many_into_with;
    abc: "900150983cd24fb0d6963f7d28e17f72"
}

/// Computes the MD5 of many streams of any lengths at once, one in each lane.
///
/// ```
/// use lanesum_md5::{Lanes, md5};
///
/// let messages: Vec<Vec<u8>> = (0..100).map(|n| vec![n as u8; 37 * n]).collect();
/// let mut waiting = messages.iter();
/// let mut lanes = Lanes::new();
/// let mut ended = 0;
/// loop {
///     while !lanes.is_full() && let Some(message) = waiting.next() {
///         lanes.push(&message[..]);
///     }
///     // Gives back one stream that has ended: the next can take its place at once.
///     let Some((rest, digest)) = lanes.pop() else { break };
///     assert!(rest.is_empty());
///     assert!(messages.iter().any(|message| md5(message) == digest));
///     ended += 1;
/// }
/// assert_eq!(ended, 100);
/// ```
#[cfg(feature = "alloc")]
pub type Lanes<S> = lanesum_blockhash::Lanes<Md5Hash, S>;

/// Returns how many long messages a backend hashes together. It is one of its widths, and at most
/// 32 unless 32 leave execution units idle. More messages are faster only if they are in the
/// nearest caches.
///
/// ```
/// use lanesum_md5::{Backend, most_streams};
///
/// assert_eq!(most_streams(Backend::PORTABLE), 4);
/// ```
#[must_use]
pub fn most_streams(backend: Backend) -> usize {
    Md5Hash::most_streams(backend)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all backends, with the choices of the CPU latency under test.
    pub fn backends() -> impl Iterator<Item = Backend> {
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        lanesum_lanes::other_cpus::pretend();
        Backend::available()
    }

    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    #[test]
    fn every_test_holds_for_other_cpus() {
        lanesum_lanes::other_cpus::test_each();
    }
}

/// Tests the examples in the README.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct Readme;

//! Computes SHA-256, SHA-512, SHA-224, SHA-384 and SHA-512/256 (FIPS 180-4) of one input, of a
//! stream of chunks, or of many inputs at once.
//!
//! The digest of *one* input cannot be computed in parallel. This crate computes 4 to 32 inputs in
//! parallel in the SIMD registers of one core, or 1 to 4 with the SHA instructions of the CPU,
//! whichever is faster.
//!
//! | you have | you want | use |
//! |---|---|---|
//! | a slice | its digest | [`sha256()`], [`sha512()`] and the others |
//! | chunks that arrive over time | the digest of all | [`Sha256`] |
//! | an iterator of chunks | the digest of all | [`sha256_chunks`] |
//! | a reader | the digest of its contents | [`sha256_reader`] |
//! | many slices | all digests | [`sha256_many`], [`sha256_many_into`] |
//! | many streams, such as files | the digest of each as soon as it ends; up to [`Lanes::capacity`] streams at a time | [`Lanes`] |
//! | the first blocks of a message | to store the state, and continue later | [`Sha256Midstate`] |
//! | code written against RustCrypto traits | to use it unchanged | [`Sha256`] with the feature `digest` (0.11), also as `Hmac<Sha256>` (`hmac` 0.13) |
//! | digests | to store or print them | [`Sha256Digest`], with serde by the feature `serde` |
//!
//! ```
//! // One input.
//! let digest = lanesum_sha2::sha256(b"abc");
//! let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
//! assert_eq!(digest.to_string(), hex);
//!
//! // A stream of chunks, in constant memory.
//! let mut sha512 = lanesum_sha2::Sha512::new();
//! sha512.update(b"a");
//! sha512.update(b"bc");
//! assert_eq!(sha512.finalize(), lanesum_sha2::sha512(b"abc"));
//!
//! // Many inputs of any lengths at once.
//! # #[cfg(feature = "alloc")]
//! assert_eq!(lanesum_sha2::sha256_many([&b"abc"[..], b"", b"abc"])[2], digest);
//! ```
//!
//! How it works: `table.rs` holds the constants, and `sha256.rs` and `sha512.rs` the rounds, in all
//! lanes of a word of [`lanesum_lanes`]. The crate [`lanesum_blockhash`] feeds whole blocks to
//! them.

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(feature = "alloc")]
extern crate alloc;

#[macro_use]
mod rounds;
mod sha256;
mod sha512;
mod table;

#[cfg(feature = "digest")]
pub use digest::{self, Digest};
#[cfg(feature = "std")]
pub use lanesum_blockhash::Reader;
#[cfg(feature = "digest")]
pub use lanesum_blockhash::crypto;
pub use lanesum_blockhash::{Backend, ParseDigestError};
use lanesum_blockhash::{BlockHash, Plan};
#[cfg(feature = "alloc")]
pub use lanesum_blockhash::{Chunks, Lanes, Output, Stream};

/// Makes the type of a hash function from the module of its kernels, its digest and tail, and its
/// initial state. The next four are the sizes of a digest, of a block, of a state with a number of
/// blocks, and of these with a block. The last is the object identifier.
macro_rules! hash {
    (
        $hash:ident, $name:literal, $module:ident, [u8; $len:literal], [u8; $tail:literal], $initial:ident,
        $digest:ident, $block:ident, $core:ident, $serialized:ident, oid: $oid:literal
    ) => {
        #[doc = concat!("The hash function ", $name, " as a type.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $hash;

        impl BlockHash for $hash {
            type State = $module::State;
            type Digest = [u8; $len];
            type Tail = [u8; $tail];
            type Padding = $module::Sums;

            const NAME: &'static str = $name;
            const IS_BIG_ENDIAN: bool = true;
            const INITIAL: $module::State = $module::bytes_of(table::$initial);
            const NO_PADDING: $module::Sums = $module::NO_SUMS;

            fn width(backend: Backend, lanes: usize) -> usize {
                $module::width(backend, lanes)
            }

            fn padding(block: &[u8]) -> $module::Sums {
                $module::sums(block)
            }

            fn run(plan: Plan<'_, Self>, backend: Backend, width: usize) {
                let Plan { blocks, last, states } = plan;
                let initial = table::$initial;
                $module::run($module::Work { blocks, last, states, initial }, backend, width);
            }

            lanesum_blockhash::schedulers!($module::State);
        }

        #[cfg(feature = "digest")]
        impl crypto::Sizes for $hash {
            type OutputSize = digest::consts::$digest;
            type BlockSize = digest::consts::$block;
            type CoreSize = digest::consts::$core;
            type SerializedSize = digest::consts::$serialized;
            #[cfg(feature = "oid")]
            const OID: digest::const_oid::ObjectIdentifier =
                digest::const_oid::ObjectIdentifier::new_unwrap($oid);
        }
    };
}

hash! {
    Sha256Hash, "SHA-256", sha256, [u8; 32], [u8; 128], INITIAL_256,
    U32, U64, U40, U104,
    oid: "2.16.840.1.101.3.4.2.1"
}
lanesum_blockhash::api! {
    crate: "lanesum_sha2", name: "SHA-256", hash: Sha256Hash,
    types: Sha256, Sha256Digest, Sha256Midstate;
    functions: sha256, sha256_chunks, sha256_reader, sha256_many, sha256_many_with,
    sha256_many_into, sha256_many_into_with;
    abc: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
}

hash! {
    Sha512Hash, "SHA-512", sha512, [u8; 64], [u8; 256], INITIAL_512,
    U64, U128, U80, U208,
    oid: "2.16.840.1.101.3.4.2.3"
}
lanesum_blockhash::api! {
    crate: "lanesum_sha2", name: "SHA-512", hash: Sha512Hash,
    types: Sha512, Sha512Digest, Sha512Midstate;
    functions: sha512, sha512_chunks, sha512_reader, sha512_many, sha512_many_with,
    sha512_many_into, sha512_many_into_with;
    abc: "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
}

hash! {
    Sha224Hash, "SHA-224", sha256, [u8; 28], [u8; 128], INITIAL_224,
    U28, U64, U40, U104,
    oid: "2.16.840.1.101.3.4.2.4"
}
lanesum_blockhash::api! {
    crate: "lanesum_sha2", name: "SHA-224", hash: Sha224Hash,
    types: Sha224, Sha224Digest, Sha224Midstate;
    functions: sha224, sha224_chunks, sha224_reader, sha224_many, sha224_many_with,
    sha224_many_into, sha224_many_into_with;
    abc: "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"
}

hash! {
    Sha384Hash, "SHA-384", sha512, [u8; 48], [u8; 256], INITIAL_384,
    U48, U128, U80, U208,
    oid: "2.16.840.1.101.3.4.2.2"
}
lanesum_blockhash::api! {
    crate: "lanesum_sha2", name: "SHA-384", hash: Sha384Hash,
    types: Sha384, Sha384Digest, Sha384Midstate;
    functions: sha384, sha384_chunks, sha384_reader, sha384_many, sha384_many_with,
    sha384_many_into, sha384_many_into_with;
    abc: "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"
}

hash! {
    Sha512_256Hash, "SHA-512/256", sha512, [u8; 32], [u8; 256], INITIAL_512_256,
    U32, U128, U80, U208,
    oid: "2.16.840.1.101.3.4.2.6"
}
lanesum_blockhash::api! {
    crate: "lanesum_sha2", name: "SHA-512/256", hash: Sha512_256Hash,
    types: Sha512_256, Sha512_256Digest, Sha512_256Midstate;
    functions: sha512_256, sha512_256_chunks, sha512_256_reader, sha512_256_many,
    sha512_256_many_with, sha512_256_many_into, sha512_256_many_into_with;
    abc: "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"
}

/// Tests the examples in the README.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct Readme;

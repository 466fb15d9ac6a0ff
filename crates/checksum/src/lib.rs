//! The engine of lanesum: walks directories, reads and hashes files, and checks and compares lists.
//!
//! | you have | you want | use |
//! |---|---|---|
//! | files, or parts of files | their digests | [`engine::run`]: an iterator of outcomes on your thread |
//! | a directory | its files | [`walk::walk`] |
//! | files | their ETags in S3 | [`etag::etags`] |
//! | checksum lists | to check them | [`check::check`]: events, and counts for each list |
//! | two lists or directories | to compare them | [`compare::Comparison`] |
//! | a long run | the total and the progress | [`walk::Count`], [`check::files`], [`engine::Progress`] |
//! | bytes in memory | their digests | [`digests_of`], or the crate of the algorithm |
//! | a list in a file or a pipe | its lines | [`list`](mod@list), and [`lanesum_list`] for the formats |
//! | an interrupted run | to continue it | [`journal::Journal`] |
//! | missing files of a list | a hint for the user | [`hints`] |
//! | a directory | its volume and mounts | [`disk`] |
//! | a key file | to use it for keyed algorithms | [`Key`] |
//!
//! This crate does not print, exit or read environment variables. On request a walk starts git, in
//! the environment of the process without the variables of git.
//!
//! The life of a file: [`walk`] yields entries in a stable order. [`engine::run`] reads and hashes
//! them in SIMD lanes on every CPU, and returns the outcomes in the order of the jobs.
//! [`lanesum_list`] writes and parses lines, [`list`] reads them from files, and [`check`] compares
//! them with the files.
//!
//! ```
//! use lanesum_checksum::{Algorithm, digests_of};
//!
//! let digests = digests_of(Algorithm::Md5.into(), None, b"abc")?;
//! assert_eq!(digests[0].to_string(), "900150983cd24fb0d6963f7d28e17f72");
//! # Ok::<(), lanesum_checksum::Error>(())
//! ```

#![deny(unsafe_code)]

pub mod check;
pub mod compare;
pub mod disk;
pub mod engine;
pub mod error;
pub mod etag;
pub mod hints;
mod hops;
pub mod journal;
mod key;
pub mod list;
pub mod walk;

pub use engine::{Job, Outcome, Source, digests_of};
pub use error::Error;
pub use key::Key;
pub use lanesum_list::{Algorithm, Algorithms, Digest, Digests};

/// Tests the example in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

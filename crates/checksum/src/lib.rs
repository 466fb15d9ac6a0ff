//! The engine of lanesum: walk, read, hash, and write or check a list of checksums.
//!
//! | you have | take |
//! |---|---|
//! | files, or parts of files | [`engine::run`]: jobs in, outcomes out, an iterator on your thread |
//! | a directory | [`walk::walk`], whose entries make jobs |
//! | files whose ETags in S3 you want | [`etag::etags`] |
//! | lists of checksums to check | [`check::check`]: events, and a tally for each list |
//! | a total to show before the end is known | [`walk::Count`], [`check::files`], [`engine::Progress`] |
//! | bytes in memory | [`digests_of`], or the crate of the algorithm |
//! | a list to read or write yourself | [`lanesum_list`], and [`list`](mod@list) for one that comes from a reader |
//! | to go on where a run was interrupted | [`journal::Journal`] |
//! | names of a list that are not there, and what to do then | [`hints`] |
//! | a directory, and want to know whether it is what it was | [`disk`] |
//! | a secret key | [`Key`], for the algorithms that take one |
//!
//! Nothing here prints, exits or looks at the environment; the program `lanesum` does that. A walk
//! starts git where it is told to, in this environment without git's own variables.
//!
//! The life of a file: [`walk`] yields entries in a stable order, [`engine::run`] reads and hashes
//! them in SIMD lanes on every CPU and gives the outcomes back in the order of the jobs, and
//! [`lanesum_list`] writes or reads the lines
//! that hold them, [`list`] from where they come; [`check`] compares them with the files.

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

/// The example of the page on the registry, tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

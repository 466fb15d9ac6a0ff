//! The engine of lanesum: walk, read, hash, and write or check a list of checksums.
//!
//! Nothing here prints, exits or looks at the environment; the program `lanesum` does that. A walk
//! starts git where it is told to, in this environment without git's own variables.
//!
//! The life of a file: [`walk`] yields entries in a stable order, [`engine::run`] reads and hashes
//! them in SIMD lanes on every CPU and gives the outcomes back in the order of the jobs, and
//! [`list`] writes or reads the lines that hold them; [`check`] compares them with the files.

#![deny(unsafe_code)]

pub mod algorithm;
pub mod check;
pub mod digest;
pub mod engine;
pub mod error;
mod hops;
mod key;
pub mod list;
pub mod walk;

pub use algorithm::{Algorithm, Algorithms};
pub use digest::Digest;
pub use engine::{Job, Outcome, Source, digests_of};
pub use error::Error;
pub use key::Key;

/// The example of the page on the registry, tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

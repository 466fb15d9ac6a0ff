//! A catalog of files: what they were, when that was last looked at, and what became of them.

#![forbid(unsafe_code)]

mod batch;
mod catalog;
mod class;
mod confirm;
mod digests;
mod error;
mod finding;
mod jobs;
mod lock;
mod moves;
mod network;
mod root;
mod rows;
mod run;
mod scan;
mod schema;
mod scrub;
mod seal;
mod stat;
mod table;
mod upkeep;
mod volume;
mod work;

pub use catalog::Catalog;
pub use class::{Class, Status};
pub use error::CatalogError;
pub use finding::Finding;
pub use root::{Policy, Root};
pub use run::{Options, Reading, Severity, Summary, Verb};
pub use scrub::Due;
pub use stat::Stat;

/// The example of the page on the registry, tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

//! Validates, creates and updates bags of BagIt ([RFC 8493]): directories with a list of their
//! files and digests, so that a recipient can check that a bag is complete.
//!
//! | you have | you want | use |
//! |---|---|---|
//! | a bag | to know whether it is complete and valid | [`Validation`] |
//! | a bag | to check the number and total size of its files | [`QuickLook`] |
//! | a directory | to turn it into a bag | [`Creation`] |
//! | a bag with changed files | to write new manifests | [`Update`] |
//!
//! The engine of [`lanesum_checksum`] reads and hashes each file once for all manifests. Nothing in
//! this crate prints or exits.
//!
//! ```
//! use lanesum_bag::Validation;
//! use lanesum_checksum::engine;
//!
//! let bag = tempfile::tempdir()?;
//! let validation = Validation::prepare(bag.path())?;
//! let report = validation.read(&engine::Options::default(), |finding| println!("{finding:?}"));
//! assert!(!report.is_valid()); // an empty directory
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! [RFC 8493]: https://www.rfc-editor.org/rfc/rfc8493

#![forbid(unsafe_code)]

mod changes;
mod class;
mod complete;
mod contents;
mod create;
mod declaration;
mod error;
mod fetch;
mod finding;
mod folder;
mod info;
mod manifest;
mod names;
mod open;
mod read;
mod result;
mod staging;
mod tags;
mod text;
mod update;
mod validate;

pub use changes::{Change, Difference, TagChange};
pub use class::Class;
pub use contents::Special;
pub use create::{CreateOptions, Created, Creation, Prepared};
pub use declaration::{BadDeclaration, Version};
pub use error::BagError;
pub use finding::{Finding, Problem, Severity};
pub use info::{BadElement, BadOxum, Element, Oxum};
pub use names::Unsafe;
pub use result::{ExpectedDigest, FileResult};
pub use update::{Update, UpdateOptions};
pub use validate::{QuickLook, Report, Validation};

/// Tests the example in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

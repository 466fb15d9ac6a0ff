//! Bags of BagIt, [RFC 8493]: directories whose files are listed with their digests, so that
//! whoever gets one knows whether it is whole.
//!
//! | you want | take |
//! |---|---|
//! | to know whether a bag is complete and valid | [`Validation`] |
//! | a look at how many files there are, and how long | [`QuickLook`] |
//! | to make a directory a bag | [`Creation`] |
//! | to take up what changed in a bag | [`Update`] |
//!
//! Files are read and hashed by the engine of [`lanesum_checksum`], each once for all manifests.
//! Nothing here prints or exits.
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

/// The example of the page on the registry, tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

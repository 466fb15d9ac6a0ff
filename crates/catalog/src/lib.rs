//! A catalog of files: what each was, when that was last looked at, and what became of it.
//!
//! | you want | take |
//! |---|---|
//! | to catalog a folder | [`Catalog::add_root`], then [`Catalog::run`] with [`Verb::Add`] |
//! | to take up edits, moves and new files | [`Catalog::run`] with [`Verb::Update`] |
//! | to know what is not as it was | [`Catalog::run`] with [`Verb::Audit`] |
//! | to read everything once in some months | [`Catalog::scrub`] |
//! | to read it by and by, as a daemon does | [`Agenda`], [`Catalog::scrub_part`] |
//! | to say how fast and in which hours, or to pause it | [`Control`], from any process |
//! | to say that a file is right, or gone for good | [`Catalog::accept`], [`Catalog::forget`] |
//! | to know how things stand | [`Catalog::overviews`], [`not_well`](Catalog::not_well), [`events`](Catalog::events) |
//! | to take up what lists say | [`Catalog::import`] |
//! | to know whether the catalog itself is well | [`Catalog::check`], [`Catalog::backup`] |
//!
//! Nothing here prints, exits or looks at the environment, and no thread is started but those of
//! the engine, [`lanesum_checksum::engine`].
//!
//! ```text
//! one file, one writer                     catalog.rs, lock.rs, network.rs
//! its tables, their rows and seals         schema.rs, table.rs, seal.rs, digests.rs
//! roots, and the volumes they are on       root.rs, volume.rs
//! rows in the order of a walk              rows.rs
//! a run: look, then read, then judge       run.rs, scan.rs, mounts.rs, moves.rs, jobs.rs, way.rs,
//!                                          work.rs
//! ... and what came of it, and its options  summary.rs, stat.rs, options.rs
//! files that are read in stretches         long.rs
//! the table of cases, and what rot takes   class.rs, confirm.rs
//! where damage was seen, whatever became   sighting.rs
//! of the row
//! writes, committed before they are told   batch.rs, finding.rs
//! what is due                              scrub.rs; all of it by its times: agenda.rs
//! how a scrub behaves                      manners.rs, window.rs, pressure.rs
//! what is known, and a page of it          overview.rs, browse.rs
//! accept, forget; is the catalog well?     upkeep.rs, check.rs
//! what lists say                           import.rs
//! ```
//!
//! **What was told is on the medium.** Writes are gathered for two seconds or ten thousand files,
//! committed with `synchronous=FULL`, and findings are given out after that. A crash loses so much
//! of good checks at most.
//!
//! **Rot is said only after four questions**: is the row as it was written (its seal)? Was the file
//! at rest when it was hashed? Is there no writer now (a lease)? Does a second reading, past the
//! cache, say the same?

#![forbid(unsafe_code)]

mod agenda;
mod batch;
mod browse;
mod catalog;
mod check;
mod class;
mod confirm;
mod digests;
mod error;
mod finding;
mod import;
mod jobs;
mod lock;
mod long;
mod manners;
mod mounts;
mod moves;
mod network;
mod options;
mod overview;
mod pressure;
mod root;
mod rows;
mod run;
mod scan;
mod schema;
mod scrub;
mod seal;
mod sighting;
mod stat;
mod summary;
mod table;
mod upkeep;
mod volume;
mod way;
mod window;
mod work;

pub use agenda::{Agenda, Next, Part};
pub use browse::Known;
pub use catalog::{Alone, Catalog};
pub use class::{Class, Status};
pub use error::{CatalogError, Spelling};
pub use finding::Finding;
pub use import::{Import, Imported};
pub use manners::{Change, Control, Load, Manners};
pub use options::{GoesOn, Options, Reread, Verb};
pub use overview::{Event, NotWell, Overview, PartlyRead, Run, Unseen};
pub use root::{Policy, Root};
pub use scrub::Due;
pub use stat::Stat;
pub use summary::{Halt, Severity, Summary};
pub use window::Window;

/// The example of the page on the registry, tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

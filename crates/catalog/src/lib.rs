//! A catalog of files: their recorded digests, last verifications and changes.
//!
//! | you want to | use |
//! |---|---|
//! | record a directory | [`Catalog::add_roots`], then [`Catalog::run`] with [`Task::Add`] |
//! | record edits, moves and new files | [`Catalog::run`] with [`Task::Update`] |
//! | compare names, sizes and times | [`Task::Scan`] |
//! | read everything | [`Task::Verify`] |
//! | read every file once in a period | [`Task::Scrub`]; as a daemon does: [`Catalog::next_part`] |
//! | record a file as it is, or delete its record | [`Catalog::accept`], [`Catalog::forget`] |
//! | record that a root was renamed | [`Catalog::relocate`] |
//! | get the state of roots and files | [`Catalog::status`], [`Catalog::files`] |
//! | record the digests of checksum lists | [`Catalog::import`] |
//! | pause or limit scrubs, from any process | [`Control`] |
//! | check or copy the catalog itself | [`Catalog::check`], [`Catalog::backup`] |
//!
//! This crate never prints, exits or reads the environment. It starts no threads except those of
//! the engine, [`lanesum_checksum::engine`].
//!
//! ```text
//! model/      records, entries, classes; pure functions pair and judge, without I/O
//! store/      SQLite: schema, rows, seals, transactions, backup, check
//! root.rs     directories in the catalog; settings.rs, control.rs, load.rs: their settings
//! scan.rs     compares a root's entries with its records
//! pass/       scan -> pair -> read -> judge -> write, with a policy for each verb
//! due.rs      the schedule and the budget of the scrub; part.rs: one part, for the daemon
//! status.rs   the state of roots; files.rs: of files; log.rs: runs and their findings
//! import/     records digests of checksum lists; accept.rs, forget.rs, relocate.rs
//! ```
//!
//! **A result that was reported is on disk.** Writes are gathered for two seconds or ten thousand
//! files, committed with `synchronous=FULL`, and reported after that.

#![forbid(unsafe_code)]

mod accept;
mod birth;
mod control;
mod due;
mod error;
mod excluded;
mod files;
mod forget;
mod import;
mod load;
mod log;
mod model;
mod options;
mod part;
mod pass;
mod relocate;
mod root;
mod scan;
mod settings;
mod status;
mod store;
mod summary;
mod walk;

pub use accept::Accepted;
pub use control::Control;
pub use error::CatalogError;
pub use files::{Deleted, FileFilter, FileStatus, Pending};
pub use forget::{Forgotten, ForgottenPath};
pub use import::{Import, Imported};
pub use load::Load;
pub use log::Event;
pub use model::{Attention, Class, Content, Finding, Profile, Reason, Stat, Window, midnight};
pub use options::{GoesOn, Options, Selection, Target, Task, Verb};
pub use part::{Part, Position};
pub use pass::OnFinding;
pub use relocate::Relocated;
pub use root::{Offline, Root};
pub use settings::{DEFAULT_EXCLUDES, IGNORE_FILE, Settings, SettingsPatch, Steering};
pub use status::{Outcome, PartlyRead, RootStatus, Run, Scope};
pub use store::catalog::{Alone, Catalog};
pub use summary::{Counts, Halt, Skipped, Summary};

/// The example of the page on the registry, tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

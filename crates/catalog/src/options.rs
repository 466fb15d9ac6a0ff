//! The tasks and options of runs.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use lanesum_checksum::engine;

use crate::root::Root;

/// The verb of a run or an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verb {
    /// Record all files of a root.
    Add,
    /// Compare names, sizes and times. Reads nothing, and records no content.
    Scan,
    /// Read and record new and different files.
    Update,
    /// Read all files, or the given paths. Records no content.
    Verify,
    /// Read the due files. Records no content.
    Scrub,
    /// Record files as they are.
    Accept,
    /// Delete records.
    Forget,
    /// Record the new path of a root.
    Relocate,
    /// Record the digests of lists.
    Import,
}

impl Verb {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Add,
        Self::Scan,
        Self::Update,
        Self::Verify,
        Self::Scrub,
        Self::Accept,
        Self::Forget,
        Self::Relocate,
        Self::Import,
    ];

    /// Returns its name in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Scan => "scan",
            Self::Update => "update",
            Self::Verify => "verify",
            Self::Scrub => "scrub",
            Self::Accept => "accept",
            Self::Forget => "forget",
            Self::Relocate => "relocate",
            Self::Import => "import",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| verb.name() == name)
    }

    /// Returns whether it records new content.
    pub(crate) const fn records(self) -> bool {
        matches!(self, Self::Add | Self::Update)
    }
}

/// A root, or some paths in it.
#[derive(Clone, Debug)]
pub struct Target {
    /// The root.
    pub root: Root,
    /// Files and directories below it, without trailing slashes; empty for the whole root.
    pub paths: Vec<Vec<u8>>,
}

impl Target {
    /// Returns the whole root.
    #[must_use]
    pub const fn whole(root: Root) -> Self {
        Self { root, paths: Vec::new() }
    }
}

/// A task: a policy for the pass.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Task {
    /// Record all files.
    Add,
    /// Compare names, sizes and times.
    Scan,
    /// Record new and different files.
    Update,
    /// Read all files of the targets.
    Verify,
    /// Read the due files, or those of the selection.
    Scrub(Selection),
}

impl Task {
    /// Its verb.
    #[must_use]
    pub const fn verb(&self) -> Verb {
        match self {
            Self::Add => Verb::Add,
            Self::Scan => Verb::Scan,
            Self::Update => Verb::Update,
            Self::Verify => Verb::Verify,
            Self::Scrub(_) => Verb::Scrub,
        }
    }
}

/// The files that a scrub reads: by default the due ones, within a day's budget.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Selection {
    /// This percentage of all files, those verified longest ago.
    pub percent: Option<f64>,
    /// Files that were not verified for this many days.
    pub older_than_days: Option<u32>,
    /// Damaged, missing and unchecked files.
    pub bad: bool,
    /// Stop after this time.
    pub max_time: Option<Duration>,
    /// Stop after this many bytes, but not before one file, or one chunk of a long file.
    pub max_bytes: Option<u64>,
    /// Whether an update has just ended, which compared names, sizes and times, and read the files
    /// that are not ok.
    pub is_updated: bool,
}

impl Selection {
    /// Returns whether the caller chose files, so that neither due times nor the budget apply.
    pub(crate) const fn is_chosen(&self) -> bool {
        self.percent.is_some() || self.older_than_days.is_some() || self.bad
    }
}

/// The options of a run. Start from the defaults and change fields.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// How files are read. Changes during the read are always detected.
    pub engine: engine::Options,
    /// Replaces the setting of the roots for this run.
    pub max_gone: Option<u32>,
    /// `update` stops if it would record more edits than this percentage of a root's records, and
    /// more than 100. The default is 50.
    pub max_changed: u32,
    /// Whether `update` continues anyway.
    pub force: bool,
    /// The time in seconds since 1970.
    pub clock: fn() -> i64,
    /// The time zone for hours of the day. The default is UTC.
    pub zone: TimeZone,
    /// Whether a scrub also reads outside of its hours.
    pub at_any_time: bool,
    /// Whether a scrub gives way to other users of the disks.
    pub yields: bool,
    /// Called some times per second while files are read. If it returns false, the run ends and
    /// keeps its results.
    pub goes_on: Option<GoesOn>,
}

/// Decides whether a run continues.
#[derive(Clone)]
pub struct GoesOn(Arc<dyn Fn() -> bool + Send + Sync>);

impl GoesOn {
    /// As the function says.
    pub fn new(says: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(says))
    }

    pub(crate) fn says(&self) -> bool {
        (self.0)()
    }
}

impl std::fmt::Debug for GoesOn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("GoesOn")
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            engine: engine::Options::default(),
            max_gone: None,
            max_changed: 50,
            force: false,
            clock,
            zone: TimeZone::UTC,
            at_any_time: false,
            yields: false,
            goes_on: None,
        }
    }
}

/// The system's clock.
fn clock() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs().cast_signed())
}

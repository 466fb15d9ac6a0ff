//! What a run does, and how.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use lanesum_checksum::engine;

use crate::root::Root;

/// What is done with roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verb {
    /// Record all files of a root.
    Add,
    /// Compare names, sizes and times; read nothing, record no content.
    Scan,
    /// Read what is new or differs, and record it.
    Update,
    /// Read everything, or the paths named; record no content.
    Verify,
    /// Read what is due; record no content.
    Scrub,
    /// Record files as they are.
    Accept,
    /// Delete records.
    Forget,
    /// Record that a root is at another path.
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

    /// Its word, in lower case.
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

    /// Whether it records new content.
    pub(crate) const fn records(self) -> bool {
        matches!(self, Self::Add | Self::Update)
    }
}

/// A root, or some paths in it.
#[derive(Clone, Debug)]
pub struct Target {
    /// The root.
    pub root: Root,
    /// Files and directories below it, without slashes at their ends; none stands for all of it.
    pub paths: Vec<Vec<u8>>,
}

impl Target {
    /// All of a root.
    #[must_use]
    pub const fn whole(root: Root) -> Self {
        Self { root, paths: Vec::new() }
    }
}

/// A policy over the pass.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Task {
    /// Record all files.
    Add,
    /// Compare names, sizes and times.
    Scan,
    /// Record what is new or differs.
    Update,
    /// Read everything that the targets name.
    Verify,
    /// Read what is due, or what the selection names.
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

/// What a scrub reads: by default what is due, as far as a day's budget goes.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Selection {
    /// This share of all files, in percent, those verified longest ago.
    pub percent: Option<f64>,
    /// Files that were not verified for so many days.
    pub older_than_days: Option<u32>,
    /// Damaged, missing and unchecked files.
    pub bad: bool,
    /// Stop after this time.
    pub max_time: Option<Duration>,
    /// Stop after so many bytes, but not before one file, or one chunk of a long file.
    pub max_bytes: Option<u64>,
    /// Whether names, sizes and times were compared just now, so that it need not be done again.
    pub is_scanned: bool,
}

impl Selection {
    /// Whether the caller chose, so that neither due times nor the budget count.
    pub(crate) const fn is_chosen(&self) -> bool {
        self.percent.is_some() || self.older_than_days.is_some() || self.bad
    }
}

/// How a run is done: the defaults, changed field by field.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// How files are read. Changes during the read are always detected.
    pub engine: engine::Options,
    /// In place of the setting of the roots, this once.
    pub max_gone: Option<u32>,
    /// `update` stops if it would record more edits than this share of a root's records, in
    /// percent, and more than 100. The default is 50.
    pub max_changed: u32,
    /// Whether `update` goes on all the same.
    pub force: bool,
    /// The time in seconds since 1970.
    pub clock: fn() -> i64,
    /// Where hours of the day are those of. The default is UTC.
    pub zone: TimeZone,
    /// Whether a scrub reads outside of its hours, too.
    pub at_any_time: bool,
    /// Whether a scrub makes way for others that wait for the disks.
    pub yields: bool,
    /// Called some times a second while files are read; the run ends where it says false, and what
    /// was done is kept.
    pub goes_on: Option<GoesOn>,
}

/// Whether a run is to go on.
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

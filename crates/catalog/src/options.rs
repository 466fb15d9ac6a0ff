//! What is done with a root, and how.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use lanesum_checksum::engine;

/// What is done with a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verb {
    /// Read what is new or edited, and accept it; of a root that is new, all.
    Add,
    /// Read what is new or edited, and accept it.
    Update,
    /// Read what is not as it was, and accept nothing.
    Audit,
    /// Read what is due, and accept nothing.
    Scrub,
}

impl Verb {
    /// Its word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Update => "update",
            Self::Audit => "audit",
            Self::Scrub => "scrub",
        }
    }

    pub(crate) const fn accepts(self) -> bool {
        matches!(self, Self::Add | Self::Update)
    }
}

/// Which files are read that look as they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reread {
    /// None of them: only those that look otherwise.
    #[default]
    Needed,
    /// All.
    All,
    /// None, nor those that look otherwise.
    Nothing,
}

/// How a run is done: the defaults, changed field by field.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// How files are read. Outcomes come as they come, and changes are detected, whatever it says.
    pub engine: engine::Options,
    /// Which files are read that look as they were. The default is none.
    pub reread: Reread,
    /// In place of the root's policy, this once.
    pub max_gone: Option<u32>,
    /// The time in seconds since 1970.
    pub clock: fn() -> i64,
    /// Where hours of the day are those of. The default is UTC.
    pub zone: TimeZone,
    /// Whether a scrub reads outside of its hours, too.
    pub at_any_time: bool,
    /// Whether a scrub gets out of the way of others that wait for the disks.
    pub yields: bool,
    /// Is called some times a second while files are read; where it says false the run ends, and
    /// what was done is kept.
    pub goes_on: Option<GoesOn>,
}

/// Whether a run is to go on.
#[derive(Clone)]
pub struct GoesOn(Arc<dyn Fn() -> bool + Send + Sync>);

impl GoesOn {
    /// As this says.
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
            reread: Reread::default(),
            max_gone: None,
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

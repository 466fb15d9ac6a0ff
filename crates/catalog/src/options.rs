//! What is done with a root, and how.

use std::time::{SystemTime, UNIX_EPOCH};

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

/// What is read of what is as it was, as far as its stat tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reading {
    /// Nothing: only what looks otherwise.
    #[default]
    Needed,
    /// Everything.
    All,
    /// Nothing, nor what looks otherwise.
    Nothing,
}

/// How a run is done: the defaults, changed field by field.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// How files are read. Outcomes come as they come, and changes are detected, whatever it says.
    pub engine: engine::Options,
    /// What is read of what looks as it was. The default is nothing.
    pub reading: Reading,
    /// In place of the root's policy, this once.
    pub max_gone: Option<u32>,
    /// The time in seconds since 1970.
    pub clock: fn() -> i64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            engine: engine::Options::default(),
            reading: Reading::default(),
            max_gone: None,
            clock,
        }
    }
}

/// The system's clock.
fn clock() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs().cast_signed())
}

//! What a run reports of a file, and what the log keeps of it.

use std::path::PathBuf;

use lanesum_list::Digests;

use super::{Attention, Class, Profile, Reason, Stat};

/// A content: its size, its modification time and its digests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// In bytes.
    pub size: i64,
    /// Nanoseconds since 1970.
    pub modified: i64,
    /// In the order of their algorithms; none where it was not read.
    pub digests: Digests,
}

impl Content {
    pub(crate) fn new(stat: &Stat, digests: &Digests) -> Self {
        Self { size: stat.size, modified: stat.modified, digests: digests.clone() }
    }
}

/// Something that a run reports.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What became of the file.
    pub class: Class,
    /// Why, where the class alone does not say it.
    pub reason: Option<Reason>,
    /// Its path below the root; empty for the root itself. That of a directory ends in `/`.
    pub path: Vec<u8>,
    /// Moved: the whole path that is recorded. New with [`Reason::Copy`]: the original's.
    pub other: Option<PathBuf>,
    /// The number of files: more than one for a renamed or unreadable directory.
    pub files: u64,
    /// What is recorded.
    pub recorded: Option<Content>,
    /// What was found.
    pub found: Option<Content>,
    /// The system's error text.
    pub error: Option<String>,
    /// The class that was stored before this run, where it is another one.
    pub was: Option<Class>,
}

impl Finding {
    pub(crate) fn new(class: Class, reason: Option<Reason>, path: Vec<u8>) -> Self {
        let (other, recorded, found, error, was) = (None, None, None, None, None);
        Self { class, reason, path, other, files: 1, recorded, found, error, was }
    }

    /// What it asks of people, in a root of this profile.
    #[must_use]
    pub const fn attention(&self, profile: Profile) -> Attention {
        Attention::of(self.class, self.reason, profile)
    }
}

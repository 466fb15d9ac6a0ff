//! A finding about a file, which a run reports and the log stores.

use std::path::PathBuf;

use lanesum_list::Digests;

use super::{Attention, Class, Profile, Reason, Stat};

/// A content: its size, its modification time and its digests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The size in bytes.
    pub size: i64,
    /// The modification time in nanoseconds since 1970.
    pub modified: i64,
    /// The digests in the order of their algorithms; empty if it was not read.
    pub digests: Digests,
}

impl Content {
    pub(crate) fn new(stat: &Stat, digests: &Digests) -> Self {
        Self { size: stat.size, modified: stat.modified, digests: digests.clone() }
    }
}

/// A finding of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The class of the file.
    pub class: Class,
    /// The reason for the class, if there is one.
    pub reason: Option<Reason>,
    /// Its path below the root; empty for the root itself. The path of a directory ends in `/`.
    pub path: Vec<u8>,
    /// The full recorded path of a moved file, or that of the original of a copy
    /// ([`Reason::Copy`]).
    pub other: Option<PathBuf>,
    /// The number of files: more than one for a renamed or unreadable directory.
    pub files: u64,
    /// The recorded content.
    pub recorded: Option<Content>,
    /// The content found.
    pub found: Option<Content>,
    /// The error text of the system.
    pub error: Option<String>,
    /// The class before this run, if it was different.
    pub was: Option<Class>,
}

impl Finding {
    pub(crate) fn new(class: Class, reason: Option<Reason>, path: Vec<u8>) -> Self {
        let (other, recorded, found, error, was) = (None, None, None, None, None);
        Self { class, reason, path, other, files: 1, recorded, found, error, was }
    }

    /// Returns the attention that it needs in a root of this profile.
    #[must_use]
    pub const fn attention(&self, profile: Profile) -> Attention {
        Attention::of(self.class, self.reason, profile)
    }
}

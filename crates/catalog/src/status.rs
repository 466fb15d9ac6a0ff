//! How roots and files stand, from stored state alone: columns, never events.

use std::path::PathBuf;

use lanesum_list::Digests;

use crate::model::{Attention, Class, Content, Finding, Reason};
use crate::options::Verb;
use crate::root::Root;
use crate::summary::{Counts, attention_of};
use crate::{Catalog, CatalogError};

/// How a root stands.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RootStatus {
    /// The root.
    pub root: Root,
    /// Its records.
    pub files: u64,
    /// Its records by their stored classes.
    pub standing: Counts,
    /// Of the unchecked ones, those with I/O errors.
    pub io_errors: u64,
    /// New files of the last scan, which `update` records.
    pub new: u64,
    /// Records below directories that the last scan could not read, or that were mounted over.
    pub unknown: u64,
    /// Files by the age of their last verification: thirty parts of the period, then those beyond.
    pub by_age: [u64; 31],
    /// The oldest verification, in seconds since 1970; none without records.
    pub oldest: Option<i64>,
    /// Files whose last verification is longer ago than the root allows.
    pub overdue: u64,
    /// Files that are due now.
    pub due: u64,
    /// When the next one is due, in seconds since 1970.
    pub next_due: Option<i64>,
    /// The last run that read or compared files.
    pub last: Option<Run>,
    /// Whether a run is at work now.
    pub is_running: bool,
    /// Long files of which a part was read.
    pub partly_read: Option<PartlyRead>,
}

impl RootStatus {
    /// What it asks of people.
    #[must_use]
    pub fn attention(&self) -> Attention {
        let files = attention_of(&self.standing, self.root.settings.profile);
        let new = if self.new > 0 { Attention::Changes } else { Attention::Nothing };
        let is_gap = self.root.offline.is_some()
            || !self.root.is_complete
            || self.unknown + self.overdue > 0
            || self.last.as_ref().is_some_and(|run| run.outcome.is_gap());
        let gap = if is_gap { Attention::Incomplete } else { Attention::Nothing };
        let errors = if self.io_errors > 0 { Attention::Problem } else { Attention::Nothing };
        files.max(new).max(gap).max(errors)
    }
}

/// Long files of which a scrub read a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartlyRead {
    /// How many.
    pub files: u64,
    /// Their bytes.
    pub of: u64,
    /// Those that were read.
    pub read: u64,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// It did not end: it is at work, or was interrupted.
    Begun,
    /// All was done.
    Complete,
    /// All was done but for files that could not be read.
    Partial,
    /// The root was offline.
    Offline,
    /// A limit of time or bytes was reached, its hours were over, or it was told to end.
    Limited,
    /// Scrubs of the root were paused.
    Paused,
    /// A part of a longer run.
    Part,
    /// Too many files would have been recorded as edited.
    TooManyEdits,
    /// The catalog itself is damaged.
    CatalogDamaged,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Begun,
        Self::Complete,
        Self::Partial,
        Self::Offline,
        Self::Limited,
        Self::Paused,
        Self::Part,
        Self::TooManyEdits,
        Self::CatalogDamaged,
    ];

    /// Its word, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Complete => "complete",
            Self::Partial => "partial",
            Self::Offline => "offline",
            Self::Limited => "limited",
            Self::Paused => "paused",
            Self::Part => "part",
            Self::TooManyEdits => "too-many-edits",
            Self::CatalogDamaged => "catalog-damaged",
        }
    }

    /// Whether something that the next run does not make up for by itself was left undone.
    pub(crate) const fn is_gap(self) -> bool {
        matches!(self, Self::TooManyEdits)
    }

    pub(crate) fn from_number(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| *outcome as i64 == number)
    }
}

/// What a run was to cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scope {
    /// All contents of the root.
    #[default]
    Everything,
    /// Some paths that were named.
    Named,
    /// What is due, or was selected.
    Due,
    /// What is new or differs.
    Changes,
    /// Names, sizes and times alone.
    Names,
}

impl Scope {
    pub(crate) const fn from_number(number: i64) -> Option<Self> {
        Some(match number {
            0 => Self::Everything,
            1 => Self::Named,
            2 => Self::Due,
            3 => Self::Changes,
            4 => Self::Names,
            _ => return None,
        })
    }
}

/// A run, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Run {
    /// Its number.
    pub id: i64,
    /// The id of its root.
    pub root: i64,
    /// What was done.
    pub verb: Verb,
    /// What it was to cover.
    pub scope: Scope,
    /// When, in seconds since 1970.
    pub started: i64,
    /// When it ended.
    pub ended: Option<i64>,
    /// How it ended.
    pub outcome: Outcome,
    /// What it found.
    pub counts: Counts,
    /// Files that were read.
    pub files: u64,
    /// Bytes that were read.
    pub bytes: u64,
}

/// A recorded file, as it is stored.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FileStatus {
    /// Its number in the catalog.
    pub id: i64,
    /// The id of its root.
    pub root: i64,
    /// Its whole path.
    pub path: PathBuf,
    /// How it stands.
    pub class: Class,
    /// Why.
    pub reason: Option<Reason>,
    /// Since when, in seconds since 1970; 0 for a file that is ok.
    pub since: i64,
    /// The last verification, in seconds since 1970.
    pub verified: i64,
    /// What is recorded.
    pub recorded: Content,
    /// What was found in its place, where it was read.
    pub found: Option<Content>,
    /// The system's error text.
    pub error: Option<String>,
    /// Where it is now, if it moved: a whole path.
    pub moved_to: Option<PathBuf>,
}

/// A file or directory of the last scan that has no record of its own.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pending {
    /// `New`; or `Unchecked` with a reason for a directory with recorded files.
    pub class: Class,
    /// Why.
    pub reason: Option<Reason>,
    /// Its whole path.
    pub path: PathBuf,
    /// Records below it that could not be checked.
    pub files: u64,
    /// The system's error text.
    pub error: Option<String>,
}

/// A file whose record `update` deleted in a working root.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Deleted {
    /// Its whole path.
    pub path: PathBuf,
    /// When its record was deleted, in seconds since 1970.
    pub at: i64,
    /// What was recorded.
    pub recorded: Content,
}

/// An entry of the log.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Event {
    /// Its number.
    pub id: i64,
    /// When, in seconds since 1970.
    pub at: i64,
    /// The id of the root.
    pub root: i64,
    /// The path of the root; none where it was forgotten.
    pub root_path: Option<PathBuf>,
    /// What was reported.
    pub finding: Finding,
}

/// Which files are listed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FileFilter {
    /// Those of the root of this id alone.
    pub root: Option<i64>,
    /// Those whose class is not `ok` alone.
    pub only_bad: bool,
    /// Those whose ids are greater.
    pub after: i64,
    /// No more than so many; 0 is no limit.
    pub most: usize,
}

impl Catalog {
    /// How the roots stand at this time in seconds since 1970, in the order in which they were
    /// added.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn status(&self, now: i64) -> Result<Vec<RootStatus>, CatalogError> {
        let _ = now;
        todo!()
    }

    /// Lists recorded files in the order of their ids, or of one root in the order of their paths.
    ///
    /// # Errors
    /// Those of the catalog, and of `take`.
    pub fn files(
        &self,
        filter: &FileFilter,
        take: &mut dyn FnMut(FileStatus) -> std::io::Result<()>,
    ) -> Result<(), CatalogError> {
        let _ = (filter, take);
        todo!()
    }

    /// The recorded file of this id.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn file(&self, id: i64) -> Result<Option<FileStatus>, CatalogError> {
        let _ = id;
        todo!()
    }

    /// What the last scan of a root found without a record.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn pending(&self, root: &Root) -> Result<Vec<Pending>, CatalogError> {
        let _ = root;
        todo!()
    }

    /// Files whose records were deleted since this time, newest first.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn deleted(&self, root: &Root, since: i64) -> Result<Vec<Deleted>, CatalogError> {
        let _ = (root, since);
        todo!()
    }

    /// Runs that began since this time, newest first.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn runs(
        &self,
        since: i64,
        take: &mut dyn FnMut(Run) -> std::io::Result<()>,
    ) -> Result<(), CatalogError> {
        let _ = (since, take);
        todo!()
    }

    /// The newest entries of the log about a path below a root, newest first.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn events_of(
        &self,
        root: i64,
        path: &[u8],
        most: usize,
    ) -> Result<Vec<Event>, CatalogError> {
        let _ = (root, path, most);
        todo!()
    }

    /// Entries of the log whose ids are greater, oldest first, no more than `most`.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn events_after(&self, last: i64, most: usize) -> Result<Vec<Event>, CatalogError> {
        let _ = (last, most);
        todo!()
    }

    /// A recorded file that has the content of each of these digests, for files that are lost.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn find_copies(&self, lost: &[Digests]) -> Result<Vec<Option<PathBuf>>, CatalogError> {
        let _ = lost;
        todo!()
    }
}

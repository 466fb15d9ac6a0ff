//! The result of a run over a root.

use std::collections::BTreeMap;

use lanesum_checksum::walk::Skip;

use crate::model::{Attention, Class, Profile};
use crate::options::Verb;
use crate::root::{Offline, Root};

/// Files by their classes.
pub type Counts = BTreeMap<Class, u64>;

/// The reason why a run ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Halt {
    /// A limit of time or bytes was reached.
    Limit,
    /// Scrubs of the root are paused since this time, in seconds since 1970.
    Paused(i64),
    /// The time is outside of its hours.
    Hours,
    /// The program must end.
    Stopped,
    /// A part is done, and the next one follows.
    Part,
    /// Too many files were edited; nothing was changed.
    TooManyEdits {
        /// The number of files whose size or time differs.
        edited: u64,
        /// The number of records of the root.
        of: u64,
    },
    /// A file system was mounted or unmounted during the run.
    MountsChanged,
}

/// The entries that the scan skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// The number of symbolic links, which are not followed.
    pub links: u64,
    /// The number of files and directories that the root's patterns exclude.
    pub excluded: u64,
    /// The number of records that were deleted because patterns now exclude their files.
    pub deleted: u64,
    /// Mounted file systems, by their paths below the root. They need a separate `add`.
    pub mounts: Vec<Vec<u8>>,
    /// The number of named pipes, sockets and devices.
    pub special: u64,
    /// Ignore files with an invalid pattern, by their paths below the root, each with a message.
    pub bad_lines: Vec<(Vec<u8>, String)>,
}

impl Skipped {
    /// Adds an entry, by its path below the root.
    pub(crate) fn add(&mut self, path: Vec<u8>, why: Skip) {
        match why {
            Skip::Link => self.links += 1,
            Skip::OtherDevice => self.mounts.push(path),
            Skip::Excluded => self.excluded += 1,
            _ => self.special += 1,
        }
    }
}

/// The result of a run over a root.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// The root, as it is stored after the run.
    pub root: Root,
    /// The verb of the run.
    pub verb: Verb,
    /// Whether it had no records before.
    pub is_first: bool,
    /// The number of files by class. Files that are `ok` are counted only if they were read.
    pub counts: Counts,
    /// The number of files of which only the first of two reads differed from the record.
    pub hardware_warnings: u64,
    /// The number of files that an update reads again although they have the recorded size and
    /// time, because they changed shortly before they were read.
    pub again: u64,
    /// The number of files with the recorded size and time that were not read.
    pub unread: u64,
    /// The number of records in directories that could not be read, or under mounts.
    pub unknown: u64,
    /// The number of files read.
    pub files: u64,
    /// The number of bytes read.
    pub bytes: u64,
    /// The entries that the scan skipped.
    pub skipped: Skipped,
    /// The states of the records after the run, by their stored classes: of the whole root, or of
    /// the given paths.
    pub standing: Counts,
    /// The number of unchecked records with I/O errors.
    pub io_errors: u64,
    /// The number of due files that the day's budget leaves for another day.
    pub left: u64,
    /// The number of files whose last verification is longer ago than the root allows.
    pub overdue: u64,
    /// The reason why the run ended early, if it did.
    pub halt: Option<Halt>,
    /// Whether the clock is behind an earlier run. Times in the future are ignored.
    pub clock_is_behind: bool,
}

impl Summary {
    pub(crate) fn new(root: Root, verb: Verb) -> Self {
        Self {
            root,
            verb,
            is_first: false,
            counts: Counts::new(),
            hardware_warnings: 0,
            again: 0,
            unread: 0,
            unknown: 0,
            files: 0,
            bytes: 0,
            skipped: Skipped::default(),
            standing: Counts::new(),
            io_errors: 0,
            left: 0,
            overdue: 0,
            halt: None,
            clock_is_behind: false,
        }
    }

    /// Returns why the root was left alone, if so.
    #[must_use]
    pub const fn offline(&self) -> Option<&Offline> {
        self.root.offline.as_ref()
    }

    /// Returns whether everything was done and readable.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.attention_of_gaps() == Attention::Nothing
    }

    fn attention_of_gaps(&self) -> Attention {
        let is_whole = self.halt.is_none_or(|halt| halt == Halt::Part)
            && self.root.offline.is_none()
            && self.root.is_complete
            && self.unknown == 0
            && self.standing.get(&Class::Unchecked).is_none_or(|count| *count == 0)
            && self.counts.get(&Class::Unchecked).is_none_or(|count| *count == 0)
            && self.overdue == 0;
        if is_whole { Attention::Nothing } else { Attention::Incomplete }
    }

    /// Returns the attention that it needs.
    #[must_use]
    pub fn attention(&self) -> Attention {
        let profile = self.root.settings.profile;
        let is_problem = self.hardware_warnings + self.io_errors > 0;
        let least = if is_problem { Attention::Problem } else { Attention::Nothing };
        let of = |counts: &Counts| attention_of(counts, profile);
        let changes = if self.is_first { Attention::Nothing } else { of(&self.counts) };
        least.max(self.attention_of_gaps()).max(changes).max(of(&self.standing))
    }
}

/// Returns the attention that several files need together.
pub(crate) fn attention_of(counts: &Counts, profile: Profile) -> Attention {
    let counted = counts.iter().filter(|(_, count)| **count > 0);
    counted.map(|(class, _)| Attention::of(*class, None, profile)).max().unwrap_or_default()
}

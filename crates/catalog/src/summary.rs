//! What came of a run over a root.

use std::collections::BTreeMap;

use crate::model::{Attention, Class, Profile};
use crate::options::Verb;
use crate::root::{Offline, Root};

/// Files by their classes.
pub type Counts = BTreeMap<Class, u64>;

/// Why a run ended before all was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Halt {
    /// A limit of time or bytes was reached.
    Limit,
    /// Scrubs of the root are paused, since this time in seconds since 1970.
    Paused(i64),
    /// Its hours are over, or did not begin.
    Hours,
    /// The program was told to end.
    Stopped,
    /// A part is done, and the next one follows.
    Part,
    /// Too many files would be recorded as edited; nothing was changed.
    TooManyEdits {
        /// Files whose size or time differs.
        edited: u64,
        /// Records of the root.
        of: u64,
    },
    /// A file system was mounted or unmounted during the run.
    MountsChanged,
}

/// What the scan left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// Symbolic links, which are not followed.
    pub links: u64,
    /// Files and directories that the root's patterns exclude.
    pub excluded: u64,
    /// Records that were deleted since patterns exclude their files now.
    pub deleted: u64,
    /// Mounted file systems, by their paths below the root; they need an `add` of their own.
    pub mounts: Vec<Vec<u8>>,
}

/// What came of a run over a root.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// The root, as it is stored after the run.
    pub root: Root,
    /// What was done.
    pub verb: Verb,
    /// Whether nothing was recorded of it before.
    pub is_first: bool,
    /// What the run found: files by class, those that are `ok` only if they were read.
    pub counts: Counts,
    /// Files whose first read differed from the record and whose second did not.
    pub hardware_warnings: u64,
    /// Files whose size and time are as recorded, and that were not read.
    pub unread: u64,
    /// Records in directories that could not be read, or that are mounted over.
    pub unknown: u64,
    /// Files that were read.
    pub files: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// What the scan left out.
    pub skipped: Skipped,
    /// How the records stand after the run, by their stored classes: all of the root, or those at
    /// the paths that were named.
    pub standing: Counts,
    /// Of the unchecked ones, those with I/O errors.
    pub io_errors: u64,
    /// Files that are due, and that the day's budget leaves for another day.
    pub left: u64,
    /// Files whose last verification is longer ago than the root allows.
    pub overdue: u64,
    /// Why the run ended early.
    pub halt: Option<Halt>,
    /// Whether the clock is behind an earlier run; times in the future are not believed.
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

    /// Why the root was left alone, if it was.
    #[must_use]
    pub const fn offline(&self) -> Option<&Offline> {
        self.root.offline.as_ref()
    }

    /// Whether all was done that was to be, and all of it could be read.
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

    /// What it asks of people.
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

/// What files ask of people together.
pub(crate) fn attention_of(counts: &Counts, profile: Profile) -> Attention {
    let counted = counts.iter().filter(|(_, count)| **count > 0);
    counted.map(|(class, _)| Attention::of(*class, None, profile)).max().unwrap_or_default()
}

//! What became of a file: eight classes, and the reasons behind them.

use std::fmt;

/// How a file stands against its record, or a root against the catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Class {
    /// The content is as recorded.
    Ok,
    /// The modification time and the content changed.
    Edited,
    /// The file is not recorded.
    New,
    /// The file is recorded under another path, also in another root.
    Moved,
    /// The file is recorded and gone.
    Missing,
    /// The content changed and the modification time did not.
    Damaged,
    /// The file could not be verified.
    Unchecked,
    /// Of a root: it is not there, empty, on another volume, or too much of it is missing.
    Offline,
}

impl Class {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Ok,
        Self::Edited,
        Self::New,
        Self::Moved,
        Self::Missing,
        Self::Damaged,
        Self::Unchecked,
        Self::Offline,
    ];

    /// Its word, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Edited => "edited",
            Self::New => "new",
            Self::Moved => "moved",
            Self::Missing => "missing",
            Self::Damaged => "damaged",
            Self::Unchecked => "unchecked",
            Self::Offline => "offline",
        }
    }

    /// The class of a word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }

    /// The number that rows have for it, which never changes.
    pub(crate) const fn number(self) -> i64 {
        self as i64
    }

    pub(crate) fn from_number(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.number() == number)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Why a file or a root has its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    /// Damaged: size, times and inode are as recorded, and the content is not.
    Content,
    /// Damaged: the size changed and the modification time did not.
    Size,
    /// Damaged: the file lost its end, or all of its content.
    Truncated,
    /// Damaged: a program wrote to the file and set its modification time back.
    Rewritten,
    /// Damaged: another file with the recorded modification time is in its place.
    Replaced,
    /// Damaged: two reads gave two contents.
    Unstable,
    /// Edited: the modification time went back.
    Older,
    /// New: another recorded file has the same content.
    Copy,
    /// Unchecked: this user may not read it.
    Permission,
    /// Unchecked: the device gave an error.
    IoError,
    /// Unchecked: a program had it open for writing, or it changed during the read.
    Busy,
    /// Unchecked: a different file system is mounted over it.
    MountedOver,
    /// Unchecked: a limit of time, bytes or edits was reached first.
    Limit,
    /// Unchecked: the last verification is longer ago than the root allows.
    Overdue,
    /// Offline: the directory is not there.
    Absent,
    /// Offline: the directory is empty, as a mount point without its disk is.
    Empty,
    /// Offline: another volume or another directory is there.
    OtherVolume,
    /// Offline: more files are missing than `max_gone` allows.
    TooManyMissing,
    /// Offline: the directory cannot be read.
    Unreadable,
    /// Ok: the first read differed and the second did not, so memory, cable or controller erred.
    Hardware,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 20] = [
        Self::Content,
        Self::Size,
        Self::Truncated,
        Self::Rewritten,
        Self::Replaced,
        Self::Unstable,
        Self::Older,
        Self::Copy,
        Self::Permission,
        Self::IoError,
        Self::Busy,
        Self::MountedOver,
        Self::Limit,
        Self::Overdue,
        Self::Absent,
        Self::Empty,
        Self::OtherVolume,
        Self::TooManyMissing,
        Self::Unreadable,
        Self::Hardware,
    ];

    /// Its word, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Size => "size",
            Self::Truncated => "truncated",
            Self::Rewritten => "rewritten",
            Self::Replaced => "replaced",
            Self::Unstable => "unstable",
            Self::Older => "older",
            Self::Copy => "copy",
            Self::Permission => "permission",
            Self::IoError => "io-error",
            Self::Busy => "busy",
            Self::MountedOver => "mounted-over",
            Self::Limit => "limit",
            Self::Overdue => "overdue",
            Self::Absent => "absent",
            Self::Empty => "empty",
            Self::OtherVolume => "other-volume",
            Self::TooManyMissing => "too-many-missing",
            Self::Unreadable => "unreadable",
            Self::Hardware => "hardware",
        }
    }

    /// The number that rows have for it, which never changes. None is 0.
    pub(crate) fn number(reason: Option<Self>) -> i64 {
        reason.map_or(0, |reason| reason as i64 + 1)
    }

    /// What [`number`](Self::number) gave; `Err` for any other number.
    pub(crate) fn from_number(number: i64) -> Result<Option<Self>, ()> {
        if number == 0 {
            return Ok(None);
        }
        Self::ALL.into_iter().find(|it| *it as i64 + 1 == number).map(Some).ok_or(())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How a root treats deletions and replaced files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// A deletion is an alarm, and so is a replaced file with the recorded time.
    #[default]
    Archive,
    /// A deletion is a change like an edit, and a replaced file is edited.
    Working,
}

impl Profile {
    /// Its word, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Archive => "archive",
            Self::Working => "working",
        }
    }

    pub(crate) const fn from_number(number: i64) -> Option<Self> {
        match number {
            0 => Some(Self::Archive),
            1 => Some(Self::Working),
            _ => None,
        }
    }
}

/// What a result asks of people, in the order of their importance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Attention {
    /// All is as recorded.
    #[default]
    Nothing,
    /// Edits, moves and new files, and in a working root deletions.
    Changes,
    /// Not everything that should have been checked was.
    Incomplete,
    /// Damaged or missing files, files with I/O errors, or a hardware warning.
    Problem,
}

impl Attention {
    /// What a file of this class in a root of this profile asks for.
    #[must_use]
    pub const fn of(class: Class, reason: Option<Reason>, profile: Profile) -> Self {
        match (class, reason, profile) {
            (Class::Ok, Some(Reason::Hardware), _) => Self::Problem,
            (Class::Ok, ..) => Self::Nothing,
            (Class::Missing, _, Profile::Working) => Self::Changes,
            (Class::Edited | Class::New | Class::Moved, ..) => Self::Changes,
            (Class::Missing | Class::Damaged, ..) => Self::Problem,
            (Class::Unchecked, Some(Reason::IoError), _) => Self::Problem,
            (Class::Unchecked | Class::Offline, ..) => Self::Incomplete,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_identify_classes_and_reasons() {
        for class in Class::ALL {
            assert_eq!(Class::from_name(class.name()), Some(class));
            assert_eq!(Class::from_number(class.number()), Some(class));
        }
        assert_eq!(Class::from_number(8), None);
        for reason in Reason::ALL {
            assert_eq!(Reason::from_number(Reason::number(Some(reason))), Ok(Some(reason)));
        }
        assert_eq!(Reason::from_number(0), Ok(None));
        assert_eq!(Reason::from_number(21), Err(()));
    }

    #[test]
    fn deletions_are_changes_in_a_working_root_only() {
        let of = |profile| Attention::of(Class::Missing, None, profile);
        assert_eq!(of(Profile::Archive), Attention::Problem);
        assert_eq!(of(Profile::Working), Attention::Changes);
    }
}

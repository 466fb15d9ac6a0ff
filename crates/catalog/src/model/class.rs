//! The eight classes of files, and their reasons.

use std::fmt;

/// The class of a file compared with its record, or of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Class {
    /// The content is as recorded.
    Ok,
    /// The modification time and the content changed.
    Edited,
    /// The file is not recorded.
    New,
    /// The file is recorded under a different path, possibly in a different root.
    Moved,
    /// The recorded file does not exist any longer.
    Missing,
    /// The content changed and the modification time did not.
    Damaged,
    /// The file could not be verified.
    Unchecked,
    /// The root does not exist, is empty, is on a different volume, or too many of its files are
    /// missing.
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

    /// Returns its name in lower case.
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

    /// Returns the class with a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }

    /// Returns its number in rows, which never changes.
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

/// The reason for the class of a file or a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    /// Damaged: the content changed, but size, times and inode did not.
    Content,
    /// Damaged: the size changed, but the modification time did not.
    Size,
    /// Damaged: the file lost its end, or all of its content.
    Truncated,
    /// Damaged: a program wrote to the file and set its modification time back.
    Rewritten,
    /// Damaged: a different file with the recorded modification time is in its place.
    Replaced,
    /// Damaged: two reads returned different contents.
    Unstable,
    /// Edited: the modification time went back.
    Older,
    /// New: another recorded file has the same content.
    Copy,
    /// Unchecked: this user has no permission to read it.
    Permission,
    /// Unchecked: the device returned an error.
    IoError,
    /// Unchecked: a program had it open for writing, or it changed during the read.
    Busy,
    /// Unchecked: a different file system is mounted over it.
    MountedOver,
    /// Damaged: the content differs from the imported list, which is its only record.
    Listed,
    /// Offline: the directory does not exist.
    Missing = 14,
    /// Offline: the directory is empty, like a mount point without its disk.
    Empty,
    /// Offline: a different volume or directory is at the path.
    OtherVolume,
    /// Offline: more files are missing than `max_gone` allows.
    TooManyMissing,
    /// Offline: the directory cannot be read.
    Unreadable,
    /// Ok: only the first of two reads was wrong, because of memory, cable or controller.
    Hardware,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 19] = [
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
        Self::Listed,
        Self::Missing,
        Self::Empty,
        Self::OtherVolume,
        Self::TooManyMissing,
        Self::Unreadable,
        Self::Hardware,
    ];

    /// Returns its name in lower case.
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
            Self::Listed => "listed",
            Self::Missing => "missing",
            Self::Empty => "empty",
            Self::OtherVolume => "other-volume",
            Self::TooManyMissing => "too-many-missing",
            Self::Unreadable => "unreadable",
            Self::Hardware => "hardware",
        }
    }

    /// Returns its number in rows, which never changes. None is 0.
    pub(crate) fn number(reason: Option<Self>) -> i64 {
        reason.map_or(0, |reason| reason as i64 + 1)
    }

    /// Returns the reason of a [`number`](Self::number), or `Err` for any other number.
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
    /// A deletion needs attention, and so does a replaced file with the recorded time.
    #[default]
    Archive,
    /// A deletion is a normal change, and a replaced file is edited.
    Working,
}

impl Profile {
    /// Returns its name in lower case.
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

/// The attention that a result needs, in increasing importance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Attention {
    /// Everything is as recorded.
    #[default]
    Nothing,
    /// Edits, moves and new files; in a working root also deletions.
    Changes,
    /// Some files that should be checked were not.
    Incomplete,
    /// Damaged or missing files, files with I/O errors, or a hardware warning.
    Problem,
}

impl Attention {
    /// Returns the attention that a file of this class in a root of this profile needs.
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

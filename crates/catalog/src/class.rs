//! What may have become of a file, and how bad that is.

use std::fmt;

use crate::stat::{Stat, is_beyond};
use crate::summary::Severity;

/// What became of a file since it was cataloged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Class {
    /// It is as it was.
    Ok,
    /// Its content is as it was; a mode, a link or a time is not, or it was restored.
    Touched,
    /// Content and time are others: an edit.
    Changed,
    /// The same, but its time went back: an older version was put there.
    Older,
    /// Its content is another although its time is not, which edits move: something set it back, or
    /// a file of the same time took its place.
    Altered,
    /// The same, and nothing is left of it.
    Emptied,
    /// Its content is another, and nothing else: it decayed on its medium.
    Rotted,
    /// The same, and it reads differently each time.
    Unstable,
    /// It read wrong once and right the second time: memory, a cable, a controller.
    Transient,
    /// It has another name.
    Moved,
    /// It was not there.
    New,
    /// It was not there, and has the content of another.
    Copied,
    /// It is not there.
    Missing,
    /// It, or a folder that it lies in, cannot be read.
    Unreadable,
    /// Somebody is writing to it, so that nothing can be said of it.
    Busy,
    /// The whole folder is not what it was: no row was touched.
    Suspended,
    /// Somebody said that it is right as it is.
    Accepted,
    /// Somebody said that it is to be cataloged no more.
    Forgotten,
}

impl Class {
    /// Every class.
    pub const ALL: [Self; 18] = [
        Self::Ok,
        Self::Touched,
        Self::Changed,
        Self::Older,
        Self::Altered,
        Self::Emptied,
        Self::Rotted,
        Self::Unstable,
        Self::Transient,
        Self::Moved,
        Self::New,
        Self::Copied,
        Self::Missing,
        Self::Unreadable,
        Self::Busy,
        Self::Suspended,
        Self::Accepted,
        Self::Forgotten,
    ];

    /// Its word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Touched => "touched",
            Self::Changed => "changed",
            Self::Older => "older",
            Self::Altered => "altered",
            Self::Emptied => "emptied",
            Self::Rotted => "rotted",
            Self::Unstable => "unstable",
            Self::Transient => "transient",
            Self::Moved => "moved",
            Self::New => "new",
            Self::Copied => "copied",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
            Self::Busy => "busy",
            Self::Suspended => "suspended",
            Self::Accepted => "accepted",
            Self::Forgotten => "forgotten",
        }
    }

    /// What it says of a file, in half a line.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "as cataloged",
            Self::Touched => "as cataloged; its time or mode is not, or it was put back",
            Self::Changed => "content and time are others: an edit",
            Self::Older => "the same, and its time went back: an older version was put there",
            Self::Altered => "its content is another, its time is not, which edits move",
            Self::Emptied => "the same, and 0 bytes are left",
            Self::Rotted => "its content is another, and nothing else: it decayed on its medium",
            Self::Unstable => "it reads differently each time",
            Self::Transient => "it read wrong once, then right: memory or a cable lied",
            Self::Moved => "it has another name",
            Self::New => "it is not cataloged yet",
            Self::Copied => "it was not cataloged, and has the content of another",
            Self::Missing => "it is gone",
            Self::Unreadable => "it, or its folder, cannot be read",
            Self::Busy => "somebody wrote to it while it was read: nothing is known",
            Self::Suspended => "the folder is not what it was, and was left alone: is it mounted?",
            Self::Accepted => "somebody said that it is right as it is",
            Self::Forgotten => "somebody said that it is gone for good",
        }
    }

    /// The class of this word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }

    /// Whether content is lost, or may be. What is missing is where nothing was to be taken up.
    #[must_use]
    pub const fn is_damage(self) -> bool {
        matches!(
            self,
            Self::Altered
                | Self::Emptied
                | Self::Rotted
                | Self::Unstable
                | Self::Transient
                | Self::Unreadable
        )
    }

    /// Whether it is worth a line of its own.
    #[must_use]
    pub const fn is_told(self) -> bool {
        !matches!(self, Self::Ok | Self::Touched)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a row stands since it was looked at last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Status {
    /// Not read again since it was cataloged.
    Fresh,
    /// Read, and as it was.
    Good,
    /// [`Class::Rotted`] or [`Class::Unstable`].
    Rotted,
    /// [`Class::Altered`].
    Altered,
    /// [`Class::Emptied`].
    Emptied,
    /// [`Class::Transient`].
    Transient,
    /// [`Class::Missing`].
    Missing,
    /// [`Class::Unreadable`].
    Unreadable,
    /// [`Class::Changed`] or [`Class::Older`], and not taken up since.
    Changed,
    /// [`Class::Busy`] when it was to be read last.
    Busy,
    /// Another file system is mounted over it, or was when it was to be read last.
    Hidden,
}

impl Status {
    /// Every status, in the order of the numbers that they are stored as.
    const ALL: [Self; 11] = [
        Self::Fresh,
        Self::Good,
        Self::Rotted,
        Self::Altered,
        Self::Emptied,
        Self::Transient,
        Self::Missing,
        Self::Unreadable,
        Self::Changed,
        Self::Busy,
        Self::Hidden,
    ];

    /// From this one on it is not known to be as it was.
    pub(crate) const FIRST_NOT_GOOD: Self = Self::Rotted;

    pub(crate) const fn number(self) -> i64 {
        self as i64
    }

    pub(crate) fn of_number(number: i64) -> Option<Self> {
        usize::try_from(number).ok().and_then(|number| Self::ALL.get(number)).copied()
    }

    /// Whether it is as it was, as far as anybody looked.
    #[must_use]
    pub const fn is_good(self) -> bool {
        matches!(self, Self::Fresh | Self::Good)
    }

    /// Whether the stored digest is the last that is known to be right, which nothing but
    /// somebody's word may replace.
    #[must_use]
    pub const fn is_kept(self) -> bool {
        matches!(self, Self::Rotted | Self::Altered | Self::Emptied)
    }

    /// Whether a content that is not the cataloged one may be all that is left.
    pub(crate) const fn may_be_damaged(self) -> bool {
        !self.is_good() && !matches!(self, Self::Missing | Self::Changed | Self::Hidden)
    }

    /// What a file that is found so stands as; none where it stays as it is.
    pub(crate) const fn of_class(class: Class) -> Option<Self> {
        Some(match class {
            Class::Rotted | Class::Unstable => Self::Rotted,
            Class::Altered => Self::Altered,
            Class::Emptied => Self::Emptied,
            Class::Transient => Self::Transient,
            Class::Missing => Self::Missing,
            Class::Unreadable => Self::Unreadable,
            Class::Changed | Class::Older => Self::Changed,
            Class::Busy => Self::Busy,
            _ => return None,
        })
    }

    /// Its word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Good => "good",
            Self::Rotted => "rotted",
            Self::Altered => "altered",
            Self::Emptied => "emptied",
            Self::Transient => "transient",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
            Self::Changed => "changed",
            Self::Busy => "busy",
            Self::Hidden => "hidden",
        }
    }

    /// Its word where it is told how a file stands: one that was emptied stands so whatever it has
    /// since.
    #[must_use]
    pub const fn standing(self) -> &'static str {
        match self {
            Self::Emptied => "was emptied",
            _ => self.name(),
        }
    }

    /// How bad it is that a file stands so.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Self::Fresh | Self::Good => Severity::AsCataloged,
            Self::Changed => Severity::Differences,
            Self::Busy | Self::Hidden => Severity::NotAllDone,
            _ => Severity::Damage,
        }
    }

    /// Whether a file stands so because it was not read when it was to be.
    pub(crate) const fn is_unseen(self) -> bool {
        matches!(self, Self::Busy | Self::Hidden | Self::Unreadable)
    }

    /// Whether a file that stands so may come to stand as another, without being taken up: what is
    /// known of its content is never replaced by less.
    pub(crate) const fn gives_way_to(self, other: Self) -> bool {
        match self {
            Self::Rotted | Self::Altered | Self::Emptied => other.is_kept(),
            Self::Transient => !matches!(other, Self::Changed | Self::Busy),
            _ => true,
        }
    }
}

/// What is to be thought of a file that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// This.
    Is(Class),
    /// Rot or a lie of memory: see `confirm.rs`.
    Suspicious,
}

/// The table of cases, of a file that was read: by what its stat was and is, and whether its
/// digest is the stored one.
///
/// | size | mtime | ctime | same digest | another digest |
/// |---|---|---|---|---|
/// | = | = | = | ok | suspicious |
/// | = | = | not = | touched | altered |
/// | = | not = | any | touched | changed; older if mtime went back |
/// | not = | = | any | | altered; emptied at 0 bytes |
/// | not = | not = | any | | changed; older if mtime went back |
///
/// A time beyond the years that have numbers may be another although its number is not: what an
/// edit may have done is no damage. The inode decides nothing here. A size that differs under the
/// same digest would be a collision.
pub(crate) fn case(before: &Stat, now: &Stat, is_same_digest: bool) -> Case {
    let is_same_size = before.size == now.size;
    let is_same_time = before.modified == now.modified;
    if is_same_digest && is_same_size {
        let is_ok = before.is_same_content(now);
        return Case::Is(if is_ok { Class::Ok } else { Class::Touched });
    }
    match (is_same_size, is_same_time) {
        (true, true) if before.changed == now.changed => Case::Suspicious,
        (_, true) if is_beyond(now.modified) => Case::Is(Class::Changed),
        (true, true) => Case::Is(Class::Altered),
        (false, true) if now.size == 0 => Case::Is(Class::Emptied),
        (false, true) => Case::Is(Class::Altered),
        (_, false) if now.modified < before.modified => Case::Is(Class::Older),
        (_, false) => Case::Is(Class::Changed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_come_back() {
        for class in Class::ALL {
            assert_eq!(Class::from_name(class.name()), Some(class));
        }
        for status in Status::ALL {
            assert_eq!(Status::of_number(status.number()), Some(status));
            assert_eq!(status.is_good(), status < Status::FIRST_NOT_GOOD);
        }
        assert_eq!(Status::of_number(-1), None);
        assert_eq!(Status::of_number(11), None);
    }

    #[test]
    fn the_table_of_cases() {
        let before = Stat { size: 5, modified: 50, changed: 60, inode: 1 };
        let with = |size, modified, changed| Stat { size, modified, changed, inode: 2 };
        let (same, other) = (true, false);
        for (size, modified, changed, is_same, expected) in [
            (5, 50, 60, same, Case::Is(Class::Ok)),
            (5, 50, 60, other, Case::Suspicious),
            (5, 50, 61, same, Case::Is(Class::Touched)),
            (5, 50, 61, other, Case::Is(Class::Altered)),
            (5, 51, 60, same, Case::Is(Class::Touched)),
            (5, 51, 61, same, Case::Is(Class::Touched)),
            (5, 51, 61, other, Case::Is(Class::Changed)),
            (5, 49, 61, other, Case::Is(Class::Older)),
            (6, 50, 60, other, Case::Is(Class::Altered)),
            (6, 50, 61, other, Case::Is(Class::Altered)),
            (0, 50, 61, other, Case::Is(Class::Emptied)),
            (6, 51, 61, other, Case::Is(Class::Changed)),
            (0, 51, 61, other, Case::Is(Class::Changed)),
            (6, 49, 61, other, Case::Is(Class::Older)),
        ] {
            let now = with(size, modified, changed);
            assert_eq!(case(&before, &now, is_same), expected, "{now:?} {is_same}");
        }
        let before = Stat { modified: i64::MAX, ..before };
        for (size, changed, expected) in [
            (5, 60, Case::Suspicious),
            (5, 61, Case::Is(Class::Changed)),
            (6, 61, Case::Is(Class::Changed)),
            (0, 61, Case::Is(Class::Changed)),
        ] {
            assert_eq!(case(&before, &with(size, i64::MAX, changed), other), expected);
        }
    }
}

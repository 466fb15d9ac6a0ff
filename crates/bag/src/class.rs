//! The classes of problems, with fixed names for programs.

use std::fmt;

use crate::finding::Problem;

/// The class of a [`Problem`]. Displays as its [name](Self::name).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Class {
    /// The content of a file differs from a digest in a manifest.
    Changed,
    /// A file that a manifest lists does not exist.
    Missing,
    /// A file or directory cannot be read, or a file changed while it was read.
    Unreadable,
    /// A file is in the bag, and a manifest that should list it does not.
    Unlisted,
    /// A link, a directory, a named pipe or a similar object is in the place of a file.
    NotAFile,
    /// The name of a file is a problem on other systems or for other programs.
    Name,
    /// The bag or one of its tag files violates BagIt.
    Invalid,
}

impl Class {
    /// Returns the name of the class, in lower-case letters and `_`.
    ///
    /// ```
    /// assert_eq!(lanesum_bag::Class::NotAFile.name(), "not_a_file");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
            Self::Unlisted => "unlisted",
            Self::NotAFile => "not_a_file",
            Self::Name => "name",
            Self::Invalid => "invalid",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Problem {
    /// Returns the class of the problem.
    #[must_use]
    pub const fn class(&self) -> Class {
        match self {
            Self::Changed(_) => Class::Changed,
            Self::Missing(_) | Self::ToFetch(_) => Class::Missing,
            Self::Unreadable(_) | Self::ChangedWhileRead => Class::Unreadable,
            Self::Unlisted | Self::NotIn(_) | Self::TagUnlisted | Self::Beside => Class::Unlisted,
            Self::NoRegularFile(_)
            | Self::Folder(_)
            | Self::LinkOut
            | Self::LinkToFile
            | Self::LinkToFolder
            | Self::Link
            | Self::BrokenLink
            | Self::Special(_)
            | Self::EmptyFolder
            | Self::OtherFileSystem => Class::NotAFile,
            Self::NormalForm(_)
            | Self::Collision(_)
            | Self::OfASystem
            | Self::LeftOver
            | Self::Percent
            | Self::LineEnd
            | Self::TrailingBlank
            | Self::NotUtf8 => Class::Name,
            _ => Class::Invalid,
        }
    }
}

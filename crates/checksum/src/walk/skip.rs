//! The reasons why a walk skips entries.

use std::fmt;

/// The reason why an entry is skipped. Displays as the text of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Skip {
    /// A named pipe, because reading would wait for a writer.
    Fifo,
    /// A socket.
    Socket,
    /// A block device.
    BlockDevice,
    /// A character device: a terminal, `/dev/zero` and similar.
    CharDevice,
    /// An object of unknown type.
    Unknown,
    /// A symbolic link that is not followed, with
    /// [`report_links`](super::WalkOptions::report_links).
    Link,
    /// A file or directory that a pattern or an ignore file excludes, with
    /// [`report_excluded`](super::WalkOptions::report_excluded).
    Excluded,
    /// A directory on a different device than the argument, with
    /// [`report_mounts`](super::WalkOptions::report_mounts).
    OtherDevice,
    /// A followed link that leads back to a directory that is being walked.
    Loop,
    /// The `.git` of a repository of another user, which git refuses to list.
    ForeignGit,
    /// The `.git` of a repository that git cannot list.
    BrokenGit,
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fifo => "named pipe, skipped",
            Self::Socket => "socket, skipped",
            Self::BlockDevice => "block device, skipped",
            Self::CharDevice => "character device, skipped",
            Self::Unknown => "unknown file type, skipped",
            Self::Link => "link, skipped",
            Self::Excluded => "excluded, skipped",
            Self::OtherDevice => "on a different file system, skipped",
            Self::Loop => "link back to a directory that contains it, skipped",
            Self::ForeignGit => {
                "owned by another user, so git does not list tracked files; the .gitignore files \
                 alone decide"
            }
            Self::BrokenGit => "git does not list tracked files; the .gitignore files alone decide",
        })
    }
}

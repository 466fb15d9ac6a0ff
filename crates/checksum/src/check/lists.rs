//! Where lists come from, and why one cannot be read.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use lanesum_list::start::NotAList;

use crate::Algorithm;
use crate::list::OpenError;

/// Where a list is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum List {
    /// Standard input. What it is should be among
    /// [`engine::Options::taken`](crate::engine::Options::taken). As to
    /// [`Recognition::Gnu`](super::Recognition::Gnu), an entry `-` is malformed in such a list.
    Stdin,
    /// A file.
    Path(PathBuf),
}

impl List {
    /// Opens it to be read; standard input is not closed with what this gives.
    ///
    /// # Errors
    /// The system's.
    pub fn open(&self) -> io::Result<File> {
        match self {
            Self::Stdin => Ok(io::stdin().as_fd().try_clone_to_owned()?.into()),
            Self::Path(path) => File::open(path),
        }
    }

    /// The directory that it lies in: none where that is the current one, or it comes through
    /// standard input.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        let Self::Path(path) = self else { return None };
        path.parent().filter(|folder| !folder.as_os_str().is_empty())
    }

    /// What messages call it: its path as it stands, or `standard input`.
    ///
    /// ```
    /// use lanesum_checksum::check::List;
    ///
    /// assert_eq!(List::Path("sums".into()).name(), b"sums");
    /// ```
    #[must_use]
    pub fn name(&self) -> &[u8] {
        match self {
            Self::Stdin => b"standard input",
            Self::Path(path) => path.as_os_str().as_bytes(),
        }
    }
}

/// Why a list was not read, or not to its end. The list's name is the caller's to add.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// It cannot be opened.
    #[error("{}", crate::error::message(.0))]
    Open(io::Error),
    /// It is something else than text.
    #[error(transparent)]
    NotAList(NotAList),
    /// A line is of an algorithm that needs a key, and there is none.
    #[error("{0} needs the key that made the list; check it with --key-file")]
    NoKey(Algorithm),
    /// It is no regular file, which may be empty, and had no line that says anything.
    #[error("no checksum line came; did what writes the list fail?")]
    NothingCame,
    /// It was another at its end than when it was opened: cut, or written again.
    #[error("it changed while it was read; try again once it is at rest")]
    Changed,
    /// Reading it failed.
    #[error("read error: {}", crate::error::message(.0))]
    Read(io::Error),
}

impl From<OpenError> for ListError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Io(error) => Self::Read(error),
            OpenError::NotAList(other) => Self::NotAList(other),
        }
    }
}

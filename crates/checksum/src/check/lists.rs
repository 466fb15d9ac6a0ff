//! The sources of lists, and their errors.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use lanesum_list::start::NotAList;

use crate::Algorithm;
use crate::list::OpenError;

/// The source of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum List {
    /// Standard input. Add its inode to [`engine::Options::taken`](crate::engine::Options::taken).
    /// With [`Recognition::Gnu`](super::Recognition::Gnu) an entry `-` is invalid in such a list.
    Stdin,
    /// A file.
    Path(PathBuf),
}

impl List {
    /// Opens the list for reading. Dropping the result does not close standard input.
    ///
    /// # Errors
    /// Fails with the error of the system.
    pub fn open(&self) -> io::Result<File> {
        match self {
            Self::Stdin => Ok(io::stdin().as_fd().try_clone_to_owned()?.into()),
            Self::Path(path) => File::open(path),
        }
    }

    /// Returns the directory of the list, or `None` for the current directory and for standard
    /// input.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        let Self::Path(path) = self else { return None };
        path.parent().filter(|folder| !folder.as_os_str().is_empty())
    }

    /// Returns the name of the list in messages: its path, or `standard input`.
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

/// The reason why a list was not read to its end. The caller adds the name of the list.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// The list cannot be opened.
    #[error("{}", crate::error::message(.0))]
    Open(io::Error),
    /// The list is not text.
    #[error(transparent)]
    NotAList(NotAList),
    /// A line has an algorithm that needs a key, which the options lack.
    #[error("{0} needs the key that made the list")]
    NoKey(Algorithm),
    /// The list is a pipe or similar, and had no relevant lines. Only a regular file may be empty.
    #[error("no checksum lines received")]
    NothingCame,
    /// The list changed while it was read: it was truncated or written to.
    #[error("changed while it was read")]
    Changed,
    /// Reading the list failed.
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

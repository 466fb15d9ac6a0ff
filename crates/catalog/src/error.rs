//! What keeps a catalog from doing what it was asked for.

use std::io;
use std::path::PathBuf;

use lanesum_checksum::disk::{MOUNT_TABLE, MountsError};
use lanesum_checksum::error::message;
use rusqlite::{ErrorCode, ffi};

use crate::model::{Reason, Window};

/// Why the catalog did not do it. What was committed before stays.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// The system's error, with the path that it is about.
    #[error("{}: {}", .path.display(), message(.error))]
    Io {
        /// What it is about.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// There is no catalog at this path.
    #[error("{}: no catalog", .0.display())]
    Absent(PathBuf),
    /// The file was removed or replaced since it was opened.
    #[error("{}: the catalog was replaced while it was open", .0.display())]
    Replaced(PathBuf),
    /// The file is another program's, or no database.
    #[error("{}: not a catalog of lanesum", .0.display())]
    NotACatalog(PathBuf),
    /// A newer lanesum made it.
    #[error("the catalog has version {found}; this lanesum reads version {known}")]
    Newer {
        /// The file's version.
        found: i64,
        /// The version that this program reads.
        known: i64,
    },
    /// Another process writes to it.
    #[error("the catalog is in use by {holder}")]
    Locked {
        /// Its process and what it does: `process 4711 (scrub)`.
        holder: String,
    },
    /// Its lock and its log do not work on a network file system.
    #[error("{}: a catalog cannot be on {kind}", .path.display())]
    Network {
        /// Where the catalog was to be.
        path: PathBuf,
        /// The kind of file system.
        kind: &'static str,
    },
    /// The catalog's file has hard links, and SQLite's log belongs to one name.
    #[error("{}: the catalog has several hard links", .0.display())]
    SeveralLinks(PathBuf),
    /// The catalog itself is not as it was written.
    #[error("the catalog is damaged: {0}")]
    Damaged(String),
    /// The disk that the catalog is on is full.
    #[error("no space left for the catalog")]
    Full,
    /// The system could not read or write the catalog.
    #[error("cannot read or write the catalog: {0}")]
    Disk(rusqlite::Error),
    /// Anything else that SQLite says.
    #[error("{0}")]
    Sqlite(rusqlite::Error),
    /// A path is in no root.
    #[error("{}: not in the catalog", .0.display())]
    NoRoot(PathBuf),
    /// A path is inside a root, and only the root as a whole can be named.
    #[error("{}: only a part of {}", .path.display(), .root.display())]
    NotARoot {
        /// What was named.
        path: PathBuf,
        /// The root.
        root: PathBuf,
    },
    /// The catalog has no record of this path, nor of anything below it.
    #[error("{}: not recorded", .0.display())]
    NotRecorded(PathBuf),
    /// The recorded file is not there.
    #[error("{}: no regular file", .0.display())]
    NotAFile(PathBuf),
    /// The file cannot be read as one that is at rest: a program writes to it.
    #[error("{}: a program is writing to it", .0.display())]
    Busy(PathBuf),
    /// The root is not there, or not what it was; or a file system is mounted over the file.
    #[error("{}: offline ({})", .path.display(), .reason.name())]
    Offline {
        /// The root's path, or the file's.
        path: PathBuf,
        /// Why.
        reason: Reason,
    },
    /// What is to be added is no directory.
    #[error("{}: not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// What is to be added has no regular file in it.
    #[error("{}: the directory has no files", .0.display())]
    EmptyDirectory(PathBuf),
    /// What is to be added is a root that was renamed.
    #[error("{}: recorded as {}", .path.display(), .recorded.display())]
    Renamed {
        /// What was to be added.
        path: PathBuf,
        /// The path that the catalog has for it.
        recorded: PathBuf,
    },
    /// Each file belongs to one root.
    #[error("{}: overlaps with {}", .path.display(), .other.display())]
    Overlaps {
        /// What was to be added.
        path: PathBuf,
        /// The root that is there.
        other: PathBuf,
    },
    /// A directory that a root is to be relocated to does not have its files.
    #[error("{}: {matching} of {checked} sampled files are as recorded", .path.display())]
    OtherFiles {
        /// The new path.
        path: PathBuf,
        /// Files of the sample.
        checked: u64,
        /// Those with the recorded size, time and content.
        matching: u64,
    },
    /// A pattern to exclude is none.
    #[error("{0}")]
    Pattern(String),
    /// A root has more bytes than its limits let be read in its period.
    #[error("{}: the schedule needs {needed} bytes a day, but only {possible} are possible", .root.display())]
    TooSlow {
        /// Its path.
        root: PathBuf,
        /// Its bytes.
        bytes: u64,
        /// Its period in days.
        every_days: u32,
        /// Bytes a day that it needs.
        needed: u64,
        /// Bytes a second that may be read.
        rate: u64,
        /// In these hours.
        window: Option<Window>,
        /// Bytes a day that this makes.
        possible: u64,
    },
    /// One file has more bytes than the limits of one day let be read.
    #[error("{}: a file has {longest} bytes, but only {possible} a day are possible", .root.display())]
    TooShort {
        /// Its path.
        root: PathBuf,
        /// Bytes of its longest file, or of a chunk where that is read in chunks.
        longest: u64,
        /// Bytes a second that may be read.
        rate: u64,
        /// In these hours.
        window: Window,
        /// Bytes a day that this makes.
        possible: u64,
    },
    /// The caller's function could not take a finding.
    #[error("{}", message(.0))]
    Output(io::Error),
    /// An algorithm that takes a key, which a catalog does not keep.
    #[error("{0} needs a key, but a catalog keeps no keys")]
    Keyed(lanesum_list::Algorithm),
}

impl CatalogError {
    /// Wraps a system's error about a path.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::Io { path, error }
    }
}

impl From<MountsError> for CatalogError {
    fn from(error: MountsError) -> Self {
        Self::Io { path: MOUNT_TABLE.into(), error: io::Error::new(error.0.kind(), error) }
    }
}

impl From<rusqlite::Error> for CatalogError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            // Statements and values are this crate's own: where they do not fit, the tables are not
            // those that it made.
            Some(
                ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::Unknown
                | ErrorCode::ConstraintViolation
                | ErrorCode::TypeMismatch
                | ErrorCode::SchemaChanged,
            ) => Self::Damaged(error.to_string()),
            Some(ErrorCode::DiskFull) => Self::Full,
            // The index of the log is made longer by writing to it.
            Some(ErrorCode::SystemIoFailure) if is_of_index_size(&error) => Self::Full,
            Some(ErrorCode::SystemIoFailure) => Self::Disk(error),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Locked { holder: "another process".to_owned() }
            }
            None if is_of_schema(&error) => Self::Damaged(error.to_string()),
            _ => Self::Sqlite(error),
        }
    }
}

/// Whether the index of the log could not get its size.
fn is_of_index_size(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_IOERR_SHMSIZE)
}

/// Whether a statement or a value does not fit the tables.
fn is_of_schema(error: &rusqlite::Error) -> bool {
    use rusqlite::Error as E;
    matches!(
        error,
        E::SqlInputError { .. }
            | E::InvalidColumnType(..)
            | E::InvalidColumnIndex(_)
            | E::InvalidColumnName(_)
            | E::FromSqlConversionFailure(..)
            | E::IntegralValueOutOfRange(..)
            | E::QueryReturnedNoRows
    )
}

//! The errors of a catalog.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use lanesum_checksum::disk::{MOUNT_TABLE, MountsError};
use lanesum_checksum::error::message;
use rusqlite::{ErrorCode, ffi};

use crate::model::{Reason, Window};

/// The reason why an operation failed. Committed results stay.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// An error of the system about a path.
    #[error("{}: {}", .path.display(), message(.error))]
    Io {
        /// The path.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// There is no catalog at this path.
    #[error("{}: no catalog", .0.display())]
    Absent(PathBuf),
    /// The file was removed or replaced since it was opened.
    #[error("{}: the catalog was replaced while it was open", .0.display())]
    Replaced(PathBuf),
    /// The file belongs to another program, or is not a database.
    #[error("{}: not a catalog of lanesum", .0.display())]
    NotACatalog(PathBuf),
    /// A newer version of lanesum created the catalog.
    #[error("the catalog has version {found}; this lanesum reads version {known}")]
    Newer {
        /// The file's version.
        found: i64,
        /// The version that this program reads.
        known: i64,
    },
    /// Another process is writing to it.
    #[error("the catalog is in use by {holder}")]
    Locked {
        /// The process and its activity: `process 4711 (scrub)`.
        holder: String,
    },
    /// Locks and the log do not work on a network file system.
    #[error("{}: a catalog cannot be on {kind}", .path.display())]
    Network {
        /// The path of the catalog.
        path: PathBuf,
        /// The kind of file system.
        kind: &'static str,
    },
    /// The file has hard links, but SQLite's log belongs to one name.
    #[error("{}: the catalog has several hard links", .0.display())]
    SeveralLinks(PathBuf),
    /// The catalog itself is damaged.
    #[error("the catalog is damaged: {0}")]
    Damaged(String),
    /// The disk of the catalog is full.
    #[error("no space left for the catalog")]
    Full,
    /// The system could not read or write the catalog.
    #[error("cannot read or write the catalog: {0}")]
    Disk(rusqlite::Error),
    /// Any other error of SQLite.
    #[error("{0}")]
    Sqlite(rusqlite::Error),
    /// A path is in no root.
    #[error("{}: not in the catalog", .0.display())]
    NoRoot(PathBuf),
    /// A path is inside a root, and only the whole root is allowed.
    #[error("{}: only a part of {}", .path.display(), .root.display())]
    NotARoot {
        /// The given path.
        path: PathBuf,
        /// The root.
        root: PathBuf,
    },
    /// The catalog has no record of this path, nor of paths below it.
    #[error("{}: not recorded", .0.display())]
    NotRecorded(PathBuf),
    /// A pattern or an ignore file excludes this path, so it is not recorded.
    #[error("{}: excluded", .path.display())]
    Excluded {
        /// The path.
        path: PathBuf,
        /// The pattern of the settings, or none for an ignore file.
        pattern: Option<OsString>,
    },
    /// The recorded file does not exist.
    #[error("{}: no regular file", .0.display())]
    NotAFile(PathBuf),
    /// A program is writing to the file.
    #[error("{}: a program is writing to it", .0.display())]
    Busy(PathBuf),
    /// The root is offline, or a file system is mounted over the file.
    #[error("{}: offline ({})", .path.display(), .reason.name())]
    Offline {
        /// The path of the root or the file.
        path: PathBuf,
        /// The reason.
        reason: Reason,
    },
    /// The path to add is not a directory.
    #[error("{}: not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// The directory to add has no regular files.
    #[error("{}: the directory has no files", .0.display())]
    EmptyDirectory(PathBuf),
    /// The directory to add is a root that was renamed.
    #[error("{}: recorded as {}", .path.display(), .recorded.display())]
    Renamed {
        /// The path to add.
        path: PathBuf,
        /// The recorded path.
        recorded: PathBuf,
    },
    /// The directory to add shares files with a root.
    #[error("{}: overlaps with {}", .path.display(), .other.display())]
    Overlaps {
        /// The path to add.
        path: PathBuf,
        /// The existing root.
        other: PathBuf,
    },
    /// The new path of a root does not have its files.
    #[error("{}: {matching} of {checked} sampled files are as recorded", .path.display())]
    OtherFiles {
        /// The new path.
        path: PathBuf,
        /// The number of files in the sample.
        checked: u64,
        /// The number of files with the recorded size, time and content.
        matching: u64,
    },
    /// A pattern to exclude is invalid.
    #[error("{0}")]
    Pattern(String),
    /// The limits of a root are too low to read all bytes in its period.
    #[error("{}: the schedule needs {needed} bytes a day, but only {possible} are possible", .root.display())]
    TooSlow {
        /// Its path.
        root: PathBuf,
        /// Its bytes.
        bytes: u64,
        /// Its period in days.
        every_days: u32,
        /// The bytes per day that it needs.
        needed: u64,
        /// The allowed bytes per second.
        rate: u64,
        /// The allowed hours.
        window: Option<Window>,
        /// The possible bytes per day.
        possible: u64,
    },
    /// The limits of a root are too low to read its longest file in a day.
    #[error("{}: a file has {longest} bytes, but only {possible} a day are possible", .root.display())]
    TooShort {
        /// Its path.
        root: PathBuf,
        /// The bytes of the longest file, or of a chunk if it is read in chunks.
        longest: u64,
        /// The allowed bytes per second.
        rate: u64,
        /// The allowed hours.
        window: Window,
        /// The possible bytes per day.
        possible: u64,
    },
    /// The caller's function failed for a finding.
    #[error("{}", message(.0))]
    Output(io::Error),
    /// An algorithm needs a key, which a catalog does not keep.
    #[error("{0} needs a key, but a catalog keeps no keys")]
    Keyed(lanesum_list::Algorithm),
}

impl CatalogError {
    /// Wraps an error of the system about a path.
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
            // All statements and values are of this crate. If they do not match, the tables are not
            // those that it created.
            Some(
                ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::Unknown
                | ErrorCode::ConstraintViolation
                | ErrorCode::TypeMismatch
                | ErrorCode::SchemaChanged,
            ) => Self::Damaged(error.to_string()),
            Some(ErrorCode::DiskFull) => Self::Full,
            // Writing to the index of the log extends it.
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

/// Returns whether the index of the log could not be extended.
fn is_of_index_size(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_IOERR_SHMSIZE)
}

/// Returns whether a statement or a value does not match the tables.
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

//! What keeps a catalog from doing what it was asked for.

use std::io;
use std::path::PathBuf;

use lanesum_checksum::error::message;
use rusqlite::ErrorCode;

use crate::window::Window;

/// Why the catalog did not do it. What was committed before stays.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// The system's, about a path.
    #[error("{}: {}", path.display(), message(error))]
    Io {
        /// What it is about.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// There is no catalog to look into.
    #[error("no catalog at {}; `lanesum add DIR` makes one, or `lanesum catalog import --add DIR LIST`", .0.display())]
    Absent(PathBuf),
    /// It was removed, or replaced by another, since it was opened.
    #[error("{}: is not the catalog any more that was opened; begin again", .0.display())]
    Replaced(PathBuf),
    /// The file is another program's, or no database at all.
    #[error("{}: is no catalog of lanesum; name another file with --catalog", .0.display())]
    NotACatalog(PathBuf),
    /// A newer lanesum made or migrated it.
    #[error(
        "the catalog has version {found}, and this lanesum knows versions up to {known}; take a newer one"
    )]
    Newer {
        /// The file's.
        found: i64,
        /// The newest that is known here.
        known: i64,
    },
    /// Another process writes.
    #[error("the catalog is locked by {holder}; {}", way_out(holder))]
    Locked {
        /// Its number and what it does: `process 4711 (scrub)`.
        holder: String,
    },
    /// Its lock or its log would not work there.
    #[error("{}: is on {kind}, where SQLite's log is not safe; keep the catalog on a local disk (--catalog), the files may stay", path.display())]
    Network {
        /// Where the catalog was to be.
        path: PathBuf,
        /// The kind of file system.
        kind: &'static str,
    },
    /// Hard links: SQLite's log belongs to one name.
    #[error("{}: has several names (hard links), and SQLite's log belongs to one; remove the others", .0.display())]
    SeveralNames(PathBuf),
    /// The catalog itself is not as it was written.
    #[error(
        "the catalog is damaged: {0}; `lanesum catalog check` tells all of it, then put back a copy that `lanesum catalog backup` made, after you removed the catalog, its -wal and its -shm"
    )]
    Damaged(String),
    /// No room, in the middle of a commit; what was committed before is there.
    #[error("no room is left for the catalog; what was committed before is kept")]
    Full,
    /// A path is in no root.
    #[error("{}: is in no folder of the catalog; `lanesum add` takes one up", .0.display())]
    NoRoot(PathBuf),
    /// A path is in a root, which can be named only as a whole.
    #[error("{}: is only a part of {}; name that", path.display(), root.display())]
    NotARoot {
        /// What was named.
        path: PathBuf,
        /// The root.
        root: PathBuf,
    },
    /// The catalog knows nothing at a path.
    #[error("{}: the catalog knows no such file", .0.display())]
    Unknown(PathBuf),
    /// What is where a root was is not it, so none of its files is there.
    #[error("{}: {why}; mount or put back what was there; if its files are here from now on: `lanesum accept {}`", path.display(), path.display())]
    NotThere {
        /// The root's path.
        path: PathBuf,
        /// What is there.
        why: String,
    },
    /// What is to be taken up is no folder.
    #[error("{}: is no folder", .0.display())]
    NotAFolder(PathBuf),
    /// Each file belongs to one root.
    #[error(
        "{}: overlaps with {}, which is in the catalog already; what is in that needs no add, and what \
         has that in it can be added once `lanesum forget {}` took it out",
        path.display(), other.display(), other.display()
    )]
    Overlaps {
        /// What was to be taken up.
        path: PathBuf,
        /// The root that is there.
        other: PathBuf,
    },
    /// A root has more bytes than its rate and its hours let be read in its period.
    #[error(
        "{}: {} in {every_days} d, a tenth of them to spare, are {} a day, and {} a second{} are {} a day; \
         give a higher --limit, longer hours or a longer --every",
        root.display(), amount(*bytes), amount(*needed), amount(*rate), hours(*window), amount(*possible)
    )]
    TooSlow {
        /// Its path.
        root: PathBuf,
        /// Its bytes.
        bytes: u64,
        /// Its period.
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
    /// Whoever was told of the findings could not take them.
    #[error("{}", message(.0))]
    Told(io::Error),
    /// An algorithm that takes a key, which a catalog does not keep.
    #[error("{0} takes a key, and the catalog keeps none")]
    Keyed(lanesum_list::Algorithm),
    /// Anything else that SQLite says.
    #[error("{0}")]
    Sqlite(rusqlite::Error),
}

impl CatalogError {
    /// Whether the catalog, not a file of it, is what is wrong: damaged, or held by another.
    #[must_use]
    pub fn is_of_catalog(&self) -> bool {
        matches!(self, Self::Damaged(_) | Self::Locked { .. })
    }

    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::Io { path, error }
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
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Locked { holder: "another process".to_owned() }
            }
            None if is_of_schema(&error) => Self::Damaged(error.to_string()),
            _ => Self::Sqlite(error),
        }
    }
}

/// A daemon does not end, but makes room.
fn way_out(holder: &str) -> &'static str {
    if holder.ends_with("(serve)") {
        "`lanesum pause` makes it free in some seconds, and `lanesum resume` lets it go on"
    } else if holder.ends_with("(scrub)") {
        "wait for its end, or `lanesum pause` ends it in some seconds"
    } else {
        "wait for its end"
    }
}

/// Bytes as people say them.
fn amount(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "bytes");
    for larger in ["kB", "MB", "GB", "TB", "PB", "EB"] {
        if value < 1000.0 {
            break;
        }
        (value, unit) = (value / 1000.0, larger);
    }
    match (unit, bytes) {
        ("bytes", 1) => "1 byte".to_owned(),
        ("bytes", _) => format!("{bytes} bytes"),
        _ => format!("{value:.2} {unit}"),
    }
}

fn hours(window: Option<Window>) -> String {
    window.map_or_else(String::new, |window| format!(" in {window}"))
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

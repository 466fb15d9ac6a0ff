//! What keeps a catalog from doing what it was asked for.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use lanesum_checksum::error::message;
use rusqlite::{ErrorCode, ffi};

use crate::class::Status;
use crate::root::ANOTHER;
use crate::window::Window;

/// Why the catalog did not do it. What was committed before stays.
#[derive(Debug)]
#[non_exhaustive]
pub enum CatalogError {
    /// The system's, about a path.
    Io {
        /// What it is about.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// There is no catalog to look into.
    Absent(PathBuf),
    /// It was removed, or replaced by another, since it was opened.
    Replaced(PathBuf),
    /// The file is another program's, or no database at all.
    NotACatalog(PathBuf),
    /// A newer lanesum made or migrated it.
    Newer {
        /// The file's.
        found: i64,
        /// The newest that is known here.
        known: i64,
    },
    /// Another process writes.
    Locked {
        /// Its number and what it does: `process 4711 (scrub)`.
        holder: String,
    },
    /// Its lock or its log would not work there.
    Network {
        /// Where the catalog was to be.
        path: PathBuf,
        /// The kind of file system.
        kind: &'static str,
    },
    /// Hard links: SQLite's log belongs to one name.
    SeveralNames(PathBuf),
    /// The catalog itself is not as it was written.
    Damaged(String),
    /// No room, in the middle of a commit; what was committed before is there.
    Full,
    /// The system could not read or write it.
    Disk(rusqlite::Error),
    /// A path is in no root.
    NoRoot(PathBuf),
    /// A path is in a root, which can be named only as a whole.
    NotARoot {
        /// What was named.
        path: PathBuf,
        /// The root.
        root: PathBuf,
    },
    /// The catalog knows nothing at a path.
    Unknown(PathBuf),
    /// A file that is not well has another name now: forgotten, it would be taken up as new.
    Elsewhere {
        /// As it is cataloged.
        path: PathBuf,
        /// How it stands.
        status: Status,
        /// Where it is.
        place: PathBuf,
    },
    /// A file that is not well is not in its place, and it cannot be seen whether it is elsewhere.
    Unseen {
        /// As it is cataloged.
        path: PathBuf,
        /// How it stands.
        status: Status,
        /// Where it may be.
        place: PathBuf,
        /// Why that is not known.
        why: String,
    },
    /// What is where a root was is not it, so none of its files is there.
    NotThere {
        /// The root's path.
        path: PathBuf,
        /// What is there.
        why: String,
    },
    /// What is to be taken up is no folder.
    NotAFolder(PathBuf),
    /// Each file belongs to one root.
    Overlaps {
        /// What was to be taken up.
        path: PathBuf,
        /// The root that is there.
        other: PathBuf,
    },
    /// A root has more bytes than its rate and its hours let be read in its period.
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
    /// Of a root more has to be read in one go than its rate and its hours of one day let be.
    TooShort {
        /// Its path.
        root: PathBuf,
        /// Bytes of its longest file, or of a stretch where that is read in stretches.
        longest: u64,
        /// Bytes a second that may be read.
        rate: u64,
        /// In these hours.
        window: Window,
        /// Bytes that this makes.
        possible: u64,
    },
    /// Whoever was told of the findings could not take them.
    Told(io::Error),
    /// An algorithm that takes a key, which a catalog does not keep.
    Keyed(lanesum_list::Algorithm),
    /// Anything else that SQLite says.
    Sqlite(rusqlite::Error),
}

/// How whoever reads a message is told paths and commands.
pub trait Spelling {
    /// A path, which may have to be quoted.
    fn path(&self, path: &Path) -> String;

    /// A command of the program that looks into this catalog: `update`, or `forget` and a path.
    fn command(&self, verb: &str, path: Option<&Path>) -> String;
}

/// As they are.
struct Plain;

impl Spelling for Plain {
    fn path(&self, path: &Path) -> String {
        path.display().to_string()
    }

    fn command(&self, verb: &str, path: Option<&Path>) -> String {
        match path {
            None => format!("lanesum {verb}"),
            Some(path) => format!("lanesum {verb} {}", path.display()),
        }
    }
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(&Plain))
    }
}

impl std::error::Error for CatalogError {}

impl CatalogError {
    /// What is wrong and what to do, with paths and commands in this spelling.
    #[must_use]
    pub fn words(&self, spelling: &dyn Spelling) -> String {
        let shown = |path: &Path| spelling.path(path);
        let say = |verb: &str| spelling.command(verb, None);
        match self {
            Self::Io { path, error } => format!("{}: {}", shown(path), message(error)),
            Self::Absent(path) => format!(
                "no catalog at {}; name yours with --catalog FILE or LANESUM_CATALOG (cron does not \
                 have the variables of your shell); `{} DIR` makes a new one, or `{} --add DIR LIST`",
                shown(path),
                say("add"),
                say("catalog import")
            ),
            Self::Replaced(path) => {
                format!("{}: is not the catalog any more that was opened; begin again", shown(path))
            }
            Self::NotACatalog(path) => format!(
                "{}: is no catalog of lanesum; name another file with --catalog, or, if it was one, \
                 put back a copy that `{}` made",
                shown(path),
                say("catalog backup")
            ),
            Self::Newer { found, known } => format!(
                "the catalog has version {found}, and this lanesum knows versions up to {known}; take \
                 a newer one"
            ),
            Self::Locked { holder } => {
                format!("the catalog is locked by {holder}; {}", way_out(holder, spelling))
            }
            Self::Network { path, kind } => format!(
                "{}: is on {kind}, where SQLite's log is not safe; keep the catalog on a local disk \
                 (--catalog), the files may stay",
                shown(path)
            ),
            Self::SeveralNames(path) => format!(
                "{}: has several names (hard links), and SQLite's log belongs to one; remove the \
                 others",
                shown(path)
            ),
            Self::Damaged(what) => format!(
                "the catalog is damaged: {what}; `{}` tells all of it, then put back a copy that \
                 `{}` made, after you removed the catalog, its -wal and its -shm",
                say("catalog check"),
                say("catalog backup")
            ),
            Self::Full => {
                "no room is left for the catalog; what was committed before is kept".to_owned()
            }
            Self::Disk(error) => format!(
                "the system could not read or write the catalog: {error}; see whether its disk is \
                 full (df) or fails (dmesg); what was committed before is kept"
            ),
            Self::NoRoot(path) => format!(
                "{}: is in no folder of the catalog; `{}` takes one up",
                shown(path),
                say("add")
            ),
            Self::NotARoot { path, root } => {
                format!("{}: is only a part of {}; name that", shown(path), shown(root))
            }
            Self::Unknown(path) => format!("{}: the catalog knows no such file", shown(path)),
            Self::Elsewhere { path, status, place } => format!(
                "{}: is {}, and lies at {} now: forgotten, it would be taken up as new; {}",
                shown(path),
                status.name(),
                shown(place),
                match status {
                    Status::Unreadable => "give permission to read it, and look at it".to_owned(),
                    Status::Busy => "look at it once no program writes to it any more".to_owned(),
                    _ => format!(
                        "if it is right as it is: `{}`; else put back a good copy, or remove that \
                         one before",
                        spelling.command("accept", Some(place))
                    ),
                }
            ),
            Self::Unseen { path, status, place, why } => format!(
                "{}: is {}, and whether it lies at {} cannot be seen: {why}; forgotten, it would be \
                 taken up as new if it does",
                shown(path),
                status.name(),
                shown(place)
            ),
            Self::NotThere { path, why } => {
                // What is not there cannot be.
                let accept = if why == ANOTHER {
                    let accept = spelling.command("accept", Some(path));
                    format!("if its files are here from now on: `{accept}`; ")
                } else {
                    String::new()
                };
                format!(
                    "{}: {why}; mount or put back what was there; {accept}if it is gone for good: \
                     `{}`",
                    shown(path),
                    spelling.command("forget", Some(path))
                )
            }
            Self::NotAFolder(path) => format!("{}: is no folder", shown(path)),
            Self::Overlaps { path, other } => format!(
                "{}: overlaps with {}, which is in the catalog already; what is in that needs no \
                 add, and what has that in it can be added once `{}` took it out",
                shown(path),
                shown(other),
                spelling.command("forget", Some(other))
            ),
            Self::TooSlow { root, bytes, every_days, needed, rate, window, possible } => format!(
                "{}: {} in {every_days} d, a tenth of them to spare, are {} a day, and {} a second{} \
                 are {} a day; give a higher --limit, longer hours or a longer --every",
                shown(root),
                amount(*bytes),
                amount(*needed),
                amount(*rate),
                hours(*window),
                amount(*possible)
            ),
            Self::TooShort { root, longest, rate, window, possible } => format!(
                "{}: {} of a file have to be read in one go, and {} a second{} are {}; give a higher \
                 --limit or longer hours",
                shown(root),
                amount(*longest),
                amount(*rate),
                hours(Some(*window)),
                amount(*possible)
            ),
            Self::Told(error) => message(error),
            Self::Keyed(algorithm) => {
                format!("{algorithm} takes a key, and the catalog keeps none")
            }
            Self::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => {
                format!(
                    "the catalog cannot be written: {error}; its file, its folder, and its -wal and \
                     -shm, where they are there, have to be writable"
                )
            }
            Self::Sqlite(error) => error.to_string(),
        }
    }

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

/// A daemon does not end, but makes room.
fn way_out(holder: &str, spelling: &dyn Spelling) -> String {
    let pause = spelling.command("pause", None);
    if holder.ends_with("(serve)") {
        let resume = spelling.command("resume", None);
        format!("`{pause}` makes it free in some seconds, and `{resume}` lets it go on")
    } else if holder.ends_with("(scrub)") {
        format!("wait for its end, or `{pause}` ends it in some seconds")
    } else if holder.ends_with("(daemon)") {
        // A pause would keep it from reading, and it would stay all the same.
        let kill =
            holder.split(' ').nth(1).map_or(String::new(), |id| format!(", as by `kill {id}`"));
        format!(
            "it serves this catalog already, and one is enough; end it before another begins{kill}"
        )
    } else {
        "wait for its end".to_owned()
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

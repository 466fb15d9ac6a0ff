//! Connections to the file of a catalog.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;

use super::lock::Lock;
use super::private::beside;
use super::schema::{self, Kind, VERSION};
use super::table::META;
use crate::CatalogError;

/// The time that a statement waits for the commit of another process.
const PATIENCE: Duration = Duration::from_secs(10);

/// The number of pages in the log after which they are copied to the file, each once however often
/// it was written. It is half of the number that the log keeps.
const CHECKPOINT: i64 = 8192;

/// The size to which the log shrinks after a checkpoint, in bytes.
pub(super) const LOG: i64 = 64 << 20;

/// The page cache of a connection in KiB.
const CACHE: i64 = 16 << 10;

/// The file of a connection that writes.
const TO_WRITE: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// Opens a connection that writes beside the process with the lock.
pub(crate) fn writer(path: &Path) -> Result<Connection, CatalogError> {
    require_access(path, Access::READ_OK | Access::WRITE_OK)?;
    let db = connect(path, TO_WRITE)?;
    prepare_to_write(&db, path)?;
    Ok(db)
}

/// Opens a connection that writes, before its file is known to be a catalog.
pub(super) fn connect_to_write(path: &Path) -> Result<Connection, CatalogError> {
    connect(path, TO_WRITE)
}

/// Makes a connection use a log, and sync each commit before it returns.
pub(super) fn prepare_to_write(db: &Connection, path: &Path) -> Result<(), CatalogError> {
    let mode: String = db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        let error = io::Error::other("the file system does not support a write-ahead log");
        return Err(CatalogError::io(path)(error));
    }
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "journal_size_limit", LOG)?;
    db.pragma_update(None, "wal_autocheckpoint", CHECKPOINT)?;
    Ok(())
}

/// Opens a connection that reads. Returns it with the version of the catalog.
pub(super) fn reader(path: &Path) -> Result<(Connection, i64), CatalogError> {
    require_file(path)?;
    require_access(path, Access::READ_OK)?;
    let connected = |flags| {
        let db = connect(path, flags)?;
        let kind = identify(&db, path)?;
        Ok((db, kind))
    };
    let found = match connected(TO_WRITE) {
        // A log cannot be created on a read-only mount or a full disk.
        Err(error) if needs_immutable(&error, path) => {
            let db = connect_immutable(path)?;
            let kind = identify(&db, path)?;
            (db, kind)
        }
        found => found?,
    };
    match found {
        (db, Kind::Catalog(version)) => {
            db.pragma_update(None, "query_only", true)?;
            Ok((db, version))
        }
        (_, Kind::Empty) => Err(empty_file()),
        _ => Err(CatalogError::NotACatalog(path.to_owned())),
    }
}

/// A catalog gets its name when it has its tables, so an empty file is a damaged catalog.
pub(super) fn empty_file() -> CatalogError {
    CatalogError::Damaged("the file is empty".to_owned())
}

pub(super) fn identify(db: &Connection, path: &Path) -> Result<Kind, CatalogError> {
    schema::kind(db).map_err(|error| not_a_catalog(error, path))
}

pub(super) fn require_version(found: i64) -> Result<(), CatalogError> {
    if found == VERSION { Ok(()) } else { Err(CatalogError::Newer { found, known: VERSION }) }
}

/// Checks that there is a file.
pub(super) fn require_file(path: &Path) -> Result<(), CatalogError> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(CatalogError::Absent(path.to_owned()))
        }
        Err(error) => Err(CatalogError::io(path)(error)),
        Ok(found) if found.is_dir() => Err(CatalogError::io(path)(Errno::ISDIR.into())),
        Ok(found) if !found.is_file() => {
            let error = io::Error::other("not a regular file, so not a catalog");
            Err(CatalogError::io(path)(error))
        }
        Ok(_) => Ok(()),
    }
}

/// Checks that this user has access. SQLite would say neither which file it cannot open nor why.
pub(super) fn require_access(path: &Path, access: Access) -> Result<(), CatalogError> {
    match accessat(CWD, path, access, AtFlags::EACCESS) {
        Err(error @ (Errno::ACCESS | Errno::PERM | Errno::ROFS)) => {
            Err(CatalogError::io(path)(error.into()))
        }
        // Other errors appear when the file is opened.
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Checks that the file has one name, because SQLite's log belongs to a name.
pub(super) fn require_one_name(path: &Path) -> Result<(), CatalogError> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.nlink() > 1 => Err(CatalogError::SeveralLinks(path.to_owned())),
        _ => Ok(()),
    }
}

/// Connects with the settings of every connection. Reading the first page shows whether the file is
/// a database.
fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, CatalogError> {
    let connected = || -> rusqlite::Result<Connection> {
        let db = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_EXRESCODE)?;
        db.busy_timeout(PATIENCE)?;
        // Otherwise SQLite may prepare a statement again when a value is bound, which takes ten
        // times as long as a look-up.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        db.pragma_update(None, "mmap_size", 0)?;
        db.pragma_update(None, "cache_size", -CACHE)?;
        db.pragma_update(None, "trusted_schema", false)?;
        db.pragma_update(None, "cell_size_check", true)?;
        db.set_prepared_statement_cache_capacity(64);
        Ok(db)
    };
    connected().map_err(|error| not_a_catalog(error, path))
}

fn not_a_catalog(error: rusqlite::Error, path: &Path) -> CatalogError {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => CatalogError::NotACatalog(path.to_owned()),
        _ => error.into(),
    }
}

/// Returns whether a log cannot be created, and no existing log must be read.
fn needs_immutable(error: &CatalogError, path: &Path) -> bool {
    let is_refused = match error {
        CatalogError::Sqlite(error) => {
            let code = error.sqlite_error_code();
            matches!(code, Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
        }
        // A writing process has created it.
        CatalogError::Full => !Lock::is_held(path),
        _ => false,
    };
    let has_log = || fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0);
    is_refused && !has_log()
}

fn connect_immutable(path: &Path) -> Result<Connection, CatalogError> {
    use std::fmt::Write as _;
    let absolute = std::path::absolute(path).map_err(CatalogError::io(path))?;
    let mut uri = "file:".to_owned();
    for &byte in absolute.as_os_str().as_bytes() {
        // Writing to a String cannot fail.
        let _ = match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                uri.write_char(char::from(byte))
            }
            byte => write!(uri, "%{byte:02x}"),
        };
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    connect(Path::new(&(uri + "?immutable=1")), flags)
}

/// Returns the value of a key in the table `meta`.
pub(crate) fn get(db: &Connection, key: &str) -> Result<Option<Vec<u8>>, CatalogError> {
    let sql = format!("SELECT {} FROM meta t WHERE key = ?1", META.select("t"));
    let found = db.query_row(&sql, [key], |row| Ok((META.verify(row, 0), row.get(1)?)));
    let Some((verified, value)) = found.optional()? else { return Ok(None) };
    verified?;
    Ok(Some(value))
}

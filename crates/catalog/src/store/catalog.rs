//! A catalog: one file, which one process at a time writes to and any number look into.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lanesum_checksum::disk::network_of;
use lanesum_list::Inode;
use lanesum_siphash::SipHash24;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;

use super::lock::{self, Lock};
use super::private::{beside, make_private};
use super::schema::{self, Kind, VERSION};
use super::table::{META, blob, text};
use crate::CatalogError;

/// How long one waits for another process's commit.
const PATIENCE: Duration = Duration::from_secs(10);

/// Pages that the log takes before they are brought to their places: each of them once for what
/// many commits write into it. It is half of what the log keeps.
const CHECKPOINT: i64 = 8192;

/// Bytes that the log keeps on the disk when it is done with.
const LOG: i64 = 64 << 20;

/// Cached in memory at most, in KiB.
const CACHE: i64 = 16 << 10;

/// Files and their digests, the checks of them, and what came of those.
#[derive(Debug)]
pub struct Catalog {
    pub(crate) db: Connection,
    path: PathBuf,
    /// The same as it was given, perhaps a link.
    given: PathBuf,
    /// The file that was opened.
    inode: Option<Inode>,
    /// Spreads the times at which files are due.
    pub(crate) schedule_hash: SipHash24,
    /// None where it is only looked into.
    lock: Option<Lock>,
}

/// That no other process serves a catalog, as long as it lives.
#[derive(Debug)]
pub struct Alone(#[expect(dead_code, reason = "it is held")] Lock);

impl Catalog {
    /// Opens a catalog to write to it, or makes one; `verb` is what others are told that this
    /// process does.
    ///
    /// Whatever a call has written when it returns is on the medium.
    ///
    /// # Errors
    /// [`CatalogError::Locked`] where another process writes to it; and that it is no catalog, a
    /// newer program's, or on a file system of a network.
    pub fn open(path: &Path, verb: &str) -> Result<Self, CatalogError> {
        Self::open_or(path, verb, true)
    }

    /// Opens a catalog to write to it, which has to be there: a wrong path must not make one that
    /// knows of no damage.
    ///
    /// # Errors
    /// [`CatalogError::Absent`]; that it is damaged, of an empty file; and as of
    /// [`open`](Self::open).
    pub fn open_existing(path: &Path, verb: &str) -> Result<Self, CatalogError> {
        require(path)?;
        Self::open_or(path, verb, false)
    }

    fn open_or(path: &Path, verb: &str, is_made: bool) -> Result<Self, CatalogError> {
        refuse_folder(path)?;
        let (path, given) = (&real(path)?, path);
        require_access(path, Access::READ_OK | Access::WRITE_OK)?;
        let lock = Lock::take(path, verb)?;
        if let Some(kind) = network_of(folder(path)).map_err(CatalogError::io(path))? {
            return Err(CatalogError::Network { path: path.to_owned(), kind });
        }
        refuse_several_names(path)?;
        if is_made && matches!(require(path), Err(CatalogError::Absent(_))) {
            make(path)?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = connect(path, flags)?;
        let version = match identify(&db, path)? {
            Kind::Empty => return Err(nothing_in()),
            Kind::Catalog(version) => version,
            Kind::Other => return Err(CatalogError::NotACatalog(path.to_owned())),
        };
        require_version(version)?;
        prepare_to_write(&db, path)?;
        Self::with(db, (path, given), Some(lock))
    }

    /// Opens a catalog to look into it, beside whoever writes to it.
    ///
    /// # Errors
    /// [`CatalogError::Absent`], and as of [`open`](Self::open).
    pub fn look(path: &Path) -> Result<Self, CatalogError> {
        require(path)?;
        let (path, given) = (&real(path)?, path);
        // What is in the log of another name would not be seen.
        refuse_several_names(path)?;
        let (db, version) = look(path)?;
        require_version(version)?;
        Self::with(db, (path, given), None)
    }

    fn with(
        db: Connection,
        (path, given): (&Path, &Path),
        lock: Option<Lock>,
    ) -> Result<Self, CatalogError> {
        let key = get(&db, "schedule")?.and_then(|key| key.try_into().ok());
        let key: [u8; 16] = key.ok_or_else(|| {
            CatalogError::Damaged(
                "the key of due times is not there, or has not 16 bytes".to_owned(),
            )
        })?;
        let inode = inode_of(path);
        let (path, given) = (path.to_owned(), given.to_owned());
        Ok(Self { db, path, given, inode, schedule_hash: SipHash24::new(&key), lock })
    }

    /// What only one process has at a time that serves a catalog; others may still write.
    ///
    /// # Errors
    /// [`CatalogError::Locked`] where another one has it.
    pub fn serve_alone(path: &Path) -> Result<Alone, CatalogError> {
        require(path)?;
        Lock::take(&beside(&real(path)?, "-serve"), "daemon").map(Alone)
    }

    /// A number that is another one after any other connection wrote to it.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn version(&self) -> Result<i64, CatalogError> {
        Ok(self.db.query_row("PRAGMA data_version", [], |row| row.get(0))?)
    }

    /// Whether a process writes to it.
    pub(crate) fn is_locked(&self) -> bool {
        self.is_writable() || Lock::is_held(&self.path)
    }

    /// That it is where it was opened: whoever keeps it open would go on with what was removed, or
    /// replaced by a copy.
    ///
    /// # Errors
    /// [`CatalogError::Replaced`].
    pub fn require_in_place(&self) -> Result<(), CatalogError> {
        let now = fs::metadata(&self.given).ok().map(|it| inode_in(&it));
        if now == self.inode { Ok(()) } else { Err(CatalogError::Replaced(self.given.clone())) }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether this process may write to it.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.lock.is_some()
    }

    /// Another connection, to read what was committed, from any thread.
    pub(crate) fn reader(&self) -> Result<Connection, CatalogError> {
        look(&self.path).map(|(db, _)| db)
    }

    /// Brings what is in the log to its place. SQLite does so when the last connection is closed,
    /// and of a log in which a bit flipped it drops the rest in silence: it must not hold weeks of
    /// what was found, because a daemon has the catalog open. What a reader still needs stays until
    /// the next time.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn checkpoint(&self) -> Result<(), CatalogError> {
        let sql = "PRAGMA wal_checkpoint(PASSIVE)";
        match self.db.query_row(sql, [], |_| Ok(())) {
            // On a full disk it stays in the log, whole.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => Ok(()),
            brought => Ok(brought?),
        }
    }

    /// The files that it consists of, which are never cataloged, and must not even be opened: to
    /// close one loses the locks that SQLite has on it.
    pub(crate) fn own_files(&self) -> Vec<Inode> {
        let logs =
            ["", "-wal", "-shm", "-serve-lock"].into_iter().map(|end| beside(&self.path, end));
        logs.chain([lock::path(&self.path)]).filter_map(|path| inode_of(&path)).collect()
    }
}

fn inode_of(path: &Path) -> Option<Inode> {
    fs::symlink_metadata(path).ok().map(|metadata| inode_in(&metadata))
}

fn inode_in(metadata: &fs::Metadata) -> Inode {
    Inode { device: metadata.dev(), number: metadata.ino() }
}

/// A connection that writes beside whoever has the lock.
pub(crate) fn writer(path: &Path) -> Result<Connection, CatalogError> {
    require_access(path, Access::READ_OK | Access::WRITE_OK)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = connect(path, flags)?;
    prepare_to_write(&db, path)?;
    Ok(db)
}

/// What is written is logged, and on the medium when a commit returns.
fn prepare_to_write(db: &Connection, path: &Path) -> Result<(), CatalogError> {
    let mode: String = db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        let why = io::Error::other("its file system takes no write-ahead log");
        return Err(CatalogError::io(path)(why));
    }
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "journal_size_limit", LOG)?;
    db.pragma_update(None, "wal_autocheckpoint", CHECKPOINT)?;
    Ok(())
}

/// The folder that a catalog is in.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The path without links, so that a catalog has one lock and one log by whatever name it is
/// opened.
fn real(path: &Path) -> Result<PathBuf, CatalogError> {
    match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        found => return found.map_err(CatalogError::io(path)),
    }
    if fs::symlink_metadata(path).is_ok() {
        let why = io::Error::other("is a link to nothing; name the file that it is to lead to");
        return Err(CatalogError::io(path)(why));
    }
    let folder = folder(path);
    let folder = folder.canonicalize().map_err(CatalogError::io(folder))?;
    Ok(path.file_name().map_or_else(|| folder.clone(), |name| folder.join(name)))
}

fn refuse_several_names(path: &Path) -> Result<(), CatalogError> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.nlink() > 1 => Err(CatalogError::SeveralLinks(path.to_owned())),
        _ => Ok(()),
    }
}

/// That there is a file.
fn require(path: &Path) -> Result<(), CatalogError> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(CatalogError::Absent(path.to_owned()))
        }
        Err(error) => Err(CatalogError::io(path)(error)),
        Ok(_) => refuse_folder(path),
    }
}

/// That whoever runs this may do so: SQLite would not say which file it cannot open, nor why.
fn require_access(path: &Path, access: Access) -> Result<(), CatalogError> {
    match accessat(CWD, path, access, AtFlags::EACCESS) {
        Err(error @ (Errno::ACCESS | Errno::PERM | Errno::ROFS)) => {
            Err(CatalogError::io(path)(error.into()))
        }
        // What else may be wrong shows when it is opened.
        Ok(()) | Err(_) => Ok(()),
    }
}

fn refuse_folder(path: &Path) -> Result<(), CatalogError> {
    let why = "a catalog is a file, and this is a folder; name a file, in it if you like";
    if path.is_dir() { Err(CatalogError::io(path)(io::Error::other(why))) } else { Ok(()) }
}

/// A file that has lost everything: a catalog is in its place only when it has its tables.
fn nothing_in() -> CatalogError {
    let words = "nothing is in it (if it never was a catalog, remove it, and add a folder anew)";
    CatalogError::Damaged(words.to_owned())
}

/// Makes a catalog under another name, and gives it its own when it is on the medium. So one of
/// which nothing is left, also after whoever made it was killed, is always a damaged one.
fn make(path: &Path) -> Result<(), CatalogError> {
    let log = beside(path, "-wal");
    if fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        let words = "its log (-wal) is there, and it is not (to begin anew, remove the log)";
        return Err(CatalogError::Damaged(words.to_owned()));
    }
    let unfinished = beside(path, ".unfinished");
    let remove = || {
        for end in ["", "-journal"] {
            // As a rule there is none.
            let _ = fs::remove_file(beside(&unfinished, end));
        }
    };
    remove();
    let made = make_at(&unfinished).and_then(|()| {
        fs::rename(&unfinished, path).map_err(CatalogError::io(path))?;
        let folder = File::open(folder(path)).map_err(CatalogError::io(path))?;
        folder.sync_all().map_err(CatalogError::io(path))
    });
    if made.is_err() {
        remove();
    }
    made
}

fn make_at(path: &Path) -> Result<(), CatalogError> {
    // SQLite would let everybody read the names of all files.
    drop(make_private(path).map_err(CatalogError::io(path))?);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut db = connect(path, flags)?;
    schema::make(&mut db)?;
    make_key(&db)?;
    drop(db);
    let file = File::open(path).map_err(CatalogError::io(path))?;
    file.sync_all().map_err(CatalogError::io(path))
}

fn look(path: &Path) -> Result<(Connection, i64), CatalogError> {
    require(path)?;
    require_access(path, Access::READ_OK)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connected = |flags| {
        let db = connect(path, flags)?;
        let kind = identify(&db, path)?;
        Ok((db, kind))
    };
    let found = match connected(flags) {
        // What is on a read-only mount is not written to, nor can its log be made there, or on a
        // full disk.
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
        (_, Kind::Empty) => Err(nothing_in()),
        _ => Err(CatalogError::NotACatalog(path.to_owned())),
    }
}

fn require_version(found: i64) -> Result<(), CatalogError> {
    if found == VERSION { Ok(()) } else { Err(CatalogError::Newer { found, known: VERSION }) }
}

fn identify(db: &Connection, path: &Path) -> Result<Kind, CatalogError> {
    schema::kind(db).map_err(|error| not_a_catalog(error, path))
}

/// A connection with what every one has. Whether the file is a database shows at its first page.
fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, CatalogError> {
    let settled = || -> rusqlite::Result<Connection> {
        let db = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_EXRESCODE)?;
        db.busy_timeout(PATIENCE)?;
        // Else a statement may be prepared anew whenever another value is bound, which takes ten
        // times as long as to look a row up.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        db.pragma_update(None, "mmap_size", 0)?;
        db.pragma_update(None, "cache_size", -CACHE)?;
        db.pragma_update(None, "trusted_schema", false)?;
        db.pragma_update(None, "cell_size_check", true)?;
        db.set_prepared_statement_cache_capacity(64);
        Ok(db)
    };
    settled().map_err(|error| not_a_catalog(error, path))
}

fn not_a_catalog(error: rusqlite::Error, path: &Path) -> CatalogError {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => CatalogError::NotACatalog(path.to_owned()),
        _ => error.into(),
    }
}

/// Whether the log cannot be made, and there is none that would have to be read.
fn needs_immutable(error: &CatalogError, path: &Path) -> bool {
    let is_refused = match error {
        CatalogError::Sqlite(error) => {
            let code = error.sqlite_error_code();
            matches!(code, Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
        }
        // Whoever writes has made it.
        CatalogError::Full => !Lock::is_held(path),
        _ => false,
    };
    is_refused && !has_log(path)
}

/// Whether there is a log that would have to be read.
fn has_log(path: &Path) -> bool {
    fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0)
}

fn connect_immutable(path: &Path) -> Result<Connection, CatalogError> {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt as _;
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

/// What `meta` holds of a key.
pub(crate) fn get(db: &Connection, key: &str) -> Result<Option<Vec<u8>>, CatalogError> {
    META.find(db, key, |row| Ok(row.get(1)?))
}

fn make_key(db: &Connection) -> Result<(), CatalogError> {
    let mut key = [0; 16];
    getrandom::fill(&mut key)
        .map_err(|error| CatalogError::io("a random key")(io::Error::other(error.to_string())))?;
    META.put(db, &[text("schedule"), blob(&key)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Versions before lose what was committed when two connections write and checkpoint at once.
    #[test]
    fn sqlite_is_recent_enough() {
        assert!(rusqlite::version_number() >= 3_051_003, "{}", rusqlite::version());
    }

    #[test]
    fn a_catalog_is_made_and_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.db");
        assert!(matches!(Catalog::look(&path), Err(CatalogError::Absent(_))));
        drop(Catalog::open(&path, "test").unwrap());
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let catalog = Catalog::open(&path, "test").unwrap();
        let pragma = |name: &str| -> String {
            catalog
                .db
                .pragma_query_value(None, name, |row| {
                    row.get_ref(0).map(|value| match value {
                        rusqlite::types::ValueRef::Integer(number) => number.to_string(),
                        value => value.as_str().unwrap().to_owned(),
                    })
                })
                .unwrap()
        };
        assert_eq!((pragma("journal_mode"), pragma("synchronous")), ("wal".into(), "2".into()));
        assert_eq!(pragma("journal_size_limit"), LOG.to_string());
        assert!(!Catalog::look(&path).unwrap().is_writable());
    }

    /// Also one that SQLite made before its first transaction: lanesum's own has its tables.
    #[test]
    fn nothing_is_never_a_catalog() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.db");
        fs::write(&path, "").unwrap();
        for error in [Catalog::open(&path, "test").unwrap_err(), Catalog::look(&path).unwrap_err()]
        {
            assert!(matches!(error, CatalogError::Damaged(_)), "{error}");
        }
        assert_eq!(fs::read(&path).unwrap(), b"");
        fs::remove_file(&path).unwrap();

        // Whoever made one was killed.
        fs::write(beside(&path, ".unfinished"), "a part of it").unwrap();
        fs::write(beside(&path, ".unfinished-journal"), "a part of it").unwrap();
        drop(Catalog::open(&path, "test").unwrap());
        assert!(Catalog::look(&path).unwrap().check().unwrap().is_empty());
        let mut names: Vec<_> =
            folder.path().read_dir().unwrap().map(|it| it.unwrap().file_name()).collect();
        names.sort_unstable();
        assert_eq!(names, ["catalog.db", "catalog.db-lock"]);

        // The log of a catalog that is lost must not become part of a new one.
        fs::remove_file(&path).unwrap();
        fs::write(beside(&path, "-wal"), "pages of the lost one").unwrap();
        let error = Catalog::open(&path, "test").unwrap_err();
        assert!(matches!(error, CatalogError::Damaged(_)), "{error}");
        assert!(!path.exists());
    }

    #[test]
    fn a_second_writer_is_told_who_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.db");
        let held = Catalog::open(&path, "scrub").unwrap();
        let error = Catalog::open(&path, "update").unwrap_err();
        let holder = format!("process {} (scrub)", std::process::id());
        assert!(error.to_string().contains(&holder), "{error}");
        drop(held);
        Catalog::open(&path, "update").unwrap();
    }

    #[test]
    fn what_is_no_catalog_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.db");
        let other = Connection::open(&path).unwrap();
        other.execute_batch("CREATE TABLE notes(x)").unwrap();
        drop(other);
        let before = fs::read(&path).unwrap();
        for error in [Catalog::open(&path, "test").unwrap_err(), Catalog::look(&path).unwrap_err()]
        {
            assert!(matches!(error, CatalogError::NotACatalog(_)), "{error}");
        }
        assert!(fs::read(&path).unwrap() == before);

        let words = folder.path().join("notes.txt");
        fs::write(&words, "my own notes, which are longer than nothing\n".repeat(100)).unwrap();
        for error in
            [Catalog::open(&words, "test").unwrap_err(), Catalog::look(&words).unwrap_err()]
        {
            assert!(matches!(error, CatalogError::NotACatalog(_)), "{error}");
        }
        assert!(fs::read(&words).unwrap().starts_with(b"my own"));
    }

    #[test]
    fn a_newer_catalog_and_one_with_two_names_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.db");
        let catalog = Catalog::open(&path, "test").unwrap();
        catalog.db.pragma_update(None, "user_version", 99).unwrap();
        drop(catalog);
        for error in [Catalog::open(&path, "test").unwrap_err(), Catalog::look(&path).unwrap_err()]
        {
            assert!(matches!(error, CatalogError::Newer { found: 99, .. }), "{error}");
        }
        let path = folder.path().join("second.db");
        drop(Catalog::open(&path, "test").unwrap());
        fs::hard_link(&path, folder.path().join("third.db")).unwrap();
        for path in [path, folder.path().join("third.db")] {
            for error in
                [Catalog::open(&path, "test").unwrap_err(), Catalog::look(&path).unwrap_err()]
            {
                assert!(matches!(error, CatalogError::SeveralLinks(_)), "{error}");
            }
            assert!(!beside(&path, "-wal").exists() && !beside(&path, "-shm").exists());
        }
    }
}

//! A catalog: one file that one process at a time writes, and any number of processes read.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use lanesum_checksum::disk::network_of;
use lanesum_list::Inode;
use lanesum_siphash::SipHash24;
use rusqlite::{Connection, ErrorCode};
use rustix::fs::Access;

use super::connect::{
    self, connect_to_write, empty_file, get, identify, prepare_to_write, require_access,
    require_file, require_one_name, require_version,
};
use super::lock::{self, Lock};
use super::private::{beside, make_private};
use super::schema::{self, Kind};
use super::table::{META, blob, text};
use crate::CatalogError;

/// Records of files, their states, and a log of their changes.
#[derive(Debug)]
pub struct Catalog {
    pub(crate) db: Connection,
    path: PathBuf,
    /// The path as the caller gave it, which may be a link.
    given: PathBuf,
    /// The file that was opened.
    inode: Option<Inode>,
    /// The key that spreads due times.
    pub(crate) schedule_hash: SipHash24,
    /// None if the catalog is only read.
    lock: Option<Lock>,
}

/// Proves that no other process serves a catalog, as long as it exists.
#[derive(Debug)]
pub struct Alone(#[expect(dead_code, reason = "it is held")] Lock);

impl Catalog {
    /// Opens a catalog for writing, or creates it. Other processes see `verb` as the activity of
    /// this one.
    ///
    /// When a call returns, all its writes are on disk.
    ///
    /// # Errors
    /// [`CatalogError::Locked`] while another process writes to it. Also if it is not a catalog,
    /// has a newer version, or is on a network file system.
    pub fn open(path: &Path, verb: &str) -> Result<Self, CatalogError> {
        Self::open_or(path, verb, true)
    }

    /// Opens a catalog for writing. It must exist, so that a wrong path does not create an empty
    /// catalog.
    ///
    /// # Errors
    /// [`CatalogError::Absent`], damage for an empty file, and as of [`open`](Self::open).
    pub fn open_existing(path: &Path, verb: &str) -> Result<Self, CatalogError> {
        require_file(path)?;
        Self::open_or(path, verb, false)
    }

    fn open_or(path: &Path, verb: &str, may_make: bool) -> Result<Self, CatalogError> {
        match require_file(path) {
            Err(CatalogError::Absent(_)) => {}
            checked => checked?,
        }
        let (path, given) = (&real(path)?, path);
        require_access(path, Access::READ_OK | Access::WRITE_OK)?;
        let lock = Lock::take(path, verb)?;
        if let Some(kind) = network_of(directory_of(path)).map_err(CatalogError::io(path))? {
            return Err(CatalogError::Network { path: path.to_owned(), kind });
        }
        require_one_name(path)?;
        if may_make && matches!(require_file(path), Err(CatalogError::Absent(_))) {
            make(path)?;
        }
        let db = connect_to_write(path)?;
        let version = match identify(&db, path)? {
            Kind::Empty => return Err(empty_file()),
            Kind::Catalog(version) => version,
            Kind::Other => return Err(CatalogError::NotACatalog(path.to_owned())),
        };
        require_version(version)?;
        prepare_to_write(&db, path)?;
        Self::with(db, (path, given), Some(lock))
    }

    /// Opens a catalog for reading, also while another process writes to it.
    ///
    /// # Errors
    /// [`CatalogError::Absent`], and as of [`open`](Self::open).
    pub fn look(path: &Path) -> Result<Self, CatalogError> {
        require_file(path)?;
        let (path, given) = (&real(path)?, path);
        // Changes in the log of another name would be invisible.
        require_one_name(path)?;
        let (db, version) = connect::reader(path)?;
        require_version(version)?;
        Self::with(db, (path, given), None)
    }

    fn with(
        db: Connection,
        (path, given): (&Path, &Path),
        lock: Option<Lock>,
    ) -> Result<Self, CatalogError> {
        let key = get(&db, "schedule")?.and_then(|key| key.try_into().ok());
        let damaged = || CatalogError::Damaged("the schedule key is missing or too short".into());
        let key: [u8; 16] = key.ok_or_else(damaged)?;
        let inode = inode_of(path);
        let (path, given) = (path.to_owned(), given.to_owned());
        Ok(Self { db, path, given, inode, schedule_hash: SipHash24::new(&key), lock })
    }

    /// Returns the lock of a process that serves a catalog. Only one process can have it. Others
    /// may still write to the catalog.
    ///
    /// # Errors
    /// [`CatalogError::Locked`] while another process has it.
    pub fn serve_alone(path: &Path) -> Result<Alone, CatalogError> {
        require_file(path)?;
        Lock::take(&beside(&real(path)?, "-serve"), "daemon").map(Alone)
    }

    /// Returns a number that changes when another connection writes to the catalog.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn version(&self) -> Result<i64, CatalogError> {
        Ok(self.db.query_row("PRAGMA data_version", [], |row| row.get(0))?)
    }

    /// Returns whether a process writes to it.
    pub(crate) fn is_locked(&self) -> bool {
        self.is_writable() || Lock::is_held(&self.path)
    }

    /// Checks that the file is still at its path. Otherwise a process would continue with a file
    /// that was removed, or replaced by a copy.
    ///
    /// # Errors
    /// [`CatalogError::Replaced`].
    pub fn require_in_place(&self) -> Result<(), CatalogError> {
        let now = fs::metadata(&self.given).ok().map(|it| inode_in(&it));
        if now == self.inode { Ok(()) } else { Err(CatalogError::Replaced(self.given.clone())) }
    }

    /// Returns its path without links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether this process may write to it.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.lock.is_some()
    }

    /// Opens another connection, to read committed rows from any thread.
    pub(crate) fn reader(&self) -> Result<Connection, CatalogError> {
        connect::reader(&self.path).map(|(db, _)| db)
    }

    /// Copies the pages of the log to the file. SQLite does so when the last connection closes, and
    /// if a bit of the log flipped, it silently drops the rest of the log. While a daemon has the
    /// catalog open, the log would grow for weeks. Pages that a reader still needs stay until the
    /// next time.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn checkpoint(&self) -> Result<(), CatalogError> {
        let sql = "PRAGMA wal_checkpoint(PASSIVE)";
        match self.db.query_row(sql, [], |_| Ok(())) {
            // On a full disk they stay in the log.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => Ok(()),
            copied => Ok(copied?),
        }
    }

    /// Returns the files of the catalog itself. They are never recorded or even opened: closing one
    /// drops SQLite's locks on it.
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

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Returns the path without links, so that a catalog has one lock and one log under all its names.
fn real(path: &Path) -> Result<PathBuf, CatalogError> {
    match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        found => return found.map_err(CatalogError::io(path)),
    }
    if fs::symlink_metadata(path).is_ok() {
        let error = io::Error::other("a link whose target is missing");
        return Err(CatalogError::io(path)(error));
    }
    let parent = directory_of(path);
    let parent = parent.canonicalize().map_err(CatalogError::io(parent))?;
    Ok(path.file_name().map_or_else(|| parent.clone(), |name| parent.join(name)))
}

/// Creates a catalog under a temporary name, and renames it when it is on disk. So an empty file
/// was never a new catalog, even of a process that was killed.
fn make(path: &Path) -> Result<(), CatalogError> {
    let log = beside(path, "-wal");
    if fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        let fault = "the file is missing, but its log (-wal) exists";
        return Err(CatalogError::Damaged(fault.to_owned()));
    }
    let unfinished = beside(path, ".unfinished");
    let remove = || {
        for end in ["", "-journal"] {
            // Usually there is none.
            let _ = fs::remove_file(beside(&unfinished, end));
        }
    };
    remove();
    let made = make_at(&unfinished).and_then(|()| {
        fs::rename(&unfinished, path).map_err(CatalogError::io(path))?;
        let parent = File::open(directory_of(path)).map_err(CatalogError::io(path))?;
        parent.sync_all().map_err(CatalogError::io(path))
    });
    if made.is_err() {
        remove();
    }
    made
}

fn make_at(path: &Path) -> Result<(), CatalogError> {
    // SQLite would let all users read the file names.
    drop(make_private(path).map_err(CatalogError::io(path))?);
    let mut db = connect_to_write(path)?;
    schema::make(&mut db)?;
    make_key(&db)?;
    drop(db);
    let file = File::open(path).map_err(CatalogError::io(path))?;
    file.sync_all().map_err(CatalogError::io(path))
}

fn make_key(db: &Connection) -> Result<(), CatalogError> {
    let mut key = [0; 16];
    getrandom::fill(&mut key)
        .map_err(|error| CatalogError::io("a random key")(io::Error::other(error.to_string())))?;
    META.put(db, &[text("schedule"), blob(&key)])
}

#[cfg(test)]
mod tests {
    use super::connect::LOG;
    use super::*;

    /// Older versions lose commits when two connections write and checkpoint at once.
    #[test]
    fn sqlite_is_recent_enough() {
        assert!(rusqlite::version_number() >= 3_051_003, "{}", rusqlite::version());
    }

    #[test]
    fn catalog_is_made_and_opened_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("catalog.db");
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

    /// Includes a file that SQLite created before its first transaction.
    #[test]
    fn empty_file_is_a_damaged_catalog() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("catalog.db");
        fs::write(&path, "").unwrap();
        for error in [Catalog::open(&path, "test").unwrap_err(), Catalog::look(&path).unwrap_err()]
        {
            assert!(matches!(error, CatalogError::Damaged(_)), "{error}");
        }
        assert_eq!(fs::read(&path).unwrap(), b"");
        fs::remove_file(&path).unwrap();

        // The process that created one was killed.
        fs::write(beside(&path, ".unfinished"), "a part").unwrap();
        fs::write(beside(&path, ".unfinished-journal"), "a part").unwrap();
        drop(Catalog::open(&path, "test").unwrap());
        assert!(Catalog::look(&path).unwrap().check().unwrap().is_empty());
        let mut names: Vec<_> =
            directory.path().read_dir().unwrap().map(|it| it.unwrap().file_name()).collect();
        names.sort_unstable();
        assert_eq!(names, ["catalog.db", "catalog.db-lock"]);

        // The log of a lost catalog must not become part of a new one.
        fs::remove_file(&path).unwrap();
        fs::write(beside(&path, "-wal"), "pages of the lost one").unwrap();
        let error = Catalog::open(&path, "test").unwrap_err();
        assert!(matches!(error, CatalogError::Damaged(_)), "{error}");
        assert!(!path.exists());
    }

    #[test]
    fn second_writer_learns_which_process_has_the_lock() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("catalog.db");
        let held = Catalog::open(&path, "scrub").unwrap();
        let error = Catalog::open(&path, "update").unwrap_err();
        let holder = format!("process {} (scrub)", std::process::id());
        assert!(error.to_string().contains(&holder), "{error}");
        drop(held);
        Catalog::open(&path, "update").unwrap();
    }

    #[test]
    fn other_files_are_refused_and_stay_as_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("other.db");
        let other = Connection::open(&path).unwrap();
        other.execute_batch("CREATE TABLE notes(x)").unwrap();
        drop(other);
        let before = fs::read(&path).unwrap();
        for error in [Catalog::open(&path, "test").unwrap_err(), Catalog::look(&path).unwrap_err()]
        {
            assert!(matches!(error, CatalogError::NotACatalog(_)), "{error}");
        }
        assert!(fs::read(&path).unwrap() == before);

        let words = directory.path().join("notes.txt");
        fs::write(&words, "my own notes\n".repeat(100)).unwrap();
        for error in
            [Catalog::open(&words, "test").unwrap_err(), Catalog::look(&words).unwrap_err()]
        {
            assert!(matches!(error, CatalogError::NotACatalog(_)), "{error}");
        }
        assert!(fs::read(&words).unwrap().starts_with(b"my own"));
    }

    #[test]
    fn newer_catalogs_and_hard_links_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("catalog.db");
        let catalog = Catalog::open(&path, "test").unwrap();
        catalog.db.pragma_update(None, "user_version", 99).unwrap();
        drop(catalog);
        for error in [Catalog::open(&path, "test").unwrap_err(), Catalog::look(&path).unwrap_err()]
        {
            assert!(matches!(error, CatalogError::Newer { found: 99, .. }), "{error}");
        }
        let path = directory.path().join("second.db");
        drop(Catalog::open(&path, "test").unwrap());
        fs::hard_link(&path, directory.path().join("third.db")).unwrap();
        for path in [path, directory.path().join("third.db")] {
            for error in
                [Catalog::open(&path, "test").unwrap_err(), Catalog::look(&path).unwrap_err()]
            {
                assert!(matches!(error, CatalogError::SeveralLinks(_)), "{error}");
            }
            assert!(!beside(&path, "-wal").exists() && !beside(&path, "-shm").exists());
        }
    }
}

//! Whether the catalog itself is as it was written, and copies of it that are.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::backup::Backup;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::catalog::Catalog;
use super::private::{beside, make_private};
use super::schema::{self, TABLES, VERSION};
use super::table::{self, Table};
use crate::CatalogError;

/// Wrong rows of a table that are told one by one.
const MOST: usize = 100;

impl Catalog {
    /// Tells everything that is wrong with the catalog: nothing if it is as it was written.
    ///
    /// SQLite's own check looks at the shape of the file, and finds two in three flipped bits at
    /// most. The seals of the rows find the others.
    ///
    /// # Errors
    /// The system's. What is wrong is no error.
    pub fn check(&self) -> Result<Vec<String>, CatalogError> {
        let mut wrong = Vec::new();
        for (what, found) in looks(&self.db) {
            match found {
                Ok(found) => wrong.extend(found),
                Err(error) if is_of_memory(&error) => return Err(error.into()),
                // What keeps anybody from looking is a finding, too.
                Err(error) => wrong.push(format!("{what} cannot be read: {error}")),
            }
        }
        Ok(wrong)
    }

    /// Writes a copy, looks at it as [`check`](Self::check) does, and brings it to the medium. The
    /// copy can be used as a catalog; a plain copy of the file lacks what is in its log.
    ///
    /// # Errors
    /// There is something at `to` already; this catalog is damaged; and the system's.
    pub fn backup(&self, to: &Path) -> Result<(), CatalogError> {
        let why = "is there already, and stays; name another file";
        let exists = || CatalogError::io(to)(std::io::Error::other(why));
        if fs::symlink_metadata(to).is_ok() {
            return Err(exists());
        }
        // A name of its own.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mark = format!(".{}-{}.unfinished", std::process::id(), since.as_nanos());
        let unfinished = beside(to, &mark);
        let made = self.copy_to(&unfinished).and_then(|()| {
            // What came meanwhile is not replaced.
            match renameat_with(CWD, &unfinished, CWD, to, RenameFlags::NOREPLACE) {
                // Of a file system that cannot rename so.
                Err(Errno::INVAL | Errno::NOSYS) => fs::hard_link(&unfinished, to),
                renamed => renamed.map_err(Into::into),
            }
            .map_err(CatalogError::io(to))
        });
        for end in ["", "-wal", "-shm"] {
            // Only the first is there as a rule.
            let _ = fs::remove_file(beside(&unfinished, end));
        }
        made.map_err(|error| match error {
            // Whoever calls knows the copy by its name alone.
            CatalogError::Io { path, error } if path == unfinished => CatalogError::io(to)(error),
            error => error,
        })?;
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder =
            fs::File::open(folder.unwrap_or(Path::new("."))).map_err(CatalogError::io(to))?;
        folder.sync_all().map_err(CatalogError::io(to))
    }

    fn copy_to(&self, path: &Path) -> Result<(), CatalogError> {
        // Else everybody may read the names of all files.
        drop(make_private(path).map_err(CatalogError::io(path))?);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        // What keeps it from being written or read is the medium's doing, not the catalog's.
        let of_medium = |error: rusqlite::Error| {
            if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) {
                return CatalogError::Damaged(error.to_string());
            }
            let words = format!("{error}; is there room for the copy?");
            CatalogError::io(path)(std::io::Error::other(words))
        };
        let mut copy = Connection::open_with_flags(path, flags).map_err(of_medium)?;
        Backup::new(&self.db, &mut copy)?
            .run_to_completion(10_000, std::time::Duration::ZERO, None)
            .map_err(of_medium)?;
        // The copy is one file, without a log, that a read-only medium can hold.
        copy.pragma_update(None, "journal_mode", "DELETE").map_err(of_medium)?;
        for (_, found) in looks(&copy) {
            if let Some(first) = found.map_err(of_medium)?.into_iter().next() {
                return Err(CatalogError::Damaged(first));
            }
        }
        drop(copy);
        let file = fs::File::open(path).map_err(CatalogError::io(path))?;
        file.sync_all().map_err(CatalogError::io(path))
    }
}

/// Whether this program had no room, which says nothing of the catalog.
fn is_of_memory(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::OutOfMemory)
}

/// All that is looked at, one after the other, each with what is wrong with it.
fn looks(db: &Connection) -> impl Iterator<Item = (String, rusqlite::Result<Vec<String>>)> {
    type Look = fn(&Connection) -> rusqlite::Result<Vec<String>>;
    let look = |(what, look): (&str, Look)| (what.to_owned(), look(db));
    let first: [(&str, Look); 2] = [("its shape", shape), ("its schema", schema)];
    let of_tables =
        table::ALL.iter().map(|table| (format!("the table {}", table.name), seals(db, table)));
    let last: [(&str, Look); 2] = [("its rows", belongings), ("the numbers of its rows", lost)];
    first.into_iter().map(look).chain(of_tables).chain(last.into_iter().map(look))
}

/// That indices and rows tell the same, before anything is taken for new: a row that its index does
/// not lead to would be cataloged anew, as it is.
pub(crate) fn require_shape(db: &Connection) -> Result<(), CatalogError> {
    match shape(db)?.into_iter().next() {
        Some(first) => Err(CatalogError::Damaged(first)),
        None => Ok(()),
    }
}

/// That no table has lost rows, before anything is called well. A count in a page that is a flipped
/// bit smaller hides rows, and what is hidden has no seal that is wrong. Each table is counted, and
/// held against its index, or against what belongs to its rows.
pub(crate) fn require_rows(db: &Connection) -> Result<(), CatalogError> {
    match lost(db)?.into_iter().next() {
        Some(first) => Err(CatalogError::Damaged(first)),
        None => Ok(()),
    }
}

fn lost(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut wrong = Vec::new();
    // The newest run and event, a pause and a sighting belong to no other row, and have no index:
    // what is lost of a page is room that it does not account for.
    for table in
        ["root", "setting", "total", "run", "chunk", "found", "pending", "deleted", "event"]
    {
        let found: String =
            db.query_row(&format!("PRAGMA quick_check({table})"), [], |row| row.get(0))?;
        if found != "ok" {
            wrong.push(format!("the table {table} is not whole: {found}"));
        }
    }
    for (what, sql) in [
        (
            "roots are lost, or their index has lost them",
            "SELECT (SELECT count(*) FROM root NOT INDEXED) != (SELECT count(*) FROM root \
             INDEXED BY sqlite_autoindex_root_1)",
        ),
        (
            "directories are lost, or their index has lost them",
            "SELECT (SELECT count(*) FROM directory NOT INDEXED) != (SELECT count(*) FROM \
             directory INDEXED BY sqlite_autoindex_directory_1)",
        ),
        // The table is the largest, and read once.
        (
            "files are lost, or their states, or their index has lost them",
            "WITH counts(files) AS MATERIALIZED (SELECT count(*) FROM file NOT INDEXED) \
             SELECT files != (SELECT count(*) FROM state) \
             OR files != (SELECT count(*) FROM file INDEXED BY sqlite_autoindex_file_1) FROM counts",
        ),
        (
            "a root is lost whose files are there",
            "SELECT EXISTS (SELECT 1 FROM directory WHERE root NOT IN (SELECT id FROM root))",
        ),
        // No number of a run or an event is ever left out.
        ("runs are lost", "SELECT count(*) != coalesce(max(id), 0) FROM run"),
        ("events are lost", "SELECT count(*) != coalesce(max(id), 0) FROM event"),
        (
            "runs are lost that found something, or read files",
            "SELECT (SELECT coalesce(max(id), 0) FROM run) < (SELECT coalesce(max(run), 0) FROM event) \
             OR EXISTS (SELECT 1 FROM file) AND NOT EXISTS (SELECT 1 FROM run)",
        ),
    ] {
        if db.query_row(sql, [], |row| row.get(0))? {
            wrong.push(what.to_owned());
        }
    }
    Ok(wrong)
}

fn shape(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = db.prepare("PRAGMA integrity_check")?;
    let lines = statement.query_map([], |row| row.get(0))?;
    let lines: Vec<String> = lines.collect::<rusqlite::Result<_>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

/// Tables, triggers and indices, to the letter.
fn schema(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let all = |db: &Connection| -> rusqlite::Result<Vec<[Option<String>; 4]>> {
        let sql = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name";
        let mut statement = db.prepare(sql)?;
        let items = statement
            .query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))?;
        items.collect()
    };
    let right = Connection::open_in_memory()?;
    right.execute_batch(TABLES)?;
    let mut wrong = Vec::new();
    if all(db)? != all(&right)? {
        wrong.push("its tables are not those that lanesum made".to_owned());
    }
    if schema::kind(db)? != schema::Kind::Catalog(VERSION) {
        wrong.push("it says that it is something else than a catalog of this version".to_owned());
    }
    Ok(wrong)
}

/// Every row against its seal.
fn seals(db: &Connection, table: &Table) -> rusqlite::Result<Vec<String>> {
    let name = table.name;
    let mut statement = db.prepare(&format!("SELECT {} FROM {name} t", table.select("t")))?;
    let mut rows = statement.query([])?;
    let (mut wrong, mut more) = (Vec::new(), 0_u64);
    while let Some(row) = rows.next()? {
        match table.verify(row, 0) {
            Ok(()) => {}
            Err(_) if wrong.len() >= MOST => more += 1,
            Err(CatalogError::Damaged(what)) => wrong.push(what),
            Err(error) => wrong.push(error.to_string()),
        }
    }
    if more > 0 {
        wrong.push(format!("and {more} more rows of the table {name}"));
    }
    Ok(wrong)
}

/// That no row belongs to one that is not there, and that sums are right.
fn belongings(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut wrong = Vec::new();
    for (what, sql) in [
        (
            "files have no directory",
            "SELECT count(*) FROM file WHERE directory NOT IN (SELECT id FROM directory)",
        ),
        (
            "files have no state, or that of another root",
            "SELECT count(*) FROM file f JOIN directory d ON d.id = f.directory \
             LEFT JOIN state s ON s.id = f.id WHERE s.root IS NOT d.root",
        ),
        (
            "roots have no settings, or settings no root",
            "SELECT count(*) FROM (SELECT id FROM root EXCEPT SELECT root FROM setting UNION ALL \
             SELECT root FROM setting EXCEPT SELECT id FROM root)",
        ),
        ("states have no file", "SELECT count(*) FROM state WHERE id NOT IN (SELECT id FROM file)"),
        (
            "files were found whose records are not there",
            "SELECT count(*) FROM found WHERE file NOT IN (SELECT id FROM file)",
        ),
        (
            "roots have other totals than their files",
            "SELECT count(*) FROM (SELECT root, count(*) AS files, sum(size) AS bytes \
             FROM directory d JOIN file f ON f.directory = d.id GROUP BY root) s \
             LEFT JOIN total t USING (root) WHERE s.files IS NOT t.files OR s.bytes IS NOT t.bytes",
        ),
    ] {
        let count: i64 = db.query_row(sql, [], |row| row.get(0))?;
        if count > 0 {
            wrong.push(format!("{count} {what}"));
        }
    }
    Ok(wrong)
}

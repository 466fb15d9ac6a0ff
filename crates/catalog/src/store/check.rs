//! Checks the catalog itself for damage, and copies it.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::backup::Backup;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::catalog::Catalog;
use super::private::{beside, make_private};
use super::schema::{self, TABLES, VERSION};
use super::table::{self, Table};
use crate::CatalogError;

/// The number of wrong rows of a table that are listed one by one.
const MOST: usize = 100;

/// The number of pages that a copy takes in one step.
const PAGES: i32 = 10_000;

impl Catalog {
    /// Lists all damage of the catalog.
    ///
    /// SQLite's own check looks at the structure of the file, and finds at most two in three
    /// flipped bits. The seals of the rows find the others.
    ///
    /// # Errors
    /// Errors of the system. Damage is in the result.
    pub fn check(&self) -> Result<Vec<String>, CatalogError> {
        let mut faults = Vec::new();
        for (part, found) in checks(&self.db) {
            match found {
                Ok(found) => faults.extend(found),
                // This program is out of memory, which says nothing about the catalog.
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::OutOfMemory) => {
                    return Err(error.into());
                }
                Err(error) => faults.push(format!("cannot check {part}: {error}")),
            }
        }
        Ok(faults)
    }

    /// Writes a copy, checks it like [`check`](Self::check), and syncs it to disk. The copy can be
    /// used as a catalog. A plain copy of the file would lack the changes in its log.
    ///
    /// # Errors
    /// A file exists at `to`, or this catalog is damaged. Also errors of the system.
    pub fn backup(&self, to: &Path) -> Result<(), CatalogError> {
        let exists = || CatalogError::io(to)(Errno::EXIST.into());
        if fs::symlink_metadata(to).is_ok() {
            return Err(exists());
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mark = format!(".{}-{}.unfinished", std::process::id(), since.as_nanos());
        let unfinished = beside(to, &mark);
        let made = self.copy_to(&unfinished).and_then(|()| {
            // Does not replace a file that another process created meanwhile.
            match renameat_with(CWD, &unfinished, CWD, to, RenameFlags::NOREPLACE) {
                // Some file systems have no such rename.
                Err(Errno::INVAL | Errno::NOSYS) => fs::hard_link(&unfinished, to),
                renamed => renamed.map_err(Into::into),
            }
            .map_err(CatalogError::io(to))
        });
        for end in ["", "-wal", "-shm"] {
            // Usually only the first one exists.
            let _ = fs::remove_file(beside(&unfinished, end));
        }
        made.map_err(|error| match error {
            // Users only know the final name of the copy.
            CatalogError::Io { path, error } if path == unfinished => CatalogError::io(to)(error),
            error => error,
        })?;
        let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = fs::File::open(parent.unwrap_or(Path::new(".")));
        parent.and_then(|parent| parent.sync_all()).map_err(CatalogError::io(to))
    }

    fn copy_to(&self, path: &Path) -> Result<(), CatalogError> {
        // SQLite would let all users read the file names.
        drop(make_private(path).map_err(CatalogError::io(path))?);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        // Other errors come from the disk of the copy.
        let of_copy = |error: rusqlite::Error| match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt) => CatalogError::Damaged(error.to_string()),
            Some(ErrorCode::DiskFull) => CatalogError::io(path)(Errno::NOSPC.into()),
            _ => CatalogError::io(path)(io::Error::other(error.to_string())),
        };
        let mut copy = Connection::open_with_flags(path, flags).map_err(of_copy)?;
        Backup::new(&self.db, &mut copy)?
            .run_to_completion(PAGES, Duration::ZERO, None)
            .map_err(of_copy)?;
        // The copy is one file without a log, so that a read-only disk can hold it.
        copy.pragma_update(None, "journal_mode", "DELETE").map_err(of_copy)?;
        for (_, found) in checks(&copy) {
            if let Some(first) = found.map_err(of_copy)?.into_iter().next() {
                return Err(CatalogError::Damaged(first));
            }
        }
        drop(copy);
        let file = fs::File::open(path);
        file.and_then(|file| file.sync_all()).map_err(CatalogError::io(path))
    }
}

/// Runs all checks in order. Yields the name of each part with its faults.
fn checks(db: &Connection) -> impl Iterator<Item = (String, rusqlite::Result<Vec<String>>)> {
    type Check = fn(&Connection) -> rusqlite::Result<Vec<String>>;
    let run = |(part, check): (&str, Check)| (part.to_owned(), check(db));
    let first: [(&str, Check); 2] = [("the structure", structure), ("the schema", schema)];
    let of_tables =
        table::ALL.iter().map(|table| (format!("the table {}", table.name), seals(db, table)));
    let last: [(&str, Check); 2] = [("references", references), ("the numbers of rows", lost)];
    first.into_iter().map(run).chain(of_tables).chain(last.into_iter().map(run))
}

/// Checks that tables and indices agree, before a file is recorded as new. A record that its index
/// does not find would be recorded again, with the current content of the file.
pub(crate) fn require_shape(db: &Connection) -> Result<(), CatalogError> {
    none_of(structure(db)?)
}

/// Checks that no table has lost rows, before a file counts as ok. If a bit flips in the number of
/// rows of a page, some rows are hidden, and hidden rows have no wrong seal. So the rows of each
/// table are counted, and compared with its index or with related rows.
pub(crate) fn require_rows(db: &Connection) -> Result<(), CatalogError> {
    none_of(lost(db)?)
}

fn none_of(faults: Vec<String>) -> Result<(), CatalogError> {
    faults.into_iter().next().map_or(Ok(()), |first| Err(CatalogError::Damaged(first)))
}

/// Checks the same for all tables except `file` and `state`, for callers that count the states.
///
/// # Errors
/// [`CatalogError::Damaged`].
pub(crate) fn require_rows_but_files(db: &Connection) -> Result<(), CatalogError> {
    none_of(lost_but_files(db)?)
}

fn lost(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut faults = lost_but_files(db)?;
    // The table is the largest, and read once.
    let sql = "WITH counts(files) AS MATERIALIZED (SELECT count(*) FROM file NOT INDEXED) \
               SELECT files != (SELECT count(*) FROM state) \
               OR files != (SELECT count(*) FROM file INDEXED BY sqlite_autoindex_file_1) FROM counts";
    if db.query_row(sql, [], |row| row.get(0))? {
        faults.push("the table file and its index or the table state differ".to_owned());
    }
    Ok(faults)
}

/// Checks all tables except the two large ones.
fn lost_but_files(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut faults = Vec::new();
    // No index counts the rows of these tables. SQLite notices the gap that a lost row leaves in
    // its page.
    for table in
        ["root", "setting", "total", "run", "chunk", "found", "pending", "deleted", "event"]
    {
        let sql = format!("PRAGMA quick_check({table})");
        let found: String = db.query_row(&sql, [], |row| row.get(0))?;
        if found != "ok" {
            faults.push(format!("the table {table} is damaged: {found}"));
        }
    }
    for (fault, sql) in [
        (
            "the table root and its index differ",
            "SELECT (SELECT count(*) FROM root NOT INDEXED) != (SELECT count(*) FROM root \
             INDEXED BY sqlite_autoindex_root_1)",
        ),
        (
            "the table directory and its index differ",
            "SELECT (SELECT count(*) FROM directory NOT INDEXED) != (SELECT count(*) FROM \
             directory INDEXED BY sqlite_autoindex_directory_1)",
        ),
        (
            "directories have no root",
            "SELECT EXISTS (SELECT 1 FROM directory WHERE root NOT IN (SELECT id FROM root))",
        ),
        // The numbers of runs and events have no gaps.
        ("runs are missing", "SELECT count(*) != coalesce(max(id), 0) FROM run"),
        ("events are missing", "SELECT count(*) != coalesce(max(id), 0) FROM event"),
        (
            "the newest runs are missing",
            "SELECT (SELECT coalesce(max(id), 0) FROM run) < (SELECT coalesce(max(run), 0) FROM event) \
             OR EXISTS (SELECT 1 FROM file) AND NOT EXISTS (SELECT 1 FROM run)",
        ),
    ] {
        if db.query_row(sql, [], |row| row.get(0))? {
            faults.push(fault.to_owned());
        }
    }
    Ok(faults)
}

fn structure(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = db.prepare("PRAGMA integrity_check")?;
    let lines = statement.query_map([], |row| row.get(0))?;
    let lines: Vec<String> = lines.collect::<rusqlite::Result<_>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

/// Compares the text of tables, triggers and indices.
fn schema(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let all = |db: &Connection| -> rusqlite::Result<Vec<[Option<String>; 4]>> {
        let sql = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name";
        let mut statement = db.prepare(sql)?;
        let items = statement
            .query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))?;
        items.collect()
    };
    let expected = Connection::open_in_memory()?;
    expected.execute_batch(TABLES)?;
    let mut faults = Vec::new();
    if all(db)? != all(&expected)? {
        faults.push("the schema is not the one that lanesum created".to_owned());
    }
    if schema::kind(db)? != schema::Kind::Catalog(VERSION) {
        faults.push("the file is not marked as a catalog of this version".to_owned());
    }
    Ok(faults)
}

/// Compares every row with its seal.
fn seals(db: &Connection, table: &Table) -> rusqlite::Result<Vec<String>> {
    let name = table.name;
    let mut statement = db.prepare(&format!("SELECT {} FROM {name} t", table.select("t")))?;
    let mut rows = statement.query([])?;
    let (mut faults, mut more) = (Vec::new(), 0_u64);
    while let Some(row) = rows.next()? {
        match table.verify(row, 0) {
            Ok(()) => {}
            Err(_) if faults.len() >= MOST => more += 1,
            Err(CatalogError::Damaged(fault)) => faults.push(fault),
            Err(error) => faults.push(error.to_string()),
        }
    }
    if more > 0 {
        faults.push(format!("and {more} more rows of the table `{name}`"));
    }
    Ok(faults)
}

/// Finds rows that belong to missing rows, and wrong totals.
fn references(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut faults = Vec::new();
    for (fault, sql) in [
        (
            "files without a directory",
            "SELECT count(*) FROM file WHERE directory NOT IN (SELECT id FROM directory)",
        ),
        (
            "files without a state, or with that of another directory",
            "SELECT count(*) FROM file f JOIN directory d ON d.id = f.directory \
             LEFT JOIN state s ON s.id = f.id WHERE s.root IS NOT d.root",
        ),
        (
            "directories without settings, or settings without a directory",
            "SELECT count(*) FROM root r FULL JOIN setting s ON s.root = r.id \
             WHERE r.id IS NULL OR s.root IS NULL",
        ),
        ("states of no file", "SELECT count(*) FROM state WHERE id NOT IN (SELECT id FROM file)"),
        (
            "found contents without a file",
            "SELECT count(*) FROM found WHERE file NOT IN (SELECT id FROM file)",
        ),
        (
            "partly read files without a record",
            "SELECT count(*) FROM chunk WHERE file NOT IN (SELECT id FROM file)",
        ),
        (
            "directories with wrong totals",
            "SELECT count(*) FROM (SELECT root, count(*) AS files, sum(size) AS bytes \
             FROM directory d JOIN file f ON f.directory = d.id GROUP BY root) s \
             FULL JOIN total t USING (root) \
             WHERE coalesce(s.files, 0) != coalesce(t.files, 0) \
             OR coalesce(s.bytes, 0) != coalesce(t.bytes, 0)",
        ),
    ] {
        let count: i64 = db.query_row(sql, [], |row| row.get(0))?;
        if count > 0 {
            faults.push(format!("{fault}: {count}"));
        }
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Content, Finding};
    use crate::settings::Settings;
    use crate::store::batch::{Batch, Found, Insert};
    use crate::store::rows::State;
    use crate::store::run::RunRow;
    use crate::{Class, Stat};

    /// A catalog with a root, two files, two runs and two entries of the log.
    fn recorded(directory: &Path) -> Catalog {
        let tree = directory.join("tree");
        fs::create_dir_all(&tree).unwrap();
        fs::write(tree.join("a"), "a").unwrap();
        let mut catalog = Catalog::open(&directory.join("catalog.db"), "test").unwrap();
        let root = catalog.add_roots(&[(&tree, Settings::default())]).unwrap()[0].id();
        let md5 = lanesum_list::Algorithm::Md5.into();
        for (id, path) in [(1, "a"), (2, "d/b")] {
            let digests = lanesum_checksum::digests_of(md5, None, path.as_bytes()).unwrap();
            let mut batch = Batch::new(&catalog.db).unwrap();
            let stat = Stat { size: 5, ..Stat::default() };
            let found = Some(Found { content: Content::new(&stat, &digests), error: None });
            let (path, state) = (path.into(), State::ok(0, root, 100));
            batch.event(root, 100, Finding::new(Class::New, None, Vec::clone(&path)));
            batch.insert(Insert { root, path, stat, is_settled: true, digests, state, found });
            let run = RunRow { id, root, verb: "add".to_owned(), ..RunRow::default() };
            batch.commit(&mut catalog.db, [&run], |_| Ok(())).unwrap();
        }
        catalog
    }

    #[test]
    fn each_fault_is_named() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(recorded(directory.path()).check().unwrap(), [""; 0]);
        for (sql, fault, is_lost) in [
            (
                "DELETE FROM state WHERE id = 1",
                "files without a state, or with that of another directory: 1",
                true,
            ),
            (
                "UPDATE state SET root = 9 WHERE id = 1",
                "files without a state, or with that of another directory: 1",
                false,
            ),
            ("UPDATE state SET verified = 9", "row 2 of the table `state` has a wrong seal", false),
            ("DELETE FROM file WHERE id = 1", "states of no file: 1", true),
            ("DELETE FROM file WHERE id = 1", "found contents without a file: 1", true),
            ("DELETE FROM file WHERE id = 1", "directories with wrong totals: 1", true),
            ("DELETE FROM directory WHERE id = 1", "files without a directory: 1", false),
            ("DELETE FROM total", "directories with wrong totals: 1", false),
            (
                "DELETE FROM setting",
                "directories without settings, or settings without a directory: 1",
                false,
            ),
            ("DELETE FROM root", "directories have no root", true),
            ("DELETE FROM run WHERE id = 1", "runs are missing", true),
            ("DELETE FROM run WHERE id = 2", "the newest runs are missing", true),
            ("DROP INDEX file_inode", "the schema is not the one that lanesum created", false),
            ("PRAGMA user_version = 0", "the file is not marked as a catalog", false),
            (
                "DROP TRIGGER event_is_not_deleted; DELETE FROM event WHERE id = 1",
                "events are missing",
                true,
            ),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let catalog = recorded(directory.path());
            catalog.db.execute_batch(sql).unwrap();
            let faults = catalog.check().unwrap();
            assert!(faults.iter().any(|it| it.contains(fault)), "{sql}: {faults:?}");
            assert_eq!(require_rows(&catalog.db).is_err(), is_lost, "{sql}");
            let to = directory.path().join("copy");
            let copied = catalog.backup(&to);
            assert!(matches!(copied, Err(CatalogError::Damaged(_))) && !to.exists(), "{sql}");
        }
    }

    #[test]
    fn backup_is_a_catalog_and_replaces_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let catalog = recorded(directory.path());
        let to = directory.path().join("copy");
        catalog.backup(&to).unwrap();
        let copy = Catalog::look(&to).unwrap();
        assert_eq!((copy.check().unwrap(), copy.roots().unwrap().len()), (vec![], 1));
        drop(copy);
        let error = catalog.backup(&to).unwrap_err();
        assert!(error.to_string().ends_with("copy: File exists"), "{error}");
        let names = fs::read_dir(directory.path()).unwrap().map(|it| it.unwrap().file_name());
        assert!(!names.into_iter().any(|it| it.to_string_lossy().contains("unfinished")));
    }
}

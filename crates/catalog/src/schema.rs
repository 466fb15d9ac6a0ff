//! What a catalog's file is: its tables, its version, and how an older one becomes this one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, TransactionBehavior};

use crate::{CatalogError, sighting};

/// `LnSu`: what tells a catalog from the databases of other programs.
pub(crate) const APPLICATION: i64 = 0x4C6E_5375;

/// The steps from nothing to the newest version: the first makes version 1 of nothing, and so on.
///
/// A good check leaves no row behind: `state.checked` and the counts of its run prove it. What is
/// not as it was is an event, and events are never altered. `state` is apart from `file` since a
/// check of everything then writes a sixth of the pages. Paths of folders are below their root, end
/// in `/` but for that of the root itself, which is empty, and so sort as a walk enters them.
pub(crate) const STEPS: &[&str] = &["
CREATE TABLE meta(key TEXT PRIMARY KEY, value BLOB NOT NULL, seal INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE root(id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, volume TEXT NOT NULL,
  inode INTEGER NOT NULL, algorithms INTEGER NOT NULL, inodes_last INTEGER NOT NULL,
  period INTEGER NOT NULL, max_gone INTEGER NOT NULL, suspended TEXT, bytes INTEGER NOT NULL,
  seal INTEGER NOT NULL) STRICT;
CREATE TABLE folder(id INTEGER PRIMARY KEY, root INTEGER NOT NULL, path BLOB NOT NULL,
  seal INTEGER NOT NULL, UNIQUE(root, path)) STRICT;
CREATE TABLE file(id INTEGER PRIMARY KEY, folder INTEGER NOT NULL, name BLOB NOT NULL,
  size INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL, inode INTEGER NOT NULL,
  settled INTEGER NOT NULL, algorithms INTEGER NOT NULL, digests BLOB NOT NULL,
  seal INTEGER NOT NULL, UNIQUE(folder, name)) STRICT;
CREATE TABLE state(id INTEGER PRIMARY KEY, root INTEGER NOT NULL, checked INTEGER NOT NULL,
  status INTEGER NOT NULL, seal INTEGER NOT NULL) STRICT;
CREATE TABLE run(id INTEGER PRIMARY KEY, verb TEXT NOT NULL, root INTEGER NOT NULL,
  started INTEGER NOT NULL, ended INTEGER, outcome TEXT, counts TEXT, files INTEGER NOT NULL,
  bytes INTEGER NOT NULL, seal INTEGER NOT NULL) STRICT;
CREATE TABLE event(id INTEGER PRIMARY KEY, run INTEGER NOT NULL, at INTEGER NOT NULL,
  root INTEGER NOT NULL, path BLOB NOT NULL, class TEXT NOT NULL, other BLOB,
  files INTEGER NOT NULL, before TEXT, after TEXT, seal INTEGER NOT NULL) STRICT;
CREATE TRIGGER event_is_not_altered BEFORE UPDATE ON event
  BEGIN SELECT RAISE(ABORT, 'events are never altered'); END;
CREATE TRIGGER event_is_not_removed BEFORE DELETE ON event
  BEGIN SELECT RAISE(ABORT, 'events are never removed'); END;
CREATE TABLE old_digest(id INTEGER PRIMARY KEY, file INTEGER NOT NULL, until INTEGER NOT NULL,
  size INTEGER NOT NULL, mtime INTEGER NOT NULL, algorithms INTEGER NOT NULL,
  digests BLOB NOT NULL, seal INTEGER NOT NULL) STRICT;
", "
CREATE TABLE manner(root INTEGER PRIMARY KEY, rate INTEGER, opens INTEGER, closes INTEGER,
  paused INTEGER, asked INTEGER, seal INTEGER NOT NULL) STRICT;
", "
CREATE TABLE stretch(file INTEGER PRIMARY KEY, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL,
  inode INTEGER NOT NULL, began INTEGER NOT NULL, midstate BLOB NOT NULL, seal INTEGER NOT NULL) STRICT;
CREATE INDEX long_file ON file(id) WHERE size >= 536870912;
", SIGHTINGS];

/// The step behind which what rows alone know of damage is taken up.
const SIGHTINGS: &str = "
CREATE TABLE sighting(id INTEGER PRIMARY KEY, root INTEGER NOT NULL, inode INTEGER NOT NULL,
  size INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL, file INTEGER NOT NULL,
  place BLOB NOT NULL, checked INTEGER NOT NULL, status INTEGER NOT NULL,
  good_size INTEGER NOT NULL, good_mtime INTEGER NOT NULL, algorithms INTEGER NOT NULL,
  digests BLOB NOT NULL, seal INTEGER NOT NULL) STRICT;
";

/// What is known of a file before anything in it is touched.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing is in it yet.
    Empty,
    /// A catalog of this version.
    Catalog(i64),
    Other,
}

pub(crate) fn kind(db: &Connection) -> rusqlite::Result<Kind> {
    let number = |pragma| db.query_row(pragma, [], |row| row.get::<_, i64>(0));
    let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (number("PRAGMA application_id")?, number("PRAGMA user_version")?) {
        (APPLICATION, version) if version > 0 => Kind::Catalog(version),
        (0, 0) if tables == 0 => Kind::Empty,
        _ => Kind::Other,
    })
}

/// Brings a catalog to the newest version, a step a transaction. What is not new is copied before.
///
/// # Errors
/// It is a newer program's; or a step failed, and then the file is as it was before that step.
pub(crate) fn migrate(
    db: &mut Connection,
    path: &Path,
    version: i64,
    steps: &[&str],
) -> Result<(), CatalogError> {
    let known = steps.len() as i64;
    if version > known {
        return Err(CatalogError::Newer { found: version, known });
    }
    if version > 0 && version < known {
        let copy = copy_before(path, version);
        // One that is there is of an earlier try, and as good.
        if !copy.exists() {
            let name = copy.to_str().ok_or_else(|| {
                let why =
                    "its name is no UTF-8, so no copy can be made of it before it is migrated";
                CatalogError::io(path)(std::io::Error::other(why))
            })?;
            db.execute("VACUUM INTO ?1", [name])?;
        }
    }
    for (place, step) in steps.iter().enumerate().skip(version.try_into().unwrap_or(0)) {
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(step)?;
        if *step == SIGHTINGS {
            sighting::take_up(&transaction)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", place as i64 + 1)?;
        transaction.commit()?;
    }
    Ok(())
}

/// Where the copy of an older version is.
fn copy_before(path: &Path, version: i64) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!(".version{version}"));
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    fn columns(db: &Connection, table: &str) -> Vec<String> {
        let mut names = db.prepare("SELECT name FROM pragma_table_info(?1)").unwrap();
        let names = names.query_map([table], |row| row.get(0)).unwrap();
        names.map(Result::unwrap).collect()
    }

    #[test]
    fn tables_have_the_columns_that_are_sealed() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, Path::new("none"), 0, STEPS).unwrap();
        assert_eq!(kind(&db).unwrap(), Kind::Catalog(STEPS.len() as i64));
        for table in table::ALL {
            let expected: Vec<_> = table.columns.iter().copied().chain(["seal"]).collect();
            assert_eq!(columns(&db, table.name), expected, "{}", table.name);
        }
        let names: i64 = db
            .query_row("SELECT count(*) FROM sqlite_schema WHERE type = 'table'", [], |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(names as usize, table::ALL.len());
    }

    #[test]
    fn an_older_catalog_is_copied_and_migrated_and_a_newer_one_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.db");
        let steps = ["CREATE TABLE a(x) STRICT;", "CREATE TABLE b(x INTEGER) STRICT;"];
        let steps = [steps[0].replace("x)", "x INTEGER)"), steps[1].to_owned()];
        let steps = [&*steps[0], &*steps[1]];
        let mut db = Connection::open(&path).unwrap();
        migrate(&mut db, &path, 0, &steps[..1]).unwrap();
        db.execute("INSERT INTO a VALUES (7)", []).unwrap();
        assert!(!copy_before(&path, 1).exists(), "nothing was there to be copied");

        migrate(&mut db, &path, 1, &steps).unwrap();
        assert_eq!(kind(&db).unwrap(), Kind::Catalog(2));
        let copy = Connection::open(copy_before(&path, 1)).unwrap();
        assert_eq!(kind(&copy).unwrap(), Kind::Catalog(1));
        let kept: i64 = copy.query_row("SELECT x FROM a", [], |row| row.get(0)).unwrap();
        assert_eq!(kept, 7);

        let refused = migrate(&mut db, &path, 2, &steps[..1]).unwrap_err();
        assert!(matches!(refused, CatalogError::Newer { found: 2, known: 1 }), "{refused}");
    }

    #[test]
    fn a_step_that_fails_leaves_the_file_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.db");
        let mut db = Connection::open(&path).unwrap();
        migrate(&mut db, &path, 0, STEPS).unwrap();
        let known = STEPS.len() as i64;
        let step = "CREATE TABLE more(x INTEGER) STRICT; CREATE TABLE meta(y INTEGER);";
        let steps: Vec<_> = STEPS.iter().copied().chain([step]).collect();
        migrate(&mut db, &path, known, &steps).unwrap_err();
        assert_eq!(kind(&db).unwrap(), Kind::Catalog(known));
        assert!(columns(&db, "more").is_empty());
    }
}

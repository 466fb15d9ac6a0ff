//! The tables of a catalog.

use rusqlite::{Connection, TransactionBehavior};

use crate::CatalogError;

/// `LnSu`, which identifies a database as a catalog.
pub(crate) const APPLICATION: i64 = 0x4C6E_5375;

/// The version of these tables.
pub(crate) const VERSION: i64 = 1;

/// State is stored in columns. `event` is a log that no decision reads.
///
/// `state` is a separate table, so that a verification of all files writes only a sixth of the
/// pages. Paths of directories are relative to their root and end in `/`, so they sort in the order
/// of a walk. The path of the root itself is empty. A change time is stored as its distance from
/// the modification time, which is short for a file that was written in place. `found` has the
/// content that was read at the path of a damaged or edited file. `pending` has new and moved files
/// of the last scan.
pub(crate) const TABLES: &str = "
CREATE TABLE meta(key TEXT PRIMARY KEY, value BLOB NOT NULL, seal INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE root(id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, volume TEXT NOT NULL,
  inode INTEGER NOT NULL, stable_inodes INTEGER NOT NULL, complete INTEGER NOT NULL,
  offline INTEGER NOT NULL, offline_since INTEGER NOT NULL, missing INTEGER NOT NULL,
  seal INTEGER NOT NULL) STRICT;
CREATE TABLE total(root INTEGER PRIMARY KEY, files INTEGER NOT NULL, bytes INTEGER NOT NULL,
  seal INTEGER NOT NULL) STRICT;
CREATE TABLE setting(root INTEGER PRIMARY KEY, profile INTEGER NOT NULL,
  algorithms INTEGER NOT NULL, period INTEGER NOT NULL, max_gone INTEGER NOT NULL,
  exclude BLOB NOT NULL, default_excludes INTEGER NOT NULL, rate INTEGER, opens INTEGER,
  closes INTEGER, paused INTEGER, requested INTEGER, everything INTEGER NOT NULL,
  seal INTEGER NOT NULL) STRICT;
CREATE TABLE directory(id INTEGER PRIMARY KEY, root INTEGER NOT NULL, path BLOB NOT NULL,
  seal INTEGER NOT NULL, UNIQUE(root, path)) STRICT;
CREATE TABLE file(id INTEGER PRIMARY KEY, directory INTEGER NOT NULL, name BLOB NOT NULL,
  size INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime_after_mtime INTEGER NOT NULL,
  inode INTEGER NOT NULL, settled INTEGER NOT NULL, algorithms INTEGER NOT NULL,
  digests BLOB NOT NULL, seal INTEGER NOT NULL, UNIQUE(directory, name)) STRICT;
CREATE INDEX file_inode ON file(inode);
CREATE INDEX long_file ON file(id) WHERE size >= 536870912;
CREATE TABLE state(id INTEGER PRIMARY KEY, root INTEGER NOT NULL, verified INTEGER NOT NULL,
  class INTEGER NOT NULL, reason INTEGER NOT NULL, since INTEGER NOT NULL,
  seal INTEGER NOT NULL) STRICT;
CREATE TABLE found(file INTEGER PRIMARY KEY, size INTEGER NOT NULL, mtime INTEGER NOT NULL,
  algorithms INTEGER NOT NULL, digests BLOB NOT NULL, error TEXT, seal INTEGER NOT NULL) STRICT;
CREATE TABLE pending(id INTEGER PRIMARY KEY, root INTEGER NOT NULL, class INTEGER NOT NULL,
  reason INTEGER NOT NULL, path BLOB NOT NULL, file INTEGER NOT NULL, size INTEGER NOT NULL,
  mtime INTEGER NOT NULL, inode INTEGER NOT NULL, files INTEGER NOT NULL, error TEXT,
  seal INTEGER NOT NULL) STRICT;
CREATE TABLE deleted(id INTEGER PRIMARY KEY, root INTEGER NOT NULL, path BLOB NOT NULL,
  at INTEGER NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL,
  algorithms INTEGER NOT NULL, digests BLOB NOT NULL, seal INTEGER NOT NULL) STRICT;
CREATE TABLE run(id INTEGER PRIMARY KEY, root INTEGER NOT NULL, verb TEXT NOT NULL,
  scope INTEGER NOT NULL, started INTEGER NOT NULL, ended INTEGER, outcome INTEGER NOT NULL, files INTEGER NOT NULL,
  bytes INTEGER NOT NULL, spent INTEGER NOT NULL, ok INTEGER NOT NULL, edited INTEGER NOT NULL,
  new INTEGER NOT NULL, moved INTEGER NOT NULL, missing INTEGER NOT NULL,
  damaged INTEGER NOT NULL, unchecked INTEGER NOT NULL, offline INTEGER NOT NULL,
  seal INTEGER NOT NULL) STRICT;
CREATE TABLE event(id INTEGER PRIMARY KEY, run INTEGER NOT NULL, at INTEGER NOT NULL,
  root INTEGER NOT NULL, path BLOB NOT NULL, class INTEGER NOT NULL, reason INTEGER NOT NULL,
  was INTEGER, other BLOB, files INTEGER NOT NULL, old_size INTEGER, old_mtime INTEGER,
  old_algorithms INTEGER, old_digests BLOB, new_size INTEGER, new_mtime INTEGER,
  new_algorithms INTEGER, new_digests BLOB, error TEXT, seal INTEGER NOT NULL) STRICT;
CREATE TRIGGER event_is_not_changed BEFORE UPDATE ON event
  BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER event_is_not_deleted BEFORE DELETE ON event
  BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
CREATE TABLE chunk(file INTEGER PRIMARY KEY, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL,
  inode INTEGER NOT NULL, began INTEGER NOT NULL, midstate BLOB NOT NULL,
  seal INTEGER NOT NULL) STRICT;
";

/// The kind of a database file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It has no tables yet.
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

/// Creates the tables in an empty file.
///
/// # Errors
/// Errors of SQLite. The file stays empty then.
pub(crate) fn make(db: &mut Connection) -> Result<(), CatalogError> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(TABLES)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(transaction.commit()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::table;

    #[test]
    fn tables_have_the_columns_that_are_sealed() {
        let mut db = Connection::open_in_memory().unwrap();
        make(&mut db).unwrap();
        assert_eq!(kind(&db).unwrap(), Kind::Catalog(VERSION));
        for table in table::ALL {
            let mut names = db.prepare("SELECT name FROM pragma_table_info(?1)").unwrap();
            let names = names.query_map([table.name], |row| row.get(0)).unwrap();
            let names: Vec<String> = names.map(Result::unwrap).collect();
            let expected: Vec<_> = table.columns.iter().copied().chain(["seal"]).collect();
            assert_eq!(names, expected, "{}", table.name);
        }
        let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table'";
        let tables: i64 = db.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(tables as usize, table::ALL.len());
    }
}

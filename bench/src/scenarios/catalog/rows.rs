//! What no catalog in SQLite can be faster than: the rows of all files put down by SQLite alone,
//! with neither seals nor a look at what is there already.

use std::fs::{self, DirEntry};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result};
use rusqlite::{Connection, params_from_iter, types::Value};

/// As the catalog's own, in `crates/catalog/src/store/schema.rs`.
const TABLES: &str = "
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE file(id INTEGER PRIMARY KEY, directory INTEGER NOT NULL, name BLOB NOT NULL,
  size INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime_after_mtime INTEGER NOT NULL,
  inode INTEGER NOT NULL, settled INTEGER NOT NULL, algorithms INTEGER NOT NULL,
  digests BLOB NOT NULL, seal INTEGER NOT NULL, UNIQUE(directory, name)) STRICT;
CREATE INDEX file_inode ON file(inode);
CREATE TABLE state(id INTEGER PRIMARY KEY, root INTEGER NOT NULL, verified INTEGER NOT NULL,
  class INTEGER NOT NULL, reason INTEGER NOT NULL, since INTEGER NOT NULL,
  seal INTEGER NOT NULL) STRICT;
";

/// Rows of a statement, and of a transaction, as the catalog has them.
const TOGETHER: usize = 64;
const MOST: usize = 10_000;

/// The rows of a folder's files, and where they are put.
pub struct Rows {
    database: PathBuf,
    files: Vec<Vec<Value>>,
    states: Vec<Vec<Value>>,
}

impl Rows {
    /// Of the files in the folders of `folder`, in byte order. What stands for a digest is as long
    /// as one of MD5.
    pub fn of(folder: &Path, database: PathBuf) -> Result<Self> {
        let mut rows = Self { database, files: Vec::new(), states: Vec::new() };
        for (number, folder) in (1..).zip(sorted(folder)?) {
            for entry in sorted(&folder.path())? {
                rows.add(number, &entry)?;
            }
        }
        Ok(rows)
    }

    fn add(&mut self, folder: i64, entry: &DirEntry) -> Result<()> {
        let stat = entry.metadata()?;
        let id = Value::from(self.files.len() as i64 + 1);
        let time = |seconds: i64, nanoseconds| seconds * 1_000_000_000 + nanoseconds;
        let modified = time(stat.mtime(), stat.mtime_nsec());
        let changed = time(stat.ctime(), stat.ctime_nsec());
        let digest = u128::from(stat.ino()).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        let seal = Value::from(i64::from(digest as i32));
        self.files.push(vec![
            id.clone(),
            Value::from(folder),
            Value::from(entry.file_name().as_bytes().to_vec()),
            Value::from(stat.size().cast_signed()),
            Value::from(modified),
            Value::from(changed - modified),
            Value::from(stat.ino().cast_signed()),
            Value::from(1),
            Value::from(1),
            Value::from(digest.to_le_bytes().to_vec()),
            seal.clone(),
        ]);
        let (verified, zero) = (Value::from(stat.mtime()), Value::from(0));
        let state = [id, Value::from(1), verified, zero.clone(), zero.clone(), zero, seal];
        self.states.push(state.to_vec());
        Ok(())
    }

    /// Puts them into a new database, and says how many seconds that took.
    pub fn put(&self) -> Result<f64> {
        for end in ["", "-wal", "-shm"] {
            let mut name = self.database.clone().into_os_string();
            name.push(end);
            match fs::remove_file(name) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error.into());
                }
                _ => {}
            }
        }
        let start = Instant::now();
        let mut db = Connection::open(&self.database)?;
        db.execute_batch(TABLES)?;
        for (files, states) in self.files.chunks(MOST).zip(self.states.chunks(MOST)) {
            let transaction = db.transaction()?;
            for (table, rows) in [("file", files), ("state", states)] {
                for rows in rows.chunks(TOGETHER) {
                    let one = format!("({})", vec!["?"; rows[0].len()].join(", "));
                    let sql = format!(
                        "INSERT INTO {table} VALUES {}",
                        vec![&*one; rows.len()].join(", ")
                    );
                    let mut statement = transaction.prepare_cached(&sql)?;
                    statement.execute(params_from_iter(rows.iter().flatten()))?;
                }
            }
            transaction.commit()?;
        }
        db.close().map_err(|(_, error)| error)?;
        Ok(start.elapsed().as_secs_f64())
    }

    /// How many there are in the database.
    pub fn count(&self) -> Result<usize> {
        let db = Connection::open(&self.database)?;
        let count = "SELECT count(*) FROM file JOIN state USING (id)";
        Ok(db.query_row(count, [], |row| row.get::<_, i64>(0))?.try_into()?)
    }
}

/// What is in a folder, by names.
fn sorted(folder: &Path) -> Result<Vec<DirEntry>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
    entries.sort_unstable_by_key(DirEntry::file_name);
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_as_the_catalogs_own() {
        let schema = include_str!("../../../../crates/catalog/src/store/schema.rs");
        let tables: Vec<_> =
            TABLES.split_inclusive(";\n").filter(|it| it.contains("TABLE")).collect();
        assert_eq!(tables.len(), 2, "{tables:?}");
        assert!(tables.iter().all(|table| schema.contains(table)), "{tables:?}");
    }
}

//! The tables. Every row is written with its seal, and verified when it is read.

use std::fmt::Write as _;
use std::sync::OnceLock;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, Params, Row, ToSql};

use super::seal;
use crate::CatalogError;

/// A table. Its last column is the seal of the others.
pub(crate) struct Table {
    /// The first byte that its seals cover.
    number: u8,
    pub(crate) name: &'static str,
    /// All columns except the seal, the key first.
    pub(crate) columns: &'static [&'static str],
    put: OnceLock<String>,
}

macro_rules! tables {
    ($($name:ident $number:literal $table:literal [$($column:literal)+];)+) => {
        $(pub(crate) static $name: Table = Table {
            number: $number, name: $table, columns: &[$($column),+], put: OnceLock::new(),
        };)+

        /// Every table.
        pub(crate) static ALL: &[&Table] = &[$(&$name),+];
    };
}

tables! {
    META 1 "meta" ["key" "value"];
    ROOT 2 "root" ["id" "path" "volume" "inode" "stable_inodes" "complete" "offline"
        "offline_since" "missing"];
    TOTAL 13 "total" ["root" "files" "bytes"];
    SETTING 3 "setting" ["root" "profile" "algorithms" "period" "max_gone" "exclude"
        "default_excludes" "rate" "opens" "closes" "paused" "requested" "everything"];
    DIRECTORY 4 "directory" ["id" "root" "path"];
    FILE 5 "file" ["id" "directory" "name" "size" "mtime" "ctime_after_mtime" "inode" "settled"
        "algorithms" "digests"];
    STATE 6 "state" ["id" "root" "verified" "class" "reason" "since"];
    FOUND 7 "found" ["file" "size" "mtime" "algorithms" "digests" "error"];
    PENDING 8 "pending" ["id" "root" "class" "reason" "path" "file" "size" "mtime" "inode" "files"
        "error"];
    DELETED 9 "deleted" ["id" "root" "path" "at" "size" "mtime" "algorithms" "digests"];
    RUN 10 "run" ["id" "root" "verb" "scope" "started" "ended" "outcome" "files" "bytes" "spent" "ok"
        "edited" "new" "moved" "missing" "damaged" "unchecked" "offline"];
    EVENT 11 "event" ["id" "run" "at" "root" "path" "class" "reason" "was" "other" "files"
        "old_size" "old_mtime" "old_algorithms" "old_digests" "new_size" "new_mtime"
        "new_algorithms" "new_digests" "error"];
    CHUNK 12 "chunk" ["file" "mtime" "ctime" "inode" "began" "midstate"];
}

/// At least the columns of the widest table.
const MOST: usize = 19;

impl Table {
    /// Returns the rows that the end of a statement selects, converted by `read`. Its columns are
    /// those of the table, whose alias is `t`. Each row is compared with its seal.
    ///
    /// # Errors
    /// As of [`verify`](Self::verify).
    pub(crate) fn query<T>(
        &self,
        db: &Connection,
        which: &str,
        parameters: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T, CatalogError>,
    ) -> Result<Vec<T>, CatalogError> {
        let sql = format!("SELECT {} FROM {} t {which}", self.select("t"), self.name);
        let mut statement = db.prepare_cached(&sql)?;
        let mut rows = statement.query(parameters)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            self.verify(row, 0)?;
            found.push(read(row)?);
        }
        Ok(found)
    }

    /// Returns the same for the row with this key.
    pub(crate) fn find<T>(
        &self,
        db: &Connection,
        key: impl ToSql,
        read: impl FnMut(&Row<'_>) -> Result<T, CatalogError>,
    ) -> Result<Option<T>, CatalogError> {
        Ok(self.query(db, &format!("WHERE {} = ?1", self.columns[0]), [key], read)?.pop())
    }

    /// Inserts a row, or replaces the one with its key.
    pub(crate) fn put(
        &'static self,
        db: &Connection,
        values: &[ValueRef<'_>],
    ) -> Result<(), CatalogError> {
        self.putter(db)?.put(values)
    }

    /// The same for many rows, with one look-up of the statement.
    pub(crate) fn putter<'db>(&'static self, db: &'db Connection) -> rusqlite::Result<Putter<'db>> {
        let statement = db.prepare_cached(self.put.get_or_init(|| self.put_sql()))?;
        Ok(Putter { table: self, statement, rows: 1, bound: 0 })
    }

    /// Inserts rows with new keys, this many at once. Remaining rows of an incomplete group are not
    /// inserted.
    pub(crate) fn inserter<'db>(
        &'static self,
        db: &'db Connection,
        rows: usize,
    ) -> rusqlite::Result<Putter<'db>> {
        let statement = db.prepare_cached(&self.insert_sql(rows))?;
        Ok(Putter { table: self, statement, rows, bound: 0 })
    }

    fn insert_sql(&self, rows: usize) -> String {
        let row = format!("({})", vec!["?"; self.columns.len() + 1].join(","));
        format!("INSERT INTO {} VALUES {}", self.name, vec![row; rows].join(","))
    }

    fn put_sql(&self) -> String {
        let mut sql =
            format!("{} ON CONFLICT ({}) DO UPDATE SET ", self.insert_sql(1), self.columns[0]);
        for column in &self.columns[1..] {
            // Writing to a String cannot fail.
            let _ = write!(sql, "{column}=excluded.{column},");
        }
        sql + "seal=excluded.seal"
    }

    /// Verifies a row: all columns of the table, then `seal`, from column `first` on.
    ///
    /// # Errors
    /// [`CatalogError::Damaged`] with the table and the row.
    pub(crate) fn verify(&self, row: &Row<'_>, first: usize) -> Result<(), CatalogError> {
        self.verified::<MOST>(row, first).map(drop)
    }

    /// The same. Returns the values of the columns, padded with NULL.
    pub(crate) fn verified<'r, const COLUMNS: usize>(
        &self,
        row: &'r Row<'_>,
        first: usize,
    ) -> Result<[ValueRef<'r>; COLUMNS], CatalogError> {
        let mut values = [ValueRef::Null; COLUMNS];
        let length = self.columns.len();
        for (place, value) in values[..length].iter_mut().enumerate() {
            *value = row.get_ref(first + place)?;
        }
        self.require_seal(&values[..length], row.get_ref(first + length)?)?;
        Ok(values)
    }

    /// Compares the values of a row with its seal.
    ///
    /// # Errors
    /// As of [`verify`](Self::verify).
    pub(crate) fn require_seal(
        &self,
        values: &[ValueRef<'_>],
        seal: ValueRef<'_>,
    ) -> Result<(), CatalogError> {
        if seal == ValueRef::Integer(seal::of(self.number, values.iter().copied())) {
            return Ok(());
        }
        let key = match values[0] {
            ValueRef::Integer(id) => id.to_string(),
            ValueRef::Text(key) | ValueRef::Blob(key) => key.escape_ascii().to_string(),
            _ => "without key".to_owned(),
        };
        let name = self.name;
        Err(CatalogError::Damaged(format!("row {key} of the table `{name}` has a wrong seal")))
    }

    /// `t.a, t.b, ..., t.seal`, where `t` is the alias of the table in a query.
    pub(crate) fn select(&self, alias: &str) -> String {
        let columns = self.columns.iter().chain(&["seal"]);
        columns.map(|column| format!("{alias}.{column}")).collect::<Vec<_>>().join(", ")
    }
}

/// A statement that writes rows.
pub(crate) struct Putter<'db> {
    table: &'static Table,
    statement: CachedStatement<'db>,
    /// The number of rows that it writes at once, and of those that are bound.
    rows: usize,
    bound: usize,
}

impl Putter<'_> {
    /// Writes a row with its seal.
    pub(crate) fn put(&mut self, values: &[ValueRef<'_>]) -> Result<(), CatalogError> {
        let Self { table, statement, rows, bound } = self;
        debug_assert_eq!(values.len(), table.columns.len(), "{}", table.name);
        let first = *bound * (values.len() + 1) + 1;
        for (place, &value) in values.iter().enumerate() {
            statement.raw_bind_parameter(first + place, ToSqlOutput::Borrowed(value))?;
        }
        let seal = seal::of(table.number, values.iter().copied());
        statement.raw_bind_parameter(first + values.len(), seal)?;
        *bound += 1;
        if *bound == *rows {
            *bound = 0;
            statement.raw_execute()?;
        }
        Ok(())
    }
}

pub(crate) fn int(number: i64) -> ValueRef<'static> {
    ValueRef::Integer(number)
}

pub(crate) fn text(words: &str) -> ValueRef<'_> {
    ValueRef::Text(words.as_bytes())
}

pub(crate) fn blob(bytes: &[u8]) -> ValueRef<'_> {
    ValueRef::Blob(bytes)
}

pub(crate) fn or_null<T>(
    value: Option<T>,
    make: impl FnOnce(T) -> ValueRef<'static>,
) -> ValueRef<'static> {
    value.map_or(ValueRef::Null, make)
}

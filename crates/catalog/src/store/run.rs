//! The rows of runs.

use std::collections::BTreeMap;

use rusqlite::{Connection, Params, Row};

use super::table::{RUN, int, or_null, text};
use crate::CatalogError;
use crate::model::Class;

/// A run over one root, as stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunRow {
    pub(crate) id: i64,
    pub(crate) root: i64,
    pub(crate) verb: String,
    pub(crate) scope: i64,
    pub(crate) started: i64,
    pub(crate) ended: Option<i64>,
    pub(crate) outcome: i64,
    /// The number of files read.
    pub(crate) files: i64,
    /// The number of bytes read, including files that were not read completely.
    pub(crate) bytes: i64,
    /// The part that uses the day's budget: files that were and are ok.
    pub(crate) spent: i64,
    pub(crate) counts: BTreeMap<Class, u64>,
}

impl RunRow {
    /// Returns the number of the next run. Numbers have no gaps.
    pub(crate) fn next_id(db: &Connection) -> Result<i64, CatalogError> {
        Ok(Self::last_id(db)? + 1)
    }

    /// Returns the number of the last run, or 0 without runs.
    pub(crate) fn last_id(db: &Connection) -> Result<i64, CatalogError> {
        Ok(db.query_row("SELECT coalesce(max(id), 0) FROM run", [], |row| row.get(0))?)
    }

    pub(crate) fn put(&self, db: &Connection) -> Result<(), CatalogError> {
        let count = |class| self.counts.get(&class).map_or(0, |count| count.cast_signed());
        let mut row = vec![int(self.id), int(self.root), text(&self.verb), int(self.scope)];
        row.extend([int(self.started), or_null(self.ended, int)]);
        row.extend([self.outcome, self.files, self.bytes, self.spent].map(int));
        row.extend(Class::ALL.map(|class| int(count(class))));
        RUN.put(db, &row)
    }

    /// Returns the runs that the end of a statement selects, in its order.
    pub(crate) fn query(
        db: &Connection,
        which: &str,
        parameters: impl Params,
    ) -> Result<Vec<Self>, CatalogError> {
        RUN.query(db, which, parameters, Self::read)
    }

    /// Returns the run with this number.
    pub(crate) fn find(db: &Connection, id: i64) -> Result<Option<Self>, CatalogError> {
        RUN.find(db, id, Self::read)
    }

    fn read(row: &Row<'_>) -> Result<Self, CatalogError> {
        let mut counts = BTreeMap::new();
        for (place, class) in Class::ALL.into_iter().enumerate() {
            let count: i64 = row.get(10 + place)?;
            if count > 0 {
                counts.insert(class, count.cast_unsigned());
            }
        }
        Ok(Self {
            id: row.get(0)?,
            root: row.get(1)?,
            verb: row.get(2)?,
            scope: row.get(3)?,
            started: row.get(4)?,
            ended: row.get(5)?,
            outcome: row.get(6)?,
            files: row.get(7)?,
            bytes: row.get(8)?,
            spent: row.get(9)?,
            counts,
        })
    }

    /// Returns the newest run of a root that `is_it` accepts. Also verifies the later runs of other
    /// roots: a flipped bit could have moved this root's run to another root, and an older run
    /// would be returned.
    pub(crate) fn last(
        db: &Connection,
        root: i64,
        is_it: impl Fn(&Self) -> bool,
    ) -> Result<Option<Self>, CatalogError> {
        let sql = format!("SELECT {} FROM run t ORDER BY id DESC", RUN.select("t"));
        let mut statement = db.prepare_cached(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            RUN.verify(row, 0)?;
            let run = Self::read(row)?;
            if run.root == root && is_it(&run) {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }
}

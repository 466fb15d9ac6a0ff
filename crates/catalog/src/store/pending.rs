//! The entries of the last scan without a record of their own.

use std::collections::HashMap;

use rusqlite::Connection;

use super::batch::PendingRow;
use super::table::PENDING;
use crate::CatalogError;
use crate::model::{Class, Reason, Stat};

/// Returns the rows of a root in the order of writing.
pub(crate) fn pending_of(db: &Connection, root: i64) -> Result<Vec<PendingRow>, CatalogError> {
    PENDING.query(db, "WHERE root = ?1 ORDER BY id", [root], |row| {
        let unknown = || CatalogError::Damaged("a pending row has an unknown class".to_owned());
        Ok(PendingRow {
            class: Class::from_number(row.get(2)?).ok_or_else(unknown)?,
            reason: Reason::from_number(row.get(3)?).map_err(|()| unknown())?,
            path: row.get(4)?,
            file: row.get(5)?,
            stat: Stat {
                size: row.get(6)?,
                modified: row.get(7)?,
                inode: row.get(8)?,
                ..Stat::default()
            },
            files: row.get::<_, i64>(9)?.max(0).cast_unsigned(),
            error: row.get(10)?,
        })
    })
}

/// For each record, the file that an earlier run found, and the state of that file.
pub(crate) fn found_at(
    db: &Connection,
    root: i64,
) -> Result<HashMap<i64, (Vec<u8>, Stat)>, CatalogError> {
    let moved = pending_of(db, root)?.into_iter().filter(|row| row.file > 0);
    Ok(moved.map(|row| (row.file, (row.path, row.stat))).collect())
}

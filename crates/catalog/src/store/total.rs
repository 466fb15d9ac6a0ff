//! The number of files of a root, and of their bytes.

use rusqlite::Connection;

use super::table::{TOTAL, int};
use crate::CatalogError;

/// The files and bytes of a root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Total {
    pub(crate) files: i64,
    pub(crate) bytes: i64,
}

impl Total {
    pub(crate) fn of(db: &Connection, root: i64) -> Result<Self, CatalogError> {
        let total =
            TOTAL.find(db, root, |row| Ok(Self { files: row.get(1)?, bytes: row.get(2)? }))?;
        Ok(total.unwrap_or_default())
    }

    /// Adds files and bytes, which may be negative.
    pub(crate) fn add(self, db: &Connection, root: i64) -> Result<(), CatalogError> {
        let known = Self::of(db, root)?;
        let files = known.files.saturating_add(self.files);
        let bytes = known.bytes.saturating_add(self.bytes);
        TOTAL.put(db, &[int(root), int(files), int(bytes)])
    }
}

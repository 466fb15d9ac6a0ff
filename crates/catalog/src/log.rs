//! Runs, and the log of their findings. No decision reads the log.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use rusqlite::Row;

use crate::CatalogError;
use crate::model::{Class, Content, Finding, Reason};
use crate::root::Root;
use crate::status::Run;
use crate::store::catalog::Catalog;
use crate::store::digests::decode_any;
use crate::store::run::RunRow;
use crate::store::table::EVENT;

/// An entry of the log.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Event {
    /// Its number.
    pub id: i64,
    /// The time in seconds since 1970.
    pub at: i64,
    /// The id of the root.
    pub root: i64,
    /// The path of the root, or none if it was forgotten.
    pub root_path: Option<PathBuf>,
    /// The finding that was reported.
    pub finding: Finding,
}

impl Catalog {
    /// Returns the runs since this time, newest first.
    ///
    /// # Errors
    /// Errors of the catalog and of `take`.
    pub fn runs(
        &self,
        since: i64,
        take: &mut dyn FnMut(Run) -> io::Result<()>,
    ) -> Result<(), CatalogError> {
        for run in RunRow::query(&self.db, "WHERE started >= ?1 ORDER BY id DESC", [since])? {
            take(Run::of(run)?).map_err(CatalogError::Output)?;
        }
        Ok(())
    }

    /// Returns the newest log entries about a path below a root, newest first.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn events_of(
        &self,
        root: i64,
        path: &[u8],
        most: usize,
    ) -> Result<Vec<Event>, CatalogError> {
        // The log has no index, so only its newest entries are searched.
        let which = "WHERE id > (SELECT coalesce(max(id), 0) FROM event) - 100000 \
                     AND root = ?1 AND path = ?2 ORDER BY id DESC LIMIT ?3";
        self.events(which, (root, path, most as i64))
    }

    /// Returns at most `most` log entries with greater ids, oldest first.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn events_after(&self, last: i64, most: usize) -> Result<Vec<Event>, CatalogError> {
        self.events("WHERE id > ?1 ORDER BY id LIMIT ?2", (last, most as i64))
    }

    fn events(
        &self,
        which: &str,
        parameters: impl rusqlite::Params,
    ) -> Result<Vec<Event>, CatalogError> {
        let roots = self.roots()?;
        EVENT.query(&self.db, which, parameters, |row| event_of(row, &roots))
    }
}

fn event_of(row: &Row<'_>, roots: &[Root]) -> Result<Event, CatalogError> {
    let id: i64 = row.get(0)?;
    let unknown = || CatalogError::Damaged(format!("event {id} has an unknown class"));
    let class = |number| Class::from_number(number).ok_or_else(unknown);
    let reason = Reason::from_number(row.get(6)?).map_err(|()| unknown())?;
    let mut finding = Finding::new(class(row.get(5)?)?, reason, row.get(4)?);
    finding.was = row.get::<_, Option<i64>>(7)?.map(class).transpose()?;
    let other: Option<Vec<u8>> = row.get(8)?;
    finding.other = other.map(|path| PathBuf::from(OsString::from_vec(path)));
    finding.files = row.get::<_, i64>(9)?.max(0).cast_unsigned();
    finding.recorded = content_of(row, 10)?;
    finding.found = content_of(row, 14)?;
    finding.error = row.get(18)?;
    let root = row.get(3)?;
    let root_path = roots.iter().find(|it| it.id() == root).map(|it| it.path.clone());
    Ok(Event { id, at: row.get(2)?, root, root_path, finding })
}

fn content_of(row: &Row<'_>, first: usize) -> Result<Option<Content>, CatalogError> {
    let Some(size) = row.get::<_, Option<i64>>(first)? else { return Ok(None) };
    let digests = decode_any(row.get(first + 2)?, &row.get::<_, Vec<u8>>(first + 3)?);
    let unknown = || CatalogError::Damaged("an event has digests of no algorithm".to_owned());
    let digests = digests.ok_or_else(unknown)?;
    Ok(Some(Content { size, modified: row.get(first + 1)?, digests }))
}

//! Changes settings and steers scrubs, beside the process that scrubs.

use std::path::Path;
use std::slice::from_ref;

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior};

use crate::CatalogError;
use crate::load::Load;
use crate::root::Root;
use crate::settings::{Settings, SettingsPatch, Steering};
use crate::store::catalog::Catalog;
use crate::store::connect::{get, writer};
use crate::store::digests::number_of;
use crate::store::table::{META, blob, text};

/// Changes settings beside the process that scrubs.
#[derive(Debug)]
pub struct Control {
    db: Connection,
}

impl Control {
    /// Opens a catalog to change its settings.
    ///
    /// # Errors
    /// As of [`Catalog::look`].
    pub fn open(path: &Path) -> Result<Self, CatalogError> {
        // Checks that the file is a catalog.
        Catalog::look(path)?;
        Ok(Self { db: writer(path)? })
    }

    /// Changes all of these roots or none. Returns the results in the same order.
    fn change<T>(
        &mut self,
        roots: &[Root],
        change: impl Fn(
            &Transaction<'_>,
            &Root,
            &mut Settings,
            &mut Steering,
        ) -> Result<T, CatalogError>,
    ) -> Result<Vec<T>, CatalogError> {
        let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut results = Vec::new();
        for root in roots {
            // It may have been forgotten since the lookup.
            if Root::find(&transaction, root.id())?.is_none() {
                return Err(CatalogError::NoRoot(root.path.clone()));
            }
            let (mut settings, mut steering) = Settings::of(&transaction, root.id())?;
            let before = (settings.clone(), steering);
            results.push(change(&transaction, root, &mut settings, &mut steering)?);
            if (&settings, steering) != (&before.0, before.1) {
                settings.put(&steering, &transaction, root.id())?;
            }
        }
        transaction.commit()?;
        Ok(results)
    }

    /// Changes settings of roots, of all or of none, and returns them.
    ///
    /// # Errors
    /// Errors of [`Load::check_capacity`] and of the catalog.
    pub fn set(
        &mut self,
        roots: &[Root],
        patch: &SettingsPatch,
    ) -> Result<Vec<Settings>, CatalogError> {
        self.change(roots, |db, root, settings, _| {
            *settings = patch.apply(settings);
            settings.excludes()?;
            number_of(settings.algorithms)?;
            if settings.rate.is_some() {
                let root = Root { settings: settings.clone(), ..root.clone() };
                Load::of(db, &root)?.check_capacity(&root.path, settings)?;
            }
            Ok(settings.clone())
        })
    }

    /// Pauses scrubs of a root. Returns the start of the pause in seconds since 1970.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn pause(&mut self, root: &Root, now: i64) -> Result<i64, CatalogError> {
        Ok(self.change(from_ref(root), |_, _, _, it| Ok(*it.paused.get_or_insert(now)))?[0])
    }

    /// Resumes scrubs of a root. Returns the start of the pause, if there was one.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn resume(&mut self, root: &Root) -> Result<Option<i64>, CatalogError> {
        Ok(self.change(from_ref(root), |_, _, _, it| Ok(it.paused.take()))?[0])
    }

    /// Requests that the daemon verifies due files, or all files, at any hour.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn request(&mut self, root: &Root, everything: bool, now: i64) -> Result<(), CatalogError> {
        self.change(from_ref(root), |_, _, _, steering| {
            (steering.requested, steering.requests_everything) = (Some(now), everything);
            Ok(())
        })?;
        Ok(())
    }

    /// Records that the verification that was requested at this time is done.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn finish_request(&mut self, root: &Root, asked: i64) -> Result<(), CatalogError> {
        let noted = self.change(from_ref(root), |_, _, _, steering| {
            if steering.requested.is_some_and(|at| at <= asked) {
                (steering.requested, steering.requests_everything) = (None, false);
            }
            Ok(())
        });
        match noted {
            Ok(_) | Err(CatalogError::NoRoot(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns the last log entry that a command was called for, or none before the first call.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn called(&self) -> Result<Option<i64>, CatalogError> {
        let Some(bytes) = get(&self.db, CALLED)? else { return Ok(None) };
        let bytes: [u8; 8] = bytes.try_into().map_err(|_| {
            CatalogError::Damaged(format!("`{CALLED}` in the table meta is not a number"))
        })?;
        Ok(Some(i64::from_le_bytes(bytes)))
    }

    /// Records that commands were called for all log entries up to this one.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn set_called(&mut self, event: i64) -> Result<(), CatalogError> {
        META.put(&self.db, &[text(CALLED), blob(&event.to_le_bytes())])
    }

    /// Returns the number of the last log entry, or 0 without entries.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn last_event(&self) -> Result<i64, CatalogError> {
        let sql = "SELECT max(id) FROM event";
        let found: Option<Option<i64>> = self.db.query_row(sql, [], |row| row.get(0)).optional()?;
        Ok(found.flatten().unwrap_or(0))
    }
}

const CALLED: &str = "called";

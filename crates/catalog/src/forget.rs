//! Deleting records.

use std::collections::hash_map::{Entry, HashMap};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::CatalogError;
use crate::model::Class;
use crate::options::{Options, Verb};
use crate::root::Root;
use crate::store::batch::Batch;
use crate::store::catalog::Catalog;
use crate::store::check::require_rows;
use crate::store::rows::{self, File, Finder, State};
use crate::store::run::RunRow;

/// The results of several paths.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Forgotten {
    /// The deleted records, by path.
    pub paths: Vec<ForgottenPath>,
    /// Other paths, with errors.
    pub failed: Vec<(PathBuf, CatalogError)>,
}

/// The deleted records of a path.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ForgottenPath {
    /// The path as given.
    pub path: PathBuf,
    /// The number of records.
    pub files: u64,
    /// The number of files that still exist, which `update` would record as new.
    pub still_there: u64,
    /// The number of damaged files.
    pub damaged: u64,
    /// Whether the whole root is no longer in the catalog.
    pub is_root: bool,
}

/// The records to delete.
struct Chosen {
    root: Root,
    path: ForgottenPath,
    files: Vec<File>,
}

impl Catalog {
    /// Deletes the records at paths and below them, in one transaction. `only_missing` limits this
    /// to missing files. Otherwise a given root is removed from the catalog.
    ///
    /// # Errors
    /// Errors of the catalog. Errors of single paths are in the result.
    pub fn forget(
        &mut self,
        paths: &[PathBuf],
        only_missing: bool,
        options: &Options,
    ) -> Result<Forgotten, CatalogError> {
        require_rows(&self.db)?;
        let mut forgotten = Forgotten::default();
        let mut states = HashMap::new();
        let mut chosen = Vec::new();
        for path in paths {
            match self.choose_forgotten(path, only_missing, &mut states) {
                Ok(found) => chosen.push(found),
                Err(error @ (CatalogError::NoRoot(_) | CatalogError::NotRecorded(_))) => {
                    forgotten.failed.push((path.clone(), error));
                }
                Err(error) => return Err(error),
            }
        }
        self.delete(&chosen, (options.clock)().max(1))?;
        forgotten.paths = chosen.into_iter().map(|it| it.path).collect();
        Ok(forgotten)
    }

    fn choose_forgotten(
        &self,
        path: &Path,
        only_missing: bool,
        states: &mut HashMap<i64, HashMap<i64, State>>,
    ) -> Result<Chosen, CatalogError> {
        let (root, below) = self.root_of(path)?;
        let states = match states.entry(root.id()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(State::not_ok(&self.db, root.id())?),
        };
        let class = |id: &i64| states.get(id).map(|state| state.class);
        let mut ids = rows::below(&self.db, root.id(), &below)?;
        let is_root = below.is_empty() && !only_missing;
        if ids.is_empty() && !is_root {
            return Err(CatalogError::NotRecorded(path.to_owned()));
        }
        if only_missing {
            ids.retain(|id| class(id) == Some(Class::Missing));
        }
        let damaged = ids.iter().filter(|id| class(id) == Some(Class::Damaged)).count() as u64;
        ids.sort_unstable();
        let files = Finder::new(self.reader()?).find_all(&ids)?;
        let path_of = |file: &&File| root.path_of(&file.path());
        let is_there = |file: &&File| path_of(file).symlink_metadata().is_ok_and(|it| it.is_file());
        let still_there = files.iter().filter(is_there).count() as u64;
        let (path, count) = (path.to_owned(), files.len() as u64);
        let path = ForgottenPath { path, files: count, still_there, damaged, is_root };
        Ok(Chosen { root, path, files })
    }

    fn delete(&mut self, chosen: &[Chosen], now: i64) -> Result<(), CatalogError> {
        let mut batch = Batch::new(&self.db)?;
        let mut runs: Vec<RunRow> = Vec::new();
        let first = RunRow::next_id(&self.db)?;
        let mut deleted = std::collections::HashSet::new();
        for Chosen { root, path, files } in chosen {
            for file in files.iter().filter(|file| deleted.insert(file.id)) {
                batch.delete(root.id(), file);
            }
            let run = RunRow::done(first + runs.len() as i64, root.id(), Verb::Forget, now);
            runs.push(RunRow { files: path.files.cast_signed(), ..run });
        }
        let roots = chosen.iter().filter(|it| it.path.is_root);
        let ids: Vec<i64> = roots.map(|it| it.root.id()).collect();
        batch
            .commit(&mut self.db, &runs, |db| ids.iter().try_for_each(|it| delete_root(db, *it)))?;
        self.checkpoint()
    }
}

fn delete_root(db: &Connection, root: i64) -> Result<(), CatalogError> {
    for sql in [
        "DELETE FROM pending WHERE root = ?1",
        "DELETE FROM deleted WHERE root = ?1",
        "DELETE FROM directory WHERE root = ?1",
        "DELETE FROM total WHERE root = ?1",
        "DELETE FROM setting WHERE root = ?1",
        "DELETE FROM root WHERE id = ?1",
    ] {
        db.execute(sql, [root])?;
    }
    Ok(())
}

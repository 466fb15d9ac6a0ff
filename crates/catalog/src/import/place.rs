//! The roots of listed files, and the jobs that read them.

use std::collections::HashMap;
use std::collections::btree_map::{BTreeMap, Entry};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use lanesum_checksum::disk::{PathState, Probe};
use lanesum_checksum::engine::look_at;
use lanesum_checksum::{Job, Source};
use lanesum_list::{Digests, Inode};

use super::list::{Import, Imported, join};
use crate::CatalogError;
use crate::model::{Stat, agree};
use crate::root::Root;
use crate::store::catalog::Catalog;
use crate::store::digests::algorithms;
use crate::store::rows::{self, File};

/// The digests of a file in the lists.
pub(super) struct Listed {
    path: PathBuf,
    digests: Digests,
    is_contradicted: bool,
}

/// A listed file to read.
pub(super) struct Item {
    pub(super) path: PathBuf,
    pub(super) root: i64,
    pub(super) below: Vec<u8>,
    pub(super) listed: Digests,
    pub(super) record: Option<File>,
}

struct ListedRoot {
    root: Root,
    /// None if it is offline.
    probe: Option<Probe>,
}

/// Finds the roots of listed files. Most files are in the same directory as the previous one.
pub(super) struct Places<'c> {
    catalog: &'c Catalog,
    own: Vec<Inode>,
    roots: BTreeMap<i64, ListedRoot>,
    /// The root of each directory, and its path below the root with a slash.
    directories: HashMap<PathBuf, Option<(i64, Vec<u8>)>>,
}

/// The results of files, by their listed paths.
pub(super) type Results = Vec<(PathBuf, Imported)>;

/// The listed files by their roots, and their paths below these.
type Files = BTreeMap<(i64, Vec<u8>), Listed>;

impl<'c> Places<'c> {
    pub(super) fn of(catalog: &'c Catalog) -> Self {
        let own = catalog.own_files();
        Self { catalog, own, roots: BTreeMap::new(), directories: HashMap::new() }
    }

    /// Returns the listed files, each once, by their roots and paths.
    pub(super) fn gather(&mut self, import: Import) -> Result<(Files, Results), CatalogError> {
        let (mut files, mut results) = (Files::new(), Results::new());
        for (path, digests) in import.files {
            let Some(place) = self.find(&path)? else {
                results.push((path, Imported::NoRoot));
                continue;
            };
            match files.entry(place) {
                Entry::Vacant(free) => {
                    free.insert(Listed { path, digests, is_contradicted: false });
                }
                Entry::Occupied(mut known) => {
                    let known = known.get_mut();
                    known.is_contradicted |= agree(&known.digests, &digests) == Some(false);
                    known.digests = join(&known.digests, &digests);
                }
            }
        }
        Ok((files, results))
    }

    fn find(&mut self, path: &Path) -> Result<Option<(i64, Vec<u8>)>, CatalogError> {
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return Ok(None);
        };
        if !self.directories.contains_key(directory) {
            let place = self.find_directory(directory)?;
            self.directories.insert(directory.to_owned(), place);
        }
        let place = self.directories[directory].as_ref();
        Ok(place.map(|(root, below)| (*root, [below, name.as_bytes()].concat())))
    }

    fn find_directory(&mut self, path: &Path) -> Result<Option<(i64, Vec<u8>)>, CatalogError> {
        // A list may name files through a link, but records have their real paths.
        let real = path.canonicalize();
        let (root, mut below) = match self.catalog.root_of(real.as_deref().unwrap_or(path)) {
            Ok(found) => found,
            Err(CatalogError::NoRoot(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        if !below.is_empty() {
            below.push(b'/');
        }
        let id = root.id();
        if let Entry::Vacant(free) = self.roots.entry(id) {
            let is_there = root.why_offline().is_none();
            let probe = is_there.then(|| Probe::of(&root.path)).transpose()?;
            free.insert(ListedRoot { root, probe });
        }
        Ok(Some((id, below)))
    }

    /// Returns the job of a listed file, or the result of a file that is not read.
    pub(super) fn job(
        &self,
        root: i64,
        below: Vec<u8>,
        listed: Listed,
    ) -> Result<Result<Job<Item>, (PathBuf, Imported)>, CatalogError> {
        let Listed { path, digests: listed, is_contradicted } = listed;
        let of_root = &self.roots[&root];
        let real = of_root.root.path_of(&below);
        let stat = || Some(Stat::of(&look_at(&real).ok()?)?.1);
        // Opening and closing a file of the catalog would drop SQLite's locks on it.
        let is_own = || stat().is_some_and(|inode| self.own.contains(&inode));
        let result = match &of_root.probe {
            None => Imported::Offline,
            Some(_) if is_contradicted => Imported::Contradicted,
            Some(probe) if probe.look(&below) == PathState::File && !is_own() => {
                let record = rows::at(&self.catalog.db, root, &below)?;
                let mut wanted = of_root.root.settings.algorithms.union(algorithms(&listed));
                if let Some(record) = &record {
                    wanted = wanted.union(algorithms(&record.digests));
                }
                let (source, algorithms) = (Source::Regular(real), wanted);
                let context = Item { path, root, below, listed, record };
                return Ok(Ok(Job { source, algorithms, context }));
            }
            Some(_) if real.symlink_metadata().is_ok() => Imported::Unreadable,
            Some(_) => Imported::Missing,
        };
        Ok(Err((path, result)))
    }
}

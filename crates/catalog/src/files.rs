//! Recorded and pending files, as stored.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::PathBuf;

use lanesum_list::{Digest, Digests, Record, Time, Times};

use crate::CatalogError;
use crate::model::{Class, Content, Reason, agree};
use crate::root::Root;
use crate::store::catalog::Catalog;
use crate::store::check::require_rows;
use crate::store::digests::decode_any;
use crate::store::pending::pending_of;
use crate::store::rows::{File, Files, Finder, State};
use crate::store::table::{DELETED, FOUND};

/// A recorded file, as stored.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FileStatus {
    /// Its number in the catalog.
    pub id: i64,
    /// The id of its root.
    pub root: i64,
    /// Its full path.
    pub path: PathBuf,
    /// Its class.
    pub class: Class,
    /// The reason of the class.
    pub reason: Option<Reason>,
    /// The start of this class in seconds since 1970, or 0 for a file that is ok.
    pub since: i64,
    /// The last verification in seconds since 1970, or 0 if there was none.
    pub verified: i64,
    /// The recorded content.
    pub recorded: Content,
    /// The different content that was found at its path, if it was read.
    pub found: Option<Content>,
    /// The system's error text.
    pub error: Option<String>,
    /// The full path of its new place, if it moved.
    pub moved_to: Option<PathBuf>,
}

/// A file or directory of the last scan without a record of its own.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pending {
    /// `New`, or `Unchecked` for a directory with recorded files.
    pub class: Class,
    /// The reason of the class.
    pub reason: Option<Reason>,
    /// Its full path.
    pub path: PathBuf,
    /// The number of records below it that could not be checked.
    pub files: u64,
    /// The system's error text.
    pub error: Option<String>,
}

/// A file whose record `update` deleted in a working root.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Deleted {
    /// Its full path.
    pub path: PathBuf,
    /// The time of deletion in seconds since 1970.
    pub at: i64,
    /// The recorded content.
    pub recorded: Content,
}

/// A selection of files to list.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FileFilter {
    /// Only files of the root with this id.
    pub root: Option<i64>,
    /// Only files whose class is not `ok`.
    pub only_bad: bool,
    /// Only files with greater ids.
    pub after: i64,
    /// At most this many; 0 is no limit.
    pub most: usize,
    /// At most this many of each class in each root, those with the lowest ids; 0 is no limit.
    pub most_each: usize,
}

/// Roots and moves, which are needed for the status of a file beside its record.
struct Around<'c> {
    catalog: &'c Catalog,
    roots: Vec<Root>,
    /// The new places of moved files, by record.
    moved: HashMap<i64, PathBuf>,
}

impl<'c> Around<'c> {
    fn of(catalog: &'c Catalog) -> Result<Self, CatalogError> {
        let roots = catalog.roots()?;
        let mut moved = HashMap::new();
        for root in &roots {
            for row in pending_of(&catalog.db, root.id())?.into_iter().filter(|it| it.file > 0) {
                moved.insert(row.file, root.path_of(&row.path));
            }
        }
        Ok(Self { catalog, roots, moved })
    }

    fn status_of(&self, file: &File, state: &State) -> Result<Option<FileStatus>, CatalogError> {
        let Some(root) = self.roots.iter().find(|root| root.id() == state.root) else {
            return Ok(None);
        };
        let (found, error) =
            if state.is_ok() { (None, None) } else { self.catalog.found(file.id)? };
        Ok(Some(FileStatus {
            id: file.id,
            root: root.id(),
            path: root.path_of(&file.path()),
            class: state.class,
            reason: state.reason,
            since: state.since,
            verified: state.verified,
            recorded: Content::new(&file.stat, &file.digests),
            found,
            error,
            moved_to: self.moved.get(&file.id).cloned(),
        }))
    }
}

impl Catalog {
    /// Lists recorded files in the order of their ids, or all files of one root in the order of
    /// their paths.
    ///
    /// # Errors
    /// Errors of the catalog and of `take`.
    pub fn files(
        &self,
        filter: &FileFilter,
        take: &mut dyn FnMut(FileStatus) -> io::Result<()>,
    ) -> Result<(), CatalogError> {
        require_rows(&self.db)?;
        let around = Around::of(self)?;
        let mut states = Vec::new();
        let mut each: HashMap<(i64, Class), usize> = HashMap::new();
        let most_each = if filter.most_each == 0 { usize::MAX } else { filter.most_each };
        State::for_each(&self.db, |state| {
            let is_wanted = state.id > filter.after
                && filter.root.is_none_or(|root| root == state.root)
                && !(filter.only_bad && state.is_ok());
            if is_wanted {
                let count = each.entry((state.root, state.class)).or_default();
                *count += 1;
                if *count <= most_each {
                    states.push(state);
                }
            }
            Ok(())
        })?;
        let mut left = if filter.most == 0 { usize::MAX } else { filter.most };
        let mut give = |file: &File, state: &State| -> Result<bool, CatalogError> {
            if let Some(status) = around.status_of(file, state)? {
                take(status).map_err(CatalogError::Output)?;
                left -= 1;
            }
            Ok(left > 0)
        };
        if let Some(root) = filter.root.filter(|_| !filter.only_bad && filter.after == 0) {
            let mut files = Files::of(&self.db, root);
            while let Some(file) = files.next()? {
                if let Ok(place) = states.binary_search_by_key(&file.id, |state| state.id)
                    && !give(&file, &states[place])?
                {
                    break;
                }
            }
            return Ok(());
        }
        let mut finder = Finder::new(self.reader()?);
        for state in &states {
            if let Some(file) = finder.find(state.id)?
                && !give(&file, state)?
            {
                break;
            }
        }
        Ok(())
    }

    /// Lists the records of a root as list entries, in the order of their paths. Names are relative
    /// to the root, with size, modification time and digests.
    ///
    /// # Errors
    /// Errors of the catalog and of `take`.
    pub fn records(
        &self,
        root: &Root,
        take: &mut dyn FnMut(Record<'_>) -> io::Result<()>,
    ) -> Result<(), CatalogError> {
        const SECOND: i64 = 1_000_000_000;
        // In one transaction. Otherwise a file that moves meanwhile would be listed twice or not at
        // all.
        let _moment = self.db.unchecked_transaction()?;
        let mut files = Files::of(&self.db, root.id());
        while let Some(file) = files.next()? {
            let path = file.path();
            let is_known = !matches!(file.stat.modified, i64::MIN | i64::MAX);
            let modified = is_known.then(|| Time {
                seconds: file.stat.modified.div_euclid(SECOND),
                nanoseconds: file.stat.modified.rem_euclid(SECOND).try_into().unwrap_or(0),
            });
            let record = Record {
                size: u64::try_from(file.stat.size).ok(),
                times: Times { modified, changed: None },
                digests: file.digests,
                ..Record::new(&path)
            };
            take(record).map_err(CatalogError::Output)?;
        }
        Ok(())
    }

    /// Returns the recorded file with this id.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn file(&self, id: i64) -> Result<Option<FileStatus>, CatalogError> {
        let Some(file) = Finder::new(self.reader()?).find(id)? else { return Ok(None) };
        let Some(state) = State::find(&self.db, id)? else { return Ok(None) };
        Around::of(self)?.status_of(&file, &state)
    }

    /// Returns the content that was found at the path of a record, and the error text.
    fn found(&self, id: i64) -> Result<(Option<Content>, Option<String>), CatalogError> {
        let found = FOUND.find(&self.db, id, |row| {
            let digests = digests_of(row.get(3)?, &row.get::<_, Vec<u8>>(4)?)?;
            let content = Content { size: row.get(1)?, modified: row.get(2)?, digests };
            Ok(((!content.digests.is_empty()).then_some(content), row.get(5)?))
        })?;
        Ok(found.unwrap_or_default())
    }

    /// Lists new files of the last scan of a root, and directories that it could not read.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn pending(&self, root: &Root) -> Result<Vec<Pending>, CatalogError> {
        let rows = pending_of(&self.db, root.id())?.into_iter().filter(|row| row.file == 0);
        let pending = rows.map(|row| Pending {
            class: row.class,
            reason: row.reason,
            path: root.path_of(&row.path),
            files: row.files,
            error: row.error,
        });
        Ok(pending.collect())
    }

    /// Returns files whose records were deleted since this time, newest first.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn deleted(&self, root: &Root, since: i64) -> Result<Vec<Deleted>, CatalogError> {
        let which = "WHERE root = ?1 AND at >= ?2 ORDER BY id DESC";
        DELETED.query(&self.db, which, (root.id(), since), |row| {
            let digests = digests_of(row.get(6)?, &row.get::<_, Vec<u8>>(7)?)?;
            let recorded = Content { size: row.get(4)?, modified: row.get(5)?, digests };
            let path = root.path_of(&row.get::<_, Vec<u8>>(2)?);
            Ok(Deleted { path, at: row.get(3)?, recorded })
        })
    }

    /// Finds a recorded file that is ok for each of these contents.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn find_copies(&self, lost: &[Digests]) -> Result<Vec<Option<PathBuf>>, CatalogError> {
        let mut copies = vec![None; lost.len()];
        let mut by_digest: HashMap<Digest, Vec<usize>> = HashMap::new();
        for (place, digests) in lost.iter().enumerate() {
            for digest in digests.iter() {
                by_digest.entry(*digest).or_default().push(place);
            }
        }
        if by_digest.is_empty() {
            return Ok(copies);
        }
        let mut bad = HashSet::new();
        State::for_each(&self.db, |state| {
            if !state.is_ok() {
                bad.insert(state.id);
            }
            Ok(())
        })?;
        for root in self.roots()? {
            let mut files = Files::of(&self.db, root.id());
            while let Some(file) = files.next()? {
                // Empty files are not copies.
                if file.stat.size == 0 || bad.contains(&file.id) {
                    continue;
                }
                let places = file.digests.iter().filter_map(|digest| by_digest.get(digest));
                for &place in places.flatten() {
                    if copies[place].is_none() && agree(&file.digests, &lost[place]) == Some(true) {
                        copies[place] = Some(root.path_of(&file.path()));
                    }
                }
            }
        }
        Ok(copies)
    }
}

fn digests_of(algorithms: i64, bytes: &[u8]) -> Result<Digests, CatalogError> {
    let unknown = || CatalogError::Damaged("a row has digests of no algorithm".to_owned());
    decode_any(algorithms, bytes).ok_or_else(unknown)
}

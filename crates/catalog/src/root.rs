//! Roots: the directories that are in the catalog.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use lanesum_checksum::disk::{DirectoryId, Mounts};
use lanesum_checksum::walk::Entry;
use rusqlite::{Connection, Row, Transaction, TransactionBehavior};

use crate::CatalogError;
use crate::model::Reason;
use crate::settings::{IGNORE_FILE, Settings, Steering};
use crate::store::catalog::Catalog;
use crate::store::check::require_rows;
use crate::store::digests::number_of;
use crate::store::table::{ROOT, blob, int, text};
use crate::store::total::Total;
use crate::walk::walk_root;

/// A recorded directory with all its contents on one file system.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Root {
    pub(crate) id: i64,
    /// Its path, absolute and without links.
    pub path: PathBuf,
    pub(crate) volume: String,
    pub(crate) inode: i64,
    /// Whether inode numbers survive a mount.
    pub(crate) has_stable_inodes: bool,
    /// Whether an `add` or `update` ever finished, so that all files are known.
    pub is_complete: bool,
    /// The reason why the last scan found it offline, if so.
    pub offline: Option<Offline>,
    /// Bytes of all its files.
    pub bytes: i64,
    /// Its settings.
    pub settings: Settings,
    /// The state of its scrubs.
    pub steering: Steering,
}

/// The state of an offline root.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Offline {
    /// `Missing`, `Empty`, `OtherVolume`, `TooManyMissing` or `Unreadable`.
    pub reason: Reason,
    /// The start in seconds since 1970.
    pub since: i64,
    /// The number of missing files, if they are the reason.
    pub missing: u64,
}

impl Root {
    /// Its number in the catalog, which is never reused.
    #[must_use]
    pub const fn id(&self) -> i64 {
        self.id
    }

    /// Returns the full path of a file or directory below it.
    #[must_use]
    pub fn path_of(&self, below: &[u8]) -> PathBuf {
        if below.is_empty() { self.path.clone() } else { self.path.join(OsStr::from_bytes(below)) }
    }

    /// Returns the part of a path below the root: empty for the root itself, none for a path
    /// elsewhere.
    #[must_use]
    pub fn below<'p>(&self, path: &'p Path) -> Option<&'p [u8]> {
        path.strip_prefix(&self.path).ok().map(|below| below.as_os_str().as_bytes())
    }

    /// Returns the part of a walk's path below the root.
    pub(crate) fn below_walked<'p>(&self, path: &'p Path) -> &'p [u8] {
        let root = self.path.as_os_str().as_bytes();
        let length = root.len() + usize::from(!root.ends_with(b"/"));
        path.as_os_str().as_bytes().get(length..).unwrap_or_default()
    }

    /// Returns why the directory is not the recorded one, cannot be read, or is empty, if so.
    #[must_use]
    pub fn why_offline(&self) -> Option<Reason> {
        let found = match DirectoryId::of(&self.path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Some(Reason::Unreadable);
            }
            Err(_) => return Some(Reason::Missing),
        };
        match self.path.read_dir() {
            Err(_) => Some(Reason::Unreadable),
            Ok(_) if is_blank(&self.path) => Some(Reason::Empty),
            Ok(_) if !found.is_that_of(&self.volume, self.inode) => Some(Reason::OtherVolume),
            Ok(_) => None,
        }
    }

    /// Returns the new path of the directory if it was renamed within the same parent directory.
    #[must_use]
    pub fn find_renamed(&self) -> Option<PathBuf> {
        let siblings = self.path.parent()?.read_dir().ok()?;
        let is_it = |path: &PathBuf| {
            *path != self.path
                && DirectoryId::of(path).is_ok_and(|it| it.is_that_of(&self.volume, self.inode))
        };
        siblings.flatten().map(|entry| entry.path()).find(is_it)
    }

    /// Returns all roots in the order of adding.
    pub(crate) fn all(db: &Connection) -> Result<Vec<Self>, CatalogError> {
        ROOT.query(db, "ORDER BY id", [], |row| Self::read(db, row))
    }

    /// Returns the stored root with this id.
    pub(crate) fn find(db: &Connection, id: i64) -> Result<Option<Self>, CatalogError> {
        ROOT.find(db, id, |row| Self::read(db, row))
    }

    /// Stores everything except settings and steering.
    pub(crate) fn put(&self, db: &Connection) -> Result<(), CatalogError> {
        let offline = self.offline.as_ref();
        ROOT.put(
            db,
            &[
                int(self.id),
                blob(self.path.as_os_str().as_bytes()),
                text(&self.volume),
                int(self.inode),
                int(self.has_stable_inodes.into()),
                int(self.is_complete.into()),
                int(Reason::number(offline.map(|it| it.reason))),
                int(offline.map_or(0, |it| it.since)),
                int(offline.map_or(0, |it| it.missing.cast_signed())),
            ],
        )
    }

    fn read(db: &Connection, row: &Row<'_>) -> Result<Self, CatalogError> {
        let (id, path): (i64, Vec<u8>) = (row.get(0)?, row.get(1)?);
        let reason = Reason::from_number(row.get(6)?)
            .map_err(|()| CatalogError::Damaged(format!("root {id} has an unknown reason")))?;
        let (since, missing) = (row.get(7)?, row.get::<_, i64>(8)?.max(0).cast_unsigned());
        let (settings, steering) = Settings::of(db, id)?;
        let Total { bytes, .. } = Total::of(db, id)?;
        Ok(Self {
            id,
            path: PathBuf::from(OsStr::from_bytes(&path)),
            volume: row.get(2)?,
            inode: row.get(3)?,
            has_stable_inodes: row.get(4)?,
            is_complete: row.get(5)?,
            offline: reason.map(|reason| Offline { reason, since, missing }),
            bytes,
            settings,
            steering,
        })
    }
}

/// Returns whether a directory is empty, except for the `lost+found` of a new disk.
fn is_blank(directory: &Path) -> bool {
    let is_content = |entry: io::Result<std::fs::DirEntry>| {
        let Ok(entry) = entry else { return true };
        let is_empty = || match entry.path().read_dir() {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
        };
        !(entry.file_name() == "lost+found" && is_empty())
    };
    directory.read_dir().is_ok_and(|mut entries| !entries.any(is_content))
}

impl Catalog {
    /// Returns the roots in the order of adding.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn roots(&self) -> Result<Vec<Root>, CatalogError> {
        let roots = Root::all(&self.db)?;
        if roots.is_empty() {
            // An empty result is checked, because damage could cause it.
            require_rows(&self.db)?;
        }
        Ok(roots)
    }

    /// Returns the root with this id, as it is stored now.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn root(&self, id: i64) -> Result<Option<Root>, CatalogError> {
        Root::find(&self.db, id)
    }

    /// Returns the root that contains a path, and the part of the path below it. The path need not
    /// exist. Links below a root are not followed.
    ///
    /// # Errors
    /// [`CatalogError::NoRoot`].
    pub fn root_of(&self, path: &Path) -> Result<(Root, Vec<u8>), CatalogError> {
        let mut roots = self.roots()?;
        // A root that is mounted inside another one comes first.
        roots.sort_by_key(|root| std::cmp::Reverse(root.path.as_os_str().len()));
        let typed = without_parents(&std::path::absolute(path).map_err(CatalogError::io(path))?);
        // Tries the recorded path, then the path to which links above a root lead, and then the
        // target of a link in place of a root.
        let own: Vec<_> = roots.iter().map(|root| (root.path.clone(), root)).collect();
        let real: Vec<_> =
            roots.iter().filter_map(|root| Some((root.path.canonicalize().ok()?, root))).collect();
        let mut found = below(&typed, &own);
        if found.is_empty() {
            found = below(&resolved(&typed, &own), &own);
        }
        if found.is_empty() {
            found = below(&resolved(&typed, &real), &real);
        }
        let first = found.into_iter().next();
        let (root, below) = first.ok_or_else(|| CatalogError::NoRoot(path.to_owned()))?;
        Ok((root.clone(), below))
    }

    /// Adds directories as roots without reading their files, either all or none. Replaces the
    /// settings of existing roots.
    ///
    /// # Errors
    /// One is not a directory, has no files, is a renamed root, or shares files with another root.
    pub fn add_roots(&mut self, roots: &[(&Path, Settings)]) -> Result<Vec<Root>, CatalogError> {
        let transaction = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        let added = roots.iter().map(|(path, settings)| self.add_root(path, settings));
        let added = added.collect::<Result<_, _>>()?;
        transaction.commit()?;
        Ok(added)
    }

    fn add_root(&self, directory: &Path, settings: &Settings) -> Result<Root, CatalogError> {
        number_of(settings.algorithms)?;
        settings.excludes()?;
        let (path, found) = real_directory(directory)?;
        let roots = self.roots()?;
        // It may have been moved and replaced by a link.
        let is_it =
            |root: &&Root| root.path == path || root.path.canonicalize().is_ok_and(|it| it == path);
        if let Some(root) = roots.iter().find(is_it) {
            settings.put(&root.steering, &self.db, root.id)?;
            return Ok(Root { settings: settings.clone(), ..root.clone() });
        }
        self.require_apart(&roots, directory, &path, &found)?;
        if !has_files(&path, settings)? {
            return Err(CatalogError::EmptyDirectory(directory.to_owned()));
        }
        // The log of a forgotten root must not become that of another one.
        let sql = "SELECT max(coalesce((SELECT max(id) FROM root), 0), \
                   coalesce((SELECT max(root) FROM run), 0)) + 1";
        let root = Root {
            id: self.db.query_row(sql, [], |row| row.get(0))?,
            path,
            volume: found.volume,
            inode: found.inode,
            has_stable_inodes: true,
            is_complete: false,
            offline: None,
            bytes: 0,
            settings: settings.clone(),
            steering: Steering::default(),
        };
        root.put(&self.db)?;
        settings.put(&root.steering, &self.db, root.id)?;
        Ok(root)
    }

    /// Checks that a directory is not a renamed root, and shares no files with any root.
    pub(crate) fn require_apart(
        &self,
        roots: &[Root],
        typed: &Path,
        path: &Path,
        found: &DirectoryId,
    ) -> Result<(), CatalogError> {
        for root in roots {
            let is_gone = DirectoryId::of(&root.path).is_err();
            if is_gone && found.is_that_of(&root.volume, root.inode) {
                let recorded = root.path.clone();
                return Err(CatalogError::Renamed { path: typed.to_owned(), recorded });
            }
            let is_inside = root.path.starts_with(path) || path.starts_with(&root.path);
            // It is unknown whether a missing root is a mount point.
            let is_of_device = |other: DirectoryId| other.device == found.device;
            if is_inside
                && DirectoryId::of(&root.path).map_or(true, is_of_device)
                && !is_mounted_between(&root.path, path)?
            {
                let other = root.path.clone();
                return Err(CatalogError::Overlaps { path: typed.to_owned(), other });
            }
        }
        Ok(())
    }
}

/// Returns the real path of a given directory, and its identity.
pub(crate) fn real_directory(typed: &Path) -> Result<(PathBuf, DirectoryId), CatalogError> {
    let path = typed.canonicalize().map_err(CatalogError::io(typed))?;
    match DirectoryId::of(&path) {
        Ok(found) => Ok((path, found)),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            Err(CatalogError::NotADirectory(typed.to_owned()))
        }
        Err(error) => Err(CatalogError::io(typed)(error)),
    }
}

/// Returns whether a walk of a directory yields a file, or an entry that may hide files.
fn has_files(directory: &Path, settings: &Settings) -> Result<bool, CatalogError> {
    let exclude = settings.excludes()?;
    let is_recorded = |entry: std::fs::DirEntry| {
        let is_file = entry.file_type().is_ok_and(|it| it.is_file());
        is_file && !exclude.matches(entry.file_name().as_bytes(), false)
    };
    // A walk reads and sorts a whole directory before its first file.
    if !directory.join(IGNORE_FILE).exists()
        && directory.read_dir().is_ok_and(|entries| entries.flatten().any(is_recorded))
    {
        return Ok(true);
    }
    let is_file = |entry: Entry| matches!(entry, Entry::File(_) | Entry::Failed { .. });
    Ok(walk_root(directory, settings)?.any(is_file))
}

/// Returns whether the inner one of two directories is mounted in the other one.
fn is_mounted_between(one: &Path, other: &Path) -> Result<bool, CatalogError> {
    let (outer, inner) = if one.starts_with(other) { (other, one) } else { (one, other) };
    let Ok(below) = inner.strip_prefix(outer) else { return Ok(false) };
    Ok(Mounts::below(outer)?.over(below.as_os_str().as_bytes()).is_some())
}

/// Returns the indices of the roots that contain a path, with the part of the path below each.
fn below<'r>(path: &Path, places: &[(PathBuf, &'r Root)]) -> Vec<(&'r Root, Vec<u8>)> {
    let below = |place: &Path| Some(path.strip_prefix(place).ok()?.as_os_str().as_bytes().to_vec());
    places.iter().filter_map(|(place, root)| Some((*root, below(place)?))).collect()
}

/// Returns the path without links up to the first of these roots. The rest stays unchanged.
fn resolved(path: &Path, places: &[(PathBuf, &Root)]) -> PathBuf {
    let mut resolved = path.to_owned();
    let mut above: Vec<_> = path.ancestors().collect();
    while let Some(directory) = above.pop() {
        let Ok(canonical) = directory.canonicalize() else { break };
        let below = path.strip_prefix(directory).unwrap_or(Path::new(""));
        let is_at_end = places.iter().any(|(place, _)| canonical.starts_with(place));
        resolved = if below.as_os_str().is_empty() { canonical } else { canonical.join(below) };
        if is_at_end {
            break;
        }
    }
    resolved
}

/// Returns the path without `..`, resolving links before each.
fn without_parents(path: &Path) -> PathBuf {
    let mut without = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            without = without.canonicalize().unwrap_or(without);
            without.pop();
        } else {
            without.push(part);
        }
    }
    without
}

//! Roots: the folders that are cataloged, each with its policy.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use lanesum_list::{Algorithm, Algorithms};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, Transaction, TransactionBehavior};

use crate::check::require_rows;
use crate::mounts::Mounts;
use crate::scan::is_blank;
use crate::stat::tells_births;
use crate::table::{ROOT, blob, int, text};
use crate::volume::{FolderId, is_same_volume};
use crate::{Catalog, CatalogError, digests};

/// Why a root is suspended that was emptied.
pub(crate) const NOTHING: &str = "nothing is in it";
/// Why one is that may be accepted as it is.
pub(crate) const ANOTHER: &str = "another volume or another folder is there";

/// A folder that is cataloged with all that is in it, on one file system.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Root {
    pub(crate) id: i64,
    /// Its path, absolute and without links.
    pub path: PathBuf,
    pub(crate) volume: String,
    pub(crate) inode: i64,
    /// Whether a file keeps its number over a mount, so that it can be found under another name.
    pub(crate) inodes_last: bool,
    /// How its files are looked after.
    pub policy: Policy,
    /// Why it was left alone when it was looked at last.
    pub suspended: Option<String>,
    /// Of all its files together.
    pub bytes: i64,
}

/// Other roots of a root's device, by their ids.
#[derive(Default)]
pub(crate) struct Kin {
    /// Those that are there, on it: a number is that of one file in all of them.
    pub(crate) here: Vec<i64>,
    /// Those that are not there, as since the folder was put into another, and whose volume is
    /// called as its own. A copy of a disk is called so, too.
    pub(crate) away: Vec<i64>,
}

/// How the files of a root are looked after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// What is computed of each file, in one read. The default is MD5.
    pub algorithms: Algorithms,
    /// In so many days each file is read once. The default is 90.
    pub every_days: u32,
    /// More missing files than so many in a hundred, and than 100, suspend the root. The default is
    /// 10; 100 lets everything go.
    pub max_gone: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self { algorithms: Algorithm::Md5.into(), every_days: 90, max_gone: 10 }
    }
}

impl Policy {
    /// A file that was not read for longer than so many days is late: its period, and a tenth of it
    /// or two days to catch up.
    #[must_use]
    pub fn late_after_days(&self) -> u32 {
        self.every_days.saturating_add((self.every_days / 10).max(2))
    }
}

impl Root {
    /// What it is called by in the catalog; no other root ever is.
    #[must_use]
    pub fn id(&self) -> i64 {
        self.id
    }

    /// Whether its files kept their numbers when it was looked at last: damaged ones are known by
    /// these, whatever becomes of their rows.
    #[must_use]
    pub fn numbers_last(&self) -> bool {
        self.inodes_last
    }

    /// The path of a file or folder below it.
    #[must_use]
    pub fn path_of(&self, below: &[u8]) -> PathBuf {
        if below.is_empty() { self.path.clone() } else { self.path.join(OsStr::from_bytes(below)) }
    }

    /// What of a path is below it; `None` of one that is not in it. Nothing of the root itself.
    #[must_use]
    pub fn below<'p>(&self, path: &'p Path) -> Option<&'p [u8]> {
        path.strip_prefix(&self.path).ok().map(|below| below.as_os_str().as_bytes())
    }

    /// Why the folder is not the one that was cataloged, if it is not.
    pub(crate) fn why_not_there(&self) -> Option<String> {
        match FolderId::of(&self.path) {
            Ok(found) if found.is_that_of(&self.volume, self.inode) => None,
            Ok(_) if is_blank(&self.path).unwrap_or(false) => {
                Some(format!("another folder is there, and {NOTHING}"))
            }
            Ok(_) => Some(ANOTHER.to_owned()),
            Err(error) => Some(lanesum_checksum::error::message(&error)),
        }
    }

    /// The other roots whose files have numbers of its device, as far as is known.
    pub(crate) fn kin(&self, db: &Connection) -> Result<Kin, CatalogError> {
        let device = |root: &Self| {
            let found = FolderId::of(&root.path).ok()?;
            found.is_that_of(&root.volume, root.inode).then_some(found.device)
        };
        let mut kin = Kin::default();
        let Some(own) = device(self) else { return Ok(kin) };
        let births_are_known = tells_births(&self.path);
        for other in Self::all(db)?.into_iter().filter(|it| it.id != self.id && it.inodes_last) {
            match device(&other) {
                Some(device) if device == own => kin.here.push(other.id),
                None if births_are_known && is_same_volume(&self.volume, &other.volume) => {
                    kin.away.push(other.id);
                }
                _ => {}
            }
        }
        Ok(kin)
    }

    /// All of them, in the order in which they were taken up.
    fn all(db: &Connection) -> Result<Vec<Self>, CatalogError> {
        let sql = format!("SELECT {} FROM root t ORDER BY id", ROOT.select("t"));
        let mut statement = db.prepare_cached(&sql)?;
        let mut rows = statement.query([])?;
        let mut roots = Vec::new();
        while let Some(row) = rows.next()? {
            roots.push(Self::read(row)?);
        }
        Ok(roots)
    }

    /// The root of this id, as it is stored.
    pub(crate) fn find(db: &Connection, id: i64) -> Result<Option<Self>, CatalogError> {
        let sql = format!("SELECT {} FROM root t WHERE id = ?1", ROOT.select("t"));
        let mut statement = db.prepare_cached(&sql)?;
        let mut rows = statement.query([id])?;
        rows.next()?.map(Self::read).transpose()
    }

    pub(crate) fn put(&self, db: &Connection) -> Result<(), CatalogError> {
        let Policy { algorithms, every_days, max_gone } = self.policy;
        let suspended = self.suspended.as_deref().map_or(ValueRef::Null, text);
        ROOT.put(
            db,
            &[
                int(self.id),
                blob(self.path.as_os_str().as_bytes()),
                text(&self.volume),
                int(self.inode),
                int(digests::number_of(algorithms)?),
                int(self.inodes_last.into()),
                int(every_days.into()),
                int(max_gone.into()),
                suspended,
                int(self.bytes),
            ],
        )
    }

    fn read(row: &Row<'_>) -> Result<Self, CatalogError> {
        ROOT.verify(row, 0)?;
        let path: Vec<u8> = row.get(1)?;
        let damaged = |what: &str| CatalogError::Damaged(format!("a root has {what}"));
        let number = |place| -> Result<u32, CatalogError> {
            row.get::<_, i64>(place)?.try_into().map_err(|_| damaged("a policy out of range"))
        };
        Ok(Self {
            id: row.get(0)?,
            path: PathBuf::from(OsStr::from_bytes(&path)),
            volume: row.get(2)?,
            inode: row.get(3)?,
            inodes_last: row.get(5)?,
            policy: Policy {
                algorithms: digests::set_of(row.get(4)?)
                    .ok_or_else(|| damaged("algorithms that are not known"))?,
                every_days: number(6)?,
                max_gone: number(7)?,
            },
            suspended: row.get(8)?,
            bytes: row.get(9)?,
        })
    }
}

impl Catalog {
    /// The roots, in the order in which they were taken up.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn roots(&self) -> Result<Vec<Root>, CatalogError> {
        let roots = Root::all(&self.db)?;
        if roots.is_empty() {
            // That there are none is believed only where nothing says otherwise.
            require_rows(&self.db)?;
        }
        Ok(roots)
    }

    /// Why the folder of a root is not the one that was cataloged, cannot be read, or is empty, if
    /// it is.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn why_not_there(&self, root: &Root) -> Result<Option<String>, CatalogError> {
        match root.why_not_there() {
            Some(why) => Ok(Some(why)),
            None => self.why_blank(root, root.policy.max_gone),
        }
    }

    /// The root that a path is in or is, and what of the path is below it. The path need not exist.
    /// Below a root a link is followed nowhere: a row is found by the name that it has, whatever is
    /// there now.
    ///
    /// # Errors
    /// [`CatalogError::NoRoot`].
    pub fn root_of(&self, path: &Path) -> Result<(Root, Vec<u8>), CatalogError> {
        let mut roots = self.roots()?;
        // What is mounted in a root may be a root of its own: the innermost one.
        roots.sort_by_key(|root| std::cmp::Reverse(root.path.as_os_str().len()));
        let typed = without_parents(&std::path::absolute(path).map_err(CatalogError::io(path))?);
        // The names that are cataloged come first; then what links above a root lead to, and then
        // what leads to where a root is now, if a link is in its place.
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
        for (root, below) in &found {
            // What an outer one had there before something was mounted is called by that name
            // still.
            if below.is_empty() || self.has_rows_at(root, below)? {
                return Ok((Root::clone(root), below.clone()));
            }
        }
        if found.is_empty() {
            // That there is none is believed only where nothing says otherwise.
            require_rows(&self.db)?;
        }
        let first = found.into_iter().next();
        let (root, below) = first.ok_or_else(|| CatalogError::NoRoot(path.to_owned()))?;
        Ok((root.clone(), below))
    }

    /// Takes up a folder as a root, without its files; of one that is there already the policy is
    /// replaced.
    ///
    /// # Errors
    /// It is no folder, or shares files with another root.
    pub fn add_root(&mut self, folder: &Path, policy: Policy) -> Result<Root, CatalogError> {
        self.put_root(folder, policy)
    }

    /// Takes up folders as [`add_root`](Self::add_root) does: all of them, or none.
    ///
    /// # Errors
    /// As there, of the first that cannot be.
    pub fn add_roots(&mut self, folders: &[(&Path, Policy)]) -> Result<Vec<Root>, CatalogError> {
        let transaction = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        let roots = folders.iter().map(|(folder, policy)| self.put_root(folder, *policy));
        let roots = roots.collect::<Result<_, _>>()?;
        transaction.commit()?;
        Ok(roots)
    }

    fn put_root(&self, folder: &Path, policy: Policy) -> Result<Root, CatalogError> {
        digests::number_of(policy.algorithms)?;
        let path = folder.canonicalize().map_err(CatalogError::io(folder))?;
        let found = FolderId::of(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotADirectory => CatalogError::NotAFolder(folder.to_owned()),
            _ => CatalogError::io(folder)(error),
        })?;
        let roots = self.roots()?;
        // It may have been moved, and a link put in its place.
        let is_it =
            |root: &&Root| root.path == path || root.path.canonicalize().is_ok_and(|it| it == path);
        if let Some(root) = roots.iter().find(is_it) {
            let root = Root { policy, ..root.clone() };
            root.put(&self.db)?;
            return Ok(root);
        }
        for root in &roots {
            let is_inside = root.path.starts_with(&path) || path.starts_with(&root.path);
            // Whether a root that is not there is mounted is unknown.
            let is_of_device = |other: FolderId| other.device == found.device;
            if is_inside
                && FolderId::of(&root.path).map_or(true, is_of_device)
                && !is_mounted_between(&root.path, &path)?
            {
                let other = root.path.clone();
                return Err(CatalogError::Overlaps { path: folder.to_owned(), other });
            }
        }
        // Events of a root that was forgotten must not become another's.
        let sql = "SELECT max(coalesce((SELECT max(id) FROM root), 0), \
                   coalesce((SELECT max(root) FROM run), 0)) + 1";
        let id = self.db.query_row(sql, [], |row| row.get(0))?;
        let FolderId { volume, inode, .. } = found;
        let (inodes_last, suspended) = (true, None);
        let root = Root { id, path, volume, inode, inodes_last, policy, suspended, bytes: 0 };
        root.put(&self.db)?;
        Ok(root)
    }
}

/// Whether the one of two folders that is in the other is there by a mount, and so no part of it.
fn is_mounted_between(one: &Path, other: &Path) -> Result<bool, CatalogError> {
    let (outer, inner) = if one.starts_with(other) { (other, one) } else { (one, other) };
    let Ok(below) = inner.strip_prefix(outer) else { return Ok(false) };
    Ok(Mounts::below(outer)?.over(below.as_os_str().as_bytes()).is_some())
}

/// The places of roots that a path is in or is, and what of the path is below each.
fn below<'r>(path: &Path, places: &[(PathBuf, &'r Root)]) -> Vec<(&'r Root, Vec<u8>)> {
    let below = |place: &Path| Some(path.strip_prefix(place).ok()?.as_os_str().as_bytes().to_vec());
    places.iter().filter_map(|(place, root)| Some((*root, below(place)?))).collect()
}

/// The path without links as far as the first of these places of roots; it stays as it is from
/// there on.
fn resolved(path: &Path, places: &[(PathBuf, &Root)]) -> PathBuf {
    let mut resolved = path.to_owned();
    let mut above: Vec<_> = path.ancestors().collect();
    while let Some(folder) = above.pop() {
        let Ok(canonical) = folder.canonicalize() else { break };
        let below = path.strip_prefix(folder).unwrap_or(Path::new(""));
        let is_at_end = places.iter().any(|(place, _)| canonical.starts_with(place));
        resolved = if below.as_os_str().is_empty() { canonical } else { canonical.join(below) };
        if is_at_end {
            break;
        }
    }
    resolved
}

/// The path without `..`, each of which leads to where the system goes for it: out of what a link
/// leads to, as far as that exists.
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

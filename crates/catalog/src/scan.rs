//! A root as it is, held against the catalog: a walk and a look at each file, merged with the rows,
//! both in byte order of whole paths. Nothing is read here, and nothing written.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, DirEntry};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use lanesum_checksum::engine::look_at;
use lanesum_checksum::error::message;
use lanesum_checksum::walk::{Entry, Skip, Walk, WalkOptions, walk};
use lanesum_list::Inode;
use rusqlite::Connection;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, Stat as SystemStat, statat};

use crate::CatalogError;
use crate::class::{Class, Status};
use crate::finding::Finding;
use crate::mounts::Mounts;
use crate::options::GoesOn;
use crate::root::Root;
use crate::rows::{File, Files, checked, split};
use crate::stat::Stat;

/// After so many names it is asked whether to go on.
const ASKED: usize = 64;

/// What a root is walked with: it is one file system, and what is mounted in it is told.
pub(crate) fn walk_root(root: &Path) -> Walk {
    let mut options = WalkOptions::default();
    options.one_file_system = true;
    options.tell_mounts = true;
    walk(root, &options)
}

/// A file that has no row.
#[derive(Debug)]
pub(crate) struct New {
    pub(crate) path: Vec<u8>,
    pub(crate) stat: Stat,
    /// Whether its file has no other name.
    pub(crate) is_only_name: bool,
}

/// A row whose file, or what was its file, may have another name beside the row's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Other {
    pub(crate) id: i64,
    /// The number that is cataloged.
    pub(crate) known: i64,
    /// That of what is in its place; none where that could not be looked at.
    pub(crate) there: Option<i64>,
}

/// What a look at a root tells.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Files whose stat is what it was.
    pub(crate) same: Vec<i64>,
    /// The same of those that have another number.
    pub(crate) renumbered: Vec<i64>,
    /// Files whose stat is not, or that are not well: only reading them tells.
    pub(crate) doubtful: Vec<i64>,
    /// Rows without a file.
    pub(crate) gone: Vec<File>,
    pub(crate) new: Vec<New>,
    /// Rows below what could not be looked at, of which nothing is known.
    pub(crate) unknown: u64,
    /// These, and rows whose file has several names or is another than it was.
    pub(crate) others: Vec<Other>,
    /// What could not be looked at.
    pub(crate) unreadable: Vec<Finding>,
    /// The same of what a repair of the file system found, as long as no row is below it.
    repairs: Option<Finding>,
    /// What is mounted there, and no part of the root.
    pub(crate) mounts: Vec<Vec<u8>>,
    /// How many rows are below each of them.
    pub(crate) hidden: BTreeMap<Vec<u8>, u64>,
    /// Whether there is anything at all.
    pub(crate) is_empty: bool,
}

impl Scan {
    /// Rows that the catalog has.
    pub(crate) fn rows(&self) -> u64 {
        let known = [self.same.len(), self.renumbered.len(), self.doubtful.len(), self.gone.len()];
        known.iter().sum::<usize>() as u64 + self.unknown
    }
}

/// Looks at all of a root. `statuses` has those of the rows that are not well, `own` the files that
/// the catalog itself consists of. At a time that `settles`, what was read while it may have been
/// written to, and is at rest since, is to be read again: until then rot in it looks like an edit.
/// So is what was taken up under another name without being read, where the move hid what else
/// moved the time of its inode. A disk may take minutes for it: what `goes_on` is shall know that
/// it does, and cannot end it, since half of a look tells nothing.
pub(crate) fn scan(
    db: &Connection,
    root: &Root,
    statuses: &HashMap<i64, Status>,
    own: &[Inode],
    settles: Option<i64>,
    goes_on: Option<&GoesOn>,
) -> Result<Scan, CatalogError> {
    let mut scan = Scan { is_empty: true, ..Scan::default() };
    let mut blind = Blind::default();
    let mut rows = Rows { files: Files::of(db, root.id), next: None };
    rows.advance()?;
    let is_settling = |file: &File, stat: &Stat| -> Result<bool, CatalogError> {
        let Some(now) = settles else { return Ok(false) };
        let is_unsettled = !file.is_settled;
        Ok(file.was_moved
            || is_unsettled && stat.is_settled_at(now)
            || is_unsettled && file.was_so_at(stat, checked(db, file.id)?, now))
    };
    let mounts = Mounts::below(&root.path)?;
    for mount in mounts.iter() {
        blind.add(mount);
        scan.mounted(mount);
    }
    let mut eye = Eye::default();
    let length = prefix_len(&root.path);
    for (number, entry) in walk_root(&root.path).enumerate() {
        if let Some(goes_on) = goes_on.filter(|_| number % ASKED == 0) {
            goes_on.says();
        }
        let path = entry.path().as_os_str().as_bytes().get(length..).unwrap_or_default();
        // What every new disk has is nothing.
        scan.is_empty &=
            matches!(&entry, Entry::Failed { error, .. } if is_of_repairs(path, error));
        if mounts.over(path).is_some() {
            continue;
        }
        let stat = match &entry {
            Entry::File(file) => match eye.look(file) {
                // What is no regular file any more, or not there, is not the one that was.
                Ok(system) => Stat::of(&system)
                    .filter(|(_, inode)| !own.contains(inode))
                    .map(|(stat, _)| (stat, system.st_nlink)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => {
                    scan.cannot_look(path, &error, &mut blind);
                    continue;
                }
            },
            Entry::Skipped { why: Skip::OtherDevice, .. } => {
                blind.add(path);
                scan.mounted(path);
                continue;
            }
            Entry::Skipped { .. } => None,
            Entry::Failed { error, path: whole } if came_and_went(whole, error) => None,
            Entry::Failed { error, .. } => {
                scan.cannot_look(path, error, &mut blind);
                continue;
            }
        };
        let Some((stat, links)) = stat else { continue };
        rows.take_before(path, |file| scan.miss(file, &blind))?;
        match rows.take_at(path)? {
            Some(file) => {
                if links > 1 || file.stat.inode != stat.inode {
                    let there = Some(stat.inode);
                    scan.others.push(Other { id: file.id, known: file.stat.inode, there });
                }
                let is_bad = statuses.contains_key(&file.id);
                let is_doubtful = is_bad || is_settling(&file, &stat)?;
                scan.compare(&file, &stat, is_doubtful);
            }
            None => scan.new.push(New { path: path.to_vec(), stat, is_only_name: links == 1 }),
        }
    }
    while let Some(file) = rows.next.take() {
        scan.miss(file, &blind);
        rows.advance()?;
    }
    Ok(scan)
}

impl Scan {
    fn cannot_look(&mut self, path: &[u8], error: &io::Error, blind: &mut Blind) {
        blind.add(path);
        let finding = Finding::new(Class::Unreadable, path.to_vec()).because(message(error));
        if is_of_repairs(path, error) {
            // Told if something cataloged is below it.
            self.repairs = Some(finding);
        } else {
            self.unreadable.push(finding);
        }
    }

    fn mounted(&mut self, path: &[u8]) {
        self.mounts.push(path.to_vec());
        self.hidden.insert(path.to_vec(), 0);
    }

    fn miss(&mut self, file: File, blind: &Blind) {
        if let Some(over) = blind.over(&file) {
            self.unknown += 1;
            if let Some(files) = self.hidden.get_mut(&over) {
                *files += 1;
            }
            let is_below = |finding: &mut Finding| finding.path == over;
            self.unreadable.extend(self.repairs.take_if(is_below));
            self.others.push(Other { id: file.id, known: file.stat.inode, there: None });
        } else {
            self.gone.push(file);
        }
    }

    fn compare(&mut self, file: &File, stat: &Stat, is_doubtful: bool) {
        if is_doubtful || !file.stat.is_same_content(stat) {
            self.doubtful.push(file.id);
            return;
        }
        let has_number = file.stat.inode == stat.inode;
        if has_number { &mut self.same } else { &mut self.renumbered }.push(file.id);
    }
}

/// The folder at the top of a disk where a repair of ext4 puts what it found.
const REPAIRS: &str = "lost+found";

/// Whether it is the folder of repairs, which is root's: no other user can read it, or has a file
/// in it.
pub(crate) fn is_of_repairs(below: &[u8], error: &io::Error) -> bool {
    below == REPAIRS.as_bytes() && error.kind() == io::ErrorKind::PermissionDenied
}

/// Whether a folder has nothing in it, as one that a disk is to be mounted on, or nothing but what
/// an empty disk has.
pub(crate) fn is_blank(folder: &Path) -> io::Result<bool> {
    let is_in = |entry: io::Result<DirEntry>| {
        let Ok(entry) = entry else { return true };
        let name = entry.file_name();
        let has_nothing = || match fs::read_dir(entry.path()) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => is_of_repairs(name.as_bytes(), &error),
        };
        !(name == REPAIRS && has_nothing())
    };
    Ok(!fs::read_dir(folder)?.any(is_in))
}

/// Whether what could not be looked at is gone: somebody made it and took it away, or cataloged
/// files are missing, which their rows tell.
pub(crate) fn came_and_went(path: &Path, error: &io::Error) -> bool {
    let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    is_gone(error) && path.symlink_metadata().is_err_and(|error| is_gone(&error))
}

/// Looks at files from their folder, which stays open from one to the next: to find it anew by its
/// whole path takes half as long again.
#[derive(Default)]
struct Eye {
    path: Vec<u8>,
    folder: Option<OwnedFd>,
}

impl Eye {
    fn look(&mut self, file: &Path) -> io::Result<SystemStat> {
        let (path, name) = split(file.as_os_str().as_bytes());
        if *path != *self.path {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            self.path.clear();
            self.path.extend_from_slice(path);
            // The slash would follow a link in the place of the folder.
            let folder = path.strip_suffix(b"/").filter(|it| !it.is_empty()).unwrap_or(path);
            self.folder = rustix::fs::open(folder, flags, Mode::empty()).ok();
        }
        match &self.folder {
            Some(folder) => Ok(statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?),
            // Perhaps its path is too long for one call.
            None => look_at(file),
        }
    }
}

/// The length of a root's path with its slash.
pub(crate) fn prefix_len(root: &Path) -> usize {
    let path = root.as_os_str().as_bytes();
    path.len() + usize::from(!path.ends_with(b"/"))
}

/// The rows, one ahead.
struct Rows<'db> {
    files: Files<'db>,
    next: Option<File>,
}

impl Rows<'_> {
    fn advance(&mut self) -> Result<(), CatalogError> {
        self.next = self.files.next()?;
        Ok(())
    }

    /// Takes the rows whose paths come before this one.
    fn take_before(&mut self, path: &[u8], mut take: impl FnMut(File)) -> Result<(), CatalogError> {
        let is_before = |file: &mut File| compare(&file.folder, &file.name, path).is_lt();
        while let Some(file) = self.next.take_if(is_before) {
            take(file);
            self.advance()?;
        }
        Ok(())
    }

    /// The row of this path.
    fn take_at(&mut self, path: &[u8]) -> Result<Option<File>, CatalogError> {
        let is_it = |file: &mut File| compare(&file.folder, &file.name, path).is_eq();
        let found = self.next.take_if(is_it);
        if found.is_some() {
            self.advance()?;
        }
        Ok(found)
    }
}

/// Orders a path in two pieces and one in one.
fn compare(folder: &[u8], name: &[u8], path: &[u8]) -> std::cmp::Ordering {
    let (head, rest) = path.split_at(folder.len().min(path.len()));
    folder.cmp(head).then_with(|| name.cmp(rest))
}

/// What could not be looked at, with all that is below it.
#[derive(Default)]
struct Blind(HashSet<Vec<u8>>);

impl Blind {
    fn add(&mut self, path: &[u8]) {
        self.0.insert(path.to_vec());
    }

    /// The outermost of it that a file is below or is.
    fn over(&self, file: &File) -> Option<Vec<u8>> {
        if self.0.is_empty() {
            return None;
        }
        let path = file.path();
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let folders = slashes.map(|(place, _)| &path[..place]);
        let mut all = std::iter::once(&b""[..]).chain(folders).chain([&path[..]]);
        all.find(|it| self.0.contains(*it)).map(<[u8]>::to_vec)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn paths_in_pieces_are_ordered_as_whole_ones() {
        let folders: [&[u8]; 4] = [b"", b"a/", b"a/b/", b"b/"];
        let names: [&[u8]; 4] = [b"a", b"a-b", b"a0", b"b"];
        let pairs = || folders.iter().flat_map(|folder| names.map(|name| (*folder, name)));
        for (folder, name) in pairs() {
            for (other, last) in pairs() {
                let (whole, path) = ([folder, name].concat(), [other, last].concat());
                assert_eq!(compare(folder, name, &path), whole.cmp(&path));
            }
        }
    }

    #[test]
    fn what_is_below_a_blind_spot_is_hidden() {
        let mut blind = Blind::default();
        let file = |folder: &[u8], name: &[u8]| File {
            id: 1,
            folder: Arc::from(folder),
            name: name.into(),
            stat: Stat::default(),
            is_settled: true,
            was_moved: false,
            digests: Default::default(),
            renamed: None,
        };
        assert!(blind.over(&file(b"a/b/", b"c")).is_none());
        blind.add(b"a/b");
        let hidden = [(&b"a/b/"[..], &b"c"[..]), (b"a/b/d/", b"c"), (b"a/", b"b")];
        assert!(hidden.iter().all(|(folder, name)| blind.over(&file(folder, name)).is_some()));
        assert!(
            blind.over(&file(b"a/bc/", b"d")).is_none() && blind.over(&file(b"", b"a")).is_none()
        );
        blind.add(b"");
        assert!(blind.over(&file(b"", b"a")).is_some());
    }
}

//! Compares the current state of a root with its records: a walk with a stat of each file, merged
//! with the records, both in byte order of full paths. This module reads no contents and writes
//! nothing.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use lanesum_checksum::disk::Mounts;
use lanesum_checksum::engine::look_at;
use lanesum_checksum::error::message;
use lanesum_checksum::walk::{BadLine, Entry, Skip};
use lanesum_list::Inode;
use rusqlite::Connection;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, Stat as SystemStat, statat};

use crate::CatalogError;
use crate::model::{Reason, Stat};
use crate::options::GoesOn;
use crate::root::Root;
use crate::store::rows::{File, Files, split};
use crate::summary::Skipped;
use crate::walk::walk_root;

/// The number of entries between calls of the caller.
const ASKED: usize = 64;

/// A file without a record at its path.
#[derive(Clone, Debug)]
pub(crate) struct NewFile {
    pub(crate) path: Vec<u8>,
    pub(crate) stat: Stat,
}

/// A file or directory that the scan could not examine.
#[derive(Clone, Debug)]
pub(crate) struct Blind {
    pub(crate) path: Vec<u8>,
    pub(crate) reason: Reason,
    pub(crate) error: Option<String>,
    /// The number of records at its path or below it.
    pub(crate) files: u64,
}

/// The result of a scan of a root.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Records whose file has the recorded size and time.
    pub(crate) same: Vec<i64>,
    /// Those of `same` that are not settled.
    pub(crate) unsettled: Vec<i64>,
    /// Records whose file has a different size or time.
    pub(crate) differing: Vec<(i64, Stat)>,
    /// Records without a file.
    pub(crate) gone: Vec<File>,
    /// Records of files that are now excluded.
    pub(crate) excluded: Vec<File>,
    pub(crate) new: Vec<NewFile>,
    pub(crate) blind: Vec<Blind>,
    /// The paths and records whose file has a different inode than recorded, by inode.
    pub(crate) replaced: HashMap<i64, (Vec<u8>, i64)>,
    /// The number of `same` records whose file has a different inode.
    renumbered: usize,
    pub(crate) skipped: Skipped,
}

impl Scan {
    /// The number of records of the root.
    pub(crate) fn records(&self) -> u64 {
        let known = self.same.len() + self.differing.len() + self.gone.len() + self.excluded.len();
        known as u64 + self.blind.iter().map(|blind| blind.files).sum::<u64>()
    }

    /// Returns whether most files with the recorded size and time kept their inodes. Otherwise the
    /// file system assigns new ones at every mount.
    pub(crate) fn has_stable_inodes(&self) -> bool {
        2 * self.renumbered <= self.same.len()
    }
}

/// Scans a root. `own` are the files of the catalog itself. The scan calls `goes_on` to show its
/// caller that it is alive. It cannot be stopped, because half a scan proves nothing.
pub(crate) fn scan(
    db: &Connection,
    root: &Root,
    own: &[Inode],
    goes_on: Option<&GoesOn>,
) -> Result<Scan, CatalogError> {
    let mut scanner = Scanner {
        scan: Scan::default(),
        records: Records { files: Files::of(db, root.id()), next: None },
        blind: HashMap::new(),
        excluded: HashSet::new(),
    };
    scanner.records.advance()?;
    for mount in Mounts::below(&root.path)?.iter() {
        scanner.mounted(mount);
    }
    let mut prober = Prober::default();
    for (number, entry) in walk_root(&root.path, &root.settings)?.enumerate() {
        if let Some(goes_on) = goes_on.filter(|_| number % ASKED == 0) {
            goes_on.says();
        }
        let path = root.below_walked(entry.path()).to_vec();
        if scanner.blind_above(&path).is_none() {
            scanner.take(entry, path, own, &mut prober)?;
        }
    }
    scanner.finish()
}

struct Scanner<'db> {
    scan: Scan,
    records: Records<'db>,
    /// Indices in `scan.blind`, by path.
    blind: HashMap<Vec<u8>, usize>,
    excluded: HashSet<Vec<u8>>,
}

impl Scanner<'_> {
    fn take(
        &mut self,
        entry: Entry,
        path: Vec<u8>,
        own: &[Inode],
        prober: &mut Prober,
    ) -> Result<(), CatalogError> {
        let (whole, error) = match entry {
            Entry::File(file) => match prober.stat(&file) {
                Ok(stat) => {
                    let file = Stat::of(&stat).filter(|(_, inode)| !own.contains(inode));
                    return file.map_or(Ok(()), |(stat, _)| self.file(path, stat));
                }
                Err(error) => (file, error),
            },
            Entry::Skipped { why, .. } => {
                self.skip(why, path);
                return Ok(());
            }
            Entry::Failed { error, .. } if BadLine::in_error(&error).is_some() => {
                self.scan.skipped.bad_lines.push((path, error.to_string()));
                return Ok(());
            }
            Entry::Failed { path, error } => (path, error),
        };
        if !came_and_went(&whole, &error) {
            self.cannot_see(path, reason_of(&error), Some(message(&error)));
        }
        Ok(())
    }

    fn skip(&mut self, why: Skip, path: Vec<u8>) {
        if why == Skip::OtherDevice {
            return self.mounted(&path);
        }
        if why == Skip::Excluded {
            self.excluded.insert(path.clone());
        }
        self.scan.skipped.add(path, why);
    }

    fn file(&mut self, path: Vec<u8>, stat: Stat) -> Result<(), CatalogError> {
        while let Some(file) = self.records.take_before(&path)? {
            self.miss(file);
        }
        let Some(file) = self.records.take_at(&path)? else {
            self.scan.new.push(NewFile { path, stat });
            return Ok(());
        };
        let is_renumbered = stat.inode != file.stat.inode;
        if is_renumbered {
            self.scan.replaced.insert(stat.inode, (path, file.id));
        }
        if !stat.is_as_recorded(&file.stat) {
            self.scan.differing.push((file.id, stat));
            return Ok(());
        }
        self.scan.same.push(file.id);
        self.scan.renumbered += usize::from(is_renumbered);
        if !file.is_settled {
            self.scan.unsettled.push(file.id);
        }
        Ok(())
    }

    fn mounted(&mut self, path: &[u8]) {
        if !self.blind.contains_key(path) {
            self.scan.skipped.mounts.push(path.to_vec());
            self.cannot_see(path.to_vec(), Reason::MountedOver, None);
        }
    }

    fn cannot_see(&mut self, path: Vec<u8>, reason: Reason, error: Option<String>) {
        self.blind.insert(path.clone(), self.scan.blind.len());
        self.scan.blind.push(Blind { path, reason, error, files: 0 });
    }

    /// Handles a record whose file the scan did not find.
    fn miss(&mut self, file: File) {
        let path = file.path();
        if let Some(place) = self.blind_above(&path) {
            self.scan.blind[place].files += 1;
        } else if above(&path).any(|it| self.excluded.contains(it)) {
            self.scan.excluded.push(file);
        } else {
            self.scan.gone.push(file);
        }
    }

    /// Returns the unexaminable entries at this path or above it.
    fn blind_above(&self, path: &[u8]) -> Option<usize> {
        if self.blind.is_empty() {
            return None;
        }
        above(path).find_map(|it| self.blind.get(it)).copied()
    }

    fn finish(mut self) -> Result<Scan, CatalogError> {
        while let Some(file) = self.records.next.take() {
            self.miss(file);
            self.records.advance()?;
        }
        // A mount that hides no record is only counted.
        self.scan.blind.retain(|it| it.files > 0 || it.reason != Reason::MountedOver);
        Ok(self.scan)
    }
}

/// A path and its parent directories, the root first.
pub(crate) fn above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let directories = slashes.map(|(place, _)| &path[..place]);
    std::iter::once(&b""[..]).chain(directories).chain([path])
}

/// Returns why a file or directory cannot be examined.
pub(crate) fn reason_of(error: &io::Error) -> Reason {
    match error.kind() {
        io::ErrorKind::PermissionDenied => Reason::Permission,
        _ => Reason::IoError,
    }
}

/// Returns whether a file that could not be examined is missing now.
pub(crate) fn came_and_went(path: &Path, error: &io::Error) -> bool {
    let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    is_gone(error) && path.symlink_metadata().is_err_and(|error| is_gone(&error))
}

/// Stats files relative to their directory, which stays open. Using full paths takes 50 % longer.
#[derive(Default)]
struct Prober {
    path: Vec<u8>,
    directory: Option<OwnedFd>,
}

impl Prober {
    fn stat(&mut self, file: &Path) -> io::Result<SystemStat> {
        let (path, name) = split(file.as_os_str().as_bytes());
        if *path != *self.path {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            self.path.clear();
            self.path.extend_from_slice(path);
            // With the slash, a link that replaced the directory would be followed.
            let directory = path.strip_suffix(b"/").filter(|it| !it.is_empty()).unwrap_or(path);
            self.directory = rustix::fs::open(directory, flags, Mode::empty()).ok();
        }
        match &self.directory {
            Some(directory) => Ok(statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?),
            // Its path may be too long for one call.
            None => look_at(file),
        }
    }
}

/// The records, with one read ahead.
struct Records<'db> {
    files: Files<'db>,
    next: Option<File>,
}

impl Records<'_> {
    fn advance(&mut self) -> Result<(), CatalogError> {
        self.next = self.files.next()?;
        Ok(())
    }

    /// Returns the next record, if its path comes before this one.
    fn take_before(&mut self, path: &[u8]) -> Result<Option<File>, CatalogError> {
        self.take_if(path, Ordering::is_lt)
    }

    /// Returns the record of this path.
    fn take_at(&mut self, path: &[u8]) -> Result<Option<File>, CatalogError> {
        self.take_if(path, Ordering::is_eq)
    }

    fn take_if(
        &mut self,
        path: &[u8],
        is_it: fn(Ordering) -> bool,
    ) -> Result<Option<File>, CatalogError> {
        let found = self.next.take_if(|file| is_it(compare(&file.directory, &file.name, path)));
        if found.is_some() {
            self.advance()?;
        }
        Ok(found)
    }
}

/// Compares a path in two pieces with one in one piece.
fn compare(directory: &[u8], name: &[u8], path: &[u8]) -> Ordering {
    let (head, rest) = path.split_at(directory.len().min(path.len()));
    directory.cmp(head).then_with(|| name.cmp(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_pieces_are_ordered_as_whole_ones() {
        let directories: [&[u8]; 4] = [b"", b"a/", b"a/b/", b"b/"];
        let names: [&[u8]; 4] = [b"a", b"a-b", b"a0", b"b"];
        let pairs = || directories.iter().flat_map(|it| names.map(|name| (*it, name)));
        for (directory, name) in pairs() {
            for (other, last) in pairs() {
                let (whole, path) = ([directory, name].concat(), [other, last].concat());
                assert_eq!(compare(directory, name, &path), whole.cmp(&path));
            }
        }
    }

    #[test]
    fn a_path_is_in_its_directories_and_the_root() {
        let all: Vec<_> = above(b"a/bc/d").collect();
        assert_eq!(all, [&b""[..], b"a", b"a/bc", b"a/bc/d"]);
    }
}

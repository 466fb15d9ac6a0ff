//! Reads a side: the lines of a list, or the files of a directory.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use lanesum_list::formats::{Line, Wrong};
use lanesum_list::{Inode, Record, Time, Times};
use rustix::fs::stat;

use super::side::{Side, State};
use crate::Algorithms;
use crate::check::{self, FormatOfList, List, ListError};
use crate::engine::{inode_of, look_at};
use crate::list::{self, ListReader, OneFolder, Snapshot};
use crate::walk::{self, Entry, Skip, WalkOptions};

/// The data of a side that could not be used, or only with assumptions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Doubts {
    /// The number of invalid lines.
    pub malformed: u64,
    /// The number of the first invalid line, from 1, and its error.
    pub first_malformed: Option<(u64, String)>,
    /// The number of lines with unsupported algorithms.
    pub unknown: u64,
    /// The names of the algorithms in these lines.
    pub unknown_algorithms: BTreeSet<String>,
    /// The assumed algorithms of untagged lines.
    pub untagged: Algorithms,
    /// The entries that a walk skipped.
    pub skipped: Vec<(PathBuf, Skip)>,
    /// The number of skipped links, which are not among the skipped entries.
    pub links: u64,
    /// Whether the names of a list are Windows paths: with backslashes and without slashes.
    pub has_backslashes: bool,
    /// The common directory of all names of a list, if more files would be found on the other side
    /// with [`Options::strip`](super::Options::strip), which removes it. Empty otherwise.
    pub would_be_seen_from: Vec<u8>,
    /// The prefix that was removed from the names of a list. Empty if the names are unchanged.
    pub seen_from: Vec<u8>,
    /// The other possible prefix, if it also finds files: the path of the directory, or an empty
    /// prefix.
    pub may_be_seen_from: Option<Vec<u8>>,
}

impl Doubts {
    /// Returns whether some entries may not have been compared.
    #[must_use]
    pub const fn are_there(&self) -> bool {
        self.malformed > 0 || self.unknown > 0
    }

    fn bad_line(&mut self, number: u64, why: &str) {
        self.malformed += 1;
        self.first_malformed.get_or_insert_with(|| (number, why.to_owned()));
    }
}

/// A side while it is read, not sorted yet.
pub(super) struct Given {
    pub(super) side: Side,
    pub(super) doubts: Doubts,
    /// The list itself, which may be in the directory of the other side.
    pub(super) inode: Option<Inode>,
}

impl Given {
    /// Makes the names relative to a directory.
    pub(super) fn see_from(&mut self, prefix: Vec<u8>) {
        self.side.names_mut().see_from(&prefix);
        self.doubts.seen_from = prefix;
    }
}

/// Reads a list to its end.
///
/// If the writer of the list did not encode names, literal names of files in the directory are
/// used, unless another line has that name.
pub(super) fn read_list(
    list: &List,
    options: &check::Options,
    root: Option<&Path>,
) -> Result<Given, ListError> {
    let file = list.open().map_err(ListError::Open)?;
    let stat = rustix::fs::fstat(&file).map_err(|error| ListError::Open(error.into()))?;
    let snapshot = Snapshot::of(&file).map_err(ListError::Open)?;
    let text = list::open(BufReader::with_capacity(1 << 18, file), options.dialect.ending())?;
    let head = text.get_ref().0.get_ref();
    let FormatOfList { mut format, .. } = FormatOfList::new(list, head, options);
    let mut lines = ListReader::new(text);
    let (mut side, mut doubts, mut last) = (Side::default(), Doubts::default(), 1);
    let mut folder = OneFolder::default();
    // Names that look encoded, and records that may have a literal name.
    let (mut signed, mut aside) = (HashSet::new(), Vec::new());
    let mut has_slashes = false;
    while let Some(line) = lines.next_line(&mut *format).map_err(ListError::Read)? {
        last = line.number;
        match line.parse_behind(side.len() > 0, &mut *format) {
            Line::Blank => {}
            Line::Record { record, is_tagged } => {
                let mut record = record.with_etag_as_md5();
                if !is_tagged {
                    doubts.untagged = doubts.untagged.union(record.algorithms());
                }
                has_slashes |= record.name.contains(&b'/');
                doubts.has_backslashes |= record.name.contains(&b'\\');
                if let Err(why) = folder.take(format.folder()) {
                    doubts.bad_line(last, &why.to_string());
                    continue;
                }
                if root.is_some() && record.name.contains(&b'%') {
                    signed.insert(record.name.to_vec());
                }
                if let (Some(root), Some(raw)) = (root, record.raw_name.take()) {
                    let is_there = |name: &[u8]| path(root, name).symlink_metadata().is_ok();
                    if !is_there(&record.name) && is_there(&raw) {
                        aside.push((record.into_owned(), raw.into_owned()));
                        continue;
                    }
                }
                push(&mut side, record);
            }
            Line::Unknown(algorithm) => {
                doubts.unknown += 1;
                doubts.unknown_algorithms.insert(algorithm.to_owned());
            }
            Line::Malformed => doubts.bad_line(last, "not a checksum line"),
            Line::Wrong(why) => doubts.bad_line(last, &why.to_string()),
        }
    }
    for (mut record, raw) in aside {
        if !signed.contains(&raw) {
            record.name = raw.into();
        }
        push(&mut side, record);
    }
    doubts.has_backslashes &= !has_slashes;
    if !format.may_end() {
        doubts.bad_line(last, &Wrong::CutOff.to_string());
    }
    if snapshot.has_changed() {
        return Err(ListError::Changed);
    }
    if side.len() == 0 && !doubts.are_there() && !snapshot.is_regular() {
        return Err(ListError::NothingCame);
    }
    Ok(Given { side, doubts, inode: Some(inode_of(&stat)) })
}

fn push(side: &mut Side, mut record: Record<'_>) {
    if let Some(name) = normal(&record.name) {
        record.name = name.into();
    }
    side.push(&record);
}

/// Returns a name without `.` and doubled slashes, or `None` if it does not change.
fn normal(name: &[u8]) -> Option<Vec<u8>> {
    let is_normal = !name.starts_with(b"./")
        && !name.ends_with(b"/.")
        && memchr::memmem::find(name, b"//").is_none()
        && memchr::memmem::find(name, b"/./").is_none();
    if is_normal {
        return None;
    }
    let mut normal = if name.starts_with(b"/") { b"/".to_vec() } else { Vec::new() };
    for part in name.split(|&byte| byte == b'/').filter(|part| !part.is_empty() && *part != b".") {
        if !normal.is_empty() && normal != b"/" {
            normal.push(b'/');
        }
        normal.extend_from_slice(part);
    }
    // No file has this name.
    if name.ends_with(b"/") || name.ends_with(b"/.") {
        normal.push(b'/');
    }
    Some(normal)
}

/// Walks a directory and sorts its files. If size and time are needed, examines each file. Skips
/// the file `list`.
///
/// # Errors
/// Fails if the directory itself cannot be read. Unreadable files and directories below it are
/// entries.
pub(super) fn read_tree(
    root: &Path,
    options: &WalkOptions,
    wants_sizes: bool,
    list: Option<(Inode, &Path)>,
) -> io::Result<Given> {
    let (mut side, mut doubts) = (Side::default(), Doubts::default());
    let prefix = prefix(root);
    let is_list = |path: &Path| {
        let Some((inode, list)) = list else { return false };
        list.file_name() == path.file_name()
            && stat(path).is_ok_and(|file| inode_of(&file) == inode)
            && fs::canonicalize(path).ok() == fs::canonicalize(list).ok()
    };
    let options = WalkOptions { report_links: true, ..options.clone() };
    for entry in walk::walk(root, &options) {
        let (path, failure) = match entry {
            Entry::File(path) => {
                let look = if wants_sizes { Some(look(&path, options.follow)) } else { None };
                let state = if is_list(&path) { State::LeftOut } else { State::Comparable };
                match look.transpose() {
                    Ok(found) => {
                        let record = found.unwrap_or_default();
                        side.push(&Record { name: below(&path, &prefix).into(), ..record });
                        if state == State::LeftOut {
                            side.fail(side.len() - 1, state, None);
                        }
                        continue;
                    }
                    Err(error) => (path, error),
                }
            }
            Entry::Skipped { why: Skip::Link, .. } => {
                doubts.links += 1;
                continue;
            }
            Entry::Skipped { path, why } => {
                doubts.skipped.push((path, why));
                continue;
            }
            Entry::Failed { path, error } if path == root => return Err(error),
            Entry::Failed { path, error } => (path, error),
        };
        side.push(&Record::new(below(&path, &prefix)));
        let reason = crate::error::message(&failure);
        let state = if path.is_dir() { State::UnreadableFolder } else { State::Unreadable };
        side.fail(side.len() - 1, state, Some(reason));
    }
    side.sort();
    Ok(Given { side, doubts, inode: None })
}

/// Returns the path of a directory as the prefix of the paths of its files.
pub(super) fn prefix(root: &Path) -> Vec<u8> {
    let mut prefix = root.as_os_str().as_bytes().to_vec();
    if !prefix.ends_with(b"/") {
        prefix.push(b'/');
    }
    prefix
}

/// Returns the path of a file relative to the directory of a prefix.
fn below<'a>(path: &'a Path, prefix: &[u8]) -> &'a [u8] {
    let path = path.as_os_str().as_bytes();
    path.strip_prefix(prefix).unwrap_or(path)
}

/// Returns the path of the file of a name in a directory.
pub(super) fn path(root: &Path, name: &[u8]) -> PathBuf {
    root.join(OsStr::from_bytes(name))
}

/// Returns the size and time of a file.
fn look(path: &Path, follow: bool) -> io::Result<Record<'static>> {
    // Links are not followed, also in paths that are too long for one call.
    let stat = if follow { stat(path)? } else { look_at(path)? };
    let modified = Time { seconds: stat.st_mtime, nanoseconds: stat.st_mtime_nsec as u32 };
    let times = Times { modified: Some(modified), ..Times::default() };
    Ok(Record { size: Some(stat.st_size.cast_unsigned()), times, ..Record::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redundant_path_parts_are_removed() {
        for (name, expected) in [
            ("a/b", None),
            ("/a", None),
            ("../a", None),
            (".a", None),
            ("a/.b", None),
            ("./a", Some("a")),
            ("a//b", Some("a/b")),
            ("a/./b", Some("a/b")),
            ("//a/.//b/.", Some("/a/b/")),
            ("a/", None),
            ("././a/", Some("a/")),
        ] {
            assert_eq!(normal(name.as_bytes()).as_deref(), expected.map(str::as_bytes), "{name}");
        }
    }
}

//! Files that have another name: which rows without a file are which files without a row.

use std::collections::{BTreeMap, HashMap, HashSet};

use lanesum_list::{Algorithms, Digest, Digests};

use crate::class::{Class, Status};
use crate::digests::algorithms;
use crate::finding::Finding;
use crate::root::Root;
use crate::rows::{File, have_same_content, split};
use crate::scan::New;
use crate::sighting::Sightings;
use crate::stat::{Stat, UNKNOWN_SIZE, is_beyond, is_file_of, number, tells_births};

/// Rows without a file, each of which one file may turn out to be.
#[derive(Default)]
pub(crate) struct Gone {
    files: Vec<Option<File>>,
    by_inode: HashMap<i64, Vec<usize>>,
    /// Those that are known to be damaged, by their ids.
    damaged: HashMap<i64, usize>,
    /// All that are not well.
    not_well: HashMap<i64, usize>,
    /// Whether the file system says when files were made.
    births_are_known: bool,
    by_digest: HashMap<Digest, Vec<usize>>,
    /// What those of a size have digests of.
    by_size: HashMap<i64, Algorithms>,
}

impl Gone {
    /// Of these rows of a root, of which `statuses` has those that are not well.
    pub(crate) fn new(files: Vec<File>, root: &Root, statuses: &HashMap<i64, Status>) -> Self {
        let mut gone = Self { births_are_known: tells_births(&root.path), ..Self::default() };
        for (place, file) in files.iter().enumerate() {
            if root.inodes_last {
                gone.by_inode.entry(file.stat.inode).or_default().push(place);
            }
            if let Some(status) = statuses.get(&file.id) {
                gone.not_well.insert(file.id, place);
                if status.may_be_damaged() {
                    gone.damaged.insert(file.id, place);
                }
            }
            // Empty files match nothing.
            if file.stat.size != 0 && !file.digests.is_empty() {
                // Of whichever algorithm what may be it has one, too.
                for digest in file.digests.iter() {
                    gone.by_digest.entry(*digest).or_default().push(place);
                }
                let known = gone.by_size.entry(file.stat.size).or_default();
                *known = known.union(algorithms(&file.digests));
            }
        }
        gone.files = files.into_iter().map(Some).collect();
        gone
    }

    /// The row that a file is, which has its number, size and time: it need not be read. One that
    /// is damaged, and one whose size alone is another, may have any, or it would be taken up as
    /// new. What was seen to be damaged is the row's that it was held against, or none's.
    pub(crate) fn take_renamed(
        &mut self,
        root: &Root,
        sightings: &Sightings,
        new: &New,
    ) -> Option<File> {
        let Self { files, by_inode, damaged, not_well, births_are_known, .. } = self;
        let is_known = by_inode.contains_key(&new.stat.inode);
        let seen = sightings.at(root, &new.stat, || new.path.clone());
        let seen = seen.filter(|seen| !(seen.is_away() && is_known));
        if let Some(seen) = seen
            && seen.is_of_root()
        {
            // What may have rotted may stand as missing by now.
            let rows = if seen.status == Status::Changed { not_well } else { damaged };
            return rows.get(&seen.row).and_then(|&place| files[place].take());
        }
        let places = by_inode.get(&new.stat.inode)?;
        let path = root.path_of(&new.path);
        let is_its = |file: &File| is_file_of(&file.stat, &path, &new.stat, *births_are_known);
        // What was seen to be damaged in another root is to be read, and no edit.
        let is_unseen = seen.is_none();
        let is_it =
            |file: &File| is_unseen && number(&file.stat) == number(&new.stat) && is_its(file);
        let was_it = |file: &File| {
            let is_altered = is_unseen && is_altered(&file.stat, &new.stat);
            *births_are_known && (is_altered || damaged.contains_key(&file.id)) && is_its(file)
        };
        take(files, places, &new.path, is_it).or_else(|| take(files, places, &new.path, was_it))
    }

    /// Those of them that had this number and are no file so far.
    pub(crate) fn of_number(&self, number: i64) -> impl Iterator<Item = &File> {
        let places = self.by_inode.get(&number).into_iter().flatten();
        places.filter_map(|&place| self.files[place].as_ref())
    }

    /// How many are gone that are not known to be.
    pub(crate) fn newly(&self, statuses: &HashMap<i64, Status>) -> u64 {
        let is_new = |file: &&File| statuses.get(&file.id) != Some(&Status::Missing);
        self.files.iter().flatten().filter(is_new).count() as u64
    }

    /// Whether a file of this size may be one of the rows.
    pub(crate) fn may_be(&self, size: i64) -> bool {
        let is_unknown = size > 0 && self.by_size.contains_key(&UNKNOWN_SIZE);
        is_unknown || self.by_size.contains_key(&size)
    }

    /// What is to be computed of a file of this size to tell whether it is one of the rows.
    pub(crate) fn algorithms_of(&self, size: i64) -> Algorithms {
        let of_unknown = self.by_size.get(&UNKNOWN_SIZE).filter(|_| size > 0);
        let known = self.by_size.get(&size).into_iter().chain(of_unknown);
        known.fold(Algorithms::NONE, |all, one| all.union(*one))
    }

    /// The row whose content a file has.
    pub(crate) fn take_same(&mut self, path: &[u8], size: i64, digests: &Digests) -> Option<File> {
        let Self { files, by_digest, .. } = self;
        digests.iter().find_map(|digest| {
            let is_it =
                |file: &File| have_same_content((file.stat.size, &file.digests), (size, digests));
            take(files, by_digest.get(digest)?, path, is_it)
        })
    }

    /// Those that no file is.
    pub(crate) fn into_missing(self) -> impl Iterator<Item = File> {
        self.files.into_iter().flatten()
    }
}

/// Whether the size of a file is another, and its time is not.
pub(crate) fn is_altered(before: &Stat, now: &Stat) -> bool {
    before.size != now.size && before.modified == now.modified && !is_beyond(now.modified)
}

/// Takes one of the rows at these places: the one of the same name, if there is one.
fn take(
    files: &mut [Option<File>],
    places: &[usize],
    path: &[u8],
    is_it: impl Fn(&File) -> bool,
) -> Option<File> {
    let (_, name) = split(path);
    let left = |place: &&usize| files[**place].as_ref().is_some_and(&is_it);
    let has_name = |place: &&usize| files[**place].as_ref().is_some_and(|it| *it.name == *name);
    let place = places.iter().filter(left).find(has_name).or_else(|| places.iter().find(left))?;
    files[*place].take()
}

/// What moved, from and to: a line for all that went from one folder to another in one piece.
#[derive(Default)]
pub(crate) struct Moves(Vec<(Vec<u8>, Vec<u8>)>);

impl Moves {
    pub(crate) fn add(&mut self, from: Vec<u8>, to: Vec<u8>) {
        self.0.push((from, to));
    }

    /// A finding for each folder that files went to under the names that they had, and for each
    /// file that went alone.
    pub(crate) fn into_findings(self) -> impl Iterator<Item = Finding> {
        let mut folders: BTreeMap<[Vec<u8>; 2], (u64, Vec<u8>)> = BTreeMap::new();
        for (from, to) in self.0 {
            let key = folders_of(&from, &to).map(<[u8]>::to_vec);
            let rest = to[key[0].len()..].to_vec();
            let (count, last) = folders.entry(key).or_default();
            *count += 1;
            *last = rest;
        }
        folders.into_iter().map(|([to, from], (files, rest))| {
            let whole =
                |folder: Vec<u8>| if files == 1 { [&*folder, &*rest].concat() } else { folder };
            let mut finding = Finding::new(Class::Moved, whole(to));
            finding.other = Some(whole(from));
            finding.files = files;
            finding
        })
    }
}

/// Of files that have another name now, and look so, those that changed beside their move. A file
/// that is renamed has another time of its inode by that alone, but one whose folder is has not: if
/// another went the same way and has its own, what moved the time of this one was something else.
pub(crate) fn changed_beside(renamed: &[(File, Stat)]) -> HashSet<i64> {
    let way = |file: &File| {
        let [from, to] = [file.path(), file.place()];
        folders_of(&from, &to).map(<[u8]>::to_vec)
    };
    let changed = || renamed.iter().filter(|(file, stat)| file.stat.changed != stat.changed);
    let mut ways: HashMap<_, bool> = changed().map(|(file, _)| (way(file), false)).collect();
    if ways.is_empty() {
        return HashSet::new();
    }
    for (file, _) in renamed.iter().filter(|(file, stat)| file.stat.changed == stat.changed) {
        if let Some(is_of_folder) = ways.get_mut(&way(file)) {
            *is_of_folder = true;
        }
    }
    changed().filter(|(file, _)| ways[&way(file)]).map(|(file, _)| file.id).collect()
}

/// The folders that a file went to and came from, with all that it shares with others that went
/// the same way taken off.
fn folders_of<'p>(from: &'p [u8], to: &'p [u8]) -> [&'p [u8]; 2] {
    let mut shared = shared_end(from, to);
    let rest = &to[to.len() - shared..];
    // What moved into the root, or out of it, is not all that is there.
    if let Some(slash) = rest.iter().position(|&byte| byte == b'/')
        && (shared == from.len() || shared == to.len())
    {
        shared -= slash + 1;
    }
    [&to[..to.len() - shared], &from[..from.len() - shared]]
}

/// Bytes of the names that both paths end in, with no slash before them: `a/b/c` and `d/b/c` share
/// `b/c`.
fn shared_end(from: &[u8], to: &[u8]) -> usize {
    let pairs = from.iter().rev().zip(to.iter().rev());
    let same = pairs.take_while(|(one, other)| one == other).count();
    let begins =
        |path: &[u8], shared: usize| path.len() == shared || path[path.len() - shared - 1] == b'/';
    (0..=same).rev().find(|&shared| begins(from, shared) && begins(to, shared)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_moved_is_one_line() {
        let mut moves = Moves::default();
        for (from, to) in [
            ("a/x/1", "b/x/1"),
            ("a/2", "b/2"),
            ("c", "d"),
            ("e/one", "f/one"),
            ("top", "deep/top"),
            ("top2", "deep/top2"),
            ("h/3", "deep/h/3"),
            ("h/x/4", "deep/h/x/4"),
        ] {
            moves.add(from.into(), to.into());
        }
        let lines: Vec<_> = moves
            .into_findings()
            .map(|it| {
                let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
                format!("{} -> {} ({})", text(it.other.unwrap()), text(it.path), it.files)
            })
            .collect();
        assert_eq!(
            lines,
            [
                "a/ -> b/ (2)",
                "c -> d (1)",
                " -> deep/ (2)",
                "h/ -> deep/h/ (2)",
                "e/one -> f/one (1)"
            ]
        );
    }

    #[test]
    fn paths_share_whole_names() {
        for (from, to, shared) in [
            ("a/b", "c/b", 1),
            ("ab", "cb", 0),
            ("a/b/c", "b/c", 3),
            ("a", "b/a", 1),
            ("x", "y", 0),
        ] {
            assert_eq!(shared_end(from.as_bytes(), to.as_bytes()), shared, "{from} {to}");
        }
    }
}

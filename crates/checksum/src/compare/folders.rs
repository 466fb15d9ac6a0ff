//! Finds renamed directories among moved files.

use std::collections::BTreeMap;

use super::Difference;
use super::matches::folders;
use super::side::Names;

/// A renamed directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct FolderMove {
    /// The new name, without a slash at its end.
    pub to: Vec<u8>,
    /// The previous name.
    pub from: Vec<u8>,
    /// The moved files in it.
    pub files: u64,
}

/// Renamed directories, in byte order of their new names. Dereferences to a slice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderMoves(Vec<FolderMove>);

impl std::ops::Deref for FolderMoves {
    type Target = [FolderMove];

    fn deref(&self) -> &[FolderMove] {
        &self.0
    }
}

impl FolderMoves {
    /// Returns the index of the directory that a file was moved with.
    #[must_use]
    pub fn place_of(&self, moved: &Difference<'_>) -> Option<usize> {
        let (from, to) = folders(moved.from?, moved.name);
        self.binary_search_by(|folder| (&*folder.to, &*folder.from).cmp(&(to, from))).ok()
    }
}

/// Finds the directories of moves, given by their previous and new names.
pub(super) fn renamed<'a>(
    moves: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    before: &Names,
    now: &Names,
) -> FolderMoves {
    let mut counts = BTreeMap::<(&[u8], &[u8]), u64>::new();
    let mut all = Vec::new();
    for (from, to) in moves {
        all.push(from);
        let (from, to) = folders(from, to);
        *counts.entry((to, from)).or_default() += 1;
    }
    all.sort_unstable();
    let moved_out = |folder: &[u8]| {
        let first = all.partition_point(|&name| name < &*[folder, b"/"].concat());
        let end = all.partition_point(|&name| name < &*[folder, b"0"].concat());
        (end - first) as u64
    };
    let is_gone = |names: &Names, folder: &[u8]| !names.has_prefix(&[folder, b"/"].concat());
    let is_whole = |&((to, from), files): &((&[u8], &[u8]), u64)| {
        let are_folders = !from.is_empty() && !to.is_empty();
        files > 1
            && are_folders
            && files == moved_out(from)
            && is_gone(now, from)
            && is_gone(before, to)
    };
    let folder = |((to, from), files): ((&[u8], &[u8]), u64)| FolderMove {
        to: to.to_vec(),
        from: from.to_vec(),
        files,
    };
    FolderMoves(counts.into_iter().filter(is_whole).map(folder).collect())
}

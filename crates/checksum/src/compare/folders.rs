//! Folders that were renamed: many moves that are one.

use std::collections::BTreeMap;

use super::matches::folders;
use super::side::Names;

/// A folder that was renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FolderMove {
    /// Its name before, without a slash at its end.
    pub from: Vec<u8>,
    /// Its name now.
    pub to: Vec<u8>,
    /// The files in it that were moved.
    pub files: u64,
}

impl FolderMove {
    /// Whether it is this folder that a file was moved with.
    #[must_use]
    pub fn has_moved(&self, from: &[u8], to: &[u8]) -> bool {
        let below = |name: &[u8], folder: &[u8]| -> Option<Vec<u8>> {
            let rest = name.strip_prefix(folder)?;
            rest.starts_with(b"/").then(|| rest.to_vec())
        };
        below(from, &self.from).is_some_and(|rest| below(to, &self.to) == Some(rest))
    }
}

/// Finds the folders of moves, given by their names before and now.
pub(super) fn renamed<'a>(
    moves: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    before: &Names,
    now: &Names,
) -> Vec<FolderMove> {
    let mut counts = BTreeMap::<(&[u8], &[u8]), u64>::new();
    for (from, to) in moves {
        let (from, to) = folders(from, to);
        *counts.entry((to, from)).or_default() += 1;
    }
    let is_gone = |names: &Names, folder: &[u8]| !names.has_prefix(&[folder, b"/"].concat());
    counts
        .into_iter()
        .filter(|&((to, from), files)| {
            files > 1
                && !from.is_empty()
                && !to.is_empty()
                && is_gone(now, from)
                && is_gone(before, to)
        })
        .map(|((to, from), files)| FolderMove { from: from.to_vec(), to: to.to_vec(), files })
        .collect()
}

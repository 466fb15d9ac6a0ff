//! Why a path of a root has no record.

use std::ffi::OsString;
use std::path::PathBuf;

use lanesum_checksum::walk::{Entry, Exclude, Skip};

use crate::CatalogError;
use crate::root::Root;
use crate::scan::above;
use crate::walk::walk_root;

/// Returns the error for a path of a root without a record, which may be excluded.
pub(crate) fn not_recorded(root: &Root, below: &[u8], path: PathBuf) -> CatalogError {
    let is_there = path.symlink_metadata().is_ok();
    match is_there.then(|| excluded(root, below)).flatten() {
        Some(excluded) => {
            let pattern = pattern_of(root, &excluded);
            CatalogError::Excluded { path, pattern }
        }
        None => CatalogError::NotRecorded(path),
    }
}

/// Returns the path of the excluded file or directory at a path or above it.
fn excluded(root: &Root, below: &[u8]) -> Option<Vec<u8>> {
    // The paths of a walk ascend.
    let last = [below, b"/"].concat();
    for entry in walk_root(&root.path, &root.settings).ok()? {
        let path = root.below_walked(entry.path());
        if path > &last[..] {
            return None;
        }
        let is_excluded = matches!(entry, Entry::Skipped { why: Skip::Excluded, .. });
        if is_excluded && above(below).any(|it| it == path) {
            return Some(path.to_vec());
        }
    }
    None
}

/// Returns the first pattern of the settings that excludes a path.
fn pattern_of(root: &Root, path: &[u8]) -> Option<OsString> {
    let is_directory = root.path_of(path).is_dir();
    let excludes =
        |pattern: &OsString| Exclude::new([pattern]).is_ok_and(|it| it.matches(path, is_directory));
    root.settings.patterns().into_iter().find(excludes)
}

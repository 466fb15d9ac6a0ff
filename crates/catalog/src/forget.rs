//! Deleting records.

use std::path::PathBuf;

use crate::options::Options;
use crate::{Catalog, CatalogError};

/// What came of several paths.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Forgotten {
    /// By path, what was deleted.
    pub paths: Vec<ForgottenPath>,
    /// Paths of which nothing was, and why.
    pub failed: Vec<(PathBuf, CatalogError)>,
}

/// Records that were deleted.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ForgottenPath {
    /// The path as it was given.
    pub path: PathBuf,
    /// Records.
    pub files: u64,
    /// Of these, files that are still there, which `update` would record as new.
    pub still_there: u64,
    /// Of these, damaged files.
    pub damaged: u64,
    /// Whether the root as a whole is no longer in the catalog.
    pub is_root: bool,
}

impl Catalog {
    /// Deletes the records at paths and below them, in one transaction; with `only_missing` those
    /// of missing files alone.
    ///
    /// # Errors
    /// Those of the catalog; those of one path are in the result.
    pub fn forget(
        &mut self,
        paths: &[PathBuf],
        only_missing: bool,
        options: &Options,
    ) -> Result<Forgotten, CatalogError> {
        let _ = (paths, only_missing, options);
        todo!()
    }
}

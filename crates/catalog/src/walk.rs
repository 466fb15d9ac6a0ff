//! Walks a root: one file system, without excluded entries.

use std::path::Path;

use lanesum_checksum::walk::{Walk, WalkOptions, walk};

use crate::CatalogError;
use crate::settings::{IGNORE_FILE, Settings};

/// Walks a root.
///
/// # Errors
/// A pattern of the settings is invalid.
pub(crate) fn walk_root(root: &Path, settings: &Settings) -> Result<Walk, CatalogError> {
    let mut options = WalkOptions::default();
    options.one_file_system = true;
    options.report_mounts = true;
    options.report_links = true;
    options.report_excluded = true;
    options.exclude = settings.excludes()?;
    options.ignore_file = Some(IGNORE_FILE.into());
    Ok(walk(root, &options))
}

//! `lanesum add --dry-run`: prints what would be recorded.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use indicatif::{DecimalBytes, HumanCount};
use lanesum_catalog::{Catalog, CatalogError, Root, Settings, SettingsPatch};
use lanesum_checksum::walk::{BadLine, Entry, Skip, walk};

use super::add::{known, settings_for};
use super::commands::Commands;
use super::errors::print_hint;
use super::print::name;
use super::run::walk_options;
use super::{Code, place};
use crate::args::Add;
use crate::console::Console;
use crate::counts::files;

/// The number of listed paths of each kind.
const MOST: usize = 20;

/// Prints what `add` would record, and changes nothing.
///
/// # Errors
/// Errors of the catalog and of standard output.
pub fn run(args: &Add, patch: &SettingsPatch, console: &mut Console) -> anyhow::Result<Code> {
    let path = place::path(&args.reading.place)?;
    let catalog = path.exists().then(|| Catalog::look(&path)).transpose()?;
    let mut code = Code::Nothing;
    for directory in &args.directories {
        let (settings, is_known) = match &catalog {
            Some(catalog) => {
                require_apart(catalog, directory)?;
                let is_known = known(catalog, directory)?.is_some();
                (settings_for(catalog, directory, patch)?, is_known)
            }
            None => (patch.apply(&Settings::default()), false),
        };
        let found = Found::in_directory(directory, &settings)?;
        found.print(directory, is_known, console).map_err(CatalogError::Output)?;
        if is_known {
            console.flush().map_err(CatalogError::Output)?;
            let scan = Commands { place: &args.reading.place, console }.about("scan", directory);
            print_hint(&format!("to list new and edited files: {scan}"), console);
        }
        if found.files == 0 {
            return Err(CatalogError::EmptyDirectory(directory.clone()).into());
        }
        if !found.failed.is_empty() {
            code = Code::Incomplete;
        }
    }
    console.flush().map_err(CatalogError::Output)?;
    Ok(code)
}

/// Checks that a directory shares no files with a root, unless it is that root.
fn require_apart(catalog: &Catalog, directory: &Path) -> Result<(), CatalogError> {
    let device = |path: &Path| path.metadata().map(|metadata| metadata.dev()).ok();
    let path = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let overlaps = |root: &Root| {
        let is_inside = root.path.starts_with(&path) || path.starts_with(&root.path);
        root.path != path && is_inside && device(&root.path) == device(&path)
    };
    match catalog.roots()?.into_iter().find(overlaps) {
        Some(root) => Err(CatalogError::Overlaps { path: directory.to_owned(), other: root.path }),
        None => Ok(()),
    }
}

/// The entries that a walk finds in a directory.
#[derive(Debug, Default)]
struct Found {
    files: u64,
    bytes: u64,
    excluded: Vec<PathBuf>,
    links: Vec<PathBuf>,
    mounts: Vec<PathBuf>,
    special: Vec<PathBuf>,
    /// Ignore files with an invalid pattern.
    bad_lines: Vec<(PathBuf, io::Error)>,
    failed: Vec<PathBuf>,
}

impl Found {
    fn in_directory(directory: &Path, settings: &Settings) -> Result<Self, CatalogError> {
        let mut options = walk_options(settings)?;
        (options.report_links, options.report_mounts, options.report_excluded) = (true, true, true);
        let mut found = Self::default();
        for entry in walk(directory, &options) {
            match entry {
                Entry::File(path) => match path.symlink_metadata() {
                    Ok(metadata) => {
                        found.files += 1;
                        found.bytes += metadata.len();
                    }
                    Err(_) => found.failed.push(path),
                },
                Entry::Skipped { path, why: Skip::Link } => found.links.push(path),
                Entry::Skipped { path, why: Skip::OtherDevice } => found.mounts.push(path),
                Entry::Skipped { path, why: Skip::Excluded } => found.excluded.push(path),
                Entry::Skipped { path, .. } => found.special.push(path),
                Entry::Failed { path, error } if BadLine::in_error(&error).is_some() => {
                    found.bad_lines.push((path, error));
                }
                Entry::Failed { path, .. } => found.failed.push(path),
            }
        }
        Ok(found)
    }

    fn print(&self, directory: &Path, is_known: bool, console: &mut Console) -> io::Result<()> {
        for (path, error) in &self.bad_lines {
            console.about(name(path), &format!("warning: {error}"));
        }
        let mut line = Vec::new();
        console.quote(&mut line, name(directory));
        let bytes = DecimalBytes(self.bytes);
        let what = if is_known { "compared with their records" } else { "recorded" };
        line.extend_from_slice(
            format!(": {}, {bytes} would be {what}\n", files(self.files)).as_bytes(),
        );
        console.line(&line)?;
        for (paths, what) in [
            (&self.excluded, "excluded"),
            (&self.links, "symbolic link, skipped"),
            (&self.mounts, "mounted file system, needs its own add"),
            (&self.special, "pipe, socket or device, skipped"),
            (&self.failed, "cannot be read"),
        ] {
            for path in paths.iter().take(MOST) {
                let mut line = b"  ".to_vec();
                console.quote(&mut line, name(path));
                line.extend_from_slice(format!(" ({what})\n").as_bytes());
                console.line(&line)?;
            }
            if let Some(more) = paths.len().checked_sub(MOST).filter(|more| *more > 0) {
                let more = HumanCount(more as u64);
                console.line(format!("  ... and {more} more ({what})\n").as_bytes())?;
            }
        }
        Ok(())
    }
}

//! What the pages show, read from the catalog.

use std::io;
use std::path::PathBuf;

use lanesum_catalog::{Attention, Catalog, CatalogError, Class, Event, FileFilter, Root};

use crate::file::PAGE;
use crate::runs::{DAYS, Runs};
use crate::view::{File, Folder, Lists, Past};
use crate::words::DAY;

/// Entries of the history of a file.
const EVENTS: usize = 50;

/// All roots, and how they stand.
pub fn folders(catalog: &Catalog, now: i64) -> Result<Vec<(Root, Folder)>, CatalogError> {
    let all = catalog.status(now)?.into_iter();
    Ok(all.map(|status| (status.root.clone(), Folder::of(status))).collect())
}

/// The first files of each root that are not `ok`.
pub fn lists(catalog: &Catalog, roots: &[(Root, Folder)]) -> Result<Lists, CatalogError> {
    let mut lists = Lists::default();
    let needs = |(_, folder): &(Root, Folder)| folder.attention > Attention::Nothing;
    if !roots.iter().any(needs) {
        return Ok(lists);
    }
    let mut filter = FileFilter::default();
    filter.only_bad = true;
    catalog.files(&filter, &mut |file| {
        if let Some((root, _)) = roots.iter().find(|(root, _)| root.id() == file.root) {
            lists.add(root.id(), File::of(file, root));
        }
        Ok(())
    })?;
    for (root, folder) in roots {
        if folder.count(Class::New) + folder.unknown > 0 {
            for file in catalog.pending(root)? {
                lists.add(root.id(), File::of_pending(file, root));
            }
        }
    }
    lists.sort();
    Ok(lists)
}

/// The runs of the last days.
pub fn runs(catalog: &Catalog, now: i64) -> Result<Runs, CatalogError> {
    let mut runs = Runs::default();
    catalog.runs(now - DAYS * DAY, &mut |run| {
        runs.add(Past::of(run));
        Ok(())
    })?;
    Ok(runs)
}

/// A page of the files of one class in a root, after the first `from`.
pub fn files(
    catalog: &Catalog,
    root: &Root,
    class: Class,
    from: usize,
) -> Result<Vec<File>, CatalogError> {
    if class == Class::New {
        let pending = catalog.pending(root)?.into_iter().filter(|it| it.class == class);
        return Ok(pending.skip(from).take(PAGE).map(|it| File::of_pending(it, root)).collect());
    }
    let mut filter = FileFilter::default();
    filter.only_bad = true;
    let (mut before, mut files) = (0, Vec::new());
    let taken = catalog.files(&filter, &mut |file| {
        if file.root != root.id() || file.class != class {
            return Ok(());
        }
        if before < from {
            before += 1;
            return Ok(());
        }
        if files.len() == PAGE {
            // The page is full: this ends the list early.
            return Err(io::ErrorKind::Interrupted.into());
        }
        files.push(File::of(file, root));
        Ok(())
    });
    match taken {
        Err(CatalogError::Output(_)) | Ok(()) => Ok(files),
        Err(error) => Err(error),
    }
}

/// A recorded file.
pub struct Found {
    pub file: File,
    /// A recorded file with the same content.
    pub copy: Option<PathBuf>,
    pub events: Vec<Event>,
}

/// The recorded file of this id, if there is one.
pub fn file(catalog: &Catalog, id: i64) -> Result<Option<Found>, CatalogError> {
    let Some(file) = catalog.file(id)? else { return Ok(None) };
    let Some(root) = catalog.root(file.root)? else { return Ok(None) };
    let is_lost = matches!(file.class, Class::Damaged | Class::Missing);
    let copy = match is_lost {
        true => catalog.find_copies(&[file.recorded.digests.clone()])?.pop().flatten(),
        false => None,
    };
    let events =
        catalog.events_of(root.id(), root.below(&file.path).unwrap_or_default(), EVENTS)?;
    Ok(Some(Found { file: File::of(file, &root), copy, events }))
}

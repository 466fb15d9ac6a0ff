//! Reads the data of the pages from the catalog.

use std::path::PathBuf;

use lanesum_catalog::{Catalog, CatalogError, Class, Event, FileFilter, Profile, Root};

use crate::web::file::PAGE;
use crate::web::runs::{DAYS, Runs};
use crate::web::view::{File, Folder, Gone, Lists, Past};
use crate::web::words::DAY;

/// Entries of the history of a file.
const EVENTS: usize = 50;

/// All roots, and how they stand.
pub fn folders(catalog: &Catalog, now: i64) -> Result<Vec<(Root, Folder)>, CatalogError> {
    let all = catalog.status(now)?.into_iter();
    Ok(all.map(|status| (status.root.clone(), Folder::of(status))).collect())
}

/// The first files of each root that are not `ok`.
pub fn lists(catalog: &Catalog, roots: &[(Root, Folder)], now: i64) -> Result<Lists, CatalogError> {
    let mut lists = Lists::default();
    let mut filter = FileFilter::default();
    (filter.only_bad, filter.most_each) = (true, Lists::MOST);
    let is_bad = |class: &Class| !matches!(class, Class::Ok | Class::New);
    // Listing reads the state of every file.
    if roots.iter().any(|(_, folder)| folder.counts.keys().any(is_bad)) {
        catalog.files(&filter, &mut |file| {
            if let Some((root, _)) = roots.iter().find(|(root, _)| root.id() == file.root) {
                lists.add(root.id(), File::of(file, root));
            }
            Ok(())
        })?;
    }
    for (root, folder) in roots {
        if folder.count(Class::New) + folder.unknown > 0 {
            for file in catalog.pending(root)? {
                lists.add(root.id(), File::of_pending(file, root));
            }
        }
    }
    for (root, _) in roots {
        lists.add_deleted(root.id(), deleted(catalog, root, now)?);
    }
    lists.sort();
    Ok(lists)
}

/// Files whose records `update` deleted, newest first.
fn deleted(catalog: &Catalog, root: &Root, now: i64) -> Result<Vec<Gone>, CatalogError> {
    let all = catalog.deleted(root, now - DAYS * DAY)?.into_iter();
    let gone =
        all.map(|it| Gone { name: root.below(&it.path).unwrap_or_default().to_vec(), at: it.at });
    Ok(gone.collect())
}

/// The runs of the last days.
pub fn runs(catalog: &Catalog, roots: &[(Root, Folder)], now: i64) -> Result<Runs, CatalogError> {
    let mut runs = Runs::default();
    catalog.runs(now - DAYS * DAY, &mut |run| {
        let root = roots.iter().find(|(root, _)| root.id() == run.root);
        runs.add(Past::of(run), root.map_or_else(Profile::default, |it| it.0.settings.profile));
        Ok(())
    })?;
    Ok(runs)
}

/// A page of the files of one class in a root: those of pending ones after so many, those of
/// recorded ones after this id.
pub fn files(
    catalog: &Catalog,
    root: &Root,
    class: Class,
    after: i64,
) -> Result<Vec<File>, CatalogError> {
    if class == Class::New {
        let pending = catalog.pending(root)?.into_iter().filter(|it| it.class == class);
        let pending = pending.skip(after.try_into().unwrap_or(0)).take(PAGE);
        return Ok(pending.map(|it| File::of_pending(it, root)).collect());
    }
    let mut filter = FileFilter::default();
    (filter.root, filter.only_bad) = (Some(root.id()), true);
    (filter.after, filter.most_each) = (after, PAGE);
    let mut files = Vec::new();
    catalog.files(&filter, &mut |file| {
        if file.class == class {
            files.push(File::of(file, root));
        }
        Ok(())
    })?;
    Ok(files)
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
        true => catalog.find_copies(std::slice::from_ref(&file.recorded.digests))?.pop().flatten(),
        false => None,
    };
    let events =
        catalog.events_of(root.id(), root.below(&file.path).unwrap_or_default(), EVENTS)?;
    Ok(Some(Found { file: File::of(file, &root), copy, events }))
}

//! The roots, or paths in them, that a command is about.

use std::path::PathBuf;

use lanesum_catalog::{Catalog, CatalogError, Root, Target};

use super::commands::Commands;
use super::errors::name_roots_below;
use crate::failure::Hinted;

/// Returns the roots at these directories, or all if none is given.
///
/// # Errors
/// A directory is not a root, the catalog has no root, and errors of the catalog.
pub fn roots(
    catalog: &Catalog,
    directories: &[PathBuf],
    commands: Commands<'_>,
) -> anyhow::Result<Vec<Root>> {
    if directories.is_empty() {
        return all(catalog, commands);
    }
    let mut chosen: Vec<Root> = Vec::new();
    for path in directories {
        let (root, below) = find(catalog, path, commands)?;
        if !below.is_empty() {
            return Err(CatalogError::NotARoot { path: path.clone(), root: root.path }.into());
        }
        if chosen.iter().all(|other| other.id() != root.id()) {
            chosen.push(root);
        }
    }
    Ok(chosen)
}

/// Returns the roots with the given paths in them, or all roots if none is given.
///
/// # Errors
/// A path is in no root, the catalog has no root, and errors of the catalog.
pub fn targets(
    catalog: &Catalog,
    paths: &[PathBuf],
    commands: Commands<'_>,
) -> anyhow::Result<Vec<Target>> {
    if paths.is_empty() {
        return Ok(whole(all(catalog, commands)?));
    }
    let mut targets: Vec<Target> = Vec::new();
    for path in paths {
        let (root, below) = find(catalog, path, commands)?;
        let known = targets.iter_mut().find(|target| target.root.id() == root.id());
        match known {
            // The whole root is a target already.
            Some(target) if target.paths.is_empty() => {}
            Some(target) if below.is_empty() => target.paths.clear(),
            Some(target) => target.paths.push(below),
            None => {
                let mut target = Target::whole(root);
                target.paths.extend((!below.is_empty()).then_some(below));
                targets.push(target);
            }
        }
    }
    Ok(targets)
}

/// The whole of each root.
pub fn whole(roots: Vec<Root>) -> Vec<Target> {
    roots.into_iter().map(Target::whole).collect()
}

fn all(catalog: &Catalog, commands: Commands<'_>) -> anyhow::Result<Vec<Root>> {
    let roots = catalog.roots()?;
    if roots.is_empty() {
        return Err(Hinted {
            words: format!(
                "{}: the catalog has no directories",
                commands.console.shown(catalog.path())
            ),
            hint: format!("{} DIR adds one", commands.of("add")),
        }
        .into());
    }
    Ok(roots)
}

fn find(
    catalog: &Catalog,
    path: &std::path::Path,
    commands: Commands<'_>,
) -> anyhow::Result<(Root, Vec<u8>)> {
    catalog.root_of(path).map_err(|error| name_roots_below(error, catalog, commands.console))
}

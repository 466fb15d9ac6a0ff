//! `lanesum add`: adds directories as roots, and records their files.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use lanesum_catalog::{
    Catalog, CatalogError, Load, Options, Root, Settings, SettingsPatch, Target, Task,
};

use super::print::name;
use super::run::{Reads, Runner};
use super::{Code, dry_run, place, steer};
use crate::args::Add;
use crate::console::{Console, lock};

/// Adds directories, and reads their files.
///
/// # Errors
/// Errors of the catalog, and wrong usage. They remove a catalog that was created by this call.
pub fn run(args: &Add, console: &Arc<Mutex<Console>>) -> anyhow::Result<Code> {
    require_directories(&args.directories)?;
    if let Some(&keyed) = args.algorithm.iter().find(|algorithm| algorithm.needs_key()) {
        return Err(CatalogError::Keyed(keyed).into());
    }
    let patch = args.patch();
    if args.dry_run {
        return dry_run::run(args, &patch, &mut lock(console));
    }
    let (mut catalog, roots) = add(args, &patch, console)?;
    if !patch.is_empty() && !args.reading.quiet && !args.reading.json {
        for root in &roots {
            lock(console).about(name(&root.path), &steer::words(root));
        }
    }
    let reads = if roots.iter().all(|root| root.bytes == 0) { Reads::All } else { Reads::Some };
    let targets: Vec<_> = roots.into_iter().map(Target::whole).collect();
    let runner = Runner::new(&args.reading, console);
    let change = |options: &mut Options| options.max_gone = args.gone.max_gone;
    let all = runner.run(&mut catalog, &targets, &Task::Add, reads, change)?;
    runner.end(&all, false)
}

/// Adds directories as roots, either all or none, and reads no file.
///
/// # Errors
/// Errors of the catalog. They remove a catalog that was created by this call.
fn add(
    args: &Add,
    patch: &SettingsPatch,
    console: &Arc<Mutex<Console>>,
) -> anyhow::Result<(Catalog, Vec<Root>)> {
    let mut catalog = place::ForAdd::open(&args.reading.place)?;
    let settings = args.directories.iter().map(|directory| {
        let settings = settings_for(catalog.catalog(), directory, patch)?;
        Ok((&**directory, settings))
    });
    let settings = settings.collect::<Result<Vec<_>, CatalogError>>()?;
    let roots = catalog.catalog().add_roots(&settings)?;
    if let Some(path) = catalog.created().filter(|_| !args.reading.quiet) {
        lock(console).about(name(path), "created the catalog");
    }
    Ok((catalog.keep(), roots))
}

/// Returns the settings of a directory: its own or the default ones, changed by the given ones. A
/// rate and hours that leave too little time are an error.
pub fn settings_for(
    catalog: &Catalog,
    directory: &Path,
    patch: &SettingsPatch,
) -> Result<Settings, CatalogError> {
    let known = known(catalog, directory)?;
    let base = known.as_ref().map(|root| root.settings.clone()).unwrap_or_default();
    let settings = patch.apply(&base);
    if settings.rate.is_some() {
        let load = match known.filter(|root| root.bytes > 0) {
            Some(root) => catalog.load_of(&root)?,
            None => Load::of_directory(directory, &settings)?,
        };
        load.check_capacity(directory, &settings)?;
    }
    Ok(settings)
}

/// Returns the root at a directory, if there is one.
///
/// # Errors
/// Errors of the catalog.
pub fn known(catalog: &Catalog, directory: &Path) -> Result<Option<Root>, CatalogError> {
    match catalog.root_of(directory) {
        Ok((root, below)) => Ok(below.is_empty().then_some(root)),
        Err(CatalogError::NoRoot(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Checks that these are directories.
///
/// # Errors
/// One does not exist, or is not a directory.
pub fn require_directories(paths: &[PathBuf]) -> Result<(), CatalogError> {
    paths.iter().try_for_each(|path| match path.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(CatalogError::NotADirectory(path.clone())),
        Err(error) => Err(CatalogError::Io { path: path.clone(), error }),
    })
}

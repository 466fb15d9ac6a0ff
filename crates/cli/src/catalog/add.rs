//! `lanesum add`.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;

use lanesum_catalog::{Catalog, CatalogError, Control, Manners, Policy, Verb};

use super::{
    Reads, command, console_telling, doing, fail, folder_at, is_there, name, no_folder, open, over,
    steer, tell_of_new,
};
use crate::args::Add;
use crate::console::{Console, lock};

/// What an interruption tells.
const INTERRUPTED: &str = "interrupted: what was read whole is kept, but for the last two seconds; \
                           the same command goes on";

/// Takes folders up, and reads their files.
///
/// # Errors
/// What keeps it from beginning.
pub fn run(args: &Add) -> anyhow::Result<ExitCode> {
    let console = console_telling(Some(INTERRUPTED))?;
    // Else a wrong path would leave a catalog behind that knows of nothing.
    let mut folders = Vec::new();
    for folder in &args.folders {
        match folder_at(folder) {
            Ok(path) => folders.push(path),
            Err(error) => return Ok(no_folder(&error, &args.told.place, &mut lock(&console))),
        }
    }
    if let Some(&keyed) = args.algorithm.iter().find(|algorithm| algorithm.needs_key()) {
        return Ok(fail(&CatalogError::Keyed(keyed), &args.told.place, &mut lock(&console)));
    }
    let was_there = is_there(&args.told.place)?;
    let taken_up = open(&args.told.place, "add")?.and_then(|mut catalog| {
        folders.iter().try_for_each(|folder| require_time(args, &catalog, folder))?;
        let mut control = Control::open(catalog.path())?;
        let mut change = args.manners.change();
        // It is of the policy.
        change.every_days = None;
        // All of them, or a wrong one would be found after hours.
        let policies = folders.iter().map(|folder| {
            let policy = policy(args, &catalog, folder)?;
            tell_of_algorithms(args, &catalog, (folder, policy), &console)?;
            Ok((&**folder, policy))
        });
        let policies: Vec<_> = policies.collect::<Result<_, CatalogError>>()?;
        let roots = catalog.add_roots(&policies)?;
        if !change.is_nothing() {
            for root in &roots {
                control.limit(root, &change)?;
            }
        }
        tell_of_new(&catalog, was_there, &mut lock(&console));
        // A number without its unit is easily another than was meant.
        if !args.manners.change().is_nothing() && !args.told.quiet {
            for root in &roots {
                let words = steer::words(&catalog.manners(root)?, root.policy.every_days);
                lock(&console).about(name(&root.path), &words);
            }
        }
        Ok((catalog, roots))
    });
    let (mut catalog, roots) = match taken_up {
        Ok(taken_up) => taken_up,
        Err(error) => return Ok(fail(&error, &args.told.place, &mut lock(&console))),
    };
    // Of a folder that has something, only what is new is read.
    let are_new = roots.iter().all(|root| root.bytes == 0);
    let reads = if are_new { Reads::All } else { Reads::Some };
    let change = |options: &mut lanesum_catalog::Options| options.max_gone = args.max_gone;
    Ok(over(&mut catalog, (&roots, reads), &args.told, change, &console, doing(Verb::Add)))
}

/// Says when digests come that the files of a folder do not have yet.
fn tell_of_algorithms(
    args: &Add,
    catalog: &Catalog,
    (folder, policy): (&Path, Policy),
    console: &Mutex<Console>,
) -> Result<(), CatalogError> {
    let known = match catalog.root_of(folder) {
        Ok((root, below)) if below.is_empty() => root.policy.algorithms,
        Ok(_) | Err(CatalogError::NoRoot(_)) => return Ok(()),
        Err(error) => return Err(error),
    };
    let new: Vec<_> = policy.algorithms.iter().filter(|it| !known.contains(*it)).collect();
    if !new.is_empty() {
        let new: Vec<_> = new.iter().map(ToString::to_string).collect();
        let mut console = lock(console);
        let words = format!(
            "{} will be computed of each file when it is next read (`{}` reads all); the digests \
             that are there stay",
            new.join(" and "),
            command(&args.told.place, "audit --all", &console)
        );
        console.about(name(folder), &words);
    }
    Ok(())
}

/// That a folder can be read in its period at the rate and in the hours that it is to be.
fn require_time(args: &Add, catalog: &Catalog, folder: &Path) -> Result<(), CatalogError> {
    let change = args.manners.change();
    if change.is_nothing() {
        return Ok(());
    }
    let policy = policy(args, catalog, folder)?;
    let (known, manners) = match catalog.root_of(folder) {
        Ok((mut root, below)) if below.is_empty() => {
            root.policy = policy;
            let manners = catalog.manners(&root)?;
            (Some(root), manners)
        }
        Ok(_) | Err(CatalogError::NoRoot(_)) => (None, Manners::default()),
        Err(error) => return Err(error),
    };
    let manners = change.of(manners);
    if manners.rate.is_none() {
        return Ok(());
    }
    // Of a folder that is new, what it has is counted.
    let load = match known.filter(|root| root.bytes > 0) {
        Some(root) => catalog.load_of(&root)?,
        None => Catalog::load_in(folder, policy.algorithms),
    };
    manners.hold(folder, load, policy.every_days)
}

/// What was asked for; the rest as it is, or as it is by default.
fn policy(args: &Add, catalog: &Catalog, folder: &Path) -> Result<Policy, CatalogError> {
    let known = match catalog.root_of(folder) {
        Ok((root, below)) if below.is_empty() => root.policy,
        Ok(_) | Err(CatalogError::NoRoot(_)) => Policy::default(),
        Err(error) => return Err(error),
    };
    let mut policy = known;
    if !args.algorithm.is_empty() {
        policy.algorithms = args.algorithm.iter().copied().collect();
    }
    policy.every_days = args.manners.every.unwrap_or(known.every_days);
    policy.max_gone = args.max_gone.unwrap_or(known.max_gone);
    Ok(policy)
}

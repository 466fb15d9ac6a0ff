//! `lanesum add`.

use std::process::ExitCode;

use lanesum_catalog::{Catalog, CatalogError, Policy, Root, Verb};

use super::{console, fail, open, over};
use crate::args::Add;
use crate::console::lock;

/// Takes folders up, and reads their files.
///
/// # Errors
/// What keeps it from beginning.
pub fn run(args: &Add) -> anyhow::Result<ExitCode> {
    let console = console()?;
    let taken_up = open(&args.told.place, "add")?.and_then(|mut catalog| {
        // All of them, or a wrong one would be found after hours.
        let roots = args.folders.iter().map(|folder| {
            let policy = policy(args, &catalog, folder)?;
            catalog.add_root(folder, policy)
        });
        let roots: Vec<Root> = roots.collect::<Result<_, CatalogError>>()?;
        Ok((catalog, roots))
    });
    let (mut catalog, roots) = match taken_up {
        Ok(taken_up) => taken_up,
        Err(error) => return Ok(fail(&error, &mut lock(&console))),
    };
    let change = |options: &mut lanesum_catalog::Options| options.max_gone = args.max_gone;
    Ok(over(&mut catalog, &roots, &args.told, change, &console, |catalog, root, options, tell| {
        catalog.run(root, Verb::Add, options, tell)
    }))
}

/// What was asked for; the rest as it is, or as it is by default.
fn policy(args: &Add, catalog: &Catalog, folder: &std::path::Path) -> Result<Policy, CatalogError> {
    let known = match catalog.root_of(folder) {
        Ok((root, below)) if below.is_empty() => root.policy,
        Ok(_) | Err(CatalogError::NoRoot(_)) => Policy::default(),
        Err(error) => return Err(error),
    };
    let mut policy = known;
    if !args.algorithm.is_empty() {
        policy.algorithms = args.algorithm.iter().copied().collect();
    }
    policy.every_days = args.every.unwrap_or(known.every_days);
    policy.max_gone = args.max_gone.unwrap_or(known.max_gone);
    Ok(policy)
}

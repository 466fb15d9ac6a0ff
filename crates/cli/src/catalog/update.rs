//! `lanesum update`.

use std::process::ExitCode;

use lanesum_catalog::{Options, Verb};

use super::{Reads, Spoken, console_telling, doing, fail, open, over, roots};
use crate::args::CatalogUpdate;
use crate::console::lock;

/// What an interruption tells.
const INTERRUPTED: &str = "interrupted: what was read whole is kept, but for the last two seconds; \
                           the same command goes on";

/// Takes up what was edited, moved or added.
///
/// # Errors
/// What keeps it from beginning.
pub fn run(args: &CatalogUpdate) -> anyhow::Result<ExitCode> {
    let console = console_telling(Some(INTERRUPTED))?;
    let mut catalog = match open(&args.told.place, "update")? {
        Ok(catalog) => catalog,
        Err(error) => return Ok(fail(&error, &args.told.place, &mut lock(&console))),
    };
    let place = &args.told.place;
    let asked = roots(&catalog, &args.folders, &Spoken { place, console: &lock(&console) })?;
    let roots = match asked {
        Ok(roots) => roots,
        Err(error) => return Ok(fail(&error, place, &mut lock(&console))),
    };
    let change = |options: &mut Options| options.max_gone = args.max_gone;
    Ok(over(&mut catalog, (&roots, Reads::Some), &args.told, change, &console, doing(Verb::Update)))
}

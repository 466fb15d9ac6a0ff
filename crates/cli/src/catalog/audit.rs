//! `lanesum audit`.

use std::process::ExitCode;

use lanesum_catalog::{Options, Reread, Verb};

use super::{Reads, Spoken, console_telling, doing, fail, open, over, roots};
use crate::args::Audit;
use crate::console::lock;

/// What an interruption tells.
const INTERRUPTED: &str = "interrupted: what was found is kept, but for the last two seconds; \
                           the next audit begins anew";

/// Tells what is not as it was cataloged.
///
/// # Errors
/// What keeps it from beginning.
pub fn run(args: &Audit) -> anyhow::Result<ExitCode> {
    let console = console_telling(Some(INTERRUPTED))?;
    let mut catalog = match open(&args.told.place, "audit")? {
        Ok(catalog) => catalog,
        Err(error) => return Ok(fail(&error, &args.told.place, &mut lock(&console))),
    };
    let place = &args.told.place;
    let asked = roots(&catalog, &args.folders, &Spoken { place, console: &lock(&console) })?;
    let roots = match asked {
        Ok(roots) => roots,
        Err(error) => return Ok(fail(&error, place, &mut lock(&console))),
    };
    let reads = if args.all { Reads::All } else { Reads::Some };
    let change = |options: &mut Options| {
        options.max_gone = args.max_gone;
        options.reread = match (args.all, args.quick) {
            (true, _) => Reread::All,
            (_, true) => Reread::Nothing,
            _ => Reread::Needed,
        };
    };
    Ok(over(&mut catalog, (&roots, reads), &args.told, change, &console, doing(Verb::Audit)))
}

//! `lanesum scrub`.

use std::process::ExitCode;

use lanesum_catalog::Due;

use super::{Reads, Spoken, console_telling, fail, open, over, roots};
use crate::args::Scrub;
use crate::console::lock;

/// What an interruption tells.
const INTERRUPTED: &str = "interrupted: what was checked is kept, but for the last two seconds; \
                           what is due still, the next scrub reads";

/// Reads what is due.
///
/// # Errors
/// What keeps it from beginning.
pub fn run(args: &Scrub) -> anyhow::Result<ExitCode> {
    let console = console_telling(Some(INTERRUPTED))?;
    lanesum_startup::give_way();
    let mut catalog = match open(&args.told.place, "scrub")? {
        Ok(catalog) => catalog,
        Err(error) => return Ok(fail(&error, &args.told.place, &mut lock(&console))),
    };
    let place = &args.told.place;
    let asked = roots(&catalog, &args.folders, &Spoken { place, console: &lock(&console) })?;
    let roots = match asked {
        Ok(roots) => roots,
        Err(error) => return Ok(fail(&error, place, &mut lock(&console))),
    };
    let mut due = Due::default();
    due.percent = args.percent;
    due.older_than_days = args.older_than;
    (due.bad, due.new) = (args.bad, args.new);
    (due.max_time, due.max_bytes) = (args.max_time, args.max_bytes);
    let run = |catalog: &mut lanesum_catalog::Catalog,
               root: &lanesum_catalog::Root,
               options: &lanesum_catalog::Options,
               tell: super::Tell<'_>| catalog.scrub(root, &due, options, tell);
    let change = |options: &mut lanesum_catalog::Options| {
        (options.yields, options.at_any_time) = (true, args.now);
    };
    Ok(over(&mut catalog, (&roots, Reads::Some), &args.told, change, &console, run))
}

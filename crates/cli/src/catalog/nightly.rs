//! `lanesum nightly`: update, then scrub, for cron and timers.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use lanesum_catalog::{
    Attention, CatalogError, Class, Finding, Options, Root, Selection, Summary, Task,
};

use super::print::Printer;
use super::run::{Reads, Runner, code};
use super::targets::whole;
use super::{Code, place};
use crate::args::{Nightly, Reading};
use crate::console::{Console, lock};

/// Updates and scrubs. Prints only roots that need attention, or a summary of all with JSON and not
/// `--quiet`.
///
/// # Errors
/// Errors of the catalog, and wrong usage.
pub fn run(args: &Nightly, console: &Arc<Mutex<Console>>) -> anyhow::Result<Code> {
    crate::startup::give_way();
    let runner = Runner::new(&args.reading, console);
    let mut catalog = place::open(&args.reading.place, "nightly")?;
    let targets = whole(runner.roots(&catalog, &args.directories)?);
    let printer = runner.printer();
    // A scrub finds the problems of the update again.
    let mut printed: HashSet<(PathBuf, Class)> = HashSet::new();
    let mut print = |root: &Root, finding: &Finding, console: &mut Console| {
        let is_urgent = finding.attention(root.settings.profile) > Attention::Changes;
        if !is_urgent || !printed.insert((root.path_of(&finding.path), finding.class)) {
            return Ok(());
        }
        printer.finding(root, finding, console)
    };
    let yields = |options: &mut Options| options.yields = true;
    let updated =
        runner.run_with(&mut catalog, &targets, &Task::Update, Reads::Some, yields, &mut print)?;
    let mut selection = Selection::default();
    selection.is_updated = true;
    let scrub = Task::Scrub(selection);
    let scrubbed =
        runner.run_with(&mut catalog, &targets, &scrub, Reads::Some, yields, &mut print)?;
    let worst = code(&updated, false).max(code(&scrubbed, false));
    // A program that reads JSON expects a summary of each directory.
    if worst != Code::Nothing || !is_quiet(&args.reading) {
        end(&runner, &updated, &scrubbed)?;
    }
    Ok(worst)
}

/// Returns whether only roots that need attention have a summary.
const fn is_quiet(reading: &Reading) -> bool {
    reading.quiet || !reading.json
}

/// Prints a summary of each root that needs attention, or of every root with JSON.
fn end(runner: &Runner<'_>, updated: &[Summary], scrubbed: &[Summary]) -> Result<(), CatalogError> {
    let printer = Printer { quiet: is_quiet(runner.reading), ..runner.printer() };
    let mut console = lock(runner.console);
    for update in updated {
        let scrub = scrubbed.iter().find(|it| it.root.id() == update.root.id());
        let it = scrub.map_or_else(|| update.clone(), |scrub| both(update, scrub));
        printer.summary_as("nightly", &it, &mut console).map_err(CatalogError::Output)?;
    }
    console.flush().map_err(CatalogError::Output)
}

/// Returns the joint result of an update and the following scrub.
fn both(update: &Summary, scrub: &Summary) -> Summary {
    let mut both = scrub.clone();
    for (class, count) in &update.counts {
        let known = both.counts.entry(*class).or_default();
        // Both find the same problems, but only the update finds changes.
        *known = match class {
            Class::Damaged | Class::Missing | Class::Unchecked => (*known).max(*count),
            _ => *known + count,
        };
    }
    both.is_first = update.is_first;
    both.again = update.again;
    both.skipped = update.skipped.clone();
    both.unknown = both.unknown.max(update.unknown);
    both.hardware_warnings += update.hardware_warnings;
    both.files += update.files;
    both.bytes += update.bytes;
    both.halt = update.halt.or(scrub.halt);
    both.clock_is_behind |= update.clock_is_behind;
    both
}

//! Runs over roots: scan, update, verify, scrub.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use jiff::tz::TimeZone;
use lanesum_catalog::{
    Catalog, CatalogError, DEFAULT_EXCLUDES, Finding, IGNORE_FILE, Options, Root, Selection,
    Settings, Summary, Target, Task,
};
use lanesum_checksum::walk::{self, Entry, Exclude, WalkOptions};

use super::commands::Commands;
use super::print::Printer;
use super::targets::{roots, targets, whole};
use super::{Code, place, summary};
use crate::args::{CatalogUpdate, Reading, Scan, Scrub, Verify};
use crate::console::{Console, lock};
use crate::progress::Display;

/// Returns whether a run reads all files of its roots, so that the total is known before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    All,
    Some,
}

/// Compares names, sizes and times.
///
/// # Errors
/// Errors of the catalog, and wrong usage.
pub fn scan(args: &Scan, console: &Arc<Mutex<Console>>) -> anyhow::Result<Code> {
    let runner = Runner::new(&args.reading, console);
    let mut catalog = place::open(&args.reading.place, "scan")?;
    let targets = whole(runner.roots(&catalog, &args.directories)?);
    let change = |options: &mut Options| options.max_gone = args.gone.max_gone;
    let all = runner.run(&mut catalog, &targets, &Task::Scan, Reads::Some, change)?;
    runner.end(&all, args.changes.changes)
}

/// Records edited, moved and new files.
///
/// # Errors
/// Errors of the catalog, and wrong usage.
pub fn update(args: &CatalogUpdate, console: &Arc<Mutex<Console>>) -> anyhow::Result<Code> {
    let runner = Runner::new(&args.reading, console);
    let mut catalog = place::open(&args.reading.place, "update")?;
    let targets = whole(runner.roots(&catalog, &args.directories)?);
    let change = |options: &mut Options| {
        options.max_gone = args.gone.max_gone;
        options.max_changed = args.max_changed.unwrap_or(options.max_changed);
        options.force = args.force;
    };
    let all = runner.run(&mut catalog, &targets, &Task::Update, Reads::Some, change)?;
    runner.end(&all, args.changes.changes)
}

/// Reads all files, or the given paths.
///
/// # Errors
/// Errors of the catalog, and wrong usage.
pub fn verify(args: &Verify, console: &Arc<Mutex<Console>>) -> anyhow::Result<Code> {
    let runner = Runner::new(&args.reading, console);
    let mut catalog = place::open(&args.reading.place, "verify")?;
    let targets = {
        let console = lock(console);
        let commands = Commands { place: &args.reading.place, console: &console };
        targets(&catalog, &args.paths, commands)?
    };
    let is_whole = targets.iter().all(|target| target.paths.is_empty());
    let reads = if is_whole { Reads::All } else { Reads::Some };
    let change = |options: &mut Options| options.max_gone = args.gone.max_gone;
    let all = runner.run(&mut catalog, &targets, &Task::Verify, reads, change)?;
    runner.end(&all, args.changes.changes)
}

/// Reads the due files.
///
/// # Errors
/// Errors of the catalog, and wrong usage.
pub fn scrub(args: &Scrub, console: &Arc<Mutex<Console>>) -> anyhow::Result<Code> {
    crate::startup::give_way();
    let chosen = args.chosen();
    let runner = Runner { chosen: &chosen, ..Runner::new(&args.reading, console) };
    let mut catalog = place::open(&args.reading.place, "scrub")?;
    let targets = whole(runner.roots(&catalog, &args.directories)?);
    let mut selection = Selection::default();
    selection.percent = args.percent;
    selection.older_than_days = args.older_than;
    selection.bad = args.bad;
    (selection.max_time, selection.max_bytes) = (args.max_time, args.max_bytes);
    let change = |options: &mut Options| {
        (options.yields, options.at_any_time) = (true, args.now);
    };
    let task = Task::Scrub(selection);
    let all = runner.run(&mut catalog, &targets, &task, Reads::Some, change)?;
    runner.end(&all, args.changes.changes)
}

/// The shared state of all runs of a command.
pub struct Runner<'a> {
    pub reading: &'a Reading,
    pub console: &'a Arc<Mutex<Console>>,
    /// The options that choose files.
    pub chosen: &'a str,
}

impl<'a> Runner<'a> {
    pub const fn new(reading: &'a Reading, console: &'a Arc<Mutex<Console>>) -> Self {
        Self { reading, console, chosen: "" }
    }

    /// Returns the roots at these directories, or all if none is given.
    ///
    /// # Errors
    /// As of [`targets::roots`](super::targets::roots).
    pub fn roots(&self, catalog: &Catalog, directories: &[PathBuf]) -> anyhow::Result<Vec<Root>> {
        let console = lock(self.console);
        roots(catalog, directories, Commands { place: &self.reading.place, console: &console })
    }

    /// Returns the printer of findings and summaries.
    pub const fn printer(&self) -> Printer<'a> {
        let Reading { json, quiet, ref place, .. } = *self.reading;
        Printer { json, quiet, place, chosen: self.chosen }
    }

    /// Runs a task, and prints each finding.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn run(
        &self,
        catalog: &mut Catalog,
        targets: &[Target],
        task: &Task,
        reads: Reads,
        change: impl FnOnce(&mut Options),
    ) -> Result<Vec<Summary>, CatalogError> {
        let printer = self.printer();
        let mut print = |root: &Root, finding: &Finding, console: &mut Console| {
            printer.finding(root, finding, console)
        };
        self.run_with(catalog, targets, task, reads, change, &mut print)
    }

    /// Runs a task with a function that prints findings.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn run_with(
        &self,
        catalog: &mut Catalog,
        targets: &[Target],
        task: &Task,
        reads: Reads,
        change: impl FnOnce(&mut Options),
        print: &mut dyn FnMut(&Root, &Finding, &mut Console) -> std::io::Result<()>,
    ) -> Result<Vec<Summary>, CatalogError> {
        let files = || (reads == Reads::All).then(|| files_of(targets));
        let display = Display::start_unless(false, self.reading.run.progress, files);
        lock(self.console).set_bar(display.as_ref().map(|display| display.bar.clone()));
        let mut options = Options::default();
        options.engine = self.reading.run.engine(display.as_ref());
        options.zone = TimeZone::system();
        change(&mut options);
        let ended = catalog.run(targets, task, &options, &mut |root, finding| {
            let mut console = lock(self.console);
            print(root, finding, &mut console)?;
            console.flush()
        });
        // The bar is removed before the console forgets it.
        drop(display);
        lock(self.console).set_bar(None);
        ended
    }

    /// Prints the summaries. Returns the exit code.
    ///
    /// # Errors
    /// Errors of standard output.
    pub fn end(&self, all: &[Summary], changes_count: bool) -> anyhow::Result<Code> {
        let mut console = lock(self.console);
        for it in all {
            self.printer().summary(it, &mut console).map_err(CatalogError::Output)?;
        }
        console.flush().map_err(CatalogError::Output)?;
        Ok(code(all, changes_count))
    }
}

/// Returns the exit code of runs.
pub fn code(all: &[Summary], changes_count: bool) -> Code {
    let has_changes = changes_count && all.iter().any(summary::has_changes);
    let worst = all.iter().map(|it| Code::from(it.attention())).max();
    worst.unwrap_or_default().with_changes(has_changes)
}

/// Returns the options to walk the directory of a root.
///
/// # Errors
/// A pattern is invalid.
pub fn walk_options(settings: &Settings) -> Result<WalkOptions, CatalogError> {
    let defaults = DEFAULT_EXCLUDES.iter().filter(|_| settings.default_excludes);
    let all = defaults.map(Into::into).chain(settings.exclude.iter().cloned());
    let mut options = WalkOptions::default();
    options.exclude = Exclude::new::<Vec<std::ffi::OsString>>(all.collect())
        .map_err(|error| CatalogError::Pattern(error.to_string()))?;
    options.one_file_system = true;
    options.ignore_file = Some(IGNORE_FILE.into());
    Ok(options)
}

/// Returns the files of the available roots, for the total of a run that reads all of them.
fn files_of(
    targets: &[Target],
) -> impl FnOnce() -> Box<dyn Iterator<Item = PathBuf>> + Send + use<> {
    let roots = targets.iter().map(|target| &target.root);
    let roots = roots.filter(|root| root.why_offline().is_none());
    let walks: Vec<_> = roots
        .filter_map(|root| Some((root.path.clone(), walk_options(&root.settings).ok()?)))
        .collect();
    move || {
        let entries = walks.into_iter().flat_map(|(path, options)| walk::walk(&path, &options));
        Box::new(entries.filter_map(|entry| match entry {
            Entry::File(path) => Some(path),
            _ => None,
        }))
    }
}

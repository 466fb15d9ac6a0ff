//! The worker: chooses the next action and runs it.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::tz::TimeZone;
use lanesum_catalog::{
    Attention, Catalog, CatalogError, Class, Control, Finding, Halt, Options, Root, Summary,
    Target, Task, midnight,
};
use lanesum_checksum::engine::Pace;
use sd_notify::NotifyState;

use super::calls::Calls;
use super::clock::Clock;
use super::commands::Commands;
use super::heartbeat::Heartbeat;
use super::live::Live;
use super::round::{Ran, Round, Standing, Todo};
use super::run::{Steered, goes_on};
use super::{AGAIN, notify};
use crate::args::{Serve, Where};
use crate::catalog::now;
use crate::catalog::print::Printer;
use crate::console::{Console, lock};
use crate::counts::counted;

/// The interval at which hours, days and the directories of roots are checked.
const POLL: Duration = Duration::from_secs(10);

/// The next step.
pub enum Step {
    /// There may be more to do at once.
    Again,
    /// Nothing to do for this time.
    Wait(Duration),
}

pub struct Worker {
    path: PathBuf,
    console: Arc<Mutex<Console>>,
    is_ending: Arc<AtomicBool>,
    live: Live,
    calls: Option<Calls>,
    heartbeat: Heartbeat,
    /// The option with the catalog, for hints.
    place: Where,
    threads: usize,
    /// The catalog, for reading while another process writes.
    catalog: Catalog,
    /// Its version at the last check.
    version: i64,
    zone: TimeZone,
    clock: Clock,
    /// The root of the last run. Other roots come first.
    last: Option<i64>,
    rounds: BTreeMap<i64, Round>,
    /// Problems that were printed, and their day, because a scrub finds those of the update again.
    printed: (i64, HashSet<(PathBuf, Class)>),
    /// The process that the worker waits for, if that was printed.
    holder: Option<String>,
}

impl Worker {
    /// # Errors
    /// Errors of the catalog.
    pub fn new(
        args: &Serve,
        path: &Path,
        console: &Arc<Mutex<Console>>,
        is_ending: &Arc<AtomicBool>,
        live: Live,
        calls: Option<Calls>,
        commands: &Commands,
    ) -> Result<Self, CatalogError> {
        let catalog = Catalog::look(path)?;
        let version = catalog.version()?;
        Ok(Self {
            path: path.to_owned(),
            console: Arc::clone(console),
            is_ending: Arc::clone(is_ending),
            live,
            calls,
            heartbeat: Heartbeat::new(args, commands, console),
            place: Where { catalog: args.place.catalog.clone() },
            threads: args.jobs.unwrap_or(0),
            catalog,
            version,
            zone: TimeZone::system(),
            clock: Clock::new(),
            last: None,
            rounds: BTreeMap::new(),
            printed: (0, HashSet::new()),
            holder: None,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the numbers of recorded files and of roots.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn counts(&self) -> Result<(u64, u64), CatalogError> {
        let status = self.catalog.status(now())?;
        Ok((status.iter().map(|it| it.files).sum(), status.len() as u64))
    }

    fn today(&self) -> i64 {
        midnight(now(), &self.zone)
    }

    /// Returns whether the catalog was written to or the clock was set. Then there may be work.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn look(&mut self) -> Result<bool, CatalogError> {
        self.catalog.require_in_place()?;
        let was_set = self.clock.was_set();
        if was_set {
            lock(&self.console).message(b"the clock was set");
        }
        let version = self.catalog.version()?;
        let is_changed = version != self.version;
        self.version = version;
        if is_changed {
            self.wake_calls();
        }
        Ok(was_set || is_changed)
    }

    fn wake_calls(&self) {
        if let Some(calls) = &self.calls {
            calls.wake();
        }
    }

    /// Runs the next action.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn step(&mut self) -> Result<Step, CatalogError> {
        notify(&[NotifyState::Watchdog]);
        self.catalog.require_in_place()?;
        let now = now();
        let mut roots = self.catalog.roots()?;
        self.rounds.retain(|id, _| roots.iter().any(|root| root.id() == *id));
        for root in &roots {
            self.rounds.entry(root.id()).or_default().accept(&root.steering);
        }
        let last = roots.iter().position(|root| Some(root.id()) == self.last);
        roots.rotate_left(last.map_or(0, |last| last + 1));
        for root in &roots {
            let standing = self.standing(root, now);
            let round = self.rounds.entry(root.id()).or_default();
            let step = match round.next(&standing) {
                Todo::Nothing => None,
                Todo::Scan => Some(self.run(vec![root.clone()], &Task::Scan)?),
                Todo::Update => Some(self.run(self.of_update(&roots, now), &Task::Update)?),
                Todo::Verify => Some(self.verify(root, now)?),
                Todo::Due => Some(self.read_part(root, now)?),
            };
            if let Some(step) = step {
                return Ok(step);
            }
        }
        self.rest(&roots, now)
    }

    fn standing(&self, root: &Root, now: i64) -> Standing {
        let window = root.settings.window;
        let is_open = window.is_none_or(|window| window.is_open(now, &self.zone));
        Standing::of(root, is_open, midnight(now, &self.zone))
    }

    /// Returns the roots of an update: all that exist and are not paused, so that it finds files
    /// that moved from one root to another. Hours only limit scrubs.
    fn of_update(&self, roots: &[Root], now: i64) -> Vec<Root> {
        let is_one = |root: &&Root| self.standing(root, now).may_be_updated();
        roots.iter().filter(is_one).cloned().collect()
    }

    /// There is nothing to do now.
    fn rest(&mut self, roots: &[Root], now: i64) -> Result<Step, CatalogError> {
        let today = midnight(now, &self.zone);
        let is_done = |root: &Root| {
            let is_done = self.rounds.get(&root.id()).is_some_and(|it| it.is_done(today));
            is_done && root.steering.paused.is_none()
        };
        if !roots.is_empty() && roots.iter().all(is_done) {
            self.heartbeat.beat(&self.catalog, today, now)?;
        }
        let offline = roots.iter().filter(|root| root.offline.is_some()).count() as u64;
        let mut words = "waiting".to_owned();
        if offline > 0 {
            let offline = counted(offline, "directory", "directories");
            words += &format!("; {offline} offline");
        }
        notify(&[NotifyState::Status(&words)]);
        // Pages that a reader kept in the log when the last run ended.
        let _ = self.catalog.checkpoint();
        Ok(Step::Wait(POLL))
    }

    /// Opens the catalog for writing. Returns none if another process writes.
    fn open(&mut self) -> Result<Option<Catalog>, CatalogError> {
        match Catalog::open_existing(&self.path, "serve") {
            Ok(catalog) => {
                self.holder = None;
                Ok(Some(catalog))
            }
            Err(CatalogError::Locked { holder }) => {
                // A command that is being started inherits the lock for a moment.
                let is_own = holder.starts_with(&format!("process {} ", std::process::id()));
                if !is_own && self.holder.as_ref() != Some(&holder) {
                    let words = format!("waiting: the catalog is in use by {holder}");
                    lock(&self.console).message(words.as_bytes());
                    self.holder = Some(holder);
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Scans or updates roots.
    fn run(&mut self, roots: Vec<Root>, task: &Task) -> Result<Step, CatalogError> {
        let of = counted(roots.len() as u64, "directory", "directories");
        notify(&[NotifyState::Status(&format!("{} of {of}", task.verb().name()))]);
        // Roots may have gone offline just now.
        let Some(first) = roots.first().map(Root::id) else { return Ok(Step::Wait(POLL)) };
        let steered = Steered::new(&self.path, &roots, None)?;
        let mut options = self.options();
        options.goes_on = Some(goes_on(&self.live, &self.is_ending, Some(steered)));
        let targets: Vec<_> = roots.into_iter().map(Target::whole).collect();
        let ran = self.with_catalog(first, |catalog, on_finding| {
            catalog.run(&targets, task, &options, on_finding)
        })?;
        ran.map_or_else(busy, |summaries| self.note(&summaries))
    }

    /// Verifies a whole root on request.
    fn verify(&mut self, root: &Root, now: i64) -> Result<Step, CatalogError> {
        let pace = Pace::default();
        let roots = [root.clone()];
        let steered = Steered::new(&self.path, &roots, Some(pace.clone()))?;
        let of_root = |it: &lanesum_catalog::RootStatus| it.root.id() == root.id();
        let files = self.catalog.status(now)?.into_iter().find(of_root).map_or(0, |it| it.files);
        let mut options = self.options();
        options.engine.pace = Some(pace);
        options.goes_on = Some(goes_on(&self.live, &self.is_ending, Some(steered)));
        let (targets, live) = ([Target::whole(root.clone())], self.live.clone());
        let ran = self.with_catalog(root.id(), |catalog, on_finding| {
            let progress = options.engine.progress.get_or_insert_default();
            let bytes = root.bytes.max(0).cast_unsigned();
            live.begin(root.path.clone(), files, bytes, Arc::clone(progress));
            catalog.run(&targets, &Task::Verify, &options, on_finding)
        })?;
        let Some(summaries) = ran else { return busy() };
        if summaries.iter().all(|it| it.halt.is_none() && it.offline().is_none()) {
            self.finish_request(root)?;
        }
        self.note(&summaries)
    }

    /// Reads a part of the due files. After the last part a request is done.
    fn read_part(&mut self, root: &Root, now: i64) -> Result<Step, CatalogError> {
        notify(&[NotifyState::Watchdog]);
        let after = self.rounds.get(&root.id()).map(|round| round.after).unwrap_or_default();
        let part = self.catalog.next_part(root, after, &self.zone, now)?;
        let (is_last, left, end) = (!part.goes_on, part.left, part.end);
        let live = self.live.clone();
        let mut options = self.options();
        options.at_any_time = root.steering.requested.is_some();
        options.goes_on = Some(goes_on(&live, &self.is_ending, None));
        let ran = self.with_catalog(root.id(), |catalog, on_finding| {
            let progress = options.engine.progress.get_or_insert_default();
            live.begin(root.path.clone(), part.files, part.bytes, Arc::clone(progress));
            Ok(vec![catalog.scrub_part(root, part, &options, on_finding)?])
        })?;
        let Some(summaries) = ran else { return busy() };
        if is_last && left > 0 {
            let name = root.path.as_os_str().as_encoded_bytes();
            lock(&self.console).about(name, "more files are due than can be read today");
        }
        if summaries.iter().all(|it| it.halt == Some(Halt::Part)) {
            self.rounds.entry(root.id()).or_default().after = end;
        }
        if is_last && summaries.iter().all(|it| it.halt.is_none() && it.offline().is_none()) {
            self.finish_request(root)?;
        }
        self.note(&summaries)
    }

    fn options(&self) -> Options {
        let mut options = Options::default();
        options.engine.threads = self.threads;
        options.zone = self.zone.clone();
        options.yields = true;
        options
    }

    /// Runs with the catalog, and prints findings that need attention. Returns none if another
    /// process has the catalog.
    fn with_catalog(
        &mut self,
        root: i64,
        run: impl FnOnce(
            &mut Catalog,
            &mut dyn FnMut(&Root, &Finding) -> std::io::Result<()>,
        ) -> Result<Vec<Summary>, CatalogError>,
    ) -> Result<Option<Vec<Summary>>, CatalogError> {
        let Some(mut catalog) = self.open()? else { return Ok(None) };
        self.last = Some(root);
        let today = self.today();
        if self.printed.0 != today {
            self.printed = (today, HashSet::new());
        }
        let printed = &mut self.printed.1;
        let (console, calls, printer) = (&self.console, &self.calls, printer(&self.place));
        let mut on_finding = |root: &Root, finding: &Finding| {
            let is_urgent = finding.attention(root.settings.profile) > Attention::Changes;
            if is_urgent && printed.insert((root.path_of(&finding.path), finding.class)) {
                let mut console = lock(console);
                // The finding is stored, even if it cannot be printed.
                let written = printer.finding(root, finding, &mut console);
                let _ = written.and_then(|()| console.flush());
            }
            calls.iter().for_each(Calls::wake);
            Ok(())
        };
        let ran = run(&mut catalog, &mut on_finding);
        self.live.end();
        drop(catalog);
        let summaries = ran?;
        self.version = self.catalog.version()?;
        self.wake_calls();
        Ok(Some(summaries))
    }

    /// Prints the results of runs, and records today's actions.
    fn note(&mut self, summaries: &[Summary]) -> Result<Step, CatalogError> {
        let today = self.today();
        let mut step = Step::Again;
        for summary in summaries {
            self.rounds.entry(summary.root.id()).or_default().note(Ran::of(summary), today);
            if summary.files > 0 || !summary.is_complete() {
                let mut console = lock(&self.console);
                let _ = printer(&self.place).summary(summary, &mut console);
            }
            if summary.halt == Some(Halt::MountsChanged) {
                step = Step::Wait(AGAIN);
            }
        }
        Ok(step)
    }

    fn finish_request(&self, root: &Root) -> Result<(), CatalogError> {
        match root.steering.requested {
            Some(at) => Control::open(&self.path)?.finish_request(root, at),
            None => Ok(()),
        }
    }
}

const fn printer(place: &Where) -> Printer<'_> {
    Printer { json: false, quiet: false, place, chosen: "" }
}

/// Another process has the catalog.
fn busy() -> Result<Step, CatalogError> {
    Ok(Step::Wait(Duration::from_secs(1)))
}

//! Reading: passes jobs to the engine, and handles their outcomes one by one.

use std::io;
use std::iter;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use lanesum_checksum::disk::PathState;
use lanesum_checksum::engine::{self, Delivery, Hashed, Outcome};
use lanesum_checksum::{Error, Job};

use super::jobs::{Task, job_of_new, job_of_row};
use super::row::Row;
use super::state::Pass;
use crate::CatalogError;
use crate::model::{Class, Finding, Reason, Stat};
use crate::options::{GoesOn, Verb};
use crate::scan::Blind;
use crate::settings::Settings;
use crate::store::batch::PendingRow;
use crate::summary::Halt;

/// The number of retries of a file that a program writes to, after all others.
const TRIES: u32 = 3;

/// The time to wait for an outcome before settings and limits are checked.
const LOOK: Duration = Duration::from_millis(200);

impl Pass<'_> {
    /// Reads files of the current root, and retries those that a program was writing to. Returns
    /// whether everything was done.
    pub(crate) fn read(
        &mut self,
        jobs: impl Iterator<Item = Job<Task>> + Send + 'static,
    ) -> Result<bool, CatalogError> {
        self.tries = 0;
        let mut is_done = self.read_once(jobs)?;
        while is_done && !self.busy.is_empty() {
            self.tries += 1;
            let busy = mem::take(&mut self.busy);
            let again: Vec<_> = busy.into_iter().map(|task| self.job_again(task)).collect();
            is_done = self.read_once(again.into_iter())?;
        }
        Ok(is_done && !self.limits.is_reached())
    }

    fn job_again(&self, task: Task) -> Job<Task> {
        match task {
            Task::Row(row) => {
                let (at, there) = (row.at, row.place().0);
                job_of_row(*row, &self.roots[at].root, &self.roots[there].root)
            }
            Task::New(at, path) => {
                let size = self.roots[at].root.path_of(&path).symlink_metadata();
                let size = size.map_or(0, |it| it.len().cast_signed());
                job_of_new(at, &self.roots[at].root, path, self.contents.algorithms_of(size))
            }
            task => super::jobs::nothing(task),
        }
    }

    fn read_once(
        &mut self,
        jobs: impl Iterator<Item = Job<Task>> + Send + 'static,
    ) -> Result<bool, CatalogError> {
        let mut options = self.engine();
        // One long file must not hold up the results of others.
        options.delivery = Delivery::AsTheyCome;
        options.detect_changes = true;
        let progress = Arc::clone(options.progress.get_or_insert_default());
        let bytes = || progress.bytes.load(Ordering::Relaxed);
        let (before, known) = (bytes(), self.roots[self.at].run.bytes);
        let mut jobs = jobs;
        // Other threads read an iterator of unknown length, so that this one can steer.
        let mut run = engine::run(&options, iter::from_fn(move || jobs.next()));
        let mut looked = std::time::Instant::now();
        loop {
            match run.next_within(LOOK) {
                Some(outcome) => {
                    self.take(outcome)?;
                    if let Some(chain) = &self.chain {
                        chain.note(&run.media());
                    }
                }
                None if run.is_at_end() => break,
                None => {}
            }
            if self.batch.is_due() {
                self.commit()?;
            }
            if looked.elapsed() >= LOOK {
                looked = std::time::Instant::now();
                self.steer()?;
            }
            if self.limits.is_late() || !self.roots[self.at].is_open() {
                run.stopper().stop();
            }
        }
        let is_done = run.finish().is_ok();
        if !is_done {
            // Includes files that were not read completely.
            let read = known.saturating_add_unsigned(bytes().wrapping_sub(before));
            let run = &mut self.roots[self.at].run;
            run.bytes = run.bytes.max(read);
        }
        self.commit()?;
        Ok(is_done)
    }

    /// Returns the options for reading. A scrub has its own speed.
    pub(crate) fn engine(&self) -> engine::Options {
        let mut options = self.options.engine.clone();
        if self.verb == Verb::Scrub {
            options.pace = Some(self.pace.clone());
        }
        options
    }

    /// Checks requests of the caller, settings and other programs. Sets the halt if the run must
    /// end.
    pub(crate) fn steer(&mut self) -> Result<(), CatalogError> {
        let pass = &mut self.roots[self.at];
        let mut halt = pass.summary.halt;
        if self.options.goes_on.as_ref().is_some_and(|goes_on| !goes_on.says()) {
            halt = halt.or(Some(Halt::Stopped));
        }
        if self.verb == Verb::Scrub {
            let (settings, steering) = Settings::of(&self.catalog.db, pass.root.id())?;
            let now = (self.options.clock)();
            let is_open =
                settings.window.is_none_or(|window| window.is_open(now, &self.options.zone));
            if let Some(since) = steering.paused {
                halt = halt.or(Some(Halt::Paused(since)));
            } else if !is_open && !self.options.at_any_time {
                halt = halt.or(Some(Halt::Hours));
            }
            self.pace.set_rate(settings.rate);
            if self.options.yields {
                self.pressure.look(&self.pace);
            }
        }
        pass.summary.halt = halt;
        Ok(())
    }

    /// Returns whether a second read continues, at the speed of the settings.
    pub(crate) fn goes_on(&self) -> bool {
        let asked = self.options.goes_on.as_ref().is_none_or(GoesOn::says);
        if self.verb != Verb::Scrub {
            return asked;
        }
        // If the catalog cannot be read, the next commit reports that.
        let root = self.roots[self.at].root.id();
        let Ok((settings, steering)) = Settings::of(&self.catalog.db, root) else { return asked };
        self.pace.set_rate(settings.rate);
        asked && steering.paused.is_none()
    }

    fn take(&mut self, outcome: Outcome<Task>) -> Result<(), CatalogError> {
        if !self.roots[self.at].is_open() {
            return Ok(());
        }
        let Outcome { source, context, result, .. } = outcome;
        if let Ok(hashed) = &result {
            let run = &mut self.roots[self.at].run;
            run.files += i64::from(source.path().is_some() && hashed.midstate.is_none());
            run.bytes = run.bytes.saturating_add_unsigned(hashed.bytes);
        }
        match context {
            Task::Failed(error) => Err(error),
            Task::Row(row) => self.take_row(*row, result),
            Task::Chunk(chunk, ticket) => self.take_chunk(*chunk, &ticket, result),
            Task::New(at, path) => self.take_new(at, path, result),
            Task::Absent(row, there) => self.take_absent(*row, there),
            Task::Skipped(at, path, why) => {
                self.roots[at].summary.skipped.add(path, why);
                Ok(())
            }
            Task::BadLine(at, path, error) => {
                self.roots[at].summary.skipped.bad_lines.push((path, error));
                Ok(())
            }
            Task::Blind(at, path, reason, error) => {
                self.report_blind(at, Blind { path, reason, error, files: 0 });
                Ok(())
            }
        }
    }

    /// A record in a part of a daemon's round without a file at its path. The next scan looks for
    /// the file.
    fn take_absent(&mut self, row: Row, there: PathState) -> Result<(), CatalogError> {
        match there {
            PathState::Mounted => self.set_unchecked(&row, Reason::MountedOver, None),
            _ => Ok(()),
        }
    }

    fn take_new(
        &mut self,
        at: usize,
        path: Vec<u8>,
        result: Result<Hashed, Error>,
    ) -> Result<(), CatalogError> {
        match result {
            Ok(hashed) => match Stat::of_hashed(&hashed) {
                Some(stat) => self.judge_new(at, path, stat, hashed.digests),
                None => self.retry_new(at, path),
            },
            Err(Error::OwnOutput) => Ok(()),
            Err(error @ Error::NoDirect) => Err(no_direct(self, at, &path, &error)),
            Err(Error::Changed) => self.retry_new(at, path),
            // It appeared and disappeared.
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => {
                let (reason, error) = (reason_of_read(&error), Some(error.to_string()));
                self.report_blind(at, Blind { path, reason, error, files: 0 });
                Ok(())
            }
        }
    }

    fn retry_new(&mut self, at: usize, path: Vec<u8>) -> Result<(), CatalogError> {
        if self.tries < TRIES {
            self.busy.push(Task::New(at, path));
            return Ok(());
        }
        self.report_blind(at, Blind { path, reason: Reason::Busy, error: None, files: 0 });
        Ok(())
    }

    /// Retries a file later, or stores that a program is writing to it.
    pub(crate) fn retry_row(&mut self, row: Row) -> Result<(), CatalogError> {
        if self.tries < TRIES {
            self.busy.push(Task::Row(Box::new(row)));
            return Ok(());
        }
        self.set_busy(&row)
    }

    /// Reports a file or directory without a record of its own that could not be examined.
    pub(crate) fn report_blind(&mut self, at: usize, blind: Blind) {
        let Blind { mut path, reason, error, files } = blind;
        self.roots[at].taken.insert(path.clone());
        let whole = self.roots[at].root.path_of(&path);
        if !path.is_empty() && whole.symlink_metadata().is_ok_and(|it| it.is_dir()) {
            path.push(b'/');
        }
        let mut finding = Finding::new(Class::Unchecked, Some(reason), path.clone());
        (finding.error, finding.files) = (error.clone(), files.max(1));
        // A directory is counted by its records.
        self.count(at, Class::Unchecked, files.max(1));
        self.tell(at, finding, false);
        let pass = &mut self.roots[at];
        pass.summary.unknown += files;
        let (class, reason, stat) = (Class::Unchecked, Some(reason), Stat::default());
        pass.pending.push(PendingRow { class, reason, path, file: 0, stat, files, error });
    }

    /// Tells a progress bar that a file in chunks is done.
    pub(crate) fn count_file(&self) {
        if let Some(progress) = &self.options.engine.progress {
            progress.files.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Returns why an unreadable file is unchecked.
pub(crate) fn reason_of_read(error: &Error) -> Reason {
    match error {
        Error::Io(error) => crate::scan::reason_of(error),
        _ => Reason::IoError,
    }
}

pub(crate) fn no_direct(pass: &Pass<'_>, at: usize, path: &[u8], error: &Error) -> CatalogError {
    let error = io::Error::new(io::ErrorKind::Unsupported, error.to_string());
    CatalogError::io(pass.roots[at].root.path_of(path))(error)
}

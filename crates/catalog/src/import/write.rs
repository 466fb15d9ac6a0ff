//! Reads listed files, decides about them, and writes the results.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::iter;
use std::path::Path;
use std::time::{Duration, Instant};

use lanesum_checksum::engine::{self, Delivery, Hashed};
use lanesum_checksum::{Error, Job};

use super::list::{Imported, decide};
use super::place::{Item, Results};
use crate::CatalogError;
use crate::model::{Class, Content, Finding, Reason, Stat};
use crate::options::{GoesOn, Options, Verb};
use crate::status::{Outcome, Scope};
use crate::store::batch::{Batch, Found, Insert};
use crate::store::catalog::Catalog;
use crate::store::pending::pending_of;
use crate::store::rows::{self, File, State};
use crate::store::run::RunRow;

/// The time to wait for an outcome before the caller is asked whether to continue.
const LOOK: Duration = Duration::from_millis(200);

/// A run for each root, with the results since the last commit.
pub(super) struct Writer<'a> {
    pub(super) catalog: &'a mut Catalog,
    pub(super) replace: bool,
    pub(super) options: &'a Options,
    pub(super) on_file: &'a mut dyn FnMut(&Path, Imported) -> io::Result<()>,
    pub(super) batch: Batch,
    pub(super) results: Results,
    pub(super) runs: BTreeMap<i64, RunRow>,
}

impl Writer<'_> {
    fn now(&self) -> i64 {
        (self.options.clock)().max(1)
    }

    pub(super) fn run(mut self, jobs: Vec<Job<Item>>) -> Result<(), CatalogError> {
        let (next, started) = (RunRow::next_id(&self.catalog.db)?, self.now());
        let roots: BTreeSet<i64> = jobs.iter().map(|job| job.context.root).collect();
        let what = (Verb::Import, Scope::Named);
        let run = |(id, root)| (root, RunRow::begun(id, root, what, started));
        self.runs = (next..).zip(roots).map(run).collect();
        self.commit()?;
        let is_done = self.read(jobs)?;
        self.commit()?;
        self.drop_pending()?;
        let (now, outcome) =
            (self.now(), if is_done { Outcome::Complete } else { Outcome::Limited });
        for run in self.runs.values_mut() {
            (run.ended, run.outcome) = (Some(now), outcome as i64);
        }
        self.commit()?;
        self.catalog.checkpoint()
    }

    /// Reads the files. Returns whether all were read.
    fn read(&mut self, jobs: Vec<Job<Item>>) -> Result<bool, CatalogError> {
        let mut engine = self.options.engine.clone();
        (engine.detect_changes, engine.delivery) = (true, Delivery::AsTheyCome);
        let mut jobs = jobs.into_iter();
        // Other threads read an iterator of unknown length, so that this one can commit.
        let mut run = engine::run(&engine, iter::from_fn(move || jobs.next()));
        let mut looked = Instant::now();
        loop {
            match run.next_within(LOOK) {
                Some(outcome) => self.take(outcome.context, outcome.result)?,
                None if run.is_at_end() => break,
                None => {}
            }
            if self.batch.is_due() {
                self.commit()?;
            }
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                if !self.options.goes_on.as_ref().is_none_or(GoesOn::says) {
                    run.stopper().stop();
                }
            }
        }
        Ok(run.finish().is_ok())
    }

    fn take(&mut self, item: Item, result: Result<Hashed, Error>) -> Result<(), CatalogError> {
        let result = match result {
            Ok(hashed) => match Stat::of_hashed(&hashed) {
                Some(stat) => self.write(&item, stat, hashed)?,
                None => Imported::Unreadable,
            },
            Err(error) if error.is_not_found() => Imported::Missing,
            Err(_) => Imported::Unreadable,
        };
        self.results.push((item.path, result));
        Ok(())
    }

    /// Decides about a file that was read, and writes the decision.
    fn write(&mut self, item: &Item, stat: Stat, read: Hashed) -> Result<Imported, CatalogError> {
        let (root, run) = (item.root, self.runs.entry(item.root).or_default());
        run.files += 1;
        run.bytes = run.bytes.saturating_add_unsigned(read.bytes);
        let (started, read) = (run.started, read.digests);
        let recorded = item.record.as_ref().map(|record| &record.digests);
        let result = decide(recorded, &item.listed, &read, self.replace);
        if matches!(result, Imported::Conflict | Imported::Changed) {
            return Ok(result);
        }
        let mut state = State::ok(item.record.as_ref().map_or(0, |it| it.id), root, self.now());
        let found = Content::new(&stat, &read);
        let digests = if result == Imported::Differs { item.listed.clone() } else { read };
        if result == Imported::Differs {
            (state.class, state.reason) = (Class::Damaged, Some(Reason::Listed));
            (state.since, state.verified) = (self.now(), 0);
        }
        self.log(item, result, state, (&Content::new(&stat, &digests), &found))?;
        let found = (!state.is_ok()).then_some(Found { content: found, error: None });
        let is_settled = stat.is_settled_at(started);
        if let Some(record) = &item.record {
            let after = File { stat, digests, is_settled, ..record.clone() };
            self.batch.update(root, record, after, None);
            self.batch.state(state);
            self.batch.found(record.id, found);
            self.batch.is_read_to_end(record.id);
        } else {
            let path = item.below.clone();
            self.batch.insert(Insert { root, path, stat, is_settled, digests, state, found });
        }
        Ok(result)
    }

    /// Counts a file, and logs new damage, replaced digests, and the end of an earlier class.
    fn log(
        &mut self,
        item: &Item,
        result: Imported,
        state: State,
        (recorded, found): (&Content, &Content),
    ) -> Result<(), CatalogError> {
        let class = if result == Imported::Recorded { Class::New } else { state.class };
        let run = self.runs.entry(item.root).or_default();
        *run.counts.entry(class).or_default() += 1;
        let before = State::find(&self.catalog.db, state.id)?;
        let is_news = matches!(result, Imported::Differs | Imported::Replaced);
        if is_news || before.is_some_and(|before| !before.is_ok()) {
            let mut finding = Finding::new(state.class, state.reason, item.below.clone());
            finding.recorded = Some(recorded.clone());
            finding.found = Some(found.clone());
            finding.was = before.map(|before| before.class);
            self.batch.event(item.root, self.now(), finding);
        }
        Ok(())
    }

    /// Removes files that are now recorded from the new files of the last scan.
    fn drop_pending(&mut self) -> Result<(), CatalogError> {
        let db = &self.catalog.db;
        for &root in self.runs.keys() {
            let mut kept = Vec::new();
            for row in pending_of(db, root)? {
                if row.class != Class::New || rows::at(db, root, &row.path)?.is_none() {
                    kept.push(row);
                }
            }
            self.batch.set_pending(root, kept);
        }
        Ok(())
    }

    /// Commits, and then reports the results.
    fn commit(&mut self) -> Result<(), CatalogError> {
        self.batch.commit(&mut self.catalog.db, self.runs.values(), |_| Ok(()))?;
        for (path, result) in self.results.drain(..) {
            (self.on_file)(&path, result).map_err(CatalogError::Output)?;
        }
        Ok(())
    }
}

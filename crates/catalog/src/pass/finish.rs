//! The end of a run: stores the state of the root, and makes the summary.

use rusqlite::Connection;

use super::state::Pass;
use crate::CatalogError;
use crate::model::{Class, Finding, Reason};
use crate::options::Verb;
use crate::root::{Offline, Root};
use crate::status::Outcome;
use crate::store::check::require_rows_but_files;
use crate::store::run::RunRow;
use crate::store::total::Total;
use crate::summary::{Halt, Summary};

impl Pass<'_> {
    /// Ends the runs of all roots. `has_scanned` says whether pending entries are up to date.
    pub(crate) fn finish(mut self, has_scanned: bool) -> Result<Vec<Summary>, CatalogError> {
        for at in 0..self.roots.len() {
            if self.roots[at].run.id == 0 {
                continue;
            }
            self.at = at;
            match self.roots[at].root.offline.clone().filter(|_| self.roots[at].is_over) {
                Some(offline) => self.report_offline(at, offline.reason)?,
                None => self.end_root(at, has_scanned),
            }
        }
        self.at = usize::MAX;
        self.commit_end()?;
        self.summaries()
    }

    fn report_offline(&mut self, at: usize, reason: Reason) -> Result<(), CatalogError> {
        let stored = Root::find(&self.catalog.db, self.roots[at].root.id())?;
        let was = stored.and_then(|root| root.offline).map(|it| it.reason);
        let mut finding = Finding::new(Class::Offline, Some(reason), Vec::new());
        finding.files = self.roots[at].root.offline.as_ref().map_or(1, |it| it.missing.max(1));
        self.count(at, Class::Offline, 1);
        self.tell(at, finding, was != Some(reason));
        self.roots[at].run.outcome = Outcome::Offline as i64;
        Ok(())
    }

    fn end_root(&mut self, at: usize, has_scanned: bool) {
        let pass = &mut self.roots[at];
        // Only a scan shows whether too many files are still missing.
        let is_kept = |it: &Offline| !has_scanned && it.reason == Reason::TooManyMissing;
        pass.root.offline = pass.root.offline.take().filter(is_kept);
        let is_whole = pass.summary.halt.is_none();
        pass.root.is_complete |= is_whole && self.verb.records();
        let pending = std::mem::take(&mut pass.pending);
        let id = pass.root.id();
        let unchecked = pass.run.counts.get(&Class::Unchecked).copied().unwrap_or(0);
        let outcome = match pass.summary.halt {
            None if unchecked + pass.summary.unknown > 0 => Outcome::Partial,
            None => Outcome::Complete,
            Some(Halt::Part) => Outcome::Part,
            Some(Halt::Paused(_)) => Outcome::Paused,
            Some(Halt::TooManyEdits { .. }) => Outcome::TooManyEdits,
            Some(Halt::Limit | Halt::Hours | Halt::Stopped | Halt::MountsChanged) => {
                Outcome::Limited
            }
        };
        pass.run.outcome = outcome as i64;
        if has_scanned {
            self.batch.set_pending(id, pending);
        }
    }

    fn commit_end(&mut self) -> Result<(), CatalogError> {
        let now = self.now();
        let mut roots = Vec::new();
        for pass in self.roots.iter_mut().filter(|pass| pass.run.id > 0) {
            pass.run.ended = Some(now);
            pass.is_over = true;
            roots.push(pass.root.clone());
        }
        self.commit_with(|db| roots.iter().try_for_each(|root| root.put(db)))?;
        self.catalog.checkpoint()
    }

    fn summaries(self) -> Result<Vec<Summary>, CatalogError> {
        let clock_is_behind = self.clock_is_behind()?;
        let db = &self.catalog.db;
        let mut summaries = Vec::new();
        for mut pass in self.roots.into_iter().filter(|pass| pass.run.id > 0) {
            let id = pass.root.id();
            pass.summarize(Total::of(db, id)?.files.max(0).cast_unsigned());
            summaries.push(Summary {
                root: Root::find(db, id)?.unwrap_or(pass.root),
                counts: pass.run.counts,
                files: pass.run.files.max(0).cast_unsigned(),
                bytes: pass.run.bytes.max(0).cast_unsigned(),
                clock_is_behind,
                ..pass.summary
            });
        }
        Ok(summaries)
    }

    /// Returns whether the clock is behind an earlier run, and a verification of that time still
    /// exists.
    fn clock_is_behind(&self) -> Result<bool, CatalogError> {
        let now = (self.options.clock)();
        let sql = "SELECT EXISTS (SELECT 1 FROM run WHERE started > ?1) \
                   AND EXISTS (SELECT 1 FROM state WHERE verified > ?1)";
        Ok(self.catalog.db.query_row(sql, [now], |row| row.get(0))?)
    }
}

/// Stores that the runs of these roots after the run `last` ended because the catalog is damaged,
/// if the table of runs can still be written.
pub(crate) fn note_damage(db: &Connection, last: i64, roots: &[Root], verb: Verb, now: i64) {
    // A new run must not take the place of a lost one.
    if require_rows_but_files(db).is_err() {
        return;
    }
    for (id, root) in (last + 1..).zip(roots) {
        // The damage may have prevented the start of the runs.
        let run = match RunRow::find(db, id) {
            Ok(Some(run)) if run.verb == verb.name() => run,
            Ok(None) => RunRow::done(id, root.id(), verb, now),
            _ => return,
        };
        // The damage is reported even if this fails.
        let outcome = Outcome::CatalogDamaged as i64;
        let _ = RunRow { ended: Some(now), outcome, ..run }.put(db);
    }
}

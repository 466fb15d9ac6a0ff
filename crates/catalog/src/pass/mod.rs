//! One pass over roots: scan, pair, read, judge, write. Each verb has a policy for it.
//!
//! ```text
//! check that each root is the recorded one; otherwise it is offline       root.rs
//! compare names, sizes and times with the records                         scan.rs
//! same inode under a different path, in any root: moved                   gone.rs, model/pair.rs
//! too many files missing: offline; too many edited: stop
//! read and judge the files that the policy selects                        read.rs, jobs.rs,
//!                                                                         long.rs,
//!                                                                         apply.rs, confirm.rs,
//!                                                                         model/judge.rs
//! same content under a different path: moved                              apply.rs
//! other absent files are missing, and other new files pending             gone.rs
//! end the run                                                             finish.rs
//! ```
//!
//! | policy | reads | records |
//! |---|---|---|
//! | scan | nothing | states, pending changes |
//! | add, update | new and different files, files that are not ok or not settled | contents, too |
//! | verify | all files, or the given paths | states |
//! | scrub | due files | states |
//!
//! A root without records is read at once, without a scan.

mod apply;
mod chain;
mod confirm;
mod finish;
mod gone;
mod jobs;
mod long;
mod read;
mod row;
mod state;

use std::collections::HashSet;
use std::sync::Arc;

use lanesum_checksum::disk::Probe;
use lanesum_checksum::{Algorithms, Job};

use crate::CatalogError;
use crate::due::{ALMOST_A_DAY, Most, plan};
use crate::excluded::not_recorded;
use crate::model::{Class, Reason, Stat};
use crate::options::{Options, Selection, Target, Task, Verb};
use crate::part::Part;
use crate::root::Root;
use crate::scan::{Scan, above, scan};
use crate::status::Scope;
use crate::store::catalog::Catalog;
use crate::store::check::require_shape;
use crate::store::pending::pending_of;
use crate::store::rows;
use crate::store::run::RunRow;
use crate::store::total::Total;
use crate::summary::{Halt, Summary};
use jobs::{FirstJobs, RowJobs, job_of_new, job_of_row};
use row::{Limits, Row};
pub use state::OnFinding;
use state::Pass;

/// Up to this many missing files or edits never stop a run.
const MANY: u64 = 100;

impl Catalog {
    /// Runs a task over roots. Reports each finding once it is on disk. Finds files that moved from
    /// one of the roots to another.
    ///
    /// # Errors
    /// Errors of the catalog and of `on_finding`. A finding is not an error.
    pub fn run(
        &mut self,
        targets: &[Target],
        task: &Task,
        options: &Options,
        on_finding: OnFinding<'_>,
    ) -> Result<Vec<Summary>, CatalogError> {
        let verb = task.verb();
        let last = RunRow::last_id(&self.db)?;
        let roots: Vec<Root> = targets.iter().map(|target| target.root.clone()).collect();
        let named = targets.iter().map(|target| self.named(target));
        let named = named.collect::<Result<Vec<_>, _>>()?;
        let ran = Pass::begin(self, &roots, (verb, scope_of(targets, task)), options, on_finding)
            .and_then(|pass| pass.run(targets, named, task));
        if matches!(ran, Err(CatalogError::Damaged(_))) {
            finish::note_damage(&self.db, last, &roots, verb, (options.clock)());
        }
        ran
    }

    /// Reads a part without a scan before. Reports each finding once it is on disk.
    ///
    /// # Errors
    /// As of [`run`](Self::run).
    pub fn scrub_part(
        &mut self,
        root: &Root,
        part: Part,
        options: &Options,
        on_finding: OnFinding<'_>,
    ) -> Result<Summary, CatalogError> {
        let scope = (Verb::Scrub, Scope::Due);
        let mut pass = Pass::begin(self, std::slice::from_ref(root), scope, options, on_finding)?;
        if pass.is_online(0) {
            pass.steer()?;
            if pass.roots[0].is_open() {
                pass.read_ids(part.ids, false)?;
            }
            pass.roots[0].gone.clear();
            if part.goes_on && pass.roots[0].is_open() {
                pass.roots[0].summary.halt = Some(Halt::Part);
            }
        }
        let summary = pass.finish(false)?.into_iter().next();
        summary.ok_or_else(|| CatalogError::NoRoot(root.path.clone()))
    }

    /// Returns the records at the paths of a target, or that moved there, or none for a whole root.
    fn named(&self, target: &Target) -> Result<Option<HashSet<i64>>, CatalogError> {
        if target.paths.is_empty() {
            return Ok(None);
        }
        let root = target.root.id();
        let moved = pending_of(&self.db, root)?.into_iter().filter(|row| row.file > 0);
        let moved: Vec<_> = moved.map(|row| (row.path, row.file)).collect();
        let mut named = HashSet::new();
        for path in &target.paths {
            let mut found = rows::below(&self.db, root, path)?;
            found.extend(moved.iter().filter(|(to, _)| is_at(to, path)).map(|(_, file)| *file));
            if found.is_empty() {
                return Err(not_recorded(&target.root, path, target.root.path_of(path)));
            }
            named.extend(found);
        }
        Ok(Some(named))
    }
}

/// Returns whether a path is this one or below it.
fn is_at(path: &[u8], directory: &[u8]) -> bool {
    above(path).any(|it| it == directory)
}

fn scope_of(targets: &[Target], task: &Task) -> Scope {
    match task {
        Task::Add | Task::Update => Scope::Changes,
        Task::Scan => Scope::Names,
        Task::Scrub(_) => Scope::Due,
        Task::Verify if targets.iter().all(|it| it.paths.is_empty()) => Scope::Everything,
        Task::Verify => Scope::Named,
    }
}

impl Pass<'_> {
    fn run(
        mut self,
        targets: &[Target],
        named: Vec<Option<HashSet<i64>>>,
        task: &Task,
    ) -> Result<Vec<Summary>, CatalogError> {
        for (pass, named) in self.roots.iter_mut().zip(named) {
            pass.named = named;
        }
        let mut has_scanned = scope_of(targets, task) != Scope::Named;
        if let Task::Scrub(selection) = task {
            self.limits = Arc::new(Limits::new(selection.max_time, selection.max_bytes));
            has_scanned = !selection.is_updated;
        }
        let mut scans = Vec::new();
        for at in 0..targets.len() {
            self.at = at;
            scans.push(self.scan_root(at, task)?);
        }
        let mut moved = self.pair(&mut scans)?;
        for (at, found) in scans.into_iter().enumerate() {
            self.at = at;
            let (own, rest) = moved.into_iter().partition(|(row, _)| row.place().0 == at);
            moved = rest;
            if let Some(found) = found.filter(|_| self.roots[at].is_open()) {
                self.read_root(found, own, &targets[at], task)?;
            }
        }
        for at in 0..targets.len() {
            self.at = at;
            if self.roots[at].is_over {
                continue;
            }
            if self.roots[at].is_open() {
                self.resolve_gone(at)?;
            }
            self.report_inserted(at)?;
            if has_scanned {
                self.report_new(at)?;
            }
            self.report_moved(at);
        }
        self.finish(has_scanned)
    }

    /// Returns whether a root is available. Otherwise it is offline from now on.
    fn is_online(&mut self, at: usize) -> bool {
        let reason = self.roots[at].root.why_offline();
        let is_allowed = reason == Some(Reason::Empty) && self.max_gone(at) >= 100;
        if let Some(reason) = reason.filter(|_| !is_allowed) {
            let now = self.now();
            self.roots[at].set_offline(reason, 0, now);
            return false;
        }
        true
    }

    fn max_gone(&self, at: usize) -> u32 {
        self.options.max_gone.unwrap_or(self.roots[at].root.settings.max_gone)
    }

    /// Scans a root. Returns none if it is offline, or was read at once.
    fn scan_root(&mut self, at: usize, task: &Task) -> Result<Option<Scan>, CatalogError> {
        if !self.is_online(at) {
            return Ok(None);
        }
        let root = self.roots[at].root.clone();
        let own = self.catalog.own_files();
        self.roots[at].summary.is_first = self.verb.records() && !root.is_complete;
        if self.verb.records() && Total::of(&self.catalog.db, root.id())?.files == 0 {
            require_shape(&self.catalog.db)?;
            let jobs = FirstJobs::new((at, &root), self.catalog.path(), own)?;
            self.steer()?;
            if !self.read(jobs)? {
                self.halt(Halt::Limit);
            }
            return Ok(None);
        }
        if let Task::Scrub(selection) = task
            && selection.is_updated
        {
            return Ok(Some(self.assumed_scan(at)?));
        }
        let mut found = scan(&self.catalog.db, &root, &own, self.options.goes_on.as_ref())?;
        if self.verb.records() && !(found.new.is_empty() && found.gone.is_empty()) {
            require_shape(&self.catalog.db)?;
        }
        let pass = &mut self.roots[at];
        pass.root.has_stable_inodes = found.has_stable_inodes();
        pass.summary.skipped = std::mem::take(&mut found.skipped);
        pass.gone = std::mem::take(&mut found.gone).into_iter().map(Some).collect();
        pass.new = std::mem::take(&mut found.new);
        Ok(Some(found))
    }

    /// Returns the result of a scan after an update, which has read all files that are not ok.
    fn assumed_scan(&self, at: usize) -> Result<Scan, CatalogError> {
        let mut found = Scan::default();
        let root = self.roots[at].root.id();
        rows::State::for_each(&self.catalog.db, |state| {
            if state.root == root && state.is_ok() {
                found.same.push(state.id);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Pairs missing and new files of all roots, and leaves roots alone that lost too many.
    fn pair(&mut self, scans: &mut [Option<Scan>]) -> Result<Vec<(Row, Stat)>, CatalogError> {
        let replaced: Vec<_> = scans
            .iter_mut()
            .map(|found| found.as_mut().map(|it| std::mem::take(&mut it.replaced)))
            .map(Option::unwrap_or_default)
            .collect();
        let (mut moved, renamed_over) = self.pair_moved(&replaced)?;
        for (at, found) in scans.iter().enumerate() {
            let Some(found) = found else { continue };
            // Patterns of a file that appeared or was truncated may exclude the whole root.
            let gone = self.roots[at].newly_gone() + found.excluded.len() as u64;
            let records = found.records() + self.roots[at].gone.len() as u64;
            let most = u64::from(self.max_gone(at));
            if gone > MANY && gone * 100 > records * most {
                let now = self.now();
                self.roots[at].set_offline(Reason::TooManyMissing, gone, now);
            }
        }
        self.index_contents();
        let is_lost = |at: usize| self.roots[at].run.id > 0 && self.roots[at].is_over;
        moved.retain(|(row, _)| {
            let there = row.place().0;
            !is_lost(row.at) && !is_lost(there) && self.roots[there].is_named(row.file.id)
        });
        for renamed in renamed_over {
            let is_wanted = self.roots[renamed.at].is_named(renamed.file.id);
            if is_wanted && self.roots[renamed.at].is_open() && self.roots[renamed.there].is_open()
            {
                self.rename_over(renamed)?;
            }
        }
        Ok(moved)
    }

    /// Reads the files of a root that the policy selects.
    fn read_root(
        &mut self,
        mut found: Scan,
        moved: Vec<(Row, Stat)>,
        target: &Target,
        task: &Task,
    ) -> Result<(), CatalogError> {
        let at = self.at;
        if !target.paths.is_empty() {
            self.restrict(&mut found, target);
        } else if !matches!(task, Task::Scrub(selection) if selection.is_updated) {
            self.set_reached(found.same.iter().chain(found.differing.iter().map(|(id, _)| id)))?;
        }
        for blind in std::mem::take(&mut found.blind) {
            self.report_blind(at, blind);
        }
        self.drop_excluded(at, &found.excluded);
        let (ids, chosen) = self.choose(&found, task)?;
        self.leave_unread(&found, &ids)?;
        if *task == Task::Scan {
            moved.into_iter().try_for_each(|(row, stat)| self.move_unread(row, stat))?;
            return self.commit();
        }
        // A pause or limit leaves nothing undone if there is nothing to read.
        if !ids.is_empty() || !moved.is_empty() || self.new_jobs(at).next().is_some() {
            self.steer()?;
        }
        if self.roots[at].is_open() {
            let most = self.stage_edits(&found);
            self.read_ids(ids, true)?;
            self.apply_staged(most, found.records())?;
        }
        if self.roots[at].is_open() {
            let is_wanted = |row: &Row| *task == Task::Verify || chosen.contains(&row.file.id);
            let jobs = self.moved_jobs(moved, is_wanted)?;
            let is_done = self.read(jobs.into_iter().chain(self.new_jobs(at)))?;
            self.halt_unless(is_done);
        }
        Ok(())
    }

    /// Stores files as unchecked that the last scan could not reach, until they are read.
    fn set_reached<'a>(&mut self, ids: impl Iterator<Item = &'a i64>) -> Result<(), CatalogError> {
        let (at, root) = (self.at, self.roots[self.at].root.id());
        let mut blind = pending_of(&self.catalog.db, root)?;
        blind.retain(|row| row.class == Class::Unchecked && row.files > 0);
        let present: HashSet<_> = ids.filter(|_| !blind.is_empty()).collect();
        for row in &blind {
            let path = row.path.strip_suffix(b"/").unwrap_or(&row.path);
            for id in rows::below(&self.catalog.db, root, path)? {
                if present.contains(&id) && !self.roots[at].states.contains_key(&id) {
                    self.set_state(at, id, Class::Unchecked, row.reason)?;
                }
            }
        }
        // A scrub chooses files by their states in the catalog.
        self.commit()
    }

    /// Returns moved files to read. The others move without a read.
    fn moved_jobs(
        &mut self,
        moved: Vec<(Row, Stat)>,
        is_wanted: impl Fn(&Row) -> bool,
    ) -> Result<Vec<Job<jobs::Task>>, CatalogError> {
        let mut jobs = Vec::new();
        for (row, stat) in moved {
            if is_wanted(&row) || self.is_to_be_read(&row, &stat) {
                let (own, there) = (&self.roots[row.at].root, &self.roots[self.at].root);
                jobs.push(job_of_row(row.clone(), own, there));
                continue;
            }
            self.move_unread(row, stat)?;
            if self.batch.is_due() {
                self.commit()?;
            }
        }
        Ok(jobs)
    }

    /// Returns whether `update` or `scrub` must read a moved file, because it differs or is not ok.
    fn is_to_be_read(&self, row: &Row, stat: &Stat) -> bool {
        let state = self.roots[row.at].states.get(&row.file.id);
        let is_bad = state.is_some_and(|it| !matches!(it.class, Class::Missing | Class::Moved));
        is_bad || self.roots[row.at].is_damaged(row.file.id) || !stat.is_as_recorded(&row.file.stat)
    }

    /// Returns the records to read in order, and all that the selection of a scrub includes.
    fn choose(
        &mut self,
        found: &Scan,
        task: &Task,
    ) -> Result<(Vec<i64>, HashSet<i64>), CatalogError> {
        let pass = &self.roots[self.at];
        let differing = || found.differing.iter().map(|(id, _)| *id);
        let present = || found.same.iter().copied().chain(differing());
        let is_bad = |id: &i64| pass.states.contains_key(id) || pass.renamed_over.contains(id);
        let mut ids: Vec<i64> = match task {
            Task::Scan => Vec::new(),
            Task::Verify => present().collect(),
            Task::Add | Task::Update => {
                let bad = found.same.iter().copied().filter(is_bad);
                differing().chain(found.unsettled.iter().copied()).chain(bad).collect()
            }
            Task::Scrub(selection) => {
                let root = pass.root.clone();
                return self.choose_due(&root, selection, &present().collect());
            }
        };
        ids.sort_unstable();
        ids.dedup();
        Ok((ids, HashSet::new()))
    }

    fn choose_due(
        &mut self,
        root: &Root,
        selection: &Selection,
        present: &HashSet<i64>,
    ) -> Result<(Vec<i64>, HashSet<i64>), CatalogError> {
        let now = (self.options.clock)();
        let plan = plan(self.catalog, root, selection, (now - ALMOST_A_DAY, now), Most::ALL)?;
        self.roots[self.at].summary.left = plan.left;
        let chosen: HashSet<i64> = plan.ids.iter().copied().collect();
        let ids = plan.ids.into_iter().filter(|id| present.contains(id)).collect();
        Ok((ids, chosen))
    }

    /// Reports files that are not read: known problems, and size and time differences.
    fn leave_unread(&mut self, found: &Scan, ids: &[i64]) -> Result<(), CatalogError> {
        let at = self.at;
        let read: HashSet<i64> = ids.iter().copied().collect();
        let same: Vec<i64> = found.same.iter().copied().filter(|id| !read.contains(id)).collect();
        let mut unread = Vec::new();
        for &id in &same {
            match self.roots[at].states.get(&id).map(|state| state.class) {
                Some(Class::Damaged | Class::Unchecked) => unread.push((id, None)),
                Some(_) if !self.roots[at].is_damaged(id) => self.set_as_recorded(at, id),
                _ => {}
            }
        }
        self.roots[at].summary.unread = (same.len() - unread.len()) as u64;
        let differing = found.differing.iter().filter(|(id, _)| !read.contains(id));
        unread.extend(differing.map(|(id, stat)| (*id, Some(stat))));
        self.report_unread(at, &unread)
    }

    /// Keeps the given paths of a scan.
    fn restrict(&mut self, found: &mut Scan, target: &Target) {
        let pass = &mut self.roots[self.at];
        let Some(named) = &pass.named else { return };
        found.same.retain(|id| named.contains(id));
        found.differing.retain(|(id, _)| named.contains(id));
        let is_around = |path: &Vec<u8>, blind: &[u8]| is_at(path, blind) || is_at(blind, path);
        found.blind.retain(|it| target.paths.iter().any(|path| is_around(path, &it.path)));
        pass.gone.retain(|file| file.as_ref().is_some_and(|it| named.contains(&it.id)));
        self.index_contents();
    }

    /// Holds edits back if too many files differ, until they are counted. Returns the allowed
    /// number of edits.
    fn stage_edits(&mut self, found: &Scan) -> u64 {
        let most = (found.records() * u64::from(self.options.max_changed) / 100).max(MANY);
        let is_suspicious = self.verb.records() && !self.options.force;
        if is_suspicious && found.differing.len() as u64 > most {
            self.roots[self.at].staged = Some(Vec::new());
        }
        most
    }

    /// Records the edits that were held back, unless there are too many.
    fn apply_staged(&mut self, most: u64, of: u64) -> Result<(), CatalogError> {
        let Some(staged) = self.roots[self.at].staged.take() else { return Ok(()) };
        let edited = staged.len() as u64;
        if !self.roots[self.at].is_open() {
            return Ok(());
        }
        if edited > most {
            self.halt(Halt::TooManyEdits { edited, of });
        }
        staged.into_iter().try_for_each(|(row, stat, digests, reason)| match edited > most {
            true => self.leave_edit(&row, stat, digests, reason),
            false => self.record_edit(row, stat, digests, reason),
        })
    }

    /// Reads records by their ids. A scrub reads long ones in chunks.
    fn read_ids(&mut self, ids: Vec<i64>, has_scanned: bool) -> Result<(), CatalogError> {
        let is_scrub = self.verb == Verb::Scrub;
        let pieces = if is_scrub { self.in_chunks(ids)? } else { vec![(ids, false)] };
        for (ids, is_chunked) in pieces {
            if ids.is_empty() || !self.roots[self.at].is_open() {
                continue;
            }
            let is_done = if is_chunked {
                self.read_long(ids)?
            } else {
                let root = self.roots[self.at].root.clone();
                let probe = (!has_scanned).then(|| Probe::of(&root.path)).transpose()?;
                let (at, limits) = (self.at, Arc::clone(&self.limits));
                self.read(RowJobs::new((at, &root), self.catalog.reader()?, ids, probe, limits))?
            };
            self.halt_unless(is_done);
        }
        Ok(())
    }

    fn new_jobs(
        &self,
        at: usize,
    ) -> impl Iterator<Item = Job<jobs::Task>> + Send + 'static + use<> {
        let root = &self.roots[at].root;
        let new = self.roots[at].new.iter();
        let wanted = new.filter(|it| self.verb.records() || self.contents.may_be(it.stat.size));
        let job = |it: &crate::scan::NewFile| {
            let of_gone = self.contents.algorithms_of(it.stat.size);
            job_of_new(at, root, it.path.clone(), Algorithms::NONE.union(of_gone))
        };
        wanted.map(job).collect::<Vec<_>>().into_iter()
    }

    fn halt(&mut self, halt: Halt) {
        self.roots[self.at].summary.halt.get_or_insert(halt);
    }

    fn halt_unless(&mut self, is_done: bool) {
        if !is_done {
            self.halt(Halt::Limit);
        }
    }
}

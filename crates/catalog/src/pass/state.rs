//! The state of a pass: its roots, its pending writes, and its pending reports.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use lanesum_checksum::Algorithms;
use lanesum_checksum::disk::{MountTable, Mounts};
use lanesum_checksum::engine::{Pace, Pressure};
use lanesum_list::{Digest, Digests};
use rusqlite::{Connection, Transaction};

use super::chain::Chain;
use super::row::{Limits, Row};
use crate::CatalogError;
use crate::due::is_overdue;
use crate::model::{Class, Finding, Reason, Renamed, Stat};
use crate::options::{Options, Verb};
use crate::root::Root;
use crate::scan::NewFile;
use crate::status::Scope;
use crate::store::batch::{Batch, PendingRow};
use crate::store::catalog::Catalog;
use crate::store::check::require_rows;
use crate::store::rows::{File, State};
use crate::store::run::RunRow;
use crate::summary::{Counts, Halt, Summary};

/// Takes the findings of a run with their roots, once they are on disk.
pub type OnFinding<'a> = &'a mut dyn FnMut(&Root, &Finding) -> io::Result<()>;

/// An edit that is held back.
pub(crate) type StagedEdit = (Row, Stat, Digests, Option<Reason>);

/// A root in a pass.
pub(crate) struct RootPass {
    pub(crate) root: Root,
    pub(crate) run: RunRow,
    pub(crate) summary: Summary,
    /// Records that are not ok, and those that are ok and overdue.
    pub(crate) states: HashMap<i64, State>,
    overdue: HashSet<i64>,
    /// The records at the given paths, if there are any.
    pub(crate) named: Option<HashSet<i64>>,
    /// Device and inode of its directory at the start of the pass.
    place: Option<[u64; 2]>,
    mounts: Vec<Vec<u8>>,
    /// Records whose file was not found.
    pub(crate) gone: Vec<Option<File>>,
    /// Files without a record.
    pub(crate) new: Vec<NewFile>,
    /// Records whose file was replaced by renaming another recorded one.
    pub(crate) renamed_over: HashSet<i64>,
    /// Moves into this root, by the indices of the roots that they came from.
    pub(crate) renamed: BTreeMap<usize, Renamed>,
    /// Inserted files, which are reported when it is known whether they are copies.
    pub(crate) inserted: Vec<(Vec<u8>, Stat, Digests)>,
    /// New files that were recorded, are moved files, or could not be read.
    pub(crate) taken: HashSet<Vec<u8>>,
    pub(crate) pending: Vec<PendingRow>,
    /// Edits that are held back until they are known not to be too many.
    pub(crate) staged: Option<Vec<StagedEdit>>,
    /// Whether its run ended, or never started.
    pub(crate) is_over: bool,
    /// The counts at the last commit.
    kept: Counts,
}

impl RootPass {
    fn new(root: Root, run: RunRow, verb: Verb) -> Self {
        let mounts = mounts_of(&root);
        Self {
            summary: Summary::new(root.clone(), verb),
            place: inode_at(&root.path),
            mounts,
            root,
            run,
            states: HashMap::new(),
            overdue: HashSet::new(),
            named: None,
            gone: Vec::new(),
            new: Vec::new(),
            renamed_over: HashSet::new(),
            renamed: BTreeMap::new(),
            inserted: Vec::new(),
            taken: HashSet::new(),
            pending: Vec::new(),
            staged: None,
            is_over: false,
            kept: Counts::new(),
        }
    }

    /// The device of its directory.
    pub(crate) fn device(&self) -> u64 {
        self.place.map_or(0, |[device, _]| device)
    }

    /// Returns whether work on it continues.
    pub(crate) const fn is_open(&self) -> bool {
        !self.is_over && self.summary.halt.is_none()
    }

    /// Returns whether a record counts as damaged, even if the damaged file is missing now.
    pub(crate) fn is_damaged(&self, id: i64) -> bool {
        self.states.get(&id).is_some_and(|state| match state.class {
            Class::Damaged => true,
            Class::Missing => state.reason.is_some(),
            _ => false,
        })
    }
}

fn mounts_of(root: &Root) -> Vec<Vec<u8>> {
    let mounts = Mounts::below(&root.path);
    mounts.map_or_else(|_| Vec::new(), |it| it.iter().map(<[u8]>::to_vec).collect())
}

fn inode_at(path: &Path) -> Option<[u64; 2]> {
    let metadata = std::fs::metadata(path).ok()?;
    Some([metadata.dev(), metadata.ino()])
}

/// Records without a file by their contents: indices of roots and of their records.
#[derive(Default)]
pub(crate) struct GoneContents {
    pub(crate) by_digest: HashMap<Digest, Vec<(usize, usize)>>,
    /// The algorithms of those with a given size.
    pub(crate) by_size: HashMap<i64, Algorithms>,
}

/// A pass over roots.
pub(crate) struct Pass<'a> {
    pub(crate) catalog: &'a mut Catalog,
    pub(crate) options: &'a Options,
    pub(crate) verb: Verb,
    pub(crate) batch: Batch,
    pub(crate) roots: Vec<RootPass>,
    /// The index of the root that is being read.
    pub(crate) at: usize,
    pub(crate) contents: GoneContents,
    pub(crate) limits: Arc<Limits>,
    pub(crate) pace: Pace,
    pub(crate) pressure: Pressure,
    /// Files that a program was writing to, to be read again.
    pub(crate) busy: Vec<super::jobs::Task>,
    pub(crate) tries: u32,
    /// Long files that are being read in chunks.
    pub(crate) chain: Option<Arc<Chain>>,
    /// Files of which a part was read, in this or an earlier run.
    pub(crate) partly_read: HashSet<i64>,
    /// The start of reading of the long file that is being judged.
    pub(crate) began: Option<i64>,
    told: Vec<(usize, Finding)>,
    on_finding: OnFinding<'a>,
    table: MountTable,
}

impl<'a> Pass<'a> {
    /// Starts runs, and commits their rows.
    pub(crate) fn begin(
        catalog: &'a mut Catalog,
        roots: &[Root],
        (verb, scope): (Verb, Scope),
        options: &'a Options,
        on_finding: OnFinding<'a>,
    ) -> Result<Self, CatalogError> {
        require_rows(&catalog.db)?;
        let started = (options.clock)().max(1);
        let first = RunRow::next_id(&catalog.db)?;
        let mut passes = Vec::new();
        for (id, root) in (first..).zip(roots) {
            // The caller's data may be older than another run.
            let root = Root::find(&catalog.db, root.id())?;
            let root = root.ok_or_else(|| CatalogError::NoRoot(roots[0].path.clone()))?;
            let run = RunRow::begun(id, root.id(), (verb, scope), started);
            passes.push(RootPass::new(root, run, verb));
        }
        load_states(&catalog.db, &mut passes, started)?;
        let mut pass = Self {
            batch: Batch::new(&catalog.db)?,
            partly_read: crate::store::chunk::partly_read_files(&catalog.db)?,
            catalog,
            options,
            verb,
            roots: passes,
            at: 0,
            contents: GoneContents::default(),
            limits: Arc::default(),
            pace: options.engine.pace.clone().unwrap_or_default(),
            pressure: Pressure::default(),
            busy: Vec::new(),
            tries: 0,
            chain: None,
            began: None,
            told: Vec::new(),
            on_finding,
            table: MountTable::open()?,
        };
        pass.commit()?;
        Ok(pass)
    }

    /// Returns the index of a root without a run in this pass, for a record that moved out of it.
    pub(crate) fn passive(&mut self, root: Root) -> Result<usize, CatalogError> {
        if let Some(place) = self.roots.iter().position(|it| it.root.id() == root.id()) {
            return Ok(place);
        }
        let mut passive = RootPass::new(root, RunRow::default(), self.verb);
        load_states(&self.catalog.db, std::slice::from_mut(&mut passive), self.now())?;
        passive.is_over = true;
        self.roots.push(passive);
        Ok(self.roots.len() - 1)
    }

    /// Seconds since 1970, at least 1.
    pub(crate) fn now(&self) -> i64 {
        (self.options.clock)().max(1)
    }

    /// Commits, and then reports the findings.
    pub(crate) fn commit(&mut self) -> Result<(), CatalogError> {
        self.commit_with(|_| Ok(()))
    }

    /// The same with additional writes.
    pub(crate) fn commit_with(
        &mut self,
        also: impl FnOnce(&Transaction<'_>) -> Result<(), CatalogError>,
    ) -> Result<(), CatalogError> {
        self.check_place()?;
        let runs = self.roots.iter().map(|it| &it.run).filter(|run| run.id > 0);
        self.batch.commit(&mut self.catalog.db, runs, also)?;
        for pass in &mut self.roots {
            pass.kept.clone_from(&pass.run.counts);
        }
        for (place, finding) in std::mem::take(&mut self.told) {
            let root = &self.roots[place].root;
            (self.on_finding)(root, &finding).map_err(CatalogError::Output)?;
        }
        Ok(())
    }

    /// Returns whether the current root is still the same. Otherwise uncommitted results may be of
    /// a different directory, so all of them are dropped.
    fn check_place(&mut self) -> Result<(), CatalogError> {
        let has_changed = self.table.has_changed();
        for (at, pass) in self.roots.iter_mut().enumerate() {
            // The batch has nothing of a root that is still to be read.
            if has_changed
                && at != self.at
                && pass.is_open()
                && mounts_of(&pass.root) != pass.mounts
            {
                pass.summary.halt = Some(Halt::MountsChanged);
            }
        }
        let Some(pass) = self.roots.get_mut(self.at).filter(|it| it.is_open()) else {
            return Ok(());
        };
        if inode_at(&pass.root.path) != pass.place
            && let Some(reason) = pass.root.why_offline()
        {
            self.lose(|pass, now| pass.set_offline(reason, 0, now))?;
        } else if has_changed && mounts_of(&pass.root) != pass.mounts {
            self.lose(|pass, _| pass.summary.halt = Some(Halt::MountsChanged))?;
        }
        Ok(())
    }

    fn lose(&mut self, how: impl FnOnce(&mut RootPass, i64)) -> Result<(), CatalogError> {
        let now = self.now();
        self.batch.discard(&self.catalog.db)?;
        self.told.clear();
        load_states(&self.catalog.db, &mut self.roots, now)?;
        let pass = &mut self.roots[self.at];
        pass.run.counts.clone_from(&pass.kept);
        how(pass, now);
        Ok(())
    }

    /// Counts files of a class.
    pub(crate) fn count(&mut self, at: usize, class: Class, files: u64) {
        *self.roots[at].run.counts.entry(class).or_default() += files;
    }

    /// Counts and reports a finding, and logs it if it is news.
    pub(crate) fn report(&mut self, at: usize, finding: Finding, is_news: bool) {
        self.count(at, finding.class, finding.files);
        self.tell(at, finding, is_news);
    }

    /// The same without counting.
    pub(crate) fn tell(&mut self, at: usize, finding: Finding, is_news: bool) {
        if is_news {
            let now = self.now();
            self.batch.event(self.roots[at].root.id(), now, finding.clone());
        }
        self.told.push((at, finding));
    }

    /// Stores the new state of a record. `since` is kept if the class is the same. Returns whether
    /// this is news.
    pub(crate) fn set_state(
        &mut self,
        at: usize,
        id: i64,
        class: Class,
        reason: Option<Reason>,
    ) -> Result<bool, CatalogError> {
        let now = self.now();
        let root = self.roots[at].root.id();
        let before = self.roots[at].states.get(&id).copied();
        let verified = match before {
            Some(state) => state.verified,
            None => State::find(&self.catalog.db, id)?.map_or(0, |state| state.verified),
        };
        let since = before.filter(|it| it.class == class).map_or(now, |it| it.since);
        let state = State { id, root, verified, class, reason, since };
        let is_news = before.map(|it| (it.class, it.reason)) != Some((class, reason));
        if is_news {
            self.put_state(at, state);
        }
        Ok(is_news)
    }

    /// Stores the new state of a record of a root.
    pub(crate) fn put_state(&mut self, at: usize, state: State) {
        let now = self.now();
        self.roots[at].note_state(state, now);
        self.batch.state(state);
    }

    /// Deletes a record of a root.
    pub(crate) fn delete(&mut self, at: usize, file: &File) {
        self.roots[at].take_state(file.id);
        self.batch.delete(self.roots[at].root.id(), file);
    }

    /// Stores that a record is ok without verifying it.
    pub(crate) fn set_as_recorded(&mut self, at: usize, id: i64) {
        if let Some(before) = self.roots[at].take_state(id) {
            self.put_state(at, State::ok(id, before.root, before.verified));
            self.batch.found(id, None);
        }
    }
}

/// Loads the states of the records of roots.
fn load_states(db: &Connection, passes: &mut [RootPass], now: i64) -> Result<(), CatalogError> {
    for pass in &mut *passes {
        pass.states.clear();
        pass.overdue.clear();
    }
    State::for_each(db, |state| {
        if let Some(pass) = passes.iter_mut().find(|pass| pass.root.id() == state.root) {
            pass.note_state(state, now);
        }
        Ok(())
    })
}

impl RootPass {
    fn note_state(&mut self, state: State, now: i64) {
        self.take_state(state.id);
        if !state.is_ok() {
            self.states.insert(state.id, state);
        } else if is_overdue(&state, &self.root.settings, now) {
            self.overdue.insert(state.id);
        }
    }

    /// Removes a record that is deleted, moves to another root, or gets another state. Returns its
    /// state, if it was not ok.
    pub(crate) fn take_state(&mut self, id: i64) -> Option<State> {
        self.overdue.remove(&id);
        self.states.remove(&id)
    }

    /// Returns whether the run is about a record.
    pub(crate) fn is_named(&self, id: i64) -> bool {
        self.named.as_ref().is_none_or(|named| named.contains(&id))
    }

    /// Completes the summary by the states of the run's records: those that the caller gave, or all
    /// `count` records.
    pub(crate) fn summarize(&mut self, records: u64) {
        let (mut counts, mut io_errors) = (Counts::new(), 0);
        for state in self.states.values().filter(|state| self.is_named(state.id)) {
            *counts.entry(state.class).or_default() += 1;
            io_errors += u64::from(state.has_io_error());
        }
        let records = self.named.as_ref().map_or(records, |named| named.len() as u64);
        counts.insert(Class::Ok, records.saturating_sub(counts.values().sum()));
        (self.summary.standing, self.summary.io_errors) = (counts, io_errors);
        self.summary.overdue = self.overdue.iter().filter(|id| self.is_named(**id)).count() as u64;
    }

    /// Leaves the root alone.
    pub(crate) fn set_offline(&mut self, reason: Reason, missing: u64, now: i64) {
        let known = self.root.offline.as_ref().filter(|it| it.reason == reason);
        let since = known.map_or(now, |it| it.since);
        self.root.offline = Some(crate::root::Offline { reason, since, missing });
        self.is_over = true;
    }
}

//! Records files as they are, even damaged ones.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use lanesum_checksum::disk::{PathState, Probe};
use lanesum_checksum::engine::{self, Hashed};
use lanesum_checksum::{Error, Job, Source};

use crate::CatalogError;
use crate::excluded::not_recorded;
use crate::model::{Class, Content, Finding, Reason, Stat};
use crate::options::{Options, Verb};
use crate::pass::OnFinding;
use crate::root::Root;
use crate::store::batch::{Batch, Place};
use crate::store::catalog::Catalog;
use crate::store::check::require_rows;
use crate::store::digests::algorithms;
use crate::store::pending::pending_of;
use crate::store::rows::{self, File, Finder, State};
use crate::store::run::RunRow;

/// The results of several paths.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Accepted {
    /// Files that were recorded as they are.
    pub files: u64,
    /// The other paths, with errors.
    pub failed: Vec<(PathBuf, CatalogError)>,
}

/// A record whose content is to be replaced.
struct Item {
    /// The path as the caller gave it, or below a given directory.
    path: PathBuf,
    /// The root of its file.
    root: i64,
    file: File,
    /// Its state, if it is not ok.
    before: Option<State>,
    /// The current path of the file, and the previous one if it moved.
    moved: Option<(Place, Root)>,
}

/// A root with accepted files.
struct RootItems {
    root: Root,
    states: HashMap<i64, State>,
    /// The records that moved there, by path.
    moved: HashMap<Vec<u8>, i64>,
    probe: Probe,
}

impl Catalog {
    /// Records the content that files have now, in one transaction. A directory stands for all
    /// damaged files below it. Each file is reported as `ok`, with the old and the new content.
    ///
    /// # Errors
    /// Errors of the catalog and of `on_finding`. Errors of single paths are in the result.
    pub fn accept(
        &mut self,
        paths: &[PathBuf],
        options: &Options,
        on_finding: OnFinding<'_>,
    ) -> Result<Accepted, CatalogError> {
        require_rows(&self.db)?;
        let mut accepted = Accepted::default();
        let mut roots = BTreeMap::new();
        let mut items = Vec::new();
        for path in paths {
            match self.items_at(path, &mut roots) {
                Ok(found) => items.extend(found),
                Err(error) if is_of_path(&error) => accepted.failed.push((path.clone(), error)),
                Err(error) => return Err(error),
            }
        }
        let mut writer = Writer::new(self, options, &roots)?;
        for (item, result) in read(items, &roots, options) {
            match result {
                Ok(hashed) => writer.record(item, hashed),
                Err(error) => accepted.failed.push((item.path, error)),
            }
        }
        let findings = writer.commit(self)?;
        accepted.files = findings.len() as u64;
        for (root, finding) in &findings {
            on_finding(&roots[root].root, finding).map_err(CatalogError::Output)?;
        }
        Ok(accepted)
    }

    /// Returns the records at a path: its own, or the damaged ones below it.
    fn items_at(
        &self,
        path: &Path,
        roots: &mut BTreeMap<i64, RootItems>,
    ) -> Result<Vec<Item>, CatalogError> {
        let (root, below) = self.root_of(path)?;
        let id = root.id();
        if let Some(reason) = root.why_offline() {
            return Err(CatalogError::Offline { path: root.path, reason });
        }
        if let std::collections::btree_map::Entry::Vacant(entry) = roots.entry(id) {
            entry.insert(self.root_items(root)?);
        }
        let of_root = &roots[&id];
        let item = |file: File| {
            let before = of_root.states.get(&file.id).copied();
            let path = of_root.root.path_of(&file.path());
            Item { path, root: id, file, before, moved: None }
        };
        if let Some(file) = rows::at(&self.db, id, &below)? {
            return match of_root.probe.look(&below) {
                PathState::File => Ok(vec![item(file)]),
                PathState::Nothing => Err(CatalogError::NotAFile(path.to_owned())),
                PathState::Mounted => Err(CatalogError::Offline {
                    path: path.to_owned(),
                    reason: Reason::MountedOver,
                }),
            };
        }
        let mut finder = Finder::new(self.reader()?);
        if let Some(moved) = of_root.moved.get(&below)
            && let Some(file) = finder.find(*moved)?
            && let Some(state) = State::find(&self.db, *moved)?
            && let Some(from) = Root::find(&self.db, state.root)?
        {
            let (path, before) = (of_root.root.path_of(&below), Some(state));
            let moved = Some((Place { root: id, path: below }, from));
            return Ok(vec![Item { path, root: id, file, before, moved }]);
        }
        let ids = rows::below(&self.db, id, &below)?;
        if ids.is_empty() {
            return Err(not_recorded(&of_root.root, &below, path.to_owned()));
        }
        let is_damaged =
            |id: &i64| of_root.states.get(id).is_some_and(|it| it.class == Class::Damaged);
        let damaged: Vec<_> = ids.into_iter().filter(is_damaged).collect();
        Ok(finder.find_all(&damaged)?.into_iter().map(item).collect())
    }

    fn root_items(&self, root: Root) -> Result<RootItems, CatalogError> {
        let pending = pending_of(&self.db, root.id())?.into_iter().filter(|row| row.file > 0);
        Ok(RootItems {
            states: State::not_ok(&self.db, root.id())?,
            moved: pending.map(|row| (row.path, row.file)).collect(),
            probe: Probe::of(&root.path)?,
            root,
        })
    }
}

/// Returns whether an error is about one path, so that others can be accepted.
fn is_of_path(error: &CatalogError) -> bool {
    matches!(
        error,
        CatalogError::NoRoot(_)
            | CatalogError::NotRecorded(_)
            | CatalogError::Excluded { .. }
            | CatalogError::NotAFile(_)
            | CatalogError::Offline { .. }
            | CatalogError::Io { .. }
    )
}

/// Reads the files of records.
fn read(
    items: Vec<Item>,
    roots: &BTreeMap<i64, RootItems>,
    options: &Options,
) -> impl Iterator<Item = (Item, Result<Hashed, CatalogError>)> {
    let jobs: Vec<Job<Item>> = items
        .into_iter()
        .map(|item| {
            let own = roots[&item.root].root.settings.algorithms;
            let algorithms = own.union(algorithms(&item.file.digests));
            Job { source: Source::Regular(item.path.clone()), algorithms, context: item }
        })
        .collect();
    let mut engine = options.engine.clone();
    engine.detect_changes = true;
    engine::run(&engine, jobs.into_iter()).map(|outcome| {
        let path = outcome.context.path.clone();
        let result = outcome.result.map_err(|error| match error {
            Error::Changed => CatalogError::Busy(path),
            Error::Io(error) => CatalogError::Io { path, error },
            error => CatalogError::io(path)(std::io::Error::other(error.to_string())),
        });
        (outcome.context, result)
    })
}

/// Collects the values to write.
struct Writer {
    batch: Batch,
    runs: BTreeMap<i64, RunRow>,
    findings: Vec<(i64, Finding)>,
    now: i64,
}

impl Writer {
    fn new(
        catalog: &Catalog,
        options: &Options,
        roots: &BTreeMap<i64, RootItems>,
    ) -> Result<Self, CatalogError> {
        let now = (options.clock)().max(1);
        let first = RunRow::next_id(&catalog.db)?;
        let run = |(id, &root): (i64, &i64)| (root, RunRow::done(id, root, Verb::Accept, now));
        let runs = (first..).zip(roots.keys()).map(run).collect();
        Ok(Self { batch: Batch::new(&catalog.db)?, runs, findings: Vec::new(), now })
    }

    fn record(&mut self, item: Item, hashed: Hashed) {
        let Item { root, file, before, moved, .. } = item;
        let (to, from) = moved.unzip();
        let Some(stat) = Stat::of_hashed(&hashed) else { return };
        let run = self.runs.entry(root).or_default();
        run.files += 1;
        run.bytes = run.bytes.saturating_add_unsigned(hashed.bytes);
        *run.counts.entry(Class::Ok).or_default() += 1;
        let place = to.as_ref().map_or_else(|| file.path(), |to| to.path.clone());
        let mut finding = Finding::new(Class::Ok, None, place);
        finding.recorded = Some(Content::new(&file.stat, &file.digests));
        finding.found = Some(Content::new(&stat, &hashed.digests));
        finding.was = Some(before.map_or(Class::Ok, |state| state.class));
        let own = from.as_ref().map_or(root, Root::id);
        finding.other = from.map(|from| from.path_of(&file.path()));
        self.batch.state(State::ok(file.id, root, self.now));
        self.batch.found(file.id, None);
        self.batch.is_read_to_end(file.id);
        let is_settled = stat.is_settled_at(self.now);
        let after = File { stat, digests: hashed.digests, is_settled, ..file.clone() };
        self.batch.update(own, &file, after, to);
        self.batch.event(root, self.now, finding.clone());
        self.findings.push((root, finding));
    }

    fn commit(mut self, catalog: &mut Catalog) -> Result<Vec<(i64, Finding)>, CatalogError> {
        self.batch.commit(&mut catalog.db, self.runs.values(), |_| Ok(()))?;
        catalog.checkpoint()?;
        Ok(self.findings)
    }
}

//! Recording what checksum lists say, and listing what is recorded.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use lanesum_checksum::engine::{self, Hashed};
use lanesum_checksum::{Job, Source};
use lanesum_list::{Digests, Record, Time, Times};

use crate::CatalogError;
use crate::model::{Class, Content, Finding, Reason, Stat, agree};
use crate::options::{Options, Verb};
use crate::probe::{Probe, There};
use crate::root::Root;
use crate::status::{Outcome, Scope};
use crate::store::batch::{Batch, Found, Insert};
use crate::store::catalog::Catalog;
use crate::store::check::{require_rows, require_shape};
use crate::store::digests::{algorithms, encode};
use crate::store::rows::{self, File, State};
use crate::store::run::RunRow;

/// What lists say of files.
#[derive(Debug, Default)]
pub struct Import {
    /// None where lists contradict each other.
    files: BTreeMap<PathBuf, Option<Digests>>,
}

/// What came of a listed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Imported {
    /// It has the listed content, and is recorded now.
    Recorded,
    /// It was recorded with the listed digests already.
    Known,
    /// Its record got the listed digests in place of others.
    Replaced,
    /// Its content is not the listed one: it is recorded as damaged, with the listed digests.
    Differs,
    /// Its record has other digests than the list, or lists contradict each other; nothing was
    /// changed.
    Conflict,
    /// It is not there.
    Missing,
    /// It is in no root.
    NoRoot,
    /// Its root is offline.
    Offline,
    /// It could not be read, or is no regular file.
    Unreadable,
}

impl Import {
    /// Adds what a list says of a file at a whole path. Lines without a digest that a catalog can
    /// keep say nothing.
    pub fn add(&mut self, path: PathBuf, record: &Record<'_>) {
        if record.digests.is_empty() || encode(&record.digests).is_err() {
            return;
        }
        match self.files.entry(path) {
            Entry::Vacant(place) => _ = place.insert(Some(record.digests.clone())),
            Entry::Occupied(mut place) => {
                let joined = place.get().as_ref().and_then(|known| join(known, &record.digests));
                place.insert(joined);
            }
        }
    }

    /// Whether no list says anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The paths that lists name.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }
}

/// Two sets of digests of one file; none where they contradict each other.
fn join(one: &Digests, other: &Digests) -> Option<Digests> {
    if agree(one, other) == Some(false) {
        return None;
    }
    let mut joined = one.clone();
    for digest in other.iter().filter(|digest| !one.iter().any(|it| it == *digest)) {
        joined.push(*digest);
    }
    Some(joined)
}

/// A listed file that is to be read.
struct Listed {
    path: PathBuf,
    root: Root,
    below: Vec<u8>,
    digests: Digests,
    record: Option<File>,
}

impl Catalog {
    /// Lists the records of a root as lines of a list, in the order of their paths: names are below
    /// the root, with size, modification time and digests.
    ///
    /// # Errors
    /// Those of the catalog and of `take`.
    pub fn records(
        &self,
        root: &Root,
        take: &mut dyn FnMut(Record<'_>) -> io::Result<()>,
    ) -> Result<(), CatalogError> {
        const SECOND: i64 = 1_000_000_000;
        // All of one moment, or a file that moves meanwhile is in no line.
        let _moment = self.db.unchecked_transaction()?;
        let mut files = rows::Files::of(&self.db, root.id());
        while let Some(file) = files.next()? {
            let path = file.path();
            let is_known = !matches!(file.stat.modified, i64::MIN | i64::MAX);
            let modified = is_known.then(|| Time {
                seconds: file.stat.modified.div_euclid(SECOND),
                nanoseconds: file.stat.modified.rem_euclid(SECOND).try_into().unwrap_or(0),
            });
            let record = Record {
                size: u64::try_from(file.stat.size).ok(),
                times: Times { modified, changed: None },
                digests: file.digests,
                ..Record::new(&path)
            };
            take(record).map_err(CatalogError::Output)?;
        }
        Ok(())
    }

    /// Reads the listed files, and records those that have the listed content. `replace` lets the
    /// lists replace digests of records that they contradict.
    ///
    /// # Errors
    /// Those of the catalog and of `on_file`.
    pub fn import(
        &mut self,
        import: Import,
        replace: bool,
        options: &Options,
        on_file: &mut dyn FnMut(&Path, Imported) -> io::Result<()>,
    ) -> Result<(), CatalogError> {
        require_rows(&self.db)?;
        require_shape(&self.db)?;
        let mut give =
            |path: &Path, imported| on_file(path, imported).map_err(CatalogError::Output);
        let mut probes = HashMap::new();
        let mut listed = Vec::new();
        for (path, digests) in import.files {
            match self.listed(path.clone(), digests, &mut probes)? {
                Ok(file) => listed.push(file),
                Err(imported) => give(&path, imported)?,
            }
        }
        let mut writer = Writer::new(self, options, replace)?;
        let jobs: Vec<_> = listed.into_iter().map(job).collect();
        let mut engine = options.engine.clone();
        engine.detect_changes = true;
        for outcome in engine::run(&engine, jobs.into_iter()) {
            let file = outcome.context;
            let path = file.path.clone();
            let imported = match outcome.result {
                Ok(hashed) => writer.take(self, file, hashed)?,
                Err(error) if error.is_not_found() => Imported::Missing,
                Err(_) => Imported::Unreadable,
            };
            writer.results.push((path, imported));
            if writer.batch.is_due() {
                writer.commit(self, &mut give)?;
            }
        }
        writer.commit(self, &mut give)?;
        self.checkpoint()
    }

    /// A listed file, or what came of it before it is read.
    fn listed(
        &self,
        path: PathBuf,
        digests: Option<Digests>,
        probes: &mut HashMap<i64, Option<Probe>>,
    ) -> Result<Result<Listed, Imported>, CatalogError> {
        let Some(digests) = digests else { return Ok(Err(Imported::Conflict)) };
        let (root, below) = match self.root_of(&path) {
            Ok(found) => found,
            Err(CatalogError::NoRoot(_)) => return Ok(Err(Imported::NoRoot)),
            Err(error) => return Err(error),
        };
        let probe = match probes.entry(root.id()) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => {
                let is_there = root.why_offline().is_none();
                place.insert(is_there.then(|| Probe::of(&root.path)).transpose()?)
            }
        };
        let Some(probe) = probe else { return Ok(Err(Imported::Offline)) };
        let is_absent = || path.symlink_metadata().is_err();
        match probe.look(&below) {
            There::File => {}
            There::Nothing if is_absent() => return Ok(Err(Imported::Missing)),
            There::Nothing | There::Mounted => return Ok(Err(Imported::Unreadable)),
        }
        let record = rows::at(&self.db, root.id(), &below)?;
        Ok(Ok(Listed { path, root, below, digests, record }))
    }
}

fn job(file: Listed) -> Job<Listed> {
    let mut known = file.root.settings.algorithms.union(algorithms(&file.digests));
    if let Some(record) = &file.record {
        known = known.union(algorithms(&record.digests));
    }
    Job { source: Source::Regular(file.path.clone()), algorithms: known, context: file }
}

/// Gathers what is to be written, and what came of each file.
struct Writer {
    batch: Batch,
    runs: BTreeMap<i64, RunRow>,
    next_run: i64,
    results: Vec<(PathBuf, Imported)>,
    replace: bool,
    now: i64,
}

impl Writer {
    fn new(catalog: &Catalog, options: &Options, replace: bool) -> Result<Self, CatalogError> {
        Ok(Self {
            batch: Batch::new(&catalog.db)?,
            runs: BTreeMap::new(),
            next_run: RunRow::next_id(&catalog.db)?,
            results: Vec::new(),
            replace,
            now: (options.clock)().max(1),
        })
    }

    fn take(
        &mut self,
        catalog: &Catalog,
        file: Listed,
        hashed: Hashed,
    ) -> Result<Imported, CatalogError> {
        let Some(stat) = Stat::of_hashed(&hashed) else { return Ok(Imported::Unreadable) };
        self.count(file.root.id(), hashed.bytes);
        let is_listed = agree(&file.digests, &hashed.digests) == Some(true);
        let Some(record) = &file.record else {
            self.insert(&file, stat, hashed.digests, is_listed);
            return Ok(if is_listed { Imported::Recorded } else { Imported::Differs });
        };
        let is_known = agree(&record.digests, &hashed.digests) == Some(true);
        match (is_listed, is_known, agree(&record.digests, &file.digests)) {
            (true, true, _) => {
                self.update(&file, record, stat, hashed.digests);
                Ok(Imported::Known)
            }
            // The file is damaged: the list says what the record says.
            (false, _, Some(true)) => Ok(Imported::Known),
            _ if !self.replace => Ok(Imported::Conflict),
            (true, ..) => {
                self.update(&file, record, stat, hashed.digests);
                Ok(Imported::Replaced)
            }
            (false, ..) => {
                self.set_damaged(catalog, &file, record, stat, hashed.digests)?;
                Ok(Imported::Differs)
            }
        }
    }

    fn count(&mut self, root: i64, bytes: u64) {
        let (id, now) = (self.next_run, self.now);
        let run = self.runs.entry(root).or_insert_with(|| {
            let mut run = RunRow { id, root, started: now, ..RunRow::default() };
            run.verb = Verb::Import.name().to_owned();
            (run.scope, run.outcome) = (Scope::Named as i64, Outcome::Complete as i64);
            run
        });
        self.next_run += i64::from(run.id == id && run.files == 0);
        run.ended = Some(now);
        run.files += 1;
        run.bytes = run.bytes.saturating_add_unsigned(bytes);
    }

    fn insert(&mut self, file: &Listed, stat: Stat, read: Digests, is_listed: bool) {
        let (root, path) = (file.root.id(), file.below.clone());
        let is_settled = stat.is_settled_at(self.now);
        let ok = State::ok(0, root, self.now);
        let (state, found, digests) = if is_listed {
            (ok, None, read)
        } else {
            let (class, reason, since) = (Class::Damaged, Some(Reason::Content), self.now);
            let content = Content::new(&stat, &read);
            self.log_damage(file, stat, &content);
            let found = Some(Found { content, error: None });
            (State { class, reason, since, verified: 0, ..ok }, found, file.digests.clone())
        };
        self.batch.insert(Insert { root, path, stat, is_settled, digests, state, found });
    }

    fn log_damage(&mut self, file: &Listed, stat: Stat, found: &Content) {
        let (class, reason) = (Class::Damaged, Some(Reason::Content));
        let mut finding = Finding::new(class, reason, file.below.clone());
        finding.recorded = Some(Content::new(&stat, &file.digests));
        finding.found = Some(found.clone());
        self.batch.event(file.root.id(), self.now, finding);
    }

    /// The file has the listed content.
    fn update(&mut self, file: &Listed, record: &File, stat: Stat, digests: Digests) {
        let root = file.root.id();
        let is_settled = stat.is_settled_at(self.now);
        let after = File { stat, digests, is_settled, ..record.clone() };
        self.batch.update(root, record, after, None);
        self.batch.state(State::ok(record.id, root, self.now));
        self.batch.found(record.id, None);
    }

    /// The file has neither the recorded nor the listed content.
    fn set_damaged(
        &mut self,
        catalog: &Catalog,
        file: &Listed,
        record: &File,
        stat: Stat,
        read: Digests,
    ) -> Result<(), CatalogError> {
        let root = file.root.id();
        let verified = State::find(&catalog.db, record.id)?.map_or(0, |state| state.verified);
        let content = Content::new(&stat, &read);
        self.log_damage(file, stat, &content);
        let after = File { stat, digests: file.digests.clone(), ..record.clone() };
        self.batch.update(root, record, after, None);
        let (class, reason, since) = (Class::Damaged, Some(Reason::Content), self.now);
        self.batch.state(State { id: record.id, root, verified, class, reason, since });
        self.batch.found(record.id, Some(Found { content, error: None }));
        Ok(())
    }

    fn commit(
        &mut self,
        catalog: &mut Catalog,
        give: &mut dyn FnMut(&Path, Imported) -> Result<(), CatalogError>,
    ) -> Result<(), CatalogError> {
        self.batch.commit(&mut catalog.db, self.runs.values(), |_| Ok(()))?;
        self.results.drain(..).try_for_each(|(path, imported)| give(&path, imported))
    }
}

//! Writes that are collected for seconds and committed together.
//!
//! A commit waits for the disk, and rows sorted by their ids touch each page once. So a batch has
//! at most ten thousand files or two seconds. A crash loses at most the successful verifications of
//! a batch. Findings are reported after their commit.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lanesum_list::Digests;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior};

use super::chunk::ResumePoint;
use super::digests;
use super::rows::{File, State, split};
use super::run::RunRow;
use super::table::{
    DELETED, DIRECTORY, EVENT, FILE, FOUND, PENDING, Putter, STATE, blob, int, or_null, text,
};
use super::total::Total;
use crate::CatalogError;
use crate::model::{Class, Content, Finding, Reason, Stat};

const MOST: usize = 10_000;
const LONGEST: Duration = Duration::from_secs(2);
/// The number of new files that one statement inserts.
const TOGETHER: usize = 64;
/// The number of seconds for which records of deleted files are kept.
const KEPT: i64 = 90 * 24 * 60 * 60;

/// A file without a record.
#[derive(Debug)]
pub(crate) struct Insert {
    pub(crate) root: i64,
    pub(crate) path: Vec<u8>,
    pub(crate) stat: Stat,
    pub(crate) is_settled: bool,
    pub(crate) digests: Digests,
    /// Its id is not known yet.
    pub(crate) state: State,
    pub(crate) found: Option<Found>,
}

/// The content found in place of the recorded one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) content: Content,
    pub(crate) error: Option<String>,
}

/// A row for an entry of the last scan without a record of its own.
#[derive(Clone, Debug)]
pub(crate) struct PendingRow {
    pub(crate) class: Class,
    pub(crate) reason: Option<Reason>,
    pub(crate) path: Vec<u8>,
    /// The record that moved there, or 0 for a new file.
    pub(crate) file: i64,
    pub(crate) stat: Stat,
    pub(crate) files: u64,
    pub(crate) error: Option<String>,
}

/// The new place of a record.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) root: i64,
    pub(crate) path: Vec<u8>,
}

/// A new value of a record.
#[derive(Debug)]
struct Update {
    root: i64,
    file: File,
    to: Option<Place>,
}

/// Writes that are committed together.
#[derive(Debug)]
pub(crate) struct Batch {
    inserts: Vec<Insert>,
    updates: Vec<Update>,
    states: Vec<State>,
    /// Records to delete, with their roots.
    deletes: Vec<(i64, i64)>,
    found: Vec<(i64, Option<Found>)>,
    /// The new pending rows of each root, which replace all existing ones.
    pending: BTreeMap<i64, Vec<PendingRow>>,
    deleted: Vec<(i64, i64, Vec<u8>, Content)>,
    events: Vec<(i64, i64, Finding)>,
    chunks: Vec<ResumePoint>,
    read_to_end: Vec<i64>,
    totals: BTreeMap<i64, Total>,
    directories: HashMap<(i64, Arc<[u8]>), i64>,
    /// Roots with directories that may be empty after removing records.
    thinned: HashSet<i64>,
    began: Instant,
    ids: Ids,
}

/// The next free ids. No other process writes.
#[derive(Debug)]
struct Ids {
    file: i64,
    directory: i64,
    event: i64,
    pending: i64,
    deleted: i64,
}

impl Ids {
    fn of(db: &Connection) -> Result<Self, CatalogError> {
        let next = |table: &str| -> Result<i64, CatalogError> {
            let sql = format!("SELECT coalesce(max(id), 0) + 1 FROM {table}");
            Ok(db.query_row(&sql, [], |row| row.get(0))?)
        };
        Ok(Self {
            file: next("file")?.max(next("state")?),
            directory: next("directory")?,
            event: next("event")?,
            pending: next("pending")?,
            deleted: next("deleted")?,
        })
    }

    fn take(id: &mut i64) -> i64 {
        *id += 1;
        *id - 1
    }
}

impl Batch {
    pub(crate) fn new(db: &Connection) -> Result<Self, CatalogError> {
        Ok(Self {
            inserts: Vec::new(),
            updates: Vec::new(),
            states: Vec::new(),
            deletes: Vec::new(),
            found: Vec::new(),
            pending: BTreeMap::new(),
            deleted: Vec::new(),
            events: Vec::new(),
            chunks: Vec::new(),
            read_to_end: Vec::new(),
            totals: BTreeMap::new(),
            directories: HashMap::new(),
            thinned: HashSet::new(),
            began: Instant::now(),
            ids: Ids::of(db)?,
        })
    }

    /// Records a file.
    pub(crate) fn insert(&mut self, insert: Insert) {
        let total = self.totals.entry(insert.root).or_default();
        total.files += 1;
        total.bytes += insert.stat.size;
        self.inserts.push(insert);
    }

    /// Replaces a record of a root, perhaps with a new place.
    pub(crate) fn update(&mut self, root: i64, before: &File, file: File, to: Option<Place>) {
        let total = self.totals.entry(root).or_default();
        total.bytes -= before.stat.size;
        let after = to.as_ref().map_or(root, |to| to.root);
        if after != root {
            total.files -= 1;
            self.totals.entry(after).or_default().files += 1;
        }
        self.totals.entry(after).or_default().bytes += file.stat.size;
        if to.is_some() {
            self.thinned.insert(root);
        }
        self.updates.push(Update { root, file, to });
    }

    /// Stores the state of a record.
    pub(crate) fn state(&mut self, state: State) {
        self.states.push(state);
    }

    /// Stores the content found in place of the recorded one, or removes it.
    pub(crate) fn found(&mut self, id: i64, found: Option<Found>) {
        self.found.push((id, found));
    }

    /// Deletes a record.
    pub(crate) fn delete(&mut self, root: i64, file: &File) {
        let total = self.totals.entry(root).or_default();
        total.files -= 1;
        total.bytes -= file.stat.size;
        self.deletes.push((file.id, root));
        self.thinned.insert(root);
    }

    /// Keeps the recorded content of a file that a working root lost.
    pub(crate) fn keep_deleted(&mut self, root: i64, file: &File, now: i64) {
        let content = Content::new(&file.stat, &file.digests);
        self.deleted.push((root, now, file.path(), content));
    }

    /// Replaces all pending rows of a root.
    pub(crate) fn set_pending(&mut self, root: i64, rows: Vec<PendingRow>) {
        self.pending.insert(root, rows);
    }

    /// Writes an entry of the log.
    pub(crate) fn event(&mut self, root: i64, at: i64, finding: Finding) {
        self.events.push((root, at, finding));
    }

    /// Stores the position in a long file.
    pub(crate) fn chunk(&mut self, point: ResumePoint) {
        self.chunks.push(point);
    }

    /// Deletes the position in a file.
    pub(crate) fn is_read_to_end(&mut self, id: i64) {
        self.chunks.retain(|point| point.file != id);
        self.read_to_end.push(id);
    }

    /// Returns whether the batch is large or old enough.
    pub(crate) fn is_due(&self) -> bool {
        let rows = self.inserts.len() + self.updates.len() + self.states.len();
        let all = rows + self.chunks.len() + self.events.len() + self.deletes.len();
        all >= MOST || all > 0 && self.began.elapsed() >= LONGEST
    }

    /// Drops all uncommitted writes.
    pub(crate) fn discard(&mut self, db: &Connection) -> Result<(), CatalogError> {
        *self = Self::new(db)?;
        Ok(())
    }

    /// Commits everything, with the rows of these runs, and the writes of `also`.
    pub(crate) fn commit<'r>(
        &mut self,
        db: &mut Connection,
        runs: impl IntoIterator<Item = &'r RunRow>,
        also: impl FnOnce(&Transaction<'_>) -> Result<(), CatalogError>,
    ) -> Result<(), CatalogError> {
        self.began = Instant::now();
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let runs: Vec<&RunRow> = runs.into_iter().collect();
        self.write_files(&transaction)?;
        self.write_states(&transaction)?;
        self.write_log(&transaction, &runs)?;
        self.write_pending(&transaction)?;
        runs.iter().try_for_each(|run| run.put(&transaction))?;
        for (root, total) in mem::take(&mut self.totals) {
            total.add(&transaction, root)?;
        }
        also(&transaction)?;
        Ok(transaction.commit()?)
    }

    fn write_files(&mut self, db: &Transaction<'_>) -> Result<(), CatalogError> {
        for (id, _) in mem::take(&mut self.deletes) {
            for sql in [
                "DELETE FROM file WHERE id = ?1",
                "DELETE FROM state WHERE id = ?1",
                "DELETE FROM found WHERE file = ?1",
                "DELETE FROM chunk WHERE file = ?1",
                "DELETE FROM pending WHERE file = ?1",
            ] {
                db.prepare_cached(sql)?.execute([id])?;
            }
        }
        self.write_updates(db)?;
        // The records of a walk are almost in this order. Rows that are inserted in order fill
        // their pages.
        self.inserts
            .sort_unstable_by(|one, other| (one.root, &one.path).cmp(&(other.root, &other.path)));
        let inserts = mem::take(&mut self.inserts);
        let (whole, rest) = inserts.split_at(inserts.len() / TOGETHER * TOGETHER);
        for (inserts, rows) in [(whole, TOGETHER), (rest, 1)] {
            let (mut files, mut states) = (FILE.inserter(db, rows)?, STATE.inserter(db, rows)?);
            for insert in inserts {
                let id = Ids::take(&mut self.ids.file);
                let Insert { root, path, stat, is_settled, digests, state, found } = insert;
                let row = (id, stat, *is_settled, digests);
                self.put_file(db, &mut files, (*root, path), row)?;
                put_state(&mut states, &State { id, ..*state })?;
                if let Some(found) = found {
                    self.found.push((id, Some(found.clone())));
                }
            }
        }
        Ok(())
    }

    fn write_updates(&mut self, db: &Transaction<'_>) -> Result<(), CatalogError> {
        let mut updates = mem::take(&mut self.updates);
        // The last value of a record counts, so this sort is stable.
        updates.sort_by_key(|update| update.file.id);
        for id in swapped(&updates) {
            // Two records would briefly have the same name.
            let mut away = db.prepare_cached("UPDATE file SET name = ?2 WHERE id = ?1")?;
            away.execute((id, format!("/{id}").as_bytes()))?;
        }
        let mut files = FILE.putter(db)?;
        for Update { root, file, to } in updates {
            let (root, path) = to.map_or_else(|| (root, file.path()), |to| (to.root, to.path));
            let row = (file.id, &file.stat, file.is_settled, &file.digests);
            self.put_file(db, &mut files, (root, &path), row)?;
        }
        Ok(())
    }

    fn write_states(&mut self, db: &Transaction<'_>) -> Result<(), CatalogError> {
        self.states.sort_by_key(|state| state.id);
        let mut states = STATE.putter(db)?;
        self.states.drain(..).try_for_each(|state| put_state(&mut states, &state))?;
        for (id, found) in self.found.drain(..) {
            match found {
                Some(found) => put_found(db, id, &found)?,
                None => {
                    _ = db.prepare_cached("DELETE FROM found WHERE file = ?1")?.execute([id])?
                }
            }
        }
        for id in self.read_to_end.drain(..) {
            db.prepare_cached("DELETE FROM chunk WHERE file = ?1")?.execute([id])?;
        }
        self.chunks.drain(..).try_for_each(|point| point.put(db))
    }

    fn write_log(&mut self, db: &Transaction<'_>, runs: &[&RunRow]) -> Result<(), CatalogError> {
        for (root, at, finding) in mem::take(&mut self.events) {
            let run = runs.iter().find(|run| run.root == root).map_or(0, |run| run.id);
            let id = Ids::take(&mut self.ids.event);
            put_event(db, [id, run, at, root], &finding)?;
        }
        for (root, at, path, content) in mem::take(&mut self.deleted) {
            let id = Ids::take(&mut self.ids.deleted);
            let (algorithms, digests) = digests::encode_any(&content.digests)?;
            let [id, root, at] = [id, root, at].map(int);
            let numbers = [content.size, content.modified, algorithms].map(int);
            let [size, modified, algorithms] = numbers;
            let row = [id, root, blob(&path), at, size, modified, algorithms, blob(&digests)];
            DELETED.put(db, &row)?;
        }
        if let Some(now) = runs.iter().map(|run| run.started).max() {
            db.prepare_cached("DELETE FROM deleted WHERE at < ?1")?.execute([now - KEPT])?;
        }
        Ok(())
    }

    fn write_pending(&mut self, db: &Transaction<'_>) -> Result<(), CatalogError> {
        for (root, rows) in mem::take(&mut self.pending) {
            db.prepare_cached("DELETE FROM pending WHERE root = ?1")?.execute([root])?;
            for row in rows {
                let id = Ids::take(&mut self.ids.pending);
                put_pending(db, [id, root], &row)?;
            }
        }
        for root in mem::take(&mut self.thinned) {
            let sql = "DELETE FROM directory WHERE root = ?1 \
                       AND NOT EXISTS (SELECT 1 FROM file WHERE directory = directory.id)";
            if db.prepare_cached(sql)?.execute([root])? > 0 {
                self.directories.clear();
            }
        }
        Ok(())
    }

    fn put_file(
        &mut self,
        db: &Connection,
        into: &mut Putter<'_>,
        (root, path): (i64, &[u8]),
        (id, stat, is_settled, digests): (i64, &Stat, bool, &Digests),
    ) -> Result<(), CatalogError> {
        let (directory, name) = split(path);
        let directory = self.directory(db, root, directory)?;
        let (algorithms, digests) = digests::encode(digests)?;
        let Stat { size, modified, changed, inode } = *stat;
        into.put(&[
            int(id),
            int(directory),
            blob(name),
            int(size),
            int(modified),
            int(changed.wrapping_sub(modified)),
            int(inode),
            int(is_settled.into()),
            int(algorithms),
            blob(&digests),
        ])
    }

    /// Returns the id of a directory, which is created if necessary.
    fn directory(&mut self, db: &Connection, root: i64, path: &[u8]) -> Result<i64, CatalogError> {
        let key = (root, Arc::from(path));
        if let Some(&id) = self.directories.get(&key) {
            return Ok(id);
        }
        let mut statement =
            db.prepare_cached("SELECT id FROM directory WHERE root = ?1 AND path = ?2")?;
        let found = statement.query_row((root, path), |row| row.get(0)).optional()?;
        let id = match found {
            Some(id) => id,
            None => {
                let id = Ids::take(&mut self.ids.directory);
                DIRECTORY.put(db, &[int(id), int(root), blob(path)])?;
                id
            }
        };
        self.directories.insert(key, id);
        Ok(id)
    }
}

/// Records that leave a path to which another one of them moves.
fn swapped(updates: &[Update]) -> Vec<i64> {
    let moved = || updates.iter().filter_map(|it| Some((it, it.to.as_ref()?)));
    let targets: HashSet<(i64, &[u8])> = moved().map(|(_, to)| (to.root, &*to.path)).collect();
    let is_target = |it: &Update| targets.contains(&(it.root, &*it.file.path()));
    moved().filter(|(it, _)| is_target(it)).map(|(it, _)| it.file.id).collect()
}

fn put_state(into: &mut Putter<'_>, state: &State) -> Result<(), CatalogError> {
    let State { id, root, verified, class, reason, since } = *state;
    let row = [id, root, verified, class.number(), Reason::number(reason), since];
    into.put(&row.map(int))
}

fn put_found(db: &Connection, id: i64, found: &Found) -> Result<(), CatalogError> {
    let (algorithms, digests) = digests::encode_any(&found.content.digests)?;
    let numbers = [id, found.content.size, found.content.modified, algorithms].map(int);
    let [id, size, modified, algorithms] = numbers;
    let error = found.error.as_deref().map_or(ValueRef::Null, text);
    FOUND.put(db, &[id, size, modified, algorithms, blob(&digests), error])
}

fn put_pending(
    db: &Connection,
    [id, root]: [i64; 2],
    row: &PendingRow,
) -> Result<(), CatalogError> {
    let PendingRow { class, reason, path, file, stat, files, error } = row;
    PENDING.put(
        db,
        &[
            int(id),
            int(root),
            int(class.number()),
            int(Reason::number(*reason)),
            blob(path),
            int(*file),
            int(stat.size),
            int(stat.modified),
            int(stat.inode),
            int(files.cast_signed()),
            error.as_deref().map_or(ValueRef::Null, text),
        ],
    )
}

/// Returns a content as columns of the log, which are null without one.
struct Encoded(Option<(i64, i64, i64, Vec<u8>)>);

impl Encoded {
    fn of(content: Option<&Content>) -> Self {
        let encoded = content.and_then(|content| {
            let (algorithms, digests) = digests::encode_any(&content.digests).ok()?;
            Some((content.size, content.modified, algorithms, digests))
        });
        Self(encoded)
    }

    fn columns(&self) -> [ValueRef<'_>; 4] {
        match &self.0 {
            None => [ValueRef::Null; 4],
            Some((size, modified, algorithms, digests)) => {
                [int(*size), int(*modified), int(*algorithms), blob(digests)]
            }
        }
    }
}

fn put_event(
    db: &Connection,
    [id, run, at, root]: [i64; 4],
    finding: &Finding,
) -> Result<(), CatalogError> {
    use std::os::unix::ffi::OsStrExt as _;
    let Finding { class, reason, path, other, files, recorded, found, error, was } = finding;
    let (old, new) = (Encoded::of(recorded.as_ref()), Encoded::of(found.as_ref()));
    let ([old_size, old_time, old_set, old_bytes], [new_size, new_time, new_set, new_bytes]) =
        (old.columns(), new.columns());
    EVENT.put(
        db,
        &[
            int(id),
            int(run),
            int(at),
            int(root),
            blob(path),
            int(class.number()),
            int(Reason::number(*reason)),
            or_null(was.map(Class::number), int),
            other.as_ref().map_or(ValueRef::Null, |it| blob(it.as_os_str().as_bytes())),
            int(files.cast_signed()),
            old_size,
            old_time,
            old_set,
            old_bytes,
            new_size,
            new_time,
            new_set,
            new_bytes,
            error.as_deref().map_or(ValueRef::Null, text),
        ],
    )
}

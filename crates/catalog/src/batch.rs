//! What is to be written, gathered for seconds and committed at once.
//!
//! A commit waits for the medium, and rows sorted by their ids touch each page once: so a batch is
//! ten thousand files or two seconds, whichever is first. That much of good checks a crash can
//! lose. What is told to anybody is told after the commit.

use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lanesum_list::Digests;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior};

use crate::class::{Class, Status};
use crate::finding::Finding;
use crate::long::SoFar;
use crate::root::{Kin, Root};
use crate::rows::{File, State, split};
use crate::sighting::Sighting;
use crate::stat::Stat;
use crate::table::{EVENT, FILE, FOLDER, OLD, Putter, RUN, STATE, blob, int, or_null, text};
use crate::{CatalogError, digests};

const MOST: usize = 10_000;
const LONGEST: Duration = Duration::from_secs(2);
/// Rows of new files that one statement inserts.
const TOGETHER: usize = 64;

/// A run, as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct RunRow {
    pub(crate) id: i64,
    pub(crate) verb: &'static str,
    pub(crate) started: i64,
    pub(crate) ended: Option<i64>,
    /// How it ended; none while it runs, and for ever if it was interrupted.
    pub(crate) outcome: Option<&'static str>,
    pub(crate) counts: BTreeMap<Class, u64>,
    /// Files read.
    pub(crate) files: i64,
    /// Bytes read, of files that were not read to their end as well.
    pub(crate) bytes: i64,
    /// Of these, what the day's budget of a scrub counts: files that were well before and after.
    pub(crate) spent: i64,
    /// Whether it is an audit that reads everything.
    pub(crate) is_of_all: bool,
    /// Of what is counted as new or moved and not taken up, the hashes of the first paths: whatever
    /// of it is accepted by itself is told apart by them.
    names: Vec<u64>,
}

/// A file that has no row yet.
struct Insert {
    path: Vec<u8>,
    stat: Stat,
    digests: Digests,
    /// When it was read; 0 of what was not.
    checked: i64,
    status: Status,
}

/// What was seen of a file.
enum Seen {
    Damaged(Box<Sighting>),
    /// It is as it should be, also as far as other roots know.
    Right {
        is_so_everywhere: bool,
    },
}

/// Writes of a run to a root.
pub(crate) struct Batch {
    pub(crate) run: RunRow,
    pub(crate) root: Root,
    inserts: Vec<Insert>,
    /// New values of rows, and the paths that they move to.
    rows: Vec<(File, Option<Vec<u8>>)>,
    states: Vec<State>,
    /// Ids of files whose rows go.
    forgotten: Vec<i64>,
    /// Whether the root goes, too.
    forgets_root: bool,
    /// Whether rows among them are not as they were written: neither what indices have of them nor
    /// their sizes are to be believed.
    distrusts_rows: bool,
    replaced: Vec<(File, i64)>,
    /// Where the reading of long files stands, and the ids of those that need no more of it.
    stretches: Vec<SoFar>,
    read_through: Vec<i64>,
    /// By their numbers, files that were seen to be damaged; none of those that are so no more.
    sightings: Vec<(i64, Seen)>,
    /// Rows whose damaged files are to be known no more.
    unseen: Vec<i64>,
    /// Whether those of no row are.
    unsees_all: bool,
    events: Vec<(Finding, i64)>,
    /// To be told once they are on the medium.
    told: Vec<Finding>,
    /// What was counted when it was committed last.
    kept: BTreeMap<Class, u64>,
    began: Instant,
    ids: Ids,
    folders: HashMap<Arc<[u8]>, i64>,
}

/// The next free ids. No other process writes.
struct Ids {
    file: i64,
    folder: i64,
    event: i64,
    old: i64,
    sighting: i64,
}

impl Ids {
    fn of(db: &Connection) -> Result<Self, CatalogError> {
        let next = |tables: &[(&str, &str)]| -> Result<i64, CatalogError> {
            let mut next = 1;
            for (table, column) in tables {
                let sql = format!("SELECT coalesce(max({column}), 0) + 1 FROM {table}");
                next = next.max(db.query_row(&sql, [], |row| row.get(0))?);
            }
            Ok(next)
        };
        Ok(Self {
            // An old digest must not become another file's, nor what was seen of a file.
            file: next(&[
                ("file", "id"),
                ("state", "id"),
                ("old_digest", "file"),
                ("sighting", "file"),
            ])?,
            folder: next(&[("folder", "id")])?,
            event: next(&[("event", "id")])?,
            old: next(&[("old_digest", "id")])?,
            sighting: next(&[("sighting", "id")])?,
        })
    }

    fn take(id: &mut i64) -> i64 {
        *id += 1;
        *id - 1
    }
}

impl Batch {
    /// Begins a run, which is on the medium then.
    pub(crate) fn begin(
        db: &Connection,
        root: Root,
        verb: &'static str,
        started: i64,
    ) -> Result<Self, CatalogError> {
        let id = db.query_row("SELECT coalesce(max(id), 0) + 1 FROM run", [], |row| row.get(0))?;
        let (ended, outcome, counts) = (None, None, BTreeMap::new());
        let (files, bytes, spent, is_of_all, names) = (0, 0, 0, false, Vec::new());
        let run = RunRow {
            id,
            verb,
            started,
            ended,
            outcome,
            counts,
            files,
            bytes,
            spent,
            is_of_all,
            names,
        };
        let batch = Self {
            run,
            root,
            inserts: Vec::new(),
            rows: Vec::new(),
            states: Vec::new(),
            forgotten: Vec::new(),
            forgets_root: false,
            distrusts_rows: false,
            replaced: Vec::new(),
            stretches: Vec::new(),
            read_through: Vec::new(),
            sightings: Vec::new(),
            unseen: Vec::new(),
            unsees_all: false,
            events: Vec::new(),
            told: Vec::new(),
            kept: BTreeMap::new(),
            began: Instant::now(),
            ids: Ids::of(db)?,
            folders: HashMap::new(),
        };
        batch.put_run(db)?;
        Ok(batch)
    }

    /// Keeps that everything is to be read.
    pub(crate) fn is_of_all(&mut self, db: &Connection) -> Result<(), CatalogError> {
        self.run.is_of_all = true;
        self.put_run(db)
    }

    pub(crate) fn count(&mut self, class: Class, files: u64) {
        *self.run.counts.entry(class).or_default() += files;
    }

    /// Keeps the hash of the path of what is counted and not taken up.
    pub(crate) fn note_name(&mut self, hash: u64) {
        if self.run.names.len() < NAMES {
            self.run.names.push(hash);
        }
    }

    /// Takes back that a file was counted.
    pub(crate) fn uncount(&mut self, class: Class) {
        if let Some(files) = self.run.counts.get_mut(&class) {
            *files -= 1;
        }
        self.run.counts.retain(|_, files| *files > 0);
    }

    /// A file that has no row. Its id is known once it is written.
    pub(crate) fn insert(&mut self, path: Vec<u8>, stat: Stat, digests: Digests, now: i64) {
        // 0 is never, whatever the clock says.
        let (checked, status) = (now.max(1), Status::Fresh);
        self.push(Insert { path, stat, digests, checked, status });
    }

    fn push(&mut self, insert: Insert) {
        self.root.bytes = self.root.bytes.saturating_add(insert.stat.bytes());
        self.inserts.push(insert);
    }

    /// Takes back what is to be inserted by the next commit and does not hold, and gives its paths.
    pub(crate) fn take_back(
        &mut self,
        mut holds: impl FnMut(&[u8], &Stat) -> bool,
    ) -> Vec<Vec<u8>> {
        let (hold, others) =
            mem::take(&mut self.inserts).into_iter().partition(|it| holds(&it.path, &it.stat));
        self.inserts = hold;
        let others: Vec<Insert> = others;
        for other in &others {
            self.root.bytes = self.root.bytes.saturating_sub(other.stat.bytes());
        }
        others.into_iter().map(|other| other.path).collect()
    }

    /// Whether a file is to be inserted by the next commit.
    pub(crate) fn inserts_any(&self) -> bool {
        !self.inserts.is_empty()
    }

    /// The same of one that was not read.
    pub(crate) fn insert_unread(&mut self, path: Vec<u8>, stat: Stat, digests: Digests) {
        self.push(Insert { path, stat, digests, checked: 0, status: Status::Fresh });
    }

    /// The same of one of which all that is known is known of another name: that it was read as it
    /// is cataloged for the last time then, and how it stands.
    pub(crate) fn insert_known(
        &mut self,
        path: Vec<u8>,
        stat: Stat,
        digests: Digests,
        (checked, status): (i64, Status),
    ) {
        self.push(Insert { path, stat, digests, checked, status });
    }

    /// A row's new values, in place of `before`.
    pub(crate) fn replace(&mut self, before: &File, file: File, to: Option<Vec<u8>>) {
        let more = file.stat.bytes().saturating_sub(before.stat.bytes());
        self.root.bytes = self.root.bytes.saturating_add(more);
        self.rows.push((file, to));
    }

    /// Drops all that is not committed, and what was counted since.
    pub(crate) fn discard(&mut self, db: &Connection) -> Result<(), CatalogError> {
        self.inserts.clear();
        self.rows.clear();
        self.states.clear();
        self.forgotten.clear();
        self.replaced.clear();
        self.stretches.clear();
        self.read_through.clear();
        self.sightings.clear();
        self.events.clear();
        self.told.clear();
        self.run.counts.clone_from(&self.kept);
        if let Some(stored) = Root::find(db, self.root.id)? {
            self.root.bytes = stored.bytes;
        }
        Ok(())
    }

    /// Takes rows away, whose files have so many bytes together, and the folders that are empty
    /// then; where these are all files of the root, perhaps that itself.
    pub(crate) fn forget(&mut self, ids: Vec<i64>, bytes: i64, forgets_root: bool) {
        self.root.bytes = self.root.bytes.saturating_sub(bytes);
        (self.forgotten, self.forgets_root) = (ids, forgets_root);
    }

    /// Says that rows that are to be taken away are not as they were written.
    pub(crate) fn distrust_rows(&mut self) {
        self.distrusts_rows = true;
    }

    /// Keeps the digests that a row had until now.
    pub(crate) fn keep_old(&mut self, before: File, now: i64) {
        self.replaced.push((before, now));
    }

    /// Keeps where the reading of a long file stands.
    pub(crate) fn stretch(&mut self, so_far: SoFar) {
        self.stretches.push(so_far);
    }

    /// Keeps no more where the reading of a file stands.
    pub(crate) fn is_read_through(&mut self, id: i64) {
        self.stretches.retain(|so_far| so_far.file != id);
        self.read_through.push(id);
    }

    /// Keeps where a damaged file was seen.
    pub(crate) fn sight(&mut self, sighting: Sighting) {
        self.sightings.push((sighting.stat.inode, Seen::Damaged(Box::new(sighting))));
    }

    /// Keeps no more what was seen of a file that is right, in other roots as well or in its own.
    pub(crate) fn is_right(&mut self, number: i64, is_so_everywhere: bool) {
        self.sightings.push((number, Seen::Right { is_so_everywhere }));
    }

    /// Keeps no more what was seen of these rows' files.
    pub(crate) fn unsee(&mut self, rows: Vec<i64>) {
        self.unseen = rows;
    }

    /// Nor of any file of the root.
    pub(crate) fn unsee_all(&mut self) {
        self.unsees_all = true;
    }

    pub(crate) fn state(&mut self, id: i64, checked: i64, status: Status) {
        self.states.push(State { id, root: self.root.id, checked, status });
    }

    /// Keeps an event.
    pub(crate) fn event(&mut self, finding: Finding, now: i64) {
        self.events.push((finding, now));
    }

    /// Tells of it once all before it is on the medium.
    pub(crate) fn tell(&mut self, finding: Finding) {
        self.told.push(finding);
    }

    /// Whether it has gathered long enough.
    pub(crate) fn is_due(&self) -> bool {
        let rows = self.inserts.len() + self.rows.len() + self.states.len();
        let beside = self.sightings.len() + self.stretches.len();
        let pending = rows + beside + self.events.len() + self.told.len();
        pending >= MOST || pending > 0 && self.began.elapsed() >= LONGEST
    }

    /// Brings all of it to the medium, and gives what may be told now.
    pub(crate) fn commit(&mut self, db: &mut Connection) -> Result<Vec<Finding>, CatalogError> {
        self.began = Instant::now();
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        self.write(&transaction)?;
        transaction.commit()?;
        self.kept.clone_from(&self.run.counts);
        Ok(mem::take(&mut self.told))
    }

    fn write(&mut self, db: &Transaction<'_>) -> Result<(), CatalogError> {
        let root = self.root.id;
        let forgets = !self.forgotten.is_empty() || self.forgets_root;
        // Those of a walk come nearly so: what is inserted in order fills its pages.
        self.inserts.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        let inserts = mem::take(&mut self.inserts);
        let (whole, rest) = inserts.split_at(inserts.len() / TOGETHER * TOGETHER);
        for (inserts, rows) in [(whole, TOGETHER), (rest, 1)] {
            let (mut files, mut states) = (FILE.inserter(db, rows)?, STATE.inserter(db, rows)?);
            for &Insert { ref path, ref stat, ref digests, checked, status } in inserts {
                let id = Ids::take(&mut self.ids.file);
                let is_settled = checked > 0 && stat.is_settled_at(self.run.started);
                self.put_file(db, &mut files, (path, id), (stat, is_settled.into()), digests)?;
                put_state(&mut states, &State { id, root, checked, status })?;
            }
        }
        let (mut files, mut states) = (FILE.putter(db)?, STATE.putter(db)?);
        // What was said last of a row holds, so these sorts are stable.
        self.rows.sort_by_key(|(file, _)| file.id);
        for (file, to) in mem::take(&mut self.rows) {
            let path = to.unwrap_or_else(|| file.path());
            let File { id, stat, digests, .. } = &file;
            self.put_file(db, &mut files, (&path, *id), (stat, file.settled()), digests)?;
        }
        self.states.sort_by_key(|state| state.id);
        self.states.drain(..).try_for_each(|state| put_state(&mut states, &state))?;
        if self.distrusts_rows {
            // SQLite takes a row out of an index by its values, and gives up where they are others.
            db.execute_batch("REINDEX file")?;
        }
        for &id in &self.forgotten {
            db.prepare_cached("DELETE FROM file WHERE id = ?1")?.execute([id])?;
            db.prepare_cached("DELETE FROM state WHERE id = ?1")?.execute([id])?;
        }
        // What was begun anew has a stretch again.
        for id in self.read_through.drain(..).chain(self.forgotten.drain(..)) {
            db.prepare_cached("DELETE FROM stretch WHERE file = ?1")?.execute([id])?;
        }
        self.stretches.drain(..).try_for_each(|so_far| so_far.put(db))?;
        if mem::take(&mut self.unsees_all) || self.forgets_root {
            db.execute("DELETE FROM sighting WHERE root = ?1", [root])?;
        }
        for row in self.unseen.drain(..) {
            db.prepare_cached("DELETE FROM sighting WHERE file = ?1")?.execute([row])?;
        }
        let sightings = mem::take(&mut self.sightings);
        // What is right may be so in every root that the file was in.
        let is_wide = |seen: &Seen| matches!(seen, Seen::Right { is_so_everywhere: true });
        let is_any_wide = sightings.iter().any(|(_, seen)| is_wide(seen));
        let kin = if is_any_wide { self.root.kin(db)? } else { Kin::default() };
        let sql = "DELETE FROM sighting WHERE root = ?1 AND inode = ?2";
        let mut unsee = db.prepare_cached(sql)?;
        for (number, seen) in sightings {
            let was_known = unsee.execute([root, number])? > 0;
            match seen {
                Seen::Damaged(sighting) => {
                    sighting.put(db, Ids::take(&mut self.ids.sighting), root)?;
                }
                Seen::Right { is_so_everywhere: true } => {
                    // Of one that is away it is that file only if it was damaged here as well.
                    let away = kin.away.iter().filter(|_| was_known);
                    for &of in kin.here.iter().chain(away) {
                        unsee.execute([of, number])?;
                    }
                }
                Seen::Right { .. } => {}
            }
        }
        for (old, until) in mem::take(&mut self.replaced) {
            let id = Ids::take(&mut self.ids.old);
            put_old(db, id, &old, until)?;
        }
        for (finding, at) in mem::take(&mut self.events) {
            let id = Ids::take(&mut self.ids.event);
            put_event(db, [id, self.run.id, at, root], &finding)?;
        }
        if mem::take(&mut self.distrusts_rows) {
            let sql = "SELECT coalesce(sum(max(f.size, 0)), 0) \
                       FROM folder d JOIN file f ON f.folder = d.id WHERE d.root = ?1";
            // Another row whose size is none may have a sum that is none; it is to go as well.
            self.root.bytes =
                db.query_row(sql, [root], |row| row.get(0)).unwrap_or(self.root.bytes);
        }
        // Whoever steers may have changed it meanwhile.
        if let Some(stored) = Root::find(db, root)? {
            self.root.policy.every_days = stored.policy.every_days;
        }
        if self.forgets_root {
            db.execute("DELETE FROM manner WHERE root = ?1", [root])?;
            db.execute("DELETE FROM root WHERE id = ?1", [root])?;
        } else {
            self.root.put(db)?;
        }
        if forgets {
            remove_empty_folders(db, root)?;
        }
        self.put_run(db)
    }

    fn put_file(
        &mut self,
        db: &Connection,
        into: &mut Putter<'_>,
        (path, id): (&[u8], i64),
        (stat, settled): (&Stat, i64),
        digests: &Digests,
    ) -> Result<(), CatalogError> {
        let (folder, name) = split(path);
        let folder = self.folder(db, folder)?;
        let (algorithms, digests) = digests::encode(digests)?;
        let Stat { size, modified, changed, inode } = *stat;
        into.put(&[
            int(id),
            int(folder),
            blob(name),
            int(size),
            int(modified),
            int(changed),
            int(inode),
            int(settled),
            int(algorithms),
            blob(&digests),
        ])
    }

    /// The id of a folder, which is made where there is none.
    fn folder(&mut self, db: &Connection, path: &[u8]) -> Result<i64, CatalogError> {
        if let Some(&id) = self.folders.get(path) {
            return Ok(id);
        }
        let mut statement =
            db.prepare_cached("SELECT id FROM folder WHERE root = ?1 AND path = ?2")?;
        let found = statement.query_row((self.root.id, path), |row| row.get(0)).optional()?;
        let id = match found {
            Some(id) => id,
            None => {
                let id = Ids::take(&mut self.ids.folder);
                FOLDER.put(db, &[int(id), int(self.root.id), blob(path)])?;
                id
            }
        };
        self.folders.insert(path.into(), id);
        Ok(id)
    }

    fn put_run(&self, db: &Connection) -> Result<(), CatalogError> {
        let RunRow { id, verb, started, ended, outcome, files, bytes, spent, .. } = self.run;
        let RunRow { counts, is_of_all, names, .. } = &self.run;
        let mut counts = counts_text(counts);
        if spent > 0 {
            counts.push_str(&format!(" {SPENT}{spent}"));
        }
        if *is_of_all {
            counts.push_str(&format!(" {OF_ALL}"));
        }
        if !names.is_empty() {
            let names: Vec<_> = names.iter().map(|name| format!("{name:x}")).collect();
            counts.push_str(&format!(" {NAMED}{}", names.join(",")));
        }
        RUN.put(
            db,
            &[
                int(id),
                text(verb),
                int(self.root.id),
                int(started),
                or_null(ended, int),
                or_null(outcome, text),
                text(&counts),
                int(files),
                int(bytes),
            ],
        )
    }
}

pub(crate) fn remove_empty_folders(db: &Connection, root: i64) -> rusqlite::Result<()> {
    let sql = "DELETE FROM folder WHERE root = ?1 \
               AND NOT EXISTS (SELECT 1 FROM file WHERE folder = folder.id)";
    db.execute(sql, [root]).map(drop)
}

/// `ok=12 changed=1`.
fn counts_text(counts: &BTreeMap<Class, u64>) -> String {
    let words: Vec<_> = counts.iter().map(|(class, count)| format!("{class}={count}")).collect();
    words.join(" ")
}

/// What [`counts_text`] wrote.
pub(crate) fn counts_of(text: &str) -> BTreeMap<Class, u64> {
    let pair = |word: &str| {
        let (class, count) = word.split_once('=')?;
        Some((Class::from_name(class)?, count.parse().ok()?))
    };
    text.split(' ').filter_map(pair).collect()
}

/// What comes before the bytes that were spent, among the counts.
const SPENT: &str = "spent=";

/// What says among the counts that everything was to be read.
const OF_ALL: &str = "all";

/// Whether a run was to read everything, of what is stored with its counts.
pub(crate) fn was_of_all(counts: &str) -> bool {
    counts.split(' ').any(|word| word == OF_ALL)
}

/// What comes before the hashes of paths, among the counts.
const NAMED: &str = "names=";

/// So many of them are kept: what is accepted is accepted file by file.
const NAMES: usize = 512;

/// What is hashed of the old name of what moved: another file that has the name now is not it.
pub(crate) fn old_name(path: &[u8]) -> Vec<u8> {
    [b"\0", path].concat()
}

/// The hashes of paths that are stored with the counts of a run.
pub(crate) fn names_of(counts: &str) -> Vec<u64> {
    let word = counts.split(' ').find_map(|word| word.strip_prefix(NAMED)).unwrap_or_default();
    word.split(',').filter_map(|name| u64::from_str_radix(name, 16).ok()).collect()
}

/// Bytes that a run spent of the day's budget, of what is stored with its counts.
pub(crate) fn spent_of(counts: &str) -> i64 {
    let word = counts.split(' ').find_map(|word| word.strip_prefix(SPENT));
    word.and_then(|bytes| bytes.parse().ok()).unwrap_or(0)
}

fn put_state(into: &mut Putter<'_>, state: &State) -> Result<(), CatalogError> {
    let State { id, root, checked, status } = *state;
    into.put(&[int(id), int(root), int(checked), int(status.number())])
}

fn put_old(db: &Connection, id: i64, old: &File, until: i64) -> Result<(), CatalogError> {
    let (algorithms, digests) = digests::encode(&old.digests)?;
    let Stat { size, modified, .. } = old.stat;
    let numbers = [id, old.id, until, size, modified, algorithms].map(int);
    let [id, file, until, size, modified, algorithms] = numbers;
    OLD.put(db, &[id, file, until, size, modified, algorithms, blob(&digests)])
}

fn put_event(
    db: &Connection,
    [id, run, at, root]: [i64; 4],
    finding: &Finding,
) -> Result<(), CatalogError> {
    let Finding { class, path, other, files, before, after } = finding;
    EVENT.put(
        db,
        &[
            int(id),
            int(run),
            int(at),
            int(root),
            blob(path),
            text(class.name()),
            other.as_deref().map_or(ValueRef::Null, blob),
            int(files.cast_signed()),
            before.as_deref().map_or(ValueRef::Null, text),
            after.as_deref().map_or(ValueRef::Null, text),
        ],
    )
}

//! Long files, which a scrub reads in stretches: where it stands in each is stored with every
//! stretch, so that it goes on there however it ended, and a file may take longer than the hours of
//! its root.
//!
//! ```text
//! LongJobs, an iterator of jobs      -> the engine reads a stretch of each file
//!   waits while enough are under way    -> Work::take_stretch: stored; through its ticket the file
//!   <- Chain: files that go on             goes back into the chain, or is held against its row
//! ```
//!
//! A stretch goes on from the last one only as long as times and number of the file are what they
//! were; otherwise it is read from its beginning. The file was checked when the first of its
//! stretches was read.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::vec;

use lanesum_checksum::engine::{Hashed, Io, Media, Midstate, STRETCH};
use lanesum_checksum::{Algorithms, Error, Job, Source};
use rusqlite::Connection;

use crate::digests::{algorithms, set_of};
use crate::jobs::{Limits, Task, job_of_row, job_of_there, nothing};
use crate::overview::PartlyRead;
use crate::root::Root;
use crate::rows::{File, Finder};
use crate::stat::Stat;
use crate::table::{STRETCH as TABLE, blob, int};
use crate::way::{There, Ways};
use crate::work::Work;
use crate::{Catalog, CatalogError};

/// So many are read at once, one in a lane: the fewer, the sooner one of them is done. Where the
/// medium has to seek, and until that is known, it is one; and half as many where one of them takes
/// longer than `LONGEST`, since an interruption loses what is read of each.
const AT_ONCE: usize = 16;
const LONGEST: Duration = Duration::from_secs(2);

/// Bytes from which on a file is long; the index of long files has this number, too.
pub(crate) const LONG: i64 = 536_870_912;

/// From its beginning so often, where somebody writes to it.
const TRIES: u32 = 3;

/// A long file, and where its reading stands.
pub(crate) struct Long {
    pub(crate) file: File,
    /// None before the first stretch.
    so_far: Option<SoFar>,
    /// How often it was begun.
    tries: u32,
}

/// What is stored of a file of which a part was read.
#[derive(Clone, Debug)]
pub(crate) struct SoFar {
    pub(crate) file: i64,
    /// The stat of all of its stretches, but for the size.
    stat: Stat,
    /// When the first of them was read, in seconds since 1970.
    began: i64,
    midstate: Midstate,
}

impl SoFar {
    /// Whether what was read now is of the same file, as it was.
    fn is_of(&self, stat: &Stat) -> bool {
        Stat { size: stat.size, ..self.stat } == *stat
    }

    fn find(db: &Connection, file: i64) -> Result<Option<Self>, CatalogError> {
        let sql = format!("SELECT {} FROM stretch t WHERE t.file = ?1", TABLE.select("t"));
        let mut statement = db.prepare_cached(&sql)?;
        let mut rows = statement.query([file])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        TABLE.verify(row, 0)?;
        let stat =
            Stat { size: 0, modified: row.get(1)?, changed: row.get(2)?, inode: row.get(3)? };
        let midstate =
            Midstate::from_bytes(row.get_ref(5)?.as_blob().map_err(rusqlite::Error::from)?);
        // Of a version of a crate that keeps something else nothing is known: it is read anew.
        Ok(midstate.map(|midstate| Self { file, stat, began: row.get(4).unwrap_or(0), midstate }))
    }

    pub(crate) fn put(&self, db: &Connection) -> Result<(), CatalogError> {
        let Stat { modified, changed, inode, .. } = self.stat;
        let [file, modified, changed, inode, began] =
            [self.file, modified, changed, inode, self.began].map(int);
        let midstate = self.midstate.to_bytes();
        TABLE.put(db, &[file, modified, changed, inode, began, blob(&midstate)])
    }
}

/// The files of which a part was read. Whatever else says something of one of them removes its
/// stretch in the same commit, so that nothing that was told of a part is forgotten.
pub(crate) fn begun_files(db: &Connection) -> Result<HashSet<i64>, CatalogError> {
    let mut statement = db.prepare_cached("SELECT file FROM stretch")?;
    let files = statement.query_map([], |row| row.get(0))?;
    Ok(files.collect::<Result<_, _>>()?)
}

/// Of each root that has any, the files of which a part was read.
pub(crate) fn begun(db: &Connection) -> Result<BTreeMap<i64, PartlyRead>, CatalogError> {
    let sql = "SELECT t.file, d.root, f.size FROM stretch t \
               JOIN file f ON f.id = t.file JOIN folder d ON d.id = f.folder";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut of_roots = BTreeMap::<i64, PartlyRead>::new();
    while let Some(row) = rows.next()? {
        let Some(so_far) = SoFar::find(db, row.get(0)?)? else { continue };
        let begun = of_roots.entry(row.get(1)?).or_default();
        let size: i64 = row.get(2)?;
        begun.files += 1;
        begun.read += so_far.midstate.bytes();
        begun.of += size.max(0).cast_unsigned();
    }
    Ok(of_roots)
}

/// Bytes of a file that a scrub has to read in one go, for these digests.
pub(crate) fn in_one_go(size: i64, algorithms: Algorithms) -> u64 {
    let is_in_stretches = size >= LONG && Midstate::exists_of(algorithms);
    if is_in_stretches { STRETCH } else { size.max(0).cast_unsigned() }
}

impl Catalog {
    /// The long files, by their ids, each with the algorithms of its digests.
    fn long_files(&self) -> Result<HashMap<i64, Algorithms>, CatalogError> {
        // As the index has it: what that hides is read all the same, as files usually are.
        let sql = format!("SELECT id, algorithms FROM file WHERE size >= {LONG}");
        let mut statement = self.db.prepare_cached(&sql)?;
        // What is no set of them shows when the row is read.
        let set = |number| set_of(number).unwrap_or(Algorithms::NONE);
        let long = statement.query_map([], |row| Ok((row.get(0)?, set(row.get(1)?))))?;
        Ok(long.collect::<Result<_, _>>()?)
    }
}

impl Work<'_> {
    /// Of these files, in their order, those that are well and are read in stretches, those that
    /// are not well, and the others. Among these are long ones that cannot be read in stretches:
    /// one may take longer than a scrub may last, so where the last one `read_nothing`, the others
    /// that are well come first.
    pub(crate) fn long_of(
        &self,
        ids: Vec<i64>,
        read_nothing: bool,
    ) -> Result<[Vec<i64>; 3], CatalogError> {
        let long_files = self.catalog.long_files()?;
        let policy = self.batch.root.policy.algorithms;
        let is_direct = self.options.engine.io == Io::Direct;
        let [mut good, mut bad, mut others, mut last] = <[Vec<i64>; 4]>::default();
        for id in ids {
            let is_good = !self.statuses.contains_key(&id);
            let long = long_files.get(&id);
            let is_kept = |known: &Algorithms| Midstate::exists_of(known.union(policy));
            let list = match (long.is_some_and(|it| !is_direct && is_kept(it)), is_good) {
                (true, true) => &mut good,
                (true, false) => &mut bad,
                (false, true) if long.is_none() || !read_nothing => &mut others,
                (false, _) => &mut last,
            };
            list.push(id);
        }
        others.append(&mut last);
        Ok([good, bad, others])
    }

    /// Reads long files, some at a time, each from where it was left; whether all was done.
    pub(crate) fn read_long(&mut self, ids: Vec<i64>) -> Result<bool, CatalogError> {
        let root = self.batch.root.clone();
        let chain = Arc::<Chain>::default();
        let jobs = LongJobs {
            chain: Arc::clone(&chain),
            finder: Finder::new(self.catalog.reader()?),
            ids: ids.into_iter(),
            ways: Ways::of(&root.path)?,
            root,
            limits: Arc::clone(&self.limits),
        };
        // The thread that pulls jobs must not wait for what is done no more.
        let end = EndOnDrop(chain);
        self.chain = Some(Arc::clone(&end.0));
        let is_done = self.read(jobs);
        self.chain = None;
        is_done
    }

    /// What came of a stretch: the file goes on behind it, or is held against its row.
    pub(crate) fn take_stretch(
        &mut self,
        mut long: Long,
        ticket: &Ticket,
        result: Result<Hashed, Error>,
    ) -> Result<(), CatalogError> {
        let path = self.batch.root.path_of(&long.file.place());
        let mut hashed = match result {
            Err(Error::Changed) => return self.begin_again(long, ticket),
            Err(error) => return self.take_row(&path, long.file, Err(error)),
            Ok(hashed) => hashed,
        };
        let now = self.now();
        let behind = long.so_far.as_ref().map_or(0, |so_far| so_far.midstate.bytes());
        hashed.bytes += behind;
        let Some(stat) = Stat::of_hashed(&hashed) else { return self.begin_again(long, ticket) };
        if long.so_far.as_ref().is_some_and(|so_far| !so_far.is_of(&stat)) {
            return self.begin_again(long, ticket);
        }
        let began = long.so_far.as_ref().map_or(now, |so_far| so_far.began);
        if let Some(midstate) = hashed.midstate.take() {
            let so_far = SoFar { file: long.file.id, stat, began, midstate: *midstate };
            self.batch.stretch(so_far.clone());
            self.begun.insert(so_far.file);
            long.so_far = Some(so_far);
            ticket.give_back(long);
            return Ok(());
        }
        self.count_file();
        let id = long.file.id;
        (self.began, self.is_unconfirmed) = (Some(began), false);
        let taken = self.take_row(&path, long.file, Ok(hashed));
        self.began = None;
        // What differs, and could not be confirmed, is read again from where it stands.
        if !mem::take(&mut self.is_unconfirmed) {
            self.batch.is_read_through(id);
        }
        taken
    }

    /// Reads a file from its beginning that is not what it was when its first stretch was read.
    fn begin_again(&mut self, long: Long, ticket: &Ticket) -> Result<(), CatalogError> {
        self.batch.is_read_through(long.file.id);
        if long.tries < TRIES {
            ticket.give_back(Long { so_far: None, tries: long.tries + 1, ..long });
            return Ok(());
        }
        self.tell_busy(&long.file)
    }
}

/// The files of which a stretch is being read, and those whose next one may be.
#[derive(Default)]
pub(crate) struct Chain {
    links: Mutex<Links>,
    /// Told of each change.
    changed: Condvar,
}

struct Links {
    ready: VecDeque<Long>,
    under_way: usize,
    /// As many may be, and as many where the medium does not have to seek.
    at_once: usize,
    most: usize,
    has_ended: bool,
}

impl Default for Links {
    fn default() -> Self {
        Self { ready: VecDeque::new(), under_way: 0, at_once: 1, most: AT_ONCE, has_ended: false }
    }
}

impl Chain {
    fn lock(&self) -> MutexGuard<'_, Links> {
        // What no panic leaves half changed.
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what is known of the media by now, where a stretch was read.
    pub(crate) fn note(&self, media: &Media) {
        let mut links = self.lock();
        links.at_once = if media.seek.is_some() { 1 } else { links.most };
        self.changed.notify_all();
    }

    /// The next file that goes on, or of which `next` gives the first stretch; none once all are
    /// done.
    fn take(
        self: &Arc<Self>,
        mut next: impl FnMut() -> Result<Option<Long>, CatalogError>,
    ) -> Result<Option<(Long, Ticket)>, CatalogError> {
        let mut links = self.lock();
        loop {
            let is_free = links.under_way < links.at_once && !links.has_ended;
            let long = if is_free { links.ready.pop_front() } else { None };
            let long = if is_free && long.is_none() { next()? } else { long };
            if let Some(long) = long {
                links.under_way += 1;
                let (chain, began) = (Arc::clone(self), Instant::now());
                return Ok(Some((long, Ticket { chain, began })));
            }
            if links.under_way == 0 || links.has_ended {
                return Ok(None);
            }
            links = self.changed.wait(links).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// That a stretch of a file is under way.
pub(crate) struct Ticket {
    chain: Arc<Chain>,
    began: Instant,
}

impl Ticket {
    /// Lets the next stretch of a file be read, which lies behind this one.
    fn give_back(&self, long: Long) {
        self.chain.lock().ready.push_front(long);
    }
}

/// The stretch was read, or will not be.
impl Drop for Ticket {
    fn drop(&mut self) {
        let mut links = self.chain.lock();
        links.under_way -= 1;
        if self.began.elapsed() > LONGEST {
            links.most = (links.at_once / 2).max(1);
        }
        self.chain.changed.notify_all();
    }
}

struct EndOnDrop(Arc<Chain>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.lock().has_ended = true;
        self.0.changed.notify_all();
    }
}

/// The next stretches of some files.
struct LongJobs {
    chain: Arc<Chain>,
    finder: Finder,
    /// Of those that are not begun.
    ids: vec::IntoIter<i64>,
    root: Root,
    ways: Ways,
    limits: Arc<Limits>,
}

impl LongJobs {
    fn next_job(&mut self) -> Result<Option<Job<Task>>, CatalogError> {
        let Self { chain, finder, ids, root, ways, limits } = self;
        let next = || -> Result<Option<Long>, CatalogError> {
            for id in ids.by_ref() {
                if let Some(file) = finder.find(id)? {
                    let so_far = SoFar::find(finder.db(), id)?;
                    return Ok(Some(Long { file, so_far, tries: 1 }));
                }
            }
            Ok(None)
        };
        let Some((Long { file, so_far, tries }, ticket)) = chain.take(next)? else {
            return Ok(None);
        };
        let known = algorithms(&file.digests).union(root.policy.algorithms);
        let so_far = so_far.filter(|so_far| so_far.midstate.algorithms() == known);
        let from = so_far.as_ref().map(|so_far| so_far.midstate.clone()).unwrap_or_default();
        let is_kept = Midstate::exists_of(known);
        let there = ways.look(&file.path());
        let left = file.stat.size.saturating_sub_unsigned(from.bytes()).max(0);
        let size = match there {
            There::File if is_kept => left.min(STRETCH as i64),
            There::File => left,
            There::Gone | There::Mount(_) => 0,
        };
        if !limits.allow(size) {
            return Ok(None);
        }
        let job = |file: File| {
            if !is_kept {
                return job_of_row(root, file);
            }
            let source =
                Source::Stretch { path: root.path_of(&file.place()), from: Box::new(from) };
            let context = Task::Long(Box::new(Long { file, so_far, tries }), ticket);
            Job { source, algorithms: known, context }
        };
        Ok(Some(job_of_there(there, file, job)))
    }
}

impl Iterator for LongJobs {
    type Item = Job<Task>;

    fn next(&mut self) -> Option<Job<Task>> {
        self.next_job().unwrap_or_else(|error| {
            self.ids = Vec::new().into_iter();
            Some(nothing(Task::Failed(error)))
        })
    }
}

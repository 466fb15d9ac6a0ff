//! Long files, which a scrub reads in chunks: where it stands in each is stored with every chunk, so
//! that it resumes there however it ended, and a file may take longer than the hours of its root.
//!
//! ```text
//! LongJobs, an iterator of jobs           -> the engine reads a chunk of each file
//!   waits while enough are under way         -> Pass::take_chunk: stored; through its ticket the
//!   <- Chain: files that go on                  file goes back into the chain, or is judged
//! ```
//!
//! A chunk continues the last one only as long as times and inode of the file are what they were;
//! otherwise it is read from its beginning. The file was verified when its first chunk was read.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::vec;

use lanesum_checksum::engine::{Hashed, Io, Media, Midstate, STRETCH};
use lanesum_checksum::{Algorithms, Error, Job, Source};

use super::jobs::{Limits, Row, Task, job_of_row, nothing};
use super::state::Pass;
use crate::CatalogError;
use crate::model::Stat;
use crate::probe::{Probe, There};
use crate::root::Root;
use crate::store::chunk::{LONG, ResumePoint};
use crate::store::digests::{algorithms, set_of};
use crate::store::rows::Finder;

/// So many are read at once, one in a lane: the fewer, the sooner one of them is done. It is one
/// where the medium has to seek, and until that is known; and half as many where a chunk takes
/// longer than `LONGEST`, since an interruption loses what is read of each.
const AT_ONCE: usize = 16;
const LONGEST: Duration = Duration::from_secs(2);

/// From its beginning so often, where a program writes to it.
const TRIES: u32 = 3;

/// A long file, and where its reading stands.
pub(crate) struct Chunk {
    pub(crate) row: Row,
    /// None before the first chunk.
    from: Option<ResumePoint>,
    /// How often it was begun.
    tries: u32,
}

impl Pass<'_> {
    /// Of these records, in their order, those that are read in chunks, and the others.
    pub(crate) fn split_long(&self, ids: Vec<i64>) -> Result<(Vec<i64>, Vec<i64>), CatalogError> {
        if self.options.engine.io == Io::Direct {
            return Ok((Vec::new(), ids));
        }
        let sql = format!("SELECT id, algorithms FROM file WHERE size >= {LONG}");
        let mut statement = self.catalog.db.prepare_cached(&sql)?;
        let set = |number| set_of(number).unwrap_or(Algorithms::NONE);
        let long = statement.query_map([], |row| Ok((row.get(0)?, set(row.get(1)?))))?;
        let long: HashMap<i64, Algorithms> = long.collect::<Result<_, _>>()?;
        let own = self.roots[self.at].root.settings.algorithms;
        let is_long = |id: &i64| long.get(id).is_some_and(|it| Midstate::exists_of(it.union(own)));
        Ok(ids.into_iter().partition(is_long))
    }

    /// Reads long files, some at a time, each from where it was left; whether all was done.
    pub(crate) fn read_long(&mut self, ids: Vec<i64>) -> Result<bool, CatalogError> {
        let root = self.roots[self.at].root.clone();
        let chain = Arc::<Chain>::default();
        let jobs = LongJobs {
            at: self.at,
            chain: Arc::clone(&chain),
            finder: Finder::new(self.catalog.reader()?),
            ids: ids.into_iter(),
            probe: Probe::of(&root.path)?,
            root,
            limits: Arc::clone(&self.limits),
        };
        // The thread that pulls jobs must not wait for a file that is no longer read.
        let end = EndOnDrop(chain);
        self.chain = Some(Arc::clone(&end.0));
        let is_done = self.read(jobs);
        self.chain = None;
        is_done
    }

    /// What came of a chunk: the file goes on after it, or is judged.
    pub(crate) fn take_chunk(
        &mut self,
        mut chunk: Chunk,
        ticket: &Ticket,
        result: Result<Hashed, Error>,
    ) -> Result<(), CatalogError> {
        let mut hashed = match result {
            Err(Error::Changed) => return self.begin_again(chunk, ticket),
            Err(error) => return self.take_row(chunk.row, Err(error)),
            Ok(hashed) => hashed,
        };
        let before = chunk.from.as_ref().map_or(0, |point| point.midstate.bytes());
        hashed.bytes += before;
        let Some(stat) = Stat::of_hashed(&hashed) else { return self.begin_again(chunk, ticket) };
        if chunk.from.as_ref().is_some_and(|point| !point.is_of(&stat)) {
            return self.begin_again(chunk, ticket);
        }
        let began = chunk.from.as_ref().map_or_else(|| self.now(), |point| point.began);
        let file = chunk.row.file.id;
        if let Some(midstate) = hashed.midstate.take() {
            let point = ResumePoint { file, stat, began, midstate: *midstate };
            self.batch.chunk(point.clone());
            self.partly_read.insert(file);
            chunk.from = Some(point);
            ticket.give_back(chunk);
            return Ok(());
        }
        self.count_file();
        self.began = Some(began);
        let taken = self.take_row(chunk.row, Ok(hashed));
        self.began = None;
        taken
    }

    /// Reads a file from its beginning that is not what it was when its first chunk was read.
    fn begin_again(&mut self, chunk: Chunk, ticket: &Ticket) -> Result<(), CatalogError> {
        self.batch.is_read_to_end(chunk.row.file.id);
        if chunk.tries < TRIES {
            ticket.give_back(Chunk { from: None, tries: chunk.tries + 1, ..chunk });
            return Ok(());
        }
        self.set_busy(&chunk.row)
    }
}

/// The files of which a chunk is being read, and those whose next one may be.
#[derive(Default)]
pub(crate) struct Chain {
    links: Mutex<Links>,
    /// Notified of each change.
    changed: Condvar,
}

struct Links {
    ready: VecDeque<Chunk>,
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
        // No panic leaves it half changed.
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what is known of the media by now, where a chunk was read.
    pub(crate) fn note(&self, media: &Media) {
        let mut links = self.lock();
        links.at_once = if media.seek.is_some() { 1 } else { links.most };
        self.changed.notify_all();
    }

    /// The next file that goes on, or of which `next` gives the first chunk; none once all are
    /// done.
    fn take(
        self: &Arc<Self>,
        mut next: impl FnMut() -> Result<Option<Chunk>, CatalogError>,
    ) -> Result<Option<(Chunk, Ticket)>, CatalogError> {
        let mut links = self.lock();
        loop {
            let is_free = links.under_way < links.at_once && !links.has_ended;
            let chunk = if is_free { links.ready.pop_front() } else { None };
            let chunk = if is_free && chunk.is_none() { next()? } else { chunk };
            if let Some(chunk) = chunk {
                links.under_way += 1;
                let (chain, began) = (Arc::clone(self), Instant::now());
                return Ok(Some((chunk, Ticket { chain, began })));
            }
            if links.under_way == 0 || links.has_ended {
                return Ok(None);
            }
            links = self.changed.wait(links).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A chunk of a file is under way.
pub(crate) struct Ticket {
    chain: Arc<Chain>,
    began: Instant,
}

impl Ticket {
    /// Lets the chunk after this one be read.
    fn give_back(&self, chunk: Chunk) {
        self.chain.lock().ready.push_front(chunk);
    }
}

/// The chunk was read, or will not be.
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

/// The next chunks of some files.
struct LongJobs {
    at: usize,
    chain: Arc<Chain>,
    finder: Finder,
    /// Of those that are not begun.
    ids: vec::IntoIter<i64>,
    root: Root,
    probe: Probe,
    limits: Arc<Limits>,
}

impl LongJobs {
    fn next_job(&mut self) -> Result<Option<Job<Task>>, CatalogError> {
        let Self { at, chain, finder, ids, root, probe, limits } = self;
        let next = || -> Result<Option<Chunk>, CatalogError> {
            for id in ids.by_ref() {
                if let Some(file) = finder.find(id)? {
                    let from = ResumePoint::find(finder.db(), id)?;
                    let row = Row { at: *at, file, to: None };
                    return Ok(Some(Chunk { row, from, tries: 1 }));
                }
            }
            Ok(None)
        };
        let Some((Chunk { row, from, tries }, ticket)) = chain.take(next)? else {
            return Ok(None);
        };
        let known = algorithms(&row.file.digests).union(root.settings.algorithms);
        let from = from.filter(|point| point.midstate.algorithms() == known);
        let there = probe.look(&row.file.path());
        if there != There::File {
            return Ok(Some(nothing(Task::Absent(Box::new(row), there))));
        }
        let midstate = from.as_ref().map(|point| point.midstate.clone()).unwrap_or_default();
        let left = row.file.stat.size.saturating_sub_unsigned(midstate.bytes()).max(0);
        let is_kept = Midstate::exists_of(known);
        if !limits.allow(if is_kept { left.min(STRETCH as i64) } else { left }) {
            return Ok(None);
        }
        if !is_kept {
            return Ok(Some(job_of_row(row, root, root)));
        }
        let path = root.path_of(&row.file.path());
        let source = Source::Stretch { path, from: Box::new(midstate) };
        let context = Task::Chunk(Box::new(Chunk { row, from, tries }), ticket);
        Ok(Some(Job { source, algorithms: known, context }))
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

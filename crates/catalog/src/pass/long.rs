//! Long files, which a scrub reads in chunks. The position in each file is stored after each chunk.
//! So an interrupted scrub continues there, and a file may take longer than the hours of its root.
//!
//! ```text
//! LongJobs, an iterator of jobs           -> the engine reads a chunk of each file
//!   waits while enough are under way         -> Pass::take_chunk stores it, and either returns
//!   <- Chain: files with more chunks            the file to the chain or judges it
//! ```
//!
//! A chunk continues the previous one if the times and the inode of the file are unchanged.
//! Otherwise the file is read from its start. The time of verification is when the first chunk was
//! read.

use std::collections::HashMap;
use std::sync::Arc;
use std::vec;

use lanesum_checksum::disk::{PathState, Probe};
use lanesum_checksum::engine::{CHUNK_LEN, Hashed, Io, Midstate};
use lanesum_checksum::{Algorithms, Error, Job, Source};

use super::chain::{Chain, Chunk, EndOnDrop, Ticket};
use super::jobs::{Task, job_of_row, nothing};
use super::row::{Limits, Row};
use super::state::Pass;
use crate::CatalogError;
use crate::model::Stat;
use crate::root::Root;
use crate::status::Outcome;
use crate::store::chunk::{LONG, ResumePoint, partly_read};
use crate::store::digests::{algorithms, set_of};
use crate::store::rows::Finder;
use crate::store::run::RunRow;

/// The number of restarts of a file that a program writes to.
const TRIES: u32 = 3;

impl Pass<'_> {
    /// Returns these records in the order in which a scrub reads them, in pieces, each with whether
    /// it is read in chunks. Long files come first, and files that are not ok come last. If the
    /// last scrub ended before it had read a file, the short files come first. Otherwise a file
    /// that takes too long would keep all others from being read.
    pub(crate) fn in_chunks(&self, ids: Vec<i64>) -> Result<Vec<(Vec<i64>, bool)>, CatalogError> {
        let long = self.long_files()?;
        let pass = &self.roots[self.at];
        let can_resume = |id: &i64| {
            let own = pass.root.settings.algorithms;
            self.options.engine.io != Io::Direct
                && long.get(id).is_some_and(|known| Midstate::exists_of(known.union(own)))
        };
        let is_bad = |id: &i64| pass.states.contains_key(id);
        let (chunked, whole): (Vec<i64>, Vec<i64>) = ids.into_iter().partition(can_resume);
        let (bad, chunked): (Vec<i64>, Vec<i64>) = chunked.into_iter().partition(is_bad);
        if !self.has_read_nothing()? {
            return Ok(vec![(chunked, true), (whole, false), (bad, true)]);
        }
        let (unresumable, short): (Vec<i64>, Vec<i64>) =
            whole.into_iter().partition(|id| long.contains_key(id));
        Ok(vec![(short, false), (chunked, true), (unresumable, false), (bad, true)])
    }

    fn long_files(&self) -> Result<HashMap<i64, Algorithms>, CatalogError> {
        let sql = format!("SELECT id, algorithms FROM file WHERE size >= {LONG}");
        let mut statement = self.catalog.db.prepare_cached(&sql)?;
        let set = |number| set_of(number).unwrap_or(Algorithms::NONE);
        let long = statement.query_map([], |row| Ok((row.get(0)?, set(row.get(1)?))))?;
        Ok(long.collect::<Result<_, _>>()?)
    }

    /// Returns whether the last scrub of the root ended before it had read a file, or a chunk of
    /// one.
    fn has_read_nothing(&self) -> Result<bool, CatalogError> {
        if partly_read(&self.catalog.db)?.contains_key(&self.roots[self.at].root.id()) {
            return Ok(false);
        }
        let run = &self.roots[self.at].run;
        let is_before = |it: &RunRow| it.id < run.id && it.verb == run.verb;
        let last = RunRow::last(&self.catalog.db, run.root, is_before)?;
        Ok(last.is_some_and(|it| it.files == 0 && it.outcome != Outcome::Complete as i64))
    }

    /// Reads long files, several at a time, each from its stored position. Returns whether
    /// everything was done.
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

    /// Handles a chunk: continues the file, or judges it.
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

    /// Reads a file again from its start because it changed since its first chunk.
    fn begin_again(&mut self, chunk: Chunk, ticket: &Ticket) -> Result<(), CatalogError> {
        self.batch.is_read_to_end(chunk.row.file.id);
        if chunk.tries < TRIES {
            ticket.give_back(Chunk { from: None, tries: chunk.tries + 1, ..chunk });
            return Ok(());
        }
        self.set_busy(&chunk.row)
    }
}

/// The next chunks of some files.
struct LongJobs {
    at: usize,
    chain: Arc<Chain>,
    finder: Finder,
    /// The files that are not started.
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
        if there != PathState::File {
            return Ok(Some(nothing(Task::Absent(Box::new(row), there))));
        }
        let midstate = from.as_ref().map(|point| point.midstate.clone()).unwrap_or_default();
        let left = row.file.stat.size.saturating_sub_unsigned(midstate.bytes()).max(0);
        let is_kept = Midstate::exists_of(known);
        if !limits.allow(if is_kept { left.min(CHUNK_LEN as i64) } else { left }) {
            return Ok(None);
        }
        if !is_kept {
            return Ok(Some(job_of_row(row, root, root)));
        }
        let path = root.path_of(&row.file.path());
        let source = Source::Chunk { path, from: Box::new(midstate) };
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

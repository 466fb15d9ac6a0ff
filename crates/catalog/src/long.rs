//! Long files, which a scrub reads in stretches: where it stands in each is stored with every stretch,
//! so that it goes on there however it ended, and a file may take longer than the hours of its root.
//!
//! A stretch goes on from the last one only as long as times and number of the file are what they
//! were; otherwise it is read from its beginning. The file was checked when the first of its stretches
//! was read.

use std::collections::{BTreeMap, HashSet};
use std::mem;
use std::sync::Arc;
use std::vec;

use lanesum_checksum::engine::{Hashed, Io, Midstate, STRETCH};
use lanesum_checksum::{Error, Job, Source};
use rusqlite::Connection;

use crate::digests::algorithms;
use crate::jobs::{Limits, Task, job_of_row, job_of_there};
use crate::overview::Begun;
use crate::root::Root;
use crate::rows::{File, Finder};
use crate::stat::Stat;
use crate::table::{STRETCH as TABLE, blob, int};
use crate::way::{There, Ways};
use crate::work::Work;
use crate::{Catalog, CatalogError};

/// So many are read at once, one in a lane: the fewer, the sooner one of them is done.
const AT_ONCE: usize = 16;

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
        let sql = format!("SELECT {} FROM stretch t WHERE file = ?1", TABLE.select("t"));
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

/// Of each root that has any, the files of which a part was read.
pub(crate) fn begun(db: &Connection) -> Result<BTreeMap<i64, Begun>, CatalogError> {
    let sql = "SELECT t.file, d.root, f.size FROM stretch t \
               JOIN file f ON f.id = t.file JOIN folder d ON d.id = f.folder";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut of_roots = BTreeMap::<i64, Begun>::new();
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

impl Catalog {
    /// Of these files of a root, in their order, those that are read in stretches, and the others.
    fn long_and_short(&self, ids: Vec<i64>) -> Result<(Vec<i64>, Vec<i64>), CatalogError> {
        // As the index has it: what that hides is read all the same, as files usually are.
        let mut statement =
            self.db.prepare_cached("SELECT id FROM file WHERE size >= 536870912")?;
        let long = statement.query_map([], |row| row.get(0))?;
        let long: HashSet<i64> = long.collect::<Result<_, _>>()?;
        Ok(ids.into_iter().partition(|id| long.contains(id)))
    }
}

impl Work<'_> {
    /// Of these files, in their order, those that are well and are read in stretches, those that are
    /// not well, and the others.
    pub(crate) fn long_of(&self, ids: Vec<i64>) -> Result<[Vec<i64>; 3], CatalogError> {
        if self.options.engine.io == Io::Direct
            || !Midstate::exists_of(self.batch.root.policy.algorithms)
        {
            return Ok([Vec::new(), Vec::new(), ids]);
        }
        let (long, others) = self.catalog.long_and_short(ids)?;
        let (bad, good) = long.into_iter().partition(|id| self.statuses.contains_key(id));
        Ok([good, bad, others])
    }

    /// Reads long files, some at a time, each from where it was left; whether all was done.
    pub(crate) fn read_long(&mut self, ids: &[i64]) -> Result<bool, CatalogError> {
        let mut finder = Finder::new(self.catalog.reader()?);
        for ids in ids.chunks(AT_ONCE) {
            for file in finder.find_all(ids)? {
                let checked = self.catalog.checked(file.id)?;
                let so_far = SoFar::find(&self.catalog.db, file.id)?;
                // All of it may have been read since.
                let so_far = so_far.filter(|so_far| so_far.began >= checked);
                self.long.push(Long { file, so_far, tries: 1 });
            }
            while !self.long.is_empty() {
                let root = self.batch.root.clone();
                let jobs = LongJobs {
                    long: mem::take(&mut self.long).into_iter(),
                    ways: Ways::of(&root.path),
                    root,
                    limits: Arc::clone(&self.limits),
                };
                if !self.read(jobs)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// What came of a stretch: the file goes on behind it, or is held against its row.
    pub(crate) fn take_stretch(
        &mut self,
        mut long: Long,
        result: Result<Hashed, Error>,
    ) -> Result<(), CatalogError> {
        let path = self.batch.root.path_of(&long.file.place());
        let mut hashed = match result {
            Err(Error::Changed) => return self.begin_again(long),
            Err(error) => return self.take_row(&path, long.file, Err(error)),
            Ok(hashed) => hashed,
        };
        let now = self.now();
        let behind = long.so_far.as_ref().map_or(0, |so_far| so_far.midstate.bytes());
        hashed.bytes += behind;
        let Some(stat) = Stat::of_hashed(&hashed) else { return self.begin_again(long) };
        if long.so_far.as_ref().is_some_and(|so_far| !so_far.is_of(&stat)) {
            return self.begin_again(long);
        }
        let began = long.so_far.as_ref().map_or(now, |so_far| so_far.began);
        if let Some(midstate) = hashed.midstate.take() {
            let so_far = SoFar { file: long.file.id, stat, began, midstate: *midstate };
            self.batch.stretch(so_far.clone());
            long.so_far = Some(so_far);
            self.long.push(long);
            return Ok(());
        }
        self.count_file();
        self.batch.is_read_through(long.file.id);
        self.began = Some(began);
        let taken = self.take_row(&path, long.file, Ok(hashed));
        self.began = None;
        taken
    }

    /// Reads a file from its beginning that is not what it was when its first stretch was read.
    fn begin_again(&mut self, long: Long) -> Result<(), CatalogError> {
        self.batch.is_read_through(long.file.id);
        if long.tries < TRIES {
            self.long.push(Long { so_far: None, tries: long.tries + 1, ..long });
            return Ok(());
        }
        self.tell_busy(&long.file)
    }
}

/// The next stretch of each of some files.
struct LongJobs {
    long: vec::IntoIter<Long>,
    root: Root,
    ways: Ways,
    limits: Arc<Limits>,
}

impl Iterator for LongJobs {
    type Item = Job<Task>;

    fn next(&mut self) -> Option<Job<Task>> {
        let long = self.long.next()?;
        let there = self.ways.look(&long.file.path());
        let known = algorithms(&long.file.digests).union(self.root.policy.algorithms);
        if !Midstate::exists_of(known) {
            return Some(job_of_row(&self.root, long.file));
        }
        let from = long.so_far.as_ref().map(|so_far| so_far.midstate.clone()).unwrap_or_default();
        let is_current = from.bytes() == 0 || from.algorithms() == known;
        let (from, so_far) =
            if is_current { (from, long.so_far) } else { (Midstate::default(), None) };
        let left = long.file.stat.size.saturating_sub_unsigned(from.bytes());
        let size = if matches!(there, There::File) { left.clamp(0, STRETCH as i64) } else { 0 };
        if !self.limits.allow(size) {
            self.long = Vec::new().into_iter();
            return None;
        }
        let path = self.root.path_of(&long.file.place());
        let job = |file| {
            let source = Source::Stretch { path, from: Box::new(from) };
            let context = Task::Long(Box::new(Long { file, so_far, tries: long.tries }));
            Job { source, algorithms: known, context }
        };
        Some(job_of_there(there, long.file, job))
    }
}

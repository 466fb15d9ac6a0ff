//! The files that a pass reads, as jobs of the engine.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::vec;

use lanesum_checksum::disk::{Mounts, PathState, Probe};
use lanesum_checksum::engine::look_at;
use lanesum_checksum::error::message;
use lanesum_checksum::walk::{BadLine, Entry, Skip, Walk};
use lanesum_checksum::{Algorithms, Job, Source};
use lanesum_list::Inode;
use rusqlite::Connection;

use super::chain::{Chunk, Ticket};
use super::row::{Limits, Row};
use crate::CatalogError;
use crate::model::{Reason, Stat};
use crate::root::Root;
use crate::scan::{came_and_went, reason_of};
use crate::store::digests::algorithms;
use crate::store::rows::{File, Finder};
use crate::walk::walk_root;

/// The context of a job.
pub(crate) enum Task {
    /// A file without a record.
    New(usize, Vec<u8>),
    /// A file with a record.
    Row(Box<Row>),
    /// The same, of which a chunk is read.
    Chunk(Box<Chunk>, Ticket),
    /// A record without a file at its path, or with a mount over it.
    Absent(Box<Row>, PathState),
    /// A file or directory of a first run that cannot be examined.
    Blind(usize, Vec<u8>, Reason, Option<String>),
    /// An ignore file of a first run with an invalid line.
    BadLine(usize, Vec<u8>, String),
    /// A skipped entry of a first run.
    Skipped(usize, Vec<u8>, Skip),
    /// The catalog could not be read.
    Failed(CatalogError),
}

/// The number of records that are looked up together. A single look-up would lock the catalog each
/// time, and a transaction must not last as long as the reads.
const PAGE: usize = 500;

/// Records to read, by their ids, in this order.
pub(crate) struct RowJobs {
    at: usize,
    finder: Finder,
    ids: vec::IntoIter<i64>,
    files: vec::IntoIter<File>,
    root: Root,
    /// Used if no scan examined the files just now.
    probe: Option<Probe>,
    limits: Arc<Limits>,
}

impl RowJobs {
    pub(crate) fn new(
        (at, root): (usize, &Root),
        db: Connection,
        ids: Vec<i64>,
        probe: Option<Probe>,
        limits: Arc<Limits>,
    ) -> Self {
        let (finder, files) = (Finder::new(db), Vec::new().into_iter());
        Self { at, finder, ids: ids.into_iter(), files, root: root.clone(), probe, limits }
    }

    /// The next record, if it still exists.
    fn next_file(&mut self) -> Result<Option<File>, CatalogError> {
        while self.files.as_slice().is_empty() && !self.ids.as_slice().is_empty() {
            let ids: Vec<_> = self.ids.by_ref().take(PAGE).collect();
            self.files = self.finder.find_all(&ids)?.into_iter();
        }
        Ok(self.files.next())
    }

    fn end(&mut self) {
        self.ids = Vec::new().into_iter();
        self.files = Vec::new().into_iter();
    }
}

impl Iterator for RowJobs {
    type Item = Job<Task>;

    fn next(&mut self) -> Option<Job<Task>> {
        let file = match self.next_file() {
            Ok(file) => file?,
            Err(error) => {
                self.end();
                return Some(nothing(Task::Failed(error)));
            }
        };
        let there = self.probe.as_ref().map_or(PathState::File, |probe| probe.look(&file.path()));
        if there == PathState::File && !self.limits.allow(file.stat.size) {
            self.end();
            return None;
        }
        let row = Row { at: self.at, file, to: None };
        Some(match there {
            PathState::File => job_of_row(row, &self.root, &self.root),
            there => nothing(Task::Absent(Box::new(row), there)),
        })
    }
}

/// The job of a record with all its digests. `there` is the root of its file.
pub(crate) fn job_of_row(row: Row, root: &Root, there: &Root) -> Job<Task> {
    let source = Source::Regular(there.path_of(&row.place().1));
    let known = algorithms(&row.file.digests);
    let algorithms = root.settings.algorithms.union(there.settings.algorithms).union(known);
    Job { source, algorithms, context: Task::Row(Box::new(row)) }
}

/// A file without a record.
pub(crate) fn job_of_new(
    at: usize,
    root: &Root,
    path: Vec<u8>,
    algorithms: Algorithms,
) -> Job<Task> {
    let source = Source::Regular(root.path_of(&path));
    let algorithms = root.settings.algorithms.union(algorithms);
    Job { source, algorithms, context: Task::New(at, path) }
}

pub(crate) fn nothing(context: Task) -> Job<Task> {
    Job { source: Source::Nothing, algorithms: Algorithms::NONE, context }
}

/// All files of a root without records, which are not scanned before they are read.
pub(crate) struct FirstJobs {
    at: usize,
    walk: Walk,
    root: Root,
    mounts: Mounts,
    /// Entries to report.
    unreported: vec::IntoIter<PathBuf>,
    /// The catalog's own name, and its files.
    own_name: Vec<u8>,
    own: Vec<Inode>,
}

impl FirstJobs {
    pub(crate) fn new(
        (at, root): (usize, &Root),
        catalog: &Path,
        own: Vec<Inode>,
    ) -> Result<Self, CatalogError> {
        let own_name = catalog.file_name().map_or(&[][..], |name| name.as_bytes()).to_vec();
        let walk = walk_root(&root.path, &root.settings)?;
        let mounts = Mounts::below(&root.path)?;
        let unreported = mounts.paths(&root.path).into_iter();
        Ok(Self { at, walk, root: root.clone(), mounts, unreported, own_name, own })
    }

    /// Returns whether a file belongs to the catalog. The names of its log and its lock start with
    /// its name.
    fn is_own(&self, path: &Path) -> bool {
        let has_name =
            path.file_name().is_some_and(|name| name.as_bytes().starts_with(&self.own_name));
        let inode = || Some(Stat::of(&look_at(path).ok()?)?.1);
        has_name && inode().is_some_and(|inode| self.own.contains(&inode))
    }

    fn skipped(&self, path: &Path, why: Skip) -> Job<Task> {
        nothing(Task::Skipped(self.at, self.root.below_walked(path).to_vec(), why))
    }
}

impl Iterator for FirstJobs {
    type Item = Job<Task>;

    fn next(&mut self) -> Option<Job<Task>> {
        if let Some(path) = self.unreported.next() {
            return Some(self.skipped(&path, Skip::OtherDevice));
        }
        loop {
            let entry = self.walk.next()?;
            let below = self.root.below_walked(entry.path());
            if self.mounts.over(below).is_some() {
                continue;
            }
            match entry {
                Entry::File(path) if self.is_own(&path) => {}
                Entry::File(path) => {
                    let path = self.root.below_walked(&path).to_vec();
                    return Some(job_of_new(self.at, &self.root, path, Algorithms::NONE));
                }
                Entry::Skipped { path, why } => return Some(self.skipped(&path, why)),
                Entry::Failed { path, error } if came_and_went(&path, &error) => {}
                Entry::Failed { path, error } if BadLine::in_error(&error).is_some() => {
                    let path = self.root.below_walked(&path).to_vec();
                    return Some(nothing(Task::BadLine(self.at, path, error.to_string())));
                }
                Entry::Failed { path, error } => {
                    let below = self.root.below_walked(&path).to_vec();
                    let (reason, error) = (reason_of(&error), Some(message(&error)));
                    return Some(nothing(Task::Blind(self.at, below, reason, error)));
                }
            }
        }
    }
}

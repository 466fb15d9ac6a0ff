//! What a run reads, as jobs of the engine.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};
use std::vec;

use lanesum_checksum::engine::look_at;
use lanesum_checksum::error::message;
use lanesum_checksum::walk::{Entry, Skip, Walk};
use lanesum_checksum::{Algorithms, Job, Source};
use lanesum_list::Inode;
use rusqlite::Connection;

use crate::CatalogError;
use crate::digests::algorithms;
use crate::long::{Long, Ticket};
use crate::mounts::Mounts;
use crate::root::Root;
use crate::rows::{File, Finder};
use crate::scan::{came_and_went, is_of_repairs, prefix_len, walk_root};
use crate::stat::{Stat, UNKNOWN_SIZE};
use crate::way::{There, Ways};

/// What a job is about.
pub(crate) enum Task {
    /// A file that has no row.
    New,
    /// One that has.
    Row(Box<File>),
    /// One that has, of which a stretch is read.
    Long(Box<Long>, Ticket),
    /// One that has, where there is no regular file, or only behind a link.
    Gone(Box<File>),
    /// One that has, of this number, below this path of the root, where another file system is
    /// mounted.
    Hidden(Vec<u8>, i64),
    /// Something at this path that cannot be looked at, and why.
    Unreadable(PathBuf, String),
    /// Another file system is mounted there.
    Mount(PathBuf),
    /// The catalog could not be read.
    Failed(CatalogError),
}

/// How much a run may do.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    until: Option<Instant>,
    /// Bytes that may still be read.
    bytes: Option<AtomicI64>,
    is_reached: AtomicBool,
}

impl Limits {
    pub(crate) fn new(time: Option<Duration>, bytes: Option<u64>) -> Self {
        let until = time.and_then(|time| Instant::now().checked_add(time));
        let bytes = bytes.map(|bytes| AtomicI64::new(bytes.try_into().unwrap_or(i64::MAX)));
        Self { until, bytes, is_reached: AtomicBool::new(false) }
    }

    /// Whether time may be up before all is read.
    pub(crate) fn has_time(&self) -> bool {
        self.until.is_some()
    }

    /// Whether time is up.
    pub(crate) fn is_late(&self) -> bool {
        let is_late = self.until.is_some_and(|until| Instant::now() >= until);
        self.is_reached.fetch_or(is_late, Ordering::Relaxed);
        is_late
    }

    /// Whether a file of this size may still be read. The first may, or a file larger than the
    /// limit would never be.
    pub(crate) fn allow(&self, size: i64) -> bool {
        let is_allowed = !self.is_late()
            && self.bytes.as_ref().is_none_or(|left| left.fetch_sub(size, Ordering::Relaxed) > 0);
        self.is_reached.fetch_or(!is_allowed, Ordering::Relaxed);
        is_allowed
    }

    /// Notes that something is left undone.
    pub(crate) fn reach(&self) {
        self.is_reached.store(true, Ordering::Relaxed);
    }

    /// Whether something was left undone.
    pub(crate) fn is_reached(&self) -> bool {
        self.is_reached.load(Ordering::Relaxed)
    }
}

/// Rows that are looked up together: each look by itself locks the catalog, and a transaction must
/// not last as long as the files are read.
const PAGE: usize = 500;

/// Rows to be read, by their ids, in this order.
pub(crate) struct RowJobs {
    finder: Finder,
    ids: vec::IntoIter<i64>,
    /// The next of them.
    files: vec::IntoIter<File>,
    root: Root,
    ways: Ways,
    limits: Arc<Limits>,
}

impl RowJobs {
    pub(crate) fn new(
        db: Connection,
        ids: Vec<i64>,
        root: Root,
        limits: Arc<Limits>,
    ) -> Result<Self, CatalogError> {
        let ways = Ways::of(&root.path)?;
        let files = Vec::new().into_iter();
        Ok(Self { finder: Finder::new(db), ids: ids.into_iter(), files, root, ways, limits })
    }

    /// The next row, if it is there still.
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
        let there = self.ways.look(&file.path());
        // What is not read takes nothing from what is.
        let size = match (&there, file.stat.size) {
            (There::File, UNKNOWN_SIZE) => size_now(&self.root.path_of(&file.path())),
            (There::File, size) => size,
            _ => 0,
        };
        if !self.limits.allow(size) {
            self.end();
            return None;
        }
        Some(job_of_there(there, file, |file| job_of_row(&self.root, file)))
    }
}

/// Bytes of a file that was cataloged without.
fn size_now(path: &Path) -> i64 {
    path.symlink_metadata().map_or(0, |it| it.len().cast_signed())
}

/// What is to be done with a row whose place was looked at; the last makes a job of a file that is
/// there.
pub(crate) fn job_of_there(
    there: There,
    file: File,
    job: impl FnOnce(File) -> Job<Task>,
) -> Job<Task> {
    match there {
        There::File => job(file),
        There::Gone => nothing(Task::Gone(Box::new(file))),
        There::Mount(path) => nothing(Task::Hidden(path, file.id)),
    }
}

/// A row, whose digests are all computed anew.
pub(crate) fn job_of_row(root: &Root, file: File) -> Job<Task> {
    let source = Source::Regular(root.path_of(&file.place()));
    let algorithms = root.policy.algorithms.union(algorithms(&file.digests));
    Job { source, algorithms, context: Task::Row(Box::new(file)) }
}

/// A file that has no row.
pub(crate) fn job_of_new(path: PathBuf, algorithms: Algorithms) -> Job<Task> {
    Job { source: Source::Regular(path), algorithms, context: Task::New }
}

pub(crate) fn nothing(context: Task) -> Job<Task> {
    Job { source: Source::Nothing, algorithms: Algorithms::NONE, context }
}

/// All files of a root that has no row: they need not be looked at before they are read.
pub(crate) struct FirstJobs {
    walk: Walk,
    root: PathBuf,
    mounts: Mounts,
    /// Those that are still to be told.
    untold: vec::IntoIter<PathBuf>,
    algorithms: Algorithms,
    /// The catalog's own name, and what it consists of.
    own_name: Vec<u8>,
    own: Vec<Inode>,
}

impl FirstJobs {
    pub(crate) fn new(root: &Root, catalog: &Path, own: Vec<Inode>) -> Result<Self, CatalogError> {
        let own_name = catalog.file_name().map_or(&[][..], |name| name.as_bytes()).to_vec();
        let (walk, algorithms) = (walk_root(&root.path), root.policy.algorithms);
        let mounts = Mounts::below(&root.path)?;
        let untold = mounts.paths(&root.path).into_iter();
        Ok(Self { walk, root: root.path.clone(), mounts, untold, algorithms, own_name, own })
    }

    /// Whether a file is the catalog's. Its log and its lock have its name, and more.
    fn is_own(&self, path: &Path) -> bool {
        let has_name =
            path.file_name().is_some_and(|name| name.as_bytes().starts_with(&self.own_name));
        let inode = || Some(Stat::of(&look_at(path).ok()?)?.1);
        has_name && inode().is_some_and(|inode| self.own.contains(&inode))
    }

    fn is_of_repairs(&self, path: &Path, error: &io::Error) -> bool {
        self.below(path).is_some_and(|below| is_of_repairs(below, error))
    }

    fn below<'path>(&self, path: &'path Path) -> Option<&'path [u8]> {
        path.as_os_str().as_bytes().get(prefix_len(&self.root)..)
    }

    /// Whether it is of a mount that is told by itself.
    fn is_mounted(&self, path: &Path) -> bool {
        self.below(path).is_some_and(|below| self.mounts.over(below).is_some())
    }
}

impl Iterator for FirstJobs {
    type Item = Job<Task>;

    fn next(&mut self) -> Option<Job<Task>> {
        if let Some(path) = self.untold.next() {
            return Some(nothing(Task::Mount(path)));
        }
        loop {
            let entry = self.walk.next()?;
            if self.is_mounted(entry.path()) {
                continue;
            }
            match entry {
                Entry::File(path) if self.is_own(&path) => {}
                Entry::File(path) => return Some(job_of_new(path, self.algorithms)),
                Entry::Skipped { path, why: Skip::OtherDevice } => {
                    return Some(nothing(Task::Mount(path)));
                }
                Entry::Skipped { .. } => {}
                Entry::Failed { path, error } if came_and_went(&path, &error) => {}
                Entry::Failed { path, error } if self.is_of_repairs(&path, &error) => {}
                Entry::Failed { path, error } => {
                    return Some(nothing(Task::Unreadable(path, message(&error))));
                }
            }
        }
    }
}

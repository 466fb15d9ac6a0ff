//! Reads and hashes many inputs at once and gives the outcomes back in the order of the jobs.
//!
//! ```text
//! jobs (an iterator, pulled by the caller's thread)
//!   -> wait for a worker                                     feed.rs
//!   -> a worker opens the file                                worker.rs, open.rs
//!   -> small:  it is read behind others, and they are hashed
//!              many at a time                                 batch.rs
//!   -> others: from a medium in their turn,                    devices.rs, width.rs
//!              a lane reads into its buffer, the kernel
//!              hashes as much as all lanes have               file.rs, read/, hashers.rs
//!   -> it is looked at again: it stayed as it was              stamp.rs
//!   -> the outcome is made into what is wanted, and waits
//!      until all before it are out                            order.rs
//!   -> sink
//! ```
//!
//! Each worker thread owns its lanes, its batch of small files, their memory and their descriptors; workers meet at two locks only,
//! one around the jobs that wait and one around the outcomes, each taken once for many files. What is
//! not a regular file is read by a thread beside the worker, one after another (`serial.rs`), so that
//! a FIFO whose writer never comes holds up no lane.
//!
//! ```
//! use std::ops::ControlFlow;
//! use lanesum_checksum::{Algorithm, Job, Source, engine};
//!
//! let folder = tempfile::tempdir()?;
//! let jobs = ["a", "b"].map(|name| {
//!     let path = folder.path().join(name);
//!     std::fs::write(&path, name).unwrap();
//!     Job { source: Source::Path(path), algorithms: Algorithm::Md5.into(), context: name }
//! });
//! let mut lines = Vec::new();
//! engine::run(
//!     &engine::Options::default(),
//!     jobs.into_iter(),
//!     |outcome| {
//!         let hashed = outcome.result.expect("both can be read");
//!         format!("{} {}", outcome.context, hashed.digests[0])
//!     },
//!     |line| {
//!         lines.push(line);
//!         ControlFlow::Continue(())
//!     },
//! );
//! assert_eq!(lines, ["a 0cc175b9c0f1b6a831c399e269772661", "b 92eb5ffee6ae2fec3ad71c777531578f"]);
//! # Ok::<(), std::io::Error>(())
//! ```

mod batch;
mod bytes;
mod descriptors;
mod devices;
mod feed;
mod file;
mod hashers;
mod open;
mod order;
mod read;
mod serial;
mod stamp;
mod width;
mod worker;

use std::io;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use lanesum_md5::Backend;
use rustix::fd::AsFd;
use rustix::fs::Stat;

use crate::{Algorithms, Digest, Error, Key};

pub use bytes::digests_of;
pub use read::Io;

/// One thing to do.
#[derive(Clone, Debug)]
pub struct Job<T> {
    /// What to read.
    pub source: Source,
    /// What to compute, all in one read.
    pub algorithms: Algorithms,
    /// Whatever the caller wants back with the outcome.
    pub context: T,
}

/// Where the bytes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Nowhere: the job only keeps its place in the order (a warning, the end of a list).
    Nothing,
    /// Standard input.
    Stdin,
    /// A file. Regular ones are read many at once; others (a FIFO, a device, a terminal) one after
    /// another in the order of the jobs, without holding the regular ones up.
    Path(PathBuf),
    /// A file that a moment ago was known to be a regular one, as a [walk](crate::walk) knows of
    /// what it finds. If it has become something else it is [`Error::Changed`], and not read.
    Regular(PathBuf),
}

/// What came of a job.
#[derive(Debug)]
pub struct Outcome<T> {
    /// The job's source.
    pub source: Source,
    /// The job's context.
    pub context: T,
    /// Digests and length; or why there are none.
    pub result: Result<Hashed, Error>,
}

/// Digests of one input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hashed {
    /// One for each algorithm of the job, in the order of [`Algorithm::ALL`](crate::Algorithm::ALL).
    pub digests: Vec<Digest>,
    /// Bytes read.
    pub bytes: u64,
}

/// How to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Worker threads; 0, the default, means one for each CPU that this process may use.
    pub threads: usize,
    /// Report an input whose size or times change while it is read as [`Error::Changed`]. The
    /// default is true.
    pub detect_changes: bool,
    /// How regular files are read.
    pub io: Io,
    /// The instruction set for MD5; the default is the best that the CPU has.
    pub backend: Backend,
    /// The key of those algorithms that take one; the others do without. The default is none.
    pub key: Option<Key>,
    /// Files that the caller writes to: under whatever names they come up, they are [`Error::OwnOutput`].
    /// The default is none.
    pub own_files: Vec<FileId>,
    /// Inputs that the caller reads itself, a pipe that a list comes through for instance: whatever leads to one of them, and
    /// gives its bytes only once, is [`Error::Taken`]. The default is none.
    pub taken: Vec<FileId>,
    /// Counters that go up as bytes are read, for whoever shows them.
    pub progress: Option<Arc<Progress>>,
    /// Give each worker a table of file descriptors of its own, in which the kernel needs no locks:
    /// with many short files two threads then do 1.1 times as much. For callers whose `make` and
    /// `sink` close no files but those that they opened in the same call, since a worker's are not those of
    /// others. The default is false.
    pub own_descriptors: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: 0,
            detect_changes: true,
            io: Io::default(),
            backend: Backend::best(),
            key: None,
            own_files: Vec::new(),
            taken: Vec::new(),
            progress: None,
            own_descriptors: false,
        }
    }
}

impl Options {
    /// Notes that a job with a source is done.
    fn count_file(&self) {
        if let Some(progress) = &self.progress {
            progress.files.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// What a file is known by, whatever its names are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The number of its device.
    pub device: u64,
    /// The number of its inode there.
    pub inode: u64,
}

impl FileId {
    /// Of an open file.
    ///
    /// # Errors
    /// The system's.
    pub fn of(file: impl AsFd) -> io::Result<Self> {
        Ok(Self::from(&rustix::fs::fstat(file)?))
    }
}

impl From<&Stat> for FileId {
    fn from(stat: &Stat) -> Self {
        Self { device: stat.st_dev, inode: stat.st_ino }
    }
}

/// How far a run is.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes read.
    pub bytes: AtomicU64,
    /// Jobs with a source that are done, failed ones included.
    pub files: AtomicU64,
}

/// Runs the jobs; calls `sink` with what `make` makes of each outcome, in the order of the jobs.
///
/// The iterator is pulled by the calling thread, up to a thousand jobs ahead of the workers; where it
/// waits, what it gave is done meanwhile. `make` is called by the worker that has the outcome, on its
/// own time, at once and in any order: the place for work (a comparison, a line of text). `sink` is
/// called from whichever worker completes the next one, never from two at once, and
/// `ControlFlow::Break` from it ends the run.
///
/// Memory grows neither with the number of jobs nor with their sizes: at most 65,536 jobs are under
/// way at once, and what `make` makes is all that is kept of one that waits for its turn.
///
/// Fewer threads than asked for work where the system does not give as many. Where it gives none, and where
/// there is but one job, as the iterator's [`size_hint`](Iterator::size_hint) says, the calling thread works.
///
/// # Panics
/// When the iterator, `make` or `sink` panics.
pub fn run<T, I, R, M, F>(options: &Options, jobs: I, make: M, mut sink: F)
where
    T: Send,
    I: Iterator<Item = Job<T>>,
    R: Send,
    M: Fn(Outcome<T>) -> R + Sync,
    F: FnMut(R) -> ControlFlow<()> + Send,
{
    let most = jobs.size_hint().1.unwrap_or(usize::MAX);
    // Often there is a single file, and most of the time is that of starting.
    let left = if most <= 1 {
        Some(jobs)
    } else {
        let threads = match options.threads {
            0 => thread::available_parallelism().map_or(1, NonZero::get),
            threads => threads,
        };
        run_in_threads(threads.min(most), options, jobs, &make, &mut sink)
    };
    if let Some(jobs) = left {
        run_here(options, jobs, &make, &mut sink);
    }
}

/// Gives the jobs back when there is no thread for them.
fn run_in_threads<T, I, R, M, F>(
    threads: usize,
    options: &Options,
    jobs: I,
    make: &M,
    sink: F,
) -> Option<I>
where
    T: Send,
    I: Iterator<Item = Job<T>>,
    R: Send,
    M: Fn(Outcome<T>) -> R + Sync,
    F: FnMut(R) -> ControlFlow<()> + Send,
{
    let options = &Options { threads, ..options.clone() };
    let feed = &feed::Feed::new(threads);
    let order = &order::Order::new(sink, threads);
    let devices = &devices::Devices::of(options);
    thread::scope(|scope| {
        let started = (0..threads).take_while(|&number| {
            let work = move || worker::work(number, options, feed, devices, make, order, scope);
            read::is_memory_left() && thread::Builder::new().spawn_scoped(scope, work).is_ok()
        });
        let missing = threads - started.count();
        if missing == threads {
            return Some(jobs);
        }
        (0..missing).for_each(|_| order.worker_ends());
        feed.all_are_started(missing);
        feed.pull(jobs, order);
        None
    })
}

/// Without threads: pulls as many jobs as are pulled ahead of workers, does them, and so on.
fn run_here<T, I, R, M, F>(options: &Options, mut jobs: I, make: &M, mut sink: F)
where
    T: Send,
    I: Iterator<Item = Job<T>>,
    R: Send,
    M: Fn(Outcome<T>) -> R + Sync,
    F: FnMut(R) -> ControlFlow<()> + Send,
{
    let options = &Options { threads: 1, own_descriptors: false, ..options.clone() };
    let devices = &devices::Devices::of(options);
    loop {
        let feed = &feed::Feed::new(1);
        let order = &order::Order::new(&mut sink, 1);
        let mut pulled = 0;
        thread::scope(|scope| {
            feed.all_are_started(0);
            feed.pull(jobs.by_ref().take(feed::AHEAD).inspect(|_| pulled += 1), order);
            worker::work(0, options, feed, devices, make, order, scope);
        });
        if pulled < feed::AHEAD || order.is_stopped() {
            break;
        }
    }
}

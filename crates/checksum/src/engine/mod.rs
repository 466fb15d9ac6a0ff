//! Reads and hashes many inputs at once and gives the outcomes to the caller's thread.
//!
//! ```text
//! jobs (an iterator, pulled by a thread of its own)                 run.rs
//!   -> wait for a worker; from a medium in its order                queue.rs, plan.rs
//!   -> a worker opens the file, from a medium in its turn           worker/, devices.rs
//!   -> small:  it is read behind others, and they are hashed
//!              many at a time                                       batch.rs
//!   -> others: a lane reads into its buffer, the kernel
//!              hashes as much as all lanes have                     stream.rs, read/, hashers.rs
//!   -> it is looked at again: it stayed as it was                   version.rs
//!   -> the outcome waits until all before it are out                outbox.rs
//!   -> the caller, for whom the run is an iterator                  run.rs
//! ```
//!
//! Each worker thread owns its lanes, its batch of small files, their memory and their descriptors;
//! workers meet at two locks only, one around the jobs that wait and one around the outcomes, each
//! taken once for many files; and where those come from a medium, at a third around its devices.
//! All that they share is in `core.rs`, and what they hand to one another in `task.rs`. What is not
//! a regular file is read by a thread beside the worker, one after another (`serial.rs`), so that a
//! FIFO whose writer never comes holds up no lane.
//!
//! ```
//! use lanesum_checksum::{Algorithm, Job, Source, engine};
//!
//! let folder = tempfile::tempdir()?;
//! let mut jobs = Vec::new();
//! for name in ["a", "b"] {
//!     let path = folder.path().join(name);
//!     std::fs::write(&path, name)?;
//!     let algorithms = Algorithm::Md5.into();
//!     jobs.push(Job { source: Source::Path(path), algorithms, context: name });
//! }
//! let mut run = engine::run(&engine::Options::default(), jobs.into_iter());
//! let mut lines = Vec::new();
//! for outcome in &mut run {
//!     lines.push(format!("{} {}", outcome.context, outcome.result?.digests[0]));
//! }
//! assert_eq!(lines, ["a 0cc175b9c0f1b6a831c399e269772661", "b 92eb5ffee6ae2fec3ad71c777531578f"]);
//! assert_eq!(run.finish()?.bytes, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batch;
mod buffer;
mod bytes;
mod core;
mod descriptors;
mod devices;
mod hashers;
mod look;
mod midstate;
mod open;
mod outbox;
mod pace;
mod panics;
mod plan;
mod pressure;
mod queue;
mod read;
mod round;
mod run;
mod serial;
mod stop;
mod stream;
mod subtrees;
mod task;
mod version;
mod whole;
mod width;
mod worker;

use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use lanesum_list::{Digests, Inode, Record, Times};
use lanesum_md5::Backend;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Stat, statat};

use crate::hops::Within;
use crate::{Algorithms, Error, Key};

pub use bytes::digests_of;
pub use devices::{AtOnce, Media};
pub use midstate::Midstate;
pub use pace::Pace;
pub use pressure::Pressure;
pub use read::Io;
pub use subtrees::STRETCH;
pub(crate) use version::FileVersion;

pub use run::{Run, Stopped, Stopper, Totals, run};

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
#[non_exhaustive]
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
    /// A part of a regular file: `length` bytes from `offset` on, or as many as there are. Parts of
    /// one file are jobs like any others; each is checked for changes as the whole file is. A part
    /// of what is no regular file, and any part with [`Io::Direct`], is [`Error::Io`].
    Extent {
        /// The file.
        path: PathBuf,
        /// Where the part begins, in bytes from the beginning of the file.
        offset: u64,
        /// Its length in bytes.
        length: u64,
    },
    /// The next [`STRETCH`] bytes of a regular file, behind those that led to a midstate; what of
    /// the algorithms has [none](Midstate::exists_of) is [`Error::Io`]. Where the file goes on
    /// behind them, [`Hashed::midstate`] is what comes of it; at its end the digests of all of it.
    /// It is checked for changes as the whole file is, but for those between two stretches: whoever
    /// goes on sees to it that times, size and inode are what they were. A file that ends before
    /// the stretch begins is [`Error::Changed`]. Not with [`Io::Direct`].
    Stretch {
        /// The file.
        path: PathBuf,
        /// What is behind; the default is nothing.
        from: Box<Midstate>,
    },
}

impl Source {
    /// The file that it names, if it does.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Nothing | Self::Stdin => None,
            Self::Path(path)
            | Self::Regular(path)
            | Self::Extent { path, .. }
            | Self::Stretch { path, .. } => Some(path),
        }
    }

    /// Which bytes of the file are to be read, where that is a part of it.
    fn part(&self) -> Option<Range<u64>> {
        match self {
            Self::Nothing | Self::Stdin | Self::Path(_) | Self::Regular(_) => None,
            Self::Extent { offset, length, .. } => Some(*offset..offset.saturating_add(*length)),
            Self::Stretch { from, .. } => Some(from.bytes()..from.bytes().saturating_add(STRETCH)),
        }
    }

    /// What is behind where reading begins, of a file that is read over several days.
    fn behind(&self) -> Option<&Midstate> {
        if let Self::Stretch { from, .. } = self { Some(from) } else { None }
    }
}

/// What came of a job.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome<T> {
    /// The job's source.
    pub source: Source,
    /// The job's context.
    pub context: T,
    /// Digests and length; or why there are none.
    pub result: Result<Hashed, Error>,
}

/// What one input holds, and of a regular file what it was when its last byte was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hashed {
    /// One for each algorithm of the job, in the order of
    /// [`Algorithm::ALL`](crate::Algorithm::ALL).
    pub digests: Digests,
    /// Bytes read.
    pub bytes: u64,
    /// When the file changed last; unknown of what is no regular file. When its inode did is not
    /// known of a part that took two readings, since they tell nothing of other parts.
    pub times: Times,
    /// Which file it is, whatever its names are; none of what is no regular file.
    pub inode: Option<Inode>,
    /// Where the computations stand after a [stretch](Source::Stretch) behind which the file goes
    /// on; there are no digests then.
    pub midstate: Option<Box<Midstate>>,
}

impl Hashed {
    /// All of it as the record of a file of this name.
    #[must_use]
    pub fn into_record<N: AsRef<[u8]> + ?Sized>(self, name: &N) -> Record<'_> {
        let Self { digests, bytes, times, inode, .. } = self;
        Record { size: Some(bytes), times, inode, digests, ..Record::new(name) }
    }

    /// The same of a file that was of this version when its last byte was read.
    fn of(self, version: &FileVersion) -> Self {
        Self { times: version.times(), inode: Some(version.inode()), ..self }
    }
}

/// How to run: the defaults, changed field by field.
///
/// ```
/// use lanesum_checksum::engine::{Delivery, Options};
///
/// let mut options = Options::default();
/// options.threads = 2;
/// options.delivery = Delivery::AsTheyCome;
/// # assert!(options.detect_changes);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Worker threads; 0, the default, means one for each CPU that this process may use.
    ///
    /// Where addresses are limited (`ulimit -v`, RLIMIT_AS), glibc's `malloc` takes 64 MiB of them
    /// for each thread, and a process that gets none is ended, as by any allocation of Rust's. Let
    /// it have one arena (`mallopt(M_ARENA_MAX, 1)`, `MALLOC_ARENA_MAX=1`), or take fewer threads.
    pub threads: usize,
    /// Report an input whose size or times change while it is read as [`Error::Changed`]. The
    /// default is true.
    pub detect_changes: bool,
    /// How regular files are read. The default is [`Io::Read`].
    pub io: Io,
    /// The instruction set for MD5; the default is the best that the CPU has.
    pub backend: Backend,
    /// The key of those algorithms that take one; the others do without. Where it has not the
    /// length that one of a job's algorithms takes, the job is [`Error::NoKey`]. The default is
    /// none.
    pub key: Option<Key>,
    /// Files that the caller writes to: under whatever names they come up, they are
    /// [`Error::OwnOutput`]. The default is none.
    pub own_files: Vec<Inode>,
    /// Inputs that the caller reads itself, a pipe that a list comes through for instance: whatever
    /// leads to one of them, and gives its bytes only once, is [`Error::Taken`]. The default is
    /// none.
    pub taken: Vec<Inode>,
    /// Counters that go up as bytes are read, for whoever shows them.
    pub progress: Option<Arc<Progress>>,
    /// How fast files may be read. The default is as fast as they can.
    pub pace: Option<Pace>,
    /// Give each worker a table of file descriptors of its own, in which the kernel needs no locks:
    /// two threads then do 1.1 times as much with many short files. What is open when the run
    /// begins stays open in these tables until it ends, so that the other end of a pipe, for
    /// instance, does not see that it was closed. The default is false.
    pub own_descriptors: bool,
    /// In which order the outcomes come. The default is that of the jobs.
    pub delivery: Delivery,
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
            pace: None,
            own_descriptors: false,
            delivery: Delivery::default(),
        }
    }
}

/// In which order outcomes come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// In the order of the jobs: each waits for those before it.
    #[default]
    InOrder,
    /// As they come, so that none waits for a long file. (What is read alone, a FIFO for instance,
    /// is still read when all before it is done.)
    AsTheyCome,
}

impl Options {
    /// Notes that the job of this source is done, which is a file's unless it is a part of one.
    fn count(&self, source: &Source) {
        if source.part().is_none() {
            self.count_file();
        }
    }

    /// Notes that a file is done.
    pub(crate) fn count_file(&self) {
        if let Some(progress) = &self.progress {
            progress.files.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// What a file is known by, whatever its names are: the one that was looked at.
#[must_use]
pub fn inode_of(stat: &Stat) -> Inode {
    Inode { device: stat.st_dev, number: stat.st_ino }
}

/// What an open file is known by, as [`inode_of`].
///
/// # Errors
/// The system's.
pub fn inode_of_file(file: impl AsFd) -> io::Result<Inode> {
    Ok(inode_of(&rustix::fs::fstat(file)?))
}

/// What the system says of what is at a path of any length; of a link it is the link's.
///
/// # Errors
/// The system's.
pub fn look_at(path: &Path) -> io::Result<Stat> {
    let within = Within::reach(path.as_os_str().as_bytes())?;
    Ok(statat(within.folder(), within.rest(), AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Whether somebody has a regular file open or mapped for writing. `None` where the system does not
/// tell: it tells the file's owner and whoever has `CAP_LEASE`, and not on every file system.
///
/// Whoever opens the file for writing at that very moment waits for some microseconds.
#[must_use]
pub fn has_writer(file: &OwnedFd) -> Option<bool> {
    read::lease::known_writer(file)
}

/// How far a run is.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes read.
    pub bytes: AtomicU64,
    /// Jobs with a source that are done, failed ones included; but for [parts](Source::Extent) and
    /// [stretches](Source::Stretch) of files, which whoever puts them together counts as one.
    pub files: AtomicU64,
    /// Whether files come from a medium that has to seek, and of some it is not known yet where
    /// they lie: whoever looks at them beside the run, in another order, makes it seek for each.
    pub seeks: AtomicBool,
}

//! Reads and hashes many inputs at once, and returns the outcomes on the thread of the caller.
//!
//! ```text
//! jobs: a separate thread pulls them from an iterator                  run.rs
//!   -> wait for a worker; cold files in the order of their disk        queue.rs, plan.rs
//!   -> a worker opens the file; cold files wait for a permit           worker/, devices.rs
//!   -> small files: read into one buffer, and hashed many at a time    batch.rs
//!   -> other files: a lane reads into its buffer, and the kernel
//!                   hashes as many blocks as all lanes have            stream.rs, read/
//!                                                                      hashers.rs
//!   -> check that the file did not change meanwhile                    version.rs
//!   -> the outcome waits for all earlier outcomes                      outbox.rs
//!   -> the caller takes it from the iterator of the run                run.rs
//! ```
//!
//! Each worker thread owns its lanes, its batch of small files, their memory and their descriptors.
//! Workers share two locks, one for the waiting jobs and one for the outcomes, which they take once
//! for many files. If files come from a medium, there is a third lock for its devices. `core.rs`
//! has the shared state, and `task.rs` the messages between threads. Other inputs than regular
//! files are read one after the other by a separate thread (`serial.rs`), so a FIFO without a
//! writer does not delay any lane.
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
mod blocks;
mod buffer;
mod bytes;
mod core;
mod descriptors;
mod devices;
mod hashers;
mod lanes;
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

use lanesum_blockhash::Backend;
use lanesum_list::{Digests, Inode, Record, Times};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Stat, statat};

use crate::hops::Within;
use crate::{Algorithms, Error, Key};

pub use bytes::digests_of;
pub use devices::{AtOnce, Media};
pub(crate) use hashers::Hashers;
pub use midstate::Midstate;
pub use pace::Pace;
pub use pressure::Pressure;
pub use read::Io;
pub use subtrees::CHUNK_LEN;
pub(crate) use version::FileVersion;

pub use run::{Run, Stopped, Stopper, Totals, run};

/// A job: an input to read and the algorithms to compute.
#[derive(Clone, Debug)]
pub struct Job<T> {
    /// The input.
    pub source: Source,
    /// The algorithms to compute, in one read.
    pub algorithms: Algorithms,
    /// Any data to return with the outcome.
    pub context: T,
}

/// The input of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// No input. The job only keeps its place in the order, for example for a warning or the end of
    /// a list.
    Nothing,
    /// Standard input.
    Stdin,
    /// A file. Many regular files are read at once. Others (a FIFO, a device, a terminal) are read
    /// one after the other in the order of the jobs, without delaying regular files.
    Path(PathBuf),
    /// A file that was known to be a regular one a moment ago, for example from a
    /// [walk](crate::walk). If it is no longer a regular file, the outcome is [`Error::Changed`]
    /// and nothing is read.
    Regular(PathBuf),
    /// A part of a regular file: up to `length` bytes from `offset` on. Each part is checked for
    /// changes like a whole file. Parts of other files, and all parts with [`Io::Direct`], are
    /// [`Error::Io`].
    Extent {
        /// The file.
        path: PathBuf,
        /// The start of the part in bytes from the start of the file.
        offset: u64,
        /// The length of the part in bytes.
        length: u64,
    },
    /// The next [`CHUNK_LEN`] bytes of a regular file after a midstate. If the file continues after
    /// them, the result is [`Hashed::midstate`]. At the end of the file the result is the digests
    /// of the whole file.
    ///
    /// The file is checked for changes during the chunk. The caller must check that times, size
    /// and inode did not change between chunks. Errors:
    ///
    /// - [`Error::Io`] for algorithms without a [midstate](Midstate::exists_of), and with
    ///   [`Io::Direct`];
    /// - [`Error::Changed`] if the file ends before the chunk starts.
    Chunk {
        /// The file.
        path: PathBuf,
        /// The state before the chunk. The default is the start of the file.
        from: Box<Midstate>,
    },
}

impl Source {
    /// Returns the path of the input, if it has one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Nothing | Self::Stdin => None,
            Self::Path(path)
            | Self::Regular(path)
            | Self::Extent { path, .. }
            | Self::Chunk { path, .. } => Some(path),
        }
    }

    /// Returns the bytes to read, if they are a part of the file.
    fn part(&self) -> Option<Range<u64>> {
        match self {
            Self::Nothing | Self::Stdin | Self::Path(_) | Self::Regular(_) => None,
            Self::Extent { offset, length, .. } => Some(*offset..offset.saturating_add(*length)),
            Self::Chunk { from, .. } => Some(from.bytes()..from.bytes().saturating_add(CHUNK_LEN)),
        }
    }

    /// Returns the state before the bytes to read, for a file that is read in chunks.
    fn behind(&self) -> Option<&Midstate> {
        if let Self::Chunk { from, .. } = self { Some(from) } else { None }
    }
}

/// The outcome of a job.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome<T> {
    /// The source of the job.
    pub source: Source,
    /// The context of the job.
    pub context: T,
    /// The digests and the length, or an error.
    pub result: Result<Hashed, Error>,
}

/// The result of an input, and the metadata of a regular file when its last byte was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hashed {
    /// One for each algorithm of the job, in the order of
    /// [`Algorithm::ALL`](crate::Algorithm::ALL).
    pub digests: Digests,
    /// The number of bytes read.
    pub bytes: u64,
    /// The times of the file, unknown for other inputs than regular files. The change time is
    /// unknown for a part that needed two reads, which prove nothing about other parts.
    pub times: Times,
    /// The inode, which identifies the file under all its names. `None` for other inputs than
    /// regular files.
    pub inode: Option<Inode>,
    /// The state after a [chunk](Source::Chunk) that is not the last one of the file. There are
    /// no digests then.
    pub midstate: Option<Box<Midstate>>,
}

impl Hashed {
    /// Returns the result as a record of a file with a name.
    #[must_use]
    pub fn into_record<N: AsRef<[u8]> + ?Sized>(self, name: &N) -> Record<'_> {
        let Self { digests, bytes, times, inode, .. } = self;
        Record { size: Some(bytes), times, inode, digests, ..Record::new(name) }
    }

    /// Returns the result for a file that had this version when its last byte was read.
    fn of(self, version: &FileVersion) -> Self {
        Self { times: version.times(), inode: Some(version.inode()), ..self }
    }
}

/// The options of a run. Start from the defaults and change fields.
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
    /// The number of worker threads. The default 0 means one for each CPU that the process may use.
    ///
    /// `malloc` of glibc reserves 64 MiB of address space for each thread. Under a limit (`ulimit
    /// -v`, RLIMIT_AS) that can end the process, like any failed allocation in Rust. Use one arena
    /// then (`mallopt(M_ARENA_MAX, 1)`, `MALLOC_ARENA_MAX=1`), or fewer threads.
    pub threads: usize,
    /// Whether to report an input whose size or times change while it is read as
    /// [`Error::Changed`]. The default is true.
    pub detect_changes: bool,
    /// The method to read regular files. The default is [`Io::Read`].
    pub io: Io,
    /// The instruction set for MD5, SHA-1 and SHA-2. The default is the best one of the CPU.
    pub backend: Backend,
    /// The key for algorithms that take one. A job whose algorithm needs a key of another length is
    /// [`Error::NoKey`]. By default there is no key.
    pub key: Option<Key>,
    /// The inodes of files that the caller writes to. They are [`Error::OwnOutput`] under all their
    /// names. Empty by default.
    pub own_files: Vec<Inode>,
    /// The inodes of inputs that the caller reads itself, for example a pipe with a list. A job
    /// that leads to one of them is [`Error::Taken`] if its bytes can be read only once. Empty by
    /// default.
    pub taken: Vec<Inode>,
    /// Counters of bytes and files, to show the progress.
    pub progress: Option<Arc<Progress>>,
    /// The limit on the read rate. The default is no limit.
    pub pace: Option<Pace>,
    /// Whether to give each worker its own table of file descriptors, in which the kernel needs no
    /// locks. Two threads are then 10 % faster with many short files. Files that are open when the
    /// run starts stay open in these tables until it ends. So, for example, the other end of a pipe
    /// does not notice that it was closed. The default is false.
    pub own_descriptors: bool,
    /// The order of the outcomes. The default is that of the jobs.
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

/// The order of the outcomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// The order of the jobs. Each outcome waits for the previous ones.
    #[default]
    InOrder,
    /// The order of completion, so that no outcome waits for a long file. FIFOs and similar inputs
    /// are still read after all previous jobs are done.
    AsTheyCome,
}

impl Options {
    /// Records that the job of a source is done. It counts as a file unless the source is a part of
    /// one.
    fn count(&self, source: &Source) {
        if source.part().is_none() {
            self.count_file();
        }
    }

    /// Records that a file is done.
    pub(crate) fn count_file(&self) {
        if let Some(progress) = &self.progress {
            progress.files.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Returns the inode of an examined file.
#[must_use]
pub fn inode_of(stat: &Stat) -> Inode {
    Inode { device: stat.st_dev, number: stat.st_ino }
}

/// Returns the inode of an open file.
///
/// # Errors
/// Fails with the error of the system.
pub fn inode_of_file(file: impl AsFd) -> io::Result<Inode> {
    Ok(inode_of(&rustix::fs::fstat(file)?))
}

/// Returns the metadata of the object at a path of any length, without following a final link.
///
/// # Errors
/// Fails with the error of the system.
pub fn look_at(path: &Path) -> io::Result<Stat> {
    let within = Within::reach(path.as_os_str().as_bytes())?;
    Ok(statat(within.folder(), within.rest(), AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Returns whether any process has a regular file open or mapped for writing. Returns `None` if the
/// system does not tell. It tells only the owner of the file and processes with `CAP_LEASE`, and
/// not on every file system.
///
/// A process that opens the file for writing at that moment waits for some microseconds.
#[must_use]
pub fn has_writer(file: &OwnedFd) -> Option<bool> {
    read::lease::known_writer(file)
}

/// The progress of a run.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Progress {
    /// The number of bytes read.
    pub bytes: AtomicU64,
    /// The number of jobs with a source that are done, including failed ones.
    /// [Parts](Source::Extent) and [chunks](Source::Chunk) of files are not counted; the
    /// caller that joins them counts the file.
    pub files: AtomicU64,
    /// Whether files come from a medium that has to seek, and the places of some files are still
    /// unknown. A caller that examines these files during the run, in another order, would cause a
    /// seek for each.
    pub seeks: AtomicBool,
}

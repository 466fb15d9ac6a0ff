//! The methods to read regular files for the lanes.
//!
//! [`Io::Read`] is in `stream.rs`: a lane reads into its buffer when it is empty. The other methods
//! are here, behind two enums. A worker has a [`Reader`], and each of its lanes a [`LaneReader`].
//! Both fall back to the usual method ([`LaneReader::Read`], or `None` from [`LaneReader::next`]),
//! which costs one comparison per read.
//!
//! ```text
//! auto             trial.rs  chooses read or mmap by a trial
//! read, mmap       cold.rs   requests files that are not in the cache together
//! mmap             map.rs    maps windows of a file
//!                  fault.rs  lets truncated parts read as zeros
//! direct, uring    ahead.rs  reads pieces ahead of their use
//! uring            uring.rs  uses io_uring
//! direct           direct.rs uses O_DIRECT
//! ```
//!
//! `unsafe` is in `memory.rs`, `map.rs`, `fault.rs`, `ahead.rs` and `uring.rs`, and in `lease.rs`,
//! which detects writers.

mod ahead;
pub(super) mod cold;
mod direct;
mod fault;
pub(super) mod lease;
mod map;
mod memory;
mod trial;
mod uring;

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::ops::Range;
use std::rc::Rc;

use rustix::fd::OwnedFd;
use rustix::io::Errno;

use super::buffer::Buffer;
use super::open::FileOpener;
use super::version::FileVersion;
use super::{Options, Source};
use crate::Error;

use ahead::Ahead;
use map::{Window, Windows};
use memory::Region;
use trial::MapTrial;

/// The method to read regular files. Other inputs (a FIFO, a terminal) are always read
/// sequentially.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Io {
    /// [`Read`](Self::Read), or [`Mmap`](Self::Mmap) if a trial in the same run shows that it is
    /// faster on the device. The trial starts after 16 MiB of long files. Files that are not in the
    /// cache, sparse files, and files on network file systems are always read.
    Auto,
    /// Reads into a reused buffer of 128 KiB.
    #[default]
    Read,
    /// Maps files of more than 128 KiB, 512 KiB at a time. A file that is truncated meanwhile is
    /// [`Error::Changed`], or read again if changes are ignored. With such files the process has a
    /// handler for SIGBUS until the end of the run.
    Mmap,
    /// Bypasses the cache and leaves it unchanged, so the bytes on the medium are hashed. Files on
    /// file systems that do not support this are [`Error::NoDirect`].
    Direct,
    /// Reads the starts of many files at once by io_uring, and the rest like [`Read`](Self::Read).
    /// Without io_uring (see [`check`](Self::check)) it is the same as `Read`.
    Uring,
}

impl Io {
    /// All methods, in the order in which help lists them.
    pub const ALL: [Self; 5] = [Self::Auto, Self::Read, Self::Mmap, Self::Direct, Self::Uring];

    /// Returns the name on the command line: `auto`, `read`, `mmap`, `direct`, `uring`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Read => "read",
            Self::Mmap => "mmap",
            Self::Direct => "direct",
            Self::Uring => "uring",
        }
    }

    /// Checks whether this system supports the method.
    ///
    /// # Errors
    /// Fails if there is no io_uring: the kernel was built without it, an administrator has
    /// disabled it (sysctl `kernel.io_uring_disabled`), or a container blocks the call.
    pub fn check(self) -> io::Result<()> {
        match self {
            Self::Auto | Self::Read | Self::Mmap | Self::Direct => Ok(()),
            Self::Uring => uring::check(),
        }
    }
}

impl fmt::Display for Io {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Returns whether the system still has memory. Code that can work with less memory checks this
/// before it allocates. Other code, for example for the lines of the result, would end the process.
pub(super) fn is_memory_left() -> bool {
    const CUSHION: usize = 8 << 20;
    Region::zeros(CUSHION).is_ok()
}

/// The reader of a worker.
pub(super) enum Reader {
    Read,
    Map(Rc<Windows>),
    Ahead(ahead::ReadAhead),
}

/// A file that was opened ahead.
pub(super) struct PreOpened {
    pub(super) file: Result<OwnedFd, Error>,
    /// The buffer that its first bytes are being read to, or `None` if it is not a regular file.
    pub(super) buffer: Option<Buffer>,
}

impl Reader {
    /// Makes a reader for a worker with a number of lanes.
    ///
    /// # Errors
    /// Fails if there is no memory for direct reads.
    pub(super) fn new(options: &Options, lanes: usize) -> io::Result<Self> {
        let map = |trial| Self::Map(Rc::new(Windows::new(trial)));
        let reader = match options.io {
            Io::Auto => Some(map(Some(MapTrial::default()))),
            Io::Read => None,
            Io::Mmap => Some(map(None)),
            Io::Direct => {
                let reader = ahead::ReadAhead::direct(lanes).map(Self::Ahead)?;
                return if is_memory_left() { Ok(reader) } else { Err(Errno::NOMEM.into()) };
            }
            Io::Uring => ahead::ReadAhead::cached(lanes).map(Self::Ahead).ok(),
        };
        // A method that only improves speed is optional.
        Ok(reader.unwrap_or(Self::Read))
    }

    /// Returns the largest number of lanes.
    pub(super) fn lanes_limit(&self) -> usize {
        match self {
            Self::Read => usize::MAX,
            Self::Map(_) => map::MAX_LANES,
            Self::Ahead(reader) => reader.lanes(),
        }
    }

    /// Returns whether the first bytes of a file may be read to another place than the buffer of a
    /// lane.
    pub(super) fn reads_anywhere(&self) -> bool {
        !matches!(self, Self::Ahead(_))
    }

    /// Returns the reader of lane `index`.
    pub(super) fn lane(&self, index: usize) -> LaneReader {
        match self {
            Self::Read => LaneReader::Read,
            Self::Map(windows) => LaneReader::Map(Window::new(windows, index)),
            Self::Ahead(reader) => LaneReader::Ahead(reader.lane(index)),
        }
    }

    /// Opens the files of the next jobs and starts to read them, if that improves speed. `ask`
    /// tells whether they may have to come from a medium. The reads use the last buffers.
    pub(super) fn open<'a>(
        &self,
        sources: impl ExactSizeIterator<Item = &'a Source>,
        ask: bool,
        opener: &mut FileOpener,
        buffers: &mut Vec<Buffer>,
        pre_opened: &mut VecDeque<PreOpened>,
    ) {
        match self {
            // Not for a single file. Repeating the same call keeps the kernel code in the caches,
            // which saves 2 % for short files.
            Self::Read | Self::Map(_) if sources.len() > 1 => {
                pre_opened.extend(sources.filter_map(|source| open(source, opener, ask)));
            }
            Self::Read | Self::Map(_) => {}
            Self::Ahead(reader) => {
                pre_opened
                    .extend(sources.filter_map(|source| reader.open(source, opener, buffers)));
                reader.submit();
            }
        }
    }
}

/// Opens the file of a job, if it has one, and requests it if `ask`.
fn open(source: &Source, opener: &mut FileOpener, ask: bool) -> Option<PreOpened> {
    let path = source.path()?;
    let file = opener.open(path);
    if ask && let Ok(file) = &file {
        cold::ask_for(file);
    }
    Some(PreOpened { file: file.map_err(Error::from), buffer: None })
}

/// The reader of a lane.
pub(super) enum LaneReader {
    /// The usual method, into the buffer.
    Read,
    Map(Window),
    Ahead(Ahead),
}

/// The next bytes to hash: a range within the memory of a lane.
pub(super) struct Piece {
    pub(super) range: Range<usize>,
    /// Whether this is the last piece.
    pub(super) is_last: bool,
}

impl LaneReader {
    /// Returns the next bytes of the rest of a file or part that had this version when it was
    /// opened. Returns `None` if they must be read in the usual way. All bytes of the previous
    /// piece must be hashed.
    #[inline]
    pub(super) fn next(
        &mut self,
        file: &OwnedFd,
        left: Range<u64>,
        version: &FileVersion,
    ) -> Option<Result<Piece, Error>> {
        match self {
            Self::Read => None,
            Self::Map(window) => window.next(file, left, version).transpose(),
            Self::Ahead(ahead) => Some(ahead.next(file, left.start, version.size())),
        }
    }

    /// Returns the number of bytes to the next position where a file can be mapped.
    #[inline]
    pub(super) fn before_window(&self, position: u64) -> Option<usize> {
        match self {
            Self::Map(_) => map::before_page(position),
            Self::Read | Self::Ahead(_) => None,
        }
    }

    /// Returns whether reads go through the cache.
    pub(super) fn has_cache(&self) -> bool {
        !matches!(self, Self::Ahead(ahead) if ahead.is_direct())
    }

    /// Returns whether a trial chooses between mapping and reading. Files from a medium are never
    /// mapped by a trial, because readahead would make mapping look fast.
    pub(super) fn maps_by_trial(&self) -> bool {
        matches!(self, Self::Map(window) if window.is_by_trial())
    }

    /// Releases the file.
    #[inline]
    pub(super) fn release(&mut self) {
        match self {
            Self::Read => {}
            Self::Map(window) => window.release(),
            Self::Ahead(ahead) => ahead.release(),
        }
    }
}

//! The ways in which the bytes of regular files come to the lanes.
//!
//! [`Io::Read`] is `stream.rs` by itself: a lane reads into its buffer when it has nothing left.
//! The others stand here, behind two enums. A worker has a [`Reader`], each of its lanes a
//! [`LaneReader`], and both say "as usual" ([`LaneReader::Read`], `None` from [`LaneReader::next`])
//! wherever they have no way of their own: the usual way pays for them with one comparison a read.
//!
//! ```text
//! auto             trial.rs (read or mmap, by a trial)
//! read, mmap       cold.rs (files that are not in the cache are asked for together)
//! mmap             map.rs (windows over the file), fault.rs (what is cut off reads as zeros)
//! direct, uring    ahead.rs (pieces read ahead of their use), uring.rs (io_uring),
//!                  direct.rs (O_DIRECT)
//! ```
//!
//! `unsafe` is in `memory.rs`, `map.rs`, `fault.rs`, `ahead.rs` and `uring.rs`, and in `lease.rs`,
//! which tells of writers.

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

/// How regular files are read. What else there is (a FIFO, a terminal) is always read as it comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Io {
    /// As [`Read`](Self::Read), or as [`Mmap`](Self::Mmap) where that was measured to be faster,
    /// device by device, in the same run; the trial begins when 16 MiB of long files were read.
    /// What is not in the cache, files with holes, and those of a network's file system are read.
    Auto,
    /// Into a buffer of 128 KiB that is used again and again.
    #[default]
    Read,
    /// Files that one such read does not take whole are mapped, 512 KiB at a time. A file that is
    /// cut off meanwhile is [`Error::Changed`], or read again when changes are not to be detected.
    /// Once there are such files the process has a handler for SIGBUS as long as the run lasts.
    Mmap,
    /// Past the cache, which stays as it was: what is hashed is what the medium holds. Where a file
    /// system has no way to do that, its files are [`Error::NoDirect`].
    Direct,
    /// The beginnings of many files at once by io_uring, the rest as [`Read`](Self::Read). Where
    /// the system has none (see [`check`](Self::check)) all of it.
    Uring,
}

impl Io {
    /// Every way, in the order in which help lists them.
    pub const ALL: [Self; 5] = [Self::Auto, Self::Read, Self::Mmap, Self::Direct, Self::Uring];

    /// The name on the command line: `auto`, `read`, `mmap`, `direct`, `uring`.
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

    /// Whether this system has it.
    ///
    /// # Errors
    /// Why it has no io_uring: the kernel was built without, an administrator has switched it off
    /// (sysctl `kernel.io_uring_disabled`), or a container does not let the call through.
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

/// Whether the system would give some memory still. What can do without more asks before it takes
/// it: much else cannot, a line of the result for one, and there a refusal is the end of the
/// process.
pub(super) fn is_memory_left() -> bool {
    const CUSHION: usize = 8 << 20;
    Region::zeros(CUSHION).is_ok()
}

/// How a worker reads.
pub(super) enum Reader {
    Read,
    Map(Rc<Windows>),
    Ahead(ahead::ReadAhead),
}

/// A file that was opened before its turn.
pub(super) struct PreOpened {
    pub(super) file: Result<OwnedFd, Error>,
    /// The buffer that its first bytes are on their way to; none if it is not a regular file.
    pub(super) buffer: Option<Buffer>,
}

impl Reader {
    /// A reader for a worker with this many lanes.
    ///
    /// # Errors
    /// There is no memory to read past the cache.
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
        // What is only meant to be faster need not be.
        Ok(reader.unwrap_or(Self::Read))
    }

    /// The most lanes that it can read for.
    pub(super) fn lanes_limit(&self) -> usize {
        match self {
            Self::Read => usize::MAX,
            Self::Map(_) => map::MAX_LANES,
            Self::Ahead(reader) => reader.lanes(),
        }
    }

    /// Whether the first bytes of a file may go elsewhere than into the buffer of a lane.
    pub(super) fn reads_anywhere(&self) -> bool {
        !matches!(self, Self::Ahead(_))
    }

    /// What lane `index` reads with.
    pub(super) fn lane(&self, index: usize) -> LaneReader {
        match self {
            Self::Read => LaneReader::Read,
            Self::Map(windows) => LaneReader::Map(Window::new(windows, index)),
            Self::Ahead(reader) => LaneReader::Ahead(reader.lane(index)),
        }
    }

    /// Opens the files of jobs that are about to begin, and begins to read them, where there is
    /// something to be gained by that; `ask` says whether they may have to come from a medium. What
    /// is read takes the last of the buffers.
    pub(super) fn open<'a>(
        &self,
        sources: impl ExactSizeIterator<Item = &'a Source>,
        ask: bool,
        opener: &mut FileOpener,
        buffers: &mut Vec<Buffer>,
        pre_opened: &mut VecDeque<PreOpened>,
    ) {
        match self {
            // A single one has no company. The same call again and again finds the kernel's code in
            // the caches: 2 % of the time of short files.
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

/// Opens a job's file, if it has one, and asks for it if told so.
fn open(source: &Source, opener: &mut FileOpener, ask: bool) -> Option<PreOpened> {
    let path = source.path()?;
    let file = opener.open(path);
    if ask && let Ok(file) = &file {
        cold::ask_for(file);
    }
    Some(PreOpened { file: file.map_err(Error::from), buffer: None })
}

/// How a lane reads.
pub(super) enum LaneReader {
    /// As usual, into its buffer.
    Read,
    Map(Window),
    Ahead(Ahead),
}

/// What a lane has to hash next: a range within its memory.
pub(super) struct Piece {
    pub(super) range: Range<usize>,
    /// Whether nothing comes after it.
    pub(super) is_last: bool,
}

impl LaneReader {
    /// The next bytes of what is left of a file, or of a part of it, that had this version when it
    /// was opened; `None` when they are to be read as usual. All bytes of the piece before must be
    /// hashed.
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

    /// How many bytes there are from here to where a file can be mapped, if that is not here.
    #[inline]
    pub(super) fn before_window(&self, position: u64) -> Option<usize> {
        match self {
            Self::Map(_) => map::before_page(position),
            Self::Read | Self::Ahead(_) => None,
        }
    }

    /// Whether what it reads goes through the cache, where it may be before it is read.
    pub(super) fn has_cache(&self) -> bool {
        !matches!(self, Self::Ahead(ahead) if ahead.is_direct())
    }

    /// Whether it maps what a trial shows to be faster mapped. Files from a medium are never mapped
    /// so: readahead would make mapping look fast in a trial.
    pub(super) fn maps_by_trial(&self) -> bool {
        matches!(self, Self::Map(window) if window.is_by_trial())
    }

    /// Lets go of the file.
    #[inline]
    pub(super) fn release(&mut self) {
        match self {
            Self::Read => {}
            Self::Map(window) => window.release(),
            Self::Ahead(ahead) => ahead.release(),
        }
    }
}

//! One file in a lane: opened, read piece by piece into a buffer, and looked at again in the end.

use std::cell::Cell;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::fd::OwnedFd;
use rustix::fs::{Advice, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::hashers::Hashers;
use super::{Hashed, Progress};
use crate::{Digest, Error};

/// Files of this many bytes and more are announced to the kernel as read in sequence.
const ADVISE_FROM: u64 = 1 << 20;

/// What opening a path came to.
pub(super) enum Opened {
    /// A regular file.
    Regular(OwnedFd, Stamp),
    /// Something to be read alone: a FIFO, a device, a terminal, or with `None` standard input. It
    /// stays open, so that a writer who waits for a reader can begin.
    Other(Option<OwnedFd>),
}

/// Opens a path without waiting for anybody.
pub(super) fn open(path: &Path) -> io::Result<Opened> {
    // NONBLOCK: a FIFO without a writer opens too.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let file = rustix::io::retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))?;
    let stat = rustix::fs::fstat(&file)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(Opened::Regular(file, Stamp::of(&stat))),
        FileType::Directory => Err(Errno::ISDIR.into()),
        _ => Ok(Opened::Other(Some(file))),
    }
}

/// What shows that a file was changed: a write or truncation moves size or times, a rename or
/// removal of the file the number of links or the time of the inode's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    size: u64,
    links: u64,
    modified: (i64, u64),
    changed: (i64, u64),
    /// Blocks on the medium; pseudo files (of /proc, /sys) have none, whatever their size says.
    blocks: i64,
}

impl Stamp {
    fn of(stat: &Stat) -> Self {
        Self {
            size: stat.st_size.cast_unsigned(),
            links: stat.st_nlink,
            modified: (stat.st_mtime, stat.st_mtime_nsec),
            changed: (stat.st_ctime, stat.st_ctime_nsec),
            blocks: stat.st_blocks,
        }
    }

    /// Whether a file that had this stamp, of which so many bytes were read, has not changed.
    fn holds(&self, after: &Self, read: u64) -> bool {
        let same = Self { blocks: after.blocks, ..*self } == *after;
        same && (read == self.size || self.blocks == 0)
    }
}

/// Memory to read into, and where its data begin.
pub(super) struct Buffer {
    memory: Box<[u8]>,
    first: usize,
}

impl Buffer {
    /// The most that one read takes.
    pub(super) const CAPACITY: usize = 128 << 10;
    /// Bytes in a page; addresses a multiple of it apart share their sets of the first-level cache.
    const PAGE: usize = 4096;

    /// The buffer of lane `index`. Data begin at a cache line, at another one of the page in each
    /// lane: if they all began at the same one, the 32 lines that the kernel reads at a time would
    /// push each other out of the first-level cache. The memory is the system's untouched pages,
    /// so what no read reaches costs nothing.
    pub(super) fn new(index: usize) -> Self {
        const LINE: usize = 64;
        let memory = vec![0; Self::CAPACITY + Self::PAGE + LINE].into_boxed_slice();
        // Odd, so that 64 lanes meet 64 different lines.
        let stagger = index * 5 * LINE % Self::PAGE;
        let first = memory.as_ptr().align_offset(LINE).min(LINE) + stagger;
        Self { memory, first }
    }
}

/// What all lanes of a worker share.
pub(super) struct Shared {
    /// How much one read takes at present, at most [`Buffer::CAPACITY`].
    pub(super) read_len: Cell<usize>,
    pub(super) progress: Option<Arc<Progress>>,
}

/// A regular file, as a stream of a lane. `T` is whatever its outcome needs.
pub(super) struct FileStream<T> {
    pub(super) ticket: T,
    file: OwnedFd,
    before: Stamp,
    buffer: Buffer,
    /// The part of the buffer that is read but not consumed.
    start: usize,
    end: usize,
    /// Bytes read.
    bytes: u64,
    ended: bool,
    error: Option<Error>,
    /// The algorithms that are computed beside the lane's.
    hashers: Hashers,
    shared: Rc<Shared>,
}

impl<T> FileStream<T> {
    pub(super) fn new(
        ticket: T,
        (file, before): (OwnedFd, Stamp),
        buffer: Buffer,
        hashers: Hashers,
        shared: Rc<Shared>,
    ) -> Self {
        if before.size >= ADVISE_FROM {
            // A hint; a file system that has no use for it says so, and nothing is lost.
            let _ = rustix::fs::fadvise(&file, 0, None, Advice::Sequential);
        }
        let start = buffer.first;
        Self {
            ticket,
            file,
            before,
            buffer,
            start,
            end: start,
            bytes: 0,
            ended: false,
            error: None,
            hashers,
            shared,
        }
    }

    /// Reads all that is left for the sake of the algorithms that need no lane.
    pub(super) fn drain(&mut self) {
        while !self.ended {
            self.refill();
        }
    }

    /// Fills the buffer, or notes the end or an error.
    fn refill(&mut self) {
        let first = self.buffer.first;
        let room = self.shared.read_len.get();
        let mut filled = 0;
        while filled < room && !self.ended {
            let memory = &mut self.buffer.memory[first + filled..first + room];
            match rustix::io::retry_on_intr(|| rustix::io::read(&self.file, &mut *memory)) {
                Ok(read) => {
                    filled += read;
                    self.bytes += read as u64;
                    // A short read that comes to the size is the end: no need to ask once more.
                    let short = filled < room;
                    self.ended = read == 0 || (short && self.bytes == self.before.size);
                }
                Err(error) => {
                    self.error = Some(io::Error::from(error).into());
                    self.ended = true;
                }
            }
        }
        (self.start, self.end) = (first, first + filled);
        self.hashers.update(&self.buffer.memory[self.start..self.end]);
        if let Some(progress) = &self.shared.progress {
            progress.bytes.fetch_add(filled as u64, Ordering::Relaxed);
        }
    }

    /// The result with the lane's digest, when there was a lane; the ticket; and the buffer for the
    /// next file.
    pub(super) fn finish(
        self,
        md5: Option<Digest>,
        detect_changes: bool,
    ) -> (T, Result<Hashed, Error>, Buffer) {
        let unchanged = || -> Result<(), Error> {
            let after = Stamp::of(&rustix::fs::fstat(&self.file).map_err(io::Error::from)?);
            self.before.holds(&after, self.bytes).then_some(()).ok_or(Error::Changed)
        };
        let verdict = match self.error {
            Some(error) => Err(error),
            None if detect_changes => unchanged(),
            None => Ok(()),
        };
        let result = verdict.map(|()| {
            let mut digests: Vec<_> = md5.into_iter().collect();
            self.hashers.finalize(&mut digests);
            Hashed { digests, bytes: self.bytes }
        });
        (self.ticket, result, self.buffer)
    }
}

impl<T> lanesum_md5::Stream for FileStream<T> {
    #[inline]
    fn chunk(&mut self) -> &[u8] {
        if self.start == self.end && !self.ended {
            self.refill();
        }
        &self.buffer.memory[self.start..self.end]
    }

    #[inline]
    fn consume(&mut self, count: usize) {
        self.start += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_begin_at_different_lines_of_a_page() {
        let mut lines: Vec<_> = (0..32)
            .map(|index| {
                let buffer = Buffer::new(index);
                assert!(buffer.memory.len() - buffer.first >= Buffer::CAPACITY);
                let address = buffer.memory[buffer.first..].as_ptr().addr();
                assert_eq!(address % 64, 0);
                address % Buffer::PAGE
            })
            .collect();
        lines.sort_unstable();
        lines.dedup();
        assert!(lines.len() > 16, "{lines:?}");
    }

    #[test]
    fn a_stamp_holds_only_while_nothing_moves() {
        let stamp = Stamp { size: 5, links: 1, modified: (1, 2), changed: (3, 4), blocks: 8 };
        assert!(stamp.holds(&stamp, 5));
        assert!(stamp.holds(&Stamp { blocks: 16, ..stamp }, 5));
        assert!(!stamp.holds(&stamp, 4));
        assert!(!stamp.holds(&Stamp { size: 6, ..stamp }, 5));
        assert!(!stamp.holds(&Stamp { links: 0, ..stamp }, 5));
        assert!(!stamp.holds(&Stamp { modified: (1, 3), ..stamp }, 5));
        assert!(!stamp.holds(&Stamp { changed: (4, 4), ..stamp }, 5));
        let pseudo = Stamp { size: 4096, blocks: 0, ..stamp };
        assert!(pseudo.holds(&pseudo, 17));
    }
}

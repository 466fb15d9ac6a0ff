//! Reads pieces of files ahead: the first pieces of many files together, and in direct reads the
//! next piece while one is hashed.
//!
//! Reads through the cache read only the first piece ahead. The kernel reads the other pieces ahead
//! by itself, and requesting them by io_uring costs several times the work of waiting for them.
//!
//! A lane has memory for two pieces. It hashes one ([`Ahead::current`]) while the next piece may be
//! read into the other one. So no byte is read and written at the same time.

#![expect(unsafe_code, reason = "the kernel writes to memory while we do something else")]

use std::cell::RefCell;
use std::io;
use std::ops::Range;
use std::rc::Rc;

use rustix::fd::OwnedFd;
use rustix::fs::FileType;
use rustix::io::Errno;

use super::memory::Region;
use super::uring::Queue;
use super::{Piece, PreOpened, direct};
use crate::Error;
use crate::engine::Source;
use crate::engine::buffer::Buffer;
use crate::engine::open::FileOpener;

/// The size of a read in bytes, and the number of lanes.
#[derive(Clone, Copy)]
struct Shape {
    piece: usize,
    lanes: usize,
    is_direct: bool,
}

/// Reads ahead for the lanes of a worker.
pub(in crate::engine) struct ReadAhead {
    queue: Rc<RefCell<Queue>>,
    shape: Shape,
}

impl ReadAhead {
    /// Makes a reader through the cache.
    ///
    /// # Errors
    /// Fails if there is no io_uring.
    pub(super) fn cached(lanes: usize) -> io::Result<Self> {
        // Two pieces per lane, so half of the usual number of lanes takes the same memory.
        let shape = Shape { piece: Buffer::CAPACITY, lanes: lanes.min(32), is_direct: false };
        Ok(Self::new(shape, Queue::with_ring(shape.memory(), shape.lanes)?))
    }

    /// Makes a reader that bypasses the cache. Without io_uring a piece is read when it is needed.
    ///
    /// # Errors
    /// Fails if there is no memory.
    pub(super) fn direct(lanes: usize) -> io::Result<Self> {
        // The kernel does not read ahead here, and each read goes to the medium.
        let shape = Shape { piece: 2 * Buffer::CAPACITY, lanes: lanes.min(16), is_direct: true };
        let queue = Queue::with_ring(shape.memory(), shape.lanes)
            .or_else(|_| Queue::without_ring(shape.memory(), shape.lanes))?;
        Ok(Self::new(shape, queue))
    }

    fn new(shape: Shape, queue: Queue) -> Self {
        Self { queue: Rc::new(RefCell::new(queue)), shape }
    }

    /// Returns the number of lanes.
    pub(super) fn lanes(&self) -> usize {
        self.shape.lanes
    }

    pub(super) fn lane(&self, index: usize) -> Ahead {
        Ahead {
            queue: Rc::clone(&self.queue),
            memory: Rc::clone(self.queue.borrow().memory()),
            shape: self.shape,
            index,
            current: 0,
            under_way: None,
        }
    }

    /// Opens the file of a job, if it has one, and starts to read a regular file.
    pub(super) fn open(
        &self,
        source: &Source,
        opener: &mut FileOpener,
        buffers: &mut Vec<Buffer>,
    ) -> Option<PreOpened> {
        let (path, is_regular) = match source {
            Source::Nothing | Source::Stdin => return None,
            Source::Extent { path, .. } | Source::Chunk { path, .. } => {
                // It is read in the usual way.
                let file = opener.open(path).map_err(Error::from);
                return Some(PreOpened { file, buffer: None });
            }
            Source::Path(path) => (path, false),
            Source::Regular(path) => (path, true),
        };
        let file = match opener.open(path).map_err(Error::from) {
            Ok(file) if is_regular || is_regular_file(&file) => file,
            file => return Some(PreOpened { file, buffer: None }),
        };
        if self.shape.is_direct
            && let Err(error) = direct::set(&file)
        {
            return Some(PreOpened { file: Err(error), buffer: None });
        }
        let mut buffer = buffers.pop().expect("as many buffers as jobs may begin");
        if let super::LaneReader::Ahead(ahead) = &mut buffer.lane {
            ahead.begin(&file);
        }
        Some(PreOpened { file: Ok(file), buffer: Some(buffer) })
    }

    /// Submits the started reads.
    pub(super) fn submit(&self) {
        self.queue.borrow_mut().submit();
    }
}

impl Shape {
    /// The distance between the memories of two lanes. At equal page offsets lines would evict each
    /// other from the first-level cache (see [`Buffer`]). Direct reads must start at a block
    /// boundary.
    fn stride(self) -> usize {
        const { assert!((Buffer::SETS as u64).is_multiple_of(direct::ALIGNMENT)) }
        2 * self.piece + Buffer::SETS
    }

    fn memory(self) -> usize {
        self.lanes * self.stride()
    }

    /// Returns the place of piece 0 or 1 of a lane.
    fn range(self, lane: usize, piece: usize) -> Range<usize> {
        const ODD_LINES: usize = 5 * 64;
        let stagger = if self.is_direct { 0 } else { lane * ODD_LINES % Buffer::SETS };
        let start = lane * self.stride() + stagger + piece * self.piece;
        start..start + self.piece
    }
}

fn is_regular_file(file: &OwnedFd) -> bool {
    rustix::fs::fstat(file)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
}

/// The two pieces of a lane.
pub(in crate::engine) struct Ahead {
    queue: Rc<RefCell<Queue>>,
    memory: Rc<Region>,
    shape: Shape,
    index: usize,
    /// The piece that is hashed, 0 or 1.
    current: usize,
    /// The file offset of the read into the other piece, if any.
    under_way: Option<u64>,
}

impl Ahead {
    /// Whether reads bypass the cache.
    pub(super) fn is_direct(&self) -> bool {
        self.shape.is_direct
    }

    /// Returns the bytes of the current piece.
    #[inline]
    pub(in crate::engine) fn bytes(&self, range: Range<usize>) -> &[u8] {
        let current = self.shape.range(self.index, self.current);
        assert!(range.is_empty() || current.start <= range.start && range.end <= current.end);
        // SAFETY: a piece is completely read before it becomes the current one, and reads under way
        // go into the other piece. The current piece changes only in `next` and `begin`, which take
        // `&mut self`.
        unsafe { self.memory.bytes(range) }
    }

    /// Starts with a file. Its first piece is under way once the queue is submitted.
    fn begin(&mut self, file: &OwnedFd) {
        self.release();
        self.read_other(file, 0);
    }

    /// Like [`LaneReader::next`](super::LaneReader::next). Also submits the following piece.
    pub(in crate::engine) fn next(
        &mut self,
        file: &OwnedFd,
        position: u64,
        size: u64,
    ) -> Result<Piece, Error> {
        let from = self.aligned(position);
        let read = if self.under_way == Some(from) {
            self.under_way = None;
            self.wait(file, from, size)
        } else {
            self.release();
            self.read_now(file, from)
        };
        let read = read.map_err(|error| self.error(error))?;
        self.current ^= 1;
        // If the file does not end at a block boundary, bytes before the position are read again.
        let known = (position - from) as usize;
        let (known, read) = match read {
            // A file system that returns short reads before the end may accept any start of a read.
            read if 0 < known && read <= known => (0, self.read_unaligned(file, position)?),
            read => (known, read),
        };
        let fresh = read.saturating_sub(known);
        let end = position + fresh as u64;
        let is_short = read < self.shape.piece;
        if self.shape.is_direct && !is_short {
            self.read_other(file, end);
            self.queue.borrow_mut().submit();
        }
        let start = self.shape.range(self.index, self.current).start + known.min(read);
        let range = start..start + fresh;
        Ok(Piece { range, is_last: fresh == 0 || (is_short && end == size) })
    }

    /// Waits for reads under way and drops them.
    pub(in crate::engine) fn release(&mut self) {
        if self.under_way.take().is_some() {
            // The result is ignored.
            let _ = self.queue.borrow_mut().wait(self.index);
        }
    }

    /// Waits for the other piece, which starts at this offset.
    fn wait(&self, file: &OwnedFd, from: u64, size: u64) -> Result<usize, Errno> {
        let read = self.queue.borrow_mut().wait(self.index);
        match read {
            // On a FUSE file system with `direct_io`, Linux 6.18 reports more bytes than it has
            // read at the end of a file that is read by io_uring.
            Ok(read) if from + read as u64 > size => self.read_now(file, from),
            // Files are opened with O_NONBLOCK, so that opening a FIFO does not wait. Kernels
            // before 5.19 then return from reads without waiting.
            Err(Errno::AGAIN | Errno::INTR) => self.read_now(file, from),
            read => read,
        }
    }

    /// Reads the other piece.
    fn read_now(&self, file: &OwnedFd, from: u64) -> Result<usize, Errno> {
        let range = self.shape.range(self.index, self.current ^ 1);
        // SAFETY: as in `read_other`.
        unsafe { self.queue.borrow().read(file, from, range) }
    }

    /// Reads from any offset into the current piece, which must not be in use. Reads nothing if the
    /// file system requires alignment.
    fn read_unaligned(&self, file: &OwnedFd, position: u64) -> Result<usize, Error> {
        let range = self.shape.range(self.index, self.current);
        // SAFETY: no read is under way in this lane, and `next` has not returned bytes of the piece
        // yet.
        match unsafe { self.queue.borrow().read(file, position, range) } {
            Err(Errno::INVAL) => Ok(0),
            read => read.map_err(|error| self.error(error)),
        }
    }

    /// Returns the last allowed read offset up to this one.
    fn aligned(&self, position: u64) -> u64 {
        if self.shape.is_direct { position - position % direct::ALIGNMENT } else { position }
    }

    fn read_other(&mut self, file: &OwnedFd, from: u64) {
        let range = self.shape.range(self.index, self.current ^ 1);
        // SAFETY: no read is under way in this lane, and `bytes` returns the current piece only.
        // The queue owns the memory.
        unsafe { self.queue.borrow_mut().push(self.index, file, from, range) };
        self.under_way = Some(from);
    }

    fn error(&self, error: Errno) -> Error {
        if self.shape.is_direct { direct::of(error) } else { io::Error::from(error).into() }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// A short piece that direct reads accept.
    const PAGE: usize = direct::ALIGNMENT as usize;

    /// Returns readers with and without io_uring, through the cache and as if bypassing it.
    fn readers() -> Vec<ReadAhead> {
        let mut readers = Vec::new();
        for is_direct in [false, true] {
            let shape = Shape { piece: 2 * PAGE, lanes: 3, is_direct };
            let queue = Queue::without_ring(shape.memory(), shape.lanes).unwrap();
            readers.push(ReadAhead::new(shape, queue));
            if let Ok(queue) = Queue::with_ring(shape.memory(), shape.lanes) {
                readers.push(ReadAhead::new(shape, queue));
            }
        }
        readers
    }

    /// Reads to the end of a file from a position on.
    fn read(lane: &mut Ahead, file: &OwnedFd, mut position: usize, size: u64) -> Vec<u8> {
        let mut content = Vec::new();
        loop {
            let piece = lane.next(file, position as u64, size).unwrap();
            position += piece.range.len();
            content.extend_from_slice(lane.bytes(piece.range));
            if piece.is_last {
                return content;
            }
        }
    }

    #[test]
    fn all_bytes_arrive_in_order_for_every_length() {
        for reader in readers() {
            for length in [0, 1, PAGE, 2 * PAGE, 2 * PAGE + 1, 4 * PAGE, 7 * PAGE - 1] {
                let content: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
                let mut file = tempfile::tempfile().unwrap();
                file.write_all(&content).unwrap();
                let file = OwnedFd::from(file);
                let mut lanes = [0, 1, 2].map(|index| reader.lane(index));
                lanes.iter_mut().for_each(|lane| lane.begin(&file));
                for lane in &mut lanes {
                    assert!(read(lane, &file, 0, length as u64) == content, "{length}");
                    let rest = length / 3;
                    assert!(read(lane, &file, rest, u64::MAX) == content[rest..], "{length}");
                    lane.release();
                }
            }
        }
    }

    /// As on a FUSE file system, where reads may be short by any length.
    #[test]
    fn a_short_read_is_not_the_end() {
        let content: Vec<u8> = (0..3 * PAGE + 5).map(|i| (i % 251) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&content).unwrap();
        let file = OwnedFd::from(file);
        for reader in readers() {
            for most in [1, 1000, PAGE - 1, PAGE, PAGE + 1] {
                reader.queue.borrow_mut().most_of_a_read = most;
                let mut lane = reader.lane(2);
                assert!(read(&mut lane, &file, 0, content.len() as u64) == content, "{most}");
                lane.release();
            }
        }
    }

    #[test]
    fn appended_bytes_are_read() {
        for reader in readers() {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&[1; PAGE + 1]).unwrap();
            let other = OwnedFd::from(file.try_clone().unwrap());
            let mut lane = reader.lane(1);
            let piece = lane.next(&other, 0, PAGE as u64).unwrap();
            assert_eq!((piece.range.len(), piece.is_last), (PAGE + 1, false));
            file.write_all(&[2; 3]).unwrap();
            assert_eq!(read(&mut lane, &other, PAGE + 1, PAGE as u64), [2; 3]);
        }
    }

    #[test]
    fn a_read_error_affects_its_lane_only() {
        for reader in readers() {
            let folder = OwnedFd::from(std::fs::File::open("/").unwrap());
            let mut lane = reader.lane(0);
            assert!(lane.next(&folder, 0, 5).is_err());
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(b"abc").unwrap();
            assert_eq!(read(&mut lane, &OwnedFd::from(file), 0, 3), b"abc");
        }
    }
}

//! Memory that a lane reads into.

use std::io;
use std::ops::Range;

use rustix::fd::OwnedFd;
use rustix::io::{Errno, retry_on_intr};

use super::read::LaneReader;
use crate::Error;

/// Memory to read into, and where its data begin.
pub(super) struct Buffer {
    /// Empty before the first read: one file needs one lane's.
    memory: Box<[u8]>,
    first: usize,
    /// The number of the lane.
    index: usize,
    /// Where else the bytes may come from.
    pub(super) lane: LaneReader,
}

impl Buffer {
    /// What one read takes. The buffers of 32 lanes together leave a second-level cache of 1 MiB
    /// with this, and still it is what measures best: of 2,000 files of 1 MiB, reads of 16, 32, 64
    /// and 128 KiB take 1.25, 1.12, 1.04 and 1 times as long, since each brings the lanes to a
    /// halt.
    pub(super) const CAPACITY: usize = 128 << 10;

    /// Bytes of all sets of a first-level cache, 64 lines, whatever the size of a page: addresses a
    /// multiple of it apart share their sets.
    pub(super) const SETS: usize = 4096;

    /// The buffer of lane `index`.
    pub(super) fn new(index: usize, lane: LaneReader) -> Self {
        Self { memory: Box::default(), first: 0, index, lane }
    }

    /// Where a read puts its bytes. They begin at a cache line, at another one of the page in each
    /// lane: if they all began at the same one, the 32 lines that the kernel reads at a time would
    /// push each other out of the first-level cache. And a Zen 3 reads a quarter as fast to places
    /// 1 to 31 bytes behind the beginning of a page, among which is where `malloc` puts what is
    /// large. The memory is the system's untouched pages, so what no read reaches costs nothing.
    ///
    /// # Errors
    /// There is no memory.
    pub(super) fn room(&mut self) -> io::Result<&mut [u8]> {
        self.reserve()?;
        Ok(&mut self.memory[self.first..][..Self::CAPACITY])
    }

    /// Where the first so many bytes of the room are.
    pub(super) fn place_of(&self, length: usize) -> Range<usize> {
        self.first..self.first + length
    }

    /// Whether it needs no more memory to be read to.
    pub(super) fn is_ready(&self) -> bool {
        !self.memory.is_empty() || matches!(self.lane, LaneReader::Ahead(_))
    }

    /// Takes the memory to read into, if it has none yet.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn reserve(&mut self) -> io::Result<()> {
        const LINE: usize = 64;
        if self.memory.is_empty() {
            self.memory = zeros(Self::CAPACITY + Self::SETS + LINE)?;
            // Odd, so that 64 lanes meet 64 different lines.
            let stagger = self.index * 5 * LINE % Self::SETS;
            self.first = self.memory.as_ptr().align_offset(LINE).min(LINE) + stagger;
        }
        Ok(())
    }

    /// Bytes that are there to be hashed.
    #[inline]
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        match &self.lane {
            LaneReader::Read => &self.memory[range],
            LaneReader::Map(window) => window.bytes(&range).unwrap_or_else(|| &self.memory[range]),
            LaneReader::Ahead(ahead) => ahead.bytes(range),
        }
    }

    /// Reads the first bytes of a file, whose position stays at its beginning; gives where they
    /// are.
    pub(super) fn read_first(&mut self, file: &OwnedFd) -> Result<Range<usize>, Error> {
        if let LaneReader::Ahead(ahead) = &mut self.lane {
            return ahead.next(file, 0, u64::MAX).map(|piece| piece.range);
        }
        let room = self.room()?;
        let read =
            retry_on_intr(|| rustix::io::pread(file, &mut *room, 0)).map_err(io::Error::from)?;
        Ok(self.first..self.first + read)
    }

    /// Takes the first bytes of a file that were read elsewhere.
    ///
    /// # Errors
    /// There is no memory.
    pub(super) fn bring(&mut self, bytes: &[u8]) -> io::Result<Range<usize>> {
        self.room()?[..bytes.len()].copy_from_slice(bytes);
        Ok(self.first..self.first + bytes.len())
    }
}

/// Zeros in pages that take no memory before they are touched.
///
/// # Errors
/// The system, or a limit like that of `ulimit -v`, leaves none.
pub(super) fn zeros(length: usize) -> io::Result<Box<[u8]>> {
    bytemuck::try_zeroed_slice_box(length).map_err(|()| Errno::NOMEM.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_start_at_different_cache_lines() {
        let mut lines: Vec<_> = (0..32)
            .map(|index| {
                let mut buffer = Buffer::new(index, LaneReader::Read);
                assert_eq!(buffer.room().unwrap().len(), Buffer::CAPACITY);
                let address = buffer.room().unwrap().as_ptr().addr();
                assert_eq!(address % 64, 0);
                address % Buffer::SETS
            })
            .collect();
        lines.sort_unstable();
        lines.dedup();
        assert!(lines.len() > 16, "{lines:?}");
    }
}

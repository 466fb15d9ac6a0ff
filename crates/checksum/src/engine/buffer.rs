//! The read buffer of a lane.

use std::io;
use std::ops::Range;

use rustix::fd::OwnedFd;
use rustix::io::{Errno, retry_on_intr};

use super::read::LaneReader;
use crate::Error;

/// The memory, and the start of its data.
pub(super) struct Buffer {
    /// Empty before the first read, because a single file needs only one lane.
    memory: Box<[u8]>,
    first: usize,
    /// The number of the lane.
    index: usize,
    /// The alternative source of the bytes.
    pub(super) lane: LaneReader,
}

impl Buffer {
    /// The size of a read in bytes. The buffers of 32 lanes exceed a second-level cache of 1 MiB,
    /// but this size is the fastest one, because each read stops the lanes. For 2,000 files of 1
    /// MiB, reads of 64 KiB are 4 % slower, 32 KiB 12 %, and 16 KiB 25 %.
    pub(super) const CAPACITY: usize = 128 << 10;

    /// The number of bytes that the sets of a first-level cache cover: 64 lines. Addresses at this
    /// distance share their sets.
    pub(super) const SETS: usize = 4096;

    /// Makes the buffer of lane `index`.
    pub(super) fn new(index: usize, lane: LaneReader) -> Self {
        Self { memory: Box::default(), first: 0, index, lane }
    }

    /// Returns the memory for a read. It starts at a cache line with a different page offset in
    /// each lane. At equal offsets, the 32 lines that the kernel reads at a time would evict each
    /// other from the first-level cache. Also, Zen 3 reads at a quarter of the speed to addresses 1
    /// to 31 bytes after the start of a page, where `malloc` puts large allocations. The memory
    /// consists of untouched pages, so unused parts cost nothing.
    ///
    /// # Errors
    /// Fails if there is no memory.
    pub(super) fn room(&mut self) -> io::Result<&mut [u8]> {
        self.reserve()?;
        Ok(&mut self.memory[self.first..][..Self::CAPACITY])
    }

    /// Returns the place of the first `count` bytes of the memory for a read.
    pub(super) fn place_of(&self, length: usize) -> Range<usize> {
        self.first..self.first + length
    }

    /// Returns whether the buffer has its memory.
    pub(super) fn is_ready(&self) -> bool {
        !self.memory.is_empty() || matches!(self.lane, LaneReader::Ahead(_))
    }

    /// Allocates the memory on first use.
    ///
    /// # Errors
    /// Fails if there is no memory.
    pub(super) fn reserve(&mut self) -> io::Result<()> {
        const LINE: usize = 64;
        if self.memory.is_empty() {
            self.memory = zeros(Self::CAPACITY + Self::SETS + LINE)?;
            // Odd, so that 64 lanes start at 64 different lines.
            let stagger = self.index * 5 * LINE % Self::SETS;
            self.first = self.memory.as_ptr().align_offset(LINE).min(LINE) + stagger;
        }
        Ok(())
    }

    /// Returns the bytes to hash.
    #[inline]
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        match &self.lane {
            LaneReader::Read => &self.memory[range],
            LaneReader::Map(window) => window.bytes(&range).unwrap_or_else(|| &self.memory[range]),
            LaneReader::Ahead(ahead) => ahead.bytes(range),
        }
    }

    /// Reads the first bytes of a file without moving its position. Returns their place.
    pub(super) fn read_first(&mut self, file: &OwnedFd) -> Result<Range<usize>, Error> {
        if let LaneReader::Ahead(ahead) = &mut self.lane {
            return ahead.next(file, 0, u64::MAX).map(|piece| piece.range);
        }
        let room = self.room()?;
        let read =
            retry_on_intr(|| rustix::io::pread(file, &mut *room, 0)).map_err(io::Error::from)?;
        Ok(self.first..self.first + read)
    }

    /// Copies the first bytes of a file that were read elsewhere.
    ///
    /// # Errors
    /// Fails if there is no memory.
    pub(super) fn bring(&mut self, bytes: &[u8]) -> io::Result<Range<usize>> {
        self.room()?[..bytes.len()].copy_from_slice(bytes);
        Ok(self.first..self.first + bytes.len())
    }
}

/// Allocates zeroed pages, which take no memory before they are touched.
///
/// # Errors
/// Fails if the system or a limit such as `ulimit -v` allows no further memory.
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

//! Requests files that are not in the cache before they are read.
//!
//! Without this, each read of a batch of small files would wait for the medium separately.
//! Requested together they are read in the best order of the medium. If all files are in the cache,
//! the requests would cost 2 % in vain, so they are made only if the previous batch had to wait.

use std::cell::Cell;
use std::io::IoSliceMut;
use std::num::NonZero;
use std::ops::Range;

use nix::sys::resource::{UsageWho, getrusage};
use rustix::fd::OwnedFd;
use rustix::fs::{Advice, fadvise};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

use crate::engine::buffer::Buffer;

/// The number of reads from the medium for this thread.
#[derive(Default)]
pub(in crate::engine) struct ColdReads {
    /// In blocks, as counted by the kernel.
    blocks: Cell<i64>,
}

impl ColdReads {
    /// Returns whether this thread has caused reads from a medium since the last call.
    pub(in crate::engine) fn are_new(&self) -> bool {
        // If the kernel does not count, there are never any reads.
        let blocks = getrusage(UsageWho::RUSAGE_THREAD).map_or(0, |usage| usage.block_reads());
        self.blocks.replace(blocks) != blocks
    }
}

/// Returns whether the bytes at an offset of a file are not in the cache, if the file system can
/// tell.
pub(in crate::engine) fn is_missing(file: &OwnedFd, offset: u64) -> bool {
    let mut byte = [0];
    let flags = ReadWriteFlags::NOWAIT;
    i64::try_from(offset).is_ok()
        && preadv2(file, &mut [IoSliceMut::new(&mut byte)], offset, flags) == Err(Errno::AGAIN)
}

/// Returns whether the bytes at an offset are in the cache, or do not come from a medium (a FIFO).
/// Returns false if the file system cannot tell.
pub(in crate::engine) fn is_cached(file: &OwnedFd, offset: u64) -> bool {
    // No file has bytes at this offset. To the system the last offset means the current position of
    // the file, which advances.
    if i64::try_from(offset).is_err() {
        return true;
    }
    let mut byte = [0];
    let read = preadv2(file, &mut [IoSliceMut::new(&mut byte)], offset, ReadWriteFlags::NOWAIT);
    !matches!(read, Err(Errno::AGAIN | Errno::OPNOTSUPP))
}

/// Requests a part of a file into the cache without waiting.
pub(in crate::engine) fn ask_for_part(file: &OwnedFd, part: Range<u64>) {
    /// The largest request at a time: the size of one request to a medium.
    const STEP: u64 = 512 << 10;
    for start in part.clone().step_by(STEP as usize) {
        let length = NonZero::new(STEP.min(part.end - start));
        // As in the function below.
        let _ = fadvise(file, start, length, Advice::WillNeed);
    }
}

/// Requests the bytes of the first read of a file into the cache without waiting.
pub(super) fn ask_for(file: &OwnedFd) {
    // A file system that does not support the hint returns an error, which is ignored.
    let _ = fadvise(file, 0, NonZero::new(Buffer::CAPACITY as u64), Advice::WillNeed);
}

/// Drops a file from the cache. Returns whether it is then read from a medium, as on ext2 to ext4,
/// XFS and btrfs.
#[cfg(test)]
pub(in crate::engine) fn drop_from_cache(file: &std::fs::File) -> bool {
    const ON_A_MEDIUM: [i64; 3] = [0xef53, 0x5846_5342, 0x9123_683e];
    file.sync_all().unwrap();
    fadvise(file, 0, None, Advice::DontNeed).unwrap();
    ON_A_MEDIUM.contains(&rustix::fs::fstatfs(file).unwrap().f_type)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    #[test]
    fn a_cache_probe_keeps_the_file_position() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"abc").unwrap();
        let file = OwnedFd::from(file);
        rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(1)).unwrap();
        for offset in [0, 2, 3, i64::MAX as u64, 1 << 63, u64::MAX - 1, u64::MAX] {
            assert!(is_cached(&file, offset), "{offset}");
            assert_eq!(rustix::fs::tell(&file), Ok(1), "{offset}");
        }
    }

    #[test]
    fn a_read_from_the_medium_is_reported_once() {
        let cold_reads = ColdReads::default();
        let _ = cold_reads.are_new();
        assert!(!cold_reads.are_new());

        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"abc").unwrap();
        if !drop_from_cache(file.as_file()) {
            return;
        }
        let _ = cold_reads.are_new();
        std::fs::File::open(file.path()).unwrap().read_to_end(&mut Vec::new()).unwrap();
        assert!(cold_reads.are_new());
        assert!(!cold_reads.are_new());
    }
}

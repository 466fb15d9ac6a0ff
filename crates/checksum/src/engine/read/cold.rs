//! Files that come from the medium rather than the cache are asked for before they are read.
//!
//! Of a batch of small files each read would wait for the medium alone. Asked for together they
//! come together, in whatever order suits the medium. Where all is in the cache, it would cost 2 %
//! for nothing, so it is done only as long as the batch before had to wait.

use std::cell::Cell;
use std::io::IoSliceMut;
use std::num::NonZero;
use std::ops::Range;

use nix::sys::resource::{UsageWho, getrusage};
use rustix::fd::OwnedFd;
use rustix::fs::{Advice, fadvise};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

use crate::engine::buffer::Buffer;

/// What the medium has read for this thread.
#[derive(Default)]
pub(in crate::engine) struct ColdReads {
    /// In blocks, as the kernel counts them.
    blocks: Cell<i64>,
}

impl ColdReads {
    /// Whether the medium has read anything since this was asked last.
    pub(in crate::engine) fn are_new(&self) -> bool {
        // Where the kernel does not count, nothing is ever read.
        let blocks = getrusage(UsageWho::RUSAGE_THREAD).map_or(0, |usage| usage.block_reads());
        self.blocks.replace(blocks) != blocks
    }
}

/// Whether what a file has at an offset is not in the cache, as far as its file system can tell.
pub(in crate::engine) fn is_missing(file: &OwnedFd, offset: u64) -> bool {
    let mut byte = [0];
    let flags = ReadWriteFlags::NOWAIT;
    i64::try_from(offset).is_ok()
        && preadv2(file, &mut [IoSliceMut::new(&mut byte)], offset, flags) == Err(Errno::AGAIN)
}

/// Whether what a file has at an offset is in the cache, or comes from no medium at all (a FIFO).
/// Where the file system cannot tell, it is not.
pub(in crate::engine) fn is_cached(file: &OwnedFd, offset: u64) -> bool {
    // No file has anything there; to the system the last one means: where the file is read, and go
    // on.
    if i64::try_from(offset).is_err() {
        return true;
    }
    let mut byte = [0];
    let read = preadv2(file, &mut [IoSliceMut::new(&mut byte)], offset, ReadWriteFlags::NOWAIT);
    !matches!(read, Err(Errno::AGAIN | Errno::OPNOTSUPP))
}

/// Has a part of a file brought into the cache, without waiting for it.
pub(in crate::engine) fn ask_for_part(file: &OwnedFd, part: Range<u64>) {
    /// No more than this is taken at a time: as much as one request to a medium has.
    const STEP: u64 = 512 << 10;
    for start in part.clone().step_by(STEP as usize) {
        let length = NonZero::new(STEP.min(part.end - start));
        // As below.
        let _ = fadvise(file, start, length, Advice::WillNeed);
    }
}

/// Has what the first read of a file takes brought into the cache, without waiting for it.
pub(super) fn ask_for(file: &OwnedFd) {
    // A file system that has no use for a hint says so, and nothing is lost.
    let _ = fadvise(file, 0, NonZero::new(Buffer::CAPACITY as u64), Advice::WillNeed);
}

/// Has a file dropped from the cache; whether it is read from a medium then, as on ext2 to ext4,
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

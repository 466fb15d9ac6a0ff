//! Direct reads that bypass the cache: O_DIRECT.
//!
//! The flag requires addresses, offsets and lengths that are multiples of the block size of the
//! medium. All of them are multiples of [`ALIGNMENT`], which is enough for every medium that Linux
//! supports by default. Otherwise the read fails as invalid, and the file counts as unsupported.
//!
//! The kernel first writes modified pages of the file to the medium, and leaves cached pages in the
//! cache.

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, OFlags, StatxFlags, fcntl_getfl, fcntl_setfl, statx};
use rustix::io::Errno;

use crate::Error;

/// The alignment of addresses and offsets in bytes: a multiple of the blocks of a medium, for any
/// page size.
pub(super) const ALIGNMENT: u64 = 4096;

/// Switches an open file to direct reads.
///
/// # Errors
/// Fails with [`Error::NoDirect`] if the file system does not support direct reads of this file.
pub(super) fn set(file: &OwnedFd) -> Result<(), Error> {
    // Set after opening, because FIFOs and directories cannot be opened with the flag.
    let flags = fcntl_getfl(file).map_err(of)?;
    fcntl_setfl(file, flags | OFlags::DIRECT).map_err(of)?;
    // Some file systems accept the flag, but read some files (encrypted ones, those within their
    // inode) through the cache. From Linux 6.1 on they report this.
    match statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN) {
        Ok(stat)
            if StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::DIOALIGN)
                && stat.stx_dio_offset_align == 0 =>
        {
            Err(Error::NoDirect)
        }
        _ => Ok(()),
    }
}

/// Converts the error of a direct read.
pub(super) fn of(error: Errno) -> Error {
    match error {
        Errno::INVAL => Error::NoDirect,
        error => std::io::Error::from(error).into(),
    }
}

//! Reading past the cache: O_DIRECT.
//!
//! The flag asks for addresses, offsets and lengths that are multiples of the medium's blocks. All
//! of ours are multiples of [`ALIGNMENT`], which is one for every medium that Linux drives by
//! default; where it is not, the read fails as invalid, and the file counts as one that cannot be
//! read so.
//!
//! The kernel writes pages of the file that are not on the medium yet out before it reads, and
//! leaves those in the cache where they are.

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, OFlags, StatxFlags, fcntl_getfl, fcntl_setfl, statx};
use rustix::io::Errno;

use crate::Error;

/// What addresses and offsets are a multiple of, in bytes: a multiple of a medium's blocks,
/// whatever the size of a page.
pub(super) const ALIGNMENT: u64 = 4096;

/// Makes an open file be read past the cache.
///
/// # Errors
/// [`Error::NoDirect`] where its file system cannot do that, or does not do it for this file.
pub(super) fn set(file: &OwnedFd) -> Result<(), Error> {
    // Set now, since a FIFO or a directory could not have been opened with it.
    let flags = fcntl_getfl(file).map_err(of)?;
    fcntl_setfl(file, flags | OFlags::DIRECT).map_err(of)?;
    // Some file systems take the flag and then read some files (encrypted ones, those within their
    // inode) through the cache. They say so, from Linux 6.1 on.
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

/// The error of a file that is to be read past the cache.
pub(super) fn of(error: Errno) -> Error {
    match error {
        Errno::INVAL => Error::NoDirect,
        error => std::io::Error::from(error).into(),
    }
}

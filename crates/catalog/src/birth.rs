//! When files were made, where the file system says so.

use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxFlags};

use crate::model::nanoseconds;

/// When a file was made, in nanoseconds since 1970. On an overlay a file is made by its first
/// change, under the inode number that it had, so nothing is known there.
pub(crate) fn born(path: &Path) -> Option<i64> {
    const OVERLAY: u64 = 0x794c_7630;
    let statx = rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BTIME).ok()?;
    let is_overlay =
        || rustix::fs::statfs(path).is_ok_and(|it| it.f_type.cast_unsigned() == OVERLAY);
    let is_known = statx.stx_mask & StatxFlags::BTIME.bits() != 0 && !is_overlay();
    is_known.then(|| nanoseconds(statx.stx_btime.tv_sec, statx.stx_btime.tv_nsec.into()))
}

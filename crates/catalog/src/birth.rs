//! The creation times of files, if the file system has them.

use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxFlags};

use crate::model::nanoseconds;

/// Returns the creation time of a file in nanoseconds since 1970. On an overlay, the first change
/// of a file creates it again with the same inode number, so the time is unknown there.
pub(crate) fn born(path: &Path) -> Option<i64> {
    const OVERLAY: u64 = 0x794c_7630;
    let statx = rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BTIME).ok()?;
    let is_overlay =
        || rustix::fs::statfs(path).is_ok_and(|it| it.f_type.cast_unsigned() == OVERLAY);
    let is_known = statx.stx_mask & StatxFlags::BTIME.bits() != 0 && !is_overlay();
    is_known.then(|| nanoseconds(statx.stx_btime.tv_sec, statx.stx_btime.tv_nsec.into()))
}

//! What of a file's `stat` the catalog holds it against.

use std::path::Path;

use lanesum_checksum::engine::{Hashed, inode_of};
use lanesum_list::{Inode, Time};
use rustix::fs::{AtFlags, CWD, FileType, Stat as SystemStat, StatxFlags};

/// Size, times and number of a file, as they were when its bytes were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// In bytes.
    pub size: i64,
    /// When its content changed: nanoseconds since 1970.
    pub modified: i64,
    /// When its content, mode, owner, names or times did, which cannot be set back.
    pub changed: i64,
    /// Its number on its volume, bit for bit.
    pub inode: i64,
}

impl Stat {
    /// What the system says of a file; `None` of what is no regular one.
    pub(crate) fn of(stat: &SystemStat) -> Option<(Self, Inode)> {
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        let inode = inode_of(stat);
        is_file.then(|| {
            let stat = Self {
                size: stat.st_size,
                modified: nanoseconds(stat.st_mtime, stat.st_mtime_nsec as i64),
                changed: nanoseconds(stat.st_ctime, stat.st_ctime_nsec as i64),
                inode: inode.number.cast_signed(),
            };
            (stat, inode)
        })
    }

    /// What belongs to the bytes that were hashed. `None` where they were no regular file's.
    pub(crate) fn of_hashed(hashed: &Hashed) -> Option<Self> {
        let of_time = |time: Time| nanoseconds(time.seconds, i64::from(time.nanoseconds));
        Some(Self {
            size: hashed.bytes.cast_signed(),
            modified: of_time(hashed.times.modified?),
            changed: of_time(hashed.times.changed?),
            inode: hashed.inode?.number.cast_signed(),
        })
    }

    /// Whether a file with this stat was never looked at: a list told of it.
    pub(crate) fn is_of_list(&self) -> bool {
        self.changed == NEVER
    }

    /// Its bytes; none where they are unknown.
    pub(crate) fn bytes(&self) -> i64 {
        self.size.max(0)
    }

    /// What a list told of a file that was not there when it did, with what it left out as the file
    /// is that is there now: most lists tell whole seconds, of a time that has more.
    pub(crate) fn completed_by(&self, now: &Self) -> Self {
        if !self.is_of_list() {
            return *self;
        }
        let size = if self.size == UNKNOWN_SIZE { now.size } else { self.size };
        let is_of_now = self.modified == UNKNOWN_TIME || is_second_of(self.modified, now.modified);
        Self { size, modified: if is_of_now { now.modified } else { self.modified }, ..*self }
    }

    /// Whether it was at rest when it was hashed, at this time in seconds: a store through a
    /// mapping moves no time until its page was written back, which takes half a minute.
    pub(crate) fn is_settled_at(&self, now: i64) -> bool {
        if self.is_of_list() {
            return false;
        }
        let last = |time: i64| time.div_euclid(1_000_000_000);
        // A time of its content in the future was set by hand, and what set it moved the inode's.
        let modified = Some(last(self.modified)).filter(|modified| *modified <= now);
        let last = modified.unwrap_or(i64::MIN).max(last(self.changed));
        now.saturating_sub(last) >= REST
    }

    /// Whether nothing tells that the content may be another. A number of its own does not: a file
    /// system may give new ones at every mount.
    pub(crate) fn is_same_content(&self, other: &Self) -> bool {
        (self.size, self.modified, self.changed) == (other.size, other.modified, other.changed)
    }
}

/// When a file was made, in nanoseconds since 1970, where the system says so.
pub(crate) fn birth(path: &Path) -> Option<i64> {
    let statx = rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BTIME).ok()?;
    let is_known = statx.stx_mask & StatxFlags::BTIME.bits() != 0 && !is_made_by_copying(path);
    is_known.then(|| nanoseconds(statx.stx_btime.tv_sec, statx.stx_btime.tv_nsec.into()))
}

/// Whether a file was made after a time of another inode, so that it cannot be that one's: a number
/// is given again. Where the system does not say when it was made, false.
pub(crate) fn is_born_after(path: &Path, changed: i64) -> bool {
    birth(path).is_some_and(|birth| birth > changed)
}

/// Whether the file at a path, which looks so now, is that of a row, whatever became of it: it has
/// its number, and was made no later, since numbers are given again. Where births are not known, or
/// the row was never looked at, its size and time have to be the same, too.
pub(crate) fn is_file_of(row: &Stat, path: &Path, now: &Stat, births_are_known: bool) -> bool {
    let is_of_list = row.is_of_list();
    let has_number = if births_are_known && !is_of_list {
        row.inode == now.inode
    } else {
        number(row) == number(now)
    };
    has_number && (is_of_list || !is_born_after(path, row.changed))
}

/// What a file keeps that has another name.
pub(crate) fn number(stat: &Stat) -> (i64, i64, i64) {
    (stat.inode, stat.size, stat.modified)
}

/// Whether the file system of a folder says when its files were made.
pub(crate) fn tells_births(folder: &Path) -> bool {
    let statx = rustix::fs::statx(CWD, folder, AtFlags::empty(), StatxFlags::BTIME);
    let is_told = statx.is_ok_and(|statx| statx.stx_mask & StatxFlags::BTIME.bits() != 0);
    is_told && !is_made_by_copying(folder)
}

/// Whether a file there is made anew by its first change, under the number that it had: overlayfs
/// copies it up.
fn is_made_by_copying(path: &Path) -> bool {
    const OVERLAYFS: u64 = 0x794c_7630;
    rustix::fs::statfs(path).is_ok_and(|system| system.f_type.cast_unsigned() == OVERLAYFS)
}

/// Whether a file that has the number, size and time of one that is gone may be another all the
/// same: the number was given again, and nothing says when the file was made.
pub(crate) fn may_be_another(gone: &Stat, now: &Stat, births_are_known: bool) -> bool {
    now.changed < gone.changed || !births_are_known
}

/// Seconds without a change after which a file is at rest.
pub(crate) const REST: i64 = 60;

/// The time of an inode that was never looked at, which no inode has.
pub(crate) const NEVER: i64 = i64::MIN;

/// The size of a file that was not there when a list told of it, and not how long it is.
pub(crate) const UNKNOWN_SIZE: i64 = -1;

/// The same of the time of its content.
pub(crate) const UNKNOWN_TIME: i64 = i64::MIN;

/// Whether a time is a whole second, and another is in that.
pub(crate) fn is_second_of(second: i64, time: i64) -> bool {
    const SECOND: i64 = 1_000_000_000;
    second % SECOND == 0 && second.div_euclid(SECOND) == time.div_euclid(SECOND)
}

/// Times from 1677 to 2262 have numbers of their own. What is before or after them has one number,
/// which says no more than that.
pub(crate) fn nanoseconds(seconds: i64, nanoseconds: i64) -> i64 {
    let number = seconds.checked_mul(1_000_000_000);
    let beyond = if seconds < 0 { i64::MIN } else { i64::MAX };
    number.and_then(|number| number.checked_add(nanoseconds)).unwrap_or(beyond)
}

/// Whether a time is before 1677 or after 2262, so that nothing tells it from others that are.
pub(crate) const fn is_beyond(time: i64) -> bool {
    matches!(time, i64::MIN | i64::MAX)
}

//! The part of a file's `stat` that a record keeps.

use lanesum_checksum::engine::{Hashed, inode_of};
use lanesum_list::{Inode, Time};
use rustix::fs::{FileType, Stat as SystemStat};

/// Size, times and inode of a file when its bytes were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// The size in bytes.
    pub size: i64,
    /// The modification time, in nanoseconds since 1970.
    pub modified: i64,
    /// The change time of the inode in nanoseconds since 1970. Programs cannot set it.
    pub changed: i64,
    /// The inode number, bit for bit.
    pub inode: i64,
}

impl Stat {
    /// Returns the values of a regular file, or none for other files.
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

    /// Returns the values of the hashed bytes, or none if they are not from a regular file.
    pub(crate) fn of_hashed(hashed: &Hashed) -> Option<Self> {
        let of_time = |time: Time| nanoseconds(time.seconds, i64::from(time.nanoseconds));
        Some(Self {
            size: hashed.bytes.cast_signed(),
            modified: of_time(hashed.times.modified?),
            changed: of_time(hashed.times.changed?),
            inode: hashed.inode?.number.cast_signed(),
        })
    }

    /// Returns whether size and modification time are the same.
    pub(crate) fn is_as_recorded(&self, recorded: &Self) -> bool {
        (self.size, self.modified) == (recorded.size, recorded.modified)
    }

    /// Returns whether any write after a read that began at this time, in seconds since 1970, would
    /// have changed the modification time.
    pub(crate) fn is_settled_at(&self, began: i64) -> bool {
        nanoseconds(began, 0).abs_diff(self.modified) >= SETTLED
    }
}

/// The coarsest time stamps, those of FAT, in nanoseconds.
pub(crate) const SETTLED: u64 = 2_000_000_000;

/// Returns nanoseconds since 1970. Times before 1677 and after 2262 become the least and the
/// greatest number.
pub(crate) fn nanoseconds(seconds: i64, nanoseconds: i64) -> i64 {
    let number = seconds.checked_mul(1_000_000_000);
    let beyond = if seconds < 0 { i64::MIN } else { i64::MAX };
    number.and_then(|number| number.checked_add(nanoseconds)).unwrap_or(beyond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_settled_two_seconds_from_its_modification() {
        let at = |modified| Stat { modified, ..Stat::default() };
        let now = 1_000;
        assert!(!at(nanoseconds(now, 0)).is_settled_at(now));
        assert!(!at(nanoseconds(now - 2, 1)).is_settled_at(now));
        assert!(at(nanoseconds(now - 2, 0)).is_settled_at(now));
        assert!(!at(nanoseconds(now + 1, 0)).is_settled_at(now), "written during the run");
        assert!(at(nanoseconds(now + 86_400, 0)).is_settled_at(now), "set by hand");
        assert!(at(i64::MIN).is_settled_at(now) && at(i64::MAX).is_settled_at(now));
    }
}

//! What shows whether a file stayed as it was while it was read: its version, before and after.
//!
//! | since the look before | |
//! |---|---|
//! | nothing moved, and as many bytes were read as its size says | it stayed as it was |
//! | only the inode's time or its number of links: a chmod, a link, a rename | it is read again |
//! | its size or the time of its last change, or its last link is gone | it changed |
//!
//! What moves no version does not show: see [`lease`](super::read::lease).

use std::io;
use std::thread;
use std::time::Duration;

use lanesum_list::{Inode, Times};
use rustix::fd::OwnedFd;
use rustix::fs::Stat;

use super::inode_of;
use super::read::lease;
use crate::Error;

/// Seconds and nanoseconds since 1970. (Of the latter, systems have signed and unsigned ones.)
pub(super) type Time = (i64, i64);

/// What shows that a file was changed: a write or truncation moves size or times, a rename or
/// removal of the file the number of links or the time of the inode's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileVersion {
    inode: Inode,
    size: u64,
    links: libc::nlink_t,
    modified: Time,
    changed: Time,
    /// Blocks on the medium; pseudo files (of /proc, /sys) have none, whatever their size says.
    blocks: i64,
}

impl FileVersion {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            inode: inode_of(stat),
            size: stat.st_size.cast_unsigned(),
            links: stat.st_nlink,
            modified: (stat.st_mtime, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime, stat.st_ctime_nsec as i64),
            blocks: stat.st_blocks,
        }
    }

    /// The number of the device, as of [`Stat`].
    pub(super) fn device(&self) -> u64 {
        self.inode.device
    }

    pub(crate) fn inode(&self) -> Inode {
        self.inode
    }

    pub(crate) fn times(&self) -> Times {
        let time = |(seconds, nanoseconds): Time| {
            // There are fewer than 10^9 of them.
            let nanoseconds = u32::try_from(nanoseconds).ok()?;
            Some(lanesum_list::Time { seconds, nanoseconds })
        };
        Times { modified: time(self.modified), changed: time(self.changed) }
    }

    /// Bytes of the file.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Whether parts of it are nowhere, as far as its size on the medium tells.
    pub(super) fn has_holes(&self) -> bool {
        const BLOCK: u64 = 512;
        self.blocks.cast_unsigned() < self.size / BLOCK
    }

    /// Whether it takes room on the medium. Pseudo files take none, nor do holes.
    pub(super) fn has_blocks(&self) -> bool {
        self.blocks != 0
    }

    /// Whether the content of a file that had this version, of which so many bytes were read since,
    /// stayed as it was; false where that takes another look at the content.
    ///
    /// # Errors
    /// [`Error::Changed`], and [`Error::Length`] of a file that holds not as much as it says.
    fn holds(&self, after: &Self, read: u64, file: &OwnedFd) -> Result<bool, Error> {
        let is_gone = after.links == 0 && self.links != 0;
        let of_content = |version: &Self| (version.device(), version.size, version.modified);
        if is_gone || of_content(self) != of_content(after) {
            return Err(Error::Changed);
        }
        // What has no blocks may be a hole, or of a file system that does not count them, or be
        // made up as it is read.
        if read != self.size && (self.has_blocks() || self.size != 0 && !is_made_up(file)) {
            return Err(Error::Length { size: self.size, read });
        }
        Ok((self.links, self.changed) == (after.links, after.changed))
    }

    /// Looks at the file again, of which so many bytes were read since. Gives its version now, and
    /// whether that shows that the content stayed as it was; where somebody may be writing to it
    /// (`had_writer`: at the first look) none shows it.
    ///
    /// # Errors
    /// Those of [`holds`](Self::holds), and the system's.
    pub(super) fn look_again(
        &self,
        file: &OwnedFd,
        read: u64,
        had_writer: bool,
    ) -> Result<(Self, bool), Error> {
        let after = Self::of(&rustix::fs::fstat(file).map_err(io::Error::from)?);
        let holds = self.holds(&after, read, file)?;
        Ok((after, holds && !had_writer && !lease::has_writer(file)))
    }

    /// Waits until whatever changes the file from now on gives it another version than this.
    ///
    /// The clock stands still for some milliseconds at a time, and all that is written meanwhile
    /// has the same time. Linux 6.13 and later stamp more finely what somebody has looked at, but
    /// not on every file system.
    pub(super) fn await_clock(&self) {
        const PAUSE: Duration = Duration::from_millis(1);
        while self.is_of_this_moment(stamping_clock()) {
            thread::sleep(PAUSE);
        }
    }

    /// Whether something about the file changed so lately, in a span of seconds, that whoever did
    /// it may be at it still.
    pub(super) fn is_recent(&self, now: Time) -> bool {
        const SECONDS: i64 = 2;
        self.changed.0 >= now.0 - SECONDS
    }

    /// Whether a change at this time or later would have given another version: only then do two
    /// equal ones show that there was none. The time is by the clock that stamped the file.
    pub(super) fn tells_from(&self, now: Time) -> bool {
        match self.changed {
            // ext2, ext3 and old ext4 keep whole seconds.
            (seconds, 0) => seconds < now.0,
            changed => changed < now,
        }
    }

    /// Whether [`tells_from`](Self::tells_from) will hold in a moment: not of a time to come, from
    /// before the clock was set.
    fn is_of_this_moment(&self, now: Time) -> bool {
        // A hundredth of a second is the longest tick, and Linux 6.13 stamps up to one ahead.
        const TICK: i128 = 10_000_000;
        let nanoseconds = |(s, ns): Time| i128::from(s) * 1_000_000_000 + i128::from(ns);
        !self.tells_from(now) && nanoseconds(self.changed) <= nanoseconds(now) + TICK
    }
}

/// What the kernel stamps files with: its time of the last tick.
pub(super) fn stamping_clock() -> Time {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    (time.tv_sec, time.tv_nsec)
}

/// The number of a file's file system, as in statfs(2).
fn file_system(file: &OwnedFd) -> Option<u64> {
    rustix::fs::fstatfs(file).ok().map(|system| system.f_type.cast_unsigned())
}

/// Whether this machine's clock stamps a file.
pub(super) fn is_stamped_here(file: &OwnedFd) -> bool {
    file_system(file).is_some_and(|it| LOCAL_FILE_SYSTEMS.contains(&it))
}

/// Whether a file's content is made as it is read, so that its size says nothing.
pub(super) fn is_made_up(file: &OwnedFd) -> bool {
    file_system(file).is_some_and(|it| PSEUDO_FILE_SYSTEMS.contains(&it))
}

/// Whether a file may be mapped by whoever asks for it: not what the kernel makes up, since a file
/// of sysfs can be a device's registers, nor of hugetlbfs, whose pages are larger than a window.
pub(super) fn can_be_mapped(file: &OwnedFd) -> bool {
    const HUGETLBFS: u64 = 0x9584_58f6;
    file_system(file).is_some_and(|it| it != HUGETLBFS && !PSEUDO_FILE_SYSTEMS.contains(&it))
}

/// Whether it makes sense to map a file at all: not one that is elsewhere and may be gone, nor one
/// of ZFS, which would keep what is mapped in memory twice.
pub(super) fn may_be_mapped(file: &OwnedFd) -> bool {
    file_system(file).is_some_and(|it| it != ZFS && LOCAL_FILE_SYSTEMS.contains(&it))
}

const ZFS: u64 = 0x2fc1_2fc1;

/// File systems whose times come from this machine's clock, by their number in statfs(2). Those of
/// a network have a server's clock, and what is not listed may have anything.
const LOCAL_FILE_SYSTEMS: [u64; 9] = [
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0x0000_ef53, // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683e, // btrfs
    0xf2f5_2010, // F2FS
    ZFS,
    0xca45_1a4e, // bcachefs
    0x794c_7630, // overlayfs
];

/// File systems that show what the kernel knows. A text of sysfs has the size of a page, whatever
/// it holds.
const PSEUDO_FILE_SYSTEMS: [u64; 13] = [
    0x0000_9fa0, // proc
    0x6265_6572, // sysfs
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0x6265_6570, // configfs
    0xf97c_ff8c, // selinuxfs
    0x4341_5d53, // smackfs
    0x6165_676c, // pstore
    0xde5e_81e4, // efivarfs
    0xcafe_4a11, // bpf
];

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn version_of(changed: Time) -> FileVersion {
        FileVersion {
            inode: Inode { device: 1, number: 1 },
            size: 5,
            links: 1,
            modified: (1, 2),
            changed,
            blocks: 8,
        }
    }

    #[test]
    fn a_version_distinguishes_changes_by_clock_tick() {
        for (changed, first) in [((7, 5), (7, 6)), ((7, 999_999_999), (8, 0)), ((7, 0), (8, 0))] {
            let version = version_of(changed);
            assert!(version.tells_from(first), "{changed:?}");
            let before = if first.1 == 0 { (first.0 - 1, 999_999_999) } else { (7, first.1 - 1) };
            assert!(!version.tells_from(before), "{changed:?}");
            assert!(version.is_of_this_moment(before) && !version.is_of_this_moment(first));
        }
        // A time to come is not waited for.
        assert!(version_of((7, 10_000_000)).is_of_this_moment((7, 0)));
        assert!(!version_of((7, 10_000_001)).is_of_this_moment((7, 0)));
    }

    #[test]
    fn a_version_holds_only_without_changes() {
        let file = OwnedFd::from(tempfile::tempfile().unwrap());
        let version = version_of((3, 4));
        let holds = |after: FileVersion, read| match version.holds(&after, read, &file) {
            Ok(true) => "holds",
            Ok(false) => "look again",
            Err(Error::Changed) => "changed",
            Err(Error::Length { size: 5, .. }) => "length",
            Err(error) => panic!("{error}"),
        };
        assert_eq!(holds(version, 5), "holds");
        assert_eq!(holds(FileVersion { blocks: 16, ..version }, 5), "holds");
        assert_eq!([4, 6].map(|read| holds(version, read)), ["length"; 2]);
        for after in [
            FileVersion { size: 6, ..version },
            FileVersion { links: 0, ..version },
            FileVersion { modified: (1, 3), ..version },
            FileVersion { modified: (1, 3), changed: (4, 4), ..version },
            FileVersion { inode: Inode { device: 2, number: 1 }, ..version },
        ] {
            assert_eq!(holds(after, 5), "changed", "{after:?}");
        }
        // A chmod, a link, a rename.
        for after in [
            FileVersion { changed: (4, 4), ..version },
            FileVersion { links: 2, changed: (4, 4), ..version },
        ] {
            assert_eq!(holds(after, 5), "look again", "{after:?}");
            assert_eq!(holds(after, 4), "length", "{after:?}");
        }
    }

    #[test]
    fn a_version_proves_nothing_with_a_writer() {
        let named = tempfile::NamedTempFile::new().unwrap();
        let reader = OwnedFd::from(std::fs::File::open(named.path()).unwrap());
        let version = FileVersion::of(&rustix::fs::fstat(&reader).unwrap());
        let is_settled = |had_writer| version.look_again(&reader, 0, had_writer).unwrap().1;
        if lease::has_writer(&reader) {
            assert!(!is_settled(false));
        } else {
            // Past what the test run holds back.
            let _ = writeln!(io::stderr(), "skipped: no leases on this file system");
        }
        let _path = named.into_temp_path();
        assert_eq!([false, true].map(is_settled), [true, false]);
    }

    #[test]
    fn the_size_counts_without_blocks_except_in_proc() {
        let of = |path: &str| OwnedFd::from(std::fs::File::open(path).unwrap());
        let stored = OwnedFd::from(tempfile::tempfile().unwrap());
        let version = FileVersion { size: 4096, blocks: 0, ..version_of((3, 4)) };
        assert!(matches!(version.holds(&version, 4096, &stored), Ok(true)));
        assert!(matches!(
            version.holds(&version, 17, &stored),
            Err(Error::Length { read: 17, .. })
        ));
        assert!(matches!(version.holds(&version, 17, &of("/proc/self/stat")), Ok(true)));
        let empty = FileVersion { size: 0, ..version };
        assert!(matches!(empty.holds(&empty, 17, &stored), Ok(true)));
    }

    #[test]
    fn proc_files_are_not_mapped() {
        assert!(can_be_mapped(&OwnedFd::from(tempfile::tempfile().unwrap())));
        assert!(!can_be_mapped(&OwnedFd::from(std::fs::File::open("/proc/self/stat").unwrap())));
    }

    #[test]
    fn changes_in_the_last_seconds_are_recent() {
        let recent = [7, 8, 9, 12].map(|seconds| version_of((seconds, 1)).is_recent((10, 0)));
        assert_eq!(recent, [false, true, true, true]);
    }
}

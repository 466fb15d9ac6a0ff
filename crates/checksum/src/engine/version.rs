//! Detects changes of a file while it is read by comparing its version before and after.
//!
//! | change since the first check | result |
//! |---|---|
//! | none, and the number of bytes read is the size | the file is unchanged |
//! | only the change time or the number of links: a chmod, a link, a rename | the file is read again |
//! | the size or the modification time, or the last link was removed | the file has changed |
//!
//! For changes that do not affect the version see [`lease`](super::read::lease).

use std::io;
use std::thread;
use std::time::Duration;

use lanesum_list::{Inode, Times};
use rustix::fd::OwnedFd;
use rustix::fs::Stat;

use super::inode_of;
use super::read::lease;
use crate::Error;

/// Seconds and nanoseconds since 1970.
pub(super) type Time = (i64, i64);

/// The metadata that show a change. A write or truncation changes size or times. A rename or
/// removal changes the number of links or the change time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileVersion {
    inode: Inode,
    size: u64,
    links: libc::nlink_t,
    modified: Time,
    changed: Time,
    /// The number of blocks on the medium. Pseudo files (in /proc, /sys) have none.
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

    /// The number of the device, as in [`Stat`].
    pub(super) fn device(&self) -> u64 {
        self.inode.device
    }

    pub(crate) fn inode(&self) -> Inode {
        self.inode
    }

    pub(crate) fn times(&self) -> Times {
        let time = |(seconds, nanoseconds): Time| {
            // Nanoseconds are less than 10^9.
            let nanoseconds = u32::try_from(nanoseconds).ok()?;
            Some(lanesum_list::Time { seconds, nanoseconds })
        };
        Times { modified: time(self.modified), changed: time(self.changed) }
    }

    /// Returns the size of the file in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Returns whether the file has holes, according to its blocks.
    pub(super) fn has_holes(&self) -> bool {
        const BLOCK: u64 = 512;
        self.blocks.cast_unsigned() < self.size / BLOCK
    }

    /// Returns whether the file uses blocks on the medium. Pseudo files and holes use none.
    pub(super) fn has_blocks(&self) -> bool {
        self.blocks != 0
    }

    /// Returns whether the content of a file that had this version is unchanged after a read of
    /// `read` bytes. Returns false if the content must be read again to find out.
    ///
    /// # Errors
    /// Fails with [`Error::Changed`], or with [`Error::Length`] if the number of bytes differs from
    /// the size.
    fn holds(&self, after: &Self, read: u64, file: &OwnedFd) -> Result<bool, Error> {
        let is_gone = after.links == 0 && self.links != 0;
        let of_content = |version: &Self| (version.device(), version.size, version.modified);
        if is_gone || of_content(self) != of_content(after) {
            return Err(Error::Changed);
        }
        // A file without blocks may be a hole, on a file system without block counts, or a pseudo
        // file.
        if read != self.size && (self.has_blocks() || self.size != 0 && !is_made_up(file)) {
            return Err(Error::Length { size: self.size, read });
        }
        Ok((self.links, self.changed) == (after.links, after.changed))
    }

    /// Examines the file again after a read of `read` bytes. Returns its new version, and whether
    /// that proves that the content is unchanged. With a writer nothing proves it. `had_writer`
    /// tells whether there was one at the first check.
    ///
    /// # Errors
    /// Fails as [`holds`](Self::holds) does, or with the error of the system.
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

    /// Waits until any later change gives the file a different version.
    ///
    /// The clock of file times advances in ticks of some milliseconds, and all writes within a tick
    /// have the same time. Linux 6.13 and later use finer times for examined files, but not on
    /// every file system.
    pub(super) fn await_clock(&self) {
        const PAUSE: Duration = Duration::from_millis(1);
        while self.is_of_this_moment(stamping_clock()) {
            thread::sleep(PAUSE);
        }
    }

    /// Returns whether the file changed within the last seconds, so that the writer may still be
    /// active.
    pub(super) fn is_recent(&self, now: Time) -> bool {
        const SECONDS: i64 = 2;
        self.changed.0 >= now.0 - SECONDS
    }

    /// Returns whether a change at `now` or later would give a different version. Only then do two
    /// equal versions prove that there was no change. The time is that of the clock of the file.
    pub(super) fn distinguishes(&self, now: Time) -> bool {
        match self.changed {
            // ext2, ext3 and old ext4 store whole seconds.
            (seconds, 0) => seconds < now.0,
            changed => changed < now,
        }
    }

    /// Returns whether [`distinguishes`](Self::distinguishes) will hold in a moment. It will not
    /// for a time in the future, from before the clock was set back.
    fn is_of_this_moment(&self, now: Time) -> bool {
        // The longest tick is 10 ms, and Linux 6.13 stamps up to one tick ahead.
        const TICK: i128 = 10_000_000;
        let nanoseconds = |(s, ns): Time| i128::from(s) * 1_000_000_000 + i128::from(ns);
        !self.distinguishes(now) && nanoseconds(self.changed) <= nanoseconds(now) + TICK
    }
}

/// Returns the clock of file times: the kernel time of the last tick.
pub(super) fn stamping_clock() -> Time {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    (time.tv_sec, time.tv_nsec)
}

/// Returns the type number of the file system of a file, as in statfs(2).
fn file_system(file: &OwnedFd) -> Option<u64> {
    rustix::fs::fstatfs(file).ok().map(|system| system.f_type.cast_unsigned())
}

/// Returns whether the clock of this machine sets the times of a file.
pub(super) fn is_stamped_here(file: &OwnedFd) -> bool {
    file_system(file).is_some_and(|it| LOCAL_FILE_SYSTEMS.contains(&it))
}

/// Returns whether the content of a file is generated when it is read, so that its size is
/// meaningless.
pub(super) fn is_made_up(file: &OwnedFd) -> bool {
    file_system(file).is_some_and(|it| PSEUDO_FILE_SYSTEMS.contains(&it))
}

/// Returns whether a file may be mapped on request. Generated files may not, because a file in
/// sysfs can be registers of a device. Files in hugetlbfs may not, because its pages are larger
/// than a window.
pub(super) fn can_be_mapped(file: &OwnedFd) -> bool {
    const HUGETLBFS: u64 = 0x9584_58f6;
    file_system(file).is_some_and(|it| it != HUGETLBFS && !PSEUDO_FILE_SYSTEMS.contains(&it))
}

/// Returns whether mapping a file is useful. It is not on network file systems, where a file may
/// disappear, nor on ZFS, which keeps mapped bytes in memory twice.
pub(super) fn may_be_mapped(file: &OwnedFd) -> bool {
    file_system(file).is_some_and(|it| it != ZFS && LOCAL_FILE_SYSTEMS.contains(&it))
}

const ZFS: u64 = 0x2fc1_2fc1;

/// File systems whose times come from the clock of this machine, by type number in statfs(2).
/// Network file systems use the clock of the server, and the clock of unlisted ones is unknown.
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

/// File systems with generated files. A text in sysfs always has the size of a page.
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
            assert!(version.distinguishes(first), "{changed:?}");
            let before = if first.1 == 0 { (first.0 - 1, 999_999_999) } else { (7, first.1 - 1) };
            assert!(!version.distinguishes(before), "{changed:?}");
            assert!(version.is_of_this_moment(before) && !version.is_of_this_moment(first));
        }
        // A time in the future is not waited for.
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

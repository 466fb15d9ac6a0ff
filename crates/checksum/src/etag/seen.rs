//! The version of a file. All parts must have the same version.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use lanesum_list::{Inode, Time, Times};
use rustix::fs::{AtFlags, FileType, Stat, fstat, statat};

use crate::engine::{Hashed, inode_of};
use crate::hops::Within;

/// An examined regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) inode: Inode,
    /// The size in bytes.
    pub(crate) size: u64,
    times: Times,
}

/// The state of a file that was examined before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Since {
    /// The file is unchanged.
    Same,
    /// The content may be unchanged. Only the change time differs, as after a chmod, a link or a
    /// rename.
    Touched,
    Changed,
}

impl Seen {
    /// Examines the file at a path. Returns `None` if it is not a regular file.
    ///
    /// # Errors
    /// Fails with the error of the system.
    pub(crate) fn at(path: &Path) -> io::Result<Option<Self>> {
        let within = Within::reach(path.as_os_str().as_bytes())?;
        Ok(Self::of(&statat(within.folder(), within.rest(), AtFlags::empty())?))
    }

    /// Examines an open file.
    ///
    /// # Errors
    /// Fails with the error of the system.
    pub(super) fn of_file(file: &File) -> io::Result<Option<Self>> {
        Ok(Self::of(&fstat(file)?))
    }

    fn of(stat: &Stat) -> Option<Self> {
        let time = |seconds: i64, nanoseconds: i64| {
            Some(Time { seconds, nanoseconds: u32::try_from(nanoseconds).ok()? })
        };
        let is_regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        is_regular.then(|| Self {
            inode: inode_of(stat),
            size: stat.st_size.cast_unsigned(),
            times: Times {
                modified: time(stat.st_mtime, stat.st_mtime_nsec as i64),
                changed: time(stat.st_ctime, stat.st_ctime_nsec as i64),
            },
        })
    }

    /// Returns the current state of the file.
    pub(super) fn compare(&self, now: Option<Self>) -> Since {
        match now {
            Some(now) if now.size == self.size => self.since(now.inode, now.times),
            _ => Since::Changed,
        }
    }

    /// Returns the state of the file when a part was read. The change time of a part that needed
    /// two reads is unknown and counts as different.
    pub(super) fn compare_part(&self, part: &Hashed) -> Since {
        part.inode.map_or(Since::Changed, |inode| self.since(inode, part.times))
    }

    fn since(&self, inode: Inode, times: Times) -> Since {
        if (inode, times.modified) != (self.inode, self.times.modified) {
            Since::Changed
        } else if times.changed != self.times.changed {
            Since::Touched
        } else {
            Since::Same
        }
    }
}

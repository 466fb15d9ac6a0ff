//! What a look at a file tells of its version: all its parts have to be of one.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use lanesum_list::{Inode, Time, Times};
use rustix::fs::{AtFlags, FileType, Stat, fstat, statat};

use crate::engine::{Hashed, inode_of};
use crate::hops::Within;

/// A regular file as it was when somebody looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) inode: Inode,
    /// In bytes.
    pub(crate) size: u64,
    times: Times,
}

/// How a file is that was looked at before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Since {
    /// As it was.
    Same,
    /// Its content may be the same: only the inode's time moved, as by a chmod, a link or a rename.
    Touched,
    Changed,
}

impl Seen {
    /// Looks at what a path leads to; none of what is no regular file.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn at(path: &Path) -> io::Result<Option<Self>> {
        let within = Within::reach(path.as_os_str().as_bytes())?;
        Ok(Self::of(&statat(within.folder(), within.rest(), AtFlags::empty())?))
    }

    /// Looks at an open file.
    ///
    /// # Errors
    /// The system's.
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

    /// How the file is now.
    pub(super) fn compare(&self, now: Option<Self>) -> Since {
        match now {
            Some(now) if now.size == self.size => self.since(now.inode, now.times),
            _ => Since::Changed,
        }
    }

    /// How the file was when a part of it was read. Of one that took two readings no time of the
    /// inode is known, as if that were another.
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

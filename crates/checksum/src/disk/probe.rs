//! Finds the kind of an object below a directory, without following links or crossing mounts.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2};
use rustix::io::Errno;

use super::mounts::{Mounts, MountsError};

/// The kind of the object at a path below a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    /// A regular file, or an object that must be read to find out.
    File,
    /// Not a regular file, or a path through a link.
    Nothing,
    /// The path is or crosses a mount.
    Mounted,
}

/// Examines paths below a directory.
#[derive(Debug)]
pub struct Probe {
    root: PathBuf,
    directory: Option<OwnedFd>,
    mounts: Mounts,
}

impl Probe {
    /// Makes a probe for a directory.
    ///
    /// # Errors
    /// Fails in the same cases as [`Mounts::below`].
    pub fn of(root: &Path) -> Result<Self, MountsError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat(CWD, root, flags, Mode::empty()).ok();
        Ok(Self { root: root.to_owned(), directory, mounts: Mounts::below(root)? })
    }

    /// Returns the kind of the object at a path below the directory.
    #[must_use]
    pub fn look(&self, below: &[u8]) -> PathState {
        if self.mounts.over(below).is_some() {
            return PathState::Mounted;
        }
        let Some(directory) = &self.directory else { return PathState::File };
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let ways = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
        match openat2(directory, OsStr::from_bytes(below), flags, Mode::empty(), ways) {
            Ok(file) if !fstat(&file).is_ok_and(|it| is_regular(it.st_mode)) => PathState::Nothing,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => PathState::Nothing,
            Err(Errno::XDEV) => PathState::Mounted,
            // Old systems follow links in the path.
            Err(Errno::NOSYS | Errno::PERM) => self.look_simply(below),
            Ok(_) | Err(_) => PathState::File,
        }
    }

    fn look_simply(&self, below: &[u8]) -> PathState {
        match self.root.join(OsStr::from_bytes(below)).symlink_metadata() {
            Ok(it) if !it.is_file() => PathState::Nothing,
            Err(error) if error.kind() == io::ErrorKind::NotFound => PathState::Nothing,
            _ => PathState::File,
        }
    }
}

fn is_regular(mode: u32) -> bool {
    FileType::from_raw_mode(mode) == FileType::RegularFile
}

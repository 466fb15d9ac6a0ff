//! Opens directories by their whole path, however long it is.
//!
//! A path longer than the kernel takes is opened in hops ([`crate::hops`]). The directories hopped
//! to are kept open as anchors while the walk is below them, so that their children need no hops of
//! their own, but never more than [`MAX_ANCHORS`]: the outermost is closed first, and hopped to
//! again should the walk come back that far. So a walk holds no descriptor in an ordinary tree, and
//! a bounded number in a tree of any depth.

use std::collections::VecDeque;
use std::io;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::hops::{LONGEST_PATH, hop};

/// Directories kept open at most: they cover the innermost 128 KiB of a path.
const MAX_ANCHORS: usize = 32;

/// Opens the directories of one walk.
pub(super) struct FolderOpener {
    follow: bool,
    /// From the outermost to the innermost.
    anchors: VecDeque<Anchor>,
}

/// A directory that deeper ones are opened from.
struct Anchor {
    /// Length of its path with its slash.
    path_len: usize,
    fd: OwnedFd,
}

/// Opens a directory for reading. `follow` is about the last part of its path.
pub(super) fn folder(fd: impl AsFd, path: &[u8], follow: bool) -> Result<OwnedFd, Errno> {
    let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    // A directory that has become a link since its name was read must not lead out of the tree.
    flags.set(OFlags::NOFOLLOW, !follow);
    openat(fd, path, flags, Mode::empty())
}

impl FolderOpener {
    /// `follow` says whether a directory may be reached through a link.
    pub(super) const fn new(follow: bool) -> Self {
        Self { follow, anchors: VecDeque::new() }
    }

    /// Opens the directory at a path without trailing slash.
    pub(super) fn open(&mut self, path: &[u8]) -> io::Result<OwnedFd> {
        let mut start = self.anchors.back().map_or(0, |anchor| anchor.path_len);
        while path.len() - start > LONGEST_PATH {
            let (fd, length) = hop(self.innermost(), &path[start..])?;
            start += length;
            if self.anchors.len() == MAX_ANCHORS {
                self.anchors.pop_front();
            }
            self.anchors.push_back(Anchor { path_len: start, fd });
        }
        Ok(folder(self.innermost(), &path[start..], self.follow)?)
    }

    /// What the next directory is opened from: the innermost anchor, or the working directory.
    fn innermost(&self) -> BorrowedFd<'_> {
        self.anchors.back().map_or(CWD, |anchor| anchor.fd.as_fd())
    }

    /// The walk has come back to the directory whose path with its slash has this length.
    pub(super) fn leave(&mut self, path_len: usize) {
        while self.anchors.back().is_some_and(|anchor| anchor.path_len > path_len) {
            self.anchors.pop_back();
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::{AtFlags, fstat, mkdirat, unlinkat};

    use super::*;

    #[test]
    fn long_paths_need_few_descriptors() {
        let tree = tempfile::tempdir().unwrap();
        let name = "d".repeat(255);
        let mut path = tree.path().as_os_str().as_encoded_bytes().to_vec();
        let root_len = path.len();
        // Half as deep again as the anchors reach.
        let depth = MAX_ANCHORS * LONGEST_PATH / name.len() * 3 / 2;
        let mut fd = folder(CWD, &path, false).unwrap();
        let mut inodes = Vec::new();
        for _ in 0..depth {
            mkdirat(&fd, name.as_str(), Mode::RWXU).unwrap();
            fd = folder(&fd, name.as_bytes(), false).unwrap();
            inodes.push(fstat(&fd).unwrap().st_ino);
        }

        let mut opener = FolderOpener::new(false);
        let mut check = |level: usize, opener: &mut FolderOpener| {
            path.truncate(root_len);
            for _ in 0..=level {
                path.push(b'/');
                path.extend_from_slice(name.as_bytes());
            }
            opener.leave(path.len() - name.len());
            let opened = opener.open(&path).unwrap();
            assert_eq!(fstat(&opened).unwrap().st_ino, inodes[level], "level {level}");
            assert!(opener.anchors.len() <= MAX_ANCHORS);
        };
        for level in (0..depth).chain((0..depth).rev()) {
            check(level, &mut opener);
        }
        assert!(opener.anchors.is_empty(), "nothing is kept above the first hop");
        check(depth - 1, &mut opener);
        assert_eq!(opener.anchors.len(), MAX_ANCHORS);

        // Level by level, since removing a tree by its path takes a descriptor for each.
        for _ in 0..depth {
            fd = folder(&fd, b"..", false).unwrap();
            unlinkat(&fd, name.as_str(), AtFlags::REMOVEDIR).unwrap();
        }
    }
}

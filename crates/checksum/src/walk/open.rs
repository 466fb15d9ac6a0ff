//! Opens directories by whole paths of any length.
//!
//! A path longer than the kernel accepts is opened in several steps ([`crate::hops`]). The
//! intermediate directories stay open as anchors while the walk is below them, at most
//! [`MAX_ANCHORS`]. The outermost anchor is closed first, and opened again if the walk returns
//! there. So a walk holds no descriptor in an ordinary tree, and a bounded number in a tree of any
//! depth.

use std::collections::VecDeque;
use std::io;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::hops::{LONGEST_PATH, hop};

/// The largest number of open directories. They cover the innermost 128 KiB of a path.
const MAX_ANCHORS: usize = 32;

/// Opens the directories of one walk.
pub(super) struct FolderOpener {
    follow: bool,
    /// From the outermost to the innermost.
    anchors: VecDeque<Anchor>,
}

/// A directory from which deeper ones are opened.
struct Anchor {
    /// Length of its path with its slash.
    path_len: usize,
    fd: OwnedFd,
}

/// Opens a directory for reading. `follow` applies to the last component of its path.
pub(super) fn folder(fd: impl AsFd, path: &[u8], follow: bool) -> Result<OwnedFd, Errno> {
    let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    // A directory that was replaced by a link must not lead out of the tree.
    flags.set(OFlags::NOFOLLOW, !follow);
    openat(fd, path, flags, Mode::empty())
}

impl FolderOpener {
    /// Makes an opener. `follow` tells whether directories may be reached through links.
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

    /// Returns the directory to open the next one from: the innermost anchor or the working
    /// directory.
    fn innermost(&self) -> BorrowedFd<'_> {
        self.anchors.back().map_or(CWD, |anchor| anchor.fd.as_fd())
    }

    /// Notes that the walk returns to the directory whose path with its slash has this length.
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
        // 50 % deeper than the anchors reach.
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

        // Level by level, because removing a tree by its path needs a descriptor for each level.
        for _ in 0..depth {
            fd = folder(&fd, b"..", false).unwrap();
            unlinkat(&fd, name.as_str(), AtFlags::REMOVEDIR).unwrap();
        }
    }
}

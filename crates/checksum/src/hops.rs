//! Opens paths that are longer than the kernel accepts, in several steps.
//!
//! The kernel accepts paths of less than 4,096 bytes (`PATH_MAX`, including the final NUL). For a
//! longer path, the longest accepted prefix is opened, then the rest from there, and so on.

use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

/// The number of bytes of a path that the kernel accepts, without the NUL.
pub(crate) const LONGEST_PATH: usize = 4095;

/// Opens the farthest directory that the kernel can reach on a path that is too long. Also returns
/// the number of bytes of the path up to there, including the following slashes.
///
/// # Errors
/// Fails with the error of the system, or with `ENAMETOOLONG` if no directory can be reached.
pub(crate) fn hop(from: BorrowedFd<'_>, path: &[u8]) -> Result<(OwnedFd, usize), Errno> {
    const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    // The prefix may have the maximum length, so its slash may come one byte later.
    let reach = &path[..=LONGEST_PATH];
    let slash = reach.iter().rposition(|&byte| byte == b'/').ok_or(Errno::NAMETOOLONG)?;
    let folder = openat(from, &path[..slash.max(1)], FOLDER, Mode::empty())?;
    // A rest that starts with a slash would be looked up from the root.
    let slashes = path[slash..].iter().take_while(|&&byte| byte == b'/').count();
    Ok((folder, slash + slashes))
}

/// A path that the kernel accepts: a directory, and the rest of the path from there.
pub(crate) struct Within<'a> {
    folder: Option<OwnedFd>,
    rest: &'a [u8],
}

impl<'a> Within<'a> {
    /// # Errors
    /// Fails with the errors of the steps to the directory.
    pub(crate) fn reach(path: &'a [u8]) -> Result<Self, Errno> {
        let mut within = Self { folder: None, rest: path };
        while within.rest.len() > LONGEST_PATH {
            let (folder, length) = hop(within.folder(), within.rest)?;
            within = Self { folder: Some(folder), rest: &within.rest[length..] };
        }
        if within.folder.is_some() && within.rest.is_empty() {
            within.rest = b".";
        }
        Ok(within)
    }

    pub(crate) fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_ref().map_or(CWD, OwnedFd::as_fd)
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use rustix::fs::{fstat, mkdirat};

    use super::*;

    #[test]
    fn long_paths_are_reached_in_any_spelling() {
        let tree = tempfile::tempdir().unwrap();
        let name = "d".repeat(255);
        let folder = |from: BorrowedFd<'_>, name: &[u8]| {
            openat(from, name, OFlags::PATH, Mode::empty()).unwrap()
        };
        let root = tree.path().as_os_str().as_bytes();
        let (mut path, mut fd) = (root.to_vec(), folder(CWD, root));
        for _ in 0..40 {
            mkdirat(&fd, name.as_str(), Mode::RWXU).unwrap();
            fd = folder(fd.as_fd(), name.as_bytes());
            path.extend_from_slice(&[b"/", name.as_bytes()].concat());
        }
        let inode = fstat(&fd).unwrap().st_ino;
        // Slashes and dots shift the ends of the steps across all positions in a name.
        for more in 0..260 {
            for filler in ["/", "./"] {
                let filler = [b"/", filler.repeat(more).as_bytes()].concat();
                let path = [root, &filler, &path[root.len()..]].concat();
                let within = Within::reach(&path).unwrap();
                assert!(within.rest().len() <= LONGEST_PATH && !within.rest().starts_with(b"/"));
                let found = folder(within.folder(), within.rest());
                assert_eq!(fstat(found).unwrap().st_ino, inode, "{more}");
            }
        }
        let path = [&path[..], &b"/".repeat(LONGEST_PATH)].concat();
        assert_eq!(Within::reach(&path).unwrap().rest(), b".");
    }

    #[test]
    fn short_paths_are_kept_and_long_names_are_errors() {
        let longest = vec![b'x'; LONGEST_PATH];
        let within = Within::reach(&longest).unwrap();
        assert!(within.folder.is_none() && within.rest() == longest);
        let error = |path: &[u8]| Within::reach(path).err();
        assert_eq!(error(&[&longest[..], b"x"].concat()), Some(Errno::NAMETOOLONG));
        assert_eq!(error(&[b"/", &longest[..], b"x"].concat()), Some(Errno::NAMETOOLONG));
        assert_eq!(error(&[&longest[..], b"/x"].concat()), Some(Errno::NAMETOOLONG));
    }
}

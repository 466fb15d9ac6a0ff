//! The way to a file from its root, as a walk would go it: through no link and over no mount.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;

use crate::CatalogError;
use crate::mounts::Mounts;
use crate::rows::split;
use crate::sighting::is_gone;

/// What is at a path below a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum There {
    /// A regular file, or what only reading it tells.
    File,
    /// None: nothing, a link, a folder, a pipe; or there is a link on the way.
    Gone,
    /// Unknown: another file system is mounted at this path below the root.
    Mount(Vec<u8>),
}

/// Goes ways from a root, and stays in the folder where it was last.
pub(crate) struct Ways {
    root: PathBuf,
    mounts: Mounts,
    folder: Vec<u8>,
    last: Option<Result<OwnedFd, There>>,
}

impl Ways {
    /// # Errors
    /// As of [`Mounts::below`].
    pub(crate) fn of(root: &Path) -> Result<Self, CatalogError> {
        let mounts = Mounts::below(root)?;
        Ok(Self { root: root.to_owned(), mounts, folder: Vec::new(), last: None })
    }

    /// What is at a path below the root.
    pub(crate) fn look(&mut self, below: &[u8]) -> There {
        if let Some(mount) = self.mounts.over(below) {
            return There::Mount(mount.to_vec());
        }
        let (folder, name) = split(below);
        if self.last.is_none() || *self.folder != *folder {
            self.folder = folder.to_vec();
            self.last = Some(go(&self.root, folder));
        }
        let fd = match &self.last {
            Some(Ok(fd)) => fd,
            Some(Err(there)) => return there.clone(),
            None => return There::File,
        };
        match statat(fd, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile => {
                There::Gone
            }
            Err(Errno::NOENT) => There::Gone,
            Ok(_) | Err(_) => There::File,
        }
    }

    /// Whether nothing at all is at a path below the root: no folder either, and no link that may
    /// lead to a file.
    pub(crate) fn have_nothing_at(&mut self, below: &[u8]) -> bool {
        matches!(self.look(below), There::Gone)
            && self
                .root
                .join(OsStr::from_bytes(below))
                .symlink_metadata()
                .is_err_and(|error| is_gone(&error))
    }
}

/// Opens a folder below a root, step by step.
fn go(root: &Path, below: &[u8]) -> Result<OwnedFd, There> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    // What cannot be opened for another reason is told when the file is read.
    let failed = |error: Errno| match error {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP => There::Gone,
        _ => There::File,
    };
    let device = |fd: &OwnedFd| fstat(fd).map(|stat| stat.st_dev).map_err(failed);
    let mut fd = openat(CWD, root, flags, Mode::empty()).map_err(failed)?;
    let own = device(&fd)?;
    let mut length = 0;
    for name in below.split(|&byte| byte == b'/').filter(|name| !name.is_empty()) {
        length += name.len();
        fd = openat(&fd, OsStr::from_bytes(name), flags | OFlags::NOFOLLOW, Mode::empty())
            .map_err(failed)?;
        if device(&fd)? != own {
            return Err(There::Mount(below[..length].to_vec()));
        }
        length += 1;
    }
    Ok(fd)
}

/// Why a file is not accepted.
pub(crate) fn refusal(there: &There) -> Option<io::Error> {
    let (kind, words) = match there {
        There::File => return None,
        There::Gone => {
            (io::ErrorKind::Other, "there is no regular file, and links are not followed")
        }
        There::Mount(_) => (
            io::ErrorKind::CrossesDevices,
            "something is mounted there, which is no part of the folder",
        ),
    };
    Some(io::Error::new(kind, words))
}

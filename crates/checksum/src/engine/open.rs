//! Opens files, several files of one directory by their relative names.
//!
//! The kernel looks up each component of a path. Files usually come directory by directory, so the
//! directory is kept open from its second file on. A path longer than the kernel accepts is opened
//! in several steps each time.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::{Errno, retry_on_intr};

use crate::hops::{LONGEST_PATH, Within};

/// The flags to open files without waiting, so a FIFO without a writer opens as well.
const FILE: OFlags =
    OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOCTTY).union(OFlags::NONBLOCK);
/// The flags to also leave the access time unchanged, which only the owner of the file and root may
/// request.
const UNNOTED: OFlags = FILE.union(OFlags::NOATIME);
const FOLDER: OFlags = OFlags::PATH.union(OFlags::CLOEXEC).union(OFlags::DIRECTORY);

/// Opens files, and keeps the directory of the last one.
#[derive(Default)]
pub(super) struct FileOpener {
    /// The directory of the last file, with the slash.
    folder: Vec<u8>,
    /// Open from the second file of the directory on.
    open: Option<OwnedFd>,
    /// Whether files of other owners were found since the directory was forgotten.
    foreign: bool,
}

impl FileOpener {
    /// Forgets the directory. Later files are looked up in the then current tree.
    pub(super) fn forget(&mut self) {
        self.folder.clear();
        self.open = None;
        self.foreign = false;
    }

    /// Opens a file for reading.
    pub(super) fn open(&mut self, path: &Path) -> io::Result<OwnedFd> {
        let bytes = path.as_os_str().as_bytes();
        if bytes.len() > LONGEST_PATH {
            let within = Within::reach(bytes)?;
            let rest = OsStr::from_bytes(within.rest());
            return Ok(open_at(within.folder(), rest, &mut self.foreign)?);
        }
        let name = bytes.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
        let (folder, name) = bytes.split_at(name);
        if folder.is_empty() || name.is_empty() {
            return Ok(open_at(CWD, path.as_os_str(), &mut self.foreign)?);
        }
        if self.folder != folder {
            self.forget();
            self.folder.extend_from_slice(folder);
        } else if self.open.is_none() {
            let folder = OsStr::from_bytes(folder);
            self.open = openat(CWD, folder, FOLDER, Mode::empty()).ok();
        }
        if let Some(folder) = &self.open
            && let Ok(file) = open_at(folder.as_fd(), OsStr::from_bytes(name), &mut self.foreign)
        {
            return Ok(file);
        }
        // Also if that failed, because the directory may have been moved meanwhile.
        Ok(open_at(CWD, path.as_os_str(), &mut self.foreign)?)
    }
}

/// Opens a file for reading. Leaves the access time unchanged, unless files here were found to be
/// `foreign`.
fn open_at(folder: BorrowedFd<'_>, name: &OsStr, foreign: &mut bool) -> Result<OwnedFd, Errno> {
    if !*foreign {
        match open_soon(folder, name, UNNOTED) {
            Err(Errno::PERM) => *foreign = true,
            result => return result,
        }
    }
    open_soon(folder, name, FILE)
}

/// Opens a file without waiting, except for the holder of a lease (a Samba or NFS server). The
/// kernel asks the holder to release the lease, and revokes it after a while.
fn open_soon(folder: BorrowedFd<'_>, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let open = |flags| retry_on_intr(|| openat(folder, name, flags, Mode::empty()));
    match open(flags) {
        // A FIFO does not cause this error.
        Err(Errno::AGAIN) => open(flags.difference(OFlags::NONBLOCK)),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn read(opener: &mut FileOpener, path: &Path) -> String {
        io::read_to_string(fs::File::from(opener.open(path).unwrap())).unwrap()
    }

    #[test]
    fn the_second_file_of_a_directory_is_opened_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b, c] = ["a", "b", "sub/c"].map(|name| folder.path().join(name));
        fs::create_dir(folder.path().join("sub")).unwrap();
        for path in [&a, &b, &c] {
            fs::write(path, path.file_name().unwrap().as_bytes()).unwrap();
        }
        let mut opener = FileOpener::default();
        assert_eq!(read(&mut opener, &a), "a");
        assert!(opener.open.is_none());
        assert_eq!(read(&mut opener, &b), "b");
        assert!(opener.open.is_some());
        assert_eq!(read(&mut opener, &c), "c");
        assert!(opener.open.is_none());
        assert_eq!(read(&mut opener, &a), "a");
        assert_eq!(opener.open(&folder.path().join("d")).unwrap_err().raw_os_error(), Some(2));
    }

    #[test]
    fn a_replaced_directory_is_opened_again() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("folder");
        let (a, b) = (folder.join("a"), folder.join("b"));
        fs::create_dir(&folder).unwrap();
        fs::write(&a, "a").unwrap();
        let mut opener = FileOpener::default();
        assert_eq!(read(&mut opener, &a), "a");
        assert_eq!(read(&mut opener, &a), "a");
        fs::rename(&folder, parent.path().join("away")).unwrap();
        fs::create_dir(&folder).unwrap();
        fs::write(&b, "b").unwrap();
        assert_eq!(read(&mut opener, &b), "b");
        opener.forget();
        assert_eq!(opener.open(&a).unwrap_err().raw_os_error(), Some(2));
    }
}

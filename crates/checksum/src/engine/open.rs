//! Opens the files of a batch, those of one directory by their names in it.
//!
//! To the kernel a long path is as many look-ups as it has parts. Files come directory by
//! directory, so from the second one of a directory on the directory is open already. A path longer
//! than the kernel takes is opened in hops each time.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::{Errno, retry_on_intr};

use crate::hops::{LONGEST_PATH, Within};

/// How files are opened: without waiting for anybody, so a FIFO without a writer opens too.
const FILE: OFlags =
    OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOCTTY).union(OFlags::NONBLOCK);
/// And without a note of the access in the inode, which only the file's owner and root may ask for.
const UNNOTED: OFlags = FILE.union(OFlags::NOATIME);
const FOLDER: OFlags = OFlags::PATH.union(OFlags::CLOEXEC).union(OFlags::DIRECTORY);

/// Opens files, and remembers the directory of the last one.
#[derive(Default)]
pub(super) struct FileOpener {
    /// The last file's directory, with the slash.
    folder: Vec<u8>,
    /// Open from the second file of it on.
    open: Option<OwnedFd>,
    /// Somebody else's files were met since the directory was forgotten.
    foreign: bool,
}

impl FileOpener {
    /// Forgets the directory. What is opened later is looked up as the tree stands then.
    pub(super) fn forget(&mut self) {
        self.folder.clear();
        self.open = None;
        self.foreign = false;
    }

    /// Opens a file to be read.
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
        // Also when that failed: the directory may have been moved meanwhile.
        Ok(open_at(CWD, path.as_os_str(), &mut self.foreign)?)
    }
}

/// Opens a file to be read, without a note of the access unless files here were found `foreign`.
fn open_at(folder: BorrowedFd<'_>, name: &OsStr, foreign: &mut bool) -> Result<OwnedFd, Errno> {
    if !*foreign {
        match open_soon(folder, name, UNNOTED) {
            Err(Errno::PERM) => *foreign = true,
            result => return result,
        }
    }
    open_soon(folder, name, FILE)
}

/// Opens a file without waiting for anybody, but for the holder of a lease (a Samba or NFS server):
/// the kernel asks the holder to give it up, and takes it away after a while.
fn open_soon(folder: BorrowedFd<'_>, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let open = |flags| retry_on_intr(|| openat(folder, name, flags, Mode::empty()));
    match open(flags) {
        // No FIFO is: it opens.
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

//! The lock of a catalog: one process at a time writes, and others see which one.
//!
//! The lock is on a separate file. Closing a descriptor of the catalog itself would drop SQLite's
//! locks on it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};

use super::private::make_private;
use crate::CatalogError;

/// A lock that exists as long as this value, or the process.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// The file of the lock.
pub(crate) fn path(catalog: &Path) -> PathBuf {
    let mut name = OsString::from(catalog);
    name.push("-lock");
    name.into()
}

/// Opens or creates the lock file.
fn open(path: &Path) -> io::Result<File> {
    match make_private(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            open_there(path, OFlags::RDWR)
        }
        made => made,
    }
}

/// Opens an existing lock file. It will be written to, so it must not be a link, have other names,
/// or be any other file.
fn open_there(path: &Path, access: OFlags) -> io::Result<File> {
    let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let no_lock = || io::Error::other("not the lock file of a catalog");
    let mut file = match rustix::fs::open(path, flags, Mode::empty()) {
        Err(Errno::LOOP | Errno::ISDIR | Errno::NXIO) => return Err(no_lock()),
        opened => File::from(opened?),
    };
    let found = file.metadata()?;
    if !found.is_file() || found.nlink() != 1 {
        return Err(no_lock());
    }
    let mut words = Vec::new();
    (&mut file).take(HOLDER.len() as u64).read_to_end(&mut words)?;
    file.rewind()?;
    // On a full disk it is empty.
    if HOLDER.starts_with(&words) { Ok(file) } else { Err(no_lock()) }
}

/// Lets the catalog's owner take a lock that root created.
fn give_to_owner(file: &File, catalog: &Path) {
    if let (Ok(lock), Ok(owner)) = (file.metadata(), catalog.metadata())
        && rustix::process::geteuid().is_root()
        && lock.uid() != owner.uid()
    {
        let (user, group) = (Uid::from_raw(owner.uid()), Gid::from_raw(owner.gid()));
        // If it fails, the owner gets an error that says so.
        let _ = rustix::fs::fchown(file, Some(user), Some(group));
    }
}

/// The first bytes of a lock file that names its process.
const HOLDER: &[u8] = b"process ";

impl Lock {
    /// Returns whether a process has the lock. Takes a shared lock for a moment, for which
    /// [`take`](Self::take) waits.
    pub(crate) fn is_held(catalog: &Path) -> bool {
        let Ok(file) = open_there(&path(catalog), OFlags::RDONLY) else { return false };
        matches!(flock(&file, FlockOperation::NonBlockingLockShared), Err(Errno::WOULDBLOCK))
    }

    /// Takes the lock without waiting. Other processes see `verb` as its purpose.
    ///
    /// # Errors
    /// [`CatalogError::Locked`] with the holder, and errors of the system.
    pub(crate) fn take(catalog: &Path, verb: &str) -> Result<Self, CatalogError> {
        let path = path(catalog);
        let mut file = open(&path).map_err(CatalogError::io(&path))?;
        give_to_owner(&file, catalog);
        let mut taken = flock(&file, FlockOperation::NonBlockingLockExclusive);
        for _ in 0..3 {
            if taken != Err(Errno::WOULDBLOCK) {
                break;
            }
            // Another process may only be checking it.
            std::thread::sleep(Duration::from_millis(5));
            taken = flock(&file, FlockOperation::NonBlockingLockExclusive);
        }
        match taken {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                // The text is for people, so a truncated one is enough.
                let mut holder = String::new();
                let _ = file.take(100).read_to_string(&mut holder);
                let holder =
                    if holder.trim().is_empty() { "another process" } else { holder.trim() };
                return Err(CatalogError::Locked { holder: holder.to_owned() });
            }
            Err(error) => return Err(CatalogError::io(path)(error.into())),
        }
        let words = format!("process {} ({verb})\n", std::process::id());
        let written = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(words.as_bytes()));
        // On a full disk the lock has no text.
        drop(written);
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// The lock file is written to.
    #[test]
    fn other_files_are_not_written_to_as_locks() {
        let directory = tempfile::tempdir().unwrap();
        let (catalog, other) = (directory.path().join("catalog"), directory.path().join("other"));
        type Make<'a> = &'a dyn Fn(&Path);
        let make: [(&str, Make<'_>); 4] = [
            ("a link", &|lock| symlink(&other, lock).unwrap()),
            ("another name", &|lock| std::fs::hard_link(&other, lock).unwrap()),
            ("another file", &|lock| std::fs::write(lock, "notes").unwrap()),
            ("a directory", &|lock| std::fs::create_dir(lock).unwrap()),
        ];
        for (what, make) in make {
            std::fs::write(&other, "notes").unwrap();
            let lock = path(&catalog);
            make(&lock);
            assert!(Lock::take(&catalog, "update").is_err(), "{what}");
            assert!(!Lock::is_held(&catalog), "{what}");
            if !lock.is_dir() {
                assert_eq!(std::fs::read(&lock).unwrap(), b"notes", "{what}");
            }
            let _ = std::fs::remove_file(&lock);
            let _ = std::fs::remove_dir(&lock);
        }
        for words in ["", "process 1 (update)\n"] {
            std::fs::write(path(&catalog), words).unwrap();
            let held = Lock::take(&catalog, "update").unwrap();
            assert!(Lock::is_held(&catalog));
            drop(held);
        }
    }
}

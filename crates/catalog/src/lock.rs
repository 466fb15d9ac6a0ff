//! Who writes to a catalog: one process at a time, which is named to the others.
//!
//! The lock is on a file beside the catalog, for whoever closes a descriptor of the catalog itself
//! loses the locks that SQLite has on it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::CatalogError;
use crate::catalog::make_private;

/// A lock that holds as long as this value, or the process, lives.
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

/// The file of a lock, which is made where there is none.
fn open(path: &Path) -> io::Result<File> {
    match make_private(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            File::options().read(true).write(true).open(path)
        }
        made => made,
    }
}

impl Lock {
    /// Whether somebody has the lock. To see it takes a shared one for a moment, which
    /// [`take`](Self::take) outwaits.
    pub(crate) fn is_held(catalog: &Path) -> bool {
        let Ok(file) = File::open(path(catalog)) else { return false };
        matches!(flock(&file, FlockOperation::NonBlockingLockShared), Err(Errno::WOULDBLOCK))
    }

    /// Takes the lock for what `verb` says, without waiting.
    ///
    /// # Errors
    /// [`CatalogError::Locked`] names the holder; and the system's.
    pub(crate) fn take(catalog: &Path, verb: &str) -> Result<Self, CatalogError> {
        let path = path(catalog);
        let mut file = open(&path).map_err(CatalogError::io(&path))?;
        let mut taken = flock(&file, FlockOperation::NonBlockingLockExclusive);
        for _ in 0..3 {
            if taken != Err(Errno::WOULDBLOCK) {
                break;
            }
            // Perhaps somebody only looks whether it is held.
            std::thread::sleep(Duration::from_millis(5));
            taken = flock(&file, FlockOperation::NonBlockingLockExclusive);
        }
        match taken {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                // What it says is for people, so any of it will do.
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
        // A full disk must not keep anybody from looking: the lock holds without words.
        drop(written);
        Ok(Self { _file: file })
    }
}

//! Detects whether another process may write to a file while it is read.
//!
//! Size and times do not show every change. A long `write` changes them once, at its start. A store
//! through a shared mapping changes them only at the first write to a page since it was written
//! back, and never in a tmpfs. But the kernel grants a read lease only on a file that is not open
//! or mapped for writing. So this module requests a lease and releases it at once.
//!
//! A process that opens the file for writing between these two calls waits for the second one. With
//! O_NONBLOCK it gets an error instead. This process gets a signal that is ignored by default.
//!
//! Only the owner of the file and processes with `CAP_LEASE` may request leases, and not all file
//! systems support them.

#![expect(unsafe_code, reason = "neither rustix nor nix has leases")]

use std::ffi::c_int;

use rustix::fd::{AsRawFd as _, OwnedFd};
use rustix::io::Errno;

/// The signal for a process that opens the file. It is ignored by default, while the usual one,
/// SIGIO, ends the process.
const UNNOTICED: c_int = libc::SIGURG;

/// The command of fcntl(2) to choose that signal, the same on all Linux platforms. The crate libc
/// lacks it.
const F_SETSIG: c_int = 10;

/// Returns whether any process is known to have a file open or mapped for writing.
pub(in crate::engine) fn has_writer(file: &OwnedFd) -> bool {
    known_writer(file) == Some(true)
}

/// Returns whether any process has a file open or mapped for writing, or `None` if the system does
/// not tell.
pub(in crate::engine) fn known_writer(file: &OwnedFd) -> Option<bool> {
    fcntl(file, F_SETSIG, UNNOTICED).ok()?;
    match fcntl(file, libc::F_SETLEASE, libc::F_RDLCK) {
        Ok(()) => {
            // If it fails, closing the file releases the lease.
            let _ = fcntl(file, libc::F_SETLEASE, libc::F_UNLCK);
            Some(false)
        }
        Err(error) => (error == Errno::AGAIN).then_some(true),
    }
}

fn fcntl(file: &OwnedFd, command: c_int, argument: c_int) -> Result<(), Errno> {
    // SAFETY: the descriptor is open, and both commands take a number and access no memory.
    match unsafe { libc::fcntl(file.as_raw_fd(), command, argument) } {
        -1 => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_writer_is_detected_while_it_has_the_file_open() {
        let named = tempfile::NamedTempFile::new().unwrap();
        let reader = OwnedFd::from(File::open(named.path()).unwrap());
        if !has_writer(&reader) {
            // Past what the test run holds back.
            let _ = writeln!(std::io::stderr(), "skipped: no leases on this file system");
            return;
        }
        let path = named.into_temp_path();
        assert!(!has_writer(&reader), "the writer is gone");
        assert!(!has_writer(&reader), "asking leaves nothing behind");
        let writer = File::options().append(true).open(&path).unwrap();
        assert!(has_writer(&reader));
        drop(writer);
        assert!(!has_writer(&reader));
    }

    #[test]
    fn files_without_leases_have_no_known_writer() {
        let null = OwnedFd::from(File::open("/dev/null").unwrap());
        assert_eq!((has_writer(&null), known_writer(&null)), (false, None));
        assert!(!has_writer(&OwnedFd::from(File::open("/proc/self/stat").unwrap())));
    }
}

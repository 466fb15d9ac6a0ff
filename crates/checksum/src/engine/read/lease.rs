//! Whether somebody may be writing to a file while it is read.
//!
//! Size and times do not show every change. One long `write` moves them once, when it begins, and a
//! store through a shared mapping moves them when its page is first written to since it was last
//! written back; in a tmpfs never. But the kernel grants a read lease on a file only while it is
//! not open or mapped for writing. So a lease is asked for and given back at once, for its answer.
//!
//! Whoever opens the file for writing between these two calls waits for the second, or, having
//! asked not to wait, is told to try again. We are told by a signal that is ignored by default.
//!
//! Only the file's owner and who has `CAP_LEASE` may ask, and not of every file system.

#![expect(unsafe_code, reason = "neither rustix nor nix has leases")]

use std::ffi::c_int;

use rustix::fd::{AsRawFd as _, OwnedFd};
use rustix::io::Errno;

/// The signal that tells of somebody who opens the file: its default is to be ignored, where that
/// of the usual one, SIGIO, ends the process.
const UNNOTICED: c_int = libc::SIGURG;

/// fcntl(2)'s command to choose that signal, which the crate libc lacks: the same on all of Linux.
const F_SETSIG: c_int = 10;

/// Whether somebody, as far as the system tells, has a file open or mapped for writing.
pub(in crate::engine) fn has_writer(file: &OwnedFd) -> bool {
    known_writer(file) == Some(true)
}

/// The same, and `None` where the system does not tell.
pub(in crate::engine) fn known_writer(file: &OwnedFd) -> Option<bool> {
    fcntl(file, F_SETSIG, UNNOTICED).ok()?;
    match fcntl(file, libc::F_SETLEASE, libc::F_RDLCK) {
        Ok(()) => {
            // Should it fail, the file's end is the lease's, too.
            let _ = fcntl(file, libc::F_SETLEASE, libc::F_UNLCK);
            Some(false)
        }
        Err(error) => (error == Errno::AGAIN).then_some(true),
    }
}

fn fcntl(file: &OwnedFd, command: c_int, argument: c_int) -> Result<(), Errno> {
    // SAFETY: the descriptor is open, and both commands take a number; neither touches memory of
    // ours.
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

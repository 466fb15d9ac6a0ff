//! Reduces the cost of file descriptors, which matters for short files.
//!
//! The threads of a process share a descriptor table, so the kernel takes a lock in every call. A
//! worker can have [its own table](own_table) instead.
//!
//! The kernel assigns the lowest free descriptors, so the short files of a round have consecutive
//! ones, and one call [closes](Closing) all of them.

#![expect(
    unsafe_code,
    reason = "close_range(2) goes by numbers, which the standard library never does"
)]

use std::os::fd::{FromRawFd as _, IntoRawFd as _, OwnedFd, RawFd};

/// Gives the calling thread its own descriptor table, a copy of the shared one.
///
/// Files that other threads open later are not in it, and files that this thread opens are only in
/// this table and in those of threads that it starts.
pub(super) fn own_table() {
    // No descriptor has this number, so none is closed. Containers do not forbid this call, unlike
    // unshare(2).
    let none = libc::c_uint::MAX;
    // SAFETY: nothing is closed, and open files stay open in the copy.
    let _ = unsafe { libc::syscall(libc::SYS_close_range, none, none, libc::CLOSE_RANGE_UNSHARE) };
    // Linux before 5.9 has no such call and continues to take locks.
}

/// Files to close: open descriptors without another owner.
#[derive(Default)]
pub(super) struct Closing(Vec<RawFd>);

impl Closing {
    /// Adds files to close.
    pub(super) fn extend(&mut self, files: impl IntoIterator<Item = OwnedFd>) {
        self.0.extend(files.into_iter().map(OwnedFd::into_raw_fd));
    }

    /// Closes all files.
    pub(super) fn close(&mut self) {
        self.0.sort_unstable();
        for run in self.0.chunk_by(|file, next| file + 1 == *next) {
            let [first, .., last] = *run else {
                close_each(run);
                continue;
            };
            // SAFETY: every descriptor from the first to the last is in the run, so this value owns
            // it.
            let status = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
            if status != 0 {
                // Linux before 5.9, or the call is forbidden.
                close_each(run);
            }
        }
        self.0.clear();
    }
}

fn close_each(files: &[RawFd]) {
    for &file in files {
        // SAFETY: `extend` took it from its owner, and it is still open.
        drop(unsafe { OwnedFd::from_raw_fd(file) });
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Read as _};
    use std::os::fd::AsRawFd as _;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    /// The ends of these streams are closed, or will be: a thread of another test with its own
    /// table holds copies until it ends.
    fn assert_closed(others: &mut [UnixStream]) {
        for other in others {
            other.set_nonblocking(false).unwrap();
            other.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            assert_eq!(other.read(&mut [0]).unwrap(), 0);
        }
    }

    fn assert_open(others: &mut [UnixStream]) {
        for other in others {
            other.set_nonblocking(true).unwrap();
            assert_eq!(other.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        }
    }

    #[test]
    fn a_thread_with_its_own_table_closes_only_its_files() {
        let (ours, other) = UnixStream::pair().unwrap();
        let (number, mut others) = (ours.as_raw_fd(), [other]);
        let close = || {
            own_table();
            drop(ours);
        };
        std::thread::scope(|scope| scope.spawn(close).join().unwrap());
        assert_open(&mut others);
        // SAFETY: the copy was closed, and this one has no other owner.
        drop(unsafe { OwnedFd::from_raw_fd(number) });
        assert_closed(&mut others);
    }

    #[test]
    fn only_the_given_descriptors_are_closed() {
        let (ours, mut others): (Vec<_>, Vec<_>) =
            (0..6).map(|_| UnixStream::pair().unwrap()).unzip();
        let mut closing = Closing::default();
        let mut kept = Vec::new();
        for (index, file) in ours.into_iter().enumerate() {
            if index == 3 { kept.push(file) } else { closing.extend([file.into()]) }
        }
        closing.close();
        assert_closed(&mut others[..3]);
        assert_closed(&mut others[4..]);
        assert_open(&mut others[3..4]);
        drop(closing);
        assert_open(&mut others[3..4]);
        drop(kept);
        assert_closed(&mut others);
    }

    #[test]
    fn consecutive_descriptors_are_closed() {
        let (ours, mut others): (Vec<_>, Vec<_>) =
            (0..40).map(|_| UnixStream::pair().unwrap()).unzip();
        // Copies get the lowest free numbers, mostly consecutive ones.
        let copies: Vec<OwnedFd> =
            ours.iter().map(|file| file.try_clone().unwrap().into()).collect();
        drop(ours);
        let mut closing = Closing::default();
        closing.extend(copies.into_iter().rev());
        assert_open(&mut others);
        drop(closing);
        assert_closed(&mut others);
    }
}

//! The signal that a run is to end before its jobs.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::{Errno, retry_on_intr};

/// Whether a run is stopped. Long reads check it between pieces. Waits for an input also wait for
/// this.
#[derive(Debug, Default)]
pub(super) struct Stop {
    is_set: AtomicBool,
    /// A descriptor that becomes readable. `None` if the system refuses one, and then waits do not
    /// end.
    signal: Option<OwnedFd>,
}

impl Stop {
    /// Makes a stop that also ends waits for inputs. It opens a descriptor, so it must be made
    /// before threads have their own descriptor tables.
    pub(super) fn with_signal() -> Self {
        Self { is_set: AtomicBool::new(false), signal: eventfd(0, EventfdFlags::CLOEXEC).ok() }
    }

    pub(super) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self) {
        self.is_set.store(true, Ordering::Relaxed);
        if let Some(signal) = &self.signal {
            // It is full if it was set before.
            let _ = rustix::io::write(signal, &1_u64.to_ne_bytes());
        }
    }

    /// Waits until there is input or its end.
    ///
    /// # Errors
    /// Fails with the error of the system, or with [`Errno::CANCELED`] once the stop is set.
    pub(super) fn wait_for(&self, file: BorrowedFd<'_>) -> Result<(), Errno> {
        let readable = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
        match &self.signal {
            None => retry_on_intr(|| poll(&mut [readable(file)], None))?,
            Some(signal) => {
                retry_on_intr(|| poll(&mut [readable(file), readable(signal.as_fd())], None))?
            }
        };
        if self.is_set() { Err(Errno::CANCELED) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_wakes_a_wait_for_input() {
        let stop = Stop::with_signal();
        let (reader, writer) = std::io::pipe().unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| stop.wait_for(reader.as_fd()));
            stop.set();
            assert_eq!(waiting.join().unwrap(), Err(Errno::CANCELED));
        });
        assert_eq!(stop.wait_for(reader.as_fd()), Err(Errno::CANCELED));
        let unset = Stop::with_signal();
        drop(writer);
        assert_eq!(unset.wait_for(reader.as_fd()), Ok(()), "the end");
    }
}

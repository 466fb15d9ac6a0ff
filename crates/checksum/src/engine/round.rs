//! The shared state of the lanes of a worker: the number of bytes read, and the start of the round
//! of files.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::fd::OwnedFd;

use super::descriptors::Closing;
use super::stop::Stop;
use super::version::{self, FileVersion, Time, stamping_clock};
use super::{Pace, Progress};

/// The shared state of the lanes of a worker.
pub(super) struct LaneShared {
    pub(super) stop: Arc<Stop>,
    progress: Option<Arc<Progress>>,
    pace: Option<Pace>,
    /// The number of bytes that the worker has read.
    pub(super) bytes: Cell<u64>,
    /// The time that the worker has waited for cold files.
    pub(super) waited: Cell<Duration>,
    /// A time before any file of this round was opened, by the clock of file times.
    pub(super) now: Cell<Time>,
    /// The last examined device, and whether the clock of this machine sets its file times.
    clock: Cell<Option<(u64, bool)>>,
    /// The files that are being read.
    pub(super) closing: RefCell<Closing>,
}

impl LaneShared {
    pub(super) fn new(
        stop: &Arc<Stop>,
        progress: Option<Arc<Progress>>,
        pace: Option<Pace>,
    ) -> Self {
        Self {
            stop: Arc::clone(stop),
            progress,
            pace,
            bytes: Cell::default(),
            waited: Cell::default(),
            now: Cell::default(),
            clock: Cell::default(),
            closing: RefCell::default(),
        }
    }

    /// Records bytes read from a file, and waits until more may be read.
    pub(super) fn count(&self, read: usize) {
        self.bytes.set(self.bytes.get() + read as u64);
        if let Some(progress) = &self.progress {
            progress.bytes.fetch_add(read as u64, Ordering::Relaxed);
        }
        self.pay(read);
    }

    /// Waits until more than these bytes may be read.
    pub(super) fn pay(&self, read: usize) {
        if let Some(pace) = &self.pace {
            pace.take(read as u64, &self.stop);
        }
    }

    /// Records the time that the worker has waited for a medium.
    pub(super) fn note_wait(&self, waited: Duration) {
        self.waited.set(self.waited.get() + waited);
    }

    /// Reads the clock of file times.
    pub(super) fn look_at_clock(&self) {
        self.now.set(stamping_clock());
    }

    /// Returns whether a file of this version has certainly not changed since [`now`](Self::now):
    /// its last change was before, by the same clock.
    pub(super) fn is_settled(&self, version: &FileVersion, file: &OwnedFd) -> bool {
        version.distinguishes(self.now.get()) && self.is_stamped_here(version.device(), file)
    }

    /// Waits until any later change gives the file a different version, if the clock of this
    /// machine sets its times.
    pub(super) fn await_clock(&self, version: &FileVersion, file: &OwnedFd) {
        if self.is_stamped_here(version.device(), file) {
            version.await_clock();
        }
    }

    pub(super) fn is_stamped_here(&self, device: u64, file: &OwnedFd) -> bool {
        match self.clock.get() {
            Some((known, answer)) if known == device => answer,
            _ => {
                let answer = version::is_stamped_here(file);
                self.clock.set(Some((device, answer)));
                answer
            }
        }
    }
}

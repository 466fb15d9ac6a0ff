//! What all lanes of a worker share: what they have read, and what they know of this round of
//! files.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::fd::OwnedFd;

use super::descriptors::Closing;
use super::stop::Stop;
use super::version::{self, FileVersion, Time, stamping_clock};
use super::{Pace, Progress};

/// What all lanes of a worker share.
pub(super) struct LaneShared {
    pub(super) stop: Arc<Stop>,
    progress: Option<Arc<Progress>>,
    pace: Option<Pace>,
    /// Bytes that the worker has read.
    pub(super) bytes: Cell<u64>,
    /// For how long the worker has waited for cold files.
    pub(super) waited: Cell<Duration>,
    /// A time before any file of this round was opened, by the clock that stamps files.
    pub(super) now: Cell<Time>,
    /// The device looked at last, and whether this machine's clock stamps its files.
    clock: Cell<Option<(u64, bool)>>,
    /// Files that are read.
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

    /// Notes that bytes of a file were read, and waits until others may be.
    pub(super) fn count(&self, read: usize) {
        self.bytes.set(self.bytes.get() + read as u64);
        if let Some(progress) = &self.progress {
            progress.bytes.fetch_add(read as u64, Ordering::Relaxed);
        }
        self.pay(read);
    }

    /// Waits until more may be read than this.
    pub(super) fn pay(&self, read: usize) {
        if let Some(pace) = &self.pace {
            pace.take(read as u64, &self.stop);
        }
    }

    /// Notes for how long the worker has waited for a medium.
    pub(super) fn note_wait(&self, waited: Duration) {
        self.waited.set(self.waited.get() + waited);
    }

    /// Takes the time of the clock that stamps files.
    pub(super) fn look_at_clock(&self) {
        self.now.set(stamping_clock());
    }

    /// Whether a file of this version certainly did not change since [`now`](Self::now): its last
    /// change lies before, and was stamped by the same clock.
    pub(super) fn is_settled(&self, version: &FileVersion, file: &OwnedFd) -> bool {
        version.tells_from(self.now.get()) && self.is_stamped_here(version.device(), file)
    }

    /// Waits until whatever changes the file from now on gives it another version than this, if
    /// this machine's clock does.
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

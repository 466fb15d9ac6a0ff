//! A record that is read, and the limits of a run.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use crate::store::rows::File;

/// A record whose file is read, with the index of its root in the pass.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) at: usize,
    pub(crate) file: File,
    /// The index of the root and the path that it moved to.
    pub(crate) to: Option<(usize, Vec<u8>)>,
}

impl Row {
    /// Returns the place of the file: the index of its root, and its path below the root.
    pub(crate) fn place(&self) -> (usize, Vec<u8>) {
        self.to.clone().unwrap_or_else(|| (self.at, self.file.path()))
    }
}

/// The limits of a run.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    until: Option<Instant>,
    /// The remaining bytes.
    bytes: Option<AtomicI64>,
    is_reached: AtomicBool,
}

impl Limits {
    pub(crate) fn new(time: Option<Duration>, bytes: Option<u64>) -> Self {
        let until = time.and_then(|time| Instant::now().checked_add(time));
        let bytes = bytes.map(|bytes| AtomicI64::new(bytes.try_into().unwrap_or(i64::MAX)));
        Self { until, bytes, is_reached: AtomicBool::new(false) }
    }

    /// Returns whether time is up.
    pub(crate) fn is_late(&self) -> bool {
        let is_late = self.until.is_some_and(|until| Instant::now() >= until);
        self.is_reached.fetch_or(is_late, Ordering::Relaxed);
        is_late
    }

    /// Returns whether the bytes suffice for a file of this size. The first file is always read,
    /// because a file larger than the limit would otherwise never be read.
    pub(crate) fn allow(&self, size: i64) -> bool {
        let is_allowed = !self.is_late()
            && self.bytes.as_ref().is_none_or(|left| left.fetch_sub(size, Ordering::Relaxed) > 0);
        self.is_reached.fetch_or(!is_allowed, Ordering::Relaxed);
        is_allowed
    }

    /// Returns whether something was not done.
    pub(crate) fn is_reached(&self) -> bool {
        self.is_reached.load(Ordering::Relaxed)
    }
}

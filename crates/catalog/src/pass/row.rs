//! A record that is read, and how much a run may read.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use crate::store::rows::File;

/// A record whose file is read, by the place of its root in the pass.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) at: usize,
    pub(crate) file: File,
    /// The place of the root and the path that it moved to.
    pub(crate) to: Option<(usize, Vec<u8>)>,
}

impl Row {
    /// Where the file is: the place of its root, and its path below that.
    pub(crate) fn place(&self) -> (usize, Vec<u8>) {
        self.to.clone().unwrap_or_else(|| (self.at, self.file.path()))
    }
}

/// How much a run may read.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    until: Option<Instant>,
    /// Bytes that may still be read.
    bytes: Option<AtomicI64>,
    is_reached: AtomicBool,
}

impl Limits {
    pub(crate) fn new(time: Option<Duration>, bytes: Option<u64>) -> Self {
        let until = time.and_then(|time| Instant::now().checked_add(time));
        let bytes = bytes.map(|bytes| AtomicI64::new(bytes.try_into().unwrap_or(i64::MAX)));
        Self { until, bytes, is_reached: AtomicBool::new(false) }
    }

    /// Whether time is up.
    pub(crate) fn is_late(&self) -> bool {
        let is_late = self.until.is_some_and(|until| Instant::now() >= until);
        self.is_reached.fetch_or(is_late, Ordering::Relaxed);
        is_late
    }

    /// Whether a file of this size may still be read. The first one may, or a file larger than the
    /// limit would never be.
    pub(crate) fn allow(&self, size: i64) -> bool {
        let is_allowed = !self.is_late()
            && self.bytes.as_ref().is_none_or(|left| left.fetch_sub(size, Ordering::Relaxed) > 0);
        self.is_reached.fetch_or(!is_allowed, Ordering::Relaxed);
        is_allowed
    }

    /// Whether something was left undone.
    pub(crate) fn is_reached(&self) -> bool {
        self.is_reached.load(Ordering::Relaxed)
    }
}

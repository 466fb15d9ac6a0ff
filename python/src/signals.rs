//! Checks for ctrl-C in long loops.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// The time between checks, because ctrl-C must end the work within 0.2 s.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// The number of items between two looks at the clock, which costs as much as some items. Each
/// `BYTES` bytes count as one item.
const ITEMS: usize = 256;
const BYTES: usize = 1 << 12;

/// Counts the iterations of a loop, and checks for signals from time to time.
pub(crate) struct Turns {
    looked: Instant,
    count: usize,
}

impl Turns {
    pub(crate) fn new() -> Self {
        Self { looked: Instant::now(), count: 0 }
    }

    /// Counts one iteration, which handled this number of bytes.
    ///
    /// # Errors
    /// An exception of a signal handler.
    #[inline]
    pub(crate) fn turn(&mut self, bytes: usize) -> PyResult<()> {
        self.count += 1 + bytes / BYTES;
        if self.count < ITEMS { Ok(()) } else { self.look() }
    }

    #[cold]
    fn look(&mut self) -> PyResult<()> {
        self.count = 0;
        if self.looked.elapsed() < LOOK {
            return Ok(());
        }
        self.looked = Instant::now();
        Python::attach(|py| py.check_signals())
    }
}

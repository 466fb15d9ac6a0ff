//! Whether somebody has pressed ctrl-C, asked in loops that take long.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// How long the interpreter is left alone: ctrl-C must end the work within 0.2 s.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// Items of a loop between two looks at the clock, which costs as much as some of them; so many
/// bytes are as good as one more.
const ITEMS: usize = 256;
const BYTES: usize = 1 << 12;

/// Counts the turns of a loop, and looks at the interpreter now and then.
pub(crate) struct Turns {
    looked: Instant,
    count: usize,
}

impl Turns {
    pub(crate) fn new() -> Self {
        Self { looked: Instant::now(), count: 0 }
    }

    /// One more turn, which dealt with so many bytes.
    ///
    /// # Errors
    /// What a handler of signals raises.
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

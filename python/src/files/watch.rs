//! Work that Python waits for without the interpreter's lock, and may end.
//!
//! The engine works in threads of its own. The caller's thread takes what comes of it, and looks
//! at the interpreter every [`LOOK`]: whether a signal's handler raises, as ctrl-C's does, and
//! whether somebody wants to know how far it is. An exception ends the work: whoever drops a run of
//! the engine stops it.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use lanesum_checksum::check::{Check, Event, List};
use lanesum_checksum::engine::{self, Progress, Run};
use lanesum_checksum::etag::{self, Etags};
use pyo3::prelude::*;

use crate::signals::LOOK;

/// Looks at the interpreter.
pub(crate) struct Watch {
    progress: Arc<Progress>,
    callback: Option<Py<PyAny>>,
    told: Option<(u64, u64)>,
}

impl Watch {
    /// Calls `callback`, if there is one, with bytes and files.
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Self {
        Self { progress: Arc::default(), callback, told: None }
    }

    /// What goes up as the engine reads.
    pub(crate) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// # Errors
    /// What a handler of signals or the callback raises.
    pub(crate) fn look(&mut self, py: Python<'_>) -> PyResult<()> {
        py.check_signals()?;
        let Some(callback) = &self.callback else { return Ok(()) };
        let now = (self.progress.bytes.load(Relaxed), self.progress.files.load(Relaxed));
        if self.told != Some(now) {
            self.told = Some(now);
            callback.call1(py, now)?;
        }
        Ok(())
    }

    /// Takes all that comes of some work.
    ///
    /// # Errors
    /// As [`look`](Self::look), and those of `take`, which end it.
    pub(crate) fn wait<W: Work>(
        &mut self,
        py: Python<'_>,
        mut work: W,
        mut take: impl FnMut(W::Item) -> PyResult<()> + Send,
    ) -> PyResult<()> {
        let watched = self.watch(py, &mut work, &mut take);
        // Its threads end first, which may take a moment, and need nothing of the interpreter.
        py.detach(|| drop(work));
        watched
    }

    fn watch<W: Work>(
        &mut self,
        py: Python<'_>,
        work: &mut W,
        take: &mut (impl FnMut(W::Item) -> PyResult<()> + Send),
    ) -> PyResult<()> {
        loop {
            let is_at_end = py.detach(|| {
                let begin = Instant::now();
                loop {
                    let left = LOOK.saturating_sub(begin.elapsed());
                    match work.next_within(left) {
                        Some(item) => take(item)?,
                        None if work.is_at_end() => return Ok::<_, PyErr>(true),
                        None => {}
                    }
                    if begin.elapsed() >= LOOK {
                        return Ok(false);
                    }
                }
            })?;
            self.look(py)?;
            if is_at_end {
                return Ok(());
            }
        }
    }
}

/// What gives items as it goes on. To drop it ends it.
pub(crate) trait Work: Send {
    type Item;

    /// The next item if it comes within this time; none at the end.
    fn next_within(&mut self, patience: Duration) -> Option<Self::Item>;

    fn is_at_end(&self) -> bool;
}

impl<T: Send + 'static> Work for Run<T> {
    type Item = engine::Outcome<T>;

    fn next_within(&mut self, patience: Duration) -> Option<Self::Item> {
        Run::next_within(self, patience)
    }

    fn is_at_end(&self) -> bool {
        Run::is_at_end(self)
    }
}

impl<T: Send + 'static> Work for Etags<T> {
    type Item = etag::Outcome<T>;

    fn next_within(&mut self, patience: Duration) -> Option<Self::Item> {
        Etags::next_within(self, patience)
    }

    fn is_at_end(&self) -> bool {
        Etags::is_at_end(self)
    }
}

/// A check of lists, each of which tells its end.
pub(crate) struct Lists<L: Iterator<Item = List>> {
    pub(crate) check: Check<L>,
    /// How many have not ended.
    pub(crate) left: usize,
}

impl<L: Iterator<Item = List> + Send + 'static> Work for Lists<L> {
    type Item = (Arc<List>, Event);

    fn next_within(&mut self, patience: Duration) -> Option<Self::Item> {
        let item = self.check.next_within(patience)?;
        self.left -= usize::from(matches!(item.1, Event::End { .. }));
        Some(item)
    }

    fn is_at_end(&self) -> bool {
        self.left == 0
    }
}

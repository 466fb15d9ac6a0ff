//! Runs work of the engine without the GIL, so that Python can interrupt it.
//!
//! The engine works in its own threads. The caller's thread takes the results. Every [`LOOK`] it
//! checks for signals, as of ctrl-C, and calls the progress function. An exception ends the work,
//! because dropping a run of the engine stops it.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use lanesum_checksum::check::{Check, Event, List};
use lanesum_checksum::engine::{self, Progress, Run};
use lanesum_checksum::etag::{self, Etags};
use pyo3::prelude::*;

use crate::signals::LOOK;

/// Checks for signals and reports progress.
pub(crate) struct Watch {
    progress: Arc<Progress>,
    callback: Option<Py<PyAny>>,
    told: Option<(u64, u64)>,
}

impl Watch {
    /// Calls `callback` with bytes and files, if there is one.
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Self {
        Self { progress: Arc::default(), callback, told: None }
    }

    /// The counters that the engine increases.
    pub(crate) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// # Errors
    /// Exceptions of signal handlers and of the callback.
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

    /// Takes all results of some work.
    ///
    /// # Errors
    /// As [`look`](Self::look), and errors of `take`, which end the work.
    pub(crate) fn wait<W: Work>(
        &mut self,
        py: Python<'_>,
        mut work: W,
        mut take: impl FnMut(W::Item) -> PyResult<()> + Send,
    ) -> PyResult<()> {
        let watched = self.watch(py, &mut work, &mut take);
        // The threads end first, which may take a moment. They do not need the interpreter.
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

/// Work that returns items one by one. Dropping it ends it.
pub(crate) trait Work: Send {
    type Item;

    /// Returns the next item if there is one within this time, and None at the end.
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

/// A check of lists, which reports the end of each list.
pub(crate) struct Lists<L: Iterator<Item = List>> {
    pub(crate) check: Check<L>,
    /// The number of lists that have not ended.
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

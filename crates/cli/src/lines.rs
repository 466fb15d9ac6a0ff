//! Whole lines, few writes, and no wait.
//!
//! GNU md5sum writes each line by itself, at once: a reader sees it as soon as the file is done, and
//! the lines of several processes that share a pipe do not mix. A write for each of 100,000 small
//! files costs more than it must, so lines are gathered here where nobody can tell: a write holds
//! whole lines and, but for a single longer line and a regular file, at most `PIPE_BUF` bytes, which a
//! pipe takes in one piece; and a thread writes what has waited for [`PATIENCE`]. So no line is ever torn, not by
//! another process that writes to the same pipe and not by a signal.

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::limits;

/// As many bytes as a pipe takes without mixing them with those of another writer: `PIPE_BUF`.
const ATOMIC: usize = 4096;

/// Bytes that a regular file is given at once.
const AT_ONCE: usize = 64 << 10;

/// How long a line may wait for company.
const PATIENCE: Duration = Duration::from_millis(20);

/// Writes lines to a file, a pipe or a terminal.
#[derive(Debug)]
pub struct LineWriter {
    shared: Arc<Shared>,
    pace: Pace,
}

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// Each by itself.
    Single,
    /// In company, with a thread that keeps them from waiting.
    Gathered,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// There are pending lines, or there never will be.
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    out: File,
    pending: Vec<u8>,
    /// As many bytes wait for company at most.
    most: usize,
    /// Why lines could not be written; whoever asks next is told.
    failure: Option<io::Error>,
    closed: bool,
}

impl LineWriter {
    /// Lines to this file, each by itself.
    #[must_use]
    pub fn to(out: File) -> Self {
        let is_regular = out.metadata().is_ok_and(|metadata| metadata.is_file());
        let most = if is_regular { AT_ONCE } else { ATOMIC };
        let pending = Vec::with_capacity(most);
        let state = State { out, pending, most, failure: None, closed: false };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        Self { shared, pace: Pace::Single }
    }

    /// From now on lines are gathered, if there is a thread to keep them from waiting. Not for a worker of the
    /// engine: the thread would share its table of descriptors, and the kernel lock that for every call.
    pub fn gather(&mut self) {
        if self.shared.keep_prompt() {
            self.pace = Pace::Gathered;
        }
    }

    /// Takes one or several lines, which bring their endings along.
    ///
    /// # Errors
    ///
    /// These lines or some before them could not be written.
    pub fn push(&mut self, line: &[u8]) -> io::Result<()> {
        let mut state = self.shared.lock();
        if state.pending.len() + line.len() > state.most {
            state.write();
        }
        state.pending.extend_from_slice(line);
        match self.pace {
            Pace::Single => state.write(),
            Pace::Gathered if state.pending.len() == line.len() => self.shared.changed.notify_one(),
            Pace::Gathered => {}
        }
        state.outcome()
    }

    /// Writes the lines that still wait. Those that cannot be written are given up.
    ///
    /// # Errors
    ///
    /// Some line could not be written, and nobody was told yet.
    pub fn flush(&mut self) -> io::Result<()> {
        let mut state = self.shared.lock();
        state.write();
        state.outcome()
    }

    /// Writes the lines that still wait. What cannot be written is told to who asks next.
    pub fn write(&mut self) {
        self.shared.lock().write();
    }
}

impl Drop for LineWriter {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.write();
        state.closed = true;
        self.shared.changed.notify_one();
    }
}

impl Shared {
    /// A thread that panicked between two whole lines leaves the lines whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the thread that keeps lines from waiting; whether there is one.
    fn keep_prompt(self: &Arc<Self>) -> bool {
        let shared = Arc::clone(self);
        let is_empty = |state: &mut State| state.pending.is_empty() && !state.closed;
        let work = move || {
            loop {
                let state = shared.changed.wait_while(shared.lock(), is_empty);
                if state.unwrap_or_else(PoisonError::into_inner).closed {
                    return;
                }
                thread::sleep(PATIENCE);
                shared.lock().write();
            }
        };
        limits::spawn("stdout", work).is_ok()
    }
}

impl State {
    fn write(&mut self) {
        if let Err(error) = self.out.write_all(&self.pending) {
            self.failure.get_or_insert(error);
        }
        self.pending.clear();
    }

    fn outcome(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }
}

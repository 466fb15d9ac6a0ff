//! Collects panics of threads. The caller of a run gets the first one, because it may have caused
//! the others.

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// The payload of a panic.
pub(super) type Payload = Box<dyn Any + Send>;

/// The panics of a run's threads.
#[derive(Debug, Default)]
pub(super) struct Panics(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The thread that panicked first.
    first: Option<ThreadId>,
    /// The payload of that thread or, until it is known, of another one.
    payload: Option<Payload>,
}

impl Panics {
    /// Records that this thread panics, before any other thread can notice.
    pub(super) fn note(&self) {
        self.state().first.get_or_insert(thread::current().id());
    }

    /// Records that this thread continues the panic of a thread that it has waited for.
    pub(super) fn take_over(&self, from: ThreadId) {
        let first = &mut self.state().first;
        if *first == Some(from) {
            *first = Some(thread::current().id());
        }
    }

    /// Runs the function of a thread, and catches a panic.
    pub(super) fn catch(&self, work: impl FnOnce()) {
        // Data left inconsistent by the panic are not used, because the run ends.
        let Err(payload) = catch_unwind(AssertUnwindSafe(work)) else { return };
        let mut state = self.state();
        let is_first = state.first == Some(thread::current().id());
        let lost = if is_first || state.payload.is_none() {
            state.payload.replace(payload)
        } else {
            Some(payload)
        };
        drop(state);
        lost.into_iter().for_each(dispose);
    }

    /// Returns the payload of the first panic, once the threads have ended.
    pub(super) fn take(&self) -> Option<Payload> {
        self.state().payload.take()
    }

    /// Returns the state, which is consistent even after a panic.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops a payload that is not passed on. It may be a value of the caller whose drop panics. The
/// payload of that panic is leaked, because its drop could panic again.
pub(super) fn dispose(payload: Payload) {
    if let Err(next) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(next);
    }
}

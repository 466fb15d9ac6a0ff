//! Whose panic the caller of a run gets: the first one, since others may come of it.

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// What was given to `panic!`.
pub(super) type Payload = Box<dyn Any + Send>;

/// The panics of a run's threads.
#[derive(Debug, Default)]
pub(super) struct Panics(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Who panicked first.
    first: Option<ThreadId>,
    /// That thread's, or until that is there another's.
    payload: Option<Payload>,
}

impl Panics {
    /// Notes that this thread panics, before any other can come to know of it.
    pub(super) fn note(&self) {
        self.state().first.get_or_insert(thread::current().id());
    }

    /// This thread is about to go on with the panic of another, which it has waited for.
    pub(super) fn take_over(&self, from: ThreadId) {
        let first = &mut self.state().first;
        if *first == Some(from) {
            *first = Some(thread::current().id());
        }
    }

    /// Does what a thread is there for. A panic goes no further than here.
    pub(super) fn catch(&self, work: impl FnOnce()) {
        // What the panic left half done is not used: the run ends.
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

    /// The first one's payload, once the threads have ended.
    pub(super) fn take(&self) -> Option<Payload> {
        self.state().payload.take()
    }

    /// The state, which no panic leaves half changed.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops a payload that is not handed on. It may be the caller's, and may panic in turn; what that
/// throws is leaked, since it might go on so for ever.
pub(super) fn dispose(payload: Payload) {
    if let Err(next) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(next);
    }
}

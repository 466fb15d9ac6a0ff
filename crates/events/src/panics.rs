//! Panics of what is the user's: caught, counted, and told to the hook.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::outcome::ActionId;

pub(crate) type PanicHook = Box<dyn Fn(&Panicked) + Send + Sync>;

/// An action has panicked, when it ran or when it was dropped: what the hook is told.
#[derive(Debug)]
#[non_exhaustive]
pub struct Panicked {
    /// The event whose action it was. A repeating one does not run again.
    pub id: ActionId,
    /// What was given to `panic!`.
    pub payload: Box<dyn Any + Send>,
}

impl Panicked {
    /// The message, if it is a text.
    pub fn message(&self) -> Option<&str> {
        let text = self.payload.downcast_ref::<&str>().copied();
        text.or_else(|| self.payload.downcast_ref::<String>().map(String::as_str))
    }
}

pub(crate) struct Panics {
    hook: PanicHook,
    count: AtomicU64,
}

impl Panics {
    pub(crate) fn new(hook: PanicHook) -> Self {
        Panics { hook, count: AtomicU64::new(0) }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Runs, or drops, what is the user's; `None` if it panics. The caller holds no lock, and lets
    /// nothing that `run` was given be seen afterwards.
    pub(crate) fn catch<R>(&self, id: ActionId, run: impl FnOnce() -> R) -> Option<R> {
        catch_unwind(AssertUnwindSafe(run)).map_err(|payload| self.report(id, payload)).ok()
    }

    #[cold]
    fn report(&self, id: ActionId, payload: Box<dyn Any + Send>) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let panicked = Panicked { id, payload };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| (self.hook)(&panicked))) {
            dispose(payload);
        }
        dispose(panicked.payload);
    }
}

/// Drops what was given to `panic!`. If that panics, what was given there is leaked: it might go on
/// so for ever.
fn dispose(payload: Box<dyn Any + Send>) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(payload);
    }
}

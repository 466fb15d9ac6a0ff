//! Panics of user code, which are caught, counted, and reported to the hook.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::outcome::ActionId;

pub(crate) type PanicHook = Box<dyn Fn(&Panicked) + Send + Sync>;

/// The panic of an action while it ran or was dropped. The argument of the hook.
#[derive(Debug)]
#[non_exhaustive]
pub struct Panicked {
    /// The event of the action. A repeating event does not run again.
    pub id: ActionId,
    /// The payload of the panic.
    pub payload: Box<dyn Any + Send>,
}

impl Panicked {
    /// Returns the message if the payload is a string.
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

    /// Runs or drops user code. Returns `None` if it panics. The caller must hold no lock, and must
    /// not use the data that `run` had access to afterwards.
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

/// Drops the payload of a panic. If that panics, leaks the new payload, because its drop could
/// panic again.
fn dispose(payload: Box<dyn Any + Send>) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(payload);
    }
}

//! What the threads of a system do.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::clock::Clock;
use crate::job::Action;
use crate::outcome::{ActionId, Next, Wake};
use crate::settings::{PanicHook, Panicked};
use crate::state::Core;

/// What the threads of a system share.
pub(crate) struct Shared {
    pub(crate) core: Core,
    pub(crate) clock: Clock,
    hook: PanicHook,
    inline: bool,
    pub(crate) ran: AtomicU64,
    pub(crate) panicked: AtomicU64,
}

thread_local! {
    /// Which shard this thread adds to. Different threads, different shards.
    static SHARD: usize = {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        THREADS.fetch_add(1, Ordering::Relaxed)
    };
    /// The event whose action this thread runs, of the system at that address.
    static CURRENT: Cell<Option<(usize, ActionId)>> = const { Cell::new(None) };
}

/// The shard this thread adds to, before the modulo.
pub(crate) fn shard_hint() -> usize {
    SHARD.with(|shard| *shard)
}

impl Shared {
    pub(crate) fn new(core: Core, clock: Clock, hook: PanicHook, inline: bool) -> Self {
        let (ran, panicked) = (AtomicU64::new(0), AtomicU64::new(0));
        Shared { core, clock, hook, inline, ran, panicked }
    }

    /// Tells this system from others, as long as it lives.
    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Whether this thread is within the action of that event.
    pub(crate) fn is_running_here(&self, id: ActionId) -> bool {
        CURRENT.get() == Some((self.address(), id))
    }

    pub(crate) fn notify(&self, wake: Wake) {
        if wake.0 {
            self.clock.wake();
        }
    }

    /// The scheduler's thread.
    pub(crate) fn schedule(&self) {
        loop {
            match self.core.claim(self.clock.now()) {
                Next::Claimed if self.inline => {
                    while let Some(id) = self.core.expired.take(false) {
                        self.perform(id);
                    }
                }
                Next::Claimed => {}
                Next::Sleep(until) => self.clock.sleep(until),
                Next::Stop => break,
            }
        }
        self.core.expired.stop();
        if self.inline {
            self.work();
        }
    }

    /// A worker's thread.
    pub(crate) fn work(&self) {
        while let Some(id) = self.core.expired.take(true) {
            self.perform(id);
        }
    }

    /// Runs the action of an expired event, unless it has been cancelled.
    fn perform(&self, id: ActionId) {
        if let Some(mut action) = self.core.begin(id) {
            let before = CURRENT.replace(Some((self.address(), id)));
            // The action is consumed, or dropped below if it panicked: no code sees it half done.
            let result = catch_unwind(AssertUnwindSafe(|| match action {
                Action::Once(once) => {
                    once();
                    None
                }
                Action::Repeated(ref mut repeated) => {
                    repeated();
                    Some(action)
                }
            }));
            self.ran.fetch_add(1, Ordering::Relaxed);
            let again = result.unwrap_or_else(|payload| {
                self.panicked.fetch_add(1, Ordering::Relaxed);
                let panicked = Panicked { id, payload };
                // A hook that panics must not end the thread either.
                let _ = catch_unwind(AssertUnwindSafe(|| (self.hook)(&panicked)));
                None
            });
            CURRENT.set(before);
            self.notify(self.core.end(id, again));
        }
        self.notify(self.core.expired.settle());
    }
}

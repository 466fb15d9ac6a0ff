//! The threads of a system.

use std::cell::Cell;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use lanesum_lanes::forks;

use crate::clock::Clock;
use crate::handle::{Context, Handle};
use crate::job::Action;
use crate::outcome::{ActionId, Next};
use crate::panics::{PanicHook, Panics};
use crate::state::Core;

/// The data that the threads of a system share.
pub(crate) struct Shared {
    pub(crate) core: Core,
    pub(crate) clock: Clock,
    pub(crate) panics: Panics,
    inline: bool,
    pub(crate) ran: AtomicU64,
    /// The threads that were not joined yet. Locked while a caller waits for all of them to end.
    pub(crate) threads: Mutex<Vec<JoinHandle<()>>>,
    /// `shutdown` was called, possibly with `Shutdown::Drain`.
    pub(crate) ended: AtomicBool,
    /// The number of forks when the system started: a forked child counts one more.
    forks: usize,
}

thread_local! {
    /// The shard that this thread adds to. Different threads use different shards.
    static SHARD: usize = {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        THREADS.fetch_add(1, Ordering::Relaxed)
    };
    /// The address of the system of this thread, which does not change while the thread runs.
    static SYSTEM: Cell<usize> = const { Cell::new(0) };
    /// The event whose action this thread runs.
    static CURRENT: Cell<Option<ActionId>> = const { Cell::new(None) };
}

/// Returns the shard that this thread adds to, before the modulo.
pub(crate) fn shard_hint() -> usize {
    SHARD.with(|shard| *shard)
}

/// Returns the event whose action this thread is running.
pub(crate) fn current() -> Option<ActionId> {
    CURRENT.get()
}

impl Shared {
    pub(crate) fn new(core: Core, clock: Clock, hook: PanicHook, inline: bool) -> io::Result<Self> {
        Ok(Shared {
            core,
            clock,
            panics: Panics::new(hook),
            inline,
            ran: AtomicU64::new(0),
            threads: Mutex::default(),
            ended: AtomicBool::new(false),
            forks: forks(),
        })
    }

    /// Returns whether this is a copy in a child process made by `fork`, without the threads and
    /// with locks that they may hold. It is a load and a comparison.
    pub(crate) fn is_forked(&self) -> bool {
        self.forks != forks()
    }

    /// Returns whether the caller is a thread of the system, and so within an action or its `Drop`.
    pub(crate) fn is_own_thread(&self) -> bool {
        SYSTEM.get() == std::ptr::from_ref(self).addr()
    }
}

impl Handle {
    /// Runs a thread of the system.
    pub(crate) fn run(&self, run: fn(&Self)) {
        SYSTEM.set(std::ptr::from_ref(&*self.shared).addr());
        run(self);
    }

    /// Runs the thread of the scheduler.
    pub(crate) fn schedule(&self) {
        let shared = &*self.shared;
        loop {
            match shared.core.claim(shared.clock.now()) {
                Next::Claimed if shared.inline => {
                    while let Some(id) = shared.core.expired.take(false) {
                        self.perform(id);
                    }
                }
                Next::Claimed => {}
                Next::Sleep(until) => shared.clock.sleep(until),
                Next::Stop => break,
            }
        }
        shared.core.expired.stop();
        if shared.inline {
            self.work();
        }
    }

    /// Runs the thread of a worker.
    pub(crate) fn work(&self) {
        while let Some(id) = self.shared.core.expired.take(true) {
            self.perform(id);
        }
    }

    /// Runs the action of an expired event, unless it was cancelled.
    fn perform(&self, id: ActionId) {
        match self.shared.core.begin(id) {
            Ok(action) => {
                CURRENT.set(Some(id));
                self.act(id, action);
                CURRENT.set(None);
            }
            Err(Some(job)) => self.discard(id, job),
            Err(None) => {}
        }
        self.notify(self.shared.core.expired.settle());
    }

    /// Runs an action. An action that will not run again is dropped before its event ends, so a
    /// waiting thread can rely on the drop.
    fn act(&self, id: ActionId, action: Action) {
        let Shared { core, panics, ran, .. } = &*self.shared;
        let context = Context::new(self, id);
        match action {
            Action::Once(once) => {
                panics.catch(id, || once(&context));
                ran.fetch_add(1, Ordering::Relaxed);
            }
            Action::Repeated(mut repeated) => {
                let ended = panics.catch(id, || repeated(&context));
                ran.fetch_add(1, Ordering::Relaxed);
                let action = Action::Repeated(repeated);
                let left = match ended {
                    Some(()) => core.repeat(id, action),
                    None => Err(action),
                };
                match left {
                    Ok(wake) => return self.notify(wake),
                    Err(action) => self.discard(id, action),
                }
            }
        }
        core.end(id);
    }
}

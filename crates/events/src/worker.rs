//! What the threads of a system do.

use std::cell::Cell;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use forkguard::atfork;

use crate::clock::Clock;
use crate::handle::{Context, Handle};
use crate::job::Action;
use crate::outcome::{ActionId, Next};
use crate::panics::{PanicHook, Panics};
use crate::state::Core;

/// What the threads of a system share.
pub(crate) struct Shared {
    pub(crate) core: Core,
    pub(crate) clock: Clock,
    pub(crate) panics: Panics,
    inline: bool,
    pub(crate) ran: AtomicU64,
    /// Those that have not been joined. It is locked by those that wait for all of them to end.
    pub(crate) threads: Mutex<Vec<JoinHandle<()>>>,
    /// `shutdown` was called, and may have been told to let things drain.
    pub(crate) ended: AtomicBool,
    /// Knows the process in which the threads are.
    process: atfork::Guard,
}

thread_local! {
    /// Which shard this thread adds to. Different threads, different shards.
    static SHARD: usize = {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        THREADS.fetch_add(1, Ordering::Relaxed)
    };
    /// The system that this thread is one of, by its address, which it keeps as long as this runs.
    static SYSTEM: Cell<usize> = const { Cell::new(0) };
    /// The event whose action this thread runs.
    static CURRENT: Cell<Option<ActionId>> = const { Cell::new(None) };
}

/// The shard this thread adds to, before the modulo.
pub(crate) fn shard_hint() -> usize {
    SHARD.with(|shard| *shard)
}

/// The event whose action this thread is within.
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
            process: atfork::Guard::try_new().map_err(io::Error::other)?,
        })
    }

    /// Whether this is a copy, in a child process that `fork` made: without the threads, and with
    /// locks that they may have held. A load and a comparison.
    pub(crate) fn is_forked(&self) -> bool {
        self.process.clone().detected_fork()
    }

    /// Whether the caller is one of the system's threads, and so within an action, or its `Drop`.
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

    /// The scheduler's thread.
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

    /// A worker's thread.
    pub(crate) fn work(&self) {
        while let Some(id) = self.shared.core.expired.take(true) {
            self.perform(id);
        }
    }

    /// Runs the action of an expired event, unless it has been cancelled.
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

    /// Runs an action. One that will not run again is dropped before its event has ended: whoever
    /// waits for it finds nothing of it left.
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

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
    pub(crate) fn new(core: Core, clock: Clock, hook: PanicHook) -> io::Result<Self> {
        Ok(Shared {
            core,
            clock,
            panics: Panics::new(hook),
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
    pub(crate) fn run(&self) {
        SYSTEM.set(std::ptr::from_ref(&*self.shared).addr());
        self.work();
    }

    /// Claims events, runs them, and sleeps until the next ones are due.
    pub(crate) fn work(&self) {
        let Shared { core, clock, .. } = &*self.shared;
        loop {
            match core.claim(clock.now()) {
                Next::Run(wake) => {
                    self.notify(wake);
                    while let Some(id) = core.expired.take() {
                        self.perform(id);
                    }
                }
                Next::Sleep => {
                    self.set_timer();
                    clock.sleep();
                }
                Next::Stop => break,
            }
        }
        // The next thread, which does the same.
        core.rouse();
        self.set_timer();
    }

    /// Sets the timer to the alarm. At that time a sleeping thread is woken.
    pub(crate) fn set_timer(&self) {
        self.shared.clock.set(&|| self.shared.core.alarm());
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
        self.shared.core.expired.settle();
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

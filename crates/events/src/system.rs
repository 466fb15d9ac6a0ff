//! Who owns a running system: one thread that sleeps until the next deadline, and those that act.

use std::io;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

use crate::Handle;
use crate::lock::lock;
use crate::outcome::Life;
use crate::settings::Builder;
use crate::worker::Shared;

/// Runs actions at their times: see the [crate documentation](crate). What it can do stands at
/// [`Handle`].
///
/// Dropping it drops what is pending and returns at once, also while actions run.
#[derive(Debug)]
pub struct EventSystem {
    handle: Handle,
}

impl Deref for EventSystem {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

impl EventSystem {
    /// A running system with the default settings.
    ///
    /// # Errors
    /// If the system has no threads or no timers left to give.
    pub fn start() -> io::Result<Self> {
        Self::builder().start()
    }

    /// Settings to start from.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A handle, which does not keep the system running.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Starts the threads.
    pub(crate) fn spawn(shared: Shared, workers: usize) -> io::Result<Self> {
        // From here on a failure drops the system, which ends the threads that were started.
        let system = EventSystem { handle: Handle { shared: Arc::new(shared) } };
        system.spawn_one("events", Handle::schedule)?;
        for _ in 0..workers {
            system.spawn_one("events-worker", Handle::work)?;
        }
        Ok(system)
    }

    fn spawn_one(&self, name: &str, run: fn(&Handle)) -> io::Result<()> {
        let handle = self.handle();
        let thread = thread::Builder::new().name(name.into()).spawn(move || handle.run(run))?;
        lock(&self.shared.threads).push(thread);
        Ok(())
    }
}

impl Drop for EventSystem {
    fn drop(&mut self) {
        if !self.shared.ended.load(Ordering::Relaxed) {
            self.close(Life::Closed);
        }
    }
}

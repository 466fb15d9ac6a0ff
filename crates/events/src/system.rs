//! The owner of a running system and its threads.

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

/// A running system of events; see the [crate documentation](crate). It dereferences to [`Handle`],
/// which has its methods.
///
/// Dropping it drops pending events and returns at once, even while actions run.
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
    /// Starts a system with the default settings.
    ///
    /// # Errors
    /// Fails if the operating system cannot create a thread or a timer, and with
    /// [`io::ErrorKind::Unsupported`] on systems other than Linux.
    pub fn start() -> io::Result<Self> {
        Self::builder().start()
    }

    /// Returns a builder with the default settings.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Returns a handle, which does not keep the system running.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Starts the threads.
    pub(crate) fn spawn(shared: Shared, threads: usize) -> io::Result<Self> {
        // A failure from here on drops the system, which ends the started threads.
        let system = EventSystem { handle: Handle { shared: Arc::new(shared) } };
        for _ in 0..threads {
            system.spawn_one()?;
        }
        Ok(system)
    }

    fn spawn_one(&self) -> io::Result<()> {
        let handle = self.handle();
        let thread = thread::Builder::new().name("events".into()).spawn(move || handle.run())?;
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

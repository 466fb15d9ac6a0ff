//! The shared state of the threads of a run, and the end of each thread.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::thread;

use lanesum_list::Inode;

use super::Options;
use super::devices::Devices;
use super::outbox::Outbox;
use super::panics::Panics;
use super::queue::JobQueue;
use super::stop::Stop;
use super::task::Worker;

/// The shared state of the threads of a run.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) options: Options,
    pub(super) queue: JobQueue,
    pub(super) outbox: Outbox,
    pub(super) devices: Arc<Devices>,
    pub(super) stop: Arc<Stop>,
    pub(super) panics: Panics,
    /// The FIFOs that were read to an end.
    pub(super) read_fifos: Mutex<HashSet<Inode>>,
}

impl Core {
    /// Makes the state. `is_asked` is passed to the outbox.
    pub(super) fn new(options: Options, is_asked: bool) -> Arc<Self> {
        let workers = options.threads;
        let outbox = Outbox::new(options.delivery, is_asked);
        outbox.workers_begin(workers);
        Arc::new(Self {
            queue: JobQueue::new(workers),
            outbox,
            devices: Devices::of(&options),
            stop: Arc::new(Stop::with_signal()),
            panics: Panics::default(),
            read_fifos: Mutex::default(),
            options,
        })
    }

    /// Records the end of a worker, also in the queue unless the worker left that before. A panic
    /// of a worker ends the run, because the outcomes of its jobs are lost.
    pub(super) fn worker_ends(&self, in_queue: Option<Worker>) {
        if let Some(worker) = in_queue {
            self.queue.worker_ends(worker);
        }
        self.stop_after_panic();
        self.outbox.worker_ends();
    }

    /// Records the end of another thread, like [`worker_ends`](Self::worker_ends).
    pub(super) fn thread_ends(&self) {
        self.stop_after_panic();
        self.outbox.thread_ends();
    }

    /// Stops the run if the calling thread panics.
    pub(super) fn stop_after_panic(&self) {
        if thread::panicking() {
            self.panics.note();
            self.stop();
        }
    }

    pub(super) fn stop(&self) {
        self.stop.set();
        self.queue.stop();
        self.outbox.wake_all();
        self.devices.notify();
    }
}

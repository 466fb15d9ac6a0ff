//! What all threads of a run have in common, and how each of them ends.

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

/// What the threads of a run share.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) options: Options,
    pub(super) queue: JobQueue,
    pub(super) outbox: Outbox,
    pub(super) devices: Arc<Devices>,
    pub(super) stop: Arc<Stop>,
    pub(super) panics: Panics,
    /// FIFOs that were read to an end.
    pub(super) read_fifos: Mutex<HashSet<Inode>>,
}

impl Core {
    /// `is_asked` is the outbox's.
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

    /// Notes that a worker has ended, of the queue's unless it left that before. One that panics
    /// ends the run: the outcomes of its jobs will not come, and are not waited for.
    pub(super) fn worker_ends(&self, in_queue: Option<Worker>) {
        if let Some(worker) = in_queue {
            self.queue.worker_ends(worker);
        }
        self.stop_after_panic();
        self.outbox.worker_ends();
    }

    /// Notes that a thread beside a worker has ended; as [`worker_ends`](Self::worker_ends).
    pub(super) fn thread_ends(&self) {
        self.stop_after_panic();
        self.outbox.thread_ends();
    }

    /// Stops the run where the thread that calls it panics.
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
        self.devices.tell();
    }
}

//! The queue between the scheduler and the workers: the ids of events whose time has come.

use std::collections::VecDeque;

use crate::lock::{lock, wait};
use crate::outcome::{ActionId, Wake};
use crate::sync::{Condvar, Mutex};

struct State {
    queue: VecDeque<ActionId>,
    /// Claimed and not ended: in the queue, or in the hands of a worker.
    in_flight: usize,
    /// The scheduler wants to know when nothing is in flight.
    draining: bool,
    /// No worker shall wait any more.
    stop: bool,
}

pub(crate) struct Expired {
    state: Mutex<State>,
    /// The queue has got something, or workers shall stop.
    filled: Condvar,
    /// `in_flight` has become zero.
    idle: Condvar,
}

impl Expired {
    pub(crate) fn new() -> Self {
        let state = State { queue: VecDeque::new(), in_flight: 0, draining: false, stop: false };
        Expired { state: Mutex::new(state), filled: Condvar::new(), idle: Condvar::new() }
    }

    /// Queues events, in this order.
    pub(crate) fn push(&self, claimed: &[ActionId]) {
        let mut state = lock(&self.state);
        state.in_flight += claimed.len();
        state.queue.extend(claimed);
        drop(state);
        match claimed.len() {
            1 => self.filled.notify_one(),
            _ => self.filled.notify_all(),
        }
    }

    /// The next event. Waits for one if it may; then `None` means that none will come.
    pub(crate) fn take(&self, may_wait: bool) -> Option<ActionId> {
        let mut state = lock(&self.state);
        loop {
            let id = state.queue.pop_front();
            if id.is_some() || state.stop || !may_wait {
                return id;
            }
            state = wait(&self.filled, state);
        }
    }

    /// An event that was taken from the queue is done with.
    pub(crate) fn settle(&self) -> Wake {
        let mut state = lock(&self.state);
        state.in_flight -= 1;
        let quiet = state.in_flight == 0;
        if quiet {
            self.idle.notify_all();
        }
        Wake(quiet && state.draining)
    }

    /// From now on the scheduler is to be woken when nothing is in flight.
    pub(crate) fn drain(&self) {
        lock(&self.state).draining = true;
    }

    /// Workers shall not wait any more.
    pub(crate) fn stop(&self) {
        lock(&self.state).stop = true;
        self.filled.notify_all();
    }

    /// Whether anything is claimed and has not ended.
    pub(crate) fn is_busy(&self) -> bool {
        lock(&self.state).in_flight > 0
    }

    /// Waits until nothing is in flight.
    pub(crate) fn wait_idle(&self) {
        let mut state = lock(&self.state);
        while state.in_flight > 0 {
            state = wait(&self.idle, state);
        }
    }
}
